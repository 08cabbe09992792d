// Reductions, running sums and products, and what orders elements.
#include "onnx/export/Emit.h"

#include <algorithm>

namespace calque::onnx {

namespace {

std::string reduced(Emit &e, const std::string &op, const std::string &x) {
  const Ints axes = e.axes("axes", e.rank(), true);
  const Attribute keeps = attribute("keepdims", e.flag("keepdims") ? 1 : 0);
  return axes.empty() ? e.node(op, {x}, {keeps}) : e.node(op, {x, e.ints(axes)}, {keeps});
}

// Of integers of 8 and 16 bits the result has more. bfloat16 and the elements that `narrow` says are computed in a type
// that the operator takes.
template <const char *Op> Names reduction(Emit &e) {
  const DType result = *e.result().dtype;
  DType taken = result;
  if (result == DType::BFloat16)
    taken = DType::Float32;
  else if (is_integer(result) && size_of(result) < 4)
    taken = DType::Int32;
  return {e.cast(reduced(e, Op, e.cast(e.in(), e.dtype(), taken)), taken, result)};
}
constexpr char kSum[] = "ReduceSum", kMax[] = "ReduceMax", kMin[] = "ReduceMin", kProd[] = "ReduceProd",
               kMean[] = "ReduceMean", kLogSumExp[] = "ReduceLogSumExp";

// Whether any element holds: their number is not 0, also of none.
std::string anyOf(Emit &e, const std::string &x) {
  const std::string count = reduced(e, "ReduceSum", e.cast(x, DType::Bool, DType::Int64));
  return e.node("Greater", {count, e.making.scalar(0)});
}

template <const char *Op> Names alongAxis(Emit &e) {
  const DType dtype = e.dtype(), taken = dtype == DType::BFloat16 ? DType::Float32 : dtype;
  const std::string x = e.node(Op, {e.cast(e.in(), dtype, taken)}, {attribute("axis", e.axis("axis", e.rank()))});
  return {e.cast(x, taken, dtype)};
}
constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

template <const char *Op> Names place(Emit &e) {
  const DType dtype = e.dtype(), taken = dtype == DType::BFloat16 ? DType::Float32
                                         : dtype == DType::Bool   ? DType::Int32
                                                                  : dtype;
  return {e.node(Op, {e.cast(e.in(), dtype, taken)},
                 {attribute("axis", e.axis("axis", e.rank())), attribute("keepdims", 0)})};
}
constexpr char kArgMax[] = "ArgMax", kArgMin[] = "ArgMin";

Names axisSize(Emit &e) {
  Ints axes = e.axes("axes", e.rank(), true);
  std::int64_t product = 1;
  Dims unknown;
  for (std::int64_t axis : axes) {
    const Dim dim = e.dims(0)[static_cast<std::size_t>(axis)];
    if (dim.known == kUnknownSize)
      unknown.push_back(dim);
    else
      product *= dim.known;
  }
  const DType dtype = *e.result().dtype;
  if (unknown.empty())
    return {e.number(ProgramNumber(product), dtype)};
  std::string size = e.making.scalar(product);
  for (const Dim &dim : unknown)
    size = e.node("Mul", {size, e.sizeOf(dim, true)});
  return {e.cast(size, DType::Int64, dtype)};
}

Names sumLike(Emit &e) {
  const ProgramType &x = e.type(), &like = e.type(1);
  const std::size_t more = x.sizes.size() - like.sizes.size();
  Ints summed, dropped;
  for (std::size_t i = 0; i < x.sizes.size(); ++i) {
    if (i < more)
      dropped.push_back(static_cast<std::int64_t>(i));
    if (i < more || (like.sizes[i - more] == 1 && x.sizes[i] != 1))
      summed.push_back(static_cast<std::int64_t>(i));
  }
  const DType dtype = e.dtype();
  DType taken = dtype;
  if (dtype == DType::BFloat16)
    taken = DType::Float32;
  else if (is_integer(dtype) && size_of(dtype) < 4)
    taken = DType::Int32;
  if (summed.empty())
    return {e.in()};
  std::string sum = e.node("ReduceSum", {e.cast(e.in(), dtype, taken), e.ints(summed)}, {attribute("keepdims", 1)});
  if (!dropped.empty())
    sum = e.node("Squeeze", {sum, e.ints(dropped)});
  return {e.cast(sum, taken, dtype)};
}

Names cumulativeSum(Emit &e) {
  const DType result = *e.result().dtype, taken = result == DType::BFloat16 ? DType::Float32 : result;
  const std::string sum =
      e.node("CumSum", {e.cast(e.in(), e.dtype(), taken), e.making.scalar(e.axis("axis", e.rank()))},
             {attribute("exclusive", e.flag("exclusive") ? 1 : 0), attribute("reverse", e.flag("reverse") ? 1 : 0)});
  return {e.cast(sum, taken, result)};
}

// A Scan along an axis: `step` makes of the states and of elements the next states and elements of the results, as many
// as there are states. `first`: the number with which all states begin.
using Step = std::function<std::pair<Names, Names>(Emit &e, const Names &states, const Names &elements)>;
Names scanned(Emit &e, const Names &inputs, DType dtype, double first, std::size_t numStates, const Step &step) {
  const std::int64_t axis = e.axis("axis", e.rank());
  const bool reverse = e.flag("reverse");
  Dims sizes = e.dims(0);
  sizes.erase(sizes.begin() + axis);
  ProgramType slice{dtype, e.type().sizes};
  slice.sizes.erase(slice.sizes.begin() + axis);
  std::vector<std::pair<std::string, ProgramType>> given;
  Names states, elements;
  for (std::size_t i = 0; i < numStates; ++i) {
    states.push_back(e.making.fresh("state"));
    given.emplace_back(states.back(), slice);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    elements.push_back(e.making.fresh("element"));
    given.emplace_back(elements.back(), slice);
  }
  Graph body = e.subgraph("step", given, std::vector<ProgramType>(2 * numStates, slice), [&](Emit &inner) {
    auto [next, made] = step(inner, states, elements);
    next.insert(next.end(), made.begin(), made.end());
    return next;
  });
  const auto count = static_cast<std::int64_t>(inputs.size());
  Names all(numStates, e.expand(e.number(first, dtype), sizes));
  all.insert(all.end(), inputs.begin(), inputs.end());
  const Names results = e.nodes("Scan", all, 2 * numStates,
                                {attribute("body", std::move(body)), attribute("num_scan_inputs", count),
                                 attribute("scan_input_axes", Ints(inputs.size(), axis)),
                                 attribute("scan_input_directions", Ints(inputs.size(), reverse)),
                                 attribute("scan_output_axes", Ints(numStates, axis)),
                                 attribute("scan_output_directions", Ints(numStates, reverse))});
  return {results.begin() + static_cast<std::ptrdiff_t>(numStates), results.end()};
}

Names cumulativeProduct(Emit &e) {
  const DType result = *e.result().dtype, taken = is_half(result) ? DType::Float32 : result;
  const bool exclusive = e.flag("exclusive");
  const Names product =
      scanned(e, {e.cast(e.in(), e.dtype(), taken)}, taken, 1, 1, [&](Emit &step, const Names &states, const Names &x) {
        const std::string next = step.node("Mul", {states[0], x[0]});
        return std::pair(Names{next}, Names{exclusive ? states[0] : next});
      });
  return {e.cast(product[0], taken, result)};
}

Names linearRecurrence(Emit &e) {
  const DType dtype = e.dtype(), taken = is_half(dtype) ? DType::Float32 : dtype;
  const Names inputs{e.cast(e.in(0), dtype, taken), e.cast(e.in(1), dtype, taken)};
  const Names h = scanned(e, inputs, taken, 0, 1, [](Emit &step, const Names &states, const Names &x) {
    const Names next{step.node("Add", {step.node("Mul", {x[0], states[0]}), x[1]})};
    return std::pair(next, next);
  });
  return {e.cast(h[0], taken, dtype)};
}

// The same of complex numbers, given by their parts.
Names linearRecurrenceParts(Emit &e) {
  return scanned(e, {e.in(0), e.in(1), e.in(2), e.in(3)}, e.dtype(), 0, 2,
                 [](Emit &step, const Names &states, const Names &x) {
                   auto times = [&](std::size_t i, std::size_t j) { return step.node("Mul", {x[i], states[j]}); };
                   const std::string both = times(0, 0), turned = times(1, 1), right = times(0, 1), left = times(1, 0);
                   const Names next{step.node("Add", {step.node("Sub", {both, turned}), x[2]}),
                                    step.node("Add", {step.node("Add", {right, left}), x[3]})};
                   return std::pair(next, next);
                 });
}

// The first elements of the order along an axis; `count`: how many, as the operand of TopK.
Names inOrder(Emit &e, std::int64_t axis, const std::string &count) {
  const DType dtype = e.dtype();
  DType taken = dtype;
  if (dtype == DType::BFloat16)
    taken = DType::Float32;
  else if (dtype == DType::Bool)
    taken = DType::Int32;
  return {e.nodes(
      "TopK", {e.cast(e.in(), dtype, taken), count}, 2,
      {attribute("axis", axis), attribute("largest", e.flag("descending") ? 1 : 0), attribute("sorted", 1)})[1]};
}
Names argSort(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  return inOrder(e, axis, e.sizeOf(e.dims(0)[static_cast<std::size_t>(axis)], false));
}
Names topIndices(Emit &e) { return inOrder(e, e.axis("axis", e.rank()), e.ints({e.integer("count")})); }

constexpr Rule kRules[] = {
    {"reduce_sum", reduction<kSum>},
    {"reduce_max", reduction<kMax>},
    {"reduce_min", reduction<kMin>},
    {"reduce_prod", reduction<kProd>},
    {"reduce_mean", reduction<kMean>},
    {"logsumexp", reduction<kLogSumExp>},
    {"reduce_any", [](Emit &e) { return Names{anyOf(e, e.in())}; }},
    {"reduce_all", [](Emit &e) { return Names{e.node("Not", {anyOf(e, e.node("Not", {e.in()}))})}; }},
    {"softmax", alongAxis<kSoftmax>},
    {"log_softmax", alongAxis<kLogSoftmax>},
    {"argmax", place<kArgMax>},
    {"argmin", place<kArgMin>},
    {"axis_size", axisSize},
    {"sum_like", sumLike},
    {"cumsum", cumulativeSum},
    {"cumprod", cumulativeProduct},
    {"linear_recurrence", linearRecurrence},
    {"linear_recurrence_parts", linearRecurrenceParts},
    {"argsort", argSort},
    {"top_indices", topIndices},
};

} // namespace

Rules reductionRules() { return kRules; }

} // namespace calque::onnx
