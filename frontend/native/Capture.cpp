#include "frontend/native/Capture.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Retyping.h"
#include "frontend/native/Derivatives.h"
#include "frontend/native/Emission.h"
#include "frontend/native/Following.h"
#include "frontend/native/Learner.h"
#include "frontend/native/MadeConstants.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

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

bool HostDecisions::decide(Trace &trace, const Tensor &x, bool isDeclared, SourceLocation where) {
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
  made_.push_back({condition, trace.recording.ops().size(), taken, isDeclared, lineOf(where)});
  known[value] = known[condition] = taken;
  questions.clear();
  return taken;
}

Question HostDecisions::questionAt(SourceLocation where) {
  return {where.file, where.line, questions[{where.file, where.line}]++};
}

bool decideOn(const Tensor &x, SourceLocation where, bool isDeclared) {
  Trace &trace = *currentTrace();
  if (!trace.decisions)
    trace.decisions = std::make_shared<HostDecisions>();
  return trace.decisions->decide(trace, x, isDeclared, userLine(where));
}

//===-- Runs ------------------------------------------------------------------------------------===//

namespace {

bool isSame(const char *a, const char *b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

constexpr std::size_t kFarDecisions = 12;

std::string firstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// Whether it is a call of a host function that each run makes its own, or has one inside.
bool callsHost(const Trace &root, const schema::Recording &recording, const schema::RecordedOp &op) {
  if (op.op == schema::OpId::HostCall) {
    const auto number = static_cast<std::size_t>(std::get<std::int64_t>(recording.attributesOf(op)[0]));
    return root.hostFunctions[number]->identity.empty();
  }
  for (const schema::Attribute &attribute : recording.attributesOf(op))
    if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
      if (std::ranges::any_of((*inner)->ops(),
                              [&](const schema::RecordedOp &each) { return callsHost(root, **inner, each); }))
        return true;
  return false;
}

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

// What paths consist of.
class Words final : public Vocabulary {
public:
  // A path's operations and values, by the numbers of the vocabulary. What no two paths share is known by the decisions
  // before it and by its place in the run.
  Kind kindOf(const Trace &root, const schema::Recording &recording, const schema::RecordedOp &op,
              const Decisions &decided, std::size_t place) {
    const bool isUnique = callsHost(root, recording, op);
    const std::string prefix = isUnique ? absl::StrCat(decided, "#", place) : std::string();
    std::vector<Kind> &alike =
        byHash[absl::HashOf(static_cast<int>(op.op), op.line.line, op.line.column, op.numOperands, op.numResults)];
    auto types = [&](std::span<const ValueId> values, std::vector<schema::TensorType> &into) {
      for (ValueId value : values)
        into.push_back(recording.typeOf(value));
    };
    for (Kind kind : alike)
      if (isOf(kinds[kind], recording, op, isUnique ? &prefix : nullptr))
        return kind;
    Operation operation{op.op, {}, {}, {}, op.line, prefix, schema::hasEffect(recording, op)};
    std::span<const schema::Attribute> attributes = recording.attributesOf(op);
    operation.attributes.assign(attributes.begin(), attributes.end());
    types(recording.operandsOf(op), operation.operands);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      operation.results.push_back(recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
    kinds.push_back(std::move(operation));
    alike.push_back(static_cast<Kind>(kinds.size() - 1));
    return alike.back();
  }
  // The operation that makes a tensor that a run has made.
  Kind constant(const Tensor &x) {
    const TensorImpl &impl = *x.impl();
    std::vector<std::pair<Tensor, Kind>> &ofBuffer = constants[impl.buffer.data()];
    for (const auto &[known, kind] : ofBuffer)
      if (const TensorImpl &other = *known.impl();
          !impl.buffer.isForeign() && *impl.type == *other.type && impl.where.line == other.where.line &&
          impl.where.column == other.where.column && isSame(impl.where.file, other.where.file))
        return kind;
    auto data = std::make_shared<schema::ConstantData>();
    data->type = *impl.type;
    const auto *first = static_cast<const std::byte *>(impl.buffer.data());
    data->bytes.assign(first, first + impl.type->numBytes());
    schema::Recording recording;
    schema::Attribute attribute = schema::ConstantRef(std::move(data));
    recording.append(schema::OpId::Constant, {}, {&attribute, 1}, {impl.type.get(), 1}, lineOf(impl.where));
    const Kind kind = kindOf(currentTrace()->root(), recording, recording.ops()[0], {}, 0);
    if (!impl.buffer.isForeign())
      ofBuffer.emplace_back(x, kind);
    return kind;
  }
  Kind endOf(const std::string &text) {
    auto [found, isNew] = ends.try_emplace(text, static_cast<Kind>(ends.size()));
    if (isNew)
      endTexts.push_back(text);
    return found->second;
  }
  // `isFresh`: the run has made the tensor, so that the next run will make another of the same elements.
  Value outsideOf(const Tensor &x, bool isFresh) {
    const TensorImpl &impl = *x.impl();
    auto add = [&](bool isConstant) {
      tensors.push_back({x, isConstant});
      return -static_cast<Value>(tensors.size());
    };
    if (impl.trace) {
      auto [found, isNew] = byValue.try_emplace(std::pair(impl.trace, impl.value), 0);
      if (isNew)
        found->second = add(false);
      return found->second;
    }
    if (auto found = byId.find(impl.id); found != byId.end())
      return found->second;
    if (!isFresh)
      return byId[impl.id] = add(false);
    // Runs share buffers of equal elements, so that one look at them will do. A buffer stays as long as a tensor of it.
    auto implOfKnown = [&](Value value) -> const TensorImpl & {
      return *tensors[static_cast<std::size_t>(-1 - value)].tensor.impl();
    };
    absl::InlinedVector<Value, 1> &ofBuffer = byBuffer[impl.buffer.data()];
    for (Value known : ofBuffer)
      if (!impl.buffer.isForeign() && *impl.type == *implOfKnown(known).type)
        return known;
    const std::size_t hash = contentHash(impl);
    auto [first, last] = byContent.equal_range(hash);
    for (; first != last; ++first)
      if (haveSameContent(impl, implOfKnown(first->second)))
        return first->second;
    Value value = add(true);
    ofBuffer.push_back(value);
    byContent.emplace(hash, value);
    return value;
  }

  // Operations on counters, which no path has.
  CounterWords counters(SourceLocation where) {
    const schema::TensorType number{DType::Int64, {}}, truth{DType::Bool, {}};
    auto add = [&](schema::OpId op, const schema::TensorType &result) {
      kinds.push_back({op, {}, {number, number}, {result}, lineOf(where), {}, false});
      return static_cast<Kind>(kinds.size() - 1);
    };
    CounterWords counter;
    counter.add = add(schema::OpId::Add, number);
    counter.equal = add(schema::OpId::Equal, truth);
    counter.constant = [this, where](std::int64_t n) {
      return outsideOf(makeScalar(Number(n), DType::Int64, where), true);
    };
    counter.numResults = [this](Kind kind) { return kinds[kind].results.size(); };
    return counter;
  }

  std::vector<Tensor> apply(Kind step, const std::vector<Tensor> &operands) const override {
    const Operation &operation = kinds[step];
    Trace &trace = *currentTrace();
    const SourceLocation where = locationOf(operation.line);
    std::vector<ValueId> values;
    std::vector<schema::TensorType> types;
    for (const Tensor &operand : operands) {
      values.push_back(trace.valueOf(operand, where));
      types.push_back(*implOf(operand).type);
    }
    if (operation.op == schema::OpId::Gradient || operation.op == schema::OpId::Jvp)
      requireWhole(operation, trace, values);
    if (operation.op == schema::OpId::Unbatch)
      requireBegun(operation, trace, values);
    std::vector<schema::TensorType> results = operation.results;
    if (types != operation.operands) {
      schema::Inference inference = schema::inferTypes(operation.op, types, operation.attributes);
      if (inference.fault)
        throwFault(inference.fault, where);
      results = std::move(inference.types);
    }
    ValueId first = trace.recording.append(operation.op, values, operation.attributes, results, operation.line);
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < results.size(); ++i)
      made.push_back(trace.tensorOf(first + static_cast<ValueId>(i), where));
    return made;
  }
  bool hasEffect(Kind step) const override { return kinds[step].hasEffect; }
  const schema::TensorType *typeOf(Kind step, std::size_t result) const override {
    const std::vector<schema::TensorType> &results = kinds[step].results;
    return result < results.size() ? &results[result] : nullptr;
  }
  std::vector<schema::TensorType> resultsFor(Kind step, std::span<const schema::TensorType> operands) const override {
    try {
      return retypedResults(kinds[step].op, kinds[step].line, kinds[step].attributes, operands);
    } catch (const Error &) {
      return {};
    }
  }
  Tensor outside(Value value) const override {
    const auto &[tensor, isConstant] = tensors[static_cast<std::size_t>(-1 - value)];
    // A tensor that nothing else holds becomes a constant.
    const TensorImpl &impl = *tensor.impl();
    return isConstant ? makeEager(impl.type, impl.buffer, impl.where) : tensor;
  }
  const schema::TensorType &typeOfOutside(Value value) const override {
    return *tensors[static_cast<std::size_t>(-1 - value)].tensor.impl()->type;
  }
  const std::string &messageOf(Kind end) const override { return endTexts[end]; }

private:
  struct Operation {
    schema::OpId op;
    std::vector<schema::Attribute> attributes;
    std::vector<schema::TensorType> operands, results;
    schema::SourceLine line;
    Decisions prefix;
    bool hasEffect;
  };
  struct Outside {
    Tensor tensor;
    bool isConstant;
  };

  // NotCaptured where a vmap ends in another branch or iteration than it has begun in.
  static void requireBegun(const Operation &operation, const Trace &trace, std::span<const ValueId> operands) {
    const ValueId example = operands[operands.size() - 2];
    const bool hasBegun = std::ranges::any_of(trace.recording.ops(), [&](const schema::RecordedOp &op) {
      return op.op == schema::OpId::Batch && op.firstResult <= example &&
             schema::index(example) < schema::index(op.firstResult) + op.numResults;
    });
    if (!hasBegun)
      throw NotCaptured{"a vmap begins outside of a branch or a loop and ends inside of it, or the other way round",
                        operation.line};
  }
  // In a branch or in an iteration, derivatives end at what comes from outside of it. NotCaptured where they would have
  // to go on there: to a source that comes from outside, by a value that depends on it and is no end of the tape.
  void requireWhole(const Operation &operation, const Trace &trace, std::span<const ValueId> operands) const {
    const auto &counts = std::get<std::vector<std::int64_t>>(operation.attributes[0]);
    const auto numTargets = static_cast<std::size_t>(counts[0]), numSources = static_cast<std::size_t>(counts[1]);
    // A gradient has a seed for each target before the sources, and the ends of its tape behind them.
    const bool isGradient = operation.op == schema::OpId::Gradient;
    const std::size_t first = isGradient ? 2 * numTargets : numTargets;
    const schema::Recording &recording = trace.recording;
    const std::span<const ValueId> all = operands.subspan(first, numSources),
                                   ends = isGradient ? operands.subspan(first + numSources) : all;
    if (passesOver(recording, operands.first(numTargets), all, ends))
      throw NotCaptured{
          "a derivative is asked for behind a branch or a loop that has begun it: its source, or where its "
          "tape begins, is in there, as is what was computed from that",
          operation.line};
    std::vector<std::size_t> parameterOf(recording.numValues(), ~std::size_t(0));
    for (std::size_t i = 0; i < recording.parameters.size(); ++i)
      parameterOf[schema::index(recording.parameters[i])] = i;
    std::vector<std::size_t> sources; // that are parameters
    for (ValueId source : operands.subspan(first, numSources))
      if (std::size_t i = parameterOf[schema::index(source)]; i != ~std::size_t(0))
        sources.push_back(i);
    if (!trace.isInside() || sources.empty())
      return;
    std::vector<bool> isNeeded(recording.numValues()), isEnd(recording.numValues());
    for (ValueId end : isGradient ? operands.subspan(first) : operands.subspan(first, numSources))
      isEnd[schema::index(end)] = true;
    auto need = [&](ValueId value) {
      if (!isEnd[schema::index(value)] && is_floating(recording.typeOf(value).dtype))
        isNeeded[schema::index(value)] = true;
    };
    std::ranges::for_each(operands.first(numTargets), need);
    for (std::size_t i = recording.ops().size(); i-- > 0;) {
      const schema::RecordedOp &op = recording.ops()[i];
      bool isAsked = false;
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        isAsked = isAsked || isNeeded[schema::index(op.firstResult) + r];
      if (isAsked)
        std::ranges::for_each(recording.operandsOf(op), need);
    }
    for (std::size_t i = 0; i < recording.parameters.size(); ++i)
      if (isNeeded[schema::index(recording.parameters[i])])
        for (std::size_t source : sources)
          if (mayDepend(trace, i, source))
            throw NotCaptured{"a derivative is asked for inside of a branch or a loop, with respect to what comes from "
                              "before it, and through what was computed before it",
                              operation.line};
  }
  // Whether a parameter of a region may depend on another one.
  bool mayDepend(const Trace &trace, std::size_t parameter, std::size_t source) const {
    if (parameter < trace.numArguments)
      return true; // a loop variable
    const TensorImpl &x = *trace.captures[parameter - trace.numArguments].impl();
    if (!x.trace || byValue.contains(std::pair(x.trace, x.value)))
      return false;
    if (source < trace.numArguments)
      return true;
    const TensorImpl &y = *trace.captures[source - trace.numArguments].impl();
    const Trace *around = trace.around(x.trace);
    if (!around || x.trace != y.trace)
      return true;
    if (dependents(around->recording, y.value)[schema::index(x.value)])
      return true;
    const OtherNames names = otherNames(around->recording, y.value);
    for (const std::vector<ValueId> *others : {&names.equal, &names.computed})
      for (ValueId other : *others)
        if (dependents(around->recording, other)[schema::index(x.value)])
          return true;
    // Both may come from farther around.
    const std::vector<ValueId> &parameters = around->recording.parameters;
    for (std::size_t q = 0; q < parameters.size(); ++q)
      for (std::size_t p = 0; parameters[q] == y.value && p < parameters.size(); ++p)
        if (p != q && dependents(around->recording, parameters[p])[schema::index(x.value)] && mayDepend(*around, p, q))
          return true;
    return false;
  }

  static bool isOf(const Operation &known, const schema::Recording &recording, const schema::RecordedOp &op,
                   const Decisions *prefix) {
    if (known.op != op.op || known.line.line != op.line.line || known.line.column != op.line.column ||
        !isSame(known.line.file, op.line.file) || !isSame(known.line.function, op.line.function) ||
        !isSame(known.line.index, op.line.index) || known.results.size() != op.numResults)
      return false;
    std::span<const ValueId> operands = recording.operandsOf(op);
    auto hasType = [&](const schema::TensorType &type, ValueId value) { return recording.typeOf(value) == type; };
    if (!std::equal(known.operands.begin(), known.operands.end(), operands.begin(), operands.end(), hasType))
      return false;
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      if (!hasType(known.results[r], op.firstResult + static_cast<ValueId>(r)))
        return false;
    if (prefix)
      return known.prefix == *prefix;
    return std::ranges::equal(known.attributes, recording.attributesOf(op),
                              [](const auto &a, const auto &b) { return schema::equal(a, b); });
  }

  static std::string_view bytesOf(const TensorImpl &impl) {
    return {static_cast<const char *>(impl.buffer.data()), impl.type->numBytes()};
  }
  static std::size_t contentHash(const TensorImpl &impl) {
    return std::hash<std::string_view>()(bytesOf(impl)) + static_cast<std::size_t>(impl.type->dtype);
  }
  static bool haveSameContent(const TensorImpl &a, const TensorImpl &b) {
    return *a.type == *b.type && bytesOf(a) == bytesOf(b);
  }

  std::vector<Operation> kinds;
  HashMap<std::size_t, std::vector<Kind>> byHash;
  HashMap<std::string, Kind> ends;
  std::vector<std::string> endTexts;
  std::vector<Outside> tensors;
  HashMap<std::pair<std::uint64_t, ValueId>, Value> byValue; // of the traces around
  HashMap<std::uint64_t, Value> byId;
  std::unordered_multimap<std::size_t, Value> byContent;
  HashMap<const void *, std::vector<std::pair<Tensor, Kind>>> constants; // by buffer
  HashMap<const void *, absl::InlinedVector<Value, 1>> byBuffer;         // what is in byContent, too
};

class Capture {
public:
  Capture(absl::FunctionRef<HostResults()> body, SourceLocation where)
      : body(body), where(where), around(currentTrace()),
        constants(around->madeConstants ? around->madeConstants : std::make_shared<MadeConstants>()) {}

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
    Learner learner(followed, limitsAt(followLevel()));
    try {
      learner.learn();
    } catch (const NotCaptured &) {
      settleSources(); // with what is known then it may go
      throw;
    }
    settleSources();
    Learner::Learnt learnt = learner.result(words.counters(where));
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
            {numberOf(decision.condition), path.steps.size(), decision.taken, decision.isDeclared, decision.line});
        prefix += decision.taken ? '1' : '0';
      }
    };
    path.steps.reserve(recording.ops().size());
    for (std::size_t i = 0; i < recording.ops().size(); ++i) {
      const schema::RecordedOp &op = recording.ops()[i];
      decided(i);
      for (ValueId operand : recording.operandsOf(op))
        if (const Tensor *source = std::exchange(madeSources[schema::index(operand)], nullptr)) {
          Step &constant = path.steps.emplace_back();
          constant.kind = words.constant(*source);
          constant.first = numbers[schema::index(operand)] = path.numValues++;
        }
      Step &step = path.steps.emplace_back();
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
