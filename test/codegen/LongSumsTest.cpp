// Sums of many terms: each path of codegen/schedule, with sizes known and unknown, against long double. An error of
// rounding that is the same at each addition grows with the number of terms, so that constants show it best. A sum may
// be off by 4 eps times the sum of the terms' magnitudes, a product, whose runs are longer, by 8.
#include "test/codegen/Testing.h"

#include <cstdlib>
#include <span>

using namespace calque;
using namespace calque::testing;

namespace {

// Terms of one kind for each index.
struct Terms {
  const char *name;
  double (*at)(std::int64_t index, std::uint32_t random);
};

double fraction(std::uint32_t random) { return static_cast<double>(random) * 0x1p-32; }

const std::vector<Terms> &kinds() {
  static const std::vector<Terms> all = {
      {"0.1", [](std::int64_t, std::uint32_t) { return 0.1; }},
      {"1/3", [](std::int64_t, std::uint32_t) { return 1.0 / 3; }},
      {"0.7", [](std::int64_t, std::uint32_t) { return 0.7; }},
      {"positive", [](std::int64_t, std::uint32_t random) { return fraction(random); }},
      {"of both signs", [](std::int64_t, std::uint32_t random) { return fraction(random) - 0.5; }},
      {"of two magnitudes", [](std::int64_t i, std::uint32_t) { return i % 3 ? -1e-3 : 1e4; }},
      {"one large", [](std::int64_t i, std::uint32_t random) { return i == 5 ? 1e6 : fraction(random); }},
  };
  return all;
}

Tensor make(const Terms &terms, std::int64_t count, DType dtype, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = terms.at(static_cast<std::int64_t>(i), static_cast<std::uint32_t>(random()));
  return makeTensor(dtype, values, {count});
}

double epsilonOf(DType dtype) { return dtype == DType::Float32 ? 0x1p-23 : 0x1p-52; }

// A sum of some terms, and how far from it a result may be.
struct Exact {
  void add(long double term) {
    // Neumaier's sum: long double alone has the digits for float64, but few to spare.
    long double next = sum + term;
    rest += std::fabs(sum) >= std::fabs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
    magnitude += std::fabs(term);
  }
  void expect(double found, DType dtype, double most, const std::string &what) const {
    auto off = static_cast<double>(std::fabs(found - (sum + rest)) / (magnitude * epsilonOf(dtype)));
    EXPECT_LE(off, most) << what << " is " << found << ", not " << static_cast<double>(sum + rest)
                         << ": it is off by that many eps sum|term|";
    worst = std::max(worst, off);
  }
  long double sum = 0, rest = 0, magnitude = 0;
  static inline double worst = 0;
};

// A way to sum up n terms: those of x, or products of x and y. Each element of the result is that sum.
struct Path {
  const char *name;
  bool isOfProducts;
  Tensor (*sum)(const Tensor &x, const Tensor &y);
};

// n times `count` elements, the same for each column.
Tensor columns(const Tensor &x, std::size_t count) {
  return concat(std::vector<Tensor>(count, expand_dims(x, {1})), 1);
}
Tensor rows(const Tensor &x) { return concat(std::vector<Tensor>(2, expand_dims(x, {0})), 0); }

const Path kShortPaths[] = {
    {"sum", false, [](const Tensor &x, const Tensor &) { return sum(x); }},
    {"dot", true, [](const Tensor &x, const Tensor &y) { return contract(x, y, {}, {}, {0}, {0}); }},
};
const Path kPaths[] = {
    kShortPaths[0],
    kShortPaths[1],
    {"sum of rows", false, [](const Tensor &x, const Tensor &) { return sum(rows(x), {1}); }},
    {"sum of columns", false, [](const Tensor &x, const Tensor &) { return sum(columns(x, 3), {0}); }},
    {"sum of many columns", false, [](const Tensor &x, const Tensor &) { return sum(columns(x, 21), {0}); }},
    {"sum over the first and last of three dimensions", false,
     [](const Tensor &x, const Tensor &) { return sum(columns(x, 3) * full({2, 1, 1}, 0.5, x.dtype()), {0, 1}); }},
    {"sum of products", true,
     [](const Tensor &x, const Tensor &y) { return sum(columns(x, 3) * expand_dims(y, {1}), {0}); }},
    {"gradient of what was broadcast", true,
     [](const Tensor &x, const Tensor &y) {
       GradientTape tape;
       Tensor bias = zeros({3}, x.dtype());
       tape.watch(bias);
       Tensor all = (expand_dims(x, {1}) + bias) * expand_dims(x * y, {1});
       return *tape.gradient(all, bias);
     }},
    {"matrix product", true, [](const Tensor &x, const Tensor &y) { return matmul(rows(x), columns(y, 5)); }},
    {"product with a vector", true,
     [](const Tensor &x, const Tensor &y) { return contract(x, columns(y, 40), {}, {}, {0}, {0}); }},
    {"product of transposed matrices", true,
     [](const Tensor &x, const Tensor &y) {
       return matmul(columns(x, 9), rows(y), {.transpose_a = true, .transpose_b = true});
     }},
    {"batches of products", true,
     [](const Tensor &x, const Tensor &y) { return contract(columns(x, 3), columns(y, 3), {1}, {1}, {0}, {0}); }},
};

auto sumsOn(std::span<const Path> paths, DType dtype, bool isKnown) {
  auto body = [paths](const Tensor &x, const Tensor &y) {
    std::vector<Tensor> results;
    for (const Path &path : paths)
      results.push_back(path.sum(x, y));
    return results;
  };
  TensorSpec<> open(dtype, {kDynamic});
  return isKnown ? function(body) : function(body, {.input_signature = {open, open}});
}

// All paths over n terms of each `step`-th kind.
template <typename F>
void expectSums(F &f, std::span<const Path> paths, std::int64_t n, DType dtype, std::size_t step = 1) {
  for (std::size_t kind = 0; kind < kinds().size(); kind += step) {
    Tensor x = make(kinds()[kind], n, dtype, 1), y = make(kinds()[kind], n, dtype, 2);
    Exact ofX, ofProducts;
    dispatch(dtype, [&](auto element) {
      using T = typename decltype(element)::type;
      const T *a = x.data<T>(), *b = y.data<T>();
      for (std::int64_t i = 0; i < n; ++i) {
        ofX.add(a[i]);
        ofProducts.add(static_cast<long double>(a[i]) * b[i]);
      }
    });
    std::vector<Tensor> results = f(x, y);
    for (std::size_t i = 0; i < paths.size(); ++i)
      for (double found : valuesOf(results[i]))
        (paths[i].isOfProducts ? ofProducts : ofX)
            .expect(found, dtype, paths[i].isOfProducts ? 8 : 4,
                    std::string(paths[i].name) + " of " + std::to_string(n) + " terms " + kinds()[kind].name + " of " +
                        std::string(name_of(dtype)));
  }
  ::testing::Test::RecordProperty("worst", std::to_string(Exact::worst));
}

} // namespace

