// What the type rules of operations that move and pick elements refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @reshape_two_inferred(%a: tensor<2x3xf32>) {
  // expected-error @below {{reshape: only one size may be -1: [-1,3,-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: -1, 3, -1>} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

// -----

func.func @reshape_negative(%a: tensor<?x3xf32>) {
  // expected-error @below {{reshape: a size must not be negative: [-2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: -2, 3>} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @reshape_count(%a: tensor<2x3xf32>) {
  // expected-error @below {{reshape: float32[2,3] has 6 elements, which can't fill [5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: 5>} : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_inferred(%a: tensor<2x3xf32>) {
  // expected-error @below {{reshape: float32[2,3] has 6 elements, which can't fill [4,-1]; the number must be divisible by 4}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @reshape_empty(%a: tensor<0x3xf32>) {
  // expected-error @below {{reshape: the size for -1 does not follow from the others, one of which is 0: [0,-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: 0, -1>} : (tensor<0x3xf32>) -> tensor<0x1xf32>
  return
}

// -----

func.func @reshape_like(%a: tensor<2x3xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{reshape_like: float32[2,3] has other elements than float32[5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape_like %a, %b : (tensor<2x3xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @merge_dims_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{merge_dims: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.merge_dims %a {axis = -3 : i64} : (tensor<2x?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @merge_dims_last(%a: tensor<2x?xf32>) {
  // expected-error @below {{merge_dims: there is no dimension behind dimension 1 of float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.merge_dims %a {axis = -1 : i64} : (tensor<2x?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @merge_dims_large(%a: tensor<0x4294967296x4294967296xf32>) {
  // expected-error @below {{merge_dims: dimensions 1 and 2 of float32[0,4294967296,4294967296] are too large for one}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.merge_dims %a {axis = 1 : i64} : (tensor<0x4294967296x4294967296xf32>) -> tensor<0x?xf32>
  return
}

// -----

func.func @split_dim(%a: tensor<2x6xf32>, %b: tensor<5x2xi32>) {
  // expected-error @below {{split_dim: dimension 1 of float32[2,6] is not as large as dimensions 0 and 1 of int32[5,2] together; float32[2,10] would fit}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.split_dim %a, %b {axis = 1 : i64, first = 0 : i64, second = 1 : i64} : (tensor<2x6xf32>, tensor<5x2xi32>) -> tensor<2x5x2xf32>
  return
}

// -----

func.func @split_dim_axis(%a: tensor<2x6xf32>, %b: tensor<3x2xi32>) {
  // expected-error @below {{split_dim: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.split_dim %a, %b {axis = 2 : i64, first = 0 : i64, second = 1 : i64} : (tensor<2x6xf32>, tensor<3x2xi32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @split_dim_like(%a: tensor<2x6xf32>, %b: tensor<3xi32>) {
  // expected-error @below {{split_dim: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.split_dim %a, %b {axis = 1 : i64, first = 0 : i64, second = 1 : i64} : (tensor<2x6xf32>, tensor<3xi32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @expand_dims_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{expand_dims: axis 3 is out of range for a tensor of rank 3; it must be within [-3, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.expand_dims %a {axes = array<i64: 3>} : (tensor<2x?xf32>) -> tensor<2x?x1xf32>
  return
}

// -----

func.func @expand_dims_twice(%a: tensor<2xf32>) {
  // expected-error @below {{expand_dims: axis -1 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.expand_dims %a {axes = array<i64: 2, -1>} : (tensor<2xf32>) -> tensor<2x1x1xf32>
  return
}

// -----

func.func @broadcast_to_negative(%a: tensor<3xf32>) {
  // expected-error @below {{broadcast_to: a size must not be negative: [-1,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: -1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_to_other(%a: tensor<2xf32>) {
  // expected-error @below {{broadcast_to: the shapes [2] and [4,3] don't broadcast: sizes 2 and 3 meet in dimension 1; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: 4, 3>} : (tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_to_smaller(%a: tensor<2x3xf32>) {
  // expected-error @below {{broadcast_to: float32[2,3] can't be broadcast to [1,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: 1, 3>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @broadcast_to_rank(%a: tensor<?x3xf32>) {
  // expected-error @below {{broadcast_to: float32[?,3] can't be broadcast to [3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: 3>} : (tensor<?x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_like_other(%a: tensor<2x?xf32>, %b: tensor<3x4xi32>) {
  // expected-error @below {{broadcast_like: the shapes [2,?] and [3,4] don't broadcast: sizes 2 and 3 meet in dimension 0; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_like %a, %b : (tensor<2x?xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @broadcast_like_rank(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{broadcast_like: float32[?,3] can't be broadcast to [3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_like %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @transpose_count(%a: tensor<2x?xf32>) {
  // expected-error @below {{transpose: the permutation has 1 entry for the dimensions of float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.transpose %a {permutation = array<i64: 0>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @transpose_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{transpose: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.transpose %a {permutation = array<i64: 0, 2>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @transpose_twice(%a: tensor<2x?xf32>) {
  // expected-error @below {{transpose: axis -2 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.transpose %a {permutation = array<i64: 0, -2>} : (tensor<2x?xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @split_none(%a: tensor<4xf32>) {
  // expected-error @below {{split: needs at least one size}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.split %a {sizes = array<i64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @split_negative(%a: tensor<4xf32>) {
  // expected-error @below {{split: a size is -2}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.split %a {sizes = array<i64: 6, -2>} : (tensor<4xf32>) -> (tensor<6xf32>, tensor<0xf32>)
  return
}

// -----

func.func @split_rests(%a: tensor<4xf32>) {
  // expected-error @below {{split: only one size may be -1: [-1,2,-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = calque.split %a {sizes = array<i64: -1, 2, -1>} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<1xf32>)
  return
}

// -----

func.func @split_sum(%a: tensor<3x4xf32>) {
  // expected-error @below {{split: the sizes [2,3] don't add up to 4, which is that of float32[3,4] along axis 1}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.split %a {axis = -1 : i64, sizes = array<i64: 2, 3>} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x3xf32>)
  return
}

// -----

func.func @split_rest_sum(%a: tensor<4xf32>) {
  // expected-error @below {{split: the sizes [5,-1] don't add up to 4, which is that of float32[4] along axis 0}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.split %a {sizes = array<i64: 5, -1>} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<0xf32>)
  return
}

// -----

func.func @split_range(%a: tensor<4xf32>) {
  // expected-error @below {{split: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.split %a {axis = 1 : i64, sizes = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{concat: needs at least one tensor}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{concat: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a {axis = -3 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @concat_scalars(%a: tensor<f32>, %b: tensor<f32>) {
  // expected-error @below {{concat: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a, %b : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @concat_mixed(%a: tensor<2xi32>, %b: tensor<2xi64>) {
  // expected-error @below {{concat: the tensors' types differ: int32[2] and int64[2]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a, %b : (tensor<2xi32>, tensor<2xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @concat_size(%a: tensor<?x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2x4xf32>) {
  // expected-error @below {{concat: tensor 2 is float32[2,4], which differs from float32[?,3] in more than axis 0}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a, %b, %c : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{concat: tensor 1 is float32[3], which differs from float32[2,3] in more than axis 0}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @part_none(%a: tensor<2xf32>) {
  // expected-error @below {{concat_part: needs at least one tensor}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a {axis = 0 : i64, index = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @part_range(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{concat_part: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 1 : i64, index = 0 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @part_mixed(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<2xi1>) {
  // expected-error @below {{concat_part: the tensors' types differ: float32[2] and bool[2]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 0 : i64, index = 0 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @part_size(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2x4xf32>) {
  // expected-error @below {{concat_part: tensor 1 is float32[2,4], which differs from float32[2,3] in more than axis 0}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = -2 : i64, index = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @part_index(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{concat_part: there is no tensor 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 0 : i64, index = 2 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @part_negative(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{concat_part: there is no tensor -1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 0 : i64, index = -1 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @part_whole(%a: tensor<5xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{concat_part: float32[5] is not the concatenation, float32[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 0 : i64, index = 0 : i64} : (tensor<5xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @part_rank(%a: tensor<?x3xf32>, %b: tensor<?xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{concat_part: float32[?,3] is not the concatenation, float32[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %c {axis = 0 : i64, index = 0 : i64} : (tensor<?x3xf32>, tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice_starts(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: starts has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 1>, starts = array<i64: 0>} : (tensor<7x?xf32>) -> tensor<7x1xf32>
  return
}

// -----

func.func @slice_limits(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: limits has 3 entries for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 1, 1>, starts = array<i64: 0, 0>} : (tensor<7x?xf32>) -> tensor<7x1xf32>
  return
}

// -----

func.func @slice_strides(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: strides has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<7x?xf32>) -> tensor<7x1xf32>
  return
}

// -----

func.func @slice_stride_zero(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: strides must be positive, not 0 in dimension 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 0>} : (tensor<7x?xf32>) -> tensor<7x1xf32>
  return
}

// -----

func.func @slice_negative(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: the start -1 in dimension 1 of float32[7,?] is negative; rows() counts from the end}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 3>, starts = array<i64: 0, -1>} : (tensor<7x?xf32>) -> tensor<7x4xf32>
  return
}

// -----

func.func @slice_backwards(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: [3, 2) is no range in dimension 1 of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 7, 2>, starts = array<i64: 0, 3>} : (tensor<7x?xf32>) -> tensor<7x0xf32>
  return
}

