#include "Record.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TableGen/Error.h"

using namespace calque::tblgen;

namespace {

// The kinds of failures, by their names in IR.
constexpr llvm::StringLiteral kSiteKinds[] = {
#define CALQUE_SITE_KIND(kind, name, error, text) name,
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
};

AttributeRecord makeAttribute(const llvm::Record &record, const mlir::tblgen::NamedAttribute &named) {
  mlir::tblgen::Attribute base = named.attr.getBaseAttr();
  std::string definition = base.getAttrDefName().str();
  AttributeRecord attribute;
  attribute.name = named.name.str();
  std::pair<const char *, const char *> kind = llvm::StringSwitch<std::pair<const char *, const char *>>(definition)
                                                   .Case("BoolAttr", {"Bool", "bool"})
                                                   .Case("I64Attr", {"Int", "std::int64_t"})
                                                   .Case("Calque_NumberAttr", {"Number", "const Number &"})
                                                   .Case("StrAttr", {"String", "std::string"})
                                                   .Case("Calque_TextAttr", {"Text", "std::string"})
                                                   .Case("DenseI64ArrayAttr", {"Ints", "std::vector<std::int64_t>"})
                                                   .Case("Calque_DTypeAttr", {"Type", "DType"})
                                                   .Case("ElementsAttr", {"Constant", ""})
                                                   .Default({nullptr, nullptr});
  if (!kind.first)
    llvm::PrintFatalError(record.getLoc(),
                          "attribute '" + attribute.name + "' has a kind that the schema does not know: " + definition);
  attribute.kind = kind.first;
  attribute.cppType = kind.second;
  if (attribute.kind == "Ints" && attribute.name == "axes")
    attribute.cppType = "AxisList"; // for which users may give one number
  if (named.attr.hasDefaultValue())
    attribute.defaultValue = named.attr.getDefaultValue().str();
  if (attribute.kind == "Number" && attribute.defaultValue == "0")
    attribute.defaultValue = "Number()"; // zero of any element type
  return attribute;
}

} // namespace

OperationRecord::OperationRecord(const llvm::Record &record) : record_(record), op_(record) {
  for (const mlir::tblgen::NamedAttribute &named : op_.getAttributes())
    attributes_.push_back(makeAttribute(record, named));
  // Users give a shape as one, and a size that may not be known.
  if (!open().empty()) {
    if (attributes_.empty() || (attributes_[0].kind != "Ints" && attributes_[0].kind != "Int"))
      llvm::PrintFatalError(record.getLoc(), mnemonic() + ": its first attribute must be a shape or a size");
    attributes_[0].cppType = attributes_[0].kind == "Ints" ? "const Shape &" : "const Size &";
  }
  for (const mlir::tblgen::NamedRegion &region : op_.getRegions())
    attributes_.push_back({region.name.str(), "Recording", "", ""});

  if (eachPart() + customComplex() + complexByPass() + !dags("complexParts").empty() > 1)
    llvm::PrintFatalError(
        record.getLoc(), mnemonic() +
                             ": only one of eachPart, complexParts, customComplex and complexByPass can say what it is "
                             "on complex numbers");
  if (complexAlone() && !takesComplex())
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": nothing says what it is on complex numbers");
  int rules = !dags("partials").empty() + !dags("vjp").empty() + customVjp() + notDifferentiable() + complexAlone();
  if (rules != 1)
    llvm::PrintFatalError(record.getLoc(),
                          mnemonic() +
                              ": exactly one of partials, vjp, customVjp, notDifferentiable and complexAlone says "
                              "how gradients pass; this record has " +
                              std::to_string(rules));
  int forward = !dags("partials").empty() + !names("linear").empty() + !names("multilinear").empty() + customJvp() +
                complexAlone();
  if (forward != !notDifferentiable())
    llvm::PrintFatalError(record.getLoc(),
                          mnemonic() +
                              ": a differentiable operation has exactly one of partials, linear, multilinear and "
                              "customJvp, another has none; this record has " +
                              std::to_string(forward));
  for (llvm::StringRef field : {"linear", "multilinear"})
    for (llvm::StringRef name : names(field))
      if (operandIndex(name) < 0)
        llvm::PrintFatalError(record.getLoc(), mnemonic() + ": " + field + " names no operand: " + name);
  if (elementwise() + expands() + !removedBy().empty() > 1)
    llvm::PrintFatalError(record.getLoc(),
                          mnemonic() + ": only one of `scalar`, `expands` and `removedBy` can say what becomes of it");
  if (counted() && (attributes_.empty() || attributes_[0].name != "counts"))
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": its first attribute must be `counts`");
  if (perAxis() && (attributes_.empty() || attributes_[0].name != "axes"))
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": its first attribute must be `axes`");
  if (complexAlone() && removedBy().empty())
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": `removedBy` must name the pass that takes its parts");
  if (elementwise() + batchSame() + batchUnrolled() + batchAxis() > 1)
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": more than one rule for many examples at once");
  if (batchAxis() && (!attribute("axis") || attribute("axis")->kind != "Int"))
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": `batchAxis` takes an attribute `axis`");
  if (library()) {
    signature(); // which it checks
    for (llvm::StringRef site : failsAt())
      if (!llvm::is_contained(kSiteKinds, site))
        llvm::PrintFatalError(record.getLoc(), mnemonic() + ": program/SiteKinds.def has no kind '" + site + "'");
    if (failsAt().empty() == (op_.getTrait("::calque::ir::MayFail") != nullptr))
      llvm::PrintFatalError(record.getLoc(), mnemonic() + ": `failsAt` and the trait Calque_MayFail go together");
  }
  for (llvm::StringRef field : {"partials", "vjp"})
    if (size_t count = dags(field).size(); count && static_cast<int>(count) != numOperands())
      llvm::PrintFatalError(record.getLoc(), mnemonic() + ": " + field + " has " + std::to_string(count) +
                                                 " entries for " + std::to_string(numOperands()) + " operands");
  if (!record.getValue("rule") || record.isValueUnset("rule"))
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": no type rule");
  if (elementwise() && record.isValueUnset("scalar"))
    llvm::PrintFatalError(record.getLoc(),
                          mnemonic() + ": an elementwise operation needs its meaning on one element, `scalar`");
  if (inMessages().empty())
    llvm::PrintFatalError(record.getLoc(),
                          mnemonic() + ": no public function, so inMessages must say what errors call it");
  if (summary().empty())
    llvm::PrintFatalError(record.getLoc(), mnemonic() + ": no summary");
}

