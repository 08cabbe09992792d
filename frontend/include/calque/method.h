// Methods: members that are compiled functions of their object. Each object has traces of its own.
//
//   class Model {
//   public:
//     Method<Tensor(const Tensor &)> predict{this, &Model::forward};
//
//   private:
//     Tensor forward(const Tensor &x) { return x * w; }
//     Variable w{2.0f};
//   };
//   Model().predict(x);
#ifndef CALQUE_METHOD_H
#define CALQUE_METHOD_H

#include "calque/function.h"

namespace calque {

// A copy of a Function still calls the original's object. Therefore a Method can't be copied, and its class is not
// copied or moved by accident. A class that needs copies defines a copy constructor that makes another Method for the
// copy.
//
// `grad(model.predict)`, `vmap(model.predict)` and so on keep a copy of the Method's Function. function(model.predict)
// makes another Function with traces of its own. All of these call the object, which must live as long as they are
// called.
template <typename Signature> class Method;
template <typename R, typename... Args> class Method<R(Args...)> : public Function<R(Args...)> {
public:
  using CalqueHeld = Function<R(Args...)>;

  template <typename D, typename C>
    requires std::is_base_of_v<C, D>
  Method(D *object, R (C::*method)(Args...), FunctionOptions options = {},
         SourceLocation where = SourceLocation::current())
      : Function<R(Args...)>(function(object, method, std::move(options), where)) {}
  template <typename D, typename C>
    requires std::is_base_of_v<C, D>
  Method(const D *object, R (C::*method)(Args...) const, FunctionOptions options = {},
         SourceLocation where = SourceLocation::current())
      : Function<R(Args...)>(function(object, method, std::move(options), where)) {}
  Method(const Method &) = delete;
  Method &operator=(const Method &) = delete;
};

} // namespace calque
#endif
