#include "frontend/native/Capture.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/RecordedOperations.h"
#include "frontend/native/Diagnosis.h"
#include "frontend/native/Emission.h"
#include "frontend/native/Following.h"
#include "frontend/native/Learner.h"
#include "frontend/native/MadeConstants.h"
#include "frontend/native/UserCall.h"
#include "frontend/native/Words.h"
#include "schema/HashTables.h"

#include <algorithm>

namespace calque::detail {

using namespace native;
using schema::ValueId;

//===-- Decisions -------------------------------------------------------------------------------===//

namespace {
// The most decisions of a run beyond those that are wanted, operations, and times that one value is decided on.
constexpr std::size_t kMostDecisions = 20'000, kMostOperations = 1'000'000, kMostRepetitions = 100'000;
// Of stack between the first decision and another, in bytes.
constexpr std::uintptr_t kMostStack = 1 << 20;
// From here on chance decides how a run that has left the decisions wanted goes on.
constexpr std::size_t kRegularDecisions = 64;

// A scalar of type bool that says whether the only element is not zero.
Tensor conditionOf(const Tensor &x, SourceLocation where) {
  const schema::TensorType &type = *implOf(x).type;
  CallSite site(where, "bool");
  Tensor condition = type.dtype == DType::Bool ? x : not_equal(Operand(x, where), Operand(0, where));
  return type.rank() == 0 ? condition : reshape(Operand(condition, where), {});
}
} // namespace

void HostDecisions::fail(const char *why, SourceLocation where) {
  failed = NotCaptured{why, lineOf(where)};
  throw *failed;
}

void HostDecisions::requireEnd() const {
  if (failed)
    throw *failed;
}

bool HostDecisions::choose(const schema::SourceLine &line) {
  // A recursion is left before it takes the thread's stack.
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (made_.empty())
    firstStack = stack;
  const bool isDeep = std::max(stack, firstStack) - std::min(stack, firstStack) > kMostStack;
  if (made_.size() < wanted.size() && !isDeep)
    return wanted[made_.size()] == '1';
  if (made_.size() > wanted.size() + kRegularDecisions)
    return random() & 1;
  return timesAt[{line.file, line.line}]++ % 2 == 1;
}

bool HostDecisions::decide(Trace &trace, const Tensor &x, LoopMarks marks, SourceLocation where) {
  ValueId value = trace.valueOf(x, where);
  if (auto found = known.find(value); found != known.end()) {
    if (++repeated > kMostRepetitions)
      fail("the condition does not change in its loop", where);
    return found->second;
  }
  if (made_.size() == wanted.size() + kMostDecisions ||
      trace.recording.ops().size() > kMostOperations + 2 * limitsAt(followLevel()).steps)
    fail("it does not come to an end", where);
  ValueId condition = trace.valueOf(conditionOf(x, where), where);
  bool taken = choose(lineOf(where));
  made_.push_back({condition, trace.recording.ops().size(), taken, marks, lineOf(where)});
  known[value] = known[condition] = taken;
  questions.clear();
  return taken;
}

Question HostDecisions::questionAt(SourceLocation where) {
  return {where.file, where.line, questions[{where.file, where.line}]++};
}

bool decideOn(const Tensor &x, SourceLocation where, LoopMarks marks) {
  Trace &trace = *currentTrace();
  if (!trace.decisions)
    UserCall::leaveAt(trace);
  if (!trace.decisions)
    trace.decisions = std::make_shared<HostDecisions>();
  return trace.decisions->decide(trace, x, marks, userLine(where));
}

//===-- Runs ------------------------------------------------------------------------------------===//

namespace {

constexpr std::size_t kFarDecisions = 12;
// A second attempt, with other counts unrolled, may take a small part of the states that the first one may.
constexpr std::size_t kLessOfOthers = 8;
// Of random paths, where a run of another capture captures.
constexpr std::size_t kSamplesInside = 64;

std::string firstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// The values that derivatives are taken by: of each operation, those behind its targets and their seeds.
std::pair<std::size_t, std::size_t> sourcesOf(const schema::Recording &recording, const schema::RecordedOp &op) {
  const auto &counts = std::get<std::vector<std::int64_t>>(recording.attributesOf(op)[0]);
  const auto numTargets = static_cast<std::size_t>(counts[0]);
  return {op.op == schema::OpId::Gradient ? 2 * numTargets : numTargets, static_cast<std::size_t>(counts[1])};
}
std::vector<bool> derivativeSources(const schema::Recording &recording) {
  std::vector<bool> isSource(recording.numValues());
  for (const schema::RecordedOp &op : recording.ops())
    if (op.op == schema::OpId::Gradient || op.op == schema::OpId::Jvp) {
      auto [first, count] = sourcesOf(recording, op);
      for (ValueId source : recording.operandsOf(op).subspan(first, count))
        isSource[schema::index(source)] = true;
    }
  return isSource;
}

// A run shows something that numbers of values depend on: a variable is assigned, a tensor outlives its run; or all
// runs, that no path leads from a source to what a tape is asked for.
struct MoreIsKnown {};

class Capture {
public:
  Capture(absl::FunctionRef<HostResults()> body, SourceLocation where)
      : body(body), where(where), around(currentTrace()),
        constants(around->madeConstants ? around->madeConstants : std::make_shared<MadeConstants>()),
        lesson(nextLesson()) {}

