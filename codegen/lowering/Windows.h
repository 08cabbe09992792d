// How windows slide over images: their extents and padding, and the tiles in which gradients compute images from the
// results of windows.
#ifndef CALQUE_CODEGEN_LOWERING_WINDOWS_H
#define CALQUE_CODEGEN_LOWERING_WINDOWS_H

#include "codegen/lowering/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace calque::codegen::windows {

using Ints = mlir::SmallVector<int64_t>;

// How a window slides along one dimension: the sizes of its output and of the padding around its input, and the number
// of its elements (`taps`), which lie `dilation` apart.
struct WindowDimension {
  Size output, padLow, padHigh;
  int64_t taps, stride, dilation;
  bool isPadded() const { return constantOf(padLow) != 0 || constantOf(padHigh) != 0; }
  int64_t reach() const { return (taps - 1) * dilation; } // from the first element to the last one
};

using Window = mlir::SmallVector<WindowDimension, 3>;

Ints tapsOf(const Window &window);

// The same formula as schema::windowExtent, on sizes that may be unknown.
WindowDimension extentOf(Sizes &sizes, Size input, bool same, int64_t padLow, int64_t padHigh, int64_t taps,
                         int64_t stride, int64_t dilation);

// The part of a window that meets the image at any position, with the padding that this part needs. The cost of padding
// and loops then grows with the image, and not with the window. A window over unknown sizes does not change.
WindowDimension clipped(Sizes &sizes, WindowDimension extent, Size input);

// The window of an operation with the attributes strides, padding and pads, over these images.
template <typename Op>
Window windowOf(LinalgBuilder &b, Op op, mlir::Value images, mlir::ArrayRef<int64_t> taps,
                mlir::ArrayRef<int64_t> dilations = {}) {
  mlir::ArrayRef<int64_t> pads = op.getPads(), strides = op.getStrides();
  Window window;
  for (auto [i, stride] : llvm::enumerate(strides))
    window.push_back(extentOf(b.sizes, b.sizes.of(images, i + 1), op.getPadding() == "same",
                              pads.empty() ? 0 : pads[2 * i], pads.empty() ? 0 : pads[2 * i + 1], taps[i], stride,
                              dilations.empty() ? 1 : dilations[i]));
  return window;
}

template <typename Op> Window poolWindowOf(LinalgBuilder &b, Op op, mlir::Value images) {
  Window window = windowOf(b, op, images, op.getWindow());
  for (auto [i, extent] : llvm::enumerate(window))
    extent = clipped(b.sizes, extent, b.sizes.of(images, i + 1));
  return window;
}

mlir::Value padImages(LinalgBuilder &b, mlir::Value images, const Window &window, mlir::Value value);

bool isEmpty(mlir::ArrayRef<Size> sizes);

mlir::Value zeroOf(LinalgBuilder &b, mlir::Value like);

// The sizes of the result of a window that slides over images, with `channels` channels.
SizeList slidOver(LinalgBuilder &b, mlir::Value images, const Window &window, Size channels);

void equalSizes(LinalgBuilder &b, mlir::Operation *op, unsigned operand, mlir::ArrayRef<Size> expected,
                LoweringContext &context);

// The values of all windows, each at the place of its window's first element, and zeros at all other places. The result
// has `reach` places before the first element of the images, so that element h of the images lies in the windows at the
// places h to h + reach.
mlir::Value spreadOver(LinalgBuilder &b, mlir::Value values, mlir::ArrayRef<Size> images, const Window &window);

// The numbers of zeros before and behind images.
struct Zeros {
  int64_t low = 0, high = 0;
};

// How the images of a strided convolution are computed from its results. Element u = i * stride + a of the padded
// images is place a of tile i. It is element q * stride + a of window i - q, for each part q of a window. So a
// convolution of the results without strides computes the images: its windows have one element for each q, and its
// channels are the places of a tile. It multiplies no zeros but those that fill the last part.
struct Tiles {
  int64_t parts, places, stride; // places behind the filter's end are zero, and not computed
  int64_t dilation;              // of the parts; 1 unless the stride is 1
  Size first, count;
  int64_t reach() const { return (parts - 1) * dilation; }
};

Tiles tilesOf(LinalgBuilder &b, const WindowDimension &extent, Size images);

// The results of the windows that any tile reads, with zeros where there is no window. `zeros`, if given, receives the
// numbers of these zeros for each dimension, or none if they are not known.
mlir::Value lookedAt(LinalgBuilder &b, mlir::Value results, mlir::ArrayRef<Tiles> tiles,
                     mlir::SmallVector<Zeros> *zeros = nullptr);

// Makes images from tiles [N, tiles, (groups,) places and channels], and drops the padding. `areEqual`: all places of a
// tile are equal, and `tiled` has one value for them.
mlir::Value imagesOf(LinalgBuilder &b, mlir::Value tiled, mlir::ArrayRef<Size> images, const Window &window,
                     mlir::ArrayRef<Tiles> tiles, Size groups, Size channels, bool areEqual = false);

} // namespace calque::codegen::windows
#endif
