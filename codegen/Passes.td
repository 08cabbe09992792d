#ifndef CALQUE_CODEGEN_PASSES_TD
#define CALQUE_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- The program, up to the stage linalg -----------------------------------------------------===//

def CheckProgram : Pass<"calque-check-program", "::mlir::ModuleOp"> {
  let summary = "Refuse what no trace can be";
  let description = [{
    Passes after this one rely on a program that is one function of one block, whose arguments and results are tensors
    of the dialect and whose operations are all its own. A file may hold anything else. The compiler's attributes are
    refused too, for they would be believed.
  }];
  let options = [Option<"simplified", "simplified", "bool", "false",
                        "The program is at the stage simplified, and may say which variables it assigns">];
}

def CheckStage : Pass<"calque-check-stage", "::mlir::ModuleOp"> {
  let summary = "Refuse a file that is at another stage than it is said to be";
  let description = [{
    The passes of a stage leave alone what the stage before would have turned into something else, so that a file of an
    earlier stage would come out as it went in.
  }];
  let options = [Option<"stage", "stage", "std::string", "", "The stage, from linalg on">];
}

def LowerToLinalg : Pass<"calque-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower every operation to linalg, scf and tensor";
  let description = [{
    The function gets the call frame as its first argument, and an index argument for each size of its arguments that is
    not known. Then it returns those of its results too, and the function `calque.shapes` checks before a call that sizes
    fit together. Attributes say how many inputs there are, which sizes are unknown, and what the places are at which a
    call can fail, print or call C++ (`calque.sites`, by whose numbers code names them).

    ```mlir
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      calque.print %x {label = "x"} : (tensor<?xf32>) -> ()
      return %x : tensor<?xf32>
    ```
    becomes
    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index) attributes {
        calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>, calque.unknown_outputs = array<i64: 0, 0>,
        calque.sites = [ {kind = "print", operation = "print", text = "x"} ]} {
      call @calque.runtime_0(%frame, %site, ..., %x, %n) : (...) -> ()
      return %x, %n : tensor<?xf32>, index
    ```
  }];
  let options = [Option<"optimize", "optimize", "bool", "true", "Add parts to sums of whole tensors in place">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numSites", "sites", "Places at which a call can fail, print or call C++">];
}

def RecomputeElementwise : Pass<"calque-recompute-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Compute cheap elementwise results again where they are read";
  let description = [{
    An operation of a few cheap instructions on one tensor of its own shape, and on small tensors, is computed again
    in each of its readers, if all readers can be fused with it, and if recomputing moves fewer bytes than writing the
    result and reading it again: readers of `x - mean` read `x`. An operation on two tensors is computed again, too,
    if one of its readers is a sum over all rows, which ends before the other readers begin, and if the others read
    one of the two tensors anyway. Pooling and its gradient read windows. They are not fused with the operation that
    computes their images, but grouped with it, an image at a time, so they count as readers that can be fused. The
    fusion that follows makes one operation of each reader and its copy. An operation on an argument is left alone,
    since an argument may be a variable that is written in place.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"recomputed", "recomputed", "Operations that are computed again by all that read them">];
}

def FuseElementwise : Pass<"calque-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise operations on tensors where nothing is computed twice";
  let description = [{
    A producer is fused with its reader if it has no other reader and the reader reads each element once. A movement
    is folded into the strides of all its readers, or, if it moves the results of a product or another reduction, into
    the place where these are written. A fused body has at most 128 operations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"fused", "fused", "Linalg operations that are there no more">];
}

def PackProducts : Pass<"calque-pack-products", "::mlir::func::FuncOp"> {
  let summary = "Put neighbouring terms of products of small integers into one word";
  let description = [{
    A sum of products of int32, whose operands hold numbers of 16 bits as far as the operations say that compute them,
    reads words of two terms, which `calque.scalar_function "dot_pairs"` multiplies and adds. The elements of the
    operands are computed where words are made of them, so that casts of int8 leave no int32 in memory. Sums wrap as
    they did.

    With `bytes`, words have four terms where an operand holds bytes, or bytes less a number that is the same for all
    terms. `dot_bytes` takes one operand without a sign and one with a sign. What is subtracted or added to make them
    so, times the sums of the other operand's terms, goes into the results before the products are added.
  }];
  let options = [Option<"bytes", "bytes", "bool", "false", "Put four bytes into a word, where it is possible">];
  let dependentDialects = ["::calque::ir::CalqueDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"packed", "packed", "Sums of products whose terms are packed">];
}

def ShareEqual : Pass<"calque-share-equal", "::mlir::func::FuncOp"> {
  let summary = "Replace operations by equal ones before them";
  let description = [{
    Does what MLIR's CSE does for one block, in time that grows linearly: bodies count in the hash by which operations
    are told apart. The operands of commutative operations are put in the order in which they are computed, so that
    `a * b` and `b * a` are one.
  }];
  let statistics = [Statistic<"shared", "shared", "Operations that are replaced">];
}

def ResolveSizes : Pass<"calque-resolve-sizes", "::mlir::ModuleOp"> {
  let summary = "Replace sizes of tensors by arithmetic on the sizes of arguments";
  let description = [{
    Fusion asks tensors for their sizes. Where a program has unknown sizes, `tensor.dim` of a result is followed to the
    operands, and that of an argument becomes the index argument which holds it, so that equal sizes are one value.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===-- The program at the stage bufferized -----------------------------------------------------===//

def Bufferize : Pass<"calque-bufferize", "::mlir::ModuleOp"> {
  let summary = "Give each tensor of the program a buffer";
  let description = [{
    Values of which each is made in the place of the one before share a buffer. Results are written where the caller
    wants them: they become arguments, which follow the others. docs/rationale/bufferization.md says how.

    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: tensor<4xf32>) -> tensor<4xf32> attributes {calque.inputs = 1 : i64} {
      %0 = tensor.empty() : tensor<4xf32>
      %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    ```
    becomes
    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: memref<4xf32>, %result: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
      linalg.exp ins(%x : memref<4xf32>) outs(%result : memref<4xf32>)
      return
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"copies", "copies", "Copies of tensors that can't be updated in place">];
}

