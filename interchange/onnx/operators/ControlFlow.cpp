// Branches and loops. What is known while tracing decides at once; the rest becomes branches and loops of the program.
#include "onnx/Support.h"

#include "calque/control_flow.h"

namespace calque::onnx {

namespace {

std::vector<Tensor> tensorsOf(const Call &call, const std::vector<Value> &values, const char *what) {
  std::vector<Tensor> tensors;
  for (const Value &each : values) {
    if (!each.isTensor())
      call.refuse(std::string(what) + " is a sequence or an optional value, and depends on what only the call knows");
    tensors.push_back(each.tensor());
  }
  return tensors;
}

Results branch(const Call &call) {
  const Graph &then = call.graph("then_branch"), &otherwise = call.graph("else_branch");
  const Tensor condition = reshape(call.tensor(0), {});
  Results results;
  if (call.value(0).isKnown()) {
    for (Value &each : call.run(hostIntegers(call.tensor(0)).at(0) ? then : otherwise, {}))
      results.push_back(std::move(each));
    return results;
  }
  return cond(
      condition, [&] { return tensorsOf(call, call.run(then, {}), "a result"); },
      [&] { return tensorsOf(call, call.run(otherwise, {}), "a result"); });
}

// A loop whose every iteration is decided now: eagerly, or with a number of iterations that is known while tracing.
Results loopNow(const Call &call, const Graph &body, std::optional<std::int64_t> most, bool goesOn) {
  std::vector<Value> carried;
  for (std::size_t i = 2; i < call.size(); ++i)
    carried.push_back(call.has(i) ? call.value(i) : Value());
  const std::size_t scans = body.outputs.size() - 1 - carried.size();
  std::vector<std::vector<Tensor>> scanned(scans);
  for (std::int64_t i = 0; goesOn && (!most || i < *most); ++i) {
    std::vector<Value> given{ofIntegers({i}, {}), scalar<bool>(goesOn)};
    given.insert(given.end(), carried.begin(), carried.end());
    std::vector<Value> made = call.run(body, given);
    if (!made[0].isKnown())
      call.refuse("its condition depends on what only the call knows, and a loop variable is a sequence");
    goesOn = hostIntegers(made[0].tensor()).at(0) != 0;
    for (std::size_t k = 0; k < carried.size(); ++k)
      carried[k] = made[1 + k];
    for (std::size_t k = 0; k < scans; ++k)
      scanned[k].push_back(made[1 + carried.size() + k].tensor());
  }
  Results results;
  for (Value &each : carried)
    results.push_back(std::move(each));
  for (std::size_t k = 0; k < scans; ++k) {
    if (!scanned[k].empty()) {
      results.push_back(stack(scanned[k]));
      continue;
    }
    // No iteration says what its slices would be: the graph's signature does.
    const ValueType &type = body.outputs[1 + carried.size() + k].type;
    if (!type.dims)
      call.refuse("no iteration runs, and the body does not say the shape of '" +
                  body.outputs[1 + carried.size() + k].name + "'");
    Shape shape{0};
    for (const ValueType::Dim &dim : *type.dims)
      shape.push_back(Size(dim.size.value_or(0)));
    results.push_back(zeros(shape, call.typeOf(type.element)));
  }
  return results;
}

Results loop(const Call &call) {
  const Graph &body = call.graph("body");
  if (body.outputs.size() + 1 < call.size() || body.inputs.size() != call.size())
    call.refuse("its body has " + std::to_string(body.inputs.size()) + " inputs and " +
                std::to_string(body.outputs.size()) + " outputs for " + std::to_string(call.size()) + " inputs");
  const bool knowsMost = !call.has(0) || call.value(0).isKnown();
  const bool knowsCondition = !call.has(1) || call.value(1).isKnown();
  std::optional<std::int64_t> most;
  if (call.has(0) && knowsMost)
    most = call.integer(0);
  const bool starts = !call.has(1) || !knowsCondition || hostIntegers(call.tensor(1)).at(0) != 0;
  bool hasSequence = false;
  for (std::size_t i = 2; i < call.size(); ++i)
    hasSequence = hasSequence || !call.has(i) || !call.value(i).isTensor();
  if (knowsMost && knowsCondition && (executing_eagerly() || hasSequence || (most && *most <= 8)) &&
      (most || executing_eagerly()))
    if (executing_eagerly() || hasSequence)
      return loopNow(call, body, most, starts);
  if (hasSequence)
    call.refuse("a loop variable is a sequence or an optional value, and the number of iterations is not known while "
                "tracing");
  // Slices of results are appended: their number is known at the call only.
  std::vector<Tensor> first;
  for (std::size_t i = 2; i < call.size(); ++i)
    first.push_back(call.tensor(i));
  const std::size_t carried = first.size(), scans = body.outputs.size() - 1 - carried;
  std::vector<std::optional<Shape>> shapes(2 + carried);
  std::vector<Tensor> state{ofIntegers({0}, {}),
                            call.has(1) ? reshape(call.tensor(1), {}) : Tensor(scalar<bool>(true))};
  state.insert(state.end(), first.begin(), first.end());
  for (std::size_t k = 0; k < scans; ++k) {
    const ValueInfo &output = body.outputs[1 + carried + k];
    if (!output.type.dims)
      call.refuse("the body does not say the shape of '" + output.name + "', which is stacked");
    Shape shape{0}, grown{kDynamic};
    for (const ValueType::Dim &dim : *output.type.dims) {
      if (!dim.size)
        call.refuse("the body does not say the shape of '" + output.name + "', which is stacked");
      shape.push_back(*dim.size);
      grown.push_back(*dim.size);
    }
    state.push_back(zeros(shape, call.typeOf(output.type.element)));
    shapes.push_back(grown);
  }
  const Tensor end = call.has(0) ? reshape(cast(call.tensor(0), DType::Int64), {}) : Tensor();
  std::vector<Tensor> last =
      while_loop([&](const std::vector<Tensor> &at) { return end.defined() ? logical_and(at[1], at[0] < end) : at[1]; },
                 [&](const std::vector<Tensor> &at) {
                   std::vector<Value> given(at.begin(), at.begin() + 2 + static_cast<std::ptrdiff_t>(carried));
                   const std::vector<Tensor> made = tensorsOf(call, call.run(body, given), "a loop variable");
                   std::vector<Tensor> next{at[0] + 1, reshape(made[0], {})};
                   for (std::size_t k = 0; k < carried; ++k)
                     next.push_back(made[1 + k]);
                   for (std::size_t k = 0; k < scans; ++k)
                     next.push_back(concat({at[2 + carried + k], expand_dims(made[1 + carried + k], {0})}, 0));
                   return next;
                 },
                 state, {.shape_invariants = scans ? shapes : std::vector<std::optional<Shape>>()});
  return std::vector<Tensor>(last.begin() + 2, last.end());
}

Results scanOf(const Call &call) {
  const Graph &body = call.graph("body");
  const std::int64_t count = call.integer("num_scan_inputs");
  // Version 8 had a batch in front, and an input of lengths.
  const bool isBatched = call.version() < 9;
  const std::size_t skip = isBatched ? 1 : 0;
  const std::int64_t states = static_cast<std::int64_t>(call.size() - skip) - count;
  if (count < 1 || states < 0 || static_cast<std::int64_t>(body.outputs.size()) < states)
    call.refuse("num_scan_inputs is " + std::to_string(count) + ", with " + std::to_string(call.size()) + " inputs");
  if (isBatched && call.has(0))
    call.refuse("sequence lengths are not supported");
  const auto scans = static_cast<std::int64_t>(body.outputs.size()) - states;
  auto list = [&](const char *name, std::int64_t size) {
    std::vector<std::int64_t> all = call.integers(name);
    all.resize(static_cast<std::size_t>(size), 0);
    return all;
  };
  const auto inputDirections = list(isBatched ? "directions" : "scan_input_directions", count);
  const auto outputDirections = list("scan_output_directions", scans);
  const auto inputAxes = list("scan_input_axes", count), outputAxes = list("scan_output_axes", scans);
  std::vector<Tensor> carry, xs;
  for (std::int64_t i = 0; i < states; ++i)
    carry.push_back(call.tensor(skip + static_cast<std::size_t>(i)));
  for (std::int64_t i = 0; i < count; ++i) {
    Tensor x = call.tensor(skip + static_cast<std::size_t>(states + i));
    const auto k = static_cast<std::size_t>(i);
    if (isBatched)
      x = moveaxis(x, 1, 0); // time in front of the batch
    else if (inputAxes[k] != 0)
      x = moveaxis(x, inputAxes[k], 0);
    xs.push_back(inputDirections[k] ? reverse(x, 0) : x);
  }
  auto step = [&](const std::vector<Tensor> &at, const std::vector<Tensor> &slices) {
    auto once = [&](std::vector<Value> given) { return tensorsOf(call, call.run(body, given), "a result"); };
    std::vector<Tensor> made;
    if (!isBatched) {
      std::vector<Value> given(at.begin(), at.end());
      given.insert(given.end(), slices.begin(), slices.end());
      made = once(given);
    } else {
      // The body is of one example of the batch.
      std::vector<std::vector<Tensor>> parts(body.outputs.size());
      const std::int64_t batch = slices[0].shape()[0];
      for (std::int64_t b = 0; b < batch; ++b) {
        std::vector<Value> given;
        for (const auto &all : {at, slices})
          for (const Tensor &each : all)
            given.emplace_back(each[b]);
        const std::vector<Tensor> one = once(given);
        for (std::size_t k = 0; k < parts.size(); ++k)
          parts[k].push_back(one[k]);
      }
      for (const std::vector<Tensor> &each : parts)
        made.push_back(stack(each));
    }
    return std::pair(std::vector<Tensor>(made.begin(), made.begin() + states),
                     std::vector<Tensor>(made.begin() + states, made.end()));
  };
  auto [last, stacked] = scan(step, carry, xs);
  std::vector<Tensor> results = last;
  for (std::size_t k = 0; k < stacked.size(); ++k) {
    Tensor y = outputDirections[k] ? reverse(stacked[k], 0) : stacked[k];
    if (isBatched)
      y = moveaxis(y, 0, 1);
    else if (outputAxes[k] != 0)
      y = moveaxis(y, 0, outputAxes[k]);
    results.push_back(y);
  }
  return results;
}

constexpr Operator kTable[] = {
    {"If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, 1, 1, 0, branch},
    {"Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, 2, kAnyNumber, 0, loop},
    {"Scan", {8, 9, 11, 16, 19, 21, 23, 24, 25}, 1, kAnyNumber, 0, scanOf},
};

} // namespace

Table controlFlowOperators() { return kTable; }

} // namespace calque::onnx
