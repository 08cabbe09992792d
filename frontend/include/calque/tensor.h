// Tensors: dense row-major arrays. While tracing, a tensor is an SSA value that stands for an array.
//
//   Tensor x = tensor<float>({{1, 2}, {3, 4}});
//   Tensor y = matmul(x, x) + 1;  // C++ numbers adopt the tensors' element type
//   std::cout << y << '\n';       // as NumPy prints
//   float first = y.to_vector<float>()[0];
//   Tensor row = y[0];            // and y[-1], y.rows(0, 1)
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
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque {

class LoopIterator;
class Operand;
class Variable;
namespace detail {
struct TensorImpl;
template <typename> constexpr bool kNever = false;
} // namespace detail

// A cheap handle to immutable elements; copies share them. While tracing, it stands for an SSA value without elements,
// and reading elements is a StateError. A default-constructed Tensor is empty, and using it is a StateError.
class CALQUE_API Tensor {
public:
  Tensor() = default;
  // The variable's value at this point of the program.
  Tensor(const Variable &x, SourceLocation where = SourceLocation::current());
  // A template, because 0 and nullptr would convert to a pointer. Write scalar(0) for a tensor.
  template <typename P>
    requires(std::is_convertible_v<P, std::shared_ptr<const detail::TensorImpl>> && !std::is_null_pointer_v<P>)
  explicit Tensor(P impl) : impl_(std::move(impl)) {}

  Tensor(const Tensor &other) = default;
  Tensor(Tensor &&other) noexcept = default;
  // Makes the handle refer to another tensor. A temporary handle, such as x[0], can't be assigned, because the
  // assignment would have no effect.
  Tensor &operator=(const Tensor &other) & = default;
  Tensor &operator=(Tensor &&other) & noexcept = default;
  template <typename T> Tensor &operator=(const T &) && {
    static_assert(detail::kNever<T>,
                  "elements of a Tensor are not assigned, x[0] = y would change nothing: write at(x, 0) = y "
                  "(calque/arrays.h), which makes x another tensor");
    return *this;
  }

  DType dtype(SourceLocation where = SourceLocation::current()) const;
  // The sizes, some of which may be unknown while tracing: see shape.h.
  Shape shape(SourceLocation where = SourceLocation::current()) const;
  std::int64_t rank(SourceLocation where = SourceLocation::current()) const;
  // The number of elements. Unknown if a size is unknown.
  Size size(SourceLocation where = SourceLocation::current()) const;

  // Whether the elements are known now. False for a traced tensor.
  bool is_known(SourceLocation where = SourceLocation::current()) const;

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
  // The bytes of the elements, of any element type.
  std::span<const std::byte> bytes(SourceLocation where = SourceLocation::current()) const;

  // Entry i along the first dimension, without that dimension: x[0], x[-1], x[i][j]. If i is an integer tensor, the
  // dimensions of i take the place of the first dimension. ShapeError for a scalar, IndexError for an index beyond the
  // ends.
  Tensor operator[](const Operand &i) const;
  // Entries start to end - 1 along the first dimension. As in Python, negative numbers count from the end, and entries
  // beyond the end are left out. ShapeError for a scalar, StateError if the number of entries is unknown.
  Tensor rows(std::int64_t start, std::int64_t end, SourceLocation where = SourceLocation::current()) const;

  // "Tensor([1. 2.], shape=[2], dtype=float32)".
  std::string repr() const;

  // Whether the only element is not zero. ShapeError unless there is exactly one element. While tracing, the decision
  // becomes a branch or a loop of the program: docs/native-control-flow.md. A conversion has no argument for the user's
  // line, so an error names the line of the operation that made the tensor.
  explicit operator bool() const;

  // Iterates over the slices along the first dimension: `for (Tensor row : x)`. While tracing, this is a loop of the
  // program, even for few slices. Derivatives with respect to x pass through it. ShapeError for a scalar.
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

  bool defined() const noexcept { return impl_ != nullptr; }
  const std::shared_ptr<const detail::TensorImpl> &impl() const noexcept { return impl_; }

private:
  const void *rawData(DType dtype, SourceLocation where) const;
  const void *scalarData(DType dtype, SourceLocation where) const;

  std::shared_ptr<const detail::TensorImpl> impl_;
};

// Iterates over the slices of a tensor, or the numbers of a range (control_flow.h). Copies advance independently. In a
// trace, the comparison of an iterator with end() is a decision, as the condition of a C++ loop on a tensor is.
class CALQUE_API LoopIterator {
public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  // The reference is valid until the iterator advances. Eagerly, * and ++ at the end are a StateError.
  const Tensor &operator*() const;
  const Tensor *operator->() const { return &**this; }
  LoopIterator &operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const;

private:
  friend class Tensor;
  friend class Range;
  friend class Checkpointed;
  // Iterates over slices of `rows` unless that tensor is empty. `first`, `end` and `step` are int64 scalars.
  struct Counts {
    std::int64_t at, end, step;
  };
  LoopIterator(Tensor rows, Tensor first, Tensor end, Tensor step, SourceLocation where);
  void enter();

  Tensor rows_, at_, end_, step_;
  std::optional<Counts> counts_; // eagerly
  Tensor goesOn_;                // in a trace
  bool isCheckpointed_ = false;  // as WhileOptions::checkpoint
  mutable Tensor element_;       // empty until it is read
  SourceLocation where_;
};

// Prints as str() of NumPy 2.4 does. Of a traced tensor, prints the type and the line.
CALQUE_API std::ostream &operator<<(std::ostream &os, const Tensor &x);
// Prints a gradient, or "none" if there is none.
CALQUE_API std::ostream &operator<<(std::ostream &os, const std::optional<Tensor> &x);

// An operand: a tensor, a variable's present value, a C++ number or a size, with the user's line. A number adopts the
// element type of the tensors beside it. Without a tensor, a number has the element type of a literal. A size is an
// integer, even if it is unknown while tracing.
class CALQUE_API Operand {
public:
  Operand(const Tensor &x, SourceLocation where = SourceLocation::current());
  Operand(const Variable &x, SourceLocation where = SourceLocation::current());
  template <typename T>
    requires(detail::kIsNumber<T> || detail::kIsComplex<T>)
  Operand(T number, SourceLocation where = SourceLocation::current())
      : kind_(Kind::Number), number_(number), where_(where) {}
  Operand(const Number &number, SourceLocation where = SourceLocation::current())
      : kind_(Kind::Number), number_(number), where_(where) {}
  Operand(const Size &size, SourceLocation where = SourceLocation::current());
  template <std::same_as<std::optional<Tensor>> T>
  Operand(const T &gradient) = delete; // it may be none: take it by *gradient or gradient.value()

  bool isNumber() const { return kind_ != Kind::Tensor; }
  // Whether the operand is a number that is known now: neither a tensor nor an unknown size.
  bool isHostNumber() const { return kind_ == Kind::Number; }
  bool isFloat() const { return kind_ == Kind::Number && number_.isFloat(); }
  SourceLocation where() const { return where_; }
  // The tensor of an operand that is not a number.
  const Tensor &tensor() const { return tensor_; }
  // The element type of the tensor, or of a number without tensors beside it.
  DType defaultDType() const;
  // The tensor, or the number as a scalar of an element type, by the rule of number.h.
  Tensor toTensor(DType dtype) const;
  Tensor toTensor() const { return isNumber() ? toTensor(defaultDType()) : tensor_; }

private:
  enum class Kind : std::uint8_t { Tensor, Number, Size };
  Kind kind_ = Kind::Tensor;
  Tensor tensor_; // of an unknown size: the tensor that has the size at the call
  Number number_;
  SourceLocation where_;
};

namespace detail {
// The type of a last parameter that takes the line of the call. Braces never convert to it, so that {} as a last
// argument is the shape of a scalar.
struct CallLine {
  template <std::same_as<SourceLocation> L> CallLine(L line) : where(line) {}
  SourceLocation where;
};

// Makes a tensor with a copy of `count` elements. ValueError unless the shape has this number of elements.
CALQUE_API Tensor makeTensor(DType dtype, const void *data, std::size_t count, const Shape &shape,
                             SourceLocation where);

// Numbers in braces, which may nest. A Literal must not outlive the call to which it is an argument.
class Literal {
public:
  template <typename T>
    requires(detail::kIsNumber<T> || detail::kIsComplex<T>)
  constexpr Literal(T number) : number_(number), isWide_(std::integral<T> && sizeof(T) >= sizeof(std::int64_t)) {
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool> && sizeof(T) >= sizeof(int))
      isWide_ = true;
  }
  // StateError for an unknown size.
  Literal(const Size &size) : number_(std::int64_t(size)), isWide_(true) {}
  constexpr Literal(std::initializer_list<Literal> list) : list_(list), isList_(true) {}

  constexpr bool isList() const { return isList_; }
  constexpr bool isWide() const { return isWide_; } // an integer of a type that int32 does not hold
  const Number &number() const { return number_; }
  const std::initializer_list<Literal> &list() const { return list_; }

private:
  Number number_;
  std::initializer_list<Literal> list_;
  bool isWide_ = false, isList_ = false;
};
// Makes a tensor of a literal. If `dtype` is null, the element type follows from the numbers; if `shape` is null, the
// shape follows from the braces.
CALQUE_API Tensor makeTensor(const Literal &literal, const DType *dtype, const Shape *shape, SourceLocation where);

// As std::ranges::range and sized_range. <ranges> would take as long to compile as this header.
template <typename R>
concept IsRange = requires(R &range) {
  std::ranges::begin(range);
  std::ranges::end(range);
};
template <typename R>
concept IsSizedRange = IsRange<R> && requires(R &range) { std::ranges::size(range); };
template <typename R> using IteratorOf = decltype(std::ranges::begin(std::declval<R &>()));

// The type of the elements of a range; ranges may nest.
template <typename R> struct ElementOf {
  using type = R;
};
template <IsRange R> struct ElementOf<R> : ElementOf<std::iter_value_t<IteratorOf<R>>> {};
template <typename R, typename T>
concept RangeFor = IsSizedRange<const R> && !std::is_same_v<std::remove_cvref_t<R>, Shape> &&
                   !std::is_convertible_v<const R &, const char *> &&
                   (std::is_void_v<T> || std::is_same_v<T, typename ElementOf<R>::type>);
// Appends the elements in row-major order, and checks that all rows are as long as the first.
[[noreturn]] CALQUE_API void throwRagged(std::size_t depth, std::size_t first, std::size_t other, SourceLocation where);
template <typename R, typename E>
void flatten(const R &rows, std::size_t depth, std::vector<E> &elements, std::vector<std::int64_t> &dims,
             SourceLocation where) {
  const auto size = static_cast<std::size_t>(std::ranges::size(rows));
  if (dims.size() == depth)
    dims.push_back(static_cast<std::int64_t>(size));
  else if (static_cast<std::size_t>(dims[depth]) != size)
    throwRagged(depth, static_cast<std::size_t>(dims[depth]), size, where);
  for (const auto &row : rows)
    if constexpr (IsRange<std::iter_value_t<IteratorOf<const R>>>)
      flatten(row, depth + 1, elements, dims, where);
    else
      elements.push_back(static_cast<E>(row));
}
template <typename R> Tensor makeTensorOf(const R &values, const Shape *shape, SourceLocation where) {
  using Element = typename ElementOf<R>::type;
  if constexpr (std::contiguous_iterator<IteratorOf<const R>> && !IsRange<std::iter_value_t<IteratorOf<const R>>>) {
    const auto count = static_cast<std::size_t>(std::ranges::size(values));
    return makeTensor(dtype_of<Element>, std::ranges::data(values), count, shape ? *shape : Shape{Size(count, where)},
                      where);
  } else {
    std::vector<std::conditional_t<std::is_same_v<Element, bool>, unsigned char, Element>> elements;
    std::vector<std::int64_t> dims;
    flatten(values, 0, elements, dims, where);
    return makeTensor(dtype_of<Element>, elements.data(), elements.size(), shape ? *shape : Shape(dims, where), where);
  }
}
} // namespace detail

