#include "test/fuzz/LinalgOperations.h"

#include "calque/calque.h"
#include "calque/fft.h"
#include "calque/linalg.h"

#include <algorithm>

namespace calque::fuzz {

Tensor tame(const Tensor &x) {
  const Tensor square = is_complex(x.dtype()) ? calque::square(real(x)) + calque::square(imag(x)) : calque::square(x);
  return x / cast(sqrt(1 + square), x.dtype());
}

namespace {

// 1 on the diagonal, or 1 to n, of matrices whose size may be unknown.
Tensor diagonal(const Tensor &like, bool ascending) {
  const Size n = like.shape().back();
  const Tensor row = iota(Shape{n, 1}, DType::Int64, 0), column = iota(Shape{1, n}, DType::Int64, 1);
  return cast(ascending ? where(row == column, row + 1, 0) : cast(row == column, DType::Int64), like.dtype());
}
// The magnitudes of a row add up to less than `most`.
Tensor shareOf(const Tensor &x, double most) {
  return tame(x) * cast(most / (cast(size(x, x.rank() - 1), real_of(x.dtype())) * 2), x.dtype());
}
Tensor adjoint(const Tensor &x) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  const Tensor turned = transpose(x, order);
  return is_complex(x.dtype()) ? conj(turned) : turned;
}
// Near 2 I; Hermitian and positive definite; and with eigenvalues and singular values near 1 to n.
Tensor regular(const Tensor &x) { return shareOf(x, 0.8) + 2 * diagonal(x, false); }
Tensor positive(const Tensor &x) {
  const Tensor y = shareOf(x, 0.8);
  return y + adjoint(y) + 2 * diagonal(x, false);
}
Tensor apart(const Tensor &x) { return shareOf(x, 0.3) + diagonal(x, true); }
Tensor apartHermitian(const Tensor &x) {
  const Tensor y = shareOf(x, 0.2);
  return y + adjoint(y) + diagonal(x, true);
}
// Columns times numbers of a vector.
Tensor scaled(const Tensor &columns, const Tensor &by) {
  return columns * cast(expand_dims(by, {by.rank() - 1}), columns.dtype());
}

linalg::MatrixNorm normOf(std::uint64_t choice) {
  using N = linalg::MatrixNorm;
  const N all[] = {N::Frobenius, N::Nuclear, N::Two, N::MinusTwo};
  return all[choice % 4];
}
Tensor times(const Tensor &x, const Tensor &number) { // a number for each matrix
  return x * cast(expand_dims(number, {number.rank(), number.rank() + 1}), x.dtype());
}

//===-- Bands and diagonals ---------------------------------------------------------------------===//

// A number for each column, from the rows of a matrix: [..., n] of magnitudes below 1.
Tensor columnsOf(const Tensor &x, double phase) {
  const Tensor weights = sin(cast(iota({x.shape()[x.rank() - 2], 1}, DType::Float64) + phase, real_of(x.dtype())));
  return tame(sum(x * cast(weights, x.dtype()), {x.rank() - 2}));
}
// Rows [..., 1, n] as a band [..., rows, n], whose row `main` is the diagonal: larger than the others together.
Tensor bandOf(const Tensor &x, std::int64_t rows, std::int64_t main) {
  std::vector<Tensor> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    const Tensor own =
        expand_dims(columnsOf(x, static_cast<double>(r)), {x.rank() - 2}) * (1.0 / static_cast<double>(rows));
    all.push_back(r == main ? 2 + own : own);
  }
  return concat(all, x.rank() - 2);
}
// The first row and column of a Toeplitz matrix with a large diagonal.
Tensor firstOf(const Tensor &x, double phase) {
  const Tensor own = columnsOf(x, phase), index = iota({x.shape().back()}, DType::Int64);
  return own * cast(0.5 / (cast(size(x, x.rank() - 1), real_of(x.dtype()))), x.dtype()) +
         2 * cast(index == 0, x.dtype());
}
// f of single matrices, for a batch.
Tensor ofEach(const Tensor &x, const Tensor &y, const std::function<Tensor(const Tensor &, const Tensor &)> &f) {
  return x.rank() == 3 ? vmap(f)(x, y) : f(x, y);
}

//===-- Matrices that are not square ------------------------------------------------------------===//

