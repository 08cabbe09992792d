#include "calque/ahead_of_time.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/file_writer.h"
#include "calque/functions.h"
#include "calque/transforms.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/saving/ElfObject.h"
#include "frontend/saving/NamesOfC.h"
#include "frontend/saving/SavedFunctions.h"
#include "program/ProgramFile.h"
#include "standalone/Description.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace calque {
namespace detail {

using schema::OpId;

namespace {

// Keeps kernels as images. Nothing runs them here.
class KernelImages : public runtime::KernelSource {
public:
  runtime::KernelRef find(const runtime::KernelKey &key) override {
    std::lock_guard lock(mutex);
    return numbers.contains(key) ? refOf(key) : nullptr;
  }
  runtime::KernelRef add(const runtime::KernelKey &key, const runtime::Image &image, std::string &) override {
    std::lock_guard lock(mutex);
    if (numbers.try_emplace(key, images.size()).second)
      images.push_back(image);
    return refOf(key);
  }
  std::uint32_t numberOf(const runtime::KernelKey &key) const { return static_cast<std::uint32_t>(numbers.at(key)); }
  const std::vector<runtime::Image> &all() const { return images; }

private:
  static runtime::KernelRef refOf(const runtime::KernelKey &key) {
    return std::make_shared<const runtime::LoadedKernel>(runtime::LoadedKernel{{}, nullptr, key, ""});
  }
  std::mutex mutex;
  std::map<runtime::KernelKey, std::size_t> numbers;
  std::vector<runtime::Image> images;
};

// Whether a name is used inside of the header's functions.
bool isOfHeader(std::string_view name) {
  for (const char *own : {"NULL", "arguments_", "calque_call", "calque_library", "calque_model", "capacities_", "model",
                          "result_sizes", "results_", "sizes_"})
    if (name == own)
      return true;
  return false;
}

// Whether C reserves a name for implementations.
bool isOfImplementation(const std::string &name) {
  return name.starts_with("__") ||
         (name.size() > 1 && name[0] == '_' && std::isupper(static_cast<unsigned char>(name[1])));
}

// Whether C reserves a name, or it is in capitals, as the names of macros are: "__x", "_X", "EOF". With a number behind
// it, such a name is no macro's.
bool isMacroLike(const std::string &name) {
  auto isUpper = [](unsigned char c) { return std::isupper(c) != 0; };
  auto isLower = [](unsigned char c) { return std::islower(c) != 0; };
  return isOfImplementation(name) ||
         (name.size() > 1 && std::ranges::any_of(name, isUpper) && std::ranges::none_of(name, isLower));
}

bool isName(const std::string &text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// A name in C for a path: x for "argument 0 'x'", argument_1_2 for "argument 1[2]".
std::string nameOf(const std::string &path) {
  if (std::size_t quote = path.find(" '"); quote != std::string::npos && path.ends_with('\''))
    if (std::string name = path.substr(quote + 2, path.size() - quote - 3); isName(name))
      return name;
  std::string name;
  for (char c : path)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  while (name.ends_with('_'))
    name.pop_back();
  return name;
}

// The text as it can stand in a comment of C.
std::string inComment(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  for (const char *mark : {"*/", "/*"}) // marks that would end the comment, or seem to begin another
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; ++at)
      text.insert(at + 1, " ");
  return text;
}

// The names of a C function's parameters. They differ from each other, and from the names that the function uses
// itself.
class ParameterNames {
public:
  explicit ParameterNames(std::string library) : taken{std::move(library)} {}
  std::string add(const std::string &wanted) {
    const std::string valid = isName(wanted) ? wanted : absl::StrCat("_", wanted);
    for (int number = isMacroLike(valid) ? 1 : 0;; ++number)
      if (std::string name = number ? absl::StrCat(valid, "_", number) : valid;
          !isNoParameter(name) && !isOfHeader(name) && taken.insert(name).second)
        return name;
  }

private:
  std::set<std::string> taken;
};

// A tensor of a signature.
struct Parameter {
  std::string wanted, path; // what its name in C is made from; its name in messages
  bool isPlain;             // whether `wanted` tells `path`
};
Parameter parameterOf(const std::string &path) {
  // The spaces that belong to no name: one in "argument 1[2]", two in "argument 0 'x'".
  const std::ptrdiff_t spaces = path.starts_with("argument ") + absl::StrContains(path, " '");
  const bool isPlain = std::ranges::count(path, ' ') == spaces && !absl::StrContains(path, "''") &&
                       !absl::StrContains(path, "\"\"") && std::ranges::all_of(path, [](unsigned char c) {
                         return std::isalnum(c) || absl::StrContains("_[]'\" ", std::string(1, static_cast<char>(c)));
                       });
  return {nameOf(path), path, isPlain};
}
Parameter cotangentOf(const Parameter &of) {
  return {absl::StrCat(of.wanted, "_cotangent"), absl::StrCat("the cotangent of ", of.path), of.isPlain};
}

runtime::Machine machineOf(runtime::Cpu cpu) {
  return cpu == runtime::Cpu::Aarch64 ? runtime::Machine::Aarch64 : runtime::Machine::X86_64;
}

// A pullback needs floating-point results and floating-point arguments.
bool hasPullback(const SavedTrace &trace) {
  auto isFloating = [](const SignaturePart &part) {
    return part.kind == SignaturePart::Kind::Tensor && is_inexact(part.type.dtype);
  };
  return std::ranges::any_of(trace.signature.parts, isFloating) &&
         std::ranges::any_of(trace.results, isFloating, &SavedPart::part);
}

class AheadCompiler {
public:
  // `names` are the names of the saved functions, which the C functions keep.
  AheadCompiler(std::string name, runtime::Cpu cpu, const std::vector<std::string> &names, SourceLocation where)
      : name(std::move(name)), where(where), object(machineOf(cpu)), kept(names.begin(), names.end()) {
    library = this->name;
    for (int number = 1; isNameOfC(library) || isOfHeader(library) || isNameOfSaved(library); ++number)
      library = absl::StrCat(this->name, "_", number);
    options = compileOptions();
    options.cpu = cpu;
    description.cpu = cpu;
  }

