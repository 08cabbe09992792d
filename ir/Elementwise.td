// Elementwise operations, whose operands broadcast as in NumPy.
#ifndef CALQUE_IR_ELEMENTWISE_TD
#define CALQUE_IR_ELEMENTWISE_TD

include "ir/Base.td"

class Calque_UnaryOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_ElementwiseOp<mnemonic, traits # [Calque_Computes]> {
  let arguments = (ins Calque_Tensor:$x);
  let rule = typeRule;
}
class Calque_BinaryOp<string mnemonic, string typeRule, list<Trait> traits = []>
    : Calque_ElementwiseOp<mnemonic, traits # [Calque_Computes]> {
  let arguments = (ins Calque_Tensor:$lhs, Calque_Tensor:$rhs);
  let rule = typeRule;
}
class Calque_ComparisonOp<string mnemonic> : Calque_BinaryOp<mnemonic, "elementwiseComparison"> {
  let notDifferentiable = 1;
}
class Calque_LogicalOp<string mnemonic> : Calque_BinaryOp<mnemonic, "elementwiseBool", [Commutative]> {
  let notDifferentiable = 1;
}

def Calque_AddOp : Calque_BinaryOp<"add", "elementwiseNumeric", [Commutative]> {
  let eachPart = 1;
  let summary = "lhs + rhs";
  let spelling = "+";
  let scalar = (S_add $lhs, $rhs);
  let neutral = "-0.0";
  let ulp = 1;
  let partials = [(One), (One)];
}
def Calque_SubOp : Calque_BinaryOp<"sub", "elementwiseNumeric"> {
  let eachPart = 1;
  let summary = "lhs - rhs";
  let spelling = "-";
  let scalar = (S_sub $lhs, $rhs);
  let neutral = "0.0";
  let ulp = 1;
  let partials = [(One), (MinusOne)];
}
def Calque_MulOp : Calque_BinaryOp<"mul", "elementwiseNumeric", [Commutative]> {
  let complexParts = [(Apply "sub", (Apply "mul", (Re $lhs), (Re $rhs)), (Apply "mul", (Im $lhs), (Im $rhs))),
                      (Apply "add", (Apply "mul", (Re $lhs), (Im $rhs)), (Apply "mul", (Im $lhs), (Re $rhs)))];
  let summary = "lhs * rhs";
  let spelling = "*";
  let scalar = (S_mul $lhs, $rhs);
  let neutral = "1.0";
  let passesSignOn = 1;
  let ulp = 1;
  let partials = [(Value $rhs), (Value $lhs)];
}
def Calque_NegOp : Calque_UnaryOp<"neg", "elementwiseNumeric"> {
  let eachPart = 1;
  let summary = "-x";
  let spelling = "-";
  let scalar = (S_neg $x);
  let involution = 1;
  let partials = [(MinusOne)];
}
def Calque_AbsOp : Calque_UnaryOp<"abs", "elementwiseMagnitude"> {
  let complexParts = [(Apply "hypot", (Re $x), (Im $x))];
  let summary = "The absolute value; that of the smallest integer is itself";
  let scalar = (S_abs $x);
  let idempotent = 1;
  let ignoresSign = 1;
  let partials = [(Apply "sign", $x)];
  let kinks = ["0.0"];
}
def Calque_SignOp : Calque_UnaryOp<"sign", "elementwiseNumeric"> {
  let summary = "-1, 0 or 1; NaN for NaN";
  let scalar = (S_sign $x);
  let idempotent = 1;
  let notDifferentiable = 1;
  let kinks = ["0.0"];
}
def Calque_DivOp : Calque_BinaryOp<"div", "elementwiseNumeric", [Calque_MayFailOnIntegers]> {
  let customComplex = 1;
  let summary = "lhs / rhs; integers truncate, the smallest one divided by -1 wraps, division by zero is an error";
  let failure = "`DivisionError` where an integer is divided by zero";
  let spelling = "/";
  let scalar = (S_div $lhs, $rhs);
  let neutral = "1.0";
  let passesSignOn = 1;
  let ulp = 1;
  let partials = [(Apply "div", (Constant "1.0"), $rhs), (Apply "neg", (Apply "div", $result, $rhs))];
  let domain = ["0.5", "3.0"];
}
def Calque_FloorDivideOp : Calque_BinaryOp<"floor_divide", "elementwiseNumeric", [Calque_MayFailOnIntegers]> {
  let summary = "lhs / rhs, rounded down: the number n for which lhs is n * rhs + mod(lhs, rhs); of integers, the smallest divided by -1 wraps, division by zero is an error";
  let failure = "`DivisionError` where an integer is divided by zero";
  let scalar = (S_floorDivide $lhs, $rhs);
  let ulp = 1;
  let domain = ["0.5", "3.0"];
  let notDifferentiable = 1;
}
def Calque_ModOp : Calque_BinaryOp<"mod", "elementwiseNumeric", [Calque_MayFailOnIntegers]> {
  let summary = "What floor_divide leaves of lhs, with the sign of rhs, as Python's %; of integers, division by zero is an error";
  let failure = "`DivisionError` where an integer is divided by zero";
  let scalar = (S_mod $lhs, $rhs);
  let partials = [(One), (Apply "neg", (Apply "floor_divide", $lhs, $rhs))];
  let ulp = 1;
  let domain = ["0.5", "3.0"];
}
// C++'s `/` of integers truncates, here too, and so its `%` is this one: lhs is (lhs / rhs) * rhs + lhs % rhs.
def Calque_FmodOp : Calque_BinaryOp<"fmod", "elementwiseNumeric", [Calque_MayFailOnIntegers]> {
  let summary = "What is left of lhs by a division that truncates, with the sign of lhs, as C++'s % and std::fmod; of integers, division by zero is an error";
  let failure = "`DivisionError` where an integer is divided by zero";
  let spelling = "%";
  let scalar = (S_fmod $lhs, $rhs);
  // lhs without the remainder is a multiple of rhs, so that to round is exact. It has no derivative of its own.
  let partials = [(One), (Apply "neg", (Apply "round", (Apply "div", (Apply "sub", $lhs, $result), $rhs)))];
  let ulp = 1;
  let domain = ["0.5", "3.0"];
}
def Calque_PowOp : Calque_BinaryOp<"pow", "elementwiseNumeric"> {
  let customComplex = 1;
  let summary = "lhs to the power of rhs; of integers, a negative power is 1 divided by the positive one, truncated, and 0 of 0";
  let scalar = (S_pow $lhs, $rhs);
  // At 0 to the power of 0 the base becomes 1, so that pow(0, -1) does not occur. The logarithm's argument becomes 1 where
  // lhs <= 0, so that the second derivative is finite there too.
  let partials = [
    (Apply "mul", $rhs,
      (Apply "pow",
        (Apply "where",
          (Apply "logical_or", (Apply "not_equal", $lhs, (Constant "0.0")), (Apply "not_equal", $rhs, (Constant "0.0"))),
          $lhs, (Constant "1.0")),
        (Apply "sub", $rhs, (Constant "1.0")))),
    (Apply "mul", $result,
      (Apply "log", (Apply "where", (Apply "greater", $lhs, (Constant "0.0")), $lhs, (Constant "1.0"))))];
  let domain = ["0.5", "2.5"];
}
def Calque_SquareOp : Calque_UnaryOp<"square", "elementwiseNumeric"> {
  let complexParts = [(Apply "mul", (Apply "sub", (Re $x), (Im $x)), (Apply "add", (Re $x), (Im $x))),
                      (Apply "mul", (Constant "2.0"), (Apply "mul", (Re $x), (Im $x)))];
  let summary = "x * x";
  let scalar = (S_mul $x, $x);
  let ignoresSign = 1;
  let partials = [(Apply "mul", (Constant "2.0"), $x)];
}
def Calque_ExpOp : Calque_UnaryOp<"exp", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "e to the power of x";
  let scalar = (S_exp $x);
  let ulp = 1;
  let partials = [(Value $result)];
}
def Calque_Expm1Op : Calque_UnaryOp<"expm1", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "exp(x) - 1, exact for small x";
  let scalar = (S_expm1 $x);
  let partials = [(Apply "add", $result, (Constant "1.0"))];
}
def Calque_LogOp : Calque_UnaryOp<"log", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The natural logarithm; NaN below zero";
  let scalar = (S_log $x);
  let ulp = 1;
  let partials = [(Apply "div", (Constant "1.0"), $x)];
  let domain = ["0.2", "4.0"];
}
def Calque_Log1pOp : Calque_UnaryOp<"log1p", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "log(1 + x), exact for small x";
  let scalar = (S_log1p $x);
  let partials = [(Apply "div", (Constant "1.0"), (Apply "add", $x, (Constant "1.0")))];
  let domain = ["-0.7", "3.0"];
}
def Calque_SqrtOp : Calque_UnaryOp<"sqrt", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The square root; NaN below zero";
  let scalar = (S_sqrt $x);
  let ulp = 1;
  let partials = [(Apply "div", (Constant "0.5"), $result)];
  let domain = ["0.2", "4.0"];
}
def Calque_RsqrtOp : Calque_UnaryOp<"rsqrt", "elementwiseFloat"> {
  let summary = "1 / sqrt(x)";
  let scalar = (S_div (S_const "1.0", $x), (S_sqrt $x));
  let partials = [(Apply "mul", (Constant "-0.5"), (Apply "div", $result, $x))];
  let domain = ["0.2", "4.0"];
}
def Calque_TanhOp : Calque_UnaryOp<"tanh", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The hyperbolic tangent";
  let scalar = (S_tanh $x);
  let ulp = 1;
  let partials = [(Apply "sub", (Constant "1.0"), (Apply "mul", $result, $result))];
}
// Of exp(-|x|), which does not overflow: below zero 1 / (1 + exp(-x)) would be 0 where the result is small.
defvar sigmoidOfX = (S_div (S_select (S_less $x, (S_const "0.0", $x)), (S_exp (S_neg (S_abs $x))), (S_const "1.0", $x)),
                           (S_add (S_const "1.0", $x), (S_exp (S_neg (S_abs $x)))));
