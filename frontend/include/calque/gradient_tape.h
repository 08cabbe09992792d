// Derivatives: a tape notes what is computed from what it watches.
//
//   GradientTape tape;
//   tape.watch(x);
//   Tensor y = sum(x * x * w);
//   std::optional<Tensor> dx = tape.gradient(y, x); // trainable variables such as w are watched without being asked
#ifndef CALQUE_GRADIENT_TAPE_H
#define CALQUE_GRADIENT_TAPE_H

#include "calque/variable.h"

#include <optional>

namespace calque {

namespace detail {
class TapeState;
}

struct GradientTapeOptions {
  bool persistent = false;              // serves more than one gradient()
  bool watch_accessed_variables = true; // trainable ones, when they are read
};

// Records from construction to destruction, or to gradient() if it is not persistent, on the thread that made it. Tapes
// nest; an inner one's gradients are recorded by the outer ones.
class CALQUE_API GradientTape {
public:
  explicit GradientTape(GradientTapeOptions options = {}, SourceLocation where = SourceLocation::current());
  ~GradientTape();
  GradientTape(const GradientTape &) = delete;
  GradientTape &operator=(const GradientTape &) = delete;

  // From now on, what is computed from it has a derivative. An integer or bool has none, watched or not.
  void watch(const Tensor &x, SourceLocation where = SourceLocation::current());
  void watch(const Variable &x, SourceLocation where = SourceLocation::current());

  // The derivative of the sum of the targets' elements with respect to a source, of the source's type; none where no
  // path leads from the source to a target. `output_gradients` weigh the targets' elements: as many, of the targets'
  // types (ValueError, ShapeError, DTypeError). A second use is a StateError unless the tape is persistent.
  std::optional<Tensor> gradient(const Tensor &target, const Tensor &source,
                                 const std::vector<Tensor> &output_gradients = {},
                                 SourceLocation where = SourceLocation::current());
  std::optional<Tensor> gradient(const Tensor &target, const Variable &source,
                                 const std::vector<Tensor> &output_gradients = {},
                                 SourceLocation where = SourceLocation::current());
  std::vector<std::optional<Tensor>> gradient(const Tensor &target, const std::vector<Tensor> &sources,
                                              const std::vector<Tensor> &output_gradients = {},
                                              SourceLocation where = SourceLocation::current());
  std::vector<std::optional<Tensor>> gradient(const Tensor &target, const std::vector<Variable> &sources,
                                              const std::vector<Tensor> &output_gradients = {},
                                              SourceLocation where = SourceLocation::current());
  // Several targets: their derivatives are summed.
  std::vector<std::optional<Tensor>> gradient(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                              const std::vector<Tensor> &output_gradients = {},
                                              SourceLocation where = SourceLocation::current());
  std::vector<std::optional<Tensor>> gradient(const std::vector<Tensor> &targets, const std::vector<Variable> &sources,
                                              const std::vector<Tensor> &output_gradients = {},
                                              SourceLocation where = SourceLocation::current());

  // The variables watched so far, in the order in which they were met.
  std::vector<Variable> watched_variables() const;

private:
  std::unique_ptr<detail::TapeState> state_;
};

// The function that gives f's derivative with respect to its first argument; f takes tensors and gives one.
// Zeros where the result does not depend on the argument.
template <typename F> auto value_and_grad(F f) {
  return [f](const Tensor &x, const auto &...others) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = f(x, others...);
    std::optional<Tensor> gradient = tape.gradient(y, x);
    return std::pair<Tensor, Tensor>(y, gradient ? *gradient : zeros(x.shape(), x.dtype()));
  };
}
template <typename F> auto grad(F f) {
  return [f](const Tensor &x, const auto &...others) { return value_and_grad(f)(x, others...).second; };
}

} // namespace calque
#endif