std::vector<const llvm::DagInit *> OperationRecord::dags(llvm::StringRef field) const {
  std::vector<const llvm::DagInit *> result;
  for (const llvm::Init *init : record_.getValueAsListInit(field)->getElements())
    result.push_back(llvm::cast<llvm::DagInit>(init));
  return result;
}

namespace {
constexpr std::uint32_t kResultBit = 1u << 31;
constexpr int kMostCountedOperands = 31;

void addTaken(const OperationRecord &op, const llvm::DagInit *dag, std::uint32_t &taken) {
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    if (const auto *inner = llvm::dyn_cast<llvm::DagInit>(dag->getArg(i)))
      addTaken(op, inner, taken);
    else if (llvm::StringRef name = dag->getArgNameStr(i); name == "result")
      taken |= kResultBit;
    else if (int operand = op.operandIndex(name); operand >= 0)
      taken |= 1u << operand;
  }
}
} // namespace

std::vector<std::uint32_t> OperationRecord::gradientTakes() const {
  if (notDifferentiable())
    return {0};
  if (complexAlone())
    return {};
  if (!names("linear").empty() && variadic())
    return static_cast<int>(names("linear").size()) == op_.getNumOperands() ? std::vector<std::uint32_t>{0}
                                                                            : std::vector<std::uint32_t>();
  if (variadic() || numOperands() > kMostCountedOperands)
    return {};
  std::vector<std::uint32_t> taken(static_cast<std::size_t>(numOperands()));
  const std::uint32_t all = (1u << numOperands()) - 1;
  if (std::vector<const llvm::DagInit *> partials = dags("partials"); !partials.empty()) {
    for (std::size_t i = 0; i < taken.size(); ++i)
      addTaken(*this, partials[i], taken[i]);
    return taken;
  }
  // What an operation is linear in is not in its derivative.
  std::uint32_t together = 0;
  for (llvm::StringRef name : names("linear"))
    together |= 1u << operandIndex(name);
  for (llvm::StringRef name : names("linear"))
    taken[static_cast<std::size_t>(operandIndex(name))] = all & ~together;
  for (llvm::StringRef name : names("multilinear"))
    taken[static_cast<std::size_t>(operandIndex(name))] = all & ~(1u << operandIndex(name));
  return names("linear").empty() && names("multilinear").empty() ? std::vector<std::uint32_t>() : taken;
}

std::uint32_t OperationRecord::passesCotangent() const {
  std::uint32_t operands = 0;
  if (moves() == "keepOrder" && names("linear").size() == 1)
    operands |= 1u << operandIndex(names("linear")[0]);
  for (llvm::StringRef field : {"partials", "vjp"})
    for (auto [i, dag] : llvm::enumerate(dags(field))) {
      llvm::StringRef name = llvm::cast<llvm::DefInit>(dag->getOperator())->getDef()->getName();
      if (name == "One" || (name == "Value" && dag->getArgNameStr(0) == "g"))
        operands |= 1u << i;
    }
  return operands;
}

