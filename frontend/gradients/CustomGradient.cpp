#include "frontend/gradients/CustomGradient.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/PerThread.h"
#include "frontend/core/Tracer.h"
#include "frontend/gradients/Tape.h"

#include <algorithm>

namespace calque {
namespace detail {

using schema::OpId;

namespace {

struct Override {
  std::string function;
  std::uint64_t id;
  GradientOverride::Pullback pullback;
  std::unique_ptr<ModeScope> mode; // so that functions are traced anew while the override is active
  bool suspended = false;          // while the override's own pullback runs
};
struct OwnOverrides {
  std::vector<Override> overrides; // the innermost last
};
std::vector<Override> &activeOverrides() { return PerThread<OwnOverrides>::get().overrides; }

// Traces a program inside of an operation. Its parameters have the types of `like`.
TracedProgram record(const char *what, const std::vector<Tensor> &like,
                     absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor> &)> body, SourceLocation where) {
  TraceOptions options{.where = where, .inside = what, .isCalled = false};
  return traceProgram(options, parametersLike(like, false, where),
                      [&](Trace &, const std::vector<Tensor> &parameters) { return body(parameters); });
}
schema::Attribute attributeOf(const TracedProgram &program) {
  return schema::RecordingRef(std::make_shared<const schema::Recording>(program.trace->recording));
}

std::vector<Tensor> floatingOf(const std::vector<Tensor> &tensors, SourceLocation where) {
  std::vector<Tensor> result;
  for (const Tensor &x : tensors)
    if (is_inexact(x.dtype(where)))
      result.push_back(x);
  return result;
}

// Returns the gradients that a pullback gave, after checking that they have the types of the inputs.
std::vector<Tensor> checked(const char *operation, std::vector<Tensor> gradients, const std::vector<Tensor> &inputs,
                            SourceLocation where) {
  if (gradients.size() != inputs.size())
    throw ValueError(absl::StrCat(operation, ": the pullback gives ", schema::counted(gradients.size(), "gradient"),
                                  " for ", schema::counted(inputs.size(), "floating-point argument")),
                     where);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const schema::TensorType &given = *implOf(gradients[i], where).type, &needed = *implOf(inputs[i], where).type;
    gradients[i] = fitting(absl::StrCat(operation, ": the pullback gives ", given.str(), " as gradient ", i,
                                        ", and the argument is ", needed.str()),
                           gradients[i], inputs[i], operation, where);
  }
  return gradients;
}

} // namespace

std::vector<Tensor> withGradient(const char *operation, const std::vector<Tensor> &inputs,
                                 const std::vector<Tensor> &values, const PullbackFunction &pullback,
                                 SourceLocation where) {
  where = userLine(where);
  std::vector<Tensor> sources = floatingOf(inputs, where), primals = floatingOf(values, where);
  // The user's pullback gets a cotangent for each value. A value that is not floating has zeros.
  TracedProgram program = record(
      "a pullback", primals,
      [&](const std::vector<Tensor> &seeds) {
        std::vector<Tensor> cotangents = values;
        std::size_t next = 0;
        for (Tensor &cotangent : cotangents)
          cotangent = is_inexact(cotangent.dtype()) ? seeds[next++] : zerosLike(cotangent, where);
        return checked(operation, pullback(cotangents), sources, where);
      },
      where);
  if (sources.empty() || primals.empty())
    return values;
  std::vector<Tensor> operands = sources;
  operands.insert(operands.end(), primals.begin(), primals.end());
  operands.insert(operands.end(), program.trace->captures.begin(), program.trace->captures.end());
  schema::Attribute attributes[] = {
      std::vector<std::int64_t>{static_cast<std::int64_t>(sources.size()), static_cast<std::int64_t>(primals.size()),
                                static_cast<std::int64_t>(program.trace->captures.size())},
      attributeOf(program)};
  std::vector<Tensor> results;
  if (currentTrace()) {
    results = applyAll(OpId::CustomGradient, operands, attributes, where);
  } else {
    // The results are new tensors with the same elements, so that tapes tell the results from the primals.
    for (const Tensor &primal : primals)
      results.push_back(makeEager(implOf(primal, where).type, implOf(primal, where).buffer, where));
    if (eagerTapesActive())
      recordEager(OpId::CustomGradient, operands, attributes, results, where);
  }
  std::vector<Tensor> all = values;
  std::size_t next = 0;
  for (Tensor &value : all)
    if (is_inexact(value.dtype()))
      value = results[next++];
  return all;
}

bool gradientOverridesActive() { return !activeOverrides().empty(); }

void overrideGradient(std::string_view function, std::span<const Tensor> operands, std::span<Tensor> results,
                      SourceLocation where) {
  std::vector<Override> &overrides = activeOverrides();
  auto found = std::find_if(overrides.rbegin(), overrides.rend(),
                            [&](const Override &o) { return o.function == function && !o.suspended; });
  if (found == overrides.rend() || !is_inexact(results[0].dtype()))
    return;
  std::size_t index = static_cast<std::size_t>(overrides.rend() - found) - 1;
  // Within the pullback, operations have the gradients that they had before the override.
  overrides[index].suspended = true;
  absl::Cleanup resume = [index] { activeOverrides()[index].suspended = false; };
  std::vector<Tensor> inputs(operands.begin(), operands.end());
  GradientOverride::Pullback pullback = overrides[index].pullback;
  const Tensor result = results[0];
  auto pull = [&](const std::vector<Tensor> &cotangents) { return pullback(inputs, result, cotangents[0]); };
  results[0] = withGradient("gradient_override", inputs, {result}, pull, where)[0];
}

} // namespace detail

GradientOverride::GradientOverride(const std::string &operation, Pullback pullback, SourceLocation where) {
  where = detail::userLine(where);
  const schema::OperationSchema *schema = schema::findFunction(operation);
  if (operation == "sparse_categorical_crossentropy")
    throw LookupError(absl::StrCat("'", operation,
                                   "' is made of log_softmax, where and sum; override the gradient of "
                                   "one of them, or call it in custom_gradient"),
                      where);
  if (!schema && !std::ranges::count(detail::kOverFunctions, operation))
    throw LookupError(absl::StrCat("there is no operation '", operation, "' whose gradient could be overridden"),
                      where);
  if (schema && !schema->differentiable)
    throw LookupError(absl::StrCat("operation '", operation, "' has no gradient that could be overridden"), where);
  if (schema && schema->severalResults)
    throw LookupError(
        absl::StrCat("operation '", operation,
                     "' gives several tensors, and only the gradient of an operation that gives one can be overridden"),
        where);
  detail::requireCallable(pullback, "gradient_override", where);
  id_ = detail::nextId();
  detail::activeOverrides().push_back({operation, id_, std::move(pullback), std::make_unique<detail::ModeScope>(id_)});
}
GradientOverride::~GradientOverride() {
  std::erase_if(detail::activeOverrides(), [&](const detail::Override &override) { return override.id == id_; });
}

} // namespace calque
