#include "codegen/lowering/SmallOperations.h"
#include "codegen/lowering/Cumulative.h"
#include "codegen/lowering/SmallCode.h"
#include "codegen/lowering/SmallLibrary.h"
#include "ir/Conversion.h"
#include "ir/ElementType.h"
#include "runtime/Stacks.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

using Ints = SmallVector<int64_t>;

int64_t linear(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t at = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    at = at * size + i;
  return at;
}

Type scalarType(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return isa<ir::StackType>(element) ? Float64Type::get(value.getContext()) : element;
}

std::optional<schema::Movement> movementOf(Operation *op) {
  auto record = dyn_cast<ir::SchemaOpInterface>(op);
  schema::MoveRule rule = record ? schema::moveRuleOf(record.schemaId()) : nullptr;
  if (!rule)
    return std::nullopt;
  std::vector<schema::TensorType> operands, results;
  auto add = [](auto values, std::vector<schema::TensorType> &types) {
    for (Value value : values) {
      // A stack is moved as the number that it is.
      auto own = cast<RankedTensorType>(value.getType());
      std::optional<schema::TensorType> type = ir::toSchema(RankedTensorType::get(own.getShape(), scalarType(value)));
      if (!type || !cast<RankedTensorType>(value.getType()).hasStaticShape())
        return false;
      types.push_back(*std::move(type));
    }
    return true;
  };
  if (!add(op->getOperands(), operands) || !add(op->getResults(), results))
    return std::nullopt;
  std::vector<schema::Attribute> attributes;
  for (const schema::AttributeSchema &each : schema::schemaOf(record.schemaId()).attributes) {
    Attribute own = op->getAttr(StringRef(each.name.data(), each.name.size()));
    std::optional<schema::Attribute> converted = own ? ir::toSchema(own, each.kind) : std::nullopt;
    if (!converted)
      return std::nullopt;
    attributes.push_back(*std::move(converted));
  }
  return rule({record.schemaId(), operands, attributes}, results);
}

std::optional<Reduction> reductionOf(Operation *op) {
  auto of = [&](auto typed, schema::Scalar neutral, std::optional<bool> isMaximum, auto combine) {
    Ints axes(typed.getAxes());
    const int64_t rank = LinalgBuilder::rankOf(typed.getX());
    if (axes.empty())
      axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    for (int64_t &axis : axes)
      axis = normalAxis(axis, rank);
    return std::optional(Reduction{typed.getX(), axes, typed.getKeepdims(), neutral, isMaximum, combine});
  };
  using S = ir::ScalarBuilder;
  return TypeSwitch<Operation *, std::optional<Reduction>>(op)
      .Case([&](ir::SumOp sum) {
        return of(sum, std::int64_t(0), std::nullopt, [](S &s, Value a, Value b) { return s.add(a, b); });
      })
      .Case([&](ir::ProdOp product) {
        return of(product, std::int64_t(1), std::nullopt, [](S &s, Value a, Value b) { return s.mul(a, b); });
      })
      .Case([&](ir::AnyOp any) {
        return of(any, std::int64_t(0), std::nullopt, [](S &s, Value a, Value b) { return s.logicalOr(a, b); });
      })
      .Case([&](ir::AllOp all) {
        return of(all, std::int64_t(1), std::nullopt, [](S &s, Value a, Value b) { return s.logicalAnd(a, b); });
      })
      .Case([&](ir::ReduceMaxOp max) {
        return of(max, std::int64_t(0), true, [](S &s, Value a, Value b) { return s.maximum(a, b); });
      })
      .Case([&](ir::ReduceMinOp min) {
        return of(min, std::int64_t(0), false, [](S &s, Value a, Value b) { return s.minimum(a, b); });
      })
      .Case<ir::SumLikeOp, ir::StackSumLikeOp>([&](auto sum) {
        ArrayRef<int64_t> from = dimsOf(sum.getX()), to = dimsOf(sum.getLike());
        Ints axes;
        for (size_t i = 0, offset = from.size() - to.size(); i < from.size(); ++i)
          if (i < offset || (to[i - offset] == 1 && from[i] != 1))
            axes.push_back(static_cast<int64_t>(i));
        return std::optional(Reduction{sum.getX(), axes, true, std::int64_t(0), std::nullopt,
                                       [](S &s, Value a, Value b) { return s.add(a, b); }});
      })
      .Default(std::nullopt);
}

