// Reductions, contractions, convolutions and pooling.
#ifndef CALQUE_IR_STRUCTURED_TD
#define CALQUE_IR_STRUCTURED_TD

include "ir/Base.td"

//===-- Reductions: Reduction.cpp ---------------------------------------------------------------===//
class Calque_ReductionOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_PureOp<mnemonic, traits # [Calque_Computes]> {
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes, DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let description = "Negative axes count from the end; no axes mean all. `keepdims` leaves the reduced dimensions with size 1.";
}
def Calque_SumOp : Calque_ReductionOp<"reduce_sum", "reduceNumeric", [Calque_Accumulates]> {
  let eachPart = 1;
  let summary = "The sum of the elements over axes; 0 of none; of integers with 8 and 16 bits, as int64 or uint64";
  let function = "sum";
  let customVjp = 1;
  let linear = ["x"];
}
def Calque_ReduceMaxOp : Calque_ReductionOp<"reduce_max", "reduceNumericNonEmpty"> {
  let summary = "The largest element over axes; NaN if one is, as all gradients are then; ties share the gradient";
  let function = "max";
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_ReduceMinOp : Calque_ReductionOp<"reduce_min", "reduceNumericNonEmpty"> {
  let summary = "The smallest element over axes; NaN if one is, as all gradients are then; ties share the gradient";
  let function = "min";
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_ProdOp : Calque_ReductionOp<"reduce_prod", "reduceNumeric", [Calque_Accumulates]> {
  let customComplex = 1; // Cumulative.cpp
  let summary = "The product of the elements over axes; 1 of none; of integers with 8 and 16 bits, as int64 or uint64";
  let function = "prod";
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_AnyOp : Calque_ReductionOp<"reduce_any", "reduceBool"> {
  let summary = "Whether any element over axes holds; false of none";
  let function = "any";
  let notDifferentiable = 1;
}
def Calque_AllOp : Calque_ReductionOp<"reduce_all", "reduceBool"> {
  let summary = "Whether all elements over axes hold; true of none";
  let function = "all";
  let notDifferentiable = 1;
}
def Calque_MeanOp : Calque_ReductionOp<"reduce_mean", "reduceFloat", [DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let eachPart = 1;
  let summary = "The mean of the elements over axes; NaN of none";
  let function = "mean";
  let customVjp = 1;
  let expands = 1;
  let linear = ["x"];
}
def Calque_LogSumExpOp : Calque_ReductionOp<"logsumexp", "reduceFloatNonEmpty", [DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let summary = "log(sum(exp(x))) over axes, without overflow";
  let customVjp = 1;
  let expands = 1;
  let customJvp = 1;
}
def Calque_SoftmaxOp : Calque_PureOp<"softmax", [Calque_Computes, Calque_Computes, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let summary = "exp(x) / sum(exp(x)) over one axis, without overflow";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "softmax";
  let customVjp = 1;
  let expands = 1;
  let customJvp = 1;
}
def Calque_LogSoftmaxOp : Calque_PureOp<"log_softmax", [Calque_Computes, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let summary = "log(softmax(x)) over one axis, exact where softmax is near 0 or 1";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "softmax";
  let customVjp = 1;
  let expands = 1;
  let customJvp = 1;
}
class Calque_ArgOp<string mnemonic> : Calque_PureOp<mnemonic, [Calque_Computes]> {
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Calque_Tensor:$result);
  let rule = "argExtreme";
  let notDifferentiable = 1;
}
def Calque_ArgMaxOp : Calque_ArgOp<"argmax"> {
  let summary = "The index of the largest element over one axis, the first of equals, as int64; NaN counts as largest";
}
def Calque_ArgMinOp : Calque_ArgOp<"argmin"> {
  let summary = "The index of the smallest element over one axis, the first of equals, as int64; NaN counts as smallest";
}
def Calque_AxisSizeOp : Calque_PureOp<"axis_size", [Calque_Computes]> {
  let summary = "The number of elements of x over axes, as a scalar of x's type";
  let inMessages = "mean";
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes);
  let results = (outs Calque_Tensor:$result);
  let rule = "axisSize";
  let function = "";
  let notDifferentiable = 1;
}
def Calque_SumLikeOp : Calque_PureOp<"sum_like", [Calque_Computes]> {
  let eachPart = 1;
  let summary = "Sums x over the dimensions along which a tensor of like's shape was broadcast to x's";
  let inMessages = "sum";
  let arguments = (ins Calque_Tensor:$x, Calque_SizesTensor:$like);
  let results = (outs Calque_Tensor:$result);
  let rule = "sumLike";
  let function = "";
  let vjp = [(Apply "broadcast_like", $g, $x), (NoGradient)];
  let linear = ["x"];
}

//===-- Cumulative: Cumulative.cpp --------------------------------------------------------------===//
class Calque_CumulativeOp<string mnemonic> : Calque_PureOp<mnemonic, [Calque_Computes, Calque_Accumulates]> {
  let arguments = (ins Calque_Tensor:$x, DefaultValuedAttr<I64Attr, "0">:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Calque_Tensor:$result);
  let rule = "cumulative";
  let description = "`exclusive` leaves the element itself out; `reverse` begins at the end of the axis.";
  let customVjp = 1;
}
def Calque_CumSumOp : Calque_CumulativeOp<"cumsum"> {
  let eachPart = 1;
  let summary = "The sums of the elements up to each one along an axis; of integers with 8 and 16 bits, as int64 or uint64";
  let linear = ["x"];
}
def Calque_CumProdOp : Calque_CumulativeOp<"cumprod"> {
  let customComplex = 1;
  let summary = "The products of the elements up to each one along an axis; of integers with 8 and 16 bits, as int64 or uint64";
  let customJvp = 1;
}
// Derivatives of products divide by no element, which may be 0: they are such recurrences, whose own derivatives are others.
def Calque_LinearRecurrenceOp : Calque_PureOp<"linear_recurrence", [Calque_Computes]> {
  let summary = "h[k] = factors[k] * h[k - 1] + terms[k] along an axis, from h = 0; in reverse h[k + 1]";
  let inMessages = "cumprod";
  let arguments = (ins Calque_Tensor:$factors, Calque_Tensor:$terms, I64Attr:$axis, BoolAttr:$reverse);
  let results = (outs Calque_Tensor:$result);
  let rule = "linearRecurrence";
  let function = "";
  let customVjp = 1;
  let customJvp = 1;
}
// Products of complex numbers are such recurrences: no operation on their real and imaginary parts apart is one.
def Calque_LinearRecurrencePartsOp : Calque_PureOp<"linear_recurrence_parts", [Calque_Computes]> {
  let summary = "The recurrence of linear_recurrence, of complex numbers with these parts";
  let inMessages = "cumprod";
  let arguments = (ins Calque_Tensor:$factors_re, Calque_Tensor:$factors_im, Calque_Tensor:$terms_re, Calque_Tensor:$terms_im,
                       I64Attr:$axis, BoolAttr:$reverse);
  let results = (outs Calque_Tensor:$re, Calque_Tensor:$im);
  let rule = "linearRecurrenceParts";
  let function = "";
  let notSaved = 1;
  let customVjp = 1;
  let customJvp = 1;
  let batchAxis = 1;
}

//===-- Contractions: Contract.cpp --------------------------------------------------------------===//
def Calque_ContractOp : Calque_PureOp<"contract", [Calque_Costly, Calque_Computes]> {
  let customComplex = 1;
  let summary = "Sums products over pairs of contracting dimensions, for each index of the batch dimensions";
  let description = "The result's dimensions are those of the batch, then what is left of lhs, then of rhs.";
  let arguments = (ins Calque_Tensor:$lhs, Calque_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting);
  let results = (outs Calque_Tensor:$result);
  let rule = "contract";
  let customVjp = 1;
  let multilinear = ["lhs", "rhs"];
}

//===-- Convolutions and pooling: Convolution.cpp -----------------------------------------------===//
// Windows slide along one to three dimensions, as many as there are strides, of images [N,...,C]. `padding` is "same" or
// "valid"; with "valid", `pads` may give numbers: those before and behind each dimension. None mean no padding.
class Calque_WindowOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_PureOp<mnemonic, traits # [Calque_Computes]> {
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let customVjp = 1;
  let function = "";
}
def Calque_ConvOp : Calque_WindowOp<"conv", "conv", [Calque_Costly]> {
  let customComplex = 1;
  let summary = "The convolution of images [N,...,C] with filters [...,C/groups,F], along one to three dimensions";
  let inMessages = "conv";
  let arguments = (ins Calque_Tensor:$input, Calque_Tensor:$filter, DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                       DefaultValuedAttr<StrAttr, "\"valid\"">:$padding, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups);
  let multilinear = ["input", "filter"];
}
def Calque_ConvInputGradOp : Calque_WindowOp<"conv_input_grad", "convInputGrad", [Calque_Costly]> {
  let summary = "The cotangent of a convolution's images from that of its result; shaped like `like`";
  let inMessages = "conv";
  let arguments = (ins Calque_Tensor:$cotangent, Calque_Tensor:$filter, Calque_SizesTensor:$like, DenseI64ArrayAttr:$strides, StrAttr:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let multilinear = ["cotangent", "filter"];
}
def Calque_ConvFilterGradOp : Calque_WindowOp<"conv_filter_grad", "convFilterGrad", [Calque_Costly]> {
  let summary = "The cotangent of a convolution's filters from that of its result; shaped like `like`";
  let inMessages = "conv";
  let arguments = (ins Calque_Tensor:$input, Calque_Tensor:$cotangent, Calque_SizesTensor:$like, DenseI64ArrayAttr:$strides, StrAttr:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let multilinear = ["input", "cotangent"];
}
def Calque_MaxPoolOp : Calque_WindowOp<"max_pool", "maxPool"> {
  let summary = "The largest element of each window of images [N,...,C]";
  let inMessages = "max_pool";
  let arguments = (ins Calque_Tensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DefaultValuedAttr<StrAttr, "\"valid\"">:$padding, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads);
  let customJvp = 1;
}
def Calque_MaxPoolGradOp : Calque_WindowOp<"max_pool_grad", "maxPoolGrad"> {
  let summary = "Adds each window's cotangent where the window has its first largest element";
  let inMessages = "max_pool";
  let arguments = (ins Calque_Tensor:$input, Calque_Tensor:$cotangent, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, StrAttr:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads);
  let linear = ["cotangent"];
}
def Calque_MaxPoolPickOp : Calque_WindowOp<"max_pool_pick", "maxPoolPick"> {
  let summary = "Picks of `values` what stands where each window of `input` has its first largest element";
  let inMessages = "max_pool";
  let arguments = (ins Calque_Tensor:$input, Calque_Tensor:$values, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, StrAttr:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads);
  let linear = ["values"];
}
def Calque_SumPoolOp : Calque_WindowOp<"sum_pool", "sumPool"> {
  let eachPart = 1;
  let summary = "The sum of each window of images [N,...,C]";
  let inMessages = "sum_pool";
  let arguments = (ins Calque_Tensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DefaultValuedAttr<StrAttr, "\"valid\"">:$padding, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads);
  let linear = ["input"];
}
def Calque_SumPoolGradOp : Calque_WindowOp<"sum_pool_grad", "sumPoolGrad"> {
  let eachPart = 1;
  let summary = "Adds each window's cotangent to all elements of the window; shaped like `like`";
  let inMessages = "sum_pool";
  let arguments = (ins Calque_Tensor:$cotangent, Calque_SizesTensor:$like, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, StrAttr:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads);
  let linear = ["cotangent"];
}

#endif
