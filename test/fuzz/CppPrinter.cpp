#include "test/fuzz/Extern.h"
#include "test/fuzz/Program.h"

#include <algorithm>
#include <climits>
#include <set>
#include <sstream>

namespace calque::fuzz {

namespace {

std::string number(DType dtype, Real value) {
  if (dtype == DType::Bool)
    return value != 0 ? "true" : "false";
  std::ostringstream os;
  if (is_integer(dtype)) {
    if (value >= 0x1p63L) {
      os << static_cast<std::uint64_t>(value) << 'u';
      return os.str();
    }
    auto whole = static_cast<std::int64_t>(value);
    if (whole == INT64_MIN)
      return "INT64_MIN";
    if (dtype == DType::Int32 && whole == INT32_MIN)
      return "INT32_MIN";
    os << whole;
    return os.str();
  }
  if (is_half(dtype))
    return std::string(name_of(dtype)) + "(" + number(DType::Float32, value) + ")";
  std::string type = dtype == DType::Float32 ? "float" : "double";
  if (std::isnan(value))
    return "std::numeric_limits<" + type + ">::quiet_NaN()";
  if (std::isinf(value))
    return (value < 0 ? "-" : "") + std::string("std::numeric_limits<") + type + ">::infinity()";
  os.precision(dtype == DType::Float32 ? 9 : 17);
  os << static_cast<double>(value);
  std::string text = os.str();
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return dtype == DType::Float32 ? text + "f" : text;
}

const char *cppType(DType dtype) {
  static constexpr const char *names[] = {
#define CALQUE_ELEMENT_TYPE(Name, name, Type, ...) #Type,
      CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
  };
  return names[static_cast<std::size_t>(dtype)];
}

std::string braces(const Ints &values) {
  std::string text = "{";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "}";
}

std::string cppData(const Data &data) {
  if (is_complex(data.type.dtype)) {
    const DType part = real_of(data.type.dtype);
    std::string text = std::string("tensor(std::vector<") + cppType(data.type.dtype) + ">{";
    for (std::size_t i = 0; i < data.values.size(); i += 2)
      text += (i ? ", {" : "{") + number(part, data.values[i]) + ", " + number(part, data.values[i + 1]) + "}";
    return text + "}, Shape" + braces(data.type.dims) + ")";
  }
  bool same = !data.values.empty();
  for (Real value : data.values)
    same = same && (value == data.values[0] && std::signbit(value) == std::signbit(data.values[0]));
  std::string type = cppType(data.type.dtype);
  if (same && data.values.size() > 4)
    return "tensor(std::vector<" + type + ">(" + std::to_string(data.values.size()) + ", " +
           number(data.type.dtype, data.values[0]) + "), " + "Shape" + braces(data.type.dims) + ")";
  std::string text = "tensor(std::vector<" + type + ">{";
  for (std::size_t i = 0; i < data.values.size(); ++i)
    text += (i ? ", " : "") + number(data.type.dtype, data.values[i]);
  return text + "}, Shape" + braces(data.type.dims) + ")";
}

std::string dtypeText(DType dtype) {
  static constexpr const char *names[] = {
#define CALQUE_ELEMENT_TYPE(Name, ...) #Name,
      CALQUE_ELEMENT_TYPES(CALQUE_ELEMENT_TYPE)
#undef CALQUE_ELEMENT_TYPE
  };
  return std::string("DType::") + names[static_cast<std::size_t>(dtype)];
}

std::string attributeText(const Attribute &attribute) {
  struct Visitor {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(const schema::Scalar &value) const { return number(DType::Float64, value.as<Real>()); }
    std::string operator()(const std::string &value) const { return "\"" + value + "\""; }
    std::string operator()(const Ints &value) const { return braces(value); }
    std::string operator()(DType value) const { return dtypeText(value); }
    std::string operator()(const schema::ConstantRef &value) const { return "<" + value->type.str() + ">"; }
  };
  return std::visit(
      [](const auto &value) -> std::string {
        if constexpr (requires { Visitor()(value); })
          return Visitor()(value);
        else
          return "...";
      },
      attribute);
}

// The snippet's steps, a function's body at a time.
class CppPrinter {
public:
  // Values are v0, v1, ... after what tells those of a transformation's body from others.
  explicit CppPrinter(const Program &program, std::string prefix = "") : program(program), prefix(std::move(prefix)) {}

