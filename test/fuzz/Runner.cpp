#include "test/fuzz/Runner.h"

#include "calque/calque.h"
#include "frontend/Apply.h"
#include "frontend/Execute.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <sstream>

namespace calque::fuzz {

namespace {

Tensor toTensor(const Data &data) {
  auto make = [&](auto zero) {
    std::vector<decltype(zero)> elements;
    for (Real value : data.values)
      elements.push_back(static_cast<decltype(zero)>(value));
    return tensor(elements, data.type.dims);
  };
  switch (data.type.dtype) {
  case DType::Bool:
    return make(bool());
  case DType::Int32:
    return make(std::int32_t());
  case DType::Int64:
    return make(std::int64_t());
  case DType::Float32:
    return make(float());
  case DType::Float64:
    break;
  }
  return make(double());
}

Data toData(const Tensor &x) {
  Data data{{x.dtype(), x.shape()}, {}};
  auto take = [&](auto zero) {
    const auto *first = x.data<decltype(zero)>();
    data.values.assign(first, first + x.size());
  };
  switch (x.dtype()) {
  case DType::Bool:
    take(bool());
    break;
  case DType::Int32:
    take(std::int32_t());
    break;
  case DType::Int64:
    take(std::int64_t());
    break;
  case DType::Float32:
    take(float());
    break;
  case DType::Float64:
    take(double());
    break;
  }
  return data;
}

// One run of a program's steps on tensors or traced tensors.
class Execution {
public:
  Execution(const Program &program, bool compileNested) : program(program), compileNested(compileNested) {}

  std::vector<Tensor> values;
  std::vector<Variable> variables;
  std::vector<bool> connected;

  void run() { range(0, static_cast<int>(program.steps.size()), {}); }
  std::vector<Tensor> results() const {
    std::vector<Tensor> list;
    for (int value : program.results)
      list.push_back(values[value]);
    return list;
  }

private:
  void range(int begin, int end, std::vector<std::size_t> inside) {
    for (int i = begin; i < end;) {
      std::size_t next = program.nested.size();
      for (std::size_t n = 0; n < program.nested.size(); ++n) {
        const Nested &nested = program.nested[n];
        bool isOpen = std::find(inside.begin(), inside.end(), n) != inside.end();
        if (nested.begin == i && nested.end <= end && !isOpen && (next == program.nested.size() || nested.end > program.nested[next].end))
          next = n;
      }
      // A tape that ends after the function begins before it, one that ends within it inside.
      int innerEnd = next == program.nested.size() ? i + 1 : program.nested[next].end;
      for (std::size_t g = 0; g < program.steps.size(); ++g)
        if (const Step &step = program.steps[g]; step.tape && step.tape->begin == i && static_cast<int>(g) < end &&
                                                 (next == program.nested.size() || static_cast<int>(g) >= innerEnd))
          beginTape(g, i);
      if (next == program.nested.size()) {
        this->step(i);
        ++i;
        continue;
      }
      inside.push_back(next);
      call(program.nested[next], inside);
      inside.pop_back();
      i = innerEnd;
    }
  }

  void beginTape(std::size_t gradient, int at) {
    const Step &step = program.steps[gradient];
    if (tapes.size() < program.steps.size())
      tapes.resize(program.steps.size());
    if (tapes[gradient])
      return;
    tapes[gradient] = std::make_unique<GradientTape>(GradientTapeOptions(), line(static_cast<int>(gradient)));
    for (std::size_t s = firstSource(step); s < step.operands.size(); ++s)
      if (program.stepOf(step.operands[s]) < at)
        tapes[gradient]->watch(values[step.operands[s]], line(static_cast<int>(gradient)));
  }
  static std::size_t firstSource(const Step &step) { return static_cast<std::size_t>(step.tape->numTargets) * (step.tape->seeded ? 2 : 1); }
  static SourceLocation line(int step) { return SourceLocation::at("program", static_cast<unsigned>(step) + 1); }

