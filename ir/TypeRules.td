// Descriptions of the type rules of schema for the reference page: the record TypeRule_NAME describes the C++ function
// NAME. The build fails where the type rule of a public function has no description.
#ifndef CALQUE_IR_TYPERULES_TD
#define CALQUE_IR_TYPERULES_TD

class TypeRule {
  // The element types of operands and result. {numbers}, {floats}, {integers}, {a number} and {an integer} stand for the names of all such types.
  string types = "";
  string shape = "";      // the result's shape; empty for elementwise operations, which all broadcast
  string shapeError = ""; // when each error is thrown: "for ..."
  string dtypeError = "";
  string valueError = "";
  string mixed = "";      // added to dtypeError where an elementwise operation has several operands
}

//===-- Elementwise -----------------------------------------------------------------------------===//
class OneType : TypeRule { let mixed = "for operands of different types"; }
def TypeRule_elementwiseNumeric : OneType {
  let types = "{numbers}; the result has the same";
  let dtypeError = "for bool";
}
def TypeRule_elementwiseMagnitude : OneType {
  let types = "{numbers}; the result has the same, of complex numbers that of their parts";
  let dtypeError = "for bool";
}
def TypeRule_complexOf : TypeRule {
  let types = "float32 or float64, the same for both; the result is complex64 or complex128";
  let shape = "that to which the operands broadcast, as in NumPy";
  let shapeError = "for shapes that do not broadcast";
  let dtypeError = "for other types, and for operands of different types";
}
def TypeRule_elementwiseFloat : OneType {
  let types = "{floats}; the result has the same";
  let dtypeError = "for other types";
}
def TypeRule_elementwiseBool : TypeRule {
  let types = "bool";
  let dtypeError = "for other types";
}
def TypeRule_elementwiseBits : OneType {
  let types = "bool, {integers}; the result has the same";
  let dtypeError = "for floats";
}
def TypeRule_elementwiseInteger : OneType {
  let types = "{integers}; the result has the same";
  let dtypeError = "for other types";
}
def TypeRule_elementwiseComparison : OneType { let types = "operands of any one type; the result is bool"; }
def TypeRule_elementwiseTest : TypeRule {
  let types = "{floats}; the result is bool";
  let dtypeError = "for other types";
}
def TypeRule_elementwiseSelect : TypeRule {
  let types = "a bool condition, and x and y of any one type, which is the result's";
  let dtypeError = "for another condition, and for x and y of different types";
}
def TypeRule_cast : TypeRule {
  let types = "any, to any, but complex numbers to complex ones alone";
  let dtypeError = "for complex numbers to a type that is not complex";
}

//===-- Reductions ------------------------------------------------------------------------------===//
class NumericTypes : TypeRule {
  let types = "{numbers}; the result has the same";
  let dtypeError = "for bool";
}
class FloatTypes : TypeRule {
  let types = "{floats}; the result has the same";
  let dtypeError = "for other types";
}
defvar reducedShape = "x's without the axes, or with size 1 in their place for `keepdims`";
defvar wrongAxes = "for an axis that x does not have or that is given twice";
def TypeRule_reduceNumeric : NumericTypes {
  let shape = reducedShape;
  let valueError = wrongAxes;
}
def TypeRule_reduceNumericNonEmpty : NumericTypes {
  let shape = reducedShape;
  let shapeError = "for an axis of size 0";
  let valueError = wrongAxes;
}
def TypeRule_reduceBool : TypeRule {
  let types = "bool; the result is bool";
  let shape = reducedShape;
  let dtypeError = "for other types";
  let valueError = wrongAxes;
}
def TypeRule_reduceFloat : FloatTypes {
  let shape = reducedShape;
  let valueError = wrongAxes;
}
def TypeRule_reduceFloatNonEmpty : FloatTypes {
  let shape = reducedShape;
  let shapeError = "for an axis of size 0";
  let valueError = wrongAxes;
}
def TypeRule_softmax : FloatTypes {
  let shape = "x's";
  let shapeError = "for an axis of size 0";
  let valueError = "for an axis that x does not have";
}
def TypeRule_argExtreme : NumericTypes {
  let types = "{numbers}; the result is int64";
  let shape = "x's without the axis";
  let shapeError = "for an axis of size 0";
  let valueError = "for an axis that x does not have";
}

def TypeRule_cumulative : NumericTypes {
  let shape = "x's";
  let valueError = "for an axis that x does not have";
}

