#include "absl/strings/str_cat.h"
#include "calque/debug.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Observer.h"
#include "frontend/functions/FunctionCore.h"
#include "frontend/operations/HostCall.h"

#include <algorithm>
#include <cmath>
#include <exception>

namespace calque::detail {

using schema::ValueId;

namespace {

//===-- Elements --------------------------------------------------------------------------------===//

// Of complex numbers, each part is an element.
double elementOf(const TensorImpl &x, std::size_t i) {
  return dispatch(real_of(x.type->dtype), [&]<typename T>(std::type_identity<T>) {
    return static_cast<double>(static_cast<const T *>(x.buffer.data())[i]);
  });
}

// Unless the user gives one. Halves have fewer digits than the tolerance of float32.
double rtolOf(DType dtype) {
  return dispatch(real_of(dtype), []<typename T>(std::type_identity<T>) {
    const auto epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    return dtype_of<T> == DType::Float64 ? 1e-9 : std::max(1e-4, 4 * epsilon);
  });
}

struct Difference {
  std::string element; // " at element [1,2]"; empty for a scalar
  double eager, compiled;
};

std::optional<Difference> difference(const Tensor &a, const Tensor &b, const debug::VerifyOptions &options) {
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  const std::size_t parts = is_complex(x.type->dtype) ? 2 : 1;
  const std::size_t count = parts * static_cast<std::size_t>(x.type->numElements());
  double rtol = options.rtol.value_or(rtolOf(x.type->dtype)), largest = 0;
  if (!is_inexact(x.type->dtype))
    rtol = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (double magnitude = std::fabs(elementOf(x, i)); std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  const double atol = is_inexact(x.type->dtype) ? options.atol.value_or(rtol * largest) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double eager = elementOf(x, i), compiled = elementOf(y, i);
    if (eager == compiled || (std::isnan(eager) && std::isnan(compiled)) ||
        std::fabs(eager - compiled) <= atol + rtol * std::max(std::fabs(eager), std::fabs(compiled)))
      continue;
    std::vector<std::int64_t> index(x.type->dims.size());
    for (std::size_t k = index.size(), rest = i / parts; k-- > 0; rest /= static_cast<std::size_t>(x.type->dims[k]))
      index[k] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(x.type->dims[k]));
    return Difference{index.empty() ? "" : absl::StrCat(" at element ", schema::shapeString(index)), eager, compiled};
  }
  return std::nullopt;
}

//===-- Operations in the order in which they run -----------------------------------------------===//

struct Event {
  schema::OpId op;
  schema::SourceLine line;
  std::vector<Tensor> results;
};
using Events = std::vector<Event>;

bool isSameOperation(const Event &a, const Event &b) {
  return a.op == b.op && a.line.line == b.line.line && a.line.column == b.line.column &&
         std::string_view(a.line.file ? a.line.file : "") == std::string_view(b.line.file ? b.line.file : "") &&
         std::ranges::equal(a.results, b.results,
                            [](const Tensor &x, const Tensor &y) { return *x.impl()->type == *y.impl()->type; });
}

class Shown {
public:
  Shown(std::vector<std::shared_ptr<const HostFunction>> functions, Events &events)
      : functions(std::move(functions)), events(events) {}

  // Returns the program with a host call behind each operation, which notes the operation's results. The programs
  // inside of `cond` and `while` get such host calls too, because they run in order.
  schema::RecordingRef program(const schema::Recording &recording) {
    auto made = std::make_shared<schema::Recording>();
    made->name = recording.name;
    made->line = recording.line;
    made->variables = recording.variables;
    std::vector<ValueId> renamed(recording.numValues(), -1);
    for (ValueId parameter : recording.parameters)
      renamed[schema::index(parameter)] = made->addParameter(recording.typeOf(parameter));
    for (const schema::RecordedOp &op : recording.ops()) {
      const bool isControl = op.op == schema::OpId::Cond || op.op == schema::OpId::While;
      std::vector<schema::Attribute> attributes;
      for (const schema::Attribute &attribute : recording.attributesOf(op)) {
        const auto *inner = std::get_if<schema::RecordingRef>(&attribute);
        attributes.push_back(inner && isControl ? schema::Attribute(program(**inner)) : attribute);
      }
      made->appendCopy(recording, op, renamed, attributes);
      if (op.numResults > 0 && !isControl && op.op != schema::OpId::HostCall)
        show(*made, op, renamed);
    }
    for (ValueId result : recording.results)
      made->results.push_back(renamed[schema::index(result)]);
    return made;
  }

