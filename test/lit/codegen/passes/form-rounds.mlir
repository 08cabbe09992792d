// Calls that depend on none of each other are brought together, and their buffers live at the same time.
// RUN: calque-opt --calque-form-rounds --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-form-rounds --calque-place-buffers --split-input-file %s | FileCheck %s --check-prefix=PLACED

// The first update reads %g, which is large, and stays. Two others move to it, past a product that neither depends on. A
// small one begins no round, but joins.
// CHECK-LABEL: func.func @updates(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<300x400xf32>, %[[B:[a-z0-9]+]]: memref<300x400xf32>, %[[C:[a-z0-9]+]]: memref<64xf32>
// CHECK: call @calque.kernel_0(%[[A]], %{{.*}}) {calque.cycles = [[CYCLES:[0-9]+]] : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_0(%[[B]], %{{.*}}) {calque.cycles = [[CYCLES]] : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_1(%[[C]], %{{.*}}) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_2({{.*}}) : (
// CHECK-NOT: calque.round
#same = affine_map<(r, c) -> (r, c)>
#one = affine_map<(r) -> (r)>
func.func @updates(%frame: !llvm.ptr, %a: memref<300x400xf32>, %b: memref<300x400xf32>, %c: memref<64xf32>, %x: memref<300x400xf32>, %h: memref<64xf32>, %y: memref<300x300xf32>) attributes {calque.inputs = 5 : i64} {
  %g = memref.alloc() : memref<300x400xf32>
  call @calque.kernel_3(%x, %g) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_0(%a, %g) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_2(%g, %y) : (memref<300x400xf32>, memref<300x300xf32>) -> ()
  call @calque.kernel_0(%b, %x) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_1(%c, %h) : (memref<64xf32>, memref<64xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%w: memref<300x400xf32> {llvm.noalias}, %g: memref<300x400xf32>) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%g : memref<300x400xf32>) outs(%w : memref<300x400xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
func.func private @calque.kernel_1(%w: memref<64xf32> {llvm.noalias}, %g: memref<64xf32>) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%g : memref<64xf32>) outs(%w : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
// A reduction of this length may have all threads for itself.
func.func private @calque.kernel_3(%x: memref<300x400xf32>, %y: memref<300x400xf32> {llvm.noalias}) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<300x400xf32>) outs(%y : memref<300x400xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
func.func private @calque.kernel_2(%x: memref<300x400xf32>, %y: memref<300x300xf32> {llvm.noalias}) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %x : memref<300x400xf32>, memref<300x400xf32>) outs(%y : memref<300x300xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>

// Two assignments of one variable, and one that reads it, keep their order.
// CHECK-LABEL: func.func @order(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<300x400xf32>, %[[B:[a-z0-9]+]]: memref<300x400xf32>, %[[C:[a-z0-9]+]]: memref<300x400xf32>
// CHECK: call @calque.kernel_0(%[[A]], %{{.*}}) :
// CHECK-NEXT: call @calque.kernel_0(%[[A]], %{{.*}}) :
// CHECK-NEXT: call @calque.kernel_0(%[[B]], %[[A]]) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_0(%[[C]], %{{.*}}) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
func.func @order(%frame: !llvm.ptr, %a: memref<300x400xf32>, %b: memref<300x400xf32>, %c: memref<300x400xf32>, %g: memref<300x400xf32>) attributes {calque.inputs = 4 : i64} {
  call @calque.kernel_0(%a, %g) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_0(%a, %g) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_0(%b, %a) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  call @calque.kernel_0(%c, %g) : (memref<300x400xf32>, memref<300x400xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%w: memref<300x400xf32> {llvm.noalias}, %g: memref<300x400xf32>) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%g : memref<300x400xf32>) outs(%w : memref<300x400xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#one = affine_map<(r) -> (r)>

// A call that reads nothing large waits for others behind it. What they make lives at the same time as what they read:
// the third buffer may not be where the second is, which would be free behind the second call alone.
// CHECK-LABEL: func.func @waits(
// CHECK: call @calque.kernel_1(
// CHECK: call @calque.kernel_0({{.*}}) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: call @calque.kernel_0({{.*}}) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_1(
// PLACED-LABEL: func.func @waits(
// PLACED-SAME: memref<96000xi8>)
// PLACED-DAG: %[[R:.*]] = memref.view %{{.*}}[%c64000]
// PLACED-DAG: %[[P:.*]] = memref.view %{{.*}}[%c32000]
// PLACED-DAG: %[[Q:.*]] = memref.view %{{.*}}[%c0]
// PLACED: call @calque.kernel_1(%{{.*}}, %[[Q]])
// PLACED-NEXT: call @calque.kernel_0(%{{.*}}, %[[P]])
// PLACED-NEXT: call @calque.kernel_0(%[[Q]], %[[R]])
func.func @waits(%frame: !llvm.ptr, %x: memref<8000xf32>, %y: memref<8000xf32>, %z: memref<8000xf32>) attributes {calque.inputs = 1 : i64} {
  %p = memref.alloc() : memref<8000xf32>
  %q = memref.alloc() : memref<8000xf32>
  call @calque.kernel_0(%x, %p) : (memref<8000xf32>, memref<8000xf32>) -> ()
  call @calque.kernel_1(%x, %q) : (memref<8000xf32>, memref<8000xf32>) -> ()
  %r = memref.alloc() : memref<8000xf32>
  call @calque.kernel_0(%q, %r) : (memref<8000xf32>, memref<8000xf32>) -> ()
  call @calque.kernel_1(%r, %y) : (memref<8000xf32>, memref<8000xf32>) -> ()
  call @calque.kernel_1(%p, %z) : (memref<8000xf32>, memref<8000xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%x: memref<8000xf32>, %y: memref<8000xf32> {llvm.noalias}) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<8000xf32>) outs(%y : memref<8000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    linalg.yield %2 : f32
  }
  return
}
// What stores by itself joins no round.
func.func private @calque.kernel_1(%x: memref<8000xf32>, %y: memref<8000xf32> {llvm.noalias}) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8000 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<8000xf32>
    memref.store %0, %y[%i] : memref<8000xf32>
  }
  return
}

