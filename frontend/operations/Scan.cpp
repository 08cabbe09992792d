#include "calque/control_flow.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "calque/call_site.h"
#include "calque/custom_gradient.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Tracer.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/Concatenation.h"
#include "frontend/operations/LoopVariables.h"
#include "frontend/operations/Regions.h"

#include <algorithm>
#include <cmath>

namespace calque::detail {

using schema::OpId;

namespace {

// The size that xs have along axis 0.
Size slicesOf(const char *operation, const std::vector<Tensor> &xs, SourceLocation where) {
  CallSite site(where, operation);
  if (xs.empty())
    throw ValueError(absl::StrCat(operation, ": there is no tensor to go through"), where);
  std::int64_t known = schema::kOpenSize;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const schema::TensorType &type = *implOf(xs[i], where).type;
    if (type.rank() == 0)
      throw ShapeError(absl::StrCat(operation, ": tensor ", i, " is a scalar, which has no slices"), where);
    if (known != schema::kOpenSize && type.dims[0] != schema::kOpenSize && type.dims[0] != known)
      throw ShapeError(absl::StrCat(operation, ": the tensors have different numbers of slices: ", known, ", and ",
                                    type.dims[0], " of ", type.str()),
                       where);
    if (type.dims[0] != schema::kOpenSize)
      known = type.dims[0];
  }
  auto known0 = std::ranges::find_if(xs, [&](const Tensor &x) { return implOf(x).type->dims[0] != schema::kOpenSize; });
  return (known0 == xs.end() ? xs[0] : *known0).shape(where)[0];
}

// The slices at an index along axis 0.
std::vector<Tensor> slicesAt(const char *operation, const std::vector<Tensor> &xs, const Tensor &index,
                             SourceLocation where) {
  CallSite site(where, operation);
  std::vector<Tensor> slices;
  schema::Attribute axis = std::int64_t(0);
  for (const Tensor &x : xs) {
    Tensor operands[] = {x, index};
    slices.push_back(apply(OpId::Gather, operands, {&axis, 1}, where));
  }
  return slices;
}

// Takes all slices eagerly, one after the other. The gradient of a slice is as large as the tensor that has the slice,
// so that the time for the gradients of all slices grows with the square of their number. If a tape records, slices are
// taken from blocks instead. There are about as many blocks as each has slices.
class SlicesInOrder {
public:
  SlicesInOrder(const char *operation, const std::vector<Tensor> &xs, std::int64_t count, SourceLocation where)
      : operation(operation), xs(xs), count(count), where(where) {
    constexpr std::int64_t kFew = 64;
    if (count > kFew && eagerTapesActive())
      length = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
  }
  std::vector<Tensor> at(std::int64_t i) {
    if (const std::int64_t from = i - i % length; length < count && from != begin) {
      CallSite site(where, operation);
      block.clear();
      for (const Tensor &x : xs)
        block.push_back(x.rows(from, std::min(from + length, count), where));
      begin = from;
    }
    return slicesAt(operation, length < count ? block : xs, makeScalar(Number(i % length), DType::Int64, where), where);
  }

private:
  const char *operation;
  const std::vector<Tensor> &xs;
  const std::int64_t count;
  SourceLocation where;
  std::int64_t length = count, begin = -1; // of a block
  std::vector<Tensor> block;
};

// The results of all steps are stacked, so they must have the same structure and types.
void requireSameResults(const char *operation, const Produced &before, const Produced &now, SourceLocation where) {
  if (differ(before, now))
    throw ValueError(absl::StrCat(operation, ": a step gives other host values than the one before"), where);
  for (std::size_t i = 0; i < now.tensors.size(); ++i) {
    const schema::TensorType &given = *implOf(now.tensors[i], where).type, &wanted = *implOf(before.tensors[i]).type;
    if (given != wanted)
      requireType(absl::StrCat(operation, ": result ", i, " of a step is ", describe(now.tensors[i]),
                               ", and that of the step before ", describe(before.tensors[i])),
                  given, wanted, where);
  }
}

// The shape of `count` stacked results. ShapeError if a size of one result is unknown.
Shape stackedShape(const char *operation, const Tensor &one, const Size &count, SourceLocation where) {
  const schema::TensorType &type = *implOf(one, where).type;
  if (!type.isStatic())
    throw ShapeError(absl::StrCat(operation, ": the sizes of a step's result must be known; it is ", describe(one)),
                     where);
  Shape shape = Shape(type.dims);
  shape.insert(shape.begin(), count);
  return shape;
}

} // namespace

