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
  void check(SourceLocation where) const {
    const auto &[axis, mean, variance, invert, name] = options;
    if (mean.has_value() != variance.has_value() || (mean && (mean->empty() || mean->size() != variance->size())))
      fail<ValueError>(absl::StrCat("normalization: takes as many variances as means, and there are ",
                                    variance ? variance->size() : 0, " and ", mean ? mean->size() : 0),
                       where);
    if (mean && !axis && mean->size() != 1)
      fail<ValueError>(
          absl::StrCat("normalization: without an axis there is one mean for all elements, and not ", mean->size()),
          where);
  }
  template <typename A> void describe(A &a) {
    a("axis", options.axis);
    a("mean", options.mean);
    a("variance", options.variance);
    a("invert", options.invert);
  }

  void adapt(const Tensor &examples) {
    Tensor x = floating(examples);
    checkHasBatch(title(), x.shape());
    if (options.mean)
      fail<StateError>(absl::StrCat(title(), ": adapt() is called, and the mean and the variance are given"));
    if (x.size() == 0)
      fail<ShapeError>(
          absl::StrCat(title(), ": adapt() takes examples, and there are none in an input of shape ", x.shape().str()));
    build_for({TensorSpec<>(x.dtype(), x.shape())}, SourceLocation());
    std::vector<std::int64_t> axes;
    const std::int64_t axis = axisIn(x.shape());
    for (std::int64_t i = 0; i < x.rank(); ++i)
      if (i != axis)
        axes.push_back(i);
    Tensor average = calque::mean(x, axes, true);
    means.assign(reshape(average, means.shape()));
    variances.assign(calque::mean(square(x - average), axes));
    count.assign(cast(x.shape()[0], DType::Int64));
  }

protected:
  bool computes_in_full() const override { return true; }
  void build(const Shape &input, DType dtype) override {
    checkHasBatch(title(), input);
    features = {};
    if (options.axis) {
      checkHasChannels(title(), input);
      features = {sizeOfAxis(title(), input, *options.axis)};
    }
    if (options.mean) {
      const auto given = static_cast<std::int64_t>(options.mean->size());
      if (options.axis && given != 1 && features[0] != given)
        fail<ShapeError>(
            absl::StrCat(title(), ": has ", given, " means, and there are ", features[0].str(), " features"));
      return;
    }
    DType type = is_floating(dtype) ? dtype : DType::Float32;
    means = weight("mean", features, type, "zeros", false);
    variances = weight("variance", features, type, "ones", false);
    count = weight("count", {}, DType::Int64, "zeros", false);
  }
  Tensor call(const Tensor &input, const CallOptions &) override {
    Tensor x = floating(input);
    const std::int64_t axis = axisIn(x.shape());
    Tensor mean, variance;
    if (options.mean) {
      mean = cast(tensor<double>(*options.mean), x.dtype());
      variance = cast(tensor<double>(*options.variance), x.dtype());
    } else {
      mean = means.value();
      variance = variances.value();
      assert_true(logical_or(logical_or(count > 0, any(mean != 0)), any(variance != 1)),
                  absl::StrCat(title(), ": adapt() has not been called"));
    }
    // One number, or one for each place of the axis.
    Shape shape;
    if (options.axis) {
      shape = Shape(static_cast<std::size_t>(x.rank() - axis), 1);
      shape[0] = options.mean ? Size(static_cast<std::int64_t>(options.mean->size())) : features[0];
    }
    Tensor average = reshape(mean, shape), deviation = reshape(maximum(sqrt(variance), 1e-7), shape);
    return options.invert ? x * deviation + average : (x - average) / deviation;
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  // The axis, or -1 for none.
  std::int64_t axisIn(const Shape &input) const {
    if (!options.axis)
      return -1;
    const std::int64_t axis = axisOf(title(), input, *options.axis);
    checkAxis(title(), input, axis, features[0]);
    return axis;
  }

  NormalizationOptions options;
  Shape features;
  Variable means{nullptr}, variances{nullptr}, count{nullptr};
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
