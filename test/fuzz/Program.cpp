#include "test/fuzz/Program.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <sstream>

namespace calque::fuzz {

std::int64_t countOf(const TensorType &type) { return type.numElements(); }

Real roundTo(DType dtype, Real value) {
  switch (dtype) {
  case DType::Bool:
    return value != 0;
  case DType::Float32:
    return static_cast<float>(value);
  case DType::Float64:
    return static_cast<double>(value);
  case DType::Int32:
  case DType::Int64:
    break;
  }
  // Of what is an integer below 2^64 in magnitude the lowest bits; the rest is the caller's to avoid.
  Real whole = std::fmod(std::trunc(value), 0x1p64L);
  auto bits = whole < 0 ? -static_cast<std::uint64_t>(-whole) : static_cast<std::uint64_t>(whole);
  return dtype == DType::Int32 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
}

const Facts &factsOf(OpId op) {
  static const auto *facts = new std::vector<Facts>{
#include "test/fuzz/Facts.inc"
  };
  return (*facts)[static_cast<std::size_t>(op)];
}

//===-- Structure -------------------------------------------------------------------------------===//

int Program::numValues() const {
  return steps.empty() ? static_cast<int>(inputs.size()) : steps.back().firstResult + static_cast<int>(steps.back().types.size());
}

int Program::stepOf(int value) const {
  if (value < static_cast<int>(inputs.size()))
    return -1;
  auto after = std::upper_bound(steps.begin(), steps.end(), value, [](int v, const Step &step) { return v < step.firstResult; });
  // Steps without results share their number with the next one that has some.
  int index = static_cast<int>(after - steps.begin()) - 1;
  while (index > 0 && steps[static_cast<std::size_t>(index)].types.empty())
    --index;
  return index;
}

const TensorType &Program::typeOf(int value) const {
  int step = stepOf(value);
  if (step < 0)
    return inputs[static_cast<std::size_t>(value)].data.type;
  const Step &at = steps[static_cast<std::size_t>(step)];
  return at.types[static_cast<std::size_t>(value - at.firstResult)];
}

bool check(Program &program) {
  int next = static_cast<int>(program.inputs.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step &step = program.steps[i];
    step.firstResult = next;
    std::vector<TensorType> operands;
    for (int operand : step.operands) {
      if (operand < 0 || operand >= next)
        return false;
      // Types of earlier steps are known by now.
      operands.push_back(program.typeOf(operand));
    }
    step.types.clear();
    if (step.tape) {
      const TapeUse &tape = *step.tape;
      std::size_t targets = static_cast<std::size_t>(tape.numTargets) * (tape.seeded ? 2 : 1);
      if (tape.begin < 0 || tape.begin > static_cast<int>(i) || tape.numTargets < 1 || operands.size() < targets)
        return false;
      for (int t = 0; t < tape.numTargets; ++t)
        if (!is_floating(operands[t].dtype) || (tape.seeded && operands[t] != operands[tape.numTargets + t]))
          return false;
      for (std::size_t s = targets; s < operands.size(); ++s)
        step.types.push_back(operands[s]);
      for (int variable : tape.variableSources) {
        if (variable < 0 || variable >= static_cast<int>(program.variables.size()))
          return false;
        step.types.push_back(program.variables[variable].data.type);
      }
      for (const TensorType &type : step.types)
        if (!is_floating(type.dtype))
          return false;
      if (step.types.empty())
        return false;
    } else if (step.op == OpId::HostCall) {
      step.types = {operands.at(0)};
    } else if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign) {
      std::int64_t variable = std::get<std::int64_t>(step.attributes[0]);
      if (variable < 0 || variable >= static_cast<std::int64_t>(program.variables.size()))
        return false;
      const TensorType &type = program.variables[variable].data.type;
      if (step.op == OpId::VariableRead)
        step.types = {type};
      else if (operands[0] != type)
        return false;
    } else {
      schema::Inference inference = schema::inferTypes(step.op, operands, step.attributes);
      if (inference.fault)
        return false;
      step.types = std::move(inference.types);
    }
    next += static_cast<int>(step.types.size());
  }
  for (int result : program.results)
    if (result < 0 || result >= next)
      return false;

