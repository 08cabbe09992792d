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

// An array of bool, int32, int64, float32 or float64 as it is; of int8, uint8, int16 and uint16 as int32, of uint32 as
// int64, of float16 as float32. Either byte order, and Fortran's order of elements too. DataError, which names the file
// and the fault, for other element types and for a file that does not hold what its header says.
CALQUE_API Tensor read_npy(const std::string &path, SourceLocation where = SourceLocation::current());
// The arrays of a file by name, as np.savez and np.savez_compressed write them. DataError as above, which names the
// array too.
CALQUE_API std::map<std::string, Tensor> read_npz(const std::string &path,
                                                  SourceLocation where = SourceLocation::current());

struct NpzOptions {
  bool compressed = false;
};
// The file comes to its place when it is whole. DataError where it can't be written.
CALQUE_API void write_npy(const std::string &path, const Tensor &x, SourceLocation where = SourceLocation::current());
CALQUE_API void write_npz(const std::string &path, const std::map<std::string, Tensor> &arrays, NpzOptions options = {},
                          SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
