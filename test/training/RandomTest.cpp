#include "Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

// Philox 4x32-10 written from the paper: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0,
                                    0};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t a = std::uint64_t(0xD2511F53) * c[0], b = std::uint64_t(0xCD9E8D57) * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

std::vector<double> uniforms(std::int64_t key, std::int64_t counter, std::size_t count, DType dtype) {
  std::vector<double> values;
  for (auto at = static_cast<std::uint64_t>(counter); values.size() < count; ++at) {
    std::array<std::uint32_t, 4> words = philox(static_cast<std::uint64_t>(key), at);
    if (dtype == DType::Float32)
      for (std::uint32_t word : words)
        values.push_back(static_cast<double>(word >> 8) * 0x1p-24);
    else
      for (int i : {0, 2})
        values.push_back(static_cast<double>((std::uint64_t(words[i + 1]) << 32 | words[i]) >> 11) * 0x1p-53);
  }
  values.resize(count);
  return values;
}

struct Moments {
  double mean = 0, variance = 0, smallest = 1e300, largest = -1e300;
};
Moments momentsOf(const Tensor &x) {
  Moments m;
  std::vector<double> values = valuesOf(x);
  for (double value : values) {
    m.mean += value / static_cast<double>(values.size());
    m.smallest = std::min(m.smallest, value);
    m.largest = std::max(m.largest, value);
  }
  for (double value : values)
    m.variance += (value - m.mean) * (value - m.mean) / static_cast<double>(values.size());
  return m;
}

} // namespace

TEST(Random, ThePhiloxOfThisTestGivesItsAuthorsNumbers) {
  EXPECT_EQ(philox(0, 0), (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, UniformNumbersArePhiloxs) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (auto [key, counter] :
         {std::pair<std::int64_t, std::int64_t>{0, 0}, {-7, 3}, {(1LL << 40) + 5, (1LL << 33) + 1}}) {
      Tensor x = random::stateless_uniform({3, 7}, random::state(key, counter), {.dtype = dtype});
      EXPECT_EQ(x.dtype(), dtype);
      expectNear(x, uniforms(key, counter, 21, dtype), 0);
    }
}

// The numbers of a block are made together where a vector has all of them.
TEST(Random, UniformNumbersOfLongRowsArePhiloxs) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const Shape &shape : {Shape{64}, Shape{1003}, Shape{5, 16}, Shape{3, 44}, Shape{4, 7, 8}, Shape{6, 35},
                               Shape{33, 3}, Shape{2, 1026}, Shape{300, 64}}) {
      std::vector<double> expected = uniforms(9, 4, static_cast<std::size_t>(sizeOf(shape)), dtype);
      const Tensor state = random::state(9, 4);
      expectNear(random::stateless_uniform(shape, state, {.dtype = dtype}), expected, 0);
      // In a kernel with others, and of transposed numbers.
      auto transposed = function([&](const Tensor &from) {
        const Tensor x = reshape(random::stateless_uniform(shape, from, {.dtype = dtype}), {shape[0], -1});
        return transpose(transpose(x) - 0.5);
      });
      for (double &each : expected)
        each -= 0.5;
      expectNear(transposed(state), expected, 0);
    }
}

TEST(Random, UniformNumbersStayInTheirInterval) {
  Moments m = momentsOf(random::stateless_uniform({20000}, random::state(1, 0), {.minval = -2, .maxval = 6}));
  EXPECT_GE(m.smallest, -2);
  EXPECT_LT(m.largest, 6);
  EXPECT_NEAR(m.mean, 2, 0.1);
  EXPECT_NEAR(m.variance, 64.0 / 12, 0.15);
  // 2^24 - 1 + u rounds to 2^24 for half of the numbers.
  m = momentsOf(random::stateless_uniform({100}, random::state(1, 0), {.minval = 0x1p24 - 1, .maxval = 0x1p24}));
  EXPECT_EQ(m.largest, 0x1p24 - 1);
}

