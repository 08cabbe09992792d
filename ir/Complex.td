// What makes complex numbers of real ones, and real ones of complex numbers.
#ifndef CALQUE_IR_COMPLEX_TD
#define CALQUE_IR_COMPLEX_TD

include "ir/Base.td"

// Complex tensors have no derivatives of their own: those of their parts are taken.
class Calque_ComplexOp<string mnemonic, string typeRule> : Calque_PureOp<mnemonic> {
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let complexAlone = 1;
  let removedBy = "split-complex";
}
class Calque_ComplexPartOp<string mnemonic> : Calque_ComplexOp<mnemonic, "partOfComplex"> {
  let arguments = (ins Calque_Tensor:$x);
  let function = "";
  let inMessages = mnemonic;
}

def Calque_ComplexOfOp : Calque_ComplexOp<"complex", "complexOf"> {
  let summary = "The complex numbers with these real and imaginary parts, which broadcast";
  let arguments = (ins Calque_Tensor:$real, Calque_Tensor:$imag);
  let customComplex = 1;
}
def Calque_RealPartOp : Calque_ComplexPartOp<"real"> {
  let summary = "The real part";
  let complexParts = [(Re $x)];
}
def Calque_ImagPartOp : Calque_ComplexPartOp<"imag"> {
  let summary = "The imaginary part";
  let complexParts = [(Im $x)];
}
def Calque_AngleOp : Calque_ComplexPartOp<"angle"> {
  let summary = "The angle of a complex number, in radians from -pi to pi";
  let complexParts = [(Apply "atan2", (Im $x), (Re $x))];
}
def Calque_ConjOp : Calque_ComplexOp<"conj", "complexNumber"> {
  let summary = "The complex conjugate: the imaginary part negated";
  let arguments = (ins Calque_Tensor:$x);
  let function = "";
  let inMessages = "conj";
  let complexParts = [(Re $x), (Apply "neg", (Im $x))];
}

//===-- Complex numbers in memory ---------------------------------------------------------------===//
class Calque_PairsOp<string mnemonic, string typeRule> : Calque_PureOp<mnemonic> {
  let results = (outs Calque_Tensor:$result);
  let rule = typeRule;
  let function = "";
  let inMessages = "complex";
  let notSaved = 1;
  let notDifferentiable = 1;
  let batchSame = 1;
  let hasFolder = 1; // Fourier.cpp
}
def Calque_PartOfPairsOp : Calque_PairsOp<"part_of_pairs", "partOfPairs"> {
  let summary = "The first or the second of two numbers, which are the last dimension";
  let arguments = (ins Calque_Tensor:$x, BoolAttr:$imaginary);
}
def Calque_PairsOfOp : Calque_PairsOp<"pairs", "pairs"> {
  let summary = "The numbers of two tensors of one shape in turn, as a last dimension of 2";
  let arguments = (ins Calque_Tensor:$real, Calque_Tensor:$imag);
}

#endif
