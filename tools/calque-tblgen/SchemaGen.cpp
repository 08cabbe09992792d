// The schema's tables: operation ids, attributes, type rules, traits, movements.
#include "Record.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace calque::tblgen;

static void emitIds(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Operation ids", os);
  for (const OperationRecord &op : collectOperations(records))
    os << "CALQUE_OPERATION(" << op.idName() << ", \"" << op.mnemonic() << "\")\n";
  os << "#undef CALQUE_OPERATION\n";
}

static void emitRules(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Type rules that records name", os);
  llvm::StringSet<> seen;
  for (const OperationRecord &op : collectOperations(records))
    if (seen.insert(op.rule()).second)
      os << "Fault " << op.rule() << "(const OpCall &call, std::vector<TensorType> &results);\n";
}

static void emitTables(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Operation schemas", os);
  std::vector<OperationRecord> operations = collectOperations(records);
  os << "#ifdef CALQUE_OPERATION_ATTRIBUTES\n";
  for (const OperationRecord &op : operations) {
    if (op.attributes().empty())
      continue;
    os << "constexpr AttributeSchema k" << op.idName() << "Attributes[] = {";
    for (const AttributeRecord &attribute : op.attributes())
      os << "{\"" << attribute.name << "\", AttributeKind::" << attribute.kind << ", "
         << (attribute.kind == "Ints" && attribute.defaultValue == "{}" ? "true" : "false") << "}, ";
    os << "};\n";
  }
  for (const OperationRecord &op : operations) {
    std::vector<std::uint32_t> words = op.gradientTakes();
    if (words.empty())
      continue;
    os << "constexpr std::uint32_t k" << op.idName() << "GradientTakes[] = {";
    for (std::uint32_t word : words)
      os << word << "u, ";
    os << "};\n";
  }
  os << "#endif\n#ifdef CALQUE_OPERATION_TABLE\n";
  for (const OperationRecord &op : operations) {
    os << "{OpId::" << op.idName() << ", \"" << op.mnemonic() << "\", \"" << op.function() << "\", \""
       << op.inMessages() << "\", ";
    if (op.attributes().empty())
      os << "{}, ";
    else
      os << "k" << op.idName() << "Attributes, ";
    auto flag = [](bool value) { return value ? "true" : "false"; };
    os << op.numOperands() << ", " << op.selecting() << ", " << op.givingSizes() << ", " << op.rule() << ", "
       << flag(op.elementwise()) << ", " << flag(op.pure()) << ", " << flag(!op.notDifferentiable()) << ", "
       << flag(op.differentiates()) << ", " << flag(op.counted()) << ", " << flag(op.perAxis()) << ", "
       << flag(op.lacksGradient()) << ", " << flag(op.severalResults()) << ", " << flag(op.takesComplex()) << ", "
       << flag(op.eachPart()) << ", " << (op.open().empty() ? "{}" : "OpId::" + openOf(op, operations).idName()) << ", "
       << (op.gradientTakes().empty() ? "{}" : "k" + op.idName() + "GradientTakes") << ", " << op.passesCotangent()
       << "u},\n";
  }
  os << "#endif\n#ifdef CALQUE_OPERATION_COTANGENTS\n";
  for (const OperationRecord &op : operations)
    os << "  " << op.receivesCotangent() << "u, // " << op.mnemonic() << "\n";
  os << "#endif\n#ifdef CALQUE_OPERATION_ADMISSION\n";
  for (const OperationRecord &op : operations)
    os << "  {" << op.fewestOperands() << ", " << (op.maySave() ? "true" : "false") << "}, // " << op.mnemonic()
       << "\n";
  os << "#endif\n";
}

// Two tables by operation id, of what the records name in `moves` and `indexed`.
static void emitMoves(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  llvm::emitSourceFileHeader("Rules of operations that move elements", os);
  std::vector<OperationRecord> operations = collectOperations(records);
  auto named = [&](std::string name) { return name.empty() ? "nullptr" : name; };
  os << "constexpr MoveRule kMoveRules[] = {\n";
  for (const OperationRecord &op : operations)
    os << "  " << named(op.moves()) << ", // " << op.mnemonic() << "\n";
  os << "};\nconstexpr IndexedRule kIndexedRules[] = {\n";
  for (const OperationRecord &op : operations)
    os << "  " << named(op.indexed()) << ", // " << op.mnemonic() << "\n";
  os << "};\n";
}

static llvm::TableGen::Emitter::Opt ids("gen-operation-ids", emitIds, "Operation ids");
static llvm::TableGen::Emitter::Opt rules("gen-type-rules", emitRules, "Declarations of type rules");
static llvm::TableGen::Emitter::Opt tables("gen-operation-tables", emitTables, "Operation schemas");
static llvm::TableGen::Emitter::Opt moves("gen-operation-moves", emitMoves, "Rules of operations that move elements");
