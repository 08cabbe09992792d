#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "calque/file_writer.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/saving/CheckpointState.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace calque {

using detail::fail;
using detail::NumberedFile;

//===-- Files -----------------------------------------------------------------------------------===//

namespace detail {

std::string pathIn(const std::string &directory, const std::string &name) {
  return directory.empty() || directory.back() == '/' ? directory + name : absl::StrCat(directory, "/", name);
}

void makeDirectory(const std::string &directory, SourceLocation where) {
  requirePath(directory, where);
  std::error_code fault;
  if (!directory.empty() && !std::filesystem::create_directories(directory, fault) && fault)
    fail(absl::StrCat("the directory can't be made: ", fault.message()), directory, where);
}

std::string NumberedFile::path(const std::string &directory) const {
  return pathIn(directory, absl::StrCat(name, "-", number));
}

std::vector<NumberedFile> numberedFiles(const std::string &directory, const std::optional<std::string> &name) {
  std::vector<NumberedFile> found;
  std::error_code fault;
  for (std::filesystem::directory_iterator at(directory.empty() ? "." : directory, fault), end; !fault && at != end;
       at.increment(fault)) {
    std::string file = at->path().filename();
    if (!absl::EndsWith(file, kCheckpointEnding))
      continue;
    file.resize(file.size() - std::char_traits<char>::length(kCheckpointEnding));
    const std::size_t dash = file.rfind('-');
    std::int64_t number = 0;
    struct stat status{};
    if (dash == std::string::npos || (name && file.compare(0, dash, *name) != 0))
      continue;
    const auto [stop, wrong] = std::from_chars(file.data() + dash + 1, file.data() + file.size(), number);
    if (wrong == std::errc() && absl::StrCat(number) == file.substr(dash + 1) &&
        ::stat(at->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      found.push_back({number, file.substr(0, dash), status.st_mtim});
  }
  std::sort(found.begin(), found.end(), [](const NumberedFile &a, const NumberedFile &b) {
    auto key = [](const NumberedFile &x) { return std::tuple(x.number, x.written.tv_sec, x.written.tv_nsec); };
    return key(a) < key(b);
  });
  return found;
}

} // namespace detail

//===-- Several checkpoints ---------------------------------------------------------------------===//

std::optional<std::string> latest_checkpoint(const std::string &directory, const std::optional<std::string> &name) {
  const std::vector<NumberedFile> found = detail::numberedFiles(directory, name);
  return found.empty() ? std::nullopt : std::optional(found.back().path(directory));
}

struct CheckpointManager::Kept {
  std::string directory, name;
  std::optional<std::int64_t> most;
  std::optional<std::chrono::duration<double>> every;
  runtime::ForkMutex mutex;
  // The numbers of the files that are never removed, and when the last of these files was written.
  std::set<std::int64_t> forever;
  double last = 0;

  static double secondsOf(const timespec &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  std::vector<NumberedFile> forNow() {
    std::vector<NumberedFile> found = detail::numberedFiles(directory, name);
    std::lock_guard lock(mutex);
    std::erase_if(found, [&](const NumberedFile &each) { return forever.contains(each.number); });
    return found;
  }

  // Removes the oldest files beyond the number of files to keep.
  void rotate(SourceLocation where) {
    const std::vector<NumberedFile> found = forNow();
    const std::size_t kept = most ? static_cast<std::size_t>(*most) : found.size();
    for (std::size_t i = 0; i + kept < found.size(); ++i) {
      const double written = secondsOf(found[i].written);
      if (every && written - last >= every->count()) {
        std::lock_guard lock(mutex);
        forever.insert(found[i].number);
        last = written;
        continue;
      }
      const std::string path = found[i].path(directory) + detail::kCheckpointEnding;
      if (::unlink(path.c_str()) && errno != ENOENT)
        fail(absl::StrCat("can't be removed: ", std::strerror(errno)), path, where);
    }
  }
};

CheckpointManager::CheckpointManager(Checkpoint checkpoint, std::string directory, CheckpointManagerOptions options,
                                     SourceLocation where)
    : checkpoint_(std::move(checkpoint)), directory_(std::move(directory)), options_(std::move(options)),
      kept(std::make_shared<Kept>()) {
  where = detail::userLine(where);
  auto positive = [&](const char *name, double value) {
    if (!(value > 0))
      throw ValueError(absl::StrCat("checkpoint manager: ", name, " is above 0, unlike ", Number(value).str()), where);
  };
  if (options_.max_to_keep)
    positive("max_to_keep", static_cast<double>(*options_.max_to_keep));
  if (options_.keep_checkpoint_every_n_hours)
    positive("keep_checkpoint_every_n_hours", *options_.keep_checkpoint_every_n_hours);
  if (options_.checkpoint_interval)
    positive("checkpoint_interval", static_cast<double>(*options_.checkpoint_interval));
  if (options_.checkpoint_interval.has_value() != options_.step_counter.has_value())
    throw ValueError("checkpoint manager: checkpoint_interval and step_counter are given together", where);
  if (absl::StrContains(options_.checkpoint_name, "/"))
    throw ValueError(absl::StrCat("checkpoint manager: the name '", options_.checkpoint_name, "' must have no '/'"),
                     where);
  detail::makeDirectory(directory_, where);
  detail::FileWriter::removeUnfinished(directory_);
  kept->directory = directory_;
  kept->name = options_.checkpoint_name;
  kept->most = options_.max_to_keep;
  if (const std::optional<double> &hours = options_.keep_checkpoint_every_n_hours) {
    kept->every = std::chrono::duration<double>(*hours * 3600);
    kept->last = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    // Files beyond the newest ones were kept forever by an earlier manager, which would have removed them otherwise.
    const std::vector<NumberedFile> found = detail::numberedFiles(directory_, options_.checkpoint_name);
    const std::size_t newest = options_.max_to_keep ? static_cast<std::size_t>(*options_.max_to_keep) : found.size();
    for (std::size_t i = 0; i + newest < found.size(); ++i) {
      kept->forever.insert(found[i].number);
      kept->last = Kept::secondsOf(found[i].written);
    }
  }
}

std::optional<std::string> CheckpointManager::save(std::optional<std::int64_t> checkpoint_number,
                                                   CheckpointOptions options, SourceLocation where) {
  where = detail::userLine(where);
  detail::refuseTrace("save", where);
  detail::CheckpointState &state = *checkpoint_.state;
  std::optional<std::int64_t> step;
  if (options_.step_counter) {
    step = std::int64_t(cast(options_.step_counter->value(where), DType::Int64).item<std::int64_t>());
    if (lastStep && *step < *lastStep + *options_.checkpoint_interval)
      return std::nullopt;
  }
  state.wait();
  const std::vector<NumberedFile> others = detail::numberedFiles(directory_, options_.checkpoint_name);
  const std::int64_t highest = others.empty() ? 0 : others.back().number;
  if (checkpoint_number && (*checkpoint_number < 0 || (!others.empty() && *checkpoint_number <= highest)))
    throw ValueError(absl::StrCat("checkpoint manager: number ", *checkpoint_number, " is not above ", highest,
                                  ", that of the latest checkpoint, which would stay the latest"),
                     where);
  detail::makeDirectory(directory_, where);
  std::string path = state.writeNumbered(directory_, options_.checkpoint_name, checkpoint_number, options, where,
                                         [kept = kept, where] { kept->rotate(where); });
  lastStep = step;
  return path;
}

std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> paths;
  for (const NumberedFile &each : kept->forNow())
    paths.push_back(each.path(directory_));
  return paths;
}

std::optional<std::string> CheckpointManager::latest_checkpoint() const {
  return calque::latest_checkpoint(directory_, options_.checkpoint_name);
}

std::optional<std::string> CheckpointManager::restore_or_initialize(SourceLocation where) {
  checkpoint_.wait(where);
  std::optional<std::string> latest = latest_checkpoint();
  if (latest)
    checkpoint_.restore(latest, where);
  else if (options_.init_fn)
    options_.init_fn();
  return latest;
}

} // namespace calque
