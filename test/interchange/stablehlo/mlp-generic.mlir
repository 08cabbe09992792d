"builtin.module"() <{sym_name = "jit_mlp"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>, tensor<4x3xf32>) -> tensor<4x2xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<3x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<4x3xf32>):
    %3 = "stablehlo.dot_general"(%arg5, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<4x5xf32>
    %6 = "stablehlo.add"(%3, %5) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    %7 = "func.call"(%6) <{callee = @relu}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %8 = "stablehlo.dot_general"(%7, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x5xf32>, tensor<5x2xf32>) -> tensor<4x2xf32>
    %9 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %11 = "stablehlo.add"(%8, %10) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %12 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%11, %12) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %27 = "stablehlo.maximum"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%27) : (tensor<f32>) -> ()
    }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %14 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %16 = "stablehlo.maximum"(%15, %13) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %19 = "stablehlo.subtract"(%11, %18) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %20 = "stablehlo.exponential"(%19) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %21 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.reduce"(%20, %21) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %26 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%26) : (tensor<f32>) -> ()
    }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %25 = "stablehlo.divide"(%20, %24) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    "func.return"(%25) : (tensor<4x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x5xf32>) -> tensor<4x5xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x5xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x5xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    "func.return"(%2) : (tensor<4x5xf32>) -> ()
  }) : () -> ()
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
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
