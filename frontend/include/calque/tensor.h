// Tensors: dense row-major arrays, or while tracing SSA values that stand for arrays.
//
//   Tensor x = tensor<float>({1, 2, 3, 4}, {2, 2});
//   Tensor y = matmul(x, x) + 1;  // C++ numbers adopt the tensors' element type
//   std::cout << y << '\n';       // as NumPy prints
//   float first = y.to_vector<float>()[0];
#ifndef CALQUE_TENSOR_H
#define CALQUE_TENSOR_H

#include "calque/dtype.h"
#include "calque/error.h"
#include "calque/number.h"
#include "calque/shape.h"

#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace calque {

class LoopIterator;
class Variable;
namespace detail {
struct TensorImpl;
}

// A cheap handle to immutable elements, which copies share. While tracing it stands for an SSA value, which has no
// elements yet: reading them is a StateError. A default-made Tensor is empty: using it is a StateError.
class CALQUE_API Tensor {
public:
  Tensor() = default;
  Tensor(std::nullptr_t) = delete; // which Tensor(0) would be: scalar(0) is a tensor
  explicit Tensor(std::shared_ptr<const detail::TensorImpl> impl) : impl_(std::move(impl)) {}

  DType dtype(SourceLocation where = SourceLocation::current()) const;
  // The sizes, of which some may not be known while tracing: see shape.h.
  Shape shape(SourceLocation where = SourceLocation::current()) const;
  std::int64_t rank(SourceLocation where = SourceLocation::current()) const;
  // The number of elements, which is not known where a size is not.
  Size size(SourceLocation where = SourceLocation::current()) const;

  // The only element. DTypeError unless T is the element type, ShapeError unless there is exactly one element.
  template <typename T> T item(SourceLocation where = SourceLocation::current()) const {
    return *static_cast<const T *>(scalarData(dtype_of<T>, where));
  }
  // All elements in row-major order. DTypeError unless T is the element type.
  template <typename T> std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    const T *first = data<T>(where);
    return std::vector<T>(first, first + std::int64_t(size(where)));
  }
  // The elements in row-major order, valid as long as a handle to them exists. DTypeError unless T is the element type.
  template <typename T> const T *data(SourceLocation where = SourceLocation::current()) const {
    return static_cast<const T *>(rawData(dtype_of<T>, where));
  }

  // Whether the only element is not zero. ShapeError unless there is exactly one. While tracing, it becomes a branch or
  // a loop of the program: docs/native-control-flow.md. No argument can carry the line of a decision: an error names
  // that of the operation that made the tensor.
  explicit operator bool() const;

  // The slices along the first dimension: `for (Tensor row : x)`. While tracing, a loop of the program, whatever the
  // number of slices is; derivatives by x go through it. ShapeError for a scalar.
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

  bool defined() const noexcept { return impl_ != nullptr; }
  const std::shared_ptr<const detail::TensorImpl> &impl() const noexcept { return impl_; }

private:
  const void *rawData(DType dtype, SourceLocation where) const;
  const void *scalarData(DType dtype, SourceLocation where) const;

  std::shared_ptr<const detail::TensorImpl> impl_;
};

// Goes through the slices of a tensor, or the numbers of a range (control_flow.h). Copies go on by themselves. What an
// iterator that was made in a trace is compared with decides as the condition of a C++ loop does.
class CALQUE_API LoopIterator {
public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  // The reference is good until the iterator goes on. Eagerly, StateError at the end, also of ++.
  const Tensor &operator*() const;
  const Tensor *operator->() const { return &**this; }
  LoopIterator &operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const;

private:
  friend class Tensor;
  friend class Range;
  // Of slices of `rows`, if it is not empty; the others are int64 scalars.
  struct Counts {
    std::int64_t at, end, step;
  };
  LoopIterator(Tensor rows, Tensor first, Tensor end, Tensor step, SourceLocation where);
  void enter();

  Tensor rows_, at_, end_, step_;
  std::optional<Counts> counts_; // eagerly
  Tensor goesOn_;                // in a trace
  mutable Tensor element_;       // once it is asked for
  SourceLocation where_;
};

// Prints as str() of NumPy 2.4 does; of a traced tensor, its type and line.
CALQUE_API std::ostream &operator<<(std::ostream &os, const Tensor &x);

