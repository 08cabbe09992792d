// What transformations of programs are recorded as. Each is expanded where it stands, in program order, by the pass
// `differentiate`; what an inner one became is what an outer one sees.
// Their regions end in `vector.yield`: MLIR's libraries, which another compiler has built, know a terminator of the dialect's own
// by an id that it can't have.
#ifndef CALQUE_IR_TRANSFORMS_TD
#define CALQUE_IR_TRANSFORMS_TD

include "ir/Base.td"

class Calque_TransformOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_PureOp<mnemonic, traits> {
  let rule = typeRule;
  let function = "";
}

def Calque_IdentityOp : Calque_TransformOp<"identity", "sameAsOperand", [DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let summary = "x as another value: derivatives with respect to it see nothing that was computed from x before";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let vjp = [(Value $g)];
  let linear = ["x"];
  let batchSame = 1;
  let expands = 1;
}

def Calque_GradientOp : Calque_TransformOp<"gradient", "gradient"> {
  let summary = "The derivatives of targets with respect to sources, as a tape saw them";
  let description = [{
    Operands are `counts[0]` targets, as many seeds, `counts[1]` sources and `counts[2]` stops: values at which the tape's
    view ends, through which nothing passes. The results are the sources' cotangents.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, DenseI64ArrayAttr:$counts);
  let results = (outs Variadic<Calque_Tensor>:$cotangents);
  let differentiates = 1;
  let customVjp = 1;
  let customJvp = 1;
}

def Calque_JvpOp : Calque_TransformOp<"jvp", "jvp"> {
  let summary = "How targets change as sources change along tangents: the product of their Jacobian and the tangents";
  let description = [{
    Operands are `counts[0]` targets, `counts[1]` sources and as many tangents. The results are the targets' tangents.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, DenseI64ArrayAttr:$counts);
  let results = (outs Variadic<Calque_Tensor>:$tangents);
  let differentiates = 1;
  let customVjp = 1;
  let customJvp = 1;
}

def Calque_BatchOp : Calque_TransformOp<"batch", "batch"> {
  let summary = "One example of each tensor, for every example at once: the tensors without an axis";
  let description = [{
    The axes have one size, the number of examples. What is computed from the results up to `unbatch` is computed for each
    example.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$tensors, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Calque_Tensor>:$examples);
  let customVjp = 1;
  let customJvp = 1;
}

def Calque_UnbatchOp : Calque_TransformOp<"unbatch", "unbatch"> {
  let summary = "Values of all examples, stacked along an axis each";
  let description = [{
    Operands are the values, one for each of `axes`, then a result of the `batch` that the examples come from, then what that was
    taken from.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, DenseI64ArrayAttr:$axes, I64Attr:$batch_axis);
  let results = (outs Variadic<Calque_Tensor>:$results);
  let gradientPassesToAxes = 1;
  let customVjp = 1;
  let customJvp = 1;
}

def Calque_CustomGradientOp : Calque_TransformOp<"custom_gradient", "customGradient",
                                                 [IsolatedFromAbove, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let summary = "Values with a gradient of the user's, whatever they were computed from";
  let description = [{
    Operands are `counts[0]` inputs, `counts[1]` values and `counts[2]` captures of the pullback. The results are the values. The
    region takes a cotangent of each result, then the captures, and yields the inputs' cotangents.
  }];
  let arguments = (ins Variadic<Calque_Tensor>:$values, DenseI64ArrayAttr:$counts);
  let regions = (region SizedRegion<1>:$pullback);
  let results = (outs Variadic<Calque_Tensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $pullback";
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
  let summary = "The results of a program whose intermediate values are computed again where a gradient needs them";
  let arguments = (ins Variadic<Calque_Tensor>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Calque_Tensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let customVjp = 1;
  let customJvp = 1;
  let expands = 1;
}

def Calque_BarrierOp : Calque_TransformOp<"barrier", "sameAsOperand"> {
  let summary = "x, from which everything is computed anew: nothing is shared with what was computed from x before";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let vjp = [(Value $g)];
  let linear = ["x"];
  let batchSame = 1;
}

#endif
