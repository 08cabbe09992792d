#include "codegen/ScheduleTable.h"
#include "codegen/Pipeline.h"

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

void printLine(Location location, llvm::raw_ostream &os) {
  if (auto line = location->findInstanceOf<FileLineColLoc>())
    os << line.getFilename().getValue() << ':' << line.getLine();
  else
    os << "-";
}

} // namespace

void printSchedule(ModuleOp program, llvm::raw_ostream &os) {
  const SymbolTable symbols(program);
  os << llvm::format("%-5s%-11s%-11s%-20s%s\n", "step", "operations", "bytes", "kernel", "line");
  unsigned step = 0;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isPrivate() || isKernel(function) || function.isExternal())
      continue;
    function.walk([&](func::CallOp call) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      StringRef name = call.getCallee();
      name.consume_front("calque.");
      bool isOwn = kernel && isKernel(kernel);
      os << llvm::format("%-5u%-11s%-11s%-20s", step++,
                         isOwn ? inUnits(numberOf(kernel, kOperationsAttr), "").c_str() : "-",
                         isOwn ? inUnits(numberOf(kernel, kBytesAttr), "B").c_str() : "-", name.str().c_str());
      printLine(call.getLoc(), os);
      os << '\n';
      if (auto nests = isOwn ? kernel->getAttrOfType<ArrayAttr>(kNestsAttr) : ArrayAttr())
        for (auto line : nests.getAsRange<StringAttr>())
          os << "       " << line.getValue() << '\n';
    });
  }
  for (ModuleOp part : program.getOps<ModuleOp>()) {
    os << part.getSymName().value_or("a part") << '\n';
    printSchedule(part, os);
  }
}

} // namespace calque::codegen
