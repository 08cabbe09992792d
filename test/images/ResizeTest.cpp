// image::resize against PyTorch, JAX and ONNX's reference.
#include "test/arrays/Testing.h"

#include <calque/image.h>

namespace calque::testing {
namespace {

using image::ResizeOptions;
using Tensors = std::vector<Tensor>;
using Sizes = std::vector<std::int64_t>;

const std::vector<Sizes> kSizes{{7, 3}, {4, 9}, {2, 5}, {1, 1}};

// With sizes that are known, but for that of the batch.
constexpr Checks kChecks{.derivatives = 1, .unknownSizes = false, .tolerance = 1e-13};

void checkAll(const std::string &name, const std::vector<ResizeOptions> &options, Checks checks = kChecks) {
  check(
      name,
      [&](const Tensors &x) {
        Tensors results;
        for (const ResizeOptions &each : options)
          for (const Sizes &sizes : kSizes)
            results.push_back(image::resize(x[0], sizes, each));
        return results;
      },
      checks);
}

TEST(ImageResize, IsThatOfPyTorch) {
  for (const char *method : {"linear", "cubic"}) {
    checkAll(method, {{.method = method}});
    checkAll(std::string(method) + " align_corners", {{.method = method, .coordinates = "align_corners"}});
    checkAll(std::string(method) + " antialias", {{.method = method, .antialias = true, .cubic_coefficient = -0.5}});
  }
  checkAll("nearest", {{.method = "nearest"}});
  checkAll("nearest asymmetric floor", {{.method = "nearest", .coordinates = "asymmetric", .rounding = "floor"}});
  // The gradient reads what is summed, and has a gradient itself.
  check("line", [](const Tensors &x) { return image::resize(x[0], {7}); },
        {.derivatives = 2, .unknownSizes = false, .tolerance = 1e-13});
  check("volume", [](const Tensors &x) { return image::resize(x[0], {4, 2, 5}); }, kChecks);
}

TEST(ImageResize, IsThatOfJax) {
  for (const char *method : {"linear", "cubic", "lanczos3", "lanczos5"})
    checkAll(std::string(method) + " of JAX",
             {{.method = method, .antialias = true, .cubic_coefficient = -0.5},
              {.method = method, .cubic_coefficient = -0.5, .exclude_outside = true}},
             {.derivatives = 1, .unknownSizes = false, .tolerance = 1e-13});
  check("antialias far",
        [](const Tensors &x) {
          Tensors results;
          for (std::int64_t size : {3, 11})
            for (const char *method : {"linear", "cubic", "lanczos3"})
              results.push_back(
                  image::resize(x[0], {size}, {.method = method, .antialias = true, .cubic_coefficient = -0.5}));
          return results;
        },
        {.derivatives = 1, .unknownSizes = false, .tolerance = 1e-13});
}

TEST(ImageResize, IsThatOfOnnx) {
  for (const char *coordinates : {"half_pixel_symmetric", "pytorch_half_pixel", "asymmetric"})
    checkAll(std::string(coordinates) + " of ONNX",
             {{.coordinates = coordinates}, {.method = "cubic", .coordinates = coordinates}},
             {.derivatives = 0, .unknownSizes = false, .vmap = false, .tolerance = 1e-6}); // a is a float32 there
  const ResizeOptions crop{.coordinates = "tf_crop_and_resize", .region = {0.2, -0.3, 0.7, 1.4}, .extrapolation = 9};
  check("crop of ONNX", [&](const Tensors &x) { return image::resize(x[0], {3, 4}, crop); }, kChecks);
  check(
      "nearest of ONNX",
      [](const Tensors &x) {
        Tensors results;
        for (const char *rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
          for (const char *coordinates : {"half_pixel", "asymmetric"})
            results.push_back(
                image::resize(x[0], {6, 3}, {.method = "nearest", .coordinates = coordinates, .rounding = rounding}));
        return results;
      },
      kChecks);
  check(
      "scales of ONNX", [](const Tensors &x) { return image::resize(x[0], {6, 3}, {.scales = {1.6, 0.7}}); }, kChecks);
}

TEST(ImageResize, RoundsBytes) {
  check("bytes",
        [](const Tensors &x) {
          return Tensors{image::resize(x[0], {7, 5}), image::resize(x[0], {7, 5}, {.method = "cubic"})};
        },
        {.derivatives = 0, .unknownSizes = false});
  const std::int64_t large = (std::int64_t(1) << 40) + 1;
  EXPECT_EQ(image::resize(tensor<std::int64_t>({large, large + 2}, {2, 1}), {3}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{large, large + 1, large + 2}));
}

TEST(ImageResize, RoundsHalvesOnce) {
  const Tensor x = cast(expected("linear").inputs[0], DType::Float32);
  for (DType half : {DType::Float16, DType::BFloat16}) {
    const Tensor given = cast(x, half);
    auto f = [](const Tensor &x) { return image::resize(x, {7, 3}); };
    expectSameBits(f(given), cast(f(cast(given, DType::Float32)), half));
    expectSameBits(function(f)(given), f(given));
  }
}

TEST(ImageResize, TakesBatchesOfUnknownSizeAndAxes) {
  const Tensor x = expected("linear").inputs[0];
  const Tensor all = image::resize(x, {7, 3});
  auto f = function([](const Tensor &x) { return image::resize(x, {7, 3}); },
                    {.input_signature = {TensorSpec<double>({kDynamic, 4, 5, 2})}});
  expectSameBits(f(x), all);
  EXPECT_EQ(f(zeros({0, 4, 5, 2}, DType::Float64)).shape(), (Shape{0, 7, 3, 2}));
  EXPECT_EQ(f.trace_count(), 1);
  expectSameBits(image::resize(transpose(x, {0, 3, 1, 2}), {7, 3}, {.axes = {2, -1}}), transpose(all, {0, 3, 1, 2}));
  expectSameBits(image::resize(transpose(x, {0, 3, 1, 2}), {3, 7}, {.axes = {3, 2}}), transpose(all, {0, 3, 1, 2}));
  expectSameBits(image::resize(x[0], {7, 3}), all[0]);
  EXPECT_EQ(image::resize(x, {0, 3}).shape(), (Shape{2, 0, 3, 2}));
  expectSameBits(image::resize(x, {4, 5}, {.method = "cubic"}), x);
  const Tensor flags = tensor<bool>({true, false}, {2, 1});
  EXPECT_EQ(image::resize(flags, {4}, {.method = "nearest"}).to_vector<bool>(),
            (std::vector<bool>{true, true, false, false}));
}

TEST(ImageResize, SaysWhatIsWrong) {
  const Tensor x = zeros({2, 4, 5, 2});
  auto valueErrorOf = [&](const Sizes &sizes, const ResizeOptions &options) {
    return errorOf<ValueError>([&] { image::resize(x, sizes, options); });
  };
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.method = "bilinear"}),
                  "image::resize: there is no method 'bilinear'; there are 'nearest', 'linear', 'cubic', 'lanczos3', "
                  "'lanczos5'");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.coordinates = "corners"}), "no coordinates 'corners'");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.method = "nearest", .rounding = "up"}), "no rounding 'up'");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.method = "nearest", .antialias = true}), "takes single pixels");
  EXPECT_CONTAINS(valueErrorOf({7, -3}, {}), "a size must not be negative: -3");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.axes = {1}}), "there must be 2 axes, not 1");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.axes = {1, 1}}), "axis 1 is given twice");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.scales = {2}}), "there must be 2 scales, not 1");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.scales = {2, 0}}), "a scale must be a finite number above 0, not 0");
  EXPECT_CONTAINS(valueErrorOf({7, 3}, {.region = {0, 1}}), "there must be 4 numbers of the region, not 2");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { image::resize(zeros({4, 5}), {7, 3}); }), "without channels, give the axes");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { image::resize(zeros({0, 5, 1}), {7, 3}); }),
                  "there is no pixel along axis 0");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { image::resize(zeros({4, 5, 1}, DType::Bool), {7, 3}); }),
                  "image::resize: takes");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { image::resize(zeros({4, 5, 1}, DType::Complex64), {7, 3}); }),
                  "ResizeTest.cpp");
  EXPECT_CONTAINS(errorOf<StateError>([] {
                    function([](const Tensor &x) { return image::resize(x, {7, 3}); },
                             {.input_signature = {TensorSpec<float>({1, kDynamic, 5, 2})}})(zeros({1, 4, 5, 2}));
                  }),
                  "is changed, and must be known while tracing");
}

} // namespace
} // namespace calque::testing
