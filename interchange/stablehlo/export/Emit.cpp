#include "stablehlo/export/Emit.h"

#include "calque/calque.h"
#include "calque/error.h"

#include <algorithm>

namespace calque::stablehlo {

//===-- An operation ----------------------------------------------------------------------------===//

void Emit::refuse(const std::string &message) const {
  std::string text = message;
  text.insert(0, "save_stablehlo: " + shown.function + ": ");
  throw ValueError(text, shown.where);
}

std::int64_t Emit::axis(std::string_view name, std::int64_t rank) const {
  const std::int64_t axis = integer(name);
  return axis < 0 ? axis + rank : axis;
}
Ints Emit::axes(std::string_view name, std::int64_t rank, bool emptyMeansAll) const {
  Ints axes = list(name);
  for (std::int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;
  if (axes.empty() && emptyMeansAll)
    for (std::int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  return axes;
}

//===-- Lines -----------------------------------------------------------------------------------===//

void Emit::append(const std::string &line) {
  text.lines.append(2 * text.depth, ' ');
  text.lines += line;
  if (making.writesLocations && shown.where.line)
    text.lines += " loc(" + quoted(shown.function) + "(" + quoted(shown.where.file) + ":" +
                  std::to_string(shown.where.line) + ":1))";
  text.lines += '\n';
}

namespace {

std::string namesOf(const Values &values) {
  std::string names;
  for (const Written &each : values)
    names += (names.empty() ? "" : ", ") + each.name;
  return names;
}
std::string typesOf(const std::vector<ProgramType> &types) {
  std::string text;
  for (const ProgramType &each : types)
    text += (text.empty() ? "" : ", ") + textOf(each);
  return text;
}
std::vector<ProgramType> typesOf(const Values &values) {
  std::vector<ProgramType> types;
  for (const Written &each : values)
    types.push_back(each.type);
  return types;
}
std::string functionType(const Values &operands, const std::vector<ProgramType> &results) {
  const std::string made = typesOf(results);
  return "(" + typesOf(typesOf(operands)) + ") -> " + (results.size() == 1 ? made : "(" + made + ")");
}
std::string fullName(const std::string &operation) {
  const std::size_t dot = operation.find('.');
  return dot < operation.find_first_of(" (") ? operation : "stablehlo." + operation;
}
Values resultsOf(const std::string &name, const std::vector<ProgramType> &types) {
  Values made;
  for (std::size_t i = 0; i < types.size(); ++i)
    made.push_back({types.size() == 1 ? name : name + "#" + std::to_string(i), types[i]});
  return made;
}
std::string definition(const std::string &name, std::size_t count) {
  return count == 0 ? "" : count == 1 ? name + " = " : name + ":" + std::to_string(count) + " = ";
}

} // namespace

Written Emit::line(const std::string &before, const Values &operands, const std::string &behind, ProgramType result) {
  const Written made{making.fresh(), std::move(result)};
  append(made.name + " = " + fullName(before) + " " + namesOf(operands) + behind + " : " +
         functionType(operands, {made.type}));
  return made;
}

Written Emit::bracketed(const std::string &before, const Values &operands, ProgramType result) {
  const Written made{making.fresh(), std::move(result)};
  append(made.name + " = " + fullName(before) + " : " + functionType(operands, {made.type}));
  return made;
}

Written Emit::same(const std::string &operation, const Values &operands) {
  ProgramType type = operands[0].type;
  bool areSame = true;
  for (const Written &each : operands)
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
      areSame = areSame && each.type.sizes[i] == operands[0].type.sizes[i];
      if (type.sizes[i] == kUnknownSize)
        type.sizes[i] = each.type.sizes[i];
    }
  if (!areSame)
    return line(operation, operands, "", type);
  if (operation.starts_with("chlo.")) // whose forms differ
    return general(operation, operands, "", {}, {type})[0];
  const Written made{making.fresh(), std::move(type)};
  append(made.name + " = " + fullName(operation) + " " + namesOf(operands) + " : " + textOf(made.type));
  return made;
}

Values Emit::general(const std::string &operation, const Values &operands, const std::string &properties,
                     const std::vector<std::string> &regions, const std::vector<ProgramType> &results) {
  const std::string name = making.fresh();
  std::string written = definition(name, results.size()) + "\"" + fullName(operation) + "\"(" + namesOf(operands) + ")";
  if (!properties.empty())
    written += " <{" + properties + "}>";
  for (std::size_t i = 0; i < regions.size(); ++i)
    written += (i ? ", " : " (") + regions[i];
  if (!regions.empty())
    written += ")";
  append(written + " : " + functionType(operands, results));
  return resultsOf(name, results);
}

std::string Emit::region(const std::vector<ProgramType> &arguments, const std::function<Values(const Values &)> &body) {
  std::string outer;
  std::swap(outer, text.lines);
  text.depth += 2;
  Values given;
  std::string names;
  for (const ProgramType &type : arguments) {
    given.push_back({making.fresh(), type});
    names += (names.empty() ? "" : ", ") + given.back().name + ": " + textOf(type);
  }
  const Values made = body(given);
  append("stablehlo.return" + (made.empty() ? std::string() : " " + namesOf(made) + " : " + typesOf(typesOf(made))));
  text.depth -= 2;
  std::string inner;
  std::swap(inner, text.lines);
  text.lines = std::move(outer);
  const std::string indent(2 * text.depth, ' ');
  return "{\n" + (names.empty() ? "" : indent + "^bb0(" + names + "):\n") + inner + indent + "}";
}

std::string Emit::reducer(const std::string &operation, DType dtype) {
  const ProgramType scalar{dtype, {}};
  return region({scalar, scalar}, [&](const Values &x) { return Values{same(operation, x)}; });
}

//===-- Constants -------------------------------------------------------------------------------===//

Written Emit::constant(const ProgramType &type, std::span<const std::byte> bytes, bool isSplat) {
  std::string small = elementsOf(type, bytes, isSplat);
  std::string key;
  if (!small.empty() && small.size() < 512) {
    key = small + textOf(type);
    if (const auto found = text.known.find(key); found != text.known.end())
      return found->second;
  }
  const Written made{making.fresh(), type};
  text.constants.push_back({made.name, type, bytes, std::move(small)});
  if (!key.empty())
    text.known.emplace(std::move(key), made);
  return made;
}

Written Emit::ints(const Ints &numbers, DType dtype) {
  const ProgramType type{dtype, {static_cast<std::int64_t>(numbers.size())}};
  if (dtype == DType::Int64)
    return constant(
        type,
        making.tensors.emplace_back(tensor_from_bytes(dtype, std::as_bytes(std::span(numbers)), Shape(type.sizes)))
            .bytes(),
        false);
  const Tensor wide = tensor_from_bytes(DType::Int64, std::as_bytes(std::span(numbers)), Shape(type.sizes));
  return constant(type, making.tensors.emplace_back(calque::cast(wide, dtype)).bytes(), false);
}

Written Emit::number(const ProgramNumber &value, DType dtype, const Ints &sizes) {
  // Eagerly, by the conversion that programs have.
  const Tensor x = std::visit(
      [&](auto each) { return calque::cast(calque::scalar<std::decay_t<decltype(each)>>(each), dtype); }, value);
  return constant({dtype, sizes}, x.bytes(), true);
}
Written Emit::number(double value, DType dtype, const Ints &sizes) {
  return number(ProgramNumber(value), dtype, sizes);
}
Written Emit::localNumber(double value, DType dtype) {
  const Written made{making.fresh(), {dtype, {}}};
  const Tensor x = calque::cast(calque::scalar<double>(value), dtype);
  append(made.name + " = stablehlo.constant " + elementsOf(made.type, x.bytes(), true) + " : " + textOf(made.type));
  return made;
}
Written Emit::numberLike(double value, DType dtype, const Written &like) {
  const Dims dims = this->dims(like);
  return areKnown(dims) ? number(value, dtype, sizesOf(dims)) : broadcast(number(value, dtype), {}, dims);
}
Written Emit::numberLike(double value, const Written &like) { return numberLike(value, *like.type.dtype, like); }

//===-- What many rules are made of ---------------------------------------------------------------===//

Written Emit::convert(const Written &x, DType dtype) {
  return *x.type.dtype == dtype ? x : line("convert", {x}, "", {dtype, x.type.sizes});
}
Written Emit::bitcast(const Written &x, DType dtype) {
  return *x.type.dtype == dtype ? x : line("bitcast_convert", {x}, "", {dtype, x.type.sizes});
}

Written Emit::compare(const char *direction, const Written &x, const Written &y) {
  const DType dtype = *x.type.dtype;
  const char *how = is_floating(dtype)                                                          ? "FLOAT"
                    : dtype == DType::Bool || std::string_view(name_of(dtype)).starts_with("u") ? "UNSIGNED"
                                                                                                : "SIGNED";
  ProgramType type{DType::Bool, x.type.sizes};
  for (std::size_t i = 0; i < type.sizes.size(); ++i)
    if (type.sizes[i] == kUnknownSize)
      type.sizes[i] = y.type.sizes[i];
  return line("compare " + std::string(direction) + ",", {x, y}, ", " + std::string(how), type);
}

Written Emit::select(const Written &condition, const Written &x, const Written &y) {
  ProgramType type = x.type;
  bool areSame = true;
  for (std::size_t i = 0; i < type.sizes.size(); ++i) {
    areSame = areSame && x.type.sizes[i] == y.type.sizes[i];
    if (type.sizes[i] == kUnknownSize)
      type.sizes[i] = y.type.sizes[i];
  }
  if (!areSame)
    return line("select", {condition, x, y}, "", type);
  const Written made{making.fresh(), type};
  append(made.name + " = stablehlo.select " + namesOf({condition, x, y}) + " : " + textOf(condition.type) + ", " +
         textOf(type));
  return made;
}

Written Emit::transpose(const Written &x, const Ints &permutation) {
  ProgramType type{x.type.dtype, {}};
  bool isSame = true;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    isSame = isSame && permutation[i] == static_cast<std::int64_t>(i);
    type.sizes.push_back(x.type.sizes[static_cast<std::size_t>(permutation[i])]);
  }
  return isSame ? x : line("transpose", {x}, ", dims = " + listed(permutation), type);
}

Written Emit::reshape(const Written &x, const Dims &dims) {
  const ProgramType type{x.type.dtype, sizesOf(dims)};
  if (areKnown(dims)) {
    if (areKnown(this->dims(x)))
      return type.sizes == x.type.sizes ? x : line("reshape", {x}, "", type);
    return line("dynamic_reshape", {x, ints(type.sizes, DType::Int32)}, "", type);
  }
  return line("dynamic_reshape", {x, shape(dims)}, "", type);
}

Written Emit::broadcast(const Written &x, const Ints &at, const Dims &dims) {
  const ProgramType type{x.type.dtype, sizesOf(dims)};
  const std::string behind = ", dims = " + listed(at);
  if (areKnown(dims) && areKnown(this->dims(x)))
    return line("broadcast_in_dim", {x}, behind, type);
  return line("dynamic_broadcast_in_dim", {x, areKnown(dims) ? ints(type.sizes, DType::Int32) : shape(dims)}, behind,
              type);
}
Written Emit::broadcast(const Written &x, const Dims &dims) {
  const std::size_t more = dims.size() - x.type.sizes.size();
  bool isSame = more == 0;
  Ints at;
  for (std::size_t i = 0; i < x.type.sizes.size(); ++i) {
    at.push_back(static_cast<std::int64_t>(more + i));
    isSame = isSame && (x.type.sizes[i] != 1 || dims[more + i].known == 1);
  }
  return isSame ? x : broadcast(x, at, dims);
}

Written Emit::iota(const Dims &dims, std::int64_t axis, DType dtype) {
  const ProgramType type{dtype, sizesOf(dims)};
  if (!areKnown(dims))
    return line("dynamic_iota", {shape(dims)}, ", dim = " + std::to_string(axis), type);
  const Written made{making.fresh(), type};
  append(made.name + " = stablehlo.iota dim = " + std::to_string(axis) + " : " + textOf(type));
  return made;
}

Written Emit::reduce(const std::string &operation, const Written &x, const Written &initial, const Ints &axes) {
  ProgramType type{x.type.dtype, {}};
  for (std::size_t i = 0; i < x.type.sizes.size(); ++i)
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end())
      type.sizes.push_back(x.type.sizes[i]);
  if (axes.empty())
    return x;
  const Written made{making.fresh(), type};
  append(made.name + " = stablehlo.reduce(" + x.name + " init: " + initial.name + ") applies " + fullName(operation) +
         " across dimensions = " + listed(axes) + " : " + functionType({x, initial}, {type}));
  return made;
}

