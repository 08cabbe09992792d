// Tensors: dense row-major arrays, or while tracing SSA values that stand for arrays.
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

// A cheap handle to immutable elements, which copies share. While tracing it stands for an SSA value, which has no
// elements yet: reading them is a StateError. A default-made Tensor is empty: using it is a StateError.
class CALQUE_API Tensor {
public:
  Tensor() = default;
  // The variable's value at this point of the program.
  Tensor(const Variable &x, SourceLocation where = SourceLocation::current());
  // A template, because 0 and nullptr would convert to a pointer: scalar(0) is a tensor.
  template <typename P>
    requires(std::is_convertible_v<P, std::shared_ptr<const detail::TensorImpl>> && !std::is_null_pointer_v<P>)
  explicit Tensor(P impl) : impl_(std::move(impl)) {}

  Tensor(const Tensor &other) = default;
  Tensor(Tensor &&other) noexcept = default;
  // The handle is that of another tensor from now on. One that no name keeps, as x[0] gives it, has no use for it.
  Tensor &operator=(const Tensor &other) & = default;
  Tensor &operator=(Tensor &&other) & noexcept = default;
  template <typename T> Tensor &operator=(const T &) && {
    static_assert(detail::kNever<T>,
                  "elements of a Tensor are not assigned, x[0] = y would change nothing: make another tensor, "
                  "x = scatter_set(x, 0, y), or use where(), concat() or stack(); slices of a Variable are written by "
                  "v.scatter_update(0, y)");
    return *this;
  }

  DType dtype(SourceLocation where = SourceLocation::current()) const;
  // The sizes, of which some may not be known while tracing: see shape.h.
  Shape shape(SourceLocation where = SourceLocation::current()) const;
  std::int64_t rank(SourceLocation where = SourceLocation::current()) const;
  // The number of elements, which is not known where a size is not.
  Size size(SourceLocation where = SourceLocation::current()) const;

  // Whether the elements are known now: not those of a traced tensor.
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
  // The same as bytes, of any element type.
  std::span<const std::byte> bytes(SourceLocation where = SourceLocation::current()) const;

  // Entry i along the first dimension, without that dimension: x[0], x[-1], x[i][j]; i may be an integer tensor, and
  // has one dimension of the result for each of its own. ShapeError for a scalar, IndexError beyond the ends.
  Tensor operator[](const Operand &i) const;
  // Entries start to end - 1 along the first dimension. As in Python, negative numbers count from the end, and what is
  // beyond it is left out. ShapeError for a scalar, StateError where the number of entries is not known.
  Tensor rows(std::int64_t start, std::int64_t end, SourceLocation where = SourceLocation::current()) const;

  // "Tensor([1. 2.], shape=[2], dtype=float32)".
  std::string repr() const;

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
// A gradient; "none" where there is none.
CALQUE_API std::ostream &operator<<(std::ostream &os, const std::optional<Tensor> &x);

// An operand: a tensor, a variable (its value now), a C++ number or a size, with the user's line. A number adopts the
// element type of the tensors beside it; without one it is of that of a literal. A size is an integer, also if only
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
  template <std::same_as<std::optional<Tensor>> T>
  Operand(const T &gradient) = delete; // it may be none: take it by *gradient or gradient.value()

