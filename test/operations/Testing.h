// What the tests of operations share: their test data.
#ifndef CALQUE_TEST_OPERATIONS_TESTING_H
#define CALQUE_TEST_OPERATIONS_TESTING_H

#include "schema/Schema.h"
#include "test/Tensors.h"
#include "test/operations/References.h"
#include "test/operations/SpecialReferences.h"

#include <algorithm>
#include <string_view>

namespace calque::testing {

using reference::Real;

//===-- Elementwise records ---------------------------------------------------------------------===//
struct ElementwiseCase {
  schema::OpId id;
  double low, high;
  std::vector<double> kinks;
  reference::Reference reference;
  reference::ReferenceIn<double> fastReference; // in double
  Body function;                                // the public one
  int ulp;                                      // by how many of them a float32 result may be off
  double digitsFrom;                            // a float64 result below it has its units
  int orders;                                   // up to which order all derivatives are there
  bool isReferenceSlow;                         // it takes microseconds

  const schema::OperationSchema &schema() const { return schema::schemaOf(id); }
  std::string name() const { return std::string(schema().mnemonic); }
};
inline void PrintTo(const ElementwiseCase &op, std::ostream *os) { *os << op.name(); }

// A public function as one of a vector of operands.
template <typename... A> Body wrap(Tensor (*f)(A...)) {
  return [f](const std::vector<Tensor> &x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::index_sequence_for<A...>());
  };
}

inline const std::vector<ElementwiseCase> &elementwiseCases() {
  static const std::vector<ElementwiseCase> cases = {
#include "test/operations/TestData.inc"
  };
  return cases;
}

// The operands' types for which the type rule has a result: all alike, or a condition and the others alike.
inline std::vector<std::vector<DType>> signatures(const ElementwiseCase &op) {
  std::vector<std::vector<DType>> result;
  for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64})
    for (DType first : {dtype, DType::Bool}) {
      std::vector<DType> signature(op.schema().numOperands, dtype);
      signature[0] = first;
      std::vector<schema::TensorType> types;
      for (DType operand : signature)
        types.push_back({operand, {2}});
      if (!schema::inferTypes(op.id, types, {}).fault && (result.empty() || result.back() != signature))
        result.push_back(signature);
    }
  return result;
}

//===-- Values at points ------------------------------------------------------------------------===//
inline Tensor vectorOf(DType dtype, const std::vector<double> &values) {
  return makeTensor(dtype, values, {static_cast<std::int64_t>(values.size())});
}

// The derivative of each element, eagerly and compiled.
inline std::vector<double> slopes(const std::function<Tensor(const Tensor &)> &f, const Tensor &x) {
  auto derivative = grad([&](const Tensor &at) { return sum(f(at)); });
  Tensor eager = derivative(x);
  expectSameBits(eager, function<Tensor(const Tensor &)>(derivative)(x));
  return valuesOf(eager);
}

//===-- Many examples ---------------------------------------------------------------------------===//
// What is done for many examples at once and for one after the other.
struct BatchedCall {
  ManyBody body;
  std::vector<Tensor> inputs;
  bool exact;                         // bit for bit, or within tolerance
  std::vector<unsigned> choices = {}; // of operands that differ from example to example, as bits; none: every one
};

inline constexpr std::int64_t kExamples = 3;

// Examples of an operand, which are the first: its elements moved around and, of floats, smaller.
inline std::vector<Tensor> examplesOf(const Tensor &x) {
  std::vector<Tensor> examples{x};
  for (std::int64_t k = 1; k < kExamples; ++k) {
    std::vector<double> values = valuesOf(x);
    if (!values.empty())
      std::rotate(values.begin(), values.begin() + k % static_cast<std::int64_t>(values.size()), values.end());
    if (is_floating(x.dtype()))
      for (double &value : values)
        value *= 1 - static_cast<double>(k) / 16;
    examples.push_back(makeTensor(x.dtype(), values, x.shape()));
  }
  return examples;
}

inline Tensor stacked(const std::vector<Tensor> &examples) {
  std::vector<double> all;
  for (const Tensor &example : examples)
    for (double value : valuesOf(example))
      all.push_back(value);
  Shape shape = examples[0].shape();
  shape.insert(shape.begin(), static_cast<std::int64_t>(examples.size()));
  return makeTensor(examples[0].dtype(), all, shape);
}

// Element `index` along axis 0.
inline Tensor exampleAt(const Tensor &x, std::int64_t index) {
  std::vector<double> values = valuesOf(x);
  Shape shape = x.shape();
  shape.erase(shape.begin());
  auto first = values.begin() + index * sizeOf(shape);
  return makeTensor(x.dtype(), std::vector<double>(first, first + sizeOf(shape)), shape);
}

inline void expectAlike(const Tensor &found, const Tensor &expected, bool exact) {
  ASSERT_EQ(found.shape(), expected.shape());
  if (exact || !is_floating(expected.dtype()))
    return expectSameBits(found, expected);
  ASSERT_EQ(found.dtype(), expected.dtype());
  std::vector<double> a = valuesOf(found), b = valuesOf(expected);
  double tolerance = expected.dtype() == DType::Float64 ? 4e-12 : 2e-5;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(std::fabs(a[i] - b[i]) <= tolerance * (1 + std::fabs(b[i])) || a[i] == b[i] ||
                (a[i] != a[i] && b[i] != b[i]))
        << "element " << i << ": " << a[i] << " and " << b[i];
}

