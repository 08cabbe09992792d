// C++ numbers become elements by one rule, wherever they are given.
#include "Testing.h"
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

namespace {
// Everything that takes a C++ number together with a tensor or element type.
std::vector<std::pair<const char *, std::function<Tensor(DType, const Number &)>>> takers() {
  return {
      {"operator", [](DType dtype, const Number &n) { return zeros({2}, dtype) + Operand(n); }},
      {"operator, traced",
       [](DType dtype, const Number &n) {
         return function([=](const Tensor &x) { return x + Operand(n); })(zeros({2}, dtype));
       }},
      {"comparison and select",
       [](DType dtype, const Number &n) { return where(zeros({2}, DType::Bool), zeros({2}, dtype), Operand(n)); }},
      {"full", [](DType dtype, const Number &n) { return full({2}, Operand(n), dtype); }},
      {"pad", [](DType dtype, const Number &n) { return pad(zeros({0}, dtype), {2}, {0}, n); }},
      {"pad, traced",
       [](DType dtype, const Number &n) {
         return function([=](const Tensor &x) { return pad(x, {2}, {0}, n); })(zeros({0}, dtype));
       }},
      {"assign",
       [](DType dtype, const Number &n) {
         Variable v(zeros({}, dtype));
         v.assign(Operand(n));
         return v.value();
       }},
      {"assign_add",
       [](DType dtype, const Number &n) {
         Variable v(zeros({}, dtype));
         v.assign_add(Operand(n));
         return v.value();
       }},
      {"minimum and maximum",
       [](DType dtype, const Number &n) { return maximum(minimum(zeros({2}, dtype), Operand(n)), Operand(n)); }},
      {"custom operand", [](DType dtype, const Number &n) { return Operand(n).toTensor(dtype); }},
  };
}
TEST(Numbers, ThatAreUnknownSizesMayNotFitSmallTypes) {
  auto f = function([](const Tensor &x) { return x + x.shape()[0]; },
                    {.input_signature = {TensorSpec<std::uint8_t>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { f(zeros({300}, DType::UInt8)); }),
                  "a size that only the call knows may not fit uint8; cast the tensor beside it");
}

} // namespace

TEST(Numbers, AreConvertedByOneRule) {
  for (const auto &[name, take] : takers()) {
    SCOPED_TRACE(name);
    auto value = [&, &take = take](DType dtype, const Number &n) { return valuesOf(take(dtype, n))[0]; };
    EXPECT_EQ(value(DType::Float32, UINT64_MAX), 0x1p64);
    EXPECT_EQ(value(DType::Float64, UINT64_MAX), 0x1p64);
    EXPECT_EQ(value(DType::Float64, std::uint64_t(1) << 63), 0x1p63);
    EXPECT_EQ(value(DType::Float32, 0.5), 0.5);
    EXPECT_EQ(value(DType::Float32, true), 1);
    EXPECT_EQ(value(DType::Int64, std::int64_t(1) << 40), 0x1p40);
    EXPECT_EQ(value(DType::Int32, std::uint8_t(200)), 200);
    EXPECT_EQ(value(DType::Int32, INT32_MIN), INT32_MIN);
    for (auto [dtype, text] : {std::pair(DType::Int64, "int64"), std::pair(DType::Int32, "int32")}) {
      EXPECT_CONTAINS(errorOf<ValueError>([&, dtype = dtype] { value(dtype, UINT64_MAX); }),
                      std::string("the number 18446744073709551615 does not fit ") + text);
      EXPECT_CONTAINS(errorOf<DTypeError>([&, dtype = dtype] { value(dtype, 1.5); }),
                      std::string("the number 1.5 can't become ") + text);
      EXPECT_CONTAINS(errorOf<DTypeError>([&, dtype = dtype] { value(dtype, 1e10); }), "the number 1e+10 can't become");
      EXPECT_CONTAINS(errorOf<DTypeError>([&, dtype = dtype] { value(dtype, 1e-10f); }),
                      "the number 1e-10 can't become");
    }
    EXPECT_CONTAINS(errorOf<ValueError>([&] { value(DType::Int32, std::int64_t(1) << 31); }),
                    "the number 2147483648 does not fit int32");
    EXPECT_CONTAINS(errorOf<ValueError>([&] { value(DType::Int32, 3'000'000'000u); }),
                    "the number 3000000000 does not fit int32");
  }
  for (const auto &[name, take] : takers()) {
    SCOPED_TRACE(name);
    if (std::string(name).starts_with("pad")) {
      EXPECT_CONTAINS(errorOf<DTypeError>([&, &take = take] { take(DType::Bool, 2); }),
                      "the number 2 can't become bool");
    }
  }
}

TEST(Numbers, AreRoundedOnce) {
  // By way of float64 the first would be a tie that goes down.
  std::int64_t number = (std::int64_t(1) << 62) + (std::int64_t(1) << 38) + 1;
  EXPECT_EQ((zeros({1}) + number).item<float>(), static_cast<float>(number));
  EXPECT_NE(static_cast<float>(number), static_cast<float>(static_cast<double>(number)));
}

TEST(Numbers, AloneHaveTheirOwnType) {
  EXPECT_EQ(Variable(2).dtype(), DType::Int32);
  EXPECT_CONTAINS(errorOf<ValueError>([] { Variable v(UINT64_MAX); }),
                  "the number 18446744073709551615 does not fit int32");
  EXPECT_CONTAINS(errorOf<ValueError>([] { sum(std::int64_t(1) << 40); }), "does not fit int32");
}

TEST(Numbers, OfPaddingAreExact) {
  auto padded = [](DType dtype, Number number) {
    auto f = function([=](const Tensor &x) { return pad(x, {1}, {0}, number); });
    Tensor x = zeros({1}, dtype), eager = pad(x, {1}, {0}, number), compiled = f(x);
    expectSameBits(eager, compiled);
    return eager;
  };
  std::int64_t odd = (std::int64_t(1) << 53) + 1; // no double
  for (std::int64_t value : {odd, -odd, INT64_MAX, INT64_MIN})
    EXPECT_EQ(padded(DType::Int64, value).to_vector<std::int64_t>()[0], value);
  EXPECT_EQ(padded(DType::Int32, INT32_MIN).to_vector<std::int32_t>()[0], INT32_MIN);
  // Rounded once: by way of a double it would be 2^62.
  std::int64_t above = (std::int64_t(1) << 62) + (std::int64_t(1) << 38) + 1;
  EXPECT_EQ(padded(DType::Float32, above).to_vector<float>()[0], static_cast<float>(above));
  EXPECT_NE(static_cast<float>(above), static_cast<float>(static_cast<double>(above)));
  EXPECT_EQ(padded(DType::Float64, UINT64_MAX).to_vector<double>()[0], 0x1p64);
  EXPECT_EQ(padded(DType::Bool, true).to_vector<bool>()[0], true);
  EXPECT_EQ(pad(zeros({0}, DType::Bool), {1}, {0}).to_vector<bool>(), std::vector<bool>{false});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { padded(DType::Int64, UINT64_MAX); }), "does not fit int64");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { padded(DType::Int64, 1.0); }), "can't become int64");
}

