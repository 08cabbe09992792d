// Puts neighbouring terms of products of small integers into one word, because CPUs multiply them and add their
// products in one instruction.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/Constants.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "codegen/tensors/Ranges.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_PACKPRODUCTS
#include "codegen/Passes.h.inc"

namespace {

using Size = OpFoldResult;
using SizeList = SmallVector<Size>;

// Fewer terms are not worth the instructions that pack them.
constexpr int64_t kFewTerms = 8;
// Nor are products of so few elements, or elements that are in memory as words already and are used this rarely.
constexpr int64_t kFewProducts = 4096, kFewUses = 16;
constexpr int64_t kUnknown = 1 << 20; // taken for an unknown number of iterations, which may be many

// What computes the elements of a tensor, one by one, if that can be done again where they are packed.
linalg::GenericOp producerOf(Value tensor) {
  constexpr size_t kLongestBody = 16;
  auto made = tensor.getDefiningOp<linalg::GenericOp>();
  if (!made || !made.hasPureTensorSemantics() || made->getNumResults() != 1 || made.getNumReductionLoops() ||
      !made.getIndexingMapMatchingResult(cast<OpResult>(tensor)).isPermutation() ||
      made.payloadUsesValueFromOperand(made.getDpsInitOperand(0)) ||
      made.getBody()->getOperations().size() > kLongestBody)
    return {};
  // Bodies that ask for their place or read tensors by themselves stay where they are.
  auto isPlain = [](Operation &op) {
    return op.getNumRegions() == 0 && !isa<linalg::IndexOp, tensor::ExtractOp>(op) &&
           llvm::none_of(op.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
  };
  return llvm::all_of(made.getBody()->without_terminator(), isPlain) ? made : linalg::GenericOp();
}

bool isSumOfProducts(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getBody()->getOperations().size() != 3 || op->getNumResults() != 1)
    return false;
  auto multiply = dyn_cast<arith::MulIOp>(op.getBody()->front());
  auto add = multiply ? dyn_cast<arith::AddIOp>(multiply->getNextNode()) : arith::AddIOp();
  if (!add || !isInt32(add) || op.getBody()->getTerminator()->getOperand(0) != add.getResult())
    return false;
  auto operandsAre = [](Operation *each, Value x, Value y) {
    return (each->getOperand(0) == x && each->getOperand(1) == y) ||
           (each->getOperand(0) == y && each->getOperand(1) == x);
  };
  Block &body = *op.getBody();
  return operandsAre(multiply, body.getArgument(0), body.getArgument(1)) &&
         operandsAre(add, multiply, body.getArgument(2));
}

// What is packed of an operand: a value that its producer computes, and a number that is added to it.
struct Packed {
  Value value; // null: the operand's elements
  int64_t added = 0;
  Value subtracted; // from the value, by the producer; it is the same for all terms. Null: nothing
};

// A sum of products whose terms can be packed along a loop, which is a dimension of each operand.
struct Product {
  linalg::GenericOp op;
  unsigned loop;
  int64_t terms;
  std::array<unsigned, 2> dimensions;
  std::array<Packed, 2> packed;
  // Of bytes: the operand without a sign. Nothing: pairs.
  std::optional<unsigned> first;