  std::vector<Tensor> run() {
    for (;;)
      try {
        return once();
      } catch (const MoreIsKnown &) {
      }
  }

private:
  std::vector<Tensor> once() {
    words = {};
    initial.clear();
    for (std::size_t index : assigned)
      initial.push_back(words.outsideOf(Variable(around->root().variables[index]).value(where), false));
    auto followed = [&](const Decisions &decisions) { return follow(decisions); };
    std::optional<Learner> learner; // whose nodes the samples of what is learnt are of
    auto learn = [&](std::size_t unrolled) {
      std::optional<schema::SourceLine> tooFar;
      if (std::optional<SourceLocation> loop = loopTooFar())
        tooFar = lineOf(*loop);
      Limits limits = limitsAt(followLevel());
      if (around->madeConstants) { // each run of the capture around looks at other paths
        limits.samples = kSamplesInside;
        limits.stepsOfSamples /= 10;
      }
      if (unrolled != Learner::kUnrolled) {
        limits.allSteps /= 2;
        limits.states /= kLessOfOthers;
        limits.inference /= kLessOfOthers;
      }
      learner.emplace(followed, limits, unrolled, lesson && lesson->graph ? *lesson : Lesson(), tooFar);
      try {
        learner->learn();
      } catch (const NotCaptured &) {
        settleSources(); // with what is known then it may go
        throw;
      }
      settleSources();
    };
    std::optional<NotCaptured> first;
    // Short loops around others do not repeat those if all counts are counts, or all but the shortest.
    for (std::size_t unrolled : {Learner::kUnrolled, std::size_t(1), std::size_t(4)})
      try {
        learn(unrolled);
        first.reset();
        break;
      } catch (const NotCaptured &reason) {
        if (!first)
          first = reason;
      }
    if (first && learner) {
      const std::vector<Decisions> shown = learner->lesson().shown;
      if (std::optional<NotCaptured> why =
              first->isUnlike ? diagnose(followed, shown.empty() ? Decisions() : shown.back(), words) : std::nullopt)
        throw *why;
    }
    if (first)
      throw *first;
    if (lesson)
      *lesson = learner->lesson();
    Learner::Learnt learnt = learner->result(words.counters(where));
    std::vector<Tensor> results = emit(learnt.graph, learnt.samples, words, followLevel() < kFarthestLevel);
    const std::size_t numResults = results.size() - assigned.size();
    for (std::size_t i = 0; i < assigned.size(); ++i)
      around->assign(around->root().variables[assigned[i]], results[numResults + i], where);
    results.resize(numResults);
    return results;
  }

  // Sources that no path connects: runs that know them have no gradient for them.
  void settleSources() {
    const std::size_t before = asked.unconnected.size();
    std::ranges::set_difference(asked.asked, asked.connected,
                                std::inserter(asked.unconnected, asked.unconnected.end()));
    asked.asked.clear();
    if (asked.unconnected.size() > before)
      throw MoreIsKnown();
  }

