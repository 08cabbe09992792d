#include "onnx/Windows.h"

#include <algorithm>

namespace calque::onnx {

bool Window::isDilated() const {
  return std::ranges::any_of(dilations, [](std::int64_t n) { return n != 1; });
}
bool Window::isPadded() const {
  auto isPositive = [](std::int64_t n) { return n != 0; };
  return std::ranges::any_of(low, isPositive) || std::ranges::any_of(high, isPositive);
}
Padding::Pairs Window::pairs() const {
  Padding::Pairs pairs;
  for (std::size_t i = 0; i < rank(); ++i)
    pairs.emplace_back(low[i], high[i]);
  return pairs;
}

Window windowOf(const Call &call, const Shape &input, std::vector<std::int64_t> sizes) {
  Window window;
  window.sizes = call.integers("kernel_shape", sizes);
  const std::size_t rank = input.size() - 2;
  if (input.size() < 3 || window.sizes.size() != rank)
    call.refuse("a window of " + std::to_string(window.sizes.size()) + " dimensions for images of shape " +
                input.str());
  const std::vector<std::int64_t> ones(rank, 1);
  window.strides = call.integers("strides", ones);
  window.dilations = call.integers("dilations", ones);
  std::vector<std::int64_t> pads = call.integers("pads", std::vector<std::int64_t>(2 * rank, 0));
  window.autoPad = call.text("auto_pad", "NOTSET");
  window.ceil = call.flag("ceil_mode", false);
  if (window.strides.size() != rank || window.dilations.size() != rank || pads.size() != 2 * rank)
    call.refuse("strides, dilations or pads don't have the window's " + std::to_string(rank) + " dimensions");
  for (std::size_t i = 0; i < rank; ++i)
    if (window.sizes[i] < 1 || window.strides[i] < 1 || window.dilations[i] < 1)
      call.refuse("sizes, strides and dilations of the window are positive");
  window.low.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.high.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  if (window.autoPad == "VALID") {
    window.low.assign(rank, 0);
    window.high.assign(rank, 0);
  } else if (window.autoPad == "SAME_UPPER" || window.autoPad == "SAME_LOWER") {
    for (std::size_t i = 0; i < rank; ++i) {
      const Size &given = input[2 + i];
      if (!given.is_known())
        call.refuse("auto_pad is '" + window.autoPad + "', and a size of the images is not known while tracing");
      const std::int64_t size = given, places = (size + window.strides[i] - 1) / window.strides[i];
      const std::int64_t all = std::max<std::int64_t>((places - 1) * window.strides[i] + window.reach(i) - size, 0);
      window.low[i] = window.autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
      window.high[i] = all - window.low[i];
    }
  } else if (window.autoPad != "NOTSET" && !window.autoPad.empty()) {
    call.refuse("attribute 'auto_pad' is '" + window.autoPad + "'");
  }
  return window;
}

std::vector<std::int64_t> outputSizes(const Window &window, const Shape &input) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t size = input[2 + i], stride = window.strides[i];
    const std::int64_t room = size + window.low[i] + window.high[i] - window.reach(i);
    std::int64_t places = room < 0 ? 0 : (window.ceil ? (room + stride - 1) / stride : room / stride) + 1;
    if (window.ceil && (places - 1) * stride >= size + window.low[i])
      --places; // a window begins in the images or the padding before them
    sizes.push_back(places);
  }
  return sizes;
}

void eachTap(const Tensor &x, const Window &window, const Number &fill,
             const std::function<void(const Tensor &view, std::int64_t tap)> &each, std::vector<std::int64_t> places) {
  if (places.empty())
    places = outputSizes(window, x.shape());
  std::vector<std::int64_t> low(2, 0), high(2, 0);
  const Shape shape = x.shape();
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t size = shape[2 + i];
    const std::int64_t end = (places[i] - 1) * window.strides[i] + window.reach(i);
    low.push_back(window.low[i]);
    high.push_back(std::max(window.high[i], end - size - window.low[i]));
  }
  const Tensor padded = pad(x, low, high, fill);
  std::int64_t taps = 1;
  for (std::int64_t size : window.sizes)
    taps *= size;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Tensor view = padded;
    std::int64_t rest = tap;
    for (std::size_t i = window.rank(); i-- > 0;) {
      const std::int64_t start = rest % window.sizes[i] * window.dilations[i];
      rest /= window.sizes[i];
      view = sliceAlong(view, static_cast<std::int64_t>(i) + 2, start, start + (places[i] - 1) * window.strides[i] + 1,
                        window.strides[i]);
    }
    each(view, tap);
  }
}

} // namespace calque::onnx