  std::string print() {
    std::set<std::int64_t> externs;
    externsOf(program, externs);
    os << "#include <calque/calque.h>\n"
       << (externs.empty() ? "" : "#include <calque/operation.h>\n")
       << "#include <cstdint>\n#include <functional>\n#include <iostream>\n#include <limits>\n"
          "using namespace calque;\n\nint main() {\n";
    for (std::int64_t operation : externs)
      os << "  " << externDefinition(operation);
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      os << "  Variable w" << i << "(" << cppData(program.variables[i].data)
         << ", {.trainable = " << (program.variables[i].trainable ? "true" : "false") << "});\n";
    std::string parameters, arguments;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      bool isParameter = program.inputs[i].kind == Input::Kind::Parameter;
      os << "  Tensor " << (isParameter ? "a" : "v") << i << " = " << cppData(program.inputs[i].data) << ";\n";
      if (!isParameter)
        continue;
      parameters += (parameters.empty() ? "" : ", ") + ("const Tensor &v" + std::to_string(i));
      arguments += (arguments.empty() ? "" : ", ") + ("a" + std::to_string(i));
    }
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      if (program.variables[i].isArgument) {
        parameters += (parameters.empty() ? "" : ", ") + ("const Variable &w" + std::to_string(i));
        arguments += (arguments.empty() ? "" : ", ") + ("w" + std::to_string(i));
      }
    os << "  auto program = [=](" << parameters << ") {\n";
    range(0, static_cast<int>(program.steps.size()), "    ", {});
    os << "    return std::vector<Tensor>{" << list(program.results) << "};\n  };\n  auto f = function(program);\n"
       << "  for (const Tensor &x : f.eager(" << arguments << "))\n    std::cout << \"eager \" << x << '\\n';\n"
       << "  for (const Tensor &x : f(" << arguments << "))\n    std::cout << \"compiled \" << x << '\\n';\n";
    if (program.leavesOpen())
      os << "  auto open = function(program, {.input_signature = {" << openSpecs() << "}});\n"
         << "  for (const Tensor &x : open(" << arguments
         << "))\n    std::cout << \"with unknown sizes \" << x << '\\n';\n";
    os << "}\n";
    return os.str();
  }

private:
  static void externsOf(const Program &program, std::set<std::int64_t> &externs) {
    for (const Step &step : program.steps) {
      if (step.op == OpId::Extern)
        externs.insert(std::get<std::int64_t>(step.attributes[0]));
      if (step.transform)
        eachBody(*step.transform, [&](const Program &body) { externsOf(body, externs); });
    }
  }

  std::string openSpecs() const {
    std::string specs;
    for (const Input &input : program.inputs) {
      if (input.kind != Input::Kind::Parameter)
        continue;
      std::string sizes;
      for (std::size_t i = 0; i < input.data.type.dims.size(); ++i) {
        std::int64_t size = input.data.type.dims[i];
        sizes += (i ? ", " : "") + (program.leavesOpen(i, size) ? "kDynamic" : std::to_string(size));
      }
      specs += (specs.empty() ? "" : ", ") +
               ("TensorSpec<" + std::string(cppType(input.data.type.dtype)) + ">(Shape{" + sizes + "})");
    }
    return specs;
  }

  std::string name(int value) const { return prefix + "v" + std::to_string(value); }
  std::string list(const std::vector<int> &values) const {
    std::string text;
    for (int value : values)
      text += (text.empty() ? "" : ", ") + name(value);
    return text;
  }

