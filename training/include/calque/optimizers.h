// Optimisers, which update variables by gradients.
//
//   optimizers::Adam adam(1e-3);
//   std::vector<Variable> weights = net.trainable_variables();
//   adam.apply_gradients(tape.gradient(loss, weights), weights);
//   adam.learning_rate().assign(1e-4); // also in between the calls of a compiled step
//
// An optimiser is a module. Its variables are the learning rate, the number of steps, and the slots: the state that it
// keeps for each variable.
#ifndef CALQUE_OPTIMIZERS_H
#define CALQUE_OPTIMIZERS_H

#include "calque/module.h"

#include <unordered_map>

namespace calque::optimizers {

class CALQUE_API Optimizer : public Module {
public:
  // A float64 scalar; the number of steps is an int64 scalar.
  Variable learning_rate() const { return learningRate; }
  Variable iterations() const { return steps; }

  // One step. Variables without a gradient stay as they are. A variable's slots are made at its first step, eagerly or
  // in a function's first trace. ValueError for another number of gradients than variables, where all gradients are
  // none, and for a variable given twice; ShapeError and DTypeError for a gradient that is not of its variable's type;
  // StateError for a variable that is an argument of the function being traced.
  void apply_gradients(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables,
                       SourceLocation where = SourceLocation::current());

protected:
  // ValueError for a learning rate below 0. `slots` are the names of each variable's slots, which start as zeros.
  Optimizer(std::string kind, double learningRate, std::vector<std::string> slots, SourceLocation where);
  // Called once a step, after the number of steps was increased and before the updates. Returns their rate.
  virtual Tensor prepare() { return learningRate.value(SourceLocation()); }
  // Updates one variable. `rate` is the result of prepare(), in the variable's element type.
  virtual void update(Variable &variable, const Tensor &gradient, const Tensor &rate, std::vector<Variable> &slots) = 0;

private:
  std::vector<Variable> &slotsOf(const Variable &variable);

  struct Slots {
    Variable of; // keeps the variable alive, so that no other one gets its address
    std::vector<Variable> variables;
  };
  std::string kind;
  const char *const inMessages; // the kind, for as long as the process lives
  std::vector<std::string> slotNames;
  Variable learningRate, steps;
  std::unordered_map<const void *, Slots> slots;
};

struct SGDOptions {
  double momentum = 0;
  bool nesterov = false; // the step looks ahead along the velocity
};
// w -= rate * g, or with momentum v = momentum * v - rate * g; w += v, or with Nesterov's w += momentum * v - rate * g.
// Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep learning, 2013. ValueError
// for a momentum outside [0, 1), or Nesterov's without one.
class CALQUE_API SGD : public Optimizer {
public:
  explicit SGD(double learning_rate = 0.01, SGDOptions options = {}, SourceLocation where = SourceLocation::current());

protected:
  void update(Variable &variable, const Tensor &gradient, const Tensor &rate, std::vector<Variable> &slots) override;

private:
  const SGDOptions options;
};

struct AdamOptions {
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
// Kingma, Ba: Adam, a method for stochastic optimization, 2015; with the bias corrections folded into the rate, as its
// section 2 has it, so that epsilon is the paper's epsilon hat. ValueError for betas outside [0, 1) and an epsilon
// below 0.
class CALQUE_API Adam : public Optimizer {
public:
  explicit Adam(double learning_rate = 1e-3, AdamOptions options = {},
                SourceLocation where = SourceLocation::current());

protected:
  Tensor prepare() override;
  void update(Variable &variable, const Tensor &gradient, const Tensor &rate, std::vector<Variable> &slots) override;

private:
  const AdamOptions options;
};

} // namespace calque::optimizers
#endif
