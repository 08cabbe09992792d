#include "ir/BatchRule.h"
#include "ir/Conversion.h"
#include "ir/GradientRule.h"
#include "ir/Import.h"
#include "ir/Regions.h"
#include "ir/Values.h"

using namespace mlir;

namespace calque::ir {

// Verifies the list of a function's variables, because passes rely on it.
LogicalResult CalqueDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kVariablesAttr)
    return success();
  auto variables = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!variables)
    return op->emitOpError("attribute '")
           << kVariablesAttr << "' must be an array of {name, type}, not " << attribute.getValue();
  for (Attribute variable : variables) {
    auto fields = dyn_cast<DictionaryAttr>(variable);
    auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
    if (!type || !fields.getAs<StringAttr>("name"))
      return op->emitOpError("attribute '")
             << kVariablesAttr << "' must hold {name = \"...\", type = tensor<...>}, not " << variable;
    if (!toSchema(type.getValue()))
      return op->emitOpError("attribute '")
             << kVariablesAttr << "' names a type that is not a tensor of the dialect: " << type;
  }
  return success();
}

LogicalResult VariableAssignOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("assigns a variable, which can't hold a value for each of many examples; do it outside of "
                     "vmap, or draw random numbers by stateless functions from a state for each");
}

// One state gives every example the same numbers, as it does where the sizes are known.
LogicalResult RandomUniformOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(0))
    return rule.unrolled(results);
  SmallVector<Value> sources;
  SmallVector<int64_t> sizes(getSizes());
  for (unsigned i = 1; i < rule.numOperands(); ++i)
    sources.push_back(rule[i]);
  for (size_t i = 0; i < sizes.size(); i += 2)
    if (rule.isBatched(sizes[i]))
      sizes[i + 1] = rule.shifted(sizes[i + 1], rule.rank(sizes[i]));
  results.push_back(
      rule.repeated(rule.create<RandomUniformOpenOp>(rule[0], sources, getShape(), sizes, getDtypeAttr())));
  return success();
}

namespace {
schema::ExternRules *externRules = nullptr;
}
void setExternRules(schema::ExternRules *rules) { externRules = rules; }

// By the user's rule, or once for each example.
static LogicalResult buildBatchedExtern(BatchRule &rule, StringRef symbol, SmallVectorImpl<Value> &results) {
  std::vector<schema::TensorType> types;
  std::vector<bool> batched;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < rule.numOperands(); ++i) {
    operands.push_back(rule[i]);
    types.push_back(*toSchema(rule[i].getType()));
    batched.push_back(rule.isBatched(i));
  }
  std::string error;
  schema::RecordingRef program = externRules ? externRules->batched(symbol.str(), types, batched, error) : nullptr;
  if (!error.empty())
    return rule.refuse("has a batching rule that fails: " + error);
  if (!program)
    return rule.unrolled(results);
  if (program->results.size() != rule.op->getNumResults())
    return rule.refuse("'" + symbol + "': its batching rule gives " +
                       schema::counted(program->results.size(), "result") + ", not " + Twine(rule.op->getNumResults()));
  for (auto [i, result] : llvm::enumerate(rule.op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> sizes{rule.size()};
    llvm::append_range(sizes, type.getShape());
    schema::TensorType given = program->typeOf(program->results[i]);
    RankedTensorType computed = toMlir(given, rule.op->getContext());
    if (computed.getElementType() != type.getElementType() || failed(verifyCompatibleShape(sizes, computed.getShape())))
      return rule.refuse("'" + symbol + "': result " + Twine(i) + " of its batching rule is " + given.str() +
                         ", and that of one example is " + toSchema(type)->str());
  }
  llvm::append_range(results, importBody(*program, operands, rule.builder));
  return success();
}

LogicalResult ExternOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return buildBatchedExtern(rule, getSymbol(), results);
}

//===-- ordered_extern --------------------------------------------------------------------------===//

// One that a derivative has emitted has an effect only if something needs its results.
void OrderedExternOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getRepeats() != kEmitted)
    effects.emplace_back(MemoryEffects::Write::get());
}

namespace {
// The types of values in the form of the attribute `types`.
SmallVector<int64_t> typesOf(ValueRange values) {
  SmallVector<int64_t> types;
  for (Value value : values) {
    const schema::TensorType type = *toSchema(value.getType());
    types.push_back(static_cast<int64_t>(type.dtype));
    types.push_back(static_cast<int64_t>(type.dims.size()));
    llvm::append_range(types, type.dims);
  }
  return types;
}
} // namespace

// The operation is linear in its floats: its transpose takes the cotangents of all float results. One without a
// transpose has a gradient by a custom_gradient around it, or none, which the front end refuses.
void OrderedExternOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getInputs().size(), Value());
  if (getTranspose().empty())
    return;
  SmallVector<Value> seeds;
  for (auto [cotangent, result] : llvm::zip_equal(cotangents, getResults()))
    if (isDifferentiable(result))
      seeds.push_back(cotangent ? cotangent : zerosLike(builder, getLoc(), result));
  SmallVector<Value> inputs;
  SmallVector<unsigned> numbers = differentiableAmong(getInputs());
  for (unsigned number : numbers) {
    inputs.push_back(getInputs()[number]);
    if (!typeOf(inputs.back()).hasStaticShape()) {
      emitOpError("'") << getSymbol() << "' has no gradient for operands of unknown sizes";
      return;
    }
  }
  auto transposed = OrderedExternOp::create(builder, getLoc(), TypeRange(ValueRange(inputs)), seeds, getTranspose(),
                                            typesOf(inputs), getSymbol(), kEmitted);
  for (auto [number, cotangent] : llvm::zip_equal(numbers, transposed.getResults()))
    operandCotangents[number] = cotangent;
}

void OrderedExternOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(getNumResults(), Value());
  if (getTranspose().empty())
    return;
  SmallVector<Value> directions;
  for (auto [tangent, input] : llvm::zip_equal(tangents, getInputs())) {
    Value direction = isDifferentiable(input) ? zerosLike(builder, getLoc(), input) : input;
    directions.push_back(tangent ? tangent : direction);
  }
  auto moved = OrderedExternOp::create(builder, getLoc(), getResultTypes(), directions, getSymbol(), getTypes(),
                                       getTranspose(), kEmitted);
  llvm::copy(moved.getResults(), resultTangents.begin());
}

LogicalResult OrderedExternOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  Block *block = rule.builder.getInsertionBlock();
  Block::iterator end = rule.builder.getInsertionPoint();
  Operation *last = end == block->begin() ? nullptr : &*std::prev(end);
  if (failed(buildBatchedExtern(rule, getSymbol(), results)))
    return failure();
  if (getRepeats() == kEmitted) // so is what stands for it
    for (auto it = last ? std::next(Block::iterator(last)) : block->begin(); it != end; ++it)
      markEmitted(&*it);
  return success();
}

} // namespace calque::ir
