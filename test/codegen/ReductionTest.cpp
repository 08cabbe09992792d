// Reductions against plain loops: over every set of axes, with vectors along what is summed and across it, in pieces.
#include "test/codegen/Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

void expectReductions(const Tensor &x, const Axes &axes, const std::vector<Tensor> &found) {
  Shape kept, shape;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    bool isReduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    kept.push_back(isReduced ? Size(1) : x.shape()[static_cast<std::size_t>(i)]);
    if (!isReduced)
      shape.push_back(kept.back());
  }
  Sums sums(shape), means(shape);
  std::vector<double> largest(sums.sum.size(), -INFINITY), smallest(sums.sum.size(), INFINITY), values = valuesOf(x);
  double terms = static_cast<double>(x.size()) / static_cast<double>(sums.sum.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto at = static_cast<std::size_t>(broadcastIndex(unravel(static_cast<std::int64_t>(i), x.shape()), kept));
    sums.add(at, values[i]);
    means.add(at, values[i] / terms);
    largest[at] = std::max(largest[at], values[i]);
    smallest[at] = std::min(smallest[at], values[i]);
  }
  SCOPED_TRACE(std::string(name_of(x.dtype())) + " " + text(x.shape()) + " over " + text(axes));
  expectSums(found[0], sums);
  expectElements(found[1], shape, largest);
  expectElements(found[2], shape, smallest);
  if (found.size() > 3)
    expectSums(found[3], means);
}

// All sets of axes in one function.
void expectReductions(const Shape &shape, DType dtype, const std::vector<Axes> &sets) {
  std::mt19937 random(12);
  Tensor x = operand(random, shape, dtype);
  bool hasMean = !isInteger(dtype);
  auto f = compile([&](const std::vector<Tensor> &in) {
    std::vector<Tensor> results;
    for (const Axes &axes : sets) {
      results.insert(results.end(), {sum(in[0], axes), max(in[0], axes), min(in[0], axes)});
      if (hasMean)
        results.push_back(mean(in[0], axes));
    }
    return results;
  });
  std::vector<Tensor> found = f({x});
  std::ptrdiff_t each = hasMean ? 4 : 3;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    auto first = found.begin() + each * static_cast<std::ptrdiff_t>(i);
    expectReductions(x, sets[i], std::vector<Tensor>(first, first + each));
  }
}

std::vector<Axes> allSets(std::int64_t rank) {
  std::vector<Axes> sets;
  for (int bits = 1; bits < 1 << rank; ++bits) {
    sets.emplace_back();
    for (std::int64_t axis = 0; axis < rank; ++axis)
      if (bits >> axis & 1)
        sets.back().push_back(axis);
  }
  return sets;
}

} // namespace

TEST(Reduction, OverEverySetOfAxes) {
  expectReductions({7}, DType::Float32, allSets(1));
  expectReductions({5, 19}, DType::Float64, allSets(2));
  expectReductions({3, 4, 17}, DType::Float32, allSets(3));
  expectReductions({17, 3, 4}, DType::Int32, allSets(3));
  expectReductions({2, 9, 5, 3}, DType::Int64, allSets(4));
  expectReductions({2, 3, 2, 4, 5}, DType::Float32, allSets(5));
}

TEST(Reduction, OfEveryTail) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64}) {
    std::mt19937 random(13);
    std::vector<Tensor> inputs;
    for (std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 23, 31, 32, 33, 47, 63, 65, 79, 129})
      inputs.push_back(operand(random, {3, size}, dtype));
    auto f = compile([](const std::vector<Tensor> &in) {
      std::vector<Tensor> results;
      for (const Tensor &x : in)
        results.insert(results.end(), {sum(x, {1}), max(x, {1}), min(x, {1})});
      return results;
    });
    std::vector<Tensor> found = f(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      expectReductions(inputs[i], {1}, {found[3 * i], found[3 * i + 1], found[3 * i + 2]});
  }
}

