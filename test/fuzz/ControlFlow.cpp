#include "test/fuzz/ControlFlow.h"

#include <algorithm>

namespace calque::fuzz {

namespace {

using Kind = Transform::Kind;

const Program &chosen(const Transform &transform, const Array &predicate) {
  auto last = static_cast<std::int64_t>(transform.alternatives.size());
  std::int64_t number = exactly(predicate);
  if (predicate.type.dtype == DType::Bool)
    number = !number;
  if (number < 0 || number > last)
    number = last;
  return number == 0 ? *transform.body : *transform.alternatives[static_cast<std::size_t>(number - 1)];
}

ArrayRef numberOf(std::int64_t value) { return arrayOf(Data{{DType::Int64, {}}, {static_cast<Real>(value)}}); }

} // namespace

std::int64_t exactly(const Array &scalar) {
  const Num &number = scalar.elements[0];
  if (number.off > 0 || number.apart > 0)
    throw Undecided("a decision is not known exactly");
  return static_cast<std::int64_t>(number.value);
}

ArrayRefs runControlFlow(const Program &program, const Step &step, const ArrayRefs &operands,
                         const ProgramRunner &runner) {
  const Transform &transform = *step.transform;
  const Program &body = *transform.body;
  ArrayRefs arguments(operands.begin(), operands.begin() + body.numArguments);
  if (transform.kind == Kind::Branch)
    return runner.body(chosen(transform, *operands.back()), arguments);
  auto carried = arguments.begin() + transform.firstCarried();
  std::vector<ArrayRefs> stacked(step.types.size() - static_cast<std::size_t>(transform.numCarried));
  // Gives the loop variables their next values, and keeps the other results.
  auto iterate = [&] {
    ArrayRefs results = runner.body(body, arguments);
    std::copy_n(results.begin(), transform.numCarried, carried);
    for (std::size_t r = 0; r < stacked.size(); ++r)
      stacked[r].push_back(results[static_cast<std::size_t>(transform.numCarried) + r]);
  };
  switch (transform.kind) {
  case Kind::While:
    for (std::int64_t done = 0; done < transform.most; ++done) {
      if (!runner.decides(*transform.alternatives[0], arguments, done))
        break;
      iterate();
    }
    break;
  case Kind::Range: {
    std::int64_t begin = exactly(*operands[0]), end = exactly(*operands.back()), stride = transform.stride;
    for (std::int64_t i = begin; stride > 0 ? i < end : i > end; i += stride) {
      arguments[0] = numberOf(i);
      iterate();
    }
    break;
  }
  default: {
    const std::int64_t count = numExamples(program, step);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t a = 0; a < arguments.size(); ++a)
        if (transform.inAxes[a])
          arguments[a] = exampleOf(operands[a], 0, transform.reverse ? count - 1 - i : i);
      iterate();
    }
  }
  }
  ArrayRefs results(carried, carried + transform.numCarried);
  for (std::size_t r = 0; r < stacked.size(); ++r) {
    if (transform.reverse)
      std::reverse(stacked[r].begin(), stacked[r].end());
    results.push_back(stackOf(stacked[r], step.types[results.size()], 0));
  }
  return results;
}

} // namespace calque::fuzz
