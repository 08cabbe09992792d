// Loops that read and write elements of arrays: one kernel, which writes the arrays in place. C++ loops keep an array
// in two variables, that of the next iteration and that after the loop, of which one is left.
#include "calque/arrays.h"
#include "test/frontend/Testing.h"
#include "test/native/SmallLoops.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor word(int length, int step) {
  std::vector<std::int64_t> letters;
  for (int i = 0; i < length; ++i)
    letters.push_back((i * i * step + i) % 5);
  return tensor(letters);
}

// The edit distance of two words, in C++.
std::int64_t distanceOf(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b) {
  std::vector<std::int64_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<std::int64_t>(j);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t above = row[j + 1];
      row[j + 1] = std::min(std::min(above, row[j]) + 1, diagonal + (a[i] != b[j]));
      diagonal = above;
    }
  }
  return row.back();
}

Tensor byRow(const Tensor &a, const Tensor &b) {
  const std::int64_t m = a.shape()[0], n = b.shape()[0];
  Tensor row = iota({n + 1}, DType::Int64);
  for (Tensor i : range(m)) {
    Tensor diagonal = row[0];
    at(row, 0) = i + 1;
    for (Tensor j : range(n)) {
      Tensor above = row[j + 1];
      at(row, j + 1) = minimum(minimum(above, row[j]) + 1, diagonal + cast(a[i] != b[j], DType::Int64));
      diagonal = above;
    }
  }
  return row[n];
}

Tensor byTable(const Tensor &a, const Tensor &b) {
  const std::int64_t m = a.shape()[0], n = b.shape()[0];
  Tensor table = zeros({m + 1, n + 1}, DType::Int64);
  for (Tensor i : range(m + 1))
    at(table, i, 0) = i;
  for (Tensor j : range(n + 1))
    at(table, 0, j) = j;
  for (Tensor i : range(m))
    for (Tensor j : range(n)) {
      Tensor same = cast(a[i] != b[j], DType::Int64);
      at(table, i + 1, j + 1) = minimum(minimum(table[i][j + 1], table[i + 1][j]) + 1, table[i][j] + same);
    }
  return table[m][n];
}

// The alignment of two series whose steps are weighed smoothly (Cuturi and Blondel, "Soft-DTW", 2017).
Tensor softAlignment(const Tensor &a, const Tensor &b) {
  const std::int64_t m = a.shape()[0], n = b.shape()[0];
  Tensor row = full({n + 1}, 1e3, DType::Float64);
  at(row, 0) = 0.0;
  for (Tensor i : range(m)) {
    Tensor diagonal = row[0];
    at(row, 0) = 1e3;
    for (Tensor j : range(n)) {
      Tensor above = row[j + 1], left = row[j], least = minimum(minimum(above, left), diagonal);
      Tensor soft = least - log(exp(least - above) + exp(least - left) + exp(least - diagonal));
      at(row, j + 1) = soft + square(a[i] - b[j]);
      diagonal = above;
    }
  }
  return row[n];
}

TEST(ElementLoops, WriteArraysInPlace) {
  const Tensor a = word(53, 2), b = word(47, 3);
  const std::int64_t expected = distanceOf(valuesOf<std::int64_t>(a), valuesOf<std::int64_t>(b));
  for (auto distance : {byRow, byTable}) {
    auto compiled = function(distance);
    EXPECT_EQ(compiled(a, b).item<std::int64_t>(), expected);
    EXPECT_EQ(distance(a, b).item<std::int64_t>(), expected);
    EXPECT_TRUE(isOneKernel(compiled, a, b)) << compiled.ir("simplified", a, b);
  }
}

TEST(ElementLoops, AreMappedOverExamples) {
  std::vector<Tensor> words, distances;
  const Tensor b = word(37, 3);
  for (int k = 1; k < 5; ++k) {
    words.push_back(word(41, k));
    distances.push_back(byRow(words.back(), b));
  }
  for (auto distance : {byRow, byTable})
    expectSameBits(function(vmap(distance, {.in_axes = {0, std::nullopt}}))(stack(words), b), stack(distances));
}

// Primes: the inner loop runs where a flag that it may write is set.
TEST(ElementLoops, DecideByWhatTheyHaveWritten) {
  expectKernel(
      [](const Tensor &x) {
        constexpr int kLimit = 300;
        Tensor isPrime = ones({kLimit}, DType::Bool);
        for (Tensor i : range(2, 18))
          if (isPrime[i]) {
            Tensor j = i * i;
            while (j < kLimit) {
              at(isPrime, j) = false;
              j = j + i;
            }
          }
        return x + sum(cast(isPrime, DType::Int64));
      },
      scalar<std::int64_t>(0));
}