// -----

func.func @slice_beyond(%a: tensor<7x?xf32>) {
  // expected-error @below {{slice: [0, 8) is out of range in dimension 0 of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice %a {limits = array<i64: 8, 1>, starts = array<i64: 0, 0>, strides = array<i64: 2, 1>} : (tensor<7x?xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @slice_like_rank(%a: tensor<7x?xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{slice_like: float32[2] is not a part of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<7x?xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_like_starts(%a: tensor<7x?xf32>, %b: tensor<2x?xf32>) {
  // expected-error @below {{slice_like: starts has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0>, strides = array<i64: 1, 1>} : (tensor<7x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @slice_like_strides(%a: tensor<7x?xf32>, %b: tensor<2x?xf32>) {
  // expected-error @below {{slice_like: strides has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<7x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @slice_like_negative(%a: tensor<7x?xf32>, %b: tensor<2x?xf32>) {
  // expected-error @below {{slice_like: starts must not be negative and strides must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0, -1>, strides = array<i64: 1, 1>} : (tensor<7x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @slice_like_stride_zero(%a: tensor<7x?xf32>, %b: tensor<2x?xf32>) {
  // expected-error @below {{slice_like: starts must not be negative and strides must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 0, 1>} : (tensor<7x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @slice_like_beyond(%a: tensor<7x?xf32>, %b: tensor<3x?xf32>) {
  // expected-error @below {{slice_like: float32[3,?] from [2,0] does not lie within float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 2, 0>, strides = array<i64: 3, 1>} : (tensor<7x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @slice_put_rank(%a: tensor<2xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: float32[2] is not a part of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @slice_put_starts(%a: tensor<2x?xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: starts has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 0>, strides = array<i64: 1, 1>} : (tensor<2x?xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @slice_put_strides(%a: tensor<2x?xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: strides has 1 entry for the dimensions of float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<2x?xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @slice_put_negative(%a: tensor<2x?xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: starts must not be negative and strides must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 0, -1>, strides = array<i64: 1, 1>} : (tensor<2x?xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @slice_put_stride_zero(%a: tensor<2x?xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: starts must not be negative and strides must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 0, 0>, strides = array<i64: 0, 1>} : (tensor<2x?xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @slice_put_beyond(%a: tensor<3x?xf32>, %b: tensor<7x?xf32>) {
  // expected-error @below {{slice_put: float32[3,?] from [2,0] does not lie within float32[7,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 2, 0>, strides = array<i64: 3, 1>} : (tensor<3x?xf32>, tensor<7x?xf32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @pad_low(%a: tensor<2x?xf32>) {
  // expected-error @below {{pad: low has 1 entry for the dimensions of float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pad %a {high = array<i64: 1, 1>, low = array<i64: 1>} : (tensor<2x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @pad_high(%a: tensor<2x?xf32>) {
  // expected-error @below {{pad: high has 3 entries for the dimensions of float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pad %a {high = array<i64: 1, 1, 1>, low = array<i64: 1, 1>} : (tensor<2x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @pad_negative_low(%a: tensor<2x?xf32>) {
  // expected-error @below {{pad: padding must not be negative: [-1,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pad %a {high = array<i64: 0, 0>, low = array<i64: -1, 0>} : (tensor<2x?xf32>) -> tensor<1x?xf32>
  return
}