Product productOf(ir::ContractOp op) {
  Product product;
  ArrayRef<int64_t> batches[] = {op.getLhsBatch(), op.getRhsBatch()},
                    contractings[] = {op.getLhsContracting(), op.getRhsContracting()};
  for (int side : {0, 1}) {
    const int64_t rank = LinalgBuilder::rankOf(op->getOperand(side));
    for (int64_t axis : batches[side])
      product.batch[side].push_back(normalAxis(axis, rank));
    for (int64_t axis : contractings[side])
      product.contracting[side].push_back(normalAxis(axis, rank));
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(product.batch[side], i) && !llvm::is_contained(product.contracting[side], i))
        product.kept[side].push_back(i);
  }
  return product;
}
static int64_t termsOf(ir::ContractOp op) {
  int64_t terms = 1;
  for (int64_t axis : productOf(op).contracting[0])
    terms *= dimsOf(op.getLhs())[axis];
  return terms;
}

int64_t entryCount(Value stack, Value elements) {
  int64_t count = 1;
  for (int64_t size : dimsOf(elements).drop_front(dimsOf(stack).size()))
    count *= size;
  return count;
}
int64_t entryBytes(Value stack, Value elements) {
  return entryCount(stack, elements) * ir::ElementType(scalarType(elements)).bytes();
}

int64_t entryBytesIn(ir::WhileOp loop) {
  int64_t bytes = 0;
  loop.getBody().walk([&](ir::StackPushOp push) {
    if (push->getParentOfType<ir::WhileOp>() == loop)
      bytes +=
          countOf(push.getStack()) *
          static_cast<int64_t>(runtime::Stacks::bytesOf(static_cast<size_t>(entryBytes(push.getStack(), push.getX()))));
  });
  return bytes;
}

Value updatedBy(Operation *op) {
  if (auto update = dyn_cast<ir::UpdateAtOp>(op))
    return update.getX();
  std::optional<NamedSlices> named = namedSlicesOf(op);
  return named && named->updates ? named->x : Value();
}

std::optional<NamedSlices> namedSlicesOf(Operation *op) {
  using S = ir::ScalarBuilder;
  return TypeSwitch<Operation *, std::optional<NamedSlices>>(op)
      .Case([](ir::GatherNdOp read) { return NamedSlices{read.getX(), read.getIndices(), {}}; })
      .Case([](ir::GatherNdLastOp read) -> std::optional<NamedSlices> {
        if (countOf(read.getIndices()) != dimsOf(read.getIndices()).back())
          return std::nullopt;
        return NamedSlices{read.getX(), read.getIndices(), {}}; // of one index the last one is the only one
      })
      .Case([](ir::ScatterNdSetOp set) {
        return NamedSlices{set.getX(), set.getIndices(), set.getUpdates(),
                           [](S &, Value, Value update) { return update; }};
      })
      .Case([](ir::ScatterNdAddOp add) {
        return NamedSlices{add.getX(), add.getIndices(), add.getUpdates(),
                           [](S &s, Value old, Value update) { return s.add(old, update); }};
      })
      .Case([](ir::ScatterNdMaxOp max) {
        return NamedSlices{max.getX(), max.getIndices(), max.getUpdates(),
                           [](S &s, Value old, Value update) { return s.maximum(old, update); }};
      })
      .Default(std::nullopt);
}

// What reading or writing named slices costs. Each update of a value in registers looks at all of its elements.
static std::optional<int64_t> costOfSlices(const NamedSlices &named, Operation *op) {
  if (!isSmall(named.indices))
    return std::nullopt;
  ArrayRef<int64_t> whole = dimsOf(named.x);
  Value slices = named.updates ? named.updates : op->getResult(0);
  const auto isUnknown = [](int64_t size) { return size == ShapedType::kDynamic; };
  // An index into nothing fails, which other lowerings see to.
  if (!isSmall(slices) || llvm::any_of(whole.drop_front(named.numNamed()), isUnknown) || llvm::is_contained(whole, 0))
    return std::nullopt;
  return countOf(slices) * (isSmall(named.x) ? countOf(named.x) : 1) + 2 * countOf(named.indices);
}

bool isIdentity(Operation *op) { return isa<ir::BarrierOp, ir::StopGradientOp>(op); }