  unsigned bits() const { return first ? 8 : 16; }
  int64_t perWord() const { return 32 / bits(); }
};

// The only dimension of an operand that a loop runs along, if it reads one element after the other.
std::optional<unsigned> dimensionAlong(AffineMap map, unsigned loop) {
  std::optional<unsigned> found;
  for (auto [dimension, expression] : llvm::enumerate(map.getResults())) {
    if (!expression.isFunctionOfDim(loop))
      continue;
    if (found || !isa<AffineDimExpr>(expression))
      return std::nullopt;
    found = static_cast<unsigned>(dimension);
  }
  return found;
}

// The operations of a body that compute a value, in their order.
SmallVector<Operation *> operationsFor(linalg::GenericOp op, Value value) {
  llvm::SmallPtrSet<Operation *, 8> needed;
  if (Operation *last = value.getDefiningOp())
    needed.insert(last);
  SmallVector<Operation *> found;
  for (Operation &each : llvm::reverse(op.getBody()->without_terminator()))
    if (needed.contains(&each)) {
      found.push_back(&each);
      for (Value operand : each.getOperands())
        if (Operation *before = operand.getDefiningOp())
          needed.insert(before);
    }
  std::reverse(found.begin(), found.end());
  return found;
}

// The inputs of an operation from which a value of its body is computed, with their maps from the loops of what reads
// the operation's result by `map`.
SmallVector<std::pair<OpOperand *, AffineMap>> inputsOf(linalg::GenericOp made, Value value, AffineMap map) {
  AffineMap loops = inversePermutation(made.getIndexingMapMatchingResult(made->getResult(0))).compose(map);
  llvm::SmallPtrSet<Value, 4> read;
  read.insert(value);
  for (Operation *op : operationsFor(made, value))
    read.insert(op->operand_begin(), op->operand_end());
  SmallVector<std::pair<OpOperand *, AffineMap>> inputs;
  for (OpOperand *input : made.getDpsInputOperands())
    if (read.contains(made.getMatchingBlockArgument(input)))
      inputs.push_back({input, made.getMatchingIndexingMap(input).compose(loops)});
  return inputs;
}

class Search {
public:
  Search(Ranges &ranges, bool bytes) : ranges(ranges), bytes(bytes) {}

  std::optional<Product> productOf(linalg::GenericOp op) {
    if (!isSumOfProducts(op) || op->hasAttr(kBordersAttr))
      return std::nullopt;
    extents = op.getStaticLoopRanges();
    if (timesOf([](unsigned) { return true; }) < kFewProducts)
      return std::nullopt;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      const bool isPackedAnyway = producerOf(input->get()) && input->get().hasOneUse();
      if (!ranges.of(input->get()).isIn(Range::ofBits(16, true)) ||
          (!isPackedAnyway && timesOf([&](unsigned loop) { return !map.isFunctionOfDim(loop); }) < kFewUses))
        return std::nullopt;
    }
    std::optional<Product> best;
    SmallVector<unsigned> terms;
    op.getReductionDims(terms);
    for (unsigned loop : terms) {
      auto ofLeft = dimensionAlong(op.getIndexingMapsArray()[0], loop),
           ofRight = dimensionAlong(op.getIndexingMapsArray()[1], loop);
      if (ofLeft && ofRight && !ShapedType::isDynamic(extents[loop]) && extents[loop] >= kFewTerms &&
          (!best || extents[loop] > best->terms))
        best = Product{op, loop, extents[loop], {*ofLeft, *ofRight}, {}, std::nullopt};
    }
    if (best && bytes)
      useBytes(*best);
    return best;
  }

private:
  int64_t timesOf(function_ref<bool(unsigned)> has) const {
    int64_t times = 1;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (has(loop))
        times = std::min(times, kUnknown) * (ShapedType::isDynamic(extents[loop]) ? kUnknown : extents[loop]);
    return times;
  }

