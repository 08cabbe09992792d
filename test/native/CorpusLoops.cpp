// The loops of the corpus.
#include "test/native/CorpusCases.h"

#include <cmath>
#include <memory>
#include <stdexcept>

namespace calque::testing {

namespace {

Tensor clip(const Tensor &x) {
  if (more(x, 10))
    return x * 0.5;
  if (less(x, 0))
    return -x;
  return x;
}

} // namespace

void addLoops(std::vector<NativeCase> &cases) {
  const AddCase add{cases};

  add("while", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    while (more(x, 0))
      x = x - 1;
    return {x};
  });
  add("while_of_two_variables", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], s = number(a, 0);
    while (more(x, 0)) {
      s = s + x * a[1];
      x = x - 1;
    }
    return {s, x};
  });
  add("do_while", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    do
      x = x * 0.5 - 1;
    while (more(x, 0));
    return {x};
  });
  add("fibonacci", [](const Tensors &v) -> Tensors {
    Tensor a = number(v, 0), b = v[1], n = v[0];
    while (more(n, 0)) {
      Tensor next = a + b;
      a = b;
      b = next;
      n = n - 1;
    }
    return {a, b};
  });
  add("swap_inputs", [](const Tensors &v) -> Tensors {
    Tensor a = v[0], b = v[1], n = v[2];
    while (more(n, 0)) {
      std::swap(a, b);
      n = n - 1;
    }
    return {a - b, a};
  });
  add("lag_of_three", [](const Tensors &v) -> Tensors {
    Tensor a = v[0], b = number(v, 1), c = number(v, 2), n = v[1];
    while (more(n, 0)) {
      Tensor next = a + c;
      a = b;
      b = c;
      c = next;
      n = n - 1;
    }
    return {a, b, c};
  });
  add("collatz", [](const Tensors &a) -> Tensors {
    Tensor x = abs(floor(a[0])) + 1, n = number(a, 0);
    while (more(x, 1)) {
      if (same(x - floor(x / 2) * 2, 0))
        x = x / 2;
      else
        x = x * 3 + 1;
      n = n + 1;
    }
    return {n};
  });
  cases.back().hasGradient = false;
  add("bisection", [](const Tensors &a) -> Tensors {
    Tensor lo = minimum(a[0], a[1]) - 1, hi = maximum(a[0], a[1]) + 1;
    while (more(hi - lo, 1e-3)) {
      Tensor middle = (lo + hi) / 2, f = middle * middle * middle - 2;
      if (less(abs(f), 1e-6)) {
        lo = middle;
        break;
      }
      if (more(f, 0))
        hi = middle;
      else
        lo = middle;
    }
    return {lo, hi};
  });
  add("line_search", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], step = number(a, 1), before = x * x;
    while (true) {
      Tensor next = x - step * a[1];
      if (less(next * next, before - 1e-4 * step)) {
        x = next;
        break;
      }
      step = step * 0.5;
      if (less(step, 1e-4))
        break;
    }
    return {x, step};
  });
  add("flag_in_a_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    bool big = false;
    while (more(x, 0)) {
      if (more(x, 6))
        big = true;
      if (big)
        x = x - 2;
      else
        x = x - 1;
    }
    return {x};
  });
  add("first_iteration_differs", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    bool first = true;
    while (more(x, 0)) {
      if (first)
        x = x * 3;
      first = false;
      x = x - 1;
    }
    return {x};
  });
  add("alternating_iterations", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], y = number(a, 1);
    for (int i = 0; more(x, 0); ++i) {
      if (i % 2)
        x = x - 1;
      else
        y = y * 2;
      if (i % 2 == 0)
        x = x - 0.5;
    }
    return {x, y};
  });
  add("alternating_captures", [w = Tensors{scalar<double>(2.0), scalar<double>(3.0)}](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    std::size_t i = 0;
    while (more(x, 0))
      x = x - w[i++ % 2];
    return {x};
  });
  add("nested_whiles", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], s = number(a, 0);
    while (more(x, 0)) {
      Tensor y = a[1];
      while (more(y, 0)) {
        s = s + x * y;
        y = y - 1;
      }
      x = x - 1;
    }
    return {s};
  });
  add("inner_count_depends_on_outer", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], s = number(a, 0);
    while (more(x, 0)) {
      Tensor y = x;
      while (more(y, 0)) {
        s = s + y;
        y = y - 2;
      }
      x = x - 1;
    }
    return {s, x};
  });
  add("nested_continue_and_break", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], s = number(a, 0);
    while (more(x, 0)) {
      x = x - 1;
      if (same(x, 3))
        continue;
      Tensor y = a[1];
      while (true) {
        y = y - 1;
        if (less(y, 0))
          break;
        if (same(y, 2))
          continue;
        s = s + y;
      }
      if (more(s, 50))
        break;
      s = s + 0.5;
    }
    return {s, x};
  });
  add("return_from_a_nested_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], s = number(a, 0);
    while (more(x, 0)) {
      Tensor y = a[1];
      while (more(y, 0)) {
        s = s + x * y;
        if (more(s, 40))
          return {s * 100};
        y = y - 1;
      }
      x = x - 1;
    }
    return {s};
  });
  add("defined_in_a_loop_used_after", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], last = number(a, 0);
    while (more(x, 0)) {
      last = x * 3;
      x = x - 1;
    }
    return {last};
  });
  add("loop_invariant", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], k = a[1] * 2 + 1;
    while (more(x, 0))
      x = x - abs(k) - 1;
    return {x * k};
  });
  add("loop_in_a_helper_called_twice", [](const Tensors &a) -> Tensors {
    auto down = [](Tensor x, const Tensor &k) {
      while (more(x, 0))
        x = x - k;
      return x;
    };
    return {down(a[0], abs(a[1]) + 1) + down(a[1], number(a, 2))};
  });
  add("helper_in_a_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], n = a[1];
    while (more(n, 0)) {
      x = clip(x * 1.5 - 4);
      n = n - 1;
    }
    return {x};
  });
  add("tail_recursion", [](const Tensors &a) -> Tensors {
    std::function<Tensor(Tensor)> f = [&](const Tensor &x) -> Tensor {
      if (more(x, 0))
        return f(x - 1);
      return x;
    };
    return {f(a[0])};
  });
  add("flag_tensor", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], go = one(x > 0);
    while (go) {
      x = x - 1.5;
      go = one(x > 2);
    }
    return {x};
  });
  add("four_breaks", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], n = number(a, 0);
    while (less(n, 20)) {
      n = n + 1;
      if (more(x, 5)) {
        x = x - 1;
        if (more(a[1], x))
          break;
      }
      if (less(x, 3)) {
        x = x + 2;
        if (less(a[2], x))
          break;
      }
      if (same(x, 4)) {
        x = x * 2;
        if (more(a[3], 9))
          break;
      }
    }
    return {x, n};
  });
  add("three_ifs_in_a_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], n = a[1];
    while (more(n, 0)) {
      if (more(x, 1))
        x = x - 1;
      else
        x = x + 2;
      if (more(x, 5))
        x = x * 0.5;
      if (less(x, 0))
        x = -x;
      else
        x = x + 0.25;
      n = n - 1;
    }
    return {x};
  });
  add("two_loops_in_a_row", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], y = a[1];
    while (more(x, 0)) {
      x = x - 1;
      y = y + 1;
    }
    while (more(y, 0)) {
      y = y - 2;
      x = x + y;
    }
    return {x, y};
  });
  add("catch_all", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    try {
      while (more(x, 0))
        x = x - 1;
    } catch (...) {
      x = x * 2;
    }
    return {x};
  });
}

