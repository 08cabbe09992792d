// What the tests of special forms and of Riccati's equations share: matrices, the numbers that SciPy makes of them, and
// the ways to run.
#ifndef CALQUE_TEST_OPERATIONS_LINALGREFERENCES_H
#define CALQUE_TEST_OPERATIONS_LINALGREFERENCES_H

#include "test/operations/LinalgComplex.h"

#include <functional>
#include <map>

namespace calque::testing {

#include "test/operations/LinalgFormsReferences.inc"

inline Tensor formA() { return tensor<double>({4, 1, -2, 0.5, -1, 3, 1, 2, 0.5, -1, 5, 1, 1, 0, -3, 2}, {4, 4}); }
inline Tensor formQ() { return tensor<double>({2, 1, 0, 0, 1, 3, 1, 0, 0, 1, 4, 1, 0, 0, 1, 5}, {4, 4}); }
inline Tensor formB() { return tensor<double>({1, 0, 0.5, -1, 0, 2, 1, 1}, {4, 2}); }
inline Tensor formR() { return tensor<double>({2, 0.5, 0.5, 1}, {2, 2}); }

// Real parts, and then imaginary ones. The tolerance is of the largest number, which counts as `least` at least.
inline void expectReference(const Tensor &found, const std::string &name, double tolerance = 2e-14, double least = 1) {
  SCOPED_TRACE(name);
  std::vector<double> values;
  for (const Tensor &part : partsOf({found}))
    for (double value : valuesOf(part))
      values.push_back(value);
  expectRealNumbers(values, kFormReferences.at(name), tolerance, least);
}

// Eagerly, compiled, and with unknown sizes. `expectEqual` compares a part of a result with the eager one.
inline std::vector<Tensor> nearlyAllWays(
    const ManyBody &f, const std::vector<Tensor> &inputs,
    const std::function<void(const Tensor &, const Tensor &)> &expectEqual =
        [](const Tensor &found, const Tensor &expected) { expectAlike(found, expected, false); }) {
  const std::vector<Tensor> eager = f(inputs);
  std::vector<TensorSpec<>> signature;
  for (const Tensor &x : inputs)
    signature.push_back(TensorSpec<>(x.dtype(), Shape(x.shape().size(), kDynamic)));
  const auto parted = [f](const std::vector<Tensor> &x) { return partsOf(f(x)); };
  const std::vector<Tensor> expected = partsOf(eager);
  for (const std::vector<Tensor> &found :
       {function<std::vector<Tensor>(const std::vector<Tensor> &)>(parted)(inputs),
        function<std::vector<Tensor>(const std::vector<Tensor> &)>(parted, {.input_signature = signature})(inputs)}) {
    EXPECT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      expectEqual(found[i], expected[i]);
  }
  return eager;
}

} // namespace calque::testing
#endif