TEST(Random, NormalNumbersAreBoxAndMullersOfTwoUniforms) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    std::int64_t used = random::counters_used(15, dtype);
    EXPECT_EQ(used, dtype == DType::Float32 ? 4 : 8);
    std::vector<double> u = uniforms(5, 9, 15, dtype), v = uniforms(5, 9 + used, 15, dtype), expected;
    for (std::size_t i = 0; i < 15; ++i)
      expected.push_back(1 + 0.5 * std::sqrt(-2 * std::log(1 - u[i])) * std::cos(2 * M_PI * v[i]));
    Tensor x = random::stateless_normal({5, 3}, random::state(5, 9), {.mean = 1, .stddev = 0.5, .dtype = dtype});
    expectNear(x, expected, dtype == DType::Float32 ? 1e-5 : 1e-12);
  }
}

TEST(Random, NormalAndBernoulliNumbersHaveTheirMoments) {
  random::Generator generator(3);
  Moments m = momentsOf(generator.normal({20000}, {.mean = -1, .stddev = 2}));
  EXPECT_NEAR(m.mean, -1, 0.06);
  EXPECT_NEAR(m.variance, 4, 0.2);
  Tensor b = generator.bernoulli({20000}, 0.3);
  EXPECT_EQ(b.dtype(), DType::Bool);
  EXPECT_NEAR(momentsOf(b).mean, 0.3, 0.015);
  EXPECT_EQ(momentsOf(generator.bernoulli({1000}, 0)).largest, 0);
  EXPECT_EQ(momentsOf(generator.bernoulli({1000}, 1)).smallest, 1);
}

