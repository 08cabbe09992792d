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

//===-- Incomplete gamma functions --------------------------------------------------------------===//
class Calque_GammaIncOp<string mnemonic> : Calque_BinaryOp<mnemonic, "elementwiseFloat"> {
  let isReferenceSlow = 1;
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$x);
  let ulp = 16;
  let domain = ["0.3", "6.0"];
}
class Calque_GammaIncSlopeOp<string mnemonic> : Calque_GammaIncOp<mnemonic> {
  let function = "";
  let inMessages = "gammainc";
  let notSaved = 1;
}
def Calque_GammaIncLowerOp : Calque_GammaIncOp<"gammainc"> {
  let summary = "The probability that a gamma variable of shape a is below x: the regularised lower incomplete gamma function. NaN where a or x is negative. Second derivatives by a are NaN";
  let scalar = (S_gammainc $a, $x);
  let partials = [(Apply "gammainc_slope", $a, $x), (Apply "gamma_density", $a, $x)];
  let orders = 1;
}
def Calque_GammaIncUpperOp : Calque_GammaIncOp<"gammaincc"> {
  let summary = "1 - gammainc(a, x), which is exact where it is small. Second derivatives by a are NaN";
  let scalar = (S_gammaincc $a, $x);
  let partials = [(Apply "neg", (Apply "gammainc_slope", $a, $x)), (Apply "neg", (Apply "gamma_density", $a, $x))];
  let orders = 1;
}
def Calque_GammaDensityOp : Calque_GammaIncSlopeOp<"gamma_density"> {
  let summary = "The derivative of gammainc by x: x^(a - 1) exp(-x) / gamma(a)";
  let scalar = (S_gamma_density $a, $x);
  let partials = [(Apply "mul", $result, (Apply "sub", (Apply "log", $x), (Apply "digamma", $a))),
    (Apply "mul", $result, (Apply "sub", (Apply "div", (Apply "sub", $a, (Constant "1.0")), $x), (Constant "1.0")))];
}
def Calque_GammaIncSlopeByShapeOp : Calque_GammaIncSlopeOp<"gammainc_slope"> {
  let summary = "The derivative of gammainc by a";
  let scalar = (S_gammainc_slope $a, $x);
  // By shapes it would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()"),
    (Apply "mul", (Apply "gamma_density", $a, $x), (Apply "sub", (Apply "log", $x), (Apply "digamma", $a)))];
}
def Calque_GammaSlopeOp : Calque_GammaIncSlopeOp<"gamma_slope"> {
  let summary = "How the quantile x of a gamma distribution grows with its shape a: the derivative of x by a where gammainc(a, x) stays";
  let inMessages = "random::gamma";
  let scalar = (S_gamma_slope $a, $x);
  // By shapes it would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()"), (Constant "std::numeric_limits<double>::quiet_NaN()")];
}
def Calque_GammaSampleOp : Calque_GammaIncSlopeOp<"gamma_sample"> {
  let summary = "x, which was drawn from a gamma distribution of shape a: it follows a so that gammainc(a, x) stays";
  let inMessages = "random::gamma";
  let notSaved = 0;
  let scalar = (S_select (S_equal $a, $a), $x, $a);
  let partials = [(Apply "gamma_slope", $a, $result), (NoGradient)];
  let orders = 1;
}

