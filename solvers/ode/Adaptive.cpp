// The loop over steps whose sizes follow from the tolerances: states at times within the steps, and events.
#include "Ode.h"
#include "calque/custom_gradient.h"
#include "calque/tensor_array.h"
#include "implicit/Implicit.h"

#include <limits>

namespace calque::solvers::detail {

namespace {

constexpr std::int32_t kRunning = -1;
constexpr std::int32_t code(OdeStatus status) { return static_cast<std::int32_t>(status); }

// What has been found of an event.
struct Found {
  Tensor value; // g at the end of the last step
  Tensor count;
  TensorArray times;
  std::vector<TensorArray> states;
};
// What a step or an output changes.
struct Run {
  Tensor t, step; // the next step's size, with its sign
  State y;
  std::vector<Tensor> memory;
  Tensor status;
  std::vector<Tensor> counts; // accepted, rejected, evaluations, states written
  std::vector<Found> events;
  // Of the last step, where states within it are asked.
  struct Last {
    Tensor begin, h;
    std::vector<State> dense;
  };
  std::optional<Last> last;
};

// States at times within the steps are written in one of two ways. Of a small state, an iteration either takes a step,
// or writes one state: so the loop and its gradient stay in registers, where a loop within the body would make the
// gradient an ordinary loop. Of a large state, an iteration takes a step and then writes the states that lie in it: so
// the stages of a step are no loop variables, which reverse mode would keep.
constexpr std::int64_t kMostElements = 32;
bool isSmall(const State &y) {
  std::int64_t elements = 0;
  for (const Tensor &x : y) {
    if (!x.shape().is_known())
      return false;
    elements += x.size();
  }
  return elements <= kMostElements;
}
// What an iteration for a small state makes.
struct Iteration {
  Run run;
  State row; // the state to write
};
// A step, and what it takes to write states within it.
struct Taken {
  Run run;
  Tensor accepted, isEnd, h, end;
  State y;
  std::vector<State> dense;
};

constexpr TensorArrayOptions kUnchecked = {.overwrite = true, .zeros = true};

// The value of one tensor with the derivative of another. Without a derivative, the other one is not computed.
Tensor withDerivativeOf(const Tensor &derivative, const Tensor &value) {
  if (!is_floating(value.dtype()))
    return value;
  auto make = custom_gradient(
      [](const Tensor &x) { return std::pair(zeros(x.shape(), x.dtype()), [](const Tensor &g) { return g; }); });
  return stop_gradient(value) + make(derivative);
}
State withDerivativesOf(const State &derivatives, State values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = withDerivativeOf(derivatives[i], values[i]);
  return values;
}

// An attempt whose derivatives are those of another one, which is much smaller where the attempt is rejected. The end
// of a rejected step may lie where f is not finite. Its cotangent is 0, and 0 times infinity would be NaN.
Attempt guarded(const Method &method, const Problem &problem, const Tensor &t, const Tensor &h, const Tensor &end,
                const State &y, const std::vector<Tensor> &memory) {
  const Attempt tried =
      method.attempt(problem, stop_gradient(t), stop_gradient(h), stop_gradient(end), stopped(y), stopped(memory));
  const Tensor safe = where(tried.accepted, h, 1e-6 * stop_gradient(h));
  const Attempt exact = method.attempt(problem, t, safe, where(tried.accepted, end, t + safe), y, memory);
  Attempt result = tried;
  result.y = withDerivativesOf(exact.y, tried.y);
  result.memory = withDerivativesOf(exact.memory, tried.memory);
  result.dense = [tried, exact](const Tensor &wanted) {
    std::vector<State> values = tried.dense(wanted);
    const std::vector<State> derivatives = exact.dense(wanted);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = withDerivativesOf(derivatives[i], values[i]);
    return values;
  };
  return result;
}

// Where an event lies in a step.
struct Place {
  Tensor happened; // bool
  Tensor fraction, t;
  State y;
};

using Interpolant = std::function<State(const Tensor &fraction)>;

// Finds the sign change by bisection. The place has the derivatives of the implicit function theorem, to second order.
Place locate(const Problem &problem, const OdeEvent &event, const Interpolant &interpolant, const Tensor &t,
             const Tensor &h, const Tensor &before, const Tensor &after, const Tensor &end, const State &next) {
  Tensor rises = (before < 0) & (after >= 0), falls = (before > 0) & (after <= 0);
  Tensor happened = event.direction > 0 ? rises : event.direction < 0 ? falls : rises | falls;
  auto valueAt = [&](const Tensor &fraction) { return event.g(t + fraction * h, interpolant(fraction)); };
  auto search = [&] {
    const Tensor isBelow = before < 0;
    auto [low, high] =
        while_loop([&](const Tensor &from, const Tensor &to) { return to - from > 2 * epsilon(problem.dtype); },
                   [&](const Tensor &from, const Tensor &to) {
                     const Tensor middle = 0.5 * (from + to);
                     const Tensor isEarly = equal(valueAt(middle) < 0, isBelow);
                     return std::tuple(where(isEarly, middle, from), where(isEarly, to, middle));
                   },
                   std::tuple(number(0, problem.dtype), number(1, problem.dtype)), {.maximum_iterations = 60});
    const Tensor root = stop_gradient(high);
    auto solve = [&](const Tensor &cotangent) {
      const Tensor slope = stop_gradient(jvp(valueAt, root, number(1, problem.dtype)).second);
      return cotangent / where(slope == 0, 1, slope);
    };
    const Tensor fraction = internal::withImplicitDerivatives(root, valueAt, solve);
    return std::tuple(fraction, t + fraction * h, interpolant(fraction));
  };
  auto none = [&] { return std::tuple(number(1, problem.dtype), end, next); };
  auto [fraction, time, state] = cond(happened, search, none);
  return {happened, fraction, time, state};
}

} // namespace

OdeResult integrateAdaptively(const Method &method, const Problem &problem, const State &y0, const Times &times,
                              const std::vector<OdeEvent> &events, const OdeOptions &options) {
  const DType dtype = problem.dtype;
  const Tensor span = times.last - times.first, &direction = times.direction;
  const Size size = times.ts.shape()[0];
  // Two times ask for no state within a step.
  const bool hasOutputs = !size.is_known() || size > 2, keepsLast = hasOutputs && isSmall(y0);
  const Tensor n = calque::size(times.ts, 0);
  auto given = [&](const OptionalValue &value) { return cast((*value).toTensor(dtype), dtype); };
  auto limited = [&](const Tensor &h) {
    return options.max_step ? maximum(minimum(h, given(options.max_step)), -given(options.max_step)) : h;
  };

  const State slope = problem.f(times.first, y0);
  const Tensor step = options.first_step ? abs(given(options.first_step)) * direction
                                         : firstStep(problem, times.first, y0, slope, span, method.order());
  Run initial;
  initial.t = times.first;
  initial.step = stop_gradient(limited(step));
  initial.y = y0;
  initial.memory = method.begin(problem, y0, slope, initial.step);
  // Without finite numbers to begin with, all steps would be rejected.
  Tensor isFinite = isfinite(times.first) & isfinite(span);
  for (const State &state : {y0, slope})
    for (const Tensor &x : state)
      isFinite = isFinite & all(isfinite(x));
  initial.status = stop_gradient(where(isFinite, scalar<std::int32_t>(kRunning), scalar(code(OdeStatus::NotFinite))));
  const std::int64_t evaluations = options.first_step ? 1 : 2;
  initial.counts = {scalar<std::int64_t>(0), scalar<std::int64_t>(0), scalar<std::int64_t>(evaluations),
                    scalar<std::int64_t>(1)};
  for (const OdeEvent &event : events) {
    Found found{
        event.g(times.first, y0), scalar<std::int64_t>(0), TensorArray(event.capacity, dtype, {}, kUnchecked), {}};
    for (const Tensor &x : y0)
      found.states.emplace_back(event.capacity, dtype, x.shape(), kUnchecked);
    initial.events.push_back(found);
  }
  std::vector<TensorArray> outputs;
  if (keepsLast)
    initial.last = {times.first, number(1, dtype), std::vector<State>(method.denseStates(), y0)};
  if (hasOutputs) {
    for (const Tensor &x : y0) {
      TensorArray array(size, dtype, x.shape(), kUnchecked);
      outputs.push_back(array.write(0, x));
    }
  }

  // Whether the next state to write lies before `limit`.
  auto isDue = [&](const Tensor &written, const Tensor &limit) {
    return (written < n) & ((gather(times.ts, minimum(written, n - 1)) - limit) * direction <= 0);
  };

  auto takeStep = [&](const Run &run) {
    Tensor h = stop_gradient(run.step);
    const Tensor rest = times.last - run.t;
    // A step that almost reaches the end is stretched to it, so that no tiny step is left. Under vmap, an example that
    // is through has no rest, and its step must stay finite.
    const Tensor isLast = (1.01 * h - rest) * direction >= 0;
    h = where(isLast & (rest != 0), rest, h);
    Tensor end = where(isLast, times.last, run.t + h);
    const Attempt attempt = options.guard_rejected ? guarded(method, problem, run.t, h, end, run.y, run.memory)
                                                   : method.attempt(problem, run.t, h, end, run.y, run.memory);
    const Tensor &accepted = attempt.accepted;

    Run next;
    Tensor stopped;
    State y = attempt.y;
    const Tensor &written = run.counts[3];
    Tensor wanted = hasOutputs ? accepted & isDue(written, end) : Tensor();
    std::vector<Tensor> values;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Tensor &before = run.events[i].value;
      values.push_back(events[i].g(end, attempt.y));
      const Tensor changes = accepted & (((before < 0) & (values[i] >= 0)) | ((before > 0) & (values[i] <= 0)));
      wanted = wanted.defined() ? wanted | changes : changes;
    }
    std::vector<State> dense;
    if (wanted.defined())
      dense = attempt.dense(wanted);
    auto interpolant = [&](const Tensor &fraction) { return method.interpolate(dense, h, fraction); };

    std::vector<Place> places;
    Tensor first = number(2, dtype); // the fraction of the first terminal event
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Tensor before = where(accepted, run.events[i].value, 0);
      places.push_back(locate(problem, events[i], interpolant, run.t, h, before, values[i], end, attempt.y));
      if (events[i].terminal)
        first = where(places[i].happened, minimum(first, stop_gradient(places[i].fraction)), first);
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Place &place = places[i];
      const Tensor counted = place.happened & (stop_gradient(place.fraction) <= first);
      Found found = run.events[i];
      const Tensor index = minimum(found.count, events[i].capacity - 1);
      const Tensor isKept = counted & (found.count < events[i].capacity);
      found.times.write(index, where(isKept, place.t, found.times.read(index)));
      for (std::size_t leaf = 0; leaf < y.size(); ++leaf)
        found.states[leaf].write(index, where(isKept, place.y[leaf], found.states[leaf].read(index)));
      found.value = where(accepted, values[i], found.value);
      found.count = found.count + cast(counted, DType::Int64);
      if (events[i].terminal) {
        end = where(counted, place.t, end);
        y = choose(counted, place.y, y);
        stopped = stopped.defined() ? stopped | counted : counted;
      }
      next.events.push_back(found);
    }

