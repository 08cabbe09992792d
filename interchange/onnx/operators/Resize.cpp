// Resize and Upsample: along each axis, a result is a sum of a few entries with weights that the sizes say.
#include "onnx/Support.h"

#include <cmath>

namespace calque::onnx {

namespace {

struct Options {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool antialias = false, excludesOutside = false;
};

double cubicWeight(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
double linearWeight(double x) { return std::max(0.0, 1 - std::abs(x)); }

// What one result along an axis reads: places, which may be outside, and their weights.
struct Taps {
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  bool isOutside = false;
};

double originOf(const Call &call, const Options &options, std::int64_t x, double scale, std::int64_t size,
                std::int64_t resized, double from, double to) {
  const double width = scale * static_cast<double>(size), at = static_cast<double>(x);
  const auto last = static_cast<double>(size - 1);
  if (options.coordinates == "half_pixel")
    return (at + 0.5) / scale - 0.5;
  if (options.coordinates == "half_pixel_symmetric")
    return static_cast<double>(size) / 2 * (1 - static_cast<double>(resized) / width) + (at + 0.5) / scale - 0.5;
  if (options.coordinates == "pytorch_half_pixel")
    return resized == 1 ? -0.5 : (at + 0.5) / scale - 0.5;
  if (options.coordinates == "asymmetric")
    return at / scale;
  if (options.coordinates == "align_corners")
    return width == 1 ? 0 : at * last / (width - 1);
  if (options.coordinates == "tf_half_pixel_for_nn")
    return (at + 0.5) / scale;
  if (options.coordinates == "tf_crop_and_resize")
    return from * last + (width == 1 ? (to - from) * last / 2 : at * (to - from) * last / (width - 1));
  call.refuse("attribute 'coordinate_transformation_mode' is '" + options.coordinates + "'");
}

Taps tapsOf(const Call &call, const Options &options, double x, double scale, std::int64_t size) {
  Taps taps;
  const double below = std::floor(x);
  if (options.mode == "nearest") {
    double place;
    if (options.nearest == "round_prefer_floor")
      place = std::ceil(x - 0.5);
    else if (options.nearest == "round_prefer_ceil")
      place = std::floor(x + 0.5);
    else if (options.nearest == "floor")
      place = below;
    else if (options.nearest == "ceil")
      place = std::ceil(x);
    else
      call.refuse("attribute 'nearest_mode' is '" + options.nearest + "'");
    return {{static_cast<std::int64_t>(place)}, {1}};
  }
  const bool isCubic = options.mode == "cubic";
  if (!isCubic && options.mode != "linear")
    call.refuse("attribute 'mode' is '" + options.mode + "'");
  // An image that shrinks is smoothed by a wider kernel.
  const double stretch = options.antialias ? std::min(scale, 1.0) : 1.0, reach = (isCubic ? 2 : 1) / stretch;
  double sum = 0;
  for (double place = std::floor(x - reach) + 1; place < x + reach + 1e-9; ++place) {
    double weight = isCubic ? cubicWeight((place - x) * stretch, options.cubic) : linearWeight((place - x) * stretch);
    if (options.excludesOutside && (place < 0 || place >= static_cast<double>(size)))
      weight = 0;
    taps.places.push_back(static_cast<std::int64_t>(place));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (options.antialias || options.excludesOutside)
    for (double &weight : taps.weights)
      weight /= sum;
  return taps;
}

Tensor resizeAlong(const Call &call, const Options &options, const Tensor &x, std::int64_t axis, std::int64_t resized,
                   double scale, double from, double to) {
  const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
  std::vector<Taps> all;
  std::size_t most = 0;
  bool someOutside = false;
  for (std::int64_t i = 0; i < resized; ++i) {
    const double origin = originOf(call, options, i, scale, size, resized, from, to);
    all.push_back(tapsOf(call, options, origin, scale, size));
    all.back().isOutside =
        options.coordinates == "tf_crop_and_resize" && (origin < 0 || origin > static_cast<double>(size - 1));
    someOutside = someOutside || all.back().isOutside;
    most = std::max(most, all.back().places.size());
  }
  Shape along(static_cast<std::size_t>(x.rank()), 1);
  along[static_cast<std::size_t>(axis)] = resized;
  Tensor y;
  for (std::size_t tap = 0; tap < most; ++tap) {
    std::vector<std::int64_t> places;
    std::vector<double> weights;
    bool allOne = true;
    for (const Taps &each : all) {
      const bool has = tap < each.places.size();
      places.push_back(has ? std::clamp<std::int64_t>(each.places[tap], 0, size - 1) : 0);
      weights.push_back(has ? each.weights[tap] : 0);
      allOne = allOne && weights.back() == 1;
    }
    Tensor part = pick(x, places, axis);
    if (!allOne)
      part = part * ofNumbers(weights, x.dtype(), along);
    y = y.defined() ? y + part : part;
  }
  if (someOutside) {
    std::vector<double> outside;
    for (const Taps &each : all)
      outside.push_back(each.isOutside);
    y = where(ofNumbers(outside, DType::Bool, along), scalarOf(options.extrapolation, x.dtype()), y);
  }
  return y;
}

Tensor resizeAll(const Call &call, const Options &options, Tensor x, const std::vector<std::int64_t> &axes,
                 const std::vector<std::int64_t> &sizes, const std::vector<double> &scales,
                 const std::vector<double> &roi) {
  const DType dtype = x.dtype();
  const bool computes = options.mode != "nearest" && !is_floating(dtype);
  if (computes)
    x = cast(x, DType::Float32);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double from = roi.empty() ? 0 : roi[i], to = roi.empty() ? 1 : roi[i + axes.size()];
    const Size &size = x.shape()[static_cast<std::size_t>(axes[i])];
    if (scales[i] == 1 && (!size.is_known() || size == sizes[i]) && options.coordinates != "tf_crop_and_resize")
      continue;
    x = resizeAlong(call, options, x, axes[i], sizes[i], scales[i], from, to);
  }
  return computes ? cast(round(x), dtype) : x;
}

Results resize(const Call &call) {
  const Tensor x = call.tensor(0);
  const Shape shape = x.shape();
  Options options{.mode = call.text("mode", "nearest"),
                  .coordinates =
                      call.text("coordinate_transformation_mode", call.version() < 11 ? "asymmetric" : "half_pixel"),
                  .nearest = call.text("nearest_mode", call.version() < 11 ? "floor" : "round_prefer_floor"),
                  .cubic = call.number("cubic_coeff_a", -0.75f),
                  .extrapolation = call.number("extrapolation_value", 0),
                  .antialias = call.flag("antialias", false),
                  .excludesOutside = call.flag("exclude_outside", false)};
  std::vector<std::int64_t> axes = call.axes(call.integers("axes"), x.rank());
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  const std::size_t at = call.version() < 11 ? 1 : 2;
  auto has = [&](std::size_t i) { return call.has(i) && !call.numbers(i).empty(); };
  std::vector<double> scales, roi;
  std::vector<std::int64_t> sizes;
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (has(at)) {
    scales = call.numbers(at);
    if (scales.size() != axes.size())
      call.refuse("there are " + std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) +
                  " axes");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Size &size = shape[static_cast<std::size_t>(axes[i])];
      if (!(scales[i] > 0))
        call.refuse("a scale is " + std::to_string(scales[i]));
      // A size that is not known is not resized.
      sizes.push_back(!size.is_known() && scales[i] == 1
                          ? -1
                          : static_cast<std::int64_t>(std::floor(static_cast<double>(std::int64_t(size)) * scales[i])));
    }
  } else if (has(3)) {
    sizes = call.integers(3);
    if (sizes.size() != axes.size())
      call.refuse("there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes");
    for (std::size_t i = 0; i < axes.size(); ++i)
      scales.push_back(static_cast<double>(sizes[i]) /
                       static_cast<double>(std::int64_t(shape[static_cast<std::size_t>(axes[i])])));
    if (policy != "stretch") {
      if (policy != "not_larger" && policy != "not_smaller")
        call.refuse("attribute 'keep_aspect_ratio_policy' is '" + policy + "'");
      const double scale =
          policy == "not_larger" ? *std::ranges::min_element(scales) : *std::ranges::max_element(scales);
      for (std::size_t i = 0; i < axes.size(); ++i) {
        scales[i] = scale;
        sizes[i] = static_cast<std::int64_t>(
            std::floor(scale * static_cast<double>(std::int64_t(shape[static_cast<std::size_t>(axes[i])])) + 0.5));
      }
    }
  } else {
    call.refuse("neither scales nor sizes are given");
  }
  if (call.version() >= 11 && has(1))
    roi = call.numbers(1);
  if (!roi.empty() && roi.size() != 2 * axes.size())
    call.refuse("a roi of " + std::to_string(roi.size()) + " numbers for " + std::to_string(axes.size()) + " axes");
  return resizeAll(call, options, x, axes, sizes, scales, roi);
}

Results upsample(const Call &call) {
  const Tensor x = call.tensor(0);
  if (call.version() > 9)
    call.refuse("Resize takes its place from operator set 10 on");
  const std::vector<double> scales = call.version() < 9 ? call.numbers("scales") : call.numbers(1);
  if (static_cast<std::int64_t>(scales.size()) != x.rank())
    call.refuse("there are " + std::to_string(scales.size()) + " scales for " + std::to_string(x.rank()) + " axes");
  std::vector<std::int64_t> axes, sizes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
    const Size size = x.shape()[i];
    sizes.push_back(!size.is_known() && scales[i] == 1
                        ? -1
                        : static_cast<std::int64_t>(std::floor(static_cast<double>(std::int64_t(size)) * scales[i])));
  }
  const Options options{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .nearest = "floor"};
  return resizeAll(call, options, x, axes, sizes, scales, {});
}

constexpr Operator kTable[] = {
    {"Resize", {10, 11, 13, 18, 19}, 1, 4, 0b1110, resize},
    {"Upsample", {7, 9, 10}, 1, 2, 0b10, upsample},
};

} // namespace

Table resizeOperators() { return kTable; }

} // namespace calque::onnx
