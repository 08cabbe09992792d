// Methods of the MLIR operations: type inference, rules for transformations, scalar meaning.
#include "Record.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace calque::tblgen;

namespace {

[[noreturn]] void fail(const OperationRecord &op, const llvm::Twine &message) {
  llvm::PrintFatalError(op.record().getLoc(), op.mnemonic() + ": " + message);
}

const llvm::Record *operatorOf(const llvm::DagInit *dag) {
  return llvm::cast<llvm::DefInit>(dag->getOperator())->getDef();
}

std::string stringArgument(const OperationRecord &op, const llvm::DagInit *dag) {
  if (dag->getNumArgs() < 1 || !llvm::isa<llvm::StringInit>(dag->getArg(0)))
    fail(op, "a constant needs its value as a string: " + dag->getAsString());
  return llvm::cast<llvm::StringInit>(dag->getArg(0))->getValue().str();
}

// Statements that build a dag's values, arguments from left to right: as nested calls, the compiler that builds Calque
// would choose their order, and with it that of the operations.
class Statements {
public:
  explicit Statements(std::string indent) : indent(std::move(indent)) {}
  // The name of the call's value.
  std::string call(const std::string &callee, const std::vector<std::string> &arguments) {
    std::string name = "v" + std::to_string(count++);
    text += indent + "::mlir::Value " + name + " = " + callee + "(";
    for (size_t i = 0; i < arguments.size(); ++i)
      text += (i ? ", " : "") + arguments[i];
    text += ");\n";
    return name;
  }
  std::string text;

private:
  std::string indent;
  int count = 0;
};

// The value of a `scalar` dag over the body's elements.
std::string scalarExpression(const OperationRecord &op, const llvm::DagInit *dag, Statements &statements) {
  const llvm::Record *node = operatorOf(dag);
  if (!node->isSubClassOf("Scalar"))
    fail(op, "not a scalar operation: " + node->getName());
  std::vector<std::string> arguments;
  if (node->isSubClassOf("ScalarFunction"))
    arguments.push_back("\"" + node->getValueAsString("functionName").str() + "\"");
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *inner = llvm::dyn_cast<llvm::DagInit>(dag->getArg(i))) {
      arguments.push_back(scalarExpression(op, inner, statements));
    } else if (llvm::isa<llvm::StringInit>(dag->getArg(i))) {
      arguments.push_back(stringArgument(op, dag));
    } else {
      int index = op.operandIndex(dag->getArgNameStr(i));
      if (index < 0)
        fail(op, "no operand '" + dag->getArgNameStr(i) + "' in " + dag->getAsString());
      arguments.push_back("elements[" + std::to_string(index) + "]");
    }
  }
  if (node->getName() == "S_castTo")
    arguments.push_back("::mlir::getElementTypeOrSelf(getResult().getType())");
  return statements.call("b." + node->getValueAsString("builderMethod").str(), arguments);
}

std::string leaf(const OperationRecord &op, llvm::StringRef name) {
  if (name == "g")
    return "g";
  if (name == "result")
    return "getResult()";
  int index = op.operandIndex(name);
  if (index < 0)
    fail(op, "no operand '" + name + "'");
  return "getOperation()->getOperand(" + std::to_string(index) + ")";
}

// The value of a dag over operations of the dialect.
std::string valueExpression(const OperationRecord &op, const llvm::DagInit *dag, Statements &statements) {
  const llvm::Record *node = operatorOf(dag);
  if (node->getName() == "Re" || node->getName() == "Im") {
    int index = op.operandIndex(dag->getArgNameStr(0));
    if (index < 0)
      fail(op, "no operand '" + dag->getArgNameStr(0) + "'");
    return "operands[" + std::to_string(index) + "]." + (node->getName() == "Re" ? "re" : "im");
  }
  if (node->getName() == "Value")
    return leaf(op, dag->getArgNameStr(0));
  if (node->getName() == "Constant")
    return statements.call("rule.constant", {stringArgument(op, dag)});
  if (node->getName() != "Apply")
    fail(op, "not an operation: " + node->getName());
  std::string callee = stringArgument(op, dag);
  std::string creation;
  for (const llvm::Record *record : op.record().getRecords().getAllDerivedDefinitions("Calque_Op"))
    if (record->getValueAsString("opName") == callee)
      creation = "rule.create<" + mlir::tblgen::Operator(*record).getCppClassName().str() + ">";
  if (creation.empty())
    fail(op, "no operation '" + callee + "'");
  std::vector<std::string> arguments;
  for (unsigned i = 1; i < dag->getNumArgs(); ++i) {
    const auto *inner = llvm::dyn_cast<llvm::DagInit>(dag->getArg(i));
    arguments.push_back(inner ? valueExpression(op, inner, statements) : leaf(op, dag->getArgNameStr(i)));
  }
  return statements.call(creation, arguments);
}