// -----

func.func @pad_negative_high(%a: tensor<2x?xf32>) {
  // expected-error @below {{pad: padding must not be negative: [0,-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pad %a {high = array<i64: 0, -1>, low = array<i64: 0, 0>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @reverse_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{reverse: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reverse %a {axes = array<i64: 2>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @reverse_twice(%a: tensor<2x?xf32>) {
  // expected-error @below {{reverse: axis -2 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reverse %a {axes = array<i64: 0, -2>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @reverse_scalar(%a: tensor<f32>) {
  // expected-error @below {{reverse: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reverse %a {axes = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @take_along_axis_indices(%a: tensor<2xf32>) {
  // expected-error @below {{take_along_axis: indices must be integers, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.take_along_axis %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @take_along_axis_range(%a: tensor<2x?xf32>, %b: tensor<2x1xi32>) {
  // expected-error @below {{take_along_axis: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.take_along_axis %a, %b {axis = 2 : i64} : (tensor<2x?xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @take_along_axis_rank(%a: tensor<2x?xf32>, %b: tensor<2xi32>) {
  // expected-error @below {{take_along_axis: the indices must have the rank of float32[2,?], unlike int32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.take_along_axis %a, %b : (tensor<2x?xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @take_along_axis_sizes(%a: tensor<2x?xf32>, %b: tensor<3x4xi32>) {
  // expected-error @below {{take_along_axis: the indices must have the sizes of float32[2,?] but along axis 1, unlike int32[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.take_along_axis %a, %b : (tensor<2x?xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @put_along_axis_indices(%a: tensor<2xf32>) {
  // expected-error @below {{put_along_axis: indices must be integers, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.put_along_axis %a, %a, %a {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @put_along_axis_bool(%a: tensor<2xi1>, %b: tensor<2xi32>) {
  // expected-error @below {{put_along_axis: takes numbers, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.put_along_axis %a, %a, %b {axis = 0 : i64} : (tensor<2xi1>, tensor<2xi1>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @put_along_axis_mixed(%a: tensor<2xf32>, %b: tensor<3xf64>, %c: tensor<2xi32>) {
  // expected-error @below {{put_along_axis: the elements are float32[2] and the tensor is float64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.put_along_axis %a, %b, %c {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf64>, tensor<2xi32>) -> tensor<3xf64>
  return
}