// A histogram, its running sums, and the order that they give: a counting sort.
TEST(ElementLoops, AddToElements) {
  std::vector<std::int64_t> letters;
  for (int i = 0; i < 70; ++i)
    letters.push_back(i * 29 % 40);
  expectKernel(
      [](const Tensor &x) {
        const std::int64_t n = x.shape()[0];
        Tensor counts = zeros({40}, DType::Int64), sorted = zeros_like(x);
        for (Tensor each : x)
          at(counts, each) += 1;
        Tensor begin = scalar<std::int64_t>(0);
        for (Tensor k : range(40)) {
          Tensor count = counts[k];
          at(counts, k) = begin;
          begin = begin + count;
        }
        for (Tensor i : range(n)) {
          Tensor value = x[i], place = counts[value];
          at(sorted, place) = value;
          at(counts, value) += 1;
        }
        return sorted;
      },
      tensor(letters), 0);
}

// Slices of an array with three axes are read where they are, also at negative indices and after they were written.
TEST(ElementLoops, ReadElementsOfSlices) {
  expectKernel(
      [](const Tensor &given) {
        Tensor x = given, sum = zeros({}, DType::Float64);
        for (Tensor i : range(6)) {
          for (Tensor j : range(7)) {
            at(x, i, j, 4) = x[i][j][2] + x[5 - i][j][i] * 0.5;
            sum = sum + x[i][j][4] - x[i][6 - j][0];
          }
          at(x, i, -1, -2) += sum * 0.01;
        }
        return concat({reshape(x, {-1}), reshape(sum, {1})}, 0);
      },
      sin(iota({6, 7, 9}, DType::Float64) * 0.7));
}

// The inner loop ends for one of two reasons, and its iterations are counted where no range says how many there are.
TEST(ElementLoops, SortByInsertion) {
  expectKernel(
      [](const Tensor &given) {
        Tensor x = given;
        for (Tensor i : range(1, 40)) {
          Tensor value = x[i], j = i - 1;
          while (j >= 0 && x[j] > value) {
            at(x, j + 1) = x[j];
            j = j - 1;
          }
          at(x, j + 1) = value;
        }
        return x;
      },
      sin(iota({40}, DType::Float64) * 1.9), 0);
}

// Also of sizes that the call alone knows, by which negative indices count.
TEST(ElementLoops, TakeUnknownSizes) {
  auto sums = [](const Tensor &given, const Tensor &n) {
    Tensor x = given;
    for (Tensor i : range(1, n)) {
      at(x, i) += x[i - 1];
      at(x, -i) *= 0.5;
    }
    return x;
  };
  auto open = function(sums, {.input_signature = {TensorSpec<double>({kDynamic}), TensorSpec<std::int64_t>({})}});
  for (std::int64_t n : {1, 2, 33, 1000}) {
    const Tensor x = cos(iota({n}, DType::Float64)), count = scalar(n);
    expectSameBits(open(x, count), sums(x, count));
    EXPECT_THROW(open(x, scalar(n + 1)), IndexError);
  }
  EXPECT_TRUE(isOneKernel(open, ones({100}, DType::Float64), scalar<std::int64_t>(5)));
  EXPECT_THROW(open(zeros({0}, DType::Float64), scalar<std::int64_t>(2)), IndexError);
}

// What an iteration reads of an array is what it was there: a second name keeps the old elements.
TEST(ElementLoops, KeepOlderVersions) {
  expectKernel(
      [](const Tensor &x) {
        Tensor now = x, before = x * 0.5;
        for (Tensor i : range(50)) {
          Tensor old = now;
          at(now, i) = now[i] * 0.5 + before[49 - i];
          at(before, 49 - i) = old[i] - now[i];
          if (before[i] > 0.3) {
            Tensor swapped = now;
            now = before;
            before = swapped;
          }
        }
        return now - 2.0 * before;
      },
      cos(iota({50}, DType::Float64) * 1.3), 1e-12, false);
}

// The array after the loop is that of the last iteration that wrote it, also where the loop ends in its middle.
TEST(ElementLoops, EndInTheMiddle) {
  for (double limit : {-1.0, 3.0, 20.0, 1e9})
    expectKernel(
        [limit](const Tensor &x) {
          Tensor y = x, sum = zeros({}, DType::Float64);
          for (Tensor i : range(40)) {
            at(y, i) = sum;
            sum = sum + x[i];
            if (sum > limit)
              break;
            at(y, 39 - i) = sum * 2.0;
          }
          return y;
        },
        abs(sin(iota({40}, DType::Float64))) + 0.5);
}