  // One of a step's programs as a function of a vector of tensors, or of none for what it captures.
  std::string lambda(const Step &at, const std::string &indent) const {
    std::vector<std::string> given;
    for (std::size_t i = 0; i < argumentsOf(*at.transform).size(); ++i)
      given.push_back("in[" + std::to_string(i) + "]");
    return lambda(at, *at.transform->body, "const std::vector<Tensor> &in", given, indent);
  }
  // `given`: what its arguments are, in terms of the function's parameters.
  std::string lambda(const Step &at, const Program &body, const std::string &parameters,
                     const std::vector<std::string> &given, const std::string &indent) const {
    const Transform &transform = *at.transform;
    CppPrinter inner(body, prefix + "b" + std::to_string(at.firstResult));
    std::string deeper = indent + "  ";
    std::vector<int> arguments = argumentsOf(transform);
    inner.os << "[=](" << parameters << ") {\n";
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      auto place = std::find(arguments.begin(), arguments.end(), static_cast<int>(i));
      inner.os << deeper << "Tensor " << inner.name(static_cast<int>(i)) << " = ";
      if (i >= static_cast<std::size_t>(body.numArguments))
        inner.os << cppData(body.inputs[i].data);
      else if (place == arguments.end())
        inner.os << name(at.operands[i]);
      else
        inner.os << given[static_cast<std::size_t>(place - arguments.begin())];
      inner.os << ";\n";
    }
    inner.range(0, static_cast<int>(body.steps.size()), deeper, {});
    if (transform.isControlFlow())
      return inner.os.str() + inner.returned(transform, body, deeper) + indent + "}";
    if (transform.kind == Transform::Kind::CustomGradient) {
      std::string cotangents;
      for (std::size_t w = 1; w < body.results.size(); ++w)
        cotangents += (w > 1 ? ", g * " : "g * ") + inner.name(body.results[w]);
      inner.os << deeper << "return std::pair(" << inner.name(body.results[0])
               << ", [=](const Tensor &g) { return std::vector<Tensor>{" << cotangents << "}; });\n";
    } else {
      inner.os << deeper << "return std::vector<Tensor>{" << inner.list(body.results) << "};\n";
    }
    inner.os << indent << "}";
    return inner.os.str();
  }

  // What the function of a branch or a loop returns.
  std::string returned(const Transform &transform, const Program &body, const std::string &indent) const {
    std::vector<int> all = body.results;
    auto middle = all.begin() + (transform.kind == Transform::Kind::Scan ? transform.numCarried : 0);
    std::string results = "std::vector<Tensor>{" + list({middle, all.end()}) + "}";
    if (transform.kind == Transform::Kind::While && &body != transform.body.get())
      return indent + "return " + name(all[0]) + ";\n";
    bool isFold = transform.numCarried && middle == all.end();
    if (transform.kind == Transform::Kind::Scan && (transform.numCarried || transform.reverse))
      results = isFold ? "std::vector<Tensor>{" + list(all) + "}"
                       : "std::pair(std::vector<Tensor>{" + list({all.begin(), middle}) + "}, " + results + ")";
    return indent + "return " + results + ";\n";
  }

  // A branch or loop in C++, whose results are values of their own.
  std::string nativeControlFlow(const Step &at, const std::string &made, std::vector<std::string> given,
                                const std::string &state, const std::string &indent) const {
    using Kind = Transform::Kind;
    const Transform &transform = *at.transform;
    const std::string last = name(at.operands.back()), deeper = indent + "  ",
                      reference = "const std::vector<Tensor> &";
    std::string text =
        "auto " + made + " = " + (transform.kind == Kind::Branch ? "std::vector<Tensor>()" : state) + ";\n";
    auto own = [&](const std::string &tensors) {
      return made + ".clear();\n" + deeper + "for (const Tensor &each : " + tensors + ")\n" + deeper + "  " + made +
             ".push_back(reshape(each, each.shape()));\n";
    };
    auto line = [&](const std::string &head) { text += indent + head + " {\n" + deeper; };
    if (transform.kind == Kind::Branch) {
      const bool isSwitch = program.typeOf(at.operands.back()).dtype != DType::Bool;
      std::size_t number = 0;
      eachBody(transform, [&](const Program &branch) {
        std::string test = isSwitch ? last + " == " + std::to_string(number) : last;
        bool isLast = number == transform.alternatives.size();
        line((number ? "} else " : "") + (isLast ? (number ? "" : std::string("if (true)")) : "if (" + test + ")"));
        text += own(lambda(at, branch, "", {}, deeper) + "()");
        ++number;
      });
      return text + indent + "}\n";
    }
    const std::string update = hasTapes(*transform.body) ? own("next") : made + " = next;\n";
    auto call = [&](const Program &body, const std::string &parameters, const std::string &arguments) {
      return lambda(at, body, parameters + reference + "state", given, deeper) + "(" + arguments + ")";
    };
    if (transform.kind == Kind::Range) {
      given.insert(given.begin(), "i");
      line("for (Tensor i : range(" + name(at.operands[0]) + ", " + last + ", " + std::to_string(transform.stride) +
           "))");
      text += "std::vector<Tensor> next = " + call(*transform.body, "const Tensor &i, ", "i, " + made) + ";\n" +
              deeper + update;
    } else {
      line(transform.most % 2 ? "for (int done = 0; done < " + std::to_string(transform.most) + "; ++done)"
                              : "for (Tensor done : range(" + std::to_string(transform.most) + "))");
      text += "if (!" + call(*transform.alternatives[0], "", made) + ")\n" + deeper + "  break;\n" + deeper +
              "std::vector<Tensor> next = " + call(*transform.body, "", made) + ";\n" + deeper + update;
    }
    return text + indent + "}\n" + indent + "for (Tensor &each : " + made + ")\n" + deeper +
           "each = reshape(each, each.shape());\n";
  }

