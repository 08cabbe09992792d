// Plans and emits loops that store by themselves: at places that an index names, as in a gradient of `gather`, or one
// element after the other, as in a cumulative sum. Lowering marks loops whose iterations are independent: no two of
// them touch the same element of a stored buffer. Such loops may stand anywhere, so that one of them takes vectors and
// others take threads. All other loops keep their order, and so do the updates of each element, so that the bits are
// those of the loops as they are written.
#include "codegen/schedule/Plans.h"
#include "codegen/schedule/StoringNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class StoringLoops : StoringNest {
public:
  using StoringNest::StoringNest;

  plan::StoringAttr choose() {
    if (!read())
      return {};
    if (isRead)
      chooseVectors();
    takeRoles();
    if (vectorLoop == kNoLoop && outer.empty())
      return {};
    auto [sharing, pieces] = chooseSharing();
    return plan::StoringAttr::get(b.getContext(),
                                  vectorLoop == kNoLoop ? std::nullopt : std::optional<int64_t>(vectorLoop), lanes,
                                  sharing, pieces);
  }

  LogicalResult emit(plan::StoringAttr plan, std::string &text) {
    if (!read())
      return outermost.emitOpError("plan: ") << "the loops do not store by themselves, or none is independent";
    lanes = plan.getLanes();
    sharing = plan.getSharing();
    pieces = plan.getPieces();
    if (plan.getAlong() && (*plan.getAlong() < 0 || *plan.getAlong() >= nest.numLoops()))
      return outermost.emitOpError("plan: ")
             << "along names loop " << *plan.getAlong() << ", and there are " << nest.numLoops();
    vectorLoop = plan.getAlong() ? static_cast<unsigned>(*plan.getAlong()) : kNoLoop;
    if (failed(checkVectors()))
      return failure();
    takeRoles();
    if (failed(checkSharing()))
      return failure();
    describe(text);
    emitAll();
    return success();
  }

