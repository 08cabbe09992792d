// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-split-complex))' %s | FileCheck %s --implicit-check-not=complex
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-split-complex,calque-differentiate))' %s | FileCheck %s --check-prefix=DERIVATIVE

// Arguments and results are as they are in memory.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[A:.*]]: tensor<?x2xf32>, %[[B:.*]]: tensor<?x2xf32>) -> tensor<?x2xf32>
// CHECK-DAG: %[[AR:.*]] = calque.part_of_pairs %[[A]] {imaginary = false} : (tensor<?x2xf32>) -> tensor<?xf32>
// CHECK-DAG: %[[AI:.*]] = calque.part_of_pairs %[[A]] {imaginary = true}
// CHECK-DAG: %[[BR:.*]] = calque.part_of_pairs %[[B]] {imaginary = false}
// CHECK-DAG: %[[BI:.*]] = calque.part_of_pairs %[[B]] {imaginary = true}
// CHECK-DAG: %[[RR:.*]] = calque.mul %[[AR]], %[[BR]]
// CHECK-DAG: %[[II:.*]] = calque.mul %[[AI]], %[[BI]]
// CHECK-DAG: %[[RI:.*]] = calque.mul %[[AR]], %[[BI]]
// CHECK-DAG: %[[IR:.*]] = calque.mul %[[AI]], %[[BR]]
// CHECK-DAG: %[[RE:.*]] = calque.sub %[[RR]], %[[II]]
// CHECK-DAG: %[[IM:.*]] = calque.add %[[RI]], %[[IR]]
// CHECK: calque.pairs %[[RE]], %[[IM]] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x2xf32>
func.func @product(%a: tensor<?xcomplex<f32>>, %b: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %0 = calque.mul %a, %b : (tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// A source of a derivative has parts that nothing else is: real(z) is no other name of a part of z.
// CHECK-LABEL: func.func @gradient
// CHECK-DAG: %[[P:.*]] = calque.part_of_pairs %arg0 {imaginary = false}
// CHECK-DAG: %[[Q:.*]] = calque.part_of_pairs %arg0 {imaginary = true}
// CHECK-DAG: %[[X:.*]] = calque.identity %[[P]]
// CHECK-DAG: %[[Y:.*]] = calque.identity %[[Q]]
// CHECK-DAG: %[[R:.*]] = calque.identity %[[X]]
// CHECK: %[[M:.*]] = calque.mul %[[R]], %[[R]]
// CHECK: calque.gradient %[[M]], %arg1, %[[X]], %[[Y]], %[[R]] {counts = array<i64: 1, 3, 0>}
// DERIVATIVE-LABEL: func.func @gradient
// DERIVATIVE-NOT: calque.gradient
func.func @gradient(%z: tensor<3xcomplex<f64>>, %g: tensor<3xf64>) -> (tensor<3xcomplex<f64>>, tensor<3xf64>) {
  %x = calque.real %z : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %y = calque.mul %x, %x : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %d:2 = calque.gradient %y, %g, %z, %x {counts = array<i64: 1, 2, 0>} : (tensor<3xf64>, tensor<3xf64>, tensor<3xcomplex<f64>>, tensor<3xf64>) -> (tensor<3xcomplex<f64>>, tensor<3xf64>)
  return %d#0, %d#1 : tensor<3xcomplex<f64>>, tensor<3xf64>
}

// Regions take and yield parts; what varies is numbered anew.
// CHECK-LABEL: func.func @loop
// CHECK: calque.while %{{.*}}, %{{.*}}, %{{.*}} {varying = array<i64: 1, 0, 2, 0>}
// CHECK-SAME: (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<?xf32>, tensor<?xf32>)
func.func @loop(%n: tensor<i32>, %z: tensor<2xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %r:2 = calque.while %n, %z {varying = array<i64: 1, 0>} : (tensor<i32>, tensor<2xcomplex<f32>>) -> (tensor<i32>, tensor<?xcomplex<f32>>) {
  ^bb0(%i: tensor<i32>, %w: tensor<?xcomplex<f32>>):
    %zero = calque.constant {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %c = calque.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i32>, %w: tensor<?xcomplex<f32>>):
    %one = calque.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %next = calque.sub %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %conj = calque.conj %w : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
    %both = calque.concat %w, %conj {axis = 0 : i64} : (tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
    vector.yield %next, %both : tensor<i32>, tensor<?xcomplex<f32>>
  }
  return %r#1 : tensor<?xcomplex<f32>>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: calque.constant {value = dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>}
// CHECK-DAG: calque.constant {value = dense<[2.000000e+00, -4.000000e+00]> : tensor<2xf32>}
func.func @constants() -> tensor<2xcomplex<f32>> {
  %0 = calque.constant {value = dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>} : () -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// Variables keep their layout as arguments do; who prints finds numbers as they are in memory.
// CHECK-LABEL: func.func @effects
// CHECK-SAME: calque.variables = [{name = "v", type = tensor<3x2xf32>}]
// CHECK: %[[V:.*]] = calque.variable_read {dtype = f32, shape = array<i64: 3, 2>, variable = 0 : i64}
// CHECK: calque.print %{{.*}} {calque.pairs = array<i1: true>, label = "z"} : (tensor<3x2xf32>) -> ()
// CHECK: calque.variable_assign %{{.*}} {variable = 0 : i64} : (tensor<3x2xf32>) -> ()
func.func @effects() attributes {calque.variables = [{name = "v", type = tensor<3xcomplex<f32>>}]} {
  %0 = calque.variable_read {dtype = complex<f32>, shape = array<i64: 3>, variable = 0 : i64} : () -> tensor<3xcomplex<f32>>
  %1 = calque.neg %0 : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  calque.print %1 {label = "z"} : (tensor<3xcomplex<f32>>) -> ()
  calque.variable_assign %1 {variable = 0 : i64} : (tensor<3xcomplex<f32>>) -> ()
  return
}

// Transforms of complex numbers are such of two parts. A real operand is one part, and a real result is none.
// CHECK-LABEL: func.func @transforms
// CHECK-DAG: %[[RE:.*]] = calque.part_of_pairs %arg0 {imaginary = false}
// CHECK-DAG: %[[IM:.*]] = calque.part_of_pairs %arg0 {imaginary = true}
// CHECK: %[[A:.*]], %[[B:.*]] = calque.fourier_parts %[[RE]], %[[IM]] {columns = false, divisor = 0 : i64, inverse = true}
// CHECK: %[[R:.*]] = calque.fourier_to_real_parts %[[A]], %[[B]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 5 : i64}
// CHECK: %[[C:.*]], %[[D:.*]] = calque.real_fourier_parts %[[R]] {divisor = 0 : i64, inner = 1.000000e+00 : f64}
// CHECK: calque.pairs %[[C]], %[[D]]
func.func @transforms(%z: tensor<?x3xcomplex<f64>>) -> tensor<?x3xcomplex<f64>> {
  %0 = calque.fourier %z {columns = false, divisor = 0 : i64, inverse = true} : (tensor<?x3xcomplex<f64>>) -> tensor<?x3xcomplex<f64>>
  %1 = calque.fourier_to_real %0 {divisor = 2 : i64, inner = 2.0 : f64, length = 5 : i64} : (tensor<?x3xcomplex<f64>>) -> tensor<?x5xf64>
  %2 = calque.real_fourier %1 {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<?x5xf64>) -> tensor<?x3xcomplex<f64>>
  return %2 : tensor<?x3xcomplex<f64>>
}

// The transposed matrix is the adjoint one of the conjugate matrix.
// CHECK-LABEL: func.func @triangle
// CHECK-DAG: %[[RE:.*]] = calque.part_of_pairs %arg0 {imaginary = false}
// CHECK-DAG: %[[IM:.*]] = calque.part_of_pairs %arg0 {imaginary = true}
// CHECK: %[[CONJ:.*]] = calque.neg %[[IM]]
// CHECK: calque.triangular_solve_parts %[[RE]], %[[CONJ]], %{{.*}}, %{{.*}} {lower = true, transposed = true, unit_diagonal = false}
func.func @triangle(%a: tensor<?x?xcomplex<f64>>, %b: tensor<?x?xcomplex<f64>>) -> tensor<?x?xcomplex<f64>> {
  %x = calque.triangular_solve %a, %b {lower = true, transposed = true, unit_diagonal = false} : (tensor<?x?xcomplex<f64>>, tensor<?x?xcomplex<f64>>) -> tensor<?x?xcomplex<f64>>
  return %x : tensor<?x?xcomplex<f64>>
}

// An inverse is what the factors make of the identity.
// CHECK-LABEL: func.func @inverse
// CHECK: %[[F:.*]], %[[G:.*]], %[[O:.*]] = calque.lu_factor_parts
// CHECK: calque.lu_solve_parts %{{.*}}, %{{.*}}, %[[F]], %[[G]], %[[O]], %{{.*}}, %{{.*}} {transposed = false}
func.func @inverse(%a: tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>> {
  %x = calque.matrix_inverse %a : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  return %x : tensor<3x3xcomplex<f32>>
}

// Eigenvectors get the phase of their largest element; of an unknown number there is one more, which is 0.
// CHECK-LABEL: func.func @eigenvectors
// CHECK: %[[W:.*]], %[[V:.*]], %[[U:.*]] = calque.eigh_parts
// CHECK: calque.pad %[[V]]
// CHECK: %[[AT:.*]] = calque.argmax
// CHECK: calque.take_along_axis
// CHECK: calque.sqrt
func.func @eigenvectors(%a: tensor<?x?xcomplex<f64>>) -> (tensor<?xf64>, tensor<?x?xcomplex<f64>>) {
  %w, %v = calque.eigh %a : (tensor<?x?xcomplex<f64>>) -> (tensor<?xf64>, tensor<?x?xcomplex<f64>>)
  return %w, %v : tensor<?xf64>, tensor<?x?xcomplex<f64>>
}

// Of singular vectors, V^H has the phases of U as far as there are some.
// CHECK-LABEL: func.func @singular_vectors
// CHECK-NOT: calque.pad
// CHECK: calque.svd_parts
// CHECK: calque.argmax
// CHECK-LABEL: func.func @all_singular_vectors
// CHECK: calque.svd_full_parts
// CHECK: calque.argmax
// CHECK: calque.contract
func.func @singular_vectors(%a: tensor<3x2xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>) {
  %u, %s, %v = calque.svd %a : (tensor<3x2xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>)
  return %u, %s, %v : tensor<3x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>
}
func.func @all_singular_vectors(%a: tensor<3x2xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>) {
  %u, %s, %v = calque.svd_full %a : (tensor<3x2xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>)
  return %u, %s, %v : tensor<3x3xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>
}

// CHECK-LABEL: func.func @exponential
// CHECK: calque.expm_parts %{{.*}}, %{{.*}} : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
func.func @exponential(%a: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %x = calque.expm %a : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  return %x : tensor<3x3xcomplex<f64>>
}

// What is transposed is the adjoint matrix of the conjugate band.
// CHECK-LABEL: func.func @bands
// CHECK: calque.neg
// CHECK: calque.banded_solve_parts %{{.*}} {lower = 1 : i64, transposed = true, upper = 1 : i64}
// CHECK: calque.positive_banded_solve_parts %{{.*}} {lower = 2 : i64, upper = 0 : i64}
func.func @bands(%a: tensor<3x4xcomplex<f64>>, %b: tensor<4x2xcomplex<f64>>) -> tensor<4x2xcomplex<f64>> {
  %x = calque.banded_solve %a, %b {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<4x2xcomplex<f64>>
  %y = calque.positive_banded_solve %a, %x {lower = 2 : i64, upper = 0 : i64} : (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<4x2xcomplex<f64>>
  return %y : tensor<4x2xcomplex<f64>>
}

// CHECK-LABEL: func.func @functions_of_matrices
// CHECK: calque.sqrtm_parts
// CHECK: calque.logm_parts
// CHECK: calque.sylvester_parts
func.func @functions_of_matrices(%a: tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>> {
  %x = calque.sqrtm %a : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>>
  %y = calque.logm %x : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>>
  %z = calque.sylvester %a, %x, %y : (tensor<?x?xcomplex<f32>>, tensor<?x?xcomplex<f32>>, tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>>
  return %z : tensor<?x?xcomplex<f32>>
}

// A batch is told by its own result, also where a derivative is taken with respect to its example, of which there is a fresh value.
// CHECK-LABEL: func.func @gradients_of_examples
// CHECK: %[[E:.*]]:2 = calque.batch %{{.*}}, %{{.*}} {axes = array<i64: 0, 0>}
// CHECK: %[[X:.*]] = calque.identity %[[E]]#0
// CHECK: %[[Y:.*]] = calque.identity %[[E]]#1
// CHECK: %[[G:.*]]:2 = calque.gradient %{{.*}}, %{{.*}}, %[[X]], %[[Y]] {counts = array<i64: 1, 2, 0>}
// CHECK: calque.unbatch %[[G]]#0, %[[G]]#1, %[[E]]#0, %{{.*}} {axes = array<i64: 0, 0>, batch_axis = 0 : i64}
// DERIVATIVE-LABEL: func.func @gradients_of_examples
// DERIVATIVE-NOT: batch
func.func @gradients_of_examples(%z: tensor<?xcomplex<f32>>, %seed: tensor<f32>) -> tensor<?xcomplex<f32>> {
  %e = calque.batch %z {axes = array<i64: 0>} : (tensor<?xcomplex<f32>>) -> tensor<complex<f32>>
  %y = calque.abs %e : (tensor<complex<f32>>) -> tensor<f32>
  %d = calque.gradient %y, %seed, %e {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %r = calque.unbatch %d, %e, %z {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<complex<f32>>, tensor<complex<f32>>, tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %r : tensor<?xcomplex<f32>>
}

// Products along an axis are a recurrence, which begins with the first element and not with its product with 1.
// CHECK-LABEL: func.func @products
// CHECK-DAG: %[[RE:.*]] = calque.part_of_pairs %arg0 {imaginary = false}
// CHECK-DAG: %[[IM:.*]] = calque.part_of_pairs %arg0 {imaginary = true}
// CHECK: %[[FIRST:.*]] = calque.not_equal
// CHECK-DAG: %[[A:.*]] = calque.where %[[FIRST]], %[[ZERO:.*]], %[[RE]]
// CHECK-DAG: %[[B:.*]] = calque.where %[[FIRST]], %[[ZERO]], %[[IM]]
// CHECK-DAG: %[[C:.*]] = calque.where %[[FIRST]], %[[RE]], %[[ZERO]]
// CHECK-DAG: %[[D:.*]] = calque.where %[[FIRST]], %[[IM]], %[[ZERO]]
// CHECK: %[[P:.*]], %[[Q:.*]] = calque.linear_recurrence_parts %[[A]], %[[B]], %[[C]], %[[D]] {axis = 1 : i64, reverse = false}
// CHECK: calque.slice %[[P]] {limits = array<i64: 2, 3>, starts = array<i64: 0, 2>}
// CHECK: calque.pairs
func.func @products(%z: tensor<2x3xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %p = calque.reduce_prod %z {axes = array<i64: 1>} : (tensor<2x3xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %p : tensor<2xcomplex<f32>>
}

// The last one of an unknown number is a sum of all that are left of it; of none the product is 1.
// CHECK-LABEL: func.func @open_products
// CHECK: %[[P:.*]], %[[Q:.*]] = calque.linear_recurrence_parts
// CHECK: %[[LAST:.*]] = calque.not_equal
// CHECK: %[[L:.*]] = calque.where %[[LAST]], %[[P]], %{{.*}}
// CHECK: calque.reduce_sum %[[L]] {axes = array<i64: 0>, keepdims = true}
// CHECK: calque.axis_size
func.func @open_products(%z: tensor<?xcomplex<f32>>) -> tensor<complex<f32>> {
  %p = calque.reduce_prod %z : (tensor<?xcomplex<f32>>) -> tensor<complex<f32>>
  return %p : tensor<complex<f32>>
}
