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

func.func @stack(%s: tensor<2x!calque.stack>, %x: tensor<3xf32>) {
  // expected-error @below {{stack_push: the stack is stack[2] and its entry float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.stack_push"(%s, %x) : (tensor<2x!calque.stack>, tensor<3xf32>) -> tensor<2x!calque.stack>
  return
}

// -----

func.func @stacks(%s: tensor<2x!calque.stack>, %x: tensor<3xf32>) {
  // expected-error @below {{stack_pop: the stack is stack[2] and its entry float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = "calque.stack_pop"(%s, %x) : (tensor<2x!calque.stack>, tensor<3xf32>) -> (tensor<2x!calque.stack>, tensor<3xf32>)
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

func.func @sized_stack(%s: tensor<2x!calque.stack>, %x: tensor<3xf32>) {
  // expected-error @below {{sized_push: the stack is stack[2], and must be one stack}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.sized_push %s, %x : (tensor<2x!calque.stack>, tensor<3xf32>) -> tensor<2x!calque.stack>
  return
}

// -----

func.func @entries(%s: tensor<!calque.stack>) {
  // expected-error @below {{on_entries: it has 1 operand, not 2 stacks}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.on_entries %s {entries = 2 : i64} : (tensor<!calque.stack>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>):
    vector.yield %x : tensor<f32>
  }
  return
}

// -----

func.func @entries_without_values(%s: tensor<!calque.stack>) {
  // expected-error @below {{on_entries: its region takes other values than its operands}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.on_entries %s {entries = 1 : i64} : (tensor<!calque.stack>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    vector.yield %x : tensor<f32>
  }
  return
}

// -----

func.func @popped_sized_stack(%s: tensor<2x!calque.stack>, %x: tensor<3xf32>) {
  // expected-error @below {{sized_pop: the stack is stack[2], and must be one stack}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.sized_pop %s, %x : (tensor<2x!calque.stack>, tensor<3xf32>) -> (tensor<2x!calque.stack>, tensor<3xf32>)
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

// -----

// A stack is no number: no arithmetic takes it, and nothing that takes a stack takes a number.
func.func @arithmetic(%s: tensor<!calque.stack>, %t: tensor<!calque.stack>) {
  // expected-error @below {{'calque.add' op operand #0 must be ranked tensor of 1-bit signless integer or 8-bit signless integer or 16-bit signless integer or 32-bit signless integer or 64-bit signless integer or 8-bit unsigned integer or 16-bit unsigned integer or 32-bit unsigned integer or 64-bit unsigned integer or 16-bit float or bfloat16 type or 32-bit float or 64-bit float or complex type with 32-bit float elements or complex type with 64-bit float elements values, but got 'tensor<!calque.stack>'}}
  %0 = "calque.add"(%s, %t) : (tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return
}

// -----

func.func @comparison(%s: tensor<!calque.stack>, %t: tensor<!calque.stack>) {
  // expected-error @below {{'calque.equal' op operand #0 must be}}
  %0 = "calque.equal"(%s, %t) : (tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<i1>
  return
}

// -----

func.func @cast(%s: tensor<f64>) {
  // expected-error @below {{'calque.cast' op result #0 must be}}
  %0 = "calque.cast"(%s) {dtype = !calque.stack} : (tensor<f64>) -> tensor<!calque.stack>
  return
}

// -----

func.func @push_on_number(%s: tensor<f64>, %x: tensor<3xf32>) {
  // expected-error @below {{'calque.stack_push' op operand #0 must be ranked tensor of stack values, but got 'tensor<f64>'}}
  %0 = "calque.stack_push"(%s, %x) : (tensor<f64>, tensor<3xf32>) -> tensor<f64>
  return
}

// -----

func.func @pop_of_number(%s: tensor<f64>, %x: tensor<3xf32>) {
  // expected-error @below {{'calque.stack_pop' op operand #0 must be}}
  %0:2 = "calque.stack_pop"(%s, %x) : (tensor<f64>, tensor<3xf32>) -> (tensor<f64>, tensor<3xf32>)
  return
}

// -----

func.func @pop_of_other_type(%s: tensor<!calque.stack>, %x: tensor<3xf32>, %like: tensor<3xf64>) {
  %0 = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<3xf32>) -> tensor<!calque.stack>
  // expected-error @below {{takes an entry of 'f64' from a stack, and it is 'f32'}}
  %below, %entry = calque.stack_pop %0, %like : (tensor<!calque.stack>, tensor<3xf64>) -> (tensor<!calque.stack>, tensor<3xf64>)
  return
}

// -----

func.func @sized_pop_of_other_type(%s: tensor<!calque.stack>, %x: tensor<3xf32>, %like: tensor<?xi64>) {
  %0 = calque.sized_push %s, %x : (tensor<!calque.stack>, tensor<3xf32>) -> tensor<!calque.stack>
  // expected-error @below {{takes an entry of 'i64' from a stack, and it is 'f32'}}
  %below, %entry = calque.sized_pop %0, %like : (tensor<!calque.stack>, tensor<?xi64>) -> (tensor<!calque.stack>, tensor<?xi64>)
  return
}

// -----

func.func @below_number(%s: tensor<f64>) {
  // expected-error @below {{'calque.stack_below' op operand #0 must be}}
  %0 = "calque.stack_below"(%s) : (tensor<f64>) -> tensor<f64>
  return
}

// -----

func.func @entries_of_number(%s: tensor<f64>) {
  // expected-error @below {{on_entries: the stack is float64[], and must be one stack}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.on_entries %s {entries = 1 : i64} : (tensor<f64>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>):
    vector.yield %x : tensor<f32>
  }
  return
}

// -----

func.func @loop_of_stack(%s: tensor<!calque.stack>, %x: tensor<f64>, %p: tensor<i1>) {
  // expected-error @below {{while: loop variable 0 is stack[], and its body gives float64[]}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.while"(%s, %x, %p) ({
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<f64>, %c: tensor<i1>):
    vector.yield %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<f64>, %c: tensor<i1>):
    vector.yield %b : tensor<f64>
  }) : (tensor<!calque.stack>, tensor<f64>, tensor<i1>) -> tensor<!calque.stack>
  return
}

