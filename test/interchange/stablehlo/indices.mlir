module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<2xi32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<4x3xf32> {jax.result_info = "result[2]"}, tensor<4x3xf32> {jax.result_info = "result[3]"}, tensor<4x3xf32> {jax.result_info = "result[4]"}, tensor<2x2xf32> {jax.result_info = "result[5]"}, tensor<2x3xf32> {jax.result_info = "result[6]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %7 = "stablehlo.scatter"(%arg0, %5, %6) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %46 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %46 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %9 = stablehlo.compare LT, %arg1, %8, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_2 = stablehlo.constant dense<4> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %11 = stablehlo.add %arg1, %10 : tensor<2xi32>
    %12 = stablehlo.select %9, %11, %arg1 : tensor<2xi1>, tensor<2xi32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %14 = stablehlo.convert %13 : tensor<2xi32>
    %15 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %17 = stablehlo.concatenate %15, %16, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %cst_4 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %19 = "stablehlo.scatter"(%arg0, %17, %18) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<2x2xi32>, tensor<2xf32>) -> tensor<4x3xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %21 = stablehlo.compare LT, %arg1, %20, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<3> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %23 = stablehlo.add %arg1, %22 : tensor<2xi32>
    %24 = stablehlo.select %21, %23, %arg1 : tensor<2xi1>, tensor<2xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %27 = "stablehlo.scatter"(%arg0, %25, %26) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %46 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %46 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<4x2xf32>) -> tensor<4x3xf32>
    %28 = stablehlo.slice %arg0 [0:2, 0:3] : (tensor<4x3xf32>) -> tensor<2x3xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %30 = stablehlo.compare LT, %arg1, %29, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_9 = stablehlo.constant dense<4> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %32 = stablehlo.add %arg1, %31 : tensor<2xi32>
    %33 = stablehlo.select %30, %32, %arg1 : tensor<2xi1>, tensor<2xi32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %35 = "stablehlo.scatter"(%arg0, %34, %28) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %46 = stablehlo.multiply %arg2, %arg3 : tensor<f32>
      stablehlo.return %46 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %c_10 = stablehlo.constant dense<9> : tensor<i32>
    %36 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %38 = "stablehlo.scatter"(%arg0, %36, %37) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<4x3xf32>
    %39 = stablehlo.slice %arg1 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %40 = stablehlo.reshape %39 : (tensor<1xi32>) -> tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.compare LT, %40, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_13 = stablehlo.constant dense<4> : tensor<i32>
    %42 = stablehlo.add %40, %c_13 : tensor<i32>
    %43 = stablehlo.select %41, %42, %40 : tensor<i1>, tensor<i32>
    %c_14 = stablehlo.constant dense<1> : tensor<i32>
    %44 = stablehlo.dynamic_slice %arg0, %43, %c_14, sizes = [2, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %45 = call @_take(%arg0, %arg1) : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    return %7, %19, %27, %35, %38, %44, %45 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>
  }
  func.func private @_take(%arg0: tensor<4x3xf32>, %arg1: tensor<2xi32>) -> tensor<2x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<2x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<2x1xi1>, tensor<i1>) -> tensor<2xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<2xi1>) -> tensor<2x3xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<2x3xi1>, tensor<2x3xf32>
    return %16 : tensor<2x3xf32>
  }
  func.func private @_where(%arg0: tensor<2xi1>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func public @inputs() -> (tensor<4x3xf32>, tensor<2xi32>) {
    %0 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[2, -1]> : tensor<2xi32>
    return %0, %1 : tensor<4x3xf32>, tensor<2xi32>
  }
  func.func public @expected() -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [4.332100153e-01, 1.053901076e+00, 2.072989941e+00], [6.714937687e-01, 3.372569799e+00, -1.534769773e+00]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.000000000e+00, 1.072989821e+00], [-3.285062313e-01, 5.000000000e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    %2 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, 5.000000000e-01]]> : tensor<4x3xf32>
    %3 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [5.504841805e-01, -1.063467097e-02, 1.335876822e+00], [-5.744990706e-01, -1.224417806e+00, -3.283001423e+00]]> : tensor<4x3xf32>
    %4 = stablehlo.constant dense<[[-9.712313414e-01, -1.972997636e-01, 1.245004177e+00], [1.748822451e+00, -5.160723925e-01, 1.295187235e+00], [-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<4x3xf32>
    %5 = stablehlo.constant dense<[[5.390108377e-02, 1.072989821e+00], [2.372569799e+00, -2.534769773e+00]]> : tensor<2x2xf32>
    %6 = stablehlo.constant dense<[[-5.667899847e-01, 5.390108377e-02, 1.072989821e+00], [-3.285062313e-01, 2.372569799e+00, -2.534769773e+00]]> : tensor<2x3xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>
  }
}
