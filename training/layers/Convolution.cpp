#include "calque/layers/convolution.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

using Sizes = std::vector<std::int64_t>;

// "conv2d_transpose" of "conv" and "_transpose".
template <std::size_t rank> std::string nameOf(const char *front, const char *behind = "") {
  return absl::StrCat(front, rank, "d", behind);
}

// The window of a kernel [..., in, out].
template <std::size_t rank> Shape kernelShape(const Extents<rank> &window, std::int64_t in, std::int64_t out) {
  Shape shape(sizesOf(window));
  shape.push_back(in);
  shape.push_back(out);
  return shape;
}

// What the layers share: activation(result + bias) of a window that slides over inputs of rank + 2.
template <typename Body, std::size_t rank, typename Options> class ConvolutionBody : public Described<Body> {
public:
  ConvolutionBody(const std::string &kind, const Extents<rank> &size, Options options)
      : Described<Body>(kind), size(size), options(std::move(options)) {}

protected:
  template <typename A> void describeWindow(A &a) {
    a("kernel_size", size);
    a("strides", options.strides);
    a("padding", options.padding);
  }
  template <typename A> void describeResult(A &a) {
    a("activation", options.activation);
    a("use_bias", options.use_bias);
    a("bias_initializer", options.bias_initializer);
    a("bias_regularizer", options.bias_regularizer);
    a("activity_regularizer", options.activity_regularizer);
    a("bias_constraint", options.bias_constraint);
  }
  void checkWindow(SourceLocation where) const {
    const std::string &kind = this->LayerBody::kind();
    checkExtent(kind.c_str(), "the kernel's size", size, where);
    checkExtent(kind.c_str(), "the stride", options.strides, where);
    if (!(allowsCausal && rank == 1 && options.padding == "causal"))
      checkPadding(kind.c_str(), options.padding, where);
  }
  std::int64_t channelsToBuild(const Shape &input, DType dtype) const {
    checkFloating(this->title(), input, dtype);
    checkRank(this->title(), input, rank + 2);
    return channelsOf(this->title(), input);
  }
  void buildBias(std::int64_t count, DType dtype) {
    if (options.use_bias)
      bias = this->weight("bias", {count}, dtype, options.bias_initializer, true, options.bias_regularizer,
                          options.bias_constraint);
  }
  void checkInput(const Tensor &x, std::int64_t expected) const {
    checkRank(this->title(), x.shape(), rank + 2);
    checkChannels(this->title(), x.shape(), expected);
    if (!isTransposed) // of which a window makes more
      checkWindowFits(this->title(), x, size, options.dilation_rate, options.padding);
  }
  Tensor finished(const Tensor &y) const { return options.activation(options.use_bias ? y + bias : y); }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }
  // Each channel with its own filters of a kernel [..., C, multiplier].
  Tensor depthwise(const Tensor &x, const Tensor &kernel) const {
    const Shape shape = kernel.shape();
    const std::int64_t count = shape[rank], multiplier = shape[rank + 1];
    return conv(x, reshape(kernel, kernelShape(size, 1, count * multiplier)),
                {.strides = sizesOf(options.strides),
                 .padding = options.padding,
                 .dilations = sizesOf(options.dilation_rate),
                 .groups = count});
  }

  bool allowsCausal = false, isTransposed = false;
  Extents<rank> size;
  Options options;
  Variable bias{nullptr};
};

