// The only things that passes ask of an operation.
#ifndef CALQUE_IR_INTERFACES_TD
#define CALQUE_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Calque_SchemaOpInterface : OpInterface<"SchemaOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation made from a record: its identity in the schema and its rules for transformations.";
  let methods = [
    StaticInterfaceMethod<"The operation's identity in the schema.", "::calque::schema::OpId", "schemaId">,
    InterfaceMethod<[{
      Emits the cotangents of the operands from those of the results, null where nothing passes. A result without a
      cotangent is given as null; at least one is there. Only those of `needed` operands are used.
    }], "void", "buildVjp", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "const ::llvm::SmallBitVector &":$needed, "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>,
    InterfaceMethod<[{
      Emits the tangents of the results from those of the operands, null where nothing changes. An operand without a tangent is
      given as null; at least one is there.
    }], "void", "buildJvp", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$tangents,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$resultTangents)>,
    InterfaceMethod<[{
      Emits the results for all examples, which are stacked along axis 0. Fails, after a diagnostic, where there is no such
      program.
    }], "::llvm::LogicalResult", "buildBatched", (ins "::calque::ir::BatchRule &":$rule,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def Calque_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation whose result at an index depends on its operands at that index, after broadcasting.";
  let methods = [
    InterfaceMethod<"Builds the operation's meaning on one element.", "::mlir::Value", "buildScalar",
      (ins "::calque::ir::ScalarBuilder &":$builder, "::mlir::ValueRange":$elements)>
  ];
}

def Calque_CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation that stands for an expression of others, which replaces it after differentiation.";
  let methods = [
    InterfaceMethod<"Builds the expression.", "::llvm::SmallVector<::mlir::Value>", "expand",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif
