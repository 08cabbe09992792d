module @jit_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x4xf32>, %arg1: tensor<4x12xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<2x3xi32>) -> (tensor<2x3x4xf32> {jax.result_info = "result[0]"}, tensor<2x3xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %1 = stablehlo.compare LT, %arg3, %0, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %3 = stablehlo.add %arg3, %2 : tensor<2x3xi32>
    %4 = stablehlo.select %1, %3, %arg3 : tensor<2x3xi1>, tensor<2x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x3x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
    %12 = stablehlo.subtract %6, %11 : tensor<2x3x4xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %13 = call @_var(%6, %c_2) : (tensor<2x3x4xf32>, tensor<i32>) -> tensor<2x3x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %15 = stablehlo.add %13, %14 : tensor<2x3x1xf32>
    %16 = stablehlo.rsqrt %15 : tensor<2x3x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
    %18 = stablehlo.multiply %12, %17 : tensor<2x3x4xf32>
    %19 = stablehlo.dot_general %18, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<4x12xf32>) -> tensor<2x3x12xf32>
    %20 = stablehlo.reshape %19 : (tensor<2x3x12xf32>) -> tensor<2x3x3x2x2xf32>
    %21 = stablehlo.transpose %20, dims = [2, 0, 1, 3, 4] : (tensor<2x3x3x2x2xf32>) -> tensor<3x2x3x2x2xf32>
    %22 = stablehlo.slice %21 [0:1, 0:2, 0:3, 0:2, 0:2] : (tensor<3x2x3x2x2xf32>) -> tensor<1x2x3x2x2xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
    %24 = stablehlo.slice %21 [1:2, 0:2, 0:3, 0:2, 0:2] : (tensor<3x2x3x2x2xf32>) -> tensor<1x2x3x2x2xf32>
    %25 = stablehlo.reshape %24 : (tensor<1x2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
    %26 = stablehlo.slice %21 [2:3, 0:2, 0:3, 0:2, 0:2] : (tensor<3x2x3x2x2xf32>) -> tensor<1x2x3x2x2xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %28 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %29 = call @tril(%28) : (tensor<3x3xi1>) -> tensor<3x3xi1>
    %30 = stablehlo.dot_general %23, %25, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x2x3x3xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x2x3x3xf32>
    %32 = stablehlo.divide %30, %31 : tensor<2x2x3x3xf32>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %33 = call @_where_0(%29, %32, %cst_6) : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x2x3xf32>
    %36 = stablehlo.maximum %35, %34 : tensor<2x2x3xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
    %39 = stablehlo.subtract %33, %38 : tensor<2x2x3x3xf32>
    %40 = stablehlo.exponential %39 : tensor<2x2x3x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
    %44 = stablehlo.divide %40, %43 : tensor<2x2x3x3xf32>
    %45 = stablehlo.dot_general %27, %44, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x2x2xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x2x3xf32>
    %46 = stablehlo.transpose %45, dims = [0, 3, 1, 2] : (tensor<2x2x2x3xf32>) -> tensor<2x3x2x2xf32>
    %47 = stablehlo.reshape %46 : (tensor<2x3x2x2xf32>) -> tensor<2x3x4xf32>
    %48 = stablehlo.dot_general %47, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
    %49 = stablehlo.multiply %48, %48 : tensor<2x3x4xf32>
    %50 = stablehlo.multiply %49, %48 : tensor<2x3x4xf32>
    %cst_10 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %52 = stablehlo.multiply %51, %50 : tensor<2x3x4xf32>
    %53 = stablehlo.add %48, %52 : tensor<2x3x4xf32>
    %cst_11 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<2x3x4xf32>
    %56 = stablehlo.tanh %55 : tensor<2x3x4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %58 = stablehlo.add %57, %56 : tensor<2x3x4xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<2x3x4xf32>
    %61 = stablehlo.multiply %48, %60 : tensor<2x3x4xf32>
    %62 = call @argmax(%47) : (tensor<2x3x4xf32>) -> tensor<2x3xi32>
    return %61, %62 : tensor<2x3x4xf32>, tensor<2x3xi32>
  }
  func.func private @_var(%arg0: tensor<2x3x4xf32>, %arg1: tensor<i32>) -> tensor<2x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x4xf32>
    %6 = chlo.square %5 : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x3x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
    return %14 : tensor<2x3x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x3x1xf32>, %arg2: tensor<f32>) -> tensor<2x3x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x3x1xf32>
    return %2 : tensor<2x3x1xf32>
  }
  func.func private @tril(%arg0: tensor<3x3xi1>) -> tensor<3x3xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<3x3xi32>
    %3 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<3x3xi1>, tensor<3x3xi1>
    return %6 : tensor<3x3xi1>
  }
  func.func private @_where_0(%arg0: tensor<3x3xi1>, %arg1: tensor<2x2x3x3xf32>, %arg2: tensor<f32>) -> tensor<2x2x3x3xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x3xi1>) -> tensor<2x2x3x3xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x3x3xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
    return %3 : tensor<2x2x3x3xf32>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xf32>) -> tensor<2x3xi32> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [2] : (tensor<2x3x4xf32>, tensor<2x3x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<2x3xi32>
  }
  func.func public @inputs() -> (tensor<6x4xf32>, tensor<4x12xf32>, tensor<4x4xf32>, tensor<2x3xi32>) {
    %0 = stablehlo.constant dense<[[-1.257432699e+00, -6.847461313e-02, -3.584393859e-01, -1.805351973e+00], [-1.470415294e-01, -7.766855955e-01, 7.792522758e-02, -7.018173337e-01], [1.427605391e+00, 1.390662938e-01, -1.079039931e+00, -3.523263335e-01], [2.615875900e-01, 5.188877583e-01, 2.022227287e+00, -4.527970552e-01], [-1.525177360e+00, 1.089606047e+00, 9.692792296e-01, 1.163651466e+00], [-1.121664405e+00, 1.543427110e-01, 4.611598849e-01, -1.579724401e-01]]> : tensor<6x4xf32>
    %1 = stablehlo.constant dense<[[-4.879587591e-01, 1.480413198e+00, 1.300871968e+00, -1.022623658e+00, 5.602504611e-01, 1.147650123e+00, -4.575210214e-01, -1.052385688e+00, -3.078237474e-01, 6.816384792e-01, 4.311073720e-01, -3.035311103e-01], [1.845034212e-01, -1.335067630e+00, 1.718384027e-01, 8.135954142e-01, -4.438377619e-01, 3.080886602e-01, -3.991077542e-01, -8.307278156e-01, 4.572864473e-01, -9.005104303e-01, -1.745462418e-01, 9.525281787e-01], [-8.793637753e-01, 1.127607703e+00, 1.874348283e+00, 6.926325560e-01, 1.449673921e-01, 6.420097947e-01, -5.304098129e-01, -1.592690647e-01, 1.159903526e+00, 5.821830034e-01, -9.435349703e-01, -7.096343637e-01], [-3.231815100e-01, 5.756738782e-01, 2.576344311e-01, 8.575024009e-01, 4.229783714e-01, 1.227695465e+00, -2.526350260e+00, 3.103234470e-01, -1.758548141e+00, 1.696265697e+00, 4.549966455e-01, 5.139407888e-02]]> : tensor<4x12xf32>
    %2 = stablehlo.constant dense<[[-1.015527606e+00, -7.941365838e-01, -9.107788205e-01, 1.093429327e+00], [-8.344380856e-01, 1.405150771e+00, -1.099104881e+00, 6.281584501e-01], [1.125003934e+00, -1.624032557e-01, 5.880786180e-01, -1.621239066e+00], [1.769817710e+00, -1.190488338e+00, 2.824743092e-01, 5.573405027e-01]]> : tensor<4x4xf32>
    %3 = stablehlo.constant dense<[[1, 5, 0], [2, 2, -1]]> : tensor<2x3xi32>
    return %0, %1, %2, %3 : tensor<6x4xf32>, tensor<4x12xf32>, tensor<4x4xf32>, tensor<2x3xi32>
  }
  func.func public @expected() -> (tensor<2x3x4xf32>, tensor<2x3xi32>) {
    %0 = stablehlo.constant dense<[[[-0.000000000e+00, 1.857461333e+00, -3.222309897e-05, 3.594583511e+00], [-3.984398209e-04, -4.092700034e-02, -2.668762580e-02, 4.600124836e+00], [-1.452226134e-04, -2.484369134e-06, -9.088894725e-02, 4.408541203e+00]], [[4.170554638e+00, -1.683836877e-01, 2.591496468e+00, -1.708582276e-04], [4.170554638e+00, -1.683836877e-01, 2.591496468e+00, -1.708582276e-04], [-7.617435604e-02, -5.107188597e-02, -1.660566032e-01, 3.364037991e+00]]]> : tensor<2x3x4xf32>
    %1 = stablehlo.constant dense<[[0, 0, 0], [2, 2, 0]]> : tensor<2x3xi32>
    return %0, %1 : tensor<2x3x4xf32>, tensor<2x3xi32>
  }
}
