#include "test/fuzz/Execution.h"

#include "test/fuzz/Extern.h"

#include "calque/operation.h"
#include "frontend/core/Apply.h"

#include <algorithm>
#include <iostream>

namespace calque::fuzz {

Tensor toTensor(const Data &data) {
  return dispatch_all(data.type.dtype, [&]<typename T>(std::type_identity<T>) {
    std::vector<T> elements;
    if constexpr (calque::detail::kIsComplex<T>) {
      using Part = decltype(T().real());
      for (std::size_t i = 0; i < data.values.size(); i += 2)
        elements.emplace_back(static_cast<Part>(data.values[i]), static_cast<Part>(data.values[i + 1]));
    } else {
      for (Real value : data.values)
        elements.push_back(static_cast<T>(value));
    }
    return tensor(elements, data.type.dims);
  });
}

Data toData(const Tensor &x) {
  Data data{{x.dtype(), x.shape()}, {}};
  dispatch_all(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    const T *first = x.data<T>();
    if constexpr (calque::detail::kIsComplex<T>) {
      for (std::int64_t i = 0; i < std::int64_t(x.size()); ++i)
        data.values.insert(data.values.end(), {static_cast<Real>(first[i].real()), static_cast<Real>(first[i].imag())});
    } else {
      data.values.assign(first, first + std::int64_t(x.size()));
    }
  });
  return data;
}

namespace {
std::size_t firstSource(const Step &step) {
  return static_cast<std::size_t>(step.tape->numTargets) * (step.tape->seeded ? 2 : 1);
}
// The step whose tape a gradient asks.
std::size_t tapeOf(const Program &program, std::size_t gradient) {
  int owner = program.steps[gradient].tape->tapeOf;
  return owner < 0 ? gradient : static_cast<std::size_t>(owner);
}
// Whether a later gradient asks the same tape.
bool isAskedAgain(const Program &program, std::size_t gradient) {
  for (std::size_t g = gradient + 1; g < program.steps.size(); ++g)
    if (program.steps[g].tape && tapeOf(program, g) == tapeOf(program, gradient))
      return true;
  return false;
}
} // namespace

std::vector<Tensor> Execution::results() const {
  std::vector<Tensor> list;
  for (int value : program.results)
    list.push_back(values[value]);
  return list;
}

void Execution::range(int begin, int end, std::vector<std::size_t> inside) {
  for (int i = begin; i < end;) {
    std::size_t next = program.nested.size();
    for (std::size_t n = 0; n < program.nested.size(); ++n) {
      const Nested &nested = program.nested[n];
      bool isOpen = std::find(inside.begin(), inside.end(), n) != inside.end();
      if (nested.begin == i && nested.end <= end && !isOpen &&
          (next == program.nested.size() || nested.end > program.nested[next].end))
        next = n;
    }
    // A tape that ends after the function begins before it, one that ends within it inside.
    int innerEnd = next == program.nested.size() ? i + 1 : program.nested[next].end;
    for (std::size_t g = 0; g < program.steps.size(); ++g)
      if (const Step &step = program.steps[g]; step.tape && step.tape->begin == i && static_cast<int>(g) < end &&
                                               (next == program.nested.size() || static_cast<int>(g) >= innerEnd))
        beginTape(g, i);
    for (std::size_t g = 0; g < tapes.size(); ++g)
      if (tapes[g])
        if (const TapeUse &use = *program.steps[g].tape;
            use.pauseBegin == i && innerEnd <= use.pauseEnd && !pauses.contains(g))
          pauses.emplace(g, tapes[g]->stop_recording(line(static_cast<int>(g))));
    if (next == program.nested.size()) {
      this->step(i);
    } else {
      inside.push_back(next);
      call(program.nested[next], inside);
      inside.pop_back();
    }
    i = innerEnd;
    std::erase_if(pauses, [&](const auto &pause) { return program.steps[pause.first].tape->pauseEnd == i; });
  }
}

