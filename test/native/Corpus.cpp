#include "test/native/CorpusCases.h"

#include <optional>
#include <stdexcept>

namespace calque::testing {

namespace {

void addBranches(std::vector<NativeCase> &cases) {
  const AddCase add{cases};

  add("straight", [](const Tensors &a) -> Tensors { return {a[0] * a[1] + 3}; });
  add("if_else", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    if (more(x, 0))
      x = x * 2;
    else
      x = x - 1;
    return {x + 5};
  });
  add("if_without_else", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    if (more(x, a[1]))
      x = x * a[1];
    return {x + 5, x * a[0]};
  });
  add("nested_ifs", [](const Tensors &a) -> Tensors {
    Tensor x = a[0], y = a[1];
    if (more(x, 0)) {
      if (more(y, 0)) {
        x = x + y;
      } else {
        x = x - y;
        y = y * 2;
      }
    } else {
      y = y + 1;
    }
    return {x + y, y};
  });
  add("four_ifs_in_a_row", [](const Tensors &a) -> Tensors {
    Tensor x = number(a, 1);
    for (int i = 0; i < 4; ++i)
      if (more(a[static_cast<std::size_t>(i)], 2))
        x = x * a[static_cast<std::size_t>(i)];
      else
        x = x + 1;
    return {x};
  });
  add("and_or_not", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    if ((one(a[0] > 0) && one(a[1] > 0)) || !one(a[2] < 5))
      x = x + 1;
    else
      x = x - a[1];
    return {x * 2};
  });
  add("ternaries", [](const Tensors &a) -> Tensors {
    Tensor x = one(a[0] > 5) ? a[1] : one(a[0] < 0) ? a[0] * 2 : a[1] + a[0];
    return {x, x * x};
  });
  add("early_return", [](const Tensors &a) -> Tensors {
    if (less(a[0], 0))
      return {a[1]};
    Tensor y = a[0] + a[1];
    if (more(y, 9))
      return {y * 2};
    return {y - 1};
  });
  add(
      "early_return_of_other_structure",
      [](const Tensors &a) -> Tensors {
        if (less(a[0], 0))
          return {a[1], a[0]};
        return {a[0]};
      },
      "its paths return results of different types or structures");
  add("throw_on_a_path", [](const Tensors &a) -> Tensors {
    if (less(a[0], 0))
      throw std::runtime_error("negative");
    return {a[0] * a[0]};
  });
  add("flag_set_in_a_branch", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    bool flag = false;
    if (more(a[0], 0)) {
      flag = true;
      x = x + 1;
    }
    if (more(a[1], 3) && flag)
      x = x * 2;
    return {x};
  });
  add("count_used_late", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int count = 0;
    if (more(a[0], 0))
      ++count;
    if (more(a[1], 0))
      ++count;
    if (more(a[2], 0))
      x = x + count;
    return {x * 2};
  });
  add("same_condition_twice", [](const Tensors &a) -> Tensors {
    Tensor condition = one(a[0] > 0), x = a[1];
    std::optional<Tensor> kept;
    if (condition)
      kept = x * 2;
    x = x + 1;
    if (condition)
      x = x + *kept;
    return {x};
  });
  add("equal_conditions_of_two_values", [](const Tensors &a) -> Tensors {
    Tensor x = a[1];
    Tensors kept;
    if (more(a[0], 0))
      kept.push_back(x);
    x = x + 1;
    if (more(a[0], 0)) // a path that never comes is run, too
      x = x + (kept.empty() ? x : kept[0]);
    return {x};
  });
  add("unrolled_host_loop", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 8; ++i)
      x = sin(x) + x;
    if (more(x, 0))
      x = -x;
    return {x};
  });
  add("rare_combination_of_12", [](const Tensors &a) -> Tensors {
    Tensor x = number(a, 0);
    int count = 0;
    for (int i = 0; i < 12; ++i)
      if (more(a[static_cast<std::size_t>(i % 4)] + i, 6))
        ++count;
    if (more(a[0], 2))
      x = x + 1;
    if (count == 12)
      x = x + 100;
    return {x};
  });
  add("ifs_in_a_row_with_a_hidden_pair", [](const Tensors &a) -> Tensors {
    Tensor x = number(a, 0);
    bool flag = false;
    for (int i = 0; i < 16; ++i)
      if (more(a[static_cast<std::size_t>(i % 4)] + i, 6)) {
        x = x + a[static_cast<std::size_t>(i % 4)];
        flag |= i == 2;
      }
    if (flag)
      x = x * 2;
    return {x};
  });
  add("twenty_ifs_in_a_row", [](const Tensors &a) -> Tensors {
    Tensor x = number(a, 1);
    for (int i = 0; i < 20; ++i)
      if (more(a[static_cast<std::size_t>(i % 4)] * (i + 1), 2 * i))
        x = x + a[static_cast<std::size_t>(i % 4)] * i;
      else
        x = x - 1;
    return {x};
  });
  add("host_bound_of_3", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 3 && more(x, 0); ++i)
      x = x - 2;
    return {x};
  });
  add("constants_of_6_iterations", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    for (int i = 0; i < 6; ++i) {
      x = x + i;
      if (more(x, 3))
        break;
    }
    return {x};
  });
  add("vector_with_host_bound_5", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    Tensors list;
    for (int i = 0; i < 5 && more(x, 0); ++i) {
      list.push_back(x);
      x = x - 1;
    }
    Tensor sum = number(a, 0);
    for (const Tensor &each : list)
      sum = sum + each;
    return {sum};
  });
}

