// A kernel that is one long block becomes functions, which are called one after the other.
// RUN: calque-opt --calque-split-long-kernels=longest=2 --split-input-file %s | FileCheck %s
// What is stored in between grows with the program too, and stands on no thread's stack:
// RUN: calque-opt --calque-split-long-kernels=longest=2 --calque-pass-scratch --split-input-file %s | FileCheck %s --check-prefix=SCRATCH
// SCRATCH-LABEL: func.func private @numbers.scratch(
// SCRATCH: arith.constant 16 : i64
// SCRATCH-LABEL: func.func @numbers(
// SCRATCH-NOT: alloc
// SCRATCH: memref.view %{{.*}} : memref<1xi8> to memref<2xindex>
// SCRATCH-LABEL: func.func private @numbers.part_2(

// Operations stand where they are first needed. %n and %1 are stored for later parts; %2 is used by its own part alone.
// CHECK-LABEL: func.func @numbers(
// CHECK-SAME: %[[WORDS:.*]]: memref<4xindex>, %[[N:.*]]: index)
// CHECK-NEXT: %[[SLOTS:.*]] = memref.alloc() : memref<2xindex>
// CHECK: memref.store %[[N]], %[[SLOTS]][%c0
// CHECK-NEXT: call @numbers.part_0(%[[SLOTS]], %[[WORDS]])
// CHECK-NEXT: call @numbers.part_1(%[[SLOTS]], %[[WORDS]])
// CHECK-NEXT: call @numbers.part_2(%[[SLOTS]], %[[WORDS]])
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @numbers.part_2(
// CHECK-SAME: %[[SLOTS:.*]]: memref<2xindex>, %[[WORDS:.*]]: memref<4xindex>) attributes {passthrough = ["noinline", "optnone"]}
// CHECK: %[[THIRD:.*]] = memref.load %[[SLOTS]]
// CHECK: memref.store %[[THIRD]], %[[WORDS]][%c2
// CHECK-LABEL: func.func private @numbers.part_1(
// CHECK: memref.load
// CHECK: memref.load
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: memref.store %[[SUM]], %{{.*}}[%c1
// CHECK-LABEL: func.func private @numbers.part_0(
// CHECK-SAME: %[[SLOTS:.*]]: memref<2xindex>, %[[WORDS:.*]]: memref<4xindex>)
// CHECK: %[[N:.*]] = memref.load %[[SLOTS]][%c0
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[N]], %c3
// CHECK: memref.store %[[PRODUCT]], %[[SLOTS]][%c1
// CHECK: memref.store %[[PRODUCT]], %[[WORDS]][%c0
func.func @numbers(%words: memref<4xindex>, %n: index) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %unused = arith.addi %n, %c3 : index
  %1 = arith.muli %n, %c3 : index
  %2 = arith.addi %n, %1 : index
  memref.store %1, %words[%c0] : memref<4xindex>
  memref.store %2, %words[%c1] : memref<4xindex>
  memref.store %1, %words[%c2] : memref<4xindex>
  return
}

// -----

// What a check uses in its region is loaded, too.
// CHECK-LABEL: func.func @checks(
// CHECK: call @checks.part_2
// CHECK-LABEL: func.func private @checks.part_2(
// CHECK-SAME: memref<1xindex>
// CHECK: %[[N:.*]] = memref.load
// CHECK: scf.if
// CHECK-NEXT: func.call @fail(%[[N]])
func.func private @fail(%n: index)
func.func @checks(%n: index) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = arith.cmpi eq, %n, %c0 : index
  %1 = arith.cmpi eq, %n, %c1 : index
  %2 = arith.cmpi eq, %n, %c2 : index
  scf.if %0 {
    func.call @fail(%n) : (index) -> ()
  }
  scf.if %1 {
    func.call @fail(%n) : (index) -> ()
  }
  scf.if %2 {
    func.call @fail(%n) : (index) -> ()
  }
  return
}

// -----

// Two parts are not worth it, and what can't be stored between parts keeps them together.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: call
// CHECK-LABEL: func.func @views(
// CHECK-NOT: call
func.func @short(%words: memref<4xindex>, %n: index) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %0 = arith.addi %n, %n : index
  %1 = arith.addi %0, %n : index
  %2 = arith.addi %1, %n : index
  memref.store %2, %words[%c0] : memref<4xindex>
  return
}
func.func @views(%words: memref<4xindex>, %n: index) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %view = memref.reinterpret_cast %words to offset: [%n], sizes: [1], strides: [1] : memref<4xindex> to memref<1xindex, strided<[1], offset: ?>>
  memref.store %n, %view[%c0] : memref<1xindex, strided<[1], offset: ?>>
  %0 = arith.addi %n, %n : index
  memref.store %0, %view[%c0] : memref<1xindex, strided<[1], offset: ?>>
  %1 = arith.addi %0, %n : index
  memref.store %1, %view[%c0] : memref<1xindex, strided<[1], offset: ?>>
  return
}
