// A record as the generators see it, checked: exactly one gradient rule, a type rule, a scalar meaning where
// elementwise.
#ifndef CALQUE_TOOLS_TBLGEN_RECORD_H
#define CALQUE_TOOLS_TBLGEN_RECORD_H

#include "mlir/TableGen/Operator.h"
#include "llvm/TableGen/Record.h"

#include <string>
#include <vector>

namespace calque::tblgen {

struct AttributeRecord {
  std::string name;         // "keepdims"
  std::string kind;         // an AttributeKind: "Bool"
  std::string cppType;      // in public functions: "bool"
  std::string defaultValue; // C++; empty when there is none
};

class OperationRecord {
public:
  explicit OperationRecord(const llvm::Record &record);

  const llvm::Record &record() const { return record_; }
  const mlir::tblgen::Operator &op() const { return op_; }
  std::string className() const { return op_.getCppClassName().str(); }
  // The name in OpId: "Add" of Calque_AddOp.
  std::string idName() const { return llvm::StringRef(className()).drop_back(2).str(); }
  std::string mnemonic() const { return record_.getValueAsString("opName").str(); }
  std::string rule() const { return record_.getValueAsString("rule").str(); }
  std::string moves() const { return record_.getValueAsString("moves").str(); }
  std::string indexed() const { return record_.getValueAsString("indexed").str(); }
  std::string function() const { return record_.getValueAsString("function").str(); }
  std::string open() const { return record_.getValueAsString("open").str(); }
  std::string inMessages() const {
    llvm::StringRef text = record_.getValueAsString("inMessages");
    return text.empty() ? function() : text.str();
  }
  std::string spelling() const { return record_.getValueAsString("spelling").str(); }
  std::string summary() const { return record_.getValueAsString("summary").str(); }
  std::string description() const { return record_.getValueAsString("description").str(); }
  bool elementwise() const { return record_.isSubClassOf("Calque_ElementwiseOp"); }
  // Whether a function of codegen/ lowers it.
  bool lowered() const { return !elementwise() && !library() && !expands() && removedBy().empty(); }
  // Whether a kernel of runtime/libraries/ computes it, and which sizes are the kernel's: of each operand and each
  // result, the numbers of the last dimensions' names. A size of a result may have two, and is the smaller one.
  bool library() const { return record_.isSubClassOf("Calque_LibraryOp"); }
  std::string kernel() const { return record_.getValueAsString("kernel").str(); }
  std::vector<llvm::StringRef> failsAt() const { return record_.getValueAsListOfStrings("failsAt"); }
  using Dimensions = std::vector<std::vector<std::vector<unsigned>>>;
  std::pair<Dimensions, Dimensions> signature() const;
  bool expands() const { return record_.getValueAsBit("expands"); }
  llvm::StringRef removedBy() const { return record_.getValueAsString("removedBy"); }
  // But for what is in its regions.
  bool pure() const { return record_.isSubClassOf("Calque_PureOp") || record_.isSubClassOf("Calque_RegionOp"); }
  bool notDifferentiable() const { return record_.getValueAsBit("notDifferentiable"); }
  bool customVjp() const { return record_.getValueAsBit("customVjp"); }
  bool customJvp() const { return record_.getValueAsBit("customJvp"); }
  // What becomes of it on complex numbers.
  bool eachPart() const { return record_.getValueAsBit("eachPart"); }
  bool customComplex() const { return record_.getValueAsBit("customComplex"); }
  bool complexAlone() const { return record_.getValueAsBit("complexAlone"); }
  bool complexByPass() const { return record_.getValueAsBit("complexByPass"); }
  bool takesComplex() const {
    return eachPart() || customComplex() || complexByPass() || !dags("complexParts").empty();
  }
  // Names of operands: of `linear` or `multilinear`.
  std::vector<llvm::StringRef> names(llvm::StringRef field) const { return record_.getValueAsListOfStrings(field); }
  bool differentiates() const { return record_.getValueAsBit("differentiates"); }
  bool counted() const { return record_.getValueAsBit("gradientPassesToCounted"); }
  bool perAxis() const { return record_.getValueAsBit("gradientPassesToAxes"); }
  bool lacksGradient() const { return record_.getValueAsBit("lacksGradient"); }
  bool batchSame() const { return record_.getValueAsBit("batchSame"); }
  bool batchUnrolled() const { return record_.getValueAsBit("batchUnrolled"); }
  bool batchAxis() const { return record_.getValueAsBit("batchAxis"); }
  const AttributeRecord *attribute(llvm::StringRef name) const;
  std::vector<const llvm::DagInit *> dags(llvm::StringRef field) const;
  const llvm::DagInit *scalar() const { return record_.getValueAsDag("scalar"); }
  const std::vector<AttributeRecord> &attributes() const { return attributes_; }
  // -1 when one operand is variadic.
  int numOperands() const;
  // The number of operands that are not variadic.
  int fewestOperands() const;
  bool maySave() const { return !record_.getValueAsBit("notSaved"); }
  // Whether the number of results follows from operands and attributes.
  bool severalResults() const { return op_.getNumVariableLengthResults() != 0; }
  // The operands that are indices or conditions, as bits.
  unsigned selecting() const { return operandsOf("Calque_SelectingTensor"); }
  // The operands of which nothing but the type and the sizes are used, as bits.
  unsigned givingSizes() const { return operandsOf("Calque_SizesTensor"); }
  // The operands of a constraint, as bits.
  unsigned operandsOf(llvm::StringRef constraint) const;
  bool variadic() const { return numOperands() < 0; }
  std::string operandName(int i) const { return op_.getOperand(i).name.str(); }
  // For each operand, whose elements the derivative with respect to it takes: a bit for each operand, and the highest
  // for the result. One word stands for all operands; no word means that it may take all.
  std::vector<std::uint32_t> gradientTakes() const;
  // The operands whose cotangent has the elements of the result's, unless they were broadcast.
  std::uint32_t passesCotangent() const;
  // The operands to which a cotangent may pass: a bit for each, the highest for all from the 32nd on.
  std::uint32_t receivesCotangent() const;
  // The operand of that name, or -1.
  int operandIndex(llvm::StringRef name) const;

private:
  const llvm::Record &record_;
  mlir::tblgen::Operator op_;
  std::vector<AttributeRecord> attributes_;
};

// All operations, in the order of their definition.
// The operation that takes sizes from tensors, for one that has such a form.
const OperationRecord &openOf(const OperationRecord &op, llvm::ArrayRef<OperationRecord> operations);

std::vector<OperationRecord> collectOperations(const llvm::RecordKeeper &records);

} // namespace calque::tblgen
#endif
