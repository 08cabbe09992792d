#include "calque/layers.h"

#include "Support.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/callable.h"
#include "calque/functions.h"
#include "calque/init_scope.h"

#include <cmath>

namespace calque::layers {

using training::describe;
using training::fail;

//===-- Bodies and handles ----------------------------------------------------------------------===//

LayerBody::LayerBody(std::string kind, bool builds)
    : kind_(std::move(kind)), inMessages(calque::detail::interned(kind_)), built_(!builds) {}

std::string LayerBody::title() const { return name().empty() ? kind_ : absl::StrCat(kind_, " '", name(), "'"); }

Variable LayerBody::weight(std::string name, const Shape &shape, DType dtype, const Initializer &initializer,
                           bool trainable) {
  Tensor initial;
  {
    InitScope now;
    initial = initializer(shape, dtype);
  }
  // Outside of the InitScope, because the rule that a function makes variables only in its first trace holds for layers
  // too.
  return variable(std::move(name), initial, trainable);
}

void LayerBody::checkBuilt(SourceLocation where) const {
  if (!built())
    fail<StateError>(absl::StrCat(title(), ": its variables are not made yet; its first call makes them, or build()"),
                     where);
}

void LayerBody::ensureBuilt(const Shape &input, DType dtype) {
  if (built())
    return;
  std::lock_guard lock(mutex_);
  if (built())
    return;
  std::size_t before = parts_.size();
  try {
    build(input, dtype);
  } catch (...) {
    parts_.resize(before);
    throw;
  }
  built_.store(true, std::memory_order_release);
}

LayerBody &Layer::checked(SourceLocation where) const {
  if (!body_)
    calque::detail::throwEmptyHandle("layer", where);
  return *body_;
}

Tensor Layer::operator()(const Operand &x, CallOptions options) const {
  LayerBody &body = checked(x.where());
  CallSite site(x.where(), body.inMessages);
  Tensor input = x.toTensor();
  body.ensureBuilt(input.shape(), input.dtype());
  return body.call(input, options);
}

void Layer::build(const Shape &input, DType dtype, SourceLocation where) const {
  LayerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  body.buildFor(input, dtype);
}

//===-- Checks of layers ------------------------------------------------------------------------===//

namespace {

void checkAtLeastOne(const char *layer, const char *what, std::int64_t value, SourceLocation where) {
  if (value < 1)
    fail<ValueError>(absl::StrCat(layer, ": ", what, " is ", value, " and must be at least 1"), where);
}

void checkExtent(const char *layer, const char *what, Extent extent, SourceLocation where) {
  checkAtLeastOne(layer, what, extent.height, where);
  checkAtLeastOne(layer, what, extent.width, where);
}

void checkPadding(const char *layer, const std::string &padding, SourceLocation where) {
  if (padding != "same" && padding != "valid")
    fail<ValueError>(absl::StrCat(layer, ": there is no padding '", padding, "'; it is 'same' or 'valid'"), where);
}

void checkFloating(const std::string &title, const Shape &input, DType dtype) {
  if (!is_floating(dtype))
    fail<DTypeError>(
        absl::StrCat(title, ": takes inputs of ", names_of({DTypeKind::Float}), ", not ", describe(dtype, input)));
}

void checkImages(const std::string &title, const Shape &input) {
  if (input.size() != 4)
    fail<ShapeError>(absl::StrCat(title, ": takes images [N,H,W,C]; the input has shape ", input.str()));
}

void checkHasChannels(const std::string &title, const Shape &input) {
  if (input.size() < 2)
    fail<ShapeError>(
        absl::StrCat(title, ": takes inputs of rank 2 or more, a batch first; this one has shape ", input.str()));
}

// The last dimension, by which variables are made.
std::int64_t channelsOf(const std::string &title, const Shape &input) {
  if (!input.back().is_known())
    fail<ShapeError>(absl::StrCat(
        title, ": its variables are made by the last dimension of the input, which is not known in ", input.str()));
  return input.back();
}

// Checks that the last dimension is the one for which the variables were made. One that is not known is compared at
// the call.
void checkChannels(const std::string &title, const Shape &input, std::int64_t channels) {
  if (input.back().is_known() && input.back() != channels)
    fail<ShapeError>(absl::StrCat(title, ": was built for inputs whose last dimension is ", channels,
                                  "; this one has shape ", input.str()));
}

std::vector<std::int64_t> sizesOf(Extent extent) { return {extent.height, extent.width}; }

//===-- Layers ----------------------------------------------------------------------------------===//

class DenseBody : public LayerBody {
public:
  DenseBody(std::int64_t units, DenseOptions options) : LayerBody("dense"), units(units), options(std::move(options)) {}

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    kernel = weight("kernel", {channelsOf(title(), input), units}, dtype, options.kernel_initializer);
    if (options.use_bias)
      bias = weight("bias", {units}, dtype, options.bias_initializer);
  }
  Tensor call(const Tensor &x, CallOptions) override {
    checkHasChannels(title(), x.shape());
    checkChannels(title(), x.shape(), kernel.shape()[0]);
    Tensor y = contract(x, kernel, {}, {}, {x.rank() - 1}, {0});
    return options.activation(options.use_bias ? y + bias : y);
  }

private:
  const std::int64_t units;
  const DenseOptions options;
  Variable kernel{nullptr}, bias{nullptr};
};

class Conv2DBody : public LayerBody {
public:
  Conv2DBody(std::int64_t filters, Extent size, Conv2DOptions options)
      : LayerBody("conv2d"), filters(filters), size(size), options(std::move(options)) {}

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkImages(title(), input);
    kernel = weight("kernel", {size.height, size.width, channelsOf(title(), input), filters}, dtype,
                    options.kernel_initializer);
    if (options.use_bias)
      bias = weight("bias", {filters}, dtype, options.bias_initializer);
  }
  Tensor call(const Tensor &x, CallOptions) override {
    checkImages(title(), x.shape());
    checkChannels(title(), x.shape(), kernel.shape()[2]);
    Tensor y = conv2d(x, kernel, sizesOf(options.strides), options.padding);
    return options.activation(options.use_bias ? y + bias : y);
  }

private:
  const std::int64_t filters;
  const Extent size;
  const Conv2DOptions options;
  Variable kernel{nullptr}, bias{nullptr};
};