void Execution::beginTape(std::size_t gradient, int at) {
  const Step &step = program.steps[gradient];
  if (tapes.size() < program.steps.size())
    tapes.resize(program.steps.size());
  if (tapes[gradient] || step.tape->tapeOf >= 0)
    return;
  SourceLocation where = line(static_cast<int>(gradient));
  tapes[gradient] =
      std::make_unique<GradientTape>(GradientTapeOptions{.persistent = isAskedAgain(program, gradient)}, where);
  for (std::size_t g = gradient; g < program.steps.size(); ++g)
    if (const Step &user = program.steps[g]; user.tape && tapeOf(program, g) == gradient)
      for (std::size_t s = firstSource(user); s < user.operands.size(); ++s)
        if (program.stepOf(user.operands[s]) < at)
          tapes[gradient]->watch(values[user.operands[s]], where);
}

// A function within: what it uses from outside are its arguments, what is used later its results.
void Execution::call(const Nested &nested, const std::vector<std::size_t> &inside) {
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
      used |= std::find(program.steps[s].operands.begin(), program.steps[s].operands.end(), value) !=
              program.steps[s].operands.end();
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
    made = detail::aliases(body(arguments), line(nested.begin)); // as of a call, none of which depends on another
  else
    made = function(body, {.name = "nested"})(arguments);
  for (std::size_t i = 0; i < out.size(); ++i)
    values[out[i]] = made[i];
}

void Execution::step(int index) {
  const Step &step = program.steps[index];
  SourceLocation where = line(index);
  if (step.tape)
    return gradient(step, index);
  if (step.transform)
    return step.isControlFlow() ? controlFlow(step, index) : transform(step, index);
  std::vector<Tensor> operands;
  for (int operand : step.operands)
    operands.push_back(values[operand]);
  switch (step.op) {
  case OpId::VariableRead:
    values[step.firstResult] = variables[std::get<std::int64_t>(step.attributes[0])].value(where);
    return;
  case OpId::VariableAssign:
    assign(step, operands[0], where);
    return;
  case OpId::Extern: {
    std::vector<Tensor> results = externOperation(std::get<std::int64_t>(step.attributes[0]))(operands, where);
    std::move(results.begin(), results.end(), values.begin() + step.firstResult);
    return;
  }
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
    std::vector<Tensor> results = detail::applyAll(step.op, operands, step.attributes, where);
    std::move(results.begin(), results.end(), values.begin() + step.firstResult);
  }
}

void Execution::gradient(const Step &step, int index) {
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
  std::size_t owner = tapeOf(program, static_cast<std::size_t>(index));
  auto found = tapes[owner]->gradient(targets, sources, GradientOptions{.output_gradients = seeds}, line(index));
  if (!isAskedAgain(program, static_cast<std::size_t>(index)))
    tapes[owner].reset();
  std::vector<std::optional<Tensor>> all = found.first;
  all.insert(all.end(), found.second.begin(), found.second.end());
  // Of the source's sizes, which may be open.
  auto zerosOf = [&](std::size_t r) {
    if (r >= sources.first.size())
      return zeros(step.types[r].dims, step.types[r].dtype, line(index));
    const Tensor one = detail::onesLike(sources.first[r], line(index));
    return detail::apply(OpId::Sub, std::vector<Tensor>{one, one}, {}, line(index));
  };
  for (std::size_t r = 0; r < all.size(); ++r) {
    connected.push_back(all[r].has_value());
    values[step.firstResult + r] = all[r] ? *all[r] : zerosOf(r);
  }
}

void Execution::assign(const Step &step, const Tensor &value, SourceLocation where) {
  Variable &variable = variables[std::get<std::int64_t>(step.attributes[0])];
  calque::Operand operand(value, where);
  switch (std::get<std::int64_t>(step.attributes[1])) {
  case 0:
    return variable.assign(operand);
  case 1:
    return variable.assign_add(operand);
  default:
    return variable.assign_sub(operand);
  }
}

Execution::Body Execution::bodyOf(const Step &step, int index, const Program &body, std::vector<int> places) {
  // Constants are made outside of the function, which captures them.
  std::vector<Tensor> captured;
  for (std::size_t i = 0; i < body.inputs.size(); ++i)
    captured.push_back(i < static_cast<std::size_t>(body.numArguments) ? values[step.operands[i]]
                                                                       : toTensor(body.inputs[i].data));
  return [this, &body, index, places, captured](const std::vector<Tensor> &given) {
    Execution execution(body, compileNested, bodyLine >= 0 ? bodyLine : index);
    execution.variables = variables;
    std::copy(captured.begin(), captured.end(), execution.values.begin());
    for (std::size_t i = 0; i < given.size(); ++i)
      execution.values[places[i]] = given[i];
    execution.run();
    return execution.results();
  };
}

