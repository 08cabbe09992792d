// The properties of element types that passes and code generation use. No other code asks how wide a type is, or lists
// types. The properties follow from the table of schema/include/calque/dtype.h. For types that only code has, such as
// indices and the bits of numbers, they follow from the MLIR type.
//
//   ElementType element(value); // of a tensor, a buffer, a vector or a scalar
//   element.bytes()             // 4 of f32, 1 of i1
//   element.accumulator()       // f64 of f32
#ifndef CALQUE_IR_ELEMENTTYPE_H
#define CALQUE_IR_ELEMENTTYPE_H

#include "calque/dtype.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace calque::ir {

// Conversions to the MLIR type of elements, and back: std::nullopt for a type that the schema does not have.
mlir::Type toMlir(DType dtype, mlir::MLIRContext *context);
std::optional<DType> toDType(mlir::Type type);

class ElementType {
public:
  explicit ElementType(mlir::Type type);
  explicit ElementType(mlir::Value value) : ElementType(value.getType()) {}

  mlir::Type type() const { return element; }
  bool isBool() const { return kind == DTypeKind::Bool; }
  bool isInteger() const { return kind == DTypeKind::Integer; }
  // By the type alone: see ir/Signs.h for code in which types say nothing of signs.
  bool isUnsigned() const { return element.isUnsignedInteger(); }
  // Whether it is only stored, and computed with as float32.
  bool isHalf() const { return isFloat() && ofValue == 16; }
  bool isFloat() const { return kind == DTypeKind::Float; }

  // The bytes of an element in memory. A bool takes one.
  int64_t bytes() const { return inMemory; }
  // The bits of the value on which arithmetic is done: 1 for a bool.
  unsigned bits() const { return ofValue; }
  // The number of significant bits: those of a float's significand, or all bits of an integer, including the sign. A
  // type with more of them holds all elements of one of the same kind exactly.
  unsigned digits() const;

  // The type in which sums and products along an axis are accumulated.
  mlir::Type accumulator() const;
  // The integer type with as many bits as the value, and the float type with as many bits as the integer.
  mlir::IntegerType asBits() const;
  mlir::FloatType asFloat() const;
  // The least or the largest element, of an integer type with or without a sign; infinities for floats.
  mlir::TypedAttr extreme(bool isLeast, bool isUnsigned) const;
  // Whether every element is one of the other type, exactly.
  bool isWithin(const ElementType &other) const;

  // How many elements a vector of so many bytes has.
  int64_t lanes(int64_t vectorBytes) const { return vectorBytes / inMemory; }

private:
  mlir::Type element;
  DTypeKind kind;
  int64_t inMemory;
  unsigned ofValue;
};

} // namespace calque::ir
#endif
