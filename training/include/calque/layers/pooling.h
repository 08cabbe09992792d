// Layers that take one element of each window, or of each channel. Masks do not pass, but into GlobalAveragePooling1D.
#ifndef CALQUE_LAYERS_POOLING_H
#define CALQUE_LAYERS_POOLING_H

#include "calque/layers/core.h"
#include "calque/layers/extent.h"

namespace calque::layers {

struct MaxPool2DOptions {
  std::optional<Extent> strides = std::nullopt; // the window's size unless given
  std::string padding = "valid";                // or "same"
  std::string name = {};
};
// The largest element of each window of images [N,H,W,C].
class CALQUE_API MaxPool2D : public Layer {
public:
  explicit MaxPool2D(Extent pool_size = 2, MaxPool2DOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

struct MaxPool1DOptions {
  std::optional<std::int64_t> strides = std::nullopt; // the window's size unless given
  std::string padding = "valid";                      // or "same"
  std::string name = {};
};
// The same of sequences [N,T,C].
class CALQUE_API MaxPool1D : public Layer {
public:
  explicit MaxPool1D(std::int64_t pool_size = 2, MaxPool1DOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

struct GlobalPoolingOptions {
  bool keepdims = false; // [N,1,1,C] instead of [N,C]
  std::string name = {};
};
// The mean, or the largest element, of each channel of an example: sequences [N,T,C], images [N,H,W,C] or volumes
// [N,D,H,W,C] give [N,C]. A mask says which steps of a sequence the mean is of.
class CALQUE_API GlobalAveragePooling1D : public Layer {
public:
  explicit GlobalAveragePooling1D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalAveragePooling2D : public Layer {
public:
  explicit GlobalAveragePooling2D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalAveragePooling3D : public Layer {
public:
  explicit GlobalAveragePooling3D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling1D : public Layer {
public:
  explicit GlobalMaxPooling1D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling2D : public Layer {
public:
  explicit GlobalMaxPooling2D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling3D : public Layer {
public:
  explicit GlobalMaxPooling3D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
