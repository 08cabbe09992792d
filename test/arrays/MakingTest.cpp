// calque/arrays/making.h, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

TEST(ArraysMaking, OfTheShapeOfAnother) {
  const Checks constant{.derivatives = 0};
  check("full_like", [](const Tensors &x) { return full_like(x[0], 2.5); }, constant);
  check("zeros_like", [](const Tensors &x) { return zeros_like(x[0]); }, constant);
  check("ones_like int", [](const Tensors &x) { return ones_like(x[0], DType::Int64); }, constant);
  EXPECT_EQ(zeros_like(tensor({true, false})).dtype(), DType::Bool);
  EXPECT_EQ(ones_like(3).dtype(), DType::Int32);
  EXPECT_EQ(full_like(zeros({0, 2}), 1).shape(), (Shape{0, 2}));
}

TEST(ArraysMaking, Ranges) {
  check("arange",
        [](const Tensors &) {
          constexpr std::int64_t large = std::int64_t(1) << 62;
          return Tensors{arange(5),
                         arange(2, 11, 3),
                         arange(7, -3, -4),
                         arange(5, 5),
                         arange(0, 1, 0.1, DType::Float64),
                         arange(1.5, -2.25, -0.75, DType::Float64),
                         arange(-large, large, large >> 1)};
        },
        {.derivatives = 0, .float32 = false});
  EXPECT_EQ(arange(3).dtype(), DType::Int32);
  EXPECT_EQ(arange(std::int64_t(3)).dtype(), DType::Int64);
  EXPECT_EQ(arange(3u).dtype(), DType::Int64);
  EXPECT_EQ(arange(3.0f).dtype(), DType::Float32);
  EXPECT_EQ(arange(3.0).dtype(), default_dtype());
  // Each element is the nearest float32.
  const std::vector<float> tenths = arange(0, 1000, 0.1, DType::Float32).to_vector<float>();
  ASSERT_EQ(tenths.size(), 10000u);
  for (std::size_t i = 0; i < tenths.size(); ++i)
    ASSERT_EQ(tenths[i], static_cast<float>(static_cast<double>(i) * 0.1));
  auto open = function([](const Tensor &x) { return arange(x.shape()[0]) + arange(x.shape()[0]); },
                       {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(open(zeros({3})).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(ArraysMaking, RefusedRanges) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_CONTAINS(errorOf<ValueError>([] { arange(1, 5, 0); }), "arange: the step must not be 0");
  EXPECT_CONTAINS(errorOf<ValueError>([] { arange(1, 5, 0.0); }), "arange: the step must not be 0");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { arange(0.0, nan); }), "arange: there is no range from 0 to nan by 1");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { arange(0.0, infinity); }), "arange: there is no range from 0 to inf by 1");
  EXPECT_CONTAINS(errorOf<ValueError>([] { arange(0.0, 1e30); }), "elements, more than any memory holds");
  EXPECT_CONTAINS(errorOf<ValueError>([] { arange(std::int64_t(1) << 60); }), "elements, more than any memory holds");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { arange(0.0, 3.0, 1.0, DType::Int32); }),
                  "arange: floating-point numbers make no range of int32");
  EXPECT_CONTAINS(
      errorOf<ValueError>([] { arange(std::int64_t(1) << 40, (std::int64_t(1) << 40) + 2, 1, DType::Int32); }),
      "MakingTest.cpp");
}

