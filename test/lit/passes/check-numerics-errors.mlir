// The pass refuses nothing itself.
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-check-numerics)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'CheckNumerics' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'
