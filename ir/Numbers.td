// Elementwise functions of what a floating-point number consists of: its sign, its whole part, its kind, its neighbours.
#ifndef CALQUE_IR_NUMBERS_TD
#define CALQUE_IR_NUMBERS_TD

include "ir/Elementwise.td"

def Calque_TruncOp : Calque_UnaryOp<"trunc", "elementwiseFloat"> {
  let summary = "The nearest integer that is not further from 0 than x";
  let scalar = (S_trunc $x);
  let idempotent = 1;
  let ulp = 1;
  let notDifferentiable = 1;
}
def Calque_IsInfOp : Calque_UnaryOp<"isinf", "elementwiseTest"> {
  let complexParts = [(Apply "logical_or", (Apply "isinf", (Re $x)), (Apply "isinf", (Im $x)))];
  let summary = "Whether x is infinite";
  let scalar = (S_equal (S_abs $x), (S_const "std::numeric_limits<double>::infinity()", $x));
  let ignoresSign = 1;
  let notDifferentiable = 1;
}
def Calque_SignBitOp : Calque_UnaryOp<"signbit", "elementwiseTest"> {
  let summary = "Whether the sign is that of negative numbers, as it is of -0";
  let scalar = (S_less (S_copySign (S_const "1.0", $x), $x), (S_const "0.0", $x));
  let notDifferentiable = 1;
}
def Calque_CopySignOp : Calque_BinaryOp<"copysign", "elementwiseFloat"> {
  let summary = "lhs with the sign of rhs, which may be -0";
  let scalar = (S_copySign $lhs, $rhs);
  let ulp = 1;
  let kinks = ["0.0"];
  let partials = [(Apply "mul", (Apply "sign", $lhs), (Apply "copysign", (Constant "1.0"), $rhs)), (NoGradient)];
}
// Of float16 and bfloat16 it does not compute in float32, whose neighbours are other numbers.
def Calque_NextAfterOp : Calque_ElementwiseOp<"nextafter"> {
  let arguments = (ins Calque_Tensor:$lhs, Calque_Tensor:$rhs);
  let rule = "elementwiseFloat";
  let summary = "The neighbour of lhs among the numbers of its type on the side of rhs; rhs where both are equal";
  let scalar = (S_nextAfter $lhs, $rhs);
  let ulp = 1;
  let notDifferentiable = 1;
}
def Calque_ReciprocalOp : Calque_UnaryOp<"reciprocal", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "1 / x";
  let scalar = (S_div (S_const "1.0", $x), $x);
  let ulp = 1;
  let partials = [(Apply "neg", (Apply "square", $result))];
  let domain = ["0.3", "3.0"];
}
def Calque_Deg2RadOp : Calque_UnaryOp<"deg2rad", "elementwiseFloat"> {
  let summary = "x degrees in radians";
  let scalar = (S_mul $x, (S_const "0.017453292519943296", $x));
  let ulp = 2;
  let partials = [(Constant "0.017453292519943296")];
}
def Calque_Rad2DegOp : Calque_UnaryOp<"rad2deg", "elementwiseFloat"> {
  let summary = "x radians in degrees";
  let scalar = (S_mul $x, (S_const "57.295779513082323", $x));
  let ulp = 2;
  let partials = [(Constant "57.295779513082323")];
}
def Calque_HeavisideOp : Calque_BinaryOp<"heaviside", "elementwiseNumeric"> {
  let summary = "0 where lhs is negative, 1 where it is positive, rhs where it is 0, NaN where it is NaN";
  let scalar = (S_select (S_less $lhs, (S_const "0.0", $lhs)), (S_const "0.0", $lhs),
    (S_select (S_less (S_const "0.0", $lhs), $lhs), (S_const "1.0", $lhs), (S_select (S_equal $lhs, $lhs), $rhs, $lhs)));
  let ulp = 1;
  let kinks = ["0.0"];
  let partials = [(NoGradient), (Mask (Apply "equal", $lhs, (Constant "0.0")))];
}

#endif
