// Transformations that the pass can't follow, and some that make no sense and do not get to it; others are in
// ops/effects-errors.mlir and ops/transforms-errors.mlir.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-differentiate)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'Differentiate' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @seed(%x: tensor<2x3xf32>, %seed: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = calque.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @below {{gradient: the target is float32[2,3] and its seed is float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}

// -----

func.func @integer_source(%x: tensor<3xi64>, %seed: tensor<3xf32>) -> tensor<3xi64> {
  %y = calque.cast %x {dtype = f32} : (tensor<3xi64>) -> tensor<3xf32>
  // expected-error @below {{gradient: takes floating-point numbers, not int64[3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) -> tensor<3xi64>
  return %g : tensor<3xi64>
}

// -----

func.func @result_type(%x: tensor<?xf32>) -> tensor<3xf32> {
  // expected-error @below {{inferred type(s) 'tensor<?xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %x, %x, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// -----

// What other dialects compute has no derivative, which is not zero.
func.func @through_region(%c: i1, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.if' op passes a gradient on, and only operations of the dialect have derivatives}}
  %y = scf.if %c -> tensor<f32> {
    %0 = calque.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  // expected-note @below {{the gradient}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func private @elsewhere(tensor<f32>) -> tensor<f32>
func.func @through_call(%x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op passes a gradient on, and only operations of the dialect have derivatives}}
  %y = func.call @elsewhere(%x) : (tensor<f32>) -> tensor<f32>
  %z = calque.exp %y : (tensor<f32>) -> tensor<f32>
  // expected-note @below {{the gradient}}
  %g = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// The source reaches the gradient's region as what the loop carries.
func.func @through_loop(%from: index, %to: index, %step: index, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.for' op passes a gradient on, and only operations of the dialect have derivatives}}
  %r = scf.for %i = %from to %to step %step iter_args(%carried = %x) -> tensor<f32> {
    %y = calque.exp %carried : (tensor<f32>) -> tensor<f32>
    // expected-note @below {{the gradient}}
    %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @behind_branch(%x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  cf.br ^next(%y : tensor<f32>)
^next(%z: tensor<f32>):
  // expected-error @below {{stands behind a branch; gradients are followed through a region's first block only}}
  %g = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @tangent_through_region(%c: i1, %x: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.if' op passes a tangent on, and only operations of the dialect have derivatives}}
  %y = scf.if %c -> tensor<f32> {
    %0 = calque.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  // expected-note @below {{the jvp}}
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}

// -----

func.func @tangent_through_loop(%from: index, %to: index, %step: index, %x: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.for' op passes a tangent on, and only operations of the dialect have derivatives}}
  %r = scf.for %i = %from to %to step %step iter_args(%carried = %x) -> tensor<f32> {
    %y = calque.exp %carried : (tensor<f32>) -> tensor<f32>
    // expected-note @below {{the jvp}}
    %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @tangent_behind_branch(%x: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  cf.br ^next(%y : tensor<f32>)
^next(%z: tensor<f32>):
  // expected-error @below {{stands behind a branch; tangents are followed through a region's first block only}}
  %d = calque.jvp %z, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}

// -----

// Inside of vmap there is one example, outside there are all.
func.func @gradient_of_all(%x: tensor<?xf32>, %seed: tensor<f32>) -> tensor<?xf32> {
  // expected-error @below {{'calque.batch' op is followed from one of many examples to all of them; a tape that is asked inside of vmap begins there too}}
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.exp %e : (tensor<f32>) -> tensor<f32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// -----

func.func @tangent_of_all(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'calque.batch' op is followed from all examples to one of them; a jvp that is asked inside of vmap takes its arguments there too}}
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.exp %e : (tensor<f32>) -> tensor<f32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<?xf32>, tensor<?xf32>) -> tensor<f32>
  %r = calque.unbatch %d, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @no_batch(%x: tensor<?xf32>, %e: tensor<f32>) -> tensor<?xf32> {
  // expected-error @below {{belongs to no batch of its block}}
  %r = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @batch_outside(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %r = scf.if %c -> tensor<?xf32> {
    // expected-error @below {{belongs to no batch of its block}}
    %y = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @no_unbatch(%x: tensor<?xf32>) {
  // expected-error @below {{gives one of many examples, which nothing puts together again}}
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  // expected-note @below {{it is used here}}
  calque.print %e {label = "e"} : (tensor<f32>) -> ()
  return
}

// -----

// An example that a region takes would be one of many.
func.func @example_in_region(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{gives one of many examples, which nothing puts together again}}
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  scf.if %c {
    // expected-note @below {{it is used here}}
    calque.print %e {label = "e"} : (tensor<f32>) -> ()
  }
  %r = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func private @elsewhere(tensor<f32>) -> tensor<f32>
func.func @example_in_call(%x: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  // expected-error @below {{'func.call' op takes one of many examples, and only operations of the dialect can be done for all of them}}
  %y = func.call @elsewhere(%e) : (tensor<f32>) -> tensor<f32>
  // expected-note @below {{the examples end here}}
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// The number of examples is known where the type does not say it.
func.func @known_number(%x: tensor<?xf32>, %z: tensor<5xf32>) -> tensor<?xf32> {
  %e:2 = calque.batch %x, %z {axes = array<i64: 0, 0>} : (tensor<?xf32>, tensor<5xf32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @below {{'calque.unbatch' op gives 'tensor<?xf32>', where 'tensor<5xf32>' is computed}}
  %r = calque.unbatch %e#1, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @two_unknown_sizes(%x: tensor<?xf32>, %z: tensor<5x?xf32>) -> tensor<?x?xf32> {
  %e:2 = calque.batch %x, %z {axes = array<i64: 0, 0>} : (tensor<?xf32>, tensor<5x?xf32>) -> (tensor<f32>, tensor<?xf32>)
  // expected-error @below {{'calque.unbatch' op gives 'tensor<?x?xf32>', where 'tensor<5x?xf32>' is computed}}
  %r = calque.unbatch %e#1, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<f32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @assign(%x: tensor<?xf32>) attributes {calque.variables = [{name = "w", type = tensor<f32>}]} {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  // expected-error @below {{'calque.variable_assign' op assigns a variable, which can't hold a value for each of many examples; do it outside of vmap, or draw random numbers by stateless functions from a state for each; vmap can't do it for many examples at once}}
  calque.variable_assign %e {variable = 0 : i64} : (tensor<f32>) -> ()
  %r = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @unknown_slices(%x: tensor<2x?x3xf32>, %i: tensor<2x4xi64>) -> tensor<2x4x3xf32> {
  %e:2 = calque.batch %x, %i {axes = array<i64: 0, 0>} : (tensor<2x?x3xf32>, tensor<2x4xi64>) -> (tensor<?x3xf32>, tensor<4xi64>)
  // expected-error @below {{'calque.gather' op has an operand of unknown size; vmap can't do it for many examples at once}}
  %y = calque.gather %e#0, %e#1 : (tensor<?x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<4x3xf32>, tensor<?x3xf32>, tensor<2x?x3xf32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// -----

func.func @print_unknown_count(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  // expected-error @below {{'calque.print' op is done on one example after the other, and their number is not known; vmap can't do it for many examples at once}}
  calque.print %e {label = "e"} : (tensor<3xf32>) -> ()
  %r = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

func.func @no_examples(%x: tensor<0x1x?x7x3xf32>, %w: tensor<0x3x2x3x4xf32>) -> tensor<0x1x?x6x4xf32> {
  %e:2 = calque.batch %x, %w {axes = array<i64: 0, 0>} : (tensor<0x1x?x7x3xf32>, tensor<0x3x2x3x4xf32>) -> (tensor<1x?x7x3xf32>, tensor<3x2x3x4xf32>)
  // expected-error @below {{'calque.conv' op is done on one example after the other, and there are none that would give its result's sizes; vmap can't do it for many examples at once}}
  %y = calque.conv %e#0, %e#1 : (tensor<1x?x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<1x?x6x4xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<1x?x6x4xf32>, tensor<1x?x7x3xf32>, tensor<0x1x?x7x3xf32>) -> tensor<0x1x?x6x4xf32>
  return %r : tensor<0x1x?x6x4xf32>
}

// -----

func.func @print_many(%x: tensor<1025xf32>) -> tensor<1025xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<1025xf32>) -> tensor<f32>
  // expected-error @below {{'calque.print' op is done on one example after the other, and 1025 are more than the 1024 that are allowed; vmap can't do it for many examples at once}}
  calque.print %e {label = "e"} : (tensor<f32>) -> ()
  %r = calque.unbatch %e, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<1025xf32>) -> tensor<1025xf32>
  return %r : tensor<1025xf32>
}

// -----

// A mapped axis without elements says nothing of a size that follows from the others.
func.func @reshape_of_none(%x: tensor<0x?x6xf32>) -> tensor<0x3x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<0x?x6xf32>) -> tensor<?x6xf32>
  // expected-error @below {{'calque.reshape' op has an operand of unknown size}}
  %y = calque.reshape %e {shape = array<i64: 3, -1>} : (tensor<?x6xf32>) -> tensor<3x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?xf32>, tensor<?x6xf32>, tensor<0x?x6xf32>) -> tensor<0x3x?xf32>
  return %r : tensor<0x3x?xf32>
}

// -----

// Both branches would print, for all examples.
func.func @effect_of_some(%p: tensor<5xi1>, %x: tensor<f32>) -> tensor<5xf32> {
  %e = calque.batch %p {axes = array<i64: 0>} : (tensor<5xi1>) -> tensor<i1>
  // expected-error @below {{'calque.cond' op decides for each example, and a branch has effects; vmap can't do it for many examples at once}}
  %r = calque.cond %e, %x : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    calque.print %a {label = "a"} : (tensor<f32>) -> ()
    vector.yield %a : tensor<f32>
  } {
  ^bb0(%a: tensor<f32>):
    vector.yield %a : tensor<f32>
  }
  %s = calque.unbatch %r, %e, %p {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<i1>, tensor<5xi1>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}

// -----

func.func @effect_until_all_end(%x: tensor<5xf32>, %n: tensor<f32>) -> tensor<5xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  // expected-error @below {{'calque.while' op ends for each example on its own, and has effects; vmap can't do it for many examples at once}}
  %r = calque.while %e, %n : (tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %m: tensor<f32>):
    %0 = calque.less %a, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%a: tensor<f32>, %m: tensor<f32>):
    calque.print %a {label = "a"} : (tensor<f32>) -> ()
    %0 = calque.exp %a : (tensor<f32>) -> tensor<f32>
    vector.yield %0 : tensor<f32>
  }
  %s = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<5xf32>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}

// -----

// The reverse would need what the host has given.
func.func @host_call_in_branch(%p: tensor<i1>, %x: tensor<2xf32>, %seed: tensor<2xf32>) -> tensor<2xf32> {
  %r = calque.cond %p, %x : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{'calque.host_call' op stands in a branch or a loop through which a derivative passes, and can't be done again for it}}
    %h = calque.host_call %a {callee = 0 : i64, types = array<i64: 3, 1, 2>} : (tensor<2xf32>) -> tensor<2xf32>
    %0 = calque.mul %a, %h : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    vector.yield %0 : tensor<2xf32>
  } {
  ^bb0(%a: tensor<2xf32>):
    vector.yield %a : tensor<2xf32>
  }
  %g = calque.gradient %r, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

func.func @host_call_in_inner_branch(%p: tensor<i1>, %x: tensor<2xf32>, %t: tensor<2xf32>) -> tensor<2xf32> {
  %r = calque.while %x, %p : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    vector.yield %q : tensor<i1>
  } {
  ^bb0(%a: tensor<2xf32>, %q: tensor<i1>):
    %0 = calque.cond %q, %a : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%b: tensor<2xf32>):
      // expected-error @below {{'calque.host_call' op stands in a branch or a loop through which a derivative passes, and can't be done again for it}}
      %h = calque.host_call %b {callee = 0 : i64, types = array<i64: 3, 1, 2>} : (tensor<2xf32>) -> tensor<2xf32>
      vector.yield %h : tensor<2xf32>
    } {
    ^bb0(%b: tensor<2xf32>):
      vector.yield %b : tensor<2xf32>
    }
    vector.yield %0 : tensor<2xf32>
  }
  %d = calque.jvp %r, %x, %t {counts = array<i64: 1, 1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

// No tensor holds examples that differ in their sizes.
func.func @varying_examples(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  // expected-error @below {{'calque.while' op has loop variables whose sizes vary, which differ from example to example}}
  %r = calque.while %e {varying = array<i64: 0, 0>} : (tensor<3xf32>) -> tensor<?xf32> {
  ^bb0(%y: tensor<?xf32>):
    %sum = calque.reduce_sum %y : (tensor<?xf32>) -> tensor<f32>
    %c = calque.less %sum, %sum : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%y: tensor<?xf32>):
    %t = calque.concat %y, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %t : tensor<?xf32>
  }
  %sum = calque.reduce_sum %r : (tensor<?xf32>) -> tensor<f32>
  %u = calque.unbatch %sum, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return %u : tensor<2xf32>
}

// -----

func.func @on_entries_examples(%s: tensor<2x!calque.stack>) -> tensor<2xf32> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<2x!calque.stack>) -> tensor<!calque.stack>
  // expected-error @below {{'calque.on_entries' op takes entries of its own sizes for each example}}
  %r = calque.on_entries %e {entries = 1 : i64} : (tensor<!calque.stack>) -> tensor<f32> {
  ^bb0(%x: tensor<?xf32>):
    %sum = calque.reduce_sum %x : (tensor<?xf32>) -> tensor<f32>
    vector.yield %sum : tensor<f32>
  }
  %u = calque.unbatch %r, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<!calque.stack>, tensor<2x!calque.stack>) -> tensor<2xf32>
  return %u : tensor<2xf32>
}

// -----

func.func @sized_push_examples(%s: tensor<!calque.stack>, %x: tensor<2x3xf32>) -> tensor<2x!calque.stack> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  // expected-error @below {{'calque.sized_push' op puts an entry of its own sizes for each example}}
  %r = calque.sized_push %s, %e : (tensor<!calque.stack>, tensor<3xf32>) -> tensor<!calque.stack>
  %u = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<!calque.stack>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x!calque.stack>
  return %u : tensor<2x!calque.stack>
}

// -----

func.func @sized_pop_examples(%s: tensor<2x!calque.stack>, %like: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<2x!calque.stack>) -> tensor<!calque.stack>
  // expected-error @below {{'calque.sized_pop' op takes an entry of its own sizes for each example}}
  %below, %entry = calque.sized_pop %e, %like : (tensor<!calque.stack>, tensor<3xf32>) -> (tensor<!calque.stack>, tensor<3xf32>)
  %u = calque.unbatch %entry, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<!calque.stack>, tensor<2x!calque.stack>) -> tensor<2x3xf32>
  return %u : tensor<2x3xf32>
}

// -----

func.func @ordered_of_unknown_size(%x: tensor<?xf32>, %seed: tensor<3xf32>) -> tensor<?xf32> {
  // expected-error @below {{'mine' has no gradient for operands of unknown sizes}}
  %y = calque.ordered_extern %x {repeats = 1 : i64, symbol = "mine", transpose = "back", types = array<i64: 3, 1, 3>} : (tensor<?xf32>) -> tensor<3xf32>
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}