  // A function within: what it uses from outside are its arguments, what is used later its results.
  void call(const Nested &nested, const std::vector<std::size_t> &inside) {
    std::vector<int> in, out;
    auto isMade = [&](int value) { return program.stepOf(value) >= nested.begin; };
    for (int s = nested.begin; s < nested.end; ++s) {
      for (int operand : program.steps[s].operands)
        if (!isMade(operand) && std::find(in.begin(), in.end(), operand) == in.end())
          in.push_back(operand);
      for (std::size_t r = 0; r < program.steps[s].types.size(); ++r)
        out.push_back(program.steps[s].firstResult + static_cast<int>(r));
    }
    std::erase_if(out, [&](int value) {
      bool used = std::find(program.results.begin(), program.results.end(), value) != program.results.end();
      for (std::size_t s = static_cast<std::size_t>(nested.end); s < program.steps.size(); ++s)
        used |= std::find(program.steps[s].operands.begin(), program.steps[s].operands.end(), value) != program.steps[s].operands.end();
      return !used;
    });
    auto body = [&](const std::vector<Tensor> &arguments) {
      std::vector<Tensor> outside = values;
      for (std::size_t i = 0; i < in.size(); ++i)
        values[in[i]] = arguments[i];
      range(nested.begin, nested.end, inside);
      std::vector<Tensor> made;
      for (int value : out)
        made.push_back(values[value]);
      values = std::move(outside);
      return made;
    };
    std::vector<Tensor> arguments;
    for (int value : in)
      arguments.push_back(values[value]);
    std::vector<Tensor> made;
    if (executing_eagerly() && !compileNested)
      made = body(arguments);
    else
      made = function(body, {.name = "nested"})(arguments);
    for (std::size_t i = 0; i < out.size(); ++i)
      values[out[i]] = made[i];
  }

  void step(int index) {
    const Step &step = program.steps[index];
    SourceLocation where = line(index);
    if (step.tape)
      return gradient(step, index);
    std::vector<Tensor> operands;
    for (int operand : step.operands)
      operands.push_back(values[operand]);
    switch (step.op) {
    case OpId::VariableRead:
      values[step.firstResult] = variables[std::get<std::int64_t>(step.attributes[0])].value(where);
      return;
    case OpId::VariableAssign:
      variables[std::get<std::int64_t>(step.attributes[0])].assign(calque::Operand(operands[0], where));
      return;
    case OpId::Print:
      print(std::get<std::string>(step.attributes[0]), calque::Operand(operands[0], where));
      return;
    case OpId::HostCall: // which also shows when it runs
      values[step.firstResult] = host_call(
          [index](std::span<const Tensor> in) {
            std::cout << "host call " << index << '\n';
            return in[0];
          },
          {operands[0]}, {TensorSpec<>(step.types[0].dtype, step.types[0].dims)}, where);
      return;
    case OpId::Assert:
      assert_true(calque::Operand(operands[0], where), std::get<std::string>(step.attributes[0]));
      return;
    default:
      values[step.firstResult] = detail::apply(step.op, operands, step.attributes, where);
    }
  }

  void gradient(const Step &step, int index) {
    std::vector<Tensor> targets, seeds;
    for (int t = 0; t < step.tape->numTargets; ++t) {
      targets.push_back(values[step.operands[t]]);
      if (step.tape->seeded)
        seeds.push_back(values[step.operands[step.tape->numTargets + t]]);
    }
    // One use for all: values and variables.
    std::pair<std::vector<Tensor>, std::vector<Variable>> sources;
    for (std::size_t s = firstSource(step); s < step.operands.size(); ++s)
      sources.first.push_back(values[step.operands[s]]);
    for (int variable : step.tape->variableSources)
      sources.second.push_back(variables[variable]);
    auto found = tapes[index]->gradient(targets, sources, GradientOptions{.output_gradients = seeds}, line(index));
    tapes[index].reset();
    std::vector<std::optional<Tensor>> all = found.first;
    all.insert(all.end(), found.second.begin(), found.second.end());
    for (std::size_t r = 0; r < all.size(); ++r) {
      connected.push_back(all[r].has_value());
      values[step.firstResult + r] = all[r] ? *all[r] : zeros(step.types[r].dims, step.types[r].dtype, line(index));
    }
  }

