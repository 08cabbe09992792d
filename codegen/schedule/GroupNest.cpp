// Emits a group's kernel: a loop over blocks of rows, and in it the nests one after the other.
#include "codegen/schedule/Contraction.h"
#include "codegen/schedule/Group.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class GroupNest {
public:
  GroupNest(KernelContext &context, const GroupPlan &plan)
      : context(context), plan(plan), v(context.builder, plan.members[0].nest, VectorBuilder::kNoLoop, 1) {}

  void emit() {
    double cycles = 0;
    for (auto [number, member] : llvm::enumerate(plan.members)) {
      if (member.product)
        packed[number] = packProduct(context, member.nest, *member.product);
      Extent inner(plan.block);
      for (unsigned loop = 0; loop < member.nest.numLoops(); ++loop)
        if (loop != member.rowLoop)
          inner = inner * member.nest.extents[loop];
      double ofOne = member.product ? member.product->tile.cycles
                                    : cyclesOfBody(member.nest, context.target) /
                                          static_cast<double>(context.lanesFor(member.nest));
      cycles += ofOne * static_cast<double>(inner.guess());
    }
    if (plan.piece)
      return emitPieces(cycles);
    Number rows = v.number(plan.rows), blocks = v.divide(rows, plan.block), rest = v.remainder(rows, plan.block);
    bool hasRest = !(rest == 0);
    v.parallel(hasRest ? v.add(blocks, 1) : blocks, cycles, 1, [&](Value number) {
      Value first = arith::MulIOp::create(v.b, v.location, number, v.index(plan.block));
      scratch.clear();
      makeScratch();
      if (!hasRest)
        return block(first, plan.block);
      auto last = [&] { block(first, rest.extent()); };
      v.either(v.less(Number(number), blocks), [&] { block(first, plan.block); }, last);
    });
  }

