// Steps of stochastic differential equations.
#include "calque/solvers/sde.h"
#include "calque/transforms.h"
#include "ode/Ode.h"

namespace calque::solvers::detail {

namespace {

void checkOptions(const SdeOptions &options) {
  if (options.steps < 1)
    fail<ValueError>("sdeint: .steps = " + std::to_string(options.steps) + "; at least one step is needed");
  if (options.noises < 0)
    fail<ValueError>("sdeint: .noises = " + std::to_string(options.noises) +
                     "; it is 0 for diagonal noise, or the number of noises");
  if (options.noises > 0 && options.method == SdeMethod::Milstein)
    fail<ValueError>("sdeint: Milstein's method is for diagonal noise; take EulerMaruyama or Heun for .noises = " +
                     std::to_string(options.noises));
}

// The shapes of the increments, for the tensors of the state or for all of them.
std::vector<Shape> shapesOf(const State &y0, const Size &times, const SdeOptions &options) {
  const Size between = std::int64_t(times) - 1;
  if (options.noises > 0)
    return {{between, options.steps, options.noises}};
  std::vector<Shape> shapes;
  for (const Tensor &x : y0) {
    Shape shape = x.shape();
    shape.insert(shape.begin(), options.steps);
    shape.insert(shape.begin(), between);
    shapes.push_back(shape);
  }
  return shapes;
}

Times timesOf(const Operand &ts, DType dtype) {
  const Times times = checkTimes("sdeint", ts, dtype);
  assert_true(times.direction > 0, "sdeint: the times of a stochastic equation increase");
  if (!times.ts.shape().is_known())
    fail<ShapeError>("sdeint: the number of times is known while tracing, as the noise is drawn for each, and these "
                     "are " +
                     describe(times.ts));
  return times;
}

// Numbers of variance 1 become increments: times the root of the step.
template <typename Draw> State increments(const State &y0, const Operand &ts, const SdeOptions &options, Draw draw) {
  checkState("sdeint", y0);
  checkOptions(options);
  const DType dtype = y0[0].dtype();
  const Times times = timesOf(ts, dtype);
  const Tensor changes = split(times.ts, {1, -1})[1] - split(times.ts, {-1, 1})[0];
  const Tensor roots = sqrt(changes * (1.0 / static_cast<double>(options.steps)));
  State result;
  for (const Shape &shape : shapesOf(y0, times.ts.shape()[0], options)) {
    Shape first(shape.size(), 1);
    first[0] = shape[0];
    result.push_back(draw(shape, dtype) * reshape(roots, first));
  }
  return result;
}

Tensor applyNoise(const Tensor &diffusion, const Tensor &noise, bool isGeneral) {
  if (!isGeneral)
    return diffusion * noise;
  return contract(diffusion, noise, {}, {}, {diffusion.rank() - 1}, {0});
}

} // namespace

OdeState drawIncrements(const Operand &state, const OdeState &y0, const Operand &ts, const SdeOptions &options,
                        SourceLocation where) {
  CallSite site(where, "sdeint");
  Tensor at = state.toTensor(DType::Int64);
  return increments(y0, ts, options, [&](const Shape &shape, DType dtype) {
    const Tensor drawn = random::stateless_normal(shape, at, {.dtype = dtype});
    std::int64_t count = 1;
    for (const Size &size : shape)
      count *= size;
    // Normal numbers use twice as many counters as uniform ones.
    at = at + tensor({std::int64_t(0), 2 * random::counters_used(count, dtype)});
    return drawn;
  });
}

OdeState drawIncrements(random::Generator &generator, const OdeState &y0, const Operand &ts, const SdeOptions &options,
                        SourceLocation where) {
  CallSite site(where, "sdeint");
  return increments(y0, ts, options,
                    [&](const Shape &shape, DType dtype) { return generator.normal(shape, {.dtype = dtype}, where); });
}

OdeState integrateSde(const OdeFunction &drift, const OdeFunction &diffusion, const OdeState &y0, const Operand &ts,
                      const OdeState &increments, const SdeOptions &options, SourceLocation where) {
  CallSite site(where, "sdeint");
  checkState("sdeint", y0);
  checkOptions(options);
  const DType dtype = y0[0].dtype();
  const Times times = timesOf(ts, dtype);
  const bool isGeneral = options.noises > 0;
  const std::vector<Shape> shapes = shapesOf(y0, times.ts.shape()[0], options);
  if (increments.size() != shapes.size())
    fail<ShapeError>("sdeint: there are increments in " + std::to_string(increments.size()) + " tensors, where " +
                     std::to_string(shapes.size()) + " are needed");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (increments[i].dtype() != dtype)
      fail<DTypeError>("sdeint: the increments are " + describe(increments[i]) + ", and the state is " +
                       name_of(dtype));
    if (!increments[i].shape().is_compatible_with(shapes[i]))
      fail<ShapeError>("sdeint: the increments are " + describe(increments[i]) + ", where " + shapes[i].str() +
                       " is needed: the intervals, the steps of each, and the noises");
  }

  const OdeFunction f = checkedFunction("sdeint", drift, y0);
  State like = y0;
  if (isGeneral)
    for (Tensor &x : like) {
      Shape shape = x.shape();
      shape.push_back(options.noises);
      x = zeros(shape, dtype);
    }
  const OdeFunction g = checkedFunction("sdeint", diffusion, like);

  const double steps = static_cast<double>(options.steps);
  auto step = [&](const Tensor &t, const Tensor &h, const State &y, const State &noise) {
    const State slope = f(t, y), spread = g(t, y);
    State next;
    for (std::size_t i = 0; i < y.size(); ++i)
      next.push_back(y[i] + h * slope[i] + applyNoise(spread[i], noise[isGeneral ? 0 : i], isGeneral));
    if (options.method == SdeMethod::Milstein) {
      // g dg/dy (dW^2 - h) / 2: g's derivative along g.
      const State along = jvp([&](const State &x) { return g(t, x); }, y, spread).second;
      for (std::size_t i = 0; i < y.size(); ++i)
        next[i] = next[i] + 0.5 * along[i] * (noise[i] * noise[i] - h);
    }
    if (options.method == SdeMethod::Heun) {
      const State slopeAfter = f(t + h, next), spreadAfter = g(t + h, next);
      for (std::size_t i = 0; i < y.size(); ++i)
        next[i] = y[i] + 0.5 * h * (slope[i] + slopeAfter[i]) +
                  applyNoise(0.5 * (spread[i] + spreadAfter[i]), noise[isGeneral ? 0 : i], isGeneral);
    }
    return next;
  };

  struct Interval {
    Tensor begin, end;
    State noises; // [steps, ...]
  };
  const Interval intervals{split(times.ts, {-1, 1})[0], split(times.ts, {1, -1})[1], increments};
  auto through = [&](const State &y, const Interval &interval) {
    const Tensor h = (interval.end - interval.begin) * (1.0 / steps);
    auto body = [&](const Tensor &i, const State &state) {
      State noise;
      for (const Tensor &x : interval.noises)
        noise.push_back(gather(x, i));
      return step(interval.begin + cast(i, dtype) * h, h, state, noise);
    };
    State next = options.steps == 1
                     ? body(scalar<std::int64_t>(0), y)
                     : for_range(std::int64_t(0), options.steps, y, body, {.checkpoint = options.checkpoint});
    return std::pair(next, next);
  };
  return withFirst(y0, scan(through, y0, intervals, {.checkpoint = options.checkpoint}).second);
}

} // namespace calque::solvers::detail
