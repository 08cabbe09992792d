// Sizes of windows of images.
#ifndef CALQUE_LAYERS_EXTENT_H
#define CALQUE_LAYERS_EXTENT_H

#include <cstdint>

namespace calque::layers {

// Height and width; one number means both.
struct Extent {
  std::int64_t height, width;
  Extent(std::int64_t both) : height(both), width(both) {}
  Extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};

} // namespace calque::layers
#endif
