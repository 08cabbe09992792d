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
  // 1: grey, 2: grey and opacity, 3: red, green and blue, 4: these and opacity; 0: as in the file. A JPEG has no
  // opacity.
  int channels = 0;
  // Int32 gives values from 0 to 255, Float32 and Float64 these / 255.
  DType dtype = DType::Int32;
};

// The image in a file, or in the bytes of one, [height,width,channels]. Palettes and fewer bits become channels of 8
// bits; of 16 bits the upper 8 are taken, rounded. A JPEG of CMYK is refused. DataError, one line with the fault, for
// what is no image of the two formats, or a damaged one; ValueError for other channels and element types.
CALQUE_API Tensor read_image(const std::string &path, ImageOptions options = {},
                             SourceLocation where = SourceLocation::current());
CALQUE_API Tensor decode_image(const std::string &bytes, ImageOptions options = {},
                               SourceLocation where = SourceLocation::current());

// The images with other contrast: (x - mean) * factor + mean, with the mean of each channel over height and width, as
// tf.image.adjust_contrast has it, but for images of floats alone. They are [...,height,width,channels]. ShapeError for
// a rank below 3, DTypeError for other types.
CALQUE_API Tensor adjust_contrast(const Operand &images, const Operand &factor);

// The bytes of an image file of a tensor [height,width,channels], integers from 0 to 255 or floats from 0 to 1, of 1 to
// 4 channels, and of 1 or 3 for JPEG. ShapeError for other shapes and ValueError for values beyond. `quality` is from 1
// to 100.
CALQUE_API std::string encode_png(const Tensor &image, SourceLocation where = SourceLocation::current());
CALQUE_API std::string encode_jpeg(const Tensor &image, int quality = 95,
                                   SourceLocation where = SourceLocation::current());
// Writes encode_png or encode_jpeg, by the ending of the path (ValueError for another than .png, .jpg and .jpeg).
CALQUE_API void write_image(const std::string &path, const Tensor &image,
                            SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
