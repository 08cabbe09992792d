// Activation functions, and activations as options of layers.
//
//   Tensor y = activations::leaky_relu(x, 0.1);
//   layers::Dense dense(128, {.activation = "relu"});
//   layers::Activation own([](const Tensor &x) { return x * sigmoid(x); });
//   register_activation("swoosh", [](const Tensor &x) { return x * sigmoid(x); }); // now a name, for configs too
#ifndef CALQUE_ACTIVATIONS_H
#define CALQUE_ACTIVATIONS_H

#include "calque/callable.h"
#include "calque/config.h"
#include "calque/functions.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

namespace activations {

CALQUE_API Tensor linear(const Operand &x);
struct ReluOptions {
  double negative_slope = 0;                      // the slope below the threshold
  std::optional<double> max_value = std::nullopt; // the largest result
  double threshold = 0;
};
// x where it is at least the threshold, else negative_slope * (x - threshold); at most max_value.
CALQUE_API Tensor relu(const Operand &x, ReluOptions options = {});
CALQUE_API Tensor relu6(const Operand &x); // relu, at most 6
CALQUE_API Tensor leaky_relu(const Operand &x, double negative_slope = 0.2);
// alpha * (exp(x) - 1) below 0. Clevert, Unterthiner, Hochreiter: Fast and accurate deep network learning by
// exponential linear units, 2016.
CALQUE_API Tensor elu(const Operand &x, double alpha = 1);
// 1.0507 * elu(x, 1.6733). Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks, 2017.
CALQUE_API Tensor selu(const Operand &x);
// x * Phi(x), or its approximation by tanh. Hendrycks, Gimpel: Gaussian error linear units, 2016.
CALQUE_API Tensor gelu(const Operand &x, bool approximate = false);
CALQUE_API Tensor silu(const Operand &x);     // x * sigmoid(x), also called swish
CALQUE_API Tensor mish(const Operand &x);     // x * tanh(softplus(x)). Misra: Mish, 2019
using calque::softplus;                       // log(1 + exp(x)), which does not overflow
CALQUE_API Tensor softsign(const Operand &x); // x / (1 + |x|)
CALQUE_API Tensor sigmoid(const Operand &x);
CALQUE_API Tensor hard_sigmoid(const Operand &x); // x / 6 + 1/2, between 0 and 1
CALQUE_API Tensor hard_silu(const Operand &x);    // x * hard_sigmoid(x)
CALQUE_API Tensor tanh(const Operand &x);
// max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Barron: Continuously differentiable exponential linear units, 2017.
CALQUE_API Tensor celu(const Operand &x, double alpha = 1);
// The first half of x along an axis times the sigmoid of the second. Dauphin, Fan, Auli, Grangier: Language modeling
// with gated convolutional networks, 2017. ValueError for an odd size.
CALQUE_API Tensor glu(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor hard_tanh(const Operand &x);                           // x, between -1 and 1
CALQUE_API Tensor hard_shrink(const Operand &x, double threshold = 0.5); // x, or 0 where |x| is at most the threshold
CALQUE_API Tensor soft_shrink(const Operand &x, double threshold = 0.5); // x, nearer to 0 by the threshold
CALQUE_API Tensor tanh_shrink(const Operand &x);                         // x - tanh(x)
CALQUE_API Tensor log_sigmoid(const Operand &x);                         // log(sigmoid(x)), which does not overflow
CALQUE_API Tensor squareplus(const Operand &x, double b = 4);            // (x + sqrt(x^2 + b)) / 2
CALQUE_API Tensor sparse_plus(const Operand &x);                         // 0 below -1, x above 1, (x + 1)^2 / 4 between
// x where it is above the threshold, else the value. Options can't name this function, because its numbers have no
// defaults.
CALQUE_API Tensor threshold(const Operand &x, double threshold, double default_value);
// The nearest numbers along an axis that are not negative and add up to 1. Martins, Astudillo: From softmax to
// sparsemax, 2016.
CALQUE_API Tensor sparsemax(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor softmax(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor log_softmax(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor exponential(const Operand &x);

// The names that options take, in order.
CALQUE_API std::vector<std::string> names();

} // namespace activations

// Gives an activation of your own a name. ValueError for a name that is taken.
CALQUE_API void register_activation(const std::string &name, std::function<Tensor(const Tensor &)> f,
                                    SourceLocation where = SourceLocation::current());

namespace layers {

// An activation as an option: a name, which means the function with its defaults, or a callable on a tensor. "swish" is
// another name of "silu", and "hard_swish" of "hard_silu". ValueError for another name.
class CALQUE_API ActivationFunction {
public:
  ActivationFunction(const char *name, SourceLocation where = SourceLocation::current());
  ActivationFunction(const std::string &name, SourceLocation where = SourceLocation::current())
      : ActivationFunction(name.c_str(), where) {}
  template <typename F>
    requires(!std::is_same_v<F, ActivationFunction> && std::is_invocable_r_v<Tensor, F, const Tensor &>)
  ActivationFunction(F f, SourceLocation where = SourceLocation::current()) : apply_(std::move(f)) {
    calque::detail::requireCallable(apply_, "activation", where);
    if constexpr (std::is_same_v<std::decay_t<F>, Tensor (*)(const Operand &)>)
      name_ = nameOf(f);
  }
  Tensor operator()(const Tensor &x) const { return apply_(x); }

  // The name. StateError for a callable that is not registered.
  const std::string &get_config(SourceLocation where = SourceLocation::current()) const;
  bool is_linear() const { return name_ == "linear"; }

private:
  static std::string nameOf(Tensor (*function)(const Operand &));

  std::string name_; // empty for a callable
  std::function<Tensor(const Tensor &)> apply_;
};

} // namespace layers
} // namespace calque
#endif