TEST(Random, AGeneratorGivesTheSameNumbersEagerlyAndCompiled) {
  random::Generator eager(11), compiled(11);
  auto draw = [](random::Generator &g) {
    return std::vector<Tensor>{g.uniform({3, 3}),
                               g.normal({5}),
                               cast(g.bernoulli({7}, 0.4), DType::Int32),
                               g.uniform({2}, {.dtype = DType::Float64}),
                               g.normal({3}, {.dtype = DType::Float64}),
                               g.randint({5}, -2, 3),
                               g.randint({3}, 0, 1LL << 40, {.dtype = DType::Int64}),
                               g.categorical(tensor<float>({{0, 1, 2}, {3, 2, 1}}), 2),
                               g.permutation(5),
                               g.shuffle(iota({6, 2}, DType::Int32))};
  };
  auto f = function([&] { return draw(compiled); });
  for (int call = 0; call < 3; ++call) {
    std::vector<Tensor> a = draw(eager), b = f();
    for (std::size_t i = 0; i < a.size(); ++i)
      expectSameBits(a[i], b[i]);
    EXPECT_EQ(valuesOf<std::int64_t>(eager.state().value()), valuesOf<std::int64_t>(compiled.state().value()));
    // 3, twice 2, 2, 1, twice 2, three times 2, four times 1, 3, 3, 3 counters.
    EXPECT_EQ(valuesOf<std::int64_t>(eager.state().value()), (std::vector<std::int64_t>{11, 33 * (call + 1)}));
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Random, DrawsFollowEachOtherWithoutRepeating) {
  random::Generator generator(0);
  Tensor a = generator.uniform({6}), b = generator.uniform({6});
  expectSameBits(a, random::stateless_uniform({6}, random::state(0, 0)));
  expectSameBits(b, random::stateless_uniform({6}, random::state(0, 2)));
  EXPECT_NE(valuesOf(a), valuesOf(b));
  generator.reset(0);
  expectSameBits(generator.uniform({6}), a);
}

TEST(Random, SetSeedStartsTheGlobalGeneratorAnew) {
  set_seed(42);
  Tensor a = random::uniform({4}), b = random::normal({4}), c = glorot_uniform({3, 5});
  std::int64_t seed = random::global_generator().draw_seed();
  EXPECT_NE(seed, random::global_generator().draw_seed());
  set_seed(42);
  expectSameBits(random::uniform({4}), a);
  expectSameBits(random::normal({4}), b);
  expectSameBits(glorot_uniform({3, 5}), c);
  EXPECT_EQ(random::global_generator().draw_seed(), seed);
  set_seed(43);
  EXPECT_NE(valuesOf(random::uniform({4})), valuesOf(a));
}

TEST(Random, IntegersAreTheIntervalTimesAFractionOfManyDigits) {
  auto digits = [](std::int64_t key, int count) {
    std::vector<std::vector<double>> all;
    for (int i = 0; i < count; ++i)
      all.push_back(uniforms(key, 3 * i, 11, DType::Float32)); // 11 numbers use 3 counters
    return all;
  };
  auto fraction = [](const std::vector<std::vector<double>> &all, std::size_t at) {
    unsigned __int128 bits = 0;
    for (const std::vector<double> &each : all)
      bits = bits << 24 | static_cast<std::uint32_t>(each[at] * 0x1p24);
    return bits;
  };
  for (auto [minval, maxval] : {std::pair<std::int64_t, std::int64_t>{0, 6},
                                {-3, -2},
                                {INT32_MIN, std::int64_t(INT32_MAX) + 1},
                                {1, 1 << 24},
                                {-5, (1 << 24) - 4},
                                {100, 300000000}}) {
    SCOPED_TRACE(std::to_string(minval) + " to " + std::to_string(maxval));
    for (DType dtype : {DType::Int32, DType::Int64}) {
      const int count = dtype == DType::Int32 ? 3 : 4;
      Tensor x = random::stateless_randint({11}, random::state(5, 0), minval, maxval, {.dtype = dtype});
      ASSERT_EQ(x.dtype(), dtype);
      auto drawn = digits(5, count);
      std::vector<double> values = valuesOf(x);
      for (std::size_t i = 0; i < 11 && (count == 3 || maxval - minval <= INT32_MAX); ++i) {
        auto product = fraction(drawn, i) * static_cast<std::uint64_t>(maxval - minval);
        EXPECT_EQ(values[i], static_cast<double>(minval + static_cast<std::int64_t>(product >> (24 * count))));
      }
    }
  }
  // All of int64: the first 64 bits.
  Tensor x = random::stateless_randint({11}, random::state(5, 0), INT64_MIN, std::nullopt, {.dtype = DType::Int64});
  auto drawn = digits(5, 4);
  std::vector<std::int64_t> values = valuesOf<std::int64_t>(x);
  for (std::size_t i = 0; i < 11; ++i)
    EXPECT_EQ(static_cast<std::uint64_t>(values[i]),
              static_cast<std::uint64_t>(fraction(drawn, i) >> 32) + (std::uint64_t(1) << 63));
  // And all but the largest one: the interval has 2^64 - 1 integers.
  values = valuesOf<std::int64_t>(
      random::stateless_randint({11}, random::state(5, 0), INT64_MIN, INT64_MAX, {.dtype = DType::Int64}));
  for (std::size_t i = 0; i < 11; ++i)
    EXPECT_LE(std::uint64_t(valuesOf<std::int64_t>(x)[i]) - std::uint64_t(values[i]), 1u);
}

TEST(Random, IntegersReachBothEndsAndAreEquallyLikely) {
  random::Generator generator(4);
  std::vector<int> counts(7);
  for (double value : valuesOf(generator.randint({14000}, -3, 4))) {
    ASSERT_GE(value, -3);
    ASSERT_LT(value, 4);
    ++counts[static_cast<std::size_t>(value + 3)];
  }
  for (int count : counts)
    EXPECT_NEAR(count, 2000, 180); // more than four standard deviations
  EXPECT_EQ(valuesOf<std::int32_t>(generator.randint({3}, INT32_MAX, std::nullopt)),
            (std::vector<std::int32_t>(3, INT32_MAX)));
  EXPECT_EQ(valuesOf<std::int64_t>(generator.randint({2}, INT64_MAX, std::nullopt, {.dtype = DType::Int64})),
            (std::vector<std::int64_t>(2, INT64_MAX)));
  EXPECT_EQ(valuesOf<std::int32_t>(generator.randint({}, INT32_MIN, INT32_MIN + 1)),
            (std::vector<std::int32_t>{INT32_MIN}));
  EXPECT_EQ(generator.randint({0, 2}, 0, 2).shape(), Shape({0, 2}));
}

TEST(Random, ClassesAreDrawnByTheirProbabilities) {
  random::Generator generator(2);
  const double none = -std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor logits =
        cast(tensor<double>({{std::log(0.5), std::log(0.2), std::log(0.3), none}, {none, 70, none, none}}), dtype);
    Tensor drawn = generator.categorical(logits, 20000);
    EXPECT_EQ(drawn.dtype(), DType::Int64);
    ASSERT_EQ(drawn.shape(), Shape({2, 20000}));
    std::vector<std::int64_t> values = valuesOf<std::int64_t>(drawn);
    std::vector<int> counts(4);
    for (std::size_t i = 0; i < 20000; ++i)
      ++counts[static_cast<std::size_t>(values[i])];
    EXPECT_NEAR(counts[0], 10000, 300);
    EXPECT_NEAR(counts[1], 4000, 240);
    EXPECT_NEAR(counts[2], 6000, 270);
    EXPECT_EQ(counts[3], 0);
    EXPECT_TRUE(std::all_of(values.begin() + 20000, values.end(), [](std::int64_t each) { return each == 1; }));
  }
  EXPECT_EQ(generator.categorical(zeros({3}), 2).shape(), Shape({2}));
  EXPECT_EQ(generator.categorical(zeros({2, 3, 4}), 5).shape(), Shape({2, 3, 5}));
  EXPECT_EQ(generator.categorical(zeros({2, 3}), 0).shape(), Shape({2, 0}));
  // The smallest uniform number is 0, whose noise would be infinite: the one class that is possible is still drawn.
  Tensor one = tensor<float>({-INFINITY, 0});
  EXPECT_EQ(valuesOf(random::stateless_categorical(one, random::state(0, 0), 100000)), std::vector<double>(100000, 1));
}

