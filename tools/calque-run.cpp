// Runs a function of a file that save_functions has written, or a model of ONNX.
//
//   calque-run model.calque --describe
//   calque-run model.calque --function forward --input x=images.npy --output logits.npy
//   calque-run model.calque --function power --input x=2 n=3
//   calque-run model.calque --ir linalg
//   calque-run model.onnx --input x=images.npy
#include "tools/Run.h"

#include "calque/saved_functions.h"
#include "tools/Terminal.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <sys/time.h>
#include <unistd.h>

using namespace calque;
using namespace calque::tools;

namespace {

enum ExitCode { Failed = 1, Misused = 2, OutOfTime = 3 };

// Ends the process after some time, in whatever it is then: a loop of native code polls nothing. A file that is being
// written is left as it was, as it gets its name when it is whole. Misuse.
void endAfter(double seconds, const std::string &self) {
  constexpr double kMost = 1e8;
  if (!(seconds > 0) || seconds > kMost)
    throw Misuse("--seconds takes a number above 0, and at most 100000000");
  // Made beforehand, as a signal may come where nothing can be allocated.
  static const std::string message = self + ": the run has not ended in the time that --seconds gives it\n";
  struct sigaction action{};
  action.sa_handler = [](int) {
    // Nothing can be done where it can't be written.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(OutOfTime);
  };
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      std::max<suseconds_t>(static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6), seconds < 1 ? 1 : 0);
  if (::sigaction(SIGALRM, &action, nullptr) != 0 || ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr) != 0 ||
      ::setitimer(ITIMER_REAL, &timer, nullptr) != 0)
    throw Misuse("--seconds: this system has no timer");
}

// The function that is asked for, or the only one.
std::string functionOf(const SavedFunctions &file, const Options &options) {
  std::vector<std::string> names = file.names(nowhere);
  if (!options.function.empty() || names.size() == 1)
    return options.function.empty() ? names[0] : options.function;
  throw Misuse(options.file + " has the functions " + joined(names) + ": say which, by --function");
}

// Whether a name means an argument: by all that messages call it, or by its name between quotes.
bool names(const std::string &name, const std::string &argument) {
  return name == argument || argument.ends_with(" '" + name + "'");
}

// Which tensor among the arguments a name means: its number, too.
std::size_t placeOf(const std::string &name, const std::vector<std::string> &arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (name == std::to_string(i) || names(name, arguments[i]))
      return i;
  throw Misuse("there is no argument '" + name + "'; they are " + joined(arguments));
}

// Whether a value of the command line is the one that a trace was saved with: its text, with or without its type, or a
// number of the same value.
bool isValue(const std::string &given, const std::string &saved) {
  const std::size_t space = saved.find(' ');
  const std::string type = saved.substr(0, space), value = space == std::string::npos ? saved : saved.substr(space + 1);
  if (given == saved || given == value)
    return true;
  if (type == "string")
    return '"' + given + '"' == value;
  auto numberOf = [](const std::string &text) -> std::optional<long double> {
    char *end = nullptr;
    const long double number = std::strtold(text.c_str(), &end);
    return text.empty() || *end ? std::nullopt : std::optional(number);
  };
  const std::optional<long double> number = numberOf(given);
  return type != "bool" && number && number == numberOf(value);
}

// A call: the tensors that it is given, and the traces that it may be of, the first that fits in front.
struct Call {
  std::vector<std::size_t> traces;
  std::vector<Tensor> tensors;
};

class CallChooser {
public:
  CallChooser(const SavedFunctions &file, std::string called, const Options &options)
      : file(file), function(std::move(called)), specs(file.argument_specs(function, nowhere)),
        hosts(file.host_values(function, nowhere)) {
    for (const std::string &input : options.inputs)
      inputs.push_back(inputOf(input));
  }

