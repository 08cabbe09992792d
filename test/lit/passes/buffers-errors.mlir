// Sizes fit into 64 bits, but what is needed at once is more than can be addressed.
// RUN: not calque-opt --calque-stage=name=scheduled %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: the intermediate values that are alive at once have more bytes than can be addressed, of which 2305843009213693952 are this one's
func.func @together(%x: tensor<f32>) {
  %a = calque.broadcast_to %x {shape = array<i64: 576460752303423488>} : (tensor<f32>) -> tensor<576460752303423488xf32>
  %b = calque.iota {shape = array<i64: 576460752303423488>, dtype = f32} : () -> tensor<576460752303423488xf32>
  calque.print %a {label = "a"} : (tensor<576460752303423488xf32>) -> ()
  calque.print %b {label = "b"} : (tensor<576460752303423488xf32>) -> ()
  return
}

// -----

// CHECK: error: an intermediate value has more bytes than can be addressed: 'memref<1152921504606846976xf32>'
func.func @alone(%x: tensor<f32>) {
  %a = calque.broadcast_to %x {shape = array<i64: 1152921504606846976>} : (tensor<f32>) -> tensor<1152921504606846976xf32>
  calque.print %a {label = "a"} : (tensor<1152921504606846976xf32>) -> ()
  return
}
