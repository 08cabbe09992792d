#include "test/fuzz/Cost.h"

#include <algorithm>

namespace calque::fuzz {

namespace {

double costOfControlFlow(const Program &program, const Step &step) {
  const Transform &transform = *step.transform;
  double all = 60; // that of all programs, of which a branch runs one
  eachBody(transform, [&](const Program &body) { all += 60 + costOf(body, 0, static_cast<int>(body.steps.size())); });
  switch (transform.kind) {
  case Transform::Kind::While:
    return all * static_cast<double>(transform.most + 1);
  case Transform::Kind::Range:
    return all * kMostIterations;
  case Transform::Kind::Scan:
    return all * static_cast<double>(numExamples(program, step));
  default:
    return all;
  }
}

double costOf(const Program &program, const Step &step) {
  if (step.isControlFlow())
    return costOfControlFlow(program, step);
  const Program &body = *step.transform->body;
  double once = 60 + costOf(body, 0, static_cast<int>(body.steps.size()));
  switch (step.transform->kind) {
  case Transform::Kind::Checkpoint:
  case Transform::Kind::CustomGradient:
    return once;
  case Transform::Kind::Vmap:
    return once * static_cast<double>(numExamples(program, step));
  case Transform::Kind::Jvp:
    return 5 * once;
  case Transform::Kind::Vjp:
    break;
  default:
    throw std::logic_error("the cost of a branch or a loop is that of its programs");
  }
  double elements = 0;
  for (std::size_t r = body.results.size(); r < step.types.size(); ++r)
    elements += static_cast<double>(countOf(step.types[r]));
  return (1 + 4 * elements) * once;
}

} // namespace

double costOf(const Program &program, int begin, int end) {
  double total = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    if (step.transform) {
      total += costOf(program, step);
      continue;
    }
    if (step.tape) {
      for (const TensorType &type : step.types)
        total += 4.0 * static_cast<double>(countOf(type)) * costOf(program, step.tape->begin, i);
      continue;
    }
    double work = 60;
    for (const TensorType &type : step.types)
      work += 4.0 * static_cast<double>(countOf(type));
    double product = 1;
    for (int operand : step.operands)
      product *= static_cast<double>(std::max<std::int64_t>(1, countOf(program.typeOf(operand))));
    if (!schema::schemaOf(step.op).elementwise)
      work += std::min(product, 20000.0);
    total += work;
  }
  return total;
}

std::size_t orderOf(const Program &program, int begin, int end) {
  std::size_t most = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    if (step.tape)
      most = std::max(most, 1 + orderOf(program, step.tape->begin, i));
    if (!step.transform)
      continue;
    bool differentiates = step.transform->kind == Transform::Kind::Jvp || step.transform->kind == Transform::Kind::Vjp;
    eachBody(*step.transform, [&](const Program &body) {
      most = std::max(most, differentiates + orderOf(body, 0, static_cast<int>(body.steps.size())));
    });
  }
  return most;
}

} // namespace calque::fuzz
