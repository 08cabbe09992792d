// Steps of optimisers, of the domain ai.onnx.preview.training.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

// The learning rate and the count of steps, and for each of n tensors a value from each of k lists.
struct Step {
  Tensor rate, count;
  std::size_t n = 0;
  const Call &call;
  Tensor at(std::size_t list, std::size_t i) const { return call.tensor(2 + list * n + i); }
};
Step stepOf(const Call &call, std::size_t lists) {
  if ((call.size() - 2) % lists != 0)
    call.refuse(std::to_string(call.size()) + " inputs are not two and " + std::to_string(lists) + " lists");
  return {reshape(call.tensor(0), {}), reshape(call.tensor(1), {}), (call.size() - 2) / lists, call};
}
Tensor regularized(const Step &step, std::size_t i) {
  const Tensor x = step.at(0, i);
  return scalarOf(step.call.number("norm_coefficient", 0), x.dtype()) * x + step.at(1, i);
}
// The results of each tensor, list by list.
Results inLists(const std::vector<std::vector<Tensor>> &lists) {
  Results results;
  for (const std::vector<Tensor> &list : lists)
    results.insert(results.end(), list.begin(), list.end());
  return results;
}

Results adagrad(const Call &call) {
  const Step step = stepOf(call, 3);
  std::vector<std::vector<Tensor>> made(2);
  for (std::size_t i = 0; i < step.n; ++i) {
    const Tensor g = regularized(step, i);
    const DType dtype = g.dtype();
    const Tensor rate =
        cast(step.rate, dtype) / (1 + cast(step.count, dtype) * scalarOf(call.number("decay_factor", 0), dtype));
    const Tensor squares = step.at(2, i) + g * g;
    made[0].push_back(step.at(0, i) - rate * g / (sqrt(squares) + scalarOf(call.number("epsilon", 1e-6f), dtype)));
    made[1].push_back(squares);
  }
  return inLists(made);
}

Results adam(const Call &call) {
  const Step step = stepOf(call, 4);
  std::vector<std::vector<Tensor>> made(3);
  for (std::size_t i = 0; i < step.n; ++i) {
    const Tensor g = regularized(step, i);
    const DType dtype = g.dtype();
    auto number = [&](const char *name, float otherwise) { return scalarOf(call.number(name, otherwise), dtype); };
    const Tensor alpha = number("alpha", 0.9f), beta = number("beta", 0.999f), steps = cast(step.count, dtype);
    const Tensor first = alpha * step.at(2, i) + (1 - alpha) * g, second = beta * step.at(3, i) + (1 - beta) * g * g;
    const Tensor rate = cast(step.rate, dtype);
    const Tensor adjusted = where(step.count > 0, rate * sqrt(1 - pow(beta, steps)) / (1 - pow(alpha, steps)), rate);
    const Tensor x = step.at(0, i) - adjusted * first / (sqrt(second) + number("epsilon", 1e-6f));
    made[0].push_back((1 - number("norm_coefficient_post", 0)) * x);
    made[1].push_back(first);
    made[2].push_back(second);
  }
  return inLists(made);
}

Results momentum(const Call &call) {
  const Step step = stepOf(call, 3);
  const std::string mode = call.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    call.refuse("attribute 'mode' is '" + mode + "'");
  std::vector<std::vector<Tensor>> made(2);
  for (std::size_t i = 0; i < step.n; ++i) {
    const Tensor g = regularized(step, i);
    const DType dtype = g.dtype();
    const Tensor alpha = scalarOf(call.number("alpha", 0), dtype);
    const Tensor beta = where(step.count > 0, scalarOf(call.number("beta", 0), dtype), scalarOf(1, dtype));
    const Tensor v = alpha * step.at(2, i) + beta * g;
    made[0].push_back(step.at(0, i) - cast(step.rate, dtype) * (mode == "nesterov" ? g + alpha * v : v));
    made[1].push_back(v);
  }
  return inLists(made);
}

constexpr Operator kTable[] = {
    {"Adagrad", {1}, 3, kAnyNumber, 0, adagrad, {}, "ai.onnx.preview.training"},
    {"Adam", {1}, 3, kAnyNumber, 0, adam, {}, "ai.onnx.preview.training"},
    {"Momentum", {1}, 3, kAnyNumber, 0, momentum, {}, "ai.onnx.preview.training"},
};

} // namespace

Table optimizerOperators() { return kTable; }

} // namespace calque::onnx
