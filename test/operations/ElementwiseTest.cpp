// Every elementwise operation: eager and compiled bit for bit alike, and both what the reference computes.
#include "test/operations/Testing.h"

#include <algorithm>
#include <bit>

using namespace calque;
using namespace calque::testing;

namespace {
class Elementwise : public ::testing::TestWithParam<ElementwiseCase> {};

double tolerance(DType dtype, Real expected) {
  if (!is_floating(dtype))
    return 0;
  return dtype == DType::Float32 ? 2e-6 + 1e-6 * std::fabs(expected) : 1e-14 + 1e-14 * std::fabs(expected);
}

void expectReference(const ElementwiseCase &op, const std::vector<Tensor> &operands, const Tensor &result) {
  std::vector<std::vector<Real>> elements;
  std::vector<schema::TensorType> types;
  for (const Tensor &operand : operands) {
    elements.push_back(valuesOf<Real>(operand));
    types.push_back({operand.dtype(), operand.shape()});
  }
  schema::TensorType type = schema::inferTypes(op.id, types, {}).types.at(0);
  ASSERT_EQ(result.dtype(), type.dtype);
  ASSERT_EQ(result.shape(), type.dims);
  std::vector<Real> values = valuesOf<Real>(result);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Shape index = unravel(static_cast<std::int64_t>(i), type.dims);
    std::vector<Real> x;
    std::string shown;
    for (std::size_t j = 0; j < operands.size(); ++j) {
      x.push_back(elements[j][broadcastIndex(index, operands[j].shape())]);
      shown += " " + std::to_string(x.back());
    }
    Real expected = op.reference(x.data());
    if (is_integer(type.dtype))
      expected = std::trunc(expected);
    if (type.dtype == DType::Bool) // references have integers of many bits
      expected = static_cast<Real>(static_cast<std::int64_t>(expected) & 1);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(values[i])) << op.name() << " of" << shown << " is " << values[i];
    } else if (std::isinf(expected)) {
      EXPECT_EQ(values[i], expected) << op.name() << " of" << shown;
    } else {
      EXPECT_NEAR(values[i], expected, tolerance(type.dtype, expected)) << op.name() << " of" << shown;
      if (is_floating(type.dtype) && expected == 0 && values[i] == 0) {
        EXPECT_EQ(std::signbit(values[i]), std::signbit(expected))
            << op.name() << " of" << shown << ": the sign of zero";
      }
    }
  }
}

// Elements of the operation's domain, as another type where that is not one of floats.
Tensor randomOperand(const ElementwiseCase &op, std::mt19937 &random, DType dtype, const Shape &shape) {
  std::vector<double> values = randomValues(random, sizeOf(shape), op.low, op.high, {}, true);
  if (is_integer(dtype))
    for (double &value : values)
      value = std::clamp(std::round(value), std::ceil(op.low), std::floor(op.high));
  if (dtype == DType::Bool)
    for (double &value : values)
      value = random() % 2;
  return makeTensor(dtype, values, shape);
}

// The operation on several lists of operands, eagerly and in one function.
void expectEagerCompiledAndReference(const ElementwiseCase &op, const std::vector<std::vector<Tensor>> &calls) {
  const Body &f = op.function;
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &operands : calls)
    all.insert(all.end(), operands.begin(), operands.end());
  std::size_t count = calls[0].size();
  auto compiled =
      function<std::vector<Tensor>(const std::vector<Tensor> &)>(ManyBody([&](const std::vector<Tensor> &x) {
        std::vector<Tensor> results;
        for (std::size_t i = 0; i < x.size(); i += count)
          results.push_back(f({x.begin() + i, x.begin() + i + count}));
        return results;
      }));
  std::vector<Tensor> results = compiled(all);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::string shapes;
    for (const Tensor &operand : calls[i])
      shapes += " " + operand.shape().str();
    SCOPED_TRACE(std::string(name_of(calls[i].back().dtype())) + shapes);
    Tensor eager = f(calls[i]);
    expectSameBits(eager, results[i]);
    expectReference(op, calls[i], eager);
  }
}
} // namespace

