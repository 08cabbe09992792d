// Operations on bands are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @banded_solve(%arg0: tensor<4x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<?x4x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %0 = calque.banded_solve %arg0, %arg1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.banded_solve %arg2, %arg3 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @positive_banded_solve(%arg0: tensor<4x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<?x4x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %0 = calque.positive_banded_solve %arg0, %arg1 {lower = 3 : i64, upper = 0 : i64} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.positive_banded_solve %arg2, %arg3 {lower = 3 : i64, upper = 0 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @banded_product(%arg0: tensor<4x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<?x4x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %0 = calque.banded_product %arg0, %arg1 {lower = 1 : i64, transposed = true, upper = 2 : i64} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.banded_product %arg2, %arg3 {lower = 1 : i64, transposed = true, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @band_of_product(%arg0: tensor<3x2xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %0 = calque.band_of_product %arg0, %arg1 {lower = 1 : i64, upper = 2 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %1 = calque.band_of_product %arg2, %arg3 {lower = 1 : i64, upper = 2 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x4x?xf64>
  return
}
