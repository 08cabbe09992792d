// Values of images between pixels, and boxes.
#include "calque/arrays/making.h"
#include "calque/control_flow.h"
#include "calque/image.h"

#include "absl/strings/str_cat.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>

namespace calque::image {

using detail::ArrayCall;
using detail::typeOf;

namespace {

//===-- Places ----------------------------------------------------------------------------------===//

enum class Interpolation : std::uint8_t { Nearest, Linear, Cubic };
enum class Padding : std::uint8_t { Zeros, Border, Reflection };

Interpolation interpolationOf(const SampleOptions &options, const ArrayCall &call) {
  if (options.method == "nearest")
    return Interpolation::Nearest;
  if (options.method == "linear")
    return Interpolation::Linear;
  if (options.method == "cubic")
    return Interpolation::Cubic;
  throw ValueError(
      absl::StrCat(call.function, ": the method is 'nearest', 'linear' or 'cubic', not '", options.method, "'"),
      call.where);
}
Padding paddingOf(const SampleOptions &options, const ArrayCall &call) {
  if (options.padding == "zeros")
    return Padding::Zeros;
  if (options.padding == "border")
    return Padding::Border;
  if (options.padding == "reflection")
    return Padding::Reflection;
  throw ValueError(
      absl::StrCat(call.function, ": the padding is 'zeros', 'border' or 'reflection', not '", options.padding, "'"),
      call.where);
}

// Images and places that fit, in the type of the computation.
struct Given {
  Tensor images, places;
  DType dtype; // of the result
  std::size_t rank;

  Given(const Operand &x, const Operand &at, const ArrayCall &call)
      : images(detail::floatsOf(x, call)), places(detail::floatsOf(at, call)), dtype(images.dtype()) {
    auto refuse = [&](const char *what) {
      throw ShapeError(
          absl::StrCat(call.function, ": ", what, ": the images are ", typeOf(images), ", the places ", typeOf(places)),
          call.where);
    };
    const Shape shape = images.shape(), other = places.shape();
    if (shape.size() < 3 || other.size() < 2)
      refuse("images have a batch, channels and dimensions between them, and places a batch");
    rank = shape.size() - 2;
    if (!other.back().is_known() || other.back() != rank)
      refuse("a place has a number for each dimension between the batch and the channels");
    if (shape[0].is_known() && other[0].is_known() && shape[0] != other[0])
      refuse("there must be as many images as batches of places");
    for (std::size_t d = 0; d < rank; ++d)
      if (detail::isKnownTo(shape[d + 1], 0))
        refuse("an image has no pixel");
    if (is_half(images.dtype()))
      images = cast(images, DType::Float32);
    if (is_half(places.dtype()))
      places = cast(places, DType::Float32);
  }

  Size size(std::size_t d) const { return images.shape()[d + 1]; }
  // The size of a dimension as a number beside places.
  Tensor number(std::size_t d) const { return Operand(size(d)).toTensor(places.dtype()); }
};

// A coordinate beyond low or high is mirrored there, as often as needed.
Tensor mirrored(const Tensor &x, const Tensor &low, const Tensor &high) {
  const Tensor length = high - low, twice = 2 * length;
  const Tensor isPoint = length <= 0; // of which all is at one place
  const Tensor within = mod(x - low, where(isPoint, 1, twice));
  return where(isPoint, low, low + minimum(within, twice - within));
}

// Coordinates along one dimension, in pixels.
struct Line {
  Tensor last; // the index of the last pixel
  Padding padding;
  bool isAligned;

