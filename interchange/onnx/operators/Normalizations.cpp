// Normalisations, and dropout.
#include "onnx/Windows.h"

#include "calque/random.h"

namespace calque::onnx {

namespace {

std::vector<std::int64_t> axesFrom(std::int64_t first, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t i = first; i < rank; ++i)
    axes.push_back(i);
  return axes;
}

struct Centred {
  Tensor x, mean, inverse; // x less its mean; 1 / sqrt(variance + epsilon)
};
Centred centre(const Tensor &x, const std::vector<std::int64_t> &axes, float epsilon) {
  const Tensor average = mean(x, axes, true);
  const Tensor difference = x - average;
  const Tensor variance = mean(square(difference), axes, true);
  return {difference, average, 1 / sqrt(variance + scalarOf(epsilon, x.dtype()))};
}

Results batchNormalization(const Call &call) {
  const Value &x = call.value(0);
  const float epsilon = call.number("epsilon", 1e-5f), momentum = call.number("momentum", 0.9f);
  const bool training = call.version() >= 14 && call.flag("training_mode", false);
  if (call.version() < 7 && !call.flag("is_test", false))
    call.refuse("is_test=0 is not supported");
  const bool spatial = call.version() >= 9 || call.flag("spatial", true);
  if (!spatial)
    call.refuse("spatial=0 is not supported");
  if (x.rank() < 2)
    call.refuse("its input has rank " + std::to_string(x.rank()) + ", expected 2 or more");
  const DType dtype = x.dtype(), wide = is_half(dtype) ? DType::Float32 : call.value(3).dtype();
  // Vectors of channels broadcast along the last dimension.
  const Tensor images = cast(x.rank() > 2 ? x.images() : x.tensor(), wide);
  Tensor average = cast(call.tensor(3), wide), variance = cast(call.tensor(4), wide);
  const Tensor scale = cast(call.tensor(1), wide), shift = cast(call.tensor(2), wide);
  Results results;
  Tensor usedMean = average, usedVariance = variance;
  if (training) {
    std::vector<std::int64_t> axes = axesFrom(0, x.rank() - 1);
    usedMean = mean(images, axes);
    usedVariance = mean(square(images - usedMean), axes);
  }
  const Tensor factor = scale / sqrt(usedVariance + scalarOf(epsilon, wide));
  const Tensor y = back((images - usedMean) * factor + shift, dtype);
  results.push_back(x.rank() > 2 ? Value::ofImages(y) : Value(y));
  if (training) {
    const Tensor m = scalarOf(momentum, wide), rest = scalarOf(1.0 - momentum, wide);
    results.push_back(back(average * m + usedMean * rest, call.value(3).dtype()));
    results.push_back(back(variance * m + usedVariance * rest, call.value(4).dtype()));
  }
  return results;
}

Results layerNormalization(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", -1), x.rank());
  const float epsilon = call.number("epsilon", 1e-5f);
  const DType stash = call.type("stash_type", DType::Float32);
  // The first stage is computed in the stash type.
  const bool widens = is_half(x.dtype()) && stash == DType::Float32;
  const Centred c = centre(widens ? cast(x, stash) : x, axesFrom(axis, x.rank()), epsilon);
  Tensor y = back(c.x * c.inverse, x.dtype()) * call.tensor(1);
  if (call.has(2))
    y = y + call.tensor(2);
  return {y, c.mean, c.inverse};
}

Results rmsNormalization(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", -1), x.rank());
  const DType stash = call.type("stash_type", DType::Float32);
  const bool widens = is_half(x.dtype()) && stash == DType::Float32;
  const Tensor wide = widens ? cast(x, stash) : x;
  const Tensor squares = mean(square(wide), axesFrom(axis, x.rank()), true);
  const Tensor factor = 1 / sqrt(squares + scalarOf(call.number("epsilon", 1e-5f), wide.dtype()));
  return back(wide * factor, x.dtype()) * call.tensor(1);
}

Results instanceNormalization(const Call &call) {
  const Value &x = call.value(0);
  const Tensor images = x.images();
  const Centred c = centre(widened(images), axesFrom(1, x.rank() - 1), call.number("epsilon", 1e-5f));
  return Value::ofImages(back(c.x * c.inverse, x.dtype()) * call.tensor(1) + call.tensor(2));
}

Results groupNormalization(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t groups = call.integer("num_groups"), rank = x.rank();
  const Shape shape = x.shape();
  const DType dtype = x.dtype(), stash = call.type("stash_type", DType::Float32);
  const std::int64_t channels = shape[1];
  if (groups < 1 || channels % groups != 0)
    call.refuse(std::to_string(channels) + " channels in " + std::to_string(groups) + " groups");
  Shape grouped{shape[0], groups, channels / groups};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  const bool widens = is_half(dtype) && stash == DType::Float32;
  const Centred c =
      centre(reshape(widens ? cast(x, stash) : x, grouped), axesFrom(2, rank + 1), call.number("epsilon", 1e-5f));
  const Tensor y = back(c.x * c.inverse, dtype);
  // Version 18 had a scale and a shift for each group.
  if (call.version() < 21)
    return reshape(y * perChannel(call.tensor(1), rank + 1) + perChannel(call.tensor(2), rank + 1), shape);
  return reshape(y, shape) * perChannel(call.tensor(1), rank) + perChannel(call.tensor(2), rank);
}

Results lpNormalization(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", -1), x.rank()), p = call.integer("p", 2);
  if (p != 1 && p != 2)
    call.refuse("attribute 'p' is " + std::to_string(p) + ", expected 1 or 2");
  return x / (p == 1 ? sum(abs(x), axis, true) : sqrt(sum(square(x), axis, true)));
}

Results meanVarianceNormalization(const Call &call) {
  const Tensor x = call.tensor(0);
  std::vector<std::int64_t> axes = call.axes(call.integers("axes", {0, 2, 3}), x.rank());
  const Tensor difference = x - mean(x, axes, true);
  return difference / (sqrt(mean(square(difference), axes, true)) + scalarOf(1e-9, x.dtype()));
}

Results localResponse(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t size = call.integer("size");
  const DType dtype = x.dtype();
  std::vector<std::int64_t> low(static_cast<std::size_t>(x.rank()), 0), high = low;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  const std::int64_t channels = x.shape()[1];
  const Tensor squares = pad(square(x), low, high, 0);
  Tensor sum;
  for (std::int64_t i = 0; i < size; ++i) {
    const Tensor part = sliceAlong(squares, 1, i, i + channels);
    sum = sum.defined() ? sum + part : part;
  }
  const float alpha = call.number("alpha", 1e-4f), beta = call.number("beta", 0.75f), bias = call.number("bias", 1);
  return x /
         pow(scalarOf(bias, dtype) + scalarOf(alpha / static_cast<double>(size), dtype) * sum, scalarOf(beta, dtype));
}

Results dropout(const Call &call) {
  const Value &x = call.value(0);
  const bool isInput = call.version() >= 12;
  const double ratio = isInput ? (call.has(1) ? call.number(1) : 0.5) : call.number("ratio", 0.5f);
  if (call.version() < 7 && !call.flag("is_test", false))
    call.refuse("is_test=0 is not supported");
  const bool training = isInput && call.has(2) && call.integer(2) != 0;
  call.ignore({"seed"}); // the numbers of another generator
  if (!training || ratio == 0) {
    if (!call.gives(1))
      return x;
    return {x, full(x.shape(), true, DType::Bool)};
  }
  const Tensor kept = random::bernoulli(x.shape(), 1 - ratio);
  const DType dtype = x.dtype();
  return {x.tensor() * cast(kept, dtype) * scalarOf(1 / (1 - ratio), dtype), kept};
}

constexpr Operator kTable[] = {
    {"BatchNormalization", {6, 7, 9, 14, 15}, 5, 5, 0, batchNormalization},
    {"Dropout", {6, 7, 10, 12, 13, 22}, 1, 3, 0b110, dropout, {}, {}, true},
    {"GroupNormalization", {18, 21}, 3, 3, 0, groupNormalization},
    {"InstanceNormalization", {6, 22}, 3, 3, 0, instanceNormalization},
    {"LRN", {1, 13}, 1, 1, 0, localResponse},
    {"LayerNormalization", {17}, 2, 3, 0, layerNormalization},
    {"LpNormalization", {1, 22}, 1, 1, 0, lpNormalization},
    {"MeanVarianceNormalization", {9, 13}, 1, 1, 0, meanVarianceNormalization},
    {"RMSNormalization", {23}, 2, 2, 0, rmsNormalization},
};

} // namespace

Table normalizationOperators() { return kTable; }

} // namespace calque::onnx