// [..., 2n, n] of full rank, and with singular values that are apart. Wide ones are their adjoints.
Tensor tall(const Tensor &x, const Tensor &y) { return concat({regular(x), shareOf(y, 0.5)}, x.rank() - 2); }
Tensor tallApart(const Tensor &x, const Tensor &y) { return concat({apart(x), shareOf(y, 0.3)}, x.rank() - 2); }
// What turns one of 2n rows into a square one.
Tensor below(const Tensor &x, const Tensor &y) { return concat({x, y}, x.rank() - 2); }

using Operations = std::vector<LinalgOperation>;
using T = const Tensor &;
using C = std::uint64_t;
using Takes = LinalgOperation;

Operations squares() {
  return {
      {"cholesky", Takes::Any, [](T x, T, C c) { return linalg::cholesky(positive(x), {.upper = c % 2 == 1}); }},
      {"cho_solve", Takes::Any, [](T x, T y, C) { return linalg::cho_solve(linalg::cholesky(positive(x)), y); }},
      {"solve", Takes::Any, [](T x, T y, C) { return linalg::solve(regular(x), y); }},
      {"inv", Takes::Any, [](T x, T, C) { return linalg::inv(regular(x)); }},
      {"triangular_solve", Takes::Any,
       [](T x, T y, C c) {
         return linalg::triangular_solve(regular(x), y,
                                         {.lower = c % 2 == 1,
                                          .transpose = c / 2 % 3 == 1,
                                          .unit_diagonal = c / 6 % 2 == 1,
                                          .left = c / 12 % 2 == 1,
                                          .adjoint = c / 2 % 3 == 2});
       }},
      {"lu_solve", Takes::Any,
       [](T x, T y, C c) {
         return linalg::lu_solve(linalg::lu_factor(regular(x)), y, {.transpose = c % 3 == 1, .adjoint = c % 3 == 2});
       }},
      {"lu", Takes::Any,
       [](T x, T y, C) {
         const linalg::Lu f = linalg::lu(regular(x));
         return matmul(f.l, y) + f.u;
       }},
      {"det", Takes::Any, [](T x, T y, C) { return times(y, linalg::det(regular(x) * 0.5)); }},
      {"slogdet", Takes::Any,
       [](T x, T y, C) {
         const linalg::SignAndLogarithm d = linalg::slogdet(regular(x));
         return times(times(y, d.sign), d.logarithm * 0.1);
       }},
      {"qr", Takes::Any,
       [](T x, T, C) {
         const linalg::Qr f = linalg::qr(regular(x));
         return f.q + matmul(f.q, f.r * f.r);
       }},
      {"orthogonalise", Takes::Any, [](T x, T, C) { return linalg::orthogonalise(regular(x)); }},
      {"eigh", Takes::Any,
       [](T x, T, C) {
         const linalg::Eigh e = linalg::eigh(apartHermitian(x));
         return matmul(scaled(e.vectors, sin(e.values)), adjoint(e.vectors));
       }},
      {"eigvalsh", Takes::Any, [](T x, T y, C) { return scaled(y, cos(linalg::eigvalsh(apartHermitian(x)))); }},
      {"svd", Takes::Any,
       [](T x, T, C) {
         const linalg::Svd f = linalg::svd(apart(x));
         return matmul(scaled(f.u, sin(f.s)), f.vh);
       }},
      {"svdvals", Takes::Any, [](T x, T y, C) { return scaled(y, cos(linalg::svdvals(apart(x)))); }},
      {"pinv", Takes::Any, [](T x, T, C) { return linalg::pinv(regular(x)); }},
      {"lstsq", Takes::Any, [](T x, T y, C) { return linalg::lstsq(regular(x), y); }},
      {"matrix_norm", Takes::Any,
       [](T x, T y, C c) { return times(y, 1 / (1 + linalg::matrix_norm(apart(x), normOf(c)))); }},
      {"vector_norm", Takes::Any,
       [](T x, T y, C c) {
         return times(y,
                      1 / (1 + linalg::vector_norm(regular(x), {-2, -1}, {.order = 1.0 + static_cast<double>(c % 3)})));
       }},
      {"expm", Takes::Any, [](T x, T, C) { return linalg::expm(tame(x) * 0.5); }},
      {"matrix_power", Takes::Any,
       [](T x, T, C c) { return linalg::matrix_power(regular(x) * 0.5, static_cast<std::int64_t>(c % 7) - 3); }},
      {"eig", Takes::Any,
       [](T x, T, C) { // V f(w) V^-1
         const linalg::Eig e = linalg::eig(apart(x));
         const Tensor w = e.values / 4, right = scaled(e.vectors, w * w);
         return adjoint(linalg::solve(adjoint(e.vectors), adjoint(right)));
       }},
      {"sqrtm", Takes::Any, [](T x, T, C) { return linalg::sqrtm(regular(x)); }},
      {"logm", Takes::Any, [](T x, T, C) { return linalg::logm(regular(x)); }},
      {"solve_sylvester", Takes::Any,
       [](T x, T y, C) { return linalg::solve_sylvester(regular(x), regular(y), x + y); }},
      {"solve_continuous_lyapunov", Takes::Any,
       [](T x, T y, C) { return linalg::solve_continuous_lyapunov(regular(x), y); }},
      {"solve_discrete_lyapunov", Takes::Any,
       [](T x, T y, C) { return linalg::solve_discrete_lyapunov(regular(x) * 0.25, y); }},
      {"matmul", Takes::Any, [](T x, T y, C) { return matmul(x, y); }},
      {"matmul, transposed", Takes::Any,
       [](T x, T y, C c) { return matmul(tame(x), y, {c % 2 == 1, c / 2 % 2 == 1}); }},
      {"multiply", Takes::Any, [](T x, T y, C) { return x * y; }},
      {"add", Takes::Any, [](T x, T y, C) { return x - 0.5 * y; }},
      {"sin", Takes::Any, [](T x, T, C) { return is_complex(x.dtype()) ? exp(tame(x)) : sin(2 * x); }},
      {"divide", Takes::Any, [](T x, T y, C) { return x / (2 + tame(y)); }},
      {"adjoint", Takes::Any, [](T x, T, C) { return adjoint(x); }},
      {"reverse", Takes::Any,
       [](T x, T, C c) { return reverse(x, {x.rank() - 1 - static_cast<std::int64_t>(c % 2)}); }},
      {"mean", Takes::Any,
       [](T x, T, C c) { return x - mean(x, {x.rank() - 1 - static_cast<std::int64_t>(c % 2)}, true); }},
      {"complex", Takes::Real, [](T x, T y, C) { return complex(x, y); }},
      {"real", Takes::Any, [](T x, T, C c) { return is_complex(x.dtype()) ? c % 2 ? real(x) : imag(x) : -x; }},
  };
}

