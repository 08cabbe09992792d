// Activation functions: as functions, and as options of layers.
//
//   Tensor y = activations::leaky_relu(x, 0.1);
//   layers::Dense dense(128, {.activation = "relu"});
//   layers::Activation own([](const Tensor &x) { return x * sigmoid(x); });
//   register_activation("swoosh", [](const Tensor &x) { return x * sigmoid(x); }); // now a name, for configs too
#ifndef CALQUE_ACTIVATIONS_H
#define CALQUE_ACTIVATIONS_H

#include "calque/callable.h"
#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

namespace activations {

CALQUE_API Tensor linear(const Operand &x);
struct ReluOptions {
  double negative_slope = 0;                      // below the threshold
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
CALQUE_API Tensor softplus(const Operand &x); // log(1 + exp(x)), which does not overflow
CALQUE_API Tensor softsign(const Operand &x); // x / (1 + |x|)
CALQUE_API Tensor sigmoid(const Operand &x);
CALQUE_API Tensor hard_sigmoid(const Operand &x); // x / 6 + 1/2, between 0 and 1
CALQUE_API Tensor hard_silu(const Operand &x);    // x * hard_sigmoid(x)
CALQUE_API Tensor tanh(const Operand &x);
CALQUE_API Tensor softmax(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor log_softmax(const Operand &x, std::int64_t axis = -1);
CALQUE_API Tensor exponential(const Operand &x);

// The names that options take, in order.
CALQUE_API std::vector<std::string> names();

} // namespace activations

// Makes an activation of one's own known by a name. ValueError for a name that is taken.
CALQUE_API void register_activation(const std::string &name, std::function<Tensor(const Tensor &)> f,
                                    SourceLocation where = SourceLocation::current());

namespace layers {

// The name of an activation, with its defaults ("swish" is "silu" too), or a callable on a tensor. ValueError for a
// name that there is not.
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

  // Its name. StateError for a callable that is not registered.
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
