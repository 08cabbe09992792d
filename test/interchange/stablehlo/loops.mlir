module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %arg0) : tensor<4x3xf32>, tensor<i32>, tensor<i32>, tensor<4x3xf32>
    cond {
      %c_4 = stablehlo.constant dense<10> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<4x3xf32>, tensor<i32>, tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>)
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %4, %3#0, %3#1 : tensor<4x3xf32>, tensor<i32>, tensor<i32>, tensor<4x3xf32>
    }
    %1 = stablehlo.abs %arg0 : tensor<4x3xf32>
    %2 = stablehlo.while(%iterArg = %1) : tensor<4x3xf32>
    cond {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.reduce(%iterArg init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
      %cst_1 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
      %4 = stablehlo.compare LT, %3, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
      %4 = stablehlo.multiply %iterArg, %3 : tensor<4x3xf32>
      stablehlo.return %4 : tensor<4x3xf32>
    }
    return %0#3, %2 : tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x3xf32>, %arg1: tensor<i32>, %arg2: tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<4x3xf32>
    %4 = stablehlo.add %arg2, %3 : tensor<4x3xf32>
    return %0, %4 : tensor<i32>, tensor<4x3xf32>
  }
  func.func public @inputs() -> (tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func public @expected() -> (tensor<4x3xf32>, tensor<4x3xf32>) {
    %0 = stablehlo.constant dense<[[-4.467663956e+01, -9.075789452e+00, 5.727019119e+01], [8.044583130e+01, -2.373933029e+01, 5.957861328e+01], [-2.607234001e+01, 2.479449987e+00, 4.935753250e+01], [-1.511128712e+01, 1.091382141e+02, -1.165994110e+02]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[[7.769850731e+00, 1.578398108e+00, 9.960033417e+00], [1.399057961e+01, 4.128579140e+00, 1.036149788e+01], [4.534319878e+00, 4.312086701e-01, 8.583918571e+00], [2.628049850e+00, 1.898055840e+01, 2.027815819e+01]]> : tensor<4x3xf32>
    return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
  }
}
