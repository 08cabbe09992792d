#include "calque/safetensors.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"
#include "frontend/saving/TensorFile.h"

namespace calque {

namespace {
constexpr std::string_view kOwn = "calque."; // begins the names of Calque's own metadata
}

void detail::saveSafetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                             const std::map<std::string, std::string> &metadata, SourceLocation where) {
  where = userLine(where);
  for (const auto &[name, text] : metadata)
    if (name.starts_with(kOwn))
      throw ValueError(
          absl::StrCat("save_safetensors: the name '", name, "' of metadata begins with 'calque.', as Calque's own do"),
          where);
  std::vector<TensorEntry> entries;
  for (const auto &[name, tensor] : tensors)
    entries.push_back(TensorEntry::of(name, tensor, where));
  TensorFile::write(path, std::move(entries), metadata, where);
}

void save_safetensors(const std::string &path, const std::map<std::string, Tensor> &tensors,
                      const std::map<std::string, std::string> &metadata, SourceLocation where) {
  detail::saveSafetensors(path, {tensors.begin(), tensors.end()}, metadata, where);
}

std::map<std::string, Tensor> load_safetensors(const std::string &path, LoadSafetensorsOptions options,
                                               SourceLocation where) {
  using Digest = detail::TensorFile::Digest;
  return detail::readWithinMemory(path, where, [&] {
    const detail::TensorFile file =
        detail::TensorFile::read(path, where, options.require_digest ? Digest::Required : Digest::Checked);
    std::map<std::string, Tensor> tensors;
    for (const detail::TensorEntry &entry : file.entries())
      tensors.emplace(entry.name, file.tensor(entry, where));
    return tensors;
  });
}

std::map<std::string, std::string> load_safetensors_metadata(const std::string &path, SourceLocation where) {
  std::map<std::string, std::string> metadata = detail::TensorFile::readMetadata(path, where);
  std::erase_if(metadata, [](const auto &entry) { return entry.first.starts_with(kOwn); });
  return metadata;
}

} // namespace calque
