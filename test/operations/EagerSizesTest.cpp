// Eager operations of many sizes share native code, whichever operation of the schema it is.
#include "Testing.h"
#include "test/Matrices.h"

#include "frontend/compiled/CompilationCount.h"
#include "frontend/core/Apply.h"
#include "schema/Moves.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

using namespace calque;
using namespace calque::testing;
using schema::Attribute;
using schema::AttributeKind;
using schema::Dims;
using schema::OperationSchema;
using schema::TensorType;

namespace {

// The size that changes from call to call.
constexpr std::int64_t kN = -1000;

Dims withSize(Dims dims, std::int64_t n) {
  std::ranges::replace(dims, kN, n);
  return dims;
}

// A call of an operation for any n.
struct Call {
  const OperationSchema *op;
  std::vector<TensorType> operands;
  std::vector<Attribute> attributes;

  Call of(std::int64_t n) const {
    Call call = *this;
    for (TensorType &type : call.operands)
      type.dims = withSize(type.dims, n);
    for (Attribute &attribute : call.attributes) {
      if (auto *ints = std::get_if<Dims>(&attribute))
        *ints = withSize(*ints, n);
      else if (attribute == Attribute(kN))
        attribute = n;
    }
    return call;
  }
  std::vector<TensorType> results() const { return schema::inferTypes(op->id, operands, attributes).types; }
  // Of ones, which are indices and divisors.
  std::vector<Tensor> run() const {
    std::vector<Tensor> tensors;
    for (const TensorType &type : operands)
      tensors.push_back(ones(type.dims, type.dtype));
    return detail::applyAll(op->id, tensors, attributes, SourceLocation::current());
  }
  // As code that is compiled for these sizes alone.
  std::vector<Tensor> runCompiled() const {
    return function([this] { return run(); })();
  }
};

std::vector<Attribute> valuesOf(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Bool:
    return {false, true};
  case AttributeKind::Int:
    return {std::int64_t(0), std::int64_t(1), kN};
  case AttributeKind::Number:
    return {schema::Scalar(1.0f)};
  case AttributeKind::String:
    return {std::string("valid"), std::string("same")};
  case AttributeKind::Text:
    return {std::string("text")};
  case AttributeKind::Ints:
    return {Dims{1, 1}, Dims{}, Dims{0}, Dims{1}, Dims{2, 2}, Dims{0, 0, 0, 0}, Dims{kN}, Dims{3, kN}, Dims{kN, 2, 3}};
  case AttributeKind::Type: {
    std::vector<Attribute> types;
    for (const DTypeInfo &type : kDTypes)
      types.emplace_back(type.dtype);
    return types;
  }
  case AttributeKind::Constant:
  case AttributeKind::Recording:
    return {};
  }
  return {};
}

