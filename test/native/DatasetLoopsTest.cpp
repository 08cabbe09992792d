// Loops of host code over data sets.
#include "calque/training.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <algorithm>
#include <thread>

using namespace calque;
using namespace calque::testing;

namespace {

// So many elements: x = 0, 1, 2, ... and y = 10 x.
data::Dataset<> counted(int count) {
  std::vector<double> x, y;
  for (int i = 0; i < count; ++i) {
    x.push_back(i);
    y.push_back(10 * i);
  }
  return data::from_tensor_slices(tensor(x), tensor(y));
}

} // namespace

TEST(NativeDataset, TrainsAsEagerly) {
  std::vector<double> x, y;
  for (int i = 0; i < 22; ++i) {
    x.push_back(0.125 * i);
    y.push_back(0.375 * i - 1);
  }
  // Each has its own order of iterations, from the same seed.
  auto make = [&] {
    return data::from_tensor_slices(tensor(x, {22, 1}), tensor(y, {22, 1}))
        .shuffle(22, {.seed = 5})
        .batch(4, /*drop_remainder=*/true)
        .prefetch(2);
  };
  Variable w(zeros({1, 1}, DType::Float64)), b(zeros({1}, DType::Float64));
  auto trainOn = [&](const data::Dataset<> &examples) {
    return [&w, &b, examples](const Tensor &rate) {
      Tensor last = scalar<double>(0.0), steps = scalar(0);
      for (Tensor epoch : range(3))
        for (auto [x, y] : examples) {
          GradientTape tape;
          Tensor loss = mean(square(matmul(x, w) + b - y));
          auto gradients = tape.gradient(loss, std::vector<Variable>{w, b});
          w.assign_sub(rate * *gradients[0]);
          b.assign_sub(rate * *gradients[1]);
          last = loss;
          steps = steps + 1;
        }
      return std::vector<Tensor>{last, steps, w.value(), b.value()};
    };
  };
  auto eager = trainOn(make());
  auto compiled = function(trainOn(make()));
  std::vector<std::vector<Tensor>> results[2];
  for (int call = 0; call < 3; ++call) // each in another order
    results[0].push_back(eager(scalar<double>(0.125)));
  w.assign(zeros({1, 1}, DType::Float64));
  b.assign(zeros({1}, DType::Float64));
  for (int call = 0; call < 3; ++call)
    results[1].push_back(compiled(scalar<double>(0.125)));
  EXPECT_EQ(results[0][0][1].item<int>(), 15);
  for (int call = 0; call < 3; ++call)
    for (int i = 0; i < 4; ++i) {
      std::vector<double> a = valuesOf(results[0][call][i]), c = valuesOf(results[1][call][i]);
      for (std::size_t k = 0; k < a.size(); ++k)
        EXPECT_NEAR(a[k], c[k], 1e-12 * (1 + std::abs(a[k]))) << call << ' ' << i;
    }
  EXPECT_EQ(compiled.trace_count(), 1);
}

TEST(NativeDataset, IsLeftAndNested) {
  data::Dataset six = counted(6), none = counted(0);
  auto leave = [=](const Tensor &v) {
    Tensor s = v;
    for (auto [x, y] : six) {
      if (x == 1)
        continue;
      s = s + y * v;
      if (s > 60)
        break;
      for (const auto &[p, q] : six) { // the same data set
        if (p > x)
          break;
        s = s * 0.75 + q;
        if (s > 90)
          return s * 100;
      }
    }
    return -s;
  };
  auto inARow = [=](const Tensor &v) {
    Tensor s = v;
    for (auto [x, y] : six) {
      for (auto [p, q] : six)
        s = s * 0.5 + p * x;
      for (auto [p, q] : none)
        s = s + p;
    }
    return s;
  };
  auto compiledLeave = function(leave), compiledInARow = function(inARow);
  for (double v : {0.25, 1.0, 3.0, -2.0}) {
    EXPECT_EQ(compiledLeave(scalar<double>(v)).item<double>(), leave(scalar<double>(v)).item<double>());
    EXPECT_EQ(compiledInARow(scalar<double>(v)).item<double>(), inARow(scalar<double>(v)).item<double>());
  }
  auto iterators = [=](const Tensor &v) {
    auto it = six.begin();
    ++it;
    Tensor first = it->first;
    it++;
    return first + (*it).second * v;
  };
  EXPECT_EQ(both(iterators, scalar<double>(2.0)).item<double>(), 41);
  auto tooFar = function([=](const Tensor &v) {
    auto it = none.begin();
    return it->first + v;
  });
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { tooFar(scalar<double>(1.0)); }),
                  "the iterator of a data set is at its end, where there is no element");
  auto further = function([=](const Tensor &v) {
    auto it = none.begin();
    ++it;
    ++it;
    return v;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { further(scalar<double>(1.0)); }),
                  "the iterator of a data set is at its end and can't go further");
}

