#include "frontend/operations/UserOperations.h"

#include "absl/strings/str_cat.h"
#include "calque/custom_gradient.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "frontend/core/Tracer.h"
#include "runtime/Printable.h"

#include <typeinfo>

namespace calque {
namespace detail {

using schema::OpId;

namespace {

std::vector<TensorSpec<>> specsOf(std::span<const schema::TensorType> types) {
  std::vector<TensorSpec<>> specs;
  for (const schema::TensorType &type : types)
    specs.emplace_back(type.dtype, shapeOf(type.dims));
  return specs;
}

// Traces the program of an operation's own batching rule.
schema::RecordingRef batchedProgram(const OperationDefinition &definition, std::span<const schema::TensorType> operands,
                                    const std::vector<bool> &isBatched) {
  std::vector<TracedParameter> parameters;
  for (const schema::TensorType &type : operands)
    parameters.push_back({std::make_shared<const schema::TensorType>(type)});
  TraceOptions options{.name = definition.name, .isCalled = false};
  options.constants = TraceOptions::Constants::All; // it has no other inputs than the operands
  TracedProgram program = traceProgram(options, parameters, [&](Trace &, const std::vector<Tensor> &inputs) {
    return definition.batching(inputs, isBatched);
  });
  return std::make_shared<const schema::Recording>(program.trace->recording);
}

} // namespace

std::vector<std::int64_t> resultTypesOf(const OperationDefinition &definition,
                                        std::span<const schema::TensorType> operands, SourceLocation where) {
  std::vector<std::int64_t> types;
  for (const TensorSpec<> &spec : definition.types(specsOf(operands))) {
    if (!spec.has_rank() || !spec.shape().is_known())
      throw ShapeError(absl::StrCat(definition.name, ": the results' sizes must be known; one is ", spec.str()), where);
    types.push_back(static_cast<std::int64_t>(spec.dtype()));
    types.push_back(static_cast<std::int64_t>(spec.shape().size()));
    types.insert(types.end(), spec.shape().begin(), spec.shape().end());
  }
  if (types.empty() && definition.order == CallOrder::None)
    throw ValueError(absl::StrCat(definition.name, ": the type rule gives no results"), where);
  return types;
}

} // namespace detail

Operation::Operation(OperationDefinition definition, SourceLocation where) {
  if (definition.name.empty())
    throw ValueError("an operation needs a name", where);
  if (runtime::printable(definition.name) != definition.name) // a file would have another name
    throw ValueError(absl::StrCat("the name of operation '", definition.name, "' has a control character"), where);
  if (!definition.types || !definition.kernel)
    throw ValueError(absl::StrCat("operation '", definition.name, "' needs a type rule and a kernel"), where);
  if (!definition.transpose.empty() && (definition.order != CallOrder::Repeatable || definition.pullback))
    throw ValueError(absl::StrCat("operation '", definition.name,
                                  "' has a transpose, and so must be Repeatable and have no pullback"),
                     where);
  auto shared = std::make_shared<const OperationDefinition>(std::move(definition));
  detail::BatchingProgram batching;
  if (shared->batching)
    batching = [definition = shared.get()](std::span<const schema::TensorType> operands,
                                           const std::vector<bool> &isBatched) {
      return detail::batchedProgram(*definition, operands, isBatched);
    };
  if (schema::findOperation(shared->name) || schema::findFunction(shared->name) ||
      !detail::addUserOperation(shared, std::move(batching)))
    throw ValueError(absl::StrCat("there is an operation '", shared->name, "' already"), where);
  definition_ = std::move(shared);
}

namespace {
// Throws the error again with a line, if its class is among `Errors`.
template <typename... Errors> void rethrowAt(const Error &error, SourceLocation where) {
  ((typeid(error) == typeid(Errors) ? throw Errors(error.what(), where) : void()), ...);
}

// The result types that the type rule gives. An error of the rule gets the line of the call, which the rule does not
// know.
std::vector<std::int64_t> resultsOf(const OperationDefinition &definition, const std::vector<Tensor> &inputs,
                                    SourceLocation where) {
  std::vector<schema::TensorType> operands;
  for (const Tensor &input : inputs)
    operands.push_back(*detail::implOf(input, where).type);
  try {
    return detail::resultTypesOf(definition, operands, where);
  } catch (const Error &error) {
    if (!error.location().line)
      rethrowAt<ShapeError, DTypeError, ValueError, IndexError, LookupError, StateError, DataError>(error, where);
    throw;
  }
}

const OperationDefinition &checked(const std::shared_ptr<const OperationDefinition> &definition, SourceLocation where) {
  if (!definition)
    detail::throwEmptyHandle("operation", where);
  return *definition;
}
} // namespace

const std::string &Operation::name(SourceLocation where) const { return checked(definition_, where).name; }

std::vector<Tensor> Operation::operator()(const std::vector<Tensor> &inputs, SourceLocation where) const {
  where = detail::userLine(where);
  const OperationDefinition &definition = checked(definition_, where);
  const bool isOrdered = definition.order != CallOrder::None, mayRepeat = definition.order == CallOrder::Repeatable;
  std::vector<schema::Attribute> attributes{definition.name, resultsOf(definition, inputs, where)};
  if (isOrdered) {
    const std::shared_ptr<detail::Trace> &trace = detail::currentTrace();
    if (!mayRepeat && trace && !trace->mayCallHost())
      throw StateError(absl::StrCat(definition.name, " can't stand in a pullback or a checkpoint, which may run any "
                                                     "number of times"),
                       where);
    attributes.push_back(definition.transpose);
    attributes.push_back(std::int64_t(mayRepeat));
  }
  const schema::OpId op = isOrdered ? schema::OpId::OrderedExtern : schema::OpId::Extern;
  auto apply = [&](const std::vector<Tensor> &given) { return detail::applyAll(op, given, attributes, where); };
  std::vector<Tensor> results = detail::runRecorded(definition.name.c_str(), inputs, apply, where);
  if (!definition.pullback)
    return results;
  auto pull = [&](const std::vector<Tensor> &cotangents) { return definition.pullback(inputs, results, cotangents); };
  return detail::withGradient(definition.name.c_str(), inputs, results, pull, where);
}

void registerOperations(const std::string &prefix, std::function<void(const std::string &name)> make,
                        SourceLocation where) {
  if (!detail::addOperationFamily(prefix, std::move(make)))
    throw ValueError(absl::StrCat("there are operations '", prefix, "[...]' already"), detail::userLine(where));
}

} // namespace calque
