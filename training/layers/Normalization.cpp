#include "calque/layers/normalization.h"

#include "Described.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque::layers {

namespace {

void checkEpsilon(const char *layer, double epsilon, SourceLocation where) {
  if (!(epsilon >= 0))
    fail<ValueError>(absl::StrCat(layer, ": epsilon is not below 0, unlike ", Number(epsilon).str()), where);
}

// The options of gamma and beta.
template <typename A, typename Options> void describeAffine(A &a, Options &options) {
  a("epsilon", options.epsilon);
  a("center", options.center);
  a("scale", options.scale);
  a("beta_initializer", options.beta_initializer);
  a("gamma_initializer", options.gamma_initializer);
  a("beta_regularizer", options.beta_regularizer);
  a("beta_constraint", options.beta_constraint);
  a("gamma_regularizer", options.gamma_regularizer);
  a("activity_regularizer", options.activity_regularizer);
  a("gamma_constraint", options.gamma_constraint);
}

class BatchNormalizationBody : public Described<BatchNormalizationBody> {
public:
  explicit BatchNormalizationBody(BatchNormalizationOptions options = {})
      : Described("batch_normalization"), options(std::move(options)) {}
  void check(SourceLocation where) const {
    if (!(options.momentum >= 0 && options.momentum <= 1))
      fail<ValueError>(
          absl::StrCat("batch_normalization: the momentum is in [0, 1], unlike ", Number(options.momentum).str()),
          where);
    checkEpsilon("batch_normalization", options.epsilon, where);
  }
  template <typename A> void describe(A &a) {
    a("axis", options.axis);
    a("momentum", options.momentum);
    describeAffine(a, options);
    a("moving_mean_initializer", options.moving_mean_initializer);
    a("moving_variance_initializer", options.moving_variance_initializer);
  }

  bool mixes_examples(bool training) const override { return training && trainable(); }

protected:
  bool computes_in_full() const override { return true; }
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    Shape channels = {sizeOfAxis(title(), input, options.axis)};
    if (options.scale)
      gamma = weight("gamma", channels, dtype, options.gamma_initializer, true, options.gamma_regularizer,
                     options.gamma_constraint);
    if (options.center)
      beta = weight("beta", channels, dtype, options.beta_initializer, true, options.beta_regularizer,
                    options.beta_constraint);
    movingMean = weight("moving_mean", channels, dtype, options.moving_mean_initializer, false);
    movingVariance = weight("moving_variance", channels, dtype, options.moving_variance_initializer, false);
  }

  Tensor call(const Tensor &x, const CallOptions &call) override {
    checkHasChannels(title(), x.shape());
    const std::int64_t axis = axisOf(title(), x.shape(), options.axis);
    checkAxis(title(), x.shape(), axis, movingMean.shape()[0]);
    if (!call.training || !trainable())
      return normalise(x - along(movingMean, x, axis), movingVariance, x, axis);
    if (!x.size().is_known())
      assert_true(x.size() != Operand(0), absl::StrCat(title(), ": a batch without elements has no mean in training"));
    else if (x.size() == 0)
      fail<ShapeError>(
          absl::StrCat(title(), ": a batch without elements, of shape ", x.shape().str(), ", has no mean in training"));
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 0; i < x.rank(); ++i)
      if (i != axis)
        axes.push_back(i);
    Tensor counts = call.mask ? countsOf(*call.mask, x) : Tensor();
    auto average = [&](const Tensor &of) {
      if (!counts.defined())
        return mean(of, axes);
      // A select, because a product with 0 would have what does not count as NaN where it is infinite. The smallest
      // denominator, for a mask that lets nothing count, is Keras'.
      Tensor number = sum(broadcast_to(cast(counts, of.dtype()), of.shape()), axes);
      return sum(where(counts, of, 0), axes) / (number + 1e-7);
    };
    Tensor centre = average(x);
    Tensor centred = x - along(centre, x, axis);
    Tensor variance = average(square(centred));
    move(movingMean, centre);
    move(movingVariance, variance);
    return normalise(centred, variance, x, axis);
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }

private:
  // A mask [N,T] as [N,T,1...].
  static Tensor countsOf(const Tensor &mask, const Tensor &x) {
    std::vector<std::int64_t> axes;
    for (std::int64_t i = mask.rank(); i < x.rank(); ++i)
      axes.push_back(i);
    return axes.empty() ? mask : expand_dims(mask, axes);
  }
  // A number for each channel in the rank of x, where the channels are not the last dimension.
  static Tensor along(const Operand &perChannel, const Tensor &x, std::int64_t axis) {
    Tensor numbers = perChannel.toTensor();
    if (axis == x.rank() - 1)
      return numbers;
    Shape shape(static_cast<std::size_t>(x.rank() - axis), 1);
    shape[0] = numbers.shape()[0];
    return reshape(numbers, shape);
  }
  void move(Variable &moving, const Tensor &batch) const {
    moving.assign(options.momentum * moving + (1 - options.momentum) * batch);
  }
  Tensor normalise(const Tensor &centred, const Operand &variance, const Tensor &x, std::int64_t axis) const {
    Tensor factor = rsqrt(variance.toTensor() + options.epsilon);
    Tensor y = centred * along(options.scale ? factor * gamma : factor, x, axis);
    return options.center ? y + along(beta, x, axis) : y;
  }

  BatchNormalizationOptions options;
  Variable gamma{nullptr}, beta{nullptr}, movingMean{nullptr}, movingVariance{nullptr};
};

