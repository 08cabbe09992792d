// Losses: as functions, as objects, and by name.
//
//   Tensor each = losses::categorical_crossentropy(y, p);     // one loss for each example, as in Keras
//   losses::SparseCategoricalCrossentropy loss({.from_logits = true});
//   Tensor l = loss(y, net(x));                               // their mean
//   l = loss(y, net(x), {.sample_weight = w});                // sum(losses * w) / number of examples
//   Tensor m = losses::get("mse")(y, p);                      // by name
//
// A loss of your own is a function of y_true and y_pred, or a class:
//
//   struct CustomMSE : losses::Loss {
//     double factor;
//     explicit CustomMSE(double factor) : Loss({.name = "custom_mse"}), factor(factor) {}
//     Tensor call(const Tensor &y_true, const Tensor &y_pred) const override { // a loss for each example
//       return mean(square(y_true - y_pred), {-1}) + factor * mean(square(0.5 - y_pred), {-1});
//     }
//   };
//
// Configs, and so saved models, contain losses by name. Give a function a name by register_loss("custom_mse", f); then
// `.loss = "custom_mse"` works too. Give a class a name by
// register_loss<CustomMSE>("CustomMSE", [](const Config &own, losses::LossOptions) {
//   return CustomMSE(own["factor"].as<double>()); // of own_config()
// });
//
// The formulas are those of Keras 3. Targets are cast to the predictions' element type, float32 or float64. Targets [B]
// and predictions [B, 1] fit together, and so do targets [B, 1] and predictions [B]. Other shapes that differ are a
// ShapeError, and predictions of another element type are a DTypeError. Sizes may be unknown.
#ifndef CALQUE_LOSSES_H
#define CALQUE_LOSSES_H

#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>

namespace calque::losses {

//===-- Functions ---------------------------------------------------------------------------------===//
// Each function returns one loss for each example: the result lacks the last dimension, or the axis of the options.

using LossFunction = Tensor (*)(const Operand &y_true, const Operand &y_pred);

// A loss function with options, which a call may leave out. It is an object with a call operator, so that its name can
// be an option, as the names of the other functions can: `.loss = losses::huber`.
#define CALQUE_DECLARE_LOSS_FUNCTION(name, Name)                                                                       \
  struct CALQUE_API Name##Function {                                                                                   \
    Tensor operator()(const Operand &y_true, const Operand &y_pred, Name##Options options) const;                      \
    Tensor operator()(const Operand &y_true, const Operand &y_pred) const;                                             \
    constexpr operator LossFunction() const { return byDefault; }                                                      \
                                                                                                                       \
  private:                                                                                                             \
    static Tensor byDefault(const Operand &y_true, const Operand &y_pred);                                             \
  };                                                                                                                   \
  inline constexpr Name##Function name{};

// The mean of (y_true - y_pred)^2; of |y_true - y_pred|; of 100 |y_true - y_pred| / max(|y_true|, 1e-7); of
// (log(max(y_true, 1e-7) + 1) - log(max(y_pred, 1e-7) + 1))^2.
CALQUE_API Tensor mean_squared_error(const Operand &y_true, const Operand &y_pred);
CALQUE_API Tensor mean_absolute_error(const Operand &y_true, const Operand &y_pred);
CALQUE_API Tensor mean_absolute_percentage_error(const Operand &y_true, const Operand &y_pred);
CALQUE_API Tensor mean_squared_logarithmic_error(const Operand &y_true, const Operand &y_pred);

struct HuberOptions {
  double delta = 1;
};
// The mean of e^2 / 2 where |e| <= delta, else delta |e| - delta^2 / 2, with e = y_pred - y_true. Huber: Robust
// estimation of a location parameter, 1964. ValueError unless delta is above 0.
CALQUE_DECLARE_LOSS_FUNCTION(huber, Huber)
// The mean of log(cosh(y_pred - y_true)).
CALQUE_API Tensor log_cosh(const Operand &y_true, const Operand &y_pred);

struct BinaryCrossentropyOptions {
  bool from_logits = false;   // else y_pred are probabilities, which are clipped to [1e-7, 1 - 1e-7]
  double label_smoothing = 0; // moves the labels towards 1/2
  std::int64_t axis = -1;
};
// The mean of -y_true log(p) - (1 - y_true) log(1 - p). Logits may have any magnitude, and be infinite. ValueError for
// a smoothing outside [0, 1].
CALQUE_DECLARE_LOSS_FUNCTION(binary_crossentropy, BinaryCrossentropy)

struct BinaryFocalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  double gamma = 2;                   // how little easy examples count
  bool apply_class_balancing = false; // weighs labels of 1 by alpha, of 0 by 1 - alpha
  double alpha = 0.25;
  std::int64_t axis = -1;
};
// The cross-entropy times (1 - the probability of the label)^gamma. Lin et al.: Focal loss for dense object detection,
// 2017.
CALQUE_DECLARE_LOSS_FUNCTION(binary_focal_crossentropy, BinaryFocalCrossentropy)