// -----

func.func @branches_of_stack(%p: tensor<i1>, %s: tensor<!calque.stack>, %x: tensor<f64>) {
  // expected-error @below {{cond: value 0 of its first branch is stack[], and that of its second float64[]}}
  // expected-error @below {{failed to infer returned types}}
  %r = "calque.cond"(%p, %s, %x) ({
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<f64>):
    vector.yield %a : tensor<!calque.stack>
  }, {
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<f64>):
    vector.yield %b : tensor<f64>
  }) : (tensor<i1>, tensor<!calque.stack>, tensor<f64>) -> tensor<!calque.stack>
  return
}

// -----

func.func @select(%p: tensor<2xi1>, %s: tensor<!calque.stack>, %x: tensor<f64>) {
  // expected-error @below {{where: the branches' types differ: stack[] and float64[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.where"(%p, %s, %x) : (tensor<2xi1>, tensor<!calque.stack>, tensor<f64>) -> tensor<2x!calque.stack>
  return
}

// -----

func.func @added_stacks(%s: tensor<2x!calque.stack>, %t: tensor<!calque.stack>) {
  // expected-error @below {{stack_add: the stacks are stack[2] and stack[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.stack_add"(%s, %t) : (tensor<2x!calque.stack>, tensor<!calque.stack>) -> tensor<2x!calque.stack>
  return
}

// -----

func.func @summed_stacks(%s: tensor<2x!calque.stack>, %t: tensor<3x!calque.stack>) {
  // expected-error @below {{stack_sum_like: stack[3] is not broadcast to stack[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.stack_sum_like"(%s, %t) : (tensor<2x!calque.stack>, tensor<3x!calque.stack>) -> tensor<3x!calque.stack>
  return
}

// -----

func.func @opened(%x: tensor<?xf32>, %like: tensor<3xf32>) {
  // expected-error @below {{open_sizes: float32[?] is none of float32[3] that knows more of its sizes}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.open_sizes"(%x, %like) : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
