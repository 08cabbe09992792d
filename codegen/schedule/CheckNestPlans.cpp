// Checks that the plan of an operation that is no product fits its nest and the target, in the sense of CheckPlans.cpp.
#include "codegen/schedule/PlanCheck.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

class VectorsCheck : PlanCheck {
public:
  VectorsCheck(const Nest &nest, const Target &target, plan::VectorsAttr attribute, bool combines, VectorPlan &plan)
      : PlanCheck(nest, target), attribute(attribute), combines(combines), plan(plan) {}

  LogicalResult run() {
    plan.lanes = attribute.getLanes();
    plan.vectors = attribute.getVectors();
    if (failed(takeLoop("along", attribute.getAlong(), plan.along)) ||
        failed(takeLoops("loops", attribute.getLoops(), plan.loops)) ||
        failed(takeLoops("terms", attribute.getTerms(), plan.terms)) ||
        failed(takeLoops("beside", attribute.getBeside(), plan.beside)) || failed(checkLanes(plan.lanes, 1)) ||
        failed(takeCycles(attribute.getCycles(), plan.cycles)) ||
        failed(atLeast(1, "the vectors at a time", plan.vectors)))
      return failure();
    return success(succeeded(checkRoles()) && succeeded(checkVectors()) && succeeded(checkBeside()));
  }

private:
  LogicalResult checkRoles() const {
    SmallVector<int> roles(nest.numLoops());
    if (plan.along != kNoLoop)
      ++roles[plan.along];
    for (const auto *loops : {&plan.loops, &plan.terms, &plan.beside})
      for (unsigned loop : *loops)
        ++roles[loop];
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (roles[loop] != 1)
        return nest.op->emitOpError("plan: loop ")
               << loop << " has " << roles[loop] << " roles, and each has one of along, loops, terms and beside";
    auto check = [&](StringRef role, ArrayRef<unsigned> loops, bool ofTerms) -> LogicalResult {
      for (unsigned loop : loops)
        if (nest.isReduction[loop] != ofTerms)
          return nest.op->emitOpError("plan: loop ")
                 << loop << " is over " << (ofTerms ? "results" : "terms") << ", and can't be of the " << role;
      return success();
    };
    return success(succeeded(check("loops", plan.loops, false)) && succeeded(check("terms", plan.terms, true)) &&
                   succeeded(check("loops beside", plan.beside, false)));
  }

  LogicalResult checkVectors() const {
    constexpr int64_t kMostVectors = 8;
    if (plan.vectors > kMostVectors)
      return nest.op->emitOpError("plan: ") << plan.vectors << " vectors at a time are more than " << kMostVectors;
    if ((plan.along == kNoLoop) != (plan.lanes == 1))
      return nest.op->emitOpError(
                 "plan: vectors of two lanes or more run along a loop, and one element has none; this has ")
             << plan.lanes << " lanes";
    if (plan.along != kNoLoop && nest.isReduction[plan.along] && !combines)
      return nest.op->emitOpError("plan: loop ")
             << plan.along << " is over terms, which the operation does not combine in a way that has vectors";
    return success();
  }

  // The code of a block contains the body once for each of these iterations.
  LogicalResult checkBeside() const {
    constexpr int64_t kMostBeside = 64;
    int64_t count = 1;
    for (unsigned loop : plan.beside) {
      if (nest.hasReduction() || !isKnown(loop))
        return nest.op->emitOpError("plan: loop ")
               << loop << " has no iterations side by side: there are terms, or an unknown number of them";
      count = std::min(count, kMost) * *nest.extents[loop].known();
      if (count > kMostBeside)
        return nest.op->emitOpError("plan: ") << count << " iterations side by side are more than " << kMostBeside;
    }
    return success();
  }

  plan::VectorsAttr attribute;
  bool combines;
  VectorPlan &plan;
};

class PiecesCheck : PlanCheck {
public:
  PiecesCheck(const Nest &nest, const Target &target, plan::PiecesAttr attribute, PiecesPlan &plan)
      : PlanCheck(nest, target), attribute(attribute), plan(plan) {}

