#include "calque/checkpoint.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/file_writer.h"
#include "calque/functions.h"
#include "calque/warnings.h"
#include "frontend/Apply.h"
#include "frontend/Execute.h"
#include "frontend/Restoration.h"
#include "frontend/Trace.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace calque {

namespace {

constexpr const char *kEnding = ".safetensors";
// Metadata of a checkpoint's own: its version, and the number of the last save.
constexpr const char *kCheckpoint = "calque.checkpoint", *kVersion = "1", *kCounter = "calque.save_counter";

[[noreturn]] void fail(const std::string &fault, const std::string &path, SourceLocation where) {
  throw DataError(absl::StrCat(path, ": ", fault), where);
}

void refuseTrace(const char *what, SourceLocation where) {
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace())
    throw StateError(absl::StrCat(what, ": a checkpoint holds values, and there are none while ", trace->recording.name,
                                  " is traced; call it outside, or in a host call"),
                     where);
}

std::string fileOf(const std::string &path) { return absl::EndsWith(path, kEnding) ? path : path + kEnding; }

std::string joined(const std::string &directory, const std::string &name) {
  return directory.empty() || directory.back() == '/' ? directory + name : absl::StrCat(directory, "/", name);
}

void makeDirectory(const std::string &directory, SourceLocation where) {
  std::error_code fault;
  if (!directory.empty() && !std::filesystem::create_directories(directory, fault) && fault)
    fail(absl::StrCat("the directory can't be made: ", fault.message()), directory, where);
}

// <name>-<number>.safetensors in a directory.
struct Numbered {
  std::int64_t number;
  std::string name; // without the number
  timespec written;
  std::string path(const std::string &directory) const { return joined(directory, absl::StrCat(name, "-", number)); }
};

// Those of one name or of all, by their numbers.
std::vector<Numbered> numberedIn(const std::string &directory, const std::optional<std::string> &name) {
  std::vector<Numbered> found;
  std::error_code fault;
  for (std::filesystem::directory_iterator at(directory.empty() ? "." : directory, fault), end; !fault && at != end;
       at.increment(fault)) {
    std::string file = at->path().filename();
    if (!absl::EndsWith(file, kEnding))
      continue;
    file.resize(file.size() - std::char_traits<char>::length(kEnding));
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
  std::sort(found.begin(), found.end(), [](const Numbered &a, const Numbered &b) {
    auto key = [](const Numbered &x) { return std::tuple(x.number, x.written.tv_sec, x.written.tv_nsec); };
    return key(a) < key(b);
  });
  return found;
}

} // namespace

//===-- Parts -----------------------------------------------------------------------------------===//

CheckpointPart::CheckpointPart(const Variable &variable)
    : visit_([variable](CheckpointVisitor &visitor, const std::string &name) { visitor.variable(name, variable); }) {}
CheckpointPart::CheckpointPart(std::vector<Variable> variables)
    : visit_([variables = std::move(variables)](CheckpointVisitor &visitor, const std::string &name) {
        for (std::size_t i = 0; i < variables.size(); ++i)
          visitor.variable(absl::StrCat(name, "/", i), variables[i]);
      }) {}
CheckpointPart::CheckpointPart(const random::Generator &generator) : CheckpointPart(generator.state()) {}
CheckpointPart::CheckpointPart(Tensor &x)
    : visit_([&x](CheckpointVisitor &visitor, const std::string &name) { visitor.tensor(name, x); }) {}
CheckpointPart::CheckpointPart(std::string &text)
    : visit_([&text](CheckpointVisitor &visitor, const std::string &name) { visitor.value(name, text); }) {}

struct detail::CheckpointState {
  std::vector<Checkpoint::Entry> parts;
  std::int64_t counter = 0; // of the last save

  ~CheckpointState() {
    try {
      wait();
    } catch (const std::exception &error) {
      try {
        warn(absl::StrCat("checkpoint: a save beside the program has failed: ", error.what()), {});
      } catch (...) { // of a handler
      }
    }
  }

