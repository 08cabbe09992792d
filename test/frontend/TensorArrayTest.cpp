// Arrays of tensors: the same eagerly and compiled, in C++ loops, as loop variables and captured by loops, with
// derivatives.
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

namespace {

const DType allTypes[] = {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64};

using Doubles = std::vector<double>;

// Elements 0, 1, 2, ... of a type; of bools, every other one.
Tensor counting(DType dtype, const Shape &shape) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(dtype == DType::Bool ? i % 2 : i);
  return makeTensor(dtype, values, shape);
}

} // namespace

TEST(TensorArray, IsWrittenAndReadInCppLoops) {
  auto f = [](const Tensor &x) {
    TensorArray array(4);
    for (int i = 3; i >= 0; --i)
      array.write(i, x * i);
    Tensor sum = array.read(0);
    for (int i = 1; i < 4; ++i)
      sum = sum + array.read(i);
    return std::tuple(array.stack(), array.concat(), array.gather(tensor<int>({2, 0, 2})), sum);
  };
  auto [stacked, joined, gathered, sum] = both(f, tensor<float>({1, -2}));
  EXPECT_EQ(stacked.shape(), (Shape{4, 2}));
  EXPECT_EQ(valuesOf(stacked), (Doubles{0, -0.0, 1, -2, 2, -4, 3, -6}));
  EXPECT_EQ(joined.shape(), (Shape{8}));
  EXPECT_EQ(valuesOf(joined), valuesOf(stacked));
  EXPECT_EQ(valuesOf(gathered), (Doubles{2, -4, 0, -0.0, 2, -4}));
  EXPECT_EQ(valuesOf(sum), (Doubles{6, -12}));
}

TEST(TensorArray, IsALoopVariable) {
  auto range = [](const Tensor &x, const Tensor &n) {
    return for_range(0, n, TensorArray(5, DType::Float32, {2}, {.zeros = true}),
                     [&](const Tensor &i, TensorArray array) { return array.write(i, x * cast(i, DType::Float32)); })
        .stack();
  };
  EXPECT_EQ(valuesOf(both(range, tensor<float>({1, 2}), scalar(3))), (Doubles{0, 0, 1, 2, 2, 4, 0, 0, 0, 0}));
  EXPECT_EQ(valuesOf(both(range, tensor<float>({1, 2}), scalar(0))), Doubles(10));

  auto fibonacci = [](const Tensor &n) {
    TensorArray first(10, DType::Int64, {});
    first.write(0, 0).write(1, 1);
    auto [i, array] = while_loop([&](const Tensor &i, const TensorArray &) { return i < n; },
                                 [](const Tensor &i, TensorArray array) {
                                   array.write(i, array.read(i - 1) + array.read(i - 2));
                                   return std::tuple(i + 1, array);
                                 },
                                 std::tuple(scalar(2), first));
    return array.gather(iota({8}, DType::Int32));
  };
  EXPECT_EQ(valuesOf(both(fibonacci, scalar(8))), (Doubles{0, 1, 1, 2, 3, 5, 8, 13}));
}

TEST(TensorArray, IsACarry) {
  auto f = [](const Tensor &xs) {
    TensorArray none(3, DType::Float64, {});
    auto [odd, sums] = scan(
        [](const std::pair<TensorArray, Tensor> &carry, const Tensor &x) {
          auto [array, i] = carry;
          array.write(i, x * 2);
          return std::pair(std::pair(array, i + 1), array.read(i) + x);
        },
        std::pair(none, scalar(0)), xs);
    TensorArray last =
        fold([](const TensorArray &array, const Tensor &) { return array; }, odd.first, xs, {.reverse = true});
    return std::pair(last.stack(), sums);
  };
  auto [array, sums] = both(f, tensor<double>({1, 2, 4}));
  EXPECT_EQ(valuesOf(array), (Doubles{2, 4, 8}));
  EXPECT_EQ(valuesOf(sums), (Doubles{3, 6, 12}));
}

