// The programs whose compile time is measured. Those that JAX has, too, have the names and sizes of its script, so that
// their lines can be set side by side.
#include "benchmarks/Programs.h"

#include <iostream>
#include <tuple>

namespace calque::benchmarks {

namespace {

using Tensors = std::vector<Tensor>;

// The first call of a function of these arguments.
template <typename F, typename... Arguments> FirstCall firstCall(F body, Arguments... arguments) {
  return [f = function(std::move(body)), ... arguments = std::move(arguments)] { f(arguments...); };
}

FirstCall chain(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = tanh(y) * 1.01f + x;
        return y;
      },
      ones({8}));
}

FirstCall products(int n) {
  return firstCall(
      [n](const Tensor &x, const Tensor &w) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = tanh(matmul(y, w)) + x;
        return y;
      },
      ones({4, 8}), ones({8, 8}));
}

FirstCall concatenated(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensors parts;
        for (int i = 0; i < n; ++i)
          parts.push_back(x + static_cast<float>(i));
        return concat(parts);
      },
      ones({3}));
}

// Each size is another one by 1, which is known when the function is called.
FirstCall openConcats(int n) {
  auto f = function(
      [n](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = concat({slice(y, {0}, {1}), y * 2});
        return sum(y);
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  return [f, x = ones({4})] { f(x); };
}

FirstCall pads(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = pad(y, {0}, {1});
        return y;
      },
      ones({3}));
}

FirstCall transposedProduct(int n) {
  return firstCall([](const Tensor &a, const Tensor &b) { return matmul(a, transpose(b)); }, ones({n, n}),
                   ones({n, n}));
}

// Elementwise operations each of which several others read.
FirstCall readers(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensor a = x, b = x + 1;
        for (int i = 0; i < n; ++i)
          std::tie(a, b) = std::tuple(a - b * 0.5f, relu(a + b));
        return std::tuple(a, b);
      },
      ones({256, 300}));
}

// A training step of equal layers by gradient descent.
FirstCall mlp(int layers) {
  constexpr std::int64_t kWidth = 512, kBatch = 1024;
  auto loss = [](const Tensors &parameters, const Tensor &x) {
    Tensor y = x;
    for (std::size_t i = 0; i < parameters.size(); i += 2)
      y = relu(matmul(y, parameters[i]) + parameters[i + 1]);
    return mean(square(y));
  };
  auto step = [loss](const Tensors &parameters, const Tensor &x) {
    Tensors next = grad(loss)(parameters, x);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      next[i] = parameters[i] - 0.01f * next[i];
    return next;
  };
  Tensors parameters;
  for (int i = 0; i < layers; ++i) {
    parameters.push_back(full({kWidth, kWidth}, 0.01f));
    parameters.push_back(zeros({kWidth}));
  }
  return firstCall(step, parameters, ones({kBatch, kWidth}));
}

FirstCall adam(int n) {
  auto step = [](const Tensors &weights, const Tensors &means, const Tensors &squares, const Tensors &gradients) {
    Tensors results;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Tensor m = 0.9f * means[i] + 0.1f * gradients[i];
      Tensor v = 0.999f * squares[i] + 0.001f * gradients[i] * gradients[i];
      results.push_back(weights[i] - 1e-3f * m / (sqrt(v) + 1e-7f));
      results.push_back(m);
      results.push_back(v);
    }
    return results;
  };
  Tensors each(static_cast<std::size_t>(n), ones({8, 8}));
  return firstCall(step, each, each, each, each);
}

FirstCall results(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensors all;
        for (int i = 0; i < n; ++i)
          all.push_back(x + static_cast<float>(i));
        return all;
      },
      ones({8}));
}

FirstCall arguments(int n) {
  return firstCall([](const Tensors &all) { return all.front() + all.back(); },
                   Tensors(static_cast<std::size_t>(n), ones({8})));
}

FirstCall vmapFilters(int n) {
  return firstCall(vmap([](const Tensor &x, const Tensor &w) { return conv2d(x, w, {1, 1}, "valid"); }),
                   ones({n, 1, 8, 8, 3}), ones({n, 3, 3, 3, 4}));
}

FirstCall assignments(int n) {
  std::vector<Variable> variables;
  for (int i = 0; i < n; ++i)
    variables.emplace_back(ones({8}));
  return firstCall(
      [variables](const Tensor &x) mutable {
        for (Variable &variable : variables)
          variable.assign(variable.value() + x);
      },
      ones({8}));
}

FirstCall assertions(int n) {
  return firstCall(
      [n](const Tensor &x) {
        for (int i = 0; i < n; ++i)
          assert_true(sum(x) > -static_cast<float>(i), "positive");
      },
      ones({8}));
}

FirstCall uniforms(int n) {
  return firstCall(
      [n, g = random::Generator(1)](const Tensor &x) mutable {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = y + g.uniform({8});
        return y;
      },
      ones({8}));
}

FirstCall hostCalls(int n) {
  return firstCall(
      [n](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = host_call([](const Tensor &value) { return value; }, {y}, {TensorSpec<float>({8})}) + 1.0f;
        return y;
      },
      ones({8}));
}

// The gradient of n parts, each of which is read by another operation.
FirstCall splits(int n) {
  return firstCall(grad([n](const Tensor &x) {
                     Tensors parts = split(x, std::vector<std::int64_t>(static_cast<std::size_t>(n), 3));
                     Tensor total = scalar(0.0f);
                     for (int i = 0; i < n; ++i)
                       total = total + sum(square(parts[static_cast<std::size_t>(i)])) * static_cast<float>(i + 1);
                     return total;
                   }),
                   ones({3 * n}));
}

// A second derivative in each of n iterations.
FirstCall nestedTapes(int n) {
  return firstCall(
      [n](const Tensor &w, const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i) {
          GradientTape outer;
          outer.watch(y);
          GradientTape inner;
          inner.watch(y);
          Tensor first = *inner.gradient(sum(w * y * y * y), y);
          y = y * 0.99f + *outer.gradient(sum(first), y) * 0.001f;
        }
        return y;
      },
      ones({8}), ones({8}));
}

} // namespace

std::vector<Program> compilePrograms() {
  return {{"chain", 60, chain},
          {"products", 30, products},
          {"concat", 20, concatenated},
          {"pads", 4, pads},
          {"transposed_product", 64, transposedProduct},
          {"readers", 600, readers},
          {"mlp", 2, mlp},
          {"adam", 30, adam},
          {"results", 100, results},
          {"arguments", 300, arguments},
          {"vmap_filters", 12, vmapFilters},
          {"assignments", 100, assignments},
          {"assertions", 100, assertions},
          {"host_calls", 100, hostCalls},
          {"uniforms", 40, uniforms},
          {"open_concats", 40, openConcats},
          {"splits", 10, splits},
          {"nested_tapes", 20, nestedTapes}};
}

} // namespace calque::benchmarks
