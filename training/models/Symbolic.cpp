#include "calque/symbolic.h"

#include "SymbolicCall.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/init_scope.h"
#include "layers/Described.h"

#include <ostream>

namespace calque {

using training::fail;

//===-- Values ----------------------------------------------------------------------------------===//

std::ostream &operator<<(std::ostream &os, const SymbolicTensor &x) {
  return os << "<symbolic " << name_of(x.dtype()) << x.shape() << '>';
}

SymbolicTensor Input(const Shape &shape, InputOptions options, SourceLocation where) {
  Shape full = shape;
  full.insert(full.begin(), options.batch_size);
  auto call = std::make_shared<detail::SymbolicCall>();
  call->results.emplace_back(options.dtype, full, options.name, where);
  call->where = where;
  return detail::resultOf(call, 0);
}

SymbolicTensors::SymbolicTensors(const std::vector<SymbolicTensor> &tensors) {
  for (const SymbolicTensor &tensor : tensors)
    parts_.emplace_back(std::string(), tensor);
}
SymbolicTensors::SymbolicTensors(std::initializer_list<Named> named, SourceLocation where) {
  for (const Named &part : named)
    push_back(part.second, part.first, where);
}
void SymbolicTensors::push_back(SymbolicTensor x, std::string name, SourceLocation where) {
  for (const Named &part : parts_)
    if (!name.empty() && part.first == name)
      fail<ValueError>(absl::StrCat("tensors: the name '", name, "' is given twice"), where);
  parts_.emplace_back(std::move(name), std::move(x));
}
const SymbolicTensor &SymbolicTensors::at(std::int64_t position, SourceLocation where) const {
  if (position < 0 || position >= static_cast<std::int64_t>(size()))
    fail<IndexError>(absl::StrCat("tensors: there is no number ", position, " of ", size()), where);
  return parts_[static_cast<std::size_t>(position)].second;
}
const SymbolicTensor &SymbolicTensors::at(const std::string &name, SourceLocation where) const {
  std::string names;
  for (const Named &part : parts_) {
    if (part.first == name && !name.empty())
      return part.second;
    absl::StrAppend(&names, names.empty() ? "'" : ", '", part.first, "'");
  }
  fail<LookupError>(absl::StrCat("tensors: there is no '", name, "'; there are ", names), where);
}
void SymbolicTensors::checkCount(std::size_t count, SourceLocation where) const {
  if (size() != count)
    fail<ValueError>(absl::StrCat("tensors: ", count, " asked for, and there are ", size()), where);
}

//===-- Calls of layers -------------------------------------------------------------------------===//

namespace layers {

SymbolicTensors Layer::apply(const SymbolicTensors &inputs, SourceLocation where) const {
  LayerBody &body = checked(where);
  auto call = std::make_shared<calque::detail::SymbolicCall>();
  call->layer = *this;
  call->inputs = inputs;
  call->where = where;
  {
    CallSite site(where, body.inMessages);
    // The graph is made now, whatever is being traced.
    InitScope now;
    // What the trace adds to the losses is of no call.
    std::vector<Tensor> losses;
    {
      std::lock_guard lock(body.losing);
      losses = body.losses_;
    }
    absl::Cleanup restore = [&] {
      std::lock_guard lock(body.losing);
      body.losses_ = std::move(losses);
    };
    Tensors types;
    for (const auto &[name, input] : inputs)
      types.push_back(TensorSpec<>(input.dtype(), input.shape(), name), name);
    std::vector<std::string> names;
    auto traced = function([&](const Tensors &x) {
      Tensors results = body.apply(x, {}, where);
      names = results.names();
      return results;
    });
    std::vector<TensorSpec<>> specs = traced.get_concrete_function(types, where).result_specs(where);
    for (std::size_t i = 0; i < specs.size(); ++i)
      call->results.emplace_back(specs[i].dtype(), specs[i].shape(), names[i], where);
  }
  std::erase_if(body.calls, [](const auto &each) { return each.expired(); });
  body.calls.push_back(call);
  SymbolicTensors results;
  for (std::size_t i = 0; i < call->results.size(); ++i)
    results.push_back(calque::detail::resultOf(call, i), call->results[i].name());
  return results;
}

SymbolicTensor Layer::only(const SymbolicTensors &results, SourceLocation where) const {
  if (results.size() != 1)
    fail<ValueError>(
        absl::StrCat(checked(where).title(), ": gives ", results.size(), " results; apply() returns all of them"),
        where);
  return results[0];
}

std::shared_ptr<calque::detail::SymbolicCall> Layer::symbolicCall(std::optional<std::size_t> call,
                                                                  SourceLocation where) const {
  LayerBody &body = checked(where);
  std::vector<std::shared_ptr<calque::detail::SymbolicCall>> live;
  for (const auto &each : body.calls)
    if (auto locked = each.lock())
      live.push_back(locked);
  if (live.empty())
    fail<StateError>(
        absl::StrCat(body.title(),
                     ": is in no graph of layers; a functional model, and build() of a Sequential, make one"),
        where);
  if (!call && live.size() > 1)
    fail<ValueError>(absl::StrCat(body.title(), ": is called ", live.size(),
                                  " times in graphs; output(0) is the result of the first call"),
                     where);
  if (call.value_or(0) >= live.size())
    fail<IndexError>(absl::StrCat(body.title(), ": there is no call ", *call, " of ", live.size()), where);
  return live[call.value_or(0)];
}

SymbolicTensor Layer::input(std::optional<std::size_t> call, SourceLocation where) const {
  auto found = symbolicCall(call, where);
  if (found->inputs.size() != 1)
    fail<ValueError>(absl::StrCat(checked(where).title(), ": has ", found->inputs.size(), " inputs, not one"), where);
  return found->inputs[0];
}
SymbolicTensor Layer::output(std::optional<std::size_t> call, SourceLocation where) const {
  auto found = symbolicCall(call, where);
  if (found->results.size() != 1)
    fail<ValueError>(absl::StrCat(checked(where).title(), ": has ", found->results.size(), " results, not one"), where);
  return calque::detail::resultOf(found, 0);
}

} // namespace layers

//===-- Arithmetic ------------------------------------------------------------------------------===//

namespace {

class ArithmeticBody : public layers::Described<ArithmeticBody> {
public:
  explicit ArithmeticBody(const std::string &operation = "add", std::optional<double> left = {},
                          std::optional<double> right = {})
      : Described(operation, false), operation(operation), left(left), right(right) {}
  template <typename A> void describe(A &a) {
    a("operation", operation);
    a("left", left);
    a("right", right);
  }
  void check(SourceLocation where) const {
    for (const char *known : {"add", "subtract", "multiply", "divide"})
      if (operation == known)
        return;
    fail<ValueError>(absl::StrCat("arithmetic: there is no operation '", operation,
                                  "'; it is 'add', 'subtract', 'multiply' or 'divide'"),
                     where);
  }

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &x, const layers::CallOptions &) override {
    const std::size_t count = left || right ? 1 : 2;
    if (x.size() != count)
      fail<ValueError>(absl::StrCat(title(), ": takes ", count, " inputs, and there are ", x.size()));
    Operand a = left ? Operand(*left) : Operand(x[0]), b = right ? Operand(*right) : Operand(x[count - 1]);
    return operation == "add"        ? add(a, b)
           : operation == "subtract" ? sub(a, b)
           : operation == "multiply" ? mul(a, b)
                                     : div(a, b);
  }
  std::vector<layers::Mask> compute_masks(const Tensors &, const layers::CallOptions &options) override {
    layers::Mask first = options.mask_of(0);
    return {first ? first : options.mask_of(1)};
  }

private:
  std::string operation;
  std::optional<double> left, right;
};

} // namespace

