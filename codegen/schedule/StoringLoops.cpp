// Loops that store by themselves: at places that an index names, as in a gradient of `gather`, or one element after the
// other, as in a cumulative sum. Lowering marks loops whose iterations are independent: no two of them touch the same
// element of what is stored. Such loops may stand anywhere, so that one of them takes vectors and others take threads.
// All other loops keep their order, and with it each element's updates theirs, so that the bits are those of the loops
// as they are written.
#include "codegen/Pipeline.h"
#include "codegen/schedule/Kernels.h"
#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;

namespace calque::codegen {

namespace {

constexpr unsigned kNoLoop = VectorBuilder::kNoLoop;

// A load or a store. Its address is a sum of loops' indices times strides, and of what the body computes.
struct Touch {
  Operation *op;
  bool isStore;
  Value buffer;
  Access access;
  struct Part {
    Value value;
    Extent stride;
    // Whether the value alone is the index of a dimension: where two of them differ, other elements are touched.
    bool isIndex = false;
    Extent size = 0; // of this dimension
  };
  SmallVector<Part> computed;
};

class StoringLoops {
public:
  StoringLoops(scf::ForOp outermost, const Target &target)
      : b(outermost), location(outermost.getLoc()), target(target), outermost(outermost) {}

  bool emit(std::string &plan) {
    if (!findLoops())
      return false;
    if (auto carrying = dyn_cast<scf::ForOp>(body->front()); carrying && emitCarrying(carrying, plan))
      return true;
    if (readBody()) {
      mergeLoops();
      chooseVectors();
    }
    chooseRoles();
    if (vectorLoop == kNoLoop && outer.empty())
      return false;
    describe(plan);
    emitAll(plan);
    return true;
  }

private:
  //===-- What the loops do -----------------------------------------------------------------------===//

  bool findLoops() {
    for (scf::ForOp loop = outermost;;) {
      if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1 ||
          loop.getNumResults() || !isOutside(loop.getUpperBound()))
        return false;
      loops.push_back(loop);
      indices.push_back(loop.getInductionVar());
      nest.extents.push_back(Extent(OpFoldResult(loop.getUpperBound())));
      nest.isReduction.push_back(!loop->hasAttr(kIndependentAttr));
      body = loop.getBody();
      auto inner = dyn_cast<scf::ForOp>(body->front());
      if (!inner || inner->getNextNode() != body->getTerminator() || inner.getNumResults())
        break;
      loop = inner;
    }
    return llvm::is_contained(nest.isReduction, false);
  }

  bool isOutside(Value value) const { return !outermost->isAncestor(value.getParentBlock()->getParentOp()); }

  // Finds what is loaded and stored where. Fails where the body does more than that and arithmetic on elements.
  bool readBody() {
    auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
    for (Operation &op : body->without_terminator()) {
      if (isa<memref::LoadOp, memref::StoreOp>(op)) {
        if (!addTouch(&op))
          return false;
      } else if ((!OpTrait::hasElementwiseMappableTraits(&op) && !ir::isOpaque(&op) && !isa<arith::ConstantOp>(op)) ||
                 op.getNumResults() != 1 || !llvm::all_of(op.getOperandTypes(), isScalar)) {
        return false;
      }
    }
    // What is needed besides addresses, which are emitted anew.
    SmallVector<Value> open;
    auto needs = [&](const Touch &touch) {
      for (const Touch::Part &part : touch.computed)
        open.push_back(part.value);
    };
    for (const Touch &touch : touches)
      if (touch.isStore) {
        needed.insert(touch.op);
        stored.insert(touch.buffer);
        open.push_back(cast<memref::StoreOp>(touch.op).getValueToStore());
        needs(touch);
      }
    llvm::append_range(open, body->getTerminator()->getOperands());
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = isOutside(value) ? nullptr : value.getDefiningOp();
      if (!op || !needed.insert(op).second)
        continue;
      if (const Touch *touch = touchOf(op))
        needs(*touch);
      else
        llvm::append_range(open, op->getOperands());
    }
    findDependences();
    isRead = true;
    return true;
  }