// All choices of one each.
template <typename T> std::vector<std::vector<T>> product(const std::vector<std::vector<T>> &choices) {
  std::vector<std::vector<T>> all{{}};
  for (const std::vector<T> &each : choices) {
    std::vector<std::vector<T>> longer;
    for (const std::vector<T> &chosen : all)
      for (const T &value : each) {
        longer.push_back(chosen);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

// Whether its code is of a form that takes sizes which are attributes.
bool takesSizes(const OperationSchema &op) { return op.open && !schema::moveRuleOf(op.id); }

// Calls whose results depend on n, at most `most` of them. Where an attribute can be a size, no operand depends on n.
std::vector<Call> callsOf(const OperationSchema &op, std::size_t most) {
  std::vector<std::vector<Attribute>> values;
  for (const schema::AttributeSchema &attribute : op.attributes)
    values.push_back(valuesOf(attribute.kind));
  const std::vector<DType> dtypes{DType::Float32, DType::Int64, DType::Bool};
  const auto typesOf = [](const std::vector<DType> &those) {
    std::vector<TensorType> types;
    for (DType dtype : those)
      for (const Dims &dims : {Dims{kN}, {3, kN}, {kN, 3}, {2}, {1, kN, 4, 1}, {2, 2, 1, 3}, {1, kN, 4, 3}})
        types.push_back({dtype, dims});
    return types;
  };
  // Operands have one type of elements, but for indices and conditions.
  std::vector<std::vector<TensorType>> choices;
  for (DType dtype : dtypes) {
    std::vector<std::vector<TensorType>> operands;
    for (int i = 0; i < (op.numOperands < 0 ? 2 : op.numOperands); ++i)
      operands.push_back(typesOf((op.selecting >> i & 1) != 0 ? dtypes : std::vector{dtype}));
    for (std::vector<TensorType> &each : product(operands))
      choices.push_back(std::move(each));
  }
  std::vector<Call> calls;
  for (const std::vector<Attribute> &attributes : product(values))
    for (const std::vector<TensorType> &each : choices) {
      Call call{&op, each, attributes};
      std::vector<TensorType> two = call.of(2).results();
      if (two.empty())
        continue;
      // Results without elements have code of their own.
      std::vector<TensorType> three = call.of(3).results();
      auto isEmpty = [](const TensorType &type) { return type.numElements() == 0; };
      const bool operandsDiffer = call.of(2).operands != call.of(3).operands;
      if (three.empty() || std::ranges::all_of(two, isEmpty) ||
          (takesSizes(op) ? two == three || operandsDiffer : two == three && !operandsDiffer))
        continue;
      calls.push_back(std::move(call));
      if (calls.size() == most)
        return calls;
    }
  return calls;
}

} // namespace

TEST(EagerSizes, OfEachOperationShareCode) {
  std::set<std::string_view> tried;
  // Those of any number of operands are concat, which moves elements, the user's own, and open forms themselves. What
  // takes nothing is a constant, or has an open form.
  // Those that are in the loops of traces alone are none of eager code.
  const std::set<std::string_view> inLoops{"update_at", "stack_push",     "stack_pop",   "sized_push",
                                           "sized_pop", "stack_below",    "stack_empty", "stack_is_empty",
                                           "stack_add", "stack_sum_like", "open_sizes"};
  // Those of matrices, and what complex ones become.
  auto isOfMatrices = [](std::string_view mnemonic) {
    constexpr std::string_view kParts = "_parts";
    if (mnemonic.ends_with(kParts))
      mnemonic.remove_suffix(kParts.size());
    return kOfMatrices.contains(mnemonic);
  };
  // They take complex numbers, or pairs, alone: ComplexTest.cpp, FftTest.cpp.
  const std::set<std::string_view> ofComplexNumbers{"real",
                                                    "imag",
                                                    "angle",
                                                    "conj",
                                                    "part_of_pairs",
                                                    "fourier",
                                                    "fourier_parts",
                                                    "fourier_pairs",
                                                    "real_fourier",
                                                    "real_fourier_parts",
                                                    "real_fourier_pairs",
                                                    "fourier_to_real",
                                                    "fourier_to_real_parts",
                                                    "fourier_to_real_pairs"};
  // Selecting takes a known size, so that top_k asks for the whole order eagerly.
  auto isMeant = [&](const OperationSchema &op) {
    return op.pure && op.mnemonic != "top_indices" && !ofComplexNumbers.contains(op.mnemonic) &&
           (op.numOperands > 0 || op.open) && !inLoops.contains(op.mnemonic) && !isOfMatrices(op.mnemonic);
  };
  for (const OperationSchema &op : schema::operations()) {
    for (const Call &call : isMeant(op) ? callsOf(op, takesSizes(op) ? 30 : 1) : std::vector<Call>()) {
      SCOPED_TRACE(op.mnemonic);
      tried.insert(op.mnemonic);
      const std::int64_t numSizes = takesSizes(op) ? 2000 : 20;
      const std::uint64_t before = detail::compilationCount();
      for (std::int64_t n = 2; n < 2 + numSizes; ++n)
        call.of(n).run();
      EXPECT_LE(detail::compilationCount() - before, schema::moveRuleOf(op.id) ? 0u : 9u);
    }
  }
  std::string missing;
  for (const OperationSchema &op : schema::operations())
    if (isMeant(op) && !tried.contains(op.mnemonic))
      missing += std::string(op.mnemonic) + " ";
  EXPECT_EQ(missing, "");
}

TEST(EagerSizes, OfAttributesGiveTheBitsOfKnownOnes) {
  for (const OperationSchema &op : schema::operations()) {
    if (!takesSizes(op))
      continue;
    SCOPED_TRACE(op.mnemonic);
    std::vector<Call> calls = callsOf(op, 100);
    EXPECT_GE(calls.size(), 4u);
    for (const Call &call : calls)
      for (std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 1000, 0}) {
        std::vector<Tensor> found = call.of(n).run();
        if (n < 9 && n > 0)
          continue;
        std::vector<Tensor> expected = call.of(n).runCompiled();
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          expectSameBits(found[i], expected[i]);
      }
  }
}