  void controlFlow(const Step &at, const std::string &indent) {
    using Kind = Transform::Kind;
    const Transform &transform = *at.transform;
    const Program &body = *transform.body;
    std::string last = name(at.operands.back()), made = prefix + "t" + std::to_string(at.firstResult);
    std::vector<int> carried, slices;
    std::vector<std::string> given; // of a function of a state and, before or after it, an index or slices
    for (int i = 0; i < transform.numCarried; ++i) {
      carried.push_back(at.operands[transform.firstCarried() + i]);
      given.push_back("state[" + std::to_string(i) + "]");
    }
    for (std::size_t i = 0; i < transform.inAxes.size(); ++i)
      if (transform.inAxes[i]) {
        given.push_back("in[" + std::to_string(slices.size()) + "]");
        slices.push_back(at.operands[i]);
      }
    const std::string tensors = "std::vector<Tensor>", reference = "const std::vector<Tensor> &",
                      state = tensors + "{" + list(carried) + "}", xs = tensors + "{" + list(slices) + "}";
    if (transform.native) {
      os << nativeControlFlow(at, made, given, state, indent);
      for (std::size_t r = 0; r < at.types.size(); ++r)
        os << indent << "Tensor " << name(at.firstResult + static_cast<int>(r)) << " = " << made << "[" << r << "]; // "
           << at.types[r].str() << "\n";
      return;
    }
    os << "auto " << made << " = ";
    switch (transform.kind) {
    case Kind::Branch: {
      std::string branches;
      eachBody(transform, [&](const Program &branch) {
        branches += (branches.empty() ? "" : ", ") + lambda(at, branch, "", {}, indent);
      });
      os << (program.typeOf(at.operands.back()).dtype == DType::Bool
                 ? "cond(" + last + ", " + branches + ")"
                 : "switch_case(" + last + ", std::vector<std::function<" + tensors + "()>>{" + branches + "})");
      break;
    }
    case Kind::While:
      os << "while_loop(" << lambda(at, *transform.alternatives[0], reference + "state", given, indent) << ", "
         << lambda(at, body, reference + "state", given, indent) << ", " << state
         << ", {.maximum_iterations = " << transform.most << "})";
      break;
    case Kind::Range:
      given.insert(given.begin(), "i");
      os << "for_range(" << name(at.operands[0]) << ", " << last << ", " << state << ", "
         << lambda(at, body, "const Tensor &i, " + reference + "state", given, indent)
         << ", {.step = " << transform.stride << "})";
      break;
    default:
      std::string reverse = transform.reverse ? ", {.reverse = true}" : "";
      if (carried.empty() && !transform.reverse)
        os << "map_fn(" << lambda(at, body, reference + "in", given, indent) << ", " << xs << ")";
      else
        os << (carried.size() == at.types.size() ? "fold(" : "scan(")
           << lambda(at, body, reference + "state, " + reference + "in", given, indent) << ", " << state << ", " << xs
           << reverse << ")";
    }
    os << ";\n";
    bool isScan =
        transform.kind == Kind::Scan && carried.size() < at.types.size() && (!carried.empty() || transform.reverse);
    for (std::size_t r = 0; r < at.types.size(); ++r) {
      bool isStacked = isScan && r >= carried.size();
      os << indent << "Tensor " << name(at.firstResult + static_cast<int>(r)) << " = " << made
         << (isStacked ? ".second"
             : isScan  ? ".first"
                       : "")
         << "[" << (isStacked ? r - carried.size() : r) << "]; // " << at.types[r].str() << "\n";
    }
  }

