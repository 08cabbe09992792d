// The base classes of records, and the vocabulary of their dags.
#ifndef CALQUE_IR_BASE_TD
#define CALQUE_IR_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/Interfaces.td"

def Calque_Dialect : Dialect {
  let name = "calque";
  let cppNamespace = "::calque::ir";
  let summary = "Operations on tensors as users write them";
  let hasOperationAttrVerify = 1;
  let hasCanonicalizer = 1;
  let useDefaultTypePrinterParser = 1;
}

// A stack of entries, by which a loop's reverse finds what the loop has seen. It is the element type of tensors, because
// vmap makes many of one. No operation on numbers takes it. Code generation makes of it what the runtime takes: see
// codegen/lowering/LowerStacks.cpp.
def Calque_Stack : TypeDef<Calque_Dialect, "Stack"> {
  let mnemonic = "stack";
  let summary = "stack";
}

// The element types of operands and results. The verifier refuses any other. Integers with a sign have MLIR's types
// without one; see ir/Signs.h.
class Calque_TensorOf<list<Type> others = []>
    : RankedTensorOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64,
                     Complex<F32>, Complex<F64>] # others>;
def Calque_Tensor : Calque_TensorOf;

// Stacks alone, and what may be either: values that an operation gives on as they are, chooses from or repeats.
def Calque_StackTensor : RankedTensorOf<[Calque_Stack]>;
def Calque_AnyTensor : Calque_TensorOf<[Calque_Stack]>;

// An operand that selects among the data, an index or a condition, so that its element type is apart from the data's. A C++
// number in its place keeps its own type, and numbers among the data don't adopt that of the operand.
def Calque_SelectingTensor : Calque_TensorOf;

// An operand of which the operation uses only the type and the sizes.
def Calque_SizesTensor : Calque_TensorOf<[Calque_Stack]>;

// An attribute that holds a DType.
def Calque_DTypeAttr : TypeAttrBase<"::mlir::Type", "element type">;

// A text on which native code does not depend: eager calls that differ in it share the code, and each passes its own
// text. A text that changes the code, such as a padding, is a StrAttr.
def Calque_TextAttr : StringBasedAttr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "text">;

// A number of C++, kept exactly: a bool, an i64, a ui64 or an f64.
def Calque_NumberAttr : Attr<CPred<"::calque::ir::isNumber($_self)">, "number"> {
  let storageType = "::mlir::TypedAttr";
  let returnType = "::calque::schema::Scalar";
  let convertFromStorage = "::calque::ir::toScalar($_self)";
  let constBuilderCall = "::calque::ir::toMlir(::calque::schema::Scalar($0), $_builder.getContext())";
}

//===-- Scalar meaning --------------------------------------------------------------------------===//
// The nodes of `scalar`. Each names a method of ScalarBuilder, which emits the operation for integers or floats.
class Scalar<string method> { string builderMethod = method; }
foreach name = ["add", "sub", "mul", "div", "neg", "abs", "pow", "exp", "log", "log1p", "expm1", "sqrt", "tanh",
                "erf", "sin", "cos", "tan", "floor", "ceil", "round", "trunc", "copySign", "nextAfter", "floorDivide", "mod",
                "fmod", "sign",
                "maximum", "minimum", "equal", "notEqual", "less", "lessEqual", "select", "logicalAnd", "logicalOr",
                "logicalXor", "logicalNot", "castTo", "bitNot", "shiftLeft", "shiftRight",
                "countOnes", "bitLength"] in
  def S_#name : Scalar<name>;
// Functions for which MLIR has no operation: each is a ScalarFunctionOp of that name.
class ScalarFunction<string name> : Scalar<"function"> { string functionName = name; }
foreach name = ["atan", "atan2", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh", "log2", "log10", "exp2",
                "cbrt", "hypot", "sinc", "sinc_slope", "gcd", "erfc", "erfcx", "ndtr", "log_ndtr", "erfinv", "ndtri",
                "i0", "i1", "i0e", "i1e", "lgamma", "digamma", "trigamma", "polygamma2", "polygamma3",
                "gammainc", "gammaincc", "gammainc_slope", "gamma_slope", "gamma_density", "beta", "betaln", "betainc",
                "betainc_slope_a", "betainc_slope_b", "beta_density", "zeta", "zeta_slope", "scalb", "frexp_mantissa",
                "frexp_exponent"] in
  def S_#name : ScalarFunction<name>;
// A constant of the type of the operand that follows: (S_const "0.5", $x).
def S_const : Scalar<"constant">;

