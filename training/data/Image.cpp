#include "data/Image.h"
#include "Support.h"
#include "calque/data/images.h"
#include "calque/functions.h"
#include "data/File.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace calque::data {

std::string tooLarge(std::size_t width, std::size_t height, std::size_t channels, std::size_t file) {
  // Of at most 32, 32 and 3 bits.
  const double bytes = static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(channels);
  if (bytes <= static_cast<double>(kMostExpansion) * static_cast<double>(file))
    return "";
  return absl::StrCat("its header says ", height, "x", width, " pixels, which ", file, " bytes can't hold");
}

namespace {

void requireOptions(const ImageOptions &options, SourceLocation where) {
  if (options.channels < 0 || options.channels > 4)
    throw ValueError(
        absl::StrCat("an image is read with 1 to 4 channels, or 0 for those of the file, not with ", options.channels),
        where);
  if (options.dtype == DType::Bool || options.dtype == DType::Int8) // which does not hold 255
    throw ValueError(absl::StrCat("an image is read as numbers up to 255, not as ", name_of(options.dtype)), where);
}

// `place` is what a fault begins with.
Tensor decode(const std::string &bytes, const ImageOptions &options, const std::string &place, SourceLocation where) {
  requireOptions(options, where);
  const bool isJpeg = bytes.starts_with("\xff\xd8");
  if (!isJpeg && !bytes.starts_with("\x89PNG"))
    throw DataError(absl::StrCat(place, "this is neither a PNG nor a JPEG image: it begins as neither does"), where);
  if (isJpeg && options.channels % 2 == 0 && options.channels != 0)
    throw ValueError(absl::StrCat("a JPEG has no opacity, and so none of ", options.channels, " channels"), where);
  const Pixels pixels = isJpeg ? decodeJpeg(bytes, options.channels) : decodePng(bytes, options.channels);
  if (pixels.isTooMuch)
    throw std::bad_alloc();
  if (!pixels.fault.empty())
    throw DataError(absl::StrCat(place, "the ", isJpeg ? "JPEG" : "PNG", " image is damaged: ", pixels.fault), where);
  const Shape shape = {Size(pixels.height), Size(pixels.width), Size(pixels.channels)};
  return dispatch(options.dtype, [&]<typename T>(std::type_identity<T>) {
    std::vector<T> values;
    values.reserve(pixels.bytes.size());
    for (unsigned char byte : pixels.bytes)
      if constexpr (calque::detail::kIsFloating<T>)
        values.push_back(static_cast<T>(calque::detail::Arithmetic<T>(byte) / 255));
      else
        values.push_back(static_cast<T>(byte));
    return tensor(values, shape, where);
  });
}

Pixels pixelsOf(const char *name, const Tensor &image, bool isJpeg, SourceLocation where) {
  const Shape shape = image.shape(where);
  const std::int64_t channels = shape.size() == 3 ? std::int64_t(shape[2]) : 0;
  if (shape.size() != 3 || shape[0] < 1 || shape[1] < 1 || channels < 1 || channels > 4 ||
      (isJpeg && channels % 2 == 0))
    throw ShapeError(absl::StrCat(name, ": takes an image [height,width,channels] of ", isJpeg ? "1 or 3" : "1 to 4",
                                  " channels; this one has shape ", shape.str()),
                     where);
  // A JPEG has 16 bits for each, and the library takes no more than 65,500.
  constexpr std::int64_t kMostOfJpeg = 65'500;
  if (isJpeg && (shape[0] > kMostOfJpeg || shape[1] > kMostOfJpeg))
    throw ShapeError(absl::StrCat(name, ": takes an image of at most ", kMostOfJpeg,
                                  " pixels in each direction; this one has shape ", shape.str()),
                     where);
  auto sizeAt = [&](std::size_t d) { return static_cast<std::size_t>(std::int64_t(shape[d])); };
  Pixels pixels{sizeAt(1), sizeAt(0), sizeAt(2), {}, {}};
  const bool isFloat = is_floating(image.dtype());
  dispatch(image.dtype(), [&]<typename T>(std::type_identity<T>) {
    const T *values = image.data<T>(where);
    for (std::size_t i = 0; i < pixels.width * pixels.height * pixels.channels; ++i) {
      const double value = static_cast<double>(values[i]) * (isFloat ? 255 : 1);
      if (!(value >= 0 && value <= 255))
        throw ValueError(absl::StrCat(name, ": element ", i, " is ", static_cast<double>(values[i]),
                                      ", and must be from 0 to ", isFloat ? 1 : 255),
                         where);
      pixels.bytes.push_back(static_cast<unsigned char>(std::lround(value)));
    }
  });
  return pixels;
}

std::string encoded(const char *name, std::string file, SourceLocation where) {
  if (file.empty())
    throw MemoryError(absl::StrCat(name, ": the image can't be encoded"), where);
  return file;
}

} // namespace

Tensor read_image(const std::string &path, ImageOptions options, SourceLocation where) {
  where = CallSite::resolve(where);
  requireOptions(options, where);
  return readWithinMemory(path, where, [&] {
    return decode(FileReader(path, where, Compression::None).readAll(), options, absl::StrCat(path, ": "), where);
  });
}
Tensor decode_image(const std::string &bytes, ImageOptions options, SourceLocation where) {
  where = CallSite::resolve(where);
  return readWithinMemory("decode_image", where, [&] { return decode(bytes, options, "decode_image: ", where); });
}

Tensor adjust_contrast(const Operand &images, const Operand &factor) {
  CallSite site(images.where(), "adjust_contrast");
  Tensor x = images.toTensor();
  if (x.rank() < 3)
    throw ShapeError(
        absl::StrCat("adjust_contrast: takes images [...,height,width,channels]; these have shape ", x.shape().str()),
        CallSite::resolve({}));
  if (!is_floating(x.dtype()))
    throw DTypeError(absl::StrCat("adjust_contrast: takes images of floats, not of ", name_of(x.dtype())),
                     CallSite::resolve({}));
  Tensor means = mean(x, {-3, -2}, true);
  return (x - means) * factor + means;
}

std::string encode_png(const Tensor &image, SourceLocation where) {
  where = CallSite::resolve(where);
  return encoded("encode_png", encodePng(pixelsOf("encode_png", image, false, where)), where);
}
std::string encode_jpeg(const Tensor &image, int quality, SourceLocation where) {
  where = CallSite::resolve(where);
  if (quality < 1 || quality > 100)
    throw ValueError(absl::StrCat("encode_jpeg: the quality is ", quality, " and must be from 1 to 100"), where);
  return encoded("encode_jpeg", encodeJpeg(pixelsOf("encode_jpeg", image, true, where), quality), where);
}

void write_image(const std::string &path, const Tensor &image, SourceLocation where) {
  where = CallSite::resolve(where);
  const bool isPng = path.ends_with(".png");
  if (!isPng && !path.ends_with(".jpg") && !path.ends_with(".jpeg"))
    throw ValueError(absl::StrCat("write_image: '", path, "' ends in none of .png, .jpg and .jpeg"), where);
  const std::string bytes = isPng ? encode_png(image, where) : encode_jpeg(image, 95, where);
  FileWriter file(path, where);
  file.write(bytes);
  file.finish();
}

} // namespace calque::data