TEST(Reduction, InPieces) {
  expectReductions({100'003}, DType::Float32, allSets(1));
  expectReductions({100'003}, DType::Int64, allSets(1));
  expectReductions({3, 40'009}, DType::Float32, allSets(2));
  expectReductions({40'009, 3}, DType::Float64, allSets(2));
  expectReductions({40'009, 3}, DType::Float32, allSets(2));
  expectReductions({17, 4099}, DType::Float32, allSets(2));
  expectReductions({5, 10'001, 7}, DType::Float32, {{1}, {0, 1}, {1, 2}, {0, 2}});
  expectReductions({64, 14, 14, 33}, DType::Float32, {{0, 1, 2}, {3}, {1, 2}});
}

// What is computed for each element goes into the sum without a pass of its own.
TEST(Reduction, OfFusedTerms) {
  std::mt19937 random(14);
  for (const Shape &shape : {Shape{9, 70}, Shape{300, 259}, Shape{70, 9}}) {
    Tensor x = wholes(random, shape, DType::Float32), y = wholes(random, {shape[1]}, DType::Float32);
    auto f = compile([](const std::vector<Tensor> &in) {
      Tensor d = in[0] - in[1];
      return std::vector<Tensor>{sum(d * d, {0}), sum(d * d, {1}), sum(where(in[0] > 0, d, 0)), max(abs(d), {1}),
                                 sum(cast(in[0] > in[1], DType::Float32), {0})};
    });
    std::vector<double> a = valuesOf(x), b = valuesOf(y);
    std::vector<double> columns(b.size()), rows(static_cast<std::size_t>(shape[0])), largest(rows.size()),
        counts(b.size()), total(1);
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t row = i / b.size(), column = i % b.size();
      double d = a[i] - b[column];
      columns[column] += d * d;
      rows[row] += d * d;
      total[0] += a[i] > 0 ? d : 0;
      largest[row] = std::max(largest[row], std::fabs(d));
      counts[column] += a[i] > b[column];
    }
    std::vector<Tensor> found = f({x, y});
    SCOPED_TRACE(text(shape));
    expectElements(found[0], {shape[1]}, columns);
    expectElements(found[1], {shape[0]}, rows);
    expectElements(found[2], {}, total);
    expectElements(found[3], {shape[0]}, largest);
    expectElements(found[4], {shape[1]}, counts);
  }
}

TEST(Reduction, OfNotANumberAndInfinities) {
  for (std::int64_t size : {3, 16, 37, 100'003}) {
    std::vector<float> values(static_cast<std::size_t>(size), -INFINITY);
    Tensor lowest = tensor(values, {size});
    values[values.size() / 2] = NAN;
    Tensor spoilt = tensor(values, {size});
    EXPECT_EQ(max(lowest).item<float>(), -INFINITY) << size;
    EXPECT_EQ(min(lowest).item<float>(), -INFINITY) << size;
    EXPECT_TRUE(std::isnan(max(spoilt).item<float>())) << size;
    EXPECT_TRUE(std::isnan(min(spoilt).item<float>())) << size;
    EXPECT_TRUE(std::isnan(sum(spoilt).item<float>())) << size;
  }
}

TEST(Reduction, ArgmaxTakesTheFirst) {
  std::mt19937 random(15);
  for (const Shape &shape : {Shape{65, 10}, Shape{10, 65}, Shape{1000}, Shape{3, 300, 17}})
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
      Tensor x = wholes(random, shape, DType::Float32);
      Shape kept = shape, result = shape;
      kept[static_cast<std::size_t>(axis)] = 1;
      result.erase(result.begin() + axis);
      std::vector<double> values = valuesOf(x), best(static_cast<std::size_t>(sizeOf(kept)), -INFINITY),
                          index(best.size());
      for (std::int64_t i = 0; i < x.size(); ++i) {
        Shape at = unravel(i, shape);
        auto to = static_cast<std::size_t>(broadcastIndex(at, kept));
        if (values[static_cast<std::size_t>(i)] > best[to]) {
          best[to] = values[static_cast<std::size_t>(i)];
          index[to] = static_cast<double>(at[static_cast<std::size_t>(axis)]);
        }
      }
      SCOPED_TRACE(text(shape) + " axis " + std::to_string(axis));
      expectElements(argmax(x, axis), result, index);
    }
}

TEST(Reduction, OfNoElements) {
  EXPECT_EQ(valuesOf(sum(zeros({0, 3}), {0})), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(valuesOf(sum(zeros({3, 0}))), (std::vector<double>{0}));
  EXPECT_EQ(sum(zeros({3, 0}), {0}).shape(), (Shape{0}));
}