private:
  bool read() {
    if (!findLoops())
      return false;
    if (readBody())
      mergeLoops();
    return true;
  }

  LogicalResult checkVectors() {
    if (vectorLoop == kNoLoop && lanes != 1)
      return outermost.emitOpError("plan: ")
             << "vectors of " << lanes << " lanes run along a loop, and the plan has none";
    if (vectorLoop == kNoLoop)
      return success();
    if (!isRead || nest.isReduction[vectorLoop] || isAsked.test(vectorLoop))
      return outermost.emitOpError("plan: ")
             << "loop " << vectorLoop << " can't go from element to element: its iterations come in order, or "
             << "its index is asked for";
    if (lanes == 1)
      return success();
    if (!canVectorize(vectorLoop))
      return outermost.emitOpError("plan: ")
             << "loop " << vectorLoop << " has no vectors: an element that all its iterations touch is stored";
    if (int64_t most = mostLanes(vectorLoop);
        lanes < 1 || lanes > most || !llvm::isPowerOf2_64(static_cast<uint64_t>(lanes)))
      return outermost.emitOpError("plan: ")
             << lanes << " lanes are no vector of these elements; one has a power of two of them, up to " << most;
    return success();
  }

  LogicalResult checkSharing() {
    switch (sharing) {
    case plan::Sharing::Alone:
      return success();
    case plan::Sharing::Iterations:
      if (outer.empty())
        return outermost.emitOpError("plan: ")
               << "no loop is outside of those that come in order, whose iterations threads could share";
      return success();
    case plan::Sharing::Owners:
      if (!ownedIndex() || ordered.empty())
        return outermost.emitOpError("plan: ") << "no index says whom an iteration belongs to";
      if (pieces < 2 || pieces > kMostOwners || !llvm::isPowerOf2_64(static_cast<uint64_t>(pieces)))
        return outermost.emitOpError("plan: ")
               << pieces << " owners are none; there are a power of two of them, from 2 to " << kMostOwners;
      return success();
    case plan::Sharing::Columns:
      if (!isRead || vectorLoop == kNoLoop)
        return outermost.emitOpError("plan: ")
               << "threads share the columns of a loop along which vectors run, and there is none";
      if (pieces < 1 || pieces > kMostColumns)
        return outermost.emitOpError("plan: ")
               << pieces << " pieces of columns are none; there are 1 to " << kMostColumns;
      return success();
    }
    llvm_unreachable("there are no other ways to share");
  }
  static constexpr int64_t kMostOwners = 64, kMostColumns = 1024;

  //===-- What becomes of them --------------------------------------------------------------------===//

  // The cycles of an iteration that are spent once for all elements of the vector loop, and those that are spent for
  // each element.
  double uniformCycles = 0, elementCycles = 0;

  // Chooses the vector loop, along which most touched elements lie side by side.
  void chooseVectors() {
    double best = 0.7; // of the time without vectors
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (nest.isReduction[loop] || isAsked.test(loop) || !canVectorize(loop))
        continue;
      int64_t extent = nest.extents[loop].guess(), width = mostLanes(loop);
      while (width > 2 && width / 2 >= extent)
        width /= 2;
      double steps = static_cast<double>((extent + width - 1) / width), vectors = 0, scalars = 0;
      for (const Touch &touch : touches) {
        if (!needed.contains(touch.op))
          continue;
        scalars += static_cast<double>(extent);
        vectors += !touch.access.varies(loop)        ? 1
                   : touch.access.strides[loop] == 1 ? steps
                                                     : steps * static_cast<double>(width) * 1.5;
      }
      if (double cost = vectors / scalars; extent > 1 && cost < best) {
        best = cost;
        vectorLoop = loop;
        lanes = width;
      }
    }
    // Without vectors, the innermost loop goes from element to element, and threads may share it.
    if (vectorLoop == kNoLoop && !nest.isReduction.back() && !isAsked.test(nest.numLoops() - 1) &&
        llvm::is_contained(nest.isReduction, true))
      vectorLoop = nest.numLoops() - 1;
  }

  int64_t mostLanes(unsigned loop) const {
    unsigned bits = 32;
    for (const Touch &touch : touches)
      if (touch.access.varies(loop) && needed.contains(touch.op))
        bits = std::max(bits, touch.access.element.getIntOrFloatBitWidth());
    return target.vectorBytes * 8 / bits;
  }

  bool canVectorize(unsigned loop) const {
    return llvm::all_of(touches, [&](const Touch &touch) {
      // If all iterations of a loop store to the same element, the loop is not independent.
      bool isStored = stored.contains(touch.buffer);
      return !needed.contains(touch.op) ||
             ((touch.access.varies(loop) || !isStored) &&
              llvm::none_of(touch.computed, [&](const Touch::Part &part) { return dependsOn(part.value, loop); }));
    });
  }

  // Sorts the loops into those that keep their order, and those outside and inside of them.
  void takeRoles() {
    unsigned lastOrdered = 0;
    bool isOrdered = false;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (nest.isReduction[loop]) {
        lastOrdered = loop;
        isOrdered = true;
      }
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (loop == vectorLoop)
        continue;
      if (nest.isReduction[loop])
        ordered.push_back(loop);
      else
        (!isOrdered || loop < lastOrdered ? outer : inner).push_back(loop);
    }
    for (Operation &op : body->without_terminator()) {
      if (isRead && !needed.contains(&op))
        continue;
      bool isElement = vectorLoop == kNoLoop || dependsOn(&op, vectorLoop) || !isRead;
      (isElement ? elementCycles : uniformCycles) += cyclesOfStoring(op, target);
    }
    elementCycles /= static_cast<double>(lanes);
    uniformCycles += 2;
  }

  Extent vectorExtent() const { return vectorLoop == kNoLoop ? Extent(1) : nest.extents[vectorLoop]; }
  // The cycles of all iterations of the inner loops and of the vector loop, in one iteration of the other loops.
  double cyclesOfRow() const {
    return static_cast<double>(iterationsOf(inner).guess()) *
           (uniformCycles + elementCycles * static_cast<double>(vectorExtent().guess()));
  }

  void describe(std::string &into) const {
    into += text();
    if (vectorLoop != kNoLoop && lanes > 1)
      into += "; vectors of " + std::to_string(lanes);
    else if (lanes == 1)
      into += "; one element after the other";
    if (sharing == plan::Sharing::Owners)
      into += ", " + std::to_string(pieces) + " owners of rows";
    else if (sharing == plan::Sharing::Columns)
      into += ", pieces of columns";
  }

  // Chooses what threads share, and in how many pieces.
  std::pair<plan::Sharing, int64_t> chooseSharing() const {
    constexpr int64_t kFewPieces = 8, kPiecesOfColumns = 16;
    Extent iterations = iterationsOf(outer);
    if (iterations.isKnown() && *iterations.known() < kFewPieces && isRead && vectorLoop != kNoLoop) {
      if (const Touch::Part *index = ownedIndex(); index && !ordered.empty()) {
        double cycles = cyclesOfRow();
        int64_t owners = cycles < 64 ? 8 : cycles < 512 ? 16 : 32;
        if (cycles >= 8 * kScan && !(index->size.isKnown() && *index->size.known() < 2 * owners)) {
          Extent whole = iterationsOf(ordered) * iterations * iterationsOf(inner) * vectorExtent();
          if (whole.isKnown() &&
              static_cast<double>(*iterationsOf(ordered).known() * *iterations.known()) * cycles < kFewCycles)
            return {plan::Sharing::Alone, 1};
          return {plan::Sharing::Owners, owners};
        }
      }
      if (Extent extent = vectorExtent(); !extent.isKnown() || *extent.known() >= 2 * leastColumns())
        return {plan::Sharing::Columns, kPiecesOfColumns};
    }
    return {outer.empty() ? plan::Sharing::Alone : plan::Sharing::Iterations, 1};
  }

  // The index whose value decides to which piece an iteration belongs; null if there is none. Iterations with other
  // values of the index touch no element that an iteration stores.
  const Touch::Part *ownedIndex() const {
    if (!isRead || lanes == 1)
      return nullptr;
    const Touch::Part *best = nullptr;
    const Touch *first = nullptr;
    for (const Touch &touch : touches)
      if (touch.isStore && !first)
        first = &touch;
    if (!first)
      return nullptr;
    for (const Touch::Part &part : first->computed) {
      // Pieces compute the index before they store anything, so that it must not depend on stored elements.
      bool isInner = isOutside(part.value) || readsStored(part.value) ||
                     llvm::any_of(inner, [&](unsigned loop) { return dependsOn(part.value, loop); });
      bool isEverywhere = llvm::all_of(touches, [&](const Touch &touch) {
        return touch.buffer == first->buffer
                   ? llvm::any_of(touch.computed,
                                  [&](const Touch::Part &other) {
                                    return other.isIndex && other.value == part.value && other.stride == part.stride;
                                  })
                   : !stored.contains(touch.buffer);
      });
      if (part.isIndex && !isInner && isEverywhere && (!best || best->size.guess() < part.size.guess()))
        best = &part;
    }
    return best;
  }

  //===-- Code ------------------------------------------------------------------------------------===//

  void emitAll() {
    VectorBuilder made(b, nest, location, vectorLoop, lanes), ofScalars(b, nest, location, kNoLoop, 1);
    v = &made;
    scalars = &ofScalars;
    Position origin(nest.numLoops());
    auto all = [&](const Number &first, const Number &last) {
      over(outer, origin, [&](Position place) { over(ordered, place, [&](Position at) { row(at, first, last); }); });
    };
    switch (sharing) {
    case plan::Sharing::Alone:
      return all(0, v->number(vectorExtent()));
    case plan::Sharing::Iterations: {
      Extent times = iterationsOf(ordered) * iterationsOf(inner) * vectorExtent();
      double cycles = elementCycles + uniformCycles / static_cast<double>(vectorExtent().guess());
      v->parallel(v->number(iterationsOf(outer)), cycles, v->number(times), [&](Value piece) {
        over(ordered, placeIn(outer, piece, origin), [&](Position at) { row(at, 0, v->number(vectorExtent())); });
      });
      return;
    }
    case plan::Sharing::Owners: {
      // Threads share the rows that are stored. Each piece goes through all iterations, and runs those whose row is its
      // own. Rows are dealt out in turn, because some parts of a table may be named more often than others.
      constexpr int64_t kChunk = 1024;
      Extent whole = iterationsOf(ordered) * iterationsOf(outer) * iterationsOf(inner) * vectorExtent();
      auto share = [&] { shareOwners(origin, *ownedIndex(), pieces, kChunk); };
      if (whole.isKnown())
        return share();
      double each = elementCycles + uniformCycles / static_cast<double>(vectorExtent().guess());
      Value isWorthIt = v->less(static_cast<int64_t>(kFewCycles / each), v->number(whole));
      v->either(isWorthIt, share, [&] { all(0, v->number(vectorExtent())); });
      return;
    }
    case plan::Sharing::Columns: {
      Extent extent = vectorExtent();
      // Each piece has so many vectors that there are not too many pieces.
      Number count = v->number(extent), vectors = v->ceilDivide(v->ceilDivide(count, pieces), lanes);
      Number width = v->maximum(leastColumns(), v->multiply(vectors, lanes)), parts = v->ceilDivide(count, width);
      double cycles = elementCycles + uniformCycles / static_cast<double>(std::min<int64_t>(extent.guess(), 1024));
      Number times = v->multiply(v->number(iterationsOf(outer) * iterationsOf(ordered) * iterationsOf(inner)), width);
      v->parallel(parts, cycles, times, [&](Value piece) {
        Number first = v->multiply(Number(piece), width), last = v->minimum(v->add(first, width), count);
        all(first, last);
      });
      return;
    }
    }
  }

  void over(ArrayRef<unsigned> of, Position at, function_ref<void(Position)> inside) {
    if (of.empty())
      return inside(at);
    v->loop(v->number(nest.extents[of.front()]), 1, {}, [&](Value i, ValueRange) {
      over(of.drop_front(), at.at(of.front(), i), inside);
      return SmallVector<Value>();
    });
  }

  // The fewest columns that are worth a piece.
  int64_t leastColumns() const {
    constexpr int64_t kLeastVectors = 4, kLeastElements = 64;
    return std::max(kLeastVectors * lanes, kLeastElements);
  }

  // Each piece tests for every iteration whether it is the piece's own, which takes about kScan cycles.
  static constexpr double kScan = 1.5, kFewCycles = 40'000;

  void shareOwners(Position origin, const Touch::Part &index, int64_t pieces, int64_t chunk) {
    constexpr double kAlways = 1e6;
    Type i32 = b.getI32Type();
    v->parallel(pieces, kAlways, 1, [&](Value piece) {
      Value list = threadMemory(b, location, MemRefType::get({chunk}, i32));
      over(outer, origin, [&](Position place) {
        Number count = v->number(iterationsOf(ordered));
        v->loop(v->index(0), v->valueOf(count), chunk, {}, [&](Value first, ValueRange) {
          Number last = v->minimum(v->add(Number(first), chunk), count);
          // Without a branch, because the processor could not predict it.
          Value found = v->loop(first, v->valueOf(last), 1, {v->index(0)}, [&](Value i, ValueRange carried) {
            Position at = placeIn(ordered, i, place);
            IRMapping mapping = mappingOf(at);
            emitFor(index.value, at, mapping);
            Value owner =
                arith::AndIOp::create(b, location, mapping.lookupOrDefault(index.value), v->index(pieces - 1));
            Value isOwn = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, owner, piece);
            Value number = arith::SubIOp::create(b, location, i, first);
            memref::StoreOp::create(b, location, arith::IndexCastOp::create(b, location, i32, number), list,
                                    carried[0]);
            Value one = arith::ExtUIOp::create(b, location, i32, isOwn);
            Value more = arith::IndexCastOp::create(b, location, b.getIndexType(), one);
            return SmallVector<Value>{arith::AddIOp::create(b, location, carried[0], more)};
          })[0];
          v->loop(v->index(0), found, 1, {}, [&](Value k, ValueRange) {
            Value number =
                arith::IndexCastOp::create(b, location, b.getIndexType(), memref::LoadOp::create(b, location, list, k));
            Value i = arith::AddIOp::create(b, location, first, number);
            row(placeIn(ordered, i, place), 0, v->number(vectorExtent()));
            return SmallVector<Value>();
          });
          return SmallVector<Value>();
        });
      });
    });
  }

  // Emits one iteration of the outer and the ordered loops, with the given part of the vector loop.
  void row(Position at, const Number &first, const Number &last) {
    over(inner, at, [&](Position place) {
      if (!isRead)
        return cloneBody(place);
      IRMapping uniform = mappingOf(place);
      for (Operation &op : body->without_terminator())
        if (needed.contains(&op) && (vectorLoop == kNoLoop || !dependsOn(&op, vectorLoop)))
          emitOp(&op, *scalars, place, 1, uniform);
      if (vectorLoop != kNoLoop)
        vectors(place, first, last, uniform);
    });
  }

  // Emits the body as it is, for places whose loops are those of the operation.
  void cloneBody(const Position &at) {
    IRMapping mapping = mappingOf(at);
    for (Operation &op : body->without_terminator())
      b.clone(op, mapping);
  }

  // Emits a value that is the same for all lanes.
  void emitFor(Value value, const Position &at, IRMapping &mapping) {
    auto used = operationsFor(value);
    for (Operation &op : body->without_terminator())
      if (used.contains(&op))
        emitOp(&op, *scalars, at, 1, mapping);
  }

  void vectors(const Position &at, const Number &first, const Number &last, const IRMapping &uniform) {
    constexpr int64_t kUnroll = 4;
    auto block = [&](Value i, int64_t count, const Number &valid) {
      // Loads of all vectors come before their stores, as far as the body allows.
      SmallVector<IRMapping> mappings(count, uniform);
      for (Operation &op : body->without_terminator())
        if (needed.contains(&op) && dependsOn(&op, vectorLoop))
          for (int64_t k = 0; k < count; ++k)
            emitOp(&op, *v, at.at(vectorLoop, i).shifted(vectorLoop, k * lanes), valid, mappings[k]);
    };
    auto blocks = [&](const Number &from, const Number &to, int64_t count) {
      if (from.known && to.known && *from.known >= *to.known)
        return;
      if (from.known && to.known && *to.known - *from.known <= count * lanes)
        return block(v->valueOf(from), count, lanes);
      v->loop(v->valueOf(from), v->valueOf(to), count * lanes, {}, [&](Value i, ValueRange) {
        block(i, count, lanes);
        return SmallVector<Value>();
      });
    };
    if (lanes == 1)
      return blocks(first, last, 1);
    Number length = v->subtract(last, first), rest = v->remainder(length, lanes);
    Number afterVectors = v->subtract(last, rest);
    Number afterBlocks = v->add(first, v->multiply(v->divide(length, kUnroll * lanes), kUnroll * lanes));
    blocks(first, afterBlocks, kUnroll);
    blocks(afterBlocks, afterVectors, 1);
    auto tail = [&] { block(v->valueOf(afterVectors), 1, rest); };
    if (rest.known)
      *rest.known ? tail() : void();
    else
      v->onlyIf(v->less(0, rest), tail);
  }

  unsigned vectorLoop = kNoLoop;
  int64_t lanes = 1;
  plan::Sharing sharing = plan::Sharing::Alone;
  int64_t pieces = 1;
  SmallVector<unsigned> outer, ordered, inner;
  VectorBuilder *v = nullptr, *scalars = nullptr;
};

} // namespace

Attribute chooseStoringPlan(scf::ForOp outermost, const Target &target, const OpBuilder &builder) {
  if (Attribute carried = chooseCarriedPlan(outermost, target, builder))
    return carried;
  return StoringLoops(outermost, target, builder).choose();
}

LogicalResult emitStoringLoops(scf::ForOp outermost, plan::StoringAttr plan, const Target &target, std::string &text) {
  return StoringLoops(outermost, target, OpBuilder(outermost)).emit(plan, text);
}

} // namespace calque::codegen
