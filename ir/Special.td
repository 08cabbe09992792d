// Special functions: error functions and the normal distribution, Bessel functions, gamma functions.
#ifndef CALQUE_IR_SPECIAL_TD
#define CALQUE_IR_SPECIAL_TD

include "ir/Elementwise.td"

class Calque_SpecialOp<string mnemonic> : Calque_UnaryOp<mnemonic, "elementwiseFloat"> { let ulp = 16; }
// A derivative that has no public function.
class Calque_SpecialSlopeOp<string mnemonic, string of> : Calque_SpecialOp<mnemonic> {
  let function = "";
  let inMessages = of;
  let notSaved = 1;
}

//===-- Error functions and the normal distribution ---------------------------------------------===//
def Calque_ErfcOp : Calque_SpecialOp<"erfc"> {
  let summary = "1 - erf(x), which is exact where it is small";
  let scalar = (S_erfc $x);
  let ulp = 8;
  // -2 / sqrt(pi)
  let partials = [(Apply "mul", (Constant "-1.1283791670955126"), (Apply "exp", (Apply "neg", (Apply "mul", $x, $x))))];
}
// The derivative of erfcx is 2 x erfcx(x) - 2 / sqrt(pi), whose terms cancel for large x. There it is the derivative of the
// asymptotic series (NIST Digital Library of Mathematical Functions, 7.12.1), whose next term is below 7e-15 from 16 on.
defvar erfcxSquare = (Apply "div", (Constant "1.0"), (Apply "square", (Apply "maximum", $x, (Constant "16.0"))));
defvar erfcxTerms = (Apply "sub", (Constant "1.5"),
  (Apply "mul", erfcxSquare, (Apply "sub", (Constant "3.75"),
  (Apply "mul", erfcxSquare, (Apply "sub", (Constant "13.125"),
  (Apply "mul", erfcxSquare, (Apply "sub", (Constant "59.0625"),
  (Apply "mul", erfcxSquare, (Apply "sub", (Constant "324.84375"),
  (Apply "mul", erfcxSquare, (Apply "sub", (Constant "2111.484375"),
  (Apply "mul", erfcxSquare, (Constant "15836.1328125")))))))))))));
def Calque_ErfcxOp : Calque_SpecialOp<"erfcx"> {
  let summary = "exp(x * x) * erfc(x), which does not vanish for large x";
  let scalar = (S_erfcx $x);
  let ulp = 8;
  let partials = [(Apply "where", (Apply "greater", $x, (Constant "16.0")),
    (Apply "mul", (Apply "mul", (Constant "-0.5641895835477563"), erfcxSquare),
      (Apply "sub", (Constant "1.0"), (Apply "mul", erfcxSquare, erfcxTerms))),
    (Apply "sub", (Apply "mul", (Apply "mul", (Constant "2.0"), $x), $result), (Constant "1.1283791670955126")))];
}
// The derivatives have the density exp(-x^2 / 2) / sqrt(2 pi).
def Calque_NdtrOp : Calque_SpecialOp<"ndtr"> {
  let summary = "The probability that a standard normal variable is below x";
  let scalar = (S_ndtr $x);
  let partials = [(Apply "mul", (Constant "0.3989422804014327"),
    (Apply "exp", (Apply "mul", (Constant "-0.5"), (Apply "mul", $x, $x))))];
}
// density / ndtr(x): exp(-x^2 / 2 - log_ndtr(x)) / sqrt(2 pi) above 0, and sqrt(2 / pi) / erfcx(-x / sqrt(2)) below, as
// each loses digits, or overflows, on the other side.
def Calque_LogNdtrOp : Calque_SpecialOp<"log_ndtr"> {
  let summary = "The logarithm of ndtr(x), also where that would vanish";
  let scalar = (S_log_ndtr $x);
  let partials = [(Apply "where", (Apply "greater", $x, (Constant "0.0")),
    (Apply "mul", (Constant "0.3989422804014327"),
      (Apply "exp", (Apply "sub", (Apply "mul", (Constant "-0.5"), (Apply "square", (Apply "maximum", $x, (Constant "0.0")))),
        $result))),
    (Apply "div", (Constant "0.7978845608028654"),
      (Apply "erfcx", (Apply "mul", (Constant "-0.7071067811865476"), (Apply "minimum", $x, (Constant "0.0"))))))];
}
def Calque_NdtriOp : Calque_SpecialOp<"ndtri"> {
  let summary = "The inverse of ndtr: the quantile of a standard normal variable; infinite at 0 and 1, NaN beyond";
  let scalar = (S_ndtri $x);
  // sqrt(2 pi)
  let partials = [(Apply "mul", (Constant "2.5066282746310002"),
    (Apply "exp", (Apply "mul", (Constant "0.5"), (Apply "mul", $result, $result))))];
  let domain = ["0.05", "0.95"];
}
def Calque_ErfinvOp : Calque_SpecialOp<"erfinv"> {
  let summary = "The inverse of erf; infinite at -1 and 1, NaN beyond";
  let scalar = (S_erfinv $x);
  // sqrt(pi) / 2
  let partials = [(Apply "mul", (Constant "0.886226925452758"), (Apply "exp", (Apply "mul", $result, $result)))];
  let domain = ["-0.9", "0.9"];
}

