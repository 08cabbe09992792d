// Elementwise operations are printed as they are read, by name and in generic form: ranks 0 to 5, odd sizes,
// empty and unknown dimensions, every element type of the rule.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// EACH 1 elementwiseNumeric elementwiseMagnitude
func.func @OP(%arg0: tensor<f32>, %arg1: tensor<7xf64>, %arg2: tensor<0x3xi32>, %arg3: tensor<3x1x5xi64>, %arg4: tensor<?x3xf32>, %arg5: tensor<?x?x1x0x9xf64>) {
  %0 = calque.OP %arg0 : (tensor<f32>) -> tensor<f32>
  %1 = calque.OP %arg1 : (tensor<7xf64>) -> tensor<7xf64>
  %2 = calque.OP %arg2 : (tensor<0x3xi32>) -> tensor<0x3xi32>
  %3 = calque.OP %arg3 : (tensor<3x1x5xi64>) -> tensor<3x1x5xi64>
  %4 = calque.OP %arg4 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %5 = calque.OP %arg5 : (tensor<?x?x1x0x9xf64>) -> tensor<?x?x1x0x9xf64>
  return
}

// -----

// EACH 1 elementwiseFloat
func.func @OP(%arg0: tensor<f64>, %arg1: tensor<7xf32>, %arg2: tensor<0x3xf64>, %arg3: tensor<3x1x5x2xf32>, %arg4: tensor<?x3xf32>, %arg5: tensor<1x?x1x0x9xf64>) {
  %0 = calque.OP %arg0 : (tensor<f64>) -> tensor<f64>
  %1 = calque.OP %arg1 : (tensor<7xf32>) -> tensor<7xf32>
  %2 = calque.OP %arg2 : (tensor<0x3xf64>) -> tensor<0x3xf64>
  %3 = calque.OP %arg3 : (tensor<3x1x5x2xf32>) -> tensor<3x1x5x2xf32>
  %4 = calque.OP %arg4 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %5 = calque.OP %arg5 : (tensor<1x?x1x0x9xf64>) -> tensor<1x?x1x0x9xf64>
  return
}

// -----

// EACH 1 elementwiseTest
func.func @OP(%arg0: tensor<f64>, %arg1: tensor<0x7xf32>, %arg2: tensor<?x3xf32>) {
  %0 = calque.OP %arg0 : (tensor<f64>) -> tensor<i1>
  %1 = calque.OP %arg1 : (tensor<0x7xf32>) -> tensor<0x7xi1>
  %2 = calque.OP %arg2 : (tensor<?x3xf32>) -> tensor<?x3xi1>
  return
}

// -----

// EACH 1 elementwiseBool
func.func @OP(%arg0: tensor<i1>, %arg1: tensor<0x7xi1>, %arg2: tensor<?x3xi1>) {
  %0 = calque.OP %arg0 : (tensor<i1>) -> tensor<i1>
  %1 = calque.OP %arg1 : (tensor<0x7xi1>) -> tensor<0x7xi1>
  %2 = calque.OP %arg2 : (tensor<?x3xi1>) -> tensor<?x3xi1>
  return
}

// -----

