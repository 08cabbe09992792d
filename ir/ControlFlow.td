// Branches and loops, and the stacks by which a loop's reverse finds what the loop has seen. Their regions end in
// `vector.yield`, see ir/Transforms.td.
#ifndef CALQUE_IR_CONTROLFLOW_TD
#define CALQUE_IR_CONTROLFLOW_TD

include "ir/Base.td"

// It has the effects of what is in its regions, and is pure without any.
class Calque_RegionOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_Op<mnemonic, traits # [IsolatedFromAbove, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let rule = typeRule;
  let function = "";
  let customVjp = 1;
  let customJvp = 1;
  let hasCanonicalizer = 1;
}

def Calque_CondOp : Calque_RegionOp<"cond", "cond"> {
  let complexByPass = 1;
  let summary = "The results of one of two regions";
  let inMessages = "cond";
  let description = [{
    Both regions take the inputs. `then` runs where the predicate, a bool scalar, holds, and `otherwise` where it does not.
  }];
  let arguments = (ins Calque_Tensor:$predicate, Variadic<Calque_AnyTensor>:$inputs);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let results = (outs Variadic<Calque_AnyTensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) custom<Program>($then) custom<Program>($otherwise)";
}

def Calque_WhileOp : Calque_RegionOp<"while", "whileLoop", [DeclareOpInterfaceMethods<Calque_KeepingOpInterface>]> {
  let complexByPass = 1;
  let summary = "What a region makes of values, again and again as long as another one says so";
  let inMessages = "while_loop";
  let description = [{
    The operands are the loop variables and then invariants, values that every iteration takes as they are. Both regions
    take all of them. `condition` gives a bool scalar, `body` the next values of the loop variables. The results are the
    loop variables after the last iteration. With `checkpoint`, a gradient keeps the loop variables of some iterations only,
    and computes the others again. `varying` has pairs, a loop variable and a dimension of it: the size there may be another
    one in each iteration, so that the regions and the results don't know it, and no code may be made for it before the loop
    has ended.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$values, DefaultValuedAttr<BoolAttr, "false">:$checkpoint,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$varying);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let results = (outs Variadic<Calque_AnyTensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) custom<Program>($condition) custom<Program>($body)";
  let extraClassDeclaration = [{
    unsigned getNumVariables() { return getOperation()->getNumResults(); }
    ::mlir::OperandRange getInitial() { return getOperation()->getOperands().take_front(getNumVariables()); }
    ::mlir::OperandRange getInvariants() { return getOperation()->getOperands().drop_front(getNumVariables()); }
    // Whether a loop variable has sizes that vary.
    bool isVarying(unsigned variable);
    // The pairs of `varying` for some of the loop variables, which are numbered anew.
    ::llvm::SmallVector<int64_t> getVaryingOf(::llvm::ArrayRef<unsigned> variables, unsigned first = 0);
    // The types that the regions take: those of the operands, without the sizes that vary.
    ::llvm::SmallVector<::mlir::Type> getArgumentTypes() { return ::llvm::SmallVector<::mlir::Type>(getBody().getArgumentTypes()); }
  }];
}

// A stack is a value: it names its uppermost entry, or none. Nothing changes an entry, so that a stack may be copied, chosen
// by `where`, and kept, also on another stack. Derivatives follow it: the cotangent of a stack is the stack of the
// cotangents of its entries. Where a stack is used twice, each entry has a cotangent from one of the two at most, so that
// their sum is the one that is not empty.
class Calque_StackOp<string mnemonic, string typeRule> : Calque_PureOp<mnemonic, [Calque_MayFail]> {
  let rule = typeRule;
  let function = "";
  let inMessages = "while_loop";
  let customVjp = 1;
  let customJvp = 1;
}

def Calque_StackEmptyOp : Calque_StackOp<"stack_empty", "stackEmpty"> {
  let notSaved = 1;
  let summary = "Empty stacks, one for each element of like";
  let arguments = (ins Calque_SizesTensor:$like);
  let results = (outs Calque_StackTensor:$result);
  let batchSame = 1;
  let customVjp = 0;
  let customJvp = 0;
  let notDifferentiable = 1;
  let removedBy = "lower-to-linalg";
}

def Calque_StackIsEmptyOp : Calque_StackOp<"stack_is_empty", "stackIsEmpty"> {
  let notSaved = 1;
  let summary = "Whether stacks have no entry";
  let arguments = (ins Calque_StackTensor:$stack);
  let results = (outs Calque_Tensor:$result);
  let batchSame = 1;
  let customVjp = 0;
  let customJvp = 0;
  let notDifferentiable = 1;
  let removedBy = "lower-to-linalg";
}

def Calque_StackAddOp : Calque_StackOp<"stack_add", "stackAdd"> {
  let notSaved = 1;
  let summary = "Of two stacks the one that is not empty: the sum of the cotangents of a stack that is used twice";
  let arguments = (ins Calque_StackTensor:$lhs, Calque_StackTensor:$rhs);
  let results = (outs Calque_StackTensor:$result);
  let vjp = [(Value $g), (Value $g)];
  let linear = ["lhs", "rhs"];
  let batchSame = 1;
  let customVjp = 0;
  let customJvp = 0;
  let removedBy = "lower-to-linalg";
}

def Calque_StackSumLikeOp : Calque_StackOp<"stack_sum_like", "stackSumLike"> {
  let notSaved = 1;
  let summary = "Sums stacks, as stack_add does, over the dimensions along which those of like's shape were broadcast";
  let arguments = (ins Calque_StackTensor:$x, Calque_SizesTensor:$like);
  let results = (outs Calque_StackTensor:$result);
  let vjp = [(Apply "broadcast_like", $g, $x), (NoGradient)];
  let linear = ["x"];
  let customVjp = 0;
  let customJvp = 0;
  let removedBy = "lower-to-linalg";
}

def Calque_StackPushOp : Calque_StackOp<"stack_push", "stackPush"> {
  let notSaved = 1;
  let summary = "A stack with one more entry";
  let description = [{
    The leading dimensions of x are those of `stack`, which holds a stack for each of their indices.
  }];
  let arguments = (ins Calque_StackTensor:$stack, Calque_AnyTensor:$x);
  let results = (outs Calque_StackTensor:$result);
}

def Calque_StackPopOp : Calque_StackOp<"stack_pop", "stackPop"> {
  let notSaved = 1;
  let hasVerifier = 1;
  let summary = "The stack below the uppermost entry, and that entry";
  let description = [{
    The entry has the type and sizes of `like`. The empty stack gives itself and zeros.
  }];
  let arguments = (ins Calque_StackTensor:$stack, Calque_SizesTensor:$like);
  let results = (outs Calque_StackTensor:$below, Calque_AnyTensor:$entry);
}

// Entries whose sizes no program around knows: those of loop variables whose sizes vary. Such an entry knows its sizes.
def Calque_SizedPushOp : Calque_StackOp<"sized_push", "sizedPush"> {
  let notSaved = 1;
  let summary = "A stack with one more entry, which knows its sizes";
  let arguments = (ins Calque_StackTensor:$stack, Calque_AnyTensor:$x);
  let results = (outs Calque_StackTensor:$result);
}

def Calque_SizedPopOp : Calque_StackOp<"sized_pop", "sizedPop"> {
  let notSaved = 1;
  let hasVerifier = 1;
  let removedBy = "box-sizes";
  let summary = "The stack below the uppermost entry, and that entry with its own sizes";
  let description = [{
    The entry has the type of `like`; the sizes that this type does not know are the entry's own. The empty stack, which is there only
    if `optional`, gives itself and zeros with the sizes of `like`.
  }];
  let arguments = (ins Calque_StackTensor:$stack, Calque_SizesTensor:$like, DefaultValuedAttr<BoolAttr, "false">:$optional);
  let results = (outs Calque_StackTensor:$below, Calque_AnyTensor:$entry);
}

def Calque_OpenSizesOp : Calque_PureOp<"open_sizes"> {
  let eachPart = 1;
  let rule = "openSizes";
  let function = "";
  let inMessages = "while_loop";
  let summary = "x with the type of like, which leaves sizes open that x knows: a loop variable whose sizes vary begins so";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like);
  let results = (outs Calque_Tensor:$result);
  let vjp = [(Apply "reshape_like", $g, $x), (NoGradient)];
  let linear = ["x"];
  let batchSame = 1;
  let removedBy = "box-sizes";
}

// What calque-box-sizes makes of values whose sizes only show while the program runs.
def Calque_OnEntriesOp : Calque_RegionOp<"on_entries", "onEntries"> {
  let notSaved = 1;
  let summary = "The results of a region on the uppermost entries of stacks";
  let description = [{
    The first `entries` operands are stacks whose entries know their sizes; the region takes those entries, and the other operands.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$values, I64Attr:$entries);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Calque_AnyTensor>:$results);
  let inMessages = "while_loop";
  let customVjp = 0;
  let customJvp = 0;
  let notDifferentiable = 1;
  let hasCanonicalizer = 0;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) custom<Program>($body)";
}

def Calque_StackBelowOp : Calque_StackOp<"stack_below", "stackBelow"> {
  let notSaved = 1;
  let summary = "The stacks below the uppermost entries";
  let batchSame = 1;
  let arguments = (ins Calque_StackTensor:$stack);
  let results = (outs Calque_StackTensor:$result);
  let customVjp = 0;
  let customJvp = 0;
  let notDifferentiable = 1;
}

#endif