def PassPointers : Pass<"calque-pass-pointers", "::mlir::ModuleOp"> {
  let summary = "Make the program's buffers arguments that bare pointers can be";
  let description = [{
    An argument of unknown sizes becomes an address, which is cast to the sizes that the index arguments give. The
    strides of an empty buffer of several dimensions are none that a bare pointer has: the argument loses its dimensions.
    The sizes of results are returned no more.

    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: memref<?x3xf32>, %n: index, %result: memref<?x3xf32>) -> index
    ```
    becomes
    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: memref<1xf32>, %n: index, %result: memref<1xf32>) {
      %0 = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 3], strides: [3, 1]
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def ResolveBufferSizes : Pass<"calque-resolve-buffer-sizes", "::mlir::ModuleOp"> {
  let summary = "Replace sizes of buffers by arithmetic on the sizes of arguments";
  let description = [{
    Does what `calque-resolve-sizes` does, for `memref.dim`, and lowers affine arithmetic. A program of known sizes stays
    as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerCopies : Pass<"calque-lower-copies", "::mlir::ModuleOp"> {
  let summary = "Turn memref.copy into linalg operations, which become kernels";
  let description = [{
    MLIR would lower a copy between strided buffers to a call of its runtime library.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Copies">];
}

def AssignInPlace : Pass<"calque-assign-in-place", "::mlir::ModuleOp"> {
  let summary = "Write new values of variables over the ones before them";
  let description = [{
    A new value of a variable is written over the old one under two conditions. No operation reads the old value
    afterwards, except the operation that makes the new value, if it does so element by element. And no operation that
    may fail comes later: a program stops at a failure, and its variables must keep their values. `calque.in_place`
    lists these entries of `calque.assigned`.

    ```mlir
    func.func @f(%frame: !llvm.ptr, %w: memref<4xf32>, %new: memref<4xf32>)
        attributes {calque.assigned = array<i64: 0>, calque.inputs = 1 : i64} {
      linalg.exp ins(%w : memref<4xf32>) outs(%new : memref<4xf32>)
    ```
    becomes
    ```mlir
    func.func @f(%frame: !llvm.ptr, %w: memref<4xf32>, %new: memref<4xf32>)
        attributes {calque.assigned = array<i64: 0>, calque.in_place = array<i64: 0>, calque.inputs = 1 : i64} {
      linalg.exp ins(%w : memref<4xf32>) outs(%w : memref<4xf32>)
    ```
  }];
  let statistics = [Statistic<"replaced", "replaced", "Assignments that take no memory">];
}

//===-- The program at the stage outlined -------------------------------------------------------===//

def GroupKernels : Pass<"calque-group-kernels", "::mlir::ModuleOp"> {
  let summary = "Mark operations on buffers that one kernel does row by row";
  let description = [{
    Operations that share an outer loop, over *rows*, and of which one reads what another writes, are a group, if that
    spares 256 KiB of memory traffic or more. The kernel runs all of them for some rows, then for the next ones, so
    that the values that they exchange are in the first cache. docs/code-generation.md says when nests fit together.

    ```mlir
    linalg.exp ins(%x : memref<4096x1024xf32>) outs(%a : memref<4096x1024xf32>)
    linalg.reduce ins(%a : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) ...
    ```
    becomes
    ```mlir
    linalg.exp {calque.group = 0} ins(%x : memref<4096x1024xf32>) outs(%a : memref<4096x1024xf32>)
    linalg.reduce {calque.group = 0} ins(%a : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"groups", "groups", "Groups of operations">];
}

def OutlineKernels : Pass<"calque-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make functions of all that the program does on buffers, one of those that are equal";
  let description = [{
    The program's function keeps the calls, the buffers and the arithmetic on sizes. Everything in which calls of
    equal operations differ is an argument: buffers, the places in them where operands begin, and numbers.

    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: memref<4xf32>, %result: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
      linalg.exp ins(%x : memref<4xf32>) outs(%result : memref<4xf32>)
    ```
    becomes
    ```mlir
    func.func @f(%frame: !llvm.ptr, %x: memref<4xf32>, %result: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
      call @calque.kernel_0(%x, %result) : (memref<4xf32>, memref<4xf32>) -> ()
    func.func private @calque.kernel_0(%a: memref<4xf32>, %b: memref<4xf32> {llvm.noalias}) attributes {calque.kernel} {
      linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    ```
  }];
  let options = [Option<"merge", "merge", "bool", "true", "Make one kernel of those that are equal">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"outlined", "outlined", "Kernels">,
                    Statistic<"merged", "merged", "Operations whose kernel was there">];
}

def FormRounds : Pass<"calque-form-rounds", "::mlir::ModuleOp"> {
  let summary = "Bring calls together that depend on none of each other";
  let description = [{
    The pieces of the calls' kernels are then one loop of the threads. A short call that depends on a short call
    stands behind it, with `calque.follows`: one thread runs both. Small elementwise operations, and larger ones such
    as the updates of parameters, move past calls on which they don't depend, if that saves waking the threads. A call
    that moves keeps at most 256 KiB of the workspace alive for longer.

    ```mlir
    call @calque.kernel_0(%w0, %g0) : (memref<512x512xf32>, memref<512x512xf32>) -> ()
    call @calque.kernel_1(%x, %g1) : (memref<64x512xf32>, memref<512xf32>) -> ()
    call @calque.kernel_0(%w1, %g2) : (memref<512x512xf32>, memref<512x512xf32>) -> ()
    ```
    becomes
    ```mlir
    call @calque.kernel_0(%w0, %g0) {calque.cycles = 212992 : i64, calque.round = 0 : i64} : (...) -> ()
    call @calque.kernel_0(%w1, %g2) {calque.cycles = 212992 : i64, calque.round = 0 : i64} : (...) -> ()
    call @calque.kernel_1(%x, %g1) : (memref<64x512xf32>, memref<512xf32>) -> ()
    ```
  }];
  let statistics = [Statistic<"formed", "formed", "Rounds">];
}

def PlaceBuffers : Pass<"calque-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Place all intermediate buffers in one workspace";
  let description = [{
    Two buffers share memory if they are never alive at the same time. The workspace is the program's last argument, whose
    type says how many bytes the buffers of known size take. `calque.shapes` computes the bytes of all.

    ```mlir
    %0 = memref.alloc() : memref<4xf32>
    ```
    becomes
    ```mlir
    func.func @f(..., %workspace: memref<64xi8>)
      %0 = memref.view %workspace[%c0][] : memref<64xi8> to memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"placed", "placed", "Buffers">,
                    Statistic<"bytes", "bytes", "Bytes of the buffers of known size">];
}

def MakeNumbers : Pass<"calque-make-numbers", "::mlir::ModuleOp"> {
  let summary = "Make the function that computes the numbers of a plan";
  let description = [{
    Some arguments of kernels are known only in a call, because they follow from unknown sizes: numbers, and places in
    the workspace. The function `calque.numbers` computes them from the sizes, in the order in which the calls take
    them. From here on the program's function is data, its plan.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"computed", "computed", "Numbers and places">];
}

//===-- Kernels ---------------------------------------------------------------------------------===//

def SetTarget : Pass<"calque-set-target", "::mlir::ModuleOp"> {
  let summary = "Say for which CPU the kernels of a module are";
  let description = [{
    Sets the attribute `calque.target` of the module, which `calque-schedule-loops` and `calque-lower-math` read. A module
    without it is for the CPU that runs these passes.
  }];
  let options = [Option<"cpu", "cpu", "std::string", "", "baseline, avx2 or avx512">];
}

def SplitLongKernels : Pass<"calque-split-long-kernels", "::mlir::ModuleOp"> {
  let summary = "Make functions of the parts of kernels that are one long block";
  let description = [{
    The kernels of shapes and of numbers grow with the program, and LLVM takes more than linear time for long
    functions. Values that a later part uses are stored in between. LLVM does not optimise the parts, since that would
    take longer than it could save in any number of calls. A kernel of up to two parts stays as it is.

    ```mlir
    func.func @calque.numbers(%words: memref<8xi64>, %n: index) attributes {calque.kernel} {
      ... // some thousand operations
    ```
    becomes
    ```mlir
    func.func @calque.numbers(%words: memref<8xi64>, %n: index) attributes {calque.kernel} {
      %0 = memref.alloc() : memref<2xindex>
      memref.store %n, %0[%c0] : memref<2xindex>
      call @calque.numbers.part_0(%0, %words) : (memref<2xindex>, memref<8xi64>) -> ()
      call @calque.numbers.part_1(%0, %words) : (memref<2xindex>, memref<8xi64>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let options = [Option<"longest", "longest", "unsigned", "256", "The most operations of a part, without constants">];
  let statistics = [Statistic<"kernels", "kernels", "Kernels that have become several functions">];
}

def PlanKernels : Pass<"calque-plan-kernels", "::mlir::func::FuncOp"> {
  let summary = "Choose what each kernel will be, and note it as attributes";
  let description = [{
    Takes functions with the attribute `calque.kernel`, and gives each of their operations a plan, `calque.plan`: which
    of its loops has which role, how loops are cut into tiles, blocks and pieces, and what is copied. A kernel that is a
    group has one as well. `codegen/schedule/Plans.td` lists what plans say; `codegen/schedule/CostModel.h` is what they
    are chosen by. Nothing of the operations changes.

    ```mlir
    linalg.generic ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%z : memref<64x64xf32>) ...
    ```
    becomes
    ```mlir
    linalg.generic ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%z : memref<64x64xf32>)
        attrs = {calque.plan = #plan.tiles<b = 1, columns = 1, rows = 0, terms = [2], lanes = 8, tile = [6, 2], ...>} ...
    ```
  }];
}

def ScheduleLoops : Pass<"calque-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "Turn linalg operations of kernels into vectors, tiles and parallel loops";
  let description = [{
    Takes functions with the attribute `calque.kernel`, and emits for each operation the loops that its plan says. A plan
    that does not fit the operation or the target is refused. What no schedule fits stays a linalg operation, which
    becomes plain loops.
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

def KeepKernels : Pass<"calque-keep-kernels", "::mlir::ModuleOp"> {
  let summary = "Erase the program, which is its plan and needs no code, and its constants";
}

def OutlineParallelLoops : Pass<"calque-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "Make functions of parallel loops, which threads call for ranges of iterations";
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def LowerMath : Pass<"calque-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower functions such as exp to vector code, instructions or calls of the C library";
  let description = [{
    Those of float32 and float64 become vector code of Calque's own, powers too; powers with common exponents, such as 2
    and 0.5, become products, roots and inverses. Quotients and remainders of integers in vectors, and remainders of
    floats, go through float64, which is exact. Others become instructions where the processor has one, else calls.
    Opaque values become calls of functions that are removed after LLVM's passes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
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
