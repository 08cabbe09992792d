// Solutions with triangular sparse matrices, and incomplete factors.
#include "absl/strings/str_cat.h"
#include "calque/arrays.h"
#include "calque/call_site.h"
#include "calque/init_scope.h"
#include "calque/operation.h"
#include "calque/solvers/linear.h"
#include "implicit/Function.h"
#include "sparse/Examples.h"
#include "sparse/Pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <vector>

namespace calque::sparse {

using namespace solvers::internal;
using namespace sparse::internal;

namespace {

// The number of values of an example.
std::int64_t placesOf(const KernelTensor &values) { return values.sizes[values.rank - 1]; }

// A matrix by rows as kernels get it: values, and, int32, the rows' beginnings and columns. `example` numbers the
// values' axes of examples.
template <typename T> struct Rows {
  Rows(const KernelTensor *in, std::int64_t example)
      : n(in[1].sizes[0] - 1), values(static_cast<const T *>(in[0].data) + example * placesOf(in[0])),
        begins(static_cast<const std::int32_t *>(in[1].data)), columns(static_cast<const std::int32_t *>(in[2].data)) {}
  std::int64_t n;
  const T *values;
  const std::int32_t *begins, *columns;
};

//===-- Substitution --------------------------------------------------------------------------------===//

// Solves in x [n, k], which has the right-hand sides. Rows are worked on in the order of the substitution. That of the
// transposed matrix takes an element of the solution from all those that its row has. `middles` are the first places of
// each row that are not below the diagonal. The number k is known here where it is 1.
template <typename T, bool isVector>
void substitute(const Rows<T> &a, const std::int32_t *middles, T *x, std::int64_t columns,
                const TriangularSolveOptions &o) {
  const std::int64_t k = isVector ? 1 : columns;
  const bool isForward = o.lower != o.transpose;
  for (std::int64_t step = 0; step < a.n; ++step) {
    const std::int64_t i = isForward ? step : a.n - 1 - step;
    const std::int64_t middle = middles[i];
    const bool isThere = middle < a.begins[i + 1] && a.columns[middle] == i;
    const std::int64_t begin = o.lower ? a.begins[i] : middle + (isThere ? 1 : 0);
    const std::int64_t end = o.lower ? middle : a.begins[i + 1];
    T *row = x + i * k;
    auto divide = [&] {
      if (!o.unit_diagonal)
        for (std::int64_t c = 0; c < k; ++c)
          row[c] /= a.values[middle];
    };
    if (o.transpose) {
      divide();
      for (std::int64_t p = begin; p < end; ++p) {
        T *other = x + a.columns[p] * k;
        for (std::int64_t c = 0; c < k; ++c)
          other[c] -= a.values[p] * row[c];
      }
    } else if constexpr (isVector) {
      T rest = *row;
      for (std::int64_t p = begin; p < end; ++p)
        rest -= a.values[p] * x[a.columns[p]];
      *row = rest;
      divide();
    } else {
      for (std::int64_t p = begin; p < end; ++p) {
        const T *other = x + a.columns[p] * k;
        for (std::int64_t c = 0; c < k; ++c)
          row[c] -= a.values[p] * other[c];
      }
      divide();
    }
  }
}

template <typename T> void substituteAs(const KernelTensor *in, const KernelTensor *out, const void *options) {
  const Examples examples({{in[0], 1}, {in[4], 2}});
  const std::int64_t n = in[4].sizes[in[4].rank - 2], k = in[4].sizes[in[4].rank - 1];
  const auto *middles = static_cast<const std::int32_t *>(in[3].data);
  auto *solve = k == 1 ? substitute<T, true> : substitute<T, false>;
  for (std::int64_t e = 0; e < examples.count(); ++e) {
    const auto *b = static_cast<const T *>(in[4].data) + examples.of(1, e) * n * k;
    auto *x = static_cast<T *>(out[0].data) + e * n * k;
    std::copy(b, b + n * k, x);
    solve(Rows<T>(in, examples.of(0, e)), middles, x, k, *static_cast<const TriangularSolveOptions *>(options));
  }
}
std::int32_t substituteKernel(const KernelTensor *in, const KernelTensor *out, void *options) {
  if (out[0].data != nullptr) // there are elements
    (in[0].dtype == DType::Float32 ? substituteAs<float> : substituteAs<double>)(in, out, options);
  return 0;
}

const Operation &substitutionFor(const TriangularSolveOptions &options) {
  struct Kind {
    TriangularSolveOptions options;
    std::unique_ptr<Operation> operation;
  };
  static const std::array<Kind, 8> kinds = [] {
    std::array<Kind, 8> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i].options = {.lower = (i & 4) != 0, .transpose = (i & 2) != 0, .unit_diagonal = (i & 1) != 0};
      static std::array<TriangularSolveOptions, 8> kept;
      kept[i] = made[i].options;
      made[i].operation = std::make_unique<Operation>(OperationDefinition{
          .name = absl::StrCat("sparse_triangular_solve_", made[i].options.lower ? "lower" : "upper",
                               made[i].options.transpose ? "_transposed" : "",
                               made[i].options.unit_diagonal ? "_unit" : ""),
          .types = typesOfSolution,
          .kernel = substituteKernel,
          .data = &kept[i],
          .batching = [i](const std::vector<Tensor> &in, const std::vector<bool> &batched) {
            return mapped(substitutionFor(kept[i]), in, batched);
          }});
    }
    return made;
  }();
  return *kinds[(options.lower ? 4U : 0U) + (options.transpose ? 2U : 0U) + (options.unit_diagonal ? 1U : 0U)]
              .operation;
}

