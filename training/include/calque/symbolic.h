// Symbolic tensors: inputs and results in a graph of layers, from which a functional model is made.
//
//   SymbolicTensor image = Input({28, 28}, {.name = "image"});
//   SymbolicTensor x = layers::Flatten()(image);
//   SymbolicTensor y = layers::Dense(10)(x + 0.5);
//   models::Functional model(image, y);
#ifndef CALQUE_SYMBOLIC_H
#define CALQUE_SYMBOLIC_H

#include "calque/tensor_spec.h"

#include <array>
#include <concepts>

namespace calque {

class Operand;
namespace detail {
struct SymbolicCall;
}

// A shared handle to an input, or to one result of a call of a layer. It has a type and no elements.
class CALQUE_API SymbolicTensor {
public:
  DType dtype() const { return dtype_; }
  // The first dimension is the batch. Its size is kDynamic unless the input says otherwise.
  const Shape &shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  // The name of an input, or of a result that has one; else empty.
  const std::string &name() const { return name_; }

  bool same_as(const SymbolicTensor &other) const noexcept { return call_ == other.call_ && result_ == other.result_; }

  // Operations such as relu(x) take tensors. In a graph, use a layer in place of the operation.
  template <typename T>
    requires std::same_as<T, Operand>
  operator T() const {
    static_assert(
        !std::same_as<T, Operand>,
        "an operation takes tensors, and this is a symbolic one, which layers take: "
        "layers::Activation(\"relu\")(x) for relu(x), layers::Lambda(f)(x) for another f(x), or a layer of its "
        "name such as layers::Softmax()(x) or layers::Concatenate()({x, y})");
  }

  SymbolicTensor(std::shared_ptr<detail::SymbolicCall> call, std::size_t result, DType dtype, Shape shape,
                 std::string name)
      : call_(std::move(call)), result_(result), dtype_(dtype), shape_(std::move(shape)), name_(std::move(name)) {}
  const std::shared_ptr<detail::SymbolicCall> &call() const noexcept { return call_; }
  std::size_t result() const noexcept { return result_; }

private:
  std::shared_ptr<detail::SymbolicCall> call_;
  std::size_t result_;
  DType dtype_;
  Shape shape_;
  std::string name_;
};

// Prints its type: <symbolic float32[?,3]>.
CALQUE_API std::ostream &operator<<(std::ostream &os, const SymbolicTensor &x);

struct InputOptions {
  DType dtype = default_dtype();
  std::string name = {};
  Size batch_size = kDynamic;
};
// An input of a model. `shape` is the shape of one example; kDynamic stands for an unknown size.
CALQUE_API SymbolicTensor Input(const Shape &shape, InputOptions options = {},
                                SourceLocation where = SourceLocation::current());

// Several symbolic tensors in order, which may have names. Tensors (tensors.h) is the same for tensors.
class CALQUE_API SymbolicTensors {
public:
  using Named = std::pair<std::string, SymbolicTensor>;

  SymbolicTensors() = default;
  SymbolicTensors(const SymbolicTensor &x) : parts_{{std::string(), x}} {}
  SymbolicTensors(std::initializer_list<SymbolicTensor> tensors)
      : SymbolicTensors(std::vector<SymbolicTensor>(tensors)) {}
  SymbolicTensors(const std::vector<SymbolicTensor> &tensors);
  // ValueError for a name that is given twice.
  SymbolicTensors(std::initializer_list<Named> named, SourceLocation where = SourceLocation::current());

  std::size_t size() const { return parts_.size(); }
  bool empty() const { return parts_.empty(); }
  // IndexError for a position, and LookupError for a name, that no tensor has.
  template <std::integral I> const SymbolicTensor &operator[](I position) const {
    return at(static_cast<std::int64_t>(position), SourceLocation());
  }
  const SymbolicTensor &at(std::int64_t position, SourceLocation where = SourceLocation::current()) const;
  const SymbolicTensor &operator[](const char *name) const { return at(std::string(name), SourceLocation()); }
  const SymbolicTensor &operator[](const std::string &name) const { return at(name, SourceLocation()); }
  const SymbolicTensor &at(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  void push_back(SymbolicTensor x, std::string name = {}, SourceLocation where = SourceLocation::current());
  // ValueError unless there are N.
  template <std::size_t N>
  std::array<SymbolicTensor, N> unpack(SourceLocation where = SourceLocation::current()) const {
    checkCount(N, where);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<SymbolicTensor, N>{parts_[I].second...};
    }(std::make_index_sequence<N>());
  }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

private:
  void checkCount(std::size_t count, SourceLocation where) const;
  std::vector<Named> parts_;
};

//===-- Arithmetic ------------------------------------------------------------------------------===//

// A symbolic tensor or a number, with the user's line.
class CALQUE_API SymbolicOperand {
public:
  SymbolicOperand(const SymbolicTensor &x, SourceLocation where = SourceLocation::current())
      : tensor_(x), where_(where) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  SymbolicOperand(T number, SourceLocation where = SourceLocation::current())
      : number_(static_cast<double>(number)), where_(where) {}
  const std::optional<SymbolicTensor> &tensor() const { return tensor_; }
  double number() const { return number_; }
  SourceLocation where() const { return where_; }

private:
  std::optional<SymbolicTensor> tensor_;
  double number_ = 0;
  SourceLocation where_;
};

// Each operator is a layer of the graph. A number adopts the tensor's element type.
#define CALQUE_SYMBOLIC_OPERATOR(op)                                                                                   \
  CALQUE_API SymbolicTensor operator op(const SymbolicTensor &lhs, const SymbolicOperand &rhs);                        \
  template <typename T>                                                                                                \
    requires std::is_arithmetic_v<T>                                                                                   \
  SymbolicTensor operator op(T lhs, const SymbolicOperand &rhs) {                                                      \
    return detail::symbolicArithmetic(#op, SymbolicOperand(lhs, rhs.where()), rhs);                                    \
  }
namespace detail {
CALQUE_API SymbolicTensor symbolicArithmetic(const char *operation, const SymbolicOperand &lhs,
                                             const SymbolicOperand &rhs);
}
CALQUE_SYMBOLIC_OPERATOR(+)
CALQUE_SYMBOLIC_OPERATOR(-)
CALQUE_SYMBOLIC_OPERATOR(*)
CALQUE_SYMBOLIC_OPERATOR(/)
#undef CALQUE_SYMBOLIC_OPERATOR
CALQUE_API SymbolicTensor operator-(const SymbolicTensor &x);

} // namespace calque
#endif