struct CategoricalCrossentropyOptions {
  bool from_logits = false;   // else y_pred are probabilities, which are divided by their sum and clipped
  double label_smoothing = 0; // moves the labels towards one over the number of classes
  std::int64_t axis = -1;
};
// The sum of -y_true log(p): y_true are probabilities, such as one_hot labels.
CALQUE_DECLARE_LOSS_FUNCTION(categorical_crossentropy, CategoricalCrossentropy)

struct CategoricalFocalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0, gamma = 2, alpha = 0.25;
  std::int64_t axis = -1;
};
// The sum of -alpha (1 - p)^gamma y_true log(p). Of logits log(p) is exact, where Keras clips p to [1e-7, 1 - 1e-7].
CALQUE_DECLARE_LOSS_FUNCTION(categorical_focal_crossentropy, CategoricalFocalCrossentropy)

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false; // else y_pred are probabilities, which need not add up to 1
  // Examples with this label have the loss 0, and don't count in a mean.
  std::optional<std::int64_t> ignore_class = std::nullopt;
};
// -log of the probability in y_pred [..., C] of the labels y_true [...] or [..., 1], int32 or int64. Logits may have
// any magnitude; -infinity is the logit of an impossible class. Probabilities are clipped to [1e-7, 1 - 1e-7] first.
// ShapeError and DTypeError for other operands; IndexError for a label outside [0, C), when it is computed.
CALQUE_DECLARE_LOSS_FUNCTION(sparse_categorical_crossentropy, SparseCategoricalCrossentropy)

// The sum of y_true log(y_true / y_pred), both clipped to [1e-7, 1].
CALQUE_API Tensor kl_divergence(const Operand &y_true, const Operand &y_pred);
// The mean of y_pred - y_true log(y_pred + 1e-7).
CALQUE_API Tensor poisson(const Operand &y_true, const Operand &y_pred);
// The mean of max(1 - y_true y_pred, 0), and of its square. Labels are -1 and 1; if all labels of a call are 0 or 1, 0
// counts as -1.
CALQUE_API Tensor hinge(const Operand &y_true, const Operand &y_pred);
CALQUE_API Tensor squared_hinge(const Operand &y_true, const Operand &y_pred);
// max(0, 1 + the largest (1 - y_true) y_pred - the sum of y_true y_pred).
CALQUE_API Tensor categorical_hinge(const Operand &y_true, const Operand &y_pred);

struct CosineSimilarityOptions {
  std::int64_t axis = -1;
};
// Minus the cosine of the angle between the two: -1 where they point in the same direction, 0 for a vector of zeros.
CALQUE_DECLARE_LOSS_FUNCTION(cosine_similarity, CosineSimilarity)

#undef CALQUE_DECLARE_LOSS_FUNCTION

