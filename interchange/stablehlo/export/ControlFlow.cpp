// Branches, loops, and what programs say of derivatives and effects.
#include "stablehlo/export/Emit.h"

namespace calque::stablehlo {

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

Values branch(Emit &e) {
  const Values inputs(e.operands().begin() + 1, e.operands().end());
  if (e.op.num_results == 0)
    return {};
  std::vector<std::string> regions;
  std::vector<ProgramType> types;
  for (const char *name : {"then", "otherwise"}) {
    const RecordedProgram &taken = region(e, name);
    types = typesOf(taken, taken.results);
    // A branch sees the values around it.
    regions.push_back(e.region({}, [&](const Values &) { return e.inlined(taken, inputs); }));
  }
  return e.general("if", {e.in()}, "", regions, types);
}

Values loop(Emit &e) {
  const RecordedProgram &condition = region(e, "condition"), &body = region(e, "body");
  const std::size_t variables = e.op.num_results;
  if (variables == 0)
    return {};
  const Values invariants(e.operands().begin() + static_cast<std::ptrdiff_t>(variables), e.operands().end());
  const Values initial(e.operands().begin(), e.operands().begin() + static_cast<std::ptrdiff_t>(variables));
  if (!e.list("varying").empty())
    e.refuse("a loop variable has sizes that change, and those of StableHLO keep theirs");
  std::vector<ProgramType> types;
  for (std::size_t i = 0; i < variables; ++i)
    types.push_back(initial[i].type);
  auto all = [&](const Values &at) {
    Values given = at;
    given.insert(given.end(), invariants.begin(), invariants.end());
    return given;
  };
  const std::vector<std::string> regions{
      e.region(types, [&](const Values &at) { return e.inlined(condition, all(at)); }),
      e.region(types, [&](const Values &at) { return e.inlined(body, all(at)); })};
  return e.general("while", initial, "", regions, types);
}

Values customGradient(Emit &e) {
  const Ints &counts = e.list("counts");
  return {e.operands().begin() + counts[0], e.operands().begin() + counts[0] + counts[1]};
}

Values variableRead(Emit &e) { return {e.variables[static_cast<std::size_t>(e.integer("variable"))]}; }
Values variableAssign(Emit &e) {
  e.variables[static_cast<std::size_t>(e.integer("variable"))] = e.in();
  return {};
}

// What has no results and is there for its effect. Functions of Calque check what they are given by assertions of their
// own.
Values effect(Emit &e) {
  const bool isOwnCheck = e.op.name == "assert" && e.op.function != "assert_true";
  if (!e.making.dropsEffects && !isOwnCheck)
    e.refuse("StableHLO has no operation for operation '" + std::string(e.op.name) +
             "', which is there for its effect; with {.leave_out_effects = true} the module is written without it");
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

} // namespace calque::stablehlo
