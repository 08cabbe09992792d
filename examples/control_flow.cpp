// Branches and loops on the values of tensors, eagerly, compiled and differentiated.
#include <calque/calque.h>

#include <iostream>

using namespace calque;

// How many steps lead from n to 1.
Tensor collatz(const Tensor &n) {
  auto [steps, last] = while_loop([](const Tensor &, const Tensor &x) { return x != 1; },
                                  [](const Tensor &steps, const Tensor &x) {
                                    Tensor next =
                                        cond(x - x / 2 * 2 == 0, [&] { return x / 2; }, [&] { return 3 * x + 1; });
                                    return std::tuple(steps + 1, next);
                                  },
                                  std::tuple(scalar(0), n));
  return steps;
}

// The numbers on the way from n to 1. How many they are is known at the end only.
TensorArray path(const Tensor &n) {
  auto [steps, last, numbers] = while_loop([](const Tensor &, const Tensor &x, const TensorArray &) { return x != 1; },
                                           [](const Tensor &steps, const Tensor &x, TensorArray numbers) {
                                             Tensor next = where(x - x / 2 * 2 == 0, x / 2, 3 * x + 1);
                                             return std::tuple(steps + 1, next, numbers.write(steps, x));
                                           },
                                           std::tuple(scalar(0), n, TensorArray(200, DType::Int32, {})));
  return numbers.write(steps, last);
}

// The primes below n. How many they are shows in the end.
Tensor primes(const Tensor &n) {
  auto [i, found] = while_loop(
      [&](const Tensor &i, const Tensor &) { return i < n; },
      [](const Tensor &i, const Tensor &found) {
        Tensor next =
            cond(all(mod(i, found) != 0), [&] { return concat({found, expand_dims(i, 0)}); }, [&] { return found; });
        return std::tuple(i + 1, next);
      },
      std::tuple(scalar(3), tensor({2})), {.shape_invariants = {std::nullopt, Shape{kDynamic}}});
  return found;
}

// The root of x^3 = a by Newton's method, to a tolerance. Its derivative by `a` goes through the loop.
Tensor cube_root(const Tensor &a) {
  auto [x, step] = while_loop([](const Tensor &, const Tensor &step) { return abs(step) > 1e-12; },
                              [&](const Tensor &x, const Tensor &) {
                                Tensor next = x - (x * x * x - a) / (3 * x * x);
                                return std::tuple(next, next - x);
                              },
                              std::tuple(scalar<double>(1.0), scalar<double>(1.0)));
  return x;
}

// A ball that falls on the floor and jumps, for some steps: its height. The branch is differentiated too. For many
// steps the gradient needs little memory.
Tensor height(const Tensor &speed, const Tensor &steps) {
  auto [y, v] = for_range(0, steps, std::tuple(scalar<double>(1.0), speed),
                          [](const Tensor &, const Tensor &y, const Tensor &v) {
                            Tensor next = y + 0.01 * v;
                            return cond(
                                next < 0, [&] { return std::tuple(-next, -0.8 * v); },
                                [&] { return std::tuple(next, v - 0.0981); });
                          },
                          {.checkpoint = true});
  return y;
}

// Halves the step until a condition holds: a line search.
Tensor line_search(const Tensor &x, const Tensor &direction) {
  auto f = [](const Tensor &at) { return sum(square(square(at) - 1)); };
  const Tensor before = f(x);
  Tensor step = while_loop([&](const Tensor &t) { return f(x + t * direction) > before; },
                           [](const Tensor &t) { return t * 0.5f; }, scalar(8.0f), {.maximum_iterations = 40});
  return x + step * direction;
}

int main() {
  std::cout << "collatz     " << function(collatz)(scalar(27)) << '\n';
  std::cout << "path        " << function(path)(scalar(27)).gather(tensor({0, 1, 2, 110, 111})) << '\n';
  std::cout << "primes      " << function(primes)(scalar(30)) << '\n';
  std::cout << "cube root   " << function(cube_root)(scalar<double>(27.0)) << ' '
            << grad(cube_root)(scalar<double>(27.0)) << '\n';
  auto fall = function([](const Tensor &speed) {
    auto [y, dy] = value_and_grad([](const Tensor &v) { return height(v, scalar(100)); })(speed);
    return std::pair(y, dy);
  });
  auto [y, dy] = fall(scalar<double>(2.0));
  std::cout << "height      " << y << ' ' << dy << '\n';
  std::cout << "line search " << function(line_search)(tensor({3.0f, 0.5f}), tensor({-1.0f, 1.0f})) << '\n';

  // A recurrent layer over a sequence; its length is known when the function is called.
  Tensor w = full({2, 2}, 0.5f);
  auto states = function(
      [&](const Tensor &xs) {
        return scan(
                   [&](const Tensor &h, const Tensor &x) {
                     Tensor next = tanh(matmul(h, w) + x);
                     return std::pair(next, next);
                   },
                   zeros({1, 2}), xs)
            .second;
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 1, 2})}});
  std::cout << "states      " << states(ones({2, 1, 2})).shape() << ' ' << states(ones({3, 1, 2})).shape() << '\n';

  // Training inside of one compiled function: the loop reads and assigns the variable.
  Variable line(zeros({2}), {.name = "line"});
  auto train = function([&](const Tensor &x, const Tensor &y) {
    return for_range(0, 300, scalar(0.0f), [&](const Tensor &, const Tensor &) {
      GradientTape tape;
      Tensor loss = mean(square(gather(line, 0) * x + gather(line, 1) - y));
      line.assign_sub(0.1f * tape.gradient(loss, line).value());
      return loss;
    });
  });
  Tensor x = tensor({0.0f, 1.0f, 2.0f, 3.0f});
  train(x, 2 * x + 1);
  std::cout << "line        " << floor(line.value() * 100 + 0.5f) / 100 << '\n';

  // A gradient that would keep more than 1 MiB of the iterations: the loop gets a checkpoint, and a warning says so.
  set_loop_memory(std::size_t(1) << 20);
  auto decay = function(grad([](const Tensor &rate) {
    return for_range(0, 100'000, scalar<double>(1.0),
                     [&](const Tensor &, const Tensor &y) { return y - 0.0001 * rate * y; });
  }));
  std::cout << "decay       " << floor(decay(scalar<double>(0.5)) * 1e4) / 1e4 << '\n';
}
