// Contractions, triangles of matrices, and Fourier transforms.
#include "stablehlo/export/Emit.h"

#include "calque/dtype.h"

#include <cmath>

namespace calque::stablehlo {

namespace {

Values contract(Emit &e) {
  const DType dtype = *e.result().dtype;
  const Written x = e.convert(e.in(0), dtype), y = e.convert(e.in(1), dtype);
  const Ints batchX = e.axes("lhs_batch", e.rank(0)), batchY = e.axes("rhs_batch", e.rank(1));
  std::string behind;
  if (!batchX.empty())
    behind += ", batching_dims = " + listed(batchX) + " x " + listed(batchY);
  behind += ", contracting_dims = " + listed(e.axes("lhs_contracting", e.rank(0))) + " x " +
            listed(e.axes("rhs_contracting", e.rank(1)));
  // Products of float32 are those of float32: other processors have shorter ones by default.
  if (is_floating(dtype) && !is_half(dtype))
    behind += ", precision = [HIGHEST, HIGHEST]";
  return {e.line("dot_general", {x, y}, behind, e.result())};
}

// The lower triangle, with zeros above.
Values cholesky(Emit &e) {
  const Written made{e.line("cholesky", {e.in()}, ", lower = true", e.type())};
  const Dims dims = Emit::dims(made);
  const Written row = e.iota(dims, e.rank() - 2, DType::Int32), column = e.iota(dims, e.rank() - 1, DType::Int32);
  return {e.select(e.compare("GE", row, column), made, e.numberLike(0, made))};
}

Values triangularSolve(Emit &e) {
  const std::string transposed = e.flag("transposed") ? "TRANSPOSE" : "NO_TRANSPOSE";
  auto word = [&](const char *name) { return std::string(name) + " = " + (e.flag(name) ? "true" : "false"); };
  return e.general("triangular_solve", e.operands(),
                   "left_side = true, " + word("lower") + ", transpose_a = #stablehlo<transpose " + transposed + ">, " +
                       word("unit_diagonal"),
                   {}, {e.result()});
}

DType complexOf(DType dtype) { return dtype == DType::Float32 ? DType::Complex64 : DType::Complex128; }

Written complexOf(Emit &e, const Written &re, const Written &im) {
  return e.line("complex", {re, im}, "", {complexOf(*re.type.dtype), re.type.sizes});
}
Values parts(Emit &e, const Written &x, DType dtype) {
  const ProgramType type{dtype, x.type.sizes};
  return {e.line("real", {x}, "", type), e.line("imag", {x}, "", type)};
}
Written scaled(Emit &e, const Written &x, double factor) {
  return factor == 1 ? x : e.same("multiply", {x, e.numberLike(factor, x)});
}
double scaleOf(std::int64_t divisor, std::int64_t n) {
  const auto size = static_cast<double>(n);
  return divisor == 0 ? 1 : divisor == 1 ? 1 / std::sqrt(size) : 1 / size;
}
Written transformed(Emit &e, const char *type, const Written &x, std::int64_t length, const ProgramType &result) {
  return e.line("fft", {x}, ", type = " + std::string(type) + ", length = " + listed({length}), result);
}

// The inverse transform of StableHLO is divided by n.
Values fourier(Emit &e) {
  const bool isInverse = e.flag("inverse"), isOfColumns = e.flag("columns");
  Written x = complexOf(e, e.in(0), e.in(1));
  Ints order;
  for (std::int64_t i = 0; i < e.rank(); ++i)
    order.push_back(i);
  if (isOfColumns) {
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    x = e.transpose(x, order);
  }
  const std::int64_t n = x.type.sizes.back();
  if (n == kUnknownSize)
    e.requireKnown(e.type());
  x = transformed(e, isInverse ? "IFFT" : "FFT", x, n, x.type);
  if (isOfColumns)
    x = e.transpose(x, order);
  const double scale = scaleOf(e.integer("divisor"), n) * (isInverse ? static_cast<double>(n) : 1);
  Values made = parts(e, x, e.dtype());
  return {scaled(e, made[0], scale), scaled(e, made[1], scale)};
}

double innerOf(Emit &e) {
  return std::visit([](auto number) { return static_cast<double>(number); }, e.attribute<ProgramNumber>("inner"));
}
// Factors of the frequencies of n real numbers: `inner`, and 1 for those that are their own conjugates.
Written factors(Emit &e, const Written &like, std::int64_t n, double inner) {
  const std::int64_t last = like.type.sizes.size() == 0 ? 0 : static_cast<std::int64_t>(like.type.sizes.size()) - 1;
  const Written place = e.iota(Emit::dims(like), last, DType::Int32);
  Written isOwn = e.compare("EQ", place, e.numberLike(0, place));
  if (n % 2 == 0)
    isOwn = e.same("or", {isOwn, e.compare("EQ", place, e.numberLike(static_cast<double>(n / 2), place))});
  return e.select(isOwn, e.numberLike(1, like), e.numberLike(inner, like));
}

Values realFourier(Emit &e) {
  const std::int64_t n = e.type().sizes.back();
  const Written x = transformed(e, "RFFT", e.in(), n, {complexOf(e.dtype()), e.result().sizes});
  Values made = parts(e, x, e.dtype());
  const double scale = scaleOf(e.integer("divisor"), n), inner = innerOf(e);
  for (Written &each : made) {
    if (inner != 1)
      each = e.same("multiply", {each, factors(e, each, n, inner)});
    each = scaled(e, each, scale);
  }
  return made;
}
// The inverse counts each conjugate pair twice, and is divided by n.
Values fourierToReal(Emit &e) {
  const std::int64_t n = e.integer("length");
  const double inner = innerOf(e);
  Values given = e.operands();
  if (inner != 2)
    for (Written &each : given)
      each = e.same("multiply", {each, factors(e, each, n, inner / 2)});
  const Written x = transformed(e, "IRFFT", complexOf(e, given[0], given[1]), n, e.result());
  return {scaled(e, x, scaleOf(e.integer("divisor"), n) * static_cast<double>(n))};
}

constexpr Rule kRules[] = {
    {"contract", contract},
    {"cholesky", cholesky},
    {"triangular_solve", triangularSolve},
    {"fourier_parts", fourier},
    {"real_fourier_parts", realFourier},
    {"fourier_to_real_parts", fourierToReal},
};

} // namespace

Rules matrixRules() { return kRules; }

} // namespace calque::stablehlo
