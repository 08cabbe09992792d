// Cheap elementwise results are computed again by all that read them, where that moves fewer bytes.
// RUN: calque-opt --calque-recompute-elementwise --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-recompute-elementwise --calque-fuse-elementwise --split-input-file %s | FileCheck %s --check-prefix=FUSED

#same = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#column = affine_map<(r, c) -> (c)>

// Nothing but %e and the two means is read from memory. The second result goes along with the first, its producer.
// CHECK-LABEL: func.func @centred(
// CHECK: math.exp
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: "reduction"
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: math.tanh
// CHECK-NOT: arith.subf
// CHECK: return
// FUSED-LABEL: func.func @centred(
// FUSED: linalg.generic {{.*}}"parallel", "parallel"
// FUSED: linalg.generic {{.*}}"parallel", "reduction"{{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>)
// FUSED: linalg.generic {{.*}}"parallel", "parallel"{{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>)
// FUSED-NOT: linalg.generic
func.func @centred(%x: tensor<64x32xf32>, %mean: tensor<32xf32>, %scale: tensor<32xf32>) -> (tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %zero = arith.constant 0.0 : f32
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %d = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]} ins(%e, %mean : tensor<64x32xf32>, tensor<32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %n = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]} ins(%d, %scale : tensor<64x32xf32>, tensor<32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %rows = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<64x32xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  return %sum, %t, %e : tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>

// What is a result has to be written; an argument may be a variable that is written in place; a mask takes fewer bytes
// than what it is computed from; and rows of three elements are no vectors.
// FUSED-LABEL: func.func @once(
// CHECK-LABEL: func.func @once(
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
// CHECK-COUNT-1: arith.cmpf
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @once(%x: tensor<64x3xf32>, %mean: tensor<3xf32>, %half: tensor<64x3xf32>) -> (tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>) {
  %empty = tensor.empty() : tensor<64x3xf32>
  %flags = tensor.empty() : tensor<64x3xi1>
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %result = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %two : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%result : tensor<64x3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  %d = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]} ins(%e, %mean : tensor<64x3xf32>, tensor<3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  %mask = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<64x3xf32>) outs(%flags : tensor<64x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %0 = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %0 : i1
  } -> tensor<64x3xi1>
  %p = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%mask, %d : tensor<64x3xi1>, tensor<64x3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%f: i1, %a: f32, %out: f32):
    %0 = arith.select %f, %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  %q = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%mask, %x : tensor<64x3xi1>, tensor<64x3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%f: i1, %a: f32, %out: f32):
    %0 = arith.select %f, %two, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  %t = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<64x3xf32>) outs(%empty : tensor<64x3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x3xf32>
  return %result, %e, %p, %q, %t : tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#product = affine_map<(i, j, k) -> (i, j)>

// A product packs what it reads, and would compute it for each of its columns; and two tensors are more to read than one.
// FUSED-LABEL: func.func @products(
// CHECK-LABEL: func.func @products(
// CHECK-COUNT-1: arith.negf
// CHECK-NOT: arith.negf
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
// CHECK: return
func.func @products(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %minus = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%minus, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%start : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x64xf32>
  %both = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%e, %p : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %t = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%both : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %u = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%both, %minus : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  return %p, %t, %u, %e : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
#one = affine_map<(r, c) -> (0, c)>

// As in the gradient of a batch normalisation: a sum over all rows ends before its reader begins, and that reads %e for
// its mask already, so that %e and %f are read in place of their sum. The wide scale goes along.
// FUSED-LABEL: func.func @of_two(
// FUSED: math.exp
// FUSED: math.tanh
// FUSED: linalg.generic {{.*}}"reduction", "parallel"{{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<1x32xf32>, tensor<64x32xf32>)
// FUSED: linalg.generic {{.*}}"parallel", "parallel"
// FUSED: return
// CHECK-LABEL: func.func @of_two(
// CHECK: math.exp
// CHECK: math.tanh
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: "reduction", "parallel"
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.subf
// CHECK: return
func.func @of_two(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %scale: tensor<1x32xf32>) -> (tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %flags = tensor.empty() : tensor<64x32xi1>
  %columns = tensor.empty() : tensor<32xf32>
  %zero = arith.constant 0.0 : f32
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %f = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %wide = linalg.generic {indexing_maps = [#one, #same], iterator_types = ["parallel", "parallel"]} ins(%scale : tensor<1x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%e, %wide : tensor<64x32xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %both = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%m, %f : tensor<64x32xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%columns : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#same, #column], iterator_types = ["reduction", "parallel"]} ins(%both : tensor<64x32xf32>) outs(%start : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %rest = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]} ins(%both, %sum : tensor<64x32xf32>, tensor<32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %mask = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<64x32xf32>) outs(%flags : tensor<64x32xi1>) {
  ^bb0(%a: f32, %out: i1):
    %0 = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %0 : i1
  } -> tensor<64x32xi1>
  %masked = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%mask, %rest : tensor<64x32xi1>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: i1, %b: f32, %out: f32):
    %0 = arith.select %a, %b, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  return %sum, %masked, %e, %f : tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// Sums of rows need no second pass over memory: their sum of two stays in a row.
// FUSED-LABEL: func.func @of_rows(
// CHECK-LABEL: func.func @of_rows(
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @of_rows(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %rows = tensor.empty() : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %f = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %both = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%e, %f : tensor<64x32xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%both : tensor<64x32xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %rest = linalg.generic {indexing_maps = [#same, #same, #row, #same], iterator_types = ["parallel", "parallel"]} ins(%both, %e, %sum : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.subf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<64x32xf32>
  return %sum, %rest, %e, %f : tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
