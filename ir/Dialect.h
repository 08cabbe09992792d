// The Calque dialect: operations on ranked tensors, each made from a record of ir/*.td.
#ifndef CALQUE_IR_DIALECT_H
#define CALQUE_IR_DIALECT_H

#include "ir/LibraryKernel.h"
#include "ir/Numbers.h"
#include "ir/Types.h"
#include "schema/Schema.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

namespace calque::ir {
class BatchRule;
class ScalarBuilder;
struct Algebra;
struct Parts;

// The numbers of examples whose slices a gather's operand joins, the outermost vmap's first. An error needs them to
// name the index and the size that the user wrote.
inline constexpr llvm::StringLiteral kExamplesAttr = "calque.examples";

// See Calque_Costly.
template <typename Op> class Costly : public mlir::OpTrait::TraitBase<Op, Costly> {};

// See Calque_MayFail.
template <typename Op> class MayFail : public mlir::OpTrait::TraitBase<Op, MayFail> {};
template <typename Op> class MayFailOnIntegers : public mlir::OpTrait::TraitBase<Op, MayFailOnIntegers> {};

// See Calque_Computes and Calque_Accumulates.
template <typename Op> class Computes : public mlir::OpTrait::TraitBase<Op, Computes> {};
template <typename Op> class Accumulates : public mlir::OpTrait::TraitBase<Op, Accumulates> {};

} // namespace calque::ir

#include "ir/Dialect.h.inc"
#include "ir/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/Operations.h.inc"

#endif
