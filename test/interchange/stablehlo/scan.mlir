module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<7x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c, %iterArg_2 = %0, %iterArg_3 = %1) : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<7x3xf32>
    cond {
      %c_4 = stablehlo.constant dense<7> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_1) : (tensor<7x3xf32>, tensor<i32>) -> tensor<3xf32>
      %4:2 = func.call @closed_call(%iterArg_2, %3) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_3, %4#1, %iterArg_1) : (tensor<7x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<7x3xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %6, %4#0, %5 : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<7x3xf32>
    }
    return %2#2, %2#3 : tensor<3xf32>, tensor<7x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<7x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<3xf32>
    %2 = stablehlo.add %1, %arg1 : tensor<3xf32>
    %3 = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    return %2, %3 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<7x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<7x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x3xf32>
    return %1 : tensor<7x3xf32>
  }
  func.func public @inputs() -> (tensor<7x3xf32>) {
    %0 = stablehlo.constant dense<[[4.115379453e-01, 3.237909973e-01, -2.471064404e-02], [1.866237074e-01, -1.315054536e+00, -9.886394739e-01], [-6.209626794e-01, -1.347487450e+00, 7.289593220e-01], [-7.042460442e-01, 1.219418406e+00, 7.434006035e-02], [1.056003451e+00, -1.105467677e+00, -1.041875482e+00], [3.812740743e-01, -1.246959567e+00, 6.694260836e-01], [7.132402062e-01, -1.035351381e-01, 3.109385371e-01]]> : tensor<7x3xf32>
    return %0 : tensor<7x3xf32>
  }
  func.func public @expected() -> (tensor<3xf32>, tensor<7x3xf32>) {
    %0 = stablehlo.constant dense<[1.319848299e+00, -2.720808744e+00, 5.053099245e-03]> : tensor<3xf32>
    %1 = stablehlo.constant dense<[[0.000000000e+00, 0.000000000e+00, -0.000000000e+00], [7.680273801e-02, -4.258028269e-01, 2.442991734e-02], [-3.458810747e-01, 1.379345655e+00, -7.368897200e-01], [8.426700532e-02, -2.766574860e+00, -1.344304625e-02], [-8.574073315e-01, 9.092149138e-01, 9.211069345e-02], [1.240135878e-01, 2.301502705e+00, -7.507233024e-01], [4.807302952e-01, 3.010886610e-01, -1.056795269e-01]]> : tensor<7x3xf32>
    return %0, %1 : tensor<3xf32>, tensor<7x3xf32>
  }
}
