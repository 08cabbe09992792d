// What the files of models and of weights have in common.
#ifndef CALQUE_TRAINING_SAVING_FILES_H
#define CALQUE_TRAINING_SAVING_FILES_H

#include "Support.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/file_writer.h"
#include "calque/saving.h"

#include <filesystem>

namespace calque::training {

// The parts of a model's file, which is a checkpoint: its structure, a text; the model; its optimiser; the global
// generator.
inline constexpr const char *kStructure = "structure", *kModel = "model", *kOptimizer = "optimizer",
                            *kGenerator = "generator";

// ValueError for a path that names no file.
inline std::string fileOf(const std::string &path, SourceLocation where = {}) {
  if (path.empty() || path.back() == '/')
    fail<ValueError>(absl::StrCat("the path '", path, "' names no file"), where);
  return absl::EndsWith(path, ".safetensors") ? path : path + ".safetensors";
}

// ValueError for a file that is there and not to be written over.
inline void checkOverwrite(const char *call, const std::string &file, const SaveOptions &options,
                           SourceLocation where) {
  std::error_code ignored;
  if (!options.overwrite && std::filesystem::exists(file, ignored))
    fail<ValueError>(absl::StrCat(call, ": ", file, " is there already, and overwrite is off"), where);
}

// Makes the directory of a file where it is missing. DataError where it can't be.
inline void makeFolderOf(const std::string &file, SourceLocation where) {
  calque::detail::requirePath(file, where);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code fault;
  if (!folder.empty() && !std::filesystem::create_directories(folder, fault) && fault)
    fail<DataError>(absl::StrCat(folder.string(), ": the directory can't be made: ", fault.message()), where);
}

// "'a', 'b' and 3 others".
inline std::string listed(const std::vector<std::string> &names) {
  constexpr std::size_t kShown = 5;
  const std::size_t shown = std::min(names.size(), kShown);
  std::string text =
      absl::StrCat("'", absl::StrJoin(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "', '"), "'");
  if (const std::size_t rest = names.size() - shown)
    absl::StrAppend(&text, " and ", rest, rest == 1 ? " other" : " others");
  return text;
}

} // namespace calque::training
#endif