TEST(ElementLoops, HaveGradients) {
  const Tensor b = cos(iota({35}, DType::Float64) * 0.8);
  expectGradient([&](const Tensor &a) { return softAlignment(a, b); }, sin(iota({33}, DType::Float64)));
  expectGradient(
      [](const Tensor &given) {
        Tensor x = reshape(given, {6, 7}), sum = zeros({}, DType::Float64);
        for (Tensor i : range(6))
          for (Tensor j : range(7)) {
            at(x, 5 - i, j) += x[i][j] * x[i][6 - j];
            if (x[i][j] > 0.5)
              at(x, i, j) = x[i][j] * 0.25 + sum;
            sum = sum + x[i][j] * x[5 - i][6 - j];
          }
        return sum;
      },
      sin(iota({42}, DType::Float64)) * 0.4);
}

// The reverse of a loop keeps the elements that an iteration reads, and not the array.
TEST(ElementLoops, KeepElementsForTheReverse) {
  const Tensor a = sin(iota({64}, DType::Float64)), b = cos(iota({64}, DType::Float64));
  auto gradient = function(grad(softAlignment));
  const std::string ir = gradient.ir("simplified", a, b);
  std::size_t pushes = 0, arrays = 0;
  for (std::size_t found = 0; (found = ir.find("calque.stack_push", found)) != std::string::npos; ++found) {
    const std::string line = ir.substr(found, ir.find('\n', found) - found);
    ++pushes;
    arrays += line.find("tensor<65xf64>") != std::string::npos;
  }
  EXPECT_GT(pushes, 4u);
  EXPECT_EQ(arrays, 1u); // the row at which each iteration of the outer loop begins
}

// An index that is none fails with the line of the user, and changes nothing.
TEST(ElementLoops, FailAtIndicesOutside) {
  Variable v(tensor<double>({1, 2, 3}));
  auto write = function([&](const Tensor &to) {
    Tensor x = v;
    for (Tensor i : range(to))
      at(x, i) = 7.0;
    v.assign(x);
    return x;
  });
  EXPECT_THROW(write(scalar<std::int64_t>(4)), IndexError);
  EXPECT_EQ(valuesOf(v), (std::vector<double>{1, 2, 3}));
  write(scalar<std::int64_t>(2));
  EXPECT_EQ(valuesOf(v), (std::vector<double>{7, 7, 3}));
  auto read = [](const Tensor &x, const Tensor &to) {
    Tensor sum = zeros({}, DType::Float64);
    for (Tensor i : range(to))
      sum = sum + x[i][i + 1];
    return sum;
  };
  const Tensor x = ones({50, 60}, DType::Float64);
  EXPECT_EQ(function(read)(x, scalar<std::int64_t>(50)).item<double>(), 50);
  const std::string error = errorOf<IndexError>([&] { function(read)(x, scalar<std::int64_t>(51)); });
  EXPECT_NE(error.find("index 50 is out of range [0, 50)"), std::string::npos) << error;
  EXPECT_NE(error.find("ElementLoopsTest.cpp"), std::string::npos) << error;
}

} // namespace

// Four loops with branches behind them: values that only long paths tell apart.
TEST(ElementLoops, GameOfLife) {
  auto step = [](const Tensor &cells) {
    Tensor next = cells;
    for (Tensor i : range(6))
      for (Tensor j : range(6)) {
        Tensor neighbours = scalar(0);
        for (Tensor a : range(-1, 2))
          for (Tensor b : range(-1, 2))
            neighbours = neighbours + cells[mod(i + a, 6)][mod(j + b, 6)];
        neighbours = neighbours - cells[i][j];
        if (cells[i][j] == 1) {
          if (neighbours < 2 || neighbours > 3)
            at(next, i, j) = 0;
        } else if (neighbours == 3) {
          at(next, i, j) = 1;
        }
      }
    return next;
  };
  Tensor cells = cast(tensor<std::int32_t>({0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0,
                                            0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0},
                                           {6, 6}),
                      DType::Int32);
  auto compiled = function(step);
  for (int generation = 0; generation < 8; ++generation) {
    EXPECT_EQ(valuesOf(compiled(cells)), valuesOf(step(cells)));
    cells = step(cells);
  }
}
