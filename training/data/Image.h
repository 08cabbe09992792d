// What the two formats share: images as bytes, with one in each channel.
#ifndef CALQUE_TRAINING_DATA_IMAGE_H
#define CALQUE_TRAINING_DATA_IMAGE_H

#include <cstddef>
#include <string>
#include <vector>

namespace calque::data {

struct Pixels {
  std::size_t width = 0, height = 0, channels = 0;
  std::vector<unsigned char> bytes;
  std::string fault;      // why there are none
  bool isTooMuch = false; // there is not enough memory for them
};

// With `channels` from 1 to 4, or 0.
Pixels decodePng(const std::string &file, int channels);
Pixels decodeJpeg(const std::string &file, int channels);
std::string encodePng(const Pixels &pixels);
std::string encodeJpeg(const Pixels &pixels, int quality);

// A fault, or nothing, for an image that a file of so many bytes can't hold, so that it is refused before memory is
// taken: deflate makes at most kMostExpansion bytes of one, and a JPEG takes at least 2 bits for the 64 bytes of a
// block.
std::string tooLarge(std::size_t width, std::size_t height, std::size_t channels, std::size_t file);

} // namespace calque::data
#endif
