// Each loss against Keras' numbers, and what its definition gives at the extremes.
#include "Reference.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Case {
  std::string name; // and the number that the script gives it
  losses::AnyLoss each, mean;
  std::string y_true, y_pred;
  bool weighs = true; // whether there is one loss for each example
};

template <typename L, typename... Options>
Case makeCase(const std::string &name, const std::string &y_true, const std::string &y_pred, Options... options) {
  return {name, L(options..., {.reduction = losses::Reduction::None}), L(options...), y_true, y_pred};
}

std::vector<Case> cases() {
  using namespace losses;
  std::vector<Case> all;
  auto add = [&]<typename L, typename... Options>(std::type_identity<L>, const char *name, const char *y, const char *p,
                                                  Options... options) {
    all.push_back(makeCase<L>(std::string(name) + " " + std::to_string(all.size()), y, p, options...));
  };
#define LOSS(Name, ...) add(std::type_identity<Name>(), __VA_ARGS__)
  LOSS(MeanSquaredError, "mean_squared_error", "targets", "logits");
  LOSS(MeanAbsoluteError, "mean_absolute_error", "targets", "logits");
  LOSS(MeanAbsolutePercentageError, "mean_absolute_percentage_error", "targets", "logits");
  LOSS(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error", "positive", "probabilities");
  LOSS(Huber, "huber", "targets", "logits", HuberOptions{});
  LOSS(Huber, "huber", "targets", "logits", HuberOptions{.delta = 0.5});
  LOSS(LogCosh, "log_cosh", "targets", "logits");
  using Binary = BinaryCrossentropyOptions;
  LOSS(BinaryCrossentropy, "binary_crossentropy", "binary", "probabilities", Binary{});
  LOSS(BinaryCrossentropy, "binary_crossentropy", "binary", "logits", Binary{.from_logits = true});
  LOSS(BinaryCrossentropy, "binary_crossentropy", "binary", "logits",
       Binary{.from_logits = true, .label_smoothing = 0.2});
  using BinaryFocal = BinaryFocalCrossentropyOptions;
  LOSS(BinaryFocalCrossentropy, "binary_focal_crossentropy", "binary", "probabilities", BinaryFocal{});
  LOSS(BinaryFocalCrossentropy, "binary_focal_crossentropy", "binary", "logits",
       BinaryFocal{.from_logits = true, .gamma = 1.5, .apply_class_balancing = true});
  using Categorical = CategoricalCrossentropyOptions;
  LOSS(CategoricalCrossentropy, "categorical_crossentropy", "one_hot", "probabilities", Categorical{});
  LOSS(CategoricalCrossentropy, "categorical_crossentropy", "one_hot", "logits", Categorical{.from_logits = true});
  LOSS(CategoricalCrossentropy, "categorical_crossentropy", "one_hot", "probabilities",
       Categorical{.label_smoothing = 0.1});
  using Focal = CategoricalFocalCrossentropyOptions;
  LOSS(CategoricalFocalCrossentropy, "categorical_focal_crossentropy", "one_hot", "probabilities", Focal{});
  LOSS(CategoricalFocalCrossentropy, "categorical_focal_crossentropy", "one_hot", "logits",
       Focal{.from_logits = true, .gamma = 1.5, .alpha = 0.5});
  using Sparse = SparseCategoricalCrossentropyOptions;
  LOSS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy", "labels", "probabilities", Sparse{});
  LOSS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy", "labels", "logits",
       Sparse{.from_logits = true});
  LOSS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy", "labels", "logits",
       Sparse{.from_logits = true, .ignore_class = 1});
  LOSS(KLDivergence, "kl_divergence", "one_hot", "probabilities");
  LOSS(Poisson, "poisson", "positive", "probabilities");
  LOSS(Hinge, "hinge", "binary", "logits");
  LOSS(SquaredHinge, "squared_hinge", "binary", "logits");
  LOSS(CategoricalHinge, "categorical_hinge", "one_hot", "logits");
  LOSS(CosineSimilarity, "cosine_similarity", "targets", "logits", CosineSimilarityOptions{});
  LOSS(CosineSimilarity, "cosine_similarity", "targets", "logits", CosineSimilarityOptions{.axis = 0});
  all.back().weighs = false; // its losses are those of columns
#undef LOSS
  return all;
}

} // namespace

TEST(Losses, AreKeras) {
  for (const Case &c : cases())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      Tensor y = referenceInput(c.y_true, dtype), p = referenceInput(c.y_pred, dtype);
      EXPECT_EQ(c.each.name() + c.name.substr(c.name.find(' ')), c.name);
      // Clipped probabilities differ by how 1 - 1e-7 is rounded.
      const double units = dtype == DType::Float64 ? 2000 : 60;
      expectReference(c.each(y, p), c.name, dtype, "each", units);
      if (c.weighs)
        expectReference(c.mean(y, p, {.sample_weight = referenceInput("weights", dtype)}), c.name, dtype, "weighted",
                        units);
      auto gradients = function([&](const Tensor &targets, const Tensor &predictions) {
        return value_and_grad([&](const Tensor &x) { return c.mean(targets, x); })(predictions);
      });
      auto [value, gradient] = gradients(y, p);
      expectReference(value, c.name, dtype, "mean", units);
      expectReference(gradient, c.name, dtype, "gradient", units);
    }
}

