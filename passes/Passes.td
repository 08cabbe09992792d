#ifndef CALQUE_PASSES_TD
#define CALQUE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"calque-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Expand calque.gradient, calque.jvp and calque.unbatch";
  let description = [{
    Transformations are expanded in program order. An inner one comes first, so that an outer one meets its expansion.

    - `calque.gradient`: walks the operations before it backwards, and emits their reverse rules in its place. From a
      region it goes on through the blocks around it. A path through another dialect's operation or behind a branch is
      an error. If the rules of an inner transformation have emitted a value several times, it is differentiated once.
    - `calque.jvp`: emits the tangents of the operations between its sources and its targets.
    - `calque.unbatch`: emits the operations after its `calque.batch` that depend on a slice again, on tensors with the
      mapped axis as axis 0.

    ```mlir
    %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
    %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (...) -> tensor<f32>
    ```
    becomes
    ```mlir
    %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
    %g = calque.mul %seed, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect", "::mlir::vector::VectorDialect"];
}

def SimplifyLoops : Pass<"calque-simplify-loops", "::mlir::func::FuncOp"> {
  let summary = "Drop what loops do for nothing, before derivatives are taken of it";
  let description = [{
    Of two loop variables that hold the same array, the one that the next iteration takes and the one that is there
    after the loop, one is left: in place of a copy in each iteration, and of two cotangents, there are none and one.
    An element of a slice is read where it is.

    ```mlir
    %r:3 = calque.while %i, %x, %y : ... {
      ...
    } {
    ^bb0(%j: tensor<i64>, %a: tensor<9xf32>, %b: tensor<9xf32>):
      ...
      vector.yield %k, %c, %c : tensor<i64>, tensor<9xf32>, tensor<9xf32>
    }
    ```
    becomes
    ```mlir
    %r:2 = calque.while %i, %x : ... {
      ...
    } {
    ^bb0(%j: tensor<i64>, %a: tensor<9xf32>):
      ...
      vector.yield %k, %c : tensor<i64>, tensor<9xf32>
    }
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect"];
}

def StateToValues : Pass<"calque-state-to-values", "::mlir::func::FuncOp"> {
  let summary = "Turn variables into arguments and results";
  let description = [{
    Appends an argument for each variable. A read becomes the value of the last assignment before it, or else the
    argument. Appends the last value of each assigned variable to the results; `calque.assigned` lists their arguments.
    Reads and assignments in regions and behind branches are errors.

    ```mlir
    func.func @f(%x: tensor<f32>) attributes {calque.variables = [ {name = "w", type = tensor<f32>} ]} {
      %w = calque.variable_read {variable = 0 ...}
      %v = calque.add %w, %x
      calque.variable_assign %v {variable = 0}
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> attributes {calque.assigned = array<i64: 1>} {
      %v = calque.add %w, %x
      return %v
    ```
  }];
}

def ExpandComposites : Pass<"calque-expand-composites", "::mlir::func::FuncOp"> {
  let summary = "Replace composite operations by the expressions that they stand for";
  let description = [{
    ```mlir
    %m = calque.reduce_mean %x {axes = array<i64: 0>, keepdims = false}
    ```
    becomes
    ```mlir
    %s = calque.reduce_sum %x {axes = array<i64: 0>, keepdims = false}
    %n = calque.axis_size %x {axes = array<i64: 0>}
    %m = calque.div %s, %n
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect"];
}

def SplitComplex : Pass<"calque-split-complex", "::mlir::func::FuncOp"> {
  let summary = "Compute with the real and the imaginary parts of complex numbers";
  let description = [{
    Comes before derivatives are taken: these are real derivatives with respect to both parts, by the rules of real
    operations. The gradient of a real number with respect to x + iy is the pair of those with respect to x and y.
    Arguments, results and variables keep their layout in memory: the parts alternate, as a last dimension of 2.

    ```mlir
    func.func @f(%z: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
      %m = calque.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    func.func @f(%z: tensor<4x2xf32>) -> tensor<4xf32> {
      %x = calque.part_of_pairs %z {imaginary = false} : (tensor<4x2xf32>) -> tensor<4xf32>
      %y = calque.part_of_pairs %z {imaginary = true} : (tensor<4x2xf32>) -> tensor<4xf32>
      %m = calque.hypot %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect"];
}

def WidenElements : Pass<"calque-widen-elements", "::mlir::func::FuncOp"> {
  let summary = "Compute with float16 and bfloat16 as float32, and sum small integers as large ones";
  let description = [{
    Each operation with arithmetic on elements takes its operands as float32, and its result is rounded. Those that move
    elements only stay as they are. So a sum is accumulated as one of float32 is, and rounded once. The operand of a sum
    or product along an axis whose result is of a wider integer type is cast to it.

    ```mlir
    %z = calque.add %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    ```
    becomes
    ```mlir
    %a = calque.cast %x {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
    %b = calque.cast %y {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
    %c = calque.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = calque.cast %c {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect"];
}

def UnrollLoops : Pass<"calque-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Replace loops of a few known iterations by these";
  let description = [{
    A `calque.while` whose condition is known in each iteration, because it depends on integer scalars alone that are
    known before the loop, becomes its iterations, if there are at most 8 with at most 128 operations in all. The
    reverse then uses the values themselves and no stacks.

    ```mlir
    %r:2 = calque.while %zero, %x : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
    ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
      %c = calque.less %i, %two
      vector.yield %c
    } {
    ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
      %z = calque.tanh %y
      %n = calque.add %i, %one
      vector.yield %n, %z
    }
    ```
    becomes
    ```mlir
    %y = calque.tanh %x
    %z = calque.tanh %y
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"unrolled", "unrolled", "Loops that are there no more">];
}

def BoxSizes : Pass<"calque-box-sizes", "::mlir::func::FuncOp"> {
  let summary = "Run what uses values of late sizes behind what makes them, as a region of its own";
  let description = [{
    Sizes are computed before a program runs, but for the late sizes of loop variables that vary. Such a variable
    becomes a box: a stack of one entry, which knows its sizes. So the loop itself has no late size. Everything that a
    block computes from a value of late size becomes the region of a `calque.on_entries`, which is compiled for
    unknown sizes. A value that forgets its sizes (`calque.open_sizes`) becomes a box, too. If the function returns such a value, it returns the box, and `calque.late` names the result.

    ```mlir
    %r = calque.while %x {varying = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<?xf32> { ... }
    %y = calque.reduce_sum %r : (tensor<?xf32>) -> tensor<f32>
    return %y
    ```
    becomes
    ```mlir
    %b = calque.sized_push %empty, %x
    %r = calque.while %b : (tensor<!calque.stack>) -> tensor<!calque.stack> { ... }
    %s = calque.on_entries %r {entries = 1} : (tensor<!calque.stack>) -> tensor<f32> {
    ^bb0(%e: tensor<?xf32>):
      %y = calque.reduce_sum %e : (tensor<?xf32>) -> tensor<f32>
      vector.yield %y
    }
    return %s
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect", "::mlir::vector::VectorDialect"];
}

def CheckNumerics : Pass<"calque-check-numerics", "::mlir::func::FuncOp"> {
  let summary = "Fail the call at the first operation that makes a NaN or an infinity of finite numbers";
  let description = [{
    Puts an assertion behind each operation on floats: its results are finite, or an operand is not. The assertion has
    the name and the line of the operation. A composite operation has one assertion; an operation with regions has
    none, but the operations in its regions do.

    ```mlir
    %y = calque.log %x : (tensor<3xf32>) -> tensor<3xf32>
    ```
    is followed by
    ```mlir
    %0 = calque.isfinite %x : (tensor<3xf32>) -> tensor<3xi1>
    %1 = calque.reduce_all %0 : (tensor<3xi1>) -> tensor<i1>
    %2 = calque.logical_not %1 : (tensor<i1>) -> tensor<i1>
    %3 = calque.isfinite %y : (tensor<3xf32>) -> tensor<3xi1>
    %4 = calque.logical_or %3, %2 : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
    calque.assert %4, %y {calque.checks_numerics, message = ""} : (tensor<3xi1>, tensor<3xf32>) -> ()
    ```
  }];
  let statistics = [Statistic<"numChecks", "checks", "Assertions that are added">];
}

def HoistInvariants : Pass<"calque-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "Compute before a loop what is the same in all of its iterations";
  let description = [{
    An operation in a region of a `calque.while` moves before the loop if its operands are invariants, it has no
    effect and it can't fail (the loop may have no iterations). A cheap operation stays, because reading its result
    would cost as much as computing it, and is fused with its users: an elementwise operation, one on few elements, or
    one that makes more elements than it takes, such as a broadcast. Operations of unknown sizes stay as well.

    ```mlir
    %r = calque.while %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> { ... } {
    ^bb0(%y: tensor<8x8xf32>, %v: tensor<8x8xf32>):
      %t = calque.transpose %v
      %z = calque.sub %y, %t
    ```
    becomes
    ```mlir
    %t = calque.transpose %w
    %r = calque.while %x, %w, %t : (...) -> tensor<8x8xf32> { ... } {
    ^bb0(%y: tensor<8x8xf32>, %v: tensor<8x8xf32>, %s: tensor<8x8xf32>):
      %z = calque.sub %y, %s
    ```
  }];
  let dependentDialects = ["::calque::ir::CalqueDialect"];
}

#endif
