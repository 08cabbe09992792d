// Neighbouring terms of products of small integers go into words.
// RUN: calque-opt --calque-pack-products --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-pack-products=bytes --split-input-file %s | FileCheck %s --check-prefix=BYTES

#same = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
#transposed = affine_map<(i, j) -> (j, i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The casts and the zero point are computed where words are made, and nothing else has the elements as int32.
// CHECK-DAG: #[[EVEN_COLUMNS:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2)>
// CHECK-DAG: #[[ODD_COLUMNS:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>
// CHECK-DAG: #[[EVEN_ROWS:.*]] = affine_map<(d0, d1) -> (d0 * 2, d1)>
// CHECK-DAG: #[[LAST_ROW:.*]] = affine_map<(d0, d1) -> (48, d1)>
// CHECK-LABEL: func.func @product(
// CHECK-NOT: -> tensor<32x49xi32>
// CHECK: linalg.generic {indexing_maps = [#[[EVEN_COLUMNS]], #{{.*}}, #[[ODD_COLUMNS]], #{{.*}}]
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.extui
// CHECK-NEXT: arith.subi
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: } -> tensor<32x24xi32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [32, 24] [1, 1] : tensor<32x24xi32> into tensor<32x25xi32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 24] [32, 1] [1, 1] : tensor<32x1xi32> into tensor<32x25xi32>
// CHECK: linalg.generic {indexing_maps = [#[[EVEN_ROWS]],
// CHECK: linalg.generic {indexing_maps = [#[[LAST_ROW]],
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x25xi32>, tensor<25x40xi32>)
// CHECK: %[[PAIRS:.*]] = calque.scalar_function "dot_pairs"(%{{.*}}, %{{.*}}) : i32
// CHECK: arith.addi %{{.*}}, %[[PAIRS]]
func.func @product(%x: tensor<32x49xi8>, %zero: tensor<i8>, %y: tensor<49x40xi8>, %sums: tensor<32x40xi32>) -> tensor<32x40xi32> {
  %point = tensor.empty() : tensor<i32>
  %z = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%zero : tensor<i8>) outs(%point : tensor<i32>) {
  ^bb0(%p: i8, %out: i32):
    %0 = arith.extui %p : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<i32>
  %left = tensor.empty() : tensor<32x49xi32>
  %p = linalg.generic {indexing_maps = [#same, #none, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %z : tensor<32x49xi8>, tensor<i32>) outs(%left : tensor<32x49xi32>) {
  ^bb0(%q: i8, %r: i32, %out: i32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.subi %0, %r : i32
    linalg.yield %1 : i32
  } -> tensor<32x49xi32>
  %right = tensor.empty() : tensor<49x40xi32>
  %q = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<49x40xi8>) outs(%right : tensor<49x40xi32>) {
  ^bb0(%r: i8, %out: i32):
    %0 = arith.extsi %r : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<49x40xi32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<32x49xi32>, tensor<49x40xi32>) outs(%sums : tensor<32x40xi32>) {
  ^bb0(%r: i32, %s: i32, %t: i32):
    %0 = arith.muli %r, %s : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<32x40xi32>
  return %product : tensor<32x40xi32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Words keep the order of what they are made of, and the product reads them across. int16 fits, and squares of bytes
// do as far as they are known.
// CHECK-DAG: #[[ACROSS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.generic {indexing_maps = [{{.*}}#[[ACROSS]], {{.*}}"reduction"{{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x24xi32>, tensor<40x24xi32>)
// CHECK: "dot_pairs"
func.func @transposed(%x: tensor<32x48xi16>, %y: tensor<40x48xi8>, %sums: tensor<32x40xi32>) -> tensor<32x40xi32> {
  %left = tensor.empty() : tensor<32x48xi32>
  %p = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x48xi16>) outs(%left : tensor<32x48xi32>) {
  ^bb0(%q: i16, %out: i32):
    %0 = arith.extsi %q : i16 to i32
    linalg.yield %0 : i32
  } -> tensor<32x48xi32>
  %right = tensor.empty() : tensor<48x40xi32>
  %q = linalg.generic {indexing_maps = [#transposed, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<40x48xi8>) outs(%right : tensor<48x40xi32>) {
  ^bb0(%r: i8, %out: i32):
    %0 = arith.extsi %r : i8 to i32
    %1 = arith.muli %0, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<48x40xi32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<32x48xi32>, tensor<48x40xi32>) outs(%sums : tensor<32x40xi32>) {
  ^bb0(%r: i32, %s: i32, %t: i32):
    %0 = arith.muli %r, %s : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<32x40xi32>
  return %product : tensor<32x40xi32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// uint16 needs more bits than 16 with a sign, and an argument may be any int32.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: "dot_pairs"
func.func @wide(%x: tensor<32x48xi16>, %y: tensor<48x40xi32>, %z: tensor<48x40xi8>, %sums: tensor<32x40xi32>) -> (tensor<32x40xi32>, tensor<32x40xi32>) {
  %left = tensor.empty() : tensor<32x48xi32>
  %p = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x48xi16>) outs(%left : tensor<32x48xi32>) {
  ^bb0(%q: i16, %out: i32):
    %0 = arith.extui %q : i16 to i32
    linalg.yield %0 : i32
  } -> tensor<32x48xi32>
  %right = tensor.empty() : tensor<48x40xi32>
  %q = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<48x40xi8>) outs(%right : tensor<48x40xi32>) {
  ^bb0(%r: i8, %out: i32):
    %0 = arith.extsi %r : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<48x40xi32>
  %one = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<32x48xi32>, tensor<48x40xi32>) outs(%sums : tensor<32x40xi32>) {
  ^bb0(%r: i32, %s: i32, %t: i32):
    %0 = arith.muli %r, %s : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<32x40xi32>
  %other = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %y : tensor<32x48xi32>, tensor<48x40xi32>) outs(%sums : tensor<32x40xi32>) {
  ^bb0(%r: i32, %s: i32, %t: i32):
    %0 = arith.muli %r, %s : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<32x40xi32>
  return %one, %other : tensor<32x40xi32>, tensor<32x40xi32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Both operands have a sign. 128 is added to the left one, from which something is subtracted anyway: what it has too
// much, times the sums of the right one, is subtracted before the products are added.
// CHECK-LABEL: func.func @bytes(
// CHECK: "dot_pairs"
// BYTES-LABEL: func.func @bytes(
// BYTES: %[[C128:.*]] = arith.constant 128 : i32
// BYTES: arith.addi %{{.*}}, %[[C128]]
// BYTES-NOT: arith.subi
// BYTES-NOT: tensor<8xi8>
// BYTES: } -> tensor<8x12xi32>
// BYTES: } -> tensor<12x40xi32>
// BYTES: linalg.generic {{.*}}"reduction", "parallel"{{.*}} ins(%{{.*}} : tensor<12x40xi32>)
// BYTES: %[[ONES:.*]] = arith.constant 16843009 : i32
// BYTES: calque.scalar_function "dot_bytes"(%[[ONES]], %{{.*}}) : i32
// BYTES: %[[BEGIN:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8xi8>, tensor<40xi32>)
// BYTES: arith.muli
// BYTES: arith.subi
// BYTES: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x12xi32>, tensor<12x40xi32>) outs(%[[BEGIN]] : tensor<8x40xi32>)
// BYTES-NEXT: ^bb0(%[[LEFT:.*]]: i32, %[[RIGHT:.*]]: i32, %{{.*}}: i32)
// BYTES-NEXT: calque.scalar_function "dot_bytes"(%[[LEFT]], %[[RIGHT]]) : i32
func.func @bytes(%x: tensor<8x48xi8>, %zeros: tensor<8xi8>, %y: tensor<48x40xi8>) -> tensor<8x40xi32> {
  %left = tensor.empty() : tensor<8x48xi32>
  %p = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %zeros : tensor<8x48xi8>, tensor<8xi8>) outs(%left : tensor<8x48xi32>) {
  ^bb0(%q: i8, %r: i8, %out: i32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.extsi %r : i8 to i32
    %2 = arith.subi %0, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<8x48xi32>
  %right = tensor.empty() : tensor<48x40xi32>
  %q = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<48x40xi8>) outs(%right : tensor<48x40xi32>) {
  ^bb0(%r: i8, %out: i32):
    %0 = arith.extsi %r : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<48x40xi32>
  %zero = arith.constant 0 : i32
  %sums = tensor.empty() : tensor<8x40xi32>
  %begin = linalg.fill ins(%zero : i32) outs(%sums : tensor<8x40xi32>) -> tensor<8x40xi32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x48xi32>, tensor<48x40xi32>) outs(%begin : tensor<8x40xi32>) {
  ^bb0(%r: i32, %s: i32, %t: i32):
    %0 = arith.muli %r, %s : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<8x40xi32>
  return %product : tensor<8x40xi32>
}
