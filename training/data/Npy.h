#ifndef CALQUE_TRAINING_DATA_NPY_H
#define CALQUE_TRAINING_DATA_NPY_H

#include "data/File.h"

#include "calque/tensor.h"

#include <string_view>

namespace calque::data {

// The array in the bytes of a .npy file. `file` throws the faults, and `place` is what they begin with.
Tensor arrayIn(std::string_view bytes, const FileReader &file, const std::string &place);
// The bytes of a .npy file.
std::string npyOf(const Tensor &x, SourceLocation where);

} // namespace calque::data
#endif