//===-- Objects -----------------------------------------------------------------------------------===//
// What a loss object computes from the examples' losses, in order: their sum divided by their number (Keras'
// sum_over_batch_size), with weights too; their sum; the losses themselves; their sum divided by the sum of the
// weights.
enum class Reduction { Mean, Sum, None, MeanWithSampleWeight };
CALQUE_API std::ostream &operator<<(std::ostream &os, Reduction reduction);

struct LossOptions {
  Reduction reduction = Reduction::Mean;
  std::string name = {}; // empty: the name of its function
};

struct LossCallOptions {
  // A weight for each example, [B], or a tensor with more of the losses' first dimensions, or a scalar.
  std::optional<Tensor> sample_weight = std::nullopt;
  // bool: which losses count. A mean is over these losses alone.
  std::optional<Tensor> mask = std::nullopt;
};

// The base of loss objects. They are values: a copy is independent of the original.
class CALQUE_API Loss {
public:
  explicit Loss(LossOptions options = {}) : options_(std::move(options)) {}
  virtual ~Loss();

  const std::string &name() const { return options_.name; }
  Reduction reduction() const { return options_.reduction; }
  // The options that the class adds; a registered class is made again from them.
  virtual Config own_config() const { return {}; }

  // ShapeError for a weight or a mask that does not fit the losses. Errors inside name the caller's line.
  Tensor operator()(const Operand &y_true, const Operand &y_pred, const LossCallOptions &options = {}) const;

protected:
  Loss(const Loss &) = default;
  Loss &operator=(const Loss &) = default;

  // A loss for each example.
  virtual Tensor call(const Tensor &y_true, const Tensor &y_pred) const = 0;
  // bool of the losses' shape: which of them count. All, unless it is overridden.
  virtual std::optional<Tensor> mask(const Tensor & /*y_true*/, const Tensor & /*y_pred*/) const {
    return std::nullopt;
  }

private:
  LossOptions options_;
};

// A loss as an option: a name, a function of y_true and y_pred, or a copy of a loss object.
class CALQUE_API AnyLoss {
public:
  // LookupError for a name that no loss has; "mse", "mae", "mape", "msle", "bce" and "kld" are short ones.
  AnyLoss(const char *name, SourceLocation where = SourceLocation::current());
  AnyLoss(const std::string &name, SourceLocation where = SourceLocation::current()) : AnyLoss(name.c_str(), where) {}
  AnyLoss(LossFunction function);
  template <typename F>
    requires(std::is_invocable_r_v<Tensor, const F &, const Tensor &, const Tensor &> && !std::is_base_of_v<Loss, F> &&
             !std::is_same_v<F, AnyLoss>)
  AnyLoss(F function) : AnyLoss(ofCallable(std::move(function))) {}
  template <typename L>
    requires std::is_base_of_v<Loss, L>
  AnyLoss(const L &loss) : loss_(std::make_shared<L>(loss)) {}

  const std::string &name() const { return loss_->name(); }
  Tensor operator()(const Operand &y_true, const Operand &y_pred, const LossCallOptions &options = {}) const {
    return (*loss_)(y_true, y_pred, options);
  }
  const Loss &loss() const { return *loss_; }
  // The name by which a function is known; empty for an object, and for a function that is not registered.
  const std::string &function() const { return function_; }

private:
  template <typename F> static AnyLoss ofCallable(F function) {
    if constexpr (std::is_convertible_v<F, LossFunction>)
      return AnyLoss(static_cast<LossFunction>(function));
    else
      return ofFunction(std::move(function));
  }
  static AnyLoss ofFunction(std::function<Tensor(const Tensor &, const Tensor &)> function, std::string name = {});
  explicit AnyLoss(std::shared_ptr<const Loss> loss) : loss_(std::move(loss)) {}
  friend CALQUE_API AnyLoss get(const std::string &name, SourceLocation where);
  friend CALQUE_API AnyLoss deserialize(const ConfigValue &config, SourceLocation where);

  std::shared_ptr<const Loss> loss_;
  std::string function_;
};

