// Branches, loops, and what programs say of derivatives and effects.
#include "onnx/export/Emit.h"

namespace calque::onnx {

namespace {

const RecordedProgram &region(Emit &e, std::string_view name) {
  return *e.attribute<std::shared_ptr<const RecordedProgram>>(name);
}

std::vector<ProgramType> typesOf(const RecordedProgram &program, const std::vector<ProgramValue> &values) {
  std::vector<ProgramType> types;
  for (ProgramValue value : values)
    types.push_back(program.types[value]);
  return types;
}

Names branch(Emit &e) {
  const Names inputs(e.operands().begin() + 1, e.operands().end());
  std::vector<Attribute> attributes;
  for (const auto &[program, name] : {std::pair("then", "then_branch"), std::pair("otherwise", "else_branch")}) {
    const RecordedProgram &taken = region(e, program);
    // A branch sees the values around it.
    Graph graph =
        e.subgraph(name, {}, typesOf(taken, taken.results), [&](Emit &inner) { return inner.inlined(taken, inputs); });
    attributes.push_back(attribute(name, std::move(graph)));
  }
  if (e.op.num_results == 0)
    return {};
  return e.nodes("If", {e.in()}, e.op.num_results, std::move(attributes));
}

Names loop(Emit &e) {
  const RecordedProgram &condition = region(e, "condition"), &body = region(e, "body");
  const std::size_t variables = e.op.num_results;
  if (variables == 0)
    return {};
  const Names invariants(e.operands().begin() + static_cast<std::ptrdiff_t>(variables), e.operands().end());
  std::vector<std::pair<std::string, ProgramType>> inputs{{e.making.fresh("iteration"), {DType::Int64, {}}},
                                                          {e.making.fresh("goes_on"), {DType::Bool, {}}}};
  Names taken;
  for (std::size_t i = 0; i < variables; ++i) {
    taken.push_back(e.making.fresh("variable"));
    inputs.emplace_back(taken.back(), body.types[body.parameters[i]]);
  }
  taken.insert(taken.end(), invariants.begin(), invariants.end());
  std::vector<ProgramType> outputs = typesOf(body, body.results);
  outputs.insert(outputs.begin(), {DType::Bool, {}});
  Graph graph = e.subgraph("loop", inputs, outputs, [&](Emit &inner) {
    Names next = inner.inlined(body, taken), given = next;
    given.insert(given.end(), invariants.begin(), invariants.end());
    next.insert(next.begin(), inner.inlined(condition, given)[0]);
    return next;
  });
  Names given{"", e.inlined(condition, e.operands())[0]};
  given.insert(given.end(), e.operands().begin(), e.operands().begin() + static_cast<std::ptrdiff_t>(variables));
  return e.nodes("Loop", given, variables, {attribute("body", std::move(graph))});
}

Names customGradient(Emit &e) {
  const Ints &counts = e.list("counts");
  return {e.operands().begin() + counts[0], e.operands().begin() + counts[0] + counts[1]};
}

Names variableRead(Emit &e) { return {e.variables[static_cast<std::size_t>(e.integer("variable"))]}; }
Names variableAssign(Emit &e) {
  e.variables[static_cast<std::size_t>(e.integer("variable"))] = e.in();
  return {};
}

// What has no results and is there for its effect. Functions of Calque check what they are given by assertions of their
// own, which say nothing that ONNX does not check.
Names effect(Emit &e) {
  const bool isOwnCheck = e.op.name == "assert" && e.op.function != "assert_true";
  if (!e.making.dropsEffects && !isOwnCheck)
    e.refuse("ONNX has no operator for operation '" + std::string(e.op.name) +
             "', which is there for its effect; with {.leave_out_effects = true} the model is written without it");
  return {};
}

constexpr Rule kRules[] = {
    {"cond", branch},
    {"while", loop},
    {"custom_gradient", customGradient},
    {"checkpoint", [](Emit &e) { return e.inlined(region(e, "body"), e.operands()); }},
    {"variable_read", variableRead},
    {"variable_assign", variableAssign},
    {"print", effect},
    {"assert", effect},
};

} // namespace

Rules controlFlowRules() { return kRules; }

} // namespace calque::onnx
