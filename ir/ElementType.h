// What an element type is to passes and to code generation. Nothing else asks how wide a type is, or lists types: what
// is here follows from the table of schema/include/calque/dtype.h, and for types that code alone has, such as indices
// and bits of numbers, from the type.
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

// The MLIR type of elements, and back: nothing for a type that the schema does not have.
mlir::Type toMlir(DType dtype, mlir::MLIRContext *context);
std::optional<DType> toDType(mlir::Type type);

class ElementType {
public:
  explicit ElementType(mlir::Type type);
  explicit ElementType(mlir::Value value) : ElementType(value.getType()) {}

  mlir::Type type() const { return element; }
  bool isBool() const { return kind == DTypeKind::Bool; }
  bool isInteger() const { return kind == DTypeKind::Integer; }
  bool isFloat() const { return kind == DTypeKind::Float; }

  // What an element takes in memory. A bool takes a byte.
  int64_t bytes() const { return inMemory; }
  // The bits of the value that arithmetic is done on: 1 of a bool.
  unsigned bits() const { return ofValue; }
  // The significant bits: all integers of so many bits are elements, those of a signed integer type with its sign.
  unsigned digits() const;

  // The type in which sums and products along an axis are carried on.
  mlir::Type accumulator() const;
  // The integer type of the value's bits, and the float type of an integer's.
  mlir::IntegerType asBits() const;
  mlir::FloatType asFloat() const;
  // The least and the largest element: infinities of floats.
  mlir::TypedAttr extreme(bool isLeast) const;

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
