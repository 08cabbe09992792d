// The arguments that a call may pass for parameters that are tensors.
#ifndef CALQUE_TENSOR_ARGUMENT_H
#define CALQUE_TENSOR_ARGUMENT_H

#include "calque/structure.h"
#include "calque/tensor_spec.h"

#include <concepts>

namespace calque::detail {

// Whether a parameter is a tensor, by value or by reference to const.
template <typename T>
inline constexpr bool isTensor = std::is_same_v<std::remove_cvref_t<T>, Tensor> &&
                                 (!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>>);

// Whether parameter I of a signature is such a tensor.
template <std::size_t I, typename Signature> inline constexpr bool takesTensor = false;
template <std::size_t I, typename R, typename... Args>
  requires(I < sizeof...(Args))
inline constexpr bool takesTensor<I, R(Args...)> = isTensor<std::tuple_element_t<I, std::tuple<Args...>>>;

// An argument for a tensor parameter: a value that converts to a tensor, or a C++ number or a size, which becomes a
// scalar.
class CALQUE_API TensorArgument {
public:
  template <typename T>
    requires std::convertible_to<const T &, Tensor>
  TensorArgument(const T &x) : tensor_(x) {}
  TensorArgument(const Variable &x, SourceLocation where = SourceLocation::current()) : tensor_(x, where) {}
  template <typename T>
    requires(detail::kIsNumber<T> || detail::kIsComplex<T>)
  TensorArgument(T number, SourceLocation where = SourceLocation::current())
      : tensor_(scalar(number, where)), number_(number) {}
  TensorArgument(const Size &size, SourceLocation where = SourceLocation::current())
      : tensor_(Operand(size, where).toTensor(DType::Int64)) {}

  // Returns the tensor. A number gets the expected element type if that type takes the number, else the element type of
  // a literal.
  Tensor tensor(std::optional<DType> expected, const SourceLocation &where) const;

private:
  Tensor tensor_;
  std::optional<Number> number_;
};

// The type of a parameter of calls that take numbers for tensors.
template <typename T> using Given = std::conditional_t<isTensor<T>, const TensorArgument &, T>;

// Calls f with the arguments; numbers for tensor parameters become tensors. `specs` are the specs of the arguments'
// tensors, in order, or empty.
template <typename... Args, typename F>
decltype(auto) withTensorArguments(const std::vector<TensorSpec<>> &specs, const SourceLocation &where, F &&f,
                                   std::remove_reference_t<Given<Args>> &...given) {
  std::size_t next = 0;
  auto take = [&]<typename T>(T &x) -> decltype(auto) {
    if constexpr (std::is_same_v<T, const TensorArgument>) {
      const std::size_t number = next++;
      return x.tensor(number < specs.size() ? std::optional(specs[number].dtype()) : std::nullopt, where);
    } else {
      if (!specs.empty())
        next += tensorsIn(x).size();
      return (x);
    }
  };
  std::tuple<decltype(take(given))...> taken{take(given)...}; // braces evaluate in order
  return std::apply([&](auto &...own) -> decltype(auto) { return f(static_cast<Args &&>(own)...); }, taken);
}

} // namespace calque::detail
#endif