// What must be refused.
void addRefused(std::vector<NativeCase> &cases) {
  const AddCase add{cases};

  add(
      "captured_tensor_reassigned",
      [sum = scalar<double>(1.0)](const Tensors &a) mutable -> Tensors {
        sum = sum + one(a[0]);
        if (more(sum, 3))
          sum = sum * 2;
        return {sum};
      },
      "a traced tensor");
  add(
      "static_in_a_function",
      [](const Tensors &a) -> Tensors {
        static int n = 0;
        ++n;
        Tensor x = a[0];
        if (more(x, 0))
          x = x + n;
        return {x};
      },
      "two runs with the same decisions do not do the same");
  add(
      "count_used_after_the_loop",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0];
        int n = 0;
        while (more(x, 0)) {
          x = x - 1;
          ++n;
        }
        return {x + n};
      },
      "can't be captured");
  add("count_picks_a_later_path", [](const Tensors &a) -> Tensors {
    Tensor x = a[0];
    int n = 0;
    while (more(x, 0)) {
      x = x - 1;
      ++n;
    }
    if (n > 4)
      x = x * 100;
    return {x};
  });
  add(
      "vector_filled_in_a_loop",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0];
        Tensors list;
        while (more(x, 0)) {
          list.push_back(x);
          x = x - 1;
        }
        Tensor sum = number(a, 0);
        for (const Tensor &each : list)
          sum = sum + each;
        return {sum};
      },
      "can't be captured");
  add(
      "unbounded_constants",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0];
        int i = 0;
        while (more(x, 0))
          x = x - ++i;
        return {x};
      },
      "can't be captured");
  add(
      "recursion_with_work_after",
      [](const Tensors &a) -> Tensors {
        std::function<Tensor(Tensor)> f = [&](const Tensor &x) -> Tensor {
          if (more(x, 0))
            return f(x - 1) + x;
          return x;
        };
        return {f(a[0])};
      },
      "can't be captured");
  add(
      "infinite_loop",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0];
        while (one(x > 0) || true)
          x = x + 1;
        return {x};
      },
      "can't be captured");
  add(
      "condition_never_changes",
      [](const Tensors &a) -> Tensors {
        Tensor x = a[0], condition = one(x > 0);
        while (condition)
          x = x - 1;
        return {x};
      },
      "the condition does not change in its loop");
}

} // namespace

std::vector<NativeCase> nativeCorpus() {
  std::vector<NativeCase> cases;
  addBranches(cases);
  addLoops(cases);
  addHostLoops(cases);
  addNests(cases);
  addRefused(cases);
  return cases;
}

} // namespace calque::testing