TEST_P(Elementwise, ComputesTheReference) {
  const ElementwiseCase &op = GetParam();
  const std::vector<std::vector<Shape>> shapes = {{{}, {}, {}},
                                                  {{1}, {1}, {1}},
                                                  {{3}, {3}, {3}},
                                                  {{5, 7}, {5, 7}, {5, 7}},
                                                  {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
                                                  {{3, 1}, {4}, {1, 4}},
                                                  {{2, 1, 4}, {3, 1}, {4}},
                                                  {{}, {2, 3}, {3}}};
  std::mt19937 random(1);
  ASSERT_FALSE(signatures(op).empty());
  for (const std::vector<DType> &signature : signatures(op)) {
    std::vector<std::vector<Tensor>> calls;
    for (const std::vector<Shape> &operands : shapes) {
      calls.emplace_back();
      for (std::size_t i = 0; i < signature.size(); ++i)
        calls.back().push_back(randomOperand(op, random, signature[i], operands[i]));
    }
    expectEagerCompiledAndReference(op, calls);
  }
}

TEST_P(Elementwise, FollowsIeeeOnSpecialValues) {
  const ElementwiseCase &op = GetParam();
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> special = {nan, infinity, -infinity, 0.0, -0.0, 1, -1, 0.5, -2.5};
  const auto count = static_cast<std::int64_t>(special.size());
  for (const std::vector<DType> &signature : signatures(op)) {
    if (!is_floating(signature.back()))
      continue;
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < signature.size(); ++i) {
      bool last = i + 1 == signature.size();
      if (signature[i] == DType::Bool)
        operands.push_back(tensor<bool>({true, false}, {2, 1, 1}));
      else
        operands.push_back(makeTensor(signature[i], special, last ? Shape{count} : Shape{count, 1}));
    }
    expectEagerCompiledAndReference(op, {operands});
  }
}

// A small captured tensor is a constant of the trace; folding must give what the code of the function does.
TEST_P(Elementwise, GivesConstantsTheSameBits) {
  const ElementwiseCase &op = GetParam();
  std::mt19937 random(5);
  for (const std::vector<DType> &signature : signatures(op)) {
    std::vector<std::vector<Tensor>> calls;
    for (int i = 0; i < 8; ++i) {
      calls.emplace_back();
      for (DType dtype : signature) {
        std::vector<double> values = randomValues(random, 1, op.low, op.high, {}, i % 2);
        if (!is_floating(dtype))
          values[0] = std::clamp(std::round(values[0]), std::ceil(op.low), std::floor(op.high));
        calls.back().push_back(
            makeTensor(dtype, dtype == DType::Bool ? std::vector<double>{values[0] > 0 ? 1.0 : 0.0} : values, {}));
      }
    }
    if (is_floating(signature.back())) {
      std::vector<double> special = {std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::infinity(),
                                     -2,
                                     -0.0,
                                     1e30,
                                     -1e-30,
                                     88,
                                     3};
      calls.emplace_back();
      for (DType dtype : signature) {
        calls.back().push_back(dtype == DType::Bool ? tensor<bool>({true}) : makeTensor(dtype, special, {8}));
        std::rotate(special.begin(), special.begin() + 3, special.end());
      }
    }
    auto compiled = function<std::vector<Tensor>(int)>([&](int) {
      std::vector<Tensor> results;
      for (const std::vector<Tensor> &operands : calls)
        results.push_back(op.function(operands));
      return results;
    });
    std::vector<Tensor> results = compiled(0);
    for (std::size_t i = 0; i < calls.size(); ++i)
      expectSameBits(op.function(calls[i]), results[i]);
  }
}

TEST_P(Elementwise, DoesManyExamplesAtOnce) {
  const ElementwiseCase &op = GetParam();
  std::mt19937 random(2);
  std::vector<BatchedCall> calls;
  for (const std::vector<DType> &signature : signatures(op)) {
    // Examples of unlike ranks broadcast, once; three operands in all ways and types would be many.
    std::vector<std::vector<Shape>> shapes = {{{3, 1}, {5}, {3, 5}}};
    if (signature.size() < 3 || signature.back() == DType::Float64)
      shapes.push_back({{}, {7}, {1}});
    for (const std::vector<Shape> &operands : shapes) {
      calls.push_back({[&op](const std::vector<Tensor> &x) { return std::vector<Tensor>{op.function(x)}; }, {}, true});
      for (std::size_t i = 0; i < signature.size(); ++i)
        calls.back().inputs.push_back(randomOperand(op, random, signature[i], operands[i]));
    }
  }
  expectBatched(calls);
}

INSTANTIATE_TEST_SUITE_P(Operations, Elementwise, ::testing::ValuesIn(elementwiseCases()),
                         [](const auto &info) { return info.param.name(); });

