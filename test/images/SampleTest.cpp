// image::sample and image::grid_sample against PyTorch.
#include "test/arrays/Testing.h"

#include <calque/image.h>

namespace calque::testing {
namespace {

using image::SampleOptions;
using Tensors = std::vector<Tensor>;

TEST(ImageSample, IsThatOfPyTorch) {
  const std::pair<const char *, const char *> methods[] = {
      {"bilinear", "linear"}, {"nearest", "nearest"}, {"bicubic", "cubic"}};
  for (auto [theirs, method] : methods)
    for (const char *padding : {"zeros", "border", "reflection"})
      check(std::string("grid ") + theirs + ' ' + padding,
            [&](const Tensors &x) {
              Tensors results;
              for (bool align : {false, true})
                results.push_back(
                    image::grid_sample(x[0], x[1], {.method = method, .padding = padding, .align_corners = align}));
              return results;
            },
            // Derivatives: below. Places that are pixels are kinks.
            {.derivatives = 0, .unknownSizes = false, .tolerance = 1e-12, .tolerance32 = 2e-5});
  for (auto [theirs, method] : {methods[0], methods[1]})
    check(std::string("grid of volumes ") + theirs,
          [&](const Tensors &x) {
            Tensors results;
            for (const char *padding : {"zeros", "border", "reflection"})
              results.push_back(image::grid_sample(x[0], x[1], {.method = method, .padding = padding}));
            return results;
          },
          {.derivatives = 0, .unknownSizes = false, .tolerance = 1e-12, .tolerance32 = 2e-5});
}

// At places that are no pixels, and no edges.
TEST(ImageSample, HasDerivatives) {
  std::mt19937 random(3);
  const Tensor x = randomTensor(random, {2, 3, 4, 2});
  const Tensor places =
      tensor<double>({{{{0.3, 1.7}, {1.2, 2.6}, {-0.4, 3.3}}}, {{{2.3, -0.7}, {5.4, 9.8}, {1.6, 0.4}}}});
  for (const char *method : {"linear", "cubic", "nearest"})
    for (const char *padding : {"zeros", "border", "reflection"}) {
      SCOPED_TRACE(std::string(method) + ' ' + padding);
      const SampleOptions options{.method = method, .padding = padding};
      expectDerivatives([&](const Tensors &x) { return image::sample(x[0], x[1], options); }, {x, places}, 2);
    }
}

TEST(ImageSample, PlacesAreIndices) {
  const Tensor x = reshape(cast(iota({12}, DType::Int32), DType::Float64), {1, 3, 4, 1});
  auto at = [&](const Tensor &places, const SampleOptions &options = {}) {
    return both([&](const Tensor &places) { return image::sample(x, places, options); }, places).to_vector<double>();
  };
  EXPECT_EQ(at(tensor<double>({{{1, 2}, {0.5, 3}, {2, 0.25}}})), (std::vector<double>{6, 5, 8.25}));
  EXPECT_EQ(at(tensor<double>({{{-1, 0}, {1e30, -1e30}, {-0.5, 0}}})), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(at(tensor<double>({{{1e30, -1e30}, {-3, 1}}}), {.padding = "border"}), (std::vector<double>{8, 1}));
  EXPECT_TRUE(std::isnan(at(tensor<double>({{{0, std::nan("")}}}))[0]));
  // What is not there is not multiplied.
  const Tensor holes = tensor<double>({{{{std::nan("")}, {1}}}});
  EXPECT_EQ(image::sample(holes, tensor<double>({{{0, 2.5}}})).item<double>(), 0);
}

TEST(ImageSample, TakesUnknownSizes) {
  for (const char *padding : {"zeros", "border", "reflection"}) {
    const Expected &numbers = expected(std::string("grid bilinear ") + padding);
    auto f =
        function([&](const Tensor &x, const Tensor &grid) { return image::grid_sample(x, grid, {.padding = padding}); },
                 {.input_signature = {TensorSpec<double>({kDynamic, kDynamic, kDynamic, kDynamic}),
                                      TensorSpec<double>({kDynamic, kDynamic, kDynamic, 2})}});
    expectClose(f(numbers.inputs[0], numbers.inputs[1]), numbers.outputs[0], 1e-12);
    EXPECT_EQ(f(zeros({0, 3, 3, 1}, DType::Float64), zeros({0, 2, 2, 2}, DType::Float64)).shape(), (Shape{0, 2, 2, 1}));
    EXPECT_EQ(f.trace_count(), 1);
  }
}

TEST(ImageSample, TakesHalves) {
  const Expected &numbers = expected("grid bilinear border");
  for (DType half : {DType::Float16, DType::BFloat16}) {
    const Tensor x = cast(numbers.inputs[0], half), grid = cast(numbers.inputs[1], half);
    auto f = [](const Tensor &x, const Tensor &grid) { return image::grid_sample(x, grid, {.padding = "border"}); };
    const Tensor found = both(f, x, grid);
    expectSameBits(found, cast(f(cast(x, DType::Float32), cast(grid, DType::Float32)), half));
  }
}

TEST(ImageSample, SaysWhatIsWrong) {
  const Tensor x = zeros({2, 4, 5, 2}), grid = zeros({2, 3, 3, 2});
  auto shapeErrorOf = [](const Tensor &x, const Tensor &grid) {
    return errorOf<ShapeError>([&] { image::grid_sample(x, grid); });
  };
  EXPECT_CONTAINS(shapeErrorOf(x, zeros({2, 3, 3, 3})), "image::grid_sample: a place has a number for each dimension");
  EXPECT_CONTAINS(shapeErrorOf(x, zeros({2, 3, 3, 3})),
                  ": the images are float32[2,4,5,2], the places float32[2,3,3,3]");
  EXPECT_CONTAINS(shapeErrorOf(x, zeros({3, 3, 3, 2})), "as many images as batches of places");
  EXPECT_CONTAINS(shapeErrorOf(zeros({2, 2}), grid), "images have a batch, channels and dimensions between them");
  EXPECT_CONTAINS(shapeErrorOf(zeros({2, 0, 5, 2}), grid), "an image has no pixel");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { image::grid_sample(x, grid, {.method = "bilinear"}); }),
                  "the method is 'nearest', 'linear' or 'cubic', not 'bilinear'");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { image::grid_sample(x, grid, {.padding = "mirror"}); }),
                  "the padding is 'zeros', 'border' or 'reflection', not 'mirror'");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { image::sample(zeros({2, 4, 5, 2}, DType::UInt8), grid); }),
                  "SampleTest.cpp");
}

} // namespace
} // namespace calque::testing