  Tensor reflected(const Tensor &x) const {
    return isAligned ? mirrored(x, zeros_like(last), last) : mirrored(x, full_like(last, -0.5), last + 0.5);
  }
  Tensor within(const Tensor &x) const { return clip(x, zeros_like(last), last); }
  // One that is as good as x, in the image unless zeros are outside.
  Tensor near(const Tensor &x) const {
    switch (padding) {
    case Padding::Zeros: // where no pixel has a weight
      return clip(x, full_like(last, -3), last + 3);
    case Padding::Border:
      return within(x);
    case Padding::Reflection:
      return within(reflected(x));
    }
    return x;
  }
};

// Pixels along one dimension.
struct Tap {
  Tensor index;   // inside of the image
  Tensor isThere; // not defined: all are
  Tensor weight;  // not defined: 1
};

Tap tapAt(const Line &line, const Tensor &place, const Tensor &weight) {
  const bool mayBeOutside = line.padding == Padding::Zeros;
  // A place is whole, and so is its mirror image, but for rounding.
  const Tensor inside = line.padding == Padding::Reflection ? round(line.reflected(place)) : place;
  return {.index = cast(line.within(inside), DType::Int64),
          .isThere = mayBeOutside ? logical_and(place >= 0, place <= line.last) : Tensor(),
          .weight = weight};
}

std::vector<Tap> tapsOf(const Line &line, Interpolation method, const Tensor &x) {
  if (method == Interpolation::Nearest)
    return {tapAt(line, round(line.near(x)), {})};
  // Cubic weights reach outside of the image in any case.
  const bool isCubic = method == Interpolation::Cubic;
  const Tensor near = isCubic ? (line.padding == Padding::Zeros ? line.near(x) : x) : line.near(x);
  const Tensor whole = floor(near), part = near - whole;
  if (!isCubic)
    return {tapAt(line, whole, 1 - part), tapAt(line, whole + 1, part)};
  // R. G. Keys' function, with PyTorch's a.
  constexpr double a = -0.75;
  auto inner = [&](const Tensor &t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  auto outer = [&](const Tensor &t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {tapAt(line, whole - 1, outer(part + 1)), tapAt(line, whole, inner(part)),
          tapAt(line, whole + 1, inner(1 - part)), tapAt(line, whole + 2, outer(2 - part))};
}

Tensor sampled(const Given &given, const SampleOptions &options, const std::vector<Tensor> &coordinates,
               const ArrayCall &call) {
  const Interpolation method = interpolationOf(options, call);
  const Padding padding = paddingOf(options, call);
  std::vector<std::vector<Tap>> taps;
  std::size_t count = 1;
  for (std::size_t d = 0; d < given.rank; ++d) {
    const Line line{given.number(d) - 1, padding, options.align_corners};
    taps.push_back(tapsOf(line, method, coordinates[d]));
    count *= taps.back().size();
  }
  // All pixels one after the other: [N * P, C].
  Tensor pixels = given.images;
  for (std::size_t d = 0; d < given.rank; ++d)
    pixels = detail::mergeDims(pixels, 0);
  const Tensor batch = detail::indicesAlong(given.images.shape()[0], 0, coordinates[0].rank());
  const DType type = given.images.dtype();
  Tensor total;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor index = batch, isThere, weight;
    std::size_t rest = i;
    for (std::size_t d = 0; d < given.rank; ++d) {
      const Tap &tap = taps[d][rest % taps[d].size()];
      rest /= taps[d].size();
      index = index * Operand(given.size(d)).toTensor(DType::Int64) + tap.index;
      if (tap.isThere.defined())
        isThere = isThere.defined() ? logical_and(isThere, tap.isThere) : tap.isThere;
      if (tap.weight.defined())
        weight = weight.defined() ? weight * tap.weight : tap.weight;
    }
    Tensor term = gather(pixels, index);
    if (isThere.defined())
      term = where(expand_dims(isThere, -1), term, Number());
    if (weight.defined())
      term = term * expand_dims(cast(weight, type), -1);
    total = total.defined() ? total + term : term;
  }
  return cast(total, given.dtype);
}

} // namespace

Tensor sample(const Operand &images, const Operand &places, SampleOptions options) {
  ArrayCall call(images, "image::sample");
  const Given given(images, places, call);
  return sampled(given, options, unstack(given.places, -1), call);
}

Tensor grid_sample(const Operand &images, const Operand &grid, SampleOptions options) {
  ArrayCall call(images, "image::grid_sample");
  const Given given(images, grid, call);
  std::vector<Tensor> coordinates = unstack(given.places, -1);
  std::ranges::reverse(coordinates);
  for (std::size_t d = 0; d < given.rank; ++d) {
    const Tensor size = given.number(d), &g = coordinates[d];
    coordinates[d] = options.align_corners ? (g + 1) * ((size - 1) / 2) : ((g + 1) * size - 1) / 2;
  }
  return sampled(given, options, coordinates, call);
}

//===-- Boxes -----------------------------------------------------------------------------------===//

Suppression non_max_suppression(const Operand &boxesOf, const Operand &scoresOf, std::int64_t most,
                                SuppressionOptions options) {
  ArrayCall call(boxesOf, "image::non_max_suppression");
  Tensor boxes = stop_gradient(detail::floatsOf(boxesOf, call)),
         scores = stop_gradient(detail::floatsOf(scoresOf, call));
  Shape expected = boxes.shape();
  if (boxes.rank() < 2 || !detail::isKnownTo(expected.back(), 4))
    throw ShapeError(absl::StrCat(call.function, ": boxes are [...,n,4], not ", typeOf(boxes)), call.where);
  expected.pop_back();
  if (!expected.is_compatible_with(scores.shape()))
    throw ShapeError(absl::StrCat(call.function, ": there must be a score for each of the boxes ", typeOf(boxes),
                                  ", and there are ", typeOf(scores)),
                     call.where);
  if (most < 0)
    throw ValueError(absl::StrCat(call.function, ": the number of results must not be negative: ", most), call.where);
  if (!(options.iou_threshold >= 0 && options.iou_threshold <= 1))
    throw ValueError(
        absl::StrCat(call.function, ": a threshold of overlaps is between 0 and 1, unlike ", options.iou_threshold),
        call.where);
  if (is_half(boxes.dtype()))
    boxes = cast(boxes, DType::Float32);
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  scores = where(scores > options.score_threshold, scores, kNone); // also those that are NaN
  const std::int64_t axis = scores.rank() - 1;
  const Size size = expected.back();
  if (!size.is_known() || size == 0) { // a box that never counts, so that there is one
    std::vector<std::int64_t> low(static_cast<std::size_t>(boxes.rank()), 0), high = low;
    high[static_cast<std::size_t>(axis)] = 1;
    boxes = pad(boxes, low, high);
    low.pop_back();
    high.pop_back();
    scores = pad(scores, low, high, kNone);
  }
  const std::vector<Tensor> corners = unstack(boxes, -1); // each [..., n]
  const Tensor y0 = minimum(corners[0], corners[2]), y1 = maximum(corners[0], corners[2]),
               x0 = minimum(corners[1], corners[3]), x1 = maximum(corners[1], corners[3]);
  const Tensor area = (y1 - y0) * (x1 - x0);
  const Tensor number = iota(scores.shape(), DType::Int64, axis); // of each box
  const Tensor first = max(scores, axis), none = first == first;
  const Tensor noCount = cast(none, DType::Int64) * 0;
  Shape results = scores.shape();
  results.back() = most;
  const Tensor position = detail::indicesAlong(most, axis, scores.rank());
  const Tensor noIndices = expand_dims(noCount, -1) + position * 0;
  const auto [indices, count, left] =
      for_range(0, most, std::tuple(noIndices, noCount, scores),
                [&](const Tensor &i, const Tensor &indices, const Tensor &count, const Tensor &scores) {
                  const Tensor best = expand_dims(argmax(scores, axis), -1); // [..., 1]
                  auto chosen = [&](const Tensor &each) { return take_along_axis(each, best, axis); };
                  const Tensor isFound = chosen(scores) > kNone;
                  const Tensor height = maximum(minimum(y1, chosen(y1)) - maximum(y0, chosen(y0)), 0),
                               width = maximum(minimum(x1, chosen(x1)) - maximum(x0, chosen(x0)), 0);
                  const Tensor common = height * width, all = area + chosen(area) - common;
                  // Boxes without an area overlap nothing.
                  const Tensor isSame = logical_and(common > 0, common > options.iou_threshold * all);
                  const Tensor isHere = logical_and(position == cast(i, DType::Int64), isFound);
                  return std::tuple(where(isHere, best, indices), count + cast(squeeze(isFound, -1), DType::Int64),
                                    where(logical_or(isSame, number == best), kNone, scores));
                });
  return {indices, count};
}

} // namespace calque::image
