// Constraints: conditions that hold for weights after each step of an optimiser.
//
//   layers::Dense dense(128, {.kernel_constraint = constraints::MaxNorm({.max_value = 2})});
//   Variable rates(ones({3}), {.constraint = constraints::NonNeg()});
#ifndef CALQUE_CONSTRAINTS_H
#define CALQUE_CONSTRAINTS_H

#include "calque/call_site.h"
#include "calque/callable.h"
#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

// A constraint as an option of a layer: nothing, a name, the result of a function below, or a callable that returns the
// new value of a weight. The names are "max_norm", "non_neg", "unit_norm", "min_max_norm", and those that were
// registered. LookupError for another name.
class CALQUE_API Constraint {
public:
  using Function = std::function<Tensor(const Tensor &)>;

  Constraint() = default;
  Constraint(const char *name, SourceLocation where = SourceLocation::current());
  Constraint(const std::string &name, SourceLocation where = SourceLocation::current())
      : Constraint(name.c_str(), where) {}
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Constraint> && std::is_invocable_r_v<Tensor, F &, const Tensor &>)
  Constraint(F f, SourceLocation where = SourceLocation::current()) {
    detail::requireCallable(f, "constraint", where);
    function_ = [f = std::move(f)](const Tensor &w) mutable {
      UserCode scope;
      return Tensor(f(w));
    };
  }
  // Makes a constraint with the name and options by which a registered constraint can be made again.
  Constraint(std::string name, Config options, Function function)
      : name_(std::move(name)), options_(std::move(options)), function_(std::move(function)) {}

  // The new value of a weight: the weight itself if there is no constraint.
  Tensor operator()(const Tensor &w) const { return function_ ? function_(w) : w; }
  explicit operator bool() const { return function_ != nullptr; }

  // {"class_name": "max_norm", "config": {"max_value": 2, "axis": 0}}, and null for nothing. StateError for a callable
  // that is not registered.
  ConfigValue get_config(SourceLocation where = SourceLocation::current()) const;
  // Takes configs of get_config(), Keras' configs, such as {"class_name": "MaxNorm", ...}, and names.
  static Constraint from_config(const ConfigValue &config, SourceLocation where = SourceLocation::current());
  const std::string &name() const { return name_; }

private:
  std::string name_; // empty for a callable
  Config options_;
  Function function_;
};

// Gives a constraint of your own a name for options and configs. ValueError for a name that is taken.
CALQUE_API void register_constraint(const std::string &name, std::function<Constraint(const Config &options)> make,
                                    SourceLocation where = SourceLocation::current());

// Formulas, names and defaults are those of Keras 3. Norms are computed along axes: {0} gives a norm for each unit of a
// dense layer, and {0, 1, 2} one for each filter of a convolution of images. ValueError, when a layer is built, for an
// axis that the weight does not have.
namespace constraints {

struct MaxNormOptions {
  double max_value = 2;
  std::vector<std::int64_t> axis = {0};
};
// Keeps norms at most max_value. ValueError for a max_value below 0.
CALQUE_API Constraint MaxNorm(MaxNormOptions options = {}, SourceLocation where = SourceLocation::current());
// Keeps elements at least 0.
CALQUE_API Constraint NonNeg();
// Keeps norms at 1.
CALQUE_API Constraint UnitNorm(std::vector<std::int64_t> axis = {0});

struct MinMaxNormOptions {
  double min_value = 0, max_value = 1;
  double rate = 1; // the part of the way to the interval that a norm moves in a step; 1: into it
  std::vector<std::int64_t> axis = {0};
};
// Keeps norms between two values. ValueError for values below 0 or in the wrong order, and for a rate outside of [0,
// 1].
CALQUE_API Constraint MinMaxNorm(MinMaxNormOptions options = {}, SourceLocation where = SourceLocation::current());

} // namespace constraints
} // namespace calque
#endif
