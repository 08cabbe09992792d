#include "frontend/operations/Regions.h"

#include "absl/strings/str_cat.h"
#include "calque/call.h"
#include "frontend/core/Tracer.h"
#include "frontend/gradients/Tape.h"

#include <algorithm>

namespace calque::detail {

using schema::ValueId;

Trace &Regions::trace(const char *what, const std::vector<Tensor> &like,
                      absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor> &)> body,
                      std::span<const schema::TensorType> types) {
  DepthGuard depth(where);
  TraceOptions options{.where = where, .inside = what, .isRegion = true, .isCalled = false};
  std::vector<TracedParameter> parameters = parametersLike(like, false, where);
  for (std::size_t i = 0; i < types.size(); ++i)
    parameters[i].type = sharedType(types[i].dtype, types[i].dims);
  TracedProgram program = traceProgram(
      options, parameters, [&](Trace &, const std::vector<Tensor> &parameters) { return body(parameters); });
  traces.push_back(program.trace);
  for (const Trace::Held &held : program.trace->held())
    if (held.assigned && std::ranges::find(assigned, held.index) == assigned.end())
      assigned.push_back(held.index);
  return *program.trace;
}

std::vector<Tensor> Regions::operands(const std::vector<Tensor> &given, bool carried) {
  refuseWatched(carried);
  std::vector<Tensor> all = given;
  for (std::size_t variable : assigned)
    all.push_back(variableOf(variable).value(where));
  numLeading = all.size();
  if (!carried) // branches capture the variables' values
    for (std::size_t i = given.size(); i < all.size(); ++i)
      placeOfCapture.push_back(capture(all[i]));
  for (const std::shared_ptr<Trace> &trace : traces)
    for (std::size_t i = 0; i < trace->captures.size(); ++i)
      if (!isConstant(*trace, i) && !(carried && placeOfVariable(*trace, trace->numArguments + i)))
        capture(trace->captures[i]);
  if (!carried)
    all = given;
  numGiven = given.size();
  isCarried = carried;
  all.insert(all.end(), captures.begin(), captures.end());
  return all;
}

std::vector<Tensor> Regions::assignLast(std::vector<Tensor> results) {
  std::size_t first = results.size() - assigned.size();
  for (std::size_t i = 0; i < assigned.size(); ++i)
    outer.assign(root().variables[assigned[i]], results[first + i], where);
  results.resize(first);
  return results;
}

void Regions::refuseWatched(bool isLoop) {
  for (const std::shared_ptr<Trace> &trace : traces)
    for (const Trace::Held &held : trace->held()) {
      const VariableState &variable = *root().variables[held.index];
      bool isUnseen =
          isLoop ? held.read && std::ranges::find(assigned, held.index) != assigned.end() : held.readAssigned;
      if (isUnseen && std::ranges::any_of(activeTapes(), [&](TapeState *tape) { return tape->isWatching(variable); }))
        throw StateError(absl::StrCat("variable '", variable.name, "' is assigned and read in ", trace->recording.name,
                                      ", and a tape around it watches the variable, which would see no such read; make "
                                      "the tape inside, or stop recording around it"),
                         where);
    }
}

std::size_t Regions::placeOf(std::size_t numberOfAssigned) const {
  if (isCarried)
    return numGiven + numberOfAssigned;
  return numGiven + placeOfCapture[numberOfAssigned];
}

std::optional<std::size_t> Regions::placeOfVariable(const Trace &trace, std::size_t parameter) const {
  for (const Trace::Held &held : trace.held())
    if (held.parameter == trace.recording.parameters[parameter])
      if (auto found = std::ranges::find(assigned, held.index); found != assigned.end())
        return static_cast<std::size_t>(found - assigned.begin());
  return std::nullopt;
}

bool Regions::isConstant(const Trace &trace, std::size_t capture) {
  const std::shared_ptr<const TensorImpl> &impl = trace.captures[capture].impl();
  return !impl->trace && impl.use_count() == 1 && impl->type->numElements() <= root().mostConstantElements;
}

std::size_t Regions::capture(const Tensor &x) {
  auto [found, isNew] = numbers.try_emplace(outer.valueOf(x, where), captures.size());
  if (isNew)
    captures.push_back(x);
  return found->second;
}

ValueId Regions::parameterOf(Trace &trace, std::size_t parameter, schema::Recording &made) {
  if (parameter < trace.numArguments)
    return made.parameters[parameter];
  std::size_t number = parameter - trace.numArguments;
  if (isConstant(trace, number))
    return trace.appendConstantOf(number, made);
  if (isCarried)
    if (std::optional<std::size_t> place = placeOfVariable(trace, parameter))
      return made.parameters[numGiven + *place];
  std::size_t first = isCarried ? numLeading : numGiven;
  return made.parameters[first + numbers.at(outer.valueOf(trace.captures[number], where))];
}

schema::RecordingRef Regions::program(Trace &trace, std::span<const Tensor> operands, bool withAssigned, Change change,
                                      std::span<const schema::TensorType> types) {
  const schema::Recording &from = trace.recording;
  auto made = std::make_shared<schema::Recording>();
  made->name = from.name;
  made->line = from.line;
  for (std::size_t i = 0; i < operands.size(); ++i)
    made->addParameter(i < types.size() ? types[i] : *implOf(operands[i]).type);
  std::vector<ValueId> renamed(from.numValues(), -1);
  for (std::size_t i = 0; i < from.parameters.size(); ++i)
    renamed[schema::index(from.parameters[i])] = parameterOf(trace, i, *made);
  for (const schema::RecordedOp &op : from.ops())
    made->appendCopy(from, op, renamed);
  for (ValueId result : from.results)
    made->results.push_back(renamed[schema::index(result)]);
  change(*made);
  for (std::size_t i = 0; withAssigned && i < assigned.size(); ++i) {
    auto held = std::ranges::find(trace.held(), assigned[i], &Trace::Held::index);
    made->results.push_back(held != trace.held().end() ? renamed[schema::index(held->value)]
                                                       : made->parameters[placeOf(i)]);
  }
  return made;
}

} // namespace calque::detail