Tensor constantOf(const std::vector<std::int64_t> &numbers) {
  const InitScope now; // also where a function is traced
  return detail::toTensor(numbers, {static_cast<std::int64_t>(numbers.size())});
}
Tensor beginsOf(const Pattern &pattern) { return constantOf(pattern.indptr()); }

// The first place of each row that is not below the diagonal.
std::vector<std::int64_t> middlesOf(const Pattern &pattern) {
  std::vector<std::int64_t> middles;
  const auto &indptr = pattern.indptr(), &indices = pattern.indices();
  for (std::int64_t i = 0; i < pattern.rows(); ++i) {
    const auto begin = indices.begin() + indptr[static_cast<std::size_t>(i)];
    const auto end = indices.begin() + indptr[static_cast<std::size_t>(i) + 1];
    middles.push_back(std::lower_bound(begin, end, i) - indices.begin());
  }
  return middles;
}

//===-- Incomplete factors --------------------------------------------------------------------------===//

constexpr std::int32_t kNoPivot = 1, kNotPositive = 2, kNoMemory = 3;

// The lower triangle of L at the places of A, of A + shift diag(A). False where a pivot is not positive.
template <typename T> bool choleskyOf(const Rows<T> &a, T shift, T *l, std::vector<std::int64_t> &diagonals) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    std::int64_t p = a.begins[i];
    for (; p < a.begins[i + 1] && a.columns[p] <= i; ++p) {
      const std::int64_t j = a.columns[p];
      // The product of the rows i and j of L, left of column j.
      T rest = a.values[p] * (j == i ? 1 + shift : T(1));
      std::int64_t q = a.begins[i], r = a.begins[j];
      while (q < p && r < a.begins[j + 1] && a.columns[r] < j) {
        if (a.columns[q] == a.columns[r])
          rest -= l[q++] * l[r++];
        else
          ++(a.columns[q] < a.columns[r] ? q : r);
      }
      if (j < i) {
        l[p] = rest / l[diagonals[static_cast<std::size_t>(j)]];
      } else {
        if (!(rest > 0) || !std::isfinite(rest))
          return false;
        l[p] = std::sqrt(rest);
        diagonals[static_cast<std::size_t>(i)] = p;
      }
    }
    std::fill(l + p, l + a.begins[i + 1], T(0)); // the other triangle
  }
  return true;
}

template <typename T> std::int32_t incompleteCholesky(const Rows<T> &a, T *l) {
  std::vector<std::int64_t> diagonals(static_cast<std::size_t>(a.n));
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto *end = a.columns + a.begins[i + 1];
    const auto *place = std::lower_bound(a.columns + a.begins[i], end, static_cast<std::int32_t>(i));
    if (!(a.values[place - a.columns] > 0) || !std::isfinite(a.values[place - a.columns]))
      return kNotPositive;
  }
  // With a large shift the diagonal alone counts, which is positive.
  for (T shift = 0; shift < T(1e6); shift = shift == 0 ? T(1e-3) : 2 * shift)
    if (choleskyOf(a, shift, l, diagonals))
      return 0;
  return kNotPositive;
}

