// Puts neighbouring terms of products of small integers into one word, because CPUs multiply them and add their
// products in one instruction.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
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

// The numbers of 16 bits that a word of 32 has.
constexpr int64_t kPerWord = 2;
constexpr unsigned kBits = 16;
constexpr Range kNumbers{-(1 << (kBits - 1)), (1 << (kBits - 1)) - 1};

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
  if (!add || !add.getType().isInteger(32) || op.getBody()->getTerminator()->getOperand(0) != add.getResult())
    return false;
  auto operandsAre = [](Operation *each, Value x, Value y) {
    return (each->getOperand(0) == x && each->getOperand(1) == y) ||
           (each->getOperand(0) == y && each->getOperand(1) == x);
  };
  Block &body = *op.getBody();
  return operandsAre(multiply, body.getArgument(0), body.getArgument(1)) &&
         operandsAre(add, multiply, body.getArgument(2));
}

// A sum of products whose terms can be packed along a loop, which is a dimension of each operand.
struct Product {
  linalg::GenericOp op;
  unsigned loop;
  int64_t terms;
  std::array<unsigned, 2> dimensions;
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

std::optional<Product> productOf(linalg::GenericOp op, Ranges &ranges) {
  if (!isSumOfProducts(op) || op->hasAttr(kBordersAttr))
    return std::nullopt;
  const SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto timesOf = [&](function_ref<bool(unsigned)> has) {
    int64_t times = 1;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (has(loop))
        times = std::min(times, kUnknown) * (ShapedType::isDynamic(extents[loop]) ? kUnknown : extents[loop]);
    return times;
  };
  if (timesOf([](unsigned) { return true; }) < kFewProducts)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    const bool isPackedAnyway = producerOf(input->get()) && input->get().hasOneUse();
    if (!ranges.of(input->get()).isIn(kNumbers) ||
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
      best = Product{op, loop, extents[loop], {*ofLeft, *ofRight}};
  }
  return best;
}

// Emits the words of one operand. Its elements are computed where they are packed, so that no other tensor has them.
class Packer {
public:
  Packer(OpBuilder &builder, Value tensor, unsigned along)
      : b(builder), location(tensor.getLoc()), made(producerOf(tensor)) {
    const auto rank = static_cast<unsigned>(cast<RankedTensorType>(tensor.getType()).getRank());
    order = b.getMultiDimIdentityMap(rank);
    if (!made) {
      sources.push_back({tensor, order});
    } else {
      AffineMap loops = inversePermutation(made.getIndexingMapMatchingResult(made->getResult(0)));
      for (OpOperand *input : made.getDpsInputOperands())
        sources.push_back({input->get(), made.getMatchingIndexingMap(input).compose(loops)});
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
    const int64_t whole = terms / kPerWord, rest = terms % kPerWord;
    auto of = [&](int64_t count) {
      SizeList sizes = shape;
      sizes[dimension] = b.getIndexAttr(count);
      return sizes;
    };
    if (!rest)
      return words(of(whole), kPerWord, [&](int64_t j) { return b.getAffineDimExpr(dimension) * kPerWord + j; });
    Value all = tensor::EmptyOp::create(b, location, of(whole + 1), b.getI32Type());
    auto insert = [&](Value part, int64_t first, int64_t count) {
      SizeList starts(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
      starts[dimension] = b.getIndexAttr(first);
      all = tensor::InsertSliceOp::create(b, location, part, all, starts, of(count), steps);
    };
    insert(words(of(whole), kPerWord, [&](int64_t j) { return b.getAffineDimExpr(dimension) * kPerWord + j; }), 0,
           whole);
    insert(words(of(1), rest, [&](int64_t j) { return b.getAffineConstantExpr(whole * kPerWord + j); }), whole, 1);
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
    if (!made)
      return elements[0];
    IRMapping mapping;
    for (auto [input, value] : llvm::zip_equal(made.getDpsInputOperands(), elements))
      mapping.map(made.getMatchingBlockArgument(input), value);
    for (Operation &op : made.getBody()->without_terminator())
      inner.clone(op, mapping);
    return mapping.lookupOrDefault(made.getBody()->getTerminator()->getOperand(0));
  }

  // A word with one more number, whose upper bits are dropped.
  Value withTerm(OpBuilder &inner, Value word, Value number, int64_t j) {
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(inner, location, inner.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    if (j + 1 < kPerWord)
      number = arith::AndIOp::create(inner, location, number, constant((int64_t(1) << kBits) - 1));
    if (j)
      number = arith::ShLIOp::create(inner, location, number, constant(j * kBits));
    return word ? arith::OrIOp::create(inner, location, word, number).getResult() : number;
  }

  OpBuilder &b;
  Location location;
  linalg::GenericOp made;
  unsigned dimension;         // of the words, along which the terms are
  SizeList shape;             // of the elements in that order
  SmallVector<Input> sources; // with their maps from the places of the elements
};

void pack(const Product &product) {
  linalg::GenericOp op = product.op;
  OpBuilder b(op);
  SmallVector<Value> words;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [i, input] : llvm::enumerate(op.getDpsInputs())) {
    Packer packer(b, input, product.dimensions[i]);
    words.push_back(packer.emit(product.terms));
    maps[i] = packer.order.compose(maps[i]);
  }
  auto sums = linalg::GenericOp::create(
      b, op.getLoc(), op->getResultTypes(), words, op.getOutputs(), maps, op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location location, ValueRange elements) {
        Value products =
            ir::ScalarFunctionOp::create(inner, location, inner.getI32Type(), kDotOfPairs, elements.take_front(2));
        Value sum = arith::AddIOp::create(inner, location, elements[2], products);
        linalg::YieldOp::create(inner, location, sum);
      });
  op.replaceAllUsesWith(sums);
}

struct PackProducts : impl::PackProductsBase<PackProducts> {
  void runOnOperation() override {
    // Nothing is erased before all ranges are known, which are kept by value.
    Ranges ranges;
    SmallVector<Product> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Product> product = productOf(op, ranges))
        products.push_back(*product);
    });
    for (Product &product : products) {
      pack(product);
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
