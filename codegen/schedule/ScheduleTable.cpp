#include "codegen/schedule/ScheduleTable.h"
#include "codegen/KernelAttributes.h"
#include "codegen/lowering/Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// "12.3 k", "4.00 M": three digits and a unit of a thousand.
std::string inUnits(int64_t value, StringRef unit) {
  if (value <= 0)
    return "?";
  static constexpr StringLiteral kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  auto number = static_cast<double>(value);
  size_t prefix = 0;
  for (; number >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix)
    number /= 1000;
  std::string text;
  llvm::raw_string_ostream stream(text);
  int digits = prefix == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  stream << llvm::format("%.*f ", digits, number) << kPrefixes[prefix] << unit;
  return text;
}

int64_t numberOf(func::FuncOp kernel, StringRef name) {
  auto number = kernel->getAttrOfType<IntegerAttr>(name);
  return number ? number.getInt() : 0;
}

} // namespace

std::string lineIn(Location location) {
  auto line = location->findInstanceOf<FileLineColLoc>();
  return line ? (line.getFilename().getValue() + ":" + Twine(line.getLine())).str() : "-";
}

ScheduledProgram scheduleOf(ModuleOp program) {
  const SymbolTable symbols(program);
  ScheduledProgram result;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isPrivate() || isKernel(function) || function.isExternal())
      continue;
    Attribute round;
    size_t begin = 0; // of the round
    function.walk([&](func::CallOp call) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      ScheduledCall &added = result.calls.emplace_back();
      StringRef name = call.getCallee();
      name.consume_front("calque.");
      // Kernels of the runtime have names of their own, such as "while" and "stack_push".
      if (auto runtime = kernel ? kernel->getAttrOfType<StringAttr>(kRuntimeAttr) : StringAttr()) {
        name = runtime.getValue();
        name.consume_front("calque_rt_");
      }
      added.kernel = name.str();
      added.line = lineIn(call.getLoc());
      added.isOwn = kernel && isKernel(kernel);
      Attribute own = call->getAttr(kRoundAttr);
      if (own && own != round)
        begin = result.calls.size() - 1;
      if ((round = own))
        ++result.calls[begin].roundOf;
      if (!added.isOwn)
        return;
      added.operations = numberOf(kernel, kOperationsAttr);
      added.bytes = numberOf(kernel, kBytesAttr);
      if (auto nests = kernel->getAttrOfType<ArrayAttr>(kNestsAttr))
        for (auto line : nests.getAsRange<StringAttr>())
          added.nests.push_back(line.getValue().str());
    });
  }
  for (ModuleOp part : program.getOps<ModuleOp>()) {
    result.parts.push_back(scheduleOf(part));
    result.parts.back().name = part.getSymName().value_or("a part").str();
  }
  return result;
}

void printSchedule(const ScheduledProgram &program, llvm::raw_ostream &os) {
  os << llvm::format("%-5s%-11s%-11s%-20s%s\n", "step", "operations", "bytes", "kernel", "line");
  unsigned step = 0;
  for (const ScheduledCall &call : program.calls) {
    os << llvm::format("%-5u%-11s%-11s%-20s%s\n", step++, call.isOwn ? inUnits(call.operations, "").c_str() : "-",
                       call.isOwn ? inUnits(call.bytes, "B").c_str() : "-", call.kernel.c_str(), call.line.c_str());
    for (const std::string &nest : call.nests)
      os << "       " << nest << '\n';
    if (call.roundOf)
      os << "       steps " << step - 1 << " to " << step + call.roundOf - 2 << " share the threads\n";
  }
  if (!program.kept.empty())
    os << llvm::format("kept for gradients\n%-11s%-11s%-11s%s\n", "iteration", "iterations", "in all", "line");
  for (const KeptByLoop &loop : program.kept)
    os << llvm::format("%-11s%-11s%-11s%s\n", inUnits(loop.bytes, "B").c_str(),
                       loop.iterations ? llvm::Twine(loop.iterations).str().c_str() : "?",
                       inUnits(loop.bytes * loop.iterations, "B").c_str(), loop.line.c_str());
  for (const ScheduledProgram &part : program.parts) {
    os << part.name << '\n';
    printSchedule(part, os);
  }
}

} // namespace calque::codegen