  struct Linear {
    SmallVector<int64_t> factors; // of the loops' indices
    int64_t constant = 0;
    SmallVector<Value> rest;
  };

  Linear linearOf(Value value) const {
    Linear result;
    result.factors.assign(loops.size(), 0);
    if (auto index = llvm::find(indices, value); index != indices.end()) {
      result.factors[index - indices.begin()] = 1;
      return result;
    }
    if (std::optional<int64_t> constant = getConstantIntValue(value)) {
      result.constant = *constant;
      return result;
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_present<arith::AddIOp, arith::SubIOp>(op) && !isOutside(value)) {
      Linear left = linearOf(op->getOperand(0)), right = linearOf(op->getOperand(1));
      const int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
      if (sign == 1 || right.rest.empty()) {
        for (auto [factor, other] : llvm::zip_equal(left.factors, right.factors))
          factor += sign * other;
        left.constant += sign * right.constant;
        llvm::append_range(left.rest, right.rest);
        return left;
      }
    }
    result.rest.push_back(value);
    return result;
  }

  bool addTouch(Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    Touch touch{op, static_cast<bool>(store), load ? load.getMemRef() : store.getMemRef(), {}, {}};
    if (!isOutside(touch.buffer))
      return false;
    Layout layout = layoutOf(b, touch.buffer);
    touch.access.element = getElementTypeOrSelf(touch.buffer.getType());
    touch.access.strides.assign(loops.size(), Extent(0));
    auto plus = [&](const Extent &offset) {
      if (offset.isKnown())
        touch.access.offset += *offset.known();
      else
        touch.computed.push_back({offset.emit(b, location), Extent(1)});
    };
    for (const Extent &offset : layout.offsets)
      plus(offset);
    for (auto [index, stride, size] :
         llvm::zip_equal(load ? load.getIndices() : store.getIndices(), layout.strides, layout.sizes)) {
      Linear linear = linearOf(index);
      plus(stride * Extent(linear.constant));
      bool isAlone = linear.constant == 0 && linear.rest.size() == 1;
      for (auto [factor, of] : llvm::zip_equal(linear.factors, touch.access.strides)) {
        if (!factor)
          continue;
        isAlone = false;
        if (!(of == 0))
          return false; // a diagonal
        of = stride * Extent(factor);
      }
      for (Value value : linear.rest)
        touch.computed.push_back({value, stride, isAlone, size});
    }
    touch.access.value = flatView(b, location, touch.buffer, layout);
    touches.push_back(std::move(touch));
    return true;
  }

  const Touch *touchOf(Operation *op) const {
    auto found = llvm::find_if(touches, [&](const Touch &touch) { return touch.op == op; });
    return found == touches.end() ? nullptr : &*found;
  }

  // By which loops what is computed and loaded differs.
  void findDependences() {
    isAsked.resize(loops.size());
    for (Operation &op : body->without_terminator()) {
      if (!needed.contains(&op))
        continue;
      llvm::SmallBitVector on(loops.size());
      auto add = [&](Value value) {
        if (auto index = llvm::find(indices, value); index != indices.end()) {
          on.set(static_cast<unsigned>(index - indices.begin()));
          isAsked.set(static_cast<unsigned>(index - indices.begin()));
        } else if (auto found = dependences.find(value.getDefiningOp()); found != dependences.end()) {
          on |= found->second;
        }
      };
      if (const Touch *touch = touchOf(&op)) {
        for (const Touch::Part &part : touch->computed)
          add(part.value);
        for (unsigned loop = 0; loop < loops.size(); ++loop)
          if (touch->access.varies(loop))
            on.set(loop);
      }
      if (!isa<memref::LoadOp>(op))
        for (Value operand : op.getOperands())
          if (!touchOf(&op) || operand == op.getOperand(0))
            add(operand);
      dependences[&op] = on;
    }
  }
  bool dependsOn(Operation *op, unsigned loop) const {
    auto found = dependences.find(op);
    return found != dependences.end() && found->second.test(loop);
  }
  bool dependsOn(Value value, unsigned loop) const {
    return value.getDefiningOp() && dependsOn(value.getDefiningOp(), loop);
  }

