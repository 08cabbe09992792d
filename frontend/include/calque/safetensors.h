// Files of named tensors in the format safetensors, which Python's package of that name reads and writes.
//
//   save_safetensors("w.safetensors", {{"w", w}, {"b", b}}, {{"epoch", "3"}}); // tensors or variables, and texts
//   save_safetensors("net.safetensors", net.named_variables());
//   std::map<std::string, Tensor> tensors = load_safetensors("w.safetensors");
//   std::string epoch = load_safetensors_metadata("w.safetensors").at("epoch");
//
// Each element type has its own in the format: BOOL, I8, U8, I16, U16, F16, BF16, I32, U32, F32, I64, U64, F64,
// C64 and C128.
// Files of other programs may have more, which are refused. docs/saving.md has the format.
#ifndef CALQUE_SAFETENSORS_H
#define CALQUE_SAFETENSORS_H

#include "calque/variable.h"

#include <concepts>
#include <map>

namespace calque {

// Writes the file whole or not at all: a process that is killed leaves the old file or the new one. The metadata has a
// SHA-256, so that load_safetensors notices any changed byte. ValueError for names and texts that are not UTF-8, for
// the name "__metadata__", for names that are given twice and for names of metadata that begin with "calque.";
// LeakedTensorError for a traced tensor; DataError for a file that can't be written; an older file is unchanged then.
CALQUE_API void save_safetensors(const std::string &path, const std::map<std::string, Tensor> &tensors,
                                 const std::map<std::string, std::string> &metadata = {},
                                 SourceLocation where = SourceLocation::current());
// Writes the present values of variables with names, such as the list of named_variables(). LeakedTensorError in a
// trace.
template <std::same_as<std::vector<std::pair<std::string, Variable>>> Named>
void save_safetensors(const std::string &path, const Named &variables,
                      const std::map<std::string, std::string> &metadata = {},
                      SourceLocation where = SourceLocation::current());

struct LoadSafetensorsOptions {
  // Whether a file without the SHA-256 of save_safetensors is refused. Python writes none.
  bool require_digest = false;
};
// All tensors of a file. DataError for a file that can't be read, is damaged or cut, or is not in this format.
// DataError, which names the tensor, for an element type other than those above. The errors begin with the path.
// MemoryError for a file that needs more memory than there is.
CALQUE_API std::map<std::string, Tensor> load_safetensors(const std::string &path, LoadSafetensorsOptions options = {},
                                                          SourceLocation where = SourceLocation::current());
// The texts in the metadata of a file, without those that Calque keeps for itself. The tensors are neither read nor
// checked.
CALQUE_API std::map<std::string, std::string>
load_safetensors_metadata(const std::string &path, SourceLocation where = SourceLocation::current());

namespace detail {
// Converts the bits of a binary16 number of IEEE 754.
CALQUE_API float fromHalf(std::uint16_t bits);
CALQUE_API void saveSafetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                                const std::map<std::string, std::string> &metadata, SourceLocation where);
} // namespace detail

template <std::same_as<std::vector<std::pair<std::string, Variable>>> Named>
void save_safetensors(const std::string &path, const Named &variables,
                      const std::map<std::string, std::string> &metadata, SourceLocation where) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto &[name, variable] : variables)
    tensors.emplace_back(name, variable.value(where));
  detail::saveSafetensors(path, tensors, metadata, where);
}

} // namespace calque
#endif
