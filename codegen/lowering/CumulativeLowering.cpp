// Sums, products and recurrences along an axis: one element after the other, as each follows from the one before.
#include "codegen/lowering/Cumulative.h"
#include "ir/ElementType.h"
#include "schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

namespace {

using State = SmallVector<Value, 2>;

class Run {
public:
  Run(LinalgBuilder &b, Operation *op, const Cumulation &what)
      : b(b), op(op), what(what), sizes(b.sizesOf(op->getOperand(0))), axis(static_cast<size_t>(what.axis)) {
    ir::ScalarBuilder s(b.builder, b.location);
    for (double start : what.starts)
      starts.push_back(s.constant(start, what.carried));
    if (what.reverse)
      last = arith::SubIOp::create(b.builder, b.location, b.valueOf(sizes[this->axis]), b.index(1));
  }

  SmallVector<Value> emit() {
    SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(b.empty(sizes, elementOf(result)));
    if (llvm::any_of(sizes, [](Size size) { return constantOf(size) == 0; }))
      return results;
    results = axis + 1 == sizes.size() ? alongLast(results) : alongOuter(results);
    for (Value result : results)
      b.sizes.set(result, sizes);
    return results;
  }

private:
  // Along the last axis the state is in registers.
  SmallVector<Value> alongLast(ValueRange results) {
    Value bound = b.valueOf(sizes[axis]), zero = b.index(0), one = b.index(1);
    auto row = [&](OpBuilder &outer, ValueRange loops, ValueRange into) -> SmallVector<Value> {
      State initial(into);
      llvm::append_range(initial, starts);
      auto loop = scf::ForOp::create(outer, b.location, zero, bound, one, initial,
                                     [&](OpBuilder &nested, Location location, Value index, ValueRange inside) {
                                       SmallVector<Value> at(loops);
                                       at.push_back(place(nested, index));
                                       ir::ScalarBuilder s(nested, location);
                                       CumulationStep made = step(s, inside.drop_front(into.size()), at);
                                       State next = put(s, made, inside, at);
                                       llvm::append_range(next, made.next);
                                       scf::YieldOp::create(nested, location, next);
                                     });
      return SmallVector<Value>(loop.getResults().take_front(into.size()));
    };
    if (axis == 0)
      return row(b.builder, {}, results);
    return SmallVector<Value>(b.loopNest(
        ArrayRef(sizes).take_front(axis), results,
        [&](OpBuilder &outer, ValueRange loops, ValueRange inside) { return row(outer, loops, inside); },
        [](size_t) { return true; }));
  }

  // Along others it is a tensor without the axis, so that the loop over a row can be the inner one, and no loop but
  // that of the axis has to come in order. The first element of the axis takes the starts instead of what is there.
  SmallVector<Value> alongOuter(ValueRange results) {
    SizeList rowSizes(sizes);
    rowSizes.erase(rowSizes.begin() + axis);
    SmallVector<Value> all(results);
    for (size_t i = 0; i < starts.size(); ++i)
      all.push_back(b.empty(rowSizes, what.carried));
    ValueRange made = b.loopNest(
        sizes, all,
        [&](OpBuilder &nested, ValueRange loops, ValueRange inside) -> SmallVector<Value> {
          ir::ScalarBuilder s(nested, b.location);
          SmallVector<Value> at(loops);
          at[axis] = place(nested, loops[axis]);
          SmallVector<Value> inRow(loops);
          inRow.erase(inRow.begin() + axis);
          Value zero = arith::ConstantIndexOp::create(nested, b.location, 0), isFirst = s.equal(loops[axis], zero);
          State before;
          ValueRange rows = inside.drop_front(results.size());
          for (auto [start, row] : llvm::zip_equal(starts, rows)) {
            Value kept = tensor::ExtractOp::create(nested, b.location, row, inRow);
            before.push_back(s.select(isFirst, start, kept));
          }
          CumulationStep made = step(s, before, at);
          SmallVector<Value> next(put(s, made, inside, at));
          for (auto [value, row] : llvm::zip_equal(made.next, rows))
            next.push_back(tensor::InsertOp::create(nested, b.location, value, row, inRow));
          return next;
        },
        [&](size_t loop) { return loop != axis; });
    return SmallVector<Value>(made.take_front(results.size()));
  }

  // The first values of `inside`, which are the results, with their elements at a place.
  State put(ir::ScalarBuilder &s, const CumulationStep &made, ValueRange inside, ValueRange at) {
    State next;
    for (auto [element, into] : llvm::zip(made.elements, inside))
      next.push_back(tensor::InsertOp::create(s.builder, s.location, element, into, at));
    return next;
  }

  CumulationStep step(ir::ScalarBuilder &s, ValueRange before, ValueRange at) {
    auto elements = llvm::map_to_vector(op->getOperands(), [&](Value operand) -> Value {
      return tensor::ExtractOp::create(s.builder, s.location, operand, at);
    });
    return what.step(s, before, elements);
  }

  // Where in the axis the element is that is the `index`-th to be made.
  Value place(OpBuilder &builder, Value index) {
    return last ? arith::SubIOp::create(builder, b.location, last, index).getResult() : index;
  }

