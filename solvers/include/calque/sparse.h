// Sparse matrices of a fixed pattern. The values are a tensor, which differentiates; the places of the values are known
// on the host, before a function is traced.
//
//   sparse::Csr a = sparse::csr({.values = v, .rows = {0, 0, 1}, .columns = {0, 2, 1}, .shape = {2, 3}}); // triplets
//   Tensor y = a(x);                                       // [2] of [3], or [2, k] of [3, k]
//   Tensor z = solvers::cg(k, b).x;                        // a sparse matrix is a linear operator
//   sparse::Csr j = sparse::jacobian(f, sparse::Pattern::banded(n, 1, 1))(x); // by products with 3 vectors
//   sparse::Csr k = jacobian(f, {.sparsity = sparse::detect})(x);             // of a pattern that is found
//
// The header is a part of the library of solvers, Calque::solvers, because it is written with the public headers alone.
// A product takes time proportional to the number of values, on all threads: rows of similar lengths are padded to one
// length, so that there is a loop without additions to shared memory for each of at most 8 lengths. The product with
// the transpose is one with the transposed pattern. Products have derivatives with respect to values and vectors, of
// any order; the first two orders cost as the product does.
//
// Element types are float32 and float64. A Csr may be an argument and a result of functions: its pattern is a host
// value of the key, and two patterns are equal if they are copies of one.
#ifndef CALQUE_SPARSE_H
#define CALQUE_SPARSE_H

#include "calque/functions.h"
#include "calque/transforms.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calque::sparse {

namespace detail {
struct PatternData;
}

// The places of a sparse matrix's values, by rows, and by columns in each row. Immutable; copies share it.
class CALQUE_API Pattern {
public:
  // Of places in any order. A place that is there twice is one. IndexError for a place outside of the matrix.
  Pattern(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t> &row_of,
          const std::vector<std::int64_t> &column_of, SourceLocation where = SourceLocation::current());
  // The places of the elements of a matrix that are not 0. The matrix is not a traced one (StateError).
  static Pattern of(const Tensor &matrix, SourceLocation where = SourceLocation::current());
  // The diagonal, `lower` diagonals below and `upper` ones above it, of a matrix [n, n].
  static Pattern banded(std::int64_t n, std::int64_t lower, std::int64_t upper,
                        SourceLocation where = SourceLocation::current());

  std::int64_t rows() const;
  std::int64_t columns() const;
  std::int64_t size() const; // the number of places
  // As in SciPy: the columns of row i are indices()[indptr()[i]] to indices()[indptr()[i + 1]].
  const std::vector<std::int64_t> &indptr() const;
  const std::vector<std::int64_t> &indices() const;
  Pattern transposed() const;
  bool operator==(const Pattern &other) const { return data_ == other.data_; }
  std::uint64_t id() const; // differs for patterns that are not copies
  const detail::PatternData &data() const { return *data_; }

private:
  explicit Pattern(std::shared_ptr<const detail::PatternData> data) : data_(std::move(data)) {}
  friend struct detail::PatternData;
  std::shared_ptr<const detail::PatternData> data_;
};

// A sparse matrix by rows.
class CALQUE_API Csr {
public:
  // The values are a vector of float32 or float64 with an element for each place (ShapeError, DTypeError).
  Csr(const Operand &values, Pattern pattern);

  const Tensor &values() const { return values_; }
  const Pattern &pattern() const { return pattern_; }
  // The product with a vector [columns] or a matrix [columns, k]. ShapeError and DTypeError for others.
  Tensor operator()(const Operand &x) const;
  Csr transposed() const;
  Tensor to_dense() const;
  Tensor diagonal() const; // 0 where the pattern has no place
  // The rows, or the columns, times the elements of a vector.
  Csr scale_rows(const Operand &factors) const;
  Csr scale_columns(const Operand &factors) const;

private:
  Tensor values_;
  Pattern pattern_;
};

