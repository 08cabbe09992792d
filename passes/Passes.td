#ifndef CALQUE_PASSES_TD
#define CALQUE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"calque-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Expand calque.gradient, calque.jvp and calque.unbatch";
  let description = [{
    Walks the operations before a `calque.gradient` backwards and emits their reverse rules in its place. Inner gradients
    come first in program order, so that an outer one differentiates what they became. A gradient in a region follows its
    path through the blocks around it; a path through another dialect's operation or behind a branch is an error.

    A `calque.jvp` becomes the tangents of what stands between its sources and its targets. A `calque.unbatch` ends what
    its `calque.batch` began: all operations in between that depend on an example are done for all examples at once. Each
    sees what those before it became.

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

def StateToValues : Pass<"calque-state-to-values", "::mlir::func::FuncOp"> {
  let summary = "Turn variables into arguments and results";
  let description = [{
    Each variable becomes an argument after the others. A read becomes the value of the last assignment before it, or the
    argument. The last values of assigned variables become results after the others; `calque.assigned` lists them. Reads and
    assignments in regions and behind branches are errors.

    ```mlir
    func.func @f(%x: tensor<f32>) attributes {calque.variables = [ {name = "w", type = tensor<f32>} ]} {
      %w = calque.variable_read {variable = 0 ...}
      %v = calque.add %w, %x
      calque.variable_assign %v {variable = 0}
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> attributes {calque.assigned = array<i64: 0>} {
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

#endif