TEST(Random, OrdersAreEquallyLikely) {
  random::Generator generator(6);
  std::map<std::vector<std::int64_t>, int> counts;
  for (int i = 0; i < 1200; ++i)
    ++counts[valuesOf<std::int64_t>(generator.permutation(3))];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto &[order, count] : counts)
    EXPECT_NEAR(count, 200, 60) << order[0] << order[1] << order[2];
  std::vector<std::int64_t> many = valuesOf<std::int64_t>(generator.permutation(1000));
  EXPECT_FALSE(std::is_sorted(many.begin(), many.end()));
  std::sort(many.begin(), many.end());
  for (std::size_t i = 0; i < many.size(); ++i)
    ASSERT_EQ(many[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(generator.permutation(0).shape(), Shape({0}));
}

TEST(Random, ShuffledSlicesStayWhole) {
  Tensor x = tensor<float>({{0, 10, 20}, {1, 11, 21}, {2, 12, 22}, {3, 13, 23}}), state = random::state(1, 7);
  std::vector<std::int64_t> rows = valuesOf<std::int64_t>(random::stateless_permutation(4, state));
  std::vector<double> shuffled = valuesOf(random::stateless_shuffle(x, state));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_EQ(shuffled[i * 3 + j], static_cast<double>(rows[i]) + 10.0 * static_cast<double>(j));
  expectSameBits(random::stateless_shuffle(x, state, -1), gather(x, random::stateless_permutation(3, state), 1));
  expectGradients(
      [&](const std::vector<Tensor> &y) {
        return sum(random::stateless_shuffle(y[0], state) * iota({4, 3}, DType::Float64));
      },
      {cast(x, DType::Float64)});
}

TEST(Random, OpenSizesGiveTheNumbersOfKnownOnes) {
  random::Generator open(3), known(3);
  auto draw = [](random::Generator &g, const Tensor &x) {
    return std::vector<Tensor>{g.randint({x.shape()[0], 2}, 0, 9), g.categorical(x, 3), g.permutation(x.shape()[0]),
                               g.shuffle(x), g.uniform({2})};
  };
  auto f =
      function([&](const Tensor &x) { return draw(open, x); }, {.input_signature = {TensorSpec<float>({kDynamic, 2})}});
  for (std::int64_t rows : {3, 1, 6}) {
    Tensor x = iota({rows, 2}, DType::Float32);
    std::vector<Tensor> a = f(x), b = draw(known, x);
    for (std::size_t i = 0; i < a.size(); ++i)
      expectSameBits(a[i], b[i]);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Random, MisuseNamesTheLine) {
  random::Generator generator(0);
  EXPECT_MISUSE(ValueError, generator.randint({2}, 3, 3), "randint: no integer is in [3, 3); minval must be less");
  EXPECT_MISUSE(ValueError, random::randint({2}, 0, INT64_MIN), "minval must be less than maxval");
  EXPECT_MISUSE(ValueError, random::randint({2}, 0, 1LL << 32),
                "randint: int32 does not hold all integers of [0, 4294967296)");
  EXPECT_MISUSE(ValueError, random::randint({2}, 1LL << 31, std::nullopt),
                "does not hold all integers of [2147483648, ");
  EXPECT_MISUSE(DTypeError, random::randint({2}, 0, 2, {.dtype = DType::Float32}),
                "randint: makes integers, not float32");
  EXPECT_MISUSE(DTypeError, random::randint({2}, 0, 2, {.dtype = DType::Bool}), "not bool");
  EXPECT_MISUSE(ValueError, generator.categorical(scalar(1.0f), 2),
                "categorical: logits have an axis of classes, and these are a scalar");
  EXPECT_MISUSE(ShapeError, generator.categorical(zeros({2, 0}), 2), "categorical: axis 1 of float32[2,0] is empty");
  EXPECT_MISUSE(ValueError, generator.categorical(zeros({2, 3}), -1), "categorical: there are no -1 samples");
  EXPECT_MISUSE(DTypeError, generator.categorical(zeros({2, 3}, DType::Int32), 1),
                "categorical: takes logits of floating-point numbers, not int32[2,3]");
  EXPECT_MISUSE(ValueError, generator.permutation(-2), "-2");
  EXPECT_MISUSE(ValueError, generator.shuffle(zeros({2, 3}), 2), "shuffle: ");
  EXPECT_MISUSE(ValueError, random::stateless_shuffle(scalar(1.0f), random::state(0, 0)), "shuffle: ");
  EXPECT_MISUSE(ValueError, generator.uniform({2}, {.minval = 1, .maxval = 1}), "uniform: no number is in [1");
  EXPECT_MISUSE(ValueError, random::uniform({2}, {.maxval = INFINITY}), "both finite");
  EXPECT_MISUSE(ValueError, random::normal({2}, {.stddev = -1}),
                "normal: a standard deviation is finite and not below 0");
  EXPECT_MISUSE(ValueError, random::bernoulli({2}, 1.5), "bernoulli: a probability is in [0, 1]");
  EXPECT_MISUSE(DTypeError, generator.uniform({2}, {.dtype = DType::Int32}), "int32");
  EXPECT_MISUSE(ValueError, generator.uniform({-2}), "-2");
  EXPECT_MISUSE(ValueError, random::stateless_uniform({2}, tensor<float>({1, 2})), "float32[2]");
  EXPECT_EQ(valuesOf<std::int64_t>(generator.state().value()), (std::vector<std::int64_t>{0, 0})); // none has drawn
}

TEST(Random, InitialisersScaleByTheFans) {
  set_seed(1);
  for (auto [initializer, shape, variance] :
       {std::tuple<Initializer, Shape, double>{glorot_uniform, {70, 30}, 2.0 / 100},
        {glorot_normal, {3, 3, 8, 16}, 2.0 / (9 * 24)},
        {he_uniform, {70, 30}, 2.0 / 70},
        {he_normal, {3, 3, 8, 16}, 2.0 / 72}}) {
    Moments m = momentsOf(initializer(shape, DType::Float32));
    EXPECT_NEAR(m.mean, 0, 0.1 * std::sqrt(variance));
    EXPECT_NEAR(m.variance, variance, 0.1 * variance);
  }
  double limit = std::sqrt(6.0 / 100);
  EXPECT_LE(momentsOf(glorot_uniform({70, 30})).largest, limit);
  EXPECT_EQ(glorot_uniform({}).shape(), Shape());
  EXPECT_EQ(he_normal({4}, DType::Float64).dtype(), DType::Float64);
  EXPECT_EQ(he_normal({0, 4}).size(), 0);
}

TEST(Random, AnInitScopeIsOutsideOfTheTrace) {
  auto f = function([](const Tensor &x) {
    float known;
    {
      InitScope now;
      EXPECT_TRUE(executing_eagerly());
      known = exp(scalar(0.0f)).item<float>();
      EXPECT_THROW(x + 1, LeakedTensorError);
    }
    EXPECT_FALSE(executing_eagerly());
    return x + known;
  });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 3);
}
