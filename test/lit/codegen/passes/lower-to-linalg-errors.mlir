// What lowering finds that passes before it have not prepared.
// RUN: calque-opt --split-input-file --verify-diagnostics --calque-lower-to-linalg %s

func.func @branch(%p: tensor<i1>, %x: tensor<?x2xf32>) -> tensor<?xf32> {
  // expected-error @below {{has a result with an unknown size that is that of no tensor around it}}
  %r = calque.cond %p, %x : (tensor<i1>, tensor<?x2xf32>) -> tensor<?xf32> {
  ^bb0(%y: tensor<?x2xf32>):
    %flat = calque.reshape %y {shape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
    vector.yield %flat : tensor<?xf32>
  } {
  ^bb0(%y: tensor<?x2xf32>):
    %flat = calque.reshape %y {shape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
    vector.yield %flat : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

module attributes {calque.part = 0 : i64} {
func.func @entry(%s: tensor<!calque.stack>) -> tensor<?xf32> {
  // expected-error @below {{has a result with an unknown size that is that of no tensor around it}}
  %r = calque.on_entries %s {entries = 1 : i64} : (tensor<!calque.stack>) -> tensor<?xf32> {
  ^bb0(%x: tensor<?xf32>):
    vector.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
}

// -----

// Parts alone take stacks, and give them.
// expected-error @below {{function 'argument': argument 0 is 'tensor<!calque.stack>'; what is compiled takes and gives ranked tensors}}
func.func @argument(%s: tensor<!calque.stack>) {
  return
}

// -----

// expected-error @below {{function 'result': result 0 is 'tensor<!calque.stack>'; what is compiled takes and gives ranked tensors}}
func.func @result(%x: tensor<f32>) -> tensor<!calque.stack> {
  %0 = calque.stack_empty %x : (tensor<f32>) -> tensor<!calque.stack>
  return %0 : tensor<!calque.stack>
}
