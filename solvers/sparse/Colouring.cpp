// Jacobians and Hessians of a known pattern by few directions.
#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "calque/transforms.h"
#include "sparse/Compressed.h"
#include "sparse/Pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace calque::sparse {

using namespace solvers::internal;
using namespace internal;

namespace {

// Columns that share a row get different colours: each column, from the densest one on, takes the first colour that is
// free. The time is that of all pairs of places in a row.
Colouring coloursOfColumns(const Pattern &pattern) {
  const Pattern turned = pattern.transposed();
  const auto &rowsBegin = pattern.indptr(), &columnOf = pattern.indices();
  const auto &columnsBegin = turned.indptr(), &rowOf = turned.indices();
  const auto n = static_cast<std::size_t>(pattern.columns());
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return columnsBegin[a + 1] - columnsBegin[a] > columnsBegin[b + 1] - columnsBegin[b];
  });
  Colouring made{std::vector<std::int64_t>(n, -1), 0};
  std::vector<std::size_t> takenBy; // the last column that could not take a colour
  for (std::size_t column : order) {
    for (std::int64_t i = columnsBegin[column]; i < columnsBegin[column + 1]; ++i) {
      const auto row = static_cast<std::size_t>(rowOf[static_cast<std::size_t>(i)]);
      for (std::int64_t k = rowsBegin[row]; k < rowsBegin[row + 1]; ++k) {
        const std::int64_t colour = made.colourOf[static_cast<std::size_t>(columnOf[static_cast<std::size_t>(k)])];
        if (colour >= 0)
          takenBy[static_cast<std::size_t>(colour)] = column + 1;
      }
    }
    const auto free = std::find_if(takenBy.begin(), takenBy.end(), [&](std::size_t by) { return by != column + 1; });
    made.colourOf[column] = free - takenBy.begin();
    if (free == takenBy.end())
      takenBy.push_back(0);
  }
  made.count = static_cast<std::int64_t>(takenBy.size());
  return made;
}

// The directions [colours, n]: 1 for the columns of a colour.
Tensor directionsOf(const Colouring &colouring, DType dtype) {
  const Tensor colours = detail::toTensor(colouring.colourOf, {static_cast<std::int64_t>(colouring.colourOf.size())});
  return cast(expand_dims(iota({colouring.count}, DType::Int32), {1}) == colours, dtype);
}

// Where each value stands in the products [colours, m], which are flat.
Tensor placesOf(const Pattern &pattern, const Colouring &colouring) {
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(pattern.size()));
  for (std::int64_t i = 0; i < pattern.rows(); ++i)
    for (std::int64_t k = pattern.indptr()[static_cast<std::size_t>(i)];
         k < pattern.indptr()[static_cast<std::size_t>(i) + 1]; ++k)
      places.push_back(colouring.colourOf[static_cast<std::size_t>(pattern.indices()[static_cast<std::size_t>(k)])] *
                           pattern.rows() +
                       i);
  return tensor(places, {pattern.size()});
}

// The values of a matrix whose products with vectors are given.
Csr matrixOf(const char *what, const Map &product, const Pattern &pattern, const Colouring &colouring, DType dtype,
             bool isChecked) {
  if (colouring.count == 0 || pattern.size() == 0)
    return Csr(zeros({pattern.size()}, dtype), pattern);
  const Tensor products = vmap(product)(directionsOf(colouring, dtype));
  Csr made(gather(reshape(products, {-1}), placesOf(pattern, colouring)), pattern);
  if (isChecked) {
    // A vector without pattern: multiples of the golden ratio, modulo 1.
    const Tensor numbers = cast(iota({pattern.columns()}, DType::Int64) + 1, DType::Float64) * 0.6180339887498949;
    const Tensor probe = cast(0.5 + numbers - floor(numbers), dtype);
    const Tensor difference = stop_gradient(abs(product(probe) - made(probe)));
    const Tensor size = stop_gradient(Csr(abs(made.values()), pattern)(probe));
    // What is not finite differs from itself.
    const Tensor bound = std::sqrt(epsilonOf(dtype)) * max(size, AxisList());
    assert_true(all((difference <= bound) | !isfinite(bound)),
                absl::StrCat(what, ": the pattern lacks a place of an element that is not 0"));
  }
  return made;
}

