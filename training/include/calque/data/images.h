// Images in the formats PNG and JPEG.
//
//   Tensor image = data::read_image("cat.jpg");                            // int32[height,width,3], 0 to 255
//   Tensor grey = data::read_image("cat.png", {.channels = 1, .dtype = DType::Float32}); // in [0, 1]
//   data::Dataset images = data::from_generator(paths).map(
//       [](const std::string &path) { return data::read_image(path); }, {.num_parallel_calls = data::kAutotune});
#ifndef CALQUE_DATA_IMAGES_H
#define CALQUE_DATA_IMAGES_H

#include "calque/tensor.h"

#include <string>

namespace calque::data {

struct ImageOptions {
  // 1: grey; 2: grey and opacity; 3: red, green and blue; 4: red, green, blue and opacity; 0: as in the file. A JPEG
  // has no opacity.
  int channels = 0;
  // Int32: values from 0 to 255. Float32 and Float64: these values / 255.
  DType dtype = DType::Int32;
};

// Read an image [height,width,channels] from a file, or from the bytes of a file. Palettes and channels of fewer bits
// become channels of 8 bits. Channels of 16 bits are rounded to their upper 8 bits. DataError, one line with the fault,
// for data that is not PNG or JPEG, for a damaged image and for a JPEG in CMYK. ValueError for other channels and
// element types.
CALQUE_API Tensor read_image(const std::string &path, ImageOptions options = {},
                             SourceLocation where = SourceLocation::current());
CALQUE_API Tensor decode_image(const std::string &bytes, ImageOptions options = {},
                               SourceLocation where = SourceLocation::current());

// Changes the contrast of images [...,height,width,channels]: (x - mean) * factor + mean, with the mean of each channel
// over height and width. As tf.image.adjust_contrast, but for floating-point images alone. ShapeError for a rank below
// 3, DTypeError for types other than floats.
CALQUE_API Tensor adjust_contrast(const Operand &images, const Operand &factor);

// Return the bytes of an image file. The image is a tensor [height,width,channels] of integers from 0 to 255 or of
// floats from 0 to 1. PNG takes 1 to 4 channels, JPEG 1 or 3. `quality` is from 1 to 100. ShapeError for other shapes,
// ValueError for values out of range.
CALQUE_API std::string encode_png(const Tensor &image, SourceLocation where = SourceLocation::current());
CALQUE_API std::string encode_jpeg(const Tensor &image, int quality = 95,
                                   SourceLocation where = SourceLocation::current());
// Writes an image file. The ending of the path chooses encode_png (.png) or encode_jpeg (.jpg, .jpeg). ValueError for
// another ending.
CALQUE_API void write_image(const std::string &path, const Tensor &image,
                            SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
