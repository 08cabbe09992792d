// PNG by libpng. Its errors jump over the functions that called it: those here have no destructors to be jumped over.
#include "data/Image.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <png.h>

namespace calque::data {
namespace {

struct Source {
  const std::string &file;
  Pixels &pixels;
  std::size_t at = 0;
};

// Releases them also where something is thrown; nothing is while libpng's functions are on the stack.
struct Codec {
  explicit Codec(Source &source) {
    png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &source, onError, onWarning, &source, allocate, nullptr);
    info = png ? png_create_info_struct(png) : nullptr;
  }
  ~Codec() { png_destroy_read_struct(&png, &info, nullptr); }
  Codec(const Codec &) = delete;
  Codec &operator=(const Codec &) = delete;

  static void onError(png_structp png, png_const_charp message) {
    static_cast<Source *>(png_get_error_ptr(png))->pixels.fault = message;
    png_longjmp(png, 1);
  }
  static void onWarning(png_structp, png_const_charp) {} // of what does not matter for the pixels
  static png_voidp allocate(png_structp png, png_alloc_size_t count) {
    png_voidp memory = std::malloc(count);
    if (!memory)
      static_cast<Source *>(png_get_mem_ptr(png))->pixels.isTooMuch = true;
    return memory;
  }
  png_structp png;
  png_infop info;
};

void readFrom(png_structp png, png_bytep out, std::size_t count) {
  auto &source = *static_cast<Source *>(png_get_io_ptr(png));
  if (count > source.file.size() - source.at)
    png_error(png, "truncated: the image ends within its data");
  std::memcpy(out, source.file.data() + source.at, count);
  source.at += count;
}

void read(png_structp png, png_infop info, Source &source, int asked) {
  Pixels &pixels = source.pixels;
  if (setjmp(png_jmpbuf(png)))
    return;
  png_set_read_fn(png, &source, readFrom);
  png_read_info(png, info);
  const int type = png_get_color_type(png, info);
  png_set_expand(png); // palettes, fewer bits and the colour that stands for no opacity
  png_set_scale_16(png);
  const bool hasColor = type & PNG_COLOR_MASK_COLOR;
  const bool hasAlpha = type & PNG_COLOR_MASK_ALPHA || png_get_valid(png, info, PNG_INFO_tRNS);
  const int channels = asked ? asked : (hasColor ? 3 : 1) + hasAlpha;
  if (channels >= 3 && !hasColor)
    png_set_gray_to_rgb(png);
  if (channels < 3 && hasColor)
    png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, -1, -1);
  if (channels % 2 == 1 && hasAlpha)
    png_set_strip_alpha(png);
  if (channels % 2 == 0 && !hasAlpha)
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  pixels.width = png_get_image_width(png, info);
  pixels.height = png_get_image_height(png, info);
  pixels.channels = png_get_channels(png, info);
  pixels.fault = tooLarge(pixels.width, pixels.height, pixels.channels, source.file.size());
  if (!pixels.fault.empty())
    return;
  const std::size_t stride = png_get_rowbytes(png, info);
  if (passes > 1) { // the rows of each pass are filled into those before
    pixels.bytes.resize(stride * pixels.height);
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t y = 0; y < pixels.height; ++y)
        png_read_row(png, pixels.bytes.data() + y * stride, nullptr);
  } else { // memory grows with the rows that there are, as a header may be wrong about them
    for (std::size_t y = 0; y < pixels.height; ++y) {
      pixels.bytes.resize((y + 1) * stride);
      png_read_row(png, pixels.bytes.data() + y * stride, nullptr);
    }
  }
  png_read_end(png, nullptr);
}

void write(png_structp png, png_infop info, const Pixels &pixels, std::string &file) {
  if (setjmp(png_jmpbuf(png)))
    return;
  auto append = [](png_structp to, png_bytep bytes, std::size_t count) {
    static_cast<std::string *>(png_get_io_ptr(to))->append(reinterpret_cast<const char *>(bytes), count);
  };
  png_set_write_fn(png, &file, append, nullptr);
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height), 8,
               kTypes[pixels.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (std::size_t y = 0; y < pixels.height; ++y)
    png_write_row(png, pixels.bytes.data() + y * pixels.width * pixels.channels);
  png_write_end(png, info);
}

} // namespace

Pixels decodePng(const std::string &file, int channels) {
  Pixels pixels;
  Source source{file, pixels};
  const Codec codec(source);
  if (codec.info)
    read(codec.png, codec.info, source, channels);
  else
    pixels.isTooMuch = true;
  return pixels;
}

std::string encodePng(const Pixels &pixels) {
  std::string file;
  Pixels fault;
  Source source{file, fault};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &source, Codec::onError, Codec::onWarning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (info)
    write(png, info, pixels, file);
  png_destroy_write_struct(&png, &info);
  return fault.fault.empty() ? file : std::string();
}

} // namespace calque::data
