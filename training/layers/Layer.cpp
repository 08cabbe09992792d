#include "calque/layers/layer.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/auto_cast.h"
#include "calque/functions.h"
#include "calque/init_scope.h"
#include "layers/CallObserver.h"
#include "saving/WeightBudget.h"

#include <algorithm>

namespace calque::layers {

using training::fail;

//===-- Calls -----------------------------------------------------------------------------------===//

Mask CallOptions::mask_of(std::size_t input) const {
  if (!masks.empty())
    return input < masks.size() ? masks[input] : std::nullopt;
  return input == 0 ? mask : std::nullopt;
}

namespace {
// What a layer's class overrides runs while it lives: with lines of its own where the class is the user's.
class Overridden {
public:
  Overridden(bool isOfLibrary, SourceLocation where) : lineBefore(std::exchange(innermostLine, where)) {
    if (!isOfLibrary)
      user.emplace();
  }
  ~Overridden() { innermostLine = lineBefore; }
  Overridden(const Overridden &) = delete;
  Overridden &operator=(const Overridden &) = delete;

  // That of the layer's caller, for errors of the layer's own meanwhile.
  static SourceLocation line() { return innermostLine; }

private:
  static thread_local SourceLocation innermostLine;
  const SourceLocation lineBefore;
  std::optional<UserCode> user;
};
thread_local SourceLocation Overridden::innermostLine;
} // namespace

// A call of a layer. The outermost one of a thread keeps the losses that are added inside.
class LayerBody::Scope {
public:
  explicit Scope(LayerBody &body) : body(body), outer(outermost) {
    if (!outer)
      outermost = this;
  }
  ~Scope() {
    if (!outer)
      outermost = nullptr;
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

  static Scope *current() { return outermost; }
  void add(Tensor loss) { losses.push_back(std::move(loss)); }
  // The call has its results.
  void done() {
    if (outer)
      return;
    std::lock_guard lock(body.losing);
    body.losses_ = std::move(losses);
  }

private:
  static thread_local Scope *outermost;
  LayerBody &body;
  Scope *const outer;
  std::vector<Tensor> losses;
};
thread_local LayerBody::Scope *LayerBody::Scope::outermost = nullptr;

LayerBody::LayerBody(std::string kind, bool builds)
    : kind_(std::move(kind)), policy_(layers::dtype_policy()), inMessages(calque::detail::interned(kind_)),
      built_(!builds) {}

//===-- Types -----------------------------------------------------------------------------------===//

void LayerBody::set_dtype_policy(const DTypePolicy &policy, SourceLocation where) {
  if (hasSpecs.load(std::memory_order_acquire))
    fail<StateError>(
        absl::StrCat(title(), ": has made its variables, and its dtype policy stays '", policy_.name(), "'"), where);
  policy_ = policy;
}

// The type that inputs of floats are cast to; none: they stay as they are.
std::optional<DType> LayerBody::inputType() const {
  if (!casts_inputs())
    return std::nullopt;
  return computes_in_full() ? policy_.variables() : policy_.compute();
}

// Variables are made for inputs of their own type.
std::vector<TensorSpec<>> LayerBody::typesOfBuild(std::vector<TensorSpec<>> inputs) const {
  if (casts_inputs() && policy_.variables())
    for (TensorSpec<> &input : inputs)
      if (is_floating(input.dtype()))
        input = TensorSpec<>(*policy_.variables(), input.shape(), input.name());
  return inputs;
}

namespace {
Tensors castFloats(const Tensors &given, DType dtype) {
  Tensors results;
  for (const auto &[name, x] : given)
    results.push_back(is_floating(x.dtype()) && x.dtype() != dtype ? cast(x, dtype) : x, name);
  return results;
}
} // namespace

template <typename Call> auto LayerBody::called(const Tensors &inputs, SourceLocation where, Call call) {
  CallSite site(where, inMessages);
  where = CallSite::resolve(where);
  if (inputs.empty())
    fail<ValueError>(absl::StrCat(title(), ": takes an input, and there is none"));
  ensureBuilt(
      [&] {
        std::vector<TensorSpec<>> specs;
        for (const auto &[name, input] : inputs)
          specs.emplace_back(input.dtype(), input.shape(), name);
        return specs;
      },
      where);
  Scope scope(*this);
  const std::optional<DType> type = inputType();
  auto results = [&] {
    Overridden overridden(is_of_library(), where);
    AutoCast reads(type);
    std::optional<Tensors> converted;
    if (type)
      converted = castFloats(inputs, *type);
    const Tensors &given = converted ? *converted : inputs;
    if (!is_of_library())
      return call(given);
    try {
      return call(given);
    } catch (const DTypeError &) {
      requireBuiltTypes(inputs);
      throw;
    }
  }();
  Tensors *made = nullptr;
  if constexpr (std::is_same_v<decltype(results), Masked>)
    made = &results.results;
  else
    made = &results;
  regularize(*made);
  if (computes_in_full() && policy_.mixes())
    *made = castFloats(*made, *policy_.compute());
  scope.done();
  training::CallObserver::called(*this, *made);
  return results;
}

// Says which layer does not take inputs of another element type than it was built for, where the operation in it that
// does not take them would be called by the name of the whole model.
void LayerBody::requireBuiltTypes(const Tensors &inputs) const {
  if (!hasSpecs.load(std::memory_order_acquire) || !submodules().empty())
    return;
  for (std::size_t i = 0; i < std::min(inputs.size(), specs_.size()); ++i) {
    const Tensor &input = inputs[i];
    if (input.dtype() != specs_[i].dtype())
      fail<DTypeError>(absl::StrCat(title(), ": was built for inputs of ", name_of(specs_[i].dtype()),
                                    ", and this one is ", training::describe(input.dtype(), input.shape()),
                                    "; use cast"));
  }
}

void LayerBody::regularize(const Tensors &results) {
  const Regularizer regularizer = activity_regularizer();
  for (const auto &[name, result] : results)
    add_activity_loss(regularizer, result);
}
void LayerBody::add_activity_loss(const Regularizer &regularizer, const Tensor &value) {
  if (!regularizer)
    return;
  Tensor loss = regularizer(value);
  // Of a batch without examples, too.
  add_loss(value.rank() == 0 ? loss : loss / cast(maximum(size(value, 0), 1), loss.dtype()));
}

void LayerBody::checkMasks(const Tensors &inputs, const CallOptions &options) const {
  if (!options.masks.empty() && options.masks.size() != inputs.size())
    fail<ValueError>(absl::StrCat(title(), ": takes a mask of each input, which may be none; there are ",
                                  options.masks.size(), " masks and ", inputs.size(), " inputs"));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Mask mask = options.mask_of(i);
    if (!mask)
      continue;
    if (mask->dtype() != DType::Bool)
      fail<DTypeError>(
          absl::StrCat(title(), ": a mask is bool, unlike ", training::describe(mask->dtype(), mask->shape())));
    check_mask(*mask, inputs[i]);
  }
}

void LayerBody::check_mask(const Tensor &mask, const Tensor &input) const {
  if (!is_of_library())
    return;
  Shape expected;
  for (std::int64_t i = 0; i < std::min(mask.rank(), input.rank()); ++i)
    expected.push_back(input.shape()[static_cast<std::size_t>(i)]);
  if (mask.rank() == 0 || !mask.shape().is_compatible_with(expected))
    fail<ShapeError>(absl::StrCat(title(), ": a mask has the first dimensions of its input, whose shape is ",
                                  input.shape().str(), "; this one is ",
                                  training::describe(mask.dtype(), mask.shape())));
}

Tensors LayerBody::apply(const Tensors &inputs, const CallOptions &options, SourceLocation where) {
  return called(inputs, where, [&](const Tensors &given) {
    checkMasks(given, options);
    return call_inputs(given, options);
  });
}
LayerBody::Masked LayerBody::apply_masked(const Tensors &inputs, const CallOptions &options, SourceLocation where) {
  return called(inputs, where, [&](const Tensors &given) {
    checkMasks(given, options);
    return call_masked(given, options);
  });
}

Tensor LayerBody::call_one(const Tensors &inputs, const CallOptions &options, SourceLocation where) {
  Tensors results = apply(inputs, options, where);
  if (results.size() != 1)
    fail<ValueError>(absl::StrCat(title(), ": gives ", results.size(), " results; apply() returns all of them"), where);
  return results[0];
}

std::vector<Mask> LayerBody::masks_for(const Tensors &inputs, const CallOptions &options, SourceLocation where) {
  CallSite site(where, inMessages);
  Overridden overridden(is_of_library(), CallSite::resolve(where));
  return compute_masks(inputs, options);
}

void LayerBody::add_loss(const Operand &value) {
  Tensor loss = value.toTensor();
  if (loss.rank() != 0 || !is_floating(loss.dtype()))
    fail<ShapeError>(absl::StrCat(title(), ": add_loss takes a floating-point scalar, not ",
                                  training::describe(loss.dtype(), loss.shape())),
                     value.where());
  if (Scope *scope = Scope::current())
    scope->add(std::move(loss));
  else
    fail<StateError>(absl::StrCat(title(), ": add_loss is called outside of a call of the layer"), value.where());
}

std::vector<Tensor> LayerBody::losses(SourceLocation where) const {
  CallSite site(where, inMessages);
  std::vector<Tensor> all;
  {
    std::lock_guard lock(losing);
    all = losses_;
  }
  auto add = [&](const LayerBody &body) {
    if (!trainable()) // of a whole that is not, nothing is trained
      return;
    for (const auto &[variable, regularizer] : body.regularized)
      if (body.trainable())
        all.push_back(regularizer(variable.value()));
  };
  add(*this);
  for (const std::shared_ptr<Module> &part : submodules())
    if (auto *body = dynamic_cast<const LayerBody *>(part.get()))
      add(*body);
  return all;
}

bool LayerBody::mixes_examples(bool training) const {
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>> parts = children();
  return !is_of_library() || std::any_of(parts.begin(), parts.end(), [&](const auto &part) {
    const auto *layer = dynamic_cast<const LayerBody *>(part.second.get());
    return layer && layer->mixes_examples(training);
  });
}

Config LayerBody::get_config() const {
  fail<StateError>(absl::StrCat(title(),
                                ": its class does not override get_config(), or calls that of its base, which has "
                                "nothing to say; begin with Config{{\"name\", name()}}"));
}

//===-- What layers override --------------------------------------------------------------------===//

void LayerBody::build(const Shape &, DType) {}
Tensor LayerBody::call(const Tensor &, const CallOptions &) {
  fail<StateError>(absl::StrCat(title(), ": its class overrides neither call() nor call_inputs()"), Overridden::line());
}
Mask LayerBody::compute_mask(const Tensor &, const Mask &) { return std::nullopt; }

std::string LayerBody::oneInputIsTaken(std::size_t given) const {
  return absl::StrCat(title(), ": takes one input, and there are ", given,
                      "; a layer of several overrides call_inputs()");
}

void LayerBody::build_inputs(const std::vector<TensorSpec<>> &inputs) {
  if (inputs.size() != 1)
    fail<ValueError>(oneInputIsTaken(inputs.size()), Overridden::line());
  build(inputs[0].shape(), inputs[0].dtype());
}

Tensors LayerBody::call_inputs(const Tensors &inputs, const CallOptions &options) {
  if (inputs.size() != 1)
    fail<ValueError>(oneInputIsTaken(inputs.size()), Overridden::line());
  if (options.masks.empty())
    return call(inputs[0], options);
  CallOptions one = options;
  one.mask = options.mask_of(0);
  return call(inputs[0], one);
}

std::vector<Mask> LayerBody::compute_masks(const Tensors &inputs, const CallOptions &options) {
  return {compute_mask(inputs[0], options.mask_of(0))};
}

LayerBody::Masked LayerBody::call_masked(const Tensors &inputs, const CallOptions &options) {
  Tensors results = call_inputs(inputs, options);
  std::vector<Mask> masks = compute_masks(inputs, options);
  masks.resize(results.size()); // a class of one's own may say none of its further results
  return {std::move(results), std::move(masks)};
}

void LayerBody::build_parts(const std::vector<TensorSpec<>> &) {}

//===-- Variables -------------------------------------------------------------------------------===//

std::string LayerBody::title() const { return has_given_name() ? absl::StrCat(kind_, " '", name(), "'") : kind_; }

Variable LayerBody::weight(std::string name, const Shape &shape, DType dtype, const Initializer &initializer,
                           bool trainable, const Regularizer &regularizer, const Constraint &constraint,
                           SourceLocation where) {
  CallSite site(where, inMessages);
  training::WeightBudget::take(shape, dtype);
  Tensor initial;
  {
    InitScope now;
    initial = initializer(shape, dtype);
  }
  // Outside of the InitScope, because the rule that a function makes variables only in its first trace holds for layers
  // too.
  Variable made = variable(std::move(name), initial, trainable, constraint);
  if (regularizer)
    regularized.emplace_back(made, regularizer);
  return made;
}

void LayerBody::checkBuilt(SourceLocation where) const {
  if (!built_.load(std::memory_order_acquire)) // the layers inside say so themselves
    fail<StateError>(absl::StrCat(title(), ": its variables are not made yet; its first call makes them, or build()"),
                     where);
}

bool LayerBody::built() const {
  const std::vector<std::shared_ptr<Module>> parts = submodules();
  return built_.load(std::memory_order_acquire) && std::all_of(parts.begin(), parts.end(), [](const auto &part) {
           const auto *layer = dynamic_cast<const LayerBody *>(part.get());
           return !layer || layer->built_.load(std::memory_order_acquire);
         });
}

std::vector<TensorSpec<>> LayerBody::input_specs() const {
  std::lock_guard lock(building);
  return specs_;
}

template <typename Specs> void LayerBody::ensureBuilt(const Specs &specs, SourceLocation where) {
  if (built_.load(std::memory_order_acquire) && hasSpecs.load(std::memory_order_acquire))
    return;
  std::lock_guard lock(building);
  if (!hasSpecs.load(std::memory_order_relaxed)) {
    specs_ = specs();
    hasSpecs.store(true, std::memory_order_release);
  }
  if (built_.load(std::memory_order_relaxed))
    return;
  Registration registration(*this);
  regularized.clear(); // of a build that failed
  {
    const std::vector<TensorSpec<>> inputs = typesOfBuild(specs());
    Overridden overridden(is_of_library(), where);
    build_inputs(inputs);
  }
  registration.keep();
  built_.store(true, std::memory_order_release);
}

void LayerBody::build_for(const std::vector<TensorSpec<>> &inputs, SourceLocation where) {
  CallSite site(where, inMessages);
  where = CallSite::resolve(where);
  ensureBuilt([&]() -> const std::vector<TensorSpec<>> & { return inputs; }, where);
  Overridden overridden(is_of_library(), where);
  build_parts(inputs);
}

//===-- Handles ---------------------------------------------------------------------------------===//

LayerBody &Layer::checked(SourceLocation where) const {
  if (!body_)
    calque::detail::throwEmptyHandle("layer", where);
  return *body_;
}

Config Layer::get_config(SourceLocation where) const {
  LayerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  return body.get_config();
}

Variable Layer::variable(const std::string &name, SourceLocation where) const {
  std::vector<std::string> names;
  for (auto &[path, variable] : named_variables(where)) {
    if (path == name)
      return variable;
    names.push_back(absl::StrCat("'", path, "'"));
  }
  fail<LookupError>(absl::StrCat(checked(where).title(), ": there is no variable '", name, "'; there are ",
                                 absl::StrJoin(names, ", ")),
                    where);
}

Mask Layer::compute_mask(const Operand &x, const Mask &mask) const {
  return checked(x.where()).masks_for(x.toTensor(), {.mask = mask}, x.where()).front();
}

} // namespace calque::layers
