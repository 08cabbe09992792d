#include "codegen/plan/ProgramAttributes.h"

#include "ir/Conversion.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace calque::codegen {

namespace {

void setNumbers(func::FuncOp program, StringRef name, ArrayRef<int64_t> numbers) {
  if (!numbers.empty())
    program->setAttr(name, DenseI64ArrayAttr::get(program.getContext(), numbers));
}

void setUnknown(func::FuncOp program, StringRef name, ArrayRef<UnknownSize> sizes) {
  SmallVector<int64_t> numbers;
  for (const UnknownSize &size : sizes)
    numbers.append({static_cast<int64_t>(size.index), static_cast<int64_t>(size.dimension)});
  setNumbers(program, name, numbers);
}

// The pairs of an attribute, none where there is none. The first number of each must be below a bound, neither below 0.
FailureOr<SmallVector<std::pair<size_t, size_t>>> readPairs(func::FuncOp program, StringRef name, size_t bound) {
  SmallVector<std::pair<size_t, size_t>> pairs;
  Attribute attribute = program->getAttr(name);
  if (!attribute)
    return pairs;
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!numbers || numbers.size() % 2)
    return refuseAttribute(program, name, attribute);
  for (int64_t i = 0; i < numbers.size(); i += 2) {
    int64_t first = numbers[i], second = numbers[i + 1];
    if (first < 0 || second < 0 || static_cast<size_t>(first) >= bound)
      return refuseAttribute(program, name, attribute);
    pairs.push_back({first, second});
  }
  return pairs;
}

//===-- Sites -----------------------------------------------------------------------------------===//

struct KindName {
  Site::Kind kind;
  StringLiteral name;
};
constexpr KindName kKinds[] = {
#define CALQUE_SITE_KIND(kind, name, error, text) {Site::Kind::kind, name},
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
};

} // namespace

std::optional<Site::Kind> siteKindNamed(StringRef name) {
  const KindName *found = llvm::find_if(kKinds, [&](const KindName &each) { return name == each.name; });
  return found == std::end(kKinds) ? std::nullopt : std::optional(found->kind);
}

