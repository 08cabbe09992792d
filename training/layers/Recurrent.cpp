#include "calque/layers/recurrent.h"

#include "Described.h"
#include "calque/control_flow.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/random.h"
#include "calque/tensor_array.h"

#include <cmath>

namespace calque::layers {

namespace {

void checkSequence(const std::string &title, const Shape &input) {
  if (input.size() != 3)
    fail<ShapeError>(absl::StrCat(title, ": takes sequences [N,T,features]; the input has shape ", input.str()));
}

// Columns [first, first + count) of the last dimension.
Tensor columns(const Tensor &x, std::int64_t first, std::int64_t count) {
  return gather(x, iota({count}, DType::Int64) + first, x.rank() - 1);
}

using States = std::vector<Tensor>;
// What a step has of its input: its product with the kernel, and the variables.
struct CellInput {
  Tensor projected; // [N, gates * units], with the bias
  const Variable &recurrent;
  const Variable &bias;
  std::int64_t units;
};

// A recurrent layer. `Body` has gates, states, a kind, biasShape(), project(), step() and describeMore().
template <typename Body, typename Options> class RecurrentBody : public Described<Body> {
public:
  explicit RecurrentBody(std::int64_t units = 0, Options options = {})
      : Described<Body>(Body::kind), units(units), options(std::move(options)) {}

  void check(SourceLocation where) const {
    checkAtLeastOne(Body::kind, "the number of units", units, where);
    for (double rate : {options.dropout, options.recurrent_dropout})
      if (!(rate >= 0 && rate < 1))
        fail<ValueError>(absl::StrCat(Body::kind, ": a rate of dropout is in [0, 1), unlike ", Number(rate).str()),
                         where);
  }
  template <typename A> void describe(A &a) {
    a("units", units);
    a("activation", options.activation);
    a("use_bias", options.use_bias);
    a("kernel_initializer", options.kernel_initializer);
    a("recurrent_initializer", options.recurrent_initializer);
    a("bias_initializer", options.bias_initializer);
    a("kernel_regularizer", options.kernel_regularizer);
    a("kernel_constraint", options.kernel_constraint);
    a("recurrent_regularizer", options.recurrent_regularizer);
    a("recurrent_constraint", options.recurrent_constraint);
    a("bias_regularizer", options.bias_regularizer);
    a("activity_regularizer", options.activity_regularizer);
    a("bias_constraint", options.bias_constraint);
    a("dropout", options.dropout);
    a("recurrent_dropout", options.recurrent_dropout);
    a("seed", options.seed);
    a("return_sequences", options.return_sequences);
    a("return_state", options.return_state);
    a("go_backwards", options.go_backwards);
    a("zero_output_for_mask", options.zero_output_for_mask);
    static_cast<Body *>(this)->describeMore(a);
  }

protected:
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }
  void build_inputs(const std::vector<TensorSpec<>> &inputs) override {
    const Shape input = inputs[0].shape();
    const DType dtype = inputs[0].dtype();
    checkFloating(this->title(), input, dtype);
    checkSequence(this->title(), input);
    const std::int64_t width = Body::gates * units;
    kernel = this->weight("kernel", {channelsOf(this->title(), input), width}, dtype, options.kernel_initializer, true,
                          options.kernel_regularizer, options.kernel_constraint);
    recurrent = this->weight("recurrent_kernel", {units, width}, dtype, options.recurrent_initializer, true,
                             options.recurrent_regularizer, options.recurrent_constraint);
    if (options.use_bias)
      bias = this->weight("bias", static_cast<Body *>(this)->biasShape(width), dtype,
                          static_cast<Body *>(this)->biasInitializer(), true, options.bias_regularizer,
                          options.bias_constraint);
    if (options.dropout > 0 || options.recurrent_dropout > 0) {
      generator.emplace(options.seed ? *options.seed : random::global_generator().draw_seed());
      this->adopt_state("generator", generator->state());
    }
  }

