// Regularisers: functions of layers' weights and results whose values are added to the loss.
//
//   layers::Dense dense(128, {.kernel_regularizer = regularizers::l2(1e-4)});
//   dense(x);
//   dense.losses(); // 1e-4 * sum(square(kernel))
//   layers::Dense even(128, {.activity_regularizer = [](const Tensor &y) { return square(mean(y)); }});
#ifndef CALQUE_REGULARIZERS_H
#define CALQUE_REGULARIZERS_H

#include "calque/call_site.h"
#include "calque/callable.h"
#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

// A regulariser as an option of a layer: nothing, a name, the result of a function below, or a callable on a tensor
// that returns a scalar. The names are "l1", "l2", "l1_l2", and those that were registered. LookupError for another
// name.
class CALQUE_API Regularizer {
public:
  using Function = std::function<Tensor(const Tensor &)>;

  Regularizer() = default;
  Regularizer(const char *name, SourceLocation where = SourceLocation::current());
  Regularizer(const std::string &name, SourceLocation where = SourceLocation::current())
      : Regularizer(name.c_str(), where) {}
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Regularizer> && std::is_invocable_r_v<Tensor, F &, const Tensor &>)
  Regularizer(F f, SourceLocation where = SourceLocation::current()) {
    detail::requireCallable(f, "regularizer", where);
    function_ = [f = std::move(f)](const Tensor &x) mutable {
      UserCode scope;
      return Tensor(f(x));
    };
  }
  // Makes a regulariser with the name and options by which a registered regulariser can be made again.
  Regularizer(std::string name, Config options, Function function)
      : name_(std::move(name)), options_(std::move(options)), function_(std::move(function)) {}

  // ValueError for a callable that does not return a scalar.
  Tensor operator()(const Tensor &x) const;
  explicit operator bool() const { return function_ != nullptr; }

  // {"class_name": "l1_l2", "config": {"l1": 0, "l2": 0.01}}, and null for nothing. StateError for a callable that is
  // not registered.
  ConfigValue get_config(SourceLocation where = SourceLocation::current()) const;
  // Takes configs of get_config(), Keras' configs, such as {"class_name": "L2", "config": {"l2": 0.01}}, {"l1": 0,
  // "l2": 0.01}, and names.
  static Regularizer from_config(const ConfigValue &config, SourceLocation where = SourceLocation::current());
  const std::string &name() const { return name_; }

private:
  std::string name_; // empty for a callable
  Config options_;
  Function function_;
};

// Gives a regulariser of your own a name for options and configs. ValueError for a name that is taken.
CALQUE_API void register_regularizer(const std::string &name, std::function<Regularizer(const Config &options)> make,
                                     SourceLocation where = SourceLocation::current());

namespace regularizers {
// factor * sum(|x|), factor * sum(x * x), and both. ValueError for factors that are not finite or below 0.
CALQUE_API Regularizer l1(double factor = 0.01, SourceLocation where = SourceLocation::current());
CALQUE_API Regularizer l2(double factor = 0.01, SourceLocation where = SourceLocation::current());
CALQUE_API Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01, SourceLocation where = SourceLocation::current());
} // namespace regularizers
} // namespace calque
#endif
