// The public functions with their documentation, the reference page, and the test data of elementwise operations.
#include "Record.h"
#include "calque/dtype.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace calque::tblgen;

namespace {

// What a type rule says of its types, with their names for the classes of types that it mentions.
std::string withTypeNames(std::string text) {
  using calque::DTypeKind;
  using calque::names_of;
  const std::pair<llvm::StringRef, std::string> classes[] = {
      {"{numbers}", names_of({DTypeKind::Integer, DTypeKind::Float})},
      {"{a number}", names_of({DTypeKind::Integer, DTypeKind::Float})},
      {"{floats}", names_of({DTypeKind::Float})},
      {"{an integer}", names_of({DTypeKind::Integer})},
      {"{integers}", names_of({DTypeKind::Integer})},
  };
  for (const auto &[word, names] : classes)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), names);
  return text;
}

const char *resultType(const OperationRecord &op) { return op.severalResults() ? "std::vector<Tensor>" : "Tensor"; }

// A default value of ODS as public headers write it: `std::string("valid")` and `{1, 1}` are what C++ reads anyway.
std::string parameters(const OperationRecord &op, bool defaults) {
  std::string text;
  auto add = [&](std::string parameter) { text += (text.empty() ? "" : ", ") + parameter; };
  for (int i = 0; i < op.op().getNumOperands(); ++i)
    add((op.variadic() ? "const std::vector<Tensor> &" : "const Operand &") + op.operandName(i));
  for (const AttributeRecord &attribute : op.attributes())
    add(attribute.cppType + (attribute.cppType.ends_with('&') ? "" : " ") + attribute.name +
        (defaults && !attribute.defaultValue.empty() ? " = " + attribute.defaultValue : ""));
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
    os << "CALQUE_API " << resultType(op) << " " << op.function() << "(" << parameters(op, true) << ");\n";
    if (!op.spelling().empty())
      os << "inline Tensor operator" << op.spelling() << "(" << parameters(op, false) << ") { return " << op.function()
         << "(" << (op.numOperands() == 1 ? op.operandName(0) : op.operandName(0) + ", " + op.operandName(1))
         << "); }\n";
    os << "\n";
  }
}

void emitDefinitions(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Public functions", os);
  const std::vector<OperationRecord> operations = collectOperations(records);
  for (const OperationRecord &op : operations) {
    if (op.function().empty())
      continue;
    bool givesLine = op.variadic() || op.op().getNumOperands() == 0;
    std::string operands, attributes, others, line = givesLine ? "where" : op.operandName(0) + ".where()";
    for (int i = 0; i < op.op().getNumOperands(); ++i)
      operands += (i ? ", &" : "&") + op.operandName(i);
    operands = op.variadic() ? op.operandName(0) : "{" + operands + "}";
    for (const AttributeRecord &attribute : op.attributes()) {
      std::string value = attribute.kind == "Number"
                              ? "detail::numberFor(" + op.operandName(0) + ", " + attribute.name + ")"
                          : attribute.cppType == "AxisList" ? attribute.name + ".numbers()"
                                                            : "std::move(" + attribute.name + ")";
      bool isOpen = !op.open().empty() && &attribute == &op.attributes()[0];
      if (isOpen)
        value = attribute.kind == "Ints" ? "detail::knownDims(" + attribute.name + ", " + line + ")"
                                         : "std::int64_t(" + attribute.name + ")";
      attributes += (attributes.empty() ? "" : ", ") + ("schema::Attribute(" + value + ")");
      if (!isOpen)
        others += (others.empty() ? "" : ", ") + ("schema::Attribute(" + value + ")");
    }
    os << resultType(op) << " " << op.function() << "(" << parameters(op, false) << ") {\n";
    if (!op.open().empty()) {
      const std::string &sizes = op.attributes()[0].name;
      os << "  if (!" << sizes
         << ".is_known())\n    return detail::applyPublicOpen(schema::OpId::" << openOf(op, operations).idName() << ", "
         << operands << ", Shape{" << sizes << "}, {" << others << "}, " << line << ");\n";
    }
    os << "  return detail::applyPublic" << (op.severalResults() ? "All" : "") << "(schema::OpId::" << op.idName()
       << ", " << operands << ", {" << attributes << "}" << (givesLine ? ", where" : "") << ");\n}\n";
  }
}

// The operands to which gradients pass, where that is not all of them.
std::string gradientOf(const OperationRecord &op) {
  if (op.notDifferentiable())
    return "none passes";
  std::vector<const llvm::DagInit *> dags = op.dags(op.dags("partials").empty() ? "vjp" : "partials");
  std::string names;
  bool all = true;
  for (size_t i = 0; i < dags.size(); ++i) {
    bool passes = llvm::cast<llvm::DefInit>(dags[i]->getOperator())->getDef()->getName() != "NoGradient";
    all &= passes;
    if (passes)
      names += (names.empty() ? "to " : " and ") + op.operandName(i);
  }
  return all ? "yes" : names;
}

// The shape of an elementwise operation's result.
std::string elementwiseShape(const OperationRecord &op) {
  return op.numOperands() == 1 ? op.operandName(0) + "'s" : "that to which the operands broadcast, as in NumPy";
}