template <typename T> class Integers : public ::testing::Test {};
using IntegerTypes = ::testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, DivisionTruncatesAndTheSmallestWraps) {
  using T = TypeParam;
  const T smallest = std::numeric_limits<T>::min();
  Tensor x = tensor<T>({7, -7, 7, -7, smallest, smallest}), y = tensor<T>({2, 2, -2, -2, -1, 2});
  std::vector<T> expected = {3, -3, -3, 3, smallest, static_cast<T>(smallest / 2)};
  auto compiled = function([](const Tensor &a, const Tensor &b) { return a / b; });
  EXPECT_EQ((x / y).template to_vector<T>(), expected);
  EXPECT_EQ(compiled(x, y).template to_vector<T>(), expected);
}

// As C++'s / and %, and as Python's // and %.
TYPED_TEST(Integers, RemaindersAreThoseOfTheirDivision) {
  using T = TypeParam;
  const T smallest = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
  Tensor x = tensor<T>({7, -7, 7, -7, 6, -6, 0, smallest, smallest, smallest, largest, 1}),
         y = tensor<T>({2, 2, -2, -2, -3, 3, -5, -1, 2, largest, smallest, smallest});
  auto f = [](const Tensor &a, const Tensor &b) {
    return std::vector<Tensor>{a % b, mod(a, b), floor_divide(a, b), (a / b) * b + a % b,
                               floor_divide(a, b) * b + mod(a, b)};
  };
  std::vector<Tensor> results = both(f, x, y);
  EXPECT_EQ(results[0].template to_vector<T>(), (std::vector<T>{1, -1, 1, -1, 0, 0, 0, 0, 0, -1, largest, 1}));
  EXPECT_EQ(
      results[1].template to_vector<T>(),
      (std::vector<T>{1, 1, -1, -1, 0, 0, 0, 0, 0, static_cast<T>(largest - 1), -1, static_cast<T>(smallest + 1)}));
  EXPECT_EQ(results[2].template to_vector<T>(),
            (std::vector<T>{3, -4, -4, 3, -2, -2, 0, smallest, static_cast<T>(smallest / 2), -2, -1, -1}));
  EXPECT_EQ(results[3].template to_vector<T>(), x.template to_vector<T>());
  EXPECT_EQ(results[4].template to_vector<T>(), x.template to_vector<T>());
}

TYPED_TEST(Integers, DivisionByZeroIsAnError) {
  using T = TypeParam;
  Tensor x = tensor<T>({7, 1}), y = tensor<T>({2, 0});
  struct Division {
    const char *name;
    Tensor (*function)(const Operand &, const Operand &);
  };
  for (const Division &division :
       {Division{"div", div}, {"mod", mod}, {"fmod", fmod}, {"floor_divide", floor_divide}}) {
    auto f = [&](const Tensor &a, const Tensor &b) { return division.function(a, b); };
    auto compiled = function(f);
    for (bool compile : {false, true})
      try {
        compile ? compiled(x, y) : f(x, y);
        ADD_FAILURE() << "no error";
      } catch (const DivisionError &error) {
        EXPECT_NE(std::string(error.what()).find(division.name + std::string(": an integer is divided by zero")),
                  std::string::npos)
            << error.what();
      }
    EXPECT_EQ(f(zeros({0}, x.dtype()), zeros({1}, x.dtype())).size(), 0);
  }
}

// The quotient is the one that fits the remainder, also where the rounded quotient is a whole number and the exact one
// is less.
TEST(Remainders, OfFloatsFitTheirQuotients) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor x = makeTensor<double>(dtype, {1, -1, 0.3, 5.5, -5.5, 1e6, -7, 1e-30}, {8}),
           y = makeTensor<double>(dtype, {0.1, 0.1, 0.1, -2, -2, 0.1, 7, 1}, {8});
    auto f = [](const Tensor &a, const Tensor &b) { return std::vector<Tensor>{floor_divide(a, b), mod(a, b), a % b}; };
    std::vector<Tensor> results = both(f, x, y);
    std::vector<double> xs = valuesOf(x), ys = valuesOf(y), quotients = valuesOf(results[0]),
                        remainders = valuesOf(results[1]), truncated = valuesOf(results[2]);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      SCOPED_TRACE(std::to_string(xs[i]) + " and " + std::to_string(ys[i]));
      EXPECT_EQ(quotients[i], std::floor(static_cast<long double>(xs[i]) / ys[i]));
      EXPECT_EQ(truncated[i], std::fmod(xs[i], ys[i]));
      double epsilon = dtype == DType::Float32 ? 0x1p-23 : 0x1p-52;
      EXPECT_NEAR(static_cast<double>(quotients[i] * static_cast<long double>(ys[i]) + remainders[i]), xs[i],
                  epsilon * std::fabs(xs[i]) + epsilon * std::fabs(ys[i]));
      EXPECT_TRUE(remainders[i] == 0 || std::signbit(remainders[i]) == std::signbit(ys[i]));
    }
  }
}