Written Emit::pad(const Written &x, const Written &value, const Ints &low, const Ints &high, const Ints &interior) {
  ProgramType type = x.type;
  for (std::size_t i = 0; i < type.sizes.size(); ++i)
    if (type.sizes[i] != kUnknownSize)
      type.sizes[i] += low[i] + high[i] + std::max<std::int64_t>(type.sizes[i] - 1, 0) * interior[i];
  return line("pad", {x, value},
              ", low = " + listed(low) + ", high = " + listed(high) + ", interior = " + listed(interior), type);
}

Written Emit::slice(const Written &x, const Ints &starts, const Ints &limits, const Ints &steps) {
  ProgramType type = x.type;
  std::string places;
  bool isWhole = true;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    type.sizes[i] = limits[i] > starts[i] ? (limits[i] - starts[i] - 1) / steps[i] + 1 : 0;
    isWhole = isWhole && type.sizes[i] == x.type.sizes[i];
    places += (places.empty() ? "" : ", ") + std::to_string(starts[i]) + ":" + std::to_string(limits[i]);
    if (steps[i] != 1)
      places += ":" + std::to_string(steps[i]);
  }
  return isWhole ? x : line("slice", {x}, " [" + places + "]", type);
}

//===-- Sizes -----------------------------------------------------------------------------------===//

