// Resize and Upsample, by image::resize.
#include "onnx/Support.h"

#include "calque/image.h"

#include <cmath>

namespace calque::onnx {

namespace {

// What is resized: axes with their sizes, -1 for one that is not known and stays. Scales and the region are in
// `options`.
struct Sizes {
  std::vector<std::int64_t> axes, sizes;
};

Results resizeAll(const Call &call, const Sizes &all, const image::ResizeOptions &given) {
  const Value &x = call.value(0);
  const Shape shape = call.tensor(0).shape();
  image::ResizeOptions options = given;
  options.scales.clear();
  options.region.clear();
  std::vector<std::int64_t> axes, sizes;
  std::vector<double> ends;
  const std::size_t count = all.axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Size &size = shape[static_cast<std::size_t>(all.axes[i])];
    const double begin = given.region.empty() ? 0 : given.region[i],
                 end = given.region.empty() ? 1 : given.region[i + count];
    const bool isWhole = given.coordinates != "tf_crop_and_resize" || (begin == 0 && end == 1);
    if (given.scales[i] == 1 && (!size.is_known() || size == all.sizes[i]) && isWhole)
      continue;
    // Channels stay last where they are.
    axes.push_back(!x.isImages() || all.axes[i] == 0 ? all.axes[i]
                   : all.axes[i] == 1                ? static_cast<std::int64_t>(shape.size()) - 1
                                                     : all.axes[i] - 1);
    sizes.push_back(all.sizes[i]);
    options.scales.push_back(given.scales[i]);
    options.region.push_back(begin);
    ends.push_back(end);
  }
  if (axes.empty())
    return x;
  options.region.insert(options.region.end(), ends.begin(), ends.end());
  options.axes = axes;
  if (x.isImages())
    return Value::ofImages(image::resize(x.images(), sizes, options));
  return image::resize(call.tensor(0), sizes, options);
}

void requireOneOf(const Call &call, const char *attribute, const std::string &value,
                  std::initializer_list<const char *> values) {
  if (std::ranges::find(values, value) == values.end())
    call.refuse("attribute '" + std::string(attribute) + "' is '" + value + "'");
}

Results resize(const Call &call) {
  const Tensor x = call.tensor(0);
  const Shape shape = x.shape();
  image::ResizeOptions options{
      .method = call.text("mode", "nearest"),
      .coordinates = call.text("coordinate_transformation_mode", call.version() < 11 ? "asymmetric" : "half_pixel"),
      .antialias = call.flag("antialias", false),
      .rounding = call.text("nearest_mode", call.version() < 11 ? "floor" : "round_prefer_floor"),
      .cubic_coefficient = call.number("cubic_coeff_a", -0.75f),
      .exclude_outside = call.flag("exclude_outside", false),
      .extrapolation = call.number("extrapolation_value", 0)};
  requireOneOf(call, "mode", options.method, {"nearest", "linear", "cubic"});
  requireOneOf(call, "nearest_mode", options.rounding, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  requireOneOf(call, "coordinate_transformation_mode", options.coordinates,
               {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners",
                "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  options.antialias = options.antialias && options.method != "nearest";
  std::vector<std::int64_t> axes = call.axes(call.integers("axes"), x.rank());
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  const std::size_t at = call.version() < 11 ? 1 : 2;
  auto has = [&](std::size_t i) { return call.has(i) && !call.numbers(i).empty(); };
  std::vector<double> &scales = options.scales, &roi = options.region;
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
  return resizeAll(call, {axes, sizes}, options);
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
  const image::ResizeOptions options{.method = call.text("mode", "nearest"),
                                     .coordinates = "asymmetric",
                                     .rounding = "floor",
                                     .exclude_outside = false,
                                     .scales = scales};
  requireOneOf(call, "mode", options.method, {"nearest", "linear"});
  return resizeAll(call, {axes, sizes}, options);
}

constexpr Operator kTable[] = {
    {"Resize", {10, 11, 13, 18, 19}, 1, 4, 0b1110, resize},
    {"Upsample", {7, 9, 10}, 1, 2, 0b10, upsample},
};

} // namespace

Table resizeOperators() { return kTable; }

} // namespace calque::onnx