  void visit(CheckpointVisitor &visitor) const {
    for (const Checkpoint::Entry &each : parts)
      if (each.part.visit_)
        each.part.visit_(visitor, each.name);
      else if (each.name.empty()) // the root
        each.part.object_->checkpoint_parts(visitor);
      else
        visitor.part(each.name, *each.part.object_);
  }
  CheckpointItems items() const {
    return CheckpointItems::of("", [&](CheckpointVisitor &visitor) { visit(visitor); });
  }

  // The values now.
  struct Snapshot {
    std::vector<TensorEntry> entries;
    TensorFile::Metadata metadata;
  };
  Snapshot snapshot(SourceLocation where) const;

  // Writes here, or on a thread beside. Then does what is left.
  void write(const std::string &file, CheckpointOptions options, SourceLocation where, std::function<void()> then);
  void wait() {
    if (writer.joinable())
      writer.join();
    if (std::exception_ptr thrown = std::exchange(fault, nullptr))
      std::rethrow_exception(thrown);
  }
  // None where there is no path.
  std::shared_ptr<Restoration> restored(const std::optional<std::string> &path, bool counts, SourceLocation where);

private:
  std::thread writer;
  std::exception_ptr fault; // of the writer, until it is joined
};

//===-- Saving ----------------------------------------------------------------------------------===//

detail::CheckpointState::Snapshot detail::CheckpointState::snapshot(SourceLocation where) const {
  const CheckpointItems all = items();
  Snapshot result;
  std::set<std::string> paths;
  auto name = [&](const std::string &path) -> const std::string & {
    if (!paths.insert(path).second)
      throw ValueError(absl::StrCat("checkpoint: two parts would be saved as '", path, "'"), where);
    return path;
  };
  auto add = [&](const std::string &path, const VariableState &state) {
    if (state.standIn)
      throw LeakedTensorError("a variable that was an argument of a traced function is used outside of the trace",
                              where);
    refuseHeld(state, where);
    // The handle keeps the elements: a program that assigns the variable writes elsewhere meanwhile.
    std::shared_lock lock(state.mutex);
    result.entries.push_back(TensorEntry::of(name(path), state.value, where));
  };
  absl::flat_hash_map<const VariableState *, std::string> known;
  for (const CheckpointItems::OfVariable &item : all.variables) {
    known.emplace(item.state.get(), item.path);
    add(item.path, *item.state);
  }
  for (const CheckpointItems::OfSlot &item : all.slots) {
    auto found = known.find(item.of.get());
    add(absl::StrCat(item.path, item.path.empty() ? "" : "/",
                     found == known.end() ? item.state->name : absl::StrCat(item.kind, "/", found->second)),
        *item.state);
  }
  for (const CheckpointItems::OfTensor &item : all.tensors)
    if (item.tensor->defined())
      result.entries.push_back(TensorEntry::of(name(item.path), *item.tensor, where));
  for (const CheckpointItems::OfText &item : all.texts)
    result.metadata[name(item.path)] = item.save();
  result.metadata[kCheckpoint] = kVersion;
  return result;
}

void detail::CheckpointState::write(const std::string &file, CheckpointOptions options, SourceLocation where,
                                    std::function<void()> then) {
  Snapshot values = snapshot(where);
  values.metadata[kCounter] = absl::StrCat(counter);
  auto work = [values = std::move(values), then = std::move(then), file, where] {
    TensorFile::write(file, values.entries, values.metadata, where);
    if (then)
      then();
  };
  if (!options.enable_async)
    return work();
  writer = std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      fault = std::current_exception();
    }
  });
}

Checkpoint::Checkpoint(std::vector<Entry> parts) : state(std::make_shared<detail::CheckpointState>()) {
  std::set<std::string> names;
  for (const Entry &each : parts) {
    const SourceLocation where = detail::userLine(each.where);
    const bool isRoot = parts.size() == 1 && each.name.empty() && each.part.object_;
    if ((each.name.empty() && !isRoot) || absl::StrContains(each.name, "/") || absl::StartsWith(each.name, "calque."))
      throw ValueError(absl::StrCat("checkpoint: '", each.name,
                                    "' is no name of a part; it must not be empty, have no '/' and not begin with "
                                    "'calque.'"),
                       where);
    if (!names.insert(each.name).second)
      throw ValueError(absl::StrCat("checkpoint: the name '", each.name, "' is given twice"), where);
    if (!each.part.visit_ && !each.part.object_)
      throw StateError(absl::StrCat("checkpoint: the part '", each.name, "' is empty"), where);
  }
  state->parts = std::move(parts);
}