Dims Emit::dims(const Written &x) {
  Dims dims;
  for (std::size_t i = 0; i < x.type.sizes.size(); ++i)
    dims.push_back({x.type.sizes[i], x, static_cast<std::int64_t>(i)});
  return dims;
}
Dims Emit::openDims() const {
  const Ints &shape = list("shape"), &sizes = list("sizes");
  Dims dims;
  std::size_t next = 0;
  for (std::int64_t size : shape) {
    if (size != kUnknownSize) {
      dims.push_back({size});
      continue;
    }
    const auto operand = static_cast<std::size_t>(sizes[next]);
    const std::int64_t axis = sizes[next + 1] < 0 ? sizes[next + 1] + rank(operand) : sizes[next + 1];
    dims.push_back(this->dims(operand)[static_cast<std::size_t>(axis)]);
    next += 2;
  }
  return dims;
}
Dims Emit::known(const Ints &sizes) {
  Dims dims;
  for (std::int64_t size : sizes)
    dims.push_back({size});
  return dims;
}
bool Emit::areKnown(const Dims &dims) {
  return std::ranges::all_of(dims, [](const Dim &each) { return each.known != kUnknownSize; });
}
Ints Emit::sizesOf(const Dims &dims) {
  Ints sizes;
  for (const Dim &each : dims)
    sizes.push_back(each.known);
  return sizes;
}
Written Emit::sizeOf(const Dim &dim) {
  if (dim.known != kUnknownSize)
    return number(ProgramNumber(dim.known), DType::Int32);
  return line("get_dimension_size", {dim.of}, ", dim = " + std::to_string(dim.axis), {DType::Int32, {}});
}
Written Emit::shape(const Dims &dims) {
  Values parts;
  Ints numbers;
  auto flush = [&] {
    if (!numbers.empty())
      parts.push_back(ints(numbers, DType::Int32));
    numbers.clear();
  };
  for (const Dim &dim : dims) {
    if (dim.known != kUnknownSize) {
      numbers.push_back(dim.known);
      continue;
    }
    flush();
    parts.push_back(line("reshape", {sizeOf(dim)}, "", {DType::Int32, {1}}));
  }
  flush();
  if (parts.size() == 1)
    return parts[0];
  return line("concatenate", parts, ", dim = 0", {DType::Int32, {static_cast<std::int64_t>(dims.size())}});
}
void Emit::requireKnown(const ProgramType &type) const {
  if (std::ranges::find(type.sizes, kUnknownSize) != type.sizes.end())
    refuse("operation '" + std::string(op.name) + "' is written for known sizes alone, and they are " + type.str() +
           ": give them in the types of get_concrete_function");
}

