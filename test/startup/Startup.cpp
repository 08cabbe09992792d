// Calls functions of many kinds and prints what they give, bit for bit, and whether the process has loaded LLVM. What
// it prints must be the same whether native code is compiled or found on disk.
#include "calque/calque.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

using namespace calque;

namespace {

bool maps(const std::string &name) {
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);)
    if (line.find(name) != std::string::npos)
      return true;
  return false;
}

void show(const char *what, const Tensor &value) {
  std::printf("%s", what);
  Tensor flat = reshape(cast(value, DType::Float64), {-1});
  for (double each : flat.to_vector<double>())
    std::printf(" %a", each);
  std::printf("\n");
}

int report() {
  std::fflush(stdout);
  std::cerr << (maps("libLLVM") || maps("libMLIR") || maps("libcalque-compiler") ? "LLVM is loaded" : "no LLVM")
            << "\n";
  return 0;
}

template <typename F> void showError(const char *what, F &&call) {
  try {
    call();
    std::printf("%s: no error\n", what);
  } catch (const Error &error) {
    std::string text = error.what();
    std::size_t slash = text.rfind('/');
    std::printf("%s: %s\n", what, text.substr(slash == std::string::npos ? 0 : slash + 1).c_str());
  }
}

} // namespace

namespace {
// What the build has compiled already.
void eagerly(const Tensor &x, const Tensor &w) {
  show("eager", tanh(matmul(x, w)) + 1);
  show("eager rows", softmax(x, 1) * exp(-mean(x, {0})));
  show("eager choice", where(x > 1, max(x), -x) * cast(argmax(x, 0), DType::Float32));
}

// From the ninth size on there is code for unknown sizes, which adds in another order. That an earlier process has made
// it must not show.
void manySizes() {
  for (int n = 3; n < 14; ++n) {
    Tensor x = sin(reshape(iota({n * 24}, DType::Float32), {n, 8, 3}) * 1.7f);
    show("sum of a size", sum(x));
    show("products of a size", sum(matmul(x, full({n, 3, 2}, 0.3f)), {0}));
  }
}

// What tapes give of derivatives shows only once these are expanded: the third derivative of y * y does not depend on
// y.
void derivatives(const Tensor &x) {
  auto squares = [](const Tensor &y) { return sum(y * y); };
  auto second = grad(grad([](const Tensor &y) { return y * y; }));
  auto byTape = [&](auto &&derivative, const Tensor &at) {
    GradientTape tape({.persistent = true});
    tape.watch(at);
    auto gradient = tape.gradient(derivative(at), at);
    return gradient ? *gradient : scalar(-1.0f);
  };
  show("tape of vmap", byTape(vmap(grad(squares)), x));
  show("tape of Hessian", byTape(hessian([](const Tensor &y) { return sum(y * y * y); }), tensor({1.0f, 2.0f})));
  show("tape of no path", byTape(second, scalar(3.0f)));
  auto traced = function([&](const Tensor &y) { return byTape(vmap(grad(squares)), y); });
  show("traced tape of vmap", traced(x));
}
} // namespace

// With an argument, what is eager alone.
int main(int argc, char **) {
  Tensor x = reshape(tensor({0.f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f, 10.f, 11.f}), {3, 4}) / 7,
         w = full({4, 5}, 0.25f);
  eagerly(x, w);
  if (argc > 1)
    return report();

  auto layer = function([](const Tensor &x, const Tensor &w) { return relu(matmul(x, w) - 0.5f); });
  show("function", layer(x, w));
  show("gradient", function(grad([&](const Tensor &w) { return sum(layer(x, w) * layer(x, w)); }))(w));

  auto open = function([](const Tensor &x) { return concat({x, mean(x, {0}, true)}, 0); },
                       {.input_signature = {TensorSpec<float>({kDynamic, 4})}});
  show("unknown sizes", open(x));
  show("unknown sizes", open(x * 2));

  Variable counter(scalar(1.0f), {.name = "counter"});
  auto step = function([&](const Tensor &x) {
    counter.assign_add(x);
    return counter * 2;
  });
  show("variable", step(scalar(3.0f)));
  show("variable", counter.value());

  auto checked = function([](const Tensor &x, const Tensor &i) {
    print("x", x);
    assert_true(sum(x) < 100, "x is too large");
    return gather(x, i);
  });
  show("checked", checked(x, tensor({2, 0})));
  showError("index", [&] { checked(x, tensor({3, 0})); });
  showError("assertion", [&] { checked(x * 1000, tensor({0, 0})); });
  auto twice = function([](const Tensor &x) {
    return host_call([](std::span<const Tensor> in) { return in[0] * 2; }, {x}, {TensorSpec<float>({2})});
  });
  show("host call", twice(tensor({1.5f, 2.5f})));
  derivatives(x);
  manySizes();

  return report();
}