  // Packs bytes, if both operands are bytes less a number that is the same for all terms.
  void useBytes(Product &product) {
    linalg::GenericOp op = product.op;
    SmallVector<unsigned> terms;
    op.getReductionDims(terms);
    // What is added to the results needs sums over all terms of an operand, and a fill with which the results begin.
    auto isKnown = [&](unsigned loop) { return !ShapedType::isDynamic(extents[loop]); };
    auto hasTerms = [&](AffineMap map) {
      return map.isProjectedPermutation() &&
             llvm::all_of(terms, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
    };
    const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (!llvm::all_of(terms, isKnown) || !hasTerms(maps[0]) || !hasTerms(maps[1]) ||
        !maps[2].isProjectedPermutation() || maps[2].getNumResults() + terms.size() != op.getNumLoops() ||
        !isFilled(op.getDpsInits()[0]))
      return;
    std::array<Packed, 2> packed;
    std::array<Range, 2> of;
    for (unsigned i : {0u, 1u}) {
      std::optional<Packed> found = bytesOf(op.getDpsInputs()[i], maps[i], terms, of[i]);
      if (!found)
        return;
      packed[i] = *found;
    }
    // Of the two ways, the one that sums fewer elements of the operands.
    std::optional<int64_t> least;
    for (unsigned first : {0u, 1u}) {
      std::array<Packed, 2> shifted = packed;
      if (!of[first].isIn(Range::ofBits(8, false)))
        shifted[first].added = 128;
      if (!of[1 - first].isIn(Range::ofBits(8, true)))
        shifted[1 - first].added = -128;
      int64_t summed = 0;
      for (unsigned i : {0u, 1u})
        if (shifted[i].added || shifted[i].subtracted)
          summed += timesOf([&](unsigned loop) { return maps[1 - i].isFunctionOfDim(loop); });
      if (least && *least <= summed)
        continue;
      least = summed;
      product.packed = shifted;
      product.first = first;
    }
  }

  static bool isFilled(Value results) {
    auto fill = results.getDefiningOp<linalg::FillOp>();
    return fill && isConstant(fill.getInputs()[0]);
  }

  std::optional<Packed> bytesOf(Value tensor, AffineMap map, ArrayRef<unsigned> terms, Range &range) {
    auto areBytes = [&] { return range.isIn(Range::ofBits(8, false)) || range.isIn(Range::ofBits(8, true)); };
    range = ranges.of(tensor);
    if (areBytes())
      return Packed();
    linalg::GenericOp made = producerOf(tensor);
    auto difference =
        made ? made.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SubIOp>() : arith::SubIOp();
    if (!difference || difference->getBlock() != made.getBody())
      return std::nullopt;
    range = ranges.in(made, difference.getLhs());
    if (!areBytes())
      return std::nullopt;
    for (const auto &[input, ofInput] : inputsOf(made, difference.getRhs(), map))
      if (llvm::any_of(terms, [&](unsigned loop) { return ofInput.isFunctionOfDim(loop); }))
        return std::nullopt;
    return Packed{difference.getLhs(), 0, difference.getRhs()};
  }

  Ranges &ranges;
  const bool bytes;
  SmallVector<int64_t> extents; // of the loops of the product
};

// Emits the words of one operand. Its elements are computed where they are packed, so that no other tensor has them.
class Packer {
public:
  Packer(OpBuilder &builder, Value tensor, unsigned along, const Product &product, const Packed &packed)
      : b(builder), location(tensor.getLoc()), made(producerOf(tensor)), packed(packed), bits(product.bits()),
        perWord(product.perWord()) {
    const auto rank = static_cast<unsigned>(cast<RankedTensorType>(tensor.getType()).getRank());
    order = b.getMultiDimIdentityMap(rank);
    if (!made) {
      sources.push_back({tensor, order});
    } else {
      wanted = packed.value ? packed.value : made.getBody()->getTerminator()->getOperand(0);
      for (const auto &[input, map] : inputsOf(made, wanted, order)) {
        sources.push_back({input->get(), map});
        arguments.push_back(made.getMatchingBlockArgument(input));
      }
      // A transpose of what is read is left to the product, which reads words in any order.
      auto whole = llvm::find_if(sources, [](const Input &input) { return input.second.isPermutation(); });
      if (whole != sources.end())
        order = whole->second;
    }
    const AffineMap back = inversePermutation(order);
    for (Input &input : sources)
      input.second = input.second.compose(back);
    dimension = *order.getResultPosition(b.getAffineDimExpr(along));
    const SizeList ofTensor = tensor::getMixedSizes(b, location, tensor);
    for (unsigned i = 0; i < rank; ++i)
      shape.push_back(ofTensor[order.getDimPosition(i)]);
  }

  // From the dimensions of the tensor to those of the words.
  AffineMap order;