// What is written at known indices becomes one tensor outside of the loop.
TEST(TensorArray, IsCapturedByLoopsAndBranches) {
  auto f = [](const Tensor &x, const Tensor &n) {
    TensorArray rows(3), unstacked(3);
    for (int i = 0; i < 3; ++i)
      rows.write(i, x + i);
    unstacked.unstack(concat({expand_dims(x, {0}), expand_dims(x * 2, {0}), expand_dims(x * 3, {0})}));
    Tensor sum = for_range(0, n, x * 0, [&](const Tensor &i, const Tensor &sum) {
      return sum + rows.read(i) * unstacked.read(i) + rows.read(2);
    });
    return cond(n > 2, [&] { return sum + rows.read(n - 1); }, [&] { return sum - unstacked.read(n); });
  };
  EXPECT_EQ(valuesOf(both(f, tensor<float>({1, 2}), scalar(3))), (Doubles{26, 56}));
  EXPECT_EQ(valuesOf(both(f, tensor<float>({1, 2}), scalar(1))), (Doubles{2, 4}));
}

TEST(TensorArray, IsGivenByBranches) {
  auto f = [](const Tensor &p, const Tensor &x) {
    TensorArray array(2, DType::Float32, {2}, {.zeros = true});
    TensorArray taken = cond(
        p, [&] { return TensorArray(array).write(1, x); }, [&] { return TensorArray(array).write(0, x).write(1, x); });
    array.write(0, x * 3);
    return std::pair(taken.stack(), array.stack());
  };
  Tensor x = tensor<float>({5, 6});
  auto [taken, own] = both(f, scalar(true), x);
  EXPECT_EQ(valuesOf(taken), (Doubles{0, 0, 5, 6}));
  EXPECT_EQ(valuesOf(own), (Doubles{15, 18, 0, 0}));
  EXPECT_EQ(valuesOf(both(f, scalar(false), x).first), (Doubles{5, 6, 5, 6}));
}

