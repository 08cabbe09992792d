// Numbers that Keras gave: test/training/reference/keras_reference.py.
#ifndef CALQUE_TEST_TRAINING_REFERENCE_H
#define CALQUE_TEST_TRAINING_REFERENCE_H

#include "Testing.h"

namespace calque::testing {

// The numbers of a line. A test fails where there are none.
const std::vector<double> &reference(const std::string &name, const std::string &dtype, const std::string &what);
// An input of the script in an element type; labels are int32.
Tensor referenceInput(const std::string &name, DType dtype);
// The names of lines that begin with a text, each once.
std::vector<std::string> referenceNames(const std::string &prefix);

// Within so many units of the element type's precision, of the number and of 1.
inline void expectReference(const Tensor &x, const std::string &name, DType dtype, const std::string &what,
                            double units = 40) {
  SCOPED_TRACE(name + " " + what + " " + name_of(dtype));
  expectNear(x, reference(name, name_of(dtype), what), units * (dtype == DType::Float64 ? 2.3e-16 : 1.2e-7));
}

} // namespace calque::testing
#endif