def Calque_SigmoidOp : Calque_UnaryOp<"sigmoid", "elementwiseFloat"> {
  let summary = "1 / (1 + exp(-x))";
  let scalar = sigmoidOfX;
  // Of the result, which is there. Near 0 its own derivative would be lost in that of 1 - 2 * sigmoid(x), which is the
  // difference of two numbers near 1, so that it is another operation's.
  let partials = [(Apply "known", (Apply "sigmoid_slope", $x),
                                  (Apply "mul", $result, (Apply "sub", (Constant "1.0"), $result)))];
}
def Calque_SigmoidSlopeOp : Calque_UnaryOp<"sigmoid_slope", "elementwiseFloat"> {
  let function = "";
  let inMessages = "sigmoid";
  let notSaved = 1;
  let summary = "The derivative of sigmoid";
  let scalar = (S_div (S_exp (S_neg (S_abs $x))),
                      (S_mul (S_add (S_const "1.0", $x), (S_exp (S_neg (S_abs $x)))),
                             (S_add (S_const "1.0", $x), (S_exp (S_neg (S_abs $x))))));
  let ignoresSign = 1;
  let partials = [(Apply "neg", (Apply "mul", $result, (Apply "tanh", (Apply "mul", (Constant "0.5"), $x))))];
}
def Calque_SoftplusOp : Calque_UnaryOp<"softplus", "elementwiseFloat"> {
  let summary = "log(1 + exp(x)), which does not overflow";
  let scalar = (S_add (S_maximum $x, (S_const "0.0", $x)), (S_log1p (S_exp (S_neg (S_abs $x)))));
  let partials = [(Apply "softplus_slope", $x)];
}
def Calque_SoftplusSlopeOp : Calque_UnaryOp<"softplus_slope", "elementwiseFloat"> {
  let function = "";
  let inMessages = "softplus";
  let notSaved = 1;
  let summary = "The derivative of softplus, which is sigmoid. Its own derivative is not computed of 1 - sigmoid(x), which has no digits where x is large";
  let scalar = sigmoidOfX;
  let partials = [(Apply "sigmoid_slope", $x)];
}
def Calque_ReluOp : Calque_UnaryOp<"relu", "elementwiseNumeric"> {
  let summary = "max(x, 0)";
  let scalar = (S_maximum $x, (S_const "0.0", $x));
  let idempotent = 1;
  let partials = [(Mask (Apply "greater", $result, (Constant "0.0")))];
  let kinks = ["0.0"];
}
def Calque_ErfOp : Calque_UnaryOp<"erf", "elementwiseFloat"> {
  let summary = "The error function";
  let scalar = (S_erf $x);
  let ulp = 2;
  // 2 / sqrt(pi)
  let partials = [(Apply "mul", (Constant "1.1283791670955126"), (Apply "exp", (Apply "neg", (Apply "mul", $x, $x))))];
}
def Calque_SinOp : Calque_UnaryOp<"sin", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The sine of x radians";
  let scalar = (S_sin $x);
  let ulp = 2;
  let partials = [(Apply "cos", $x)];
}
def Calque_CosOp : Calque_UnaryOp<"cos", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The cosine of x radians";
  let scalar = (S_cos $x);
  let ulp = 2;
  let partials = [(Apply "neg", (Apply "sin", $x))];
}
def Calque_TanOp : Calque_UnaryOp<"tan", "elementwiseFloat"> {
  let customComplex = 1;
  let summary = "The tangent of x radians";
  let scalar = (S_tan $x);
  let ulp = 4;
  let partials = [(Apply "add", (Constant "1.0"), (Apply "mul", $result, $result))];
  let domain = ["-1.2", "1.2"];
}
def Calque_FloorOp : Calque_UnaryOp<"floor", "elementwiseFloat"> {
  let summary = "The largest integer that is not above x";
  let scalar = (S_floor $x);
  let idempotent = 1;
  let notDifferentiable = 1;
}
def Calque_CeilOp : Calque_UnaryOp<"ceil", "elementwiseFloat"> {
  let summary = "The smallest integer that is not below x";
  let scalar = (S_ceil $x);
  let idempotent = 1;
  let notDifferentiable = 1;
}
def Calque_RoundOp : Calque_UnaryOp<"round", "elementwiseFloat"> {
  let eachPart = 1;
  let summary = "The nearest integer; halves go to the even one";
  let scalar = (S_round $x);
  let idempotent = 1;
  let notDifferentiable = 1;
}
def Calque_IsNanOp : Calque_UnaryOp<"isnan", "elementwiseTest"> {
  let complexParts = [(Apply "logical_or", (Apply "isnan", (Re $x)), (Apply "isnan", (Im $x)))];
  let summary = "Whether x is NaN";
  let scalar = (S_notEqual $x, $x);
  let notDifferentiable = 1;
}
def Calque_IsFiniteOp : Calque_UnaryOp<"isfinite", "elementwiseTest"> {
  let complexParts = [(Apply "logical_and", (Apply "isfinite", (Re $x)), (Apply "isfinite", (Im $x)))];
  let summary = "Whether x is neither NaN nor infinite";
  let scalar = (S_equal (S_sub $x, $x), (S_const "0.0", $x));
  let notDifferentiable = 1;
}
def Calque_MaximumOp : Calque_BinaryOp<"maximum", "elementwiseNumeric"> {
  let summary = "The larger element; NaN if either is; at a tie the gradient goes to lhs";
  let scalar = (S_maximum $lhs, $rhs);
  let idempotent = 1;
  let partials = [(Mask (Apply "greater_equal", $lhs, $rhs)), (Mask (Apply "logical_not", (Apply "greater_equal", $lhs, $rhs)))];
}
def Calque_MinimumOp : Calque_BinaryOp<"minimum", "elementwiseNumeric"> {
  let summary = "The smaller element; NaN if either is; at a tie the gradient goes to lhs";
  let scalar = (S_minimum $lhs, $rhs);
  let idempotent = 1;
  let partials = [(Mask (Apply "less_equal", $lhs, $rhs)), (Mask (Apply "logical_not", (Apply "less_equal", $lhs, $rhs)))];
}