  // Adds a C function for a trace, and returns its name. A number follows the name if another trace has the name
  // already.
  std::string add(const std::string &function, const SavedTrace &trace) {
    std::vector<Parameter> arguments, results;
    for (const SignaturePart &part : trace.signature.parts) {
      if (part.kind == SignaturePart::Kind::Variable)
        throw ValueError(absl::StrCat("compile_ahead: ", part.path, " of function '", function,
                                      "' is a variable, which a C function has no argument for"),
                         where);
      if (part.kind == SignaturePart::Kind::Tensor)
        arguments.push_back(parameterOf(part.path));
    }
    for (const SavedPart &part : trace.results)
      if (part.part.kind == SignaturePart::Kind::Tensor)
        results.push_back(parameterOf(part.part.path));
    const std::string own = freeName(function);
    if (std::unique_ptr<const CapturedPanels> made = panelsOf(*trace.program, trace.captures, where)) {
      add(own, function, made->recording, made->captures, trace.variables, arguments, results,
          notesOf(function, trace));
      panels.push_back(std::move(made)); // kept, because `captureNumbers` knows their captures by address
    } else {
      add(own, function, *trace.program, trace.captures, trace.variables, arguments, results, notesOf(function, trace));
    }
    return own;
  }

  // `own` is the name that add() has returned for the trace.
  void addPullback(const std::string &function, const std::string &own, const SavedTrace &trace) {
    using Tensors = std::vector<Tensor>;
    std::vector<Tensor> given;
    std::vector<Parameter> arguments, results;
    auto spec = [&](const schema::TensorType &type) { given.push_back(TensorSpec<>(type.dtype, shapeOf(type.dims))); };
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Tensor) {
        spec(part.type);
        arguments.push_back(parameterOf(part.path));
      }
    const std::size_t count = given.size();
    std::vector<Parameter> cotangents;
    for (std::size_t i = 0; i < count; ++i)
      if (is_inexact(given[i].dtype()))
        cotangents.push_back(cotangentOf(arguments[i]));
    for (const SavedPart &part : trace.results)
      if (part.part.kind == SignaturePart::Kind::Tensor && is_inexact(part.part.type.dtype)) {
        results.push_back(parameterOf(part.part.path));
        spec(part.part.type);
        arguments.push_back(cotangentOf(results.back()));
      }
    results.insert(results.end(), cotangents.begin(), cotangents.end());
    auto pull = calque::function<Tensors(const Tensors &)>([&](const Tensors &all) {
      Tensors inputs(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)), floating;
      for (const Tensor &input : inputs)
        if (is_inexact(input.dtype()))
          floating.push_back(input);
      auto [values, pullback] = vjp(
          [&](const Tensors &moved) {
            Tensors whole = inputs, results;
            auto next = moved.begin();
            for (Tensor &input : whole)
              if (is_inexact(input.dtype()))
                input = *next++;
            for (const Tensor &value : replay(trace, whole, {}, where))
              if (is_inexact(value.dtype()))
                results.push_back(value);
            return results;
          },
          floating);
      Tensors gradients = pullback(Tensors(all.begin() + static_cast<std::ptrdiff_t>(count), all.end()));
      values.insert(values.end(), gradients.begin(), gradients.end());
      return values;
    });
    FunctionToSave concrete = pull.get_concrete_function(given);
    const FunctionTrace &made = SavedAccess::concreteOf(concrete)->only(where);
    const std::string plain = inC(function);
    add(freeName(absl::StrCat(plain, "_pullback"), own.substr(plain.size())), function, made.recording, made.captures,
        made.variables, arguments, results, notesOf(function, trace));
  }

