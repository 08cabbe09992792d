// Elementwise operations on the bits of integers and bools, and integers' common divisors. Bits of negative numbers are
// those of their two's complement.
#ifndef CALQUE_IR_BITS_TD
#define CALQUE_IR_BITS_TD

include "ir/Elementwise.td"

class Calque_BitwiseOp<string mnemonic, string typeRule, list<Trait> traits = []> : Calque_BinaryOp<mnemonic, typeRule, traits> {
  let notDifferentiable = 1;
}
class Calque_BitCountOp<string mnemonic> : Calque_UnaryOp<mnemonic, "elementwiseInteger"> {
  let notDifferentiable = 1;
  let domain = ["0.0", "1000.0"];
}

def Calque_BitwiseAndOp : Calque_BitwiseOp<"bitwise_and", "elementwiseBits", [Commutative]> {
  let summary = "The bits that both have; of bools logical_and";
  let scalar = (S_logicalAnd $lhs, $rhs);
  let idempotent = 1;
}
def Calque_BitwiseOrOp : Calque_BitwiseOp<"bitwise_or", "elementwiseBits", [Commutative]> {
  let summary = "The bits that either has, or both; of bools logical_or";
  let scalar = (S_logicalOr $lhs, $rhs);
  let idempotent = 1;
}
def Calque_BitwiseXorOp : Calque_BitwiseOp<"bitwise_xor", "elementwiseBits", [Commutative]> {
  let summary = "The bits that exactly one has; of bools logical_xor";
  let scalar = (S_logicalXor $lhs, $rhs);
}
def Calque_BitwiseNotOp : Calque_UnaryOp<"bitwise_not", "elementwiseBits"> {
  let summary = "The bits that x does not have, which of an integer are those of -1 - x; of bools logical_not";
  let scalar = (S_bitNot $x);
  let involution = 1;
  let notDifferentiable = 1;
}
def Calque_LeftShiftOp : Calque_BitwiseOp<"left_shift", "elementwiseInteger"> {
  let summary = "The bits of lhs, rhs places up, with zeros behind: lhs * 2^rhs, wrapped; 0 where rhs is negative or no less than the number of bits";
  let scalar = (S_shiftLeft $lhs, $rhs);
}
def Calque_RightShiftOp : Calque_BitwiseOp<"right_shift", "elementwiseInteger"> {
  let summary = "The bits of lhs, rhs places down, with the sign before: lhs / 2^rhs, rounded down; 0, or -1 of negative numbers, where rhs is negative or no less than the number of bits";
  let scalar = (S_shiftRight $lhs, $rhs);
}
def Calque_PopcountOp : Calque_BitCountOp<"popcount"> {
  let summary = "The number of bits that are 1";
  let scalar = (S_countOnes $x);
}
def Calque_BitLengthOp : Calque_BitCountOp<"bit_length"> {
  let summary = "The number of bits without leading zeros: of a positive x the smallest n for which x < 2^n, of 0 it is 0, of negative numbers the number of bits of the type";
  let scalar = (S_bitLength $x);
}
def Calque_GcdOp : Calque_BitwiseOp<"gcd", "elementwiseInteger", [Commutative]> {
  let summary = "The greatest common divisor, which is not negative; gcd(x, 0) is |x|. That of the smallest integer and itself or 0 wraps";
  let scalar = (S_gcd (S_abs $lhs), (S_abs $rhs));
}
def Calque_LcmOp : Calque_BitwiseOp<"lcm", "elementwiseInteger", [Commutative]> {
  let summary = "The least common multiple, which is not negative; lcm(x, 0) is 0. One that the type can't hold wraps";
  let scalar = (S_abs (S_mul (S_div $lhs, (S_gcd (S_abs $lhs), (S_abs $rhs))), $rhs));
}

#endif
