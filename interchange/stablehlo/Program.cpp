#include "stablehlo/Program.h"

#include "calque/call_site.h"
#include "calque/function.h"
#include "calque/init_scope.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

namespace calque::stablehlo {

const char *internedLabel(const std::string &label) {
  static std::mutex mutex;
  static std::unordered_set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(label).first->c_str();
}

namespace {

bool isReturn(const Operation &operation) {
  return operation.name == "stablehlo.return" || operation.name == "func.return";
}

// Results of so many elements are computed while tracing if their operands are known: sizes, and places of slices.
constexpr std::int64_t kMostKnown = 256;

class Linker {
public:
  Linker(const Module &module, const std::string &file) : module_(module), file_(file) {}

  void link(Function &function) {
    if (function.hasBody)
      link(function.body);
    for (const Type &each : function.body.types)
      check(each, function.line, "an argument of '" + function.name + "'");
  }

private:
  [[noreturn]] void refuse(int line, const std::string &message) const {
    throw DataError(file_ + ":" + std::to_string(line) + ": " + message);
  }
  void check(const Type &type, int line, const std::string &what) const {
    if (type.kind == Type::Kind::Other)
      refuse(line, what + " has the type " + type.str() + ", which is not read");
    if (type.isTensor() && !type.dtype)
      refuse(line, what + " has the element type " + type.element + ", which Calque does not have");
    for (const Type &each : type.parts)
      check(each, line, what);
  }
  void link(Region &region) {
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
      Operation &operation = region.operations[i];
      const bool isLast = i + 1 == region.operations.size();
      if (isReturn(operation) != isLast)
        refuse(operation.line, isLast ? "a region does not end with a return" : "operations stand behind a return");
      if (!isLast)
        link(operation);
    }
  }
  void link(Operation &operation) {
    const Operator *found = operation.operation = findOperator(operation.name);
    if (!found)
      refuse(operation.line, "the operation " + operation.name + ", which Calque does not have");
    const auto count = static_cast<int>(operation.operands.size());
    if (count < found->fewest || count > found->most)
      refuse(operation.line, operation.name + " has " + std::to_string(count) + " operands, expected " +
                                 (found->fewest == found->most ? "" : "at least ") + std::to_string(found->fewest));
    const auto regions = static_cast<int>(operation.regions.size());
    if (found->regions == kAnyNumber ? regions == 0 : regions != found->regions)
      refuse(operation.line, operation.name + " has " + std::to_string(regions) + " regions");
    for (const Type &each : operation.types)
      check(each, operation.line, "a result of " + operation.name);
    for (Region &each : operation.regions) {
      for (const Type &type : each.types)
        check(type, operation.line, "an argument of a region of " + operation.name);
      link(each);
    }
    const char *name = operation.name == "func.call" ? "callee" : "decomposition";
    if (operation.name == "func.call" || operation.name == "stablehlo.composite") {
      const Attribute *callee = operation.find(name);
      operation.callee = callee ? module_.find(callee->text) : nullptr;
      if (!operation.callee || !operation.callee->hasBody)
        refuse(operation.line, operation.name + " of the function '" + (callee ? callee->text : "") +
                                   "', which the text does not have");
    }
  }

  const Module &module_;
  const std::string &file_;
};

Module linked(Module module, const std::string &file) {
  Linker linker(module, file);
  for (const auto &each : module.functions)
    linker.link(*each);
  return module;
}

bool fits(const Type &type, const Value &value) {
  if (!value.isTensor())
    return type.kind == (value.isSequence() ? Type::Kind::Tuple : Type::Kind::Token);
  return type.isTensor() && value.dtype() == *type.dtype && type.shape().is_compatible_with(value.shape());
}

} // namespace

Program::Program(Module given, std::string name) : module(linked(std::move(given), name)), file(std::move(name)) {}

std::vector<Value> Program::run(const Function &function, std::vector<Value> arguments,
                                const SourceLocation &where) const {
  return runFunction(function, std::move(arguments), false, 0, where);
}