  LinalgBuilder &b;
  Operation *op;
  const Cumulation &what;
  SizeList sizes;
  size_t axis;
  State starts;
  Value last; // of the axis, where it is run through from the end
};

State addTo(ir::ScalarBuilder &s, ValueRange sum, Value term) {
  Value next = s.add(sum[0], term);
  if (sum.size() == 1)
    return {next};
  // What the addition rounds off, which no order of the two magnitudes is needed for. Infinities have no such part.
  Value added = s.sub(next, sum[0]), kept = s.sub(next, added);
  Value ofSum = s.sub(sum[0], kept), ofTerm = s.sub(term, added), lost = s.add(ofSum, ofTerm);
  Value isNumber = s.equal(lost, lost);
  return {next, s.add(sum[1], s.select(isNumber, lost, s.constant(0, lost)))};
}

Value totalOf(ir::ScalarBuilder &s, ValueRange sum) { return sum.size() == 1 ? sum[0] : s.add(sum[0], sum[1]); }

// Of each element or, where `exclusive`, before it.
template <typename Op, typename Combine, typename Total>
Cumulation cumulation(Op op, Type carried, SmallVector<double, 2> starts, Combine combine, Total total) {
  Type element = getElementTypeOrSelf(op.getType());
  const bool exclusive = op.getExclusive();
  auto step = [=](ir::ScalarBuilder &s, ValueRange before, ValueRange x) -> CumulationStep {
    State next = combine(s, before, s.castTo(x[0], carried));
    return {{s.castTo(exclusive ? total(s, before) : total(s, next), element)}, next};
  };
  return {normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getX())), op.getReverse(), carried, starts, step};
}

} // namespace

std::optional<Cumulation> cumulationOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Cumulation>>(op)
      .Case([](ir::CumSumOp sum) {
        // Where floats are carried on in their own type, as float64 is, the sum goes on with what its additions have
        // lost so far.
        const ir::ElementType element(sum.getX());
        const bool keepsLost = element.isFloat() && element.accumulator() == element.type();
        return cumulation(sum, element.accumulator(), SmallVector<double, 2>(keepsLost ? 2 : 1, 0), addTo, totalOf);
      })
      .Case([](ir::CumProdOp product) {
        return cumulation(
            product, ir::ElementType(product.getX()).accumulator(), {1},
            [](ir::ScalarBuilder &s, ValueRange before, Value x) -> State { return {s.mul(before[0], x)}; },
            [](ir::ScalarBuilder &, ValueRange product) { return product[0]; });
      })
      .Case([](ir::LinearRecurrenceOp op) {
        Type element = getElementTypeOrSelf(op.getType()), carried = ir::ElementType(element).accumulator();
        auto step = [=](ir::ScalarBuilder &s, ValueRange before, ValueRange given) -> CumulationStep {
          Value factor = s.castTo(given[0], carried), term = s.castTo(given[1], carried);
          Value scaled = s.mul(factor, before[0]), next = s.add(scaled, term);
          return {{s.castTo(next, element)}, {next}};
        };
        return Cumulation{
            normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getTerms())), op.getReverse(), carried, {0}, step};
      })
      .Case([](ir::LinearRecurrencePartsOp op) {
        Type element = getElementTypeOrSelf(op.getRe().getType()), carried = ir::ElementType(element).accumulator();
        auto step = [=](ir::ScalarBuilder &s, ValueRange before, ValueRange given) -> CumulationStep {
          auto all = llvm::map_to_vector(given, [&](Value part) { return s.castTo(part, carried); });
          auto product = [&](Value x, Value y) { return s.mul(x, y); };
          Value both = product(all[0], before[0]), turned = product(all[1], before[1]);
          Value right = product(all[0], before[1]), left = product(all[1], before[0]);
          Value re = s.add(s.sub(both, turned), all[2]), im = s.add(s.add(right, left), all[3]);
          return {{s.castTo(re, element), s.castTo(im, element)}, {re, im}};
        };
        return Cumulation{
            normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getRe())), op.getReverse(), carried, {0, 0}, step};
      })
      .Default(std::nullopt);
}

static SmallVector<Value> cumulate(LinalgBuilder &b, Operation *op) { return Run(b, op, *cumulationOf(op)).emit(); }

Lowered lower(LinalgBuilder &b, ir::CumSumOp op, LoweringContext &) { return cumulate(b, op); }
Lowered lower(LinalgBuilder &b, ir::CumProdOp op, LoweringContext &) { return cumulate(b, op); }

Lowered lower(LinalgBuilder &b, ir::LinearRecurrenceOp op, LoweringContext &context) {
  for (int64_t i = 0; i < LinalgBuilder::rankOf(op.getTerms()); ++i)
    context.equal(op, 0, i, 1, i);
  return cumulate(b, op);
}

Lowered lower(LinalgBuilder &b, ir::LinearRecurrencePartsOp op, LoweringContext &context) {
  for (unsigned operand = 1; operand < 4; ++operand)
    for (int64_t i = 0; i < LinalgBuilder::rankOf(op.getRe()); ++i)
      context.equal(op, 0, i, operand, i);
  return cumulate(b, op);
}

} // namespace calque::codegen
