// JPEG by libjpeg. Its errors jump over the functions that called it: those here have no destructors to be jumped over.
#include "data/Image.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <jpeglib.h>

#include <jerror.h>

namespace calque::data {
namespace {

struct Errors : jpeg_error_mgr {
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = {};
  bool hasNoMemory = false;
};

[[noreturn]] void onError(j_common_ptr codec) {
  auto &errors = *static_cast<Errors *>(codec->err);
  (*errors.format_message)(codec, errors.text);
  errors.hasNoMemory = errors.msg_code == JERR_OUT_OF_MEMORY;
  std::longjmp(errors.jump, 1);
}
// Warnings say that data are damaged, and that the pixels of a part of the image are made up.
void onMessage(j_common_ptr codec, int level) {
  if (level < 0)
    onError(codec);
}

void prepare(Errors &errors) {
  jpeg_std_error(&errors);
  errors.error_exit = onError;
  errors.emit_message = onMessage;
}

// A progressive image may go over all its blocks in each of many scans, which a small file is enough for.
constexpr int kMostScans = 100;
void onProgress(j_common_ptr codec) {
  if (static_cast<j_decompress_ptr>(static_cast<void *>(codec))->input_scan_number > kMostScans) {
    auto &errors = *static_cast<Errors *>(codec->err);
    std::snprintf(errors.text, sizeof(errors.text), "there are more than %d scans", kMostScans);
    std::longjmp(errors.jump, 1);
  }
}

// Releases it also where something is thrown; nothing is while libjpeg's functions are on the stack.
struct Decompress : jpeg_decompress_struct {
  Decompress() : jpeg_decompress_struct{} {}
  ~Decompress() { jpeg_destroy_decompress(this); }
  Decompress(const Decompress &) = delete;
  Decompress &operator=(const Decompress &) = delete;
};

bool read(jpeg_decompress_struct &codec, Errors &errors, const std::string &file, int asked, Pixels &pixels) {
  if (setjmp(errors.jump))
    return false;
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char *>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&codec, TRUE);
  const int channels = asked ? asked : codec.num_components == 1 ? 1 : 3;
  codec.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  codec.dct_method = JDCT_ISLOW;
  pixels.fault =
      tooLarge(codec.image_width, codec.image_height, static_cast<std::size_t>(codec.num_components), file.size());
  if (!pixels.fault.empty())
    return true;
  jpeg_start_decompress(&codec);
  pixels.width = codec.output_width;
  pixels.height = codec.output_height;
  pixels.channels = static_cast<std::size_t>(codec.output_components);
  const std::size_t stride = pixels.width * pixels.channels;
  while (codec.output_scanline < codec.output_height) {
    // Memory grows with the rows that there are, as a header may be wrong about them.
    pixels.bytes.resize((codec.output_scanline + 1) * stride);
    JSAMPROW row = pixels.bytes.data() + codec.output_scanline * stride;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  return true;
}

bool write(jpeg_compress_struct &codec, Errors &errors, const Pixels &pixels, int quality, unsigned char **bytes,
           unsigned long *count) {
  if (setjmp(errors.jump))
    return false;
  jpeg_mem_dest(&codec, bytes, count);
  codec.image_width = static_cast<JDIMENSION>(pixels.width);
  codec.image_height = static_cast<JDIMENSION>(pixels.height);
  codec.input_components = static_cast<int>(pixels.channels);
  codec.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row =
        const_cast<unsigned char *>(pixels.bytes.data()) + codec.next_scanline * pixels.width * pixels.channels;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  return true;
}

} // namespace

Pixels decodeJpeg(const std::string &file, int channels) {
  Pixels pixels;
  Errors errors;
  Decompress codec;
  prepare(errors);
  codec.err = &errors;
  jpeg_progress_mgr progress{};
  progress.progress_monitor = onProgress;
  if (setjmp(errors.jump) == 0) {
    jpeg_create_decompress(&codec);
    codec.progress = &progress;
    if (!read(codec, errors, file, channels, pixels))
      pixels.fault = errors.text;
  } else {
    pixels.fault = errors.text;
  }
  pixels.isTooMuch = errors.hasNoMemory;
  return pixels;
}

std::string encodeJpeg(const Pixels &pixels, int quality) {
  jpeg_compress_struct codec{};
  Errors errors;
  prepare(errors);
  codec.err = &errors;
  unsigned char *bytes = nullptr;
  unsigned long count = 0;
  std::string file;
  if (setjmp(errors.jump) == 0) {
    jpeg_create_compress(&codec);
    if (write(codec, errors, pixels, quality, &bytes, &count))
      file.assign(reinterpret_cast<const char *>(bytes), count);
  }
  jpeg_destroy_compress(&codec);
  std::free(bytes);
  return file;
}

} // namespace calque::data