std::vector<Tensor> Execution::nativeControlFlow(const Step &step, int index, std::vector<Tensor> state) {
  using Kind = Transform::Kind;
  const Transform &transform = *step.transform;
  const SourceLocation where = line(index);
  std::vector<int> places;
  for (int i = 0; i < transform.firstCarried() + transform.numCarried; ++i)
    places.push_back(i);
  const Tensor &last = values[step.operands.back()];
  // Operators give values of their own.
  auto own = [&](std::vector<Tensor> tensors) {
    for (Tensor &each : tensors)
      each = detail::apply(OpId::Identity, {&each, 1}, {}, where);
    return tensors;
  };
  if (transform.kind == Kind::Branch) {
    const bool isSwitch = program.typeOf(step.operands.back()).dtype != DType::Bool;
    const std::size_t count = transform.alternatives.size();
    auto isTaken = [&](std::size_t number) {
      return isSwitch ? bool(equal(calque::Operand(last, where), calque::Operand(static_cast<int>(number), where)))
                      : bool(last);
    };
    for (std::size_t number = 0; number < count; ++number)
      if (isTaken(number))
        return own(bodyOf(step, index, number ? *transform.alternatives[number - 1] : *transform.body, {})({}));
    return own(bodyOf(step, index, count ? *transform.alternatives[count - 1] : *transform.body, {})({}));
  }
  // A loop may give a variable the value of another, as `last = best` does; a tape inside would take both for one.
  const Body plain = bodyOf(step, index, *transform.body, places);
  const bool mayShare = !hasTapes(*transform.body);
  const Body body = [&](const std::vector<Tensor> &given) { return mayShare ? plain(given) : own(plain(given)); };
  state = own(std::move(state));
  if (transform.kind == Kind::Range) {
    const Range numbers = calque::range(calque::Operand(values[step.operands[0]], where), calque::Operand(last, where),
                                        calque::Operand(transform.stride, where));
    for (auto i = numbers.begin(where); i != numbers.end(); ++i) {
      std::vector<Tensor> arguments = state;
      arguments.insert(arguments.begin(), *i);
      state = body(arguments);
    }
    return own(std::move(state));
  }
  // The limit is counted by the host, or by the program.
  const Body condition = bodyOf(step, index, *transform.alternatives[0], places);
  auto goesOn = [&] { return bool(condition(state)[0]); };
  if (transform.most % 2)
    for (std::int64_t done = 0; done < transform.most && goesOn(); ++done)
      state = body(state);
  else
    for (auto done = calque::range(calque::Operand(transform.most, where)).begin(where);
         done != std::default_sentinel && goesOn(); ++done)
      state = body(state);
  return own(std::move(state));
}