  std::vector<std::shared_ptr<const HostFunction>> functions;

private:
  void show(schema::Recording &made, const schema::RecordedOp &op, const std::vector<ValueId> &renamed) {
    auto function = std::make_shared<HostFunction>();
    function->where = locationOf(op.line);
    function->callable = [&events = events, id = op.op, line = op.line](std::span<const Tensor> results) {
      events.push_back({id, line, {results.begin(), results.end()}});
      return std::vector<Tensor>();
    };
    std::vector<ValueId> operands;
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      operands.push_back(renamed[schema::index(op.firstResult) + r]);
      function->inputs.push_back(made.typeOf(operands.back()));
    }
    schema::Attribute attributes[] = {static_cast<std::int64_t>(functions.size()), std::vector<std::int64_t>()};
    made.append(schema::OpId::HostCall, operands, attributes, {}, op.line);
    functions.push_back(std::move(function));
  }

  Events &events;
};

// The first operation that both runs have done, and whose results differ. Operations of only one run, such as the
// counters of loops, are passed over.
std::optional<std::pair<const Event *, Difference>> firstDifference(const Events &eager, const Events &compiled,
                                                                    const debug::VerifyOptions &options) {
  constexpr std::size_t kFarthest = 256;
  std::size_t i = 0, j = 0;
  while (i < eager.size() && j < compiled.size()) {
    if (isSameOperation(eager[i], compiled[j])) {
      for (std::size_t r = 0; r < eager[i].results.size(); ++r)
        if (auto found = difference(eager[i].results[r], compiled[j].results[r], options))
          return std::pair(&eager[i], *found);
      ++i, ++j;
      continue;
    }
    std::size_t skip = 1;
    for (; skip <= kFarthest; ++skip) {
      if (j + skip < compiled.size() && isSameOperation(eager[i], compiled[j + skip])) {
        j += skip;
        break;
      }
      if (i + skip < eager.size() && isSameOperation(eager[i + skip], compiled[j])) {
        i += skip;
        break;
      }
    }
    if (skip > kFarthest)
      ++i, ++j;
  }
  return std::nullopt;
}

//===-- Runs ------------------------------------------------------------------------------------===//

struct Outcome {
  std::vector<Tensor> results, variables; // after the run
  std::exception_ptr error;
  std::string what;
};

template <typename Run> Outcome outcomeOf(Run run, const std::vector<std::shared_ptr<VariableState>> &variables) {
  Outcome outcome;
  try {
    outcome.results = run();
  } catch (const std::exception &error) {
    outcome.error = std::current_exception();
    outcome.what = error.what();
  }
  for (const std::shared_ptr<VariableState> &variable : variables)
    outcome.variables.push_back(variable->value);
  return outcome;
}

void setVariables(const std::vector<std::shared_ptr<VariableState>> &variables, const std::vector<Tensor> &values) {
  for (std::size_t i = 0; i < variables.size(); ++i)
    Variable(variables[i]).assign(values[i]);
}