TEST(Numbers, OfRandomBoundsArePrintedToBeRead) {
  EXPECT_CONTAINS(errorOf<ValueError>([] { random::uniform({1}, {.minval = 1e-10, .maxval = 1e-12}); }),
                  "uniform: no number is in [1e-10, 1e-12)");
  EXPECT_CONTAINS(errorOf<ValueError>([] { random::uniform({1}, {.maxval = 1e300}); }),
                  "uniform: no number is in [0, 1e+300)");
  EXPECT_EQ(random::uniform({1}, {.maxval = 1e300, .dtype = DType::Float64}).size(), 1);
  EXPECT_CONTAINS(errorOf<ValueError>([] { random::normal({1}, {.stddev = -1e-9}); }), "unlike -1e-09");
}

TEST(Numbers, OfIndicesAndConditionsKeepTheirOwnType) {
  Tensor x = tensor<float>({1, 2, 3}), whole = tensor<int>({1, 2, 3});
  auto inBoth = [&](auto f) {
    for (const Tensor &data : {x, whole, cast(x, DType::Float64), cast(x, DType::Int64)}) {
      Tensor eager = f(data), traced = function(f)(data);
      EXPECT_EQ(eager.dtype(), data.dtype());
      EXPECT_EQ(traced.dtype(), data.dtype());
      EXPECT_EQ(valuesOf(eager), valuesOf(traced));
    }
  };
  inBoth([](const Tensor &data) {
    Tensor last = gather(data, data.shape()[0] - 1);
    EXPECT_EQ(last.shape(), Shape{});
    return last + gather(data, std::int64_t(1)) - gather(data, 0u);
  });
  inBoth([](const Tensor &data) { return where(true, data, 0) + where(false, 7, data); });
  EXPECT_EQ(valuesOf(gather(x, 2)), std::vector<double>{3});
  EXPECT_EQ(valuesOf(where(false, x, 5)), (std::vector<double>{5, 5, 5}));
  EXPECT_EQ(where(x > 1, 1, 0).dtype(), DType::Int32);
  EXPECT_EQ(where(x > 1, 1, 0.5).dtype(), DType::Float32);

  auto open = function([](const Tensor &data, const Tensor &rows) { return gather(data, rows.shape()[0]); },
                       {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(valuesOf(open(x, zeros({2}))), std::vector<double>{3});

  EXPECT_CONTAINS(errorOf<DTypeError>([&] { gather(x, 1.5); }), "indices must be integers, not float32[]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { gather(x, 1.5); }), "NumbersTest.cpp:" + std::to_string(__LINE__));
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { gather(x, true); }), "indices must be integers, not bool[]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { where(1, x, 0); }), "the condition must be bool, not int64[]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { gather(x, UINT64_MAX); }), "18446744073709551615 does not fit int64");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { function([](const Tensor &data) { return gather(data, 0.5); })(x); }),
                  "NumbersTest.cpp:" + std::to_string(__LINE__ - 1));
}
