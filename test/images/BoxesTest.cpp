// image::non_max_suppression against torchvision.
#include "test/arrays/Testing.h"

#include <calque/image.h>

namespace calque::testing {
namespace {

using image::Suppression;
using image::SuppressionOptions;

std::vector<std::int64_t> keptOf(const Suppression &found) {
  std::vector<std::int64_t> indices = found.indices.to_vector<std::int64_t>();
  const auto count = static_cast<std::size_t>(found.count.item<std::int64_t>());
  for (std::size_t i = count; i < indices.size(); ++i)
    EXPECT_EQ(indices[i], 0);
  indices.resize(count);
  return indices;
}

TEST(ImageBoxes, AreThoseOfTorchvision) {
  const Expected &numbers = expected("boxes");
  const Tensor &boxes = numbers.inputs[0], &scores = numbers.inputs[1];
  const SuppressionOptions options[] = {{.iou_threshold = 0.5, .score_threshold = 0},
                                        {.iou_threshold = 0.2, .score_threshold = 0},
                                        {.score_threshold = 0.6}};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<std::int64_t> exact = numbers.outputs[i].to_vector<std::int64_t>();
    for (std::int64_t most : {40, 5}) {
      auto f = [&](const Tensor &boxes, const Tensor &scores) {
        return image::non_max_suppression(boxes, scores, most, options[i]);
      };
      std::vector<std::int64_t> some = exact;
      some.resize(std::min(some.size(), static_cast<std::size_t>(most)));
      EXPECT_EQ(keptOf(f(boxes, scores)), some);
      EXPECT_EQ(keptOf(function(f)(boxes, scores)), some);
    }
  }
}

TEST(ImageBoxes, ComeInBatchesAndUnknownNumbers) {
  const Expected &numbers = expected("boxes");
  const Tensor &boxes = numbers.inputs[0], &scores = numbers.inputs[1];
  const Tensor twice = stack({boxes, reverse(boxes, 0)}), both = stack({scores, reverse(scores, 0) * 0.5});
  const Suppression found = image::non_max_suppression(twice, both, 8, {.score_threshold = 0.3});
  EXPECT_EQ(found.indices.shape(), (Shape{2, 8}));
  auto mapped = vmap([](const Tensor &boxes, const Tensor &scores) {
    const Suppression found = image::non_max_suppression(boxes, scores, 8, {.score_threshold = 0.3});
    return std::pair(found.indices, found.count);
  })(twice, both);
  expectSameBits(mapped.first, found.indices);
  expectSameBits(mapped.second, found.count);
  for (std::int64_t i : {0, 1})
    EXPECT_EQ(keptOf({found.indices[i], found.count[i]}),
              keptOf(image::non_max_suppression(twice[i], both[i], 8, {.score_threshold = 0.3})));
  auto open =
      function([](const Tensor &boxes, const Tensor &scores) { return image::non_max_suppression(boxes, scores, 3); },
               {.input_signature = {TensorSpec<double>({kDynamic, 4}), TensorSpec<double>({kDynamic})}});
  EXPECT_EQ(keptOf(open(boxes, scores)), keptOf(image::non_max_suppression(boxes, scores, 3)));
  EXPECT_EQ(keptOf(open(zeros({0, 4}, DType::Float64), zeros({0}, DType::Float64))), std::vector<std::int64_t>());
  EXPECT_EQ(keptOf(image::non_max_suppression(zeros({0, 4}), zeros({0}), 3)), std::vector<std::int64_t>());
}

TEST(ImageBoxes, OfEqualScoresWithoutAreaAndOfNoNumber) {
  const Tensor boxes =
      tensor({{0.0f, 0.0f, 2.0f, 2.0f}, {2.0f, 2.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f, 1.0f}, {5.0f, 5.0f, 6.0f, 6.0f}});
  const float nan = std::nanf("");
  EXPECT_EQ(keptOf(image::non_max_suppression(boxes, tensor({1.0f, 1.0f, 1.0f, nan}), 4)),
            (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(keptOf(image::non_max_suppression(boxes, tensor({1.0f, 2.0f, 0.0f, 3.0f}), 2)),
            (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(image::non_max_suppression(boxes, ones({4}), 0).indices.shape(), (Shape{0}));
  const Tensor halves = cast(boxes, DType::Float16);
  EXPECT_EQ(keptOf(image::non_max_suppression(halves, ones({4}, DType::Float16), 4)),
            (std::vector<std::int64_t>{0, 2, 3}));
}

TEST(ImageBoxes, SayWhatIsWrong) {
  auto shapeErrorOf = [](const Shape &boxes, const Shape &scores) {
    return errorOf<ShapeError>([&] { image::non_max_suppression(zeros(boxes), zeros(scores), 3); });
  };
  EXPECT_CONTAINS(shapeErrorOf({3, 5}, {3}), "image::non_max_suppression: boxes are [...,n,4], not");
  EXPECT_CONTAINS(shapeErrorOf({3, 4}, {2}), "there must be a score for each of the boxes");
  EXPECT_CONTAINS(errorOf<ValueError>([] { image::non_max_suppression(zeros({3, 4}), zeros({3}), -1); }),
                  "the number of results must not be negative: -1");
  EXPECT_CONTAINS(
      errorOf<ValueError>([] { image::non_max_suppression(zeros({3, 4}), zeros({3}), 1, {.iou_threshold = 2}); }),
      "a threshold of overlaps is between 0 and 1, unlike 2");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { image::non_max_suppression(zeros({3, 4}, DType::Int32), zeros({3}), 1); }),
                  "BoxesTest.cpp");
}

} // namespace
} // namespace calque::testing
