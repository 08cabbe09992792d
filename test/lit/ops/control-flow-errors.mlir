// What the type rules of branches, loops and stacks refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @predicate(%p: tensor<2xi1>) {
  // expected-error @below {{cond: its predicate must be a bool scalar, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  "calque.cond"(%p) ({
    vector.yield
  }, {
    vector.yield
  }) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @no_program(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{cond: its first branch is no program}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.cond"(%p, %x) ({
  ^bb0(%a: f32):
    vector.yield %a : f32
  }, {
  ^bb0(%a: tensor<f32>):
    vector.yield %a : tensor<f32>
  }) : (tensor<i1>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @number_of_inputs(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{cond: its second branch takes 0 values and is given 1}}
  // expected-error @below {{failed to infer returned types}}
  "calque.cond"(%p, %x) ({
  ^bb0(%a: tensor<f32>):
    vector.yield
  }, {
    vector.yield
  }) : (tensor<i1>, tensor<f32>) -> ()
  return
}

// -----

func.func @type_of_input(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{cond: its first branch takes float64[] as value 0, not float32[]}}
  // expected-error @below {{failed to infer returned types}}
  "calque.cond"(%p, %x) ({
  ^bb0(%a: tensor<f64>):
    vector.yield
  }, {
  ^bb0(%a: tensor<f32>):
    vector.yield
  }) : (tensor<i1>, tensor<f32>) -> ()
  return
}

// -----

func.func @number_of_results(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{cond: its first branch gives 1 value, and its second 0}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.cond"(%p, %x) ({
  ^bb0(%a: tensor<f32>):
    vector.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    vector.yield
  }) : (tensor<i1>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @type_of_result(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<?xf32>) {
  // expected-error @below {{cond: value 0 of its first branch is float32[], and that of its second float32[?]}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.cond"(%p, %x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<?xf32>):
    vector.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<?xf32>):
    vector.yield %b : tensor<?xf32>
  }) : (tensor<i1>, tensor<f32>, tensor<?xf32>) -> tensor<f32>
  return
}

// -----

func.func @condition(%x: tensor<i64>) {
  // expected-error @below {{while: its condition must be a bool scalar, not int64[]}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%x) ({
  ^bb0(%a: tensor<i64>):
    vector.yield %a : tensor<i64>
  }, {
  ^bb0(%a: tensor<i64>):
    vector.yield %a : tensor<i64>
  }) : (tensor<i64>) -> tensor<i64>
  return
}

// -----

func.func @number_of_decisions(%x: tensor<i1>) {
  // expected-error @below {{while: its condition gives 2 values, not one}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%x) ({
  ^bb0(%a: tensor<i1>):
    vector.yield %a, %a : tensor<i1>, tensor<i1>
  }, {
  ^bb0(%a: tensor<i1>):
    vector.yield %a : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  return
}

// -----

func.func @number_of_variables(%x: tensor<i1>) {
  // expected-error @below {{while: its body gives 2 values for 1 operand}}
  // expected-error @below {{failed to infer returned types}}
  %r:2 = "calque.while"(%x) ({
  ^bb0(%a: tensor<i1>):
    vector.yield %a : tensor<i1>
  }, {
  ^bb0(%a: tensor<i1>):
    vector.yield %a, %a : tensor<i1>, tensor<i1>
  }) : (tensor<i1>) -> (tensor<i1>, tensor<i1>)
  return
}

// -----

func.func @type_of_variable(%x: tensor<?xf32>, %y: tensor<3xf32>, %p: tensor<i1>) {
  // expected-error @below {{while: loop variable 0 is float32[?], and its body gives float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%x, %y, %p) ({
  ^bb0(%a: tensor<?xf32>, %b: tensor<3xf32>, %c: tensor<i1>):
    vector.yield %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<?xf32>, %b: tensor<3xf32>, %c: tensor<i1>):
    vector.yield %b : tensor<3xf32>
  }) : (tensor<?xf32>, tensor<3xf32>, tensor<i1>) -> tensor<?xf32>
  return
}

// -----

