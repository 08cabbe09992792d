// Products, factorisations, transforms and normalisations.
#include "stablehlo/Support.h"

#include "calque/fft.h"
#include "calque/linalg.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

// Operands in the type of the result, in which the products are added up.
Tensor product(const Call &call, const Numbers &batchX, const Numbers &batchY, const Numbers &x, const Numbers &y) {
  call.requireAxes(batchX, call.rank(0), "batching dimensions");
  call.requireAxes(batchY, call.rank(1), "batching dimensions");
  call.requireAxes(x, call.rank(0), "contracting dimensions");
  call.requireAxes(y, call.rank(1), "contracting dimensions");
  const DType to = call.dtype();
  if (to == DType::Bool)
    return not_equal(
        contract(cast(call.tensor(0), DType::Int32), cast(call.tensor(1), DType::Int32), batchX, batchY, x, y), 0);
  return contract(as(call.tensor(0), to), as(call.tensor(1), to), batchX, batchY, x, y);
}

Results dotGeneral(const Call &call) {
  if (call.has("dot_dimension_numbers")) {
    auto field = [&](const char *name) { return call.field("dot_dimension_numbers", name); };
    return product(call, field("lhs_batching_dimensions"), field("rhs_batching_dimensions"),
                   field("lhs_contracting_dimensions"), field("rhs_contracting_dimensions"));
  }
  // batching_dims = [0] x [0], contracting_dims = [2] x [1]
  auto both = [&](const char *name) {
    std::pair<Numbers, Numbers> made;
    if (!call.has(name))
      return made;
    const Attribute &pair = call.attribute(name);
    if (pair.kind != Attribute::Kind::List || pair.list.size() != 2)
      call.refuse("attribute '" + std::string(name) + "' is no pair of lists");
    made.first = call.integersOf(pair.list[0], name);
    made.second = call.integersOf(pair.list[1], name);
    return made;
  };
  const auto batch = both("batching_dims"), contracting = both("contracting_dims");
  return product(call, batch.first, batch.second, contracting.first, contracting.second);
}

Results dot(const Call &call) {
  const std::int64_t m = call.rank(0), n = call.rank(1);
  if (m < 1 || m > 2 || n < 1 || n > 2)
    call.refuse("operands of the ranks " + std::to_string(m) + " and " + std::to_string(n) + ", expected 1 or 2");
  return product(call, {}, {}, {m - 1}, {0});
}

Results einsumOf(const Call &call) { return einsum(call.word("einsum_config", ""), call.tensors()); }

Results choleskyOf(const Call &call) {
  const bool isLower = call.flag("lower", false);
  const Tensor a = call.tensor(0);
  // Only one triangle is read: that below of the transpose is that above.
  return isLower ? linalg::cholesky(a) : swapaxes(linalg::cholesky(swapaxes(a, -1, -2)), -1, -2);
}

// X of A X = B for complex triangles. With rows divided by the diagonal, which is then 1, each number is a block
// [re, -im; im, re] of a real triangle.
Tensor complexSolve(Tensor a, Tensor b, bool isLower, bool isUnit) {
  const std::int64_t rank = a.rank();
  if (!isUnit) {
    const Tensor diagonal = expand_dims(calque::diagonal(a, 0, rank - 2, rank - 1), {rank - 1});
    a = a / diagonal;
    b = b / diagonal;
  }
  auto pairs = [&](const Tensor &first, const Tensor &second, std::int64_t axis) {
    Shape shape = first.shape();
    shape[static_cast<std::size_t>(axis)] = Size(-1);
    return reshape(stack({first, second}, axis + 1), shape);
  };
  const std::int64_t row = rank - 2, column = rank - 1;
  const Tensor upper = pairs(real(a), -imag(a), column), lower = pairs(imag(a), real(a), column);
  const Tensor solved = linalg::triangular_solve(pairs(upper, lower, row), pairs(real(b), imag(b), row),
                                                 {.lower = isLower, .unit_diagonal = true});
  Shape shape = b.shape();
  shape.push_back(shape.back());
  shape[static_cast<std::size_t>(column)] = Size(2);
  const std::vector<Tensor> parts = unstack(reshape(solved, shape), column);
  return complex(parts[0], parts[1]);
}