std::uint32_t OperationRecord::receivesCotangent() const {
  std::uint32_t operands = ~std::uint32_t(0);
  for (llvm::StringRef field : {"partials", "vjp"})
    for (auto [i, dag] : llvm::enumerate(dags(field)))
      if (llvm::cast<llvm::DefInit>(dag->getOperator())->getDef()->getName() == "NoGradient")
        operands &= ~(1u << i);
  // What an operation is linear in says what its derivative is with respect to; sizes are all that it takes of others.
  std::vector<llvm::StringRef> linear = names("linear"), multilinear = names("multilinear");
  linear.insert(linear.end(), multilinear.begin(), multilinear.end());
  if (linear.empty())
    return operands;
  std::uint32_t named = 0;
  for (llvm::StringRef name : linear) {
    int operand = operandIndex(name);
    named |= op_.getOperand(operand).isVariadic() ? ~std::uint32_t(0) << operand : 1u << operand;
  }
  return operands & named;
}

int OperationRecord::numOperands() const {
  for (const mlir::tblgen::NamedTypeConstraint &operand : op_.getOperands())
    if (operand.isVariadic())
      return -1;
  return op_.getNumOperands();
}

int OperationRecord::fewestOperands() const {
  return static_cast<int>(llvm::count_if(
      op_.getOperands(), [](const mlir::tblgen::NamedTypeConstraint &operand) { return !operand.isVariadic(); }));
}

unsigned OperationRecord::operandsOf(llvm::StringRef constraint) const {
  unsigned bits = 0;
  for (int i = 0, e = op_.getNumOperands(); i < e; ++i)
    if (op_.getOperand(i).constraint.getDefName() == constraint)
      bits |= 1u << i;
  return bits;
}

const AttributeRecord *OperationRecord::attribute(llvm::StringRef name) const {
  auto found = llvm::find_if(attributes_, [&](const AttributeRecord &each) { return each.name == name; });
  return found == attributes_.end() ? nullptr : &*found;
}

std::pair<OperationRecord::Dimensions, OperationRecord::Dimensions> OperationRecord::signature() const {
  auto refuse = [&](const llvm::Twine &why) {
    llvm::PrintFatalError(record_.getLoc(), mnemonic() + ": the signature " + why);
  };
  std::vector<llvm::StringRef> names;
  auto numberOf = [&](llvm::StringRef dimension) {
    auto number = static_cast<unsigned>(llvm::find(names, dimension) - names.begin());
    if (number == names.size())
      names.push_back(dimension);
    return number;
  };
  auto sideOf = [&](llvm::StringRef text) {
    Dimensions side;
    while (!text.empty()) {
      if (!text.consume_front("("))
        refuse("has no '(' at '" + text + "'");
      side.emplace_back();
      while (!text.consume_front(")")) {
        std::vector<unsigned> size;
        const bool isSmaller = text.consume_front("min(");
        do {
          llvm::StringRef name = text.take_while(llvm::isAlpha);
          if (name.empty())
            refuse("has no name of a size at '" + text + "'");
          text = text.drop_front(name.size());
          size.push_back(numberOf(name));
        } while (isSmaller && size.size() < 2 && text.consume_front(","));
        if (isSmaller && (size.size() != 2 || !text.consume_front(")")))
          refuse("has a min that is not of two sizes");
        side.back().push_back(size);
        text.consume_front(",");
      }
      text.consume_front(",");
    }
    return side;
  };
  auto [operands, results] = record_.getValueAsString("signature").split("->");
  Dimensions taken = sideOf(operands);
  Dimensions given = sideOf(results);
  for (const auto &dimensions : taken)
    if (llvm::any_of(dimensions, [](const std::vector<unsigned> &size) { return size.size() != 1; }))
      refuse("has an operand with a size that is the smaller one of two");
  if (static_cast<int>(taken.size()) != numOperands() || static_cast<int>(given.size()) != op_.getNumResults())
    refuse("has not as many operands and results as the record");
  auto isOne = [](const auto &dimensions) { return dimensions.size() == 1; };
  if (attribute("axis") && !(llvm::all_of(taken, isOne) && llvm::all_of(given, isOne)))
    refuse("has more than the dimension of the attribute `axis`");
  return {taken, given};
}

int OperationRecord::operandIndex(llvm::StringRef name) const {
  for (int i = 0, e = op_.getNumOperands(); i < e; ++i)
    if (op_.getOperand(i).name == name)
      return i;
  return -1;
}

const OperationRecord &calque::tblgen::openOf(const OperationRecord &op, llvm::ArrayRef<OperationRecord> operations) {
  const OperationRecord *found =
      llvm::find_if(operations, [&](const OperationRecord &other) { return other.mnemonic() == op.open(); });
  if (found == operations.end())
    llvm::PrintFatalError(op.record().getLoc(), op.mnemonic() + ": `open` names no operation: " + op.open());
  return *found;
}

std::vector<OperationRecord> calque::tblgen::collectOperations(const llvm::RecordKeeper &records) {
  std::vector<const llvm::Record *> definitions(records.getAllDerivedDefinitions("Calque_Op"));
  llvm::sort(definitions, [](const llvm::Record *a, const llvm::Record *b) { return a->getID() < b->getID(); });
  std::vector<OperationRecord> operations;
  for (const llvm::Record *definition : definitions)
    operations.emplace_back(*definition);
  return operations;
}
