// Element types, which all parts of Calque and its users share.
#ifndef CALQUE_DTYPE_H
#define CALQUE_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>
#include <type_traits>

namespace calque {

// The table of element types. Everything that Calque knows of an element type is here, or follows from this. A line has
// the enumerator, the name as NumPy spells it, the C++ type, the kind, the type in which sums along an axis are
// accumulated, and the names in files: of NumPy's arrays, of safetensors, and of C headers. A bool takes one byte,
// which is 0 or 1.
#define CALQUE_ELEMENT_TYPES(X)                                                                                        \
  X(Bool, "bool", bool, Bool, Bool, "|b1", "BOOL", "uint8_t")                                                          \
  X(Int32, "int32", std::int32_t, Integer, Int32, "<i4", "I32", "int32_t")                                             \
  X(Int64, "int64", std::int64_t, Integer, Int64, "<i8", "I64", "int64_t")                                             \
  X(Float32, "float32", float, Float, Float64, "<f4", "F32", "float")                                                  \
  X(Float64, "float64", double, Float, Float64, "<f8", "F64", "double")

// The element type of a tensor.
enum class DType : std::int32_t {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...) Name,
  CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
};

enum class DTypeKind : std::uint8_t { Bool, Integer, Float };

// A line of the table.
struct DTypeInfo {
  DType dtype;
  const char *name;
  std::size_t size; // of an element, in bytes
  DTypeKind kind;
  DType accumulator;       // float64 for float32, because rounding errors accumulate along the axis
  const char *npy;         // "<f4"
  const char *safetensors; // "F32"
  const char *in_c;        // the C type of an element
};
inline constexpr DTypeInfo kDTypes[] = {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, kind, accumulator, npy, safetensors, inC)                                \
  {DType::Name, name, sizeof(Type), DTypeKind::kind, DType::accumulator, npy, safetensors, inC},
    CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
};

// Whether a value is one of the enumerators. A number that was cast to DType may be none.
constexpr bool is_dtype(DType dtype) { return static_cast<std::size_t>(dtype) < std::size(kDTypes); }

// The line of a type, which must be one of the enumerators.
constexpr const DTypeInfo &info_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

// The bytes of one element. 0 for a value that is no enumerator.
constexpr std::size_t size_of(DType dtype) {
  return is_dtype(dtype) ? kDTypes[static_cast<std::size_t>(dtype)].size : 0;
}
// The type's name as NumPy spells it: "float32". "unknown" for a value that is no enumerator.
constexpr const char *name_of(DType dtype) {
  return is_dtype(dtype) ? kDTypes[static_cast<std::size_t>(dtype)].name : "unknown";
}
// Prints the name. A template, so that this header needs no more than <iosfwd>.
template <typename Traits>
std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &os, DType dtype) {
  return os << name_of(dtype);
}
template <typename Traits>
std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &os, DTypeKind kind) {
  constexpr const char *names[] = {"bool", "integer", "float"};
  return os << (static_cast<std::size_t>(kind) < std::size(names) ? names[static_cast<std::size_t>(kind)] : "unknown");
}
constexpr bool is_kind(DType dtype, DTypeKind kind) {
  return is_dtype(dtype) && kDTypes[static_cast<std::size_t>(dtype)].kind == kind;
}
constexpr bool is_floating(DType dtype) { return is_kind(dtype, DTypeKind::Float); }
constexpr bool is_integer(DType dtype) { return is_kind(dtype, DTypeKind::Integer); }

// The names of all types of these kinds, with `word` before the last name: "float32 and float64".
inline std::string names_of(std::initializer_list<DTypeKind> kinds, const std::string &word = "and") {
  std::string text;
  const char *last = nullptr;
  for (const DTypeInfo &info : kDTypes)
    for (DTypeKind kind : kinds)
      if (info.kind == kind) {
        if (last)
          text.append(text.empty() ? "" : ", ").append(last);
        last = info.name;
        break;
      }
  if (last)
    text.append(text.empty() ? "" : " " + word + " ").append(last);
  return text;
}

// Calls f(std::type_identity<T>()), where T is the C++ type of `dtype`. `dtype` must be an enumerator.
//   dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) { return sizeof(T); })
template <typename F> constexpr decltype(auto) dispatch(DType dtype, F &&f) {
  switch (dtype) {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...)                                                                     \
  case DType::Name:                                                                                                    \
    return f(std::type_identity<Type>());
    CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
  }
  __builtin_unreachable();
}

namespace detail {
template <typename T> struct DTypeOf {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...) " " name
  static_assert(sizeof(T) == 0,
                "Calque has no tensors of this element type; it has" CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE));
#undef CALQUE_ELEMENT_TYPE
  static constexpr DType value = DType(); // so that the compiler prints no other error
};
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...)                                                                     \
  template <> struct DTypeOf<Type> {                                                                                   \
    static constexpr DType value = DType::Name;                                                                        \
  };
CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
} // namespace detail

// The element type of a C++ type: dtype_of<float> is DType::Float32.
template <typename T> inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

} // namespace calque
#endif