//===-- Programs inside of an operation -----------------------------------------------------------===//

Values Emit::inlined(const RecordedProgram &inner, const Values &parameters) {
  return writeProgram(making, text, inner, parameters, variables, &op == &shown ? nullptr : &shown);
}

Values Emit::composed(const std::string &name, const Values &operands, const Function &function) {
  std::string key = name;
  for (const Written &each : operands)
    key += " " + textOf(each.type);
  auto found = making.composed.find(key);
  if (found == making.composed.end()) {
    using Tensors = std::vector<Tensor>;
    const calque::Function<Tensors(const Tensors &)> traced([&](const Tensors &x) { return function(x); },
                                                            {.name = name});
    Tensors given;
    for (const Written &each : operands) {
      Shape sizes;
      for (std::int64_t size : each.type.sizes)
        sizes.push_back(size == kUnknownSize ? Size(kDynamic) : Size(size));
      given.emplace_back(TensorSpec<>(*each.type.dtype, sizes));
    }
    const FunctionProgram made = program_of(traced.get_concrete_function(given));
    making.owners.push_back(made.program);
    std::string label = name;
    if (const std::size_t number = making.names[name]++)
      label += "_" + std::to_string(number);
    // Those that it calls are added behind it.
    making.functions.push_back(std::make_unique<FunctionText>());
    FunctionText &inner = *making.functions.back();
    std::string arguments;
    Values parameters;
    for (const Written &each : operands) {
      parameters.push_back({"%arg" + std::to_string(parameters.size()), each.type});
      arguments += (arguments.empty() ? "" : ", ") + parameters.back().name + ": " + textOf(each.type);
    }
    Emit around(making, inner, *made.program, op, shown, {}, variables);
    for (const Tensor &each : made.captures)
      parameters.push_back(
          around.constant({each.dtype(), Ints(each.shape())}, making.tensors.emplace_back(each).bytes(), false));
    Values none;
    const Values results = writeProgram(making, inner, *made.program, parameters, none, &shown);
    std::vector<ProgramType> types = typesOf(results);
    inner.head = "  func.func private @" + label + "(" + arguments + ") -> (" + typesOf(types) + ") {\n";
    inner.lines += "    return " + namesOf(results) + " : " + typesOf(types) + "\n";
    found = making.composed.emplace(key, std::pair(label, std::move(types))).first;
  }
  const auto &[label, types] = found->second;
  const std::string made = making.fresh();
  append(definition(made, types.size()) + "func.call @" + label + "(" + namesOf(operands) +
         ") : " + functionType(operands, types));
  return resultsOf(made, types);
}