  // Tapes end after their last step, functions before their end.
  std::vector<std::pair<int, int>> ranges;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].tape)
      ranges.emplace_back(program.steps[i].tape->begin, static_cast<int>(i) + 1);
  for (const Nested &nested : program.nested) {
    if (nested.begin < 0 || nested.end > static_cast<int>(program.steps.size()) || nested.begin >= nested.end)
      return false;
    ranges.emplace_back(nested.begin, nested.end);
  }
  for (const auto &[begin, end] : ranges)
    for (const auto &[otherBegin, otherEnd] : ranges)
      if (begin < otherBegin && otherBegin < end && end < otherEnd)
        return false;
  // A tape is asked where it began: in the same function or outside of it.
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    for (const Nested &nested : program.nested)
      if (program.steps[i].tape && nested.begin <= static_cast<int>(i) && static_cast<int>(i) < nested.end &&
          program.steps[i].tape->begin < nested.begin)
        return false;
  return !program.results.empty();
}

Program select(const Program &program, const std::vector<bool> &kept) {
  Program result = program;
  result.steps.clear();
  std::vector<int> renamed(static_cast<std::size_t>(program.numValues()), -1), newIndex(program.steps.size() + 1);
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    renamed[i] = static_cast<int>(i);
  int next = static_cast<int>(program.inputs.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    newIndex[i] = static_cast<int>(result.steps.size());
    if (!kept[i])
      continue;
    Step step = program.steps[i];
    for (int &operand : step.operands)
      operand = renamed[operand];
    if (step.tape)
      step.tape->begin = newIndex[step.tape->begin];
    for (std::size_t r = 0; r < step.types.size(); ++r)
      renamed[step.firstResult + r] = next + static_cast<int>(r);
    step.firstResult = next;
    next += static_cast<int>(step.types.size());
    result.steps.push_back(std::move(step));
  }
  newIndex[program.steps.size()] = static_cast<int>(result.steps.size());
  for (int &value : result.results)
    value = renamed[value];
  std::erase(result.results, -1);
  for (Nested &nested : result.nested)
    nested = {newIndex[nested.begin], newIndex[nested.end]};
  std::erase_if(result.nested, [](const Nested &nested) { return nested.begin >= nested.end; });
  return result;
}

Program prune(const Program &program) {
  std::vector<bool> needed(static_cast<std::size_t>(program.numValues())), kept(program.steps.size());
  std::vector<bool> variables(program.variables.size());
  for (int result : program.results)
    needed[result] = true;
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    const Step &step = program.steps[i];
    kept[i] = !schema::schemaOf(step.op).pure && step.op != OpId::VariableRead;
    for (std::size_t r = 0; r < step.types.size(); ++r)
      kept[i] = kept[i] || needed[step.firstResult + r];
    if (!kept[i])
      continue;
    for (int operand : step.operands)
      needed[operand] = true;
    if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
      variables[std::get<std::int64_t>(step.attributes[0])] = true;
    if (step.tape)
      for (int variable : step.tape->variableSources)
        variables[variable] = true;
  }
  Program result = select(program, kept);
  // Inputs: everything moves down.
  std::vector<bool> used(result.inputs.size());
  for (const Step &step : result.steps)
    for (int operand : step.operands)
      if (operand < static_cast<int>(used.size()))
        used[operand] = true;
  for (int value : result.results)
    if (value < static_cast<int>(used.size()))
      used[value] = true;
  std::vector<int> down(static_cast<std::size_t>(result.numValues()));
  int gone = 0;
  for (std::size_t v = 0; v < down.size(); ++v) {
    if (v < used.size() && !used[v])
      ++gone;
    down[v] = static_cast<int>(v) - gone;
  }
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i])
      inputs.push_back(std::move(result.inputs[i]));
  result.inputs = std::move(inputs);
  std::vector<int> newVariable(variables.size());
  std::vector<VariableInput> keptVariables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    newVariable[i] = static_cast<int>(keptVariables.size());
    if (variables[i])
      keptVariables.push_back(result.variables[i]);
  }
  result.variables = std::move(keptVariables);
  for (Step &step : result.steps) {
    step.firstResult -= gone;
    for (int &operand : step.operands)
      operand = down[operand];
    if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
      step.attributes[0] = static_cast<std::int64_t>(newVariable[std::get<std::int64_t>(step.attributes[0])]);
    if (step.tape)
      for (int &variable : step.tape->variableSources)
        variable = newVariable[variable];
  }
  for (int &value : result.results)
    value = down[value];
  return result;
}

