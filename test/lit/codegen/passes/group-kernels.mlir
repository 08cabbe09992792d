// Operations are marked that one kernel can do row by row.
// RUN: calque-opt --calque-group-kernels --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-group-kernels --calque-outline-kernels --split-input-file %s | FileCheck %s --check-prefix=KERNEL
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 %S/../Inputs/softmax.mlir | FileCheck %s --check-prefix=LOOPS

#same = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#column = affine_map<(r, c) -> (c)>
#turned = affine_map<(r, c) -> (c, r)>

// A row's sum is read by what divides by it. Nothing else reads %powers, so that its rows exist within the kernel.
// CHECK-LABEL: func.func @rows(
// CHECK: linalg.exp {calque.group = 0 : i64}
// CHECK: linalg.generic {{.*}}"reduction"]} ins{{.*}} attrs = {calque.group = 0 : i64}
// CHECK: linalg.generic {{.*}}"parallel"]} ins{{.*}} attrs = {calque.group = 0 : i64}
// KERNEL-LABEL: func.func @rows(
// KERNEL: call @calque.kernel_0(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<4096x256xf32>, memref<4096xf32>, memref<4096x256xf32>) -> ()
// KERNEL-NOT: call
// KERNEL: func.func private @calque.kernel_0
// KERNEL: memref.alloc() : memref<4096x256xf32>
// KERNEL: linalg.exp
// KERNEL-NOT: calque.group
func.func @rows(%frame: !llvm.ptr, %x: memref<4096x256xf32>, %s: memref<4096xf32>, %y: memref<4096x256xf32>) attributes {calque.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %powers = memref.alloc() : memref<4096x256xf32>
  linalg.exp ins(%x : memref<4096x256xf32>) outs(%powers : memref<4096x256xf32>)
  linalg.fill ins(%zero : f32) outs(%s : memref<4096xf32>)
  linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%powers : memref<4096x256xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %b, %a : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]} ins(%powers, %s : memref<4096x256xf32>, memref<4096xf32>) outs(%y : memref<4096x256xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %part = arith.divf %a, %b : f32
    linalg.yield %part : f32
  }
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// The transpose reads rows that are not there yet.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT: calque.group
func.func @turned(%frame: !llvm.ptr, %x: memref<512x512xf32>, %y: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%x : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// What is small stays in the caches from one kernel to the next.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: calque.group
func.func @small(%frame: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.log ins(%t : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// The transpose reads what the exp writes, so that the exp stays in front of it. The log joins it there.
// CHECK-LABEL: func.func @between(
// CHECK: linalg.exp {calque.group = 0 : i64}
// CHECK-NEXT: linalg.log {calque.group = 0 : i64}
// CHECK-NEXT: linalg.generic
func.func @between(%frame: !llvm.ptr, %x: memref<512x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%x : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.log ins(%t : memref<512x512xf32>) outs(%z : memref<512x512xf32>)
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// What reads what the transpose writes can't.
// CHECK-LABEL: func.func @behind(
// CHECK-NOT: calque.group
func.func @behind(%frame: !llvm.ptr, %x: memref<512x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%x : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.add ins(%t, %y : memref<512x512xf32>, memref<512x512xf32>) outs(%z : memref<512x512xf32>)
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// Nor what overwrites what the transpose reads.
// CHECK-LABEL: func.func @over(
// CHECK-NOT: calque.group
func.func @over(%frame: !llvm.ptr, %x: memref<512x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%x : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.log ins(%t : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// A number from memory may be made by what stands in between.
// CHECK-LABEL: func.func @number(
// CHECK-NOT: calque.group
func.func @number(%frame: !llvm.ptr, %x: memref<512x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%x : memref<512x512xf32>) outs(%t : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  %c1 = arith.constant 1 : index
  %n = memref.load %y[%c1, %c1] : memref<512x512xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%t : memref<512x512xf32>) outs(%z : memref<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.mulf %a, %n : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// The product begins by filling what the exp reads: the exp stays in front of that.
// CHECK-LABEL: func.func @filled(
// CHECK: linalg.exp
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.matmul
func.func @filled(%frame: !llvm.ptr, %h: memref<512x512xf32>, %w: memref<512x512xf32>) attributes {calque.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<512x512xf32>
  linalg.exp ins(%h : memref<512x512xf32>) outs(%e : memref<512x512xf32>)
  linalg.fill ins(%zero : f32) outs(%h : memref<512x512xf32>)
  linalg.matmul ins(%e, %w : memref<512x512xf32>, memref<512x512xf32>) outs(%h : memref<512x512xf32>)
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>

// Columns are summed up by the kernel that makes the rows.
// CHECK-LABEL: func.func @columns(
// CHECK: linalg.exp {calque.group = 0 : i64}
// CHECK: attrs = {calque.group = 0 : i64}
func.func @columns(%frame: !llvm.ptr, %x: memref<4099x64xf32>, %y: memref<4099x64xf32>, %s: memref<64xf32>) attributes {calque.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.exp ins(%x : memref<4099x64xf32>) outs(%y : memref<4099x64xf32>)
  linalg.fill ins(%zero : f32) outs(%s : memref<64xf32>)
  linalg.generic {indexing_maps = [#same, #column], iterator_types = ["reduction", "parallel"]} ins(%y : memref<4099x64xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %b, %a : f32
    linalg.yield %sum : f32
  }
  return
}

// The nests of a softmax are in one parallel loop, which holds a block of the powers in memory of its thread.
// LOOPS-LABEL: func.func private @calque.kernel_0(
// LOOPS: scf.parallel
// LOOPS: memref.alloca() {{.*}} : memref<{{[0-9]+}}xf32>
// LOOPS: arith.maximumf
// LOOPS: math.exp
// LOOPS: arith.addf
// LOOPS: arith.divf
// LOOPS-NOT: scf.parallel

// -----

#a = affine_map<(r, c, k) -> (r, k)>
#b = affine_map<(r, c, k) -> (k, c)>
#turned = affine_map<(r, c, k) -> (k, r)>
#result = affine_map<(r, c, k) -> (r, c)>

// A product and what is computed of its rows are a group. The next product reads that across its rows, so that it is none
// of them and stays behind; what does not need it joins the group.
// CHECK-LABEL: func.func @products(
// CHECK: linalg.generic {{.*}}"reduction"]} ins({{.*}}) outs(%[[P:.*]] : memref<512x256xf32>) attrs = {calque.group = 0 : i64}
// CHECK: linalg.exp {calque.group = 0 : i64} ins(%[[P]]
// CHECK-NEXT: linalg.tanh {calque.group = 0 : i64}
// CHECK-NEXT: linalg.fill
// CHECK-NOT: calque.group
func.func @products(%frame: !llvm.ptr, %x: memref<512x128xf32>, %w: memref<128x256xf32>, %y: memref<512x256xf32>, %z: memref<256x256xf32>, %v: memref<512x256xf32>) attributes {calque.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<512x256xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<512x256xf32>)
  linalg.generic {indexing_maps = [#a, #b, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x128xf32>, memref<128x256xf32>) outs(%p : memref<512x256xf32>) {
  ^bb0(%e: f32, %f: f32, %sum: f32):
    %m = arith.mulf %e, %f : f32
    %n = arith.addf %sum, %m : f32
    linalg.yield %n : f32
  }
  linalg.exp ins(%p : memref<512x256xf32>) outs(%y : memref<512x256xf32>)
  linalg.fill ins(%zero : f32) outs(%z : memref<256x256xf32>)
  linalg.generic {indexing_maps = [#turned, #b, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %y : memref<512x256xf32>, memref<512x256xf32>) outs(%z : memref<256x256xf32>) {
  ^bb0(%e: f32, %f: f32, %sum: f32):
    %m = arith.mulf %e, %f : f32
    %n = arith.addf %sum, %m : f32
    linalg.yield %n : f32
  }
  linalg.tanh ins(%y : memref<512x256xf32>) outs(%v : memref<512x256xf32>)
  return
}

// -----

#map = affine_map<(n, h, w) -> (n, h, w)>

// The edge of an image is filled where the image is written, although the bytes are few. A fill of what nobody else
// writes is no member.
// CHECK-LABEL: func.func @edges(
// CHECK: linalg.fill ins
// CHECK: linalg.fill {calque.group = 0 : i64}
// CHECK: linalg.fill {calque.group = 0 : i64}
// CHECK: linalg.generic {{.*}}attrs = {calque.group = 0 : i64}
// KERNEL-LABEL: func.func @edges(
// KERNEL-COUNT-2: call @calque.kernel
// KERNEL-NOT: call
// KERNEL: return
func.func @edges(%frame: !llvm.ptr, %x: memref<256x30x32xf32>, %y: memref<256x32x32xf32>, %z: memref<256x32x32xf32>) attributes {calque.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<256x32x32xf32>)
  %above = memref.subview %y[0, 0, 0] [256, 1, 32] [1, 1, 1] : memref<256x32x32xf32> to memref<256x1x32xf32, strided<[1024, 32, 1]>>
  linalg.fill ins(%zero : f32) outs(%above : memref<256x1x32xf32, strided<[1024, 32, 1]>>)
  %below = memref.subview %y[0, 31, 0] [256, 1, 32] [1, 1, 1] : memref<256x32x32xf32> to memref<256x1x32xf32, strided<[1024, 32, 1], offset: 992>>
  linalg.fill ins(%zero : f32) outs(%below : memref<256x1x32xf32, strided<[1024, 32, 1], offset: 992>>)
  %inner = memref.subview %y[0, 1, 0] [256, 30, 32] [1, 1, 1] : memref<256x32x32xf32> to memref<256x30x32xf32, strided<[1024, 32, 1], offset: 32>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<256x30x32xf32>) outs(%inner : memref<256x30x32xf32, strided<[1024, 32, 1], offset: 32>>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}

// -----

#same = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>

// What reads the same rows reads them once, although none needs another; but not what another overwrites in between.
// CHECK-LABEL: func.func @siblings(
// CHECK: linalg.exp {calque.group = 0 : i64}
// CHECK: linalg.tanh {calque.group = 0 : i64}
// CHECK: linalg.generic {{.*}}attrs = {calque.group = 0 : i64}
// CHECK-NOT: calque.group = 0
func.func @siblings(%frame: !llvm.ptr, %x: memref<4096x64xf32>, %y: memref<4096x64xf32>, %z: memref<4096x64xf32>, %s: memref<64xf32>, %t: memref<4096x64xf32>) attributes {calque.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.exp ins(%x : memref<4096x64xf32>) outs(%y : memref<4096x64xf32>)
  linalg.tanh ins(%x : memref<4096x64xf32>) outs(%z : memref<4096x64xf32>)
  linalg.fill ins(%zero : f32) outs(%s : memref<64xf32>)
  linalg.generic {indexing_maps = [#same, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4096x64xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %b, %a : f32
    linalg.yield %sum : f32
  }
  memref.copy %t, %x : memref<4096x64xf32> to memref<4096x64xf32>
  linalg.log ins(%x : memref<4096x64xf32>) outs(%t : memref<4096x64xf32>)
  return
}

// -----

#a = affine_map<(n, h, w, f, i, j) -> (n, h + i, w + j)>
#b = affine_map<(n, h, w, f, i, j) -> (i, j, f)>
#result = affine_map<(n, h, w, f, i, j) -> (n, h, w, f)>
#same = affine_map<(n, h, w, f) -> (n, h, w, f)>
#sums = affine_map<(n, h, w, f) -> (f)>

// A sum over images takes what a convolution makes image by image: 32 pieces have two images each. The statistics of 63
// images have pieces that end within one.
// CHECK-LABEL: func.func @statistics(
// CHECK: linalg.generic {{.*}} ins(%arg1, {{.*}} attrs = {calque.group = 0 : i64}
// CHECK: linalg.generic {{.*}} outs(%arg5 : memref<16xf32>) attrs = {calque.group = 0 : i64}
// CHECK-NOT: calque.group
func.func @statistics(%frame: !llvm.ptr, %x: memref<64x30x30xf32>, %w: memref<3x3x16xf32>, %few: memref<63x30x30xf32>, %y: memref<64x28x28x16xf32>, %s: memref<16xf32>, %z: memref<63x28x28x16xf32>, %t: memref<16xf32>) attributes {calque.inputs = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x28x28x16xf32>)
  linalg.generic {indexing_maps = [#a, #b, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : memref<64x30x30xf32>, memref<3x3x16xf32>) outs(%y : memref<64x28x28x16xf32>) {
  ^bb0(%e: f32, %f: f32, %sum: f32):
    %m = arith.mulf %e, %f : f32
    %n = arith.addf %sum, %m : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<16xf32>)
  linalg.generic {indexing_maps = [#same, #sums], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%y : memref<64x28x28x16xf32>) outs(%s : memref<16xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %n = arith.addf %sum, %e : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<63x28x28x16xf32>)
  linalg.generic {indexing_maps = [#a, #b, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%few, %w : memref<63x30x30xf32>, memref<3x3x16xf32>) outs(%z : memref<63x28x28x16xf32>) {
  ^bb0(%e: f32, %f: f32, %sum: f32):
    %m = arith.mulf %e, %f : f32
    %n = arith.addf %sum, %m : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%t : memref<16xf32>)
  linalg.generic {indexing_maps = [#same, #sums], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%z : memref<63x28x28x16xf32>) outs(%t : memref<16xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %n = arith.addf %sum, %e : f32
    linalg.yield %n : f32
  }
  return
}
