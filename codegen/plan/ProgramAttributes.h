// The attributes of a program's function, from the stage linalg on. Later passes and the caller need them, and the IR
// of each stage is complete with them.
//
//   calque.inputs           its number of parameters and variables; marks the program's function
//   calque.assigned         the inputs, variables, whose new values are its last results
//   calque.in_place         the entries of calque.assigned whose new values are written over the inputs
//   calque.unknown_inputs   input, dimension, ...: what its index arguments, which follow the inputs, are the sizes of
//   calque.unknown_outputs  output, dimension, ...
//   calque.equal_sizes      number, earlier number, ...: unknown sizes of inputs that equal others by the checks
//   calque.known_sizes      number, size, ...: those that equal a constant
//   calque.sites            what a failed check, a print or a host call says about itself
#ifndef CALQUE_CODEGEN_PLAN_PROGRAMATTRIBUTES_H
#define CALQUE_CODEGEN_PLAN_PROGRAMATTRIBUTES_H

#include "program/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

inline constexpr llvm::StringLiteral kInputsAttr = "calque.inputs", kUnknownInputsAttr = "calque.unknown_inputs",
                                     kUnknownOutputsAttr = "calque.unknown_outputs",
                                     kEqualSizesAttr = "calque.equal_sizes", kKnownSizesAttr = "calque.known_sizes",
                                     kSitesAttr = "calque.sites", kInPlaceAttr = "calque.in_place";

// The inputs and the unknown sizes of a program. Its arguments are the frame, the inputs, the unknown sizes of inputs,
// from bufferization on the outputs, and at last the workspace.
struct ProgramSizes {
  size_t numInputs = 0;
  std::vector<UnknownSize> inputs, outputs;
  // For each of `inputs`, the size that it equals by the checks: its own number or an earlier one, or a constant.
  struct SizeValue {
    size_t number;
    std::optional<int64_t> known;
  };
  std::vector<SizeValue> values;

  bool areKnown() const { return inputs.empty(); }
  unsigned firstSize() const { return 1 + static_cast<unsigned>(numInputs); } // the number of an argument
  unsigned firstOutput() const { return firstSize() + static_cast<unsigned>(inputs.size()); }
  // The size of an unknown dimension of an input, as a value of the function.
  mlir::Value sizeOf(mlir::func::FuncOp program, size_t input, size_t dimension, mlir::OpBuilder &builder) const;
};

struct Program {
  mlir::func::FuncOp function;
  ProgramSizes sizes;
};
// Emits an error for a module without a program, and for attributes that don't fit its function.
mlir::FailureOr<Program> programIn(mlir::ModuleOp module);

// Emits an error for an attribute, or a part of one, that is not what the function needs.
llvm::LogicalResult refuseAttribute(mlir::func::FuncOp function, llvm::StringRef name, mlir::Attribute attribute);

void setSizes(mlir::func::FuncOp program, const ProgramSizes &sizes);

mlir::Attribute toAttribute(const Site &site, mlir::MLIRContext *context);
// A kind of sites by its name in IR (program/SiteKinds.def).
std::optional<Site::Kind> siteKindNamed(llvm::StringRef name);
void setSites(mlir::func::FuncOp program, llvm::ArrayRef<mlir::Attribute> sites);
// As attributes, in the order of their numbers. Emits an error where there is no list of them.
mlir::FailureOr<llvm::ArrayRef<mlir::Attribute>> sitesOf(mlir::func::FuncOp program);

// The interface of a program at Stage::Outlined, for its caller.
mlir::FailureOr<ProgramInterface> interfaceOf(const Program &program);

} // namespace calque::codegen
#endif
