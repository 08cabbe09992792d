// Discrete Fourier transforms, which kernels of runtime/libraries/ compute.
//
// A program records transforms of complex tensors. The pass `split-complex` makes of each one on two tensors of parts, of
// which derivatives are taken: the transform is linear, and the transposed one, which a cotangent goes through, is the
// transform with the other sign. Those of parts stand for one on pairs, as they are in memory; where parts have just
// been taken of pairs, or become pairs again, nothing is copied (PairsOfOp::fold).
//
// Results are multiplied by 1, or for a `divisor` of 1 by n^-1/2, or for 2 by 1 / n.
#ifndef CALQUE_IR_FOURIER_TD
#define CALQUE_IR_FOURIER_TD

include "ir/Base.td"
include "ir/Complex.td"

// Of complex tensors.
class Calque_SpectralOp<string mnemonic, string typeRule> : Calque_ComplexOp<mnemonic, typeRule> {
  let function = "";
  let customComplex = 1;
}
// Of parts.
class Calque_SpectralPartsOp<string mnemonic, string typeRule>
    : Calque_PureOp<mnemonic, [Calque_Computes, Calque_Costly, DeclareOpInterfaceMethods<Calque_CompositeOpInterface>]> {
  let rule = typeRule;
  let function = "";
  let notSaved = 1;
  let customVjp = 1;
  let batchSame = 1;
  let expands = 1;
}
// Of pairs.
class Calque_SpectralPairsOp<string mnemonic, string typeRule, string kernelName, string dimensions>
    : Calque_LibraryOp<mnemonic, typeRule, kernelName, dimensions, [Calque_Costly]> {
  let results = (outs Calque_Tensor:$result);
  let function = "";
  let notSaved = 1;
  let notDifferentiable = 1;
  let batchSame = 1;
}

//===-- Complex numbers to complex numbers ------------------------------------------------------===//
def Calque_FourierOp : Calque_SpectralOp<"fourier", "fourierOfComplex"> {
  let summary = "The sums of x[j] exp(-2 pi i j k / n) along the last dimension, or for `columns` the one before; for `inverse` with + i";
  let inMessages = "fft";
  let arguments = (ins Calque_Tensor:$x, BoolAttr:$columns, BoolAttr:$inverse, I64Attr:$divisor);
}
def Calque_FourierPartsOp : Calque_SpectralPartsOp<"fourier_parts", "fourierOfParts"> {
  let summary = "The transform of the numbers with these parts";
  let inMessages = "fft";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im, BoolAttr:$columns, BoolAttr:$inverse, I64Attr:$divisor);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let linear = ["re", "im"];
}
def Calque_FourierPairsOp
    : Calque_SpectralPairsOp<"fourier_pairs", "fourierOfPairs", "calque_rt_fourier", "(n,k,two)->(n,k,two)"> {
  let summary = "The transform along the first one of the last three dimensions, of which the last one has the parts";
  let inMessages = "fft";
  let arguments = (ins Calque_Tensor:$x, BoolAttr:$inverse, I64Attr:$divisor);
}

//===-- Real numbers and half of their spectrum -------------------------------------------------===//
// Frequencies of real numbers that are their own conjugates, the one of 0 and for an even n that of n / 2, count once, and
// the others, which stand for their conjugates too, are multiplied by `inner`. So each one of these two is the
// transposed other one.
def Calque_RealFourierOp : Calque_SpectralOp<"real_fourier", "fourierOfReal"> {
  let summary = "The transform of real numbers along the last dimension, up to the frequency n / 2";
  let inMessages = "rfft";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$divisor, Calque_NumberAttr:$inner);
}
def Calque_RealFourierPartsOp : Calque_SpectralPartsOp<"real_fourier_parts", "partsOfReal"> {
  let summary = "The parts of the transform of real numbers";
  let inMessages = "rfft";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$divisor, Calque_NumberAttr:$inner);
  let results = (outs Calque_Tensor:$re, Calque_Tensor:$im);
  let linear = ["x"];
}
def Calque_RealFourierPairsOp
    : Calque_SpectralPairsOp<"real_fourier_pairs", "pairsOfReal", "calque_rt_real_fourier", "(n)->(half,two)"> {
  let summary = "The transform of real numbers, as pairs";
  let inMessages = "rfft";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$divisor, Calque_NumberAttr:$inner);
}
def Calque_FourierToRealOp : Calque_SpectralOp<"fourier_to_real", "realOfFourier"> {
  let summary = "The real numbers, `length` of them along the last dimension, with these frequencies up to n / 2";
  let inMessages = "irfft";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$length, I64Attr:$divisor, Calque_NumberAttr:$inner);
}
def Calque_FourierToRealPartsOp : Calque_SpectralPartsOp<"fourier_to_real_parts", "realOfParts"> {
  let summary = "The real numbers whose frequencies have these parts";
  let inMessages = "irfft";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im, I64Attr:$length, I64Attr:$divisor, Calque_NumberAttr:$inner);
  let results = (outs Calque_Tensor:$result);
  let linear = ["re", "im"];
}
def Calque_FourierToRealPairsOp
    : Calque_SpectralPairsOp<"fourier_to_real_pairs", "realOfPairs", "calque_rt_fourier_to_real", "(half,two)->(n)"> {
  let summary = "The real numbers with these frequencies, given as pairs";
  let inMessages = "irfft";
  let arguments = (ins Calque_Tensor:$x, I64Attr:$length, I64Attr:$divisor, Calque_NumberAttr:$inner);
}

#endif