  Path follow(const Decisions &decisions) {
    std::shared_ptr<Trace> trace = Trace::region(around, around->recording.name.c_str());
    trace->decisions = std::make_shared<HostDecisions>(decisions);
    trace->askedSources = &asked;
    trace->madeConstants = constants;
    const std::uint64_t begin = nextId();
    const std::size_t recordedBefore = numRecordedOperations();
    HostResults results;
    std::vector<ValueId> values;
    Path path;
    std::string end;
    {
      TraceScope scope(trace);
      try {
        results = body();
        for (const Tensor &result : results.tensors)
          values.push_back(trace->valueOf(result, where));
      } catch (const AssertionError &failed) { // about what is known on this path, which no call may take
        path.throws = true;
        end = firstLine(failed.what());
      } catch (const Error &error) {
        // Of a path far from any that the lambda's user has in mind, such as shapes that grow in each iteration.
        if (trace->decisions->made().size() > kFarDecisions)
          throw NotCaptured{absl::StrCat("its iterations are not alike, and after ", trace->decisions->made().size(),
                                         " decisions there is an error: ", firstLine(error.what())),
                            trace->decisions->made().back().line};
        // A list that a loop fills is empty where the loop is tried with no iteration.
        if (std::string text = firstLine(error.what());
            !trace->decisions->made().empty() && text.ends_with("needs at least one tensor"))
          throw ValueError(absl::StrCat(text,
                                        ", and on this path of the lambda there is none: what a C++ loop on tensors "
                                        "appends to a std::vector can't be captured; a TensorArray or scan() keeps "
                                        "what each iteration gives"),
                           error.location());
        throw;
      } catch (const std::bad_alloc &) { // no end of the path: the call may be tried again
        throw;
      } catch (const std::exception &thrown) {
        path.throws = true;
        end = thrown.what();
      }
    }
    path.recorded = numRecordedOperations() - recordedBefore;
    trace->askedSources = nullptr;
    trace->decisions->requireEnd();
    if (trace->askedForSizes) // and host code has caught what was thrown
      throw SizesAsked(trace->asked);
    const schema::Recording &recording = trace->recording;
    std::vector<Value> numbers(recording.numValues(), kNoValue);
    const std::vector<bool> isSource = derivativeSources(recording);
    // What the run has made and a derivative is taken by is no constant: it becomes an operation before its first use.
    std::vector<const Tensor *> madeSources(recording.numValues());
    auto numberOf = [&](ValueId value) { return numbers[schema::index(value)]; };
    for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
      const Tensor &captured = trace->captures[i];
      // What a run makes anew is known by its elements. What comes again is the same tensor.
      const std::uint64_t id = captured.impl()->id;
      const bool isFresh = !captured.impl()->trace && id > begin && !kept.contains(id);
      const bool isHeld = captured.impl().use_count() > 1; // not by the trace alone, as numbers are
      if (isFresh && isHeld && !made.try_emplace(id, begin).second && made.at(id) != begin) {
        kept.insert(id);
        throw MoreIsKnown();
      }
      if (isFresh && isSource[schema::index(recording.parameters[i])])
        madeSources[schema::index(recording.parameters[i])] = &captured;
      else
        numbers[schema::index(recording.parameters[i])] = words.outsideOf(captured, isFresh);
    }
    Decisions prefix;
    auto decided = [&](std::size_t position) {
      const std::vector<HostDecisions::Made> &made = trace->decisions->made();
      for (; prefix.size() < made.size() && made[prefix.size()].position <= position;) {
        const HostDecisions::Made &decision = made[prefix.size()];
        path.decisions.push_back(
            {numberOf(decision.condition), path.steps.size(), decision.taken, decision.marks, decision.line});
        prefix += decision.taken ? '1' : '0';
      }
    };
    path.steps.reserve(recording.ops().size());
    for (std::size_t i = 0; i < recording.ops().size(); ++i) {
      const schema::RecordedOp &op = recording.ops()[i];
      decided(i);
      for (ValueId operand : recording.operandsOf(op))
        if (const Tensor *source = std::exchange(madeSources[schema::index(operand)], nullptr)) {
          PathStep &constant = path.steps.emplace_back();
          constant.kind = words.constant(*source);
          constant.first = numbers[schema::index(operand)] = path.numValues++;
        }
      PathStep &step = path.steps.emplace_back();
      step.kind = words.kindOf(around->root(), recording, op, prefix, i);
      for (ValueId operand : recording.operandsOf(op))
        step.operands.push_back(numberOf(operand));
      step.first = path.numValues;
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        numbers[schema::index(op.firstResult) + r] = path.numValues + static_cast<Value>(r);
      path.numValues += static_cast<Value>(std::max<std::uint32_t>(op.numResults, 1));
    }
    decided(recording.ops().size());

    if (path.throws) {
      path.end = words.endOf(end);
      return path;
    }
    noteAssigned(*trace);
    end = absl::StrCat("returns\n", results.structure, kTypesOfEnd);
    for (ValueId value : values) {
      path.results.push_back(numberOf(value));
      absl::StrAppend(&end, path.results.size() == 1 ? "" : ", ", recording.typeOf(value).str());
    }
    for (std::size_t i = 0; i < assigned.size(); ++i) {
      auto held = std::ranges::find(trace->held(), assigned[i], &Trace::Held::index);
      path.results.push_back(held != trace->held().end() ? numberOf(held->value) : initial[i]);
    }
    path.end = words.endOf(end);
    return path;
  }

  void noteAssigned(const Trace &trace) {
    const std::size_t before = assigned.size();
    for (const Trace::Held &held : trace.held())
      if (held.assigned && std::ranges::find(assigned, held.index) == assigned.end())
        assigned.push_back(held.index);
    if (assigned.size() > before)
      throw MoreIsKnown();
  }

  const absl::FunctionRef<HostResults()> body;
  const SourceLocation where;
  const std::shared_ptr<Trace> around;
  const std::shared_ptr<MadeConstants> constants;
  Lesson *const lesson; // of traces before this one, and for those after it
  Words words;
  std::vector<std::size_t> assigned;          // variables, by their index in the outermost trace
  std::vector<Value> initial;                 // what they are before
  HashMap<std::uint64_t, std::uint64_t> made; // tensors that a run made, by id: which
  HashSet<std::uint64_t> kept;                // those that later runs have, too
  AskedSources asked;
};

} // namespace

[[noreturn]] void throwNotCaptured(const NotCaptured &reason, SourceLocation where) {
  throw StateError(absl::StrCat("the branches and loops of the lambda can't be captured: ", reason.why,
                                "; cond, while_loop, for_range and where(condition, x, y) say what is meant"),
                   reason.line.line ? locationOf(reason.line) : where);
}

std::vector<Tensor> captureNative(absl::FunctionRef<HostResults()> body, SourceLocation where) {
  try {
    return Capture(body, where).run();
  } catch (const NotCaptured &reason) {
    throwNotCaptured(reason, where);
  }
}

} // namespace calque::detail