// Triplets. Values of one place add up.
struct Coo {
  Tensor values;
  std::vector<std::int64_t> rows, columns;
  std::array<std::int64_t, 2> shape;
};
CALQUE_API Csr csr(const Coo &triplets, SourceLocation where = SourceLocation::current());
// SciPy's arrays: csr_matrix((values, indices, indptr), shape). Columns of a row may be in any order, and twice.
CALQUE_API Csr csr(const Tensor &values, const std::vector<std::int64_t> &indices,
                   const std::vector<std::int64_t> &indptr, std::array<std::int64_t, 2> shape,
                   SourceLocation where = SourceLocation::current());
// The elements of a dense matrix at the places of a pattern. Other elements are left out, whatever they are.
CALQUE_API Csr from_dense(const Operand &matrix, const Pattern &pattern);
CALQUE_API Coo to_coo(const Csr &a);

// A matrix as an operand of an operator, with the line of the call, which errors name.
class CsrOperand {
public:
  CsrOperand(const Csr &a, SourceLocation where = SourceLocation::current()) : matrix_(&a), where_(where) {}
  const Csr &matrix() const { return *matrix_; }
  SourceLocation where() const { return where_; }

private:
  const Csr *matrix_;
  SourceLocation where_;
};
// The sum of two matrices of one shape, whose pattern has the places of both, and multiples. ShapeError for other
// shapes, and DTypeError for values of different types.
CALQUE_API Csr operator+(const CsrOperand &a, const CsrOperand &b);
CALQUE_API Csr operator-(const CsrOperand &a, const CsrOperand &b);
CALQUE_API Csr operator*(const CsrOperand &a, const Operand &factor);
inline Csr operator*(const Operand &factor, const CsrOperand &a) { return a * factor; }

struct SolveOptions {
  // The matrix is symmetric, and its factors without pivots exist: those of L D L^T instead of L U. ValueError for a
  // matrix whose triangles differ by more than rounding, and where a pivot is so small that the factors have too few
  // digits for the solution.
  bool symmetric = false;
};
// X of A X = B for a square matrix and B [n] or [n, k], by the sparse factorisations of Eigen, on one thread. Each call
// factorises; derivatives factorise again, and are of the solution, to second order. The residual of each row is
// looked at: where it is more than rounding makes, the solution is corrected by the factors, and if that does not help,
// it is refused. ValueError for a singular matrix, and for such a residual. NaN for a matrix with NaN or infinities.
// StateError where the library was built without Eigen.
CALQUE_API Tensor solve(const Csr &a, const Operand &b, SolveOptions options = {});

struct TriangularSolveOptions {
  bool lower = true;          // A is lower triangular, else upper; the other triangle is not read
  bool transpose = false;     // solve A^T X = B
  bool unit_diagonal = false; // the diagonal of A counts as ones, and is not read
};
// X of A X = B for a triangular matrix and B [n] or [n, k], by substitution, on one thread. A 0 on the diagonal gives
// infinities or NaN. ValueError for a pattern that has no place on the diagonal, unless it counts as ones. Derivatives
// by values and B are of the solution, to second order; that of the other triangle is 0. Under vmap the examples of B
// are solved at once.
CALQUE_API Tensor triangular_solve(const Csr &a, const Operand &b, TriangularSolveOptions options = {});

// Preconditioners of cg, minres and lobpcg, and of gmres and bicgstab: a function that solves with incomplete factors,
// which have no places but those of the matrix. Meijerink and van der Vorst: An iterative solution method for linear
// systems of which the coefficient matrix is a symmetric M-matrix, 1977. The factors have no derivatives, as solutions
// don't depend on them.
//
//   solvers::cg(a, b, {.preconditioner = sparse::incomplete_cholesky(a)})
//
// Of a symmetric positive definite matrix, of which the lower triangle is read. Where there are no factors, the
// diagonal is enlarged, by a thousandth first and then by twice as much each time. Manteuffel: An incomplete
// factorization technique for positive definite linear systems, 1980. ValueError for a diagonal with a number that is
// not positive.
CALQUE_API std::function<Tensor(const Tensor &)> incomplete_cholesky(const Csr &a,
                                                                     SourceLocation where = SourceLocation::current());
