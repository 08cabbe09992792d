// Precompiled for ir, passes, codegen and the tools: the headers that most of their files use, those of MLIR and the
// dialect's own, which take most of the time that these take to compile. To precompile a header takes three times as
// long as to read it. That of the LLVM dialect takes eleven seconds to read, so that few files include it: with it,
// this one would be the longest step of the build. Each file still includes what it uses.
#include "cmake/PlainAllocators.h" // before all others

#include "ir/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