  Tensors call_inputs(const Tensors &inputs, const CallOptions &call) override {
    Tensor x = inputs[0];
    checkSequence(this->title(), x.shape());
    checkChannels(this->title(), x.shape(), kernel.shape()[0]);
    if (inputs.size() != 1 && inputs.size() != 1 + Body::states)
      fail<ValueError>(absl::StrCat(this->title(), ": takes a sequence, alone or with ", Body::states,
                                    Body::states == 1 ? " state" : " states", ", and there are ", inputs.size(),
                                    " inputs"));
    const Size batch = x.shape()[0];
    const Shape state = {batch, units};
    States states;
    for (std::size_t i = 0; i < Body::states; ++i) {
      states.push_back(inputs.size() == 1 ? zeros(state, x.dtype()) : inputs[i + 1]);
      if (states[i].dtype() != x.dtype())
        fail<DTypeError>(absl::StrCat(this->title(), ": a state is ",
                                      training::describe(states[i].dtype(), states[i].shape()),
                                      ", and the sequence has ", name_of(x.dtype())));
      if (!states[i].shape().is_compatible_with(state))
        fail<ShapeError>(absl::StrCat(this->title(), ": a state is ", states[i].shape().str(), ", not ", state.str()));
    }
    Tensor dropped; // from the state, by what each step multiplies it
    if (call.training && options.dropout > 0)
      x = x * kept({batch, 1, kernel.shape()[0]}, options.dropout, x.dtype());
    if (call.training && options.recurrent_dropout > 0)
      dropped = kept(state, options.recurrent_dropout, x.dtype());

    Tensor projected = static_cast<Body *>(this)->project(contract(x, kernel, {}, {}, {2}, {0}));
    projected = transpose(projected, {1, 0, 2}); // by steps
    Tensor mask;
    if (Mask given = call.mask_of(0)) {
      if (!given->shape()[1].is_known() || !x.shape()[1].is_known())
        assert_true(equal(size(*given, 1), size(x, 1)),
                    absl::StrCat(this->title(), ": a mask has another number of steps than its input"));
      mask = expand_dims(transpose(*given, {1, 0}), {2});
      states.push_back(zeros(state, x.dtype())); // the result of the step before
    }
    const Size steps = projected.shape()[0];
    // Eagerly, the gradient of a step is as large as what it is taken from: with blocks of steps, those of all steps
    // are not the number of steps squared.
    constexpr std::int64_t kFew = 64;
    const bool takesBlocks = executing_eagerly() && steps > kFew;
    const std::int64_t length = takesBlocks ? std::int64_t(std::sqrt(double(std::int64_t(steps)))) : 1;
    Tensor block;
    std::int64_t begin = -1;
    auto projectedAt = [&](const Tensor &at) {
      if (!takesBlocks)
        return gather(projected, at, 0);
      const auto i = at.item<std::int64_t>();
      if (const std::int64_t from = i - i % length; from != begin) {
        block = projected.rows(from, from + length);
        begin = from;
      }
      return gather(block, i % length, 0);
    };
    auto advanced = [&](const Tensor &i, const States &before) {
      Tensor at = options.go_backwards ? Operand(steps).toTensor(DType::Int64) - 1 - i : i;
      States old(before.begin(), before.begin() + Body::states);
      States in = old;
      if (dropped.defined())
        in[0] = in[0] * dropped;
      States now = static_cast<Body *>(this)->step({projectedAt(at), recurrent, bias, units}, in, old);
      if (!mask.defined())
        return now;
      Tensor counts = gather(mask, at, 0);
      Tensor result = where(counts, now[0], options.zero_output_for_mask ? Operand(0) : Operand(before.back()));
      for (std::size_t k = 0; k < Body::states; ++k)
        now[k] = where(counts, now[k], old[k]);
      now.push_back(result);
      return now;
    };

    Tensors results;
    if (options.return_sequences) {
      using Loop = std::pair<States, TensorArray>;
      auto [last, all] = for_range(0, steps, Loop(states, TensorArray(steps, x.dtype(), state)),
                                   [&](const Tensor &i, const Loop &loop) {
                                     Loop next(advanced(i, loop.first), loop.second);
                                     next.second.write(i, mask.defined() ? next.first.back() : next.first[0]);
                                     return next;
                                   });
      states = last;
      results.push_back(transpose(all.stack(), {1, 0, 2}));
    } else {
      states = for_range(0, steps, states, [&](const Tensor &i, const States &before) { return advanced(i, before); });
      results.push_back(mask.defined() ? states.back() : states[0]);
    }
    if (options.return_state)
      for (std::size_t k = 0; k < Body::states; ++k)
        results.push_back(states[k]);
    return results;
  }
  void check_mask(const Tensor &mask, const Tensor &input) const override {
    checkStepsMask(this->title(), mask, input);
  }
  std::vector<Mask> compute_masks(const Tensors &, const CallOptions &call) override {
    std::vector<Mask> masks = {options.return_sequences ? call.mask_of(0) : std::nullopt};
    if (masks[0] && options.go_backwards)
      masks[0] = reverse(*masks[0], {1});
    if (options.return_state)
      masks.resize(1 + Body::states);
    return masks;
  }

