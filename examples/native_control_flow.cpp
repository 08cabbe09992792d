// Plain C++ branches and loops on the values of tensors, compiled and differentiated.
#include <calque/training.h>

#include <iostream>

using namespace calque;

// How many steps lead from n to 1.
Tensor collatz(Tensor n) {
  Tensor steps = scalar(0);
  while (n != 1) {
    if (n - n / 2 * 2 == 0)
      n = n / 2;
    else
      n = 3 * n + 1;
    steps = steps + 1;
  }
  return steps;
}

// The square root of y by Newton's method. Its derivative by y goes through the loop.
Tensor root(const Tensor &y) {
  Tensor x = y;
  for (int i = 0; i < 50; ++i) { // at most
    Tensor step = (x * x - y) / (2 * x);
    x = x - step;
    if (abs(step) < 1e-12)
      break;
  }
  return x;
}

// Where f changes its sign.
Tensor bisect(Tensor low, Tensor high) {
  auto f = [](const Tensor &x) { return x * x * x - 2; };
  while (high - low > 1e-9) {
    Tensor middle = (low + high) / 2;
    if (f(middle) == 0)
      return middle;
    if (f(middle) > 0)
      high = middle;
    else
      low = middle;
  }
  return low;
}

// A ball that falls on the floor and jumps: its height after some steps.
Tensor height(const Tensor &speed) {
  Tensor y = scalar<double>(1.0), v = speed, t = scalar<double>(0.0);
  while (t < 1) {
    y = y + 0.01 * v;
    if (y < 0) {
      y = -y;
      v = -0.8 * v;
    } else {
      v = v - 0.0981;
    }
    t = t + 0.01;
  }
  return y;
}

// Halves the step until a condition holds: a line search.
Tensor line_search(const Tensor &x, const Tensor &direction) {
  auto f = [](const Tensor &at) { return sum(square(square(at) - 1)); };
  const Tensor before = f(x);
  Tensor step = scalar(8.0f);
  while (f(x + step * direction) > before)
    step = step * 0.5f;
  return x + step * direction;
}

// A recurrent layer over the rows of x, until its state is large. Derivatives by x and w go through it.
Tensor recurrence(const Tensor &x, const Tensor &w) {
  Tensor h = zeros({1, 2});
  for (Tensor row : x) {
    h = tanh(matmul(h, w) + row);
    if (sum(h) > 1.9f)
      break;
  }
  return h;
}

// A pendulum after many steps. The gradient keeps the state of few of them.
Tensor pendulum(const Tensor &start) {
  Tensor angle = start, speed = scalar<double>(0.0);
  for (Tensor i : range(20'000, {.checkpoint = true})) {
    speed = speed - 0.001 * sin(angle);
    angle = angle + 0.001 * speed;
  }
  return angle;
}

// How long it takes to its lowest point. The loop ends by itself.
Tensor quarter(const Tensor &start) {
  Tensor angle = start, speed = scalar<double>(0.0), before = angle, t = scalar<double>(0.0);
  while (checkpointed(angle > 0)) {
    before = angle;
    speed = speed - 0.001 * sin(angle);
    angle = angle + 0.001 * speed;
    t = t + 0.001;
  }
  return t + 0.001 * angle / (before - angle); // where the line through the last two points is 0
}

int main() {
  std::cout << "collatz     " << function(collatz)(scalar(27)) << '\n';
  std::cout << "root        " << function(root)(scalar<double>(16.0)) << ' '
            << function(grad(root))(scalar<double>(16.0)) << '\n';
  std::cout << "bisect      " << floor(function(bisect)(scalar<double>(0.0), scalar<double>(4.0)) * 1e6) / 1e6 << '\n';
  std::cout << "height      " << function(value_and_grad(height))(scalar<double>(2.0)).second << '\n';
  std::cout << "line search " << function(line_search)(tensor({3.0f, 0.5f}), tensor({-1.0f, 1.0f})) << '\n';
  std::cout << "recurrence  " << floor(function(recurrence)(ones({9, 2}), full({2, 2}, 0.5f)) * 1000) / 1000 << '\n';
  std::cout << "pendulum    " << floor(function(grad(pendulum))(scalar<double>(1.0)) * 1e6) / 1e6 << '\n';
  std::cout << "quarter     " << floor(function(grad(quarter))(scalar<double>(1.0)) * 1e3) / 1e3 << '\n';
  auto factorial = function([](const Tensor &n) {
    Tensor product = scalar<std::int64_t>(1);
    for (Tensor i : range(1, n + 1))
      product = product * i;
    return product;
  });
  std::cout << "factorial   " << factorial(scalar(20)) << '\n';

  // Training until the loss is small, inside of one compiled function.
  Variable line(zeros({2}), {.name = "line"});
  auto train = function([&](const Tensor &x, const Tensor &y) {
    Tensor loss = scalar(1.0f), steps = scalar(0);
    while (loss > 1e-6f) {
      GradientTape tape;
      loss = mean(square(gather(line, 0) * x + gather(line, 1) - y));
      line.assign_sub(0.1f * tape.gradient(loss, line).value());
      steps = steps + 1;
    }
    return steps;
  });
  Tensor x = tensor({0.0f, 1.0f, 2.0f, 3.0f});
  std::cout << "steps       " << train(x, 2 * x + 1) << '\n';
  std::cout << "line        " << floor(line.value() * 100 + 0.5f) / 100 << '\n';

  // The same on a data set: each call goes through it once, in another order.
  auto examples = data::from_tensor_slices(x, 2 * x + 1).shuffle(4, {.seed = 1}).batch(2);
  auto epoch = function([&](const Tensor &rate) {
    for (auto [x, y] : examples) {
      GradientTape tape;
      Tensor loss = mean(square(gather(line, 0) * x + gather(line, 1) - y));
      line.assign_sub(rate * tape.gradient(loss, line).value());
    }
    return line.value();
  });
  line.assign(zeros({2}));
  for (int i = 0; i < 200; ++i)
    epoch(scalar(0.1f));
  std::cout << "epochs      " << floor(line.value() * 100 + 0.5f) / 100 << '\n';
}
