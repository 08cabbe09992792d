// NumPy's files: one array, .npy, or several by name in a zip file, .npz.
//
//   data::write_npy("w.npy", w);                    // np.load("w.npy") in Python
//   Tensor x = data::read_npy("x.npy");             // np.save("x.npy", x)
//   auto arrays = data::read_npz("weights.npz");    // np.savez("weights.npz", kernel=..., bias=...)
//   data::write_npz("weights.npz", {{"kernel", k}, {"bias", b}}, {.compressed = true});
#ifndef CALQUE_DATA_NPY_H
#define CALQUE_DATA_NPY_H

#include "calque/tensor.h"

#include <map>
#include <string>

namespace calque::data {

// Reads an array without conversion; one of ml_dtypes' bfloat16 has the type V2. Files may have either byte order, and
// Fortran's order of elements. DataError, which names the file and the fault, for other element types and for a file
// whose contents do not fit its header.
CALQUE_API Tensor read_npy(const std::string &path, SourceLocation where = SourceLocation::current());
// Reads the arrays of a file that np.savez or np.savez_compressed wrote, by name. DataError as above, which also names
// the array.
CALQUE_API std::map<std::string, Tensor> read_npz(const std::string &path,
                                                  SourceLocation where = SourceLocation::current());

struct NpzOptions {
  bool compressed = false;
};
// These write the file whole or not at all. DataError if it can't be written.
CALQUE_API void write_npy(const std::string &path, const Tensor &x, SourceLocation where = SourceLocation::current());
CALQUE_API void write_npz(const std::string &path, const std::map<std::string, Tensor> &arrays, NpzOptions options = {},
                          SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
