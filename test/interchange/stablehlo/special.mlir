module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<4x3xf32> {jax.result_info = "result[2]"}, tensor<4x3xf32> {jax.result_info = "result[3]"}, tensor<4x2xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<4x3xf32> {jax.result_info = "result[5]"}, tensor<4x3xf32> {jax.result_info = "result[6]"}, tensor<4x3xf32> {jax.result_info = "result[7]"}, tensor<4x3xf32> {jax.result_info = "result[8]"}, tensor<4x3xf32> {jax.result_info = "result[9]"}) {
    %0 = chlo.erf %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>
    %1 = chlo.lgamma %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>
    %2 = chlo.digamma %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %4 = stablehlo.divide %arg0, %3 : tensor<4x3xf32>
    %5 = chlo.erf_inv %4 : tensor<4x3xf32> -> tensor<4x3xf32>
    %6 = call @fft(%arg0) : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    %7 = call @fft_0(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>>
    %8 = stablehlo.real %7 : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
    %9 = chlo.sinh %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>
    %10 = call @round(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %11 = call @remainder(%arg0, %cst_0) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %13 = stablehlo.subtract %12, %arg0 : tensor<4x3xf32>
    %14 = stablehlo.atan2 %arg0, %13 : tensor<4x3xf32>
    return %0, %1, %2, %5, %6, %8, %9, %10, %11, %14 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func private @fft(%arg0: tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    return %0 : tensor<4x2xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [4, 3] : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
    return %1 : tensor<4x3xcomplex<f32>>
  }
  func.func private @round(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @remainder(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>) -> tensor<4x3xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<4x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %4 = stablehlo.compare NE, %2, %3, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %6 = stablehlo.compare LT, %2, %5, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.compare LT, %0, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i1>) -> tensor<4x3xi1>
    %9 = stablehlo.compare NE, %6, %8, UNSIGNED : (tensor<4x3xi1>, tensor<4x3xi1>) -> tensor<4x3xi1>
    %10 = stablehlo.and %9, %4 : tensor<4x3xi1>
    %11 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %12 = stablehlo.add %2, %11 : tensor<4x3xf32>
    %13 = stablehlo.select %10, %12, %2 : tensor<4x3xi1>, tensor<4x3xf32>
    return %13 : tensor<4x3xf32>
  }
  func.func public @inputs() -> (tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func public @expected() -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-8.304119110e-01, -2.197735757e-01, 9.217110872e-01], [9.866095185e-01, -5.345099568e-01, 9.329996109e-01], [-5.771936774e-01, 6.076200306e-02, 8.708435297e-01], [-3.577662706e-01, 9.992073178e-01, -9.996625781e-01]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[[3.561724186e+00, 1.772493362e+00, -9.712028503e-02], [-8.469152451e-02, 1.266080379e+00, -1.073470116e-01], [1.283206105e+00, 2.891821384e+00, -3.789710999e-02], [1.410022140e+00, 1.991448402e-01, -8.882200718e-02]]> : tensor<4x3xf32>
    %2 = stablehlo.constant dense<[[-3.426129532e+01, 4.109614849e+00, -2.334516644e-01], [2.465722561e-01, -1.073542386e-01, -1.746634245e-01], [-5.718942285e-01, -1.904438782e+01, -4.631623626e-01], [1.740551591e+00, 6.386715174e-01, 7.700431943e-01]]> : tensor<4x3xf32>
    %3 = stablehlo.constant dense<[[-2.186162621e-01, -4.374096915e-02, 2.832340598e-01], [4.091998339e-01, -1.148421913e-01, 2.953230441e-01], [-1.262436211e-01, 1.194271538e-02, 2.423928231e-01], [-7.291176170e-02, 5.865000486e-01, -6.388083100e-01]]> : tensor<4x3xf32>
    %4 = stablehlo.constant dense<[[(7.647311687e-02, 0.000000000e+00), (-1.495083570e+00, 1.249071836e+00)], [(2.527937412e+00, 0.000000000e+00), (1.359265089e+00, 1.568596840e+00)], [(5.601009130e-01, 0.000000000e+00), (-1.130235434e+00, 8.825567365e-01)], [(-4.907062054e-01, 0.000000000e+00), (-2.474062443e-01, -4.249880791e+00)]]> : tensor<4x2xcomplex<f32>>
    %5 = stablehlo.constant dense<[[2.673805237e+00, -1.513460159e+00, -1.513460159e+00], [-4.836277962e-01, 5.453629494e+00, -6.183325768e+00], [-1.400657177e+00, -3.737177849e+00, -3.737177849e+00], [-4.836277962e-01, -6.183325768e+00, 5.453629494e+00]]> : tensor<4x3xf32>
    %6 = stablehlo.constant dense<[[-1.131289005e+00, -1.985822916e-01, 1.592504740e+00], [2.786925793e+00, -5.392870903e-01, 1.688916445e+00], [-5.976281166e-01, 5.392719060e-02, 1.291062236e+00], [-3.344466686e-01, 5.315838337e+00, -6.267123222e+00]]> : tensor<4x3xf32>
    %7 = stablehlo.constant dense<[[-1.000000000e+00, -0.000000000e+00, 1.000000000e+00], [2.000000000e+00, -1.000000000e+00, 1.000000000e+00], [-1.000000000e+00, 0.000000000e+00, 1.000000000e+00], [-0.000000000e+00, 2.000000000e+00, -3.000000000e+00]]> : tensor<4x3xf32>
    %8 = stablehlo.constant dense<[[2.287687063e-01, 1.027002484e-01, 4.500412941e-02], [2.488223910e-01, 8.392763138e-02, 9.518718719e-02], [3.321003914e-02, 5.390108377e-02, 1.729897857e-01], [2.714937925e-01, 2.725697160e-01, 1.652303338e-01]]> : tensor<4x3xf32>
    %9 = stablehlo.constant dense<[[-4.577928782e-01, -1.633195281e-01, 1.765103221e+00], [1.975363016e+00, -3.280978203e-01, 1.794879556e+00], [-3.471060395e-01, 5.691041425e-02, 1.638716340e+00], [-2.424122095e-01, 2.095268965e+00, -6.221079826e-01]]> : tensor<4x3xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  }
}