TEST(LongSums, OfAnyLengthOnEveryPath) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (bool isKnown : {true, false}) {
      SCOPED_TRACE(isKnown ? "n known" : "n not known");
      auto f = sumsOn(kPaths, dtype, isKnown);
      for (std::int64_t n : {1, 2, 17, 1000, 5003})
        if (!isKnown || n > 16)
          expectSums(f, kPaths, n, dtype);
    }
}

TEST(LongSums, OfAMillionTerms) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (bool isKnown : {true, false}) {
      SCOPED_TRACE(isKnown ? "n known" : "n not known");
      auto f = sumsOn(kPaths, dtype, isKnown);
      expectSums(f, kPaths, 1'000'003, dtype, dtype == DType::Float32 ? 3 : 6);
    }
}

TEST(LongSums, OfTenMillionTerms) {
  for (bool isKnown : {true, false}) {
    SCOPED_TRACE(isKnown ? "n known" : "n not known");
    auto f = sumsOn(kShortPaths, DType::Float32, isKnown);
    expectSums(f, kShortPaths, 10'000'000, DType::Float32, kinds().size());
  }
}

TEST(LongSums, OfEqualTermsOfManyValues) {
  auto f = function([](const Tensor &x) {
    Tensor ones = full({300, 1000}, 1.f) * x, row = slice(ones, {0, 0}, {1, 1000});
    return std::vector<Tensor>{sum(ones), sum(ones, {0}), sum(ones, {1}), matmul(row, transpose(row))};
  });
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    auto value = static_cast<float>(fraction(static_cast<std::uint32_t>(random())));
    std::vector<Tensor> results = f(full({}, value));
    const double counts[] = {300'000, 300, 1000, 1000 * static_cast<double>(value)};
    for (std::size_t k = 0; k < results.size(); ++k)
      for (double found : valuesOf(results[k])) {
        double expected = counts[k] * static_cast<double>(value);
        ASSERT_LE(std::fabs(found - expected), 4 * 0x1p-23 * expected) << "sum " << k << " of terms " << value;
      }
  }
}

