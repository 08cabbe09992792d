// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @betainc_of_integers(%a: tensor<3xi32>) {
  // expected-error @below {{betainc: takes floating-point numbers, not int32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.betainc %a, %a, %a : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @betainc_slope_a_of_integers(%a: tensor<3xi32>) {
  // expected-error @below {{betainc_slope_a: takes floating-point numbers, not int32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.betainc_slope_a %a, %a, %a : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @betainc_slope_b_of_integers(%a: tensor<3xi32>) {
  // expected-error @below {{betainc_slope_b: takes floating-point numbers, not int32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.betainc_slope_b %a, %a, %a : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @beta_density_of_integers(%a: tensor<3xi32>) {
  // expected-error @below {{beta_density: takes floating-point numbers, not int32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.beta_density %a, %a, %a : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xf32>
  return
}
