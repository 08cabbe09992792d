// Constants and iota, operations that move elements, and operations with indices.
#ifndef CALQUE_IR_MOVEMENT_TD
#define CALQUE_IR_MOVEMENT_TD

include "ir/Base.td"

class Calque_MovementOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_PureOp<mnemonic, traits> {
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let eachPart = 1;
}

//===-- Sources ---------------------------------------------------------------------------------===//
def Calque_ConstantOp : Calque_MovementOp<"constant", "constant", [ConstantLike]> {
  let eachPart = 0;
  let customComplex = 1;
  let summary = "A tensor of known elements";
  let inMessages = "constant";
  let arguments = (ins ElementsAttr:$value);
  let function = "";
  let notDifferentiable = 1;
  let hasFolder = 1;
}
def Calque_IotaOp : Calque_MovementOp<"iota", "iota", [Calque_Computes]> {
  let eachPart = 0;
  let summary = "The index along one axis, at every element of a shape";
  let arguments = (ins DenseI64ArrayAttr:$shape, Calque_DTypeAttr:$dtype, DefaultValuedAttr<I64Attr, "0">:$axis);
  let open = "iota_open";
  let notDifferentiable = 1;
}
def Calque_IotaOpenOp : Calque_MovementOp<"iota_open", "iotaOpen", [Calque_Computes]> {
  let eachPart = 0;
  let summary = "An iota of sizes that tensors have";
  let arguments = (ins Variadic<Calque_Tensor>:$sources, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes, Calque_DTypeAttr:$dtype, I64Attr:$axis);
  let function = "";
  let inMessages = "iota";
  let notDifferentiable = 1;
}
def Calque_SizeOfOp : Calque_MovementOp<"size_of", "sizeOf"> {
  let summary = "The size of a dimension of x as an int64 scalar";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$axis);
  let function = "";
  let inMessages = "shape";
  let notDifferentiable = 1;
}

