#include <calque/calque.h>

#include <iostream>

using namespace calque;

// Four points on y = 2 x + 1 and a line that is not there yet.
Tensor loss(const Tensor &line, const Tensor &x, const Tensor &y) {
  return mean(square(gather(line, scalar(0)) * x + gather(line, scalar(1)) - y));
}

// The naive gradient at 100 is inf * 0.
const auto log1pexp = custom_gradient([](const Tensor &x) {
  Tensor e = exp(x);
  return std::pair(log(1 + e), [=](const Tensor &g) { return g * (1 - 1 / (1 + e)); });
});

int main() {
  Tensor x = tensor({0.0f, 1.0f, 2.0f, 3.0f}), y = 2 * x + 1, line = tensor({0.0f, 0.0f});

  // A tape sees what is computed while it lives.
  GradientTape tape;
  tape.watch(line);
  Tensor l = loss(line, x, y);
  std::cout << "tape      " << tape.gradient(l, line).value() << '\n';

  // The same as a function, and what follows from it.
  std::cout << "grad      " << grad(loss)(line, x, y) << '\n';
  auto at = [&](const Tensor &p) { return loss(p, x, y); };
  auto [value, change] = jvp(at, line, tensor({1.0f, 0.0f}));
  std::cout << "jvp       " << value << ' ' << change << '\n';
  std::cout << "hessian   " << hessian(at)(line) << '\n';
  std::cout << "each      " << vmap(grad(loss), {.in_axes = {std::nullopt, 0, 0}})(line, x, y) << '\n';

  // One Newton step lands on the minimum of a quadratic; all of it is one native function.
  auto newton = function([&](const Tensor &p) {
    Tensor h = hessian(at)(p), g = grad(at)(p);
    auto element = [&](int i, int j) { return reshape(slice(h, {i, j}, {i + 1, j + 1}), {1}); };
    Tensor determinant = element(0, 0) * element(1, 1) - element(0, 1) * element(1, 0);
    Tensor inverse =
        reshape(concat({element(1, 1), -element(0, 1), -element(1, 0), element(0, 0)}), {2, 2}) / determinant;
    return p - sum(inverse * g, {1});
  });
  std::cout << "newton    " << newton(line) << '\n';
  std::cout << "log1pexp  " << grad(log1pexp)(scalar(100.0f)) << '\n';
}
