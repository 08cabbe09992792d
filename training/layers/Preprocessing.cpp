#include "calque/layers/preprocessing.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

Tensor floating(const Tensor &x) { return is_floating(x.dtype()) ? x : cast(x, DType::Float32); }

class RescalingBody : public Described<RescalingBody> {
public:
  explicit RescalingBody(double scale = 1, double offset = 0)
      : Described("rescaling", false), scale(scale), offset(offset) {}
  template <typename A> void describe(A &a) {
    a("scale", scale);
    a("offset", offset);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override { return floating(x) * scale + offset; }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  double scale, offset;
};

class NormalizationBody : public Described<NormalizationBody> {
public:
  explicit NormalizationBody(NormalizationOptions options = {})
      : Described("normalization"), options(std::move(options)) {}
  template <typename A> void describe(A &a) {
    a("axis", options.axis);
    a("invert", options.invert);
  }

  void adapt(const Tensor &examples) {
    Tensor x = floating(examples);
    checkHasBatch(title(), x.shape());
    if (x.size() == 0)
      fail<ShapeError>(
          absl::StrCat(title(), ": adapt() takes examples, and there are none in an input of shape ", x.shape().str()));
    build_for({TensorSpec<>(x.dtype(), x.shape())}, SourceLocation());
    std::vector<std::int64_t> axes;
    const std::int64_t axis = axisOf(title(), x.shape(), options.axis);
    checkAxis(title(), x.shape(), axis, means.shape()[0]);
    for (std::int64_t i = 0; i < x.rank(); ++i)
      if (i != axis)
        axes.push_back(i);
    Tensor average = mean(x, axes, true);
    means.assign(reshape(average, means.shape()));
    variances.assign(mean(square(x - average), axes));
    adapted.assign(true);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    checkHasChannels(title(), input);
    Shape features = {sizeOfAxis(title(), input, options.axis)};
    DType type = is_floating(dtype) ? dtype : DType::Float32;
    means = weight("mean", features, type, "zeros", false);
    variances = weight("variance", features, type, "ones", false);
    adapted = weight("adapted", {}, DType::Bool, "zeros", false);
  }
  Tensor call(const Tensor &input, const CallOptions &) override {
    Tensor x = floating(input);
    const std::int64_t axis = axisOf(title(), x.shape(), options.axis);
    checkAxis(title(), x.shape(), axis, means.shape()[0]);
    assert_true(adapted, absl::StrCat(title(), ": adapt() has not been called"));
    Shape shape(static_cast<std::size_t>(x.rank() - axis), 1);
    shape[0] = means.shape()[0];
    Tensor average = reshape(means, shape), deviation = reshape(maximum(sqrt(variances), 1e-7), shape);
    return options.invert ? x * deviation + average : (x - average) / deviation;
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  NormalizationOptions options;
  Variable means{nullptr}, variances{nullptr}, adapted{nullptr};
};

} // namespace

Rescaling::Rescaling(double scale, double offset, LayerOptions options, SourceLocation where)
    : Layer(made<RescalingBody>(options.name, where, scale, offset)) {}
Normalization::Normalization(NormalizationOptions options, SourceLocation where)
    : Layer(made<NormalizationBody>(options.name, where, options)) {}
void Normalization::adapt(const Operand &examples) const {
  CallSite site(examples.where(), "normalization");
  static_cast<NormalizationBody &>(checked(examples.where())).adapt(examples.toTensor());
}

void registerPreprocessing() {
  registerDescribed<RescalingBody>("Rescaling");
  registerDescribed<NormalizationBody>("Normalization");
}

} // namespace calque::layers