void Execution::controlFlow(const Step &step, int index) {
  using Tensors = std::vector<Tensor>;
  using Kind = Transform::Kind;
  const Transform &transform = *step.transform;
  const SourceLocation where = line(index);
  std::vector<int> places = argumentsOf(transform), carriedPlaces, slicePlaces;
  for (int i = 0; i < transform.numCarried; ++i)
    carriedPlaces.push_back(transform.firstCarried() + i);
  for (int place : places)
    if (transform.axisOf(static_cast<std::size_t>(place)))
      slicePlaces.push_back(place);
  auto valuesAt = [&](const std::vector<int> &places) {
    Tensors given;
    for (int place : places)
      given.push_back(values[step.operands[place]]);
    return given;
  };
  auto together = [](auto first, const auto &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const Tensors carried = valuesAt(carriedPlaces), slices = valuesAt(slicePlaces);
  auto last = [&] { return calque::Operand(values[step.operands.back()], where); };
  Tensors results;
  if (transform.native) {
    results = nativeControlFlow(step, index, carried);
  } else if (transform.kind == Kind::Branch) {
    std::vector<std::function<Tensors()>> branches;
    eachBody(transform, [&](const Program &body) {
      branches.push_back([branch = bodyOf(step, index, body, {})] { return branch({}); });
    });
    bool isSwitch = program.typeOf(step.operands.back()).dtype != DType::Bool;
    results = isSwitch ? switch_case(last(), branches) : cond(last(), branches[0], branches[1]);
  } else if (transform.kind == Kind::While) {
    Body condition = bodyOf(step, index, *transform.alternatives[0], carriedPlaces),
         body = bodyOf(step, index, *transform.body, carriedPlaces);
    results = while_loop([&](const Tensors &state) { return condition(state)[0]; }, body, carried,
                         {.maximum_iterations = transform.most}, where);
  } else if (transform.kind == Kind::Range) {
    Body body = bodyOf(step, index, *transform.body, places);
    results = for_range(calque::Operand(values[step.operands[0]], where), last(), carried,
                        [&](const Tensor &i, const Tensors &state) { return body(together(Tensors{i}, state)); },
                        {.step = transform.stride});
  } else {
    Body body = bodyOf(step, index, *transform.body, together(carriedPlaces, slicePlaces));
    auto next = [&](const Tensors &made) {
      auto middle = made.begin() + transform.numCarried;
      return std::pair(Tensors(made.begin(), middle), Tensors(middle, made.end()));
    };
    if (!transform.numCarried && !transform.reverse) {
      results = map_fn(body, slices, where);
    } else if (step.types.size() == carried.size()) {
      results = fold([&](const Tensors &state, const Tensors &x) { return body(together(state, x)); }, carried, slices,
                     {.reverse = transform.reverse}, where);
    } else {
      auto [state, stacked] =
          scan([&](const Tensors &state, const Tensors &x) { return next(body(together(state, x))); }, carried, slices,
               {.reverse = transform.reverse}, where);
      results = together(state, stacked);
    }
  }
  std::move(results.begin(), results.end(), values.begin() + step.firstResult);
}

void Execution::transform(const Step &step, int index) {
  const Transform &transform = *step.transform;
  const Program &body = *transform.body;
  SourceLocation where = line(index);
  using Tensors = std::vector<Tensor>;
  auto count = static_cast<std::size_t>(body.numArguments);
  auto operand = [&](std::size_t i) -> const Tensor & { return values[step.operands[i]]; };
  std::vector<int> places = argumentsOf(transform);
  Tensors arguments;
  for (int place : places)
    arguments.push_back(operand(static_cast<std::size_t>(place)));
  Body function = bodyOf(step, index, body, places);
  Tensors results, others;
  for (std::size_t i = count; i < step.operands.size(); ++i)
    others.push_back(operand(i));
  switch (transform.kind) {
  case Transform::Kind::Checkpoint:
    results = checkpoint(function, where)(arguments);
    break;
  case Transform::Kind::Vmap: {
    VmapOptions options{{}, transform.outAxes};
    for (int place : places)
      options.in_axes.push_back(transform.inAxes[place]);
    results = vmap(function, options, where)(arguments);
    break;
  }
  case Transform::Kind::Jvp: {
    Tensors tangents;
    std::tie(results, tangents) = jvp(function, arguments, others, where);
    results.insert(results.end(), tangents.begin(), tangents.end());
    break;
  }
  case Transform::Kind::Vjp: {
    auto [made, pullback] = vjp(function, arguments, where);
    Tensors cotangents = pullback(others, where);
    results = made;
    results.insert(results.end(), cotangents.begin(), cotangents.end());
    break;
  }
  case Transform::Kind::CustomGradient: {
    auto weighed = [&](const Tensors &given) {
      Tensors made = function(given), weights(made.begin() + 1, made.end());
      return std::pair(made[0], [weights, where](const Tensor &g) {
        Tensors cotangents;
        for (const Tensor &weight : weights)
          cotangents.push_back(detail::apply(OpId::Mul, std::vector<Tensor>{g, weight}, {}, where));
        return cotangents;
      });
    };
    results = {custom_gradient(weighed, where)(arguments)};
    break;
  }
  default:
    throw std::logic_error("a branch or a loop is no transformation");
  }
  std::move(results.begin(), results.end(), values.begin() + step.firstResult);
}

} // namespace calque::fuzz