func.func @stack(%s: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error @below {{stack_push: the stack is float32[] and its entry float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.stack_push"(%s, %x) : (tensor<f32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @stacks(%s: tensor<2xf64>, %x: tensor<3xf32>) {
  // expected-error @below {{stack_pop: the stack is float64[2] and its entry float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = "calque.stack_pop"(%s, %x) : (tensor<2xf64>, tensor<3xf32>) -> (tensor<2xf64>, tensor<3xf32>)
  return
}

// -----

func.func @index(%x: tensor<3xf32>, %i: tensor<2xi64>, %y: tensor<2xf32>) {
  // expected-error @below {{update_at: the index must be a scalar, not int64[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.update_at"(%x, %i, %y) {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dtype_of_slice(%x: tensor<3xf32>, %i: tensor<i64>, %y: tensor<f64>) {
  // expected-error @below {{update_at: the slice is float64[] and the tensor float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.update_at"(%x, %i, %y) {axis = 0 : i64} : (tensor<3xf32>, tensor<i64>, tensor<f64>) -> tensor<3xf32>
  return
}

// -----

func.func @shape_of_slice(%x: tensor<3x?xf32>, %i: tensor<i64>, %y: tensor<2xf32>) {
  // expected-error @below {{update_at: the slice must be float32[3], not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.update_at"(%x, %i, %y) {axis = 1 : i64} : (tensor<3x?xf32>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @pairs(%x: tensor<3xf32>) {
  // expected-error @below {{while: the dimensions that vary are no pairs}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%x) <{varying = array<i64: 0>}> ({
  ^bb0(%a: tensor<3xf32>):
    vector.yield %a : tensor<3xf32>
  }, {
  ^bb0(%a: tensor<3xf32>):
    vector.yield %a : tensor<3xf32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @no_dimension(%x: tensor<3xf32>) {
  // expected-error @below {{while: there is no dimension 1 of a loop variable 0 that could vary}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%x) <{varying = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<3xf32>):
    vector.yield %a : tensor<3xf32>
  }, {
  ^bb0(%a: tensor<3xf32>):
    vector.yield %a : tensor<3xf32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @varying_invariant(%x: tensor<3xf32>, %p: tensor<i1>) {
  // expected-error @below {{while: loop variable 1 varies, and there are 1}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%p, %x) <{varying = array<i64: 1, 0>}> ({
  ^bb0(%q: tensor<i1>, %a: tensor<?xf32>):
    vector.yield %q : tensor<i1>
  }, {
  ^bb0(%q: tensor<i1>, %a: tensor<?xf32>):
    vector.yield %q : tensor<i1>
  }) : (tensor<i1>, tensor<3xf32>) -> tensor<i1>
  return
}

// -----

func.func @sized_stack(%s: tensor<2xf64>, %x: tensor<3xf32>) {
  // expected-error @below {{sized_push: the stack is float64[2], and must be a float64 scalar}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.sized_push %s, %x : (tensor<2xf64>, tensor<3xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @entries(%s: tensor<f64>) {
  // expected-error @below {{on_entries: it has 1 operand, not 2 stacks}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.on_entries %s {entries = 2 : i64} : (tensor<f64>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>):
    vector.yield %x : tensor<f32>
  }
  return
}

// -----

func.func @entries_without_values(%s: tensor<f64>) {
  // expected-error @below {{on_entries: its region takes other values than its operands}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.on_entries %s {entries = 1 : i64} : (tensor<f64>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    vector.yield %x : tensor<f32>
  }
  return
}

// -----

func.func @popped_sized_stack(%s: tensor<2xf64>, %x: tensor<3xf32>) {
  // expected-error @below {{sized_pop: the stack is float64[2], and must be a float64 scalar}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.sized_pop %s, %x : (tensor<2xf64>, tensor<3xf32>) -> (tensor<2xf64>, tensor<3xf32>)
  return
}

// -----

func.func @below_no_stack(%s: tensor<f32>) {
  // expected-error @below {{stack_below: the stacks are float32[], and must be float64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.stack_below %s : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// The names of a region are its own.
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{use of undeclared SSA value name}}
  %0 = calque.less %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = calque.while %x : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%y: tensor<4xf32>):
    %p = calque.constant {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%y: tensor<4xf32>):
    %0 = calque.add %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    vector.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @outer(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %r = calque.cond %p, %x : (tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%y: tensor<4xf32>):
    // expected-error @below {{use of undeclared SSA value name}}
    vector.yield %x : tensor<4xf32>
  } {
  ^bb0(%y: tensor<4xf32>):
    vector.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