// The loss object with a name: "categorical_crossentropy", "CategoricalCrossentropy" or, for some, a short name. It
// returns the mean.
CALQUE_API AnyLoss get(const std::string &name, SourceLocation where = SourceLocation::current());

// {"class_name": ..., "config": ...}, or {"function": its name}. StateError for a class or a function that is not
// registered.
CALQUE_API Config serialize(const AnyLoss &loss, SourceLocation where = SourceLocation::current());
// LookupError for a class or a function that is not known, ValueError for an option that the class has not.
CALQUE_API AnyLoss deserialize(const ConfigValue &config, SourceLocation where = SourceLocation::current());

// Gives a function a name for options and configs. ValueError for a name that is taken.
CALQUE_API void register_loss(const std::string &name, std::function<Tensor(const Tensor &, const Tensor &)> function,
                              SourceLocation where = SourceLocation::current());
// Names a class. ValueError for a name or a class that is known already.
using LossMaker = std::function<AnyLoss(const Config &own, LossOptions options)>;
CALQUE_API void register_loss(const std::string &class_name, std::type_index type, LossMaker make,
                              SourceLocation where = SourceLocation::current());
template <typename L>
  requires std::is_base_of_v<Loss, L>
void register_loss(const std::string &class_name, LossMaker make, SourceLocation where = SourceLocation::current()) {
  register_loss(class_name, typeid(L), std::move(make), where);
}

// The objects of the functions above.
#define CALQUE_DECLARE_LOSS(Name)                                                                                      \
  class CALQUE_API Name : public Loss {                                                                                \
  public:                                                                                                              \
    explicit Name(LossOptions options = {});                                                                           \
                                                                                                                       \
  protected:                                                                                                           \
    Tensor call(const Tensor &y_true, const Tensor &y_pred) const override;                                            \
  };
#define CALQUE_DECLARE_LOSS_WITH_OPTIONS(Name)                                                                         \
  class CALQUE_API Name : public Loss {                                                                                \
  public:                                                                                                              \
    explicit Name(Name##Options of = {}, LossOptions options = {});                                                    \
    Config own_config() const override;                                                                                \
                                                                                                                       \
  protected:                                                                                                           \
    Tensor call(const Tensor &y_true, const Tensor &y_pred) const override;                                            \
                                                                                                                       \
  private:                                                                                                             \
    Name##Options of;                                                                                                  \
  };
CALQUE_DECLARE_LOSS(MeanSquaredError)
CALQUE_DECLARE_LOSS(MeanAbsoluteError)
CALQUE_DECLARE_LOSS(MeanAbsolutePercentageError)
CALQUE_DECLARE_LOSS(MeanSquaredLogarithmicError)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(Huber)
CALQUE_DECLARE_LOSS(LogCosh)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(BinaryCrossentropy)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(BinaryFocalCrossentropy)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(CategoricalCrossentropy)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(CategoricalFocalCrossentropy)
CALQUE_DECLARE_LOSS(KLDivergence)
CALQUE_DECLARE_LOSS(Poisson)
CALQUE_DECLARE_LOSS(Hinge)
CALQUE_DECLARE_LOSS(SquaredHinge)
CALQUE_DECLARE_LOSS(CategoricalHinge)
CALQUE_DECLARE_LOSS_WITH_OPTIONS(CosineSimilarity)
#undef CALQUE_DECLARE_LOSS
#undef CALQUE_DECLARE_LOSS_WITH_OPTIONS

class CALQUE_API SparseCategoricalCrossentropy : public Loss {
public:
  explicit SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions of = {}, LossOptions options = {});
  Config own_config() const override;

protected:
  Tensor call(const Tensor &y_true, const Tensor &y_pred) const override;
  std::optional<Tensor> mask(const Tensor &y_true, const Tensor &y_pred) const override;

private:
  SparseCategoricalCrossentropyOptions of;
};

} // namespace calque::losses
#endif
