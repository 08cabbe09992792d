#include "test/fuzz/Runner.h"

#include "test/fuzz/Execution.h"

#include "calque/saved_functions.h"
#include "frontend/compiled/CompilerSettings.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace calque::fuzz {

namespace {
// An error without the elements that an assertion shows: assertions in a vmap show none.
std::string withoutElements(const std::string &error) {
  static const std::regex elements(R"(; (it fails for|\d+ of \d+ elements? fails?:)[^\n]*)");
  return error.starts_with("AssertionError: ") ? std::regex_replace(error, elements, "") : error;
}

// A program and its inputs, ready to be run.
class Subject {
public:
  explicit Subject(const Program &program) : program(program) {
    for (const Input &input : program.inputs)
      inputs.push_back(toTensor(input.data));
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      variables.emplace_back(
          toTensor(program.variables[i].data),
          VariableOptions{.name = "w" + std::to_string(i), .trainable = program.variables[i].trainable});
  }

  using Arguments = std::pair<std::vector<Tensor>, std::vector<Variable>>;
  Arguments arguments() const {
    Arguments given;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (program.inputs[i].kind == Input::Kind::Parameter)
        given.first.push_back(inputs[i]);
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (program.variables[i].isArgument)
        given.second.push_back(variables[i]);
    return given;
  }
  std::vector<Tensor> body(const std::vector<Tensor> &tensors, const std::vector<Variable> &given, bool compileNested) {
    Execution execution(program, compileNested);
    std::copy(inputs.begin(), inputs.end(), execution.values.begin());
    execution.variables = variables;
    std::size_t nextTensor = 0, nextVariable = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (program.inputs[i].kind == Input::Kind::Parameter)
        execution.values[i] = tensors[nextTensor++];
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (program.variables[i].isArgument)
        execution.variables[i] = given[nextVariable++];
    execution.run();
    connected = execution.connected;
    return execution.results();
  }
  auto compiled(std::vector<TensorSpec<>> specs = {}) {
    return function<std::vector<Tensor>(const std::vector<Tensor> &, const std::vector<Variable> &)>(
        [this](const std::vector<Tensor> &tensors, const std::vector<Variable> &given) {
          return body(tensors, given, false);
        },
        {.name = "program", .input_signature = std::move(specs)}, SourceLocation::at("program", 0));
  }
  std::vector<TensorSpec<>> openSpecs() const {
    std::vector<TensorSpec<>> specs;
    for (const Input &input : program.inputs) {
      calque::Shape shape = input.data.type.dims;
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (program.leavesOpen(i, input.data.type.dims[i]))
          shape[i] = kDynamic;
      if (input.kind == Input::Kind::Parameter)
        specs.emplace_back(input.data.type.dtype, std::move(shape));
    }
    return specs;
  }

  void reset() {
    for (std::size_t i = 0; i < variables.size(); ++i)
      variables[i].assign(toTensor(program.variables[i].data));
  }
  // One run from the variables' first values.
  template <typename F> Outcome observe(Way way, const F &run) {
    reset();
    Outcome outcome;
    outcome.way = way;
    std::ostringstream printed;
    std::streambuf *console = std::cout.rdbuf(printed.rdbuf());
    try {
      for (const Tensor &result : run())
        outcome.results.push_back(toData(result));
    } catch (const Error &error) {
      outcome.error = withoutElements(std::string(error.category()) + ": " + error.what());
    }
    std::cout.rdbuf(console);
    for (const Variable &variable : variables)
      outcome.variables.push_back(toData(variable.value()));
    outcome.connected = connected;
    outcome.printed = printed.str();
    return outcome;
  }

  const Program &program;
  std::vector<Tensor> inputs;
  std::vector<Variable> variables;
  std::vector<bool> connected;
};

std::string text(Real value) {
  std::ostringstream os;
  os.precision(20);
  os << value;
  return os.str();
}

bool sameBits(Real a, Real b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
bool sameBits(const Data &a, const Data &b) {
  return a.type == b.type && std::ranges::equal(a.values, b.values, [](Real x, Real y) { return sameBits(x, y); });
}
bool within(Real a, Real b, Real bound) {
  if (bound == 0)
    return sameBits(a, b);
  if (std::isinf(bound) || a == b || (std::isnan(a) && std::isnan(b)))
    return true;
  return std::fabs(a - b) <= bound;
}

std::string compareData(const std::string &what, const Data &found, const std::string &foundBy, const Data *other,
                        const std::string &otherBy, const Array &meaning, Figures *figures) {
  if (found.type != meaning.type)
    return what + " is " + found.type.str() + " " + foundBy + " and should be " + meaning.type.str();
  if (other && other->type != meaning.type)
    return what + " is " + other->type.str() + " " + otherBy + " and should be " + meaning.type.str();
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const Num &element = meaning.elements[i];
    std::string at = what + ", element " + std::to_string(i) + ", is " + text(found.values[i]) + " " + foundBy;
    if (other) {
      if (!within(found.values[i], other->values[i], element.apart))
        return at + " and " + text(other->values[i]) + " " + otherBy + "; they may be " + text(element.apart) +
               " apart";
      continue;
    }
    if (figures) {
      ++figures->elements;
      figures->exact += element.off <= 1e-4000L;
      figures->unknown += std::isinf(element.off);
    }
    if (!within(found.values[i], element.value, element.off))
      return at + " and should be " + text(element.value) + ", give or take " + text(element.off);
  }
  return "";
}

} // namespace

