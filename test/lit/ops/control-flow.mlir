// Branches, loops and stacks are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// Results of inputs; no inputs; no results.
func.func @cond(%arg0: tensor<i1>, %arg1: tensor<?x3xf32>, %arg2: tensor<2xi32>) {
  %0:2 = calque.cond %arg0, %arg1, %arg2 : (tensor<i1>, tensor<?x3xf32>, tensor<2xi32>) -> (tensor<?x3xf32>, tensor<2xi32>) {
  ^bb0(%arg3: tensor<?x3xf32>, %arg4: tensor<2xi32>):
    %2 = calque.neg %arg3 : (tensor<?x3xf32>) -> tensor<?x3xf32>
    vector.yield %2, %arg4 : tensor<?x3xf32>, tensor<2xi32>
  } {
  ^bb0(%arg3: tensor<?x3xf32>, %arg4: tensor<2xi32>):
    %2 = calque.neg %arg4 : (tensor<2xi32>) -> tensor<2xi32>
    vector.yield %arg3, %2 : tensor<?x3xf32>, tensor<2xi32>
  }
  %1 = calque.cond %arg0 : (tensor<i1>) -> tensor<f64> {
    %2 = calque.constant {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    vector.yield %2 : tensor<f64>
  } {
    %2 = calque.constant {value = dense<2.000000e+00> : tensor<f64>} : () -> tensor<f64>
    vector.yield %2 : tensor<f64>
  }
  calque.cond %arg0, %arg1 : (tensor<i1>, tensor<?x3xf32>) -> () {
  ^bb0(%arg3: tensor<?x3xf32>):
    calque.print %arg3 {label = "x"} : (tensor<?x3xf32>) -> ()
    vector.yield
  } {
  ^bb0(%arg3: tensor<?x3xf32>):
    vector.yield
  }
  return
}

// -----

func.func @while(%arg0: tensor<?x3xf32>, %arg1: tensor<i64>) {
  %0 = calque.while %arg0, %arg1 : (tensor<?x3xf32>, tensor<i64>) -> tensor<?x3xf32> {
  ^bb0(%arg2: tensor<?x3xf32>, %arg3: tensor<i64>):
    %1 = calque.less %arg3, %arg3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %1 : tensor<i1>
  } {
  ^bb0(%arg2: tensor<?x3xf32>, %arg3: tensor<i64>):
    %1 = calque.neg %arg2 : (tensor<?x3xf32>) -> tensor<?x3xf32>
    vector.yield %1 : tensor<?x3xf32>
  }
  return
}

// -----

func.func @checkpointed(%arg0: tensor<i1>) {
  %0 = calque.while %arg0 {checkpoint = true} : (tensor<i1>) -> tensor<i1> {
  ^bb0(%arg1: tensor<i1>):
    vector.yield %arg1 : tensor<i1>
  } {
  ^bb0(%arg1: tensor<i1>):
    %1 = calque.logical_not %arg1 : (tensor<i1>) -> tensor<i1>
    vector.yield %1 : tensor<i1>
  }
  return
}

// -----

func.func @stack_push(%arg0: tensor<!calque.stack>, %arg1: tensor<?x3xf32>, %arg2: tensor<?x!calque.stack>) {
  %0 = calque.stack_push %arg0, %arg1 : (tensor<!calque.stack>, tensor<?x3xf32>) -> tensor<!calque.stack>
  %1 = calque.stack_push %arg2, %arg1 : (tensor<?x!calque.stack>, tensor<?x3xf32>) -> tensor<?x!calque.stack>
  return
}

// -----

func.func @stack_pop(%arg0: tensor<!calque.stack>, %arg1: tensor<?x3xi1>) {
  %below, %entry = calque.stack_pop %arg0, %arg1 : (tensor<!calque.stack>, tensor<?x3xi1>) -> (tensor<!calque.stack>, tensor<?x3xi1>)
  return
}

// -----

func.func @sized_push(%arg0: tensor<!calque.stack>, %arg1: tensor<?x3xf32>) {
  %0 = calque.sized_push %arg0, %arg1 : (tensor<!calque.stack>, tensor<?x3xf32>) -> tensor<!calque.stack>
  return
}

// -----

func.func @sized_pop(%arg0: tensor<!calque.stack>, %arg1: tensor<?x3xi1>) {
  %below, %entry = calque.sized_pop %arg0, %arg1 : (tensor<!calque.stack>, tensor<?x3xi1>) -> (tensor<!calque.stack>, tensor<?x3xi1>)
  %below_0, %entry_1 = calque.sized_pop %below, %arg1 {optional = true} : (tensor<!calque.stack>, tensor<?x3xi1>) -> (tensor<!calque.stack>, tensor<?x3xi1>)
  return
}

// -----

func.func @stack_below(%arg0: tensor<!calque.stack>, %arg1: tensor<?x2x!calque.stack>) {
  %0 = calque.stack_below %arg0 : (tensor<!calque.stack>) -> tensor<!calque.stack>
  %1 = calque.stack_below %arg1 : (tensor<?x2x!calque.stack>) -> tensor<?x2x!calque.stack>
  return
}

// -----

func.func @on_entries(%arg0: tensor<!calque.stack>, %arg1: tensor<?x3xf32>) {
  %0 = calque.on_entries %arg0, %arg1 {entries = 1 : i64} : (tensor<!calque.stack>, tensor<?x3xf32>) -> tensor<3xf32> {
  ^bb0(%arg2: tensor<?x3xf32>, %arg3: tensor<?x3xf32>):
    %1 = calque.concat %arg2, %arg3 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %2 = calque.reduce_sum %1 {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
    vector.yield %2 : tensor<3xf32>
  }
  return
}

// -----

func.func @varying(%arg0: tensor<3xf32>) {
  %0 = calque.while %arg0 {varying = array<i64: 0, 0>} : (tensor<3xf32>) -> tensor<?xf32> {
  ^bb0(%arg1: tensor<?xf32>):
    %1 = calque.reduce_sum %arg1 : (tensor<?xf32>) -> tensor<f32>
    %2 = calque.less %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %2 : tensor<i1>
  } {
  ^bb0(%arg1: tensor<?xf32>):
    %1 = calque.concat %arg1, %arg1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %1 : tensor<?xf32>
  }
  return
}

// -----

func.func @stack_empty(%arg0: tensor<?x3xf32>, %arg1: tensor<!calque.stack>) {
  %0 = calque.stack_empty %arg0 : (tensor<?x3xf32>) -> tensor<?x3x!calque.stack>
  %1 = calque.stack_empty %arg1 : (tensor<!calque.stack>) -> tensor<!calque.stack>
  return
}

// -----

func.func @stack_is_empty(%arg0: tensor<?x!calque.stack>) {
  %0 = calque.stack_is_empty %arg0 : (tensor<?x!calque.stack>) -> tensor<?xi1>
  return
}

// -----

func.func @stack_add(%arg0: tensor<?x!calque.stack>, %arg1: tensor<?x!calque.stack>) {
  %0 = calque.stack_add %arg0, %arg1 : (tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return
}

// -----

func.func @stack_sum_like(%arg0: tensor<?x!calque.stack>, %arg1: tensor<!calque.stack>) {
  %0 = calque.stack_sum_like %arg0, %arg1 : (tensor<?x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return
}

// -----

// Stacks are moved, chosen and given on as other values are.
func.func @moved(%arg0: tensor<!calque.stack>, %arg1: tensor<?xi1>, %arg2: tensor<?x!calque.stack>) {
  %0 = calque.broadcast_like %arg0, %arg1 : (tensor<!calque.stack>, tensor<?xi1>) -> tensor<?x!calque.stack>
  %1 = calque.where %arg1, %0, %arg2 : (tensor<?xi1>, tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  %2 = calque.identity %1 : (tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return
}

// -----

func.func @open_sizes(%arg0: tensor<?x3xf32>, %arg1: tensor<?x?xf32>) {
  %0 = calque.open_sizes %arg0, %arg1 : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}
