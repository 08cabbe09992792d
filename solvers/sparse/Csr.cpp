#include "absl/strings/str_cat.h"
#include "calque/custom_gradient.h"
#include "implicit/Function.h"
#include "sparse/Pattern.h"

#include <algorithm>

namespace calque::sparse {

using solvers::internal::describe;
using solvers::internal::fail;

namespace detail {

namespace {
Tensor plainProduct(const PatternData &pattern, const Tensor &values, const Tensor &x) {
  const Plan &plan = pattern.plan();
  const bool isMatrix = x.rank() == 2;
  const Tensor padded = plan.isUniform ? values : pad(values, {0}, {1});
  std::vector<Tensor> parts;
  for (const Group &group : plan.groups) {
    Tensor factors = plan.isUniform ? reshape(values, group.columns.shape()) : gather(padded, group.places);
    if (isMatrix)
      factors = expand_dims(factors, {2});
    parts.push_back(sum(factors * gather(x, group.columns), {1}));
  }
  if (plan.emptyRows > 0 || parts.empty()) {
    Shape rest{plan.emptyRows};
    if (isMatrix)
      rest.push_back(x.shape()[1]);
    parts.push_back(zeros(rest, x.dtype()));
  }
  Tensor y = parts.size() == 1 ? parts[0] : concat(parts);
  return plan.order.defined() ? gather(y, plan.order) : y;
}
} // namespace

Tensor entriesOf(const PatternData &pattern, const Tensor &g, const Tensor &x) {
  Tensor entries = gather(g, pattern.rowOf) * gather(x, pattern.columnOf);
  return x.rank() == 2 ? sum(entries, {1}) : entries;
}

Tensor product(const PatternData &pattern, const Tensor &values, const Tensor &x, int orders) {
  if (orders == 0)
    return plainProduct(pattern, values, x);
  // The derivative by x is a product with the transposed pattern, and not the additions that gathering elements has.
  auto multiplied = custom_gradient([&](const Tensor &v, const Tensor &at) {
    return std::pair(plainProduct(pattern, v, at), [&pattern, v, at, orders](const Tensor &cotangent) {
      const std::shared_ptr<const PatternData> turned = pattern.transposed();
      return std::pair(entriesOf(pattern, cotangent, at),
                       product(*turned, gather(v, turned->transposedPlaces), cotangent, orders - 1));
    });
  });
  return multiplied(values, x);
}

} // namespace detail

Csr::Csr(const Operand &values, Pattern pattern) : pattern_(std::move(pattern)) {
  CallSite site(values.where(), "Csr");
  values_ = values.toTensor();
  solvers::internal::requireFloat("Csr", "the tensor of values", values_);
  if (values_.rank() != 1 || (values_.size().is_known() && values_.size() != pattern_.size()))
    fail<ShapeError>(
        absl::StrCat("Csr: the values are ", describe(values_), ", and the pattern has ", pattern_.size(), " places"));
}

Tensor Csr::operator()(const Operand &vector) const {
  CallSite site(vector.where(), "Csr");
  const Tensor x = vector.toTensor(values_.dtype());
  if (x.dtype() != values_.dtype())
    fail<DTypeError>(absl::StrCat("Csr: the values are ", describe(values_), " and x is ", describe(x),
                                  "; they must have one element type"));
  if ((x.rank() != 1 && x.rank() != 2) || (x.shape()[0].is_known() && x.shape()[0] != pattern_.columns()))
    fail<ShapeError>(absl::StrCat("Csr: a matrix [", pattern_.rows(), ",", pattern_.columns(),
                                  "] times x, which must be [n] or [n,k], and is ", describe(x)));
  return detail::product(pattern_.data(), values_, x, 2);
}

Csr Csr::transposed() const {
  const Pattern turned = pattern_.transposed();
  return Csr(gather(values_, turned.data().transposedPlaces), turned);
}

Tensor Csr::to_dense() const {
  const std::int64_t m = pattern_.rows(), n = pattern_.columns();
  const Tensor places = stack({pattern_.data().rowOf, pattern_.data().columnOf}, 1);
  return scatter_nd_add(zeros({m, n}, values_.dtype()), places, values_);
}

Tensor Csr::diagonal() const {
  std::vector<std::int64_t> places;
  const auto &indptr = pattern_.indptr(), &indices = pattern_.indices();
  for (std::int64_t i = 0; i < std::min(pattern_.rows(), pattern_.columns()); ++i) {
    const auto begin = indices.begin() + indptr[static_cast<std::size_t>(i)];
    const auto end = indices.begin() + indptr[static_cast<std::size_t>(i) + 1];
    const auto found = std::lower_bound(begin, end, i);
    places.push_back(found != end && *found == i ? found - indices.begin() : pattern_.size());
  }
  return gather(pad(values_, {0}, {1}), detail::toTensor(places, {static_cast<std::int64_t>(places.size())}));
}

namespace {
Csr scaled(const char *what, const Csr &a, const Operand &given, std::int64_t size, const Tensor &places) {
  CallSite site(given.where(), what);
  const Tensor factors = given.toTensor(a.values().dtype());
  if (factors.dtype() != a.values().dtype())
    fail<DTypeError>(absl::StrCat(what, ": the values are ", describe(a.values()), " and the factors ",
                                  describe(factors), "; they must have one element type"));
  if (factors.rank() != 1 || (factors.size().is_known() && factors.size() != size))
    fail<ShapeError>(absl::StrCat(what, ": the factors are ", describe(factors), ", and must be a vector of ", size));
  return Csr(a.values() * gather(factors, places), a.pattern());
}

// The values at the places of another pattern, 0 where `from` has none.
Tensor spread(const Csr &from, const Pattern &to) {
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(to.size()));
  const auto &indptr = from.pattern().indptr(), &indices = from.pattern().indices();
  for (std::int64_t i = 0; i < to.rows(); ++i) {
    std::int64_t next = indptr[static_cast<std::size_t>(i)];
    const std::int64_t end = indptr[static_cast<std::size_t>(i) + 1];
    for (std::int64_t k = to.indptr()[static_cast<std::size_t>(i)]; k < to.indptr()[static_cast<std::size_t>(i) + 1];
         ++k) {
      const bool isThere =
          next < end && indices[static_cast<std::size_t>(next)] == to.indices()[static_cast<std::size_t>(k)];
      places.push_back(isThere ? next++ : from.pattern().size());
    }
  }
  return gather(pad(from.values(), {0}, {1}), detail::toTensor(places, {to.size()}));
}

Csr combined(const char *what, const CsrOperand &left, const CsrOperand &right, double sign) {
  CallSite site(left.where(), what);
  const Csr &a = left.matrix(), &b = right.matrix();
  const Pattern &p = a.pattern(), &q = b.pattern();
  if (p.rows() != q.rows() || p.columns() != q.columns())
    fail<ShapeError>(absl::StrCat(what, ": takes two matrices of one shape, and these are [", p.rows(), ",",
                                  p.columns(), "] and [", q.rows(), ",", q.columns(), "]"));
  if (a.values().dtype() != b.values().dtype())
    fail<DTypeError>(absl::StrCat(what, ": the values are ", describe(a.values()), " and ", describe(b.values()),
                                  "; they must have one element type"));
  if (p == q)
    return Csr(a.values() + sign * b.values(), p);
  std::vector<std::int64_t> rowOf, columnOf;
  for (const Pattern *each : {&p, &q})
    for (std::int64_t i = 0; i < each->rows(); ++i)
      for (std::int64_t k = each->indptr()[static_cast<std::size_t>(i)];
           k < each->indptr()[static_cast<std::size_t>(i) + 1]; ++k) {
        rowOf.push_back(i);
        columnOf.push_back(each->indices()[static_cast<std::size_t>(k)]);
      }
  const Pattern both(p.rows(), p.columns(), rowOf, columnOf);
  return Csr(spread(a, both) + sign * spread(b, both), both);
}
} // namespace