    next.t = where(accepted, end, run.t);
    next.y = choose(accepted, y, run.y);
    next.memory = attempt.memory;
    next.step = stop_gradient(limited(h * attempt.factor));
    const Tensor one = cast(accepted, DType::Int64);
    next.counts = {run.counts[0] + one, run.counts[1] + (1 - one), run.counts[2] + attempt.evaluations, written};
    if (wanted.defined() && method.interpolantEvaluations() != 0)
      next.counts[2] = next.counts[2] + where(wanted, method.interpolantEvaluations(), scalar<std::int64_t>(0));
    if (keepsLast)
      // Nothing asks the interpolant of a step that was rejected.
      next.last = {where(accepted, run.t, run.last->begin), where(accepted, h, run.last->h), dense};
    Tensor least = 10 * epsilon(dtype) * abs(run.t) + tiny(dtype) / epsilon(dtype);
    if (options.min_step)
      least = maximum(least, given(options.min_step));
    Tensor status = where(next.counts[0] + next.counts[1] >= options.max_steps, code(OdeStatus::TooManySteps),
                          scalar<std::int32_t>(kRunning));
    status = where(abs(next.step) < least, code(OdeStatus::StepTooSmall), status);
    status = where(accepted & isLast, code(OdeStatus::Success), status);
    if (stopped.defined())
      status = where(stopped, code(OdeStatus::Event), status);
    next.status = status;
    return Taken{next, accepted, accepted & isLast, h, end, y, dense};
  };

  auto isRunning = [](const Run &run) { return run.status == kRunning; };
  auto fractionOf = [&](const Tensor &index, const Tensor &begin, const Tensor &h) {
    return (gather(times.ts, index) - begin) / h;
  };
  const WhileOptions loop{.checkpoint = options.adjoint == Adjoint::Checkpointed};
  Run last;
  if (!hasOutputs) {
    last = while_loop(isRunning, [&](const Run &run) { return takeStep(run).run; }, initial, loop);
  } else if (keepsLast) {
    auto goesOn = [&](const Run &run, const std::vector<TensorArray> &) {
      return isRunning(run) | isDue(run.counts[3], run.t);
    };
    auto body = [&](const Run &run, std::vector<TensorArray> arrays) {
      const Tensor isOutput = isDue(run.counts[3], run.t), index = minimum(run.counts[3], n - 1);
      auto output = [&] {
        const Run::Last &within = *run.last;
        // At the last time the end of the step is exact.
        const Tensor isEnd = (run.status == code(OdeStatus::Success)) & (index == n - 1);
        Run next = run;
        next.counts[3] = run.counts[3] + 1;
        const Tensor fraction = fractionOf(index, within.begin, within.h);
        return Iteration{next, choose(isEnd, run.y, method.interpolate(within.dense, within.h, fraction))};
      };
      auto advance = [&] { return Iteration{takeStep(run).run, run.y}; };
      const Iteration made = cond(isOutput, output, advance);
      for (std::size_t leaf = 0; leaf < arrays.size(); ++leaf)
        arrays[leaf].write(index, where(isOutput, made.row[leaf], arrays[leaf].read(index)));
      return std::tuple(made.run, arrays);
    };
    std::tie(last, outputs) = while_loop(goesOn, body, std::tuple(initial, outputs), loop);
  } else {
    auto body = [&](const Run &run, const std::vector<TensorArray> &arrays) {
      const Taken taken = takeStep(run);
      auto goesOn = [&](const Tensor &written, const std::vector<TensorArray> &) {
        return taken.accepted & isDue(written, taken.end);
      };
      auto output = [&](const Tensor &written, std::vector<TensorArray> rows) {
        // vmap runs this also for examples that are through, whose index is beyond the end.
        const Tensor index = minimum(written, n - 1);
        const State state = choose(taken.isEnd & (index == n - 1), taken.y,
                                   method.interpolate(taken.dense, taken.h, fractionOf(index, run.t, taken.h)));
        for (std::size_t leaf = 0; leaf < rows.size(); ++leaf)
          rows[leaf].write(index, state[leaf]);
        return std::tuple(written + 1, rows);
      };
      auto [written, rows] = while_loop(goesOn, output, std::tuple(run.counts[3], arrays));
      Run next = taken.run;
      next.counts[3] = written;
      return std::tuple(next, rows);
    };
    std::tie(last, outputs) =
        while_loop([&](const Run &run, const std::vector<TensorArray> &) { return isRunning(run); }, body,
                   std::tuple(initial, outputs), loop);
  }

  OdeResult result;
  result.t = last.t;
  result.last = last.y;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor reached = last.status == code(OdeStatus::Success);
  const bool isCertain = events.empty() && options.on_failure == OnFailure::Throw;
  for (std::size_t leaf = 0; leaf < y0.size(); ++leaf) {
    if (hasOutputs) {
      Tensor states = outputs[leaf].stack();
      if (!isCertain) {
        Shape shape(static_cast<std::size_t>(y0[leaf].rank()) + 1, 1);
        shape[0] = size;
        const Tensor isWritten = iota({size}, DType::Int64) < last.counts[3];
        states = where(reshape(isWritten, shape), states, nan);
      }
      result.y.push_back(states);
    } else {
      result.y.push_back(stack({y0[leaf], isCertain ? last.y[leaf] : where(reached, last.y[leaf], nan)}));
    }
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Found &found = last.events[i];
    const Tensor isFound = iota({events[i].capacity}, DType::Int64) < found.count;
    result.counts.push_back(found.count);
    result.times.push_back(where(isFound, found.times.stack(), nan));
    State states;
    for (const TensorArray &array : found.states) {
      const Tensor stacked = array.stack();
      Shape shape(static_cast<std::size_t>(stacked.rank()), 1);
      shape[0] = events[i].capacity;
      states.push_back(where(reshape(isFound, shape), stacked, nan));
    }
    result.states.push_back(states);
  }
  result.statistics = {last.counts[0], last.counts[1], last.counts[2], last.status};
  return result;
}

} // namespace calque::solvers::detail
