// The operations that stand for transformations of programs. The pass `differentiate` expands each in its place, in
// program order, so that an outer transformation meets the expansion of an inner one.
// Their regions end in `vector.yield`. MLIR's libraries recognise terminators by a TypeID. They are built by another compiler,
// under which that id differs, so they would not recognise a terminator of this dialect.
#ifndef CALQUE_IR_TRANSFORMS_TD
#define CALQUE_IR_TRANSFORMS_TD

include "ir/Base.td"

class Calque_TransformOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_PureOp<mnemonic, traits> {
  let rule = typeRule;
  let function = "";
}

def Calque_IdentityOp : Calque_TransformOp<"identity", "sameAsOperand", [DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let eachPart = 1;
  let summary = "x as a fresh SSA value: a derivative with respect to it ignores what was computed from x";
  let inMessages = "identity";
  let arguments = (ins Calque_AnyTensor:$x);
  let results = (outs Calque_AnyTensor:$result);
  let vjp = [(Value $g)];
  let linear = ["x"];
  let moves = "keepOrder";
  let batchSame = 1;
  let expands = 1;
  let hasFolder = 1;
}

def Calque_GradientOp : Calque_TransformOp<"gradient", "gradient"> {
  let complexByPass = 1;
  let summary = "The derivatives of targets with respect to sources, as a tape saw them";
  let inMessages = "gradient";
  let description = [{
    Operands are `counts[0]` targets, as many seeds, `counts[1]` sources and `counts[2]` stops. Stops are the boundary of the
    tape: no cotangent passes through them. The results are the sources' cotangents.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$values, DenseI64ArrayAttr:$counts);
  let results = (outs Variadic<Calque_AnyTensor>:$cotangents);
  let differentiates = 1;
  let customVjp = 1;
  let customJvp = 1;
  let removedBy = "differentiate";
}

def Calque_JvpOp : Calque_TransformOp<"jvp", "jvp"> {
  let complexByPass = 1;
  let summary = "The tangents of targets from those of sources: the product of the targets' Jacobian and the tangents";
  let inMessages = "jvp";
  let description = [{
    Operands are `counts[0]` targets, `counts[1]` sources and as many tangents. The results are the targets' tangents.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$values, DenseI64ArrayAttr:$counts);
  let results = (outs Variadic<Calque_AnyTensor>:$tangents);
  let differentiates = 1;
  let customVjp = 1;
  let customJvp = 1;
  let removedBy = "differentiate";
}

def Calque_BatchOp : Calque_TransformOp<"batch", "batch"> {
  let complexByPass = 1;
  let summary = "The slices of tensors along a mapped axis; the results have the tensors' shapes without it";
  let inMessages = "vmap";
  let description = [{
    All mapped axes have one size. The operations between this one and its `unbatch` are recorded on one slice, and mean the
    same for each index of the mapped axis.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$tensors, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Calque_AnyTensor>:$examples);
  let customVjp = 1;
  let customJvp = 1;
  let removedBy = "differentiate";
}

def Calque_UnbatchOp : Calque_TransformOp<"unbatch", "unbatch"> {
  let complexByPass = 1;
  let summary = "The values for all indices of a mapped axis, each stacked along its axis in `axes`";
  let inMessages = "vmap";
  let description = [{
    Operands are the values, one for each of `axes`, then a result of the matching `batch`, then the tensor that this result
    is a slice of.
  }];
  let arguments = (ins Variadic<Calque_AnyTensor>:$values, DenseI64ArrayAttr:$axes, I64Attr:$batch_axis);
  let results = (outs Variadic<Calque_AnyTensor>:$results);
  let gradientPassesToAxes = 1;
  let customVjp = 1;
  let customJvp = 1;
  let removedBy = "differentiate";
}

def Calque_CustomGradientOp : Calque_TransformOp<"custom_gradient", "customGradient",
                                                 [IsolatedFromAbove, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let complexByPass = 1;
  let summary = "Values whose cotangents pass to inputs by the user's pullback";
  let inMessages = "custom_gradient";
  let description = [{
    Operands are `counts[0]` inputs, `counts[1]` values and `counts[2]` captures of the pullback. The results are the values.
    The region takes a cotangent of each result, then the captures, and yields the inputs' cotangents.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, DenseI64ArrayAttr:$counts);
  let regions = (region SizedRegion<1>:$pullback);
  let results = (outs Variadic<Calque_Tensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) custom<Program>($pullback)";
  let extraClassDeclaration = [{
    ::mlir::ValueRange getInputs() { return getOperation()->getOperands().take_front(getCounts()[0]); }
    ::mlir::ValueRange getPrimals() { return getOperation()->getOperands().slice(getCounts()[0], getCounts()[1]); }
    ::mlir::ValueRange getCaptures() { return getOperation()->getOperands().take_back(getCounts()[2]); }
  }];
  let customVjp = 1;
  let customJvp = 1;
  let gradientPassesToCounted = 1;
  let expands = 1;
}

def Calque_CheckpointOp : Calque_TransformOp<"checkpoint", "checkpoint",
                                             [IsolatedFromAbove, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let complexByPass = 1;
  let summary = "The results of a region, which a gradient computes again instead of keeping its intermediate values";
  let inMessages = "checkpoint";
  let arguments = (ins Variadic<Calque_Tensor>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Calque_Tensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) custom<Program>($body)";
  let customVjp = 1;
  let customJvp = 1;
  let expands = 1;
}

def Calque_BarrierOp : Calque_TransformOp<"barrier", "sameAsOperand"> {
  let eachPart = 1;
  let summary = "x as a value that no pass identifies with x, so that what is computed from both is computed twice";
  let inMessages = "checkpoint";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let vjp = [(Value $g)];
  let linear = ["x"];
  let moves = "keepOrder";
  let batchSame = 1;
}

def Calque_KnownOp : Calque_TransformOp<"known", "known"> {
  let eachPart = 1;
  let notSaved = 1;
  let summary = "x, whose elements are those of `value`: what comes after takes them from there";
  let inMessages = "known";
  let description = [{
    A tape keeps what it has computed. The derivative of an operation is written with the operation in it, and `known` says of
    the operation's results that they are there already. Cotangents pass to x, which is not computed unless they need it.
  }];
  let arguments = (ins Calque_Tensor:$x, Calque_Tensor:$value);
  let results = (outs Calque_Tensor:$result);
  let vjp = [(Value $g), (NoGradient)];
  let customJvp = 1;
  let batchSame = 1;
  let removedBy = "differentiate";
}

#endif
