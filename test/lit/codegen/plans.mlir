// What kernels will be, as attributes: one pass chooses them, and another one applies them.
// RUN: calque-opt --calque-stage=name=planned --calque-target=avx2 --split-input-file --mlir-print-local-scope %s -o %t.planned
// RUN: FileCheck %s < %t.planned

// What is applied is what was printed.
// RUN: calque-opt --calque-stage="from=planned name=llvm" --split-input-file %t.planned -o %t.resumed
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 --split-input-file %s | diff %t.resumed -

// Tiles: the roles of loops, sizes, and that B is read as it is.
// CHECK-LABEL: func.func @product(
// CHECK: linalg.generic
// CHECK-SAME: calque.plan = #plan.tiles<b = 1, columns = 1, rows = 0, terms = [2], others = [0], lanes = 8, tile = [6, 2], most_term_block = 9, term_pieces = 1, term_block = 9, row_block = 12, panel_block = 1, panels = as_they_are, cycles = {{[^>]*}}>
func.func @product(%a: tensor<12x9xf32>, %b: tensor<9x16xf32>) -> tensor<12x16xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<12x9xf32>, tensor<9x16xf32>) -> tensor<12x16xf32>
  return %0 : tensor<12x16xf32>
}

// -----

// More terms than a run has; a batch; pieces for threads.
// CHECK-LABEL: func.func @batches(
// CHECK: #plan.tiles<
// CHECK-SAME: batches = [0]
// CHECK-SAME: run = {{[0-9]+}}, loops = [{{[0-9]+ x [0-9]+ by [0-9]+, .*}}], starts = [{{.*}}]
func.func @batches(%a: tensor<8x64x200xf32>, %b: tensor<8x200x64xf32>) -> tensor<8x64x64xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<8x64x200xf32>, tensor<8x200x64xf32>) -> tensor<8x64x64xf32>
  return %0 : tensor<8x64x64xf32>
}

// -----

// Of sizes that are known when the kernel runs, the plan has what blocks follow from.
// CHECK-LABEL: func.func @open(
// CHECK: #plan.tiles<
// CHECK-SAME: most_term_block = {{[0-9]+}}, term_pieces = 1, cached_rows = {{[0-9]+}}, panels =
func.func @open(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @dots(
// CHECK: #plan.dots<a = 0, along = 2, rows = 0, columns = 1, lanes = 8, tile = [4, 2], packs = true, cycles =
func.func @dots(%a: tensor<120x960xf32>, %b: tensor<960x2xf32>) -> tensor<120x2xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<120x960xf32>, tensor<960x2xf32>) -> tensor<120x2xf32>
  return %0 : tensor<120x2xf32>
}

// -----

// A convolution leaves out zeros: borders by their numbers.
// CHECK-LABEL: func.func @convolution(
// CHECK: #plan.tiles<
// CHECK-SAME: left_out = [
func.func @convolution(%x: tensor<8x7x7x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<8x7x7x64xf32> {
  %0 = calque.conv %x, %w {padding = "same", strides = array<i64: 1, 1>} : (tensor<8x7x7x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x7x7x64xf32>
  return %0 : tensor<8x7x7x64xf32>
}

// -----

// A group: on the kernel how many rows at a time, on each operation which of its loops is over the rows.
// CHECK-LABEL: func.func @softmax(
// CHECK: func.func private @calque.kernel_0(
// CHECK-SAME: calque.plan = #plan.group<rows = 4096, block = {{[0-9]+}}>
// CHECK-COUNT-4: calque.plan = #plan.member<row = 0{{[,>]}}
func.func @softmax(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %0 = calque.softmax %x {axis = 1 : i64} : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  return %0 : tensor<4096x256xf32>
}

// -----

// A product in a group has the plan that it has alone, in the group's blocks.
// CHECK-LABEL: func.func @attention(
// CHECK: #plan.group<rows = 40, block = {{[0-9]+}}>
// CHECK: #plan.member<row = 0, product = <{{.*}}in_blocks = true
func.func @attention(%q: tensor<40x64x64xf32>, %k: tensor<40x64x64xf32>, %v: tensor<40x64x64xf32>) -> tensor<40x64x64xf32> {
  %0 = calque.contract %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 2>} : (tensor<40x64x64xf32>, tensor<40x64x64xf32>) -> tensor<40x64x64xf32>
  %1 = calque.softmax %0 {axis = 2 : i64} : (tensor<40x64x64xf32>) -> tensor<40x64x64xf32>
  %2 = calque.contract %1, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<40x64x64xf32>, tensor<40x64x64xf32>) -> tensor<40x64x64xf32>
  return %2 : tensor<40x64x64xf32>
}

// -----

// A group of an unknown number of rows says of which member these are counted.
// CHECK-LABEL: func.func @open_rows(
// CHECK: #plan.group<rows_of = 0, block = {{[0-9]+}}>
func.func @open_rows(%x: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %0 = calque.softmax %x {axis = 1 : i64} : (tensor<?x256xf32>) -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}