Checkpoint::Checkpoint(Trackable &root, SourceLocation where)
    : Checkpoint(std::vector<Entry>{Entry(std::string(), CheckpointPart(root), where)}) {}

std::string Checkpoint::save(const std::string &prefix, CheckpointOptions options, SourceLocation where) const {
  where = detail::userLine(where);
  refuseTrace("save", where);
  state->wait();
  const std::size_t slash = prefix.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
  makeDirectory(directory, where);
  const std::vector<Numbered> others = numberedIn(directory, prefix.substr(directory.size()));
  const std::int64_t last = state->counter;
  state->counter = std::max(last, others.empty() ? 0 : others.back().number) + 1;
  std::string path = absl::StrCat(prefix, "-", state->counter);
  try {
    state->write(path + kEnding, options, where, {});
  } catch (...) {
    state->counter = last;
    throw;
  }
  return path;
}

std::string Checkpoint::write(const std::string &path, CheckpointOptions options, SourceLocation where) const {
  where = detail::userLine(where);
  refuseTrace("write", where);
  state->wait();
  const std::size_t slash = path.rfind('/');
  makeDirectory(slash == std::string::npos ? "" : path.substr(0, slash + 1), where);
  state->write(fileOf(path), options, where, {});
  return path;
}

void Checkpoint::wait(SourceLocation) const { state->wait(); }

//===-- Restoring -------------------------------------------------------------------------------===//

std::shared_ptr<detail::Restoration> detail::CheckpointState::restored(const std::optional<std::string> &path,
                                                                       bool counts, SourceLocation where) {
  where = userLine(where);
  refuseTrace(counts ? "restore" : "read", where);
  wait();
  if (!path)
    return nullptr;
  const TensorFile file = TensorFile::read(fileOf(*path), where, TensorFile::Digest::Required);
  TensorFile::Metadata texts = file.metadata();
  const auto version = texts.find(kCheckpoint), number = texts.find(kCounter);
  if (version == texts.end())
    fail("this is no checkpoint, but another file of tensors, as load_safetensors reads it", file.path(), where);
  if (version->second != kVersion)
    fail(absl::StrCat("version '", version->second, "' of checkpoints is not known; this is version ", kVersion),
         file.path(), where);
  std::int64_t saved = 0;
  if (number != texts.end()) {
    const std::string &digits = number->second;
    std::from_chars(digits.data(), digits.data() + digits.size(), saved);
  }
  std::erase_if(texts, [](const auto &entry) { return absl::StartsWith(entry.first, "calque."); });
  auto restoration = std::make_shared<Restoration>(file, std::move(texts), this, where);
  try {
    restoration->restore("", [&](CheckpointVisitor &visitor) { visit(visitor); }, where);
  } catch (...) {
    restoration->expectPartial(); // the error says more
    throw;
  }
  if (counts)
    counter = std::max(counter, saved);
  return restoration;
}

RestoreStatus Checkpoint::restore(const std::optional<std::string> &path, SourceLocation where) const {
  return {state->restored(path, true, where), state};
}
RestoreStatus Checkpoint::read(const std::optional<std::string> &path, SourceLocation where) const {
  return {state->restored(path, false, where), state};
}

namespace {
// "'a', 'b' and 3 others".
std::string listed(const std::vector<std::string> &names) {
  constexpr std::size_t kShown = 5;
  const std::size_t shown = std::min(names.size(), kShown);
  std::string text = absl::StrCat("'", absl::StrJoin(names.begin(), names.begin() + shown, "', '"), "'");
  if (names.size() > shown)
    absl::StrAppend(&text, " and ", schema::counted(names.size() - shown, "other"));
  return text;
}
} // namespace

std::vector<std::string> RestoreStatus::unused() const { return of_ ? of_->unused() : std::vector<std::string>(); }
std::vector<std::string> RestoreStatus::missing() const {
  return of_ ? of_->missing(parts_->items()) : std::vector<std::string>();
}

const RestoreStatus &RestoreStatus::expect_partial() const {
  if (of_)
    of_->expectPartial();
  return *this;
}