//===-- Beta functions --------------------------------------------------------------------------===//
def Calque_BetaOp : Calque_BinaryOp<"beta", "elementwiseFloat", [Commutative]> {
  let summary = "gamma(lhs) gamma(rhs) / gamma(lhs + rhs), of numbers that are not negative; NaN of others";
  let scalar = (S_beta $lhs, $rhs);
  let ulp = 16;
  let domain = ["0.3", "6.0"];
  let partials = [
    (Apply "mul", $result, (Apply "sub", (Apply "digamma", $lhs), (Apply "digamma", (Apply "add", $lhs, $rhs)))),
    (Apply "mul", $result, (Apply "sub", (Apply "digamma", $rhs), (Apply "digamma", (Apply "add", $lhs, $rhs))))];
}
def Calque_BetaLnOp : Calque_BinaryOp<"betaln", "elementwiseFloat", [Commutative]> {
  let summary = "The logarithm of beta(lhs, rhs)";
  let scalar = (S_betaln $lhs, $rhs);
  let ulp = 16;
  let domain = ["0.3", "6.0"];
  let digitsFrom = "1.0";
  let partials = [(Apply "sub", (Apply "digamma", $lhs), (Apply "digamma", (Apply "add", $lhs, $rhs))),
    (Apply "sub", (Apply "digamma", $rhs), (Apply "digamma", (Apply "add", $lhs, $rhs)))];
}
class Calque_BetaIncOp<string mnemonic> : Calque_ElementwiseOp<mnemonic, [Calque_Computes]> {
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$b, Calque_Tensor:$x);
  let rule = "elementwiseFloat";
  let isReferenceSlow = 1;
  let ulp = 32;
  let domain = ["0.2", "0.9"];
}
class Calque_BetaIncSlopeOp<string mnemonic> : Calque_BetaIncOp<mnemonic> {
  let function = "";
  let inMessages = "betainc";
  let notSaved = 1;
}
def Calque_BetaIncRegularisedOp : Calque_BetaIncOp<"betainc"> {
  let summary = "The probability that a beta variable of shapes a and b is below x: the regularised incomplete beta function. NaN where a or b is not above 0 and where x is not in [0, 1]. Second derivatives by a and b are NaN";
  let scalar = (S_betainc $a, $b, $x);
  let partials = [(Apply "betainc_slope_a", $a, $b, $x), (Apply "betainc_slope_b", $a, $b, $x),
    (Apply "beta_density", $a, $b, $x)];
  let orders = 1;
}
def Calque_BetaDensityOp : Calque_BetaIncSlopeOp<"beta_density"> {
  let summary = "The derivative of betainc by x: x^(a - 1) (1 - x)^(b - 1) / beta(a, b)";
  let scalar = (S_beta_density $a, $b, $x);
  let partials = [
    (Apply "mul", $result, (Apply "add", (Apply "log", $x),
      (Apply "sub", (Apply "digamma", (Apply "add", $a, $b)), (Apply "digamma", $a)))),
    (Apply "mul", $result, (Apply "add", (Apply "log1p", (Apply "neg", $x)),
      (Apply "sub", (Apply "digamma", (Apply "add", $a, $b)), (Apply "digamma", $b)))),
    (Apply "mul", $result, (Apply "sub", (Apply "div", (Apply "sub", $a, (Constant "1.0")), $x),
      (Apply "div", (Apply "sub", $b, (Constant "1.0")), (Apply "sub", (Constant "1.0"), $x))))];
}
def Calque_BetaIncSlopeByFirstOp : Calque_BetaIncSlopeOp<"betainc_slope_a"> {
  let summary = "The derivative of betainc by a";
  let scalar = (S_betainc_slope_a $a, $b, $x);
  // By shapes it would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()"), (Constant "std::numeric_limits<double>::quiet_NaN()"),
    (Apply "mul", (Apply "beta_density", $a, $b, $x), (Apply "add", (Apply "log", $x),
      (Apply "sub", (Apply "digamma", (Apply "add", $a, $b)), (Apply "digamma", $a))))];
}
def Calque_BetaIncSlopeBySecondOp : Calque_BetaIncSlopeOp<"betainc_slope_b"> {
  let summary = "The derivative of betainc by b";
  let scalar = (S_betainc_slope_b $a, $b, $x);
  // By shapes it would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()"), (Constant "std::numeric_limits<double>::quiet_NaN()"),
    (Apply "mul", (Apply "beta_density", $a, $b, $x), (Apply "add", (Apply "log1p", (Apply "neg", $x)),
      (Apply "sub", (Apply "digamma", (Apply "add", $a, $b)), (Apply "digamma", $b))))];
}

//===-- Zeta functions --------------------------------------------------------------------------===//
class Calque_ZetaFunctionOp<string mnemonic> : Calque_BinaryOp<mnemonic, "elementwiseFloat"> {
  let isReferenceSlow = 1;
  let arguments = (ins Calque_Tensor:$s, Calque_Tensor:$q);
  let ulp = 16;
  let domain = ["1.3", "6.0"];
}
def Calque_ZetaOp : Calque_ZetaFunctionOp<"zeta"> {
  let summary = "Hurwitz's zeta function, the sum of (q + k)^-s over k from 0 on; of q = 1 it is Riemann's. Infinite for s = 1 and for q that are 0 or negative integers, NaN for s below 1 and for other negative q. Second derivatives by s are NaN";
  let scalar = (S_zeta $s, $q);
  let partials = [(Apply "zeta_slope", $s, $q),
    (Apply "neg", (Apply "mul", $s, (Apply "zeta", (Apply "add", $s, (Constant "1.0")), $q)))];
  let orders = 1;
}
def Calque_ZetaSlopeOp : Calque_ZetaFunctionOp<"zeta_slope"> {
  let summary = "The derivative of zeta by s";
  let function = "";
  let inMessages = "zeta";
  let notSaved = 1;
  let scalar = (S_zeta_slope $s, $q);
  // By shapes it would be another operation, and so on without end.
  let partials = [(Constant "std::numeric_limits<double>::quiet_NaN()"),
    (Apply "neg", (Apply "add", (Apply "zeta", (Apply "add", $s, (Constant "1.0")), $q),
      (Apply "mul", $s, (Apply "zeta_slope", (Apply "add", $s, (Constant "1.0")), $q))))];
}

//===-- Significands and exponents --------------------------------------------------------------===//
// These have no public function: exponents are integers in ldexp and frexp.
def Calque_ScalbOp : Calque_BinaryOp<"scalb", "elementwiseFloat"> {
  let summary = "x * 2^n for whole numbers n, rounded once";
  let function = "";
  let inMessages = "ldexp";
  let arguments = (ins Calque_Tensor:$x, Calque_Tensor:$n);
  let ulp = 1;
  let scalar = (S_scalb $x, $n);
  let partials = [(Apply "scalb", (Constant "1.0"), $n), (NoGradient)];
}
def Calque_FrexpMantissaOp : Calque_SpecialOp<"frexp_mantissa"> {
  let summary = "x divided by a power of two, so that its magnitude is in [0.5, 1); 0, infinities and NaN as they are";
  let function = "";
  let inMessages = "frexp";
  let ulp = 1;
  let scalar = (S_frexp_mantissa $x);
  let partials = [(Apply "scalb", (Constant "1.0"), (Apply "neg", (Apply "frexp_exponent", $x)))];
}
def Calque_FrexpExponentOp : Calque_SpecialOp<"frexp_exponent"> {
  let summary = "The exponent of the power of two by which frexp_mantissa divides; 0 of 0, infinities and NaN";
  let function = "";
  let inMessages = "frexp";
  let ulp = 1;
  let scalar = (S_frexp_exponent $x);
  let notDifferentiable = 1;
}

#endif