// The numbers and the gradients of a batch whose size only the call knows are Keras', too, and one trace serves a
// smaller one.
TEST(Losses, TakeOpenBatches) {
  for (const Case &c : cases())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      SCOPED_TRACE(c.name + " " + name_of(dtype));
      const double units = dtype == DType::Float64 ? 2000 : 60; // as above
      const bool labels = c.y_true == "labels";
      auto body = [&](const Tensor &y, const Tensor &p, const Tensor &weights) {
        auto [value, gradient] = value_and_grad([&](const Tensor &x) { return c.mean(y, x); })(p);
        return std::vector{value, gradient, c.weighs ? c.mean(y, p, {.sample_weight = weights}) : value};
      };
      auto f = function(body, {.input_signature = {TensorSpec(labels ? DType::Int32 : dtype,
                                                              labels ? Shape{kDynamic} : Shape{kDynamic, 3}),
                                                   TensorSpec(dtype, {kDynamic, 3}), TensorSpec(dtype, {kDynamic})}});
      Tensor y = referenceInput(c.y_true, dtype), p = referenceInput(c.y_pred, dtype),
             weights = referenceInput("weights", dtype);
      std::vector<Tensor> found = f(y, p, weights);
      expectReference(found[0], c.name, dtype, "mean", units);
      expectReference(found[1], c.name, dtype, "gradient", units);
      if (c.weighs)
        expectReference(found[2], c.name, dtype, "weighted", units);
      y = y.rows(0, 2), p = p.rows(0, 2), weights = weights.rows(0, 2);
      std::vector<Tensor> smaller = f(y, p, weights), expected = body(y, p, weights);
      for (std::size_t i = 0; i < expected.size(); ++i)
        expectNear(smaller[i], valuesOf(expected[i]), units * (dtype == DType::Float64 ? 2.3e-16 : 1.2e-7));
      EXPECT_EQ(f.trace_count(), 1);
    }
}

// From the definitions: log(1 + exp(-x)) is 0 or x at the extremes, and the derivative that of a step.
TEST(Losses, OfLogitsAreExactAtExtremes) {
  const float infinity = std::numeric_limits<float>::infinity();
  losses::BinaryCrossentropy binary({.from_logits = true}, {.reduction = losses::Reduction::Sum});
  struct Case {
    float label, logit, loss, gradient;
  };
  for (const Case &c : {Case{1, 1e30f, 0, 0}, Case{0, 1e30f, 1e30f, 1}, Case{1, -1e30f, 1e30f, -1},
                        Case{0, -infinity, 0, 0}, Case{1, infinity, 0, 0}, Case{1, 0, 0.69314718f, -0.5f},
                        Case{0, 0, 0.69314718f, 0.5f}, Case{0, -30, 9.3576229e-14f, 9.3576229e-14f}}) {
    SCOPED_TRACE(c.logit);
    Tensor y = tensor<float>({c.label}, {1, 1}), x = tensor<float>({c.logit}, {1, 1});
    auto loss = [&](const Tensor &p) { return binary(y, p); };
    EXPECT_FLOAT_EQ(loss(x).item<float>(), c.loss);
    EXPECT_FLOAT_EQ(function(loss)(x).item<float>(), c.loss);
    EXPECT_FLOAT_EQ(grad(loss)(x).item<float>(), c.gradient);
  }
  losses::CategoricalCrossentropy categorical({.from_logits = true});
  Tensor logits = tensor<float>({1e30f, 0, -infinity}, {1, 3});
  for (int label : {0, 1, 2}) {
    Tensor y = one_hot(tensor<int>({label}), 3, DType::Float32);
    EXPECT_EQ(categorical(y, logits).item<float>(), label == 0 ? 0 : label == 1 ? 1e30f : infinity);
  }
  losses::LogCosh cosh;
  losses::Huber huber;
  for (float x : {-1e30f, 1e30f}) {
    EXPECT_FLOAT_EQ(cosh(zeros({1, 1}), tensor<float>({x}, {1, 1})).item<float>(), 1e30f);
    EXPECT_FLOAT_EQ(huber(zeros({1, 1}), tensor<float>({x}, {1, 1})).item<float>(), 1e30f);
    EXPECT_EQ(grad([&](const Tensor &p) { return huber(zeros({1, 1}), p); })(tensor<float>({x}, {1, 1})).item<float>(),
              x < 0 ? -1 : 1);
  }
}

// The rows that follow from the notebooks' definitions.
TEST(Losses, OfTheNotebooks) {
  Tensor p = tensor<float>({0.05f, 0.95f, 0, 0.1f, 0.8f, 0.1f}, {2, 3}), y = tensor<int>({1, 2});
  expectNear(losses::sparse_categorical_crossentropy(y, p), {0.051293, 2.302585}, 1e-6);
  expectNear(losses::categorical_crossentropy(one_hot(y, 3, DType::Float32), p), {0.051293, 2.302585}, 1e-6);
  expectNear(losses::SparseCategoricalCrossentropy()(y, p), {1.176939}, 1e-6);
  Tensor labels = tensor<float>({0, 1, 0, 0}, {2, 2}), guesses = tensor<float>({.6f, .4f, .4f, .6f}, {2, 2});
  expectNear(losses::binary_crossentropy(labels, guesses), {0.916291, 0.713558}, 1e-6);
  expectNear(losses::BinaryCrossentropy()(labels, guesses), {0.814925}, 1e-6);
}
