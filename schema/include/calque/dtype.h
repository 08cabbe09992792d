// Element types, which all parts of Calque and its users share.
#ifndef CALQUE_DTYPE_H
#define CALQUE_DTYPE_H

#include "calque/complex.h"
#include "calque/half.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace calque {

// The table of element types. Everything that Calque knows of an element type is here, or follows from this. A line has
// the enumerator, the name as NumPy spells it, the C++ type, the kind, the type in which sums along an axis are
// accumulated (of integers it is the sum's own type), and the names in files: of NumPy's arrays, of safetensors, and of
// C headers. A bool takes one byte, which is 0 or 1. Files have the numbers of the enumerators: new lines go to the
// end.
#define CALQUE_ELEMENT_TYPES(X)                                                                                        \
  X(Bool, "bool", bool, Bool, Bool, "|b1", "BOOL", "uint8_t")                                                          \
  X(Int32, "int32", std::int32_t, Integer, Int32, "<i4", "I32", "int32_t")                                             \
  X(Int64, "int64", std::int64_t, Integer, Int64, "<i8", "I64", "int64_t")                                             \
  X(Float32, "float32", float, Float, Float64, "<f4", "F32", "float")                                                  \
  X(Float64, "float64", double, Float, Float64, "<f8", "F64", "double")                                                \
  X(Int8, "int8", std::int8_t, Integer, Int64, "|i1", "I8", "int8_t")                                                  \
  X(Int16, "int16", std::int16_t, Integer, Int64, "<i2", "I16", "int16_t")                                             \
  X(UInt8, "uint8", std::uint8_t, Integer, UInt64, "|u1", "U8", "uint8_t")                                             \
  X(UInt16, "uint16", std::uint16_t, Integer, UInt64, "<u2", "U16", "uint16_t")                                        \
  X(UInt32, "uint32", std::uint32_t, Integer, UInt32, "<u4", "U32", "uint32_t")                                        \
  X(UInt64, "uint64", std::uint64_t, Integer, UInt64, "<u8", "U64", "uint64_t")                                        \
  X(Float16, "float16", float16, Float, Float32, "<f2", "F16", "uint16_t")                                             \
  X(BFloat16, "bfloat16", bfloat16, Float, Float32, "<V2", "BF16", "uint16_t")                                         \
  X(Complex64, "complex64", complex64, Complex, Complex128, "<c8", "C64", "calque_complex64")                          \
  X(Complex128, "complex128", complex128, Complex, Complex128, "<c16", "C128", "calque_complex128")

// The element type of a tensor.
enum class DType : std::int32_t {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...) Name,
  CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
};

enum class DTypeKind : std::uint8_t { Bool, Integer, Float, Complex };

// A line of the table.
struct DTypeInfo {
  DType dtype;
  const char *name;
  std::size_t size; // of an element, in bytes
  DTypeKind kind;
  bool is_unsigned;        // an integer type without negative numbers
  DType accumulator;       // float64 for float32, because rounding errors accumulate along the axis; int64 for int8
  const char *npy;         // "<f4"
  const char *safetensors; // "F32"
  const char *in_c;        // the C type of an element
};
inline constexpr DTypeInfo kDTypes[] = {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, kind, accumulator, npy, safetensors, inC)                                \
  {DType::Name,                                                                                                        \
   name,                                                                                                               \
   sizeof(Type),                                                                                                       \
   DTypeKind::kind,                                                                                                    \
   DTypeKind::kind == DTypeKind::Integer && std::is_unsigned_v<Type>,                                                  \
   DType::accumulator,                                                                                                 \
   npy,                                                                                                                \
   safetensors,                                                                                                        \
   inC},
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
  constexpr const char *names[] = {"bool", "integer", "float", "complex"};
  return os << (static_cast<std::size_t>(kind) < std::size(names) ? names[static_cast<std::size_t>(kind)] : "unknown");
}
constexpr bool is_kind(DType dtype, DTypeKind kind) {
  return is_dtype(dtype) && kDTypes[static_cast<std::size_t>(dtype)].kind == kind;
}
constexpr bool is_floating(DType dtype) { return is_kind(dtype, DTypeKind::Float); }
constexpr bool is_complex(DType dtype) { return is_kind(dtype, DTypeKind::Complex); }
// Whether the type has derivatives: floating-point numbers, real or complex.
constexpr bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
constexpr bool is_integer(DType dtype) { return is_kind(dtype, DTypeKind::Integer); }
constexpr bool is_unsigned(DType dtype) {
  return is_dtype(dtype) && kDTypes[static_cast<std::size_t>(dtype)].is_unsigned;
}
// Whether the type is a floating-point type that is stored alone: each operation computes in float32, and rounds its
// result to the type.
constexpr bool is_half(DType dtype) { return is_floating(dtype) && size_of(dtype) == 2; }

// The type of the real and the imaginary part of a complex type; another type itself.
constexpr DType real_of(DType dtype) {
  return dtype == DType::Complex64 ? DType::Float32 : dtype == DType::Complex128 ? DType::Float64 : dtype;
}

