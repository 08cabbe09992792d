#include "calque/layers/convolution.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

class Conv2DBody : public Described<Conv2DBody> {
public:
  explicit Conv2DBody(std::int64_t filters = 0, Extent size = 1, Conv2DOptions options = {})
      : Described("conv2d"), filters(filters), size(size), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkAtLeastOne("conv2d", "the number of filters", filters, where);
    checkExtent("conv2d", "the kernel's size", size, where);
    checkExtent("conv2d", "the stride", options.strides, where);
    checkPadding("conv2d", options.padding, where);
  }
  template <typename A> void describe(A &a) {
    a("filters", filters);
    a("kernel_size", size);
    a("strides", options.strides);
    a("padding", options.padding);
    a("activation", options.activation);
    a("use_bias", options.use_bias);
    a("kernel_initializer", options.kernel_initializer);
    a("bias_initializer", options.bias_initializer);
    a("kernel_regularizer", options.kernel_regularizer);
    a("bias_regularizer", options.bias_regularizer);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkImages(title(), input);
    kernel = weight("kernel", {size.height, size.width, channelsOf(title(), input), filters}, dtype,
                    options.kernel_initializer, true, options.kernel_regularizer);
    if (options.use_bias)
      bias = weight("bias", {filters}, dtype, options.bias_initializer, true, options.bias_regularizer);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkImages(title(), x.shape());
    checkChannels(title(), x.shape(), kernel.shape()[2]);
    Tensor y = conv2d(x, kernel, sizesOf(options.strides), options.padding);
    return options.activation(options.use_bias ? y + bias : y);
  }

private:
  std::int64_t filters;
  Extent size;
  Conv2DOptions options;
  Variable kernel{nullptr}, bias{nullptr};
};

class Conv1DBody : public Described<Conv1DBody> {
public:
  explicit Conv1DBody(std::int64_t filters = 0, std::int64_t size = 1, Conv1DOptions options = {})
      : Described("conv1d"), filters(filters), size(size), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkAtLeastOne("conv1d", "the number of filters", filters, where);
    checkAtLeastOne("conv1d", "the kernel's size", size, where);
    checkAtLeastOne("conv1d", "the stride", options.strides, where);
    if (options.padding != "causal")
      checkPadding("conv1d", options.padding, where);
  }
  template <typename A> void describe(A &a) {
    a("filters", filters);
    a("kernel_size", size);
    a("strides", options.strides);
    a("padding", options.padding);
    a("activation", options.activation);
    a("use_bias", options.use_bias);
    a("kernel_initializer", options.kernel_initializer);
    a("bias_initializer", options.bias_initializer);
    a("kernel_regularizer", options.kernel_regularizer);
    a("bias_regularizer", options.bias_regularizer);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkRank(title(), input, 3);
    kernel = weight("kernel", {size, channelsOf(title(), input), filters}, dtype, options.kernel_initializer, true,
                    options.kernel_regularizer);
    if (options.use_bias)
      bias = weight("bias", {filters}, dtype, options.bias_initializer, true, options.bias_regularizer);
  }
  Tensor call(const Tensor &input, const CallOptions &) override {
    checkRank(title(), input.shape(), 3);
    checkChannels(title(), input.shape(), kernel.shape()[1]);
    const bool causal = options.padding == "causal";
    Tensor x = causal ? pad(input, {0, size - 1, 0}, {0, 0, 0}) : input;
    // An image of height 1.
    Tensor y = squeeze(
        conv2d(expand_dims(x, {1}), expand_dims(kernel, {0}), {1, options.strides}, causal ? "valid" : options.padding),
        {1});
    return options.activation(options.use_bias ? y + bias : y);
  }

private:
  std::int64_t filters, size;
  Conv1DOptions options;
  Variable kernel{nullptr}, bias{nullptr};
};

} // namespace

Conv2D::Conv2D(std::int64_t filters, Extent kernel_size, Conv2DOptions options, SourceLocation where)
    : Layer(made<Conv2DBody>(options.name, where, filters, kernel_size, options)) {}

Conv1D::Conv1D(std::int64_t filters, std::int64_t kernel_size, Conv1DOptions options, SourceLocation where)
    : Layer(made<Conv1DBody>(options.name, where, filters, kernel_size, options)) {}

void registerConvolution() {
  registerDescribed<Conv1DBody>("Conv1D");
  registerDescribed<Conv2DBody>("Conv2D");
}

} // namespace calque::layers