  Call choose() {
    std::vector<std::size_t> traces(specs.size());
    std::iota(traces.begin(), traces.end(), 0);
    traces = byHostValues(std::move(traces));
    traces = byNumber(std::move(traces));
    // One that can't be called so says why: the first, if there is no other.
    std::optional<Call> fitting;
    for (std::size_t trace : traces)
      if (std::optional<std::vector<Tensor>> tensors = fit(trace)) {
        if (!fitting)
          fitting = Call{{trace}, std::move(*tensors)};
        else if (hosts[trace] != hosts[fitting->traces[0]])
          refuseOpen(fitting->traces[0], trace, traces);
      }
    if (fitting)
      return *fitting;
    std::vector<std::size_t> distinct;
    for (std::size_t trace : traces)
      if (std::ranges::none_of(distinct, [&](std::size_t other) { return specs[other] == specs[trace]; }))
        distinct.push_back(trace);
    return {distinct, tensorsOf(traces[0])};
  }

private:
  // The value that a trace has of a number or text, or null.
  const SavedHostValue *find(std::size_t trace, const std::string &name) const {
    for (const SavedHostValue &value : hosts[trace])
      if (names(name, value.name))
        return &value;
    return nullptr;
  }
  bool isHostValue(const std::string &name) const {
    for (std::size_t trace = 0; trace < hosts.size(); ++trace)
      if (find(trace, name))
        return true;
    return false;
  }

  // "it was saved with int 1, int 2 and int 3".
  std::string savedWith(const std::vector<std::size_t> &traces, const std::string &name) const {
    std::vector<std::string> values;
    for (std::size_t trace : traces)
      if (const SavedHostValue *value = find(trace, name))
        if (std::ranges::find(values, value->value) == values.end())
          values.push_back(value->value);
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i)
      text += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + values[i];
    if (values.size() > kShown)
      text += " and " + std::to_string(values.size() - kShown) + " more";
    return "the function was saved with " + text;
  }

  // Those that have the numbers and texts that are given.
  std::vector<std::size_t> byHostValues(std::vector<std::size_t> traces) const {
    std::vector<std::string> given;
    for (const Input &input : inputs) {
      if (input.name.empty() || !isHostValue(input.name))
        continue;
      std::vector<std::size_t> left;
      std::string called;
      for (std::size_t trace : traces)
        if (const SavedHostValue *value = find(trace, input.name)) {
          called = value->name;
          if (isValue(input.value, value->value))
            left.push_back(trace);
        }
      if (std::ranges::find(given, called) != given.end())
        throw Misuse(called + " is given twice");
      given.push_back(called);
      if (left.empty())
        throw Misuse(called + " can't be '" + input.value + "'; " + savedWith(traces, input.name) +
                     (given.size() > 1 ? " beside the others" : ""));
      traces = std::move(left);
    }
    return traces;
  }

  // Those that take as many tensors as are given, if there are any.
  std::vector<std::size_t> byNumber(std::vector<std::size_t> traces) const {
    const auto tensors = static_cast<std::size_t>(std::ranges::count_if(
        inputs, [&](const Input &input) { return input.name.empty() || !isHostValue(input.name); }));
    std::vector<std::size_t> left;
    std::ranges::copy_if(traces, std::back_inserter(left),
                         [&](std::size_t trace) { return specs[trace].size() == tensors; });
    return left.empty() ? traces : left;
  }

  // The tensors of the inputs, of the types that the trace has. Misuse.
  std::vector<Tensor> tensorsOf(std::size_t trace) {
    const std::vector<std::string> called = file.argument_names(function, trace, nowhere);
    std::vector<std::optional<Tensor>> given(called.size());
    std::size_t next = 0;
    for (const Input &input : inputs) {
      if (!input.name.empty() && isHostValue(input.name))
        continue;
      const std::size_t place = input.name.empty() ? next : placeOf(input.name, called);
      next = place + 1;
      if (place >= called.size())
        throw Misuse("there are more inputs than the " + std::to_string(called.size()) + " that the function takes");
      if (given[place])
        throw Misuse(called[place] + " is given twice");
      given[place] = valueOf(input.value, specs[trace][place]);
    }
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i])
        throw Misuse(called[i] + " is not given; it is " + specs[trace][i].str());
      tensors.push_back(*given[i]);
    }
    return tensors;
  }

  // The tensors of the inputs where they are what the trace was saved for.
  std::optional<std::vector<Tensor>> fit(std::size_t trace) {
    std::vector<Tensor> tensors;
    try {
      tensors = tensorsOf(trace);
    } catch (const Misuse &) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Shape &given = tensors[i].shape(), &saved = specs[trace][i].shape();
      if (tensors[i].dtype() != specs[trace][i].dtype() || given.size() != saved.size())
        return std::nullopt;
      for (std::size_t d = 0; d < given.size(); ++d)
        if (saved[d] != kDynamic && saved[d] != given[d])
          return std::nullopt;
    }
    return tensors;
  }

  // Two traces could serve the call, and differ in numbers or texts.
  [[noreturn]] void refuseOpen(std::size_t one, std::size_t other, const std::vector<std::size_t> &traces) const {
    for (const SavedHostValue &value : hosts[one])
      if (const SavedHostValue *differing = find(other, value.name); differing && differing->value != value.value)
        throw Misuse(value.name + " is not given; " + savedWith(traces, value.name));
    throw Misuse("the tensors do not say which of the traces is called; they are\n" + file.str(nowhere));
  }

  const SavedFunctions &file;
  const std::string function;
  const std::vector<std::vector<TensorSpec<>>> specs; // of each trace
  const std::vector<std::vector<SavedHostValue>> hosts;
  std::vector<Input> inputs;
};

