// Going on with a training that was interrupted.
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/callbacks.h"
#include "calque/checkpoint.h"
#include "calque/models/model.h"
#include "calque/random.h"
#include "calque/warnings.h"
#include "saving/Files.h"

#include <filesystem>

namespace calque::callbacks {

using training::fail;

namespace {

Checkpoint partsOf(Model &model, SourceLocation where) {
  return Checkpoint(std::vector<Checkpoint::Entry>{
      {training::kModel, CheckpointPart(static_cast<Trackable &>(model)), where},
      {training::kOptimizer, CheckpointPart(model.optimizer(where)), where},
      {training::kGenerator, CheckpointPart(random::global_generator()), where},
      {"training", CheckpointPart(model.fit_progress(where)), where},
  });
}

std::string latestIn(const std::string &directory) { return absl::StrCat(directory, "/latest.safetensors"); }
std::string previousIn(const std::string &directory) { return absl::StrCat(directory, "/previous.safetensors"); }

// All of the model, or an error. What the optimiser makes with its first step waits.
void restore(Model &model, const std::string &file, SourceLocation where) {
  const RestoreStatus status = partsOf(model, where).read(file, where);
  status.expect_partial();
  std::vector<std::string> others = status.missing();
  // At the end of an epoch metrics have nothing to go on with.
  std::erase_if(others, [](const std::string &name) { return name.starts_with("training/"); });
  for (const std::string &name : status.unused())
    if (name.starts_with(absl::StrCat(training::kModel, "/")))
      others.push_back(name);
  if (!others.empty())
    fail<DataError>(absl::StrCat(file, ": is the backup of another model, which differs in ", training::listed(others),
                                 "; remove it, or give each model a directory"),
                    where);
}

} // namespace

BackupAndRestore::BackupAndRestore(std::string backup_dir, BackupAndRestoreOptions options, SourceLocation where)
    : directory(std::move(backup_dir)), of(std::move(options)) {
  if (directory.empty())
    fail<ValueError>("backup_and_restore: the name of the directory is empty", where);
}

void BackupAndRestore::on_train_begin(Logs &) {
  const SourceLocation where = params().where;
  model().variables(where); // StateError before they are made
  seen = 0;
  std::error_code ignored;
  const std::string latest = latestIn(directory), previous = previousIn(directory);
  const bool hasPrevious = std::filesystem::exists(previous, ignored);
  if (!std::filesystem::exists(latest, ignored)) {
    if (hasPrevious) // killed in between of the two
      restore(model(), previous, where);
    return;
  }
  try {
    restore(model(), latest, where);
  } catch (const DataError &error) {
    if (!hasPrevious)
      throw;
    calque::detail::warn(absl::StrCat("backup_and_restore: goes on from ", previous, ", since ", error.what()), where);
    restore(model(), previous, where);
  }
}

void BackupAndRestore::on_train_batch_end(std::int64_t, Logs &) {
  if (!of.save_freq.batches() || ++seen < *of.save_freq.batches())
    return;
  seen = 0;
  save();
}

void BackupAndRestore::on_epoch_end(std::int64_t, Logs &) {
  if (!of.save_freq.batches())
    save();
}

void BackupAndRestore::save() {
  const SourceLocation where = params().where;
  const std::string latest = latestIn(directory);
  training::makeFolderOf(latest, where);
  std::error_code fault;
  if (of.double_checkpoint && std::filesystem::exists(latest, fault)) {
    std::filesystem::rename(latest, previousIn(directory), fault);
    if (fault)
      fail<DataError>(absl::StrCat(latest, ": can't be renamed: ", fault.message()), where);
  }
  partsOf(model(), where).write(latest, {}, where);
}

void BackupAndRestore::on_train_end(Logs &) {
  if (!of.delete_checkpoint)
    return;
  std::error_code ignored;
  for (const std::string &file : {latestIn(directory), previousIn(directory)})
    std::filesystem::remove(file, ignored);
  std::filesystem::remove(directory, ignored); // if there is nothing else
}

} // namespace calque::callbacks
