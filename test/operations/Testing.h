// What the tests of operations share: their test data.
#ifndef CALQUE_TEST_OPERATIONS_TESTING_H
#define CALQUE_TEST_OPERATIONS_TESTING_H

#include "ir/schema/Schema.h"
#include "test/Tensors.h"
#include "test/operations/References.h"

#include <string_view>

namespace calque::testing {

using reference::Real;

//===-- Elementwise records ---------------------------------------------------------------------===//
struct ElementwiseCase {
  schema::OpId id;
  double low, high;
  std::vector<double> kinks;
  reference::Reference reference;
  Body function; // the public one

  const schema::OperationSchema &schema() const { return schema::schemaOf(id); }
  std::string name() const { return std::string(schema().mnemonic); }
};
inline void PrintTo(const ElementwiseCase &op, std::ostream *os) { *os << op.name(); }

// A public function as one of a vector of operands.
template <typename... A> Body wrap(Tensor (*f)(A...)) {
  return [f](const std::vector<Tensor> &x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::index_sequence_for<A...>());
  };
}

inline const std::vector<ElementwiseCase> &elementwiseCases() {
  static const std::vector<ElementwiseCase> cases = {
#include "test/operations/TestData.inc"
  };
  return cases;
}

// The operands' types for which the type rule has a result: all alike, or a condition and the others alike.
inline std::vector<std::vector<DType>> signatures(const ElementwiseCase &op) {
  std::vector<std::vector<DType>> result;
  for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64})
    for (DType first : {dtype, DType::Bool}) {
      std::vector<DType> signature(op.schema().numOperands, dtype);
      signature[0] = first;
      std::vector<schema::TensorType> types;
      for (DType operand : signature)
        types.push_back({operand, {2}});
      if (!schema::inferTypes(op.id, types, {}).fault && (result.empty() || result.back() != signature))
        result.push_back(signature);
    }
  return result;
}

} // namespace calque::testing
#endif
