// What the type rules of convolutions and pooling refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @conv_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<3x2x3x4xi32>) {
  // expected-error @below {{conv: takes floating-point numbers, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xi32>, tensor<3x2x3x4xi32>) -> tensor<2x5x4x4xi32>
  return
}

// -----

func.func @conv_mixed(%a: tensor<2x7x5x3xf64>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf64>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_filter_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error @below {{conv: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_unknown_window(%a: tensor<2x7x5x3xf32>, %b: tensor<3x?x3x4xf32>) {
  // expected-error @below {{conv: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x?x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_empty_window(%a: tensor<2x7x5x3xf32>, %b: tensor<0x2x3x4xf32>) {
  // expected-error @below {{conv: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<0x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_image_rank(%a: tensor<7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_stride_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: strides must be one to three positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_channels(%a: tensor<2x7x5x5xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x5xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_stride_count(%a: tensor<2x7x5x3xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv: images must have rank 3, [N,W,C], not float32[2,7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 2>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @input_grad_integer(%a: tensor<2x5x4x4xi32>, %b: tensor<3x2x3x4xi32>, %c: tensor<2x7x5x3xi32>) {
  // expected-error @below {{conv_input_grad: takes floating-point numbers, not int32[2,5,4,4]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xi32>, tensor<3x2x3x4xi32>, tensor<2x7x5x3xi32>) -> tensor<2x7x5x3xi32>
  return
}

// -----

func.func @input_grad_mixed(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf64>) {
  // expected-error @below {{conv_input_grad: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf64>) -> tensor<2x7x5x3xf64>
  return
}

// -----

func.func @input_grad_filter_rank(%a: tensor<2x5x4x4xf32>, %b: tensor<3x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_unknown_window(%a: tensor<2x5x4x4xf32>, %b: tensor<3x?x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x?x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_empty_window(%a: tensor<2x5x4x4xf32>, %b: tensor<0x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<0x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_image_rank(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<7x5x3xf32>) -> tensor<7x5x3xf32>
  return
}

// -----

func.func @input_grad_stride_zero(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: strides must be one to three positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_padding(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_channels(%a: tensor<2x5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x5xf32>) {
  // expected-error @below {{conv_input_grad: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x5xf32>) -> tensor<2x7x5x5xf32>
  return
}

// -----

func.func @input_grad_cotangent(%a: tensor<?x5x4x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: the cotangent must be float32[2,5,4,4], not float32[?,5,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<?x5x4x3xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_cotangent_rank(%a: tensor<5x4x4xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: the cotangent must be float32[2,5,4,4], not float32[5,4,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<5x4x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @input_grad_cotangent_type(%a: tensor<2x5x4x4xf64>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x7x5x3xf32>) {
  // expected-error @below {{conv_input_grad: the operands' types differ: float64[2,5,4,4] and float32[2,5,4,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_input_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x5x4x4xf64>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @filter_grad_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x5x4x4xi32>, %c: tensor<3x2x3x4xi32>) {
  // expected-error @below {{conv_filter_grad: takes floating-point numbers, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xi32>, tensor<2x5x4x4xi32>, tensor<3x2x3x4xi32>) -> tensor<3x2x3x4xi32>
  return
}

// -----

func.func @filter_grad_mixed(%a: tensor<2x7x5x3xf64>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the operands' types differ: float64[2,7,5,3] and float32[3,2,3,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf64>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_filter_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: filters must have rank 4, [KH,KW,C,F], not float32[3,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  return
}

// -----

func.func @filter_grad_unknown_window(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x?x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the filters' window must be known, not float32[3,?,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x?x3x4xf32>) -> tensor<3x?x3x4xf32>
  return
}

// -----

func.func @filter_grad_empty_window(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<0x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the filters' window must not be empty: float32[0,2,3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<0x2x3x4xf32>) -> tensor<0x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_image_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_stride_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: strides must be one to three positive numbers, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 0>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: padding must be "same" or "valid", not "full"}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "full", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_channels(%a: tensor<2x7x5x5xf32>, %b: tensor<2x5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: images float32[2,7,5,5] have 5 channels and filters float32[3,2,3,4] take 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x5xf32>, tensor<2x5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent(%a: tensor<2x7x5x3xf32>, %b: tensor<?x5x4x3xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the cotangent must be float32[2,5,4,4], not float32[?,5,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<?x5x4x3xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent_rank(%a: tensor<2x7x5x3xf32>, %b: tensor<5x4x4xf32>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the cotangent must be float32[2,5,4,4], not float32[5,4,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<5x4x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @filter_grad_cotangent_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x4xf64>, %c: tensor<3x2x3x4xf32>) {
  // expected-error @below {{conv_filter_grad: the operands' types differ: float64[2,5,4,4] and float32[2,5,4,4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv_filter_grad %a, %b, %c {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x4xf64>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  return
}

// -----

func.func @pool_integer(%a: tensor<2x7x5x3xi32>) {
  // expected-error @below {{max_pool: takes floating-point numbers, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_window_zero(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool: the window must be a positive number for each of 2 dimensions, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_window_count(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool: the window must be a positive number for each of 2 dimensions, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_rank(%a: tensor<7x5x3xf32>) {
  // expected-error @below {{max_pool: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_stride(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool: strides must be one to three positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_padding(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_grad_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: takes floating-point numbers, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xi32>
  return
}

// -----

func.func @pool_grad_window_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: the window must be a positive number for each of 2 dimensions, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_window_count(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: the window must be a positive number for each of 2 dimensions, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<7x5x3xf32>
  return
}

// -----

func.func @pool_grad_stride(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: strides must be one to three positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf32>) {
  // expected-error @below {{max_pool_grad: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_cotangent(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x?x4xf32>) {
  // expected-error @below {{max_pool_grad: the cotangent must be float32[2,5,4,3], not float32[2,5,?,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x?x4xf32>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_grad_cotangent_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x5x4x3xf64>) {
  // expected-error @below {{max_pool_grad: the operands' types differ: float64[2,5,4,3] and float32[2,5,4,3]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf64>) -> tensor<2x7x5x3xf32>
  return
}

// -----

func.func @pool_pick_integer(%a: tensor<2x7x5x3xi32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: takes floating-point numbers, not int32[2,7,5,3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xi32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_window_zero(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: the window must be a positive number for each of 2 dimensions, not [3,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 0>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_window_count(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: the window must be a positive number for each of 2 dimensions, not [3,2,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2, 1>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_rank(%a: tensor<7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: images must have rank 4, [N,H,W,C], not float32[7,5,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_stride(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: strides must be one to three positive numbers, not [-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: -1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_padding(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: padding must be "same" or "valid", not ""}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_values(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x4x3xf32>) {
  // expected-error @below {{max_pool_pick: the values must be float32[2,7,5,3], not float32[2,7,4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x4x3xf32>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @pool_pick_values_type(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf64>) {
  // expected-error @below {{max_pool_pick: the operands' types differ: float64[2,7,5,3] and float32[2,7,5,3]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf64>) -> tensor<2x5x4x3xf32>
  return
}

// -----

func.func @conv_no_strides(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: strides must be one to three positive numbers, not []}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {strides = array<i64>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_many_strides(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: strides must be one to three positive numbers, not [1,1,1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {strides = array<i64: 1, 1, 1, 1>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_three_dimensions(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: images must have rank 5, [N,D,H,W,C], not float32[2,7,5,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {strides = array<i64: 1, 1, 1>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_groups(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: the number of groups must be positive, not 0}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 0 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_group_channels(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: images float32[2,7,5,4] have 4 channels and filters float32[3,2,2,4] take 2 in each of 4 groups; float32[3,2,1,4] would fit}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 4 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_many_groups(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: images float32[2,7,5,4] have 4 channels and filters float32[3,2,2,4] take 2 in each of 9223372036854775807 groups}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 9223372036854775807 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_group_filters(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x5xf32>) {
  // expected-error @below {{conv: the 5 filters of float32[3,2,2,5] can't be divided into 2 groups}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x5xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_group_filter_rank(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2xf32>) {
  // expected-error @below {{conv: filters must have rank 4, [KH,KW,C/groups,F], not float32[3,2,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_dilations(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: dilations must be a positive number for each of 2 dimensions, not [1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {dilations = array<i64: 1, 0>, groups = 2 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_dilation_count(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: dilations must be a positive number for each of 2 dimensions, not [1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {dilations = array<i64: 1>, groups = 2 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_dilation_reach(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: the filters float32[3,2,2,4] with dilations [4611686018427387904,1] reach further than a dimension can}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {dilations = array<i64: 4611686018427387904, 1>, groups = 2 : i64} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_same_and_numbers(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: padding is "same" or numbers, not both: [0,0,1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64, padding = "same", pads = array<i64: 0, 0, 1, 1>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_pads(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: padding must be two numbers for each of 2 dimensions, none of them negative, not [0,0,-1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64, pads = array<i64: 0, 0, -1, 1>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_pads_count(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: padding must be two numbers for each of 2 dimensions, none of them negative, not [1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64, pads = array<i64: 1, 1>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_pads_overflow(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: the sizes 7 and 9223372036854775807 add up to more than a dimension can have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64, pads = array<i64: 9223372036854775807, 0, 0, 0>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @conv_padded_bytes(%a: tensor<2x7x5x4xf32>, %b: tensor<3x2x2x4xf32>) {
  // expected-error @below {{conv: the padded images float32[2,4611686018427387911,5,4] have more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.conv %a, %b {groups = 2 : i64, pads = array<i64: 4611686018427387904, 0, 0, 0>} : (tensor<2x7x5x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @max_pool_pads(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool: padding must be less than the window [3,2], not [0,3,1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "valid", pads = array<i64: 0, 3, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @sum_pool_pads(%a: tensor<2x7x5x3xf32>) {
  // expected-error @below {{sum_pool: padding must be less than the window [3,2], not [0,3,1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_pool %a {padding = "valid", pads = array<i64: 0, 3, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @max_pool_pick_pads(%a: tensor<2x7x5x3xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{max_pool_pick: padding must be less than the window [3,2], not [0,3,1,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool_pick %a, %b {padding = "valid", pads = array<i64: 0, 3, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x4xf32>
  return
}

// -----

func.func @max_pool_empty(%a: tensor<2x0x3xf32>) {
  // expected-error @below {{max_pool: axis 1 of float32[2,0,3] is empty, and an empty set has no result}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {pads = array<i64: 1, 1>, strides = array<i64: 1>, window = array<i64: 2>} : (tensor<2x0x3xf32>) -> tensor<2x1x3xf32>
  return
}

// -----

func.func @sum_pool_grad_cotangent(%a: tensor<2x5x4x4xf32>, %b: tensor<2x7x5x3xf32>) {
  // expected-error @below {{sum_pool_grad: the cotangent must be float32[2,5,4,3], not float32[2,5,4,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_pool_grad %a, %b {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x5x4x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return
}