template <std::size_t rank> class ConvBody : public ConvolutionBody<ConvBody<rank>, rank, ConvLayerOptions<rank>> {
public:
  explicit ConvBody(std::int64_t filters = 0, Extents<rank> size = 1, ConvLayerOptions<rank> options = {})
      : ConvBody::ConvolutionBody(nameOf<rank>("conv"), size, std::move(options)), filters(filters) {
    this->allowsCausal = true;
  }
  void check(SourceLocation where) const {
    const std::string &kind = this->LayerBody::kind();
    checkAtLeastOne(kind.c_str(), "the number of filters", filters, where);
    this->checkWindow(where);
    checkExtent(kind.c_str(), "the dilation rate", this->options.dilation_rate, where);
    checkAtLeastOne(kind.c_str(), "the number of groups", this->options.groups, where);
    if (filters % this->options.groups != 0)
      fail<ValueError>(absl::StrCat(kind, ": ", filters, " filters can't be divided into ", this->options.groups,
                                    " groups of one size"),
                       where);
  }
  template <typename A> void describe(A &a) {
    a("filters", filters);
    this->describeWindow(a);
    a("dilation_rate", this->options.dilation_rate);
    a("groups", this->options.groups);
    this->describeResult(a);
    a("kernel_initializer", this->options.kernel_initializer);
    a("kernel_regularizer", this->options.kernel_regularizer);
    a("kernel_constraint", this->options.kernel_constraint);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    const std::int64_t count = this->channelsToBuild(input, dtype);
    if (count % this->options.groups != 0)
      fail<ShapeError>(absl::StrCat(this->title(), ": the channels of an input of shape ", input.str(),
                                    " can't be divided into ", this->options.groups, " groups of one size"));
    inputs = count;
    kernel = this->weight("kernel", kernelShape(this->size, count / this->options.groups, filters), dtype,
                          this->options.kernel_initializer, true, this->options.kernel_regularizer,
                          this->options.kernel_constraint);
    this->buildBias(filters, dtype);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    this->checkInput(x, inputs);
    const Sizes dilations = sizesOf(this->options.dilation_rate);
    Padding padding = this->options.padding == "causal"
                          ? Padding(Padding::Pairs{{(this->size.sizes[0] - 1) * dilations[0], 0}})
                          : Padding(this->options.padding);
    return this->finished(conv(x, kernel,
                               {.strides = sizesOf(this->options.strides),
                                .padding = std::move(padding),
                                .dilations = dilations,
                                .groups = this->options.groups}));
  }

private:
  std::int64_t filters, inputs = 0;
  Variable kernel{nullptr};
};

template <std::size_t rank>
class ConvTransposeBody : public ConvolutionBody<ConvTransposeBody<rank>, rank, ConvTransposeLayerOptions<rank>> {
public:
  explicit ConvTransposeBody(std::int64_t filters = 0, Extents<rank> size = 1,
                             ConvTransposeLayerOptions<rank> options = {})
      : ConvTransposeBody::ConvolutionBody(nameOf<rank>("conv", "_transpose"), size, std::move(options)),
        filters(filters) {
    this->isTransposed = true;
  }
  void check(SourceLocation where) const {
    checkAtLeastOne(this->LayerBody::kind().c_str(), "the number of filters", filters, where);
    this->checkWindow(where);
    const char *kind = this->LayerBody::kind().c_str();
    checkExtent(kind, "the dilation rate", this->options.dilation_rate, where);
    if (const auto &added = this->options.output_padding)
      for (std::size_t i = 0; i < rank; ++i)
        if (const std::int64_t stride = this->options.strides.sizes[i], dilation = this->options.dilation_rate.sizes[i];
            added->sizes[i] < 0 || added->sizes[i] >= std::max(stride, dilation))
          fail<ValueError>(absl::StrCat(kind,
                                        ": output_padding is at least 0 and less than the stride or the dilation, ",
                                        "unlike ", added->sizes[i], " and ", stride, " and ", dilation),
                           where);
  }
  template <typename A> void describe(A &a) {
    a("filters", filters);
    this->describeWindow(a);
    a("output_padding", this->options.output_padding);
    a("dilation_rate", this->options.dilation_rate);
    this->describeResult(a);
    a("kernel_initializer", this->options.kernel_initializer);
    a("kernel_regularizer", this->options.kernel_regularizer);
    a("kernel_constraint", this->options.kernel_constraint);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    inputs = this->channelsToBuild(input, dtype);
    kernel = this->weight("kernel", kernelShape(this->size, filters, inputs), dtype, this->options.kernel_initializer,
                          true, this->options.kernel_regularizer, this->options.kernel_constraint);
    this->buildBias(filters, dtype);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    this->checkInput(x, inputs);
    const auto &added = this->options.output_padding;
    return this->finished(conv_transpose(x, kernel,
                                         {.strides = sizesOf(this->options.strides),
                                          .padding = this->options.padding,
                                          .output_padding = added ? sizesOf(*added) : std::vector<std::int64_t>(),
                                          .dilations = sizesOf(this->options.dilation_rate)}));
  }

private:
  std::int64_t filters, inputs = 0;
  Variable kernel{nullptr};
};