def Calque_EqualOp : Calque_ComparisonOp<"equal"> {
  let complexParts = [(Apply "logical_and", (Apply "equal", (Re $lhs), (Re $rhs)), (Apply "equal", (Im $lhs), (Im $rhs)))];
  let summary = "lhs == rhs";
  let spelling = "==";
  let scalar = (S_equal $lhs, $rhs);
}
def Calque_NotEqualOp : Calque_ComparisonOp<"not_equal"> {
  let complexParts = [(Apply "logical_or", (Apply "not_equal", (Re $lhs), (Re $rhs)), (Apply "not_equal", (Im $lhs), (Im $rhs)))];
  let summary = "lhs != rhs";
  let spelling = "!=";
  let scalar = (S_notEqual $lhs, $rhs);
}
def Calque_LessOp : Calque_ComparisonOp<"less"> {
  let summary = "lhs < rhs";
  let spelling = "<";
  let scalar = (S_less $lhs, $rhs);
}
def Calque_LessEqualOp : Calque_ComparisonOp<"less_equal"> {
  let summary = "lhs <= rhs";
  let spelling = "<=";
  let scalar = (S_lessEqual $lhs, $rhs);
}
def Calque_GreaterOp : Calque_ComparisonOp<"greater"> {
  let summary = "lhs > rhs";
  let spelling = ">";
  let scalar = (S_less $rhs, $lhs);
}
def Calque_GreaterEqualOp : Calque_ComparisonOp<"greater_equal"> {
  let summary = "lhs >= rhs";
  let spelling = ">=";
  let scalar = (S_lessEqual $rhs, $lhs);
}
def Calque_LogicalAndOp : Calque_LogicalOp<"logical_and"> {
  let summary = "Both";
  let scalar = (S_logicalAnd $lhs, $rhs);
  let neutral = "true";
  let idempotent = 1;
}
def Calque_LogicalOrOp : Calque_LogicalOp<"logical_or"> {
  let summary = "Either or both";
  let scalar = (S_logicalOr $lhs, $rhs);
  let neutral = "false";
  let idempotent = 1;
}
def Calque_LogicalXorOp : Calque_LogicalOp<"logical_xor"> {
  let summary = "Exactly one";
  let scalar = (S_logicalXor $lhs, $rhs);
  let neutral = "false";
}
def Calque_LogicalNotOp : Calque_UnaryOp<"logical_not", "elementwiseBool"> {
  let summary = "Not";
  let spelling = "!";
  let scalar = (S_logicalNot $x);
  let involution = 1;
  let notDifferentiable = 1;
}
def Calque_SelectOp : Calque_ElementwiseOp<"where"> {
  let eachPart = 1;
  let summary = "x where the condition holds, else y; the three broadcast";
  let arguments = (ins Calque_SelectingTensor:$condition, Calque_AnyTensor:$x, Calque_AnyTensor:$y);
  let results = (outs Calque_AnyTensor:$result);
  let rule = "elementwiseSelect";
  let scalar = (S_select $condition, $x, $y);
  let partials = [(NoGradient), (Mask (Value $condition)), (Mask (Apply "logical_not", $condition))];
}
def Calque_CastOp : Calque_ElementwiseOp<"cast"> {
  let customComplex = 1;
  let summary = "The elements as another type; floats truncate towards zero and saturate, NaN becomes 0";
  let arguments = (ins Calque_Tensor:$x, Calque_DTypeAttr:$dtype);
  let rule = "cast";
  let scalar = (S_castTo $x);
  let customVjp = 1;
  let linear = ["x"];
}

#endif
