#ifndef CALQUE_TRAINING_DATA_NPY_H
#define CALQUE_TRAINING_DATA_NPY_H

#include "data/File.h"

#include "calque/tensor.h"

#include <string_view>

namespace calque::data {

// The array in the bytes of a .npy file. `file` throws the faults, and `place` is what they begin with.
Tensor arrayIn(std::string_view bytes, const FileReader &file, const std::string &place);
// Looks at the first bytes of such a file, which has so many in all. A header that is wrong, or asks for another number
// of bytes, is a fault before the others are unpacked. False where it takes more bytes to say it.
bool checkArray(std::string_view first, std::uint64_t size, const FileReader &file, const std::string &place);
// Headers are no longer, in all versions of the format.
inline constexpr std::size_t kMostArrayHeader = 1 << 20;
// The bytes of a .npy file.
std::string npyOf(const Tensor &x, SourceLocation where);

} // namespace calque::data
#endif
