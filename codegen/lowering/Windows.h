// How windows slide over images: their extents, padding, and the tiles in which gradients gather what windows gave.
#ifndef CALQUE_CODEGEN_LOWERING_WINDOWS_H
#define CALQUE_CODEGEN_LOWERING_WINDOWS_H

#include "codegen/lowering/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace calque::codegen::windows {

using Ints = mlir::SmallVector<int64_t>;

// How a window slides along one dimension: the sizes of its output and of the padding around its input, and how many
// elements it has, which lie `dilation` apart.
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

// The part of a window that meets the image in any place, with the padding that this part needs. What padding and loops
// cost then grows with the image and not with the window. Sizes that are unknown leave the window as it is.
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

// What each window has put into the result, at the places of its first elements among the images with `reach` elements
// before them and as many behind: element h of the images is then in the windows from h to h + reach.
mlir::Value spreadOver(LinalgBuilder &b, mlir::Value values, mlir::ArrayRef<Size> images, const Window &window);

// The elements before and behind images, all of which are zero.
struct Zeros {
  int64_t low = 0, high = 0;
};

// How the images of a strided convolution are computed from its results. Element u of the padded images is the place a
// of tile i, u = i * stride + a, and the element q * stride + a of the windows i - q. So a convolution of the results
// without strides, whose windows have the parts q, gives all places of a tile as its channels, and multiplies no zeros
// but those that fill the last part.
struct Tiles {
  int64_t parts, places, stride; // places behind the filter's end are zero, and not computed
  int64_t dilation;              // of the parts, which lie apart where the stride is 1
  Size first, count;
  int64_t reach() const { return (parts - 1) * dilation; }
};

Tiles tilesOf(LinalgBuilder &b, const WindowDimension &extent, Size images);

// The results of the windows that any tile looks at, with zeros where there are none: so many, if that is asked for.
mlir::Value lookedAt(LinalgBuilder &b, mlir::Value results, mlir::ArrayRef<Tiles> tiles,
                     mlir::SmallVector<Zeros> *zeros = nullptr);

// The images of tiles [N, tiles, (groups,) places and channels], from the image's first element on; or of tiles without
// places, all of which are equal.
mlir::Value imagesOf(LinalgBuilder &b, mlir::Value tiled, mlir::ArrayRef<Size> images, const Window &window,
                     mlir::ArrayRef<Tiles> tiles, Size groups, Size channels, bool areEqual = false);

} // namespace calque::codegen::windows
#endif