  void write(const std::string &objectPath, const std::string &headerPath) {
    std::vector<std::optional<ElfObject::FunctionAddress>> addresses;
    for (const runtime::Image &image : images.all()) {
      std::size_t number = object.addImage(image);
      for (const char *symbol : {runtime::kKernelSymbol, runtime::kScratchSymbol, runtime::kPiecesSymbol}) {
        const bool isThere =
            std::ranges::any_of(image.symbols, [&](const runtime::Image::Symbol &each) { return each.name == symbol; });
        addresses.push_back(isThere ? std::optional(ElfObject::FunctionAddress{number, symbol}) : std::nullopt);
      }
    }
    const std::vector<std::byte> bytes = standalone::serialize(description);
    object.addBytes(absl::StrCat("calque_description_of_", name), bytes);
    object.addAddresses(absl::StrCat("calque_kernels_of_", name), addresses);
    const std::vector<std::byte> file = object.file();
    FileWriter out(objectPath, where);
    out.write(file.data(), file.size());
    FileWriter text(headerPath, where);
    text.write(headerText(bytes.size()));
    out.finish();
    text.finish();
  }

private:
  // The name of a function in C: its own name, if that can be a part of a name in C.
  static std::string inC(const std::string &function) {
    if (isName(absl::StrCat("_", function)))
      return function;
    const std::string name = nameOf(function);
    return name.empty() ? "function" : name;
  }

  bool isNameOfSaved(const std::string &global) const {
    return std::ranges::any_of(kept, [&](const std::string &each) { return absl::StrCat(name, "_", each) == global; });
  }

  // A name that no other C function has: with the ending, or else with a number. A saved function keeps its name,
  // unless C or the library has the name with `name` in front.
  std::string freeName(const std::string &function, const std::string &ending = "") {
    const std::string wanted = inC(function);
    std::string own = wanted + ending;
    auto isFree = [&] {
      const std::string global = absl::StrCat(name, "_", own);
      return (own == function || !kept.contains(own)) && global != library && !isNameOfC(global) &&
             taken.insert(own).second;
    };
    for (int number = 1; !isFree(); ++number)
      own = absl::StrCat(wanted, "_", number);
    return own;
  }