// -----

#one = affine_map<(r) -> (r)>

// Short calls that depend on each other are a chain, in the order of the program. The chains of a round do not depend on
// each other. Nothing follows a call that is not short.
// CHECK-LABEL: func.func @chains(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<6000xf32>, %[[B:[a-z0-9]+]]: memref<6000xf32>, %[[C:[a-z0-9]+]]: memref<6000xf32>, %[[D:[a-z0-9]+]]: memref<6000xf32>
// CHECK: call @calque.kernel_0(%{{.*}}, %[[A]]) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_0(%[[A]], %[[B]]) {calque.cycles = {{[0-9]+}} : i64, calque.follows, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_0(%{{.*}}, %[[C]]) {calque.cycles = {{[0-9]+}} : i64, calque.round = 0 : i64}
// CHECK-NEXT: call @calque.kernel_0(%[[C]], %[[D]]) {calque.cycles = {{[0-9]+}} : i64, calque.follows, calque.round = 0 : i64}
func.func @chains(%frame: !llvm.ptr, %a: memref<6000xf32>, %b: memref<6000xf32>, %c: memref<6000xf32>, %d: memref<6000xf32>, %x: memref<6000xf32>) attributes {calque.inputs = 1 : i64} {
  call @calque.kernel_0(%x, %a) : (memref<6000xf32>, memref<6000xf32>) -> ()
  call @calque.kernel_0(%x, %c) : (memref<6000xf32>, memref<6000xf32>) -> ()
  call @calque.kernel_0(%a, %b) : (memref<6000xf32>, memref<6000xf32>) -> ()
  call @calque.kernel_0(%c, %d) : (memref<6000xf32>, memref<6000xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%x: memref<6000xf32>, %y: memref<6000xf32> {llvm.noalias}) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<6000xf32>) outs(%y : memref<6000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

#one = affine_map<(r) -> (r)>

// Nothing moves past what can fail.
// CHECK-LABEL: func.func @fails(
// CHECK-NOT: calque.round
func.func private @calque.runtime_0(!llvm.ptr, i32) attributes {calque.runtime = "calque_rt_assert"}
func.func @fails(%frame: !llvm.ptr, %a: memref<80000xf32>, %b: memref<80000xf32>, %c: memref<80000xf32>, %d: memref<80000xf32>) attributes {calque.inputs = 2 : i64} {
  %site = arith.constant 0 : i32
  call @calque.kernel_0(%a, %c) : (memref<80000xf32>, memref<80000xf32>) -> ()
  call @calque.runtime_0(%frame, %site) : (!llvm.ptr, i32) -> ()
  call @calque.kernel_0(%b, %d) : (memref<80000xf32>, memref<80000xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%x: memref<80000xf32>, %y: memref<80000xf32> {llvm.noalias}) attributes {calque.kernel} {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<80000xf32>) outs(%y : memref<80000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  }
  return
}
