#include "standalone/standalone.h"

#include "program/ProgramFile.h"
#include "program/SiteText.h"
#include "runtime/Print.h"
#include "runtime/Printable.h"
#include "runtime/ThreadPool.h"
#include "standalone/Description.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

using namespace calque;

namespace {

using runtime::Buffer;

// A function, ready to be called.
struct Loaded {
  Loaded(const standalone::StandaloneFunction &function, CompiledProgram program)
      : function(function), executable(std::move(program)) {}
  const standalone::StandaloneFunction &function;
  Executable executable;
};

std::string messageOf(const Loaded &loaded, const CalqueErrorSlot &error, const std::string &failedElements) {
  if (error.site < 0 || static_cast<std::size_t>(error.site) >= loaded.executable.sites.size())
    return "native code failed at a site that it does not have";
  const Site &site = loaded.executable.sites[static_cast<std::size_t>(error.site)];
  const std::string text = detail::siteMessage(
      site, error.values, {site.operation, site.text, site.text, failedElements, [&](std::size_t input) {
                             const std::vector<std::string> &names = loaded.function.inputNames;
                             return input < names.size() ? names[input] : "an argument";
                           }});
  const std::string &line = loaded.function.lines[static_cast<std::size_t>(error.site)];
  return line.empty() ? text : text + " (" + line + ")";
}

// The elements of a tensor; nothing where their bytes are more than can be addressed. A size of 0 hides no others that
// are too large, as code multiplies some of them alone.
std::optional<std::int64_t> elementsOf(const schema::TensorType &type) {
  auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  bool isEmpty = false;
  for (std::int64_t size : type.dims)
    if (size == 0)
      isEmpty = true;
    else if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return isEmpty ? 0 : bytes / static_cast<std::int64_t>(size_of(type.dtype));
}

// What calque_error says of no model: why this thread's last call got none, or was given none. A text of the program's.
thread_local const char *errorWithoutModel = "no call has failed";

std::nullptr_t noModel(const char *why) {
  errorWithoutModel = why;
  return nullptr;
}

} // namespace

struct calque_model : runtime::HostCallbacks {
  calque_model() : HostCallbacks{&print} {}

  const unsigned char *library = nullptr; // its description
  standalone::Description description;
  std::vector<Loaded> functions;
  std::vector<Buffer> captures, variables;
  std::string error;
  const Loaded *running = nullptr;
  runtime::PrintedLine line;

  int call(std::uint32_t number, const void *const *arguments, const std::int64_t *sizes, void *const *results,
           const std::int64_t *capacities, std::int64_t *resultSizes);

private:
  int fail(std::string text) {
    error = runtime::printable(text);
    return 1;
  }
  static void print(void *self, std::int32_t site, std::int32_t dtype, std::int32_t rank, const std::int64_t *dims,
                    const void *data) {
    auto &model = *static_cast<calque_model *>(static_cast<runtime::HostCallbacks *>(self));
    const std::string &text = model.running->executable.sites.at(static_cast<std::size_t>(site)).text;
    if (std::optional<std::string> line = model.line.add(text, dtype, {dims, static_cast<std::size_t>(rank)}, data))
      std::puts(runtime::printable(*line).c_str());
  }
};

