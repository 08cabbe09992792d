#include "calque/tensor_argument.h"

namespace calque::detail {

Tensor TensorArgument::tensor(std::optional<DType> expected, const SourceLocation &where) const {
  if (!number_ || !expected || *expected == tensor_.dtype())
    return tensor_;
  const bool takes = is_complex(*expected) || (is_floating(*expected) && !number_->isComplex()) ||
                     (!number_->isFloat() && (*expected != DType::Bool || number_->isBool()));
  return takes ? Operand(*number_, where).toTensor(*expected) : tensor_;
}

} // namespace calque::detail