const char *nameOf(Way way) {
  switch (way) {
  case Way::Eager:
    return "eagerly";
  case Way::Compiled:
    return "compiled";
  case Way::Again:
    return "compiled, called again";
  case Way::Plain:
    return "compiled without optimisations";
  case Way::Target:
    return "compiled for another target";
  case Way::Open:
    return "compiled with unknown sizes";
  case Way::Saved:
    break;
  }
  return "saved and loaded";
}

namespace {
// Not everything that can be done with known sizes can be done with open ones: a size may follow from nothing, and what
// turns out to be one is not broadcast. Then it is refused, at the trace, by the compiler or at the call, and with one
// of these messages.
bool isRefusal(const std::string &error) {
  static const char *const messages[] = {"not known while tracing",
                                         "the state must be int64[2]",
                                         "must be known",
                                         "size that nothing gives",
                                         "leaves more than one size open",
                                         " in the first branch and ",
                                         ", and the body gives ",
                                         ", and the step gives ",
                                         ", and that of the step before ",
                                         "an operand of unknown size",
                                         "there are none that would give",
                                         "their number is not known",
                                         ", and they must be equal",
                                         ": output gradient ",
                                         ": cotangent ",
                                         ": tangent ",
                                         ", and it must be "};
  return std::any_of(std::begin(messages), std::end(messages),
                     [&](const char *message) { return error.find(message) != std::string::npos; });
}
// Saves a function with its variables' first values, loads it and runs what was loaded.
template <typename F> std::optional<Outcome> runSaved(Subject &subject, const F &compiled) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("calque-fuzz-" + std::to_string(::getpid()) + ".calque")).string();
  subject.reset();
  try {
    save_functions(path, {{"program", compiled}});
  } catch (const StateError &) { // it could not be traced
    return std::nullopt;
  } catch (const ValueError &) { // it calls the host
    return std::nullopt;
  }
  return subject.observe(Way::Saved, [&] {
    SavedFunctions loaded = load_functions(path);
    std::filesystem::remove(path);
    auto [tensors, variables] = subject.arguments();
    std::vector<Tensor> results =
        loaded.function<std::vector<Tensor>(const std::vector<Tensor> &, const std::vector<Variable> &)>("program")(
            tensors, variables);
    for (std::size_t i = 0; i < subject.variables.size(); ++i)
      if (auto own = loaded.variables().find("w" + std::to_string(i)); own != loaded.variables().end())
        subject.variables[i].assign(own->second);
    return results;
  });
}
bool isUncaptured(const std::string &error) {
  return error.find("the branches and loops of the lambda can't be captured") != std::string::npos;
}
} // namespace

std::vector<Outcome> runAll(const Program &program) {
  Subject subject(program);
  auto [tensors, variables] = subject.arguments();
  std::vector<Outcome> outcomes;
  outcomes.push_back(
      subject.observe(Way::Eager, [&] { return subject.body(tensors, variables, program.eagerNested); }));
  auto compiled = subject.compiled();
  for (Way way : {Way::Compiled, Way::Again})
    outcomes.push_back(subject.observe(way, [&] { return compiled(tensors, variables); }));
  auto compiledWith = [&](Way way, auto change) {
    CompileOptions options = detail::compileOptions();
    change(options);
    detail::setCompileOptions(options);
    auto function = subject.compiled();
    outcomes.push_back(subject.observe(way, [&] { return function(tensors, variables); }));
    detail::setCompileOptions({});
  };
  compiledWith(Way::Plain, [](CompileOptions &options) { options.optimize = false; });
  compiledWith(Way::Target, [&](CompileOptions &options) {
    std::vector<runtime::Cpu> others; // those that this CPU runs, too
    for (runtime::Cpu cpu : runtime::kCpus)
      if (cpu != runtime::hostCpu() && runtime::runs(runtime::hostCpu(), cpu))
        others.push_back(cpu);
    options.cpu = others.empty() ? runtime::hostCpu() : others[program.steps.size() % others.size()];
  });
  if (program.leavesOpen()) {
    auto open = subject.compiled(subject.openSpecs());
    outcomes.push_back(subject.observe(Way::Open, [&] { return open(tensors, variables); }));
  }
  if (std::optional<Outcome> saved = runSaved(subject, compiled))
    outcomes.push_back(std::move(*saved));
  return outcomes;
}