void addHostLoops(std::vector<NativeCase> &cases) {
  const AddCase add{cases};

  add("newton", [](const Tensors &a) -> Tensors {
    Tensor y = abs(a[0]) + 1, x = y;
    for (int i = 0; i < 50; ++i) {
      Tensor d = (x * x - y) / (2 * x);
      x = x - d;
      if (less(abs(d), 1e-9))
        break;
    }
    return {x};
  });
  add("host_bound_and_tensor", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 1000 && less(x, 900); ++i)
      x = x + 1.5;
    return {x};
  });
  add("host_bound_with_break", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 1000; ++i) {
      x = x * 0.5 + a[1];
      if (more(x, 11))
        break;
      x = x + 1;
    }
    return {x * 3};
  });
  add("host_counter_bounds_a_while", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int n = 0;
    while (more(x, 0)) {
      x = x - 0.01;
      if (++n == 200)
        break;
    }
    return {x};
  });
  add("counter_in_a_captured_object", [k = std::make_shared<int>(0)](const Tensors &a) -> Tensors {
    *k = 0;
    Tensor x = a[0];
    while (more(x, 0)) {
      if (++*k > 100)
        break;
      x = x - 0.05;
    }
    return {x};
  });
  add("bound_of_3000", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 3000 && more(x, 0); ++i)
      x = x - 3e-3;
    return {x};
  });
  add("hundred_iterations_with_an_if", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 100; ++i) {
      if (more(x, 1))
        x = x / 2;
      else
        x = x * 3 + 1;
    }
    return {x};
  });
  add("throw_in_a_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int n = 0;
    while (more(x, 1)) {
      x = x / 1.05;
      if (++n > 20)
        throw std::runtime_error("no convergence");
    }
    return {x};
  });
  add("nested_host_bounds", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 30 && less(x, 50); ++i) {
      x = x + 1;
      for (int j = 0; j < 20 && less(x, 40); ++j)
        x = x * 1.01 + 0.001;
    }
    return {x};
  });
  add("power_iteration", [](const Tensors &v) -> Tensors {
    Tensor a = v[0] + 20, b = v[1], d = number(v, 1);
    int n = 0;
    while (more(d, 1e-3) && n++ < 500) {
      Tensor nextA = (2 * a + b) / (1 + abs(a) * 0.01), nextB = (a + 3 * b) / (1 + abs(b) * 0.01);
      d = abs(nextA - a) + abs(nextB - b);
      a = nextA;
      b = nextB;
    }
    return {a, b, d};
  });
  add("host_bound_depends_on_a_branch", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int n = more(a[0], 3) ? 50 : 80;
    for (int i = 0; i < n && less(x, 100); ++i)
      x = x + 1;
    return {x};
  });
  add("counter_in_one_branch", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int n = 0;
    while (more(x, 0)) {
      if (more(x, 4)) {
        x = x - 0.5;
        if (++n >= 40)
          break;
      } else {
        x = x - 0.25;
      }
    }
    return {x};
  });
  add("last_iteration_special", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 50; ++i) {
      if (i == 49)
        x = x * 2;
      x = x + 0.1;
      if (more(x, 12))
        break;
    }
    return {x};
  });
  add("constants_of_100_iterations", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 100; ++i) {
      x = x + i;
      if (more(x, 300))
        break;
    }
    return {x};
  });
  add("table_of_host_constants", [](const Tensors &a) -> Tensors {
    std::vector<double> table;
    for (int i = 0; i < 64; ++i)
      table.push_back(std::sin(i * 1.7));
    Tensor x = a[0];
    for (double each : table) {
      x = x * 0.9 + each;
      if (more(x, 8))
        break;
    }
    return {x};
  });
  add(
      "triangular_host_bounds",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0];
        for (int i = 0; i < 30 && less(x, 50); ++i) {
          x = x + 1;
          for (int j = 0; j < i && less(x, 40); ++j)
            x = x * 1.01;
        }
        return {x};
      },
      "can't be captured");
  add("two_host_loops_around_a_decision", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], y = number(a, 0);
    for (int i = 0; i < 20; ++i) {
      for (int j = 0; j < 20; ++j) {
        if (more(x, 5))
          x = x - 3;
        else
          x = x + 1.25;
      }
      y = y + x;
    }
    return {x, y};
  });
}

} // namespace calque::testing