class LayerNormalizationBody : public Described<LayerNormalizationBody> {
public:
  explicit LayerNormalizationBody(LayerNormalizationOptions options = {})
      : Described("layer_normalization"), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkEpsilon("layer_normalization", options.epsilon, where);
    checkAtLeastOne("layer_normalization", "the number of axes", static_cast<std::int64_t>(options.axes.size()), where);
  }
  template <typename A> void describe(A &a) {
    a("axis", options.axes);
    describeAffine(a, options);
  }

protected:
  bool computes_in_full() const override { return true; }
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    Shape sizes;
    for (std::int64_t axis : axesOf(input))
      sizes.push_back(sizeOfAxis(title(), input, axis));
    if (options.scale)
      gamma = weight("gamma", sizes, dtype, options.gamma_initializer, true, options.gamma_regularizer,
                     options.gamma_constraint);
    if (options.center)
      beta = weight("beta", sizes, dtype, options.beta_initializer, true, options.beta_regularizer,
                    options.beta_constraint);
    builtFor = sizes;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasChannels(title(), x.shape());
    const std::vector<std::int64_t> axes = axesOf(x.shape());
    for (std::size_t i = 0; i < axes.size(); ++i)
      checkAxis(title(), x.shape(), axes[i], builtFor[i]);
    Tensor centred = x - mean(x, axes, true);
    Tensor y = centred * rsqrt(mean(square(centred), axes, true) + options.epsilon);
    if (options.scale)
      y = y * along(gamma, x, axes);
    return options.center ? y + along(beta, x, axes) : y;
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }

private:
  std::vector<std::int64_t> axesOf(const Shape &input) const {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis : options.axes)
      axes.push_back(axisOf(title(), input, axis));
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
      fail<ValueError>(absl::StrCat(title(), ": the axes ", Shape(options.axes).str(), " of an input of shape ",
                                    input.str(), " have one twice"));
    return axes;
  }
  static Tensor along(const Variable &numbers, const Tensor &x, const std::vector<std::int64_t> &axes) {
    Shape shape(static_cast<std::size_t>(x.rank() - axes[0]), 1);
    for (std::size_t i = 0; i < axes.size(); ++i)
      shape[static_cast<std::size_t>(axes[i] - axes[0])] = numbers.shape()[i];
    return reshape(numbers, shape);
  }

  LayerNormalizationOptions options;
  Shape builtFor;
  Variable gamma{nullptr}, beta{nullptr};
};

class GroupNormalizationBody : public Described<GroupNormalizationBody> {
public:
  explicit GroupNormalizationBody(GroupNormalizationOptions options = {})
      : Described("group_normalization"), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkEpsilon("group_normalization", options.epsilon, where);
    if (options.groups != -1)
      checkAtLeastOne("group_normalization", "the number of groups", options.groups, where);
  }
  template <typename A> void describe(A &a) {
    a("groups", options.groups);
    describeAffine(a, options);
  }

protected:
  bool computes_in_full() const override { return true; }
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    channels = channelsOf(title(), input);
    groups = options.groups == -1 ? channels : options.groups;
    if (channels % groups != 0)
      fail<ShapeError>(absl::StrCat(title(), ": ", groups, " groups don't divide the ", channels,
                                    " channels of an input of shape ", input.str()));
    if (options.scale)
      gamma = weight("gamma", {channels}, dtype, options.gamma_initializer, true, options.gamma_regularizer,
                     options.gamma_constraint);
    if (options.center)
      beta = weight("beta", {channels}, dtype, options.beta_initializer, true, options.beta_regularizer,
                    options.beta_constraint);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasChannels(title(), x.shape());
    checkChannels(title(), x.shape(), channels);
    Shape grouped = x.shape();
    grouped.back() = groups;
    grouped.push_back(channels / groups);
    Tensor parts = reshape(x, grouped);
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 1; i < parts.rank(); ++i)
      if (i != parts.rank() - 2)
        axes.push_back(i);
    Tensor centred = parts - mean(parts, axes, true);
    Tensor y = reshape(centred * rsqrt(mean(square(centred), axes, true) + options.epsilon), x.shape());
    if (options.scale)
      y = y * gamma;
    return options.center ? y + beta : y;
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }

private:
  GroupNormalizationOptions options;
  std::int64_t channels = 0, groups = 0;
  Variable gamma{nullptr}, beta{nullptr};
};

} // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options, SourceLocation where)
    : Layer(made<BatchNormalizationBody>(options.name, where, options)) {}
LayerNormalization::LayerNormalization(LayerNormalizationOptions options, SourceLocation where)
    : Layer(made<LayerNormalizationBody>(options.name, where, options)) {}
GroupNormalization::GroupNormalization(GroupNormalizationOptions options, SourceLocation where)
    : Layer(made<GroupNormalizationBody>(options.name, where, options)) {}

void registerNormalization() {
  registerDescribed<BatchNormalizationBody>("BatchNormalization");
  registerDescribed<LayerNormalizationBody>("LayerNormalization");
  registerDescribed<GroupNormalizationBody>("GroupNormalization");
}

} // namespace calque::layers