  void transform(const Step &at, const std::string &indent) {
    const Transform &transform = *at.transform;
    std::vector<int> given, others(at.operands.begin() + transform.body->numArguments, at.operands.end());
    for (int argument : argumentsOf(transform))
      given.push_back(at.operands[argument]);
    std::string arguments = "std::vector<Tensor>{" + list(given) + "}", function = lambda(at, indent),
                made = prefix + "t" + std::to_string(at.firstResult);
    std::size_t count = transform.body->results.size();
    auto take = [&](const std::string &from, std::size_t first, std::size_t last) {
      for (std::size_t r = first; r < last; ++r)
        os << indent << "Tensor " << name(at.firstResult + static_cast<int>(r)) << " = " << from << "[" << r - first
           << "]; // " << at.types[r].str() << "\n";
    };
    switch (transform.kind) {
    case Transform::Kind::Checkpoint:
      os << "auto " << made << " = checkpoint(" << function << ")(" << arguments << ");\n";
      return take(made, 0, count);
    case Transform::Kind::Vmap: {
      std::string axes;
      for (int argument : argumentsOf(transform))
        axes += (axes.empty() ? "" : ", ") +
                (transform.inAxes[argument] ? std::to_string(*transform.inAxes[argument]) : "std::nullopt");
      os << "auto " << made << " = vmap(" << function << ", {.in_axes = {" << axes
         << "}, .out_axes = " << braces(transform.outAxes) << "})(" << arguments << ");\n";
      return take(made, 0, count);
    }
    case Transform::Kind::Jvp:
      os << "auto " << made << " = jvp(" << function << ", " << arguments << ", std::vector<Tensor>{" << list(others)
         << "});\n";
      take(made + ".first", 0, count);
      return take(made + ".second", count, 2 * count);
    case Transform::Kind::Vjp:
      os << "auto " << made << " = vjp(" << function << ", " << arguments << ");\n"
         << indent << "auto " << made << "g = " << made << ".second(std::vector<Tensor>{" << list(others) << "});\n";
      take(made + ".first", 0, count);
      return take(made + "g", count, at.types.size());
    case Transform::Kind::CustomGradient:
      os << "Tensor " << name(at.firstResult) << " = custom_gradient(" << function << ")(" << arguments << "); // "
         << at.types[0].str() << "\n";
      return;
    default:
      throw std::logic_error("a branch or a loop is no transformation");
    }
  }

  void range(int begin, int end, const std::string &indent, std::vector<std::size_t> inside) {
    for (int i = begin; i < end;) {
      const Nested *next = nullptr;
      std::size_t index = 0;
      for (std::size_t n = 0; n < program.nested.size(); ++n) {
        const Nested &nested = program.nested[n];
        bool isOpen = std::find(inside.begin(), inside.end(), n) != inside.end();
        if (nested.begin == i && nested.end <= end && !isOpen && (!next || nested.end > next->end)) {
          next = &nested;
          index = n;
        }
      }
      for (std::size_t g = static_cast<std::size_t>(i); !next && g < program.steps.size(); ++g)
        tapeBegins(static_cast<int>(g), i, indent);
      if (!next) {
        pauses(i, i + 1, indent);
        step(i, indent);
        ++i;
        continue;
      }
      for (std::size_t g = static_cast<std::size_t>(next->end); g < program.steps.size(); ++g)
        tapeBegins(static_cast<int>(g), i, indent);
      pauses(i, next->end, indent);
      std::vector<int> out;
      for (int s = next->begin; s < next->end; ++s)
        for (std::size_t r = 0; r < program.steps[s].types.size(); ++r)
          if (int value = program.steps[s].firstResult + static_cast<int>(r); isUsedAfter(value, next->end))
            out.push_back(value);
      os << indent << "auto f" << index << " = function([=]() {\n";
      inside.push_back(index);
      range(next->begin, next->end, indent + "  ", inside);
      inside.pop_back();
      os << indent << "  return std::vector<Tensor>{" << list(out) << "};\n" << indent << "});\n";
      os << indent << "std::vector<Tensor> r" << index << " = f" << index << "();\n";
      for (std::size_t o = 0; o < out.size(); ++o)
        os << indent << "Tensor v" << out[o] << " = r" << index << "[" << o << "];\n";
      i = next->end;
    }
  }

