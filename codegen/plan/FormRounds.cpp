// Collects calls of kernels that do not depend on each other into a *round*. The pieces of all calls of a round are one
// loop of the threads (runtime/Round.h). For example, the updates of all parameters are a round.
//
// A round stays where it began, and a later call joins it by moving there if it depends on nothing in between. A round
// whose calls are small moves along with the program instead, until something depends on it. A short call that depends
// on short calls of a round follows them there, in a *chain* that one thread runs, so that values that one call makes
// for the next stay in the caches of a core.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/native/Target.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/CostModel.h"
#include "ir/ElementType.h"
#include "runtime/Round.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <limits>

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_FORMROUNDS
#include "codegen/Passes.h.inc"

namespace {

using runtime::kParallelCycles;
using runtime::kShortCycles;
// The cycles to wake the threads and to wait for the last of them, and the cycles of a step of a round beside its work.
constexpr double kWakeCycles = 8'000, kStepCycles = 150;
// A call of fewer than kLeastCycles begins no round, and a round must save at least kLeastSpared.
constexpr double kLeastCycles = 2'000, kLeastSpared = 4'000;
// The most rounds that calls may join, because each call is compared with all of them.
constexpr size_t kMostOpen = 4;
constexpr size_t kMostCalls = 256, kRoundWindow = 1024;
// With more cycles in a chain, one thread would still work on it when the others have finished. A call may follow at
// most kMostFollowed chains.
constexpr double kLongestChain = 100'000;
constexpr size_t kMostFollowed = 4;
// The most bytes that the calls of one round may keep alive by moving past other calls.
constexpr int64_t kMostMovedBytes = 256 << 10;

// The facts about a kernel that are known before it is scheduled.
struct Kernel {
  bool canJoin = false;
  std::optional<double> cycles;
  llvm::BitVector writes; // by the number of the argument

  bool isShort() const { return canJoin && cycles && *cycles < kParallelCycles; }
};

Kernel kernelOf(func::FuncOp function) {
  constexpr double kLanes = 8, kCyclesOfCall = 50;
  // Rounds are the same for every CPU, so that plans are the same as well.
  const Target &target = Target::of(runtime::Cpu::Baseline);
  Kernel kernel;
  kernel.writes.resize(function.getNumArguments());
  function.walk([&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()) || isa<memref::LoadOp, ViewLikeOpInterface>(op) ||
          (linalgOp && linalgOp.isDpsInput(&operand)))
        continue;
      if (auto argument = dyn_cast<BlockArgument>(rootBuffer(operand.get()));
          argument && argument.getOwner() == &function.getBody().front())
        kernel.writes.set(argument.getArgNumber());
    }
  });
  bool hasLinalg = false, areParallel = true, isKnown = true;
  double cycles = kCyclesOfCall;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      hasLinalg = true;
      areParallel &= linalgOp.getNumReductionLoops() == 0;
      double iterations = 1;
      for (int64_t extent : linalgOp.getStaticLoopRanges()) {
        isKnown &= !ShapedType::isDynamic(extent);
        iterations *= static_cast<double>(extent);
      }
      cycles += iterations * cyclesOfBody(linalgOp, target) / kLanes;
      continue;
    }
    if (!isa<memref::AllocOp, memref::LoadOp, memref::StoreOp, ViewLikeOpInterface>(op) &&
        (op.getNumRegions() || !isMemoryEffectFree(&op)))
      return kernel;
  }
  if (isKnown)
    kernel.cycles = cycles;
  kernel.canJoin = hasLinalg ? areParallel || (isKnown && cycles < kParallelCycles) : true;
  return kernel;
}

// The bytes of a buffer of the workspace, which lives from its first use to its last. A buffer of unknown size may be
// large.
int64_t bytesInWorkspace(Value root) {
  auto alloc = root.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return 0;
  MemRefType type = alloc.getType();
  if (!type.hasStaticShape())
    return std::numeric_limits<int32_t>::max();
  return type.getNumElements() * ir::ElementType(type).bytes();
}