class MaxPool2DBody : public LayerBody {
public:
  MaxPool2DBody(Extent size, Extent strides, std::string padding)
      : LayerBody("max_pool2d", false), size(size), strides(strides), padding(std::move(padding)) {}

protected:
  Tensor call(const Tensor &x, CallOptions) override {
    checkImages(title(), x.shape());
    return max_pool2d(x, sizesOf(size), sizesOf(strides), padding);
  }

private:
  const Extent size, strides;
  const std::string padding;
};

class BatchNormalizationBody : public LayerBody {
public:
  explicit BatchNormalizationBody(BatchNormalizationOptions options)
      : LayerBody("batch_normalization"), options(options) {}

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    Shape channels = {channelsOf(title(), input)};
    if (options.scale)
      gamma = weight("gamma", channels, dtype, ones);
    if (options.center)
      beta = weight("beta", channels, dtype, zeros);
    movingMean = weight("moving_mean", channels, dtype, zeros, false);
    movingVariance = weight("moving_variance", channels, dtype, ones, false);
  }

  Tensor call(const Tensor &x, CallOptions call) override {
    checkHasChannels(title(), x.shape());
    checkChannels(title(), x.shape(), movingMean.shape()[0]);
    if (!call.training)
      return normalise(x - movingMean, movingVariance.value());
    if (!x.size().is_known())
      assert_true(x.size() != Operand(0), absl::StrCat(title(), ": a batch without elements has no mean in training"));
    else if (x.size() == 0)
      fail<ShapeError>(
          absl::StrCat(title(), ": a batch without elements, of shape ", x.shape().str(), ", has no mean in training"));
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 0; axis + 1 < x.rank(); ++axis)
      axes.push_back(axis);
    Tensor average = mean(x, axes);
    Tensor centred = x - average;
    Tensor variance = mean(square(centred), axes);
    move(movingMean, average);
    move(movingVariance, variance);
    return normalise(centred, variance);
  }