Results triangularSolve(const Call &call) {
  const std::string transposed = call.word("transpose_a", "NO_TRANSPOSE");
  if (transposed != "NO_TRANSPOSE" && transposed != "TRANSPOSE" && transposed != "ADJOINT")
    call.refuse("transpose_a is '" + transposed + "'");
  if (is_complex(call.dtype())) {
    Tensor a = call.tensor(0), b = call.tensor(1);
    bool isLower = call.flag("lower", false), isTransposed = transposed != "NO_TRANSPOSE";
    const bool isLeft = call.flag("left_side", true);
    if (transposed == "ADJOINT")
      a = conj(a);
    if (!isLeft) // X A = B is A^T X^T = B^T
      b = swapaxes(b, -1, -2);
    if (isTransposed == isLeft) {
      a = swapaxes(a, -1, -2);
      isLower = !isLower;
    }
    const Tensor x = complexSolve(a, b, isLower, call.flag("unit_diagonal", false));
    return isLeft ? x : swapaxes(x, -1, -2);
  }
  return linalg::triangular_solve(call.tensor(0), call.tensor(1),
                                  {.lower = call.flag("lower", false),
                                   .transpose = transposed != "NO_TRANSPOSE",
                                   .unit_diagonal = call.flag("unit_diagonal", false),
                                   .left = call.flag("left_side", true)});
}

Results transform(const Call &call) {
  const std::string type = call.word("fft_type", "");
  const Numbers length = call.integers("fft_length");
  const Tensor x = call.tensor(0);
  const auto count = static_cast<std::int64_t>(length.size());
  if (count < 1 || count > 3 || count > x.rank())
    call.refuse("a transform of " + std::to_string(count) + " dimensions of a tensor of rank " +
                std::to_string(x.rank()));
  Numbers axes;
  for (std::int64_t i = x.rank() - count; i < x.rank(); ++i)
    axes.push_back(i);
  const fft::FftnOptions options{.s = length, .axes = axes};
  for (std::int64_t each : length)
    if (each < 1)
      return type == "RFFT" || type == "FFT" || type == "IFFT" || type == "IRFFT" ? zeros(call.shape(), call.dtype())
                                                                                  : zeros({0}, call.dtype());
  if (type == "FFT")
    return fft::fftn(x, options);
  if (type == "IFFT")
    return fft::ifftn(x, options);
  if (type == "RFFT")
    return fft::rfftn(x, options);
  if (type == "IRFFT")
    return fft::irfftn(x, options);
  call.refuse("the transform '" + type + "' is none of FFT, IFFT, RFFT and IRFFT");
}

//===-- Normalisations over all dimensions but one ------------------------------------------------===//

struct Batch {
  Numbers axes;
  std::int64_t feature;
  std::int64_t rank;
  double epsilon;
  const Call &call;

  explicit Batch(const Call &of)
      : feature(of.axis(of.integer("feature_index"), of.rank(0))), rank(of.rank(0)), epsilon(of.number("epsilon")),
        call(of) {
    for (std::int64_t i = 0; i < rank; ++i)
      if (i != feature)
        axes.push_back(i);
  }
  Tensor along(const Tensor &x) const { return placed(call, x, {feature}, rank); }
  Tensor deviation(const Tensor &variance) const { return sqrt(variance + scalarOf(epsilon, variance.dtype())); }
};

Results normalized(const Call &call) {
  const Batch batch(call);
  return (call.tensor(0) - batch.along(call.tensor(3))) / batch.along(batch.deviation(call.tensor(4))) *
             batch.along(call.tensor(1)) +
         batch.along(call.tensor(2));
}
Results normalizedInTraining(const Call &call) {
  const Batch batch(call);
  const Tensor x = call.tensor(0), average = mean(x, batch.axes);
  const Tensor variance = mean(square(x - batch.along(average)), batch.axes);
  const Tensor y = (x - batch.along(average)) / batch.along(batch.deviation(variance)) * batch.along(call.tensor(1)) +
                   batch.along(call.tensor(2));
  return {y, average, variance};
}
Results normalizationGradient(const Call &call) {
  const Batch batch(call);
  const Tensor x = call.tensor(0), scale = call.tensor(1), average = call.tensor(2), variance = call.tensor(3),
               g = call.tensor(4);
  const Tensor deviation = batch.deviation(variance);
  const Tensor centred = (x - batch.along(average)) / batch.along(deviation);
  const Tensor offset = sum(g, batch.axes), scaled = sum(g * centred, batch.axes);
  const Tensor count = cast(size(x), x.dtype()) / cast(size(x, batch.feature), x.dtype());
  const Tensor dx =
      batch.along(scale / deviation) * (g - batch.along(offset) / count - centred * batch.along(scaled) / count);
  return {dx, scaled, offset};
}

constexpr Operator kTable[] = {
    {"stablehlo.batch_norm_grad", 5, 5, normalizationGradient},
    {"stablehlo.batch_norm_inference", 5, 5, normalized},
    {"stablehlo.batch_norm_training", 3, 3, normalizedInTraining},
    {"stablehlo.cholesky", 1, 1, choleskyOf},
    {"stablehlo.dot", 2, 2, dot},
    {"stablehlo.dot_general", 2, 2, dotGeneral},
    {"stablehlo.einsum", 2, 2, einsumOf},
    {"stablehlo.fft", 1, 1, transform},
    {"stablehlo.triangular_solve", 2, 2, triangularSolve},
};

} // namespace

Table matrixOperators() { return kTable; }

} // namespace calque::stablehlo
