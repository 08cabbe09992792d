#include "ir/Pairs.h"

#include "ir/Conversion.h"
#include "ir/Parts.h"
#include "ir/Signs.h"

using namespace mlir;

namespace calque::ir {

Type pairsType(Type type) {
  if (!isComplex(type))
    return type;
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, partType(tensor.getElementType()));
}

bool isPairs(Operation *op, unsigned number) {
  auto marks = op->getAttrOfType<DenseBoolArrayAttr>(kPairsAttr);
  return marks && number < marks.size() && marks[number];
}

static schema::TensorType recorded(Type type, DType dtype, bool pairs) {
  schema::TensorType result = *toSchema(type);
  result.dtype = dtype;
  if (pairs) {
    result.dtype = promote(dtype, DType::Complex64);
    result.dims.pop_back();
  }
  return result;
}
schema::TensorType recordedOperand(Operation *op, unsigned operand) {
  return recorded(op->getOperand(operand).getType(), dtypeOfOperand(op, operand), isPairs(op, operand));
}
schema::TensorType recordedResult(Operation *op, unsigned result) {
  return recorded(op->getResult(result).getType(), dtypeOfResult(op, result),
                  isPairs(op, op->getNumOperands() + result));
}

} // namespace calque::ir