TEST(LongSums, OfMeansAndVariances) {
  const std::int64_t n = 1'000'003;
  std::vector<float> values(n, 0.1f);
  EXPECT_LE(std::fabs(mean(tensor(values, {n})).item<float>() - 0.1f), 4 * 0x1p-23 * 0.1f);
  std::mt19937 random(4);
  long double total = 0, squares = 0;
  for (float &value : values) {
    value = 1000 + static_cast<float>(fraction(static_cast<std::uint32_t>(random())));
    total += value;
  }
  for (float value : values)
    squares += (value - total / n) * (value - total / n);
  auto variance = function([](const Tensor &x) { return mean(square(x - mean(x, {0})), {0}); });
  auto expected = static_cast<double>(squares / n);
  // The mean is off by some eps of 1000, of which the variance has the square.
  EXPECT_NEAR(variance(tensor(values, {n})).item<float>(), expected, 1e-4 * expected);
}

// Each element of a cumulative sum is a sum, and so is each of its gradient.
TEST(LongSums, OfCumulativeSums) {
  struct Direction {
    const char *name;
    bool reverse;
    Tensor (*sums)(const Tensor &x);
  };
  const Direction directions[] = {
      {"forwards", false, [](const Tensor &x) { return cumsum(x); }},
      {"backwards", true, [](const Tensor &x) { return cumsum(x, 0, false, true); }},
      {"across rows", false, [](const Tensor &x) { return slice(cumsum(columns(x, 2)), {0, 1}, {x.shape()[0], 2}); }},
      {"gradient", true, [](const Tensor &x) { return vjp([](const Tensor &y) { return cumsum(y); }, x).second(x); }}};
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : {1000, 1'000'003})
      for (std::size_t kind = 0; kind < kinds().size(); kind += n < 2000 ? 1 : 3) {
        Tensor x = make(kinds()[kind], n, dtype, 1);
        for (const Direction &direction : directions) {
          Tensor found = direction.sums(x);
          Exact exact;
          dispatch(dtype, [&](auto element) {
            using T = typename decltype(element)::type;
            const T *terms = x.data<T>(), *sums = found.data<T>();
            for (std::int64_t i = 0; i < n; ++i) {
              std::int64_t at = direction.reverse ? n - 1 - i : i;
              exact.add(terms[at]);
              if (i % 97 == 0 || i > n - 100)
                exact.expect(sums[at], dtype, 8,
                             std::string(direction.name) + ": sum " + std::to_string(i) + " of terms " +
                                 kinds()[kind].name + " of " + std::string(name_of(dtype)));
            }
          });
        }
      }
}

TEST(LongSums, OfTenMillionTermsCumulated) {
  const std::int64_t n = 10'000'000;
  Tensor sums = cumsum(full({n}, 0.1f));
  for (std::int64_t i = 0; i < n; i += 997) {
    double expected = static_cast<double>(i + 1) * static_cast<double>(0.1f);
    ASSERT_LE(std::fabs(sums.data<float>()[i] - expected), 4 * 0x1p-23 * expected) << "sum " << i;
  }
}

// A gather is no part of the loop that sums up what it gives.
TEST(LongSums, OfGatheredTerms) {
  auto f = function([](const Tensor &x,
                       const Tensor &at) { return std::vector<Tensor>{sum(gather(x, at)), sum(gather(x, at) * 0.5f)}; },
                    {.input_signature = {TensorSpec<float>({3}), TensorSpec<std::int32_t>({kDynamic})}});
  const std::int64_t n = 1'000'003;
  double expected = static_cast<double>(n) * static_cast<double>(0.1f);
  std::vector<Tensor> results = f(full({3}, 0.1f), zeros({n}, DType::Int32));
  EXPECT_LE(std::fabs(results[0].item<float>() - expected), 4 * 0x1p-23 * expected);
  EXPECT_LE(std::fabs(results[1].item<float>() - expected / 2), 2 * 0x1p-23 * expected);
}

// Images' sums run over three dimensions, of which the inner ones are long.
TEST(LongSums, OfFiltersGradients) {
  for (bool isKnown : {true, false}) {
    auto body = [](const Tensor &x) {
      GradientTape tape;
      Tensor w = zeros({1, 1, 1, 2});
      tape.watch(w);
      return *tape.gradient(conv2d(x, w), w);
    };
    auto f =
        isKnown ? function(body) : function(body, {.input_signature = {TensorSpec<float>({kDynamic, 213, 197, 1})}});
    for (float value : {0.1f, 0.3f, 0.7f}) {
      double expected = 7 * 213 * 197 * static_cast<double>(value);
      for (double found : valuesOf(f(full({7, 213, 197, 1}, value))))
        EXPECT_LE(std::fabs(found - expected), 8 * 0x1p-23 * expected) // as other products
            << value << (isKnown ? "" : ", images not known");
    }
  }
}

