// Images, and volumes: resizing, values between pixels, and boxes. docs/images.md is the page.
//
//   #include <calque/image.h>
//
//   Tensor small = image::resize(photos, {224, 224}, {.antialias = true}); // [N,224,224,C] of [N,H,W,C]
//   Tensor turned = image::grid_sample(photos, grid);                      // as PyTorch's, of [N,H,W,C]
//   auto [indices, count] = image::non_max_suppression(boxes, scores, 100);
//
// Channels are the last dimension. All functions run eagerly and in traced functions, and consist of the operations of
// functions.h: derivatives, vmap and batches of unknown size pass through them.
#ifndef CALQUE_IMAGE_H
#define CALQUE_IMAGE_H

#include "calque/functions.h"

namespace calque::image {

//===-- Resizing --------------------------------------------------------------------------------===//

struct ResizeOptions {
  // "nearest", "linear", "cubic", "lanczos3" or "lanczos5".
  std::string method = "linear";
  // Where pixel i of the result is among those of the image, of n pixels which become m. "half_pixel": images have the
  // same edges, (i + 1/2) n/m - 1/2. "align_corners": their first and last pixels have the same centres, i (n-1)/(m-1).
  // "asymmetric": i n/m. Also those that ONNX's Resize has: "half_pixel_symmetric", "pytorch_half_pixel",
  // "tf_half_pixel_for_nn" and "tf_crop_and_resize".
  std::string coordinates = "half_pixel";
  // An image that shrinks is smoothed first, over as many pixels as one of the result covers. Not for "nearest".
  bool antialias = false;
  // The dimensions that are resized. Left out: as many as there are sizes, in front of the last one.
  AxisList axes = {};
  // Of "nearest", for a place between two pixels: "round_prefer_ceil", "round_prefer_floor", "floor" or "ceil". The
  // first is PyTorch's "nearest-exact", and "floor" with "asymmetric" its "nearest".
  std::string rounding = "round_prefer_ceil";
  // The number a of R. G. Keys' cubic function. PyTorch has -0.75, or -0.5 with antialias, and TensorFlow -0.5.
  double cubic_coefficient = -0.75;
  // Whether pixels outside of the image count as none, and the weights of the others are scaled to the sum 1. Else they
  // are those at the border. Left out: with antialias, and for "lanczos3" and "lanczos5".
  std::optional<bool> exclude_outside = {};
  // m/n in the formulas of coordinates, one number for each dimension, where it is to differ from that of the sizes.
  std::vector<double> scales = {};
  // Of "tf_crop_and_resize": the parts that are resized, from 0 for the first pixel to 1 for the last one: all
  // beginnings, and then all ends. What is outside of the image has the value `extrapolation`.
  std::vector<double> region = {};
  double extrapolation = 0;
};
// Images with other numbers of pixels, one for each dimension that is resized: [N,H,W,C] or [H,W,C] with {h, w} become
// [N,h,w,C] or [h,w,C]. Floats keep their type; halves are computed in float32 and rounded once. Integers, but for
// "nearest", are computed in float32, or in float64 if they have 32 bits or more, and rounded to the nearest, ties to
// even; what is too large for the type becomes its largest number. Along each dimension a result is a sum of 1
// ("nearest"), 2, 4, 6 or 10 pixels, and with antialias of more, in proportion to how much the image shrinks.
// ValueError for options and numbers that are none, ShapeError for images without pixels and of too small a rank,
// DTypeError for bool and complex numbers but with "nearest", StateError for a dimension that is resized if its size is
// unknown while tracing.
CALQUE_API Tensor resize(const Operand &images, const std::vector<std::int64_t> &sizes, ResizeOptions options = {});

//===-- Values between pixels -------------------------------------------------------------------===//

struct SampleOptions {
  std::string method = "linear"; // or "nearest", "cubic"
  // Outside of the image: "zeros"; "border", its outermost pixels; "reflection", the image mirrored at its edges.
  std::string padding = "zeros";
  // Whether -1 and 1 of a grid are the centres of the outermost pixels, and mirrors stand there, or the edges.
  bool align_corners = false;
};
// The values of images [N,...,C] at places [N,...,d], of images with d dimensions between the batch and the channels:
// [N,...,C] with the middle dimensions of the places. A place has an index for each dimension, in their order: (y, x)
// of [N,H,W,C], where whole numbers are pixels. Gradients pass to the images, and, but with "nearest", to the places.
// A place that is NaN has the value NaN, but with "nearest". ShapeError if the shapes don't fit, DTypeError for types
// other than floats, ValueError for other options.
CALQUE_API Tensor sample(const Operand &images, const Operand &places, SampleOptions options = {});
// The same at the places of a grid as torch.nn.functional.grid_sample has it: coordinates from -1 to 1, those of the
// last dimension first: (x, y) of [N,H,W,C], (x, y, z) of [N,D,H,W,C].
CALQUE_API Tensor grid_sample(const Operand &images, const Operand &grid, SampleOptions options = {});

//===-- Boxes -----------------------------------------------------------------------------------===//

struct SuppressionOptions {
  double iou_threshold = 0.5; // boxes that share more of their union are the same thing
  double score_threshold = -std::numeric_limits<double>::infinity(); // boxes count whose score is larger
};
struct Suppression {
  Tensor indices; // [...,max_output_size] of int64: 0 behind the last one
  Tensor count;   // [...] of int64: how many there are
};
// The boxes with the largest scores, of which none overlaps one with a larger score by more than a threshold, as
// tf.image.non_max_suppression_padded. Boxes are [...,n,4], two opposite corners (y1, x1, y2, x2) or (x1, y1, x2, y2),
// and scores [...,n]. Of equal scores the first one counts as larger; boxes whose score is NaN do not count. Takes time
// n for each result, whose number is declared. No gradient passes. ShapeError if the shapes don't fit, DTypeError for
// types other than floats, ValueError for a negative number of results and for a threshold that is not between 0 and 1.
CALQUE_API Suppression non_max_suppression(const Operand &boxes, const Operand &scores, std::int64_t max_output_size,
                                           SuppressionOptions options = {});

} // namespace calque::image
#endif