// Makes a tensor of numbers in braces: tensor({1, 2, 3}) is int32[3], tensor({{1.5, 2.0}}) has shape [1,2]. The rule
// for literals: a C++ double has the default element type, float32 (set_default_dtype); a float is float32;
// std::complex numbers are complex64, or complex128 where a double is float64; integers are int32, or int64 if one has
// a wider C++ type; bools are bool. tensor<double>({1, 2}) names the element type instead, and the numbers convert to
// it by the rule of number.h. ValueError for rows of different lengths.
inline Tensor tensor(const detail::Literal &values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensor(values, nullptr, nullptr, line.where);
}
template <typename T> Tensor tensor(const detail::Literal &values, detail::CallLine line = SourceLocation::current()) {
  constexpr DType dtype = dtype_of<T>;
  return detail::makeTensor(values, &dtype, nullptr, line.where);
}
// Makes a tensor of another shape from numbers in row-major order. ValueError if the shape has another number of
// elements.
inline Tensor tensor(const detail::Literal &values, const Shape &shape,
                     SourceLocation where = SourceLocation::current()) {
  return detail::makeTensor(values, nullptr, &shape, where);
}
template <typename T>
Tensor tensor(const detail::Literal &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  constexpr DType dtype = dtype_of<T>;
  return detail::makeTensor(values, &dtype, &shape, where);
}
// Makes a tensor with a copy of a range's elements, of the same element type. The range is a std::vector, std::span,
// std::array or T[], also of rows, as in std::vector<std::vector<float>>. The errors are those above.
template <typename T = void, detail::RangeFor<T> Range>
Tensor tensor(const Range &values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensorOf(values, nullptr, line.where);
}
template <typename T = void, detail::RangeFor<T> Range>
Tensor tensor(const Range &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensorOf(values, &shape, where);
}
// Makes a tensor of rank 0. Its element type follows the rule for literals, or is named: scalar(2.0),
// scalar<double>(2).
template <typename T = void, typename V>
  requires(detail::kIsNumber<V> || detail::kIsComplex<V> || std::is_same_v<V, Size>)