class Rounds {
public:
  Rounds(func::FuncOp program, const SymbolTable &symbols) : body(program.getBody().front()), symbols(symbols) {}

  // Orders the calls, and marks those of each round. Returns the number of rounds.
  unsigned form() {
    SmallVector<func::CallOp> all(body.getOps<func::CallOp>());
    calls.reserve(all.size());
    for (func::CallOp op : all) {
      calls.push_back(callOf(op));
      visit(calls.size() - 1);
    }
    fixAll();
    bool hasMoved = order();
    if (hasMoved)
      reorder();
    return mark();
  }

private:
  struct Call {
    func::CallOp op;
    const Kernel *kernel = nullptr; // null: the call stays where it is, and nothing moves past it
    SmallVector<Value, 6> reads = {}, writes = {};
    int64_t bytesRead = 0, bytesWritten = 0; // in the workspace
    size_t slot = 0;
    std::optional<size_t> round = std::nullopt;
    size_t chain = 0; // the number of its chain in the round, until chains are joined
  };
  // Calls that run one after the other.
  struct Chain {
    size_t joined; // the chain of which it has become a part; else its own number
    double cycles;
    bool isShort;
  };
  // The chains that touch a buffer.
  struct Users {
    std::optional<size_t> writer = std::nullopt;
    SmallVector<size_t, 2> readers = {};
  };
  struct Round {
    SmallVector<size_t> calls;
    int64_t movedBytes = 0;
    bool isFixed = false;
    size_t slot = 0; // if it is fixed
    std::vector<Chain> chains = {};
    llvm::DenseMap<Value, Users> users{}; // empty once no call may join any more

    size_t find(size_t chain) {
      while (chains[chain].joined != chain)
        chain = chains[chain].joined = chains[chains[chain].joined].joined;
      return chain;
    }
  };
  struct Touched {
    size_t read = 0, written = 0; // the last slots that read and wrote a buffer, from 1 on
  };

