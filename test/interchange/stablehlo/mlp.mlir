module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<5x2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<4x3xf32>) -> (tensor<4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<4x5xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x5xf32>
    %4 = call @relu(%3) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %5 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf32>, tensor<5x2xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.add %5, %7 : tensor<4x2xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %11 = stablehlo.maximum %10, %9 : tensor<4xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %14 = stablehlo.subtract %8, %13 : tensor<4x2xf32>
    %15 = stablehlo.exponential %14 : tensor<4x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %19 = stablehlo.divide %15, %18 : tensor<4x2xf32>
    return %19 : tensor<4x2xf32>
  }
  func.func private @relu(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func public @inputs() -> (tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>, tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-2.980402112e-01, -8.106024861e-01, -2.342282534e-01, 7.358841598e-02, -1.606993318e+00], [1.131861091e+00, -1.235085487e+00, 5.736427903e-01, 9.792508483e-01, -1.132709026e+00], [1.125591516e+00, 2.499480247e-01, -3.411499858e-01, 8.184259534e-01, 1.597001910e+00]]> : tensor<3x5xf32>
    %1 = stablehlo.constant dense<[1.375682831e+00, 3.418481350e-01, -3.261477649e-01, -5.768202543e-01, 7.634952664e-01]> : tensor<5xf32>
    %2 = stablehlo.constant dense<[[8.628819883e-02, -5.486809015e-01], [-6.962197423e-01, -9.929999709e-01], [-7.684096694e-01, 3.804919124e-01], [-9.122616053e-01, -1.137683034e+00], [-7.264592052e-01, -1.024730682e+00]]> : tensor<5x2xf32>
    %3 = stablehlo.constant dense<[-1.030748248e+00, 8.923520446e-01]> : tensor<2xf32>
    %4 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    return %0, %1, %2, %3, %4 : tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>, tensor<4x3xf32>
  }
  func.func public @expected() -> (tensor<4x2xf32>) {
    %0 = stablehlo.constant dense<[[8.550764918e-01, 1.449235827e-01], [3.495657742e-01, 6.504342556e-01], [7.727085948e-01, 2.272914052e-01], [3.341548890e-02, 9.665845037e-01]]> : tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