//===-- Shapes: Movement.cpp --------------------------------------------------------------------===//
def Calque_ReshapeOp : Calque_MovementOp<"reshape", "reshape"> {
  let summary = "The same elements in another shape; one size may be -1 and follows from the others";
  let arguments = (ins Calque_AnyTensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Calque_AnyTensor:$result);
  let open = "reshape_open";
  let vjp = [(Apply "reshape_like", $g, $x)];
  let linear = ["x"];
  let moves = "keepOrder";
}
def Calque_ReshapeOpenOp : Calque_MovementOp<"reshape_open", "reshapeOpen"> {
  let summary = "A reshape to sizes that tensors have; one size may be -1 and follows from the others";
  let arguments = (ins Calque_Tensor:$x, Variadic<Calque_Tensor>:$sources, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes);
  let function = "";
  let inMessages = "reshape";
  let customVjp = 1;
  let linear = ["x"];
}
def Calque_ReshapeLikeOp : Calque_MovementOp<"reshape_like", "reshapeLike"> {
  let summary = "The elements of x in like's shape";
  let inMessages = "reshape";
  let arguments = (ins Calque_AnyTensor:$x, Calque_SizesTensor:$like);
  let results = (outs Calque_AnyTensor:$result);
  let function = "";
  let vjp = [(Apply "reshape_like", $g, $x), (NoGradient)];
  let linear = ["x"];
  let moves = "keepOrder";
}
def Calque_ExpandDimsOp : Calque_MovementOp<"expand_dims", "expandDims"> {
  let summary = "New dimensions of size 1 at these axes of the result";
  let arguments = (ins Calque_AnyTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Calque_AnyTensor:$result);
  let vjp = [(Apply "reshape_like", $g, $x)];
  let linear = ["x"];
  let moves = "keepOrder";
}
def Calque_MergeDimsOp : Calque_MovementOp<"merge_dims", "mergeDims"> {
  let summary = "Dimensions `axis` and `axis + 1` of x as one";
  let inMessages = "reshape";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$axis);
  let function = "";
  let vjp = [(Apply "reshape_like", $g, $x)];
  let linear = ["x"];
  let moves = "keepOrder";
}
def Calque_SplitDimOp : Calque_MovementOp<"split_dim", "splitDim"> {
  let summary = "Dimension `axis` of x as two, which are as large as dimensions `first` and `second` of like";
  let inMessages = "reshape";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like, I64Attr:$axis, I64Attr:$first, I64Attr:$second);
  let function = "";
  let vjp = [(Apply "reshape_like", $g, $x), (NoGradient)];
  let linear = ["x"];
  let moves = "keepOrder";
}
def Calque_BroadcastToOp : Calque_MovementOp<"broadcast_to", "broadcastTo"> {
  let summary = "x repeated along dimensions of size 1 and new leading ones, to a shape";
  let arguments = (ins Calque_AnyTensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Calque_AnyTensor:$result);
  let open = "broadcast_to_open";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "repeat";
}
def Calque_BroadcastToOpenOp : Calque_MovementOp<"broadcast_to_open", "broadcastToOpen"> {
  let summary = "x broadcast to sizes that tensors have";
  let arguments = (ins Calque_Tensor:$x, Variadic<Calque_Tensor>:$sources, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes);
  let function = "";
  let inMessages = "broadcast_to";
  let customVjp = 1;
  let linear = ["x"];
}
def Calque_BroadcastLikeOp : Calque_MovementOp<"broadcast_like", "broadcastLike"> {
  let summary = "x broadcast to like's shape";
  let inMessages = "broadcast_to";
  let arguments = (ins Calque_AnyTensor:$x, Calque_SizesTensor:$like);
  let results = (outs Calque_AnyTensor:$result);
  let function = "";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "repeat";
}
def Calque_TransposeOp : Calque_MovementOp<"transpose", "transpose"> {
  let summary = "Dimension i of the result is dimension permutation[i] of x; an empty permutation reverses all";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$permutation);
  let customVjp = 1;
  let linear = ["x"];
  let moves = "permute";
}
def Calque_ReverseOp : Calque_MovementOp<"reverse", "reverse"> {
  let summary = "The elements in the opposite order along axes; no axes mean all";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes);
  let customVjp = 1;
  let linear = ["x"];
  let moves = "turn";
}
def Calque_ConcatOp : Calque_MovementOp<"concat", "concat"> {
  let summary = "Tensors one after the other along an axis";
  let arguments = (ins Variadic<Calque_Tensor>:$tensors, DefaultValuedAttr<I64Attr, "0">:$axis);
  let customVjp = 1;
  let linear = ["tensors"];
  let moves = "join";
}
def Calque_ConcatPartOp : Calque_MovementOp<"concat_part", "concatPart"> {
  let summary = "The part of x at which tensor `index` of a concatenation stands";
  let inMessages = "concat";
  let arguments = (ins Calque_Tensor:$x, Variadic<Calque_Tensor>:$tensors, I64Attr:$axis, I64Attr:$index);
  let function = "";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "takePart";
}
def Calque_SplitOp : Calque_PureOp<"split"> {
  let eachPart = 1;
  let summary = "The parts of x of these sizes along an axis, in order; one size may be -1 and is what the others leave";
  let arguments = (ins Calque_Tensor:$x, DenseI64ArrayAttr:$sizes, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Variadic<Calque_Tensor>:$parts);
  let rule = "split";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "cut";
}
def Calque_SliceOp : Calque_MovementOp<"slice", "slice"> {
  let summary = "Elements starts, starts + strides, ... below limits in each dimension; no strides mean 1";
  let arguments = (ins Calque_Tensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides);
  let customVjp = 1;
  let linear = ["x"];
  let moves = "take";
  let indexed = "taken";
}
def Calque_SliceLikeOp : Calque_MovementOp<"slice_like", "sliceLike"> {
  let summary = "As many elements of x from starts in steps of strides as like has";
  let inMessages = "slice";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$strides);
  let function = "";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "takeLike";
}
def Calque_SlicePutOp : Calque_MovementOp<"slice_put", "slicePut"> {
  let summary = "Zeros of like's shape with x at starts in steps of strides";
  let inMessages = "slice";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$strides);
  let function = "";
  let customVjp = 1;
  let linear = ["x"];
  let moves = "put";
}
def Calque_PadOp : Calque_MovementOp<"pad", "pad"> {
  let eachPart = 0;
  let customComplex = 1;
  let summary = "x with `low` elements of a value before and `high` after it in each dimension";
  let arguments = (ins Calque_Tensor:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DefaultValuedAttr<Calque_NumberAttr, "0">:$value);
  let customVjp = 1;
  let customJvp = 1;
  let moves = "surround";
  let indexed = "padded";
}