Tensor scalar(V value, SourceLocation where = SourceLocation::current()) {
  if constexpr (std::is_void_v<T>) {
    return detail::makeTensor(detail::Literal(value), nullptr, nullptr, where);
  } else {
    constexpr DType dtype = dtype_of<T>;
    return detail::makeTensor(detail::Literal(value), &dtype, nullptr, where);
  }
}

// Make a tensor from bytes in row-major order. tensor_from_bytes copies the bytes. tensor_from_memory uses them in
// place; `owner` keeps the memory alive, and nobody may change it as long as the tensor lives. ValueError unless the
// number of bytes is that of the shape's elements, and for memory that is not aligned for the element type.
CALQUE_API Tensor tensor_from_bytes(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                                    SourceLocation where = SourceLocation::current());
CALQUE_API Tensor tensor_from_memory(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                                     std::shared_ptr<const void> owner,
                                     SourceLocation where = SourceLocation::current());

// Makes a tensor whose elements are all `value`, converted by the rule of number.h. ValueError for a negative size.
// Here and below, the shape may have unknown sizes of other tensors: `zeros(x.shape())`, `full({x.shape()[0], 10}, 1)`.
CALQUE_API Tensor full(const Shape &shape, const Operand &value, DType dtype = default_dtype());
// Of a complex number the default element type is complex64, or complex128 where a double is float64.
template <typename T>
  requires detail::kIsComplex<T>
Tensor full(const Shape &shape, T value, SourceLocation where = SourceLocation::current()) {
  return full(shape, Operand(value, where), promote(default_dtype(), DType::Complex64));
}
CALQUE_API Tensor zeros(const Shape &shape, DType dtype = default_dtype(),
                        SourceLocation where = SourceLocation::current());
CALQUE_API Tensor ones(const Shape &shape, DType dtype = default_dtype(),
                       SourceLocation where = SourceLocation::current());
// The n by n identity matrix.
CALQUE_API Tensor eye(std::int64_t n, DType dtype = default_dtype(), SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
