// What the stages from linalg on refuse: a program that no trace can be.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file --verify-diagnostics %s

// expected-error @+1 {{function 'scalar': argument 1 is 'f32'; what is compiled takes and gives ranked tensors of i1, i32, i64, f32 and f64}}
func.func @scalar(%x: tensor<2xf32>, %y: f32) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{function 'unranked': argument 0 is 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @+1 {{function 'half': argument 0 is 'tensor<2xf80>'}}
func.func @half(%x: tensor<2xf80>) {
  return
}

// -----

// expected-error @+1 {{function 'encoded': argument 0 is 'tensor<2xf32, "layout">'}}
func.func @encoded(%x: tensor<2xf32, "layout">) {
  return
}

// -----

// expected-error @+1 {{function 'index': result 0 is 'index'; what is compiled takes and gives ranked tensors of i1, i32, i64, f32 and f64}}
func.func @index() -> index {
  %0 = arith.constant 1 : index
  return %0 : index
}

// -----

func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'arith.addf' op is no operation of calque, and what is compiled has no others}}
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{function 'blocks' has several blocks; what is compiled has one}}
func.func @blocks(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{stands beside function 'two', and one function is compiled at a time}}
func.func private @one()
func.func @two() {
  return
}

// -----

// expected-error @+1 {{function 'calque_rt_fail': names that begin with calque_ or calque. are the compiler's own}}
func.func @calque_rt_fail() {
  return
}

// -----

// expected-error @+1 {{function 'marked' has attribute 'calque.assigned', which only the compiler sets}}
func.func @marked() attributes {calque.assigned = array<i64: 7>} {
  return
}

// -----

// expected-error @+1 {{function 'writable' has attributes of arguments or results, which only the compiler sets}}
func.func @writable(%x: tensor<2xf32> {bufferization.writable = true}) {
  return
}
