#include "calque/layers/pooling.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

// The largest element or the mean of each window.
template <std::size_t rank, bool largest> class PoolBody : public Described<PoolBody<rank, largest>> {
public:
  explicit PoolBody(Extents<rank> size = 2, PoolLayerOptions<rank> options = {})
      : PoolBody::Described(absl::StrCat(largest ? "max_pool" : "average_pooling", rank, "d"), false), size(size),
        strides(options.strides.value_or(size)), padding(options.padding) {}
  void check(SourceLocation where) const {
    const char *kind = this->LayerBody::kind().c_str();
    checkExtent(kind, "the window's size", size, where);
    checkExtent(kind, "the stride", strides, where);
    checkPadding(kind, padding, where);
  }
  template <typename A> void describe(A &a) {
    a("pool_size", size);
    a("strides", strides);
    a("padding", padding);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkRank(this->title(), x.shape(), rank + 2);
    checkWindowFits(this->title(), x, size, Extents<rank>(1), padding);
    return reduce_window(x, largest ? WindowReduction::Max : WindowReduction::Mean, sizesOf(size),
                         {.strides = sizesOf(strides), .padding = padding});
  }

private:
  Extents<rank> size, strides;
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
      // A select, because a product with 0 would have what does not count as NaN where it is infinite.
      Tensor counts = expand_dims(*options.mask, {2});
      return sum(where(counts, x, 0), axes, keepdims) / sum(cast(counts, x.dtype()), axes, keepdims);
    }
  }

  void check_mask(const Tensor &mask, const Tensor &input) const override {
    if (rank == 3)
      checkStepsMask(this->title(), mask, input);
    else
      Described<Body>::check_mask(mask, input);
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

MaxPool1D::MaxPool1D(Extents<1> pool_size, PoolLayerOptions<1> options, SourceLocation where)
    : Layer(made<PoolBody<1, true>>(options.name, where, pool_size, options)) {}
MaxPool2D::MaxPool2D(Extents<2> pool_size, PoolLayerOptions<2> options, SourceLocation where)
    : Layer(made<PoolBody<2, true>>(options.name, where, pool_size, options)) {}
MaxPool3D::MaxPool3D(Extents<3> pool_size, PoolLayerOptions<3> options, SourceLocation where)
    : Layer(made<PoolBody<3, true>>(options.name, where, pool_size, options)) {}
AveragePooling1D::AveragePooling1D(Extents<1> pool_size, PoolLayerOptions<1> options, SourceLocation where)
    : Layer(made<PoolBody<1, false>>(options.name, where, pool_size, options)) {}
AveragePooling2D::AveragePooling2D(Extents<2> pool_size, PoolLayerOptions<2> options, SourceLocation where)
    : Layer(made<PoolBody<2, false>>(options.name, where, pool_size, options)) {}
AveragePooling3D::AveragePooling3D(Extents<3> pool_size, PoolLayerOptions<3> options, SourceLocation where)
    : Layer(made<PoolBody<3, false>>(options.name, where, pool_size, options)) {}
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
  registerDescribed<PoolBody<1, true>>("MaxPooling1D");
  registerDescribed<PoolBody<2, true>>("MaxPooling2D");
  registerDescribed<PoolBody<3, true>>("MaxPooling3D");
  registerDescribed<PoolBody<1, false>>("AveragePooling1D");
  registerDescribed<PoolBody<2, false>>("AveragePooling2D");
  registerDescribed<PoolBody<3, false>>("AveragePooling3D");
  registerDescribed<GlobalAveragePooling1DBody>("GlobalAveragePooling1D");
  registerDescribed<GlobalAveragePooling2DBody>("GlobalAveragePooling2D");
  registerDescribed<GlobalAveragePooling3DBody>("GlobalAveragePooling3D");
  registerDescribed<GlobalMaxPooling1DBody>("GlobalMaxPooling1D");
  registerDescribed<GlobalMaxPooling2DBody>("GlobalMaxPooling2D");
  registerDescribed<GlobalMaxPooling3DBody>("GlobalMaxPooling3D");
}

} // namespace calque::layers
