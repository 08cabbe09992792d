module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xui32>) -> (tensor<4xui32> {jax.result_info = "result[0][0]"}, tensor<5xui32> {jax.result_info = "result[0][1]"}, tensor<4xui32> {jax.result_info = "result[1][0]"}, tensor<3x3xui32> {jax.result_info = "result[1][1]"}, tensor<4xui32> {jax.result_info = "result[2][0]"}, tensor<2x4xui32> {jax.result_info = "result[2][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %2 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
    %4 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %5 = stablehlo.bitcast_convert %4 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state_0, %output_1 = stablehlo.rng_bit_generator %5, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
    %6 = stablehlo.bitcast_convert %output_state_0 : (tensor<2xui64>) -> tensor<2x2xui32>
    %7 = stablehlo.reshape %6 : (tensor<2x2xui32>) -> tensor<4xui32>
    %8 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %9 = stablehlo.bitcast_convert %8 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state_2, %output_3 = stablehlo.rng_bit_generator %9, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4xui32>)
    %10 = stablehlo.bitcast_convert %output_state_2 : (tensor<2xui64>) -> tensor<2x2xui32>
    %11 = stablehlo.reshape %10 : (tensor<2x2xui32>) -> tensor<4xui32>
    return %3, %output, %7, %output_1, %11, %output_3 : tensor<4xui32>, tensor<5xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<2x4xui32>
  }
  func.func public @inputs() -> (tensor<4xui32>) {
    %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    return %0 : tensor<4xui32>
  }
  func.func public @expected() -> (tensor<4xui32>, tensor<5xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<2x4xui32>) {
    %0 = stablehlo.constant dense<[1, 2, 6, 4]> : tensor<4xui32>
    %1 = stablehlo.constant dense<[1576285164, 2249660814, 740599976, 2425682526, 2436392515]> : tensor<5xui32>
    %2 = stablehlo.constant dense<[1, 2, 9, 4]> : tensor<4xui32>
    %3 = stablehlo.constant dense<[[1576285164, 740599976, 2436392515], [2249660814, 2425682526, 1497962777], [1335360347, 3981753173, 3812192618]]> : tensor<3x3xui32>
    %4 = stablehlo.constant dense<[1, 2, 7, 4]> : tensor<4xui32>
    %5 = stablehlo.constant dense<[[1576285164, 740599976, 2436392515, 1335360347], [2249660814, 2425682526, 1497962777, 2260235687]]> : tensor<2x4xui32>
    return %0, %1, %2, %3, %4, %5 : tensor<4xui32>, tensor<5xui32>, tensor<4xui32>, tensor<3x3xui32>, tensor<4xui32>, tensor<2x4xui32>
  }
}
