// What lowering finds that passes before it have not prepared.
// RUN: calque-opt --split-input-file --verify-diagnostics --calque-lower-to-linalg %s

func.func @branch(%p: tensor<i1>, %x: tensor<?x2xf32>) -> tensor<?xf32> {
  // expected-error @below {{has a result with an open size that is that of no tensor around it}}
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

func.func @entry(%s: tensor<f64>) -> tensor<?xf32> {
  // expected-error @below {{has a result with an open size that is that of no tensor around it}}
  %r = calque.on_entries %s {entries = 1 : i64} : (tensor<f64>) -> tensor<?xf32> {
  ^bb0(%x: tensor<?xf32>):
    vector.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
