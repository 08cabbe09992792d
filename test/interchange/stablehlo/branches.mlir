module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.compare GT, %0, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %6 = stablehlo.negate %arg1 : tensor<4x3xf32>
      stablehlo.return %6 : tensor<4x3xf32>
    }, {
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
      %7 = stablehlo.multiply %arg1, %6 : tensor<4x3xf32>
      stablehlo.return %7 : tensor<4x3xf32>
    }) : (tensor<i32>) -> tensor<4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %4 = stablehlo.clamp %c, %arg0, %c_1 : tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
      %7 = stablehlo.multiply %arg1, %6 : tensor<4x3xf32>
      stablehlo.return %7 : tensor<4x3xf32>
    }, {
      %6 = stablehlo.negate %arg1 : tensor<4x3xf32>
      stablehlo.return %6 : tensor<4x3xf32>
    }, {
      %6 = stablehlo.sine %arg1 : tensor<4x3xf32>
      stablehlo.return %6 : tensor<4x3xf32>
    }) : (tensor<i32>) -> tensor<4x3xf32>
    return %3, %5 : tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func public @inputs() -> (tensor<i32>, tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    return %0, %1 : tensor<i32>, tensor<4x3xf32>
  }
  func.func public @expected() -> (tensor<4x3xf32>, tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-1.942462683e+00, -3.945995271e-01, 2.490008354e+00], [3.497644901e+00, -1.032144785e+00, 2.590374470e+00], [-1.133579969e+00, 1.078021675e-01, 2.145979643e+00], [-6.570124626e-01, 4.745139599e+00, -5.069539547e+00]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[[9.712313414e-01, 1.972997636e-01, -1.245004177e+00], [-1.748822451e+00, 5.160723925e-01, -1.295187235e+00], [5.667899847e-01, -5.390108377e-02, -1.072989821e+00], [3.285062313e-01, -2.372569799e+00, 2.534769773e+00]]> : tensor<4x3xf32>
    return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
  }
}