  // What the signature in C does not say: the function's name if it has another one in C, and the host values.
  std::vector<std::string> notesOf(const std::string &function, const SavedTrace &trace) const {
    std::vector<std::string> notes;
    if (inC(function) != function || isNameOfC(absl::StrCat(name, "_", function)))
      notes.push_back(absl::StrCat("of function '", function, "'"));
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Host)
        notes.push_back(absl::StrCat(part.path, " is ", part.text));
    return notes;
  }

  // `own` is the function's name in C, `function` its name in messages.
  void add(const std::string &own, const std::string &function, const schema::Recording &program,
           const std::vector<Tensor> &captures, const std::vector<BoundVariable> &variables,
           const std::vector<Parameter> &arguments, const std::vector<Parameter> &results,
           std::vector<std::string> notes) {
    CompileResult compiled = compiler().compile(program, images, options);
    if (!compiled.program)
      throw CompileError(compiled.error.empty() ? "the compiler gave no reason" : compiled.error,
                         compiled.line.empty() ? where : locationOf(compiled.line));
    if (!compiled.program->interface.late.empty())
      throw ValueError(absl::StrCat("compile_ahead: function '", function,
                                    "' has a result whose sizes show only when it has run, for which C has no buffer "
                                    "beforehand"),
                       where);
    standalone::StandaloneFunction made;
    made.name = own;
    std::vector<StoredKernel> kernels;
    for (const runtime::KernelRef &kernel : compiled.program->kernels) {
      kernels.push_back({kernel->runtime, {}});
      made.kernels.push_back(kernel->runtime.empty() ? images.numberOf(kernel->key) : 0);
    }
    CompiledProgram named = *compiled.program;
    for (Site &site : named.interface.sites) {
      if (const schema::RecordedOp *op = program.operationAt(site.recorded)) {
        site.operation = nameInMessages(op->op, op->line);
        if (site.kind == Site::Kind::IndexOutOfRange)
          site.text = op->line.index ? op->line.index : "index";
      }
      if (site.kind == Site::Kind::Extern)
        throw ValueError(absl::StrCat("compile_ahead: function '", function, "' applies operation '", site.text,
                                      "', which is C++ of this program"),
                         where);
      made.lines.push_back(site.line);
    }
    made.program = serialize(named, kernels);
    for (schema::ValueId parameter : program.parameters)
      made.inputs.push_back(program.typeOf(parameter));
    made.numArguments = arguments.size();
    for (const Tensor &capture : captures)
      made.captures.push_back(numberOf(capture));
    for (const BoundVariable &bound : variables) {
      made.variables.push_back(numberOf(bound.captured));
      made.inputs.push_back(*bound.captured->type);
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      made.results.push_back(program.typeOf(program.results[i]));
    made.inputNames = declare(made, compiled.program->interface, arguments, results, std::move(notes));
    made.inputNames.resize(made.numArguments + captures.size(), "a captured tensor");
    for (const BoundVariable &bound : variables)
      made.inputNames.push_back(absl::StrCat("variable '", bound.captured->name, "'"));
    description.functions.push_back(std::move(made));
  }

  static standalone::StandaloneValue valueOf(std::string name, const Tensor &x) {
    const TensorImpl &impl = implOf(x);
    const auto *first = static_cast<const std::byte *>(impl.buffer.data());
    return {std::move(name), *impl.type, {first, first + impl.type->numBytes()}};
  }
  std::uint32_t numberOf(const Tensor &capture) {
    auto [found, isNew] = captureNumbers.try_emplace(capture.impl().get(), description.captures.size());
    if (isNew)
      description.captures.push_back(valueOf("", capture));
    return static_cast<std::uint32_t>(found->second);
  }
  std::uint32_t numberOf(const std::shared_ptr<VariableState> &variable) {
    auto [found, isNew] = variableNumbers.try_emplace(variable.get(), description.variables.size());
    if (isNew)
      description.variables.push_back(valueOf(variable->name, Variable(variable).value(where)));
    return static_cast<std::uint32_t>(found->second);
  }

  // Adds the C function to the header. Returns the names of its arguments in messages.
  std::vector<std::string> declare(const standalone::StandaloneFunction &made, const ProgramInterface &interface,
                                   const std::vector<Parameter> &ofArguments, const std::vector<Parameter> &ofResults,
                                   std::vector<std::string> notes) {
    ParameterNames names(library);
    auto named = [&](const std::vector<Parameter> &all) {
      std::vector<std::string> own;
      for (const Parameter &each : all) {
        own.push_back(names.add(each.wanted));
        if (!each.isPlain || own.back() != each.wanted)
          notes.push_back(absl::StrCat(own.back(), " is ", each.path));
      }
      return own;
    };
    std::vector<std::string> arguments = named(ofArguments);
    const std::vector<std::string> results = named(ofResults);
    // The name of a parameter with a size or the capacity of a tensor.
    auto numberOf = [&](const std::string &tensor, const std::string &ending, const std::string &meaning) {
      std::string own = names.add(tensor + ending);
      if (own != tensor + ending)
        notes.push_back(absl::StrCat(own, " is ", meaning, " of ", tensor));
      return own;
    };
    std::string parameters = "calque_model *model", types, given, sizes, places, capacities;
    auto list = [](std::string &to, const std::string &entry) { absl::StrAppend(&to, to.empty() ? "" : ", ", entry); };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      absl::StrAppend(&parameters, ", const ", info_of(made.inputs[i].dtype).in_c, " *", arguments[i]);
      list(types, absl::StrCat(arguments[i], ": ", made.inputs[i].str()));
      list(given, arguments[i]);
      for (const UnknownSize &unknown : interface.unknownInputs)
        if (unknown.index == i) {
          const std::string size = numberOf(arguments[i], absl::StrCat("_size", unknown.dimension),
                                            absl::StrCat("size ", unknown.dimension));
          absl::StrAppend(&parameters, ", int64_t ", size);
          list(sizes, size);
        }
    }
    types += types.empty() ? "->" : " ->";
    for (std::size_t i = 0; i < results.size(); ++i) {
      absl::StrAppend(&parameters, ", ", info_of(made.results[i].dtype).in_c, " *", results[i]);
      absl::StrAppend(&types, i ? ", " : " ", results[i], ": ", made.results[i].str());
      list(places, results[i]);
      if (!made.results[i].isStatic()) {
        const std::string capacity = numberOf(results[i], "_capacity", "the capacity");
        absl::StrAppend(&parameters, ", int64_t ", capacity);
        list(capacities, capacity);
      }
    }
    if (!capacities.empty())
      parameters += ", int64_t *result_sizes";
    auto array = [](const char *type, const char *called, const std::string &entries) {
      return entries.empty() ? std::string() : absl::StrCat("  ", type, called, "[] = {", entries, "};\n");
    };
    if (!notes.empty())
      absl::StrAppend(&declarations, "\n/* ", inComment(absl::StrJoin(notes, "; ")), " */");
    absl::StrAppend(&declarations, "\n/* ", types, " */\nstatic inline int ", name, "_", made.name, "(", parameters,
                    ") {\n", array("const void *const ", "arguments_", given), array("const int64_t ", "sizes_", sizes),
                    array("void *const ", "results_", places), array("const int64_t ", "capacities_", capacities),
                    "  return calque_call(model, &", library, ", ", description.functions.size(), ", ",
                    given.empty() ? "NULL" : "arguments_", ", ", sizes.empty() ? "NULL" : "sizes_", ", ",
                    places.empty() ? "NULL" : "results_", ", ", capacities.empty() ? "NULL" : "capacities_", ", ",
                    capacities.empty() ? "NULL" : "result_sizes", ");\n}\n");
    for (std::string &each : arguments)
      each = absl::StrCat("'", each, "'");
    return arguments;
  }

  std::string headerText(std::size_t bytes) const {
    std::string guard = absl::StrCat("CALQUE_AHEAD_", name, "_H");
    std::string variables;
    for (const standalone::StandaloneValue &variable : description.variables) {
      absl::StrAppend(&variables, "     ", inComment(variable.name), ": ", variable.type.str(), "\n");
    }
    return absl::StrCat(
        "/* Functions that Calque has compiled ahead of time, for CPUs of the level ", runtime::nameOf(description.cpu),
        ". calque/standalone.h says how they\n   are called. The variables are:\n", variables, "*/\n#ifndef ", guard,
        "\n#define ", guard,
        "\n\n#include <calque/standalone.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nextern "
        "const unsigned char ",
        "calque_description_of_", name, "[];\nextern void (*const calque_kernels_of_", name, "[])(const int64_t *);\n",
        library == name
            ? ""
            : absl::StrCat("/* Not ", name, ", which is a name of C, or one that the functions have in them. */\n"),
        "static const calque_library ", library, " = {calque_description_of_", name, ", ", bytes,
        "u, calque_kernels_of_", name, "};\n", declarations, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  }

  const std::string name; // the names of functions begin with it
  std::string library;    // the name of the calque_library that calque_open takes
  const SourceLocation where;
  CompileOptions options;
  KernelImages images;
  ElfObject object;
  standalone::Description description;
  const std::set<std::string> kept;
  std::set<std::string> taken;
  std::map<const TensorImpl *, std::size_t> captureNumbers;
  std::vector<std::unique_ptr<const CapturedPanels>> panels;
  std::map<const VariableState *, std::size_t> variableNumbers;
  std::string declarations;
};

} // namespace
} // namespace detail