TEST(LongSums, KeepInfinitiesAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  auto f = function([](const Tensor &x, const Tensor &y) {
    std::vector<Tensor> results;
    for (const Path &path : kPaths)
      results.push_back(path.sum(x, y));
    return results;
  });
  for (std::int64_t n : {1000, 100'003})
    for (float special : {infinity, -infinity, NAN}) {
      std::vector<float> values(static_cast<std::size_t>(n), 0.5f);
      values[static_cast<std::size_t>(n) / 3] = special;
      std::vector<Tensor> results = f(tensor(values, {n}), full({n}, 1.f));
      for (std::size_t i = 0; i < results.size(); ++i)
        for (float found : valuesOf<float>(results[i]))
          EXPECT_TRUE(found == special || (found != found && special != special))
              << kPaths[i].name << " of " << n << " terms with " << special << " is " << found;
    }
}

// CALQUE_TEST_LONG=1: up to 2^31 terms. Those of sums and means are products of small operands, which no memory has to
// hold; the operand of dot products takes 8 GiB.
TEST(LongSums, OfTwoToThe31Terms) {
  if (!std::getenv("CALQUE_TEST_LONG"))
    GTEST_SKIP() << "takes minutes; CALQUE_TEST_LONG=1 runs it";
  auto body = [](const Tensor &x, const Tensor &y) {
    return std::vector<Tensor>{sum(expand_dims(x, {1}) * y), mean(expand_dims(x, {1}) * y)};
  };
  TensorSpec<float> open({kDynamic});
  for (std::int64_t n : {10'000, 1 << 16})
    for (bool isKnown : {true, false}) {
      std::int64_t m = n == 10'000 ? n : 1 << 15;
      auto f = isKnown ? function(body) : function(body, {.input_signature = {open, open}});
      std::vector<Tensor> results = f(full({n}, 0.1f), full({m}, 1.f));
      double expected = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(0.1f);
      EXPECT_LE(std::fabs(results[0].item<float>() - expected), 4 * 0x1p-23 * expected) << n << " * " << m << isKnown;
      EXPECT_LE(std::fabs(results[1].item<float>() - 0.1f), 4 * 0x1p-23 * 0.1f) << n << " * " << m << isKnown;
    }
  // Ones that are made as they are summed: sizes known.
  auto constants = function([] { return mean(full({std::int64_t(1) << 31}, 0.1f)); });
  EXPECT_LE(std::fabs(constants().item<float>() - 0.1f), 4 * 0x1p-23 * 0.1f);

  auto dots = [](const Tensor &x) {
    return std::vector<Tensor>{matmul(expand_dims(x, {0}), expand_dims(x, {1})), sum(square(x))};
  };
  std::int64_t n = std::int64_t(1) << 31;
  Tensor x = full({n}, 0.1f);
  double expected = static_cast<double>(n) * static_cast<double>(0.1f) * static_cast<double>(0.1f);
  for (bool isKnown : {true, false}) {
    auto f = isKnown ? function(dots) : function(dots, {.input_signature = {open}});
    for (const Tensor &dot : f(x))
      EXPECT_LE(std::fabs(dot.item<float>() - expected), 4 * 0x1p-23 * expected) << isKnown;
  }
}

// Each rounding is relative to the product so far, so that they add up. Factors near 1 keep all parts of a product in
// the range of the type.
TEST(ProductsOfManyFactors, AreOffByTheirNumber) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : {2, 17, 1000, 1'000'003}) {
      std::mt19937 random(5);
      std::vector<double> values(static_cast<std::size_t>(n));
      for (double &value : values)
        value = 1 + (fraction(static_cast<std::uint32_t>(random())) - 0.5) / 256;
      Tensor x = makeTensor(dtype, values, {n}), all = prod(x), each = cumprod(x);
      values = valuesOf(x);
      long double product = 1;
      double relativeOfEach = 0;
      std::vector<double> products = valuesOf(each);
      for (std::size_t i = 0; i < values.size(); ++i) {
        product *= values[i];
        relativeOfEach = std::max(relativeOfEach, static_cast<double>(std::fabs(products[i] / product - 1)) /
                                                      (dtype == DType::Float32 ? 1 : static_cast<double>(i + 1)));
      }
      double relative = static_cast<double>(std::fabs(valuesOf(all)[0] / product - 1)) / static_cast<double>(n);
      EXPECT_LE(relative, epsilonOf(dtype)) << n << " factors of " << name_of(dtype);
      EXPECT_LE(relativeOfEach, epsilonOf(dtype)) << n << " factors of " << name_of(dtype);
    }
}