// L below the diagonal, where it has ones, and U on and above it.
template <typename T> std::int32_t incompleteLu(const Rows<T> &a, T *f) {
  std::copy(a.values, a.values + a.begins[a.n], f);
  std::vector<std::int64_t> diagonals(static_cast<std::size_t>(a.n)), placeOf(static_cast<std::size_t>(a.n), -1);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t p = a.begins[i]; p < a.begins[i + 1]; ++p)
      placeOf[static_cast<std::size_t>(a.columns[p])] = p;
    for (std::int64_t p = a.begins[i]; p < a.begins[i + 1] && a.columns[p] < i; ++p) {
      const std::int64_t j = a.columns[p];
      f[p] /= f[diagonals[static_cast<std::size_t>(j)]];
      for (std::int64_t q = diagonals[static_cast<std::size_t>(j)] + 1; q < a.begins[j + 1]; ++q)
        if (const std::int64_t at = placeOf[static_cast<std::size_t>(a.columns[q])]; at >= 0)
          f[at] -= f[p] * f[q];
    }
    const std::int64_t diagonal = placeOf[static_cast<std::size_t>(i)];
    diagonals[static_cast<std::size_t>(i)] = diagonal;
    if (f[diagonal] == 0 || !std::isfinite(f[diagonal]))
      return kNoPivot;
    for (std::int64_t p = a.begins[i]; p < a.begins[i + 1]; ++p)
      placeOf[static_cast<std::size_t>(a.columns[p])] = -1;
  }
  return 0;
}

template <typename T> std::int32_t factorAs(const KernelTensor *in, const KernelTensor *out, bool isCholesky) {
  const std::int64_t examples = Examples({{in[0], 1}}).count();
  for (std::int64_t e = 0; e < examples; ++e) {
    const Rows<T> a(in, e);
    T *factors = static_cast<T *>(out[0].data) + e * placesOf(in[0]);
    if (const std::int32_t code = isCholesky ? incompleteCholesky(a, factors) : incompleteLu(a, factors))
      return code;
  }
  return 0;
}
template <bool isCholesky> std::int32_t factorKernel(const KernelTensor *in, const KernelTensor *out, void *) {
  try {
    return (in[0].dtype == DType::Float32 ? factorAs<float> : factorAs<double>)(in, out, isCholesky);
  } catch (const std::bad_alloc &) {
    return kNoMemory;
  }
}

void requireDiagonal(const char *what, const Pattern &pattern, const std::vector<std::int64_t> &middles) {
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const auto place = static_cast<std::size_t>(middles[i]);
    if (middles[i] == pattern.indptr()[i + 1] || pattern.indices()[place] != static_cast<std::int64_t>(i))
      fail<ValueError>(absl::StrCat(what, ": the pattern has no place on the diagonal in row ", i));
  }
}
void requireSquare(const char *what, const Pattern &pattern) {
  if (pattern.rows() != pattern.columns())
    fail<ShapeError>(
        absl::StrCat(what, ": the matrix is [", pattern.rows(), ",", pattern.columns(), "], and must be square"));
}

const Operation &factorisation(bool isCholesky) {
  auto make = [](const char *name, bool isCholesky, const char *memory, const char *fault) {
    return Operation(
        {.name = name,
         .types = [](const std::vector<TensorSpec<>> &in) { return std::vector<TensorSpec<>>{in[0]}; },
         .kernel = isCholesky ? factorKernel<true> : factorKernel<false>,
         .batching =
             [isCholesky](const std::vector<Tensor> &in, const std::vector<bool> &batched) {
               return mapped(factorisation(isCholesky), in, batched);
             },
         .failure = [memory, fault](std::int32_t code) -> std::string { return code == kNoMemory ? memory : fault; }});
  };
  static const Operation cholesky =
      make("sparse_incomplete_cholesky", true, "incomplete_cholesky: there is not enough memory",
           "incomplete_cholesky: the diagonal has a number that is not positive, or the matrix one that is not finite");
  static const Operation lu = make("sparse_incomplete_lu", false, "incomplete_lu: there is not enough memory",
                                   "incomplete_lu: a pivot is 0, or is not finite");
  return isCholesky ? cholesky : lu;
}