std::vector<Value> Program::runFunction(const Function &function, std::vector<Value> arguments, bool isLifted,
                                        int depth, const SourceLocation &where) const {
  if (depth > 100)
    throw ValueError(file + ": more than 100 calls of functions are inside of each other, the last one of '" +
                         function.name + "'",
                     where);
  Frame frame;
  frame.values.resize(static_cast<std::size_t>(function.values));
  frame.depth = depth;
  return runRegion(function.body, std::move(arguments), frame, isLifted, where);
}

std::vector<Value> Program::runRegion(const Region &region, std::vector<Value> arguments, Frame &frame, bool isLifted,
                                      const SourceLocation &where) const {
  if (arguments.size() != region.arguments.size())
    throw ValueError(file + ": a region or function of " + std::to_string(region.arguments.size()) +
                         " arguments is given " + std::to_string(arguments.size()),
                     where);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    frame.values[static_cast<std::size_t>(region.arguments[i])] = std::move(arguments[i]);
  for (const Operation &each : region.operations) {
    if (isReturn(each)) {
      std::vector<Value> results;
      for (int value : each.operands)
        results.push_back(frame.values[static_cast<std::size_t>(value)]);
      return results;
    }
    Results results = runOperation(each, frame, isLifted, where);
    for (std::size_t i = 0; i < each.results.size() && i < results.size(); ++i)
      frame.values[static_cast<std::size_t>(each.results[i])] = std::move(results[i]);
    for (int value : each.dead)
      frame.values[static_cast<std::size_t>(value)] = Value();
  }
  return {};
}

Results Program::runOperation(const Operation &operation, Frame &frame, bool isLifted,
                              const SourceLocation &where) const {
  std::vector<Value> inputs;
  bool isKnown = !operation.operands.empty();
  for (int value : operation.operands) {
    inputs.push_back(frame.values[static_cast<std::size_t>(value)]);
    isKnown = isKnown && inputs.back().isKnown();
  }
  const Runner runner{
      .region = [&](const Region &region, std::vector<Value> arguments,
                    bool lifts) { return runRegion(region, std::move(arguments), frame, lifts || isLifted, where); },
      .function =
          [&](const Function &function, std::vector<Value> arguments) {
            return runFunction(function, std::move(arguments), isLifted, frame.depth + 1, where);
          },
      .find = [&](std::string_view name) { return module.find(name); }};
  const Call call(operation, std::move(inputs), runner, isLifted, where);
  const Trait trait = operation.operation->trait;
  if (isLifted && trait == Trait::None)
    call.refuse(
        "it stands in the body of an operation that is applied to many elements at once, and is no operation on "
        "single elements");
  if (trait == Trait::Control) {
    Results results = operation.operation->apply(call);
    if (!isLifted)
      check(operation, results, where);
    return results;
  }
  const CallSite site(where, operation.label);
  // What follows from constants alone is computed now if it is small: sizes and places must be known while tracing.
  std::optional<InitScope> now;
  if (isKnown && !isLifted && operation.regions.empty() && !executing_eagerly() && !operation.types.empty() &&
      std::ranges::all_of(operation.types, [](const Type &type) {
        const Shape shape = type.shape();
        return type.isTensor() && shape.is_known() && type.dims.size() <= 4 &&
               std::ranges::all_of(type.dims, [](std::int64_t size) { return size <= 64; }) && [&] {
                 std::int64_t count = 1;
                 for (std::int64_t size : type.dims)
                   count *= size;
                 return count <= kMostKnown;
               }();
      }))
    now.emplace();
  Results results = operation.operation->apply(call);
  if (!isLifted)
    check(operation, results, where);
  return results;
}

// What an operation gives is what the text says. A difference is an error of the text, or of an operation here.
void Program::check(const Operation &operation, const Results &results, const SourceLocation &where) const {
  if (results.size() != operation.types.size())
    throw ValueError(std::string(operation.label) + ": " + std::to_string(results.size()) +
                         " results are computed, and the text has " + std::to_string(operation.types.size()),
                     where);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!fits(operation.types[i], results[i]))
      throw ValueError(std::string(operation.label) + ": result " + std::to_string(i) + " is " +
                           (results[i].isTensor()     ? name_of(results[i].dtype()) + results[i].shape().str()
                            : results[i].isSequence() ? std::string("a tuple")
                                                      : std::string("a token")) +
                           ", but the text says " + operation.types[i].str(),
                       where);
}

} // namespace calque::stablehlo