namespace {

Attribute toAttribute(const Site::Size &size, Builder &builder) {
  return builder.getDenseI64ArrayAttr({size.argument, size.operand, size.dimension});
}

// Reads one entry of a site. Returns false where it is none.
bool read(NamedAttribute entry, Site &site) {
  StringRef name = entry.getName();
  Attribute value = entry.getValue();
  auto readText = [&](std::string &text) {
    auto string = dyn_cast<StringAttr>(value);
    if (string)
      text = string.str();
    return bool(string);
  };
  auto readNumber = [&](auto &number) {
    auto integer = dyn_cast<IntegerAttr>(value);
    if (integer)
      number = integer.getInt();
    return bool(integer);
  };
  if (name == "operation")
    return readText(site.operation);
  if (name == "text")
    return readText(site.text);
  if (name == "line")
    return readText(site.line);
  if (name == "recorded")
    return readNumber(site.recorded);
  if (name == "callee")
    return readNumber(site.callee);
  if (name == "inputs")
    return readNumber(site.numInputs) && site.numInputs <= site.types.size();
  if (name == "examples") {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
    if (numbers)
      site.examples.assign(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
    return bool(numbers);
  }
  if (name == "found" || name == "expected") {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
    if (numbers && numbers.size() == 3)
      site.sizes[name == "expected"] = {numbers[0], numbers[1], numbers[2]};
    return numbers && numbers.size() == 3;
  }
  return false;
}

bool readKind(Attribute attribute, Site &site) {
  auto name = dyn_cast_if_present<StringAttr>(attribute);
  std::optional<Site::Kind> kind = name ? siteKindNamed(name) : std::nullopt;
  if (kind)
    site.kind = *kind;
  return kind.has_value();
}

bool readTypes(Attribute attribute, Site &site) {
  auto types = dyn_cast<ArrayAttr>(attribute);
  for (Attribute each : types ? types.getValue() : ArrayRef<Attribute>()) {
    auto type = dyn_cast<TypeAttr>(each);
    std::optional<schema::TensorType> known = type ? ir::toSchema(type.getValue()) : std::nullopt;
    if (!known)
      return false;
    site.types.push_back(*std::move(known));
  }
  return bool(types);
}

std::optional<Site> toSite(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  Site site{};
  if (!entries || !readKind(entries.get("kind"), site))
    return std::nullopt;
  if (Attribute types = entries.get("types"); types && !readTypes(types, site))
    return std::nullopt;
  for (NamedAttribute entry : entries)
    if (entry.getName() != "kind" && entry.getName() != "types" && !read(entry, site))
      return std::nullopt;
  return site;
}

} // namespace

LogicalResult refuseAttribute(func::FuncOp function, StringRef name, Attribute attribute) {
  return function->emitOpError("attribute '") << name << "' does not fit the function: " << attribute;
}

Attribute toAttribute(const Site &site, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) { entries.push_back(builder.getNamedAttr(name, value)); };
  auto addText = [&](StringRef name, StringRef text) {
    if (!text.empty())
      add(name, builder.getStringAttr(text));
  };
  const KindName *kind = llvm::find_if(kKinds, [&](const KindName &each) { return each.kind == site.kind; });
  add("kind", builder.getStringAttr(kind->name));
  addText("operation", site.operation);
  addText("text", site.text);
  addText("line", site.line);
  if (site.recorded >= 0)
    add("recorded", builder.getI64IntegerAttr(site.recorded));
  if (site.kind == Site::Kind::HostCall)
    add("callee", builder.getI64IntegerAttr(site.callee));
  if (site.kind == Site::Kind::Extern) {
    SmallVector<Attribute> types;
    for (const schema::TensorType &type : site.types)
      types.push_back(TypeAttr::get(ir::toMlir(type, context)));
    add("types", builder.getArrayAttr(types));
    add("inputs", builder.getI64IntegerAttr(static_cast<int64_t>(site.numInputs)));
  }
  if (!site.examples.empty())
    add("examples", builder.getDenseI64ArrayAttr(site.examples));
  if (site.kind == Site::Kind::SizesDiffer || site.kind == Site::Kind::SizeTooSmall ||
      site.kind == Site::Kind::SizeNotDivisible) {
    add("found", toAttribute(site.sizes[0], builder));
    add("expected", toAttribute(site.sizes[1], builder));
  }
  return builder.getDictionaryAttr(entries);
}

Value ProgramSizes::sizeOf(func::FuncOp program, size_t input, size_t dimension, OpBuilder &builder) const {
  for (auto [unknown, value] : llvm::zip_equal(inputs, values))
    if (unknown.index == input && unknown.dimension == dimension)
      return value.known ? arith::ConstantIndexOp::create(builder, program.getLoc(), *value.known).getResult()
                         : program.getArgument(firstSize() + static_cast<unsigned>(value.number));
  return {};
}

void setSizes(func::FuncOp program, const ProgramSizes &sizes) {
  program->setAttr(kInputsAttr, Builder(program).getI64IntegerAttr(static_cast<int64_t>(sizes.numInputs)));
  setUnknown(program, kUnknownInputsAttr, sizes.inputs);
  setUnknown(program, kUnknownOutputsAttr, sizes.outputs);
  SmallVector<int64_t> equal, known;
  for (auto [number, value] : llvm::enumerate(sizes.values)) {
    if (value.known)
      known.append({static_cast<int64_t>(number), *value.known});
    else if (value.number != number)
      equal.append({static_cast<int64_t>(number), static_cast<int64_t>(value.number)});
  }
  setNumbers(program, kEqualSizesAttr, equal);
  setNumbers(program, kKnownSizesAttr, known);
}