//===-- All operations ------------------------------------------------------------------------------===//

Values write(Emit &e) {
  static const auto *const rules = [] {
    auto *made = new std::unordered_map<std::string_view, const Rule *>();
    for (const Rules &family : {controlFlowRules(), indexRules(), matrixRules(), movementRules(), randomRules(),
                                reductionRules(), windowRules()})
      for (const Rule &rule : family)
        made->emplace(rule.operation, &rule);
    return made;
  }();
  for (std::size_t i = 0; i < e.op.num_results; ++i)
    if (!e.result(i).dtype)
      e.refuse("its derivative keeps values on a stack, which StableHLO has not (operation '" + std::string(e.op.name) +
               "')");
  if (const auto found = rules->find(e.op.name); found != rules->end())
    return found->second->write(e);
  if (e.op.expression)
    return writeElementwise(e);
  e.refuse("StableHLO has no operation for operation '" + std::string(e.op.name) +
           "', and it is not composed of others");
}

Values writeProgram(Making &making, FunctionText &text, const RecordedProgram &program, const Values &parameters,
                    Values &variables, const ProgramOperation *shown) {
  Values values(program.types.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    values[program.parameters[i]] = parameters[i];
  for (const ProgramOperation &op : program.operations) {
    Values operands;
    for (ProgramValue value : op.operands)
      operands.push_back(values[value]);
    Emit e(making, text, program, op, shown ? *shown : op, std::move(operands), variables);
    Values made = write(e);
    for (std::size_t i = 0; i < op.num_results; ++i)
      values[op.first_result + i] = std::move(made[i]);
  }
  Values results;
  for (ProgramValue value : program.results)
    results.push_back(values[value]);
  return results;
}

} // namespace calque::stablehlo