  std::int64_t units;
  Options options;
  Variable kernel{nullptr}, recurrent{nullptr}, bias{nullptr};

private:
  // 1 / (1 - rate) for what is kept, else 0.
  Tensor kept(const Shape &shape, double rate, DType dtype) {
    return cast(generator->bernoulli(shape, 1 - rate), dtype) * (1 / (1 - rate));
  }
  std::optional<random::Generator> generator;
};

struct SimpleRNNBody : RecurrentBody<SimpleRNNBody, SimpleRNNOptions> {
  static constexpr const char *kind = "simple_rnn";
  static constexpr std::int64_t gates = 1;
  static constexpr std::size_t states = 1;
  using RecurrentBody::RecurrentBody;
  template <typename A> void describeMore(A &) {}
  Shape biasShape(std::int64_t width) const { return {width}; }
  Initializer biasInitializer() const { return options.bias_initializer; }
  Tensor project(const Tensor &x) const { return options.use_bias ? x + bias : x; }
  States step(const CellInput &in, const States &state, const States &) const {
    return {options.activation(in.projected + matmul(state[0], in.recurrent))};
  }
};

struct LSTMBody : RecurrentBody<LSTMBody, LSTMOptions> {
  static constexpr const char *kind = "lstm";
  static constexpr std::int64_t gates = 4;
  static constexpr std::size_t states = 2;
  using RecurrentBody::RecurrentBody;
  template <typename A> void describeMore(A &a) {
    a("recurrent_activation", options.recurrent_activation);
    a("unit_forget_bias", options.unit_forget_bias);
  }
  Shape biasShape(std::int64_t width) const { return {width}; }
  Initializer biasInitializer() const {
    if (!options.unit_forget_bias)
      return options.bias_initializer;
    return [of = options.bias_initializer, n = units](const Shape &, DType dtype) {
      return concat({of({n}, dtype), ones({n}, dtype), of({2 * n}, dtype)});
    };
  }
  Tensor project(const Tensor &x) const { return options.use_bias ? x + bias : x; }
  States step(const CellInput &in, const States &state, const States &old) const {
    Tensor z = in.projected + matmul(state[0], in.recurrent);
    auto gate = [&](std::int64_t k) { return columns(z, k * units, units); };
    Tensor i = options.recurrent_activation(gate(0)), f = options.recurrent_activation(gate(1)),
           o = options.recurrent_activation(gate(3));
    Tensor c = f * old[1] + i * options.activation(gate(2));
    return {o * options.activation(c), c};
  }
};

struct GRUBody : RecurrentBody<GRUBody, GRUOptions> {
  static constexpr const char *kind = "gru";
  static constexpr std::int64_t gates = 3;
  static constexpr std::size_t states = 1;
  using RecurrentBody::RecurrentBody;
  template <typename A> void describeMore(A &a) {
    a("recurrent_activation", options.recurrent_activation);
    a("reset_after", options.reset_after);
  }
  Shape biasShape(std::int64_t width) const { return options.reset_after ? Shape{2, width} : Shape{width}; }
  Initializer biasInitializer() const { return options.bias_initializer; }
  // The first row of the bias is that of the input.
  Tensor project(const Tensor &x) const {
    if (!options.use_bias)
      return x;
    return x + (options.reset_after ? gather(bias, scalar(std::int64_t(0)), 0) : bias.value());
  }
  States step(const CellInput &in, const States &state, const States &old) const {
    auto gate = [&](const Tensor &of, std::int64_t k) { return columns(of, k * units, units); };
    Tensor h = state[0], z, r, candidate;
    if (options.reset_after) {
      Tensor inner = matmul(h, in.recurrent);
      if (options.use_bias)
        inner = inner + gather(in.bias, scalar(std::int64_t(1)), 0);
      z = options.recurrent_activation(gate(in.projected, 0) + gate(inner, 0));
      r = options.recurrent_activation(gate(in.projected, 1) + gate(inner, 1));
      candidate = options.activation(gate(in.projected, 2) + r * gate(inner, 2));
    } else {
      Tensor inner = matmul(h, columns(in.recurrent.value(), 0, 2 * units));
      z = options.recurrent_activation(gate(in.projected, 0) + gate(inner, 0));
      r = options.recurrent_activation(gate(in.projected, 1) + gate(inner, 1));
      candidate =
          options.activation(gate(in.projected, 2) + matmul(r * h, columns(in.recurrent.value(), 2 * units, units)));
    }
    return {z * old[0] + (1 - z) * candidate};
  }
};

//===-- Wrappers --------------------------------------------------------------------------------===//

class BidirectionalBody : public Described<BidirectionalBody> {
public:
  explicit BidirectionalBody(Layer layer = Layer(nullptr), std::string mode = "concat")
      : Described("bidirectional", false), forward(std::move(layer)), mode(std::move(mode)) {}
  void check(SourceLocation where) {
    if (mode != "concat" && mode != "sum" && mode != "mul" && mode != "ave" && mode != "none")
      fail<ValueError>(
          absl::StrCat("bidirectional: there is no mode '", mode, "'; it is 'concat', 'sum', 'mul', 'ave' or 'none'"),
          where);
    Config given = serialize(forward, where);
    Config options = given["config"].as<Config>();
    if (!options.contains("go_backwards"))
      fail<ValueError>(absl::StrCat("bidirectional: the layer '", forward.body()->kind(), "' is not recurrent"), where);
    sequences = options["return_sequences"].as<bool>();
    givesStates = options["return_state"].as<bool>();
    states = given["class_name"].as<std::string>() == "LSTM" ? 4 : 2;
    options.set("zero_output_for_mask", sequences);
    options.set("name", "");
    given.set("config", options);
    forward = deserializeAnother(given, where);
    options.set("go_backwards", !options["go_backwards"].as<bool>());
    given.set("config", options);
    backward = deserializeAnother(given, where);
    adopt(absl::StrCat("forward_", forward.body()->kind()), forward.body(), where);
    adopt(absl::StrCat("backward_", forward.body()->kind()), backward.body(), where);
  }
  template <typename A> void describe(A &a) {
    a("layer", forward);
    a("merge_mode", mode);
  }

protected:
  void build_parts(const std::vector<TensorSpec<>> &inputs) override {
    for (const Layer *each : {&forward, &backward})
      each->build(std::vector<TensorSpec<>>{inputs[0]}, SourceLocation());
  }
  Tensors call_inputs(const Tensors &inputs, const CallOptions &options) override {
    Tensors one = inputs[0], other = inputs[0];
    if (inputs.size() != 1 && inputs.size() != 1 + states)
      fail<ValueError>(absl::StrCat(title(), ": takes a sequence, alone or with the ", states,
                                    " states of both directions, and there are ", inputs.size(), " inputs"));
    for (std::size_t i = 1; i < inputs.size(); ++i)
      (i <= states / 2 ? one : other).push_back(inputs[i]);
    CallOptions passed;
    passed.training = options.training;
    passed.mask = options.mask_of(0);
    Tensors there = forward.apply(one, passed), back = backward.apply(other, passed);
    Tensor a = there[0], b = sequences ? reverse(back[0], {1}) : back[0];
    Tensors results;
    if (mode == "none") {
      results.push_back(a);
      results.push_back(b);
    } else {
      results.push_back(mode == "concat" ? concat({a, b}, -1)
                        : mode == "sum"  ? a + b
                        : mode == "mul"  ? a * b
                                         : (a + b) / 2);
    }
    for (const Tensors *each : {&there, &back})
      for (std::size_t i = 1; i < each->size(); ++i)
        results.push_back((*each)[i]);
    return results;
  }
  void check_mask(const Tensor &mask, const Tensor &input) const override { checkStepsMask(title(), mask, input); }
  std::vector<Mask> compute_masks(const Tensors &, const CallOptions &options) override {
    Mask mask = sequences ? options.mask_of(0) : std::nullopt;
    std::vector<Mask> masks(mode == "none" ? 2 : 1, mask);
    if (givesStates)
      masks.resize(masks.size() + states); // of these there are none
    return masks;
  }

private:
  Layer forward, backward{nullptr};
  std::string mode;
  bool sequences = false, givesStates = false;
  std::size_t states = 0; // of both directions
};

class TimeDistributedBody : public Described<TimeDistributedBody> {
public:
  explicit TimeDistributedBody(Layer layer = Layer(nullptr))
      : Described("time_distributed", false), layer(std::move(layer)) {}
  void check(SourceLocation where) {
    if (!layer.body())
      calque::detail::throwEmptyHandle("layer", where);
    adopt(layer.body()->has_given_name() ? layer.name() : layer.body()->kind(), layer.body(), where);
  }
  template <typename A> void describe(A &a) { a("layer", layer); }

protected:
  void build_parts(const std::vector<TensorSpec<>> &inputs) override {
    const Shape input = inputs[0].shape();
    checkSteps(input);
    layer.build(joined(Shape{kDynamic}, input, 2), inputs[0].dtype(), SourceLocation());
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    checkSteps(x.shape());
    const Shape shape = x.shape();
    CallOptions passed;
    passed.training = options.training;
    if (layer.body()->mixes_examples(options.training))
      return stepByStep(x, options.mask, passed);
    // All steps as one batch.
    Tensor y = one(layer.apply(reshape(x, joined(Shape{-1}, shape, 2)), passed));
    return reshape(y, joined(Shape{shape[0], shape[1]}, y.shape(), 1));
  }
  void check_mask(const Tensor &mask, const Tensor &input) const override { checkStepsMask(title(), mask, input); }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  // A few steps one after the other; more, or as many as the call knows, in a loop, which is compiled once.
  Tensor stepByStep(const Tensor &x, const Mask &mask, const CallOptions &options) {
    constexpr std::int64_t kUnrolled = 32;
    auto timeFirst = [](const Tensor &of) {
      std::vector<std::int64_t> order = {1, 0};
      for (std::int64_t i = 2; i < of.rank(); ++i)
        order.push_back(i);
      return transpose(of, order);
    };
    std::vector<Tensor> steps = {timeFirst(x)};
    if (mask)
      steps.push_back(timeFirst(*mask));
    auto step = [&](const std::vector<Tensor> &each) {
      CallOptions passed = options;
      if (each.size() > 1)
        passed.mask = each[1];
      return one(layer.apply(each[0], passed));
    };
    const Size length = x.shape()[1];
    const bool isLoop = !length.is_known() || length > kUnrolled || length == 0;
    if (isLoop && !x.shape()[0].is_known()) {
      // An array needs the sizes of its elements before the loop, and here only a result says them.
      if (!length.is_known())
        assert_true(greater(size(x, 1), 0), absl::StrCat(title(), ": takes at least one step of sequences whose "
                                                                  "batch and steps the call knows"));
      auto stepAt = [&](const Tensor &t) {
        std::vector<Tensor> each;
        for (const Tensor &of : steps)
          each.push_back(gather(of, t, 0));
        return step(each);
      };
      Tensor first = stepAt(scalar(std::int64_t(0)));
      TensorArray all(length, first.dtype(), first.shape());
      all.write(scalar(std::int64_t(0)), first);
      all = for_range(1, length, all, [&](const Tensor &t, TensorArray rest) { return rest.write(t, stepAt(t)); });
      return timeFirst(all.stack());
    }
    if (isLoop)
      return timeFirst(map_fn(step, steps));
    std::vector<Tensor> results;
    for (std::int64_t t = 0; t < length; ++t) {
      std::vector<Tensor> each;
      for (const Tensor &of : steps)
        each.push_back(gather(of, t));
      results.push_back(step(each));
    }
    return stack(results, 1);
  }