void requireVector(const char *what, const Tensor &x, const Pattern &pattern) {
  requireFloat(what, "x", x);
  if (x.rank() != 1 || (x.size().is_known() && x.size() != pattern.columns()))
    fail<ShapeError>(absl::StrCat(what, ": x is ", describe(x), ", and the pattern that of a matrix [", pattern.rows(),
                                  ",", pattern.columns(), "]"));
}

} // namespace

std::int64_t count_colours(const Pattern &pattern) { return coloursOfColumns(pattern).count; }

namespace internal {

Colours coloursOfJacobian(const Pattern &pattern) {
  const Pattern turned = pattern.transposed();
  return {pattern, turned, coloursOfColumns(pattern), coloursOfColumns(turned)};
}

Colours coloursOfHessian(const char *what, const Pattern &pattern) {
  const Pattern turned = pattern.transposed();
  if (pattern.rows() != pattern.columns() || pattern.indptr() != turned.indptr() ||
      pattern.indices() != turned.indices())
    fail<ValueError>(absl::StrCat(what, ": the pattern of a Hessian is symmetric, and this one is not"));
  return {pattern, turned, coloursOfColumns(pattern), {}};
}

Csr compressedJacobian(const char *what, const Map &f, const Colours &colours, const Tensor &x, bool isChecked) {
  const Pattern &pattern = colours.pattern;
  requireVector(what, x, pattern);
  const Map checked = [&](const Tensor &at) {
    Tensor y = callUser(f, at);
    if (y.dtype() != x.dtype() || y.rank() != 1 || (y.size().is_known() && y.size() != pattern.rows()))
      fail<ShapeError>(absl::StrCat(what, ": the function returns ", describe(y), " for ", describe(x),
                                    ", and the pattern is that of a matrix [", pattern.rows(), ",", pattern.columns(),
                                    "]"));
    return y;
  };
  if (colours.columns.count <= colours.rows.count) {
    const Map product = [&](const Tensor &v) { return jvp(checked, x, v).second; };
    return matrixOf(what, product, pattern, colours.columns, x.dtype(), isChecked);
  }
  const Map product = [&](const Tensor &v) { return vjp(checked, x).second(v); };
  return matrixOf(what, product, colours.turned, colours.rows, x.dtype(), isChecked).transposed();
}

Csr compressedHessian(const char *what, const Map &f, const Colours &colours, const Tensor &x, bool isChecked) {
  requireVector(what, x, colours.pattern);
  const Map product = [&](const Tensor &v) { return hvp([&](const Tensor &at) { return callUser(f, at); })(x, v); };
  return matrixOf(what, product, colours.pattern, colours.columns, x.dtype(), isChecked);
}

} // namespace internal

std::function<Csr(const Tensor &)> jacobian(const std::function<Tensor(const Tensor &)> &f, const Pattern &pattern,
                                            DerivativeOptions options, SourceLocation where) {
  const char *what = "sparse::jacobian";
  CallSite site(where, what);
  requireFunction(what, "the function", static_cast<bool>(f));
  return [=, colours = coloursOfJacobian(pattern)](const Tensor &x) {
    CallSite line(where, what);
    return compressedJacobian(what, f, colours, x, options.check);
  };
}

std::function<Csr(const Tensor &)> hessian(const std::function<Tensor(const Tensor &)> &f, const Pattern &pattern,
                                           DerivativeOptions options, SourceLocation where) {
  const char *what = "sparse::hessian";
  CallSite site(where, what);
  requireFunction(what, "the function", static_cast<bool>(f));
  return [=, colours = coloursOfHessian(what, pattern)](const Tensor &x) {
    CallSite line(where, what);
    return compressedHessian(what, f, colours, x, options.check);
  };
}

} // namespace calque::sparse