// A matrix of the same pattern with the factors.
Csr factorsOf(const char *what, const Csr &a, bool isCholesky) {
  requireSquare(what, a.pattern());
  requireDiagonal(what, a.pattern(), middlesOf(a.pattern()));
  const Pattern &pattern = a.pattern();
  return Csr(factorisation(isCholesky)({stop_gradient(a.values()), beginsOf(pattern), pattern.data().columnOf})[0],
             pattern);
}

} // namespace

Tensor triangular_solve(const Csr &a, const Operand &right, TriangularSolveOptions options) {
  const char *what = "sparse::triangular_solve";
  CallSite site(right.where(), what);
  const Tensor b = right.toTensor(a.values().dtype());
  const Pattern &pattern = a.pattern();
  if (b.dtype() != a.values().dtype())
    fail<DTypeError>(absl::StrCat("sparse::triangular_solve: the values are ", describe(a.values()), " and b is ",
                                  describe(b), "; they must have one element type"));
  requireSquare(what, pattern);
  if ((b.rank() != 1 && b.rank() != 2) || !b.size().is_known() || b.shape()[0] != pattern.rows())
    fail<ShapeError>(absl::StrCat("sparse::triangular_solve: the matrix is [", pattern.rows(), ",", pattern.columns(),
                                  "] and b ", describe(b), "; b must be [n] or [n,k], of known sizes"));
  const std::vector<std::int64_t> places = middlesOf(pattern);
  if (!options.unit_diagonal)
    requireDiagonal(what, pattern, places);
  const Tensor begins = beginsOf(pattern), middles = constantOf(places), values = stop_gradient(a.values());
  auto solveBy = [&](bool isTransposed) {
    TriangularSolveOptions o = options;
    o.transpose = o.transpose != isTransposed;
    return [&, o](const Map &, const Tensor &c) {
      const CallSite line(right.where(), what); // customLinearSolve calls this as code of the user
      const Tensor columns = c.rank() == 2 ? c : expand_dims(c, {1});
      const Tensor x = substitutionFor(o)({values, begins, pattern.data().columnOf, middles, columns})[0];
      return c.rank() == 2 ? x : reshape(x, c.shape());
    };
  };
  // The product with the triangle, of which derivatives are.
  const Tensor &rowOf = pattern.data().rowOf, &columnOf = pattern.data().columnOf;
  const Tensor isRead = options.unit_diagonal ? (options.lower ? columnOf < rowOf : columnOf > rowOf)
                                              : (options.lower ? columnOf <= rowOf : columnOf >= rowOf);
  const Csr triangle(where(isRead, a.values(), 0), pattern);
  const Csr used = options.transpose ? triangle.transposed() : triangle;
  auto product = [&](const Tensor &x) { return options.unit_diagonal ? used(x) + x : used(x); };
  return solvers::detail::customLinearSolve(product, b, solveBy(false), solveBy(true), false, right.where());
}

std::function<Tensor(const Tensor &)> incomplete_cholesky(const Csr &a, SourceLocation where) {
  CallSite site(where, "incomplete_cholesky");
  const Csr l = factorsOf("incomplete_cholesky", a, true);
  return [l, where](const Tensor &v) {
    CallSite line(where, "incomplete_cholesky"); // what takes the function has no line for it
    return triangular_solve(l, triangular_solve(l, v), {.transpose = true});
  };
}

std::function<Tensor(const Tensor &)> incomplete_lu(const Csr &a, SourceLocation where) {
  CallSite site(where, "incomplete_lu");
  const Csr lu = factorsOf("incomplete_lu", a, false);
  return [lu, where](const Tensor &v) {
    CallSite line(where, "incomplete_lu");
    return triangular_solve(lu, triangular_solve(lu, v, {.unit_diagonal = true}), {.lower = false});
  };
}

} // namespace calque::sparse