Csr Csr::scale_rows(const Operand &factors) const {
  return scaled("scale_rows", *this, factors, pattern_.rows(), pattern_.data().rowOf);
}
Csr Csr::scale_columns(const Operand &factors) const {
  return scaled("scale_columns", *this, factors, pattern_.columns(), pattern_.data().columnOf);
}

Csr csr(const Coo &t, SourceLocation where) {
  CallSite site(where, "csr");
  const Pattern pattern(t.shape[0], t.shape[1], t.rows, t.columns, where);
  if (t.values.rank() != 1 ||
      (t.values.size().is_known() && t.values.size() != static_cast<std::int64_t>(t.rows.size())))
    fail<ShapeError>(
        absl::StrCat("csr: the values are ", describe(t.values), ", and there are ", t.rows.size(), " places"));
  // Where each triplet goes.
  std::vector<std::int64_t> places;
  bool isInOrder = pattern.size() == static_cast<std::int64_t>(t.rows.size());
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    const auto begin = pattern.indices().begin() + pattern.indptr()[static_cast<std::size_t>(t.rows[i])];
    const auto end = pattern.indices().begin() + pattern.indptr()[static_cast<std::size_t>(t.rows[i]) + 1];
    places.push_back(std::lower_bound(begin, end, t.columns[i]) - pattern.indices().begin());
    isInOrder = isInOrder && places.back() == static_cast<std::int64_t>(i);
  }
  if (isInOrder)
    return Csr(t.values, pattern);
  const Tensor to = detail::toTensor(places, {static_cast<std::int64_t>(places.size())});
  return Csr(scatter_add(zeros({pattern.size()}, t.values.dtype()), to, t.values), pattern);
}