TYPED_TEST(Integers, TheSmallestIsItsOwnAbsoluteValueAndNegative) {
  using T = TypeParam;
  const T smallest = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
  Tensor x = tensor<T>({smallest, largest, -3});
  EXPECT_EQ(abs(x).template to_vector<T>(), (std::vector<T>{smallest, largest, 3}));
  EXPECT_EQ((-x).template to_vector<T>(), (std::vector<T>{smallest, static_cast<T>(-largest), 3}));
  EXPECT_EQ((x + 1).template to_vector<T>(), (std::vector<T>{static_cast<T>(smallest + 1), smallest, -2}));
}

TEST(Cast, TruncatesSaturatesAndMakesNaNZero) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = tensor<double>({2.75, -2.75, 1e30, -1e30, infinity, -infinity, nan, 0.0});
  auto compiled = function([](const Tensor &a, DType dtype) { return cast(a, dtype); });
  for (Tensor operand : {x, cast(x, DType::Float32)})
    for (bool compile : {false, true}) {
      auto run = [&](DType dtype) { return compile ? compiled(operand, dtype) : cast(operand, dtype); };
      const auto low32 = std::numeric_limits<std::int32_t>::min(), high32 = std::numeric_limits<std::int32_t>::max();
      const auto low64 = std::numeric_limits<std::int64_t>::min(), high64 = std::numeric_limits<std::int64_t>::max();
      EXPECT_EQ(run(DType::Int32).to_vector<std::int32_t>(),
                (std::vector<std::int32_t>{2, -2, high32, low32, high32, low32, 0, 0}));
      EXPECT_EQ(run(DType::Int64).to_vector<std::int64_t>(),
                (std::vector<std::int64_t>{2, -2, high64, low64, high64, low64, 0, 0}));
    }
  EXPECT_EQ(valuesOf(cast(tensor<bool>({true, false}), DType::Float64)), (std::vector<double>{1, 0}));
  EXPECT_EQ(valuesOf(cast(tensor<std::int64_t>({-3, 5}), DType::Float32)), (std::vector<double>{-3, 5}));
  EXPECT_EQ(valuesOf(cast(tensor<double>({0.0, 0.5, -1}), DType::Bool)), (std::vector<double>{0, 1, 1}));
}

namespace {
// But for the signs of NaN.
bool sameBits(const std::vector<double> &a, const std::vector<double> &b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}
} // namespace

