// Going on with a training that was interrupted.
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/callbacks.h"
#include "calque/checkpoint.h"
#include "calque/file_writer.h"
#include "calque/models/model.h"
#include "calque/random.h"
#include "calque/warnings.h"
#include "models/Trainer.h"
#include "saving/Files.h"

#include <algorithm>
#include <filesystem>

namespace calque::callbacks {

using training::fail;

namespace {

// What a backup is refused by where the optimiser is another one: what it has for variables is made later.
constexpr const char *kOptimizerKind = "optimizer_kind";
struct OptimizerKind : Trackable {
  OptimizerKind(std::string kind, std::string file, SourceLocation where)
      : kind(std::move(kind)), file(std::move(file)), where(where) {}
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    visitor.text(
        "kept", [this] { return kind; },
        [this](const std::string &of) {
          if (of != kind)
            fail<DataError>(absl::StrCat(file, ": is the backup of a training with another optimiser: ", of,
                                         ", and this one is ", kind, "; remove it, or give each training a directory"),
                            where);
        });
  }
  const std::string kind, file;
  const SourceLocation where;
};

Checkpoint partsOf(Model &model, const std::string &file, SourceLocation where) {
  const auto kind = std::make_shared<OptimizerKind>(model.optimizer(where).body()->kinds_of_slots(), file, where);
  return Checkpoint(std::vector<Checkpoint::Entry>{
      {kOptimizerKind, CheckpointPart(std::shared_ptr<Trackable>(kind)), where},
      {training::kModel, CheckpointPart(static_cast<Trackable &>(model)), where},
      {training::kOptimizer, CheckpointPart(model.optimizer(where)), where},
      {training::kGenerator, CheckpointPart(random::global_generator()), where},
      {"training", CheckpointPart(model.fit_progress(where)), where},
  });
}

std::string latestIn(const std::string &directory) { return absl::StrCat(directory, "/latest.safetensors"); }
std::string previousIn(const std::string &directory) { return absl::StrCat(directory, "/previous.safetensors"); }

// Where the parts are that have no weights but what they make with their first step: a model's own optimisers.
void collectOptimizers(const Module &module, const std::string &path, std::vector<std::string> &paths) {
  for (const auto &[name, part] : module.children()) {
    const std::string own = absl::StrCat(path, name, "/");
    if (part->has_weights())
      collectOptimizers(*part, own, paths);
    else
      paths.push_back(own);
  }
}

// All of the model, or an error. What optimisers make with their first step waits.
void restore(Model &model, const std::string &file, SourceLocation where) {
  const RestoreStatus status = partsOf(model, file, where).read(file, where);
  if (auto *progress = dynamic_cast<training::Resumable *>(&model.fit_progress(where)))
    progress->file = file;
  status.expect_partial();
  std::vector<std::string> others = status.missing();
  // At the end of an epoch metrics have nothing to go on with, and earlier versions have saved less.
  std::erase_if(others, [](const std::string &name) {
    return name.starts_with("training/") || name.starts_with(kOptimizerKind);
  });
  const std::string ofModel = absl::StrCat(training::kModel, "/");
  std::vector<std::string> waiting;
  collectOptimizers(model, ofModel, waiting);
  for (const std::string &name : status.unused())
    if (name.starts_with(ofModel) &&
        std::ranges::none_of(waiting, [&](const std::string &path) { return name.starts_with(path); }))
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
  try {
    model().variables(where);
  } catch (const StateError &) {
    fail<StateError>("backup_and_restore: the model's variables are not made yet; call it or build it before fit()",
                     where);
  }
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

// All processes restore, and the first one writes.
void BackupAndRestore::save() {
  if (params().rank != 0)
    return;
  const SourceLocation where = params().where;
  const std::string latest = latestIn(directory);
  training::makeFolderOf(latest, where);
  std::error_code fault;
  if (of.double_checkpoint && std::filesystem::exists(latest, fault)) {
    std::filesystem::rename(latest, previousIn(directory), fault);
    if (fault)
      fail<DataError>(absl::StrCat(latest, ": can't be renamed: ", fault.message()), where);
  }
  partsOf(model(), latest, where).write(latest, {}, where);
}

void BackupAndRestore::on_train_end(Logs &) {
  if (!of.delete_checkpoint || params().rank != 0)
    return;
  std::error_code ignored;
  for (const std::string &file : {latestIn(directory), previousIn(directory)})
    std::filesystem::remove(file, ignored);
  calque::detail::FileWriter::removeUnfinished(directory); // what runs that were killed have left
  std::filesystem::remove(directory, ignored);             // if there is nothing else
}

} // namespace calque::callbacks
