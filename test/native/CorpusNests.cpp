// Loops in loops of the corpus: loops by declaration, loops that a tensor ends, and loops that the host counts, in
// every order, two and three deep, left by break, continue and return.
#include "test/native/CorpusCases.h"

namespace calque::testing {

namespace {

// Goes down to 0 by a step that is the smaller the nearer it is.
Tensor fall(Tensor &x, double share) {
  Tensor step = share * abs(x);
  x = x - step;
  return step;
}

} // namespace

void addNests(std::vector<NativeCase> &cases) {
  const AddCase add{cases};

  for (int n : {3, 12, 13, 20, 200}) {
    const std::string count = "_of_" + std::to_string(n);
    add("counted_with_break_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(7)) {
        for (int k = 0; k < n; ++k)
          if (less(fall(x, 0.1), 0.02))
            break;
        x = x + a[1] * 0.1 + 1;
      }
      return {x};
    });
  }
  for (int n : {3, 16}) {
    const std::string count = "_of_" + std::to_string(n);
    add("counted_with_continue_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(5)) {
        for (int k = 0; k < n; ++k) {
          Tensor step = 0.1 * x;
          if (more(step, 0.2)) {
            x = x - 2 * step;
            continue;
          }
          x = x - step + a[1] * 0.001;
        }
        x = x + 1;
      }
      return {x};
    });
    add("return_from_counted_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = abs(a[0]) + 1;
      for (Tensor i : range(6)) {
        for (int k = 0; k < n; ++k) {
          x = x * 1.02 + 0.03;
          if (more(x, 40))
            return {x * 2};
        }
        x = x * 1.5 + 1;
      }
      return {x};
    });
    add("counted_before_a_branch_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(6)) {
        for (int k = 0; k < n; ++k)
          if (less(fall(x, 0.1), 0.03))
            break;
        if (more(x, 2))
          x = x * 0.3;
        x = x + a[1];
      }
      return {x};
    });
    add("counted_in_while" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0], t = number(a, 0);
      while (less(t, 4)) {
        for (int k = 0; k < n; ++k)
          if (less(fall(x, 0.1), 0.05))
            break;
        x = x + 1;
        t = t + 1;
      }
      return {x};
    });
    add("counted_in_while_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(4)) {
        while (more(x, 0.3)) {
          for (int k = 0; k < n; ++k)
            if (less(fall(x, 0.1), 0.02))
              break;
          x = x - 0.05;
        }
        x = x + 2;
      }
      return {x};
    });
    add("counted_in_two_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(3)) {
        for (Tensor j : range(4)) {
          for (int k = 0; k < n; ++k)
            if (less(fall(x, 0.05), 0.02))
              break;
          x = x + 0.05;
        }
        x = x + 2;
      }
      return {x};
    });
    add("declared_in_counted_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(3)) {
        for (int k = 0; k < n; ++k) {
          for (Tensor j : range(3))
            if (less(fall(x, 0.02), 0.01))
              break;
          x = x + 0.05;
        }
        x = x + 2;
      }
      return {x};
    });
    add("declared_in_counted" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (int k = 0; k < n; ++k) {
        for (Tensor i : range(5))
          if (less(fall(x, 0.1), 0.02))
            break;
        x = x + 1;
      }
      return {x};
    });
    add("while_in_counted" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (int k = 0; k < n; ++k) {
        while (more(x, 0.5))
          x = x * 0.7;
        x = x + 1.3;
      }
      return {x};
    });
    add("counted_in_counted" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (int k = 0; k < n; ++k) {
        for (int l = 0; l < 15; ++l)
          if (less(fall(x, 0.1), 0.1))
            break;
        x = x + 1;
      }
      return {x};
    });
    add("counted_in_counted_in_declared" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor i : range(2)) {
        for (int k = 0; k < n; ++k) {
          for (int l = 0; l < 14; ++l)
            if (less(fall(x, 0.02), 0.01))
              break;
          x = x + 0.05;
        }
        x = x + 2;
      }
      return {x};
    });
    add("rows_that_a_count_goes_through" + count, [n](const Tensors &a) -> Tensors {
      Tensor x = a[0];
      for (Tensor row : iota({5}, DType::Float64)) {
        for (int k = 0; k < n; ++k) {
          Tensor step = fall(x, 0.1);
          x = x + 0.01 * row;
          if (less(step, 0.02))
            break;
        }
        if (more(x, 5))
          break;
        x = x + 1;
      }
      return {x};
    });
  }
  add("three_counted", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 5; ++l) {
        for (int m = 0; m < 13; ++m)
          if (less(fall(x, 0.02), 0.01))
            break;
        x = x + 0.05;
      }
      x = x + 2;
    }
    return {x};
  });
  add("two_counted_in_a_row_in_declared", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (Tensor i : range(4)) {
      for (int k = 0; k < 20; ++k)
        if (less(fall(x, 0.1), 0.01))
          break;
      x = x + 1;
      for (int k = 0; k < 25; ++k)
        if (less(fall(x, 0.2), 0.02))
          break;
      x = x + a[1];
    }
    return {x};
  });
  add("counted_do_while_in_declared", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (Tensor i : range(5)) {
      int k = 0;
      Tensor step;
      do {
        step = fall(x, 0.1);
      } while (++k < 30 && more(step, 0.02));
      x = x + 1;
    }
    return {x};
  });
  add("counted_with_branches_and_break_in_declared", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (Tensor i : range(5)) {
      for (int k = 0; k < 20; ++k) {
        Tensor step = 0.1 * abs(x);
        if (more(step, 1))
          x = x - 2 * step;
        else
          x = x - step;
        if (less(step, 0.01))
          break;
        if (less(x, 0.2))
          x = x + 0.15;
      }
      x = x + 5;
    }
    return {x};
  });
  add("newton_of_each_of_many", [](const Tensors &a) -> Tensors {
    Tensor all = number(a, 0);
    for (Tensor i : range(1, 8)) {
      Tensor y = cast(i, DType::Float64) + abs(a[0]), x = y;
      for (int k = 0; k < 20; ++k) {
        Tensor next = 0.5 * (x + y / x), error = abs(next - x);
        x = next;
        if (less(error, 1e-12))
          break;
      }
      all = all + x;
    }
    return {all};
  });
}

} // namespace calque::testing
