#loc = loc(unknown)
#loc4 = loc("weights[0][0]")
#loc5 = loc("weights[0][1]")
#loc6 = loc("weights[1][0]")
#loc7 = loc("weights[1][1]")
#loc8 = loc("x")
module @jit_mlp attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32> loc(unknown), %arg1: tensor<5xf32> loc(unknown), %arg2: tensor<5x2xf32> loc(unknown), %arg3: tensor<2xf32> loc(unknown), %arg4: tensor<?x3xf32> loc(unknown)) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32> loc(#loc)
    %0 = stablehlo.get_dimension_size %arg4, dim = 0 : (tensor<?x3xf32>) -> tensor<i32> loc(#loc1)
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1> loc(#loc2)
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'rows'. Using the following polymorphic shapes specifications: args[1].shape = (rows, 3). Obtained dimension variables: 'rows' = {0} from specification 'rows' for dimension args[1].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> () loc(#loc3)
    %2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<i32>, tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>, tensor<?x3xf32>) -> tensor<?x2xf32> loc(#loc)
    return %2 : tensor<?x2xf32> loc(#loc)
  } loc(#loc)
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "rows"} loc(unknown), %arg1: tensor<3x5xf32> loc("weights[0][0]"), %arg2: tensor<5xf32> loc("weights[0][1]"), %arg3: tensor<5x2xf32> loc("weights[1][0]"), %arg4: tensor<2xf32> loc("weights[1][1]"), %arg5: tensor<?x3xf32> loc("x")) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc36)
    %c = stablehlo.constant dense<1> : tensor<1xi32> loc(#loc)
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(#loc)
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32> loc(#loc)
    %c_2 = stablehlo.constant dense<5> : tensor<1xi32> loc(#loc37)
    %0 = stablehlo.dot_general %arg5, %arg1, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x5xf32>) -> tensor<?x5xf32> loc(#loc38)
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32> loc(#loc39)
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc37)
    %3 = stablehlo.concatenate %2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc37)
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0, 1] : (tensor<1x5xf32>, tensor<2xi32>) -> tensor<?x5xf32> loc(#loc37)
    %5 = stablehlo.add %0, %4 : tensor<?x5xf32> loc(#loc37)
    %6 = call @relu(%arg0, %5) : (tensor<i32>, tensor<?x5xf32>) -> tensor<?x5xf32> loc(#loc40)
    %7 = stablehlo.dot_general %6, %arg3, contracting_dims = [1] x [0] : (tensor<?x5xf32>, tensor<5x2xf32>) -> tensor<?x2xf32> loc(#loc41)
    %8 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32> loc(#loc42)
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc43)
    %10 = stablehlo.concatenate %9, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc43)
    %11 = stablehlo.dynamic_broadcast_in_dim %8, %10, dims = [0, 1] : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<?x2xf32> loc(#loc43)
    %12 = stablehlo.add %7, %11 : tensor<?x2xf32> loc(#loc43)
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32> loc(#loc44)
    %14 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc45)
    %15 = stablehlo.dynamic_broadcast_in_dim %cst_0, %14, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32> loc(#loc45)
    %16 = stablehlo.maximum %15, %13 : tensor<?xf32> loc(#loc45)
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc46)
    %18 = stablehlo.concatenate %17, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc46)
    %19 = stablehlo.dynamic_broadcast_in_dim %16, %18, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32> loc(#loc46)
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc47)
    %21 = stablehlo.concatenate %20, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc47)
    %22 = stablehlo.dynamic_broadcast_in_dim %19, %21, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x2xf32> loc(#loc47)
    %23 = stablehlo.subtract %12, %22 : tensor<?x2xf32> loc(#loc47)
    %24 = stablehlo.exponential %23 : tensor<?x2xf32> loc(#loc48)
    %25 = stablehlo.reduce(%24 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32> loc(#loc36)
    %26 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc46)
    %27 = stablehlo.concatenate %26, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc46)
    %28 = stablehlo.dynamic_broadcast_in_dim %25, %27, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32> loc(#loc46)
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc49)
    %30 = stablehlo.concatenate %29, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc49)
    %31 = stablehlo.dynamic_broadcast_in_dim %28, %30, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x2xf32> loc(#loc49)
    %32 = stablehlo.divide %24, %31 : tensor<?x2xf32> loc(#loc49)
    return %32 : tensor<?x2xf32> loc(#loc35)
  } loc(#loc)
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "rows"} loc(unknown), %arg1: tensor<?x5xf32> loc(unknown)) -> tensor<?x5xf32> {
    %c = stablehlo.constant dense<5> : tensor<1xi32> loc(#loc18)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc)
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32> loc(#loc18)
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32> loc(#loc18)
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x5xf32> loc(#loc18)
    %3 = stablehlo.maximum %arg1, %2 : tensor<?x5xf32> loc(#loc18)
    return %3 : tensor<?x5xf32> loc(#loc)
  } loc(#loc27)
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
} loc(#loc)