TEST(NativeDataset, IsClosedWhereItIsLeft) {
  int open = 0, most = 0;
  auto begin = [&] {
    most = std::max(most, ++open);
    return [token = std::shared_ptr<void>(nullptr, [&](void *) { --open; }), i = 0]() mutable {
      return std::optional(std::vector<Tensor>{scalar<double>(1.0 * i++)}); // without end
    };
  };
  auto f = function([&](const Tensor &limit) {
    Tensor s = scalar<double>(0.0);
    for (Tensor i : range(8)) {
      detail::TracedElements all({begin, &open, {TensorSpec<double>({})}}, SourceLocation::current());
      for (; !all.isAtEnd(); all.next()) {
        Tensor x = all.element()[0];
        s = s + x;
        assert_true(s < limit, "too large");
        if (x == 2)
          break;
      }
    }
    return s;
  });
  EXPECT_EQ(f(scalar<double>(100.0)).item<double>(), 24);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(open, 0);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(scalar<double>(10.0)); }), "too large");
  EXPECT_EQ(open, 0);
}

TEST(NativeDataset, IsIteratedByManyCallsAtOnce) {
  data::Dataset many = counted(40).shuffle(40, {.seed = 1});
  auto f = function([=](const Tensor &v) {
    Tensor s = v;
    for (auto [x, y] : many)
      s = s + x;
    return s;
  });
  f(scalar<double>(0.0));
  std::vector<double> sums(2);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k)
        sums[t] = f(scalar<double>(sums[t])).item<double>();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sums, (std::vector<double>{20 * 780, 20 * 780}));
}

TEST(NativeDataset, HasGradientsByWhatTheLoopCaptures) {
  data::Dataset six = counted(6);
  auto f = [=](const Tensor &w) {
    Tensor s = w * 0;
    for (auto [x, y] : six) {
      s = s * w + square(w * x - y) * 0.01;
      if (s > 50)
        break;
    }
    return s;
  };
  for (double w : {0.5, 2.0}) {
    for (auto derivative : {std::function<Tensor(const Tensor &)>(grad(f)), {grad(grad(f))}}) {
      double eager = derivative(scalar<double>(w)).item<double>();
      EXPECT_NEAR(function(derivative)(scalar<double>(w)).item<double>(), eager, 1e-10 * std::abs(eager));
    }
  }
}

// What the host makes of itself: how often it is asked, and what it throws.
TEST(NativeDataset, AsksTheHostOnceForEachElement) {
  int opened = 0, asked = 0;
  bool isBad = false;
  auto elements = [&] {
    auto open = [&] {
      ++opened;
      return [&, i = 0]() mutable -> std::optional<std::vector<Tensor>> {
        ++asked;
        if (isBad && i == 2)
          throw std::runtime_error("bad data");
        return i < 3 ? std::optional(std::vector<Tensor>{scalar<double>(1.0 * ++i)}) : std::nullopt;
      };
    };
    return detail::HostElements{open, &opened, {TensorSpec<double>({})}};
  };
  auto f = [&](const Tensor &w) {
    Tensor s = w * 0;
    detail::TracedElements all(elements(), SourceLocation::current());
    for (; !all.isAtEnd(); all.next())
      s = s + square(w * all.element()[0]);
    return s;
  };
  auto compiled = function(grad(f));
  EXPECT_EQ(compiled.trace_count(), 0);
  EXPECT_EQ(compiled(scalar<double>(2.0)).item<double>(), 56);
  EXPECT_EQ(opened, 1); // none of it while tracing
  EXPECT_EQ(asked, 4);
  isBad = true;
  try {
    compiled(scalar<double>(2.0));
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error &error) {
    EXPECT_CONTAINS(error.what(), "bad data");
  }
}

TEST(NativeDataset, IsRefusedWhereTheLambdaMakesIt) {
  auto f = function([](const Tensor &v) {
    Tensor s = v;
    for (auto [x, y] : counted(3))
      s = s + x;
    return s;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar<double>(1.0)); }), "can't be captured");
}

TEST(NativeDataset, HasElementsOfOneShape) {
  auto total = [](const data::Dataset<> &all) {
    return [=](const Tensor &v) {
      Tensor s = v;
      for (auto [x, y] : all)
        s = s + sum(x);
      return s;
    };
  };
  EXPECT_EQ(both(total(counted(5).batch(2, true)), scalar<double>(1.0)).item<double>(), 7);
  EXPECT_EQ(both(total(counted(6).batch(2).batch(3)), scalar<double>(1.0)).item<double>(), 16);
  EXPECT_EQ(both(total(counted(5).batch(8)), scalar<double>(1.0)).item<double>(), 11);
  std::string text =
      errorOf<ValueError>([&] { function(total(counted(5).batch(2).prefetch(1)))(scalar<double>(1.0)); });
  EXPECT_CONTAINS(text, "a loop over a data set in a trace takes elements of one shape; the last batch has 1 elements "
                        "and the others have 2; batch(size, drop_remainder = true) leaves it out");
  EXPECT_CONTAINS(text, "DatasetLoopsTest.cpp");
}