TEST(ArraysMaking, NumbersBetweenTwo) {
  check("linspace",
        [](const Tensors &) {
          const LinspaceOptions in64{.dtype = DType::Float64};
          return Tensors{linspace(0, 1, 5, in64), linspace(2.5, -3, 7, {.endpoint = false, .dtype = DType::Float64}),
                         linspace(0, 1, 1, in64), linspace(1, 2, 0, in64),
                         linspace(3, 3, 4, in64), linspace(0, 5e-324, 4, in64)};
        },
        {.derivatives = 0, .float32 = false});
  check("linspace tensors",
        [](const Tensors &x) {
          return Tensors{linspace(x[0], x[1], 5), linspace(x[0], x[1], 4, {.endpoint = false, .axis = -1}),
                         linspace(x[0], x[1], 3, {.axis = 1})};
        },
        {.unknownSizes = false});
  check("logspace",
        [](const Tensors &x) {
          return Tensors{logspace(x[0], x[1], 6), logspace(x[0], x[1], 4, 2, {.endpoint = false})};
        },
        {.tolerance = 1e-13, .tolerance32 = 1e-5});
  check("geomspace",
        [](const Tensors &) {
          const LinspaceOptions in64{.dtype = DType::Float64};
          return Tensors{geomspace(1, 1000, 4, in64), geomspace(-2, -32, 5, in64), geomspace(256, 1, 9, in64),
                         geomspace(1, 8, 3, {.endpoint = false, .dtype = DType::Float64}), geomspace(5, 7, 1, in64)};
        },
        {.derivatives = 0, .tolerance = 1e-13, .float32 = false});
  check("geomspace tensors", [](const Tensors &x) { return geomspace(exp(x[0]), exp(x[1]), 5); }, {.tolerance = 1e-13});
  EXPECT_EQ(linspace(0, 1).shape(), (Shape{50}));
  EXPECT_EQ(linspace(0, 1).dtype(), default_dtype());
  EXPECT_EQ(linspace(scalar<double>(0), 1, 3).dtype(), DType::Float64);
  auto open = function([](const Tensor &x) { return linspace(0, 1, x.shape()[0]); },
                       {.input_signature = {TensorSpec<float>({kDynamic})}});
  for (std::int64_t n : {0, 1, 2, 5})
    expectSameBits(open(zeros({n})), linspace(0, 1, n));
  EXPECT_CONTAINS(errorOf<ValueError>([] { linspace(0, 1, -1); }),
                  "linspace: the number of elements must not be negative, unlike -1");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { linspace(scalar(0), 1, 3); }),
                  "linspace: takes and makes floating-point numbers, not int32[]");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { logspace(0, 1, 3, 10, {.dtype = DType::Int32}); }),
                  "logspace: takes and makes floating-point numbers, not int32");
  EXPECT_CONTAINS(errorOf<ValueError>([] { geomspace(0, 1, 3); }), "geomspace: the ends 0 and 1 must not be 0");
  errorOf<ValueError>([] { linspace(0, 1, 3, {.axis = 1}); });
}

TEST(ArraysMaking, Grids) {
  check("meshgrid xy", [](const Tensors &x) { return meshgrid(x); });
  check("meshgrid ij", [](const Tensors &x) { return meshgrid(x, {.indexing = "ij"}); });
  check("meshgrid sparse", [](const Tensors &x) { return meshgrid(x, {.sparse = true}); });
  EXPECT_TRUE(meshgrid({}).empty());
  EXPECT_CONTAINS(errorOf<ValueError>([] { meshgrid({ones({2})}, {.indexing = "yx"}); }),
                  "meshgrid: indexing is 'xy' or 'ij', not 'yx'");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { meshgrid({ones({2}), ones({2, 1})}); }),
                  "meshgrid: takes vectors and scalars, and tensor 1 is float32[2,1]");
}

TEST(ArraysMaking, Masks) {
  const Checks constant{.derivatives = 0, .float32 = false};
  check(
      "eye",
      [](const Tensors &) {
        constexpr DType d = DType::Float64;
        return Tensors{eye(3, 4, 0, d), eye(3, 4, 2, d), eye(4, 3, -2, d), eye(2, 3, 9, d), eye(0, 3, 0, d)};
      },
      constant);
  check(
      "tri",
      [](const Tensors &) {
        constexpr DType d = DType::Float64;
        return Tensors{tri(3, 4, 0, d), tri(3, 4, 2, d), tri(4, 3, -2, d), tri(2, 3, -9, d)};
      },
      constant);
  EXPECT_EQ(tri(2, 2, 0, DType::Bool).to_vector<bool>(), (std::vector<bool>{true, false, true, true}));
  errorOf<ValueError>([] { eye(-1, 3); });
}
