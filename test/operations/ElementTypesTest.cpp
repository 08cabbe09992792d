// Every element type: integers wrap as those of C++, conversions are those of C++ where it has them, and halves are
// rounded after each operation.
#include "test/operations/Testing.h"

#include <bit>
#include <limits>
#include <numeric>
#include <set>

namespace calque::testing {
namespace {

//===-- Integers --------------------------------------------------------------------------------===//

// All pairs of a type of 8 bits; of others, pairs of edges and random numbers of all magnitudes.
template <typename T> std::pair<std::vector<T>, std::vector<T>> pairsOf() {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  auto add = [&](T x, T y) {
    pairs.first.push_back(x);
    pairs.second.push_back(y);
  };
  constexpr T kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
  if constexpr (sizeof(T) == 1) {
    for (int x = kMin; x <= kMax; ++x)
      for (int y = kMin; y <= kMax; ++y)
        add(static_cast<T>(x), static_cast<T>(y));
  } else {
    const std::vector<T> edges = {kMin,     static_cast<T>(kMin + 1),     static_cast<T>(-1),       0,   1, 2, 3, 7,
                                  kMax / 2, static_cast<T>(kMax / 2 + 1), static_cast<T>(kMax - 1), kMax};
    for (T x : edges)
      for (T y : edges)
        add(x, y);
    std::mt19937_64 random(7);
    for (int i = 0; i < 1003; ++i)
      add(static_cast<T>(random() >> (random() % 64)), static_cast<T>(random() >> (random() % 64)));
  }
  return pairs;
}

template <typename T> struct IntegerTypes : ::testing::Test {};
using AllIntegers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                     std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerTypes, AllIntegers);

using Wide = __int128;

template <typename T, typename F> void expectOfPairs(const char *name, Body body, F reference, bool divides = false) {
  SCOPED_TRACE(name);
  auto [x, y] = pairsOf<T>();
  if (divides)
    for (T &each : y)
      each = each == 0 ? T(1) : each;
  const auto count = static_cast<std::int64_t>(x.size());
  const std::vector<Tensor> inputs = {tensor(x, Shape{count}), tensor(y, Shape{count})};
  const Tensor found = both([&](const std::vector<Tensor> &in) { return body(in); }, inputs);
  ASSERT_TRUE(found.dtype() == dtype_of<T> || found.dtype() == DType::Bool);
  const std::vector<Wide> values = valuesOf<Wide>(found);
  int faults = 0;
  for (std::size_t i = 0; i < x.size() && faults < 5; ++i) {
    const Wide expected = reference(Wide(x[i]), Wide(y[i]));
    const Wide wrapped = found.dtype() == DType::Bool ? expected : Wide(static_cast<T>(expected));
    if (values[i] != wrapped) {
      ++faults;
      ADD_FAILURE() << +x[i] << ", " << +y[i] << ": " << static_cast<double>(values[i]) << " instead of "
                    << static_cast<double>(wrapped);
    }
  }
}

Wide floorOf(Wide x, Wide y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

template <typename T> Wide powerOf(Wide x, Wide y) {
  if (y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  auto result = std::uint64_t(1), square = static_cast<std::uint64_t>(x);
  for (; y; y /= 2, square *= square)
    if (y % 2)
      result *= square;
  return static_cast<Wide>(static_cast<T>(result));
}

TYPED_TEST(IntegerTypes, WrapAsThoseOfCpp) {
  using T = TypeParam;
  using In = const std::vector<Tensor> &;
  expectOfPairs<T>("add", [](In in) { return in[0] + in[1]; }, [](Wide x, Wide y) { return x + y; });
  expectOfPairs<T>("sub", [](In in) { return in[0] - in[1]; }, [](Wide x, Wide y) { return x - y; });
  expectOfPairs<T>(
      "mul", [](In in) { return in[0] * in[1]; },
      [](Wide x, Wide y) {
        return static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
      });
  expectOfPairs<T>("div", [](In in) { return in[0] / in[1]; }, [](Wide x, Wide y) { return x / y; }, true);
  expectOfPairs<T>("fmod", [](In in) { return in[0] % in[1]; }, [](Wide x, Wide y) { return x % y; }, true);
  expectOfPairs<T>("floor_divide", [](In in) { return floor_divide(in[0], in[1]); }, floorOf, true);
  expectOfPairs<T>(
      "mod", [](In in) { return mod(in[0], in[1]); }, [](Wide x, Wide y) { return x - floorOf(x, y) * y; }, true);
  expectOfPairs<T>("pow", [](In in) { return pow(in[0], in[1]); }, powerOf<T>);
  expectOfPairs<T>("neg", [](In in) { return -in[0]; }, [](Wide x, Wide) { return -x; });
  expectOfPairs<T>("abs", [](In in) { return abs(in[0]); }, [](Wide x, Wide) { return x < 0 ? -x : x; });
  expectOfPairs<T>("sign", [](In in) { return sign(in[0]); }, [](Wide x, Wide) { return (x > 0) - (x < 0); });
  expectOfPairs<T>("relu", [](In in) { return relu(in[0]); }, [](Wide x, Wide) { return x < 0 ? 0 : x; });
  expectOfPairs<T>(
      "maximum", [](In in) { return maximum(in[0], in[1]); }, [](Wide x, Wide y) { return std::max(x, y); });
  expectOfPairs<T>(
      "minimum", [](In in) { return minimum(in[0], in[1]); }, [](Wide x, Wide y) { return std::min(x, y); });
  expectOfPairs<T>("less", [](In in) { return in[0] < in[1]; }, [](Wide x, Wide y) { return x < y; });
  expectOfPairs<T>("less_equal", [](In in) { return in[0] <= in[1]; }, [](Wide x, Wide y) { return x <= y; });
  expectOfPairs<T>("greater", [](In in) { return in[0] > in[1]; }, [](Wide x, Wide y) { return x > y; });
  expectOfPairs<T>("equal", [](In in) { return in[0] == in[1]; }, [](Wide x, Wide y) { return x == y; });
  // Several at once, in one kernel.
  expectOfPairs<T>(
      "chain", [](In in) { return maximum(in[0] * in[0] + in[1], in[1]) / 3 - in[0]; },
      [](Wide x, Wide y) { return Wide(static_cast<T>(std::max(Wide(static_cast<T>(x * x + y)), y) / 3)) - x; });
}

TYPED_TEST(IntegerTypes, HaveTheBitsOfCpp) {
  using T = TypeParam;
  using Bits = std::make_unsigned_t<T>;
  using In = const std::vector<Tensor> &;
  constexpr int kBits = 8 * sizeof(T);
  expectOfPairs<T>("and", [](In in) { return in[0] & in[1]; }, [](Wide x, Wide y) { return x & y; });
  expectOfPairs<T>("or", [](In in) { return in[0] | in[1]; }, [](Wide x, Wide y) { return x | y; });
  expectOfPairs<T>("xor", [](In in) { return in[0] ^ in[1]; }, [](Wide x, Wide y) { return x ^ y; });
  expectOfPairs<T>("not", [](In in) { return ~in[0]; }, [](Wide x, Wide) { return ~x; });
  auto isWithin = [](Wide y) { return y >= 0 && y < kBits; };
  expectOfPairs<T>(
      "left", [](In in) { return in[0] << in[1]; },
      [&](Wide x, Wide y) { return isWithin(y) ? Wide(Bits(Bits(T(x)) << (y % kBits))) : Wide(0); });
  expectOfPairs<T>(
      "right", [](In in) { return in[0] >> in[1]; },
      [&](Wide x, Wide y) { return isWithin(y) ? x >> y
                                   : x < 0     ? Wide(-1)
                                               : Wide(0); });
  expectOfPairs<T>(
      "popcount", [](In in) { return popcount(in[0]); }, [](Wide x, Wide) { return Wide(std::popcount(Bits(T(x)))); });
  expectOfPairs<T>(
      "bit_length", [](In in) { return bit_length(in[0]); },
      [](Wide x, Wide) { return Wide(std::bit_width(Bits(T(x)))); });
  expectOfPairs<T>(
      "gcd", [](In in) { return gcd(in[0], in[1]); },
      [](Wide x, Wide y) {
        auto of = [](Wide z) { return static_cast<std::uint64_t>(z < 0 ? -z : z); };
        return Wide(std::gcd(of(x), of(y)));
      });
}

TYPED_TEST(IntegerTypes, ReduceAndOrderByTheirOwnOrder) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  std::vector<T> elements;
  for (int i = 0; i < 5 * 37; ++i)
    elements.push_back(static_cast<T>(random()));
  const Tensor x = tensor(elements, Shape{5, 37});
  auto row = [&](int i) { return std::vector<T>(elements.begin() + 37 * i, elements.begin() + 37 * (i + 1)); };
  const Tensor largest = both([](const Tensor &in) { return max(in, {1}); }, x);
  const Tensor least = both([](const Tensor &in) { return min(in, {-1}); }, x);
  const Tensor at = both([](const Tensor &in) { return argmax(in, 1); }, x);
  const Tensor order = both([](const Tensor &in) { return argsort(in, 1); }, x);
  const Tensor total = both([](const Tensor &in) { return sum(in, {1}); }, x);
  const Tensor product = both([](const Tensor &in) { return prod(in, {1}); }, x);
  const Tensor running = both([](const Tensor &in) { return cumsum(in, 1); }, x);
  const Tensor all = both([](const Tensor &in) { return max(in); }, x);
  using Sum =
      std::conditional_t<(sizeof(T) >= 4), T, std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>>;
  ASSERT_EQ(total.dtype(), dtype_of<Sum>);
  ASSERT_EQ(product.dtype(), dtype_of<Sum>);
  ASSERT_EQ(running.dtype(), dtype_of<Sum>);
  for (int i = 0; i < 5; ++i) {
    const std::vector<T> own = row(i);
    EXPECT_EQ(largest.to_vector<T>()[i], *std::max_element(own.begin(), own.end()));
    EXPECT_EQ(least.to_vector<T>()[i], *std::min_element(own.begin(), own.end()));
    EXPECT_EQ(at.to_vector<std::int64_t>()[i], std::max_element(own.begin(), own.end()) - own.begin());
    std::uint64_t expected = 0, times = 1;
    for (int j = 0; j < 37; ++j) {
      expected += static_cast<std::uint64_t>(static_cast<Sum>(own[j]));
      times *= static_cast<std::uint64_t>(static_cast<Sum>(own[j]));
      EXPECT_EQ(running.to_vector<Sum>()[37 * i + j], static_cast<Sum>(expected));
      if (j > 0) {
        EXPECT_LE(own[order.to_vector<std::int64_t>()[37 * i + j - 1]],
                  own[order.to_vector<std::int64_t>()[37 * i + j]]);
      }
    }
    EXPECT_EQ(total.to_vector<Sum>()[i], static_cast<Sum>(expected));
    EXPECT_EQ(product.to_vector<Sum>()[i], static_cast<Sum>(times));
  }
  EXPECT_EQ(all.item<T>(), *std::max_element(elements.begin(), elements.end()));
  const Tensor scattered = both(
      [](const Tensor &in) {
        return scatter_max(zeros({4}, in.dtype()), tensor<std::int64_t>({1, 1, 3}),
                           gather(reshape(in, {-1}), tensor<int>({0, 1, 2})));
      },
      x);
  EXPECT_EQ(scattered.to_vector<T>()[1], std::max({T(0), elements[0], elements[1]}));
}

TYPED_TEST(IntegerTypes, AreIndices) {
  using T = TypeParam;
  const Tensor x = iota({300}, DType::Float32, 0);
  const T last = std::numeric_limits<T>::max() < 299 ? std::numeric_limits<T>::max() : T(127);
  const Tensor at = tensor<T>({0, last, 5});
  auto taken = [](const Tensor &a, const Tensor &i) { return gather(a, i); };
  EXPECT_EQ(both(taken, x, at).template to_vector<float>(), (std::vector<float>{0, float(last), 5}));
  EXPECT_EQ(valuesOf(both([](const Tensor &i) { return one_hot(i, 200); }, at))[200 + std::min<int>(last, 199)],
            last < 200 ? 1 : 0);
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    EXPECT_THROW(gather(x, tensor<T>({std::numeric_limits<T>::max()})), IndexError);
    EXPECT_THROW(function(taken)(x, tensor<T>({std::numeric_limits<T>::max()})), IndexError);
  }
  if constexpr (std::is_signed_v<T>) {
    EXPECT_THROW(gather(x, tensor<T>({T(-1)})), IndexError);
  } else {
    EXPECT_THROW(gather(iota({100}, DType::Int32, 0), tensor<T>({T(200)})), IndexError);
  }
  // Of many examples, whose places are computed with indices. 300 rows are more than small types count.
  const Tensor many = reshape(iota({300 * 100}, DType::Int32, 0), {300, 100}), each = full({300, 1}, 99, dtype_of<T>);
  const Tensor ofEach = both([&](const Tensor &i) { return vmap(taken)(many, i); }, each);
  EXPECT_EQ(ofEach.template to_vector<int>()[299], 299 * 100 + 99);
  const Tensor put = both(
      [&](const Tensor &i) {
        return vmap([](const Tensor &a, const Tensor &k) { return scatter_set(a, k, gather(a, k) * 2); })(many, i);
      },
      each);
  EXPECT_EQ(put.template to_vector<int>()[299 * 100 + 99], 2 * (299 * 100 + 99));
  // In a loop whose values are scalars.
  auto loop = function([](const Tensor &a, const Tensor &i) {
    Tensor sum = zeros({}), k = i;
    for (Tensor n : range(7)) {
      sum = sum + gather(a, k) + cast(n, DType::Float32);
      k = (k * 3 + 1) % 31;
    }
    return sum;
  });
  double expected = 0;
  for (int n = 0, k = 5; n < 7; ++n, k = (k * 3 + 1) % 31)
    expected += k + n;
  EXPECT_EQ(loop(x, scalar<T>(5)).template item<float>(), expected);
}

TYPED_TEST(IntegerTypes, RefuseDivisionByZeroAndNumbersThatDoNotFit) {
  using T = TypeParam;
  const Tensor x = tensor<T>({1, 2});
  EXPECT_THROW(x / tensor<T>({1, 0}), DivisionError);
  EXPECT_THROW(function([](const Tensor &a, const Tensor &b) { return a % b; })(x, tensor<T>({0, 1})), DivisionError);
  EXPECT_THROW(x + 0.5, DTypeError);
  EXPECT_THROW(x + tensor<double>({1, 2}), DTypeError);
  if (std::is_unsigned_v<T>) {
    EXPECT_THROW(x + -1, ValueError);
  }
  if (sizeof(T) < 4) {
    EXPECT_THROW(x + 70'000, ValueError);
  }
  auto sized =
      function([](const Tensor &a) { return a + a.shape()[0]; }, {.input_signature = {TensorSpec<T>({kDynamic})}});
  if constexpr (sizeof(T) < 4) {
    EXPECT_THROW(sized(x), DTypeError);
  } else {
    EXPECT_EQ(sized(x).template to_vector<T>(), (std::vector<T>{3, 4}));
  }
  EXPECT_EQ((x + std::numeric_limits<T>::max()).template to_vector<T>()[0], std::numeric_limits<T>::min());
}

//===-- Conversions -----------------------------------------------------------------------------===//

// Of the two doubles around a number the one whose last bit is set, which rounds to fewer digits as the number does.
double toOdd(long double x) {
  double nearest = static_cast<double>(x);
  if (static_cast<long double>(nearest) == x || std::isnan(x) || std::isinf(nearest))
    return nearest;
  auto bits = std::bit_cast<std::uint64_t>(nearest);
  if (bits & 1)
    return nearest;
  return std::bit_cast<double>(std::fabs(static_cast<long double>(nearest)) > std::fabs(x) ? bits - 1 : bits + 1);
}

template <typename From, typename To> To converted(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return detail::Arithmetic<From>(x) != 0;
  } else if constexpr (detail::kIsHalf<To>) {
    return To(toOdd(static_cast<long double>(detail::Arithmetic<From>(x))));
  } else if constexpr (std::is_integral_v<To> && detail::kIsFloating<From>) {
    const auto value = static_cast<long double>(detail::Arithmetic<From>(x));
    if (std::isnan(value))
      return 0;
    if (value >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (value <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(detail::Arithmetic<From>(x));
  }
}

template <typename T> std::vector<T> numbersOf() {
  std::vector<T> numbers;
  std::mt19937_64 random(11);
  if constexpr (std::is_same_v<T, bool>) {
    return {true, false};
  } else if constexpr (detail::kIsHalf<T>) {
    for (int bits = 0; bits < 65536; ++bits)
      numbers.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  } else if constexpr (std::is_floating_point_v<T>) {
    for (double edge : {0.0,
                        0.5,
                        0.999,
                        1.5,
                        127.0,
                        127.5,
                        128.0,
                        255.0,
                        255.9,
                        256.0,
                        32767.0,
                        32768.0,
                        65504.0,
                        65519.0,
                        65519.99999,
                        65520.0,
                        65535.0,
                        65536.0,
                        2147483647.0,
                        2147483648.0,
                        4294967295.0,
                        4294967296.0,
                        9223372036854775807.0,
                        18446744073709551616.0,
                        3.3895313892515355e38,
                        3.3961775292304957e38,
                        1e39,
                        5.960464477539063e-08,
                        2.980232238769532e-08,
                        2.9802322387695312e-08,
                        1e-40,
                        4e-41,
                        1e-45,
                        1 + 0x1p-8,
                        1 + 0x1p-8 + 0x1p-40,
                        1 + 0x1p-11,
                        1 + 0x1p-11 + 0x1p-40,
                        1 + 0x3p-11 - 0x1p-40,
                        double(INFINITY),
                        double(NAN)})
      for (double sign : {1.0, -1.0})
        numbers.push_back(static_cast<T>(sign * edge));
    for (int i = 0; i < 20'000; ++i) {
      const double x =
          std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(random() % 84) - 42);
      numbers.push_back(static_cast<T>(random() % 2 ? x : -x));
      // A tie of each half, and beside it.
      const double tie = std::ldexp(std::ldexp(static_cast<double>(random() % 4096 * 2 + 1), random() % 2 ? -9 : -12),
                                    static_cast<int>(random() % 40) - 26);
      numbers.push_back(static_cast<T>(tie));
      numbers.push_back(std::nextafter(static_cast<T>(tie), T(INFINITY)));
      numbers.push_back(std::nextafter(static_cast<T>(tie), T(0)));
    }
  } else {
    numbers = pairsOf<T>().first;
    for (int i = 0; i < 64; ++i)
      for (int by : {-1, 0, 1})
        for (std::uint64_t more : {std::uint64_t(0), std::uint64_t(1) << i >> 8, std::uint64_t(1) << i >> 11})
          numbers.push_back(static_cast<T>((std::uint64_t(1) << i) + more + static_cast<std::uint64_t>(by)));
  }
  return numbers;
}

std::vector<DTypeInfo> realTypes() { // complex numbers: ComplexTest.cpp
  std::vector<DTypeInfo> types;
  for (const DTypeInfo &info : kDTypes)
    if (info.kind != DTypeKind::Complex)
      types.push_back(info);
  return types;
}

TEST(ElementTypes, ConvertAsCpp) {
  for (const DTypeInfo &source : realTypes())
    dispatch(source.dtype, [&]<typename From>(std::type_identity<From>) {
      const std::vector<From> given = numbersOf<From>();
      const Tensor x = tensor(given, Shape{static_cast<std::int64_t>(given.size())});
      for (const DTypeInfo &target : realTypes())
        dispatch(target.dtype, [&]<typename To>(std::type_identity<To>) {
          SCOPED_TRACE(std::string(source.name) + " to " + target.name);
          const Tensor found = cast(x, target.dtype);
          ASSERT_EQ(found.dtype(), target.dtype);
          const auto values = found.to_vector<To>();
          int faults = 0;
          for (std::size_t i = 0; i < given.size() && faults < 4; ++i) {
            const To expected = converted<From, To>(given[i]), value = values[i];
            const bool areNaN = value != value && expected != expected;
            if (!areNaN && std::memcmp(&value, &expected, sizeof(To)) != 0) {
              ++faults;
              ADD_FAILURE() << static_cast<double>(given[i]) << " gives " << static_cast<double>(value)
                            << " instead of " << static_cast<double>(expected);
            }
          }
          // One after the other, as in loops of scalars, and compiled.
          const Tensor some = slice(x, {0}, {std::min<std::int64_t>(5, x.size())});
          expectSameBits(function([&](const Tensor &in) { return cast(in, target.dtype); })(some),
                         cast(some, target.dtype));
        });
    });
}

// Found by a reader who wrote programs with them.
TEST(ElementTypes, ThatUsersMixed) {
  auto same = [](auto f, const auto &...in) { return both(f, in...); };
  // The negative of a number without a sign is another number.
  EXPECT_EQ(valuesOf(same([](const Tensor &x) { return abs(-x); }, tensor<std::uint8_t>({1, 200}))),
            (std::vector<double>{255, 56}));
  // float16 does not have this number of elements.
  const Tensor many = full({70'000}, 1.0, DType::Float16);
  auto gradient = [](const Tensor &x) { return grad([](const Tensor &y) { return mean(y); })(x); };
  EXPECT_EQ(valuesOf(same(gradient, many))[0], double(float(float16(1 / 70'000.0))));
  // Two to four halves are no whole register.
  for (std::int64_t n = 1; n < 9; ++n) {
    const Tensor x = full({n}, 3, DType::Float16);
    same([](const Tensor &a, const Tensor &b) { return a / b; }, x, x);
  }
  // bfloat16 to 64 bits.
  EXPECT_EQ(valuesOf(same([](const Tensor &x) { return cast(x, DType::Int64); }, tensor<bfloat16>({1.5, -7}))),
            (std::vector<double>{1, -7}));
  EXPECT_EQ(valuesOf(same([](const Tensor &x) { return cast(x, DType::UInt64); }, tensor<bfloat16>({1.5, 7}))),
            (std::vector<double>{1, 7}));
  // Letters of one tensor alone, of a small type.
  const Tensor a = full({2, 3}, 100, DType::UInt8), b = full({3}, 2, DType::UInt8);
  const Tensor e = same([](const Tensor &x, const Tensor &y) { return einsum("ij,j->j", {x, y}); }, a, b);
  EXPECT_EQ(e.dtype(), DType::UInt8);
  EXPECT_EQ(valuesOf(e)[0], 400 % 256);
  Variable smallest(tensor<std::uint8_t>({9, 7}));
  smallest.scatter_min(tensor<int>({0}), tensor<std::uint8_t>({3}));
  EXPECT_EQ(valuesOf(smallest.value()), (std::vector<double>{3, 7}));
  const Tensor beyond = tensor<std::uint64_t>({~0ULL});
  EXPECT_THROW(gather(iota({300}, DType::Int32, 0), beyond), IndexError);
}

TEST(ElementTypes, PromoteAsNumPyDoes) {
  // numpy.promote_types of NumPy 2.1.
  EXPECT_EQ(promote(DType::Int8, DType::UInt8), DType::Int16);
  EXPECT_EQ(promote(DType::UInt16, DType::Int16), DType::Int32);
  EXPECT_EQ(promote(DType::UInt32, DType::Int8), DType::Int64);
  EXPECT_EQ(promote(DType::UInt64, DType::Int64), DType::Float64);
  EXPECT_EQ(promote(DType::Bool, DType::UInt8), DType::UInt8);
  EXPECT_EQ(promote(DType::Float16, DType::Int8), DType::Float16);
  EXPECT_EQ(promote(DType::Float16, DType::UInt16), DType::Float32);
  EXPECT_EQ(promote(DType::Float32, DType::Int32), DType::Float64);
  EXPECT_EQ(promote(DType::Float32, DType::Int16), DType::Float32);
  EXPECT_EQ(promote(DType::Float16, DType::Float32), DType::Float32);
  EXPECT_EQ(promote(DType::BFloat16, DType::Float16), DType::Float32);
  for (const DTypeInfo &a : kDTypes)
    for (const DTypeInfo &b : kDTypes)
      EXPECT_EQ(promote(a.dtype, b.dtype), promote(b.dtype, a.dtype)) << a.name << " and " << b.name;
}

//===-- Every type ------------------------------------------------------------------------------===//

struct EveryType : ::testing::TestWithParam<DType> {};
std::vector<DType> allTypes() {
  std::vector<DType> types;
  for (const DTypeInfo &info : kDTypes)
    types.push_back(info.dtype);
  return types;
}
INSTANTIATE_TEST_SUITE_P(Types, EveryType, ::testing::ValuesIn(allTypes()),
                         [](const auto &info) { return std::string(name_of(info.param)); });

Tensor ofType(DType dtype, const std::vector<double> &values, const Shape &shape) {
  return cast(makeTensor(real_of(dtype), values, shape), dtype);
}

TEST_P(EveryType, Moves) {
  const DType dtype = GetParam();
  std::vector<double> values(2 * 3 * 5);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = dtype == DType::Bool ? static_cast<double>(i % 2) : static_cast<double>(i);
  const Tensor x = ofType(dtype, values, {2, 3, 5});
  auto moved = [](const Tensor &in) {
    Tensor turned = reverse(transpose(in, {2, 0, 1}), {0});
    Tensor padded = pad(turned, {1, 0, 1}, {0, 2, 1});
    Tensor joined = concat({padded, padded}, 1);
    return std::vector<Tensor>{turned,
                               padded,
                               reshape(joined, {-1}),
                               gather(in, tensor<int>({1, 0, 1}), 0),
                               slice(in, {0, 1, 1}, {2, 3, 5}, {1, 1, 2}),
                               broadcast_to(expand_dims(in, {0}), {4, 2, 3, 5}),
                               where(tensor<bool>({true, false, true, false, true}), in, reverse(in, {1})),
                               scatter_set(in, tensor<int>({1}), expand_dims(in[0], {0})),
                               zeros(in.shape(), in.dtype()),
                               equal(in, in)};
  };
  const std::vector<Tensor> found = both(moved, x);
  EXPECT_EQ(valuesOf(is_complex(dtype) ? real(found[0]) : found[0])[0], values[4]);
  EXPECT_EQ(found[7].dtype(), dtype);
  // Unknown sizes, and a structure through vmap.
  auto open = function(moved, {.input_signature = {TensorSpec<>(dtype, Shape{2, 3, kDynamic})}});
  const std::vector<Tensor> again = open(x);
  for (std::size_t i = 0; i < found.size(); ++i)
    expectSameBits(found[i], again[i]);
  Variable kept(x);
  kept.assign(found[7]);
  expectSameBits(kept.value(), found[7]);
}

TEST_P(EveryType, IsCarriedByLoopsAndBranches) {
  const DType dtype = GetParam();
  const Tensor x = ofType(dtype, {1, 0, 1}, {3});
  auto loop = [](const Tensor &in, const Tensor &n) {
    Tensor y = in;
    for (Tensor i : range(n)) {
      if (i > 1)
        y = reverse(y, {0});
      else
        y = concat({slice(y, {1}, {3}), slice(y, {0}, {1})}, 0);
    }
    return y;
  };
  both(loop, x, scalar(5));
}

TEST_P(EveryType, PrintsAndReadsBack) {
  const DType dtype = GetParam();
  const Tensor x = ofType(dtype, {1, 0, 1}, {3});
  std::ostringstream text;
  text << x << ' ' << x[0];
  const char *expected = dtype == DType::Bool ? "[ True False  True] True"
                         : is_floating(dtype) ? "[1. 0. 1.] 1.0"
                         : is_complex(dtype)  ? "[1.+0.j 0.+0.j 1.+0.j] (1+0j)"
                                              : "[1 0 1] 1";
  EXPECT_EQ(text.str(), expected);
}

} // namespace
} // namespace calque::testing
