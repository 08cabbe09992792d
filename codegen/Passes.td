#ifndef CALQUE_CODEGEN_PASSES_TD
#define CALQUE_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- The program at the stage linalg ---------------------------------------------------------===//

def FuseElementwise : Pass<"calque-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise operations on tensors where nothing is computed twice";
  let description = [{
    A producer is fused with its reader if that is its only one and reads each element once. What only moves elements is
    folded into the strides of all its readers. A fused body has at most 128 operations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"fused", "fused", "Linalg operations that are there no more">];
}

def ShareEqual : Pass<"calque-share-equal", "::mlir::func::FuncOp"> {
  let summary = "Replace operations by equal ones before them";
  let description = [{
    Does what MLIR's CSE does for one block, in time that grows linearly: bodies count in the hash by which operations
    are told apart.
  }];
  let statistics = [Statistic<"shared", "shared", "Operations that are replaced">];
}

//===-- Kernels ---------------------------------------------------------------------------------===//

def ScheduleLoops : Pass<"calque-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "Turn linalg operations of kernels into vectors, tiles and parallel loops";
  let description = [{
    Takes functions with the attribute `calque.kernel`. What no schedule fits stays a linalg operation, which becomes
    plain loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"left", "left", "Linalg operations that no schedule fits">];
}

def PassScratch : Pass<"calque-pass-scratch", "::mlir::ModuleOp"> {
  let summary = "Give kernels the memory that they need for themselves as an argument";
  let description = [{
    Buffers that a kernel allocates become parts of its last argument. A function `NAME.scratch` stores how many bytes
    these are, for the same arguments. Callers within the module, which are there to be read, allocate the memory.

    ```mlir
    func.func private @calque.kernel_0(%x: memref<4xf32>) attributes {calque.kernel} {
      %panel = memref.alloc() : memref<64xf32>
    ```
    becomes
    ```mlir
    func.func private @calque.kernel_0.scratch(%x: memref<4xf32>, %bytes: memref<1xi64>) attributes {calque.kernel}
    func.func private @calque.kernel_0(%x: memref<4xf32>, %memory: memref<1xi8> {llvm.noalias}) attributes {calque.kernel} {
      %panel = memref.view %memory[%c0][] : memref<1xi8> to memref<64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CastReshapes : Pass<"calque-cast-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Replace reshapes of buffers by casts with explicit sizes and strides";
  let description = [{
    MLIR's own expansion of unknown sizes is wrong in some cases, and its folding would compute each access's place
    before the reshape, by divisions in the innermost loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineParallelLoops : Pass<"calque-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "Make functions of parallel loops, which threads call for ranges of iterations";
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def LowerMath : Pass<"calque-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower functions such as exp to vector code, instructions or calls of the C library";
  let description = [{
    Those of float32 become vector code of Calque's own. Others become instructions where the processor has one, else
    calls. Opaque values become calls of functions that are removed after LLVM's passes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::vector::VectorDialect"];
}

def ConvertToLLVM : Pass<"calque-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert all that is left to MLIR's LLVM dialect";
  let description = [{
    Converts all dialects at once. MLIR has a pass for each dialect, but each visits the whole module, which takes
    longer than the conversion where the module is small.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
