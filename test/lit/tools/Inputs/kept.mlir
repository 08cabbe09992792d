func.func @kept(%x: tensor<100xf64>) -> tensor<100xf64> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %i, %y = calque.while %zero, %x : (tensor<i64>, tensor<100xf64>) -> (tensor<i64>, tensor<100xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %n = calque.constant {value = dense<1000> : tensor<i64>} : () -> tensor<i64>
    %goes_on = calque.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes_on : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = calque.sin %y : (tensor<100xf64>) -> tensor<100xf64>
    vector.yield %next, %z : tensor<i64>, tensor<100xf64>
  }
  %s = calque.reduce_sum %y {axes = array<i64: 0>} : (tensor<100xf64>) -> tensor<f64>
  %seed = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %g = calque.gradient %s, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<100xf64>) -> tensor<100xf64>
  return %g : tensor<100xf64>
}
// The same with a checkpoint: of a segment, how many iterations it has is not known.
func.func @segments(%x: tensor<100xf64>) -> tensor<100xf64> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %i, %y = calque.while %zero, %x {checkpoint = true} : (tensor<i64>, tensor<100xf64>) -> (tensor<i64>, tensor<100xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %n = calque.constant {value = dense<1000> : tensor<i64>} : () -> tensor<i64>
    %goes_on = calque.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes_on : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = calque.sin %y : (tensor<100xf64>) -> tensor<100xf64>
    vector.yield %next, %z : tensor<i64>, tensor<100xf64>
  }
  %s = calque.reduce_sum %y {axes = array<i64: 0>} : (tensor<100xf64>) -> tensor<f64>
  %seed = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %g = calque.gradient %s, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<100xf64>) -> tensor<100xf64>
  return %g : tensor<100xf64>
}
// Of a size that only the call knows.
func.func @open(%x: tensor<?xf64>) -> tensor<?xf64> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %i, %y = calque.while %zero, %x : (tensor<i64>, tensor<?xf64>) -> (tensor<i64>, tensor<?xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf64>):
    %n = calque.constant {value = dense<1000> : tensor<i64>} : () -> tensor<i64>
    %goes_on = calque.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes_on : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = calque.sin %y : (tensor<?xf64>) -> tensor<?xf64>
    vector.yield %next, %z : tensor<i64>, tensor<?xf64>
  }
  %s = calque.reduce_sum %y {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
  %seed = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %g = calque.gradient %s, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<?xf64>) -> tensor<?xf64>
  return %g : tensor<?xf64>
}
// Down to a number from outside of the loop.
func.func @down(%x: tensor<100xf64>) -> tensor<100xf64> {
  %zero = calque.constant {value = dense<99> : tensor<i64>} : () -> tensor<i64>
  %i, %y = calque.while %zero, %x : (tensor<i64>, tensor<100xf64>) -> (tensor<i64>, tensor<100xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %n = calque.constant {value = dense<5> : tensor<i64>} : () -> tensor<i64>
    %goes_on = calque.greater %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes_on : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<100xf64>):
    %one = calque.constant {value = dense<-10> : tensor<i64>} : () -> tensor<i64>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = calque.sin %y : (tensor<100xf64>) -> tensor<100xf64>
    vector.yield %next, %z : tensor<i64>, tensor<100xf64>
  }
  %s = calque.reduce_sum %y {axes = array<i64: 0>} : (tensor<100xf64>) -> tensor<f64>
  %seed = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %g = calque.gradient %s, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<100xf64>) -> tensor<100xf64>
  return %g : tensor<100xf64>
}
