// Sums, products and recurrences along an axis: one element after the other, as each follows from the one before.
#include "codegen/lowering/Lowering.h"
#include "ir/ElementType.h"
#include "schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

using State = SmallVector<Value, 2>;

// What is carried from element to element: scalars, and how they begin.
struct Carried {
  Type type;
  SmallVector<double, 2> starts;
};

// The result's element, and what the next one follows from.
struct Step {
  Value element;
  State next;
};
using StepOf = function_ref<Step(ir::ScalarBuilder &, ValueRange before, ValueRange at)>;

class Run {
public:
  Run(LinalgBuilder &b, Value like, int64_t axis, bool reverse, const Carried &carried, StepOf step)
      : b(b), sizes(b.sizesOf(like)), element(LinalgBuilder::typeOf(like).getElementType()),
        axis(static_cast<size_t>(normalAxis(axis, LinalgBuilder::rankOf(like)))), carried(carried), step(step) {
    ir::ScalarBuilder s(b.builder, b.location);
    for (double start : carried.starts)
      starts.push_back(s.constant(start, carried.type));
    if (reverse)
      last = arith::SubIOp::create(b.builder, b.location, b.valueOf(sizes[this->axis]), b.index(1));
  }

  Value emit() {
    Value result = b.empty(sizes, element);
    if (llvm::any_of(sizes, [](Size size) { return constantOf(size) == 0; }))
      return result;
    return axis + 1 == sizes.size() ? alongLast(result) : alongOuter(result);
  }

private:
  // Along the last axis the state is in registers.
  Value alongLast(Value result) {
    Value bound = b.valueOf(sizes[axis]), zero = b.index(0), one = b.index(1);
    auto row = [&](OpBuilder &outer, ValueRange loops, Value into) -> Value {
      State initial{into};
      llvm::append_range(initial, starts);
      auto loop =
          scf::ForOp::create(outer, b.location, zero, bound, one, initial,
                             [&](OpBuilder &nested, Location location, Value index, ValueRange inside) {
                               SmallVector<Value> at(loops);
                               at.push_back(place(nested, index));
                               ir::ScalarBuilder s(nested, location);
                               Step made = step(s, inside.drop_front(), at);
                               State next{tensor::InsertOp::create(nested, location, made.element, inside[0], at)};
                               llvm::append_range(next, made.next);
                               scf::YieldOp::create(nested, location, next);
                             });
      return loop.getResult(0);
    };
    if (axis == 0)
      result = row(b.builder, {}, result);
    else
      result = b.loopNest(
          ArrayRef(sizes).take_front(axis), {result},
          [&](OpBuilder &outer, ValueRange loops, ValueRange inside) -> SmallVector<Value> {
            return {row(outer, loops, inside[0])};
          },
          [](size_t) { return true; })[0];
    b.sizes.set(result, sizes);
    return result;
  }

  // Along others it is a tensor without the axis, so that the loop over a row can be the inner one, and no loop but
  // that of the axis has to come in order. The first element of the axis takes the starts instead of what is there.
  Value alongOuter(Value result) {
    SizeList rowSizes(sizes);
    rowSizes.erase(rowSizes.begin() + axis);
    SmallVector<Value> all{result};
    for (size_t i = 0; i < starts.size(); ++i)
      all.push_back(b.empty(rowSizes, carried.type));
    return b.loopNest(
        sizes, all,
        [&](OpBuilder &nested, ValueRange loops, ValueRange inside) -> SmallVector<Value> {
          ir::ScalarBuilder s(nested, b.location);
          SmallVector<Value> at(loops);
          at[axis] = place(nested, loops[axis]);
          SmallVector<Value> inRow(loops);
          inRow.erase(inRow.begin() + axis);
          Value zero = arith::ConstantIndexOp::create(nested, b.location, 0), isFirst = s.equal(loops[axis], zero);
          State before;
          for (auto [start, row] : llvm::zip_equal(starts, inside.drop_front())) {
            Value kept = tensor::ExtractOp::create(nested, b.location, row, inRow);
            before.push_back(s.select(isFirst, start, kept));
          }
          Step made = step(s, before, at);
          SmallVector<Value> next{tensor::InsertOp::create(nested, b.location, made.element, inside[0], at)};
          for (auto [value, row] : llvm::zip_equal(made.next, inside.drop_front()))
            next.push_back(tensor::InsertOp::create(nested, b.location, value, row, inRow));
          return next;
        },
        [&](size_t loop) { return loop != axis; })[0];
  }

  // Where in the axis the element is that is the `index`-th to be made.
  Value place(OpBuilder &builder, Value index) {
    return last ? arith::SubIOp::create(builder, b.location, last, index).getResult() : index;
  }

  LinalgBuilder &b;
  SizeList sizes;
  Type element;
  size_t axis;
  const Carried &carried;
  StepOf step;
  State starts;
  Value last; // of the axis, where it is run through from the end
};

// What a sum carries. Where floats are carried on in their own type, as float64 is, the sum goes on with what its
// additions have lost so far.
Carried carriedBySum(Type type) {
  const ir::ElementType element(type);
  if (element.isFloat() && element.accumulator() == element.type())
    return {element.type(), {0, 0}};
  return {element.accumulator(), {0}};
}

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

template <typename Op>
Value cumulate(LinalgBuilder &b, Op op, const Carried &carried,
               function_ref<State(ir::ScalarBuilder &, ValueRange before, Value x)> combine) {
  Value x = op.getX();
  Type element = LinalgBuilder::typeOf(x).getElementType();
  bool exclusive = op.getExclusive();
  auto step = [&](ir::ScalarBuilder &s, ValueRange before, ValueRange at) -> Step {
    Value loaded = tensor::ExtractOp::create(s.builder, s.location, x, at);
    State next = combine(s, before, s.castTo(loaded, carried.type));
    Value total = exclusive ? totalOf(s, before) : totalOf(s, next);
    return {s.castTo(total, element), next};
  };
  return Run(b, x, op.getAxis(), op.getReverse(), carried, step).emit();
}

} // namespace

Lowered lower(LinalgBuilder &b, ir::CumSumOp op, LoweringContext &) {
  return cumulate(b, op, carriedBySum(LinalgBuilder::typeOf(op.getX()).getElementType()), addTo);
}

Lowered lower(LinalgBuilder &b, ir::CumProdOp op, LoweringContext &) {
  Carried carried{ir::ElementType(op.getX()).accumulator(), {1}};
  return cumulate(b, op, carried,
                  [](ir::ScalarBuilder &s, ValueRange before, Value x) -> State { return {s.mul(before[0], x)}; });
}

Lowered lower(LinalgBuilder &b, ir::LinearRecurrenceOp op, LoweringContext &context) {
  Value factors = op.getFactors(), terms = op.getTerms();
  for (int64_t i = 0; i < LinalgBuilder::rankOf(terms); ++i)
    context.equal(op, 0, i, 1, i);
  Type element = LinalgBuilder::typeOf(terms).getElementType();
  Carried carried{ir::ElementType(element).accumulator(), {0}};
  auto step = [&](ir::ScalarBuilder &s, ValueRange before, ValueRange at) -> Step {
    Value factor = s.castTo(tensor::ExtractOp::create(s.builder, s.location, factors, at), carried.type);
    Value term = s.castTo(tensor::ExtractOp::create(s.builder, s.location, terms, at), carried.type);
    Value scaled = s.mul(factor, before[0]), next = s.add(scaled, term);
    return {s.castTo(next, element), {next}};
  };
  return Run(b, terms, op.getAxis(), op.getReverse(), carried, step).emit();
}

} // namespace calque::codegen
