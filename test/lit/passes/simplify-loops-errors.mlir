// The pass itself refuses nothing; a loop that makes no sense does not get to it.
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-simplify-loops)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'SimplifyLoops' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'