private:
  void move(Variable &moving, const Tensor &batch) const {
    moving.assign(options.momentum * moving + (1 - options.momentum) * batch);
  }
  Tensor normalise(const Tensor &centred, const Tensor &variance) const {
    Tensor factor = rsqrt(variance + options.epsilon);
    Tensor y = centred * (options.scale ? factor * gamma : factor);
    return options.center ? y + beta : y;
  }

  const BatchNormalizationOptions options;
  Variable gamma{nullptr}, beta{nullptr}, movingMean{nullptr}, movingVariance{nullptr};
};

class DropoutBody : public LayerBody {
public:
  DropoutBody(double rate, DropoutOptions options) : LayerBody("dropout"), rate(rate), options(options) {}

protected:
  void build(const Shape &, DType) override {
    generator.emplace(options.seed ? *options.seed : random::global_generator().draw_seed());
    adopt("generator", generator->state());
  }
  Tensor call(const Tensor &x, CallOptions call) override {
    checkFloating(title(), x.shape(), x.dtype());
    if (!call.training || rate == 0)
      return x;
    return where(generator->bernoulli(x.shape(), 1 - rate), x * (1 / (1 - rate)), 0);
  }

private:
  const double rate;
  const DropoutOptions options;
  std::optional<random::Generator> generator;
};

class FlattenBody : public LayerBody {
public:
  FlattenBody() : LayerBody("flatten", false) {}

protected:
  Tensor call(const Tensor &x, CallOptions) override {
    if (x.rank() == 0)
      fail<ShapeError>(absl::StrCat(title(), ": takes inputs of rank 1 or more, a batch first; this one is a scalar"));
    const Shape shape = x.shape();
    Size rest = 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
      rest = rest.is_known() && shape[i].is_known() ? Size(rest * shape[i]) : kDynamic;
    return reshape(x, {shape[0], rest.is_known() ? rest : Size(-1)});
  }
};

class ActivationBody : public LayerBody {
public:
  explicit ActivationBody(ActivationFunction function)
      : LayerBody("activation", false), function(std::move(function)) {}

protected:
  Tensor call(const Tensor &x, CallOptions) override { return function(x); }

private:
  const ActivationFunction function;
};

class SequentialBody : public LayerBody {
public:
  SequentialBody() : LayerBody("sequential", false) {}

  void add(const Layer &layer, SourceLocation where) {
    if (!layer.body())
      calque::detail::throwEmptyHandle("layer", where);
    bool known = false;
    for (const Layer &other : layers)
      known |= other.same_as(layer);
    if (!known) {
      std::string base = layer.name().empty() ? layer.body()->kind() : layer.name(), unique = base;
      for (int i = 1; names.count(unique); ++i)
        unique = absl::StrCat(base, "_", i);
      adopt(unique, layer.body(), where);
      names.insert(unique);
    }
    layers.push_back(layer);
  }

  std::vector<Layer> layers;

protected:
  Tensor call(const Tensor &input, CallOptions options) override {
    Tensor x = input;
    for (const Layer &layer : layers)
      x = layer(x, options);
    return x;
  }
  void buildFor(const Shape &input, DType dtype) override {
    InitScope now;
    // No variable is made by the size of a batch.
    Shape sample = input;
    if (!sample.empty() && !sample[0].is_known())
      sample[0] = 1;
    call(zeros(sample, dtype), {});
  }

private:
  absl::flat_hash_set<std::string> names;
};

} // namespace

//===-- Handles ---------------------------------------------------------------------------------===//

