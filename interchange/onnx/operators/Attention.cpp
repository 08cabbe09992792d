// Attention, and the rotation of queries and keys by their places.
#include "onnx/Support.h"

#include <cmath>

namespace calque::onnx {

namespace {

// [B, S, heads * D] as [B, heads, S, D].
Tensor inHeads(const Call &call, const Tensor &x, const char *name) {
  if (x.rank() == 4)
    return x;
  const std::int64_t heads = call.integer(name);
  if (x.rank() != 3 || heads < 1)
    call.refuse("an input of shape " + x.shape().str() + " with " + std::to_string(heads) + " heads");
  const Shape shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, std::int64_t(shape[2]) / heads}), {0, 2, 1, 3});
}

// Heads of keys and values that several heads of queries share.
Tensor shared(const Tensor &x, std::int64_t times) { return times == 1 ? x : repeat(x, times, 1); }

Results attention(const Call &call) {
  const bool isFlat = call.value(0).rank() == 3;
  const Tensor q = inHeads(call, call.tensor(0), "q_num_heads");
  Tensor k = inHeads(call, call.tensor(1), "kv_num_heads"), v = inHeads(call, call.tensor(2), "kv_num_heads");
  call.ignore({"q_num_heads", "kv_num_heads"});
  const DType dtype = q.dtype();
  if (call.has(4) != call.has(5))
    call.refuse("past_key and past_value come together");
  Tensor past = ofIntegers({0}, {});
  if (call.has(4)) {
    past = size(call.tensor(4), 2);
    k = concat({call.tensor(4), k}, 2);
    v = concat({call.tensor(5), v}, 2);
  }
  const std::int64_t heads = q.shape()[1], kvHeads = k.shape()[1];
  if (kvHeads < 1 || heads % kvHeads != 0)
    call.refuse(std::to_string(heads) + " heads of queries and " + std::to_string(kvHeads) + " of keys");
  const std::int64_t depth = q.shape()[3];
  const double scale = call.hasAttribute("scale") ? call.number("scale", 0) : 1 / std::sqrt(static_cast<double>(depth));
  const double softcap = call.number("softcap", 0);
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    call.refuse("attribute 'qk_matmul_output_mode' is " + std::to_string(mode));
  // The root of the scale goes to both factors, so that a half does not overflow.
  const Tensor root = scalarOf(std::sqrt(scale), dtype);
  const Tensor products = matmul(q * root, shared(k, heads / kvHeads) * root, {.transpose_b = true});
  Tensor weights = products, inside = products;
  const Tensor never = scalarOf(-HUGE_VAL, dtype), zero = scalarOf(0, dtype);
  const Size rows = q.shape()[2], keys = k.shape()[2];
  if (call.has(3)) {
    Tensor mask = call.tensor(3);
    const std::int64_t given = mask.shape()[static_cast<std::size_t>(mask.rank() - 1)];
    const bool isBool = mask.dtype() == DType::Bool;
    if (keys.is_known() && given < keys) {
      std::vector<std::int64_t> low(static_cast<std::size_t>(mask.rank()), 0), high = low;
      high.back() = keys - given;
      mask = pad(mask, low, high, isBool ? Number(false) : Number(-HUGE_VAL));
    }
    weights = weights + (isBool ? where(mask, zero, never) : mask);
  }
  if (call.flag("is_causal", false)) {
    const Tensor sees = iota({rows, keys}, DType::Int64, 1) <= iota({rows, keys}, DType::Int64, 0) + past;
    weights = weights + where(sees, zero, never);
  }
  if (call.has(6)) {
    const Tensor lengths = expand_dims(cast(call.tensor(6), DType::Int64), {1, 2, 3});
    weights = weights + where(iota({keys}, DType::Int64, 0) < lengths, zero, never);
  }
  if (mode == 1)
    inside = weights;
  if (softcap > 0)
    weights = tanh(weights / scalarOf(softcap, dtype)) * scalarOf(softcap, dtype);
  if (mode == 2)
    inside = weights;
  const DType precision = call.type("softmax_precision", dtype);
  Tensor chances = softmax(back(weights, precision), -1);
  if (mode == 3)
    inside = back(chances, dtype);
  Tensor y = back(matmul(chances, back(shared(v, heads / kvHeads), precision)), dtype);
  if (isFlat) {
    const Shape shape = y.shape();
    y = reshape(transpose(y, {0, 2, 1, 3}), {shape[0], shape[2], std::int64_t(shape[1]) * std::int64_t(shape[3])});
  }
  return {y, k, v, inside};
}

Results rotaryEmbedding(const Call &call) {
  const Tensor given = call.tensor(0);
  const bool isFlat = given.rank() == 3;
  const Tensor x = inHeads(call, given, "num_heads");
  call.ignore({"num_heads"});
  const std::int64_t depth = x.shape()[3];
  const std::int64_t named = call.integer("rotary_embedding_dim", 0), turned = named == 0 ? depth : named;
  if (turned > depth || turned % 2 != 0)
    call.refuse("attribute 'rotary_embedding_dim' is " + std::to_string(turned) + ", of " + std::to_string(depth));
  auto cache = [&](std::size_t i) {
    const Tensor table = call.has(3) ? gather(call.tensor(i), call.tensor(3)) : call.tensor(i);
    return expand_dims(table, {1}); // [B, 1, S, turned / 2]
  };
  const Tensor cosines = cache(1), sines = cache(2);
  const Tensor front = sliceAlong(x, 3, 0, turned);
  const bool interleaved = call.flag("interleaved", false);
  const Tensor a = interleaved ? sliceAlong(front, 3, 0, turned, 2) : sliceAlong(front, 3, 0, turned / 2);
  const Tensor b = interleaved ? sliceAlong(front, 3, 1, turned, 2) : sliceAlong(front, 3, turned / 2, turned);
  const Tensor real = cosines * a - sines * b, imaginary = sines * a + cosines * b;
  Tensor y = interleaved ? reshape(stack({real, imaginary}, 4), front.shape()) : concat({real, imaginary}, 3);
  if (turned < depth)
    y = concat({y, sliceAlong(x, 3, turned, depth)}, 3);
  return isFlat ? reshape(transpose(y, {0, 2, 1, 3}), given.shape()) : y;
}

constexpr Operator kTable[] = {
    {"Attention", {23, 24}, 3, 7, 0, attention},
    {"RotaryEmbedding", {23}, 3, 4, 0, rotaryEmbedding},
};

} // namespace

Table attentionOperators() { return kTable; }

} // namespace calque::onnx
