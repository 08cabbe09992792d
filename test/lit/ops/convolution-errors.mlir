// What the type rules of convolutions and pooling refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @conv2d_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<3x2x3x4xi32>) {
  // expected-error @below {{conv2d: takes operands of float32 and float64, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xi32>, tensor<3x2x3x4xi32>) -> tensor<2x5x4x4xi32>
  return
}

// -----

func.func @conv2d_mixed(%a: tensor<2x7x5x3xf64>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf64>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_filter_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error @below {{conv2d: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_unknown_window(%a: tensor<2x7x5x3xf32>, %b: tensor<3x?x3x4xf32>) {
  // expected-error @below {{conv2d: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x?x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_empty_window(%a: tensor<2x7x5x3xf32>, %b: tensor<0x2x3x4xf32>) {
  // expected-error @below {{conv2d: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<0x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_image_rank(%a: tensor<7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_stride_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: strides must be two positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_channels(%a: tensor<2x7x5x5xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x5xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv2d_stride_count(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d: strides must be two positive numbers, not [2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d %a, %b {padding = "valid", strides = array<i64: 2>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @input_grad_integer(%a: tensor<2x5x4x4xi32>, %b: tensor<3x2x3x4xi32>, %c: tensor<2x7x5x3xi32>) {
  // expected-error @below {{conv2d_input_grad: takes operands of float32 and float64, not int32[2,5,4,4]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xi32>, tensor<3x2x3x4xi32>, tensor<2x7x5x3xi32>) -> tensor<2x7x5x3xi32>
  return
}

// -----

func.func @input_grad_mixed(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf64>) {
  // expected-error @below {{conv2d_input_grad: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf64>) -> tensor<2x7x5x3xf64>
  return
}

// -----

func.func @input_grad_filter_rank(%a: tensor<2x5x4x4xf32>, %b: tensor<3x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_unknown_window(%a: tensor<2x5x4x4xf32>, %b: tensor<3x?x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x?x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_empty_window(%a: tensor<2x5x4x4xf32>, %b: tensor<0x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<0x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_image_rank(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<7x5x3xf32>) -> tensor<7x5x3xf32>
  return
}

// -----

func.func @input_grad_stride_zero(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: strides must be two positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_padding(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_channels(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x5xf32>) {
  // expected-error @below {{conv2d_input_grad: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x5xf32>) -> tensor<2x7x5x5xf32>
  return
}

// -----

func.func @input_grad_cotangent(%a: tensor<?x5x4x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: the cotangent must be float32[2,5,4,4], not float32[?,5,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<?x5x4x3xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_cotangent_rank(%a: tensor<5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: the cotangent must be float32[2,5,4,4], not float32[5,4,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_cotangent_type(%a: tensor<2x5x4x4xf64>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv2d_input_grad: the operands' types differ: float64[2,5,4,4] and float32[2,5,4,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf64>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @filter_grad_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x5x4x4xi32>, %c: tensor<3x2x3x4xi32>) {
  // expected-error @below {{conv2d_filter_grad: takes operands of float32 and float64, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xi32>, tensor<2x5x4x4xi32>, tensor<3x2x3x4xi32>) -> tensor<3x2x3x4xi32>
  return
}

// -----

func.func @filter_grad_mixed(%a: tensor<2x7x5x3xf64>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf64>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_filter_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  return
}

// -----

func.func @filter_grad_unknown_window(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x?x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x?x3x4xf32>) -> tensor<3x?x3x4xf32>
  return
}

// -----

func.func @filter_grad_empty_window(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<0x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<0x2x3x4xf32>) -> tensor<0x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_image_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_stride_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: strides must be two positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_channels(%a: tensor<2x7x5x5xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x5xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent(%a: tensor<2x7x5x3xf32>, %b: tensor<?x5x4x3xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the cotangent must be float32[2,5,4,4], not float32[?,5,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<?x5x4x3xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the cotangent must be float32[2,5,4,4], not float32[5,4,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf64>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv2d_filter_grad: the operands' types differ: float64[2,5,4,4] and float32[2,5,4,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv2d_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf64>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @pool_integer(%a: tensor<2x7x5x3xi32>) {
  // expected-error @below {{max_pool2d: takes operands of float32 and float64, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_window_zero(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d: the window must be two positive numbers, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_window_count(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d: the window must be two positive numbers, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_rank(%a: tensor<7x5x3xf32>) {
  // expected-error @below {{max_pool2d: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_stride(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d: strides must be two positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_padding(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d %a {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_grad_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: takes operands of float32 and float64, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xi32>
  return
}

// -----

func.func @pool_grad_window_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: the window must be two positive numbers, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_window_count(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: the window must be two positive numbers, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<7x5x3xf32>
  return
}

// -----

func.func @pool_grad_stride(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: strides must be two positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool2d_grad: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_cotangent(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x?x4xf32>) {
  // expected-error @below {{max_pool2d_grad: the cotangent must be float32[2,5,4,3], not float32[2,5,?,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x?x4xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_cotangent_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf64>) {
  // expected-error @below {{max_pool2d_grad: the operands' types differ: float64[2,5,4,3] and float32[2,5,4,3]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf64>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_pick_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: takes operands of float32 and float64, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_window_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: the window must be two positive numbers, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_window_count(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: the window must be two positive numbers, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_stride(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: strides must be two positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool2d_pick: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_values(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x4x3xf32>) {
  // expected-error @below {{max_pool2d_pick: the values must be float32[2,7,5,3], not float32[2,7,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x4x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_values_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf64>) {
  // expected-error @below {{max_pool2d_pick: the operands' types differ: float64[2,7,5,3] and float32[2,7,5,3]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool2d_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf64>) -> tensor<2x5x4x3xf32>
  return
}
