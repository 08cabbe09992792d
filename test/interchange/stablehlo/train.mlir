module @jit_train attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<5x2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<4x3xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<3x5xf32> {jax.result_info = "result[1][0][0]"}, tensor<5xf32> {jax.result_info = "result[1][0][1]"}, tensor<5x2xf32> {jax.result_info = "result[1][1][0]"}, tensor<2xf32> {jax.result_info = "result[1][1][1]"}) {
    %c = stablehlo.constant dense<[0, 1, 1, 0]> : tensor<4xi32>
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<4x5xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x5xf32>
    %4 = call @relu(%3) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xi1>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf32>, tensor<5x2xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %10 = stablehlo.add %7, %9 : tensor<4x2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<4x2xf32>
    %17 = stablehlo.exponential %16 : tensor<4x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %21 = stablehlo.divide %17, %20 : tensor<4x2xf32>
    %22 = stablehlo.multiply %19, %19 : tensor<4x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<4x1xf32>
    %25 = stablehlo.log %21 : tensor<4x2xf32>
    %26 = stablehlo.iota dim = 0 : tensor<4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %28 = stablehlo.compare LT, %26, %27, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_5 = stablehlo.constant dense<4> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %30 = stablehlo.add %26, %29 : tensor<4xi32>
    %31 = stablehlo.select %28, %30, %26 : tensor<4xi1>, tensor<4xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %33 = stablehlo.compare LT, %c, %32, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_7 = stablehlo.constant dense<2> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %35 = stablehlo.add %c, %34 : tensor<4xi32>
    %36 = stablehlo.select %33, %35, %c : tensor<4xi1>, tensor<4xi32>
    %37 = stablehlo.broadcast_in_dim %31, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %38 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %39 = stablehlo.concatenate %37, %38, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %40 = "stablehlo.gather"(%25, %39) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %42 = stablehlo.divide %41, %cst_9 : tensor<f32>
    %43 = stablehlo.negate %42 : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.negate %cst_10 : tensor<f32>
    %cst_11 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %45 = stablehlo.divide %44, %cst_11 : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %48 = "stablehlo.scatter"(%47, %39, %46) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %87 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %87 : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x2xf32>
    %49 = stablehlo.divide %48, %21 : tensor<4x2xf32>
    %50 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<4x2xf32>
    %52 = stablehlo.multiply %51, %17 : tensor<4x2xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %54 = stablehlo.reshape %53 : (tensor<4xf32>) -> tensor<4x1xf32>
    %55 = stablehlo.negate %54 : tensor<4x1xf32>
    %56 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %57 = stablehlo.divide %49, %56 : tensor<4x2xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%55 init: %cst_14) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
    %60 = stablehlo.add %57, %59 : tensor<4x2xf32>
    %61 = stablehlo.multiply %60, %17 : tensor<4x2xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_15) applies stablehlo.add across dimensions = [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    %63 = stablehlo.reshape %62 : (tensor<2xf32>) -> tensor<1x2xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.reduce(%63 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<1x2xf32>, tensor<f32>) -> tensor<2xf32>
    %65 = stablehlo.dot_general %61, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
    %66 = stablehlo.transpose %65, dims = [1, 0] : (tensor<2x5xf32>) -> tensor<5x2xf32>
    %67 = stablehlo.dot_general %61, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<5x2xf32>) -> tensor<4x5xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %69 = stablehlo.select %6, %67, %68 : tensor<4x5xi1>, tensor<4x5xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
    %71 = stablehlo.reshape %70 : (tensor<5xf32>) -> tensor<1x5xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_19) applies stablehlo.add across dimensions = [0] : (tensor<1x5xf32>, tensor<f32>) -> tensor<5xf32>
    %73 = stablehlo.dot_general %69, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %74 = stablehlo.transpose %73, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %cst_20 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %76 = stablehlo.multiply %75, %74 : tensor<3x5xf32>
    %77 = stablehlo.subtract %arg0, %76 : tensor<3x5xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %79 = stablehlo.multiply %78, %72 : tensor<5xf32>
    %80 = stablehlo.subtract %arg1, %79 : tensor<5xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %82 = stablehlo.multiply %81, %66 : tensor<5x2xf32>
    %83 = stablehlo.subtract %arg2, %82 : tensor<5x2xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %85 = stablehlo.multiply %84, %64 : tensor<2xf32>
    %86 = stablehlo.subtract %arg3, %85 : tensor<2xf32>
    return %43, %77, %80, %83, %86 : tensor<f32>, tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>
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
  func.func public @expected() -> (tensor<f32>, tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>) {
    %0 = stablehlo.constant dense<1.366734385e+00> : tensor<f32>
    %1 = stablehlo.constant dense<[[-3.080671430e-01, -8.083973527e-01, -2.251080126e-01, 7.181818783e-02, -1.609335661e+00], [1.170013905e+00, -1.235606670e+00, 5.077736974e-01, 9.798716307e-01, -1.131887555e+00], [1.069214225e+00, 2.451351583e-01, -2.707777619e-01, 8.122187853e-01, 1.588788748e+00]]> : tensor<3x5xf32>
    %2 = stablehlo.constant dense<[1.375511885e+00, 3.371902704e-01, -3.539105356e-01, -5.823281407e-01, 7.562073469e-01]> : tensor<5xf32>
    %3 = stablehlo.constant dense<[[5.869507790e-02, -5.210877657e-01], [-7.094923854e-01, -9.797273278e-01], [-7.206472754e-01, 3.327295482e-01], [-9.185847640e-01, -1.131359816e+00], [-7.795886993e-01, -9.716011882e-01]]> : tensor<5x2xf32>
    %4 = stablehlo.constant dense<[-1.031017423e+00, 8.926212192e-01]> : tensor<2xf32>
    return %0, %1, %2, %3, %4 : tensor<f32>, tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>
  }
}
