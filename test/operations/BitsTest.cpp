// Bits and divisors of integers, against C++'s operators on each type: edges of the type, counts out of range,
// operators.
#include "test/operations/Testing.h"

#include <bit>
#include <numeric>

using namespace calque;
using namespace calque::testing;

namespace {

template <typename T> class Bits : public ::testing::Test {
public:
  using Limits = std::numeric_limits<T>;
  using Unsigned = std::make_unsigned_t<T>;
  static constexpr int kBits = 8 * sizeof(T);

  // Edges and random numbers of all lengths.
  static std::vector<T> numbers() {
    std::vector<T> result{0, 1, 2, 3, 6, 7, 12, 100, Limits::max(), Limits::min(), static_cast<T>(Limits::min() + 1)};
    for (T value : {1, 2, 6, 35, 100})
      result.push_back(static_cast<T>(-value));
    std::mt19937_64 random(5);
    for (int i = 0; i < 40; ++i)
      result.push_back(static_cast<T>(static_cast<T>(random()) >> random() % kBits));
    return result;
  }
  // All pairs.
  static std::pair<std::vector<T>, std::vector<T>> pairs(const std::vector<T> &first, const std::vector<T> &second) {
    std::vector<T> x, y;
    for (T a : first)
      for (T b : second) {
        x.push_back(a);
        y.push_back(b);
      }
    return {x, y};
  }

  // A function of two tensors against one of two numbers: eagerly, compiled, and compiled for unknown sizes.
  template <typename F, typename G>
  static void expectBinary(const char *name, F f, G expected, const std::vector<T> &first,
                           const std::vector<T> &second) {
    SCOPED_TRACE(name);
    auto [x, y] = pairs(first, second);
    std::vector<T> values;
    for (std::size_t i = 0; i < x.size(); ++i)
      values.push_back(expected(x[i], y[i]));
    Tensor a = tensor(x), b = tensor(y);
    EXPECT_EQ(both(f, a, b).template to_vector<T>(), values);
    auto open = function<Tensor(const Tensor &, const Tensor &)>(
        f, {.input_signature = {TensorSpec<T>({kDynamic}), TensorSpec<T>({kDynamic})}});
    EXPECT_EQ(open(a, b).template to_vector<T>(), values);
  }
  template <typename F, typename G> static void expectUnary(const char *name, F f, G expected) {
    SCOPED_TRACE(name);
    std::vector<T> x = numbers(), values;
    for (T each : x)
      values.push_back(static_cast<T>(expected(each)));
    EXPECT_EQ(both(f, tensor(x)).template to_vector<T>(), values);
  }
};
// Those of the integer types that C++ has arithmetic for.
using IntegerTypes = ::testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Bits, IntegerTypes);

} // namespace

TYPED_TEST(Bits, AreThoseOfCpp) {
  using T = TypeParam;
  const std::vector<T> numbers = TestFixture::numbers();
  TestFixture::expectBinary(
      "&", [](const Tensor &x, const Tensor &y) { return x & y; }, [](T x, T y) { return static_cast<T>(x & y); },
      numbers, numbers);
  TestFixture::expectBinary(
      "|", [](const Tensor &x, const Tensor &y) { return x | y; }, [](T x, T y) { return static_cast<T>(x | y); },
      numbers, numbers);
  TestFixture::expectBinary(
      "^", [](const Tensor &x, const Tensor &y) { return x ^ y; }, [](T x, T y) { return static_cast<T>(x ^ y); },
      numbers, numbers);
  TestFixture::expectUnary("~", [](const Tensor &x) { return ~x; }, [](T x) { return ~x; });
  using U = typename TestFixture::Unsigned;
  TestFixture::expectUnary(
      "popcount", [](const Tensor &x) { return popcount(x); }, [](T x) { return std::popcount(static_cast<U>(x)); });
  TestFixture::expectUnary(
      "bit_length", [](const Tensor &x) { return bit_length(x); },
      [](T x) { return std::bit_width(static_cast<U>(x)); });
  TestFixture::expectUnary(
      "count_leading_zeros", [](const Tensor &x) { return count_leading_zeros(x); },
      [](T x) { return std::countl_zero(static_cast<U>(x)); });
}

TYPED_TEST(Bits, ShiftsOutOfRangeAreThoseOfNumPy) {
  using T = TypeParam;
  using U = typename TestFixture::Unsigned;
  constexpr int kBits = TestFixture::kBits;
  const std::vector<T> counts{0,
                              1,
                              2,
                              5,
                              kBits - 2,
                              kBits - 1,
                              kBits,
                              kBits + 1,
                              100,
                              -1,
                              -kBits,
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::min()};
  auto isOut = [](T count) { return count < 0 || count >= kBits; };
  TestFixture::expectBinary(
      "<<", [](const Tensor &x, const Tensor &y) { return x << y; },
      [&](T x, T y) { return static_cast<T>(isOut(y) ? 0 : static_cast<U>(x) << y); }, TestFixture::numbers(), counts);
  TestFixture::expectBinary(
      ">>", [](const Tensor &x, const Tensor &y) { return x >> y; },
      [&](T x, T y) { return static_cast<T>(isOut(y) ? (x < 0 ? -1 : 0) : x >> y); }, TestFixture::numbers(), counts);
}