private:
  // What a member that combines the rows keeps for a piece.
  struct Running {
    size_t member;
    PartialResults partial;
    Access sums, errors; // of the current piece, on the thread's stack
    bool isExact;
  };

  // Each piece has results of its own for the members that combine rows. The last piece may be shorter.
  void emitPieces(double cyclesOfBlock) {
    int64_t rows = *plan.rows.known(), whole = rows / plan.piece, rest = rows % plan.piece,
            pieces = whole + (rest ? 1 : 0);
    for (auto [number, member] : llvm::enumerate(plan.members))
      if (member.combinesRows()) {
        Combiner combiner = *Combiner::of(member.nest);
        running.push_back(
            {number, PartialResults(context, member.nest, combiner, pieces), {}, {}, combiner.isFloatSum()});
      }
    double cycles = cyclesOfBlock * static_cast<double>(plan.piece) / static_cast<double>(plan.block);
    v.parallel(pieces, cycles, 1, [&](Value number) {
      Value first = arith::MulIOp::create(v.b, v.location, number, v.index(plan.piece));
      scratch.clear();
      makeScratch();
      for (Running &each : running)
        begin(each);
      if (!rest)
        rowsOfPiece(first, plan.piece);
      else
        v.either(
            v.less(Number(number), whole), [&] { rowsOfPiece(first, plan.piece); }, [&] { rowsOfPiece(first, rest); });
      for (Running &each : running)
        end(each, number);
    });
    for (Running &each : running) {
      KernelContext whole = context;
      whole.initial = plan.members[each.member].initial;
      each.partial.combine(whole);
    }
  }

  void rowsOfPiece(Value first, int64_t count) {
    rowsOfThisPiece = count;
    int64_t blocks = count / plan.block, rest = count % plan.block;
    v.loop(blocks * plan.block, plan.block, {}, [&](Value i, ValueRange) {
      block(arith::AddIOp::create(v.b, v.location, first, i), plan.block);
      return SmallVector<Value>();
    });
    if (rest)
      block(arith::AddIOp::create(v.b, v.location, first, v.index(blocks * plan.block)), rest);
  }

  // Emits code for each vector of the results of a piece.
  void forEachVector(const Running &each, function_ref<void(VectorBuilder &, Position, int64_t valid)> emit) {
    Nest line = plan.members[each.member].nest;
    int64_t results = *each.partial.results.known();
    line.inputs.clear();
    line.outputs.clear();
    line.extents = {Extent(results)};
    line.isReduction = {false};
    VectorBuilder w(v.b, line, 0, context.lanesFor(plan.members[each.member].nest));
    int64_t whole = results / w.lanes * w.lanes;
    w.loop(whole, w.lanes, {}, [&](Value i, ValueRange) {
      emit(w, Position(1).at(0, i), w.lanes);
      return SmallVector<Value>();
    });
    if (whole < results)
      emit(w, Position(1).shifted(0, whole), results - whole);
  }
  static Access inLine(Access access) {
    access.strides = {Extent(1)};
    return access;
  }

  void begin(Running &each) {
    const GroupPlan::Member &member = plan.members[each.member];
    auto type = MemRefType::get({*each.partial.results.known()}, each.partial.access.element);
    each.sums = each.partial.access;
    each.sums.value = threadMemory(v.b, v.location, type);
    if (each.isExact) {
      each.errors = each.sums;
      each.errors.value = threadMemory(v.b, v.location, type);
    }
    TypedAttr identity = Combiner::of(member.nest)->identity;
    forEachVector(each, [&](VectorBuilder &w, Position at, int64_t valid) {
      w.store(inLine(each.sums), at, w.constant(identity), valid);
      if (each.isExact)
        w.store(inLine(each.errors), at, w.constant(v.b.getZeroAttr(each.sums.element)), valid);
    });
  }

  void end(Running &each, Value piece) {
    Access into = inLine(each.partial.access);
    into.unknownOffset = arith::MulIOp::create(v.b, v.location, piece, v.index(*each.partial.results.known()));
    forEachVector(each, [&](VectorBuilder &w, Position at, int64_t valid) {
      Value sum = w.load(inLine(each.sums), at, valid);
      if (each.isExact)
        sum = arith::AddFOp::create(w.b, w.location, sum, w.load(inLine(each.errors), at, valid));
      w.store(into, at, sum, valid);
    });
  }

  // Buffers that only the group uses exist once for each thread, for one block, if they are small enough.
  void makeScratch() {
    // Half of the stack is left for the sums of pieces. Products that pack panels for themselves have these on the
    // stack, too.
    int64_t left = plan.piece ? kMostStackBytes / 2 : kMostStackBytes;
    for (const GroupPlan::Member &member : plan.members)
      if (const auto &product = member.product; product && product->packs && !product->packsAll)
        left -= product->termsPerBlock() * product->panelWidth() * product->elementBytes;
    for (const GroupPlan::Exchange &exchange : plan.exchanges) {
      std::optional<int64_t> slab = exchange.slab.known();
      auto alloc = exchange.root.getDefiningOp<memref::AllocOp>();
      if (!alloc || !slab || exchange.length < 0)
        continue;
      Type element = alloc.getType().getElementType();
      int64_t length = (plan.block - 1) * *slab + exchange.length, bytes = length * ir::ElementType(element).bytes();
      if (bytes > left)
        continue;
      left -= bytes;
      scratch[exchange.root] = {threadMemory(v.b, v.location, MemRefType::get({length}, element)), exchange.first};
    }
  }

  // Emits the nests for `count` rows from `first` on.
  void block(Value first, const Extent &count) {
    for (auto [number, member] : llvm::enumerate(plan.members)) {
      Nest part = member.nest;
      unsigned row = member.rowLoop;
      std::optional<Access> errors;
      if (auto own = llvm::find_if(running, [&](const Running &each) { return each.member == number; });
          own != running.end()) {
        part.outputs = {own->sums};
        if (own->isExact && rowsOfThisPiece * member.termsOfRow > kShortSum)
          errors = own->errors;
      }
      for (auto *accesses : {&part.inputs, &part.outputs})
        for (Access &access : *accesses)
          if (access.isBuffer)
            moveTo(access, row, first);
      part.extents[row] = count;
      for (auto [loop, start] : llvm::zip_equal(part.loopOf, part.firstIndex))
        if (loop == static_cast<int64_t>(row))
          start = first;
      if (member.product) {
        KernelContext inner{context.builder, context.target, member.initial};
        emitBlockOfProduct(inner, part, *member.product, packed.lookup(number));
        continue;
      }
      // The errors have the same loops as the result, so that these are merged together.
      if (errors)
        part.outputs.push_back(*errors);
      part.simplify();
      if (errors)
        errors = part.outputs.pop_back_val();
      KernelContext inner{context.builder, context.target, member.combinesRows() ? Value() : member.initial};
      inner.order = member.order;
      inner.errors = errors;
      emitPart(inner, part);
    }
  }

  void moveTo(Access &access, unsigned row, Value first) {
    if (auto own = scratch.find(rootBuffer(access.value)); own != scratch.end()) {
      access.value = own->second.first;
      access.offset -= own->second.second;
      return;
    }
    if (!access.varies(row))
      return;
    Value offset = arith::MulIOp::create(v.b, v.location, first, access.strides[row].emit(v.b, v.location));
    access.unknownOffset = access.unknownOffset
                               ? arith::AddIOp::create(v.b, v.location, access.unknownOffset, offset).getResult()
                               : offset;
  }

  KernelContext &context;
  const GroupPlan &plan;
  VectorBuilder v;
  std::vector<Running> running;
  int64_t rowsOfThisPiece = 0;                              // short sums are not cut into runs
  llvm::DenseMap<Value, std::pair<Value, int64_t>> scratch; // by root; with the first element that is used
  llvm::DenseMap<size_t, PackedOperand> packed;             // of products, for all blocks
};

} // namespace

void emitGroup(KernelContext context, const GroupPlan &plan) {
  if (context.plan)
    *context.plan = plan.text();
  GroupNest(context, plan).emit();
}

} // namespace calque::codegen
