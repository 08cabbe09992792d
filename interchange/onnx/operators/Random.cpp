// Random numbers. They are Calque's: the numbers that another implementation draws from a seed are its own.
#include "onnx/Support.h"

#include "calque/random.h"

namespace calque::onnx {

namespace {

// A node with a seed draws the same numbers in each call; one without goes on in the global generator.
std::optional<Tensor> stateOf(const Call &call) {
  if (!call.hasAttribute("seed"))
    return {};
  return random::state(static_cast<std::int64_t>(call.number("seed", 0)), 0);
}

Tensor uniform(const Call &call, const Shape &shape, DType dtype, double low, double high) {
  const random::UniformOptions options{.minval = low, .maxval = high, .dtype = dtype};
  const auto state = stateOf(call);
  return state ? random::stateless_uniform(shape, *state, options) : random::uniform(shape, options);
}
Tensor normal(const Call &call, const Shape &shape, DType dtype) {
  const random::NormalOptions options{
      .mean = call.number("mean", 0), .stddev = call.number("scale", 1), .dtype = dtype};
  const auto state = stateOf(call);
  return state ? random::stateless_normal(shape, *state, options) : random::normal(shape, options);
}

Results randomNormal(const Call &call) {
  return normal(call, Shape(call.integers("shape")), call.type("dtype", DType::Float32));
}
Results randomNormalLike(const Call &call) {
  const Value &x = call.value(0);
  return normal(call, x.shape(), call.type("dtype", x.dtype()));
}
Results randomUniform(const Call &call) {
  return uniform(call, Shape(call.integers("shape")), call.type("dtype", DType::Float32), call.number("low", 0),
                 call.number("high", 1));
}
Results randomUniformLike(const Call &call) {
  const Value &x = call.value(0);
  return uniform(call, x.shape(), call.type("dtype", x.dtype()), call.number("low", 0), call.number("high", 1));
}
Results bernoulli(const Call &call) {
  const Tensor probability = call.tensor(0);
  const DType dtype = call.type("dtype", probability.dtype());
  return cast(uniform(call, probability.shape(), probability.dtype(), 0, 1) < probability, dtype);
}
Results multinomial(const Call &call) {
  const auto state = stateOf(call);
  const Tensor logits = call.tensor(0);
  const std::int64_t count = call.integer("sample_size", 1);
  return cast(state ? random::stateless_categorical(logits, *state, count) : random::categorical(logits, count),
              call.type("dtype", DType::Int32));
}

constexpr Operator kTable[] = {
    {"Bernoulli", {15, 22}, 1, 1, 0, bernoulli, {}, {}, true},
    {"Multinomial", {7, 22}, 1, 1, 0, multinomial, {}, {}, true},
    {"RandomNormal", {1, 22}, 0, 0, 0, randomNormal, {}, {}, true},
    {"RandomNormalLike", {1, 22}, 1, 1, 0, randomNormalLike, {}, {}, true},
    {"RandomUniform", {1, 22}, 0, 0, 0, randomUniform, {}, {}, true},
    {"RandomUniformLike", {1, 22}, 1, 1, 0, randomUniformLike, {}, {}, true},
};

} // namespace

Table randomOperators() { return kTable; }

} // namespace calque::onnx