// Of any matrix. ValueError for a pivot that is 0, or NaN.
CALQUE_API std::function<Tensor(const Tensor &)> incomplete_lu(const Csr &a,
                                                               SourceLocation where = SourceLocation::current());

struct DerivativeOptions {
  // Compares the product of the result and a vector with the derivative along it, which costs one product more.
  // AssertionError at the call where they differ: the pattern lacks a place.
  bool check = true;
};
// The function that returns the Jacobian of f, a function of a vector [n] that returns a vector [m], as a matrix of the
// pattern [m, n]. Columns that share no row are one direction of forward mode, or rows that share no column one of
// reverse mode, whichever is less. Curtis, Powell and Reid: On the estimation of sparse Jacobian matrices, 1974.
CALQUE_API std::function<Csr(const Tensor &x)> jacobian(const std::function<Tensor(const Tensor &)> &f,
                                                        const Pattern &pattern, DerivativeOptions options = {},
                                                        SourceLocation where = SourceLocation::current());
// The same for the Hessian of a function that returns a scalar, with a symmetric pattern. Forward over reverse mode.
CALQUE_API std::function<Csr(const Tensor &x)> hessian(const std::function<Tensor(const Tensor &)> &f,
                                                       const Pattern &pattern, DerivativeOptions options = {},
                                                       SourceLocation where = SourceLocation::current());
// A pattern for `jacobian`, of a function of vectors of the element type and size of x, whose elements are not read. It
// is found from the program of the derivative: element i of J v depends on element j of v only if there is a place
// [i, j]. So it has a place for each element of the Jacobian that is not 0 for some x, and may have others: see
// docs/solvers-linear.md. Tensors that f captures count as constants of their present values, and variables as unknown
// ones. StateError while a function is traced.
CALQUE_API Pattern jacobian_pattern(const std::function<Tensor(const Tensor &)> &f, const Tensor &x,
                                    SourceLocation where = SourceLocation::current());
// The same for `hessian`, of a function that returns a scalar. The pattern is symmetric.
CALQUE_API Pattern hessian_pattern(const std::function<Tensor(const Tensor &)> &f, const Tensor &x,
                                   SourceLocation where = SourceLocation::current());
// The number of directions that these take: colours of the columns of a pattern.
CALQUE_API std::int64_t count_colours(const Pattern &pattern);

// What `jacobian(f, {.sparsity = ...})` knows of its result: a pattern, or `detect`, which finds it by jacobian_pattern
// or hessian_pattern.
struct Detect {};
inline constexpr Detect detect;
class Sparsity {
public:
  Sparsity(Detect) {}
  Sparsity(Pattern pattern) : pattern_(std::move(pattern)) {}
  const std::optional<Pattern> &pattern() const { return pattern_; } // none: it is to be found

private:
  std::optional<Pattern> pattern_;
};

