#include "calque/layers/attention.h"

#include "Described.h"
#include "calque/functions.h"
#include "calque/random.h"

#include <cmath>

namespace calque::layers {

namespace {

// A product with a kernel [in, heads, size] and a bias [heads, size].
struct Projection {
  Variable kernel{nullptr}, bias{nullptr};
  Tensor operator()(const Tensor &x) const {
    Tensor y = contract(x, kernel, {}, {}, {2}, {0});
    return bias.state() ? y + bias : y;
  }
};

class MultiHeadAttentionBody : public Described<MultiHeadAttentionBody> {
public:
  explicit MultiHeadAttentionBody(std::int64_t heads = 0, std::int64_t size = 0, MultiHeadAttentionOptions options = {})
      : Described("multi_head_attention"), heads(heads), size(size), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkAtLeastOne("multi_head_attention", "the number of heads", heads, where);
    checkAtLeastOne("multi_head_attention", "the size of a key", size, where);
    checkAtLeastOne("multi_head_attention", "the size of a value", options.value_dim.value_or(1), where);
    checkAtLeastOne("multi_head_attention", "the size of a result", options.output_dim.value_or(1), where);
    if (!(options.dropout >= 0 && options.dropout < 1))
      fail<ValueError>(
          absl::StrCat("multi_head_attention: a rate of dropout is in [0, 1), unlike ", Number(options.dropout).str()),
          where);
  }
  template <typename A> void describe(A &a) {
    a("num_heads", heads);
    a("key_dim", size);
    a("value_dim", options.value_dim);
    a("dropout", options.dropout);
    a("use_bias", options.use_bias);
    a("output_shape", options.output_dim);
    a("use_causal_mask", options.use_causal_mask);
    a("return_attention_scores", options.return_attention_scores);
    a("kernel_initializer", options.kernel_initializer);
    a("bias_initializer", options.bias_initializer);
    a("kernel_regularizer", options.kernel_regularizer);
    a("kernel_constraint", options.kernel_constraint);
    a("bias_regularizer", options.bias_regularizer);
    a("activity_regularizer", options.activity_regularizer);
    a("bias_constraint", options.bias_constraint);
    a("seed", options.seed);
  }

protected:
  void build_inputs(const std::vector<TensorSpec<>> &inputs) override {
    std::vector<std::string> names;
    for (const TensorSpec<> &input : inputs)
      names.push_back(input.name());
    const Places at = placesOf(names);
    const DType dtype = inputs[at.query].dtype();
    for (std::size_t i : {at.query, at.value, at.key}) {
      checkFloating(title(), inputs[i].shape(), inputs[i].dtype());
      checkSequence(inputs[i].shape());
    }
    auto project = [&](const std::string &name, const Shape &input, std::int64_t width) {
      return Projection{weightOf(name, {channelsOf(title(), input), heads, width}, 1, dtype),
                        biasOf(name, {heads, width}, dtype)};
    };
    const std::int64_t valueSize = options.value_dim.value_or(size);
    query = project("query", inputs[at.query].shape(), size);
    key = project("key", inputs[at.key].shape(), size);
    value = project("value", inputs[at.value].shape(), valueSize);
    const std::int64_t width = options.output_dim.value_or(channelsOf(title(), inputs[at.query].shape()));
    output = {weightOf("attention_output", {heads, valueSize, width}, 2, dtype),
              biasOf("attention_output", {width}, dtype)};
    if (options.dropout > 0) {
      generator.emplace(options.seed ? *options.seed : random::global_generator().draw_seed());
      adopt_state("generator", generator->state());
    }
  }

  Tensors call_inputs(const Tensors &inputs, const CallOptions &call) override {
    const Places at = placesOf(inputs.names());
    const Tensor &from = inputs[at.query];
    for (std::size_t i : {at.query, at.value, at.key})
      checkSequence(inputs[i].shape());
    checkChannels(title(), from.shape(), query.kernel.shape()[0]);
    // Each of the four products counts, as in Keras.
    auto regularized = [&](const Tensor &x) {
      add_activity_loss(options.activity_regularizer, x);
      return x;
    };
    Tensor q = regularized(query(from)) * (1 / std::sqrt(static_cast<double>(size)));
    Tensor k = regularized(key(inputs[at.key])), v = regularized(value(inputs[at.value]));
    Tensor scores = contract(q, k, {0, 2}, {0, 2}, {3}, {3}); // [N,heads,T,S]
    if (Tensor seen = visible(inputs, at, call, scores); seen.defined())
      scores = lowestUnless(expand_dims(seen, {1}), scores);
    // Of no steps there are no weights, and what is heard of them is 0.
    const bool isEmpty = scores.shape()[3].is_known() && scores.shape()[3] == 0;
    Tensor weights = isEmpty ? scores : softmax(scores), used = weights;
    if (call.training && options.dropout > 0)
      used =
          where(generator->bernoulli(weights.shape(), 1 - options.dropout), weights * (1 / (1 - options.dropout)), 0);
    Tensor heard = contract(used, v, {0, 1}, {0, 2}, {3}, {1}); // [N,heads,T,V]
    Tensor y = contract(heard, output.kernel, {}, {}, {1, 3}, {0, 1});
    Tensors results(regularized(options.use_bias ? y + output.bias : y));
    if (options.return_attention_scores)
      results.push_back(weights);
    return results;
  }
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &call) override {
    std::vector<Mask> masks = {call.mask_of(placesOf(inputs.names()).query)};
    if (options.return_attention_scores)
      masks.emplace_back();
    return masks;
  }

  void check_mask(const Tensor &mask, const Tensor &input) const override { checkStepsMask(title(), mask, input); }

private:
  struct Places {
    std::size_t query = 0, value = 0, key = 0;
    std::optional<std::size_t> mask;
  };
  Places placesOf(const std::vector<std::string> &names) const {
    Places at;
    std::vector<std::size_t> unnamed;
    std::optional<std::size_t> q, v, k;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "query")
        q = i;
      else if (names[i] == "value")
        v = i;
      else if (names[i] == "key")
        k = i;
      else if (names[i] == "attention_mask")
        at.mask = i;
      else
        unnamed.push_back(i);
    }
    std::size_t next = 0;
    for (std::optional<std::size_t> *each : {&q, &v, &k})
      if (!*each && next < unnamed.size())
        *each = unnamed[next++];
    if (!q || next < unnamed.size())
      fail<ValueError>(absl::StrCat(title(), ": takes a query, a value, a key and an 'attention_mask', and there are ",
                                    names.size(), " inputs"));
    at.query = *q;
    at.value = v.value_or(*q);
    at.key = k.value_or(at.value);
    return at;
  }

  // Which steps may be seen, [N,T,S] or less; empty for all.
  Tensor visible(const Tensors &inputs, const Places &at, const CallOptions &call, const Tensor &scores) const {
    Tensor seen;
    auto also = [&](const Tensor &more) { seen = seen.defined() ? logical_and(seen, more) : more; };
    if (at.mask)
      also(inputs[*at.mask]);
    if (Mask mask = call.mask_of(at.query))
      also(expand_dims(*mask, {2}));
    if (Mask mask = call.mask_of(at.value))
      also(expand_dims(*mask, {1}));
    if (Mask mask = call.mask_of(at.key); mask && at.key != at.value)
      also(expand_dims(*mask, {1}));
    if (options.use_causal_mask) {
      const Shape shape = {scores.shape()[2], scores.shape()[3]};
      also(expand_dims(greater_equal(iota(shape, DType::Int64, 0), iota(shape, DType::Int64, 1)), {0}));
    }
    return seen;
  }

  void checkSequence(const Shape &input) const {
    if (input.size() != 3)
      fail<ShapeError>(absl::StrCat(title(), ": takes sequences [N,T,features]; the input has shape ", input.str()));
  }
  // The first `inputs` dimensions are those of a unit's inputs.
  Variable weightOf(const std::string &name, const Shape &shape, std::size_t inputs, DType dtype) {
    double in = 1, out = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
      (i < inputs ? in : out) *= static_cast<double>(shape[i]);
    return weight(name + "_kernel", shape, dtype, options.kernel_initializer.with_fans(in, out), true,
                  options.kernel_regularizer, options.kernel_constraint);
  }
  Variable biasOf(const std::string &name, const Shape &shape, DType dtype) {
    if (!options.use_bias)
      return Variable(nullptr);
    return weight(name + "_bias", shape, dtype, options.bias_initializer, true, options.bias_regularizer,
                  options.bias_constraint);
  }

  std::int64_t heads, size;
  MultiHeadAttentionOptions options;
  Projection query, key, value, output;
  std::optional<random::Generator> generator;
};

} // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim, MultiHeadAttentionOptions options,
                                       SourceLocation where)
    : Layer(made<MultiHeadAttentionBody>(options.name, where, num_heads, key_dim, options)) {}

void registerAttention() { registerDescribed<MultiHeadAttentionBody>("MultiHeadAttention"); }

} // namespace calque::layers