// g times a partial derivative; empty when nothing passes.
std::string partialExpression(const OperationRecord &op, const llvm::DagInit *dag, Statements &statements) {
  llvm::StringRef name = operatorOf(dag)->getName();
  if (name == "NoGradient")
    return "";
  if (name == "One")
    return "g";
  if (name == "MinusOne")
    return statements.call("rule.create<NegOp>", {"g"});
  if (name == "Mask")
    return statements.call("rule.mask",
                           {valueExpression(op, llvm::cast<llvm::DagInit>(dag->getArg(0)), statements), "g"});
  return statements.call("rule.create<MulOp>", {"g", valueExpression(op, dag, statements)});
}

// What stands in place of a rule that an operation on complex numbers alone needs not have.
std::string refusal(const OperationRecord &op) {
  return "emitOpError(\"is of complex numbers, of which " + op.removedBy().str() + " takes the parts before\")";
}

void emitVjp(const OperationRecord &op, llvm::raw_ostream &os) {
  if (op.customVjp())
    return;
  os << "void " << op.className()
     << "::buildVjp(::mlir::OpBuilder &builder, ::mlir::ValueRange cotangents, const ::llvm::SmallBitVector &needed, "
        "::llvm::SmallVectorImpl<::mlir::Value> &operandCotangents) {\n"
        "  operandCotangents.assign(getOperation()->getNumOperands(), ::mlir::Value());\n";
  if (op.complexAlone())
    os << "  " << refusal(op) << ";\n";
  bool elementwise = !op.dags("partials").empty();
  std::vector<const llvm::DagInit *> dags = op.dags(elementwise ? "partials" : "vjp");
  if (!dags.empty())
    os << "  ::calque::ir::GradientRule rule(builder, getLoc(), getResult());\n  ::mlir::Value g = cotangents[0];\n  "
          "(void)g;\n";
  for (size_t i = 0; i < dags.size(); ++i) {
    bool none = operatorOf(dags[i])->getName() == "NoGradient";
    if (none)
      continue;
    Statements statements("    ");
    std::string expression =
        elementwise ? partialExpression(op, dags[i], statements) : valueExpression(op, dags[i], statements);
    os << "  if (needed[" << i << "]) {\n" << statements.text << "    operandCotangents[" << i << "] = ";
    if (elementwise)
      os << "rule.unbroadcast(" << expression << ", getOperation()->getOperand(" << i << "));\n";
    else
      os << expression << ";\n";
    os << "  }\n";
  }
  os << "}\n";
}

void emitJvp(const OperationRecord &op, llvm::raw_ostream &os) {
  if (op.customJvp())
    return;
  os << "void " << op.className()
     << "::buildJvp(::mlir::OpBuilder &builder, ::mlir::ValueRange tangents, ::llvm::SmallVectorImpl<::mlir::Value> "
        "&resultTangents) {\n";
  for (llvm::StringRef field : {"linear", "multilinear"}) {
    if (op.names(field).empty())
      continue;
    os << "  std::pair<unsigned, unsigned> operands[] = {";
    for (llvm::StringRef name : op.names(field))
      os << "getODSOperandIndexAndLength(" << op.operandIndex(name) << "), ";
    os << "};\n  ::calque::ir::" << field << "Jvp(getOperation(), builder, tangents, operands, resultTangents);\n";
  }
  std::vector<const llvm::DagInit *> dags = op.dags("partials");
  if (op.complexAlone())
    os << "  " << refusal(op) << ";\n";
  if (op.notDifferentiable() || op.complexAlone())
    os << "  resultTangents.assign(getOperation()->getNumResults(), ::mlir::Value());\n";
  if (!dags.empty())
    os << "  ::calque::ir::GradientRule rule(builder, getLoc(), getResult());\n  ::mlir::Value sum;\n";
  for (size_t i = 0; i < dags.size(); ++i) {
    if (operatorOf(dags[i])->getName() == "NoGradient")
      continue;
    Statements statements("    ");
    std::string expression = partialExpression(op, dags[i], statements);
    os << "  if (::mlir::Value g = tangents[" << i << "]) {\n"
       << statements.text << "    sum = rule.sum(sum, " << expression << ");\n  }\n";
  }
  if (!dags.empty())
    os << "  resultTangents.assign(1, rule.broadcast(sum));\n";
  os << "}\n";
}