  Tensor one(const Tensors &results) const {
    if (results.size() != 1)
      fail<ValueError>(absl::StrCat(title(), ": takes a layer of one result, and ", layer.body()->kind(), " gives ",
                                    results.size()));
    return results[0];
  }
  void checkSteps(const Shape &input) const {
    if (input.size() < 3)
      fail<ShapeError>(absl::StrCat(title(), ": takes sequences [N,T,...]; the input has shape ", input.str()));
  }
  // `first` and then the sizes of `rest` from a position on.
  static Shape joined(Shape first, const Shape &rest, std::size_t from) {
    for (std::size_t i = from; i < rest.size(); ++i)
      first.push_back(rest[i]);
    return first;
  }
  Layer layer;
};

} // namespace

SimpleRNN::SimpleRNN(std::int64_t units, SimpleRNNOptions options, SourceLocation where)
    : Layer(made<SimpleRNNBody>(options.name, where, units, options)) {}
LSTM::LSTM(std::int64_t units, LSTMOptions options, SourceLocation where)
    : Layer(made<LSTMBody>(options.name, where, units, options)) {}
GRU::GRU(std::int64_t units, GRUOptions options, SourceLocation where)
    : Layer(made<GRUBody>(options.name, where, units, options)) {}
Bidirectional::Bidirectional(const Layer &layer, BidirectionalOptions options, SourceLocation where)
    : Layer(made<BidirectionalBody>(options.name, where, layer, options.merge_mode)) {}
TimeDistributed::TimeDistributed(const Layer &layer, LayerOptions options, SourceLocation where)
    : Layer(made<TimeDistributedBody>(options.name, where, layer)) {}

void registerRecurrent() {
  registerDescribed<SimpleRNNBody>("SimpleRNN");
  registerDescribed<LSTMBody>("LSTM");
  registerDescribed<GRUBody>("GRU");
  registerDescribed<BidirectionalBody>("Bidirectional");
  registerDescribed<TimeDistributedBody>("TimeDistributed");
}

} // namespace calque::layers
