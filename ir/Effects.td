// Operations with effects, which stay in program order even where nothing uses their results, and a few pure operations
// beside them: those of the user, stop_gradient and random numbers. Users' operations are of both kinds.
#ifndef CALQUE_IR_EFFECTS_TD
#define CALQUE_IR_EFFECTS_TD

include "ir/Base.td"

class Calque_EffectOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_Op<mnemonic, traits> {
  let rule = typeRule;
  let function = "";
  let notDifferentiable = 1;
}
def Calque_VariableReadOp : Calque_EffectOp<"variable_read", "variableRead"> {
  let complexByPass = 1;
  let summary = "The value of variable number `variable` at this point of the program";
  let inMessages = "variable";
  let arguments = (ins I64Attr:$variable, DenseI64ArrayAttr:$shape, Calque_DTypeAttr:$dtype);
  let results = (outs Calque_Tensor:$result);
  let removedBy = "state-to-values";
}
def Calque_VariableAssignOp : Calque_EffectOp<"variable_assign", "variableAssign"> {
  let complexByPass = 1;
  let summary = "Gives variable number `variable` a value, from this point of the program on";
  let inMessages = "assign";
  let arguments = (ins Calque_Tensor:$value, I64Attr:$variable);
  let removedBy = "state-to-values";
}
def Calque_PrintOp : Calque_EffectOp<"print", "effect"> {
  let complexByPass = 1;
  let summary = "Prints a line: a text with tensors in it";
  let inMessages = "print";
  let description = [{
    Each `{}` of the text is the place of a tensor, in order; `{{` and `}}` are braces. A text without a place is a label
    before the tensor.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, Calque_TextAttr:$label);
  let batchUnrolled = 1;
}
def Calque_AssertOp : Calque_EffectOp<"assert", "assertion"> {
  let summary = "Fails the call unless all elements hold";
  let inMessages = "assert_true";
  let description = [{
    The error shows the elements of `values` where the condition does not hold. Each has the condition's rank, and
    broadcasts to it.
  }];
  let arguments = (ins Calque_Tensor:$condition, Variadic<Calque_Tensor>:$values, Calque_TextAttr:$message);
  let batchSame = 1;
}
def Calque_HostCallOp : Calque_EffectOp<"host_call", "hostCall"> {
  let complexByPass = 1;
  let summary = "Calls C++ of the program: number `callee` of the function's host calls";
  let inMessages = "host_call";
  let description = [{
    `types` holds, for each result, its element type, its rank and its sizes, which are known.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$inputs, I64Attr:$callee, DenseI64ArrayAttr:$types);
  let results = (outs Variadic<Calque_Tensor>:$outputs);
  let batchUnrolled = 1;
}
def Calque_ExternOp : Calque_PureOp<"extern", [Calque_MayFail]> {
  let complexByPass = 1;
  let summary = "An operation of the user's, known by its symbol";
  let inMessages = "operation";
  let description = [{
    `types` holds, for each result, its element type, its rank and its sizes, which are known. A gradient that it has is a
    `custom_gradient` around it.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$inputs, Calque_TextAttr:$symbol, DenseI64ArrayAttr:$types);
  let results = (outs Variadic<Calque_Tensor>:$outputs);
  let rule = "hostCall";
  let function = "";
  let notDifferentiable = 1;
  let lacksGradient = 1;
}
def Calque_OrderedExternOp
    : Calque_Op<"ordered_extern", [Calque_MayFail, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "An operation of the user's with an effect outside of the program";
  let inMessages = "operation";
  let description = [{
    It runs once where the program has it, in order with other effects. `transpose` is the symbol of the operation that takes
    the cotangents of the results and gives those of the operands; it is empty where there is no gradient. `repeats` is 0
    where the operation must not run again, 1 where a derivative may run it again on the same operands, and 2 of an operation that
    a derivative has emitted: `differentiate` removes it if nothing needs its results, and makes it 1 if something does.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$inputs, Calque_TextAttr:$symbol, DenseI64ArrayAttr:$types,
                       Calque_TextAttr:$transpose, I64Attr:$repeats);
  let results = (outs Variadic<Calque_Tensor>:$outputs);
  let rule = "hostCall";
  let function = "";
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_StopGradientOp : Calque_PureOp<"stop_gradient"> {
  let eachPart = 1;
  let summary = "x, through which no gradient passes";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let rule = "sameAsOperand";
  let moves = "keepOrder";
  let notDifferentiable = 1;
  let batchSame = 1;
}
def Calque_RandomUniformOp : Calque_PureOp<"random_uniform"> {
  let summary = "Uniform numbers in [0, 1) by Philox 4x32-10 from a state of two int64: key and counter";
  let inMessages = "uniform";
  let arguments = (ins Calque_Tensor:$state, DenseI64ArrayAttr:$shape, Calque_DTypeAttr:$dtype);
  let results = (outs Calque_Tensor:$result);
  let rule = "randomUniform";
  let function = "";
  let open = "random_uniform_open";
  let notDifferentiable = 1;
  let batchUnrolled = 1;
}
def Calque_RandomUniformOpenOp : Calque_PureOp<"random_uniform_open"> {
  let summary = "Numbers as random_uniform makes them, of sizes that tensors have";
  let arguments = (ins Calque_Tensor:$state, Variadic<Calque_Tensor>:$sources, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes, Calque_DTypeAttr:$dtype);
  let results = (outs Calque_Tensor:$result);
  let rule = "randomUniformOpen";
  let function = "";
  let inMessages = "uniform";
  let notDifferentiable = 1;
}

#endif