//===-- Derivatives -----------------------------------------------------------------------------===//
// A partial derivative is a dag over `$result`, the operands and these:
class Partial;
def Apply : Partial;    // (Apply "log", $x): an operation of the dialect, by its mnemonic, as records may be mutually recursive
def One : Partial;      // the operand's cotangent is the result's
def MinusOne : Partial; // the operand's cotangent is the result's, negated
def NoGradient : Partial; // the operand has no cotangent
def Value : Partial;    // (Value $x): the operand, the result or the cotangent itself
def Mask : Partial;     // (Mask cond): the cotangent where cond holds, else zero
def Constant : Partial; // (Constant "2.0"): a scalar of the result's type, broadcast

//===-- Complex numbers -------------------------------------------------------------------------===//
// The dag of a real or an imaginary part is one over `Apply`, `Constant` and these:
def Re : Partial; // (Re $x): the real part of an operand; a real operand itself
def Im : Partial; // (Im $x): the imaginary part

// A function of numbers or of vectors of them, in the bodies of kernels: what MLIR's dialect `math` lacks, or would fold
// to other bits than code computes. codegen/native/LowerMath.cpp makes code of it. No program of tensors has it.
def Calque_ScalarFunctionOp
    : Op<Calque_Dialect, "scalar_function", [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$name `(` $operands `)` attr-dict `:` type($result)";
}

//===-- Operations ------------------------------------------------------------------------------===//
class Calque_Op<string mnemonic, list<Trait> traits = []>
    : Op<Calque_Dialect, mnemonic,
         traits # [DeclareOpInterfaceMethods<InferTypeOpInterface>, DeclareOpInterfaceMethods<Calque_SchemaOpInterface>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";

  // The type rule: a function of schema/TypeRules.h.
  string rule = ?;
  // The name of the public function; empty when there is none.
  string function = mnemonic;
  // The operation, by its mnemonic, that does the same where sizes of the first attribute, a shape or one size, are those
  // of tensors. Its operands are this one's and then those tensors, its attributes `shape`, `sizes` and this one's others:
  // for each unknown size of `shape`, in order, `sizes` has the number of an operand and the dimension of it.
  string open = "";
  // The name in errors, if it is not that of the public function: the function by which a user gets the operation. It
  // is "gather" for the operations of gather's gradient.
  string inMessages = "";
  // The C++ operator that is the same function: "+".
  string spelling = "";

  // The error of a call that fails at run time, for the reference page: "`IndexError` for ...".
  string failure = "";

  // The reverse rule. The build fails unless a record has exactly one of these four.
  list<dag> partials = [];  // elementwise: one partial derivative for each operand
  list<dag> vjp = [];       // one cotangent for each operand, over $g, $result and the operands
  bit customVjp = 0;        // a C++ method of the family's .cpp
  bit notDifferentiable = 0;
  bit differentiates = 0;          // its results are derivatives of its operands
  bit gradientPassesToCounted = 0; // only the first `counts[0]` operands have cotangents
  bit gradientPassesToAxes = 0;    // only the first operands have cotangents, as many as `axes` has entries
  bit lacksGradient = 0;           // not differentiable for lack of a rule: a gradient through it is an error

  // The forward rule. A differentiable operation has exactly one of these three, or partials.
  list<string> linear = [];      // operands in which it is linear, all of them together
  list<string> multilinear = []; // operands in each of which it is linear while the others are constant
  bit customJvp = 0;             // a C++ method of the family's .cpp

  // The batching rule (vmap). `batchSame`: the same operation on operands that have the mapped axis as axis 0.
  // `batchUnrolled`: the operation once for each index of the mapped axis. `batchAxis`: see there. Else a C++ method of the family's .cpp.
  // Elementwise operations need none.
  bit batchSame = 0;
  bit batchUnrolled = 0;
  bit batchAxis = 0; // the same operation along its attribute `axis`, one place further behind

  // Complex numbers. The pass `split-complex` replaces an operation on them by operations on their parts, before
  // derivatives are taken. An operation for which none of these is set takes real numbers alone.
  bit eachPart = 0;            // the same operation on the real parts and on the imaginary parts
  list<dag> complexParts = []; // the result's real part and imaginary part; one dag for a result that is real
  bit customComplex = 0;       // a C++ method, buildParts, of ir/ComplexFunctions.cpp or ComplexParts.cpp
  bit complexByPass = 0;       // the pass splits it: it has regions, counts its operands, or has effects
  // It is of complex numbers alone, so that no derivative meets it.
  bit complexAlone = 0;

  // Elementwise operations: the result's element from the operands' elements.
  dag scalar = ?;
  // Elementwise operations: identities that hold for every element bit for bit, but for the sign of NaN, and that
  // compiled code uses. They must hold for -0, infinities and the smallest integer too: x + 0 is not x, because -0 + 0
  // is 0.
  string neutral = "";   // op(x, neutral) is x, and so is op(neutral, x) of a commutative operation
  bit involution = 0;    // op(op(x)) is x
  bit idempotent = 0;    // op(op(x)) is op(x); of two operands, op(x, x) is x
  bit ignoresSign = 0;   // op(-x) is op(x)
  bit passesSignOn = 0;  // of floats, op(-x, y) and op(x, -y) are -op(x, y)
  // Composite operations: a C++ method of the family's .cpp builds the expression that the operation stands for.
  bit expands = 0;
  // Derivatives and passes alone make it. No program that is saved has it, and a file that has it is refused.
  bit notSaved = 0;
  // Operations that a pass replaces before code is generated: its name. All that are neither elementwise nor composite nor
  // removed are lowered by a function of codegen/; the build fails where one is missing.
  string removedBy = "";
  // Operations that only move elements: the function of schema/Moves.cpp that says which elements become which. Eagerly
  // such an operation is a strided copy, or shares its operand's memory; no code is compiled for it.
  string moves = "";
  // Operations whose positions may be operands: the function of schema/Moves.cpp that gives them as indices along axes.
  string indexed = "";

  // Test data of elementwise operations: the interval of random inputs, the points without a derivative, and the
  // function in test/operations/References.h that computes the result in long double.
  list<string> domain = ["-3.0", "3.0"];
  list<string> kinks = [];
  string reference = mnemonic;
  // Up to which order all of an elementwise operation's derivatives are there. Some of the next order are NaN.
  int orders = 2;
  // The reference of an elementwise operation takes microseconds: tests compare 2^13 numbers with it instead of 2^20.
  bit isReferenceSlow = 0;
  // Elementwise: by how many units in the last place (ULP) a float32 result may be off; docs/accuracy.md is checked against it.
  int ulp = 8;
  // Elementwise: a function with zeros that are no numbers of the type has few digits near them. A float64 result below
  // this is compared in units of this.
  string digitsFrom = "0.0";
}