  const Program &program;
  bool compileNested;
  std::vector<std::unique_ptr<GradientTape>> tapes;
};

// A program and its inputs, ready to be run.
class Subject {
public:
  explicit Subject(const Program &program) : program(program) {
    for (const Input &input : program.inputs)
      inputs.push_back(toTensor(input.data));
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      variables.emplace_back(toTensor(program.variables[i].data),
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
    execution.values = inputs;
    execution.values.resize(static_cast<std::size_t>(program.numValues()));
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
  auto compiled() {
    return function<std::vector<Tensor>(const std::vector<Tensor> &, const std::vector<Variable> &)>(
        [this](const std::vector<Tensor> &tensors, const std::vector<Variable> &given) { return body(tensors, given, false); },
        {.name = "program"}, SourceLocation::at("program", 0));
  }

  // One run from the variables' first values.
  template <typename F> Outcome observe(const F &run) {
    for (std::size_t i = 0; i < variables.size(); ++i)
      variables[i].assign(toTensor(program.variables[i].data));
    Outcome outcome;
    std::ostringstream printed;
    std::streambuf *console = std::cout.rdbuf(printed.rdbuf());
    try {
      for (const Tensor &result : run())
        outcome.results.push_back(toData(result));
    } catch (const Error &error) {
      outcome.error = std::string(error.category()) + ": " + error.what();
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

bool sameBits(Real a, Real b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }
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
        return at + " and " + text(other->values[i]) + " " + otherBy + "; they may be " + text(element.apart) + " apart";
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
    break;
  }
  return "compiled without optimisations";
}

std::vector<Outcome> runAll(const Program &program) {
  Subject subject(program);
  auto [tensors, variables] = subject.arguments();
  std::vector<Outcome> outcomes;
  outcomes.push_back(subject.observe([&] { return subject.body(tensors, variables, program.eagerNested); }));
  auto compiled = subject.compiled();
  for (int call = 0; call < 2; ++call)
    outcomes.push_back(subject.observe([&] { return compiled(tensors, variables); }));
  auto plain = subject.compiled();
  detail::setOptimizing(false);
  outcomes.push_back(subject.observe([&] { return plain(tensors, variables); }));
  detail::setOptimizing(true);
  return outcomes;
}

std::string compare(const Program &program, const Meaning &meaning, const std::vector<Outcome> &outcomes, Figures *figures) {
  const Outcome &eager = outcomes[0];
  std::string expected;
  if (meaning.failure)
    expected = meaning.failure->category + ": " + meaning.failure->message + "\n  at program:" + std::to_string(meaning.failure->step + 1);
  for (std::size_t way = 0; way < outcomes.size(); ++way) {
    std::string by = nameOf(static_cast<Way>(way));
    const Outcome &outcome = outcomes[way];
    if (outcome.error != expected)
      return "fails " + by + " with [" + outcome.error + "] and should with [" + expected + "]";
    // What an eager call did before it failed stays.
    if (meaning.failure && way == 0)
      continue;
    if (!meaning.failure && outcome.results.size() != program.results.size())
      return "has " + std::to_string(outcome.results.size()) + " results " + by + ", not " + std::to_string(program.results.size());
    for (std::size_t i = 0; i < outcome.results.size(); ++i) {
      std::string what = "result " + std::to_string(i) + " (v" + std::to_string(program.results[i]) + ")";
      const Array &array = *meaning.values[program.results[i]];
      std::string difference = compareData(what, outcome.results[i], by, nullptr, "", array, figures);
      if (difference.empty() && way > 0)
        difference = compareData(what, outcome.results[i], by, &eager.results[i], nameOf(Way::Eager), array, nullptr);
      if (!difference.empty())
        return difference;
    }
    for (std::size_t i = 0; i < outcome.variables.size(); ++i) {
      std::string what = "variable " + std::to_string(i);
      std::string difference = compareData(what, outcome.variables[i], by, nullptr, "", *meaning.variables[i], figures);
      if (difference.empty() && way > 0 && !meaning.failure)
        difference = compareData(what, outcome.variables[i], by, &eager.variables[i], nameOf(Way::Eager), *meaning.variables[i], nullptr);
      if (!difference.empty())
        return difference;
    }
    if (meaning.failure)
      continue;
    if (outcome.connected != eager.connected)
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
