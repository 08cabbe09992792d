// Results that overwrite what they read: every read sees the value before.
#include "test/codegen/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

std::vector<double> transposed(const std::vector<double> &x, std::int64_t rows, std::int64_t columns) {
  return generate({columns, rows},
                  [&](const Shape &at) { return x[static_cast<std::size_t>(at[1] * columns + at[0])]; });
}

} // namespace

TEST(Hazards, AVariablePlusItsTranspose) {
  std::mt19937 random(1);
  for (std::int64_t n : {3, 16, 33, 300}) {
    Variable w(wholes(random, {n, n}, DType::Float32));
    auto step = function([&] { w.assign(w + transpose(w)); });
    std::vector<double> expected = valuesOf(w.value());
    for (int i = 0; i < 3; ++i) {
      step();
      std::vector<double> other = transposed(expected, n, n);
      for (std::size_t k = 0; k < expected.size(); ++k)
        expected[k] += other[k];
    }
    expectElements(w.value(), {n, n}, expected);
  }
}

TEST(Hazards, AVariableBecomesItsTranspose) {
  std::mt19937 random(2);
  Variable w(wholes(random, {65, 65}, DType::Float64));
  auto step = function([&] { w.assign(transpose(w)); });
  std::vector<double> before = valuesOf(w.value());
  step();
  expectElements(w.value(), {65, 65}, transposed(before, 65, 65));
}

TEST(Hazards, VariablesSwapped) {
  std::mt19937 random(3);
  Variable a(wholes(random, {1000}, DType::Float32)), b(wholes(random, {1000}, DType::Float32));
  auto step = function([&] {
    Tensor old = a.value();
    a.assign(b);
    b.assign(old);
  });
  std::vector<double> first = valuesOf(a.value()), second = valuesOf(b.value());
  step();
  expectElements(a.value(), {1000}, second);
  expectElements(b.value(), {1000}, first);
}

TEST(Hazards, VariablesTurnedRound) {
  std::mt19937 random(4);
  std::vector<Variable> v;
  std::vector<std::vector<double>> before;
  for (int i = 0; i < 4; ++i) {
    v.emplace_back(wholes(random, {17, 17}, DType::Float32));
    before.push_back(valuesOf(v.back().value()));
  }
  auto step = function([&] {
    Tensor first = v[0].value();
    for (std::size_t i = 0; i < 3; ++i)
      v[i].assign(transpose(v[i + 1]));
    v[3].assign(first + 1);
  });
  step();
  for (std::size_t i = 0; i < 3; ++i)
    expectElements(v[i].value(), {17, 17}, transposed(before[i + 1], 17, 17));
  for (double &x : before[0])
    x += 1;
  expectElements(v[3].value(), {17, 17}, before[0]);
}

TEST(Hazards, AShiftWithinOneArray) {
  Variable w(iota({100}, DType::Float32));
  auto step = function([&] { w.assign(concat({slice(w, {1}, {100}), slice(w, {0}, {1})}, 0)); });
  step();
  step();
  expectElements(w.value(), {100},
                 generate({100}, [](const Shape &i) { return static_cast<double>((i[0] + 2) % 100); }));
}

TEST(Hazards, AProductOfWhatItReplaces) {
  std::mt19937 random(5);
  Variable w(wholes(random, {20, 20}, DType::Float64));
  auto step = function([&] { w.assign(matmul(w, w, {.transpose_b = true})); });
  std::vector<double> x = valuesOf(w.value());
  step();
  expectElements(w.value(), {20, 20}, generate({20, 20}, [&](const Shape &at) {
                   double sum = 0;
                   for (std::int64_t k = 0; k < 20; ++k)
                     sum += x[static_cast<std::size_t>(at[0] * 20 + k)] * x[static_cast<std::size_t>(at[1] * 20 + k)];
                   return sum;
                 }));
}

TEST(Hazards, OneValueInSeveralPlaces) {
  std::mt19937 random(6);
  Tensor x = wholes(random, {33, 33}, DType::Float32);
  Variable a(zeros({33, 33})), b(zeros({33, 33}));
  auto f = function([&](const Tensor &in) {
    Tensor y = in * 2;
    a.assign(y);
    b.assign(transpose(y));
    return std::vector<Tensor>{y, y, in, y + transpose(y) + reshape(sum(y, {0}), {33, 1})};
  });
  std::vector<Tensor> found = f(x);
  std::vector<double> once = valuesOf(x), twice = once;
  for (double &value : twice)
    value *= 2;
  std::vector<double> other = transposed(twice, 33, 33), last = twice;
  for (std::int64_t i = 0; i < 33; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 33; ++k)
      sum += twice[static_cast<std::size_t>(k * 33 + i)];
    for (std::int64_t j = 0; j < 33; ++j)
      last[static_cast<std::size_t>(i * 33 + j)] += other[static_cast<std::size_t>(i * 33 + j)] + sum;
  }
  expectElements(found[0], {33, 33}, twice);
  expectElements(found[1], {33, 33}, twice);
  expectElements(found[2], {33, 33}, once);
  expectElements(found[3], {33, 33}, last);
  expectElements(a.value(), {33, 33}, twice);
  expectElements(b.value(), {33, 33}, other);
}

// An array that is padded, read at several places and added to itself.
TEST(Hazards, NeighboursOfEachElement) {
  std::mt19937 random(7);
  Variable w(wholes(random, {40, 37}, DType::Float32));
  std::vector<double> x = valuesOf(w.value());
  auto step = function([&] {
    Tensor p = pad(w, {1, 1}, {1, 1});
    w.assign(slice(p, {0, 1}, {40, 38}) + slice(p, {2, 1}, {42, 38}) + slice(p, {1, 0}, {41, 37}) +
             slice(p, {1, 2}, {41, 39}) - 4 * w);
  });
  step();
  auto at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || i >= 40 || j < 0 || j >= 37 ? 0 : x[static_cast<std::size_t>(i * 37 + j)];
  };
  expectElements(w.value(), {40, 37}, generate({40, 37}, [&](const Shape &k) {
                   return at(k[0] - 1, k[1]) + at(k[0] + 1, k[1]) + at(k[0], k[1] - 1) + at(k[0], k[1] + 1) -
                          4 * at(k[0], k[1]);
                 }));
}
