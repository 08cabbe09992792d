// The interfaces of the dialect's operations. Passes know operations by these alone.
#ifndef CALQUE_IR_INTERFACES_TD
#define CALQUE_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Calque_SchemaOpInterface : OpInterface<"SchemaOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation made from a record: its identity in the schema and its rules for transformations.";
  let methods = [
    StaticInterfaceMethod<"The operation's identity in the schema.", "::calque::schema::OpId", "schemaId">,
    InterfaceMethod<[{
      Emits the cotangents of the operands from those of the results. At least one result has a cotangent; the others are
      null. Operands without a cotangent get null. Only `needed` operands' cotangents are used.
    }], "void", "buildVjp", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "const ::llvm::SmallBitVector &":$needed, "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>,
    InterfaceMethod<[{
      Emits the tangents of the results from those of the operands. At least one operand has a tangent; the others are null.
      Results without a tangent get null.
    }], "void", "buildJvp", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$tangents,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$resultTangents)>,
    InterfaceMethod<[{
      Emits the operation on stacked operands, which have the mapped axis as axis 0, and so do the results. Fails after a
      diagnostic where that is not possible.
    }], "::llvm::LogicalResult", "buildBatched", (ins "::calque::ir::BatchRule &":$rule,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
    InterfaceMethod<[{
      Emits the operation on the parts of complex numbers. The results are those of the operation in order: two for a
      complex one, the real part first, and one for another. Fails after a diagnostic if it takes no complex numbers.
    }], "::llvm::LogicalResult", "buildParts", (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::calque::ir::Parts>":$operands, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def Calque_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation whose result at an index depends on its operands at that index, after broadcasting.";
  let methods = [
    InterfaceMethod<"Builds the operation's meaning on one element.", "::mlir::Value", "buildScalar",
      (ins "::calque::ir::ScalarBuilder &":$builder, "::mlir::ValueRange":$elements)>,
    StaticInterfaceMethod<"What holds of the operation exactly.", "const ::calque::ir::Algebra &", "algebra">
  ];
}

def Calque_LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation that a kernel of runtime/libraries/ computes.";
  let methods = [
    StaticInterfaceMethod<"What the kernel takes and gives.", "const ::calque::ir::LibraryKernel &", "libraryKernel">,
    InterfaceMethod<"The attribute `axis`, for an operation that has one.", "::std::optional<int64_t>", "libraryAxis">,
    InterfaceMethod<"The other attributes in their order, as words of the kernel.", "::llvm::SmallVector<int64_t>", "libraryWords">
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

def Calque_KeepingOpInterface : OpInterface<"KeepingOpInterface"> {
  let cppNamespace = "::calque::ir";
  let description = "An operation whose reverse takes values that are there only while it runs.";
  let methods = [
    InterfaceMethod<[{
      Emits the operation anew, with more results: those that its buildVjp takes these values from. The first results are
      those of this operation, which nothing is to use any more. buildVjp is called on the new one next.
    }], "::mlir::Operation *", "keepForReverse", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif
