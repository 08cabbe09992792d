#include "calque/layers/core.h"

#include "Described.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque::layers {

namespace {

class DenseBody : public Described<DenseBody> {
public:
  explicit DenseBody(std::int64_t units = 0, DenseOptions options = {})
      : Described("dense"), units(units), options(std::move(options)) {}
  void check(SourceLocation where) const { checkAtLeastOne("dense", "the number of units", units, where); }
  template <typename A> void describe(A &a) {
    a("units", units);
    a("activation", options.activation);
    a("use_bias", options.use_bias);
    a("kernel_initializer", options.kernel_initializer);
    a("bias_initializer", options.bias_initializer);
    a("kernel_regularizer", options.kernel_regularizer);
    a("kernel_constraint", options.kernel_constraint);
    a("bias_regularizer", options.bias_regularizer);
    a("bias_constraint", options.bias_constraint);
    a("activity_regularizer", options.activity_regularizer);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    kernel = weight("kernel", {channelsOf(title(), input), units}, dtype, options.kernel_initializer, true,
                    options.kernel_regularizer, options.kernel_constraint);
    if (options.use_bias)
      bias = weight("bias", {units}, dtype, options.bias_initializer, true, options.bias_regularizer,
                    options.bias_constraint);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasChannels(title(), x.shape());
    checkChannels(title(), x.shape(), kernel.shape()[0]);
    Tensor y = contract(x, kernel, {}, {}, {x.rank() - 1}, {0});
    return options.activation(options.use_bias ? y + bias : y);
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }

private:
  std::int64_t units;
  DenseOptions options;
  Variable kernel{nullptr}, bias{nullptr};
};

class EmbeddingBody : public Described<EmbeddingBody> {
public:
  explicit EmbeddingBody(std::int64_t inputs = 0, std::int64_t outputs = 0, EmbeddingOptions options = {})
      : Described("embedding"), inputs(inputs), outputs(outputs), options(std::move(options)) {}
  void check(SourceLocation where) const {
    checkAtLeastOne("embedding", "the number of rows", inputs, where);
    checkAtLeastOne("embedding", "the size of a vector", outputs, where);
    if (!is_floating(options.dtype))
      fail<DTypeError>(absl::StrCat("embedding: its vectors are of ", names_of({DTypeKind::Float}), ", not ",
                                    name_of(options.dtype)),
                       where);
  }
  template <typename A> void describe(A &a) {
    a("input_dim", inputs);
    a("output_dim", outputs);
    a("embeddings_initializer", options.embeddings_initializer);
    a("embeddings_regularizer", options.embeddings_regularizer);
    a("activity_regularizer", options.activity_regularizer);
    a("embeddings_constraint", options.embeddings_constraint);
    a("mask_zero", options.mask_zero);
    a("dtype", options.dtype);
  }

protected:
  bool computes_in_full() const override { return true; }
  void build(const Shape &, DType) override {
    embeddings = weight("embeddings", {inputs, outputs}, options.dtype, options.embeddings_initializer, true,
                        options.embeddings_regularizer, options.embeddings_constraint);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (!is_integer(x.dtype()))
      fail<DTypeError>(
          absl::StrCat(title(), ": takes inputs of integers, not ", training::describe(x.dtype(), x.shape())));
    return gather(embeddings, x);
  }
  Mask compute_mask(const Tensor &x, const Mask &) override {
    return options.mask_zero ? Mask(not_equal(x, 0)) : std::nullopt;
  }
  Regularizer activity_regularizer() const override { return options.activity_regularizer; }

private:
  std::int64_t inputs, outputs;
  EmbeddingOptions options;
  Variable embeddings{nullptr};
};

//===-- Movement --------------------------------------------------------------------------------===//

class FlattenBody : public Described<FlattenBody> {
public:
  FlattenBody() : Described("flatten", false) {}
  template <typename A> void describe(A &) {}

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasBatch(title(), x.shape());
    const Shape shape = x.shape();
    Size rest = 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
      rest = rest.is_known() && shape[i].is_known() ? Size(rest * shape[i]) : kDynamic;
    return reshape(x, {shape[0], rest.is_known() ? rest : Size(-1)});
  }
};

class ReshapeBody : public Described<ReshapeBody> {
public:
  explicit ReshapeBody(std::vector<std::int64_t> target = {})
      : Described("reshape", false), target(std::move(target)) {}
  void check(SourceLocation where) const {
    int open = 0;
    for (std::int64_t size : target) {
      open += size == -1;
      if (size < -1 || open > 1)
        fail<ValueError>(
            absl::StrCat("reshape: ", Shape(target).str(), " is no shape; a size is not negative, but one that is -1"),
            where);
    }
  }
  template <typename A> void describe(A &a) { a("target_shape", target); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasBatch(title(), x.shape());
    Shape shape(target);
    Size batch = x.shape()[0];
    // The size for -1 is computed here, because that of the batch may be open.
    std::int64_t given = 1, elements = 1;
    bool known = true;
    for (const Size &size : shape)
      given *= size == -1 ? 1 : std::int64_t(size);
    const Shape input = x.shape();
    for (std::size_t i = 1; i < input.size(); ++i) {
      known = known && input[i].is_known();
      if (known)
        elements *= input[i];
    }
    bool open = false;
    for (Size &size : shape)
      if (size == -1) {
        open = true;
        if (known && given > 0 && elements % given == 0)
          size = elements / given;
      }
    if (known && (open ? given == 0 || elements % given != 0 : given != elements))
      fail<ShapeError>(absl::StrCat(title(), ": an example of ", elements, " elements, of an input of shape ",
                                    input.str(), ", can't fill ", Shape(target).str()));
    shape.insert(shape.begin(), batch);
    return reshape(x, shape);
  }

private:
  std::vector<std::int64_t> target;
};

class PermuteBody : public Described<PermuteBody> {
public:
  explicit PermuteBody(std::vector<std::int64_t> dims = {}) : Described("permute", false), dims(std::move(dims)) {}
  void check(SourceLocation where) const {
    std::vector<std::int64_t> sorted = dims;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<std::int64_t>(i) + 1)
        fail<ValueError>(
            absl::StrCat("permute: ", Shape(dims).str(), " is no permutation of the dimensions, which count from 1"),
            where);
  }
  template <typename A> void describe(A &a) { a("dims", dims); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (x.rank() != static_cast<std::int64_t>(dims.size()) + 1)
      fail<ShapeError>(absl::StrCat(title(), ": permutes ", dims.size(),
                                    " dimensions behind the batch; the input has shape ", x.shape().str()));
    std::vector<std::int64_t> permutation = {0};
    permutation.insert(permutation.end(), dims.begin(), dims.end());
    return transpose(x, permutation);
  }

private:
  std::vector<std::int64_t> dims;
};

class RepeatVectorBody : public Described<RepeatVectorBody> {
public:
  explicit RepeatVectorBody(std::int64_t n = 0) : Described("repeat_vector", false), n(n) {}
  void check(SourceLocation where) const { checkAtLeastOne("repeat_vector", "the number of copies", n, where); }
  template <typename A> void describe(A &a) { a("n", n); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (x.rank() != 2)
      fail<ShapeError>(absl::StrCat(title(), ": takes vectors [N,features]; the input has shape ", x.shape().str()));
    return broadcast_to(expand_dims(x, {1}), {x.shape()[0], n, x.shape()[1]});
  }

private:
  std::int64_t n;
};

//===-- Functions -------------------------------------------------------------------------------===//