template <std::size_t rank>
class DepthwiseConvBody : public ConvolutionBody<DepthwiseConvBody<rank>, rank, DepthwiseConvLayerOptions<rank>> {
public:
  explicit DepthwiseConvBody(Extents<rank> size = 1, DepthwiseConvLayerOptions<rank> options = {})
      : DepthwiseConvBody::ConvolutionBody(nameOf<rank>("depthwise_conv"), size, std::move(options)) {}
  void check(SourceLocation where) const {
    const std::string &kind = this->LayerBody::kind();
    this->checkWindow(where);
    checkExtent(kind.c_str(), "the dilation rate", this->options.dilation_rate, where);
    checkAtLeastOne(kind.c_str(), "the depth multiplier", this->options.depth_multiplier, where);
  }
  template <typename A> void describe(A &a) {
    this->describeWindow(a);
    a("depth_multiplier", this->options.depth_multiplier);
    a("dilation_rate", this->options.dilation_rate);
    this->describeResult(a);
    a("depthwise_initializer", this->options.depthwise_initializer);
    a("depthwise_regularizer", this->options.depthwise_regularizer);
    a("depthwise_constraint", this->options.depthwise_constraint);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    const std::int64_t count = this->channelsToBuild(input, dtype);
    kernel = this->weight("kernel", kernelShape(this->size, count, this->options.depth_multiplier), dtype,
                          this->options.depthwise_initializer, true, this->options.depthwise_regularizer,
                          this->options.depthwise_constraint);
    this->buildBias(count * this->options.depth_multiplier, dtype);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    this->checkInput(x, kernel.shape()[rank]);
    return this->finished(this->depthwise(x, kernel));
  }

private:
  Variable kernel{nullptr};
};

template <std::size_t rank>
class SeparableConvBody : public ConvolutionBody<SeparableConvBody<rank>, rank, SeparableConvLayerOptions<rank>> {
public:
  explicit SeparableConvBody(std::int64_t filters = 0, Extents<rank> size = 1,
                             SeparableConvLayerOptions<rank> options = {})
      : SeparableConvBody::ConvolutionBody(nameOf<rank>("separable_conv"), size, std::move(options)), filters(filters) {
  }
  void check(SourceLocation where) const {
    const std::string &kind = this->LayerBody::kind();
    checkAtLeastOne(kind.c_str(), "the number of filters", filters, where);
    this->checkWindow(where);
    checkExtent(kind.c_str(), "the dilation rate", this->options.dilation_rate, where);
    checkAtLeastOne(kind.c_str(), "the depth multiplier", this->options.depth_multiplier, where);
  }
  template <typename A> void describe(A &a) {
    a("filters", filters);
    this->describeWindow(a);
    a("dilation_rate", this->options.dilation_rate);
    a("depth_multiplier", this->options.depth_multiplier);
    this->describeResult(a);
    a("depthwise_initializer", this->options.depthwise_initializer);
    a("pointwise_initializer", this->options.pointwise_initializer);
    a("depthwise_regularizer", this->options.depthwise_regularizer);
    a("depthwise_constraint", this->options.depthwise_constraint);
    a("pointwise_regularizer", this->options.pointwise_regularizer);
    a("pointwise_constraint", this->options.pointwise_constraint);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    const std::int64_t count = this->channelsToBuild(input, dtype), between = count * this->options.depth_multiplier;
    depthwiseKernel = this->weight("depthwise_kernel", kernelShape(this->size, count, this->options.depth_multiplier),
                                   dtype, this->options.depthwise_initializer, true,
                                   this->options.depthwise_regularizer, this->options.depthwise_constraint);
    pointwiseKernel = this->weight("pointwise_kernel", kernelShape(Extents<rank>(1), between, filters), dtype,
                                   this->options.pointwise_initializer, true, this->options.pointwise_regularizer,
                                   this->options.pointwise_constraint);
    this->buildBias(filters, dtype);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    this->checkInput(x, depthwiseKernel.shape()[rank]);
    return this->finished(conv(this->depthwise(x, depthwiseKernel), pointwiseKernel));
  }

private:
  std::int64_t filters;
  Variable depthwiseKernel{nullptr}, pointwiseKernel{nullptr};
};

} // namespace