bool mayFail(Operation *op) {
  if (isa<ir::CondOp, ir::WhileOp>(op)) // what is within may
    return false;
  // An index that is known to be one of the axis.
  auto isWithin = [](Value index, Value x, int64_t axis) {
    DenseIntElementsAttr known;
    const int64_t size = dimsOf(x)[normalAxis(axis, LinalgBuilder::rankOf(x))];
    return matchPattern(index, m_Constant(&known)) && llvm::all_of(known.getValues<APInt>(), [&](const APInt &each) {
             return each.getSExtValue() >= 0 && each.getSExtValue() < size;
           });
  };
  if (auto gather = dyn_cast<ir::GatherOp>(op))
    return !isWithin(gather.getIndices(), gather.getX(), gather.getAxis());
  if (auto update = dyn_cast<ir::UpdateAtOp>(op))
    return !isWithin(update.getIndex(), update.getX(), update.getAxis());
  if (std::optional<NamedSlices> named = namedSlicesOf(op)) {
    DenseIntElementsAttr known;
    if (!matchPattern(named->indices, m_Constant(&known)))
      return true;
    return llvm::any_of(llvm::enumerate(known.getValues<APInt>()), [&](const auto &each) {
      const int64_t place = each.value().getSExtValue();
      return place < 0 || place >= dimsOf(named->x)[each.index() % named->numNamed()];
    });
  }
  if (isa<ir::AssertOp>(op))
    return true;
  if (auto library = dyn_cast<ir::LibraryOpInterface>(op))
    return mayLibraryFail(library);
  if (op->hasTrait<ir::MayFail>())
    return true;
  if (!op->hasTrait<ir::MayFailOnIntegers>() || !isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  DenseIntElementsAttr divisor;
  return !matchPattern(op->getOperand(1), m_Constant(&divisor)) ||
         llvm::any_of(divisor.getValues<APInt>(), [](const APInt &each) { return each.isZero(); });
}

// How many operations the result's element takes. Functions such as exp become polynomials, which are faster in
// vectors, as parts have them, for more than a few elements.
static int64_t costOfElement(ir::ElementwiseOpInterface op) {
  constexpr int64_t kFew = 8;
  const int64_t ofFunction = countOf(op->getResult(0)) > kFew ? 64 : 16;
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&scratch);
  ir::ScalarBuilder scalar(builder, op->getLoc());
  SmallVector<Value> elements;
  for (Value operand : op->getOperands())
    elements.push_back(scratch.addArgument(scalarType(operand), op->getLoc()));
  op.buildScalar(scalar, elements);
  int64_t cost = 0;
  for (Operation &each : scratch)
    cost += isa<math::MathDialect>(each.getDialect()) || isa<ir::ScalarFunctionOp>(each) ? ofFunction : 1;
  return cost;
}

static std::optional<int64_t> costOfBlock(Block &block) {
  int64_t cost = 0;
  for (Operation &op : block.without_terminator()) {
    std::optional<int64_t> own = smallCost(&op);
    if (!own)
      return std::nullopt;
    cost += *own;
    if (cost > kMostSmallCost)
      return std::nullopt;
  }
  return cost;
}

bool isSmall(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() && tensor.getNumElements() <= kMostSmallElements;
}