Operations bands() {
  return {
      {"solve_banded", Takes::Any,
       [](T x, T y, C c) {
         const auto lower = static_cast<std::int64_t>(c % 3), upper = static_cast<std::int64_t>(c / 3 % 3);
         return linalg::solve_banded(lower, upper, bandOf(x, lower + upper + 1, upper), y);
       }},
      {"solveh_banded", Takes::Any,
       [](T x, T y, C c) {
         const auto others = static_cast<std::int64_t>(c % 3);
         const bool lower = c / 3 % 2 == 1;
         return linalg::solveh_banded(bandOf(x, others + 1, lower ? 0 : others), y, {.lower = lower});
       }},
      {"cho_solve_banded", Takes::Static,
       [](T x, T y, C c) {
         const auto others = static_cast<std::int64_t>(c % 3);
         const bool lower = c / 3 % 2 == 1;
         const Tensor factor = linalg::cholesky_banded(bandOf(x, others + 1, lower ? 0 : others), {.lower = lower});
         return linalg::cho_solve_banded(factor, y, {.lower = lower});
       }},
      {"toeplitz", Takes::Any,
       [](T x, T y, C c) {
         return c % 2 ? linalg::toeplitz(columnsOf(x, 1)) : linalg::toeplitz(columnsOf(x, 1), columnsOf(y, 2));
       }},
      {"solve_toeplitz", Takes::Any,
       [](T x, T y, C) { return linalg::solve_toeplitz(firstOf(x, 1), firstOf(x, 2), y); }},
      {"solve_tridiagonal", Takes::Any,
       [](T x, T y, C) {
         return ofEach(x, y, [](T a, T b) {
           return b * linalg::solve_tridiagonal(columnsOf(a, 2), 3 + columnsOf(a, 1), columnsOf(a, 3), columnsOf(b, 4));
         });
       }},
      {"solve_tridiagonal of columns", Takes::Known,
       [](T x, T y, C) {
         return ofEach(x, y, [](T a, T b) {
           return linalg::solve_tridiagonal(columnsOf(a, 2), 3 + columnsOf(a, 1), columnsOf(a, 3), b);
         });
       }},
      {"solve_block_tridiagonal", Takes::Known,
       [](T x, T y, C) {
         return ofEach(x, y, [](T a, T b) {
           const Tensor beside = shareOf(a, 0.4);
           const Tensor solved = linalg::solve_block_tridiagonal(
               stack({beside, adjoint(beside), 0.5 * beside}), stack({regular(a), regular(b), regular(0.5 * a)}),
               stack({shareOf(b, 0.4), beside, -beside}), stack({b, a, a - b}));
           return sum(solved, {0});
         });
       }},
  };
}

