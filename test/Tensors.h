// What tests on numbers share: random tensors, indices, comparisons, numerical gradients.
#ifndef CALQUE_TEST_TENSORS_H
#define CALQUE_TEST_TENSORS_H

#include "calque/calque.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace calque::testing {

using Body = std::function<Tensor(const std::vector<Tensor> &)>;
using ManyBody = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

// Tests draw the same numbers in each run.
inline const int seedOfTests = setenv("CALQUE_SEED", "0", 0);

//===-- Tensors and their elements --------------------------------------------------------------===//
inline std::int64_t sizeOf(const Shape &shape) {
  std::int64_t size = 1;
  for (std::int64_t dim : shape)
    size *= dim;
  return size;
}

template <typename V> Tensor makeTensor(DType dtype, const std::vector<V> &values, const Shape &shape) {
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) {
    std::vector<T> elements;
    for (V value : values)
      elements.push_back(static_cast<T>(value));
    return tensor(elements, shape);
  });
}

template <typename V = double> std::vector<V> valuesOf(const Tensor &x) {
  return dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    const auto *first = x.data<T>();
    return std::vector<V>(first, first + x.size());
  });
}

inline void expectSameBits(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  dispatch_all(a.dtype(), [&]<typename T>(std::type_identity<T>) {
    auto shown = [](const T &element) {
      if constexpr (detail::kIsComplex<T>)
        return Number(element).str();
      else
        return +element;
    };
    const auto *x = a.data<T>(), *y = b.data<T>();
    for (std::int64_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(std::memcmp(x + i, y + i, sizeof(T)) == 0 || (x[i] != x[i] && y[i] != y[i]))
          << "element " << i << ": " << shown(x[i]) << " and " << shown(y[i]);
  });
}

// Calls f eagerly and compiled, expects the same, and returns it.
template <typename F, typename... Args> auto both(F f, const Args &...args) {
  auto eager = f(args...);
  auto compiled = function(f)(args...);
  std::vector<Tensor> a = detail::tensorsIn(eager), b = detail::tensorsIn(compiled);
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    expectSameBits(a[i], b[i]);
  return eager;
}

// Elements of an interval, at least 0.02 from the kinks, some of them multiples of 1/2, so that there are equal ones.
inline std::vector<double> randomValues(std::mt19937 &random, std::int64_t count, double low, double high,
                                        const std::vector<double> &kinks = {}, bool halves = false) {
  std::vector<double> values;
  while (static_cast<std::int64_t>(values.size()) < count) {
    double x = std::uniform_real_distribution<double>(low, high)(random);
    if (halves && random() % 2)
      x = std::clamp(std::round(2 * x) / 2, low, high);
    if (std::all_of(kinks.begin(), kinks.end(), [&](double kink) { return std::fabs(x - kink) > 0.02; }))
      values.push_back(x);
  }
  return values;
}

inline Tensor randomTensor(std::mt19937 &random, const Shape &shape, double low = -2, double high = 2) {
  return tensor(randomValues(random, sizeOf(shape), low, high), shape);
}

// All different, at least 1/8 apart, so that no largest element changes by a small step.
inline Tensor distinctTensor(std::mt19937 &random, const Shape &shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(0.125 * static_cast<double>(i) - 2);
  std::shuffle(values.begin(), values.end(), random);
  return tensor(values, shape);
}

// The index of an element in row-major order, and back.
inline Shape unravel(std::int64_t flat, const Shape &shape) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; flat /= shape[i])
    index[i] = flat % shape[i];
  return index;
}
inline std::int64_t ravel(const Shape &index, const Shape &shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + index[i];
  return flat;
}
// The element of a tensor that stands at an index of a shape that it is broadcast to.
inline std::int64_t broadcastIndex(const Shape &index, const Shape &shape) {
  Shape own(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i)
    own[i] = shape[i] == 1 ? Size(0) : index[index.size() - shape.size() + i];
  return ravel(own, shape);
}

//===-- Gradients -------------------------------------------------------------------------------===//
inline std::vector<Tensor> gradients(const Body &f, const std::vector<Tensor> &inputs) {
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const Tensor &x : inputs)
    if (x.dtype() == DType::Float64) {
      tape.watch(x);
      sources.push_back(x);
    }
  std::vector<std::optional<Tensor>> results = tape.gradient(f(inputs), sources);
  std::vector<Tensor> found;
  for (std::size_t i = 0; i < sources.size(); ++i)
    found.push_back(results[i] ? *results[i] : zeros(sources[i].shape(), DType::Float64));
  return found;
}