// vmap over every choice of operands, and vmap inside of vmap, against single calls. Two functions do all of it.
inline void expectBatched(const std::vector<BatchedCall> &calls) {
  struct Run {
    std::size_t call;
    unsigned outer, inner; // operands with examples, as bits
    bool isBatched(std::size_t i) const { return (outer | inner) >> i & 1; }
  };
  std::vector<Run> runs;
  std::vector<std::size_t> first; // of each call, among the operands of all
  std::vector<Tensor> operands, inputs;
  std::vector<std::vector<Tensor>> examples;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    std::vector<unsigned> choices = calls[c].choices;
    if (choices.empty())
      for (unsigned choice = 1; choice < 1u << calls[c].inputs.size(); ++choice)
        choices.push_back(choice);
    for (unsigned choice : choices)
      runs.push_back({c, 0, choice});
    if (calls[c].inputs.size() > 1)
      runs.push_back({c, 1, 2});
    first.push_back(operands.size());
    for (const Tensor &x : calls[c].inputs) {
      operands.push_back(x);
      examples.push_back(examplesOf(x));
      inputs.push_back(x);
      inputs.push_back(stacked(examples.back()));
    }
  }
  auto axesOf = [&](std::size_t call, unsigned choice) {
    std::vector<std::optional<std::int64_t>> axes(calls[call].inputs.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (choice >> i & 1)
        axes[i] = 0;
    return axes;
  };
  using Results = std::vector<std::vector<Tensor>>;
  auto atOnce = function<Results(const std::vector<Tensor> &)>(
      [&](const std::vector<Tensor> &x) {
        Results results;
        for (const Run &run : runs) {
          std::vector<Tensor> given;
          for (std::size_t i = 0; i < calls[run.call].inputs.size(); ++i)
            given.push_back(x[2 * (first[run.call] + i) + run.isBatched(i)]);
          auto inner = vmap(calls[run.call].body, {.in_axes = axesOf(run.call, run.inner)});
          if (run.outer)
            results.push_back(vmap([&](const std::vector<Tensor> &some) { return inner(some); },
                                   {.in_axes = axesOf(run.call, run.outer)})(given));
          else
            results.push_back(inner(given));
        }
        return results;
      },
      {.name = "many_examples"}); // by which coverage.py knows it
  auto single = function<Results(const std::vector<Tensor> &)>([&](const std::vector<Tensor> &x) {
    Results results;
    for (std::size_t c = 0; c < calls.size(); ++c) {
      auto begin = x.begin() + static_cast<std::ptrdiff_t>(first[c]);
      results.push_back(calls[c].body({begin, begin + static_cast<std::ptrdiff_t>(calls[c].inputs.size())}));
    }
    return results;
  });
  Results found = atOnce(inputs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Run &run = runs[r];
    for (std::int64_t k = 0; k < (run.outer ? kExamples : 1) * kExamples; ++k) {
      std::int64_t outer = k / kExamples, inner = k % kExamples;
      std::vector<Tensor> given = operands;
      for (std::size_t i = 0; i < calls[run.call].inputs.size(); ++i)
        if (run.isBatched(i))
          given[first[run.call] + i] =
              examples[first[run.call] + i][static_cast<std::size_t>(run.outer >> i & 1 ? outer : inner)];
      std::vector<Tensor> expected = single(given)[run.call];
      ASSERT_EQ(found[r].size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        SCOPED_TRACE("call " + std::to_string(run.call) + ", operands " + std::to_string(run.outer) + " and " +
                     std::to_string(run.inner) + ", example " + std::to_string(k) + ", result " + std::to_string(i));
        Tensor one = exampleAt(found[r][i], run.outer ? outer : inner);
        expectAlike(run.outer ? exampleAt(one, inner) : one, expected[i], calls[run.call].exact);
      }
    }
  }
}

// An operation's cotangents and tangent for many examples of its operands, of the seed and of the directions: one of
// them alone, all but one, and all.
inline BatchedCall batchedDerivatives(const Body &f, const std::vector<Tensor> &inputs) {
  std::mt19937 random(17);
  BatchedCall call{{}, inputs, false, {}};
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype() == DType::Float64)
      moving.push_back(i);
  call.inputs.push_back(randomTensor(random, f(inputs).shape()));
  for (std::size_t i : moving)
    call.inputs.push_back(randomTensor(random, inputs[i].shape()));
  std::size_t count = inputs.size();
  call.body = [f, moving, count](const std::vector<Tensor> &x) {
    std::vector<Tensor> primals, tangents(x.begin() + static_cast<std::ptrdiff_t>(count) + 1, x.end());
    for (std::size_t i : moving)
      primals.push_back(x[i]);
    auto body = [&](const std::vector<Tensor> &moved) {
      std::vector<Tensor> operands(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
      for (std::size_t i = 0; i < moving.size(); ++i)
        operands[moving[i]] = moved[i];
      return f(operands);
    };
    std::vector<Tensor> results = vjp(body, primals).second(x[count]);
    results.push_back(jvp(body, primals, tangents).second);
    return results;
  };
  auto all = (1u << call.inputs.size()) - 1;
  call.choices.push_back(all);
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    for (unsigned choice : {1u << i, all & ~(1u << i)})
      call.choices.push_back(choice);
  return call;
}

} // namespace calque::testing
#endif