int calque_model::call(std::uint32_t number, const void *const *arguments, const std::int64_t *sizes,
                       void *const *results, const std::int64_t *capacities, std::int64_t *resultSizes) {
  if (number >= functions.size())
    return fail("the model has no function " + std::to_string(number));
  const Loaded &loaded = functions[number];
  const standalone::StandaloneFunction &function = loaded.function;
  const Executable &executable = loaded.executable;
  running = &loaded;

  std::vector<void *> inputs(function.inputs.size());
  std::size_t next = 0;
  // Code that reads an empty tensor of a size that is not known may load one element.
  alignas(CALQUE_BUFFER_ALIGNMENT) static char nothing[CALQUE_BUFFER_ALIGNMENT];
  if (!arguments && function.numArguments)
    return fail(function.name + ": the arguments are null");
  if (!sizes && !executable.unknownInputs.empty())
    return fail(function.name + ": the sizes of arguments are null");
  if (!results && !function.results.empty())
    return fail(function.name + ": the results are null");
  for (std::size_t nextSize = 0; next < function.numArguments; ++next) {
    schema::TensorType type = function.inputs[next];
    for (; nextSize < executable.unknownInputs.size() && executable.unknownInputs[nextSize].index == next; ++nextSize) {
      if (sizes[nextSize] < 0)
        return fail(function.name + ": a size is " + std::to_string(sizes[nextSize]));
      type.dims[executable.unknownInputs[nextSize].dimension] = sizes[nextSize];
    }
    const std::optional<std::int64_t> elements = elementsOf(type);
    if (!elements)
      return fail(function.name + ": argument " + function.inputNames[next] + " has more bytes than can be addressed");
    if (!arguments[next] && *elements)
      return fail(function.name + ": argument " + function.inputNames[next] + " is null, and has " +
                  std::to_string(*elements) + " elements");
    inputs[next] = arguments[next] ? const_cast<void *>(arguments[next]) : nothing;
  }
  for (std::uint32_t capture : function.captures)
    inputs[next++] = captures[capture].data();
  const std::size_t firstVariable = next;
  for (std::uint32_t variable : function.variables)
    inputs[next++] = variables[variable].data();

  CalqueCallFrame frame = {};
  frame.version = CALQUE_ABI_VERSION;
  frame.size = sizeof(frame);
  frame.host = static_cast<runtime::HostCallbacks *>(this);
  std::size_t workspaceBytes = executable.workspaceBytes;
  std::vector<std::int64_t> outputSizes(executable.unknownOutputs.size());
  if (executable.plan.hasShapes()) {
    frame.input_sizes = sizes;
    frame.output_sizes = outputSizes.data();
    if (executable.plan.computeShapes(frame))
      return fail(messageOf(loaded, frame.error, {}));
    workspaceBytes = static_cast<std::size_t>(frame.workspace_bytes);
  }
  if (resultSizes)
    std::copy(outputSizes.begin(), outputSizes.end(), resultSizes);

  // Results, then the new values of variables.
  const std::size_t numResults = function.results.size();
  std::vector<void *> outputs(numResults + executable.assigned.size());
  std::size_t nextSize = 0, nextOpen = 0;
  for (std::size_t i = 0; i < numResults; ++i) {
    outputs[i] = results[i];
    schema::TensorType type = function.results[i];
    bool isOpen = false;
    for (; nextSize < outputSizes.size() && executable.unknownOutputs[nextSize].index == i; ++nextSize, isOpen = true)
      type.dims[executable.unknownOutputs[nextSize].dimension] = outputSizes[nextSize];
    const std::optional<std::int64_t> elements = elementsOf(type);
    if (!elements)
      return fail(function.name + ": result " + std::to_string(i) + " has more bytes than can be addressed");
    if (isOpen && !capacities)
      return fail(function.name + ": the capacities of results are null");
    if (isOpen && *elements > capacities[nextOpen++])
      return fail(function.name + ": result " + std::to_string(i) + " has " + std::to_string(*elements) +
                  " elements, and there is memory for " + std::to_string(capacities[nextOpen - 1]));
    if (!results[i] && *elements)
      return fail(function.name + ": there is no memory for result " + std::to_string(i));
  }
  std::vector<Buffer> made(executable.assigned.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::uint32_t variable = function.variables[executable.assigned[i]];
    if (std::ranges::binary_search(executable.inPlace, i)) {
      made[i] = variables[variable];
      inputs[firstVariable + executable.assigned[i]] = made[i].data();
    } else {
      made[i] = Buffer::allocate(variables[variable].bytes());
      outputs[numResults + i] = made[i].data();
    }
  }
  Buffer workspace;
  if (workspaceBytes)
    workspace = Buffer::allocate(workspaceBytes);
  frame.workspace = workspace.data();
  frame.inputs = inputs.data();
  frame.outputs = outputs.data();
  failedElements.clear();
  if (executable.plan.run(frame))
    return fail(messageOf(loaded, frame.error, failedElements));
  for (std::size_t i = 0; i < made.size(); ++i)
    variables[function.variables[executable.assigned[i]]] = std::move(made[i]);
  return 0;
}

