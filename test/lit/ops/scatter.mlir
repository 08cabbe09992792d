// Operations whose indices name several dimensions are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// The last dimension of the indices may name all dimensions, or none.
// EACH 2 gatherNd
func.func @OP(%arg0: tensor<4x3xi1>, %arg1: tensor<5x2xi32>, %arg2: tensor<?x3x?xf32>, %arg3: tensor<2x?x1xi64>, %arg4: tensor<f64>, %arg5: tensor<2x0xi64>) {
  %0 = calque.OP %arg0, %arg1 : (tensor<4x3xi1>, tensor<5x2xi32>) -> tensor<5xi1>
  %1 = calque.OP %arg2, %arg3 : (tensor<?x3x?xf32>, tensor<2x?x1xi64>) -> tensor<2x?x3x?xf32>
  %2 = calque.OP %arg4, %arg5 : (tensor<f64>, tensor<2x0xi64>) -> tensor<2xf64>
  return
}

// -----

// EACH 3 scatterNd scatterNdNumeric
func.func @OP(%arg0: tensor<4x3xi32>, %arg1: tensor<5x2xi32>, %arg2: tensor<5xi32>, %arg3: tensor<?x3x?xf32>, %arg4: tensor<2x?x1xi64>, %arg5: tensor<2x4x?x?xf32>, %arg6: tensor<f64>, %arg7: tensor<2x0xi64>, %arg8: tensor<2xf64>) {
  %0 = calque.OP %arg0, %arg1, %arg2 : (tensor<4x3xi32>, tensor<5x2xi32>, tensor<5xi32>) -> tensor<4x3xi32>
  %1 = calque.OP %arg3, %arg4, %arg5 : (tensor<?x3x?xf32>, tensor<2x?x1xi64>, tensor<2x4x?x?xf32>) -> tensor<?x3x?xf32>
  %2 = calque.OP %arg6, %arg7, %arg8 : (tensor<f64>, tensor<2x0xi64>, tensor<2xf64>) -> tensor<f64>
  return
}