// -----

func.func @put_along_axis_sizes(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xi32>) {
  // expected-error @below {{put_along_axis: the elements must be float32[4], not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.put_along_axis %a, %b, %c {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<4xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @argsort_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{argsort: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.argsort %a {axis = -3 : i64} : (tensor<2x?xf32>) -> tensor<2x?xi64>
  return
}

// -----

func.func @argsort_scalar(%a: tensor<f32>) {
  // expected-error @below {{argsort: axis -1 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.argsort %a : (tensor<f32>) -> tensor<i64>
  return
}

// -----

func.func @top_indices_range(%a: tensor<2x?xf32>) {
  // expected-error @below {{top_indices: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.top_indices %a {count = 1 : i64, axis = 2 : i64} : (tensor<2x?xf32>) -> tensor<2x?xi64>
  return
}

// -----

func.func @top_indices_unknown(%a: tensor<2x?xf32>) {
  // expected-error @below {{top_indices: the size of axis 1 of float32[2,?] must be known}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.top_indices %a {count = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x1xi64>
  return
}

// -----

func.func @top_indices_many(%a: tensor<2x?xf32>) {
  // expected-error @below {{top_indices: the number of elements must be between 0 and 2, not 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.top_indices %a {count = 3 : i64, axis = 0 : i64} : (tensor<2x?xf32>) -> tensor<3x?xi64>
  return
}

// -----

