// A kernel's product and sum are one instruction where the processor has it. LLVM may not decide that: fmuladd would become two.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 %s | FileCheck %s --check-prefix=FUSED
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx512 %s | FileCheck %s --check-prefix=FUSED
// RUN: calque-opt --calque-stage=name=llvm --calque-target=baseline %s | FileCheck %s --check-prefix=BASELINE
// FUSED-NOT: llvm.intr.fmuladd
// FUSED: llvm.intr.fma(
// FUSED-NOT: llvm.intr.fmuladd
// BASELINE-NOT: llvm.intr.fma(
func.func @product(%a: tensor<12x9xf32>, %b: tensor<9x16xf32>) -> tensor<12x16xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<12x9xf32>, tensor<9x16xf32>) -> tensor<12x16xf32>
  return %0 : tensor<12x16xf32>
}