void emitReference(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  std::vector<OperationRecord> operations;
  for (const OperationRecord &op : collectOperations(records))
    if (!op.function().empty())
      operations.push_back(op);
  os << "# Operations\n\n"
        "This page is made from the records in `ir/`; `cmake --build build/release --target update-reference` makes it "
        "anew.\n\n"
        "An operand is a tensor, a variable, which stands for its value, or a C++ number, which adopts the tensors' "
        "type;\n"
        "one that is an index or a condition keeps its own, int64 for integers. A\n"
        "variable also goes where a tensor is taken. All errors are subclasses of\n"
        "`calque::Error` and name the user's line, but for `std::bad_alloc` where memory is missing. Besides these "
        "functions there are `matmul`,\n"
        "`einsum`, `size`, `histogram`, `stack`, `unstack`, `squeeze`, `tile`, `clip`, `sort`, `top_k`, `scatter_set`, "
        "`scatter_add`, "
        "`scatter_max`,\n"
        "`conv`, `conv2d`, `depthwise_conv2d`, `conv_transpose`, `reduce_window`, `max_pool`, `average_pool`, "
        "`max_pool2d`\nin `frontend/include/calque/functions.h`, `assert_true` and others in "
        "`frontend/include/calque/assertions.h`, `print` in "
        "`frontend/include/calque/print.h`, and `tensor`,\n"
        "`scalar`, `full`, `zeros`, `ones` and `eye` in `frontend/include/calque/tensor.h`.\n\n";
  for (size_t i = 0; i < operations.size(); ++i)
    os << (i ? ",\n" : "") << "[`" << operations[i].function() << "`](#" << operations[i].function() << ")";
  os << "\n";
  for (const OperationRecord &op : operations) {
    const llvm::Record *rule = records.getDef("TypeRule_" + op.rule());
    if (!rule)
      llvm::PrintFatalError(op.record().getLoc(),
                            op.mnemonic() + ": its type rule is not described: ir/TypeRules.td has no TypeRule_" +
                                op.rule());
    if (rule->getValueAsString("types").empty() || (!op.elementwise() && rule->getValueAsString("shape").empty()))
      llvm::PrintFatalError(rule->getLoc(),
                            rule->getName() +
                                ": `types` and, unless it is of elementwise operations, `shape` must be described");
    os << "\n## " << op.function() << "\n\n    " << resultType(op) << " " << op.function() << "("
       << parameters(op, true) << ")\n";
    if (!op.spelling().empty())
      os << "    Tensor operator" << op.spelling() << "(" << parameters(op, true) << ")\n";
    os << "\n" << op.summary() << "." << (op.description().empty() ? "" : " ") << op.description() << "\n\n";
    os << "- Types: " << withTypeNames(rule->getValueAsString("types").str())
       << (op.takesComplex() && !op.complexAlone() ? "; [complex numbers](complex-numbers.md), too" : "") << ".\n"
       << (op.severalResults() ? "- Shape of each result: " : "- Shape of the result: ")
       << (op.elementwise() ? elementwiseShape(op) : rule->getValueAsString("shape").str()) << ".\n"
       << "- Gradient: " << gradientOf(op) << ".\n";
    std::string errors;
    auto error = [&](llvm::StringRef name, llvm::StringRef when) {
      if (!when.empty())
        errors += (errors.empty() ? "`" : "; `") + (name + "` " + when).str();
    };
    error("ShapeError", op.elementwise() && op.numOperands() > 1 ? "for shapes that do not broadcast"
                                                                 : rule->getValueAsString("shapeError"));
    std::string dtypeError = rule->getValueAsString("dtypeError").str();
    if (llvm::StringRef mixed = rule->getValueAsString("mixed"); op.numOperands() > 1 && !mixed.empty())
      dtypeError += (dtypeError.empty() ? "" : ", and ") + mixed.str();
    error("DTypeError", dtypeError);
    error("ValueError", rule->getValueAsString("valueError"));
    if (llvm::StringRef failure = op.record().getValueAsString("failure"); !failure.empty())
      errors += (errors.empty() ? "" : "; ") + ("at run time " + failure).str();
    os << "- Errors: " << (errors.empty() ? "none" : errors) << ".\n";
  }
}

void emitTestData(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Test data of public elementwise operations", os);
  for (const OperationRecord &op : collectOperations(records)) {
    if (!op.elementwise() || !op.attributes().empty() || op.function().empty())
      continue;
    std::vector<llvm::StringRef> domain = op.record().getValueAsListOfStrings("domain");
    os << "{schema::OpId::" << op.idName() << ", " << domain[0] << ", " << domain[1] << ", {";
    for (llvm::StringRef kink : op.record().getValueAsListOfStrings("kinks"))
      os << kink << ", ";
    llvm::StringRef name = op.record().getValueAsString("reference");
    // Some names are overloaded: round(x, decimals) is no operation of its own.
    std::string operands;
    for (int i = 0; i < op.numOperands(); ++i)
      operands += i ? ", const Operand &" : "const Operand &";
    os << "}, reference::wrap(reference::" << name << "_<Real>), reference::wrap(reference::" << name
       << "_<double>), wrap(static_cast<Tensor (*)(" << operands << ")>(::calque::" << op.function() << ")), "
       << op.record().getValueAsInt("ulp") << ", " << op.record().getValueAsString("digitsFrom") << ", "
       << op.record().getValueAsInt("orders") << ", "
       << (op.record().getValueAsBit("isReferenceSlow") ? "true" : "false") << "},\n";
  }
}