// Operands broadcast from the last dimension on. An unknown dimension is not broadcast: against 3 it is 3, against 1 it
// stays unknown.
// EACH 2 elementwiseNumeric
func.func @OP(%arg0: tensor<f32>, %arg1: tensor<2x1x3xf32>, %arg2: tensor<5x1xf32>, %arg3: tensor<7xi32>, %arg4: tensor<0x1xi64>, %arg5: tensor<3xi64>, %arg6: tensor<?x3xf64>, %arg7: tensor<?xf64>, %arg8: tensor<2x1x1x5x3xf64>) {
  %0 = calque.OP %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = calque.OP %arg0, %arg1 : (tensor<f32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %2 = calque.OP %arg1, %arg2 : (tensor<2x1x3xf32>, tensor<5x1xf32>) -> tensor<2x5x3xf32>
  %3 = calque.OP %arg3, %arg3 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  %4 = calque.OP %arg4, %arg5 : (tensor<0x1xi64>, tensor<3xi64>) -> tensor<0x3xi64>
  %5 = calque.OP %arg6, %arg7 : (tensor<?x3xf64>, tensor<?xf64>) -> tensor<?x3xf64>
  %6 = calque.OP %arg7, %arg8 : (tensor<?xf64>, tensor<2x1x1x5x3xf64>) -> tensor<2x1x1x5x3xf64>
  %7 = calque.OP %arg6, %arg8 : (tensor<?x3xf64>, tensor<2x1x1x5x3xf64>) -> tensor<2x1x1x5x3xf64>
  return
}

// -----

// EACH 1 elementwiseBits elementwiseInteger
func.func @OP(%arg0: tensor<i32>, %arg1: tensor<0x7xi64>, %arg2: tensor<?x3xi32>) {
  %0 = calque.OP %arg0 : (tensor<i32>) -> tensor<i32>
  %1 = calque.OP %arg1 : (tensor<0x7xi64>) -> tensor<0x7xi64>
  %2 = calque.OP %arg2 : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return
}

// -----

// EACH 2 elementwiseBits elementwiseInteger
func.func @OP(%arg0: tensor<i32>, %arg1: tensor<2x1x3xi32>, %arg2: tensor<?x3xi64>, %arg3: tensor<?xi64>) {
  %0 = calque.OP %arg0, %arg1 : (tensor<i32>, tensor<2x1x3xi32>) -> tensor<2x1x3xi32>
  %1 = calque.OP %arg2, %arg3 : (tensor<?x3xi64>, tensor<?xi64>) -> tensor<?x3xi64>
  return
}

// -----

// EACH 2 elementwiseFloat
func.func @OP(%arg0: tensor<f32>, %arg1: tensor<2x1x3xf32>, %arg2: tensor<0x1xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<?xf64>) {
  %0 = calque.OP %arg0, %arg1 : (tensor<f32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %1 = calque.OP %arg2, %arg4 : (tensor<0x1xf64>, tensor<?xf64>) -> tensor<0x?xf64>
  %2 = calque.OP %arg3, %arg4 : (tensor<?x3xf64>, tensor<?xf64>) -> tensor<?x3xf64>
  return
}

// -----

// EACH 2 elementwiseComparison
func.func @OP(%arg0: tensor<i1>, %arg1: tensor<7xi32>, %arg2: tensor<0x1xi64>, %arg3: tensor<3xi64>, %arg4: tensor<2x1x3xf32>, %arg5: tensor<5x1xf32>, %arg6: tensor<?x?xf64>, %arg7: tensor<3xf64>) {
  %0 = calque.OP %arg0, %arg0 : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %1 = calque.OP %arg1, %arg1 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
  %2 = calque.OP %arg2, %arg3 : (tensor<0x1xi64>, tensor<3xi64>) -> tensor<0x3xi1>
  %3 = calque.OP %arg4, %arg5 : (tensor<2x1x3xf32>, tensor<5x1xf32>) -> tensor<2x5x3xi1>
  %4 = calque.OP %arg6, %arg7 : (tensor<?x?xf64>, tensor<3xf64>) -> tensor<?x3xi1>
  return
}

// -----

// EACH 2 elementwiseBool
func.func @OP(%arg0: tensor<i1>, %arg1: tensor<2x1x3xi1>, %arg2: tensor<5x1xi1>, %arg3: tensor<?x1xi1>, %arg4: tensor<1x?xi1>) {
  %0 = calque.OP %arg0, %arg0 : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %1 = calque.OP %arg1, %arg2 : (tensor<2x1x3xi1>, tensor<5x1xi1>) -> tensor<2x5x3xi1>
  %2 = calque.OP %arg3, %arg4 : (tensor<?x1xi1>, tensor<1x?xi1>) -> tensor<?x?xi1>
  return
}

// -----

func.func @where(%arg0: tensor<i1>, %arg1: tensor<2x1xi1>, %arg2: tensor<?xi1>, %arg3: tensor<f32>, %arg4: tensor<5x1x3xf32>, %arg5: tensor<7xi64>, %arg6: tensor<?x?xf64>, %arg7: tensor<?x1xf64>) {
  %0 = calque.where %arg0, %arg0, %arg0 : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
  %1 = calque.where %arg1, %arg4, %arg3 : (tensor<2x1xi1>, tensor<5x1x3xf32>, tensor<f32>) -> tensor<5x2x3xf32>
  %2 = calque.where %arg2, %arg5, %arg5 : (tensor<?xi1>, tensor<7xi64>, tensor<7xi64>) -> tensor<7xi64>
  %3 = calque.where %arg2, %arg6, %arg7 : (tensor<?xi1>, tensor<?x?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @cast(%arg0: tensor<f64>, %arg1: tensor<7xi1>, %arg2: tensor<0x3xi64>, %arg3: tensor<?x3xf32>) {
  %0 = calque.cast %arg0 {dtype = f64} : (tensor<f64>) -> tensor<f64>
  %1 = calque.cast %arg0 {dtype = i1} : (tensor<f64>) -> tensor<i1>
  %2 = calque.cast %arg1 {dtype = i64} : (tensor<7xi1>) -> tensor<7xi64>
  %3 = calque.cast %arg2 {dtype = f32} : (tensor<0x3xi64>) -> tensor<0x3xf32>
  %4 = calque.cast %arg3 {dtype = i32} : (tensor<?x3xf32>) -> tensor<?x3xi32>
  return
}