//===-- Bessel functions ------------------------------------------------------------------------===//
// I1(x) / x is 1/2 at 0, and exp(-|x|) I1(x) / x too.
def Calque_I0Op : Calque_SpecialOp<"i0"> {
  let summary = "The modified Bessel function of order 0";
  let scalar = (S_i0 $x);
  let ignoresSign = 1;
  let partials = [(Apply "i1", $x)];
}
def Calque_I1Op : Calque_SpecialOp<"i1"> {
  let summary = "The modified Bessel function of order 1";
  let scalar = (S_i1 $x);
  // i0(x) - i1(x) / x, by the ratio of the two, so that one infinity is left where both overflow.
  let partials = [(Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "0.5"),
    (Apply "mul", (Apply "i0", $x), (Apply "sub", (Constant "1.0"),
      (Apply "div", (Apply "div", (Apply "i1e", $x), (Apply "i0e", $x)),
        (Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "1.0"), $x)))))];
}
def Calque_I0eOp : Calque_SpecialOp<"i0e"> {
  let summary = "exp(-|x|) * i0(x), which does not overflow";
  let scalar = (S_i0e $x);
  let ignoresSign = 1;
  let kinks = ["0.0"];
  let partials = [(Apply "sub", (Apply "i1e", $x), (Apply "mul", (Apply "sign", $x), $result))];
}
def Calque_I1eOp : Calque_SpecialOp<"i1e"> {
  let summary = "exp(-|x|) * i1(x), which does not overflow";
  let scalar = (S_i1e $x);
  let kinks = ["0.0"];
  let partials = [(Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "0.5"),
    (Apply "sub", (Apply "sub", (Apply "i0e", $x), (Apply "mul", (Apply "sign", $x), $result)),
      (Apply "div", $result, (Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "1.0"), $x))))];
}

//===-- Gamma functions -------------------------------------------------------------------------===//
def Calque_LgammaOp : Calque_SpecialOp<"lgamma"> {
  let summary = "The logarithm of the magnitude of the gamma function; infinite at 0 and at negative integers";
  let scalar = (S_lgamma $x);
  let partials = [(Apply "digamma", $x)];
  let domain = ["0.3", "6.0"];
  let digitsFrom = "1.0";
}
def Calque_DigammaOp : Calque_SpecialOp<"digamma"> {
  let summary = "The derivative of lgamma; infinite at 0, NaN at negative integers";
  let scalar = (S_digamma $x);
  let partials = [(Apply "trigamma", $x)];
  let domain = ["0.3", "6.0"];
  // Between two negative integers it is 0 once, where log(-x), which is up to 36, and pi cot(pi x) cancel.
  let digitsFrom = "32.0";
}
def Calque_TrigammaOp : Calque_SpecialOp<"trigamma"> {
  let summary = "The derivative of digamma; infinite at 0 and at negative integers. Its derivatives beyond the second are NaN";
  let scalar = (S_trigamma $x);
  let partials = [(Apply "polygamma2", $x)];
  let domain = ["0.3", "6.0"];
}
def Calque_Polygamma2Op : Calque_SpecialSlopeOp<"polygamma2", "trigamma"> {
  let summary = "The derivative of trigamma";
  let scalar = (S_polygamma2 $x);
  let partials = [(Apply "polygamma3", $x)];
}
def Calque_Polygamma3Op : Calque_SpecialSlopeOp<"polygamma3", "trigamma"> {
  let summary = "The second derivative of trigamma";
  let scalar = (S_polygamma3 $x);
  // It would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()")];
}

#endif