// The gradients of a float64 scalar against central differences, eagerly and compiled.
inline void expectGradients(const Body &f, const std::vector<Tensor> &inputs) {
  const double epsilon = 1e-6;
  ManyBody gradientBody = [f](const std::vector<Tensor> &x) { return gradients(f, x); };
  auto value = function<Tensor(const std::vector<Tensor> &)>(f);
  auto compiled = function<std::vector<Tensor>(const std::vector<Tensor> &)>(gradientBody);
  std::vector<Tensor> found[] = {gradientBody(inputs), compiled(inputs)};
  std::size_t source = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::Float64)
      continue;
    std::vector<double> elements = valuesOf(inputs[i]), numeric;
    for (double &element : elements) {
      double kept = element, differences[2];
      for (int side : {0, 1}) {
        element = side ? kept + epsilon : kept - epsilon;
        std::vector<Tensor> moved = inputs;
        moved[i] = tensor(elements, inputs[i].shape());
        differences[side] = value(moved).template item<double>();
      }
      element = kept;
      numeric.push_back((differences[1] - differences[0]) / (2 * epsilon));
    }
    for (int mode : {0, 1}) {
      SCOPED_TRACE(mode ? "compiled" : "eager");
      ASSERT_EQ(found[mode][source].shape(), inputs[i].shape());
      std::vector<double> exact = valuesOf(found[mode][source]);
      for (std::size_t j = 0; j < exact.size(); ++j)
        EXPECT_NEAR(exact[j], numeric[j], 1e-5 + 1e-3 * std::fabs(numeric[j])) << "operand " << i << ", element " << j;
    }
    ++source;
  }
}

// Forward mode against central differences along a direction; eagerly too, if asked.
inline void expectTangents(const ManyBody &f, const std::vector<Tensor> &inputs, bool eagerly) {
  const double epsilon = 1e-6;
  std::vector<std::size_t> moving;
  std::vector<Tensor> directions;
  std::mt19937 random(13);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype() == DType::Float64) {
      moving.push_back(i);
      directions.push_back(randomTensor(random, inputs[i].shape(), -1, 1));
    }
  auto both = [&](const std::vector<Tensor> &x, const std::vector<Tensor> &tangents) {
    std::vector<Tensor> primals;
    for (std::size_t i : moving)
      primals.push_back(x[i]);
    auto body = [&](const std::vector<Tensor> &moved) {
      std::vector<Tensor> operands = x;
      for (std::size_t i = 0; i < moving.size(); ++i)
        operands[moving[i]] = moved[i];
      return f(operands);
    };
    return jvp(body, primals, tangents);
  };
  using Both = std::pair<std::vector<Tensor>, std::vector<Tensor>>;
  auto compiled = function<Both(const std::vector<Tensor> &, const std::vector<Tensor> &)>(both, {.name = "tangents"});
  auto at = [&](double step) {
    std::vector<Tensor> moved = inputs;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      std::vector<double> elements = valuesOf(inputs[moving[i]]), direction = valuesOf(directions[i]);
      for (std::size_t j = 0; j < elements.size(); ++j)
        elements[j] += step * direction[j];
      moved[moving[i]] = tensor(elements, inputs[moving[i]].shape());
    }
    return compiled(moved, directions);
  };
  Both here = at(0), before = at(-epsilon), after = at(epsilon);
  std::vector<std::vector<Tensor>> found{here.second};
  if (eagerly)
    found.push_back(both(inputs, directions).second);
  for (std::size_t k = 0; k < found.size(); ++k) {
    SCOPED_TRACE(k ? "eager" : "compiled");
    ASSERT_EQ(found[k].size(), here.first.size());
    for (std::size_t i = 0; i < found[k].size(); ++i) {
      ASSERT_EQ(found[k][i].shape(), here.first[i].shape());
      std::vector<double> exact = valuesOf(found[k][i]), low = valuesOf(before.first[i]),
                          high = valuesOf(after.first[i]);
      for (std::size_t j = 0; j < exact.size(); ++j) {
        double numeric = (high[j] - low[j]) / (2 * epsilon);
        EXPECT_NEAR(exact[j], numeric, 1e-5 + 1e-3 * std::fabs(numeric))
            << "tangent of result " << i << ", element " << j;
      }
    }
  }
}

// sum(f(inputs) * weights) with fixed random weights.
inline Body weighted(const Body &f, const Shape &shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor weights = randomTensor(random, shape, 0.5, 1.5);
  return [f, weights](const std::vector<Tensor> &x) { return sum(f(x) * weights); };
}

// The gradients and tangents of an operation and, for order 2, of its gradients.
inline void expectDerivatives(const Body &f, const std::vector<Tensor> &inputs, int order) {
  Body loss = weighted(f, f(inputs).shape(), 7);
  {
    SCOPED_TRACE("first order");
    expectGradients(loss, inputs);
    expectTangents([f](const std::vector<Tensor> &x) { return std::vector<Tensor>{f(x)}; }, inputs, true);
  }
  if (order < 2)
    return;
  SCOPED_TRACE("second order");
  expectTangents([loss](const std::vector<Tensor> &x) { return gradients(loss, x); }, inputs, false);
  std::vector<Shape> shapes;
  for (const Tensor &gradient : gradients(loss, inputs))
    shapes.push_back(gradient.shape());
  std::mt19937 random(11);
  std::vector<Tensor> weights;
  for (const Shape &shape : shapes)
    weights.push_back(randomTensor(random, shape, 0.5, 1.5));
  expectGradients(
      [loss, weights](const std::vector<Tensor> &x) {
        std::vector<Tensor> inner = gradients(loss, x);
        Tensor total = sum(inner[0] * weights[0]);
        for (std::size_t i = 1; i < inner.size(); ++i)
          total = total + sum(inner[i] * weights[i]);
        return total;
      },
      inputs);
}

} // namespace calque::testing
#endif