Scanned runScan(const char *operation, const ScanBody &body, const Produced &initial, const std::vector<Tensor> &xs,
                const ScanOptions &options, SourceLocation where) {
  for (const Tensor &carried : initial.tensors)
    implOf(carried, where);
  if (!currentTrace() && options.checkpoint && eagerTapesActive()) {
    std::vector<Tensor> inputs = initial.tensors;
    inputs.insert(inputs.end(), xs.begin(), xs.end());
    const auto numCarry = static_cast<std::ptrdiff_t>(initial.tensors.size());
    std::vector<Tensor> made = runRecorded(
        operation, inputs,
        [&](const std::vector<Tensor> &given) {
          Produced first = initial;
          first.tensors = {given.begin(), given.begin() + numCarry};
          Scanned scanned = runScan(operation, body, first, {given.begin() + numCarry, given.end()}, options, where);
          scanned.carry.insert(scanned.carry.end(), scanned.results.begin(), scanned.results.end());
          return scanned.carry;
        },
        where);
    return {{made.begin(), made.begin() + numCarry}, {made.begin() + numCarry, made.end()}};
  }
  const Size count = slicesOf(operation, xs, where);
  std::optional<ScanStep> made;
  auto step = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &x) {
    ScanStep now = body(carry, x);
    if (made)
      requireSameResults(operation, made->result, now.result, where);
    now.carry.tensors = nextValues({operation, true}, now.carry, initial, carry, where);
    made = now;
    return now;
  };
  auto at = [&](std::int64_t i) { return full({}, Operand(i, where), DType::Int64); };

  if (!currentTrace()) {
    const std::int64_t n = count;
    if (n == 0) { // the types of results are found without running anything
      std::vector<Tensor> like;
      for (const Tensor &x : xs) {
        schema::TensorType type = *implOf(x, where).type;
        type.dims.erase(type.dims.begin());
        like.push_back(zeros(Shape(type.dims), type.dtype, where));
      }
      std::vector<Tensor> parameters = initial.tensors;
      parameters.insert(parameters.end(), like.begin(), like.end());
      TracedProgram program =
          traceProgram({.name = operation, .where = where, .call = where, .isCalled = false},
                       parametersLike(parameters, true, where), [&](Trace &, const std::vector<Tensor> &given) {
                         auto middle = given.begin() + static_cast<std::ptrdiff_t>(initial.tensors.size());
                         return step({given.begin(), middle}, {middle, given.end()}).result.tensors;
                       });
      Scanned scanned{initial.tensors, {}};
      for (schema::ValueId result : program.trace->recording.results) {
        schema::TensorType type = program.trace->recording.typeOf(result);
        type.dims.insert(type.dims.begin(), 0);
        scanned.results.push_back(zeros(Shape(type.dims), type.dtype, where));
      }
      return scanned;
    }
    Scanned scanned{own(initial.tensors, where), {}};
    std::vector<std::vector<Tensor>> parts;
    SlicesInOrder slices(operation, xs, n, where);
    for (std::int64_t i = 0; i < n; ++i) {
      ScanStep now = step(scanned.carry, slices.at(options.reverse ? n - 1 - i : i));
      scanned.carry = own(now.carry.tensors, where);
      parts.resize(now.result.tensors.size());
      for (std::size_t r = 0; r < parts.size(); ++r) {
        schema::Attribute axes = std::vector<std::int64_t>{0};
        parts[r].push_back(apply(OpId::ExpandDims, {&now.result.tensors[r], 1}, {&axes, 1}, where));
      }
    }
    for (std::vector<Tensor> &part : parts) {
      if (options.reverse)
        std::ranges::reverse(part);
      scanned.results.push_back(concatenated(std::move(part), 0, where));
    }
    return scanned;
  }

  // The call compares numbers of slices that only the call knows.
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (implOf(xs[i]).type->dims[0] == schema::kOpenSize && (count.is_known() || i > 0)) {
      CallSite site(where, operation);
      Tensor isEqual = equal(Operand(xs[i].shape(where)[0], where), Operand(count, where));
      assert_true(Operand(isEqual, where), absl::StrCat(operation, ": the tensors have different numbers of slices"));
    }
  // A loop over the index. The stacked results are loop variables. Each iteration sets one slice of them.
  const std::size_t numCarry = initial.tensors.size();
  const Tensor steps = Operand(count, where).toTensor(DType::Int64);
  std::vector<Tensor> variables{at(0)};
  variables.insert(variables.end(), initial.tensors.begin(), initial.tensors.end());
  Regions regions(where);
  Trace &bodyTrace = regions.trace("the body of a loop", variables, [&](const std::vector<Tensor> &parameters) {
    Tensor i = parameters[0], place = i;
    if (options.reverse)
      place = sub(Operand(sub(Operand(steps, where), Operand(1, where)), where), Operand(i, where));
    ScanStep now = step({parameters.begin() + 1, parameters.end()}, slicesAt(operation, xs, place, where));
    std::vector<Tensor> results{add(Operand(i, where), Operand(1, where))};
    results.insert(results.end(), now.carry.tensors.begin(), now.carry.tensors.end());
    results.push_back(place);
    results.insert(results.end(), now.result.tensors.begin(), now.result.tensors.end());
    return results;
  });
  Trace &conditionTrace =
      regions.trace("the condition of a loop", {variables[0]}, [&](const std::vector<Tensor> &parameters) {
        return std::vector<Tensor>{less(Operand(parameters[0], where), Operand(steps, where))};
      });
  for (const Tensor &one : made->result.tensors)
    variables.push_back(zeros(stackedShape(operation, one, count, where), implOf(one).type->dtype, where));
  std::vector<Tensor> operands = regions.operands(variables, true);
  schema::Attribute attributes[] = {
      options.checkpoint, std::vector<std::int64_t>(), regions.program(conditionTrace, operands, false),
      regions.program(bodyTrace, operands, true, [&](schema::Recording &program) {
        schema::ValueId place = program.results[1 + numCarry];
        for (std::size_t r = 0; r < made->result.tensors.size(); ++r) {
          schema::ValueId stacked = program.parameters[1 + numCarry + r], &result = program.results[2 + numCarry + r];
          schema::ValueId values[] = {stacked, place, result};
          schema::Attribute axis = std::int64_t(0);
          const schema::TensorType type = program.typeOf(stacked);
          result = program.append(OpId::UpdateAt, values, {&axis, 1}, {&type, 1}, recordedLine(where));
        }
        program.results.erase(program.results.begin() + 1 + static_cast<std::ptrdiff_t>(numCarry));
      })};
  std::vector<Tensor> results = regions.assignLast(applyAll(OpId::While, operands, attributes, where));
  auto carry = results.begin() + 1, stacked = carry + static_cast<std::ptrdiff_t>(numCarry);
  return {{carry, stacked}, {stacked, results.end()}};
}

} // namespace calque::detail