extern "C" {

calque_model *calque_open(const calque_library *library) try {
  if (!library || !library->description)
    return noModel("calque_open: the library is null");
  auto description = standalone::parseDescription(
      std::as_bytes(std::span(library->description, static_cast<std::size_t>(library->size))));
  if (!description)
    return noModel("calque_open: the object file is damaged, or of another version");
  if (!runtime::runs(runtime::hostCpu(), description->cpu))
    return noModel("calque_open: this CPU can't run the code");
  auto model = std::make_unique<calque_model>();
  model->library = library->description;
  model->description = std::move(*description);
  model->functions.reserve(model->description.functions.size());
  for (const standalone::StandaloneFunction &function : model->description.functions) {
    std::optional<detail::StoredProgram> stored = detail::parseProgram(function.program);
    if (!stored || stored->kernels.size() != function.kernels.size())
      return noModel("calque_open: the object file is damaged, or of another version");
    const runtime::RuntimeFunction *functions = calque_rt_functions();
    for (std::size_t i = 0; i < stored->kernels.size(); ++i) {
      const std::string &name = stored->kernels[i].runtime;
      if (!name.empty()) {
        stored->program.kernels.push_back(runtime::runtimeKernel(functions, name));
        continue;
      }
      if (!library->kernels)
        return noModel("calque_open: the kernels of the library are null");
      const std::size_t place = 3 * static_cast<std::size_t>(function.kernels[i]);
      stored->program.kernels.push_back(std::make_shared<const runtime::LoadedKernel>(runtime::LoadedKernel{
          {library->kernels[place], library->kernels[place + 1], library->kernels[place + 2]}, nullptr, {}, ""}));
    }
    model->functions.emplace_back(function, std::move(stored->program));
  }
  for (auto [values, buffers] : {std::pair(&model->description.captures, &model->captures),
                                 std::pair(&model->description.variables, &model->variables)})
    for (standalone::StandaloneValue &value : *values) {
      Buffer &buffer = buffers->emplace_back(Buffer::allocate(value.bytes.size()));
      if (!value.bytes.empty())
        std::memcpy(buffer.data(), value.bytes.data(), value.bytes.size());
      value.bytes = {};
    }
  return model.release();
} catch (const std::bad_alloc &) {
  return noModel("calque_open: there is no memory for the model");
}

void calque_close(calque_model *model) { delete model; }

const char *calque_error(const calque_model *model) { return model ? model->error.c_str() : errorWithoutModel; }

void *calque_variable(calque_model *model, const char *name, size_t *bytes) {
  if (!model)
    return noModel("calque_variable: the model is null");
  if (!name) {
    model->error = "calque_variable: the name is null";
    return nullptr;
  }
  for (std::size_t i = 0; i < model->description.variables.size(); ++i)
    if (model->description.variables[i].name == name) {
      if (bytes)
        *bytes = model->variables[i].bytes();
      return model->variables[i].data();
    }
  return nullptr;
}

void calque_set_threads(int threads) { runtime::setThreadCount(threads); }

int calque_call(calque_model *model, const calque_library *library, uint32_t function, const void *const *arguments,
                const int64_t *sizes, void *const *results, const int64_t *capacities, int64_t *result_sizes) {
  if (!model) {
    errorWithoutModel = "calque_call: the model is null";
    return 1;
  }
  try {
    if (!library) {
      model->error = "the library is null";
      return 1;
    }
    if (library->description != model->library) { // each file that includes the header has a calque_library of its own
      model->error = "the model is one of another library";
      return 1;
    }
    return model->call(function, arguments, sizes, results, capacities, result_sizes);
  } catch (const std::bad_alloc &) {
    model->error = "there is no memory for what the call computes";
    return 1;
  }
}

} // extern "C"