//===-- Contractions ----------------------------------------------------------------------------===//
def TypeRule_contract : TypeRule {
  let types = "{numbers}; the result has the same";
  let shape = "the batch dimensions, then what is left of lhs, then what is left of rhs";
  let shapeError = "for paired dimensions of different sizes";
  let dtypeError = "for bool, and for operands of different types";
  let valueError = "for a dimension that an operand does not have, for one that is named twice, and for lists of different lengths";
}
//===-- Sources, movements and indices ----------------------------------------------------------===//
class AnyType : TypeRule { let types = "any; the result has the same"; }
def TypeRule_iota : TypeRule {
  let types = "a result of {a number}";
  let shape = "the given one";
  let dtypeError = "for bool";
  let valueError = "for a negative size, and for an axis that the shape does not have";
}
def TypeRule_reshape : AnyType {
  let shape = "the given one";
  let shapeError = "for a shape of another number of elements";
  let valueError = "for a negative size, and for a second -1";
}
def TypeRule_expandDims : AnyType {
  let shape = "x's with size 1 at the axes";
  let valueError = "for an axis that the result does not have or that is given twice";
}
def TypeRule_broadcastTo : AnyType {
  let shape = "the given one";
  let shapeError = "for a shape that x's does not broadcast to";
  let valueError = "for a negative size";
}
def TypeRule_transpose : AnyType {
  let shape = "x's sizes in another order";
  let valueError = "for a permutation that does not name each axis of x once";
}
def TypeRule_reverse : AnyType {
  let shape = "x's";
  let valueError = wrongAxes;
}
def TypeRule_concat : TypeRule {
  let types = "any one; the result has the same";
  let shape = "the tensors', and along the axis the sum of their sizes";
  let shapeError = "for tensors that differ in more than the axis";
  let dtypeError = "for tensors of different types";
  let valueError = "for no tensors, and for an axis that they do not have";
}
def TypeRule_split : AnyType {
  let shape = "x's with one of the sizes along the axis";
  let shapeError = "for sizes whose sum is not that of x along the axis";
  let valueError = "for no sizes, for a size below -1 and a second -1, and for an axis that x does not have";
}
def TypeRule_slice : AnyType {
  let shape = "in each dimension (limit - start) / stride, rounded up";
  let shapeError = "for limits beyond x";
  let valueError = "for lists of another length than x's rank, for negative starts, for limits before their starts, and for strides that are not positive";
}
def TypeRule_pad : AnyType {
  let shape = "low + size + high in each dimension";
  let valueError = "for lists of another length than x's rank, and for negative padding";
}
def TypeRule_gather : TypeRule {
  let types = "x of any type, which is the result's, and indices of {an integer}";
  let shape = "x's, with that of the indices in place of the axis";
  let dtypeError = "for other indices";
  let valueError = "for an axis that x does not have";
}
def TypeRule_takeAlongAxis : TypeRule {
  let types = "x of any type, which is the result's, and indices of {an integer}";
  let shape = "that of the indices";
  let shapeError = "for indices of another rank than x's, or of another size where it is not that of the axis";
  let dtypeError = "for other indices";
  let valueError = "for an axis that x does not have";
}
class NdRule : TypeRule {
  let types = "x of any type, which is the result's, and indices of {an integer}";
  let dtypeError = "for other indices";
  let shapeError = "for indices without a last dimension of known size, and for more indices than x has dimensions";
}
def TypeRule_gatherNd : NdRule {
  let shape = "that of the indices without their last dimension, and those dimensions of x that they don't name";
}
class ScatterRule : NdRule {
  let shape = "x's";
  let shapeError = "for indices without a last dimension of known size, for more indices than x has dimensions, and for updates of another shape than gather_nd gives";
}
def TypeRule_scatterNd : ScatterRule {
  let types = "x and updates of any one type, which is the result's, and indices of {an integer}";
  let dtypeError = "for other indices, and for updates of another type than x";
}
def TypeRule_scatterNdNumeric : ScatterRule {
  let types = "x and updates of {numbers}, the same as the result, and indices of {an integer}";
  let dtypeError = "for bool, for other indices, and for updates of another type than x";
}
def TypeRule_argSort : TypeRule {
  let types = "any; the result is int64";
  let shape = "x's";
  let valueError = "for an axis that x does not have";
}
def TypeRule_topIndices : TypeRule {
  let types = "any; the result is int64";
  let shape = "x's, with the count along the axis";
  let shapeError = "for an axis of unknown size";
  let valueError = "for an axis that x does not have, and for a count that is negative or larger than the axis";
}
def TypeRule_oneHot : TypeRule {
  let types = "indices of {an integer}; the result's is the given one";
  let shape = "that of the indices, and the depth";
  let dtypeError = "for other indices";
  let valueError = "for a negative depth";
}
def TypeRule_sameAsOperand : AnyType { let shape = "x's"; }

#endif