void emitParts(const OperationRecord &op, llvm::raw_ostream &os) {
  if (op.customComplex())
    return;
  os << "::llvm::LogicalResult " << op.className()
     << "::buildParts(::mlir::OpBuilder &builder, ::llvm::ArrayRef<::calque::ir::Parts> operands, "
        "::llvm::SmallVectorImpl<::mlir::Value> &results) {\n  (void)builder;\n  (void)operands;\n  (void)results;\n";
  if (op.eachPart())
    os << "  return ::calque::ir::eachPart(getOperation(), builder, operands, results);\n}\n";
  else if (std::vector<const llvm::DagInit *> dags = op.dags("complexParts"); dags.empty())
    os << "  return emitOpError(\"takes no complex numbers\");\n}\n";
  else {
    Statements statements("  ");
    std::string values;
    for (const llvm::DagInit *dag : dags)
      values += (values.empty() ? "" : ", ") + valueExpression(op, dag, statements);
    os << "  ::calque::ir::GradientRule rule(builder, getLoc(), operands[0].re);\n  (void)rule;\n"
       << statements.text << "  results.append({" << values << "});\n  return ::mlir::success();\n}\n";
  }
}

void emitBatched(const OperationRecord &op, llvm::raw_ostream &os) {
  if (op.complexAlone()) {
    os << "::llvm::LogicalResult " << op.className()
       << "::buildBatched(::calque::ir::BatchRule &, ::llvm::SmallVectorImpl<::mlir::Value> &) {\n  return "
       << refusal(op) << ";\n}\n";
    return;
  }
  const char *rule = op.elementwise()     ? "rule.elementwise(results)"
                     : op.batchSame()     ? "rule.same(results)"
                     : op.batchUnrolled() ? "rule.unrolled(results)"
                     : op.batchAxis()     ? "rule.alongAxis(results)"
                     : !op.numOperands()  ? "rule.refuse(\"takes no example\")"
                                          : nullptr;
  if (rule)
    os << "::llvm::LogicalResult " << op.className()
       << "::buildBatched(::calque::ir::BatchRule &rule, ::llvm::SmallVectorImpl<::mlir::Value> &results) {\n  "
          "(void)results;\n  return "
       << rule << ";\n}\n";
}

void emitInference(const OperationRecord &op, llvm::raw_ostream &os) {
  os << "::llvm::LogicalResult " << op.className()
     << "::inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, "
        "::mlir::ValueRange operands, "
        "::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions, "
        "::llvm::SmallVectorImpl<::mlir::Type> &types) {\n"
        "  Adaptor adaptor(operands, attributes, properties, regions);\n  (void)adaptor;\n"
        "  return ::calque::ir::inferFromSchema(::calque::schema::OpId::"
     << op.idName() << ", context, location, operands, {";
  for (const AttributeRecord &attribute : op.attributes())
    os << (attribute.kind == "Recording" ? "::mlir::Attribute()"
                                         : "adaptor." + op.op().getGetterName(attribute.name) + "Attr()")
       << ", ";
  os << "}, regions, types);\n}\n";
}

// What a record says of the operation's algebra, and the folder that makes use of it.
void emitAlgebra(const OperationRecord &op, llvm::raw_ostream &os) {
  llvm::StringRef neutral = op.record().getValueAsString("neutral");
  os << "const ::calque::ir::Algebra &" << op.className()
     << "::algebra() {\n  static constexpr ::calque::ir::Algebra algebra{"
     << ".neutral = " << (neutral.empty() ? "std::nullopt" : neutral);
  for (llvm::StringRef fact : {"involution", "idempotent", "ignoresSign", "passesSignOn"})
    os << ", ." << fact << " = " << (op.record().getValueAsBit(fact) ? "true" : "false");
  os << "};\n  return algebra;\n}\n::mlir::OpFoldResult " << op.className()
     << "::fold(FoldAdaptor) { return ::calque::ir::foldByAlgebra(*this); }\n";
}