void compile_ahead(const SavedFunctions &functions, const std::string &object, const std::string &header,
                   AheadOptions options, SourceLocation where) {
  where = detail::userLine(where);
  std::string name = options.name;
  if (name.empty()) {
    name = object.substr(object.rfind('/') + 1);
    name = name.substr(0, name.find('.'));
  }
  if (!detail::isName(name) || detail::isOfImplementation(name) || name == "calque" || name.starts_with("calque_"))
    throw ValueError(absl::StrCat("compile_ahead: '", name, "' is no name in C; the option name gives another"), where);
  runtime::Cpu cpu = runtime::hostCpu();
  if (!options.target.empty()) {
    std::optional<runtime::Cpu> named = runtime::cpuNamed(options.target);
    if (!named)
      throw ValueError(absl::StrCat("compile_ahead: there is no target '", options.target, "'; the targets are ",
                                    runtime::allCpuNames()),
                       where);
    cpu = *named;
  }
  const std::vector<std::string> all = functions.names(where);
  for (const std::string &each : options.functions)
    if (std::ranges::find(all, each) == all.end())
      throw LookupError(absl::StrCat("compile_ahead: there is no function '", each, "'; the functions are ",
                                     absl::StrJoin(all, ", ")),
                        where);
  std::vector<std::string> names; // in the order of the file
  for (const std::string &each : all)
    if (options.functions.empty() || std::ranges::count(options.functions, each))
      names.push_back(each);
  for (const std::string &each : options.pullbacks)
    if (std::ranges::find(names, each) == names.end())
      throw LookupError(absl::StrCat("compile_ahead: there is no function '", each, "' to compile the pullback of",
                                     names.size() < all.size() ? " among those that are asked for" : ""),
                        where);
  if (object == header)
    throw ValueError(absl::StrCat("compile_ahead: the object file and the header are one file, ", object), where);
  for (const std::string &each : options.pullbacks) {
    if (std::ranges::find(names, each + "_pullback") != names.end())
      throw ValueError(absl::StrCat("compile_ahead: the file has a function '", each,
                                    "_pullback', which is the name of the pullback of '", each, "'"),
                       where);
    if (std::ranges::none_of(detail::SavedAccess::functionOf(functions, each, where)->traces, detail::hasPullback))
      throw ValueError(absl::StrCat("compile_ahead: function '", each,
                                    "' has no pullback, as no argument or no result is floating-point"),
                       where);
  }
  detail::AheadCompiler compiler(std::move(name), cpu, names, where);
  for (const std::string &each : names) {
    std::shared_ptr<const detail::SavedFunction> function = detail::SavedAccess::functionOf(functions, each, where);
    std::vector<std::string> own; // the name in C of each trace
    for (const detail::SavedTrace &trace : function->traces)
      own.push_back(compiler.add(each, trace));
    for (std::size_t i = 0; std::ranges::count(options.pullbacks, each) && i < own.size(); ++i)
      if (detail::hasPullback(function->traces[i]))
        compiler.addPullback(each, own[i], function->traces[i]);
  }
  compiler.write(object, header);
}

} // namespace calque
