// Conversions between the schema's types and attributes and MLIR's.
#ifndef CALQUE_IR_CONVERSION_H
#define CALQUE_IR_CONVERSION_H

#include "ir/Dialect.h"
#include "ir/ElementType.h"

namespace calque::ir {

mlir::RankedTensorType toMlir(const schema::TensorType &type, mlir::MLIRContext *context);
mlir::Attribute toMlir(const schema::Attribute &attribute, mlir::MLIRContext *context);

// Each returns std::nullopt for a type that the schema does not have.
std::optional<schema::TensorType> toSchema(mlir::Type type);
// A constant loses its elements: type rules read only its type.
std::optional<schema::Attribute> toSchema(mlir::Attribute attribute, schema::AttributeKind kind);

// Infers the result types by the schema's type rule. The rule's message becomes the diagnostic.
llvm::LogicalResult inferFromSchema(schema::OpId op, mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::Attribute> attributes,
                                    mlir::RegionRange regions, llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace calque::ir
#endif