  bool isUsedAfter(int value, int end) const {
    for (std::size_t s = static_cast<std::size_t>(end); s < program.steps.size(); ++s)
      if (std::find(program.steps[s].operands.begin(), program.steps[s].operands.end(), value) !=
          program.steps[s].operands.end())
        return true;
    return std::find(program.results.begin(), program.results.end(), value) != program.results.end();
  }

  void tapeBegins(int step, int at, const std::string &indent) {
    const Step &gradient = program.steps[step];
    if (!gradient.tape || gradient.tape->begin != at || std::find(begun.begin(), begun.end(), step) != begun.end())
      return;
    begun.push_back(step);
    if (gradient.tape->tapeOf >= 0)
      return;
    std::ostringstream watches;
    bool again = gradient.types.size() > 1;
    for (std::size_t user = static_cast<std::size_t>(step); user < program.steps.size(); ++user) {
      const Step &asked = program.steps[user];
      if (!asked.tape || (static_cast<int>(user) != step && asked.tape->tapeOf != step))
        continue;
      again |= static_cast<int>(user) != step;
      std::size_t first = static_cast<std::size_t>(asked.tape->numTargets) * (asked.tape->seeded ? 2 : 1);
      for (std::size_t s = first; s < asked.operands.size(); ++s)
        if (program.stepOf(asked.operands[s]) < at)
          watches << indent << tapeName(step) << "->watch(" << name(asked.operands[s]) << ");\n";
    }
    os << indent << "auto " << tapeName(step) << " = std::make_shared<GradientTape>("
       << (again ? "GradientTapeOptions{.persistent = true}" : "") << ");\n"
       << watches.str();
  }
  std::string tapeName(int step) const {
    int owner = program.steps[step].tape->tapeOf;
    return prefix + "tape" + std::to_string(owner < 0 ? step : owner);
  }

  // Around a step or function that ends before `end`.
  void pauses(int at, int end, const std::string &indent) {
    for (std::size_t g = 0; g < program.steps.size(); ++g) {
      if (!program.steps[g].tape)
        continue;
      const TapeUse &tape = *program.steps[g].tape;
      std::string pause = tapeName(static_cast<int>(g)) + "pause";
      auto is = [&](const std::vector<std::size_t> &list) {
        return std::find(list.begin(), list.end(), g) != list.end();
      };
      if (is(paused) && !is(resumed) && tape.pauseEnd == at) {
        os << indent << pause << ".reset();\n";
        resumed.push_back(g);
      }
      if (tape.pauseBegin < tape.pauseEnd && !is(paused) && tape.pauseBegin == at && end <= tape.pauseEnd) {
        os << indent << "auto " << pause << " = std::make_optional(" << tapeName(static_cast<int>(g))
           << "->stop_recording());\n";
        paused.push_back(g);
      }
    }
  }

  // A call that returns a vector of tensors, each of which gets a name.
  void several(const Step &at, const std::string &call, const std::string &indent) {
    std::string made = prefix + "t" + std::to_string(at.firstResult);
    os << "auto " << made << " = " << call << ";\n";
    for (std::size_t r = 0; r < at.types.size(); ++r)
      os << indent << "Tensor " << name(at.firstResult + static_cast<int>(r)) << " = " << made << "[" << r << "]; // "
         << at.types[r].str() << "\n";
  }

