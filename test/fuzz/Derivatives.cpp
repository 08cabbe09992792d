#include "test/fuzz/Derivatives.h"

#include "test/fuzz/Differences.h"

#include <algorithm>

namespace calque::fuzz {

namespace {

ArrayRef zerosOf(const TensorType &type) {
  auto array = std::make_shared<Array>();
  array->type = type;
  array->elements.resize(static_cast<std::size_t>(countOf(type)));
  return array;
}

Real epsilonIn(const Program &program, int begin, int end) {
  Real epsilon = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    for (const TensorType &type : step.types)
      epsilon = std::max(epsilon, epsilonOf(type.dtype));
    if (step.transform)
      eachBody(*step.transform, [&](const Program &body) {
        epsilon = std::max(epsilon, epsilonIn(body, 0, static_cast<int>(body.steps.size())));
      });
  }
  return epsilon;
}

bool isFinite(const ArrayRef &array) {
  return !array || std::all_of(array->elements.begin(), array->elements.end(),
                               [](const Num &element) { return std::isfinite(element.value); });
}
// Whether all values in the bodies of transformations are finite.
bool isFiniteInside(const Environment &environment) {
  for (const auto &bodies : environment.bodies)
    if (bodies)
      for (const Environment &body : *bodies)
        if (!std::all_of(body.values.begin(), body.values.end(), isFinite) || !isFiniteInside(body))
          return false;
  return true;
}

// How many differences of differences some steps are.
int orderIn(const Program &program, int begin, int end) {
  int order = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    if (step.tape)
      order = std::max(order, 1 + orderIn(program, step.tape->begin, i));
    if (step.transform) {
      bool derives = step.transform->kind == Transform::Kind::Jvp || step.transform->kind == Transform::Kind::Vjp;
      eachBody(*step.transform, [&](const Program &body) {
        order = std::max(order, derives + orderIn(body, 0, static_cast<int>(body.steps.size())));
      });
    }
  }
  return order;
}
// Whether all derivatives of the order that some steps take are there: those of some operations are NaN from some order
// on.
bool areThere(const Program &program, int begin, int end, int order) {
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    if (factsOf(step.op).orders < order)
      return false;
    bool isThere = true;
    if (step.transform)
      eachBody(*step.transform,
               [&](const Program &body) { isThere &= areThere(body, 0, static_cast<int>(body.steps.size()), order); });
    if (!isThere)
      return false;
  }
  return true;
}
// The least that derivatives of such an order are off by: each order divides the roundings of long double by another
// step.
Real noiseOf(int order) { return std::ldexp(Real(1), -60 + 11 * order); }

constexpr unsigned kRuns = 4; // the first without noise

// Derivatives with bounds from those of all runs. `inner`: what the derivatives that they were taken of are off by.
std::vector<ArrayRef> bounded(const std::vector<Elements> &runs, std::span<const TensorType> types, Real epsilon,
                              int order, Real inner) {
  std::vector<ArrayRef> results;
  for (std::size_t r = 0; r < types.size(); ++r) {
    auto array = std::make_shared<Array>();
    array->type = types[r];
    Real most = 0, largest = 1;
    std::vector<Real> spreads;
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      Real spread = 0;
      for (unsigned run = 1; run < kRuns; ++run)
        spread = std::max(spread, distance(runs[run][r][e].value, runs[0][r][e].value));
      spreads.push_back(spread);
      most = std::max(most, spread);
      largest = std::max(largest, std::fabs(runs[0][r][e].value));
    }
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      const auto &[value, doubt] = runs[0][r][e];
      // A rule such as s (1 - s) loses what is small beside 1: hence a bound that does not shrink with the derivative.
      Real rounding = 32 * spreads[e] + 4 * most + (256 * epsilon + noiseOf(order)) * largest;
      // Beside a pole differences are of the other side and may be off by more than they doubt.
      bool known = std::isfinite(value) && doubt <= std::max<Real>(1, std::fabs(value)) &&
                   std::fabs(value) < largestOf(types[r].dtype);
      array->elements.push_back(known ? Num{value, rounding + doubt + 8 * inner * largest, 2 * rounding}
                                      : Num{0, kUnknown, kUnknown});
    }
    results.push_back(std::move(array));
  }
  return results;
}

