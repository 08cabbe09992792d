#include "calque/layers/pooling.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

class MaxPool2DBody : public Described<MaxPool2DBody> {
public:
  explicit MaxPool2DBody(Extent size = 2, MaxPool2DOptions options = {})
      : Described("max_pool2d", false), size(size), strides(options.strides.value_or(size)), padding(options.padding) {}
  void check(SourceLocation where) const {
    checkExtent("max_pool2d", "the window's size", size, where);
    checkExtent("max_pool2d", "the stride", strides, where);
    checkPadding("max_pool2d", padding, where);
  }
  template <typename A> void describe(A &a) {
    a("pool_size", size);
    a("strides", strides);
    a("padding", padding);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkImages(title(), x.shape());
    return max_pool2d(x, sizesOf(size), sizesOf(strides), padding);
  }

private:
  Extent size, strides;
  std::string padding;
};

class MaxPool1DBody : public Described<MaxPool1DBody> {
public:
  explicit MaxPool1DBody(std::int64_t size = 2, MaxPool1DOptions options = {})
      : Described("max_pool1d", false), size(size), strides(options.strides.value_or(size)), padding(options.padding) {}
  void check(SourceLocation where) const {
    checkAtLeastOne("max_pool1d", "the window's size", size, where);
    checkAtLeastOne("max_pool1d", "the stride", strides, where);
    checkPadding("max_pool1d", padding, where);
  }
  template <typename A> void describe(A &a) {
    a("pool_size", size);
    a("strides", strides);
    a("padding", padding);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkRank(title(), x.shape(), 3);
    return squeeze(max_pool2d(expand_dims(x, {1}), {1, size}, {1, strides}, padding), {1});
  }

private:
  std::int64_t size, strides;
  std::string padding;
};

// Of all elements of a channel. `rank` is that of the input, the batch and the channels included.
template <typename Body, std::size_t rank, bool largest> class GlobalBody : public Described<Body> {
public:
  explicit GlobalBody(bool keepdims = false) : Described<Body>(Body::kind, false), keepdims(keepdims) {}
  template <typename A> void describe(A &a) { a("keepdims", keepdims); }

protected:
  Tensor call(const Tensor &x, const CallOptions &options) override {
    checkRank(this->title(), x.shape(), rank);
    std::vector<std::int64_t> axes;
    for (std::size_t i = 1; i + 1 < rank; ++i)
      axes.push_back(static_cast<std::int64_t>(i));
    if constexpr (largest) {
      return max(x, axes, keepdims);
    } else {
      if (rank != 3 || !options.mask)
        return mean(x, axes, keepdims);
      Tensor counts = expand_dims(cast(*options.mask, x.dtype()), {2});
      return sum(x * counts, axes, keepdims) / sum(counts, axes, keepdims);
    }
  }

private:
  bool keepdims;
};

#define CALQUE_GLOBAL_POOLING(Name, text, rank, largest)                                                               \
  struct Name##Body : GlobalBody<Name##Body, rank, largest> {                                                          \
    static constexpr const char *kind = text;                                                                          \
    using GlobalBody::GlobalBody;                                                                                      \
  };
CALQUE_GLOBAL_POOLING(GlobalAveragePooling1D, "global_average_pooling1d", 3, false)
CALQUE_GLOBAL_POOLING(GlobalAveragePooling2D, "global_average_pooling2d", 4, false)
CALQUE_GLOBAL_POOLING(GlobalAveragePooling3D, "global_average_pooling3d", 5, false)
CALQUE_GLOBAL_POOLING(GlobalMaxPooling1D, "global_max_pooling1d", 3, true)
CALQUE_GLOBAL_POOLING(GlobalMaxPooling2D, "global_max_pooling2d", 4, true)
CALQUE_GLOBAL_POOLING(GlobalMaxPooling3D, "global_max_pooling3d", 5, true)
#undef CALQUE_GLOBAL_POOLING

} // namespace

MaxPool2D::MaxPool2D(Extent pool_size, MaxPool2DOptions options, SourceLocation where)
    : Layer(made<MaxPool2DBody>(options.name, where, pool_size, options)) {}

MaxPool1D::MaxPool1D(std::int64_t pool_size, MaxPool1DOptions options, SourceLocation where)
    : Layer(made<MaxPool1DBody>(options.name, where, pool_size, options)) {}
GlobalAveragePooling1D::GlobalAveragePooling1D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalAveragePooling1DBody>(options.name, where, options.keepdims)) {}
GlobalAveragePooling2D::GlobalAveragePooling2D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalAveragePooling2DBody>(options.name, where, options.keepdims)) {}
GlobalAveragePooling3D::GlobalAveragePooling3D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalAveragePooling3DBody>(options.name, where, options.keepdims)) {}
GlobalMaxPooling1D::GlobalMaxPooling1D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalMaxPooling1DBody>(options.name, where, options.keepdims)) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalMaxPooling2DBody>(options.name, where, options.keepdims)) {}
GlobalMaxPooling3D::GlobalMaxPooling3D(GlobalPoolingOptions options, SourceLocation where)
    : Layer(made<GlobalMaxPooling3DBody>(options.name, where, options.keepdims)) {}

void registerPooling() {
  registerDescribed<MaxPool1DBody>("MaxPooling1D");
  registerDescribed<MaxPool2DBody>("MaxPooling2D");
  registerDescribed<GlobalAveragePooling1DBody>("GlobalAveragePooling1D");
  registerDescribed<GlobalAveragePooling2DBody>("GlobalAveragePooling2D");
  registerDescribed<GlobalAveragePooling3DBody>("GlobalAveragePooling3D");
  registerDescribed<GlobalMaxPooling1DBody>("GlobalMaxPooling1D");
  registerDescribed<GlobalMaxPooling2DBody>("GlobalMaxPooling2D");
  registerDescribed<GlobalMaxPooling3DBody>("GlobalMaxPooling3D");
}

} // namespace calque::layers