  LogicalResult run() {
    std::optional<Combiner> combiner = Combiner::of(nest);
    if (!combiner || !nest.isKnown() || !nest.body->getOps<linalg::IndexOp>().empty())
      return nest.op->emitOpError("plan: the operation can't have its terms in pieces: it combines none, asks for a "
                                  "loop's index, or has unknown sizes");
    if (failed(takeLoop("of", attribute.getOf(), plan.loop)))
      return failure();
    if (!nest.isReduction[plan.loop])
      return nest.op->emitOpError("plan: loop ") << plan.loop << " is over results, and pieces are of terms";
    plan.count = attribute.getCount();
    int64_t most = std::min(Target::kMostPiecesOfSums, *nest.extents[plan.loop].known());
    if (plan.count < 2 || plan.count > most)
      return nest.op->emitOpError("plan: ") << plan.count << " pieces are none; of these terms there are 2 to " << most;
    const bool leavesRest = PiecesPlan::leavesRest(nest, plan.loop, plan.count);
    if (leavesRest != static_cast<bool>(attribute.getRest()))
      return nest.op->emitOpError("plan: ") << plan.count
                                            << (leavesRest ? " pieces leave a rest, and the plan has none"
                                                           : " pieces leave no rest, and the plan has one");
    SmallVector<unsigned> loops;
    Access partial = PartialResults::accessOf(nest, loops);
    Gathering sums(nest, *combiner, partial, loops, nest.iterations(false), Extent(plan.count + leavesRest));
    auto take = [&](const Nest &of, plan::VectorsAttr part, VectorPlan &into) {
      return VectorsCheck(of, target, part, true, into).run();
    };
    if (attribute.getRest() &&
        failed(take(restOf(nest, plan.loop, plan.count), attribute.getRest(), plan.rest.emplace())))
      return failure();
    return success(succeeded(take(pieceOf(nest, plan.loop, plan.count), attribute.getEach(), plan.each)) &&
                   succeeded(take(sums.nest, attribute.getSums(), plan.sums)));
  }

private:
  plan::PiecesAttr attribute;
  PiecesPlan &plan;
};

class SquaresCheck : PlanCheck {
public:
  SquaresCheck(const Nest &nest, const Target &target, plan::SquaresAttr attribute, SquaresPlan &plan)
      : PlanCheck(nest, target), attribute(attribute), plan(plan) {}

  LogicalResult run() {
    constexpr int64_t kMostBeside = 64;
    plan.size = attribute.getSize();
    plan.beside = attribute.getBeside();
    if (failed(takeLoop("along", attribute.getAlong(), plan.along)) ||
        failed(takeLoop("across", attribute.getAcross(), plan.across)) ||
        failed(takeCycles(attribute.getCycles(), plan.cycles)) ||
        failed(atLeast(1, "the squares beside each other", plan.beside)))
      return failure();
    if (plan.beside > kMostBeside)
      return nest.op->emitOpError("plan: ")
             << plan.beside << " squares beside each other are more than " << kMostBeside;
    if (!SquaresPlan::fits(nest, plan.along, plan.across))
      return nest.op->emitOpError("plan: the operation does not write along loop ")
             << plan.along << " what it reads along loop " << plan.across << " alone";
    if (int64_t most = SquaresPlan::largestSize(nest, target);
        plan.size < 2 || plan.size > most || !llvm::isPowerOf2_64(static_cast<uint64_t>(plan.size)))
      return nest.op->emitOpError("plan: squares of ")
             << plan.size << " are none; their sizes are powers of two, from 2 to " << most;
    return success(succeeded(takeRest("rest_across", plan.across, attribute.getRestAcross(), plan.restAcross)) &&
                   succeeded(takeRest("rest_along", plan.along, attribute.getRestAlong(), plan.restAlong)));
  }

private:
  LogicalResult takeRest(StringRef name, unsigned loop, plan::VectorsAttr given, std::optional<VectorPlan> &rest) {
    const bool leavesRest = plan.leavesRest(nest, loop);
    if (leavesRest != static_cast<bool>(given))
      return nest.op->emitOpError("plan: squares of ")
             << plan.size << (leavesRest ? " leave a rest, and the plan has no " : " leave no rest, and the plan has ")
             << name;
    return given ? VectorsCheck(nest, target, given, false, rest.emplace()).run() : success();
  }

  plan::SquaresAttr attribute;
  SquaresPlan &plan;
};

} // namespace

FailureOr<VectorPlan> planOf(plan::VectorsAttr attribute, const Nest &nest, const Target &target) {
  VectorPlan plan;
  if (failed(VectorsCheck(nest, target, attribute, Combiner::of(nest).has_value(), plan).run()))
    return failure();
  return plan;
}

FailureOr<PiecesPlan> planOf(plan::PiecesAttr attribute, const Nest &nest, const Target &target) {
  PiecesPlan plan;
  if (failed(PiecesCheck(nest, target, attribute, plan).run()))
    return failure();
  return plan;
}

FailureOr<SquaresPlan> planOf(plan::SquaresAttr attribute, const Nest &nest, const Target &target) {
  SquaresPlan plan;
  if (failed(SquaresCheck(nest, target, attribute, plan).run()))
    return failure();
  return plan;
}

} // namespace calque::codegen