  Call callOf(func::CallOp op) {
    Call call{op};
    auto function = symbols.lookup<func::FuncOp>(op.getCallee());
    if (!function || !isKernel(function) || function.isExternal() ||
        llvm::is_contained(op.getOperands(), body.getArgument(0)))
      return call;
    auto [found, isNew] = kernels.try_emplace(function);
    if (isNew)
      found->second = std::make_unique<Kernel>(kernelOf(function));
    call.kernel = found->second.get();
    for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      Value root = rootBuffer(operand);
      bool isWritten = call.kernel->writes.test(number);
      if (llvm::is_contained(isWritten ? call.writes : call.reads, root))
        continue;
      (isWritten ? call.writes : call.reads).push_back(root);
      (isWritten ? call.bytesWritten : call.bytesRead) += bytesInWorkspace(root);
    }
    return call;
  }

  void visit(size_t number) {
    Call &call = calls[number];
    if (!call.kernel) {
      fixAll();
      for (size_t each : open)
        rounds[each].users.clear();
      open.clear();
      place(number, ++lastSlot);
      return;
    }
    size_t earliest = 0; // the last slot that the call depends on
    for (Value root : call.reads)
      earliest = std::max(earliest, touched.lookup(root).written);
    for (Value root : call.writes)
      earliest = std::max({earliest, touched.lookup(root).written, touched.lookup(root).read});
    // If a call depends on a round that moves along, the call joins it, or the round is fixed in front of the call.
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    size_t chosen = kNone;
    size_t moving = 0;
    for (size_t each : llvm::to_vector(open)) {
      if (rounds[each].isFixed || dependences(call, rounds[each]).empty())
        continue;
      ++moving;
      if (follows(call, rounds[each]))
        chosen = each;
      else
        fix(each);
    }
    if (chosen != kNone && moving > 1) { // it can join only one of them
      fix(chosen);
      chosen = kNone;
    }
    llvm::erase_if(open, [&](size_t each) {
      bool isFull = rounds[each].calls.size() >= kMostCalls || rounds[each].calls.front() + kRoundWindow < number;
      if (isFull) {
        fix(each);
        rounds[each].users.clear();
        if (chosen == each)
          chosen = kNone;
      }
      return isFull;
    });
    if (chosen == kNone && call.kernel->canJoin)
      for (size_t each : open)
        if (!(moving && rounds[each].isFixed) && canJoin(call, rounds[each], earliest) &&
            (chosen == kNone || rounds[each].calls.size() >= rounds[chosen].calls.size()))
          chosen = each;
    if (chosen == kNone && (!call.kernel->canJoin || call.kernel->cycles.value_or(kLeastCycles) < kLeastCycles)) {
      place(number, ++lastSlot);
      return;
    }
    if (chosen == kNone) {
      chosen = rounds.size();
      rounds.emplace_back();
      open.push_back(chosen);
    }
    join(number, chosen);
    if (open.size() > kMostOpen) {
      size_t oldest = open.front();
      fix(oldest);
      rounds[oldest].users.clear();
      open.erase(open.begin());
    }
  }

  // The chains of a round that a call depends on.
  static SmallVector<size_t, 4> dependences(const Call &call, Round &round) {
    SmallVector<size_t, 4> found;
    auto add = [&](size_t chain) {
      if (chain = round.find(chain); !llvm::is_contained(found, chain) && found.size() <= kMostFollowed)
        found.push_back(chain);
    };
    for (const auto *roots : {&call.reads, &call.writes})
      for (Value root : *roots)
        if (auto users = round.users.find(root); users != round.users.end()) {
          if (users->second.writer)
            add(*users->second.writer);
          if (roots == &call.writes)
            llvm::for_each(users->second.readers, add);
        }
    return found;
  }
  // Whether a call can join a round: it depends on none of the round's chains, or can become a part of those on which
  // it depends.
  static bool follows(const Call &call, Round &round) {
    SmallVector<size_t, 4> chains = dependences(call, round);
    if (chains.empty())
      return true;
    double cycles = call.kernel->cycles.value_or(0);
    for (size_t chain : chains) {
      if (!round.chains[chain].isShort)
        return false;
      cycles += round.chains[chain].cycles;
    }
    return call.kernel->isShort() && chains.size() <= kMostFollowed && cycles <= kLongestChain;
  }
  bool canJoin(const Call &call, Round &round, size_t earliest) const {
    if (!round.isFixed)
      return true;
    return round.slot >= earliest && follows(call, round) &&
           (round.slot == lastSlot || round.movedBytes + call.bytesWritten <= kMostMovedBytes);
  }

  void join(size_t number, size_t into) {
    Call &call = calls[number];
    Round &round = rounds[into];
    SmallVector<size_t, 4> followed = dependences(call, round);
    call.round = into;
    call.chain = round.chains.size();
    round.calls.push_back(number);
    round.chains.push_back({call.chain, call.kernel->cycles.value_or(0), call.kernel->isShort()});
    for (size_t chain : followed) { // the earliest chain takes all, so that the order stays that of the program
      size_t own = round.find(call.chain), first = std::min(own, chain), other = std::max(own, chain);
      round.chains[first].cycles += round.chains[other].cycles;
      round.chains[other].joined = first;
    }
    for (Value root : call.reads)
      round.users[root].readers.push_back(call.chain);
    for (Value root : call.writes)
      round.users[root] = {call.chain, {}};
    if (round.isFixed) {
      if (round.slot != lastSlot)
        round.movedBytes += call.bytesWritten;
      return place(number, round.slot);
    }
    round.movedBytes += call.bytesRead;
    if (round.movedBytes > kMostMovedBytes) {
      round.movedBytes -= call.bytesRead;
      fix(into);
    }
  }
  void fix(size_t number) {
    Round &round = rounds[number];
    if (round.isFixed)
      return;
    round.isFixed = true;
    round.slot = ++lastSlot;
    for (size_t call : round.calls)
      place(call, round.slot);
  }
  void fixAll() {
    for (size_t each : open)
      fix(each);
  }
  void place(size_t number, size_t slot) {
    Call &call = calls[number];
    call.slot = slot;
    for (Value root : call.reads)
      touched[root].read = std::max(touched[root].read, slot);
    for (Value root : call.writes)
      touched[root].written = std::max(touched[root].written, slot);
  }

  // Computes the new order of the calls. Returns whether it differs from the old one.
  bool order() {
    ordered = llvm::to_vector(llvm::seq(calls.size()));
    for (Call &call : calls)
      if (call.round)
        call.chain = rounds[*call.round].find(call.chain);
    llvm::stable_sort(ordered, [&](size_t a, size_t b) {
      return std::pair(calls[a].slot, calls[a].chain) < std::pair(calls[b].slot, calls[b].chain);
    });
    return !llvm::is_sorted(ordered);
  }

  // Brings the operations into the order of the calls. An operation whose results calls take goes in front of the first
  // of these calls, so that buffers live no longer than they have to.
  void reorder() {
    llvm::DenseMap<Operation *, size_t> due;
    for (auto [place, call] : llvm::enumerate(ordered))
      due[calls[call].op] = place;
    SmallVector<Operation *> others;
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      if (isa<func::CallOp>(op))
        continue;
      size_t first = calls.size();
      for (Operation *user : op.getUsers())
        if (auto found = due.find(body.findAncestorOpInBlock(*user)); found != due.end())
          first = std::min(first, found->second);
      due[&op] = first;
      others.push_back(&op);
    }
    std::vector<SmallVector<Operation *, 4>> before(calls.size() + 1);
    for (Operation *op : llvm::reverse(others))
      before[due[op]].push_back(op);
    Operation *end = body.getTerminator();
    for (auto [place, operations] : llvm::enumerate(before)) {
      for (Operation *op : operations)
        op->moveBefore(end);
      if (place < ordered.size())
        calls[ordered[place]].op->moveBefore(end);
    }
  }

  unsigned mark() {
    unsigned number = 0;
    Builder builder(body.getParent()->getContext());
    for (const Round &round : rounds) {
      if (round.calls.size() < 2 || spared(round) < kLeastSpared)
        continue;
      llvm::SmallDenseSet<size_t, 16> begun;
      for (size_t each : round.calls) {
        func::CallOp op = calls[each].op;
        op->setAttr(kRoundAttr, builder.getI64IntegerAttr(number));
        double cycles = std::min(calls[each].kernel->cycles.value_or(0), 1e9);
        op->setAttr(kCyclesAttr, builder.getI64IntegerAttr(static_cast<int64_t>(cycles)));
        if (!begun.insert(calls[each].chain).second)
          op->setAttr(kFollowsAttr, builder.getUnitAttr());
      }
      ++number;
    }
    return number;
  }
  // The cycles that a round saves on two threads.
  double spared(const Round &round) const {
    double loops = 0, cycles = 0, longest = 0;
    for (const Chain &chain : round.chains)
      if (!chain.isShort) {
        ++loops;
      } else if (&round.chains[chain.joined] == &chain) {
        cycles += chain.cycles;
        longest = std::max(longest, chain.cycles);
      }
    if (loops == 0 && cycles < kShortCycles)
      return 0;
    return (loops - 1) * kWakeCycles + std::min(cycles / 2, cycles - longest) -
           kStepCycles * static_cast<double>(round.calls.size());
  }

  Block &body;
  const SymbolTable &symbols;
  llvm::DenseMap<Operation *, std::unique_ptr<Kernel>> kernels;
  std::vector<Call> calls;
  std::vector<Round> rounds;
  SmallVector<size_t> open; // rounds that a call may join, the oldest first
  size_t lastSlot = 0;
  llvm::DenseMap<Value, Touched> touched;
  SmallVector<size_t> ordered;
};

struct FormRounds : impl::FormRoundsBase<FormRounds> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    const SymbolTable symbols(getOperation());
    formed += Rounds(program->function, symbols).form();
  }
};

} // namespace

} // namespace calque::codegen
