#include "test/fuzz/Kernels.h"

namespace calque::fuzz {

Ints stridesOf(const Shape &shape) {
  Ints strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}
Shape unravel(std::int64_t flat, const Shape &shape) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; flat /= shape[i])
    index[i] = flat % shape[i];
  return index;
}
std::int64_t ravel(const Shape &index, const Shape &shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + index[i];
  return flat;
}
std::int64_t productOf(const Shape &shape) {
  std::int64_t product = 1;
  for (std::int64_t size : shape)
    product *= size;
  return product;
}
std::int64_t normal(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

// Results that are elements of an operand: the position for each result.
void pick(const Call &call, std::size_t operand, const std::function<std::int64_t(const Shape &)> &place) {
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = call.in(operand, place(unravel(i, call.shape())));
  if (!call.machine)
    for (Num &element : call.result.elements)
      element.off = element.apart = 0;
}

namespace {
Kernel kernelOf(OpId op) {
  for (const KernelTable *table : {&elementwiseKernels(), &bitKernels(), &reductionKernels(), &windowKernels(),
                                   &movementKernels(), &sourceKernels(), &specialKernels()})
    if (auto found = table->find(schema::schemaOf(op).mnemonic); found != table->end())
      return found->second;
  return nullptr;
}

bool isDivision(OpId op) { return op == OpId::Div || op == OpId::FloorDivide || op == OpId::Mod || op == OpId::Fmod; }
} // namespace

bool hasReference(OpId op) { return kernelOf(op) || factsOf(op).reference; }

void evaluate(const Call &call) {
  const schema::OperationSchema &schema = schema::schemaOf(call.step.op);
  auto isComplex = [](const Array *x) { return is_complex(x->type.dtype); };
  if (isComplex(&call.result) || std::ranges::any_of(call.x, isComplex))
    return evaluateComplex(call);
  if (Kernel kernel = kernelOf(call.step.op))
    return kernel(call);
  const Facts &facts = factsOf(call.step.op);
  if (!facts.reference)
    throw std::logic_error("no reference for " + std::string(schema.mnemonic));
  if (isDivision(call.step.op) && is_integer(call.dtype()) && call.count() > 0)
    for (const Num &divisor : call[1].elements) {
      if (std::fabs(divisor.value) <= divisor.off && divisor.off > 0)
        throw Undecided("a divisor may be zero");
      if (divisor.value == 0)
        throw Failure{"DivisionError", std::string(schema.mnemonic) + ": an integer is divided by zero"};
    }
  elementwiseBy(call, facts.reference, facts.roundings, facts.ulp, facts.digitsFrom);
  if (call.machine && (call.step.op == OpId::Mod || call.step.op == OpId::Fmod))
    openRemainders(call);
}

} // namespace calque::fuzz
