#include "frontend/compiled/CapturedPanels.h"

#include "runtime/Fork.h"
#include "runtime/StridedCopy.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <mutex>

namespace calque::detail {

namespace {

using schema::OpId;
using schema::TensorType;
using schema::ValueId;
using Ints = std::vector<std::int64_t>;

// Columns of a panel: what a tile takes on every CPU, or several.
constexpr std::int64_t kWidth = 32;
// A smaller matrix stays in the first cache.
constexpr std::int64_t kLeastElements = 4096;
// Panels take memory once more.
constexpr std::size_t kMostBytes = std::size_t(256) << 20;
// Each row of the first operand goes through the second one, which fewer do not copy.
constexpr std::int64_t kFewestRows = 4;

// How a matrix lies in memory for a product: as panels, whose columns are side by side, or as one matrix of columns.
struct Layout {
  std::int64_t terms, columns, panels; // 0: no panels
  bool isTransposed;                   // as it is captured
  TensorType typeOf(DType dtype) const {
    return panels ? TensorType{dtype, {panels, terms, kWidth}} : TensorType{dtype, {terms, columns}};
  }
};

Ints intsOf(const schema::Attribute &attribute) { return std::get<Ints>(attribute); }

// The layout that a product with such a matrix gains by.
std::optional<Layout> layoutFor(const schema::Recording &recording, const schema::RecordedOp &op) {
  const TensorType &lhs = recording.typeOf(recording.operandsOf(op)[0]),
                   &rhs = recording.typeOf(recording.operandsOf(op)[1]);
  std::span<const schema::Attribute> attributes = recording.attributesOf(op);
  const Ints lhsBatch = intsOf(attributes[0]), lhsContracting = intsOf(attributes[2]),
             rhsContracting = intsOf(attributes[3]);
  if (!lhsBatch.empty() || lhsContracting.size() != 1 || rhs.rank() != 2 || rhs.numElements() < kLeastElements ||
      rhs.numBytes() > kMostBytes)
    return std::nullopt;
  std::int64_t rows = 1;
  for (std::int64_t axis = 0; axis < lhs.rank(); ++axis)
    if (axis != schema::normalAxis(lhsContracting[0], lhs.rank())) {
      std::int64_t size = lhs.dims[static_cast<std::size_t>(axis)];
      rows = size == schema::kOpenSize ? kFewestRows : std::min(rows * size, kFewestRows);
      if (rows == 0)
        return std::nullopt;
    }
  if (rows < kFewestRows)
    return std::nullopt;
  auto contracting = static_cast<std::size_t>(schema::normalAxis(rhsContracting[0], 2));
  Layout layout{rhs.dims[contracting], rhs.dims[1 - contracting], 0, contracting == 1};
  if (layout.columns % kWidth == 0)
    layout.panels = layout.columns / kWidth;
  return layout.panels || layout.isTransposed ? std::optional(layout) : std::nullopt;
}

Tensor laidOut(const Tensor &matrix, const Layout &layout, SourceLocation where) {
  const TensorImpl &impl = implOf(matrix, where);
  TensorType type = layout.typeOf(impl.type->dtype);
  runtime::Buffer buffer = allocate(type, where);
  const std::int64_t ofTerm = layout.isTransposed ? 1 : layout.columns,
                     ofColumn = layout.isTransposed ? layout.terms : 1;
  const std::int64_t width = layout.panels ? kWidth : layout.columns, panels = std::max<std::int64_t>(layout.panels, 1);
  const std::int64_t sizes[] = {panels, layout.terms, width}, from[] = {width * ofColumn, ofTerm, ofColumn},
                     to[] = {layout.terms * width, width, 1};
  runtime::copyStrided(buffer.data(), impl.buffer.data(), size_of(type.dtype), sizes, from, to);
  return makeEager(std::make_shared<const TensorType>(std::move(type)), std::move(buffer), where);
}

// The same for all traces of all functions, as long as one of them is there.
class SharedPanels {
public:
  Tensor of(const Tensor &matrix, const Layout &layout, SourceLocation where) {
    std::lock_guard guard(mutex);
    panels.eraseIf([](const auto &each) { return each.second.expired(); });
    std::weak_ptr<const TensorImpl> &kept = panels[{implOf(matrix, where).id, layout.isTransposed}];
    if (std::shared_ptr<const TensorImpl> there = kept.lock())
      return Tensor(std::move(there));
    Tensor made = laidOut(matrix, layout, where);
    kept = made.impl();
    return made;
  }

private:
  runtime::ForkMutex mutex;
  HashMap<std::pair<std::uint64_t, bool>, std::weak_ptr<const TensorImpl>> panels; // by the matrix
};
SharedPanels &sharedPanels() {
  static auto *panels = new SharedPanels; // functions may be destroyed after static objects
  return *panels;
}

} // namespace

std::unique_ptr<const CapturedPanels> panelsOf(const schema::Recording &recording, std::span<const Tensor> captures,
                                               SourceLocation where) {
  const std::size_t numArguments = recording.parameters.size() - captures.size();
  HashMap<ValueId, std::size_t> numbers; // of captures
  for (std::size_t i = 0; i < captures.size(); ++i)
    numbers[recording.parameters[numArguments + i]] = i;
  HashMap<const schema::RecordedOp *, Layout> products;
  std::vector<bool> isUsed(captures.size(), false); // as it is
  auto use = [&](ValueId value) {
    if (auto found = numbers.find(value); found != numbers.end())
      isUsed[found->second] = true;
  };
  for (const schema::RecordedOp &op : recording.ops()) {
    // A derivative asks for the very operations that lead from one value to another.
    if (schema::schemaOf(op.op).differentiates)
      return nullptr;
    std::span<const ValueId> operands = recording.operandsOf(op);
    if (op.op == OpId::Contract && numbers.contains(operands[1]))
      if (std::optional<Layout> layout = layoutFor(recording, op)) {
        products.emplace(&op, *layout);
        operands = operands.first(1);
      }
    std::for_each(operands.begin(), operands.end(), use);
  }
  if (products.empty())
    return nullptr;
  std::for_each(recording.results.begin(), recording.results.end(), use);

  auto made = std::make_unique<CapturedPanels>();
  made->recording.name = recording.name;
  made->recording.line = recording.line;
  made->recording.variables = recording.variables;
  std::vector<ValueId> renamed(recording.numValues(), -1);
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    ValueId parameter = recording.parameters[i];
    if (i >= numArguments && !isUsed[i - numArguments])
      continue;
    renamed[schema::index(parameter)] = made->recording.addParameter(recording.typeOf(parameter));
    if (i >= numArguments)
      made->captures.push_back(captures[i - numArguments]);
  }
  HashMap<std::pair<ValueId, std::int64_t>, ValueId> panels; // by capture and the dimension of its columns
  for (const schema::RecordedOp &op : recording.ops()) {
    auto product = products.find(&op);
    if (product == products.end())
      continue;
    const Layout &layout = product->second;
    ValueId capture = recording.operandsOf(op)[1];
    auto [found, isNew] = panels.try_emplace({capture, layout.isTransposed}, -1);
    if (!isNew)
      continue;
    made->captures.push_back(sharedPanels().of(captures[numbers.at(capture)], layout, where));
    found->second = made->recording.addParameter(layout.typeOf(recording.typeOf(capture).dtype));
  }
  for (const schema::RecordedOp &op : recording.ops()) {
    auto product = products.find(&op);
    if (product == products.end()) {
      made->recording.appendCopy(recording, op, renamed);
      continue;
    }
    const Layout &layout = product->second;
    std::span<const ValueId> operands = recording.operandsOf(op);
    const TensorType &type = recording.typeOf(op.firstResult);
    TensorType inPanels = type;
    if (layout.panels) {
      inPanels.dims.back() = layout.panels;
      inPanels.dims.push_back(kWidth);
    }
    const schema::Attribute attributes[] = {Ints(), Ints(), recording.attributesOf(op)[2], Ints{layout.panels ? 1 : 0}};
    const ValueId given[] = {renamed[schema::index(operands[0])], panels.at({operands[1], layout.isTransposed})};
    ValueId result = made->recording.append(OpId::Contract, given, attributes, {&inPanels, 1}, op.line);
    if (layout.panels) {
      const schema::Attribute axis[] = {type.rank() - 1};
      result = made->recording.append(OpId::MergeDims, {&result, 1}, axis, {&type, 1}, op.line);
    }
    renamed[schema::index(op.firstResult)] = result;
  }
  for (ValueId result : recording.results)
    made->recording.results.push_back(renamed[schema::index(result)]);
  return made;
}

} // namespace calque::detail
