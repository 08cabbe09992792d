// Products of matrices, and the determinant.
#include "onnx/Support.h"

#include "calque/linalg.h"

namespace calque::onnx {

namespace {

Results gemm(const Call &call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  const float alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  auto scaled = [](const Tensor &x, float factor) {
    if (factor == 1)
      return x;
    if (is_floating(x.dtype()))
      return x * scalarOf(factor, x.dtype());
    return cast(cast(x, DType::Float64) * scalarOf(factor, DType::Float64), x.dtype());
  };
  Tensor y = scaled(
      matmul(a, b, {.transpose_a = call.flag("transA", false), .transpose_b = call.flag("transB", false)}), alpha);
  call.ignore({"broadcast"}); // of version 6: C broadcasts, or need not
  if (call.version() < 11 && !call.has(2))
    call.refuse("input 2 is missing");
  return call.has(2) ? y + scaled(call.tensor(2), beta) : y;
}

// Integers less their zero point. One for each row of A, or each column of B, is a vector.
Tensor centred(const Call &call, std::size_t i, std::size_t zero, bool isLeft) {
  const Tensor x = cast(call.tensor(i), DType::Int32);
  if (!call.has(zero))
    return x;
  Tensor point = cast(call.tensor(zero), DType::Int32);
  if (point.rank() == 1 && point.size() == 1)
    point = reshape(point, {});
  else if (point.rank() == 1 && isLeft)
    point = expand_dims(point, {1});
  return x - point;
}

Results matmulInteger(const Call &call) { return matmul(centred(call, 0, 2, true), centred(call, 1, 3, false)); }

Results quantizedMatmul(const Call &call) {
  const Tensor sums = matmul(centred(call, 0, 2, true), centred(call, 3, 5, false));
  auto scaleOf = [&](std::size_t i, bool isLeft) {
    const Tensor scale = cast(call.tensor(i), DType::Float32);
    if (scale.rank() == 1 && scale.size() == 1)
      return reshape(scale, {});
    return scale.rank() == 1 && isLeft ? expand_dims(scale, {1}) : scale;
  };
  const Tensor factor = scaleOf(1, true) * scaleOf(4, false) / scaleOf(6, true);
  Tensor zero = call.tensor(7);
  if (zero.rank() == 1 && zero.size() == 1)
    zero = reshape(zero, {});
  else if (zero.rank() == 1)
    zero = expand_dims(zero, {1});
  return cast(round(cast(sums, DType::Float32) * factor) + cast(zero, DType::Float32), zero.dtype());
}

Results einsumOf(const Call &call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  return einsum(equation, call.tensors());
}

constexpr Operator kTable[] = {
    {"Det", {11, 22}, 1, 1, 0, unary<linalg::det>},
    {"Einsum", {12}, 1, kAnyNumber, 0, einsumOf},
    {"Gemm", {6, 7, 9, 11, 13}, 2, 3, 0, gemm},
    {"MatMul", {1, 9, 13}, 2, 2, 0, [](const Call &call) { return Results(matmul(call.tensor(0), call.tensor(1))); }},
    {"MatMulInteger", {10}, 2, 4, 0, matmulInteger},
    {"QLinearMatMul", {10, 21}, 8, 8, 0, quantizedMatmul},
};

} // namespace

Table matrixOperators() { return kTable; }

} // namespace calque::onnx
