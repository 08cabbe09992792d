// The incomplete beta function and its slopes, of operands that broadcast.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @betainc(%arg0: tensor<3x1xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>, %arg3: tensor<?x?xf64>, %arg4: tensor<?x?xf64>, %arg5: tensor<?x?xf64>) {
  %0 = calque.betainc %arg0, %arg1, %arg2 : (tensor<3x1xf32>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = calque.betainc %arg3, %arg4, %arg5 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @betainc_slope_a(%arg0: tensor<3x1xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>, %arg3: tensor<?x?xf64>, %arg4: tensor<?x?xf64>, %arg5: tensor<?x?xf64>) {
  %0 = calque.betainc_slope_a %arg0, %arg1, %arg2 : (tensor<3x1xf32>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = calque.betainc_slope_a %arg3, %arg4, %arg5 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @betainc_slope_b(%arg0: tensor<3x1xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>, %arg3: tensor<?x?xf64>, %arg4: tensor<?x?xf64>, %arg5: tensor<?x?xf64>) {
  %0 = calque.betainc_slope_b %arg0, %arg1, %arg2 : (tensor<3x1xf32>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = calque.betainc_slope_b %arg3, %arg4, %arg5 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @beta_density(%arg0: tensor<3x1xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>, %arg3: tensor<?x?xf64>, %arg4: tensor<?x?xf64>, %arg5: tensor<?x?xf64>) {
  %0 = calque.beta_density %arg0, %arg1, %arg2 : (tensor<3x1xf32>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = calque.beta_density %arg3, %arg4, %arg5 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