layers::Layer detail::arithmeticLayer(const std::string &operation, std::optional<double> left,
                                      std::optional<double> right) {
  return layers::Layer(layers::made<ArithmeticBody>("", {}, operation, left, right));
}

SymbolicTensor detail::symbolicArithmetic(const char *operation, const SymbolicOperand &lhs,
                                          const SymbolicOperand &rhs) {
  const char *name = *operation == '+'   ? "add"
                     : *operation == '-' ? "subtract"
                     : *operation == '*' ? "multiply"
                                         : "divide";
  SymbolicTensors inputs;
  std::optional<double> left, right;
  if (lhs.tensor())
    inputs.push_back(*lhs.tensor());
  else
    left = lhs.number();
  if (rhs.tensor())
    inputs.push_back(*rhs.tensor());
  else
    right = rhs.number();
  return arithmeticLayer(name, left, right)(inputs, rhs.where());
}

SymbolicTensor operator+(const SymbolicTensor &lhs, const SymbolicOperand &rhs) {
  return detail::symbolicArithmetic("+", SymbolicOperand(lhs, rhs.where()), rhs);
}
SymbolicTensor operator-(const SymbolicTensor &lhs, const SymbolicOperand &rhs) {
  return detail::symbolicArithmetic("-", SymbolicOperand(lhs, rhs.where()), rhs);
}
SymbolicTensor operator*(const SymbolicTensor &lhs, const SymbolicOperand &rhs) {
  return detail::symbolicArithmetic("*", SymbolicOperand(lhs, rhs.where()), rhs);
}
SymbolicTensor operator/(const SymbolicTensor &lhs, const SymbolicOperand &rhs) {
  return detail::symbolicArithmetic("/", SymbolicOperand(lhs, rhs.where()), rhs);
}
SymbolicTensor operator-(const SymbolicTensor &x) { return x * -1; }

void layers::registerArithmetic() { registerDescribed<ArithmeticBody>("Arithmetic"); }

} // namespace calque