std::optional<int64_t> smallCost(Operation *op) {
  auto isOwn = [](auto values) { return llvm::all_of(values, [](Value value) { return isSmall(value); }); };
  if (isa<ir::CondOp, ir::WhileOp>(op)) {
    int64_t cost = 1;
    for (Value value : llvm::concat<const Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
      cost += isSmall(value) ? countOf(value) : 1;
    for (Region &region : op->getRegions()) {
      std::optional<int64_t> own = costOfBlock(region.front());
      if (!own)
        return std::nullopt;
      cost += *own;
    }
    // Entries that end with the iteration must be freed with it, those of loops within as well. The runtime sees to it.
    auto loop = dyn_cast<ir::WhileOp>(op);
    auto makesEntries = [&] {
      return loop.getBody().walk([](ir::StackPushOp) { return WalkResult::interrupt(); }).wasInterrupted();
    };
    const bool isRuntimes = loop && (!loop.getVarying().empty() || (makesEntries() && dropsStacks(loop)));
    return isRuntimes ? std::nullopt : std::optional(cost);
  }
  if (auto constant = dyn_cast<ir::ConstantOp>(op))
    return isSmall(constant) ? countOf(constant) : 1;
  // Slices have the sizes of the array but along the axis. If one of these is unknown, a check before the call must
  // compare.
  auto hasKnownSlices = [](Value array, int64_t axis) {
    Ints shape(dimsOf(array));
    shape.erase(shape.begin() + normalAxis(axis, static_cast<int64_t>(shape.size())));
    return !llvm::is_contained(shape, ShapedType::kDynamic);
  };
  if (auto update = dyn_cast<ir::UpdateAtOp>(op)) {
    if (!isOwn(ValueRange{update.getIndex(), update.getSlice()}) || !hasKnownSlices(update.getX(), update.getAxis()))
      return std::nullopt;
    return isSmall(update.getX()) ? countOf(update.getX()) : countOf(update.getSlice());
  }
  if (std::optional<NamedSlices> named = namedSlicesOf(op))
    return costOfSlices(*named, op);
  if (isIdentity(op) && !isSmall(op->getResult(0)))
    return 1;
  // A slice of an array stays where it is.
  if (auto gather = dyn_cast<ir::GatherOp>(op); gather && !isSmall(gather.getResult())) {
    const bool isSlice = gather.getAxis() == 0 && LinalgBuilder::rankOf(gather.getIndices()) == 0 &&
                         LinalgBuilder::typeOf(gather.getX()).hasStaticShape();
    return isSlice ? std::optional<int64_t>(2) : std::nullopt;
  }
  if (auto check = dyn_cast<ir::AssertOp>(op)) {
    const bool showsElements = check->getNumOperands() != 1 || LinalgBuilder::rankOf(check.getCondition()) != 0;
    return showsElements ? std::nullopt : std::optional<int64_t>(1);
  }
  if (op->getNumResults() == 0 || !isOwn(op->getResults()))
    return std::nullopt;
  if (auto library = dyn_cast<ir::LibraryOpInterface>(op))
    return libraryCost(library);
  if (auto push = dyn_cast<ir::StackPushOp>(op))
    return isSmall(push.getX()) ? std::optional(4 * countOf(push.getStack()) + countOf(push.getX())) : std::nullopt;
  if (auto pop = dyn_cast<ir::StackPopOp>(op))
    return 8 * countOf(pop.getStack()) + countOf(pop.getEntry());
  if (auto empty = dyn_cast<ir::StackEmptyOp>(op))
    return countOf(empty.getResult());
  if (auto gather = dyn_cast<ir::GatherOp>(op)) {
    const int64_t length = dimsOf(gather.getX())[normalAxis(gather.getAxis(), LinalgBuilder::rankOf(gather.getX()))];
    if (length == 0 || !isSmall(gather.getIndices()) || !hasKnownSlices(gather.getX(), gather.getAxis()))
      return std::nullopt;
    return countOf(gather.getResult()) * (isSmall(gather.getX()) ? length : 1) + 2 * countOf(gather.getIndices());
  }
  if (auto put = dyn_cast<ir::GatherPutOp>(op)) {
    const int64_t length = dimsOf(put.getResult())[normalAxis(put.getAxis(), LinalgBuilder::rankOf(put.getResult()))];
    if (length == 0 || !isSmall(put.getSlices()) || !isSmall(put.getIndices()))
      return std::nullopt;
    return countOf(put.getSlices()) * length + 2 * countOf(put.getIndices());
  }
  if (isa<ir::IotaOp>(op))
    return countOf(op->getResult(0));
  if (isa<ir::AxisSizeOp, ir::SizeOfOp>(op)) // arrays have the sizes that the types don't know
    return LinalgBuilder::rankOf(op->getOperand(0));
  if (std::optional<schema::Movement> movement = movementOf(op))
    return isOwn(op->getOperands()) ? 0 : countOf(op->getResult(0));
  if (!isOwn(op->getOperands()))
    return std::nullopt;
  // Each element is chosen from its row.
  if (isa<ir::TakeAlongAxisOp, ir::PutAlongAxisOp>(op)) {
    const bool takes = isa<ir::TakeAlongAxisOp>(op);
    Value x = takes ? op->getOperand(0) : op->getResult(0);
    const int64_t axis = takes ? cast<ir::TakeAlongAxisOp>(op).getAxis() : cast<ir::PutAlongAxisOp>(op).getAxis();
    const int64_t length = dimsOf(x)[normalAxis(axis, LinalgBuilder::rankOf(x))];
    // An index into nothing fails, which other lowerings see to.
    return length == 0 ? std::nullopt : std::optional(countOf(op->getOperands().back()) * (length + 2));
  }
  if (isa<ir::ArgMaxOp, ir::ArgMinOp>(op))
    return countOf(op->getOperand(0)) == 0 ? std::nullopt : std::optional(4 * countOf(op->getOperand(0)));
  if (isa<ir::RandomUniformOp>(op)) {
    constexpr int64_t kPhilox = 120;
    return kPhilox * countOf(op->getResult(0));
  }
  if (cumulationOf(op)) {
    constexpr int64_t kMostOfStep = 10;
    return kMostOfStep * countOf(op->getResult(0));
  }
  if (auto elementwise = dyn_cast<ir::ElementwiseOpInterface>(op))
    return countOf(op->getResult(0)) * costOfElement(elementwise);
  if (std::optional<Reduction> reduction = reductionOf(op)) {
    // The largest of nothing is an error, which the sizes tell before the call.
    if (reduction->isMaximum && countOf(reduction->x) == 0)
      return std::nullopt;
    return countOf(reduction->x);
  }
  if (auto product = dyn_cast<ir::ContractOp>(op))
    return countOf(product.getResult()) * std::max<int64_t>(1, termsOf(product));
  if (isa<ir::StackIsEmptyOp, ir::StackAddOp>(op))
    return countOf(op->getResult(0));
  return isIdentity(op) ? std::optional<int64_t>(0) : std::nullopt;
}

} // namespace calque::codegen