std::string compare(const Program &program, const Meaning &meaning, const std::vector<Outcome> &outcomes,
                    Figures *figures) {
  const Outcome &eager = outcomes[0];
  std::string expected;
  if (meaning.failure)
    expected = meaning.failure->category + ": " + meaning.failure->message +
               "\n  at program:" + std::to_string(meaning.failure->step + 1);
  if (hasNative(program)) {
    // Not every C++ loop can be captured; also eager programs may trace, as in a vmap.
    const bool isRefused = isUncaptured(eager.error) || isUncaptured(outcomes[1].error);
    if (figures) {
      figures->native += 1;
      figures->uncaptured += isRefused;
    }
    if (isRefused)
      return "";
  }
  for (const Outcome &outcome : outcomes) {
    const Way way = outcome.way;
    std::string by = nameOf(way);
    if (figures)
      figures->saved += way == Way::Saved;
    if (way == Way::Open) {
      bool refused = outcome.error != expected &&
                     (isRefusal(outcome.error) || (hasNative(program) && isUncaptured(outcome.error)));
      if (figures) {
        figures->open += 1;
        figures->refused += refused;
      }
      if (refused)
        continue;
    }
    if (outcome.error != expected)
      return "fails " + by + " with [" + outcome.error + "] and should with [" + expected + "]";
    // What an eager call did before it failed stays.
    if (meaning.failure && way == Way::Eager)
      continue;
    if (!meaning.failure && outcome.results.size() != program.results.size())
      return "has " + std::to_string(outcome.results.size()) + " results " + by + ", not " +
             std::to_string(program.results.size());
    for (std::size_t i = 0; i < outcome.results.size(); ++i) {
      std::string what = "result " + std::to_string(i) + " (v" + std::to_string(program.results[i]) + ")";
      const Array &array = *meaning.values[program.results[i]];
      std::string difference = compareData(what, outcome.results[i], by, nullptr, "", array, figures);
      if (difference.empty() && way != Way::Eager)
        difference = compareData(what, outcome.results[i], by, &eager.results[i], nameOf(Way::Eager), array, nullptr);
      if (difference.empty() && way == Way::Saved && !sameBits(outcome.results[i], outcomes[1].results[i]))
        difference = what + " has other bits " + by + " than " + nameOf(Way::Compiled);
      if (!difference.empty())
        return difference;
    }
    for (std::size_t i = 0; i < outcome.variables.size(); ++i) {
      std::string what = "variable " + std::to_string(i);
      std::string difference = compareData(what, outcome.variables[i], by, nullptr, "", *meaning.variables[i], figures);
      if (difference.empty() && way != Way::Eager && !meaning.failure)
        difference = compareData(what, outcome.variables[i], by, &eager.variables[i], nameOf(Way::Eager),
                                 *meaning.variables[i], nullptr);
      if (!difference.empty())
        return difference;
    }
    if (meaning.failure)
      continue;
    // In a trace a source is connected if any path in a branch or a loop leads from it. What the last of many runs has
    // found says nothing.
    bool mayBranch = false;
    eachStep(program, [&](const Step &step) { mayBranch |= step.isControlFlow(); });
    bool isSame = outcome.connected.size() == eager.connected.size();
    for (std::size_t i = 0; i < eager.connected.size() && isSame; ++i)
      isSame = outcome.connected[i] == eager.connected[i] || (mayBranch && outcome.connected[i]);
    if (!isSame && !hasNative(program))
      return "has other sources connected to targets " + by + " than eagerly";
    if (outcome.printed != eager.printed)
      return "prints " + by + "\n" + outcome.printed + "and eagerly\n" + eager.printed;
  }
  return "";
}

std::string irOf(const Program &program) {
  Subject subject(program);
  auto [tensors, variables] = subject.arguments();
  try {
    return subject.compiled().ir("traced", tensors, variables);
  } catch (const std::exception &error) {
    return std::string("no IR: ") + error.what() + "\n";
  }
}

} // namespace calque::fuzz