// Computing the result takes many steps for each element, so that keeping it is cheaper than computing it again.
def Calque_Costly : NativeOpTrait<"Costly"> {
  let cppNamespace = "::calque::ir";
}

// A call may fail at the operation, for any element type or for integers. So the operation must not run where the
// program would not reach it.
def Calque_MayFail : NativeOpTrait<"MayFail"> {
  let cppNamespace = "::calque::ir";
}
def Calque_MayFailOnIntegers : NativeOpTrait<"MayFailOnIntegers"> {
  let cppNamespace = "::calque::ir";
}

// Arithmetic on elements, or an order of them, and not only moves from place to place. Of float16 and bfloat16, it is done
// in float32, and each result is rounded (passes/WidenElements.cpp).
def Calque_Computes : NativeOpTrait<"Computes"> {
  let cppNamespace = "::calque::ir";
}

// A result of integers has the type in which these are accumulated: int64 of int8 (schema/include/calque/dtype.h).
def Calque_Accumulates : NativeOpTrait<"Accumulates"> {
  let cppNamespace = "::calque::ir";
}

class Calque_PureOp<string mnemonic, list<Trait> traits = []> : Calque_Op<mnemonic, traits # [Pure]>;

// An operation that a function of a library computes: a kernel of runtime/libraries/, named by `kernel`.
//
// `signature` says which last dimensions of operands and results are the kernel's, as generalized ufuncs of NumPy do:
// "(m,n),(n,k)->(m,k)". Equal names are equal sizes, and each of a result is that of an operand, or the smaller one of
// two: "(m,n)->(m,min(m,n))". A size that no operand has is one that the type rule knows. All dimensions before these count examples, and must be the same in all operands and results.
// If the operation has an attribute `axis`, its signature is of one dimension, "(n)->(n)", which is that axis.
//
// runtime/libraries/KernelCall.h has what the kernel is given.
class Calque_LibraryOp<string mnemonic, string typeRule, string kernelName, string dimensions, list<Trait> traits = []>
    : Calque_PureOp<mnemonic, traits # [Calque_Computes, DeclareOpInterfaceMethods<Calque_LibraryOpInterface>]> {
  let rule = typeRule;
  string kernel = kernelName;
  string signature = dimensions;
  // The kinds of sites (program/SiteKinds.def) at which the kernel fails, by their names in IR; none: it can't fail. A
  // record that has some has the trait Calque_MayFail.
  list<string> failsAt = [];
}

// Operands broadcast as in NumPy.
class Calque_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Calque_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<Calque_ElementwiseOpInterface>]> {
  let results = (outs Calque_Tensor:$result);
  let hasFolder = 1; // by the algebra above
}

#endif
