// Elementwise functions of floating-point numbers: arcs, hyperbolic functions, logarithms, powers and roots.
#ifndef CALQUE_IR_FUNCTIONS_TD
#define CALQUE_IR_FUNCTIONS_TD

include "ir/Elementwise.td"

class Calque_FunctionOp<string mnemonic> : Calque_UnaryOp<mnemonic, "elementwiseFloat"> { let ulp = 4; }

def Calque_AtanOp : Calque_FunctionOp<"atan"> {
  let customComplex = 1;
  let summary = "The arc tangent, in radians from -pi/2 to pi/2";
  let scalar = (S_atan $x);
  let partials = [(Apply "div", (Constant "1.0"), (Apply "add", (Apply "square", $x), (Constant "1.0")))];
}
// The squares of a derivative would overflow, and vanish, before the operands do: both are divided by hypot(lhs, rhs),
// twice.
def Calque_Atan2Op : Calque_BinaryOp<"atan2", "elementwiseFloat"> {
  let summary = "The angle of the point (rhs, lhs), in radians from -pi to pi, as C's atan2(y, x): of zeros and infinities it is that of their signs. The derivative at (0, 0) is NaN";
  let scalar = (S_atan2 $lhs, $rhs);
  let ulp = 4;
  let kinks = ["0.0"];
  let partials = [
    (Apply "div", (Apply "div", $rhs, (Apply "hypot", $lhs, $rhs)), (Apply "hypot", $lhs, $rhs)),
    (Apply "neg", (Apply "div", (Apply "div", $lhs, (Apply "hypot", $lhs, $rhs)), (Apply "hypot", $lhs, $rhs)))];
}
def Calque_AsinOp : Calque_FunctionOp<"asin"> {
  let customComplex = 1;
  let summary = "The arc sine, in radians from -pi/2 to pi/2; NaN beyond -1 and 1";
  let scalar = (S_asin $x);
  let partials = [(Apply "div", (Constant "1.0"), (Apply "sqrt",
    (Apply "mul", (Apply "sub", (Constant "1.0"), $x), (Apply "add", (Constant "1.0"), $x))))];
  let domain = ["-0.9", "0.9"];
}
def Calque_AcosOp : Calque_FunctionOp<"acos"> {
  let customComplex = 1;
  let summary = "The arc cosine, in radians from 0 to pi; NaN beyond -1 and 1";
  let scalar = (S_acos $x);
  let partials = [(Apply "neg",
    (Apply "div", (Constant "1.0"), (Apply "sqrt",
    (Apply "mul", (Apply "sub", (Constant "1.0"), $x), (Apply "add", (Constant "1.0"), $x)))))];
  let domain = ["-0.9", "0.9"];
}
def Calque_SinhOp : Calque_FunctionOp<"sinh"> {
  let customComplex = 1;
  let summary = "The hyperbolic sine";
  let scalar = (S_sinh $x);
  let partials = [(Apply "cosh", $x)];
}
def Calque_CoshOp : Calque_FunctionOp<"cosh"> {
  let customComplex = 1;
  let summary = "The hyperbolic cosine";
  let scalar = (S_cosh $x);
  let ignoresSign = 1;
  let partials = [(Apply "sinh", $x)];
}
def Calque_AsinhOp : Calque_FunctionOp<"asinh"> {
  let customComplex = 1;
  let summary = "The inverse of sinh";
  let scalar = (S_asinh $x);
  let partials = [(Apply "div", (Constant "1.0"), (Apply "hypot", $x, (Constant "1.0")))];
}
def Calque_AcoshOp : Calque_FunctionOp<"acosh"> {
  let customComplex = 1;
  let summary = "The inverse of cosh, which is not negative; NaN below 1";
  let scalar = (S_acosh $x);
  let partials = [(Apply "div", (Apply "div", (Constant "1.0"), (Apply "sqrt", (Apply "sub", $x, (Constant "1.0")))),
                                (Apply "sqrt", (Apply "add", $x, (Constant "1.0"))))];
  let domain = ["1.2", "4.0"];
}
def Calque_AtanhOp : Calque_FunctionOp<"atanh"> {
  let customComplex = 1;
  let summary = "The inverse of tanh; infinite at -1 and 1, NaN beyond";
  let scalar = (S_atanh $x);
  let partials = [(Apply "div", (Constant "1.0"),
    (Apply "mul", (Apply "sub", (Constant "1.0"), $x), (Apply "add", (Constant "1.0"), $x)))];
  let domain = ["-0.8", "0.8"];
}
def Calque_Log2Op : Calque_FunctionOp<"log2"> {
  let customComplex = 1;
  let summary = "The logarithm of base 2; exact for powers of 2, NaN below zero";
  let scalar = (S_log2 $x);
  // 1 / log(2)
  let partials = [(Apply "div", (Constant "1.4426950408889634"), $x)];
  let domain = ["0.2", "4.0"];
}
def Calque_Log10Op : Calque_FunctionOp<"log10"> {
  let customComplex = 1;
  let summary = "The logarithm of base 10; exact for powers of 10, NaN below zero";
  let scalar = (S_log10 $x);
  // 1 / log(10)
  let partials = [(Apply "div", (Constant "0.43429448190325182"), $x)];
  let domain = ["0.2", "4.0"];
}
def Calque_Exp2Op : Calque_FunctionOp<"exp2"> {
  let customComplex = 1;
  let summary = "2 to the power of x; exact for integers";
  let scalar = (S_exp2 $x);
  let partials = [(Apply "mul", (Constant "0.69314718055994531"), $result)];
}
def Calque_CbrtOp : Calque_FunctionOp<"cbrt"> {
  let summary = "The cube root; of negative numbers it is negative. The derivative at 0 is infinite";
  let scalar = (S_cbrt $x);
  let partials = [(Apply "div", (Constant "1.0"), (Apply "mul", (Constant "3.0"), (Apply "square", $result)))];
  let kinks = ["0.0"];
}
// At (0, 0), a kink, its derivatives of all orders are 0; no quotient of zeros is on the way to them.
def Calque_HypotOp : Calque_BinaryOp<"hypot", "elementwiseFloat", [Commutative]> {
  let summary = "The square root of lhs * lhs + rhs * rhs, which neither overflows nor vanishes on the way; infinite if one of them is. The derivatives at (0, 0) are 0";
  let scalar = (S_hypot $lhs, $rhs);
  let ulp = 4;
  let partials = [
    (Apply "where", (Apply "equal", $result, (Constant "0.0")), (Constant "0.0"),
      (Apply "div", $lhs, (Apply "where", (Apply "equal", $result, (Constant "0.0")), (Constant "1.0"), $result))),
    (Apply "where", (Apply "equal", $result, (Constant "0.0")), (Constant "0.0"),
      (Apply "div", $rhs, (Apply "where", (Apply "equal", $result, (Constant "0.0")), (Constant "1.0"), $result)))];
}

