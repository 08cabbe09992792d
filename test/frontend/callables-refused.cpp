// Must not compile, each for a reason of its own: callables whose arguments are not known, not taken or changed, and
// structures that derivatives can't have.
#include "calque/calque.h"

using namespace calque;

#define CASE_generic 1
#define CASE_transformed_generic 2
#define CASE_other_arguments 3
#define CASE_nine_arguments 4
#define CASE_host_number 5
#define CASE_host_reference 6
#define CASE_function_reference 7
#define CASE_number_reference 8
#define CASE_struct_reference 9
#define CASE_named_reference 10
#define CASE_method_reference 11
#define CASE_member_reference 12
#define CASE_grad_reference 13
#define CASE_vmap_reference 14
#define CASE_jvp_reference 15
#define CASE_vjp_reference 16
#define CASE_checkpoint_reference 17
#define CASE_custom_gradient_reference 18
#define CASE_pullback_reference 19
#define CASE_generic_reference 20
#define CASE_wrapped_reference 21
#define CASE_second_reference 22
#define CASE_tuple_of_references 23
#define CASE_struct_of_references 24
#define CASE_struct_of_const_references 25
#define CASE_gradient_struct 26
#define CASE_gradients_struct 27
#define CASE_tape_jacobian_struct 28
#define CASE_jacobian_struct 29
#define CASE_batch_jacobian_struct 30
#define CASE_hessian_struct 31
#define CASE_grad_of_two 32
#define CASE_grad_of_none 33
#define CASE_jacobian_of_two 34
#define SELECT(name) CASE_##name
#define SELECTED(name) SELECT(name)

struct Weights {
  Variable w, b;
};
struct Parts {
  Tensor a, b;
};
struct Bound {
  Tensor a;
  Tensor &b;
};
struct BoundToConst {
  const Tensor &a;
};
struct Model {
  Tensor change(Tensor &x) { return x = x * 2; }
#if SELECTED(ARGUMENT) == CASE_member_reference
  Method<Tensor(Tensor &)> method{this, &Model::change};
#endif
};

void call(Tensor &x, const Weights &weights, const Parts &parts) {
  [[maybe_unused]] auto change = [](Tensor &y) { return y = y * 2; };
  [[maybe_unused]] auto two = [](const Tensor &y) { return std::pair(y, y); };
  (void)x, (void)weights, (void)parts;
#if SELECTED(ARGUMENT) == CASE_generic
  function([](auto y) { return y; });
#elif SELECTED(ARGUMENT) == CASE_transformed_generic
  function(vmap([](const auto &y) { return y; }));
#elif SELECTED(ARGUMENT) == CASE_other_arguments
  function<Tensor(const Tensor &)>([](const Variable &v) { return v.value(); });
#elif SELECTED(ARGUMENT) == CASE_nine_arguments
  vmap([](const auto &...y) { return (y + ...); })(x, x, x, x, x, x, x, x, x);
#elif SELECTED(ARGUMENT) == CASE_host_number
  host_call([](int) { return ones({1}); }, {x});
#elif SELECTED(ARGUMENT) == CASE_host_reference
  host_call(change, {x});
#elif SELECTED(ARGUMENT) == CASE_function_reference
  function(change)(x);
#elif SELECTED(ARGUMENT) == CASE_number_reference
  function([](const Tensor &y, int &n) { return y * n++; });
#elif SELECTED(ARGUMENT) == CASE_struct_reference
  function([](Parts &p) { return p.a = p.b; });
#elif SELECTED(ARGUMENT) == CASE_named_reference
  function<Tensor(Tensor)>(change)(x);
#elif SELECTED(ARGUMENT) == CASE_method_reference
  Model model;
  function(&model, &Model::change)(x);
#elif SELECTED(ARGUMENT) == CASE_member_reference
  Model().method(x);
#elif SELECTED(ARGUMENT) == CASE_grad_reference
  grad(change)(x);
#elif SELECTED(ARGUMENT) == CASE_vmap_reference
  function(vmap(change))(x);
#elif SELECTED(ARGUMENT) == CASE_jvp_reference
  jvp(change, x, x);
#elif SELECTED(ARGUMENT) == CASE_vjp_reference
  vjp(change, x);
#elif SELECTED(ARGUMENT) == CASE_checkpoint_reference
  checkpoint(change)(x);
#elif SELECTED(ARGUMENT) == CASE_custom_gradient_reference
  custom_gradient([](Tensor &y) { return std::pair(y, [](const Tensor &g) { return g; }); })(x);
#elif SELECTED(ARGUMENT) == CASE_pullback_reference
  custom_gradient([=](const Tensor &y) { return std::pair(y, change); })(x);
#elif SELECTED(ARGUMENT) == CASE_generic_reference
  grad([](auto &y) { return y = y * 2; })(x);
#elif SELECTED(ARGUMENT) == CASE_wrapped_reference
  function(std::ref(change))(x);
#elif SELECTED(ARGUMENT) == CASE_second_reference
  hessian([](const Tensor &y, Tensor &z) { return z = y * 2; })(x, x);
#elif SELECTED(ARGUMENT) == CASE_tuple_of_references
  function([](const std::tuple<Tensor &> &y) { return std::get<0>(y) = ones({2}); })(std::tie(x));
#elif SELECTED(ARGUMENT) == CASE_struct_of_references
  function([](const Bound &y) { return y.b = y.a; })({x, x});
#elif SELECTED(ARGUMENT) == CASE_struct_of_const_references
  function([](const BoundToConst &y) { return y.a * 2; })({x});
#elif SELECTED(ARGUMENT) == CASE_gradient_struct
  GradientTape().gradient(x, weights);
#elif SELECTED(ARGUMENT) == CASE_gradients_struct
  GradientTape().gradient({x, x}, std::vector{weights});
#elif SELECTED(ARGUMENT) == CASE_tape_jacobian_struct
  GradientTape().jacobian(x, weights);
#elif SELECTED(ARGUMENT) == CASE_jacobian_struct
  jacobian([](const Parts &p) { return p.a * p.b; })(parts);
#elif SELECTED(ARGUMENT) == CASE_batch_jacobian_struct
  batch_jacobian([](const Parts &p) { return p.a * p.b; })(parts);
#elif SELECTED(ARGUMENT) == CASE_hessian_struct
  hessian([](const Parts &p) { return p.a * p.b; })(parts);
#elif SELECTED(ARGUMENT) == CASE_grad_of_two
  grad(two)(x);
#elif SELECTED(ARGUMENT) == CASE_grad_of_none
  grad([](const Tensor &) {})(x);
#elif SELECTED(ARGUMENT) == CASE_jacobian_of_two
  jacobian(two)(x);
#endif
}
