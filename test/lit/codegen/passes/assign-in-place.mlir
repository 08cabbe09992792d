// New values are written over those before them, where nothing else needs these and nothing that may fail comes later.
// RUN: calque-opt --calque-assign-in-place --split-input-file %s | FileCheck %s


// One that is read element by element, and read before.
// CHECK-LABEL: func.func @itself(
// CHECK-SAME: %[[W:[^:]*]]: memref<3x4xf32>, %[[R:[^:]*]]: memref<f32>, %{{.*}}: memref<3x4xf32>)
// CHECK-SAME: calque.in_place = array<i64: 0>
// CHECK: linalg.generic {{.*}} ins(%[[W]] : {{.*}} outs(%[[R]] :
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : {{.*}} outs(%[[W]] :
func.func @itself(%frame: !llvm.ptr, %x: memref<3x4xf32>, %w: memref<3x4xf32>, %r: memref<f32>, %new: memref<3x4xf32>)
    attributes {calque.assigned = array<i64: 1>, calque.inputs = 2 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%w : memref<3x4xf32>) outs(%r : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : memref<3x4xf32>, memref<3x4xf32>) outs(%new : memref<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Read in another order, by a reduction, through a view, after it is written: each keeps its own memory.
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT: calque.in_place
// CHECK: outs(%{{new|arg3}} :
func.func @transposed(%frame: !llvm.ptr, %w: memref<3x3xf32>, %x: memref<3x3xf32>, %new: memref<3x3xf32>)
    attributes {calque.assigned = array<i64: 0>, calque.inputs = 2 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<3x3xf32>) outs(%new : memref<3x3xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @product(
// CHECK-NOT: calque.in_place
func.func @product(%frame: !llvm.ptr, %w: memref<3x3xf32>, %x: memref<3x3xf32>, %new: memref<3x3xf32>)
    attributes {calque.assigned = array<i64: 0>, calque.inputs = 2 : i64} {
  linalg.matmul ins(%w, %x : memref<3x3xf32>, memref<3x3xf32>) outs(%new : memref<3x3xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @viewed(
// CHECK-NOT: calque.in_place
func.func @viewed(%frame: !llvm.ptr, %w: memref<4xf32>, %new: memref<4xf32>)
    attributes {calque.assigned = array<i64: 0>, calque.inputs = 1 : i64} {
  %part = memref.subview %w[1] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1], offset: 1>>
  %to = memref.subview %new[0] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1]>>
  linalg.exp ins(%part : memref<3xf32, strided<[1], offset: 1>>) outs(%to : memref<3xf32, strided<[1]>>)
  return
}

// -----

// The value before is returned, by a copy at the end.
// CHECK-LABEL: func.func @returned(
// CHECK-NOT: calque.in_place
func.func @returned(%frame: !llvm.ptr, %w: memref<4xf32>, %old: memref<4xf32>, %new: memref<4xf32>)
    attributes {calque.assigned = array<i64: 0>, calque.inputs = 1 : i64} {
  linalg.exp ins(%w : memref<4xf32>) outs(%new : memref<4xf32>)
  linalg.copy ins(%w : memref<4xf32>) outs(%old : memref<4xf32>)
  return
}

// -----

// A new value that differs in a part from the one before it.
// CHECK-LABEL: func.func @part(
// CHECK-SAME: calque.in_place = array<i64: 0>
// CHECK-NEXT: memref.subview %{{w|arg1}}
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: return
func.func @part(%frame: !llvm.ptr, %w: memref<4xf32>, %x: memref<2xf32>, %new: memref<4xf32>)
    attributes {calque.assigned = array<i64: 0>, calque.inputs = 2 : i64} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%w : memref<4xf32>) outs(%new : memref<4xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  }
  %to = memref.subview %new[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  linalg.exp ins(%x : memref<2xf32>) outs(%to : memref<2xf32, strided<[1], offset: 1>>)
  return
}

// -----

// Variables that change places: one of the two values is needed after it is written.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:[^:]*]]: memref<4xf32>, %[[B:[^:]*]]: memref<4xf32>, %[[NEWA:[^:]*]]: memref<4xf32>, %{{.*}}: memref<4xf32>)
// CHECK-SAME: calque.in_place = array<i64: 1>
// CHECK: linalg.copy ins(%[[B]] : memref<4xf32>) outs(%[[NEWA]] : memref<4xf32>)
// CHECK: linalg.copy ins(%[[A]] : memref<4xf32>) outs(%[[B]] : memref<4xf32>)
func.func @swap(%frame: !llvm.ptr, %a: memref<4xf32>, %b: memref<4xf32>, %newa: memref<4xf32>, %newb: memref<4xf32>)
    attributes {calque.assigned = array<i64: 0, 1>, calque.inputs = 2 : i64} {
  linalg.copy ins(%b : memref<4xf32>) outs(%newa : memref<4xf32>)
  linalg.copy ins(%a : memref<4xf32>) outs(%newb : memref<4xf32>)
  return
}

// -----

// A check before it ends the program in time; one after it would come too late.
func.func private @calque_rt_fail(!llvm.ptr)
// CHECK-LABEL: func.func @checked(
// CHECK-SAME: calque.in_place = array<i64: 1>
func.func @checked(%frame: !llvm.ptr, %a: memref<4xf32>, %b: memref<4xf32>, %c: memref<i1>, %newa: memref<4xf32>, %newb: memref<4xf32>)
    attributes {calque.assigned = array<i64: 0, 1>, calque.inputs = 3 : i64} {
  linalg.exp ins(%a : memref<4xf32>) outs(%newa : memref<4xf32>)
  %holds = memref.load %c[] : memref<i1>
  scf.if %holds {
  } else {
    func.call @calque_rt_fail(%frame) : (!llvm.ptr) -> ()
  }
  linalg.exp ins(%b : memref<4xf32>) outs(%newb : memref<4xf32>)
  return
}

// -----

// Empty values, and values of sizes that are not known, are left alone.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT: calque.in_place
func.func @unknown(%frame: !llvm.ptr, %w: memref<?xf32>, %e: memref<0xf32>, %new: memref<?xf32>, %newe: memref<0xf32>)
    attributes {calque.assigned = array<i64: 0, 1>, calque.inputs = 2 : i64} {
  linalg.exp ins(%w : memref<?xf32>) outs(%new : memref<?xf32>)
  linalg.exp ins(%e : memref<0xf32>) outs(%newe : memref<0xf32>)
  return
}