// Eagerly the exponent is a number, a tensor of one element, or one of many; compiled it is a constant, an argument or
// both.
TEST(Pow, HasTheSameBitsAndSpecialValuesHoweverTheExponentIsGiven) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (DType dtype : {DType::Float32, DType::Float64}) {
    bool isFloat = dtype == DType::Float32;
    double smallest = isFloat ? 0x1p-149 : 0x1p-1074, largest = isFloat ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    std::vector<double> bases = {0.0, -0.0, inf, -inf, nan, 1, -1, 2, -2, smallest, -smallest, largest, -largest};
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i)
      bases.push_back(std::ldexp(1 + random() * 0x1p-32,
                                 static_cast<int>(random() % (isFloat ? 250 : 2000)) - (isFloat ? 125 : 1000)) *
                      (random() % 2 ? 1 : -1));
    Tensor x = makeTensor(dtype, bases, Shape{static_cast<std::int64_t>(bases.size())});
    bases = valuesOf(x);
    for (double exponent : {1.0, 2.0, 3.0, 4.0, -1.0, -2.0, 0.5, -0.5, 0.0, 5.0, -3.0, 1.5, inf, nan}) {
      SCOPED_TRACE(::testing::Message() << name_of(dtype) << " to the power of " << exponent);
      Tensor one = makeTensor(dtype, std::vector<double>{exponent}, Shape());
      std::vector<double> values = valuesOf(pow(x, exponent));
      // Every third exponent is another one, so that common and uncommon ones meet in a vector.
      std::vector<double> mixed(bases.size(), exponent);
      for (std::size_t i = 0; i < mixed.size(); i += 3)
        mixed[i] = i % 2 ? 2 : 0.7;
      Tensor each = makeTensor(dtype, mixed, x.shape());
      auto binary = [](const Tensor &a, const Tensor &b) { return pow(a, b); };
      Tensor results[] = {pow(x, one), pow(x, broadcast_to(one, x.shape())),
                          function([&](const Tensor &a) { return pow(a, exponent); })(x), function(binary)(x, one),
                          function(binary)(x, broadcast_to(one, x.shape()))};
      for (const Tensor &result : results)
        EXPECT_TRUE(sameBits(values, valuesOf(result)));
      std::vector<double> eager = valuesOf(pow(x, each));
      EXPECT_TRUE(sameBits(eager, valuesOf(function(binary)(x, each))));
      for (std::size_t i = 1; i < eager.size(); ++i)
        if (i % 3) {
          EXPECT_TRUE(sameBits({eager[i]}, {values[i]})) << bases[i];
        }
      for (std::size_t i = 0; i < bases.size(); ++i) {
        long double exact = std::pow(static_cast<long double>(bases[i]), static_cast<long double>(exponent));
        double expected = isFloat ? static_cast<float>(exact) : static_cast<double>(exact);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(values[i])) << bases[i];
        } else if (std::isinf(expected) || expected == 0) {
          EXPECT_EQ(values[i], expected) << bases[i];
          EXPECT_EQ(std::signbit(values[i]), std::signbit(expected)) << bases[i];
        } else {
          int digits = isFloat ? 24 : 53, exponentOfMin = isFloat ? -149 : -1074;
          double unit = std::ldexp(1.0, std::max(std::ilogb(expected) - digits + 1, exponentOfMin));
          EXPECT_LE(std::fabs(static_cast<long double>(values[i]) - exact), 2 * static_cast<long double>(unit))
              << bases[i];
        }
      }
    }
  }
}

// Powers of integers wrap, as products do; negative ones are 1 divided by the power, truncated.
TEST(Elementwise, PowersOfIntegers) {
  auto expectPowers = []<typename T>(std::type_identity<T>) {
    using Limits = std::numeric_limits<T>;
    using Unsigned = std::make_unsigned_t<T>;
    const std::vector<T> bases{0, 1, -1, 2, -2, 3, 7, -10, Limits::max(), Limits::min(), Limits::max() - 1};
    const std::vector<T> exponents{
        0, 1, 2, 3, 10, 31, 32, 63, 64, 1000, Limits::max(), -1, -2, -3, Limits::min(), Limits::min() + 1};
    std::vector<T> xs, ys, expected;
    for (T base : bases)
      for (T exponent : exponents) {
        xs.push_back(base);
        ys.push_back(exponent);
        Unsigned power = 1, square = static_cast<Unsigned>(base);
        for (auto rest = static_cast<Unsigned>(exponent); rest; rest /= 2, square *= square)
          if (rest % 2)
            power *= square;
        if (exponent < 0) // 1, -1 or 0
          power = static_cast<Unsigned>(base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0);
        expected.push_back(static_cast<T>(power));
      }
    Tensor x = tensor(xs), y = tensor(ys);
    auto f = [](const Tensor &a, const Tensor &b) { return pow(a, b); };
    EXPECT_EQ(both(f, x, y).template to_vector<T>(), expected);
    EXPECT_EQ(pow(x, 2).template to_vector<T>(), (x * x).template to_vector<T>());
    EXPECT_EQ(pow(T(3), tensor<T>({4})).template to_vector<T>(), std::vector<T>{81});
    auto open = function(f, {.input_signature = {TensorSpec<T>({kDynamic}), TensorSpec<T>({kDynamic})}});
    EXPECT_EQ(open(x, y).template to_vector<T>(), expected);
  };
  expectPowers(std::type_identity<std::int32_t>());
  expectPowers(std::type_identity<std::int64_t>());
  EXPECT_THROW(pow(tensor<int>({2}), 0.5), DTypeError);
  EXPECT_THROW(pow(tensor<bool>({true}), tensor<bool>({true})), DTypeError);
}