  void mergeLoops() {
    auto canMerge = [&](unsigned outer) {
      return nest.isReduction[outer] == nest.isReduction[outer + 1] && !isAsked.test(outer) &&
             !isAsked.test(outer + 1) && llvm::all_of(touches, [&](const Touch &touch) {
               const auto &strides = touch.access.strides;
               return !needed.contains(touch.op) || strides[outer] == strides[outer + 1] * nest.extents[outer + 1];
             });
    };
    for (unsigned loop = nest.numLoops() - 1; loop-- > 0;) {
      if (!canMerge(loop))
        continue;
      nest.extents[loop + 1] = nest.extents[loop] * nest.extents[loop + 1];
      nest.extents.erase(nest.extents.begin() + loop);
      nest.isReduction.erase(nest.isReduction.begin() + loop);
      for (Touch &touch : touches)
        touch.access.strides.erase(touch.access.strides.begin() + loop);
      auto merge = [&](llvm::SmallBitVector &on) {
        llvm::SmallBitVector merged(nest.numLoops());
        for (unsigned other = 0; other < nest.numLoops(); ++other)
          merged[other] = on.test(other < loop ? other : other + 1) || (other == loop && on.test(loop));
        on = merged;
      };
      for (auto &[op, on] : dependences)
        merge(on);
      merge(isAsked);
      indices.erase(indices.begin() + loop);
    }
  }

  //===-- What becomes of them --------------------------------------------------------------------===//

  // The cycles of an iteration that are spent once for all elements of the vector loop, and for each of them.
  double uniformCycles = 0, elementCycles = 0;

  // The loop of the vectors: all that is touched has its elements side by side along it.
  void chooseVectors() {
    double best = 0.7; // of the time without vectors
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (nest.isReduction[loop] || isAsked.test(loop) || !canVectorize(loop))
        continue;
      unsigned bits = 32;
      for (const Touch &touch : touches)
        if (touch.access.varies(loop) && needed.contains(touch.op))
          bits = std::max(bits, touch.access.element.getIntOrFloatBitWidth());
      int64_t extent = nest.extents[loop].guess(), width = target.vectorBytes * 8 / bits;
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
    // Else the innermost loop goes from element to element, and threads may share it.
    if (vectorLoop == kNoLoop && !nest.isReduction.back() && !isAsked.test(nest.numLoops() - 1) &&
        llvm::is_contained(nest.isReduction, true))
      vectorLoop = nest.numLoops() - 1;
  }

  bool canVectorize(unsigned loop) const {
    return llvm::all_of(touches, [&](const Touch &touch) {
      // A loop's element that all others change is no independent one's.
      bool isStored = stored.contains(touch.buffer);
      return !needed.contains(touch.op) ||
             ((touch.access.varies(loop) || !isStored) &&
              llvm::none_of(touch.computed, [&](const Touch::Part &part) { return dependsOn(part.value, loop); }));
    });
  }

