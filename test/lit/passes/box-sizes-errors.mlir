// The pass itself refuses nothing: whatever size is late gets a box.
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-box-sizes)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'BoxSizes' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'