// What a record says of the kernel that computes the operation.
void emitLibraryKernel(const OperationRecord &op, llvm::raw_ostream &os) {
  auto emitSide = [&](const OperationRecord::Dimensions &side) {
    os << "{";
    for (const auto &dimensions : side) {
      os << "{";
      llvm::interleaveComma(dimensions, os, [&](const std::vector<unsigned> &size) {
        if (size.size() == 1)
          os << size[0];
        else
          os << "{" << size[0] << ", " << size[1] << "}";
      });
      os << "},";
    }
    os << "}";
  };
  auto [operands, results] = op.signature();
  os << "const ::calque::ir::LibraryKernel &" << op.className()
     << "::libraryKernel() {\n  static const ::calque::ir::LibraryKernel kernel{\"" << op.kernel() << "\", {";
  llvm::interleaveComma(op.failsAt(), os, [&](llvm::StringRef site) { os << '"' << site << '"'; });
  os << "}, ";
  emitSide(operands);
  os << ", ";
  emitSide(results);
  os << "};\n  return kernel;\n}\n::std::optional<int64_t> " << op.className() << "::libraryAxis() { return "
     << (op.attribute("axis") ? "static_cast<int64_t>(getAxis())" : "std::nullopt")
     << "; }\n::llvm::SmallVector<int64_t> " << op.className() << "::libraryWords() {\n  return {";
  for (const AttributeRecord &attribute : op.attributes()) {
    if (attribute.name == "axis")
      continue;
    const std::string value = op.op().getGetterName(attribute.name) + "()";
    if (attribute.kind == "Number")
      os << "::llvm::bit_cast<int64_t>(" << value << ".as<double>()), ";
    else if (attribute.kind == "Bool" || attribute.kind == "Int")
      os << "static_cast<int64_t>(" << value << "), ";
    else
      fail(op, "a kernel takes bools, integers and numbers, and no attribute such as '" + attribute.name + "'");
  }
  os << "};\n}\n";
}

void emitMethods(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Methods of operations", os);
  for (const OperationRecord &op : collectOperations(records)) {
    os << "::calque::schema::OpId " << op.className() << "::schemaId() { return ::calque::schema::OpId::" << op.idName()
       << "; }\n";
    emitInference(op, os);
    emitVjp(op, os);
    emitJvp(op, os);
    emitBatched(op, os);
    emitParts(op, os);
    if (op.library())
      emitLibraryKernel(op, os);
    if (op.elementwise()) {
      Statements statements("  ");
      std::string result = scalarExpression(op, op.scalar(), statements);
      os << "::mlir::Value " << op.className()
         << "::buildScalar(::calque::ir::ScalarBuilder &given, ::mlir::ValueRange elements) {\n"
         << "  ::calque::ir::ScalarBuilder b = given.of(getOperation());\n"
         << statements.text << "  return " << result << ";\n}\n";
      emitAlgebra(op, os);
    }
  }
}

void emitLowerings(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Operations that a function of codegen/ lowers", os);
  for (const OperationRecord &op : collectOperations(records))
    if (op.lowered())
      os << "CALQUE_LOWERING(" << op.className() << ")\n";
  os << "#undef CALQUE_LOWERING\n";
}

void emitLibraryKernels(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Kernels of libraries", os);
  std::vector<std::string> names; // several operations may share one
  for (const OperationRecord &op : collectOperations(records))
    if (op.library() && !llvm::is_contained(names, op.kernel()))
      names.push_back(op.kernel());
  for (const std::string &name : names)
    os << "CALQUE_LIBRARY_KERNEL(" << name << ")\n";
}

llvm::TableGen::Emitter::Opt libraryKernels("gen-library-kernels", emitLibraryKernels, "Kernels of libraries");
llvm::TableGen::Emitter::Opt lowerings("gen-lowerings", emitLowerings, "Operations to be lowered");
llvm::TableGen::Emitter::Opt methods("gen-operation-methods", emitMethods, "Methods of the MLIR operations");

} // namespace