// The first difference between two runs that end without an error: "result 0 at element [1] is 2 eagerly and 3
// compiled". Empty if there is none.
std::string describeDifference(const Outcome &eager, const Outcome &compiled,
                               const std::vector<std::shared_ptr<VariableState>> &variables,
                               const debug::VerifyOptions &options) {
  auto compare = [&](const std::string &name, const Tensor &a, const Tensor &b) -> std::string {
    if (*a.impl()->type != *b.impl()->type)
      return absl::StrCat(name, " is ", a.impl()->type->str(), " eagerly and ", b.impl()->type->str(), " compiled");
    std::optional<Difference> found = difference(a, b, options);
    return found
               ? absl::StrCat(name, found->element, " is ", found->eager, " eagerly and ", found->compiled, " compiled")
               : "";
  };
  if (eager.results.size() != compiled.results.size())
    return absl::StrCat("there are ", schema::counted(eager.results.size(), "result"), " eagerly and ",
                        compiled.results.size(), " compiled");
  std::string text;
  for (std::size_t i = 0; i < eager.results.size() && text.empty(); ++i)
    text = compare(absl::StrCat("result ", i), eager.results[i], compiled.results[i]);
  for (std::size_t i = 0; i < variables.size() && text.empty(); ++i)
    text = compare(absl::StrCat("variable '", variables[i]->name, "'"), eager.variables[i], compiled.variables[i]);
  return text;
}

} // namespace

void verifyCall(FunctionCore &core, const Arguments &arguments, CallBody body,
                const std::function<std::vector<Tensor>()> &eager, const debug::VerifyOptions &options,
                SourceLocation where) {
  where = userLine(where);
  if (currentTrace())
    throw StateError("debug::verify runs its function, and can't do so while another one is traced", where);
  requireEager(arguments, where);
  std::shared_ptr<FunctionTrace> concrete = core.exactly(core.describe(body, where), arguments, body, where);
  std::vector<std::shared_ptr<VariableState>> variables;
  for (const BoundVariable &bound : concrete->variables)
    variables.push_back(bound.argument >= 0 ? arguments.variables()[static_cast<std::size_t>(bound.argument)]->state()
                                            : bound.captured);
  std::vector<Tensor> before;
  for (const std::shared_ptr<VariableState> &variable : variables)
    before.push_back(variable->value);

  Events ofEager;
  Outcome first = outcomeOf(
      [&] {
        ObserverScope scope([&](schema::OpId op, std::span<const Tensor> results, SourceLocation line) {
          ofEager.push_back({op, recordedLine(line), {results.begin(), results.end()}});
        });
        return eager();
      },
      variables);
  auto runTrace = [&](FunctionTrace &trace) {
    CallResults results;
    runConcrete(core, trace, arguments, body, results, where);
    return std::vector<Tensor>(results.tensors.begin(), results.tensors.end());
  };
  setVariables(variables, before);
  Outcome second = outcomeOf([&] { return runTrace(*concrete); }, variables);
  auto finish = [&] { setVariables(variables, first.variables); };
  std::string text;
  if (first.error && second.error) {
    finish();
    std::rethrow_exception(first.error);
  }
  if (first.error)
    text = absl::StrCat("it fails eagerly and not compiled: ", first.what);
  else if (second.error)
    text = absl::StrCat("it fails compiled and not eagerly: ", second.what);
  else
    text = describeDifference(first, second, variables, options);
  if (text.empty()) {
    finish();
    return;
  }

  Events ofCompiled;
  const FunctionTrace &latest = concrete->latest();
  auto shown = std::make_shared<FunctionTrace>();
  Shown program(latest.hostFunctions, ofCompiled);
  shown->recording = *program.program(latest.recording);
  shown->hostFunctions = program.functions;
  shown->captures = latest.captures;
  shown->variables = latest.variables;
  shown->prototype = latest.prototype;
  shown->signature = latest.signature;
  shown->results = latest.results;
  shown->level = latest.level;
  setVariables(variables, before);
  outcomeOf([&] { return runTrace(*shown); }, variables);
  finish();
  if (auto found = firstDifference(ofEager, ofCompiled, options)) {
    const auto &[event, values] = *found;
    throw AssertionError(absl::StrCat("debug::verify: ", std::string(nameInMessages(event->op, event->line)),
                                      values.element, " gives ", values.eager, " eagerly and ", values.compiled,
                                      " compiled; ", text),
                         locationOf(event->line));
  }
  throw AssertionError(absl::StrCat("debug::verify: each operation that both have done gives the same, but ", text),
                       where);
}

} // namespace calque::detail