const RestoreStatus &RestoreStatus::assert_existing_objects_matched(SourceLocation where) const {
  if (const std::vector<std::string> names = missing(); !names.empty())
    throw AssertionError(absl::StrCat("restore: ", of_->path, " has not ", listed(names)), detail::userLine(where));
  return *this;
}

const RestoreStatus &RestoreStatus::assert_consumed(SourceLocation where) const {
  assert_existing_objects_matched(where);
  if (const std::vector<std::string> names = unused(); !names.empty()) {
    of_->expectPartial(); // the error says it
    throw AssertionError(absl::StrCat("restore: nothing has taken ", listed(names), " of ", of_->path),
                         detail::userLine(where));
  }
  return *this;
}

//===-- Several checkpoints ---------------------------------------------------------------------===//

std::optional<std::string> latest_checkpoint(const std::string &directory, const std::optional<std::string> &name) {
  const std::vector<Numbered> found = numberedIn(directory, name);
  return found.empty() ? std::nullopt : std::optional(found.back().path(directory));
}

struct CheckpointManager::Kept {
  std::string directory, name;
  std::optional<std::int64_t> most;
  std::optional<std::chrono::duration<double>> every;
  std::mutex mutex;
  // Those that are not removed, and when the last of them was written.
  std::set<std::int64_t> forever;
  double last = 0;

  static double secondsOf(const timespec &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  std::vector<Numbered> forNow() {
    std::vector<Numbered> found = numberedIn(directory, name);
    std::lock_guard lock(mutex);
    std::erase_if(found, [&](const Numbered &each) { return forever.contains(each.number); });
    return found;
  }

  // Removes the oldest ones beyond those that are kept.
  void rotate(SourceLocation where) {
    const std::vector<Numbered> found = forNow();
    const std::size_t kept = most ? static_cast<std::size_t>(*most) : found.size();
    for (std::size_t i = 0; i + kept < found.size(); ++i) {
      const double written = secondsOf(found[i].written);
      if (every && written - last >= every->count()) {
        std::lock_guard lock(mutex);
        forever.insert(found[i].number);
        last = written;
        continue;
      }
      const std::string path = found[i].path(directory) + kEnding;
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
  makeDirectory(directory_, where);
  detail::FileWriter::removeUnfinished(directory_);
  kept->directory = directory_;
  kept->name = options_.checkpoint_name;
  kept->most = options_.max_to_keep;
  if (const std::optional<double> &hours = options_.keep_checkpoint_every_n_hours) {
    kept->every = std::chrono::duration<double>(*hours * 3600);
    kept->last = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    // A manager before this one would have removed the others.
    const std::vector<Numbered> found = numberedIn(directory_, options_.checkpoint_name);
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
  refuseTrace("save", where);
  detail::CheckpointState &state = *checkpoint_.state;
  std::optional<std::int64_t> step;
  if (options_.step_counter) {
    step = std::int64_t(cast(options_.step_counter->value(where), DType::Int64).item<std::int64_t>());
    if (lastStep && *step < *lastStep + *options_.checkpoint_interval)
      return std::nullopt;
  }
  state.wait();
  const std::vector<Numbered> others = numberedIn(directory_, options_.checkpoint_name);
  const std::int64_t highest = others.empty() ? 0 : others.back().number;
  if (checkpoint_number && (*checkpoint_number < 0 || (!others.empty() && *checkpoint_number <= highest)))
    throw ValueError(absl::StrCat("checkpoint manager: number ", *checkpoint_number, " is not above ", highest,
                                  ", that of the latest checkpoint, which would stay the latest"),
                     where);
  const std::int64_t last = state.counter;
  state.counter = checkpoint_number.value_or(std::max(last, highest) + 1);
  std::string path = joined(directory_, absl::StrCat(options_.checkpoint_name, "-", state.counter));
  makeDirectory(directory_, where);
  try {
    state.write(path + kEnding, options, where, [kept = kept, where] { kept->rotate(where); });
  } catch (...) {
    state.counter = last;
    throw;
  }
  lastStep = step;
  return path;
}

std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> paths;
  for (const Numbered &each : kept->forNow())
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