TEST(TensorArray, GrowsByOne) {
  auto f = [](const Tensor &x) {
    TensorArray array;
    EXPECT_EQ(array.size(), 0);
    for (int i = 0; i < 3; ++i)
      array.write(array.size(), x + i);
    EXPECT_EQ(array.size(), 3);
    EXPECT_EQ(array.dtype(), DType::Float32);
    EXPECT_EQ(array.element_shape(), (Shape{2}));
    TensorArray unstacked;
    unstacked.unstack(array.stack()).write(3, x);
    TensorArray scattered;
    scattered.scatter(tensor<int>({1, 2, 0}), array.stack());
    return std::tuple(array.stack(), unstacked.stack(), scattered.stack());
  };
  auto [stacked, unstacked, scattered] = both(f, tensor<float>({1, 2}));
  EXPECT_EQ(valuesOf(stacked), (Doubles{1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(valuesOf(unstacked), (Doubles{1, 2, 2, 3, 3, 4, 1, 2}));
  EXPECT_EQ(valuesOf(scattered), (Doubles{3, 4, 1, 2, 2, 3}));
}

// A host container of arrays, and a body that makes arrays of its own, which may grow there.
TEST(TensorArray, GrowsInTheBodyThatMakesIt) {
  auto f = [](const Tensor &x, const Tensor &n) {
    return for_range(0, n, x, [](const Tensor &, const Tensor &x) {
      TensorArray powers;
      for (int k = 0; k < 3; ++k)
        powers.write(k, k ? powers.read(k - 1) * x : x);
      return sum(powers.stack(), {0}) * 0.25f;
    });
  };
  EXPECT_EQ(valuesOf(both(f, tensor<float>({2, 4}), scalar(1))), (Doubles{3.5, 21}));
}

TEST(TensorArray, CopiesAreArraysOfTheirOwn) {
  auto f = [](const Tensor &x, const Tensor &i) {
    TensorArray a(2, DType::Float32, {}, {.zeros = true});
    a.write(0, x);
    TensorArray b = a;
    b.write(1, x * 2);
    TensorArray c = b;
    c = TensorArray(c.size(), {.overwrite = true}).unstack(c.stack()).write(i, x * 7);
    return std::tuple(a.stack(), b.stack(), c.stack());
  };
  auto [a, b, c] = both(f, scalar(1.0f), scalar(0));
  EXPECT_EQ(valuesOf(a), (Doubles{1, 0}));
  EXPECT_EQ(valuesOf(b), (Doubles{1, 2}));
  EXPECT_EQ(valuesOf(c), (Doubles{7, 2}));
}

TEST(TensorArray, OverwritesIfToldTo) {
  auto f = [](const Tensor &x, const Tensor &n) {
    TensorArray listed(2, {.overwrite = true});
    listed.write(1, x).write(1, x * 2).write(0, x * 3).unstack(concat({expand_dims(x, {0}), expand_dims(x * 5, {0})}));
    listed.write(0, x * 6);
    TensorArray whole(2, DType::Float32, {1}, {.overwrite = true});
    whole = for_range(0, n, whole, [&](const Tensor &i, TensorArray array) {
      array.write(0, x).write(1, x * 2);
      return array.scatter(expand_dims(i, {0}), expand_dims(x * 3, {0}));
    });
    return std::pair(listed.stack(), whole.stack());
  };
  auto [listed, whole] = both(f, tensor<float>({2}), scalar(2));
  EXPECT_EQ(valuesOf(listed), (Doubles{12, 10}));
  EXPECT_EQ(valuesOf(whole), (Doubles{2, 6}));
}

TEST(TensorArray, ReadsZerosIfToldTo) {
  auto f = [](const Tensor &x, const Tensor &i) {
    TensorArray array(4, {.zeros = true});
    array.write(2, x);
    TensorArray other(4, {.zeros = true});
    other.write(i, x);
    return std::tuple(array.stack(), array.read(0), array.read(i), array.gather(tensor<int>({1, 2})), other.concat());
  };
  auto [stacked, first, read, gathered, joined] = both(f, tensor<int>({7, 8}), scalar(1));
  EXPECT_EQ(valuesOf(stacked), (Doubles{0, 0, 0, 0, 7, 8, 0, 0}));
  EXPECT_EQ(valuesOf(first), (Doubles{0, 0}));
  EXPECT_EQ(valuesOf(read), (Doubles{0, 0}));
  EXPECT_EQ(valuesOf(gathered), (Doubles{0, 0, 7, 8}));
  EXPECT_EQ(valuesOf(joined), (Doubles{0, 0, 7, 8, 0, 0, 0, 0}));
}

TEST(TensorArray, ScattersAndGathers) {
  auto f = [](const Tensor &indices, const Tensor &x) {
    TensorArray array(5, DType::Float32, {2}, {.zeros = true});
    array.write(3, tensor<float>({10, -0.0f})).scatter(indices, x);
    return std::pair(array.stack(), array.gather(expand_dims(indices, {1})));
  };
  Tensor x = tensor<float>({1, -0.0f, 3, 4}, {2, 2});
  auto [stacked, gathered] = both(f, tensor<int>({4, 1}), x);
  EXPECT_EQ(valuesOf(stacked), (Doubles{0, 0, 3, 4, 0, 0, 10, -0.0, 1, -0.0}));
  EXPECT_TRUE(std::signbit(valuesOf(stacked)[9]));
  EXPECT_EQ(gathered.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(valuesOf(gathered), (Doubles{1, -0.0, 3, 4}));
  EXPECT_EQ(valuesOf(both(f, tensor<std::int64_t>({2, 0}), x).first), (Doubles{3, 4, 0, 0, 1, -0.0, 10, -0.0, 0, 0}));
  EXPECT_EQ(valuesOf(both(f, zeros({0}, DType::Int32), zeros({0, 2})).first),
            (Doubles{0, 0, 0, 0, 0, 0, 10, -0.0, 0, 0}));
}

TEST(TensorArray, HoldsAllTypesAndShapes) {
  for (DType dtype : allTypes)
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 2}, Shape{0}, Shape{2, 0}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + shape.str());
      Shape all = shape;
      all.insert(all.begin(), 4);
      Tensor rows = counting(dtype, all);
      auto f = [&](const Tensor &rows, const Tensor &n) {
        Shape own = rows.shape();
        own.erase(own.begin());
        TensorArray filled =
            for_range(0, n, TensorArray(4, rows.dtype(), own),
                      [&](const Tensor &i, TensorArray array) { return array.write(3 - i, gather(rows, i)); });
        TensorArray scattered(4, rows.dtype(), own), listed(4);
        scattered.scatter(tensor<int>({3, 2, 1, 0}) + (n - 4), rows);
        for (int i = 0; i < 4; ++i)
          listed.write(i, filled.read(3 - i));
        return std::tuple(filled.stack(), scattered.stack(), listed.stack(), filled.gather(tensor<int>({3, 2, 1, 0})));
      };
      auto [filled, scattered, listed, gathered] = both(f, rows, scalar(4));
      expectSameBits(filled, gather(rows, tensor<int>({3, 2, 1, 0})));
      expectSameBits(scattered, filled);
      expectSameBits(listed, rows);
      expectSameBits(gathered, rows);
    }
}

TEST(TensorArray, MayHaveNoElements) {
  auto f = [](const Tensor &n, const Tensor &x) {
    TensorArray array = for_range(0, n, TensorArray(0, DType::Float32, {2}),
                                  [&](const Tensor &i, TensorArray array) { return array.write(i, x); });
    return std::tuple(array.stack(), array.concat(), array.gather(zeros({0}, DType::Int32)),
                      TensorArray(0).unstack(zeros({0, 3})).stack());
  };
  auto [stacked, joined, gathered, unstacked] = both(f, scalar(0), ones({2}));
  EXPECT_EQ(stacked.shape(), (Shape{0, 2}));
  EXPECT_EQ(joined.shape(), (Shape{0}));
  EXPECT_EQ(gathered.shape(), (Shape{0, 2}));
  EXPECT_EQ(unstacked.shape(), (Shape{0, 3}));
}

TEST(TensorArray, TakesNumbers) {
  auto f = [](const Tensor &i) {
    TensorArray array(3, DType::Int64, {}), own(2);
    array.write(0, 5).write(1, true).write(i, 7);
    own.write(0, 1.5).write(1, 2);
    return std::pair(array.stack(), own.stack());
  };
  auto [array, own] = both(f, scalar(2));
  EXPECT_EQ(array.dtype(), DType::Int64);
  EXPECT_EQ(valuesOf(array), (Doubles{5, 1, 7}));
  EXPECT_EQ(own.dtype(), DType::Float32);
  EXPECT_EQ(valuesOf(own), (Doubles{1.5, 2}));
}

TEST(TensorArray, TakesOpenSizes) {
  auto f = [](const Tensor &x) {
    const Size count = x.shape()[0], width = x.shape()[1];
    TensorArray typed(count, x.dtype(), {width}), untyped(count), unstacked(count), known(2),
        partly(2, {.zeros = true});
    typed =
        for_range(0, count, typed, [&](const Tensor &i, TensorArray array) { return array.write(i, gather(x, i)); });
    untyped.scatter(iota({count}, DType::Int32), x);
    unstacked.unstack(x);
    known.write(0, gather(x, 0)).write(1, gather(x, 1) * 2);
    partly.write(1, gather(x, 0));
    Tensor total = for_range(0, typed.size(), gather(x, 0) * 0, [&](const Tensor &i, const Tensor &sum) {
      return sum + typed.read(i) + untyped.read(i) + unstacked.read(i);
    });
    return std::tuple(typed.stack(), untyped.concat(), unstacked.read(0), known.stack(), partly.stack(), total);
  };
  auto compiled = function(f, {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  for (std::int64_t rows : {2, 3, 5})
    for (std::int64_t columns : {1, 4}) {
      Tensor x = counting(DType::Float32, {rows, columns});
      std::vector<Tensor> eager = detail::tensorsIn(f(x)), own = detail::tensorsIn(compiled(x));
      for (std::size_t i = 0; i < eager.size(); ++i)
        expectSameBits(eager[i], own[i]);
      expectSameBits(own[0], x);
      expectSameBits(own[5], 3 * sum(x, {0}));
    }
  EXPECT_EQ(compiled.trace_count(), 1);
}

//===-- As a structure --------------------------------------------------------------------------===//

TEST(TensorArray, GoesInAndOutOfFunctions) {
  int traced = 0;
  auto f = function([&](TensorArray array, const Tensor &x) {
    ++traced;
    return array.write(1, x);
  });
  for (double value : {3.0, 4.0}) {
    TensorArray array(3, DType::Float64, {});
    array.write(0, value);
    TensorArray written = f(array, scalar<double>(7.0));
    EXPECT_THROW(array.read(1), AssertionError);
    written.write(2, 9.0);
    EXPECT_EQ(valuesOf(written.stack()), (Doubles{value, 7, 9}));
  }
  EXPECT_EQ(traced, 1);
  TensorArray full(3, DType::Float64, {});
  full.write(1, 0.0);
  EXPECT_THROW(f(full, scalar<double>(7.0)), AssertionError);
  TensorArray may(3, DType::Float64, {}, {.overwrite = true});
  EXPECT_EQ(valuesOf(f(may.write(1, 0.0), scalar<double>(7.0)).read(1)), (Doubles{7}));
  EXPECT_EQ(traced, 2);
}

TEST(TensorArray, OfAFunctionGrowsEagerlyAndInATrace) {
  auto grow = [](TensorArray array) { return array.write(array.size(), 5.0f); };
  TensorArray array;
  array.write(0, 1.0f);
  TensorArray compiled = function(grow)(array);
  EXPECT_EQ(valuesOf(compiled.write(2, 8.0f).stack()), (Doubles{1, 5, 8}));
  EXPECT_EQ(valuesOf(grow(array).stack()), (Doubles{1, 5}));
}

TEST(TensorArray, IsReadByThreadsAtOnce) {
  TensorArray array(100, {.zeros = true});
  for (int i = 0; i < 50; ++i)
    array.write(2 * i, static_cast<float>(i));
  const TensorArray shared = array;
  auto f = function([](const TensorArray &array, const Tensor &i) { return array.read(i); });
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < 100; i += 4)
        if (f(shared, scalar(i)).item<float>() != (i % 2 ? 0 : static_cast<float>(i / 2)))
          ++wrong;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

//===-- Derivatives and many examples -----------------------------------------------------------===//

namespace {

using Inputs = std::vector<Tensor>;

// A recurrence that reads what it has written, and captured rows.
Tensor recurrence(const Inputs &in) {
  TensorArray rows(3), states(4, DType::Float64, {2});
  rows.unstack(in[0]);
  states.write(0, in[1]);
  return for_range(1, 4, states,
                   [&](const Tensor &i, TensorArray states) {
                     return states.write(i, sin(states.read(i - 1)) * rows.read(i - 1) + in[1]);
                   })
      .stack();
}

// Which rows it takes, it reads from an array of integers that it writes.
Tensor picked(const Inputs &in) {
  TensorArray numbers(5, DType::Int32, {}), rows(4, DType::Float64, {2});
  numbers.write(0, 2);
  rows.write(0, in[1]);
  auto [order, taken] =
      for_range(0, 3, std::tuple(numbers, rows), [&](const Tensor &i, TensorArray numbers, TensorArray rows) {
        Tensor number = numbers.read(i), last = rows.read(i);
        rows.write(i + 1, gather(in[0], number) * exp(last * 0.3) * rows.read(0));
        numbers.write(i + 1, (number + 2) - (number + 2) / 3 * 3);
        return std::tuple(numbers, rows);
      });
  return taken.stack();
}

Tensor overwritten(const Inputs &in) {
  TensorArray array(2, DType::Float64, {2}, {.overwrite = true, .zeros = true});
  array = for_range(0, 3, array, [&](const Tensor &i, TensorArray array) {
    array.write(0, array.read(1) * gather(in[0], i));
    return array.write(1, array.read(0) + in[1] * in[1]);
  });
  return array.concat();
}

Tensor inCppLoops(const Inputs &in) {
  TensorArray array(4, {.zeros = true});
  for (int i = 0; i < 3; ++i)
    array.write(i, exp(gather(in[0], i) * 0.5) * in[1]);
  return array.gather(tensor<int>({2, 0, 2, 3})) * array.read(1);
}

Tensor scattered(const Inputs &in) {
  TensorArray array(5, DType::Float64, {2}, {.zeros = true});
  Tensor indices = for_range(0, 3, scalar(0), [](const Tensor &, const Tensor &i) { return i + 1; }); // 3, not known
  array.write(0, in[1]).scatter(tensor<int>({1, -1, 0}) + indices, in[0] * in[0]);
  return array.stack() * array.read(0);
}

} // namespace

TEST(TensorArray, HasGradients) {
  std::mt19937 random(5);
  Inputs inputs{randomTensor(random, {3, 2}, -1, 1), randomTensor(random, {2}, -1, 1)};
  for (const auto &[name, f] :
       std::initializer_list<std::pair<const char *, Tensor (*)(const Inputs &)>>{{"recurrence", recurrence},
                                                                                  {"picked", picked},
                                                                                  {"overwritten", overwritten},
                                                                                  {"in C++ loops", inCppLoops},
                                                                                  {"scattered", scattered}}) {
    SCOPED_TRACE(name);
    both(f, inputs);
    expectDerivatives(f, inputs, 2);
  }
}

// What was asked of the array before the tape has no path to what the tape watches.
TEST(TensorArray, IsSeenByTapesThatBeginLater) {
  auto f = [](const Tensor &x) {
    TensorArray array;
    array.write(0, x).write(1, x * 3);
    Tensor before = array.stack();
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor after = sum(array.stack());
    Tensor read = function([](const TensorArray &array, const Tensor &i) { return array.read(i); })(array, scalar(0));
    return std::pair(tape.gradient(after + sum(before), x).value(), tape.gradient(read, x).value());
  };
  auto [stacked, read] = both(f, tensor<double>({1, 2}));
  EXPECT_EQ(valuesOf(stacked), (Doubles{1, 1}));
  EXPECT_EQ(valuesOf(read), (Doubles{1, 1}));
}

TEST(TensorArray, IsCapturedUnderATape) {
  Tensor x = tensor<double>({1, 2});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  TensorArray array;
  array.write(0, x).write(1, x * x);
  auto f = function([&](const Tensor &i) { return array.read(i) * array.read(0); });
  EXPECT_EQ(valuesOf(tape.gradient(f(scalar(1)), x).value()), (Doubles{3, 12}));
  EXPECT_EQ(valuesOf(tape.gradient(f(scalar(0)), x).value()), (Doubles{2, 4}));
}

TEST(TensorArray, IsUpdatedInPlaceByLoops) {
  auto f = [](const Tensor &x) {
    return for_range(0, x.shape()[0], TensorArray(1000, DType::Float32, {48}),
                     [&](const Tensor &i, TensorArray array) { return array.write(i, gather(x, i) * 2.0f); })
        .stack();
  };
  auto gradient = [&](const Tensor &x) { return grad([&](const Tensor &x) { return sum(square(f(x))); })(x); };
  // A part of a loop has no loop over all elements, such as a copy.
  for (std::string text :
       {function(f).ir("bufferized", ones({1000, 48})), function(gradient).ir("bufferized", ones({1000, 48}))}) {
    std::istringstream lines(text.substr(text.find("module @part_0")));
    int stores = 0;
    for (std::string line; std::getline(lines, line); stores += line.find("memref.store") != std::string::npos)
      EXPECT_FALSE(line.find("linalg.generic") != std::string::npos && line.find("memref<1000") != std::string::npos)
          << line;
    EXPECT_GE(stores, 2);
  }
}

TEST(TensorArray, IsAnArgumentBesideTheOneOfADerivative) {
  auto f = [](const Tensor &x, TensorArray array) { return sum(array.write(1, x * x).stack() * array.read(0)); };
  TensorArray array(2, DType::Float64, {});
  array.write(0, scalar<double>(3.0));
  auto gradient = [&](const Tensor &x) { return grad(f)(x, array); };
  EXPECT_EQ(valuesOf(both(gradient, scalar<double>(5.0))), (Doubles{30}));
}

TEST(TensorArray, IsBatched) {
  auto states = [](const Tensor &rows, const Tensor &first) { return recurrence({rows, first}); };
  auto batched = [&](const Tensor &rows, const Tensor &first) { return vmap(states)(rows, first); };
  auto gradients = [&](const Tensor &rows, const Tensor &first) {
    auto one = [&](const Tensor &rows, const Tensor &first) {
      return grad([&](const Tensor &rows) { return sum(states(rows, first)); })(rows);
    };
    return vmap(one)(rows, first);
  };
  std::mt19937 random(6);
  Tensor rows = randomTensor(random, {4, 3, 2}), first = randomTensor(random, {4, 2});
  Tensor all = both(batched, rows, first), derivatives = both(gradients, rows, first);
  for (int i = 0; i < 4; ++i) {
    Tensor one = states(gather(rows, i), gather(first, i));
    for (int k = 0; k < 8; ++k)
      EXPECT_NEAR(valuesOf(gather(all, i))[k], valuesOf(one)[k], 1e-12);
    Tensor own = grad([&](const Tensor &rows) { return sum(states(rows, gather(first, i))); })(gather(rows, i));
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(valuesOf(gather(derivatives, i))[k], valuesOf(own)[k], 1e-12);
  }
}

// Without checks a loop that ends for each example on its own may write.
TEST(TensorArray, IsBatchedInLoopsThatEndForEachExample) {
  auto f = [](const Tensor &n) {
    TensorArray array(4, DType::Int32, {}, {.overwrite = true, .zeros = true});
    auto [i, written] = while_loop([&](const Tensor &i, const TensorArray &) { return i < n; },
                                   [](const Tensor &i, TensorArray array) {
                                     array.write(i, i * i);
                                     return std::tuple(i + 1, array);
                                   },
                                   std::tuple(scalar(0), array));
    return written.stack();
  };
  auto batched = [&](const Tensor &n) { return vmap(f)(n); };
  EXPECT_EQ(valuesOf(both(batched, tensor<int>({3, 0, 4}))), (Doubles{0, 1, 4, 0, 0, 0, 0, 0, 0, 1, 4, 9}));
}