// Magnitudes as unsigned numbers, so that those of the smallest integers have no special place.
TYPED_TEST(Bits, DivisorsAreThoseOfTheMagnitudes) {
  using T = TypeParam;
  using U = typename TestFixture::Unsigned;
  auto magnitude = [](T x) { return x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x); };
  const std::vector<T> numbers = TestFixture::numbers();
  TestFixture::expectBinary(
      "gcd", [](const Tensor &x, const Tensor &y) { return gcd(x, y); },
      [&](T x, T y) { return static_cast<T>(std::gcd(magnitude(x), magnitude(y))); }, numbers, numbers);
  // Of a product that wraps, what abs makes of it.
  TestFixture::expectBinary(
      "lcm", [](const Tensor &x, const Tensor &y) { return lcm(x, y); },
      [&](T x, T y) {
        U divisor = std::gcd(magnitude(x), magnitude(y));
        U product = divisor == 0 ? 0 : magnitude(x) / divisor * magnitude(y);
        // The same up to the sign, which abs takes away.
        bool isNegative = (x < 0) != (y < 0);
        T wrapped = static_cast<T>(isNegative ? U(0) - product : product);
        return static_cast<T>(wrapped < 0 ? U(0) - static_cast<U>(wrapped) : static_cast<U>(wrapped));
      },
      numbers, numbers);
}

TEST(BitOperators, TakeBoolsNumbersAndVariables) {
  Tensor yes = tensor<bool>({true, false, true}), no = tensor<bool>({false, false, true});
  EXPECT_EQ(both([](const Tensor &x, const Tensor &y) { return x ^ y; }, yes, no).to_vector<bool>(),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ((yes & no).to_vector<bool>(), logical_and(yes, no).to_vector<bool>());
  EXPECT_EQ((yes | no).to_vector<bool>(), logical_or(yes, no).to_vector<bool>());
  EXPECT_EQ((~yes).to_vector<bool>(), logical_not(yes).to_vector<bool>());
  auto bits = [](const Tensor &x, const Tensor &y) {
    return std::vector<Tensor>{bitwise_and(x, y), bitwise_or(x, y), bitwise_xor(x, y), bitwise_not(x)};
  };
  std::vector<Tensor> ofBools = both(bits, yes, no);
  EXPECT_EQ(ofBools[0].to_vector<bool>(), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(ofBools[1].to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(ofBools[2].to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(ofBools[3].to_vector<bool>(), (std::vector<bool>{false, true, false}));

  Tensor x = tensor<std::int64_t>({5, -5});
  Variable v(x);
  EXPECT_EQ((x & 3).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ((3 | x).to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, -5}));
  EXPECT_EQ((v ^ 1).to_vector<std::int64_t>(), (std::vector<std::int64_t>{4, -6}));
  EXPECT_EQ((v << 40).to_vector<std::int64_t>(), (std::vector<std::int64_t>{5ll << 40, -(5ll << 40)}));
  EXPECT_EQ(left_shift(1, tensor({0, 4})).to_vector<int>(), (std::vector<int>{1, 16}));
  x &= 7;
  x |= 8;
  x ^= 1;
  x <<= 2;
  x >>= 1;
  EXPECT_EQ(x.to_vector<std::int64_t>(), (std::vector<std::int64_t>{((5 | 8) ^ 1) << 1, ((3 | 8) ^ 1) << 1}));
}

// Each way to misuse them: floats, bools where numbers are counted, different types, shapes that don't broadcast.
TEST(BitOperators, RefuseWhatHasNoBits) {
  Tensor x = tensor({1.f, 2.f}), i = tensor({1, 2}), b = tensor<bool>({true, false});
  EXPECT_THROW(x & x, DTypeError);
  EXPECT_THROW(x | 1.f, DTypeError);
  EXPECT_THROW(~x, DTypeError);
  EXPECT_THROW(x << 1, DTypeError);
  EXPECT_THROW(bitwise_and(x, x), DTypeError);
  EXPECT_THROW(bitwise_not(x), DTypeError);
  EXPECT_THROW(b << b, DTypeError);
  EXPECT_THROW(popcount(b), DTypeError);
  EXPECT_THROW(count_leading_zeros(x), DTypeError);
  EXPECT_THROW(gcd(b, b), DTypeError);
  EXPECT_THROW(i & b, DTypeError);
  EXPECT_THROW(i ^ tensor<std::int64_t>({1, 2}), DTypeError);
  EXPECT_THROW(i & tensor({1, 2, 3}), ShapeError);
  EXPECT_THROW(i & 1.5, DTypeError);
  EXPECT_THROW(i << tensor({1, 2, 3}), ShapeError);
}