  // The loops in which iterations come in order, and those outside and inside of these.
  void chooseRoles() {
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
      double cycles = isa<memref::LoadOp, memref::StoreOp>(op) ? 2 : 0.5;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        cycles = 4 * static_cast<double>(Extent(OpFoldResult(loop.getUpperBound())).guess());
      (isElement ? elementCycles : uniformCycles) += cycles;
    }
    elementCycles /= static_cast<double>(lanes);
    uniformCycles += 2;
  }

  Extent iterationsOf(ArrayRef<unsigned> of) const {
    Extent count(1);
    for (unsigned loop : of)
      count = count * nest.extents[loop];
    return count;
  }
  Extent vectorExtent() const { return vectorLoop == kNoLoop ? Extent(1) : nest.extents[vectorLoop]; }
  // Of the iterations of the inner loops and of the vectors' in one iteration of the others.
  double cyclesOfRow() const {
    return static_cast<double>(iterationsOf(inner).guess()) *
           (uniformCycles + elementCycles * static_cast<double>(vectorExtent().guess()));
  }

  void describe(std::string &plan) const {
    llvm::raw_string_ostream stream(plan);
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      stream << (loop ? " x " : "") << (nest.isReduction[loop] ? "(" : "");
      nest.extents[loop].isKnown() ? stream << *nest.extents[loop].known() : stream << "?";
      stream << (nest.isReduction[loop] ? ")" : "");
    }
    stream << ": loops that store";
    for (Operation &op : body->without_terminator())
      if (isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp>(op) &&
          (!isRead || needed.contains(&op)) && !op.getResult(0).getType().isIndex())
        stream << ' ' << op.getName().stripDialect();
    if (vectorLoop != kNoLoop && lanes > 1)
      stream << "; vectors of " << lanes;
    else if (lanes == 1)
      stream << "; one element after the other";
  }

  // Whose value says which piece an iteration belongs to, where iterations with another one touch nothing that it
  // stores.
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
      // Pieces ask for it before they store anything.
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

  void emitAll(std::string &plan) {
    VectorBuilder made(b, nest, location, vectorLoop, lanes), ofScalars(b, nest, location, kNoLoop, 1);
    v = &made;
    scalars = &ofScalars;
    Position origin(nest.numLoops());
    Extent pieces = iterationsOf(outer);
    constexpr int64_t kFewPieces = 8;
    const bool isFew = pieces.isKnown() && *pieces.known() < kFewPieces;
    if (isFew && isRead && vectorLoop != kNoLoop) {
      if (const Touch::Part *index = ownedIndex(); index && !ordered.empty() && emitOwners(origin, *index, plan))
        return;
      if (emitColumns(origin, plan))
        return;
    }
    Extent times = iterationsOf(ordered) * iterationsOf(inner) * vectorExtent();
    double cycles = elementCycles + uniformCycles / static_cast<double>(vectorExtent().guess());
    if (outer.empty()) {
      over(ordered, origin, [&](Position at) { row(at, 0, v->number(vectorExtent())); });
      return;
    }
    v->parallel(v->number(pieces), cycles, v->number(times), [&](Value piece) {
      over(ordered, placeIn(outer, piece, origin), [&](Position at) { row(at, 0, v->number(vectorExtent())); });
    });
  }

  // The place of iteration `number` of several loops, the first of which is the outermost.
  Position placeIn(ArrayRef<unsigned> of, Value number, Position at) {
    for (unsigned loop : llvm::reverse(of)) {
      if (loop == of.front()) {
        at.index[loop] = number;
        break;
      }
      Value extent = v->valueOf(v->number(nest.extents[loop]));
      at.index[loop] = arith::RemUIOp::create(b, location, number, extent);
      number = arith::DivUIOp::create(b, location, number, extent);
    }
    return at;
  }

  void over(ArrayRef<unsigned> of, Position at, function_ref<void(Position)> inside) {
    if (of.empty())
      return inside(at);
    v->loop(v->number(nest.extents[of.front()]), 1, {}, [&](Value i, ValueRange) {
      over(of.drop_front(), at.at(of.front(), i), inside);
      return SmallVector<Value>();
    });
  }

  // Threads share the vector loop: the columns.
  bool emitColumns(Position origin, std::string &plan) {
    constexpr int64_t kMostPieces = 16, kLeastVectors = 4, kLeastElements = 64;
    const int64_t least = std::max(kLeastVectors * lanes, kLeastElements);
    Extent extent = vectorExtent();
    if (extent.isKnown() && *extent.known() < 2 * least)
      return false;
    Number count = v->number(extent), width = least;
    // As many vectors for each that there are not too many pieces.
    Number vectors = v->ceilDivide(v->ceilDivide(count, kMostPieces), lanes);
    width = v->maximum(width, v->multiply(vectors, lanes));
    Number pieces = v->ceilDivide(count, width);
    double cycles = elementCycles + uniformCycles / static_cast<double>(std::min<int64_t>(extent.guess(), 1024));
    Number times = v->multiply(v->number(iterationsOf(outer) * iterationsOf(ordered) * iterationsOf(inner)), width);
    v->parallel(pieces, cycles, times, [&](Value piece) {
      Number first = v->multiply(Number(piece), width), last = v->minimum(v->add(first, width), count);
      over(outer, origin, [&](Position place) { over(ordered, place, [&](Position at) { row(at, first, last); }); });
    });
    plan += ", pieces of columns";
    return true;
  }

  // Threads share the rows that are stored: each piece goes through all iterations, and does those whose row is its
  // own. Rows are dealt out in turn, since some parts of a table may be named more often than others.
  bool emitOwners(Position origin, const Touch::Part &index, std::string &plan) {
    // To look whether an iteration is a piece's own takes about kScan cycles, which all pieces do.
    constexpr double kScan = 1.5, kFewCycles = 40'000;
    constexpr int64_t kChunk = 1024;
    double cycles = cyclesOfRow();
    int64_t pieces = cycles < 64 ? 8 : cycles < 512 ? 16 : 32;
    if (cycles < 8 * kScan || (index.size.isKnown() && *index.size.known() < 2 * pieces))
      return false;
    Extent count = iterationsOf(ordered);
    auto all = [&] {
      over(outer, origin,
           [&](Position place) { over(ordered, place, [&](Position at) { row(at, 0, v->number(vectorExtent())); }); });
    };
    Extent rows = count * iterationsOf(outer) * iterationsOf(inner), whole = rows * vectorExtent();
    if (whole.isKnown()) {
      if (static_cast<double>(*count.known() * *iterationsOf(outer).known()) * cycles < kFewCycles)
        return all(), true;
      shareOwners(origin, index, pieces, kChunk);
    } else {
      double each = elementCycles + uniformCycles / static_cast<double>(vectorExtent().guess());
      Value isWorthIt = v->less(static_cast<int64_t>(kFewCycles / each), v->number(whole));
      v->either(isWorthIt, [&] { shareOwners(origin, index, pieces, kChunk); }, all);
    }
    plan += ", " + std::to_string(pieces) + " owners of rows";
    return true;
  }

  void shareOwners(Position origin, const Touch::Part &index, int64_t pieces, int64_t chunk) {
    constexpr double kAlways = 1e6;
    Type i32 = b.getI32Type();
    v->parallel(pieces, kAlways, 1, [&](Value piece) {
      Value list = threadMemory(b, location, MemRefType::get({chunk}, i32));
      over(outer, origin, [&](Position place) {
        Number count = v->number(iterationsOf(ordered));
        v->loop(v->index(0), v->valueOf(count), chunk, {}, [&](Value first, ValueRange) {
          Number last = v->minimum(v->add(Number(first), chunk), count);
          // Without a branch, since none could be foretold.
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

  // One iteration of the outer and the ordered loops, with the given part of the vector loop.
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

  // The loops' indices, which the body may ask for.
  IRMapping mappingOf(const Position &at) const {
    IRMapping mapping;
    for (auto [index, value] : llvm::zip_equal(indices, at.index))
      if (value)
        mapping.map(index, value);
    return mapping;
  }

  // The body as it is, for places whose loops are those of the operation.
  void cloneBody(const Position &at) {
    IRMapping mapping = mappingOf(at);
    for (Operation &op : body->without_terminator())
      b.clone(op, mapping);
  }

  // The operations of the body that a value is computed by.
  llvm::SmallPtrSet<Operation *, 16> operationsFor(Value value) const {
    llvm::SmallPtrSet<Operation *, 16> used;
    SmallVector<Value> open{value};
    while (!open.empty()) {
      Value next = open.pop_back_val();
      Operation *op = isOutside(next) ? nullptr : next.getDefiningOp();
      if (!op || !used.insert(op).second)
        continue;
      if (const Touch *touch = touchOf(op))
        for (const Touch::Part &part : touch->computed)
          open.push_back(part.value);
      else
        llvm::append_range(open, op->getOperands());
    }
    return used;
  }
  bool readsStored(Value value) const {
    auto used = operationsFor(value);
    return llvm::any_of(touches,
                        [&](const Touch &touch) { return used.contains(touch.op) && stored.contains(touch.buffer); });
  }
  // A value that is the same for all lanes.
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

  Access accessOf(const Touch &touch, const IRMapping &mapping) {
    Access access = touch.access;
    for (const Touch::Part &part : touch.computed) {
      Value term = mapping.lookupOrDefault(part.value);
      if (!(part.stride == 1))
        term = arith::MulIOp::create(b, location, term, part.stride.emit(b, location));
      access.unknownOffset =
          access.unknownOffset ? arith::AddIOp::create(b, location, access.unknownOffset, term).getResult() : term;
    }
    return access;
  }

  void emitOp(Operation *op, VectorBuilder &w, const Position &at, const Number &valid, IRMapping &mapping) {
    auto mapped = [&](Value value) {
      Value found = mapping.lookupOrDefault(value);
      return isa<VectorType>(found.getType()) || w.lanes == 1 ? found : w.splat(found);
    };
    if (const Touch *touch = touchOf(op)) {
      Access access = accessOf(*touch, mapping);
      if (auto store = dyn_cast<memref::StoreOp>(op))
        w.store(access, at, mapped(store.getValueToStore()), valid);
      else
        mapping.map(op->getResult(0), w.load(access, at, valid, /*repeats=*/true));
      return;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return mapping.map(op->getResult(0), w.constant(constant.getValue()));
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(mapped(operand));
    state.types.push_back(w.typeOf(op->getResult(0).getType()));
    state.attributes = op->getAttrs();
    mapping.map(op->getResult(0), b.create(state)->getResult(0));
  }

  //===-- Rows whose elements follow from each other ----------------------------------------------===//

  // A loop along contiguous rows that carries numbers from element to element, as in a cumulative sum along the last
  // axis. As many rows as a vector has lanes go along together, each in a lane: squares of elements are transposed in
  // registers.
  bool emitCarrying(scf::ForOp carrying, std::string &plan) {
    Block *around = body;
    if (carrying->getNextNode() != body->getTerminator() || carrying.getNumResults() == 0 ||
        getConstantIntValue(carrying.getLowerBound()) != 0 || getConstantIntValue(carrying.getStep()) != 1 ||
        !isOutside(carrying.getUpperBound()) ||
        !llvm::all_of(carrying.getResults(), [](Value result) { return result.use_empty(); }) ||
        !llvm::all_of(carrying.getInitArgs(), [&](Value initial) { return isOutside(initial); }))
      return false;
    const Nest before = nest;
    loops.push_back(carrying);
    indices.push_back(carrying.getInductionVar());
    nest.extents.push_back(Extent(OpFoldResult(carrying.getUpperBound())));
    nest.isReduction.push_back(true);
    body = carrying.getBody();
    if (readBody()) {
      mergeLoops();
      if (isCarriedInSquares(carrying)) {
        describe(plan);
        plan += "; vectors of " + std::to_string(lanes) + " rows, transposed in registers";
        emitSquares(carrying);
        return true;
      }
    }
    nest = before;
    body = around;
    loops.pop_back();
    indices = llvm::map_to_vector(loops, [](scf::ForOp loop) -> Value { return loop.getInductionVar(); });
    touches.clear();
    needed.clear();
    stored.clear();
    dependences.clear();
    isRead = false;
    lanes = 1;
    return false;
  }

  unsigned rowLoop() const { return nest.numLoops() - 2; }
  unsigned axisLoop() const { return nest.numLoops() - 1; }
  bool isAcross(const Touch &touch) const { return !(touch.access.strides[rowLoop()] == 1); }

  bool isCarriedInSquares(scf::ForOp carrying) {
    if (nest.numLoops() < 2 || llvm::is_contained(ArrayRef(nest.isReduction).drop_back(), true) || isAsked.any())
      return false;
    unsigned bits = 32;
    for (Value carried : carrying.getInitArgs())
      bits = std::max(bits, carried.getType().getIntOrFloatBitWidth());
    for (const Touch &touch : touches) {
      bits = std::max(bits, touch.access.element.getIntOrFloatBitWidth());
      Extent along = touch.access.strides[axisLoop()];
      bool isRow = along == 1 || along == -1;
      if (!touch.access.varies(rowLoop()) || (isAcross(touch) && !isRow) || touch.access.element.isInteger(1) ||
          llvm::any_of(touch.computed, [&](const Touch::Part &part) { return !isOutside(part.value); }))
        return false;
    }
    lanes = target.vectorBytes * 8 / bits;
    return lanes >= 4 && nest.extents[rowLoop()].guess() >= lanes && nest.extents[axisLoop()].guess() >= lanes;
  }

  void emitSquares(scf::ForOp carrying) {
    VectorBuilder made(b, nest, location, rowLoop(), lanes), along(b, nest, location, axisLoop(), lanes),
        ofScalars(b, nest, location, kNoLoop, 1);
    v = &made;
    scalars = &ofScalars;
    Number rows = v->number(nest.extents[rowLoop()]), blocks = v->ceilDivide(rows, lanes);
    auto others = llvm::to_vector(llvm::seq<unsigned>(0, rowLoop()));
    Number pieces = v->multiply(v->number(iterationsOf(others)), blocks);
    double cycles = 2 * static_cast<double>(lanes);
    v->parallel(pieces, cycles, v->number(nest.extents[axisLoop()]), [&](Value piece) {
      Position at(nest.numLoops());
      Number first = v->multiply(v->remainder(Number(piece), blocks), lanes);
      if (!others.empty())
        at = placeIn(others, v->valueOf(v->divide(Number(piece), blocks)), at);
      Number end = v->add(first, lanes);
      auto square = [&] { rowsTogether(carrying, along, at.at(rowLoop(), v->valueOf(first))); };
      if (rows.known && *rows.known % lanes == 0)
        return square();
      v->either(
          v->less(rows, end),
          [&] {
            v->loop(v->valueOf(first), v->valueOf(rows), 1, {}, [&](Value row, ValueRange) {
              columns(carrying, *scalars, at.at(rowLoop(), row), 0, SmallVector<Value>(carrying.getInitArgs()));
              return SmallVector<Value>();
            });
          },
          square);
    });
  }

  // The elements of the rows from column `first` on, column by column.
  void columns(scf::ForOp carrying, VectorBuilder &w, const Position &at, const Number &first, ValueRange carried) {
    Number end = w.number(nest.extents[axisLoop()]);
    if (first.known && end.known && *first.known == *end.known)
      return;
    w.loop(w.valueOf(first), w.valueOf(end), 1, carried, [&](Value column, ValueRange state) {
      IRMapping mapping;
      mapping.map(carrying.getRegionIterArgs(), state);
      for (Operation &op : body->without_terminator())
        if (needed.contains(&op))
          emitOp(&op, w, at.at(axisLoop(), column), w.lanes, mapping);
      return yielded(w, mapping);
    });
  }
  SmallVector<Value> yielded(VectorBuilder &w, const IRMapping &mapping) {
    return llvm::map_to_vector(body->getTerminator()->getOperands(), [&](Value value) {
      Value found = mapping.lookupOrDefault(value);
      return isa<VectorType>(found.getType()) ? found : w.splat(found);
    });
  }

  void rowsTogether(scf::ForOp carrying, VectorBuilder &along, const Position &at) {
    SmallVector<Value> start =
        llvm::map_to_vector(carrying.getInitArgs(), [&](Value initial) { return v->splat(initial); });
    Number end = v->number(nest.extents[axisLoop()]), whole = v->multiply(v->divide(end, lanes), lanes);
    auto isTurned = [&](const Touch &touch) { return touch.access.strides[axisLoop()] == -1; };
    // Where row i of a square is, from the lowest address on.
    auto addressOf = [&](const Touch &touch, const Position &corner, int64_t i) {
      Position row = corner.shifted(rowLoop(), i);
      return scalars->scalarAddress(accessOf(touch, IRMapping()),
                                    isTurned(touch) ? row.shifted(axisLoop(), lanes - 1) : row);
    };
    SmallVector<Value> carried =
        v->loop(v->index(0), v->valueOf(whole), lanes, start, [&](Value column, ValueRange initial) {
          Position corner = at.at(axisLoop(), column);
          llvm::DenseMap<Operation *, SmallVector<Value>> squares; // for each column, what is loaded or to be stored
          for (const Touch &touch : touches) {
            if (touch.isStore || !needed.contains(touch.op) || !isAcross(touch))
              continue;
            SmallVector<Value> &square = squares[touch.op];
            for (int64_t i = 0; i < lanes; ++i)
              square.push_back(vector::LoadOp::create(b, location, cast<VectorType>(along.typeOf(touch.access.element)),
                                                      touch.access.value, addressOf(touch, corner, i)));
            along.transpose(square);
            if (isTurned(touch))
              std::reverse(square.begin(), square.end());
          }
          SmallVector<Value> state(initial);
          for (int64_t k = 0; k < lanes; ++k) {
            IRMapping mapping;
            mapping.map(carrying.getRegionIterArgs(), state);
            for (Operation &op : body->without_terminator()) {
              if (!needed.contains(&op))
                continue;
              const Touch *touch = touchOf(&op);
              if (!touch || !isAcross(*touch)) {
                emitOp(&op, *v, corner.shifted(axisLoop(), k), lanes, mapping);
              } else if (touch->isStore) {
                Value value = mapping.lookupOrDefault(cast<memref::StoreOp>(op).getValueToStore());
                squares[&op].push_back(isa<VectorType>(value.getType()) ? value : v->splat(value));
              } else {
                mapping.map(op.getResult(0), squares[&op][static_cast<size_t>(k)]);
              }
            }
            state = yielded(*v, mapping);
          }
          for (const Touch &touch : touches) {
            if (!touch.isStore || !isAcross(touch))
              continue;
            SmallVector<Value> &square = squares[touch.op];
            if (isTurned(touch))
              std::reverse(square.begin(), square.end());
            along.transpose(square);
            for (int64_t i = 0; i < lanes; ++i)
              vector::StoreOp::create(b, location, square[static_cast<size_t>(i)], touch.access.value,
                                      addressOf(touch, corner, i));
          }
          return state;
        });
    columns(carrying, *v, at, whole, carried);
  }

  OpBuilder b;
  Location location;
  const Target &target;
  scf::ForOp outermost;
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> indices;   // of the loops that are left after some have been merged
  llvm::SmallBitVector isAsked; // whether the body asks for a loop's index, but for addresses
  Nest nest{};                  // the loops; those in order count as reductions
  Block *body = nullptr;
  bool isRead = false; // whether all that the body does is known
  std::vector<Touch> touches;
  llvm::SmallPtrSet<Operation *, 32> needed;
  llvm::SmallDenseSet<Value, 4> stored;
  llvm::DenseMap<Operation *, llvm::SmallBitVector> dependences;
  unsigned vectorLoop = kNoLoop;
  int64_t lanes = 1;
  SmallVector<unsigned> outer, ordered, inner;
  VectorBuilder *v = nullptr, *scalars = nullptr;
};

} // namespace

bool emitStoringLoops(scf::ForOp outermost, const Target &target, std::string &plan) {
  return StoringLoops(outermost, target).emit(plan);
}

} // namespace calque::codegen