Operations rectangles() {
  return {
      {"lstsq, tall", Takes::Any, [](T x, T y, C) { return linalg::lstsq(tall(x, y), below(y, x)); }},
      {"lstsq, wide", Takes::Any,
       [](T x, T y, C) { return matmul(adjoint(below(y, x)), linalg::lstsq(adjoint(tall(x, y)), y)); }},
      {"pinv, tall", Takes::Any, [](T x, T y, C) { return matmul(linalg::pinv(tall(x, y)), below(y, x)); }},
      {"pinv, wide", Takes::Any,
       [](T x, T y, C) { return matmul(adjoint(below(y, x)), linalg::pinv(adjoint(tall(x, y)))); }},
      // A row of Q^H B and that of R have one sign.
      {"qr, tall", Takes::Any,
       [](T x, T y, C) {
         const linalg::Qr f = linalg::qr(tall(x, y));
         return matmul(adjoint(f.q), below(y, x)) * f.r;
       }},
      {"qr, wide", Takes::Any,
       [](T x, T y, C c) {
         const linalg::Qr f = linalg::qr(adjoint(tall(x, y)), {.complete = c % 2 == 1});
         return f.q + matmul(f.q, matmul(f.r, below(y, x)));
       }},
      {"orthogonalise, tall", Takes::Any,
       [](T x, T y, C) { return matmul(adjoint(below(y, x)), linalg::orthogonalise(tall(x, y))); }},
      {"householder_product", Takes::Any,
       [](T x, T y, C c) {
         const Tensor a = c % 2 ? below(x, y) : x;
         const Tensor q = linalg::householder_product(a, columnsOf(y, 1));
         return c % 2 ? matmul(adjoint(below(y, x)), q) : q;
       }},
      {"svd, tall", Takes::Any,
       [](T x, T y, C) {
         const linalg::Svd f = linalg::svd(tallApart(x, y));
         return matmul(matmul(adjoint(below(y, x)), scaled(f.u, sin(f.s))), f.vh);
       }},
      {"svd, wide", Takes::Any,
       [](T x, T y, C) {
         const linalg::Svd f = linalg::svd(adjoint(tallApart(x, y)));
         return matmul(scaled(f.u, sin(f.s)), matmul(f.vh, below(y, x)));
       }},
      {"svdvals, tall", Takes::Any, [](T x, T y, C) { return scaled(y, cos(linalg::svdvals(tallApart(x, y)))); }},
      {"matrix_norm, tall", Takes::Any,
       [](T x, T y, C c) { return times(y, 1 / (1 + linalg::matrix_norm(tallApart(x, y), normOf(c)))); }},
      {"cond", Takes::Any,
       [](T x, T y, C c) {
         using N = linalg::MatrixNorm;
         const N all[] = {N::Frobenius, N::Nuclear, N::Two, N::MinusTwo, N::One, N::Infinity};
         return times(y, 1 / (1 + linalg::cond(apart(x), all[c % 6])));
       }},
      {"eigvals", Takes::Any,
       [](T x, T y, C) {
         const Tensor w = linalg::eigvals(apart(x)) / 4;
         return times(cast(y, w.dtype()), mean(w * w, {x.rank() - 2}));
       }},
  };
}

//===-- Fourier transforms ----------------------------------------------------------------------===//

// A norm, and what brings a transform of n numbers back to their magnitude.
const char *normNamed(C c) {
  const char *const all[] = {"ortho", "backward", "forward"};
  return all[c % 3];
}
double backOf(C c, std::int64_t n, bool isInverse) {
  if (c % 3 == 0 || (c % 3 == 1) == isInverse)
    return 1;
  return 1 / static_cast<double>(n);
}
std::int64_t lengthOf(T x) { return x.shape().back(); }
std::int64_t axisOf(C c) { return -1 - static_cast<std::int64_t>(c % 2); }