func.func @gather_indices(%a: tensor<7xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{gather: indices must be integers, not float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather %a, %b : (tensor<7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_range(%a: tensor<7x?xf32>, %b: tensor<3xi32>) {
  // expected-error @below {{gather: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather %a, %b {axis = 2 : i64} : (tensor<7x?xf32>, tensor<3xi32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @gather_scalar(%a: tensor<f32>, %b: tensor<3xi64>) {
  // expected-error @below {{gather: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather %a, %b : (tensor<f32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_put_indices(%a: tensor<3xf32>, %b: tensor<7xf32>, %c: tensor<3xi1>) {
  // expected-error @below {{gather_put: indices must be integers, not bool[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<3xf32>, tensor<7xf32>, tensor<3xi1>) -> tensor<7xf32>
  return
}

// -----

func.func @gather_put_range(%a: tensor<3xf32>, %b: tensor<7xf32>, %c: tensor<3xi32>) {
  // expected-error @below {{gather_put: axis -2 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = -2 : i64} : (tensor<3xf32>, tensor<7xf32>, tensor<3xi32>) -> tensor<7xf32>
  return
}

// -----

func.func @gather_put_mixed(%a: tensor<3xf32>, %b: tensor<7xf64>, %c: tensor<3xi32>) {
  // expected-error @below {{gather_put: the slices are float32[3] and the tensor is float64[7]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<3xf32>, tensor<7xf64>, tensor<3xi32>) -> tensor<7xf64>
  return
}

// -----

func.func @gather_put_size(%a: tensor<3x4xf32>, %b: tensor<7x2xf32>, %c: tensor<3xi32>) {
  // expected-error @below {{gather_put: the slices must be float32[3,2], not float32[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<3x4xf32>, tensor<7x2xf32>, tensor<3xi32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @gather_put_rank(%a: tensor<?xf32>, %b: tensor<7x2xf32>, %c: tensor<?xi32>) {
  // expected-error @below {{gather_put: the slices must be float32[?,2], not float32[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<?xf32>, tensor<7x2xf32>, tensor<?xi32>) -> tensor<7x2xf32>
  return
}

// -----

func.func @one_hot_indices(%a: tensor<?xf64>) {
  // expected-error @below {{one_hot: indices must be integers, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot %a {depth = 3 : i64, dtype = f32} : (tensor<?xf64>) -> tensor<?x3xf32>
  return
}

// -----

func.func @one_hot_depth(%a: tensor<?xi32>) {
  // expected-error @below {{one_hot: the depth must not be negative: -1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot %a {depth = -1 : i64, dtype = f32} : (tensor<?xi32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @one_hot_dtype(%a: tensor<?xi32>) {
  // expected-error @below {{one_hot: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot %a {depth = 3 : i64, dtype = f80} : (tensor<?xi32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @broadcast_to_unknown(%a: tensor<3xf32>) {
  // expected-error @below {{broadcast_to: float32[3] can't be broadcast to [?,1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: -9223372036854775808, 1>} : (tensor<3xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @broadcast_like_smaller(%a: tensor<3xf32>, %b: tensor<1xf32>) {
  // expected-error @below {{broadcast_like: float32[3] can't be broadcast to [1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_like %a, %b : (tensor<3xf32>, tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

// Known sizes count beside unknown ones.
func.func @concat_part_unknown(%a: tensor<9x?xf32>, %b: tensor<2x?xf32>) {
  // expected-error @below {{concat_part: float32[9,?] is not the concatenation, float32[4,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %b {axis = 0 : i64, index = 0 : i64} : (tensor<9x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @concat_part_mixed(%a: tensor<4xf64>, %b: tensor<2xf32>) {
  // expected-error @below {{concat_part: the operands' types differ: float64[4] and float32[4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat_part %a, %b, %b {axis = 0 : i64, index = 0 : i64} : (tensor<4xf64>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @gather_put_unknown(%a: tensor<3x?xf32>, %b: tensor<7x?xf32>, %c: tensor<5xi32>) {
  // expected-error @below {{gather_put: the slices must be float32[5,?], not float32[3,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<3x?xf32>, tensor<7x?xf32>, tensor<5xi32>) -> tensor<7x?xf32>
  return
}

// -----

func.func @gather_put_bool(%a: tensor<3xi1>, %b: tensor<7xi1>, %c: tensor<3xi32>) {
  // expected-error @below {{gather_put: takes numbers, not bool[7]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gather_put %a, %b, %c {axis = 0 : i64} : (tensor<3xi1>, tensor<7xi1>, tensor<3xi32>) -> tensor<7xi1>
  return
}

// -----

func.func @one_hot_long_double(%a: tensor<?xi32>) {
  // expected-error @below {{one_hot: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot %a {depth = 3 : i64, dtype = f80} : (tensor<?xi32>) -> tensor<?x3xi32>
  return
}

// -----

// An encoding would say something that no rule looks at.
func.func @encoding(%a: tensor<3xf32, "blocked">) {
  // expected-error @below {{transpose: not a tensor that the dialect has: 'tensor<3xf32, "blocked">'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.transpose %a : (tensor<3xf32, "blocked">) -> tensor<3xf32>
  return
}
