// Element types and shapes, which all parts of Calque and its users share.
#ifndef CALQUE_DTYPE_H
#define CALQUE_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace calque {

// The element type of a tensor. A bool takes one byte, which is 0 or 1.
enum class DType : std::int32_t { Bool = 0, Int32 = 1, Int64 = 2, Float32 = 3, Float64 = 4 };

// The sizes of a tensor's dimensions, outermost first; empty for a scalar.
using Shape = std::vector<std::int64_t>;

// The size of a dimension that is not known while tracing.
inline constexpr std::int64_t kDynamic = std::numeric_limits<std::int64_t>::min();

// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return 1;
  case DType::Int32:
  case DType::Float32:
    return 4;
  case DType::Int64:
  case DType::Float64:
    return 8;
  }
  return 0;
}

constexpr bool is_floating(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }
constexpr bool is_integer(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

// The type's name, as NumPy spells it: "float32".
constexpr const char *name_of(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "bool";
  case DType::Int32:
    return "int32";
  case DType::Int64:
    return "int64";
  case DType::Float32:
    return "float32";
  case DType::Float64:
    return "float64";
  }
  return "unknown";
}

namespace detail {
template <typename T> struct DTypeOf {
  static_assert(sizeof(T) == 0,
                "Calque has no tensors of this element type; it has bool, int32, int64, float32 and float64");
};
template <> struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <> struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::Int32;
};
template <> struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::Int64;
};
template <> struct DTypeOf<float> {
  static constexpr DType value = DType::Float32;
};
template <> struct DTypeOf<double> {
  static constexpr DType value = DType::Float64;
};
} // namespace detail

// The element type that holds a C++ type: dtype_of<float> is DType::Float32.
template <typename T> inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

} // namespace calque
#endif