static FailureOr<ProgramSizes> readSizes(func::FuncOp program) {
  ProgramSizes sizes;
  Attribute attribute = program->getAttr(kInputsAttr);
  auto inputs = dyn_cast_if_present<IntegerAttr>(attribute);
  if (!inputs || inputs.getInt() < 0 || !llvm::hasSingleElement(program.getBody()) ||
      static_cast<size_t>(inputs.getInt()) >= program.getNumArguments())
    return refuseAttribute(program, kInputsAttr, attribute);
  sizes.numInputs = inputs.getInt();
  auto unknown = readPairs(program, kUnknownInputsAttr, sizes.numInputs);
  if (failed(unknown))
    return failure();
  for (auto [index, dimension] : *unknown)
    sizes.inputs.push_back({index, dimension});
  if (sizes.firstOutput() > program.getNumArguments() ||
      !llvm::all_of(program.getArguments().slice(sizes.firstSize(), sizes.inputs.size()),
                    [](BlockArgument size) { return size.getType().isIndex(); }))
    return refuseAttribute(program, kUnknownInputsAttr, program->getAttr(kUnknownInputsAttr));

  auto outputs = readPairs(program, kUnknownOutputsAttr, std::numeric_limits<size_t>::max()),
       equal = readPairs(program, kEqualSizesAttr, sizes.inputs.size()),
       known = readPairs(program, kKnownSizesAttr, sizes.inputs.size());
  if (failed(outputs) || failed(equal) || failed(known))
    return failure();
  for (auto [index, dimension] : *outputs)
    sizes.outputs.push_back({index, dimension});
  for (size_t number = 0; number < sizes.inputs.size(); ++number)
    sizes.values.push_back({number, std::nullopt});
  for (auto [number, earlier] : *equal) {
    if (earlier >= number)
      return refuseAttribute(program, kEqualSizesAttr, program->getAttr(kEqualSizesAttr));
    sizes.values[number].number = earlier;
  }
  for (auto [number, size] : *known)
    sizes.values[number].known = static_cast<int64_t>(size);
  return sizes;
}

FailureOr<Program> programIn(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kInputsAttr))
      continue;
    FailureOr<ProgramSizes> sizes = readSizes(function);
    if (failed(sizes))
      return failure();
    return Program{function, *std::move(sizes)};
  }
  return module.emitError("there is no program that --calque-lower-to-linalg has made");
}

void setSites(func::FuncOp program, ArrayRef<Attribute> sites) {
  if (!sites.empty())
    program->setAttr(kSitesAttr, ArrayAttr::get(program.getContext(), sites));
}

FailureOr<ArrayRef<Attribute>> sitesOf(func::FuncOp program) {
  Attribute attribute = program->getAttr(kSitesAttr);
  if (!attribute)
    return ArrayRef<Attribute>();
  auto sites = dyn_cast<ArrayAttr>(attribute);
  if (!sites)
    return refuseAttribute(program, kSitesAttr, attribute);
  return sites.getValue();
}

FailureOr<ProgramInterface> interfaceOf(const Program &program) {
  func::FuncOp function = program.function;
  FailureOr<ArrayRef<Attribute>> sites = sitesOf(function);
  if (failed(sites))
    return failure();
  ProgramInterface result;
  result.unknownInputs = program.sizes.inputs;
  result.unknownOutputs = program.sizes.outputs;
  auto workspace = cast<MemRefType>(function.getArgumentTypes().back());
  result.workspaceBytes = static_cast<size_t>(workspace.getNumElements());
  if (auto assigned = function->getAttrOfType<DenseI64ArrayAttr>(kAssignedAttr))
    result.assigned.assign(assigned.asArrayRef().begin(), assigned.asArrayRef().end());
  if (auto inPlace = function->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr))
    result.inPlace.assign(inPlace.asArrayRef().begin(), inPlace.asArrayRef().end());
  if (auto late = function->getAttrOfType<DenseI64ArrayAttr>(kLateAttr))
    result.late.assign(late.asArrayRef().begin(), late.asArrayRef().end());
  for (Attribute attribute : *sites) {
    std::optional<Site> site = toSite(attribute);
    if (!site)
      return refuseAttribute(function, kSitesAttr, attribute);
    result.sites.push_back(*std::move(site));
  }
  return result;
}

} // namespace calque::codegen