  bool isNumber() const { return kind_ != Kind::Tensor; }
  // Whether it is a number that is known now, and no size that only the call knows.
  bool isHostNumber() const { return kind_ == Kind::Number; }
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

// Numbers in braces, which may nest. It lives no longer than the call that it is written in.
class Literal {
public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr Literal(T number) : number_(number), isWide_(std::integral<T> && sizeof(T) >= sizeof(std::int64_t)) {
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool> && sizeof(T) >= sizeof(int))
      isWide_ = true;
  }
  // A size that is known: StateError for another.
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
// The element type is that of the literals unless it is given, and the shape that of the braces.
CALQUE_API Tensor makeTensor(const Literal &literal, const DType *dtype, const Shape *shape, SourceLocation where);

// std::ranges::range and sized_range, without <ranges>, which takes as long to compile as this header.
template <typename R>
concept IsRange = requires(R &range) {
  std::ranges::begin(range);
  std::ranges::end(range);
};
template <typename R>
concept IsSizedRange = IsRange<R> && requires(R &range) { std::ranges::size(range); };
template <typename R> using IteratorOf = decltype(std::ranges::begin(std::declval<R &>()));

// The elements of ranges, which may nest.
template <typename R> struct ElementOf {
  using type = R;
};
template <IsRange R> struct ElementOf<R> : ElementOf<std::iter_value_t<IteratorOf<R>>> {};
template <typename R, typename T>
concept RangeFor = IsSizedRange<const R> && !std::is_same_v<std::remove_cvref_t<R>, Shape> &&
                   !std::is_convertible_v<const R &, const char *> &&
                   (std::is_void_v<T> || std::is_same_v<T, typename ElementOf<R>::type>);
// Appends the elements in row-major order, and checks that all rows have as many as the first.
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

// A tensor of numbers in braces: tensor({1, 2, 3}) is int32[3], tensor({{1.5, 2.0}}) has shape [1,2]. Literals follow
// one rule: a C++ double is of the default element type, float32 (set_default_dtype); a float is float32; integers are
// int32, or int64 if one has a wider type; bools are bool. tensor<double>({1, 2}) names the element type instead, to
// which numbers convert by the rule of number.h. ValueError for rows of different lengths.
inline Tensor tensor(const detail::Literal &values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensor(values, nullptr, nullptr, line.where);
}
template <typename T> Tensor tensor(const detail::Literal &values, detail::CallLine line = SourceLocation::current()) {
  constexpr DType dtype = dtype_of<T>;
  return detail::makeTensor(values, &dtype, nullptr, line.where);
}
// The same of another shape, in row-major order. ValueError when the number of elements is not the shape's.
inline Tensor tensor(const detail::Literal &values, const Shape &shape,
                     SourceLocation where = SourceLocation::current()) {
  return detail::makeTensor(values, nullptr, &shape, where);
}
template <typename T>
Tensor tensor(const detail::Literal &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  constexpr DType dtype = dtype_of<T>;
  return detail::makeTensor(values, &dtype, &shape, where);
}
// A tensor with a copy of a range's elements, which keep their type: std::vector, std::span, std::array, T[], also of
// rows, as in std::vector<std::vector<float>>. The errors are those above.
template <typename T = void, detail::RangeFor<T> Range>
Tensor tensor(const Range &values, detail::CallLine line = SourceLocation::current()) {
  return detail::makeTensorOf(values, nullptr, line.where);
}
template <typename T = void, detail::RangeFor<T> Range>
Tensor tensor(const Range &values, const Shape &shape, SourceLocation where = SourceLocation::current()) {
  return detail::makeTensorOf(values, &shape, where);
}
// A tensor of rank 0, by the rule for literals or of a named element type: scalar(2.0), scalar<double>(2).
template <typename T = void, typename V>
  requires(std::is_arithmetic_v<V> || std::is_same_v<V, Size>)
Tensor scalar(V value, SourceLocation where = SourceLocation::current()) {
  if constexpr (std::is_void_v<T>) {
    return detail::makeTensor(detail::Literal(value), nullptr, nullptr, where);
  } else {
    constexpr DType dtype = dtype_of<T>;
    return detail::makeTensor(detail::Literal(value), &dtype, nullptr, where);
  }
}

// A tensor of elements that are in memory in row-major order: a copy, or without a copy of memory that `owner` keeps,
// which nobody changes as long as the tensor lives. ValueError unless there are as many bytes as the shape has, and for
// memory that is not aligned as its elements want.
CALQUE_API Tensor tensor_from_bytes(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                                    SourceLocation where = SourceLocation::current());
CALQUE_API Tensor tensor_from_memory(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                                     std::shared_ptr<const void> owner,
                                     SourceLocation where = SourceLocation::current());

// Every element is `value`, converted by the rule of number.h; ValueError for a negative size. In all of these sizes of
// other tensors may be not known while tracing: `zeros(x.shape())`, `full({x.shape()[0], 10}, 1)`.
CALQUE_API Tensor full(const Shape &shape, const Operand &value, DType dtype = default_dtype());
CALQUE_API Tensor zeros(const Shape &shape, DType dtype = default_dtype(),
                        SourceLocation where = SourceLocation::current());
CALQUE_API Tensor ones(const Shape &shape, DType dtype = default_dtype(),
                       SourceLocation where = SourceLocation::current());
// The n by n identity matrix.
CALQUE_API Tensor eye(std::int64_t n, DType dtype = default_dtype(), SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