Conv1D::Conv1D(std::int64_t filters, Extents<1> kernel_size, Conv1DOptions options, SourceLocation where)
    : KernelLayer(made<ConvBody<1>>(options.name, where, filters, kernel_size, options)) {}
Conv2D::Conv2D(std::int64_t filters, Extents<2> kernel_size, Conv2DOptions options, SourceLocation where)
    : KernelLayer(made<ConvBody<2>>(options.name, where, filters, kernel_size, options)) {}
Conv3D::Conv3D(std::int64_t filters, Extents<3> kernel_size, Conv3DOptions options, SourceLocation where)
    : KernelLayer(made<ConvBody<3>>(options.name, where, filters, kernel_size, options)) {}
Conv1DTranspose::Conv1DTranspose(std::int64_t filters, Extents<1> kernel_size, Conv1DTransposeOptions options,
                                 SourceLocation where)
    : KernelLayer(made<ConvTransposeBody<1>>(options.name, where, filters, kernel_size, options)) {}
Conv2DTranspose::Conv2DTranspose(std::int64_t filters, Extents<2> kernel_size, Conv2DTransposeOptions options,
                                 SourceLocation where)
    : KernelLayer(made<ConvTransposeBody<2>>(options.name, where, filters, kernel_size, options)) {}
Conv3DTranspose::Conv3DTranspose(std::int64_t filters, Extents<3> kernel_size, Conv3DTransposeOptions options,
                                 SourceLocation where)
    : KernelLayer(made<ConvTransposeBody<3>>(options.name, where, filters, kernel_size, options)) {}
DepthwiseConv1D::DepthwiseConv1D(Extents<1> kernel_size, DepthwiseConv1DOptions options, SourceLocation where)
    : KernelLayer(made<DepthwiseConvBody<1>>(options.name, where, kernel_size, options)) {}
DepthwiseConv2D::DepthwiseConv2D(Extents<2> kernel_size, DepthwiseConv2DOptions options, SourceLocation where)
    : KernelLayer(made<DepthwiseConvBody<2>>(options.name, where, kernel_size, options)) {}
SeparableConv1D::SeparableConv1D(std::int64_t filters, Extents<1> kernel_size, SeparableConv1DOptions options,
                                 SourceLocation where)
    : BiasedLayer(made<SeparableConvBody<1>>(options.name, where, filters, kernel_size, options)) {}
SeparableConv2D::SeparableConv2D(std::int64_t filters, Extents<2> kernel_size, SeparableConv2DOptions options,
                                 SourceLocation where)
    : BiasedLayer(made<SeparableConvBody<2>>(options.name, where, filters, kernel_size, options)) {}

void registerConvolution() {
  registerDescribed<ConvBody<1>>("Conv1D");
  registerDescribed<ConvBody<2>>("Conv2D");
  registerDescribed<ConvBody<3>>("Conv3D");
  registerDescribed<ConvTransposeBody<1>>("Conv1DTranspose");
  registerDescribed<ConvTransposeBody<2>>("Conv2DTranspose");
  registerDescribed<ConvTransposeBody<3>>("Conv3DTranspose");
  registerDescribed<DepthwiseConvBody<1>>("DepthwiseConv1D");
  registerDescribed<DepthwiseConvBody<2>>("DepthwiseConv2D");
  registerDescribed<SeparableConvBody<1>>("SeparableConv1D");
  registerDescribed<SeparableConvBody<2>>("SeparableConv2D");
}

} // namespace calque::layers
