#include "Testing.h"

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
    return std::vector<Tensor>{g.uniform({3, 3}), g.normal({5}), cast(g.bernoulli({7}, 0.4), DType::Int32),
                               g.uniform({2}, {.dtype = DType::Float64}), g.normal({3}, {.dtype = DType::Float64})};
  };
  auto f = function([&] { return draw(compiled); });
  for (int call = 0; call < 3; ++call) {
    std::vector<Tensor> a = draw(eager), b = f();
    for (std::size_t i = 0; i < a.size(); ++i)
      expectSameBits(a[i], b[i]);
    EXPECT_EQ(valuesOf<std::int64_t>(eager.state().value()), valuesOf<std::int64_t>(compiled.state().value()));
    // 3, twice 2, 2, 1, twice 2 counters.
    EXPECT_EQ(valuesOf<std::int64_t>(eager.state().value()), (std::vector<std::int64_t>{11, 14 * (call + 1)}));
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

TEST(Random, MisuseNamesTheLine) {
  random::Generator generator(0);
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
