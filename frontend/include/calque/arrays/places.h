// Reading and updating elements at places that may be known at the call only.
//
//   Tensor y = at(x, 2).set(1);                    // x with ones in entry 2
//   Tensor z = at(x, i, rows(1, 3)).add(v);        // adds v to elements 1 and 2 of row i, or of the rows i
//   Tensor w = dynamic_slice(x, {i, 0}, {2, 3});   // [2,3], from row i on
//
// Tensors don't change, so that an update makes another tensor. Where x is a variable of C++, or a Variable, at(x, i) =
// v gives it this tensor: what x[i] = v is in NumPy.
//
//   at(x, 2) = 1;                                  // x = at(x, 2).set(1)
//   at(x, i, rows(1, 3)) += v;
#ifndef CALQUE_ARRAYS_PLACES_H
#define CALQUE_ARRAYS_PLACES_H

#include "calque/functions.h"

namespace calque {

//===-- Slices from a place ---------------------------------------------------------------------===//

// The part of x with these sizes whose first element is at `starts`, which are numbers or integer scalars, one for each
// dimension. As in JAX, and unlike elsewhere in Calque, a start that is outside is moved to the nearest one with which
// the part is inside of x; negative starts do not count from the end. Takes time for the result alone. ValueError for
// lists of other lengths than the rank, and for negative sizes; ShapeError for sizes beyond x.
CALQUE_API Tensor dynamic_slice(const Operand &x, const std::vector<Operand> &starts, std::vector<std::int64_t> sizes);
// x with `update` in place of the part that dynamic_slice gives for the sizes of `update`.
CALQUE_API Tensor dynamic_update_slice(const Operand &x, const Operand &update, const std::vector<Operand> &starts);

//===-- Places ----------------------------------------------------------------------------------===//

// The entries start, start + step, ... before end along an axis, as start:end:step in Python: negative numbers count
// from the end, entries beyond an end are left out, and a negative step goes backwards. rows() is all entries.
struct Rows {
  std::optional<std::int64_t> start = {}, end = {};
  std::int64_t step = 1;
};
inline Rows rows() { return {}; }
inline Rows rows(std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step = 1) {
  return {start, end, step};
}

namespace detail {
// What at() takes for an axis.
class Place {
public:
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Place(T entry) : entry_(static_cast<std::int64_t>(entry)) {}
  Place(const Rows &rows) : rows_(rows) {}
  Place(const Tensor &entries) : entries_(entries) {}
  Place(const Variable &entries) : entries_(entries) {}

  const std::optional<std::int64_t> &entry() const { return entry_; }
  const std::optional<Rows> &rows() const { return rows_; }
  const Tensor &entries() const { return entries_; }

private:
  std::optional<std::int64_t> entry_;
  std::optional<Rows> rows_;
  Tensor entries_;
};
} // namespace detail

// Elements of a tensor, to be read or updated. at() makes it.
class CALQUE_API At {
public:
  At(Tensor x, std::vector<detail::Place> places) : x_(std::move(x)), places_(std::move(places)) {}
  At(const At &) = default;
  // at() of what can't change, such as a const Tensor, is assigned nothing.
  At &operator=(const At &) = delete;

  // The elements.
  Tensor get(SourceLocation where = SourceLocation::current()) const;
  // x with other elements at the places: v, which broadcasts; their sums, differences, products and quotients with v;
  // the smaller and the larger of each and v. If a place is named several times, the last v of `set` counts, and all of
  // the others: a quotient is by their product.
  Tensor set(const Operand &v) const;
  Tensor add(const Operand &v) const;
  Tensor subtract(const Operand &v) const;
  Tensor multiply(const Operand &v) const;
  Tensor divide(const Operand &v) const;
  Tensor min(const Operand &v) const;
  Tensor max(const Operand &v) const;

private:
  Tensor x_;
  std::vector<detail::Place> places_;
};

// Elements of something that has a name, whose value the operators change as the functions of At do: `+=` also counts
// every place that is named several times. Other handles to the former value keep it.
template <detail::TensorOrVariable X> class AssignableAt : public At {
public:
  AssignableAt(X &x, std::vector<detail::Place> places) : At(Tensor(x), std::move(places)), of_(&x) {}
  AssignableAt(const AssignableAt &) = default;

  void operator=(const Operand &v) && { change(set(v)); }
  void operator+=(const Operand &v) && { change(add(v)); }
  void operator-=(const Operand &v) && { change(subtract(v)); }
  void operator*=(const Operand &v) && { change(multiply(v)); }
  void operator/=(const Operand &v) && { change(divide(v)); }
  // As of a tensor: at(x, 0) = at(y, 1).
  void operator=(const At &other) && { change(set(other.get())); }
  void operator=(const AssignableAt &other) && { change(set(other.get())); }

private:
  void change(const Tensor &value) {
    if constexpr (std::same_as<X, Variable>)
      of_->assign(value);
    else
      *of_ = value;
  }

  X *of_;
};

// The elements of x at places, one for each axis from the first on; other axes are taken whole. A place is a number, an
// integer tensor, or rows(). Negative numbers count from the end, also those in tensors. The shape is that of NumPy's
// x[i, j]: a number leaves its axis out, rows() keep it, and tensors broadcast together and put their axes in place of
// theirs, or in front if rows() stand between them. A single place may be a bool tensor of the shape of x, or of its
// first axes: then updates change the elements where it holds, and v broadcasts to x.
// IndexError for a number outside of x, at run time for a tensor; ValueError for more places than axes and for a step
// of 0; StateError for rows() whose number is unknown while tracing.
template <typename X, typename... Places>
  requires detail::TensorOrVariable<X>
At at(const X &x, const Places &...places) {
  return At(Tensor(x), {detail::Place(places)...});
}
template <typename X, typename... Places>
  requires detail::TensorOrVariable<X>
AssignableAt<X> at(X &x, const Places &...places) {
  return AssignableAt<X>(x, {detail::Place(places)...});
}

//===-- Taking and choosing ---------------------------------------------------------------------===//

// The entries of x along an axis at integer indices, or of the vector of all elements. `mode` says what an index
// outside does: "raise" is an IndexError at run time, where negative indices count from the end; "wrap" counts around,
// and "clip" takes the nearest entry. ValueError for another mode and for an axis that x does not have.
CALQUE_API Tensor take(const Operand &x, const Operand &indices, std::optional<std::int64_t> axis = {},
                       const std::string &mode = "raise");
// Of each element, the choice whose number `index` has there; all broadcast together. Modes are those of take.
// ValueError for no choices.
CALQUE_API Tensor choose(const Operand &index, const std::vector<Tensor> &choices, const std::string &mode = "raise");
// Of each element, the choice of the first condition that holds there, or `otherwise`; all broadcast together.
// ValueError unless there is one choice for each condition.
CALQUE_API Tensor select(const std::vector<Tensor> &conditions, const std::vector<Tensor> &choices,
                         const Operand &otherwise = Number(), SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
