// What passes leave for each other in attributes must fit the function.
// RUN: calque-opt --split-input-file --verify-diagnostics --calque-stage="from=linalg name=llvm" %s
// RUN: calque-opt --split-input-file --verify-diagnostics --calque-bufferize --calque-pass-pointers --calque-outline-kernels --calque-place-buffers --calque-make-numbers %s

// expected-error @+1 {{there is no program that --calque-lower-to-linalg has made}}
module {}

// -----

// expected-error @+1 {{attribute 'calque.inputs' does not fit the function: 2 : i64}}
func.func @inputs(%frame: !llvm.ptr, %x: tensor<2xf32>) -> tensor<2xf32> attributes {calque.inputs = 2 : i64} {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.unknown_inputs' does not fit the function: array<i64: 0, 0>}}
func.func @not_an_index(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: i64) -> tensor<?xf32> attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.unknown_inputs' does not fit the function: array<i64: 1, 0>}}
func.func @other_input(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 1, 0>} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.equal_sizes' does not fit the function: array<i64: 0, 0>}}
func.func @equals_itself(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>, calque.equal_sizes = array<i64: 0, 0>} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.known_sizes' does not fit the function: "three"}}
func.func @no_list(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>, calque.known_sizes = "three"} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.unknown_outputs' does not fit the function: array<i64: 0, 0>}}
func.func @size_not_returned(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>, calque.unknown_outputs = array<i64: 0, 0>} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{attribute 'calque.unknown_inputs' does not fit the function: array<i64: 0, 1>}}
func.func @other_dimension(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 1>} {
  return
}

// -----

// expected-error @+1 {{has sizes that are not known, and no function 'calque.shapes' of these}}
func.func @no_shapes(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>} {
  return
}