//===-- Indices: Movement.cpp -------------------------------------------------------------------===//
def Calque_GatherOp : Calque_PureOp<"gather", [Calque_MayFail]> {
  let eachPart = 1;
  let summary = "The slices of x along an axis at integer indices; an index outside is an error";
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "gather";
  let failure = "`IndexError` for an index outside of [0, size of the axis)";
  let customVjp = 1;
  let linear = ["x"];
  let hasCanonicalizer = 1;
}
def Calque_UpdateAtOp : Calque_PureOp<"update_at", [Calque_MayFail]> {
  let eachPart = 1;
  let summary = "x with another slice at an integer index along an axis; an index outside is an error";
  let inMessages = "scan";
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$index, Calque_Tensor:$slice, I64Attr:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "updateAt";
  let function = "";
  let failure = "`IndexError` for an index outside of [0, size of the axis)";
  let customVjp = 1;
  let linear = ["x", "slice"];
}
def Calque_GatherPutOp : Calque_PureOp<"gather_put", [Calque_MayFail, Calque_Computes]> {
  let eachPart = 1;
  let summary = "Zeros of like's shape, to which slices are added along an axis at integer indices";
  let inMessages = "gather";
  let arguments = (ins Calque_Tensor:$slices, Calque_SizesTensor:$like, Calque_SelectingTensor:$indices, I64Attr:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "gatherPut";
  let function = "";
  let customVjp = 1;
  let linear = ["slices"];
  let hasCanonicalizer = 1;
}
def Calque_TakeAlongAxisOp : Calque_PureOp<"take_along_axis", [Calque_MayFail]> {
  let eachPart = 1;
  let summary = "Of each row of x along an axis, the elements at the integer indices in the same row of `indices`; an index outside is an error";
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$indices, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "takeAlongAxis";
  let failure = "`IndexError` for an index outside of [0, size of the axis)";
  let customVjp = 1;
  let linear = ["x"];
  let batchAxis = 1;
}
def Calque_PutAlongAxisOp : Calque_PureOp<"put_along_axis", [Calque_MayFail, Calque_Computes]> {
  let eachPart = 1;
  let summary = "Zeros of like's shape, to each row of which along an axis the elements of x are added at the integer indices in the same row";
  let inMessages = "take_along_axis";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like, Calque_SelectingTensor:$indices, I64Attr:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "putAlongAxis";
  let function = "";
  let customVjp = 1;
  let linear = ["x"];
  let batchAxis = 1;
}
// Indices of dimensions: the last dimension of `indices` has one for each of the first dimensions of x.
class Calque_NdOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_PureOp<mnemonic, traits # [Calque_MayFail]> {
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let failure = "`IndexError` for an index outside of [0, size of its dimension)";
  let customVjp = 1;
}
def Calque_GatherNdOp : Calque_NdOp<"gather_nd", "gatherNd"> {
  let eachPart = 1;
  let summary = "The slices of x at indices of its first dimensions, which the last dimension of `indices` has";
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$indices);
  let linear = ["x"];
}
def Calque_GatherNdLastOp : Calque_NdOp<"gather_nd_last", "gatherNd"> {
  let eachPart = 1;
  let summary = "A gather_nd whose slices are zeros but for the last one of each index";
  let inMessages = "scatter_nd_set";
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$indices);
  let function = "";
  let linear = ["x"];
}
class Calque_ScatterNdOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_NdOp<mnemonic, typeRule, traits> {
  let arguments = (ins Calque_Tensor:$x, Calque_SelectingTensor:$indices, Calque_Tensor:$updates);
}
def Calque_ScatterNdSetOp : Calque_ScatterNdOp<"scatter_nd_set", "scatterNd"> {
  let eachPart = 1;
  let summary = "x with the updates in place of the slices that gather_nd gives; of equal indices the last one counts, also for the gradient";
  let linear = ["x", "updates"];
}
def Calque_ScatterNdAddOp : Calque_ScatterNdOp<"scatter_nd_add", "scatterNdNumeric", [Calque_Computes]> {
  let eachPart = 1;
  let summary = "x with the updates added to the slices that gather_nd gives, in their order";
  let linear = ["x", "updates"];
}
def Calque_ScatterNdMaxOp : Calque_ScatterNdOp<"scatter_nd_max", "scatterNdNumeric", [Calque_Computes]> {
  let summary = "x with the larger of each element and the updates in the slices that gather_nd gives; NaN if one is, as all gradients are then; ties share the gradient";
  let customJvp = 1;
}
def Calque_ArgSortOp : Calque_LibraryOp<"argsort", "argSort", "calque_rt_argsort", "(n)->(n)"> {
  let summary = "The indices that bring x in order along an axis, as int64; equal elements keep their order, and NaN counts as largest";
  let description = "`descending` begins with the largest element.";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Calque_Tensor:$result);
  let notDifferentiable = 1;
  let batchAxis = 1;
}
def Calque_TopIndicesOp : Calque_LibraryOp<"top_indices", "topIndices", "calque_rt_top_indices", "(n)->(k)"> {
  let summary = "The first `count` indices of the order along an axis that argsort gives, as int64";
  let description = "`descending` begins with the largest element.";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$count, DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Calque_Tensor:$result);
  let function = "";
  let inMessages = "top_k";
  let notDifferentiable = 1;
  let batchAxis = 1;
}
def Calque_OneHotOp : Calque_MovementOp<"one_hot", "oneHot"> {
  let eachPart = 0;
  let summary = "1 where the new last dimension's index is the element's, else 0; an index outside gives zeros";
  let arguments = (ins Calque_SelectingTensor:$indices, I64Attr:$depth, Calque_DTypeAttr:$dtype);
  let open = "one_hot_open";
  let notDifferentiable = 1;
  let batchSame = 1;
}
def Calque_OneHotOpenOp : Calque_MovementOp<"one_hot_open", "oneHotOpen"> {
  let eachPart = 0;
  let summary = "A one_hot whose depth, the only size of the shape, is that of a tensor";
  let arguments = (ins Calque_SelectingTensor:$indices, Variadic<Calque_Tensor>:$sources, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes, Calque_DTypeAttr:$dtype);
  let function = "";
  let inMessages = "one_hot";
  let notDifferentiable = 1;
}

#endif