  void step(int index, const std::string &indent) {
    const Step &at = program.steps[index];
    std::string value = name(at.firstResult);
    os << indent;
    if (at.transform)
      return at.isControlFlow() ? controlFlow(at, indent) : transform(at, indent);
    if (at.tape) {
      std::size_t targets = static_cast<std::size_t>(at.tape->numTargets), first = targets * (at.tape->seeded ? 2 : 1);
      std::vector<int> all(at.operands);
      for (std::size_t r = 0; r < at.types.size(); ++r) {
        std::size_t numValues = at.operands.size() - first;
        std::string source = r < numValues ? name(at.operands[first + r])
                                           : "w" + std::to_string(at.tape->variableSources[r - numValues]);
        (r ? os << indent : os)
            << "Tensor " << name(at.firstResult + static_cast<int>(r)) << " = *" << tapeName(index)
            << "->gradient(std::vector<Tensor>{" << list({all.begin(), all.begin() + at.tape->numTargets}) << "}, "
            << source << ", GradientOptions{.output_gradients = {"
            << (at.tape->seeded ? list({all.begin() + at.tape->numTargets, all.begin() + 2 * at.tape->numTargets}) : "")
            << "}, .unconnected_gradients = UnconnectedGradients::Zero});"
            << "\n";
      }
      return;
    }
    const schema::OperationSchema &schema = schema::schemaOf(at.op);
    if (at.op == OpId::VariableRead) {
      os << "Tensor " << value << " = w" << attributeText(at.attributes[0]) << ".value();\n";
    } else if (at.op == OpId::VariableAssign) {
      static const char *methods[] = {"assign", "assign_add", "assign_sub"};
      os << "Variable(w" << attributeText(at.attributes[0]) << ")." << methods[std::get<std::int64_t>(at.attributes[1])]
         << "(" << name(at.operands[0]) << ");\n";
    } else if (at.op == OpId::Extern) {
      several(at, std::string(nameOfExtern(std::get<std::int64_t>(at.attributes[0]))) + "({" + list(at.operands) + "})",
              indent);
    } else if (at.op == OpId::HostCall) {
      const TensorType &type = at.types[0];
      os << "Tensor " << value << " = host_call([](std::span<const Tensor> in) { return in[0]; }, {"
         << name(at.operands[0]) << "}, {TensorSpec<>(" << dtypeText(type.dtype) << ", " << braces(type.dims)
         << ")});\n";
    } else if (at.op == OpId::Print) {
      os << "print(" << attributeText(at.attributes[0]) << ", " << name(at.operands[0]) << ");\n";
    } else if (at.op == OpId::Assert) {
      os << "assert_true(" << name(at.operands[0]) << ", " << attributeText(at.attributes[0]) << ");\n";
    } else if (at.op == OpId::Constant) {
      os << "Tensor " << value << " = " << cppData(dataOf(*std::get<schema::ConstantRef>(at.attributes[0]))) << ";\n";
    } else {
      std::string attributes;
      for (const Attribute &attribute : at.attributes) {
        // A number as one of the operand's type, which alone the function takes.
        const auto *number = std::get_if<schema::Scalar>(&attribute);
        DType dtype = number ? program.typeOf(at.operands[0]).dtype : DType::Float64;
        attributes +=
            ", " + (number ? fuzz::number(dtype, roundTo(dtype, number->as<Real>())) : attributeText(attribute));
      }
      std::string_view function = factsOf(at.op).function;
      std::string operands = list(at.operands);
      if (schema.numOperands < 0)
        operands = "{" + operands + "}";
      std::string call = operands.empty() ? (attributes.empty() ? "" : attributes.substr(2)) : operands + attributes;
      if (schema.severalResults)
        several(at, std::string(function) + "(" + call + ")", indent);
      else if (function.empty())
        os << "Tensor " << value << "; // " << at.types[0].str() << " of calque." << schema.mnemonic << "(" << call
           << "), which is internal: see the IR\n";
      else
        os << "Tensor " << value << " = " << function << "(" << call << "); // " << at.types[0].str() << "\n";
    }
  }

  const Program &program;
  std::string prefix;
  std::ostringstream os;
  std::vector<int> begun;
  std::vector<std::size_t> paused, resumed; // gradients
};

} // namespace

std::string show(const Data &data) {
  std::string text = data.type.str() + " {";
  for (std::size_t i = 0; i < data.values.size(); ++i)
    text += (i ? ", " : "") + number(data.type.dtype, data.values[i]);
  return text + "}";
}

std::string toCpp(const Program &program) { return CppPrinter(program).print(); }

} // namespace calque::fuzz