//===-- Text ------------------------------------------------------------------------------------===//

namespace {

std::string number(DType dtype, Real value) {
  if (dtype == DType::Bool)
    return value != 0 ? "true" : "false";
  std::ostringstream os;
  if (is_integer(dtype)) {
    auto whole = static_cast<std::int64_t>(value);
    if (whole == INT64_MIN)
      return "INT64_MIN";
    if (dtype == DType::Int32 && whole == INT32_MIN)
      return "INT32_MIN";
    os << whole;
    return os.str();
  }
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
  switch (dtype) {
  case DType::Bool:
    return "bool";
  case DType::Int32:
    return "std::int32_t";
  case DType::Int64:
    return "std::int64_t";
  case DType::Float32:
    return "float";
  case DType::Float64:
    break;
  }
  return "double";
}

std::string braces(const Ints &values) {
  std::string text = "{";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "}";
}

std::string cppData(const Data &data) {
  bool same = !data.values.empty();
  for (Real value : data.values)
    same = same && (value == data.values[0] && std::signbit(value) == std::signbit(data.values[0]));
  std::string type = cppType(data.type.dtype);
  if (same && data.values.size() > 4)
    return "tensor(std::vector<" + type + ">(" + std::to_string(data.values.size()) + ", " +
           number(data.type.dtype, data.values[0]) + "), " +
           "Shape" + braces(data.type.dims) + ")";
  std::string text = "tensor(std::vector<" + type + ">{";
  for (std::size_t i = 0; i < data.values.size(); ++i)
    text += (i ? ", " : "") + number(data.type.dtype, data.values[i]);
  return text + "}, Shape" + braces(data.type.dims) + ")";
}

std::string dtypeText(DType dtype) {
  static const char *names[] = {"Bool", "Int32", "Int64", "Float32", "Float64"};
  return std::string("DType::") + names[static_cast<int>(dtype)];
}

std::string attributeText(const Attribute &attribute) {
  struct Visitor {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return number(DType::Float64, value); }
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

Data dataOf(const schema::ConstantData &constant) {
  Data data{constant.type, {}};
  std::int64_t count = countOf(constant.type);
  std::size_t size = size_of(constant.type.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte *at = constant.bytes.data() + (constant.splat ? 0 : static_cast<std::size_t>(i) * size);
    switch (constant.type.dtype) {
    case DType::Bool:
      data.values.push_back(*at != std::byte(0));
      break;
    case DType::Int32:
      data.values.push_back(*reinterpret_cast<const std::int32_t *>(at));
      break;
    case DType::Int64:
      data.values.push_back(*reinterpret_cast<const std::int64_t *>(at));
      break;
    case DType::Float32:
      data.values.push_back(*reinterpret_cast<const float *>(at));
      break;
    case DType::Float64:
      data.values.push_back(*reinterpret_cast<const double *>(at));
      break;
    }
  }
  return data;
}

// The snippet's steps, a function's body at a time.
class CppPrinter {
public:
  explicit CppPrinter(const Program &program) : program(program) {}

  std::string print() {
    os << "#include <calque/calque.h>\n#include <cstdint>\n#include <iostream>\n#include <limits>\n"
          "using namespace calque;\n\nint main() {\n";
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      os << "  Variable w" << i << "(" << cppData(program.variables[i].data) << ", {.trainable = "
         << (program.variables[i].trainable ? "true" : "false") << "});\n";
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
    os << "  auto f = function([=](" << parameters << ") {\n";
    range(0, static_cast<int>(program.steps.size()), "    ", {});
    os << "    return std::vector<Tensor>{" << list(program.results) << "};\n  });\n"
       << "  for (const Tensor &x : f.eager(" << arguments << "))\n    std::cout << \"eager \" << x << '\\n';\n"
       << "  for (const Tensor &x : f(" << arguments << "))\n    std::cout << \"compiled \" << x << '\\n';\n}\n";
    return os.str();
  }

private:
  std::string list(const std::vector<int> &values) const {
    std::string text;
    for (int value : values)
      text += (text.empty() ? "v" : ", v") + std::to_string(value);
    return text;
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
        step(i, indent);
        ++i;
        continue;
      }
      for (std::size_t g = static_cast<std::size_t>(next->end); g < program.steps.size(); ++g)
        tapeBegins(static_cast<int>(g), i, indent);
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
      if (std::find(program.steps[s].operands.begin(), program.steps[s].operands.end(), value) != program.steps[s].operands.end())
        return true;
    return std::find(program.results.begin(), program.results.end(), value) != program.results.end();
  }

  void tapeBegins(int step, int at, const std::string &indent) {
    const Step &gradient = program.steps[step];
    if (!gradient.tape || gradient.tape->begin != at || std::find(begun.begin(), begun.end(), step) != begun.end())
      return;
    begun.push_back(step);
    os << indent << "auto tape" << step << " = std::make_shared<GradientTape>("
       << (gradient.types.size() > 1 ? "GradientTapeOptions{.persistent = true}" : "") << ");\n";
    std::size_t first = static_cast<std::size_t>(gradient.tape->numTargets) * (gradient.tape->seeded ? 2 : 1);
    for (std::size_t s = first; s < gradient.operands.size(); ++s)
      if (program.stepOf(gradient.operands[s]) < at)
        os << indent << "tape" << step << "->watch(v" << gradient.operands[s] << ");\n";
  }

  void step(int index, const std::string &indent) {
    const Step &at = program.steps[index];
    std::string value = "v" + std::to_string(at.firstResult);
    os << indent;
    if (at.tape) {
      std::size_t targets = static_cast<std::size_t>(at.tape->numTargets), first = targets * (at.tape->seeded ? 2 : 1);
      std::vector<int> all(at.operands);
      for (std::size_t r = 0; r < at.types.size(); ++r) {
        std::size_t numValues = at.operands.size() - first;
        std::string source = r < numValues ? "v" + std::to_string(at.operands[first + r])
                                           : "w" + std::to_string(at.tape->variableSources[r - numValues]);
        (r ? os << indent : os) << "Tensor v" << at.firstResult + static_cast<int>(r)
                                << " = *tape" << index << "->gradient(std::vector<Tensor>{"
                                << list({all.begin(), all.begin() + at.tape->numTargets}) << "}, " << source
                                << ", GradientOptions{.output_gradients = {"
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
      os << "Variable(w" << attributeText(at.attributes[0]) << ").assign(v" << at.operands[0] << ");\n";
    } else if (at.op == OpId::HostCall) {
      const TensorType &type = at.types[0];
      os << "Tensor " << value << " = host_call([](std::span<const Tensor> in) { return in[0]; }, {v" << at.operands[0]
         << "}, {TensorSpec<>("
         << dtypeText(type.dtype) << ", " << braces(type.dims) << ")});\n";
    } else if (at.op == OpId::Print) {
      os << "print(" << attributeText(at.attributes[0]) << ", v" << at.operands[0] << ");\n";
    } else if (at.op == OpId::Assert) {
      os << "assert_true(v" << at.operands[0] << ", " << attributeText(at.attributes[0]) << ");\n";
    } else if (at.op == OpId::Constant) {
      os << "Tensor " << value << " = " << cppData(dataOf(*std::get<schema::ConstantRef>(at.attributes[0]))) << ";\n";
    } else {
      std::string attributes;
      for (const Attribute &attribute : at.attributes)
        attributes += ", " + attributeText(attribute);
      std::string_view function = factsOf(at.op).function;
      std::string operands = list(at.operands);
      if (schema.numOperands < 0)
        operands = "{" + operands + "}";
      std::string call = operands.empty() ? (attributes.empty() ? "" : attributes.substr(2)) : operands + attributes;
      if (function.empty())
        os << "Tensor " << value << "; // " << at.types[0].str() << " of calque." << schema.mnemonic << "(" << call
           << "), which is internal: see the IR\n";
      else
        os << "Tensor " << value << " = " << function << "(" << call << "); // " << at.types[0].str() << "\n";
    }
  }

  const Program &program;
  std::ostringstream os;
  std::vector<int> begun;
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