  // Words of all terms. Those of the last word that there are not are zeros.
  Value emit(int64_t terms) {
    const int64_t whole = terms / perWord, rest = terms % perWord;
    auto of = [&](int64_t count) {
      SizeList sizes = shape;
      sizes[dimension] = b.getIndexAttr(count);
      return sizes;
    };
    if (!rest)
      return words(of(whole), perWord, [&](int64_t j) { return b.getAffineDimExpr(dimension) * perWord + j; });
    Value all = tensor::EmptyOp::create(b, location, of(whole + 1), b.getI32Type());
    auto insert = [&](Value part, int64_t first, int64_t count) {
      SizeList starts(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
      starts[dimension] = b.getIndexAttr(first);
      all = tensor::InsertSliceOp::create(b, location, part, all, starts, of(count), steps);
    };
    insert(words(of(whole), perWord, [&](int64_t j) { return b.getAffineDimExpr(dimension) * perWord + j; }), 0, whole);
    insert(words(of(1), rest, [&](int64_t j) { return b.getAffineConstantExpr(whole * perWord + j); }), whole, 1);
    return all;
  }

private:
  using Input = std::pair<Value, AffineMap>;

  // Words of the first `count` terms each; `term` is the place of a word's j-th one.
  Value words(ArrayRef<Size> sizes, int64_t count, function_ref<AffineExpr(int64_t)> term) {
    const auto rank = static_cast<unsigned>(sizes.size());
    llvm::SmallMapVector<Input, unsigned, 4> inputs;
    SmallVector<SmallVector<unsigned>> numbers; // of the inputs of each term
    for (int64_t j = 0; j < count; ++j) {
      SmallVector<AffineExpr> at;
      for (unsigned i = 0; i < rank; ++i)
        at.push_back(i == dimension ? term(j) : b.getAffineDimExpr(i));
      numbers.emplace_back();
      for (const auto &[value, map] : sources) {
        Input input{value, map.replaceDimsAndSymbols(at, {}, rank, 0)};
        numbers.back().push_back(inputs.insert({input, inputs.size()}).first->second);
      }
    }
    SmallVector<Value> values;
    SmallVector<AffineMap> maps;
    for (const auto &[input, number] : inputs) {
      values.push_back(input.first);
      maps.push_back(input.second);
    }
    maps.push_back(b.getMultiDimIdentityMap(rank));
    Value place = tensor::EmptyOp::create(b, location, sizes, b.getI32Type());
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    return linalg::GenericOp::create(b, location, TypeRange{place.getType()}, values, ValueRange{place}, maps, loops,
                                     [&](OpBuilder &inner, Location, ValueRange elements) {
                                       Value word;
                                       for (auto [j, ofTerm] : llvm::enumerate(numbers)) {
                                         auto own = llvm::map_to_vector(
                                             ofTerm, [&](unsigned number) { return elements[number]; });
                                         word = withTerm(inner, word, element(inner, own), static_cast<int64_t>(j));
                                       }
                                       linalg::YieldOp::create(inner, location, word);
                                     })
        .getResult(0);
  }

  Value element(OpBuilder &inner, ArrayRef<Value> elements) {
    Value value;
    if (!made) {
      value = elements[0];
    } else {
      IRMapping mapping;
      for (auto [argument, given] : llvm::zip_equal(arguments, elements))
        mapping.map(argument, given);
      for (Operation *op : operationsFor(made, wanted))
        inner.clone(*op, mapping);
      value = mapping.lookupOrDefault(wanted);
    }
    if (!packed.added)
      return value;
    Value added =
        arith::ConstantOp::create(inner, location, inner.getI32IntegerAttr(static_cast<int32_t>(packed.added)));
    return arith::AddIOp::create(inner, location, value, added);
  }

  // A word with one more number, whose upper bits are dropped.
  Value withTerm(OpBuilder &inner, Value word, Value number, int64_t j) {
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(inner, location, inner.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    if (j + 1 < perWord)
      number = arith::AndIOp::create(inner, location, number, constant((int64_t(1) << bits) - 1));
    if (j)
      number = arith::ShLIOp::create(inner, location, number, constant(j * bits));
    return word ? arith::OrIOp::create(inner, location, word, number).getResult() : number;
  }

  OpBuilder &b;
  Location location;
  linalg::GenericOp made;
  Packed packed;
  const int64_t bits, perWord;
  unsigned dimension;           // of the words, along which the terms are
  SizeList shape;               // of the elements in that order
  Value wanted;                 // of what the producer computes
  SmallVector<Input> sources;   // with their maps from the places of the elements
  SmallVector<Value> arguments; // of the producer's body, for these
};

// Emits a product of words in place of one of elements.
class Emitter {
public:
  explicit Emitter(const Product &product) : product(product), op(product.op), location(op.getLoc()), b(op) {}

  void emit() {
    for (unsigned i : {0u, 1u}) {
      Packer packer(b, op.getDpsInputs()[i], product.dimensions[i], product, product.packed[i]);
      words.push_back(packer.emit(product.terms));
      maps.push_back(packer.order.compose(op.getIndexingMapsArray()[i]));
    }
    maps.push_back(op.getIndexingMapsArray()[2]);
    Value results = corrects(0) || corrects(1) ? correction() : op.getDpsInits()[0];
    auto sums =
        linalg::GenericOp::create(b, location, TypeRange{results.getType()}, words, ValueRange{results}, maps,
                                  op.getIteratorTypesArray(), [&](OpBuilder &inner, Location, ValueRange elements) {
                                    Value dots = dot(inner, elements[0], elements[1]);
                                    Value sum = arith::AddIOp::create(inner, location, elements[2], dots);
                                    linalg::YieldOp::create(inner, location, sum);
                                  });
    op.replaceAllUsesWith(sums);
  }

private:
  // The products of two words, of the left and the right operand.
  Value dot(OpBuilder &inner, Value left, Value right) {
    if (!product.first)
      return ir::ScalarFunctionOp::create(inner, location, inner.getI32Type(), kDotOfPairs, ValueRange{left, right});
    if (*product.first == 1)
      std::swap(left, right);
    return ir::ScalarFunctionOp::create(inner, location, inner.getI32Type(), kDotOfBytes, ValueRange{left, right});
  }

  // An operand is what is packed less `added` and `subtracted`. Whether these are anything.
  bool corrects(unsigned i) const { return product.packed[i].added || product.packed[i].subtracted; }
  Value constant(OpBuilder &inner, int64_t value) {
    return arith::ConstantOp::create(inner, location, inner.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  // What the results begin with. With x and y packed, and p and q what they have too much,
  // sum (x - p) (y - q) = sum x y - p sum y - q sum x + n p q.
  Value correction() {
    SmallVector<Value> inputs;
    const unsigned rank = maps[2].getNumResults();
    // The loops of the product at an element of the results. Those over terms have no place.
    SmallVector<AffineExpr> place(op.getNumLoops(), b.getAffineConstantExpr(0));
    for (unsigned i = 0; i < rank; ++i)
      place[maps[2].getDimPosition(i)] = b.getAffineDimExpr(i);
    SmallVector<AffineMap> inputMaps;
    auto take = [&](Value tensor, AffineMap map) {
      inputs.push_back(tensor);
      inputMaps.push_back(map.replaceDimsAndSymbols(place, {}, rank, 0));
      return static_cast<unsigned>(inputs.size() - 1);
    };
    std::array<std::optional<unsigned>, 2> sums;
    std::array<SmallVector<std::pair<Value, unsigned>>, 2> read; // arguments of producers' bodies
    for (unsigned i : {0u, 1u}) {
      if (corrects(1 - i)) {
        auto [tensor, map] = sumOf(i);
        sums[i] = take(tensor, map);
      }
      if (product.packed[i].subtracted) {
        linalg::GenericOp made = producerOf(op.getDpsInputs()[i]);
        for (auto [input, map] : inputsOf(made, product.packed[i].subtracted, op.getIndexingMapsArray()[i]))
          read[i].push_back({made.getMatchingBlockArgument(input), take(input->get(), map)});
      }
    }
    inputMaps.push_back(b.getMultiDimIdentityMap(rank));
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &inner, Location, ValueRange elements) {
      Value result = fill.getInputs()[0];
      std::array<Value, 2> tooMuch;
      for (unsigned i : {0u, 1u})
        if (corrects(i)) {
          tooMuch[i] = constant(inner, product.packed[i].added);
          if (product.packed[i].subtracted)
            tooMuch[i] = arith::AddIOp::create(inner, location, subtracted(inner, i, read[i], elements), tooMuch[i]);
          Value ofSum = arith::MulIOp::create(inner, location, tooMuch[i], elements[*sums[1 - i]]);
          result = arith::SubIOp::create(inner, location, result, ofSum);
        }
      if (tooMuch[0] && tooMuch[1]) {
        Value both = arith::MulIOp::create(inner, location, tooMuch[0], tooMuch[1]);
        both = arith::MulIOp::create(inner, location, both, constant(inner, numberOfTerms()));
        result = arith::AddIOp::create(inner, location, result, both);
      }
      linalg::YieldOp::create(inner, location, result);
    };
    Value begin =
        tensor::EmptyOp::create(b, location, tensor::getMixedSizes(b, location, fill.getOutputs()[0]), b.getI32Type());
    return linalg::GenericOp::create(b, location, TypeRange{begin.getType()}, inputs, ValueRange{begin}, inputMaps,
                                     loops, body)
        .getResult(0);
  }

  Value subtracted(OpBuilder &inner, unsigned i, ArrayRef<std::pair<Value, unsigned>> read, ValueRange elements) {
    linalg::GenericOp made = producerOf(op.getDpsInputs()[i]);
    IRMapping mapping;
    for (auto [argument, number] : read)
      mapping.map(argument, elements[number]);
    for (Operation *each : operationsFor(made, product.packed[i].subtracted))
      inner.clone(*each, mapping);
    return mapping.lookupOrDefault(product.packed[i].subtracted);
  }

  int64_t numberOfTerms() {
    uint32_t count = 1; // it wraps, as sums do
    for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
      if (isOverTerms(static_cast<unsigned>(loop)))
        count *= static_cast<uint32_t>(extent);
    return static_cast<int32_t>(count);
  }
  bool isOverTerms(unsigned loop) { return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction; }

  // The sums of an operand's packed elements over all terms, and the map from the product's loops to their places.
  std::pair<Value, AffineMap> sumOf(unsigned i) {
    const unsigned rank = maps[i].getNumResults();
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    SmallVector<AffineExpr> kept, ofProduct;
    SizeList sizes = tensor::getMixedSizes(b, location, words[i]), shape;
    for (unsigned dimension = 0; dimension < rank; ++dimension) {
      if (isOverTerms(maps[i].getDimPosition(dimension))) {
        loops[dimension] = utils::IteratorType::reduction;
        continue;
      }
      kept.push_back(b.getAffineDimExpr(dimension));
      ofProduct.push_back(maps[i].getResult(dimension));
      shape.push_back(sizes[dimension]);
    }
    Value zero = constant(b, 0), begin = tensor::EmptyOp::create(b, location, shape, b.getI32Type());
    begin = linalg::FillOp::create(b, location, ValueRange{zero}, ValueRange{begin}).getResult(0);
    AffineMap ofWords = b.getMultiDimIdentityMap(rank), ofSums = AffineMap::get(rank, 0, kept, b.getContext());
    auto sum = linalg::GenericOp::create(
        b, location, TypeRange{begin.getType()}, ValueRange{words[i]}, ValueRange{begin}, ArrayRef({ofWords, ofSums}),
        loops, [&](OpBuilder &inner, Location, ValueRange elements) {
          Value ones = constant(inner, 0x01010101);
          Value all = i == 0 ? dot(inner, elements[0], ones) : dot(inner, ones, elements[0]);
          Value next = arith::AddIOp::create(inner, location, elements[1], all);
          linalg::YieldOp::create(inner, location, next);
        });
    return {sum.getResult(0), AffineMap::get(op.getNumLoops(), 0, ofProduct, b.getContext())};
  }

  const Product &product;
  linalg::GenericOp op;
  Location location;
  OpBuilder b;
  SmallVector<Value> words;
  SmallVector<AffineMap> maps; // of the words and the results
};

struct PackProducts : impl::PackProductsBase<PackProducts> {
  using PackProductsBase::PackProductsBase;
  void runOnOperation() override {
    // Nothing is erased before all ranges are known, which are kept by value.
    Ranges ranges;
    Search search(ranges, bytes);
    SmallVector<Product> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Product> product = search.productOf(op))
        products.push_back(*product);
    });
    for (Product &product : products) {
      Emitter(product).emit();
      ++packed;
    }
    for (Product &product : products) {
      SmallVector<Value> inputs(product.op.getDpsInputs());
      product.op->erase();
      for (Value input : inputs)
        if (linalg::GenericOp made = producerOf(input); made && made->use_empty())
          made->erase();
    }
  }
};

} // namespace

} // namespace calque::codegen