//===-- Products that are defined where a factor is not -----------------------------------------===//
// The second derivatives at (0, 0) stay finite: no quotient of zeros is on the way to them.
def Calque_XlogyOp : Calque_BinaryOp<"xlogy", "elementwiseFloat"> {
  let summary = "lhs * log(rhs), and 0 where lhs is 0, unless rhs is NaN";
  // 0 * log(0) would raise an exception, also in lanes behind the last element.
  let scalar = (S_select (S_logicalAnd (S_equal $lhs, (S_const "0.0", $lhs)), (S_equal $rhs, $rhs)),
    (S_const "0.0", $lhs),
    (S_mul $lhs, (S_log (S_select (S_logicalAnd (S_equal $lhs, (S_const "0.0", $lhs)), (S_equal $rhs, $rhs)),
      (S_const "1.0", $lhs), $rhs))));
  let ulp = 4;
  let domain = ["0.2", "4.0"];
  let partials = [(Apply "log", $rhs),
    (Apply "div", $lhs,
      (Apply "where",
        (Apply "logical_and", (Apply "equal", $lhs, (Constant "0.0")), (Apply "equal", $rhs, (Constant "0.0"))),
        (Constant "1.0"), $rhs))];
}
def Calque_SincOp : Calque_FunctionOp<"sinc"> {
  let customComplex = 1;
  let summary = "sin(pi x) / (pi x), and 1 at 0, as NumPy's; exactly 0 at all other integers";
  let scalar = (S_sinc $x);
  let ignoresSign = 1;
  let partials = [(Apply "sinc_slope", $x)];
}
// (cos(pi x) - sinc(x)) / x, which near 0 is a difference of equal numbers. Its own derivative is
// -(pi^2 sinc(x) + 2 sinc_slope(x) / x), which is not.
def Calque_SincSlopeOp : Calque_UnaryOp<"sinc_slope", "elementwiseFloat"> {
  let function = "";
  let inMessages = "sinc";
  let notSaved = 1;
  let summary = "The derivative of sinc";
  let scalar = (S_sinc_slope $x);
  let partials = [
    (Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "-3.2898681336964529"),
      (Apply "neg",
        (Apply "add", (Apply "mul", (Constant "9.8696044010893586"), (Apply "sinc", $x)),
          (Apply "div", (Apply "mul", (Constant "2.0"), $result),
            (Apply "where", (Apply "equal", $x, (Constant "0.0")), (Constant "1.0"), $x)))))];
}

#endif