namespace detail {

// The further arguments of a function: their tensors, and what else a pattern may depend on.
struct FurtherArguments : calque::detail::TensorCollector {
  std::string key;
  void variable(const Variable &) { key += 'v'; }
  void host(std::uint64_t bytes) { key.append("h").append(std::to_string(bytes)); }
  void text(const std::string &x) { count(x.size()), key += x; }
  void count(std::size_t n) { key.append("n").append(std::to_string(n)); }
};

// A derivative whose patterns and colours are kept: one for each type of the arguments. Any thread may call it.
class CALQUE_API Compressed {
public:
  using Bound = std::function<Tensor(const Tensor &x, const std::vector<Tensor> &others)>;
  Compressed(const char *what, bool isHessian, const Sparsity &sparsity, bool isChecked, SourceLocation made);
  Csr operator()(const Bound &f, const Tensor &x, const FurtherArguments &others, SourceLocation where) const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

template <typename S> struct CompressedSignature {
  using type = void;
};
template <typename R, typename X, typename... Others> struct CompressedSignature<R(X, Others...)> {
  using type = Csr(X, Others...);
};

// Refuses a derivative by anything but one tensor.
template <typename X> struct CheckedVector {
  static constexpr bool isOneTensor = std::is_convertible_v<const X &, calque::detail::TensorArgument>;
  static_assert(isOneTensor, "a sparse Jacobian or Hessian is with respect to a vector, the function's first argument: "
                             "ravel() of <calque/solvers/parameters.h> makes one of a structure");
};
template <typename X> Tensor asVector(const X &x, SourceLocation where) {
  if constexpr (std::is_arithmetic_v<X>)
    return scalar(x, where);
  else if constexpr (std::is_same_v<X, Variable>)
    return Tensor(x, where);
  else
    return Tensor(x);
}

template <typename F> auto compressed(F &&f, Compressed made) {
  using Held = calque::detail::Held<F>;
  using Signature = typename calque::detail::CallableTraits<Held>::Signature;
  return calque::detail::derivative<typename CompressedSignature<Signature>::type>(
      [f = calque::detail::hold(std::forward<F>(f)),
       made = std::move(made)](const SourceLocation &where, const auto &given, const auto &...others) mutable {
        if constexpr (CheckedVector<std::decay_t<decltype(given)>>::isOneTensor) {
          const std::tuple<const std::decay_t<decltype(others)> &...> rest(others...);
          auto bound = [&](const Tensor &x, const std::vector<Tensor> &tensors) {
            calque::detail::Replacement replacement{tensors.data()};
            auto replaced = std::apply(
                [&](const auto &...each) {
                  return std::tuple<std::decay_t<decltype(each)>...>{map_structure(each, replacement)...};
                },
                rest);
            auto call = [&](const auto &...each) { return calque::detail::callAt(where, f, x, each...); };
            if constexpr (calque::detail::CheckedResult<decltype(std::apply(call, replaced))>::isTensor)
              return std::apply(call, replaced);
            else
              return x;
          };
          FurtherArguments further;
          visit_structure(rest, further);
          return made(bound, asVector(given, where), further, where);
        } else {
          return made({}, Tensor(), {}, where);
        }
      });
}

} // namespace detail

} // namespace calque::sparse

namespace calque {

// Makes the function that returns the Jacobian of f, or the Hessian of the sum of its elements, with respect to the
// first argument as a sparse matrix: jacobian(f, {.sparsity = sparse::detect})(x, more...) is a sparse::Csr [m, n] for
// f(x, more...) [m] of x [n]. It takes the products that sparse::jacobian and sparse::hessian take, with vectors of
// float32 and float64 of known size. Errors are those of these functions and of sparse::jacobian_pattern.
//
// With sparse::detect the first call for each type of the arguments finds the pattern, and later calls keep it; calls
// may be in functions that are traced. Elements of further arguments count as unknown ones, and tensors that f captures
// as constants, which must keep their values. f is traced for it once more, apart from a function that is being traced:
// StateError if f captures tensors of that one. Copies of what is made share the patterns, so that results of all calls
// of one type have one pattern.
struct SparseDerivativeOptions {
  sparse::Sparsity sparsity;
  bool check = true; // as in sparse::DerivativeOptions
};
template <typename F>
auto jacobian(F &&f, SparseDerivativeOptions options, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "jacobian", made);
  return sparse::detail::compressed(
      std::forward<F>(f), sparse::detail::Compressed("jacobian", false, options.sparsity, options.check, made));
}
template <typename F>
auto hessian(F &&f, SparseDerivativeOptions options, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "hessian", made);
  return sparse::detail::compressed(std::forward<F>(f),
                                    sparse::detail::Compressed("hessian", true, options.sparsity, options.check, made));
}

template <> struct Structure<sparse::Csr> {
  template <typename V> static void visit(const sparse::Csr &x, V &v) {
    visit_structure(x.pattern().id(), v);
    v.tensor(x.values());
  }
  template <typename M> static sparse::Csr map(const sparse::Csr &x, M &m) {
    return sparse::Csr(m.tensor(x.values()), x.pattern());
  }
};
} // namespace calque
#endif