// As a part of a comment.
std::string inOneLine(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

void printIr(const SavedFunctions &file, const Options &options) {
  const char *separator = "";
  const std::vector<std::string> names =
      options.function.empty() ? file.names(nowhere) : std::vector<std::string>{options.function};
  for (const std::string &name : names) {
    const std::vector<std::vector<SavedHostValue>> hosts = file.host_values(name, nowhere);
    for (std::size_t trace = 0; const std::vector<TensorSpec<>> &specs : file.argument_specs(name, nowhere)) {
      for (const std::string &stage : options.stages) {
        std::vector<Tensor> arguments;
        for (const TensorSpec<> &spec : specs)
          arguments.push_back(Tensor(TensorSpec<>(spec.dtype(), spec.shape(), spec.name(), nowhere)));
        const std::string text = file.on_tensors(FunctionName(name, nowhere), {trace}).ir(stage, arguments, nowhere);
        std::cout << separator << "// function " << name << ", stage " << stage << '\n';
        for (const SavedHostValue &value : hosts[trace])
          std::cout << "// " << inOneLine(value.name + " is " + value.value) << '\n';
        std::cout << text;
        separator = "\n// -----\n";
      }
      ++trace;
    }
  }
}

void run(const SavedFunctions &file, const Options &options) {
  const std::string function = functionOf(file, options);
  const Call call = CallChooser(file, function, options).choose();
  const std::vector<Tensor> results =
      file.on_tensors(FunctionName(function, nowhere), call.traces)(call.tensors, nowhere);
  writeResults(options, results, file.result_names(function, call.traces[0], nowhere), std::cout);
}

} // namespace

int main(int argc, char **argv) {
  // calque-dump runs this program under its own name.
  const std::string self = std::filesystem::path(argc > 0 ? argv[0] : "calque-run").filename().string();
  Options options;
  CLI::App app(
      "Runs a function of a file that Calque's save_functions has written, or a model of ONNX, whose file ends\n"
      "with .onnx, and prints what it gives.\n"
      "The exit code is 0; 1 for a file that is wrong and a call that fails, 2 for wrong options, 3 where the\n"
      "time of --seconds is over.");
  app.add_option("FILE", options.file, "The file of functions, or the model")->required();
  app.add_option("--function", options.function, "Which of them, if there are several");
  app.add_option(
      "--input", options.inputs,
      "NAME=VALUE for each argument, or VALUE for each tensor in their order: a number, or a file that ends\n"
      "with .npy. NAME=VALUE of a number or text of the program chooses among those that were saved");
  app.add_option("--output", options.outputs, "A file .npy for each result, in their order; the others are printed");
  app.add_flag("--describe", options.describe, "Print the signatures and the variables instead");
  app.add_option("--ir", options.stages, "Print the program at a stage of the compiler instead, such as simplified");
  app.add_option("--seconds", options.seconds, "End the run, loading included, if it takes longer");
  // Labels, messages and names are those of the file.
  tools::EscapedOutput out(std::cout), errors(std::cerr);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? Misused : 0;
  }
  try {
    if (options.seconds)
      endAfter(*options.seconds, self);
    if (options.file.ends_with(".onnx")) {
      runOnnx(options);
    } else {
      const SavedFunctions file = load_functions(options.file, nowhere);
      if (options.describe)
        std::cout << file.str(nowhere);
      else if (!options.stages.empty())
        printIr(file, options);
      else
        run(file, options);
    }
    std::cout.flush();
    return std::cout.good() ? 0 : Failed;
  } catch (const Misuse &error) {
    std::cerr << self << ": " << error.what() << '\n';
    return Misused;
  } catch (const Error &error) {
    std::cerr << self << ": " << error.what() << '\n';
    return Failed;
  }
}