// The values with those that were computed before as far off as they may be.
std::vector<ArrayRef> perturbed(const std::vector<ArrayRef> &values, const std::vector<int> &before,
                                const Differences &differences, unsigned run) {
  std::vector<ArrayRef> result = values;
  for (int value : before) {
    auto array = std::make_shared<Array>(*values[value]);
    for (std::size_t e = 0; e < array->elements.size() && run; ++e)
      if (array->elements[e].off > kTiny)
        array->elements[e].value += differences.noise(value, e) * array->elements[e].off;
    result[value] = std::move(array);
  }
  return result;
}
bool areBounded(const std::vector<ArrayRef> &values, const std::vector<int> &before) {
  return std::all_of(before.begin(), before.end(), [&](int value) {
    return std::all_of(values[value]->elements.begin(), values[value]->elements.end(),
                       [](const Num &element) { return std::isfinite(element.off); });
  });
}
} // namespace

std::vector<ArrayRef> gradientOf(const Program &program, const std::vector<ArrayRef> &values, int index) {
  const Step &step = program.steps[index];
  std::vector<int> before;
  for (int i = step.tape->begin; i <= index; ++i)
    for (int operand : program.steps[i].operands)
      if (program.stepOf(operand) < step.tape->begin &&
          std::find(before.begin(), before.end(), operand) == before.end())
        before.push_back(operand);
  std::vector<Elements> runs;
  Real inner = 0;
  const int order = 1 + orderIn(program, step.tape->begin, index);
  bool isKnown = areBounded(values, before) && areThere(program, step.tape->begin, index, order);
  for (unsigned run = 0; run < kRuns; ++run) {
    Differences differences(program, run);
    Environment environment =
        differences.smooth(isKnown ? perturbed(values, before, differences, run) : values, step.tape->begin, index);
    runs.push_back(differences.gradient(environment, index, run == 0));
    inner = std::max(inner, differences.doubt());
    isKnown &= std::isfinite(inner) && isFiniteInside(environment);
  }
  std::vector<ArrayRef> results =
      bounded(runs, step.types, epsilonIn(program, step.tape->begin, index + 1), order, inner);
  // A rule multiplies with what it was given: no change times NaN is NaN, which differences don't see.
  for (int i = step.tape->begin; i <= index; ++i) {
    for (int operand : program.steps[i].operands)
      isKnown &= isFinite(values[operand]);
    for (std::size_t r = 0; i < index && r < program.steps[i].types.size(); ++r)
      isKnown &= isFinite(values[program.steps[i].firstResult + static_cast<int>(r)]);
  }
  if (!isKnown)
    for (ArrayRef &result : results) {
      auto unknown = std::make_shared<Array>(*result);
      unknown->elements.assign(unknown->elements.size(), Num{0, kUnknown, kUnknown});
      result = std::move(unknown);
    }
  return results;
}

std::vector<ArrayRef> derivativesOf(const Program &program, const std::vector<ArrayRef> &values, int index) {
  const Step &step = program.steps[index];
  const Program &body = *step.transform->body;
  std::span<const TensorType> types = std::span(step.types).subspan(body.results.size());
  const int order = orderIn(program, index, index + 1);
  bool isKnown = areBounded(values, step.operands) && areThere(program, index, index + 1, order);
  for (int operand : step.operands)
    isKnown &= isFinite(values[operand]);
  std::vector<Elements> runs;
  Real inner = 0;
  for (unsigned run = 0; run < kRuns && isKnown; ++run) {
    Differences differences(program, run);
    Environment environment = differences.smooth(perturbed(values, step.operands, differences, run), index, index + 1);
    runs.push_back(differences.derivatives(step, environment, environment.bodies[index]->front(), run == 0));
    inner = std::max(inner, differences.doubt());
    isKnown &= std::isfinite(inner) && isFiniteInside(environment);
  }
  if (isKnown)
    return bounded(runs, types, epsilonIn(program, index, index + 1), order, inner);
  std::vector<ArrayRef> results;
  for (const TensorType &type : types) {
    auto array = std::make_shared<Array>(*zerosOf(type));
    for (Num &element : array->elements)
      element = is_inexact(type.dtype) ? Num{0, kUnknown, kUnknown} : Num();
    results.push_back(std::move(array));
  }
  return results;
}

} // namespace calque::fuzz