Csr csr(const Tensor &values, const std::vector<std::int64_t> &indices, const std::vector<std::int64_t> &indptr,
        std::array<std::int64_t, 2> shape, SourceLocation where) {
  CallSite site(where, "csr");
  const bool isFitting = static_cast<std::int64_t>(indptr.size()) == shape[0] + 1 && indptr.front() == 0 &&
                         indptr.back() == static_cast<std::int64_t>(indices.size()) &&
                         std::is_sorted(indptr.begin(), indptr.end());
  if (!isFitting)
    fail<ValueError>(absl::StrCat("csr: indptr has a number for each of ", shape[0],
                                  " rows and one more, ascending from 0 to the ", indices.size(),
                                  " indices, and this one has ", indptr.size()));
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i + 1 < indptr.size(); ++i)
    rows.insert(rows.end(), static_cast<std::size_t>(indptr[i + 1] - indptr[i]), static_cast<std::int64_t>(i));
  return csr(Coo{values, rows, indices, shape}, where);
}

Csr from_dense(const Operand &given, const Pattern &pattern) {
  CallSite site(given.where(), "from_dense");
  const Tensor matrix = given.toTensor();
  if (matrix.rank() != 2 || !matrix.shape().is_compatible_with({pattern.rows(), pattern.columns()}))
    fail<ShapeError>(absl::StrCat("from_dense: the matrix is ", describe(matrix),
                                  ", and the pattern that of a matrix [", pattern.rows(), ",", pattern.columns(), "]"));
  return Csr(gather_nd(matrix, stack({pattern.data().rowOf, pattern.data().columnOf}, 1)), pattern);
}

Coo to_coo(const Csr &a) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < a.pattern().rows(); ++i)
    rows.insert(rows.end(),
                static_cast<std::size_t>(a.pattern().indptr()[static_cast<std::size_t>(i) + 1] -
                                         a.pattern().indptr()[static_cast<std::size_t>(i)]),
                i);
  return {a.values(), rows, a.pattern().indices(), {a.pattern().rows(), a.pattern().columns()}};
}

Csr operator+(const CsrOperand &a, const CsrOperand &b) { return combined("Csr +", a, b, 1); }
Csr operator-(const CsrOperand &a, const CsrOperand &b) { return combined("Csr -", a, b, -1); }
Csr operator*(const CsrOperand &left, const Operand &factor) {
  CallSite site(left.where(), "Csr *");
  const Csr &a = left.matrix();
  const Tensor by = factor.toTensor(a.values().dtype());
  if (by.rank() != 0)
    fail<ShapeError>(absl::StrCat("Csr *: a matrix is multiplied by a scalar, not ", describe(by),
                                  "; a(x) is the product with a vector"));
  if (by.dtype() != a.values().dtype())
    fail<DTypeError>(absl::StrCat("Csr *: the values are ", describe(a.values()), " and the factor ", describe(by),
                                  "; they must have one element type"));
  return Csr(a.values() * by, a.pattern());
}

} // namespace calque::sparse