ActivationFunction::ActivationFunction(const char *name, SourceLocation where) {
  // Gelu: Hendrycks, Gimpel: Gaussian error linear units, 2016.
  static const std::pair<const char *, Tensor (*)(const Tensor &)> functions[] = {
      {"linear", [](const Tensor &x) { return x; }},
      {"relu", [](const Tensor &x) { return relu(x); }},
      {"gelu", [](const Tensor &x) { return 0.5 * x * (1 + erf(x * std::sqrt(0.5))); }},
      {"sigmoid", [](const Tensor &x) { return sigmoid(x); }},
      {"tanh", [](const Tensor &x) { return tanh(x); }},
      {"softmax", [](const Tensor &x) { return softmax(x); }}};
  if (!name)
    calque::detail::throwNothingToCall("activation", where);
  for (const auto &[candidate, function] : functions)
    if (std::string(candidate) == name)
      apply_ = function;
  if (!apply_) {
    auto appendName = [](std::string *text, const auto &known) { text->append(known.first); };
    fail<ValueError>(
        absl::StrCat("activation: there is no '", name, "'; there are ", absl::StrJoin(functions, ", ", appendName)),
        where);
  }
}

Dense::Dense(std::int64_t units, DenseOptions options, SourceLocation where)
    : Layer(std::make_shared<DenseBody>(units, std::move(options))) {
  checkAtLeastOne("dense", "the number of units", units, where);
}

Conv2D::Conv2D(std::int64_t filters, Extent kernel_size, Conv2DOptions options, SourceLocation where)
    : Layer(std::make_shared<Conv2DBody>(filters, kernel_size, options)) {
  checkAtLeastOne("conv2d", "the number of filters", filters, where);
  checkExtent("conv2d", "the kernel's size", kernel_size, where);
  checkExtent("conv2d", "the stride", options.strides, where);
  checkPadding("conv2d", options.padding, where);
}

MaxPool2D::MaxPool2D(Extent pool_size, MaxPool2DOptions options, SourceLocation where)
    : Layer(std::make_shared<MaxPool2DBody>(pool_size, options.strides.value_or(pool_size), options.padding)) {
  checkExtent("max_pool2d", "the window's size", pool_size, where);
  checkExtent("max_pool2d", "the stride", options.strides.value_or(pool_size), where);
  checkPadding("max_pool2d", options.padding, where);
}

BatchNormalization::BatchNormalization(BatchNormalizationOptions options, SourceLocation where)
    : Layer(std::make_shared<BatchNormalizationBody>(options)) {
  if (!(options.momentum >= 0 && options.momentum <= 1))
    fail<ValueError>(
        absl::StrCat("batch_normalization: the momentum is in [0, 1], unlike ", Number(options.momentum).str()), where);
  if (!(options.epsilon >= 0))
    fail<ValueError>(
        absl::StrCat("batch_normalization: epsilon is not below 0, unlike ", Number(options.epsilon).str()), where);
}

Dropout::Dropout(double rate, DropoutOptions options, SourceLocation where)
    : Layer(std::make_shared<DropoutBody>(rate, options)) {
  if (!(rate >= 0 && rate < 1))
    fail<ValueError>(absl::StrCat("dropout: the rate is in [0, 1), unlike ", Number(rate).str()), where);
}

Flatten::Flatten() : Layer(std::make_shared<FlattenBody>()) {}
Activation::Activation(ActivationFunction function) : Layer(std::make_shared<ActivationBody>(std::move(function))) {}

Sequential::Sequential(std::initializer_list<Layer> layers, SourceLocation where)
    : Layer(std::make_shared<SequentialBody>()) {
  for (const Layer &layer : layers)
    add(layer, where);
}
void Sequential::add(const Layer &layer, SourceLocation where) {
  static_cast<SequentialBody &>(checked(where)).add(layer, where);
}
const std::vector<Layer> &Sequential::layers(SourceLocation where) const {
  return static_cast<const SequentialBody &>(checked(where)).layers;
}

} // namespace calque::layers