Operations transforms() {
  return {
      {"fft", Takes::Known,
       [](T x, T, C c) {
         const std::int64_t n = lengthOf(x);
         const fft::FftOptions options{.axis = axisOf(c), .norm = normNamed(c / 2)};
         return (c / 6 % 2 ? fft::ifft(x, options) : fft::fft(x, options)) * backOf(c / 2, n, c / 6 % 2);
       }},
      {"fft of another length", Takes::Known,
       [](T x, T, C c) {
         const std::int64_t n = lengthOf(x),
                            m = std::max<std::int64_t>(1, n - 2 + static_cast<std::int64_t>(c / 2 % 6));
         return fft::ifft(fft::fft(x, {.n = m, .axis = axisOf(c)}), {.n = n, .axis = axisOf(c)});
       }},
      {"fftn", Takes::Known,
       [](T x, T, C c) {
         const std::int64_t n = lengthOf(x);
         const fft::FftnOptions options{.axes = {-1, -2}, .norm = normNamed(c)};
         return (c / 3 % 2 ? fft::ifftn(x, options) : fft::fft2(x, options)) * backOf(c, n * n, c / 3 % 2);
       }},
      {"rfft and irfft", Takes::RealKnown,
       [](T x, T y, C c) {
         const fft::FftOptions forward{.axis = axisOf(c), .norm = normNamed(c / 2)};
         fft::FftOptions inverse = forward;
         inverse.n = lengthOf(x);
         return fft::irfft(fft::rfft(x, forward) * fft::rfft(y, {.axis = axisOf(c), .norm = "ortho"}), inverse);
       }},
      {"irfft of a half", Takes::Known,
       [](T x, T, C c) { // of numbers that are no transform of real ones
         const fft::FftOptions options{.n = lengthOf(x), .axis = axisOf(c), .norm = "ortho"};
         return c / 2 % 2 ? fft::hfft(x, options) : fft::irfft(x, options);
       }},
      {"ihfft", Takes::RealKnown,
       [](T x, T y, C c) {
         const Tensor half = fft::ihfft(x, {.axis = axisOf(c), .norm = "ortho"}),
                      other = fft::rfft(y, {.axis = axisOf(c), .norm = "ortho"});
         return fft::hfft(half * other, {.n = lengthOf(x), .axis = axisOf(c), .norm = "ortho"});
       }},
      {"rfftn and irfftn", Takes::RealKnown,
       [](T x, T y, C) {
         const std::int64_t n = lengthOf(x);
         const Tensor product = fft::rfftn(x, {.axes = {-2, -1}, .norm = "ortho"}) * fft::rfft2(y, {.norm = "ortho"});
         return fft::irfftn(product, {.s = {n, n}, .axes = {-2, -1}, .norm = "ortho"});
       }},
      {"dct", Takes::RealKnown,
       [](T x, T, C c) {
         const int type = lengthOf(x) > 1 ? 1 + static_cast<int>(c / 2 % 4) : 2;
         const fft::DctOptions options{.type = type, .axis = axisOf(c), .norm = "ortho"};
         return c / 8 % 2 ? fft::idct(x, options) : fft::dct(x, options);
       }},
      {"dct and idct", Takes::RealKnown,
       [](T x, T y, C c) {
         const int type = lengthOf(x) > 1 ? 1 + static_cast<int>(c / 2 % 4) : 2;
         const fft::DctOptions options{.type = type, .axis = axisOf(c), .norm = normNamed(c / 8)};
         return fft::idct(fft::dct(x, options) * tame(y), options);
       }},
      {"dst", Takes::RealKnown,
       [](T x, T y, C c) {
         const fft::DctOptions options{
             .type = 1 + static_cast<int>(c / 2 % 4), .axis = axisOf(c), .norm = normNamed(c / 8)};
         return fft::idst(fft::dst(x, options) * tame(y), options);
       }},
      {"fftconvolve", Takes::Known,
       [](T x, T y, C c) {
         return fft::fftconvolve(x, y, {.mode = "same", .axes = c % 2 ? AxisList{-2, -1} : AxisList{axisOf(c / 2)}}) *
                (1 / static_cast<double>(lengthOf(x)));
       }},
      {"fftshift", Takes::Known,
       [](T x, T, C c) { return c % 2 ? fft::fftshift(x, {-1, -2}) : fft::ifftshift(x, {axisOf(c / 2)}); }},
  };
}

} // namespace

const std::vector<LinalgOperation> &linalgOperations() {
  static const Operations all = [] {
    Operations made;
    for (const Operations &part : {squares(), bands(), rectangles(), transforms()})
      made.insert(made.end(), part.begin(), part.end());
    return made;
  }();
  return all;
}

} // namespace calque::fuzz