// The smallest type that holds all elements of both, as NumPy's promote_types has it: float32 of int16 and float16,
// float64 of int64 and float32, int16 of int8 and uint8, complex128 of complex64 and float64. NumPy has no bfloat16:
// float32 of it and float16, and with an integer type the one that float16 gives, but bfloat16 with int8 and uint8.
// Both must be enumerators.
constexpr DType promote(DType a, DType b);

// What tensors of these kinds hold, for messages: "integers", "numbers".
constexpr const char *names_of(std::initializer_list<DTypeKind> kinds) {
  unsigned has = 0;
  for (DTypeKind kind : kinds)
    has |= 1U << static_cast<unsigned>(kind);
  constexpr const char *names[] = {"nothing",
                                   "truth values",
                                   "integers",
                                   "truth values and integers",
                                   "floating-point numbers",
                                   "truth values and floating-point numbers",
                                   "numbers",
                                   "truth values and numbers",
                                   "complex numbers",
                                   "truth values and complex numbers",
                                   "integers and complex numbers",
                                   "truth values, integers and complex numbers",
                                   "floating-point and complex numbers",
                                   "truth values, floating-point and complex numbers",
                                   "real and complex numbers",
                                   "truth values, real and complex numbers"};
  return names[has];
}

namespace detail {
// The integer or floating-point type of so many bytes.
constexpr DType typeOf(DTypeKind kind, bool isUnsigned, std::size_t bytes) {
  for (const DTypeInfo &info : kDTypes)
    if (info.kind == kind && info.is_unsigned == isUnsigned && info.size == bytes)
      return info.dtype;
  return DType::Float64;
}
} // namespace detail

constexpr DType promote(DType a, DType b) {
  if (a == b)
    return a;
  if (is_complex(a) || is_complex(b)) // as of the parts, which are at least float32
    return promote(promote(real_of(a), real_of(b)), DType::Float32) == DType::Float32 ? DType::Complex64
                                                                                      : DType::Complex128;
  const DTypeInfo &x = info_of(a), &y = info_of(b);
  if (x.kind == DTypeKind::Bool || y.kind == DTypeKind::Bool)
    return x.kind == DTypeKind::Bool ? b : a;
  if (x.kind == y.kind && x.is_unsigned == y.is_unsigned) // of the two with two bytes, neither holds the other
    return x.size == y.size ? DType::Float32 : x.size < y.size ? b : a;
  if (x.kind == y.kind) { // one is signed and the other is not: a signed type holds both if it is wider than the latter
    const std::size_t ofSigned = x.is_unsigned ? y.size : x.size, ofUnsigned = x.is_unsigned ? x.size : y.size;
    const std::size_t bytes = ofSigned > ofUnsigned ? ofSigned : 2 * ofUnsigned;
    return bytes > 8 ? DType::Float64 : detail::typeOf(DTypeKind::Integer, false, bytes);
  }
  const DTypeInfo &floating = x.kind == DTypeKind::Float ? x : y, &integer = x.kind == DTypeKind::Float ? y : x;
  // A floating-point type of twice the integer's bytes holds its elements; there is none beyond float64.
  const std::size_t bytes = integer.size >= 4 ? 8 : 2 * integer.size;
  return bytes <= floating.size ? floating.dtype : bytes == 4 ? DType::Float32 : DType::Float64;
}

// Calls f(std::type_identity<T>()), where T is the C++ type of `dtype`. `dtype` must be an enumerator.
//   dispatch_all(x.dtype(), [&]<typename T>(std::type_identity<T>) { return sizeof(T); })
template <typename F> constexpr decltype(auto) dispatch_all(DType dtype, F &&f) {
  switch (dtype) {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...)                                                                     \
  case DType::Name:                                                                                                    \
    return f(std::type_identity<Type>());
    CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
  }
  __builtin_unreachable();
}
// The same for real numbers and truth values, on which C++ can do arithmetic. std::invalid_argument for a complex type.
//   dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) { return double(x.item<T>()); })
template <typename F> constexpr decltype(auto) dispatch(DType dtype, F &&f) {
  switch (dtype) {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...)                                                                     \
  case DType::Name:                                                                                                    \
    if constexpr (!detail::kIsComplex<Type>)                                                                           \
      return f(std::type_identity<Type>());                                                                            \
    else                                                                                                               \
      break;
    CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
  }
#ifdef __cpp_exceptions
  throw std::invalid_argument("dispatch: complex numbers are none of the types; dispatch_all has them");
#else
  __builtin_trap();
#endif
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
// std::complex
template <ComplexOf<float> T>
  requires(!std::is_same_v<T, complex64>)
struct DTypeOf<T> : DTypeOf<complex64> {};
template <ComplexOf<double> T>
  requires(!std::is_same_v<T, complex128>)
struct DTypeOf<T> : DTypeOf<complex128> {};
} // namespace detail

// The element type of a C++ type: dtype_of<float> is DType::Float32.
template <typename T> inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

} // namespace calque
#endif
