// Must not compile, each for a reason of its own: callables whose arguments are not known, not taken or changed, calls
// with other arguments than they take, pullbacks that are none, callables that can't be copied, and structures that
// derivatives can't have.
#include "calque/calque.h"

#include <list>

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
#define CASE_gradient_list 26
#define CASE_gradients_list 27
#define CASE_tape_jacobian_struct 28
#define CASE_jacobian_struct 29
#define CASE_batch_jacobian_struct 30
#define CASE_hessian_struct 31
#define CASE_grad_of_two 32
#define CASE_grad_of_none 33
#define CASE_jacobian_of_two 34
#define CASE_count_vmap 35
#define CASE_count_nested 36
#define CASE_count_too_many 37
#define CASE_count_grad 38
#define CASE_count_jacobian 39
#define CASE_count_checkpoint 40
#define CASE_count_jvp 41
#define CASE_count_vjp 42
#define CASE_count_custom_gradient 43
#define CASE_types_grad 44
#define CASE_types_vmap 45
#define CASE_types_generic 46
#define CASE_first_grad 47
#define CASE_first_value_and_grad 48
#define CASE_first_jacobian 49
#define CASE_first_batch_jacobian 50
#define CASE_first_hessian 51
#define CASE_direction_none 52
#define CASE_direction_two 53
#define CASE_direction_type 54
#define CASE_no_pair 55
#define CASE_pullback_of_two 56
#define CASE_pullback_of_number 57
#define CASE_pullback_is_tensor 58
#define CASE_pullback_gives_nothing 59
#define CASE_method_alone 60
#define CASE_copy_lvalue 62
#define CASE_copy_grad_lvalue 63
#define CASE_copy_custom_gradient 64
#define CASE_print_pointer 65
#define CASE_tangents_type 66
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
  [[maybe_unused]] auto square = [](const Tensor &y) { return sum(y * y); };
  [[maybe_unused]] auto product = [](const Tensor &y, const Tensor &z) { return sum(y * z); };
  [[maybe_unused]] auto scaled = [](const Tensor &y, int n) { return sum(y) * n; };
  [[maybe_unused]] auto owner = [p = std::make_unique<int>(2)](const Tensor &y) { return y * *p; };
  [[maybe_unused]] auto pairOwner = [=, p = std::make_unique<int>(2)](const Tensor &y) {
    return std::pair(y * *p, square);
  };
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
#elif SELECTED(ARGUMENT) == CASE_gradient_list
  GradientTape().gradient(x, std::list{weights.w});
#elif SELECTED(ARGUMENT) == CASE_gradients_list
  GradientTape().gradient({x, x}, std::vector{std::list{weights.w}});
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
#elif SELECTED(ARGUMENT) == CASE_count_vmap
  vmap(product)(x);
#elif SELECTED(ARGUMENT) == CASE_count_nested
  vmap(vmap(product))(x);
#elif SELECTED(ARGUMENT) == CASE_count_too_many
  vmap(square)(x, x);
#elif SELECTED(ARGUMENT) == CASE_count_grad
  grad(scaled)(x);
#elif SELECTED(ARGUMENT) == CASE_count_jacobian
  jacobian(product)(x);
#elif SELECTED(ARGUMENT) == CASE_count_checkpoint
  checkpoint(product)(x);
#elif SELECTED(ARGUMENT) == CASE_count_jvp
  jvp(product, x, x);
#elif SELECTED(ARGUMENT) == CASE_count_vjp
  vjp(product, std::tuple(x, x, x));
#elif SELECTED(ARGUMENT) == CASE_count_custom_gradient
  custom_gradient([=](const Tensor &y, int) { return std::pair(y, square); })(x);
#elif SELECTED(ARGUMENT) == CASE_types_grad
  grad(scaled)(x, x);
#elif SELECTED(ARGUMENT) == CASE_types_vmap
  vmap(square)(std::vector{x});
#elif SELECTED(ARGUMENT) == CASE_types_generic
  grad([](const auto &y, int n) { return y * n; })(x);
#elif SELECTED(ARGUMENT) == CASE_first_grad
  grad(square)();
#elif SELECTED(ARGUMENT) == CASE_first_value_and_grad
  value_and_grad(square)();
#elif SELECTED(ARGUMENT) == CASE_first_jacobian
  jacobian(square)();
#elif SELECTED(ARGUMENT) == CASE_first_batch_jacobian
  batch_jacobian(square)();
#elif SELECTED(ARGUMENT) == CASE_first_hessian
  hessian(square)();
#elif SELECTED(ARGUMENT) == CASE_direction_none
  hvp(square)(x);
#elif SELECTED(ARGUMENT) == CASE_direction_two
  hvp(square)(x, x, x);
#elif SELECTED(ARGUMENT) == CASE_direction_type
  hvp(square)(x, std::vector{x});
#elif SELECTED(ARGUMENT) == CASE_tangents_type
  jvp(square, x, std::vector{x});
#elif SELECTED(ARGUMENT) == CASE_no_pair
  custom_gradient(square)(x);
#elif SELECTED(ARGUMENT) == CASE_pullback_of_two
  custom_gradient([=](const Tensor &y) { return std::pair(y, product); })(x);
#elif SELECTED(ARGUMENT) == CASE_pullback_of_number
  custom_gradient([](const Tensor &y) { return std::pair(y, [](int) { return ones({2}); }); })(x);
#elif SELECTED(ARGUMENT) == CASE_pullback_is_tensor
  custom_gradient([](const Tensor &y) { return std::pair(y, y); })(x);
#elif SELECTED(ARGUMENT) == CASE_pullback_gives_nothing
  custom_gradient([](const Tensor &y) { return std::pair(y, [](const Tensor &) {}); })(x);
#elif SELECTED(ARGUMENT) == CASE_method_alone
  function(&Model::change);
#elif SELECTED(ARGUMENT) == CASE_print_pointer
  print("x", &x);
#elif SELECTED(ARGUMENT) == CASE_copy_lvalue
  vmap(owner)(x);
#elif SELECTED(ARGUMENT) == CASE_copy_grad_lvalue
  grad(owner)(x);
#elif SELECTED(ARGUMENT) == CASE_copy_custom_gradient
  custom_gradient(pairOwner)(x);
#endif
}
