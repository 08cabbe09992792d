// The public functions with their documentation, the reference page, and the test data of elementwise operations.
#include "Record.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace calque::tblgen;

namespace {

// A default value of ODS as public headers write it: `std::string("valid")` and `{1, 1}` are what C++ reads anyway.
std::string parameters(const OperationRecord &op, bool defaults) {
  std::string text;
  auto add = [&](std::string parameter) { text += (text.empty() ? "" : ", ") + parameter; };
  for (int i = 0; i < op.op().getNumOperands(); ++i)
    add((op.variadic() ? "const std::vector<Tensor> &" : "const Operand &") + op.operandName(i));
  for (const AttributeRecord &attribute : op.attributes())
    add(attribute.cppType + " " + attribute.name + (defaults && !attribute.defaultValue.empty() ? " = " + attribute.defaultValue : ""));
  if (op.variadic() || op.op().getNumOperands() == 0)
    add(std::string("SourceLocation where") + (defaults ? " = SourceLocation::current()" : ""));
  return text;
}

void emitDeclarations(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Public functions", os);
  for (const OperationRecord &op : collectOperations(records)) {
    if (op.function().empty())
      continue;
    os << "// " << op.summary() << ".\n";
    if (!op.description().empty())
      os << "// " << op.description() << "\n";
    os << "CALQUE_API Tensor " << op.function() << "(" << parameters(op, true) << ");\n";
    if (!op.spelling().empty())
      os << "inline Tensor operator" << op.spelling() << "(" << parameters(op, false) << ") { return " << op.function() << "("
         << (op.numOperands() == 1 ? op.operandName(0) : op.operandName(0) + ", " + op.operandName(1)) << "); }\n";
    os << "\n";
  }
}

void emitDefinitions(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Public functions", os);
  for (const OperationRecord &op : collectOperations(records)) {
    if (op.function().empty())
      continue;
    os << "Tensor " << op.function() << "(" << parameters(op, false) << ") {\n  return detail::applyPublic(schema::OpId::" << op.idName() << ", ";
    if (op.variadic()) {
      os << op.operandName(0);
    } else {
      os << "{";
      for (int i = 0; i < op.op().getNumOperands(); ++i)
        os << (i ? ", " : "") << "&" << op.operandName(i);
      os << "}";
    }
    os << ", {";
    for (size_t i = 0; i < op.attributes().size(); ++i)
      os << (i ? ", " : "") << "schema::Attribute(std::move(" << op.attributes()[i].name << "))";
    os << "}" << (op.variadic() || op.op().getNumOperands() == 0 ? ", where" : "") << ");\n}\n";
  }
}

void emitReference(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  os << "# Operations\n\nMade from the records in `ir/`. Every function takes tensors, variables and C++ numbers, which adopt the "
        "tensors' type.\n";
  for (const OperationRecord &op : collectOperations(records)) {
    if (op.function().empty())
      continue;
    os << "\n## " << op.function() << "\n\n    Tensor " << op.function() << "(" << parameters(op, true) << ")\n\n" << op.summary() << ".\n";
    if (!op.description().empty())
      os << op.description() << "\n";
    if (op.notDifferentiable())
      os << "No gradient passes.\n";
  }
}

void emitTestData(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Test data of elementwise operations", os);
  for (const OperationRecord &op : collectOperations(records)) {
    if (!op.elementwise() || !op.attributes().empty())
      continue;
    std::vector<llvm::StringRef> domain = op.record().getValueAsListOfStrings("domain");
    os << "{schema::OpId::" << op.idName() << ", " << domain[0] << ", " << domain[1] << ", {";
    for (llvm::StringRef kink : op.record().getValueAsListOfStrings("kinks"))
      os << kink << ", ";
    os << "}, reference::wrap(reference::" << op.record().getValueAsString("reference") << "_)},\n";
  }
}

llvm::TableGen::Emitter::Opt declarations("gen-function-decls", emitDeclarations, "Public functions");
llvm::TableGen::Emitter::Opt definitions("gen-function-defs", emitDefinitions, "Public functions");
llvm::TableGen::Emitter::Opt reference("gen-reference", emitReference, "The reference page");
llvm::TableGen::Emitter::Opt testData("gen-test-data", emitTestData, "Test data of elementwise operations");

} // namespace