// How often the meaning on one element rounds, or -1 where a part of it is not correctly rounded.
int roundingsOf(const llvm::DagInit *scalar) {
  llvm::StringRef name = llvm::cast<llvm::DefInit>(scalar->getOperator())->getDef()->getName();
  bool rounds = llvm::is_contained({"S_add", "S_sub", "S_mul", "S_div", "S_sqrt", "S_mod"}, name);
  bool exact = llvm::is_contained(
      {"S_const",    "S_neg",        "S_abs",       "S_floor",      "S_ceil",       "S_round",    "S_fmod",
       "S_sign",     "S_maximum",    "S_minimum",   "S_equal",      "S_notEqual",   "S_less",     "S_lessEqual",
       "S_select",   "S_logicalAnd", "S_logicalOr", "S_logicalXor", "S_logicalNot", "S_castTo",   "S_trunc",
       "S_copySign", "S_bitNot",     "S_shiftLeft", "S_shiftRight", "S_countOnes",  "S_bitLength"},
      name);
  if (!rounds && !exact)
    return -1;
  int count = rounds;
  // A constant that float32 does not have is rounded, too.
  if (double value = 0; name == "S_const")
    if (const auto *text = llvm::dyn_cast<llvm::StringInit>(scalar->getArg(0));
        text && llvm::to_float(text->getValue(), value))
      count += static_cast<double>(static_cast<float>(value)) != value;
  for (const llvm::Init *argument : scalar->getArgs())
    if (auto *inner = llvm::dyn_cast<llvm::DagInit>(argument)) {
      int more = roundingsOf(inner);
      if (more < 0)
        return -1;
      count += more;
    }
  return count;
}

// All operations in order, for the fuzzer: the public function if there is one, and of elementwise ones without
// attributes how they round, where their arguments lie, by how much they may be off, and the reference.
void emitFuzzData(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("What the fuzzer knows of operations", os);
  for (const OperationRecord &op : collectOperations(records)) {
    os << "{schema::OpId::" << op.idName() << ", \"" << op.function() << "\"";
    if (op.elementwise() && op.attributes().empty()) {
      std::vector<llvm::StringRef> domain = op.record().getValueAsListOfStrings("domain");
      os << ", " << roundingsOf(op.scalar()) << ", " << domain[0] << ", " << domain[1] << ", "
         << op.record().getValueAsInt("ulp")
         << ", reference::wrap(reference::" << op.record().getValueAsString("reference") << "_<Real>), "
         << op.record().getValueAsString("digitsFrom") << ", " << op.record().getValueAsInt("orders");
    }
    os << "},\n";
  }
}

// The meaning on one element as the expression that `<calque/program.h>` gives.
std::string elementExpression(const OperationRecord &op, const llvm::DagInit *dag) {
  const llvm::Record *node = llvm::cast<llvm::DefInit>(dag->getOperator())->getDef();
  std::string name =
      node->getValueAsString(node->isSubClassOf("ScalarFunction") ? "functionName" : "builderMethod").str();
  std::string number = "0.0", inner;
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *argument = llvm::dyn_cast<llvm::DagInit>(dag->getArg(i)))
      inner += elementExpression(op, argument) + ", ";
    else if (const auto *text = llvm::dyn_cast<llvm::StringInit>(dag->getArg(i)))
      number = "double(" + text->getValue().str() + ")";
    else
      inner += "{{}, 0.0, " + std::to_string(op.operandIndex(dag->getArgNameStr(i))) + ", {}}, ";
  }
  return "{\"" + name + "\", " + number + ", 0, {" + inner + "}}";
}

// By operation id, for elementwise operations.
void emitElementExpressions(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("What elementwise operations compute of an element", os);
  for (const OperationRecord &op : collectOperations(records))
    if (op.elementwise())
      os << "{schema::OpId::" << op.idName() << ", " << elementExpression(op, op.scalar()) << "},\n";
}

llvm::TableGen::Emitter::Opt expressions("gen-element-expressions", emitElementExpressions,
                                         "What elementwise operations compute of an element");
llvm::TableGen::Emitter::Opt declarations("gen-function-decls", emitDeclarations, "Public functions");
llvm::TableGen::Emitter::Opt definitions("gen-function-defs", emitDefinitions, "Public functions");
llvm::TableGen::Emitter::Opt reference("gen-reference", emitReference, "The reference page");
llvm::TableGen::Emitter::Opt testData("gen-test-data", emitTestData, "Test data of elementwise operations");
llvm::TableGen::Emitter::Opt fuzzData("gen-fuzz-data", emitFuzzData, "What the fuzzer knows of operations");

} // namespace