// An operand: a tensor, a variable (its value now), a C++ number or a size, with the user's line. A number adopts the
// element type of the tensors beside it; without one it is float32, int32 or bool. A size is an integer, also if only
// the call knows it.
class CALQUE_API Operand {
public:
  Operand(const Tensor &x, SourceLocation where = SourceLocation::current());
  Operand(const Variable &x, SourceLocation where = SourceLocation::current());
  template <typename T>
    requires std::is_arithmetic_v<T>
  Operand(T number, SourceLocation where = SourceLocation::current())
      : kind_(Kind::Number), number_(number), where_(where) {}
  Operand(const Number &number, SourceLocation where = SourceLocation::current())
      : kind_(Kind::Number), number_(number), where_(where) {}
  Operand(const Size &size, SourceLocation where = SourceLocation::current());

  bool isNumber() const { return kind_ != Kind::Tensor; }
  bool isFloat() const { return kind_ == Kind::Number && number_.isFloat(); }
  SourceLocation where() const { return where_; }
  // The tensor of an operand that is no number.
  const Tensor &tensor() const { return tensor_; }
  // The element type of the tensor, or of a number without tensors beside it.
  DType defaultDType() const;
  // The tensor, or the number as a scalar of an element type, by the rule of number.h.
  Tensor toTensor(DType dtype) const;
  Tensor toTensor() const { return isNumber() ? toTensor(defaultDType()) : tensor_; }

private:
  enum class Kind : std::uint8_t { Tensor, Number, Size };
  Kind kind_ = Kind::Tensor;
  Tensor tensor_; // of a size that only the call knows, what gives it there
  Number number_;
  SourceLocation where_;
};

namespace detail {
// The line of a call whose last parameter it is. Braces never make one: {} in its place is the shape of a scalar.
struct CallLine {
  template <std::same_as<SourceLocation> L> CallLine(L line) : where(line) {}
  SourceLocation where;
};

// A tensor with a copy of `count` elements. ValueError unless the shape has this number.
CALQUE_API Tensor makeTensor(DType dtype, const void *data, std::size_t count, const Shape &shape,
                             SourceLocation where);
template <typename T> Tensor makeTensorOf(const std::vector<T> &values, const Shape &shape, SourceLocation where) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<unsigned char> bytes(values.begin(), values.end());
    return makeTensor(DType::Bool, bytes.data(), bytes.size(), shape, where);
  } else {
    return makeTensor(dtype_of<T>, values.data(), values.size(), shape, where);
  }
}
} // namespace detail

// A tensor with a copy of the elements, in row-major order. ValueError when their number is not the shape's.
template <typename T>
Tensor tensor(const std::vector<T> &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensorOf(values, shape, where);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensorOf(std::vector<T>(values), shape, where);
}
template <typename T>
Tensor tensor(std::span<const T> values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensor(dtype_of<T>, values.data(), values.size(), shape, where);
}
// Of any contiguous range: std::span, std::array, T[].
template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range>
Tensor tensor(const Range &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return tensor(std::span<const std::ranges::range_value_t<Range>>(values), shape, where);
}
// A vector of the given elements.
template <typename T>
Tensor tensor(std::initializer_list<T> values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensorOf(std::vector<T>(values), {Size(values.size(), line.where)}, line.where);
}
template <typename T> Tensor tensor(const std::vector<T> &values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensorOf(values, {Size(values.size(), line.where)}, line.where);
}
template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range>
Tensor tensor(const Range &values, detail::CallLine line = SourceLocation::current()) {
  return tensor(values, Shape{Size(std::ranges::size(values), line.where)}, line.where);
}
// A tensor of rank 0.
template <typename T> Tensor scalar(T value, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensor(dtype_of<T>, &value, 1, {}, where);
}

// Every element is `value`, converted by the rule of number.h; ValueError for a negative size. In all of these sizes of
// other tensors may be not known while tracing: `zeros(x.shape())`, `full({x.shape()[0], 10}, 1)`.
CALQUE_API Tensor full(const Shape &shape, const Operand &value, DType dtype = DType::Float32);
CALQUE_API Tensor zeros(const Shape &shape, DType dtype = DType::Float32,
                        SourceLocation where = SourceLocation::current());
CALQUE_API Tensor ones(const Shape &shape, DType dtype = DType::Float32,
                       SourceLocation where = SourceLocation::current());
// The n by n identity matrix.
CALQUE_API Tensor eye(std::int64_t n, DType dtype = DType::Float32, SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
