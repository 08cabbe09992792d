// Windows over images: attributes that convolutions and pooling have in common.
#ifndef CALQUE_INTERCHANGE_ONNX_WINDOWS_H
#define CALQUE_INTERCHANGE_ONNX_WINDOWS_H

#include "onnx/Support.h"

#include <functional>

namespace calque::onnx {

struct Window {
  std::vector<std::int64_t> sizes, strides, dilations, low, high; // one for each dimension of space
  std::string autoPad;
  bool ceil = false;

  std::size_t rank() const { return sizes.size(); }
  std::int64_t reach(std::size_t i) const { return (sizes[i] - 1) * dilations[i] + 1; }
  bool isDilated() const;
  bool isPadded() const;
  Padding::Pairs pairs() const;
};

// Reads kernel_shape (or takes the given sizes), strides, dilations, pads and auto_pad. `input` has channels second.
// Refuses attributes of wrong lengths, and auto_pad along sizes that are unknown.
Window windowOf(const Call &call, const Shape &input, std::vector<std::int64_t> sizes = {});

// Padding of each dimension with which windows of a stride end where ceil_mode lets them end: beyond the images and
// their padding, as long as they begin within.
std::vector<std::int64_t> outputSizes(const Window &window, const Shape &input);

// Calls `each` with a view of the images for each element of the window: what that element meets in all windows, and
// the number of the element. The images have channels second, and are padded by `fill`, also where ceil_mode reads on.
// `places` are the sizes of the result; empty: those that the window has on the images.
void eachTap(const Tensor &x, const Window &window, const Number &fill,
             const std::function<void(const Tensor &view, std::int64_t tap)> &each,
             std::vector<std::int64_t> places = {});

} // namespace calque::onnx
#endif