class ActivationBody : public Described<ActivationBody> {
public:
  explicit ActivationBody(ActivationFunction function = "linear")
      : Described("activation", false), function(std::move(function)) {}
  template <typename A> void describe(A &a) { a("activation", function); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override { return function(x); }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  ActivationFunction function;
};

class LambdaBody : public LayerBody {
public:
  explicit LambdaBody(std::function<Tensors(const Tensors &)> f) : LayerBody("lambda", false), f(std::move(f)) {}
  using Module::set_name;
  void check(SourceLocation) const {}
  Config get_config() const override {
    fail<StateError>(
        absl::StrCat(title(), ": a callable has no config; make a class of it, and register_layer() that"));
  }

protected:
  bool is_of_library() const override { return true; }
  Tensors call_inputs(const Tensors &inputs, const CallOptions &) override {
    UserCode scope;
    return f(inputs);
  }
  void check_mask(const Tensor &, const Tensor &) const override {}
  // What it does with the steps is not known, and so no mask passes, as in Keras.
  std::vector<Mask> compute_masks(const Tensors &, const CallOptions &) override { return {std::nullopt}; }

private:
  std::function<Tensors(const Tensors &)> f;
};

class MaskingBody : public Described<MaskingBody> {
public:
  explicit MaskingBody(double value = 0) : Described("masking", false), value(value) {}
  template <typename A> void describe(A &a) { a("mask_value", value); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    checkHasChannels(title(), x.shape());
    return where(any(not_equal(x, value), {-1}, true), x, 0);
  }
  Mask compute_mask(const Tensor &x, const Mask &) override { return any(not_equal(x, value), {-1}); }

private:
  double value;
};

class ReLUBody : public Described<ReLUBody> {
public:
  explicit ReLUBody(ReLUOptions options = {}) : Described("re_lu", false), options(std::move(options)) {}
  void check(SourceLocation where) const {
    for (auto [what, value] :
         {std::pair("the largest value", options.max_value.value_or(0)), std::pair("the slope", options.negative_slope),
          std::pair("the threshold", options.threshold)})
      if (!(value >= 0))
        fail<ValueError>(absl::StrCat("re_lu: ", what, " is not below 0, unlike ", Number(value).str()), where);
  }
  template <typename A> void describe(A &a) {
    a("max_value", options.max_value);
    a("negative_slope", options.negative_slope);
    a("threshold", options.threshold);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override {
    return activations::relu(x, {options.negative_slope, options.max_value, options.threshold});
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  ReLUOptions options;
};

// Activations of one number.
template <typename Body> class NumberedBody : public Described<Body> {
public:
  NumberedBody(const char *kind, double number) : Described<Body>(kind, false), number(number) {}
  template <typename A> void describe(A &a) { a(Body::option, number); }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override { return Body::apply(x, number); }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  double number;
};
struct LeakyReLUBody : NumberedBody<LeakyReLUBody> {
  static constexpr const char *option = "negative_slope";
  explicit LeakyReLUBody(double slope = 0.3) : NumberedBody("leaky_re_lu", slope) {}
  static Tensor apply(const Tensor &x, double slope) { return activations::leaky_relu(x, slope); }
};
struct ELUBody : NumberedBody<ELUBody> {
  static constexpr const char *option = "alpha";
  explicit ELUBody(double alpha = 1) : NumberedBody("elu", alpha) {}
  static Tensor apply(const Tensor &x, double alpha) { return activations::elu(x, alpha); }
};

class SoftmaxBody : public Described<SoftmaxBody> {
public:
  explicit SoftmaxBody(std::int64_t axis = -1) : Described("softmax", false), axis(axis) {}
  template <typename A> void describe(A &a) { a("axis", axis); }

protected:
  bool computes_in_full() const override { return true; }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    if (!options.mask)
      return softmax(x, axis);
    // What the mask rules out gets no share, also where it rules out all, as in Keras.
    return where(*options.mask, softmax(lowestUnless(*options.mask, x), axis), 0);
  }
  void check_mask(const Tensor &mask, const Tensor &input) const override {
    const Shape shape = input.shape(), of = mask.shape();
    bool fits = of.size() <= shape.size();
    for (std::size_t i = 1; fits && i <= of.size(); ++i) {
      const Size &size = of[of.size() - i];
      fits = Shape{size}.is_compatible_with(Shape{1}) || Shape{size}.is_compatible_with(Shape{shape[shape.size() - i]});
    }
    if (!fits)
      fail<ShapeError>(absl::StrCat(title(), ": a mask broadcasts to its input, whose shape is ", shape.str(),
                                    "; this one is ", training::describe(mask.dtype(), of)));
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  std::int64_t axis;
};

class PReLUBody : public Described<PReLUBody> {
public:
  explicit PReLUBody(PReLUOptions options = {}) : Described("p_re_lu"), options(std::move(options)) {}
  template <typename A> void describe(A &a) {
    a("alpha_initializer", options.alpha_initializer);
    a("alpha_regularizer", options.alpha_regularizer);
    a("alpha_constraint", options.alpha_constraint);
    a("shared_axes", options.shared_axes);
  }

protected:
  void build(const Shape &input, DType dtype) override {
    checkFloating(title(), input, dtype);
    checkHasChannels(title(), input);
    Shape slopes(input.begin() + 1, input.end());
    for (std::int64_t axis : options.shared_axes) {
      if (axis < 1 || axis > static_cast<std::int64_t>(slopes.size()))
        fail<ValueError>(absl::StrCat(title(), ": there is no axis ", axis, " behind the batch in ", input.str()));
      slopes[static_cast<std::size_t>(axis) - 1] = 1;
    }
    if (!slopes.is_known())
      fail<ShapeError>(absl::StrCat(title(),
                                    ": its variables are made by the sizes of the input, which are not known in ",
                                    input.str(), "; shared_axes names those that need none"));
    alpha = weight("alpha", slopes, dtype, options.alpha_initializer, true, options.alpha_regularizer,
                   options.alpha_constraint);
  }
  Tensor call(const Tensor &x, const CallOptions &) override { return relu(x) - alpha * relu(-x); }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  PReLUOptions options;
  Variable alpha{nullptr};
};

} // namespace

//===-- Handles ---------------------------------------------------------------------------------===//

Dense::Dense(std::int64_t units, DenseOptions options, SourceLocation where)
    : Layer(made<DenseBody>(options.name, where, units, options)) {}
Embedding::Embedding(std::int64_t input_dim, std::int64_t output_dim, EmbeddingOptions options, SourceLocation where)
    : Layer(made<EmbeddingBody>(options.name, where, input_dim, output_dim, options)) {}
Flatten::Flatten(LayerOptions options, SourceLocation where) : Layer(made<FlattenBody>(options.name, where)) {}
Reshape::Reshape(std::vector<std::int64_t> target_shape, LayerOptions options, SourceLocation where)
    : Layer(made<ReshapeBody>(options.name, where, std::move(target_shape))) {}
Permute::Permute(std::vector<std::int64_t> dims, LayerOptions options, SourceLocation where)
    : Layer(made<PermuteBody>(options.name, where, std::move(dims))) {}
RepeatVector::RepeatVector(std::int64_t n, LayerOptions options, SourceLocation where)
    : Layer(made<RepeatVectorBody>(options.name, where, n)) {}
Activation::Activation(ActivationFunction function, LayerOptions options, SourceLocation where)
    : Layer(made<ActivationBody>(options.name, where, std::move(function))) {}
Lambda::Lambda(std::function<Tensors(const Tensors &)> f, LayerOptions options, SourceLocation where, int)
    : Layer(made<LambdaBody>(options.name, where, std::move(f))) {}
Masking::Masking(double mask_value, LayerOptions options, SourceLocation where)
    : Layer(made<MaskingBody>(options.name, where, mask_value)) {}
ReLU::ReLU(ReLUOptions options, SourceLocation where) : Layer(made<ReLUBody>(options.name, where, options)) {}
LeakyReLU::LeakyReLU(double negative_slope, LayerOptions options, SourceLocation where)
    : Layer(made<LeakyReLUBody>(options.name, where, negative_slope)) {}
ELU::ELU(double alpha, LayerOptions options, SourceLocation where) : Layer(made<ELUBody>(options.name, where, alpha)) {}
Softmax::Softmax(std::int64_t axis, LayerOptions options, SourceLocation where)
    : Layer(made<SoftmaxBody>(options.name, where, axis)) {}
PReLU::PReLU(PReLUOptions options, SourceLocation where) : Layer(made<PReLUBody>(options.name, where, options)) {}

void registerCore() {
  registerDescribed<DenseBody>("Dense");
  registerDescribed<EmbeddingBody>("Embedding");
  registerDescribed<FlattenBody>("Flatten");
  registerDescribed<ReshapeBody>("Reshape");
  registerDescribed<PermuteBody>("Permute");
  registerDescribed<RepeatVectorBody>("RepeatVector");
  registerDescribed<ActivationBody>("Activation");
  registerDescribed<MaskingBody>("Masking");
  registerDescribed<ReLUBody>("ReLU");
  registerDescribed<LeakyReLUBody>("LeakyReLU");
  registerDescribed<ELUBody>("ELU");
  registerDescribed<SoftmaxBody>("Softmax");
  registerDescribed<PReLUBody>("PReLU");
}

} // namespace calque::layers
