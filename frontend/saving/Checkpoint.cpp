#include "calque/checkpoint.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/call_site.h"
#include "calque/warnings.h"
#include "frontend/compiled/VariableLocks.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"
#include "frontend/saving/CheckpointState.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <thread>

namespace calque {

using detail::fail;

namespace {

// The metadata of each checkpoint: its version, and the number of the last save.
constexpr const char *kCheckpoint = "calque.checkpoint", *kVersion = "1", *kCounter = "calque.save_counter";

std::string fileOf(const std::string &path) {
  return absl::EndsWith(path, detail::kCheckpointEnding) ? path : path + detail::kCheckpointEnding;
}

} // namespace

void detail::refuseTrace(const char *what, SourceLocation where) {
  if (const std::shared_ptr<Trace> &trace = currentTrace())
    throw StateError(absl::StrCat(what, ": a checkpoint holds values, and there are none while ", trace->recording.name,
                                  " is traced; call it outside, or in a host call"),
                     where);
}

//===-- Parts -----------------------------------------------------------------------------------===//

CheckpointPart::CheckpointPart(const Variable &variable)
    : visit_([variable](CheckpointVisitor &visitor, const std::string &name) { visitor.variable(name, variable); }) {}
namespace {
struct Listed : Trackable {
  explicit Listed(std::vector<Variable> variables) : variables(std::move(variables)) {}
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    for (std::size_t i = 0; i < variables.size(); ++i)
      visitor.variable(absl::StrCat(i), variables[i]);
  }
  const std::vector<Variable> variables;
};
} // namespace
CheckpointPart::CheckpointPart(std::vector<Variable> variables)
    : CheckpointPart(std::shared_ptr<Trackable>(std::make_shared<Listed>(std::move(variables)))) {}
CheckpointPart::CheckpointPart(const random::Generator &generator) : CheckpointPart(generator.state()) {}
CheckpointPart::CheckpointPart(Tensor &x)
    : visit_([&x](CheckpointVisitor &visitor, const std::string &name) { visitor.tensor(name, x); }) {}
CheckpointPart::CheckpointPart(std::string &text)
    : visit_([&text](CheckpointVisitor &visitor, const std::string &name) { visitor.value(name, text); }) {}

namespace {
struct ListOfObjects : Trackable {
  explicit ListOfObjects(std::vector<std::shared_ptr<Trackable>> objects) : objects(std::move(objects)) {}
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    for (std::size_t i = 0; i < objects.size(); ++i)
      visitor.part(absl::StrCat(i), *objects[i]);
  }
  const std::vector<std::shared_ptr<Trackable>> objects;
};
} // namespace

// If a handle among the objects is empty, the part has no object, and the checkpoint refuses it.
void CheckpointPart::keep(std::vector<std::shared_ptr<Trackable>> objects) {
  if (std::ranges::find(objects, nullptr) == objects.end())
    owner_ = std::make_shared<ListOfObjects>(std::move(objects));
  object_ = owner_.get();
}

detail::CheckpointState::~CheckpointState() {
  try {
    wait();
  } catch (const std::exception &error) {
    try {
      warn(absl::StrCat("checkpoint: a save beside the program has failed: ", error.what()), {});
    } catch (...) { // from a handler of warnings
    }
  }
}

void detail::CheckpointState::visit(CheckpointVisitor &visitor) const {
  for (const Checkpoint::Entry &each : parts)
    if (each.part.visit_)
      each.part.visit_(visitor, each.name);
    else if (each.name.empty()) // the root
      each.part.object_->checkpoint_parts(visitor);
    else
      visitor.part(each.name, *each.part.object_);
}

detail::CheckpointItems detail::CheckpointState::items() const {
  return CheckpointItems::of("", [&](CheckpointVisitor &visitor) { visit(visitor); });
}

void detail::CheckpointState::wait() {
  if (writer.joinable())
    writer.join();
  if (std::exception_ptr thrown = std::exchange(fault, nullptr))
    std::rethrow_exception(thrown);
}

//===-- Saving ----------------------------------------------------------------------------------===//

detail::CheckpointState::Snapshot detail::CheckpointState::snapshot(SourceLocation where) const {
  CallSite site(where); // errors of names, or of a data set's iterator, have this line
  const CheckpointItems all = items();
  const Restoration::Waiting waiting = Restoration::waitingFor(all);
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
    // The entry keeps the elements. If the program assigns the variable meanwhile, it writes to other memory.
    result.entries.push_back(TensorEntry::of(name(path), state.value, where));
  };
  // Locks all variables at once, so that no call changes some of them in between.
  std::set<const VariableState *> states;
  for (const CheckpointItems::OfVariable &item : all.variables)
    states.insert(item.state.get());
  for (const CheckpointItems::OfSlot &item : all.slots)
    states.insert(item.state.get());
  std::vector<std::shared_lock<std::shared_mutex>> locks;
  for (const VariableState *state : states) {
    refuseHeld(*state, where);
    locks.emplace_back(state->mutex);
  }
  HashMap<const VariableState *, std::string> known;
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
  locks.clear(); // the following calls may run the user's code
  for (const CheckpointItems::OfTensor &item : all.tensors)
    if (item.tensor->defined())
      result.entries.push_back(TensorEntry::of(name(item.path), *item.tensor, where));
  for (const CheckpointItems::OfText &item : all.texts)
    result.metadata[name(item.path)] = item.save();
  // Values that wait for parts which are made later are saved too. Otherwise a program that ends before it makes the
  // parts would lose the values.
  for (const auto &[path, value] : waiting.tensors)
    if (paths.insert(path).second)
      result.entries.push_back(TensorEntry::of(path, value, where));
  for (const auto &[path, value] : waiting.texts)
    if (paths.insert(path).second)
      result.metadata[path] = value;
  result.metadata[kCheckpoint] = kVersion;
  return result;
}

void detail::CheckpointState::write(const std::string &file, std::shared_ptr<FileWriter> reserved,
                                    CheckpointOptions options, SourceLocation where, std::function<void()> then) {
  Snapshot values = snapshot(where);
  values.metadata[kCounter] = absl::StrCat(counter);
  auto work = [values = std::move(values), reserved = std::move(reserved), then = std::move(then), file, where] {
    if (reserved)
      TensorFile::write(*reserved, values.entries, values.metadata, where);
    else
      TensorFile::write(file, values.entries, values.metadata, where);
    if (then)
      then();
  };
  if (!options.enable_async)
    return work();
  auto shared = std::make_shared<decltype(work)>(std::move(work));
  try {
    writer = std::thread([this, shared]() mutable {
      try {
        (*shared)();
      } catch (...) {
        fault = std::current_exception();
      }
      shared.reset(); // removes a file that could not be written, before anybody waits for the save
    });
  } catch (const std::system_error &) { // no more threads can be made
    (*shared)();
  }
}

std::string detail::CheckpointState::writeNumbered(const std::string &directory, const std::string &name,
                                                   std::optional<std::int64_t> asked, CheckpointOptions options,
                                                   SourceLocation where, std::function<void()> then) {
  auto highest = [&] {
    const std::vector<NumberedFile> others = numberedFiles(directory, name);
    return others.empty() ? -1 : others.back().number;
  };
  const std::string prefix = pathIn(directory, name);
  FileWriter::removeUnfinishedBeside(prefix);
  std::shared_ptr<FileWriter> reserved;
  std::int64_t number = asked.value_or(0);
  for (std::int64_t last = std::max({std::int64_t(0), counter, highest()}); !reserved;) {
    if (!asked) {
      if (last == std::numeric_limits<std::int64_t>::max())
        throw ValueError(absl::StrCat("save: no number is above that of ", prefix, "-", last,
                                      "; move the file away, or save under another name"),
                         where);
      number = last + 1;
    }
    reserved = FileWriter::reserve(absl::StrCat(prefix, "-", number, kCheckpointEnding), where);
    if (!reserved && asked)
      throw ValueError(absl::StrCat("save: ", prefix, "-", number, " is being saved by another checkpoint"), where);
    // Since the directory was read, another checkpoint may have finished a file, and even removed it.
    const std::int64_t now = highest();
    if (reserved && !asked && now >= number)
      reserved.reset();
    last = std::max(number, now);
  }
  const std::int64_t before = std::exchange(counter, number);
  std::string path = absl::StrCat(prefix, "-", number);
  try {
    write(path + kCheckpointEnding, std::move(reserved), options, where, std::move(then));
  } catch (...) {
    counter = before;
    throw;
  }
  return path;
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
  detail::refuseTrace("save", where);
  state->wait();
  const std::size_t slash = prefix.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
  detail::makeDirectory(directory, where);
  return state->writeNumbered(directory, prefix.substr(directory.size()), std::nullopt, options, where, {});
}

std::string Checkpoint::write(const std::string &path, CheckpointOptions options, SourceLocation where) const {
  where = detail::userLine(where);
  detail::refuseTrace("write", where);
  state->wait();
  const std::size_t slash = path.rfind('/');
  detail::makeDirectory(slash == std::string::npos ? "" : path.substr(0, slash + 1), where);
  state->write(fileOf(path), nullptr, options, where, {});
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
  const std::string file = fileOf(*path);
  return readWithinMemory(file, where, [&] { return restoredFrom(file, counts, where); });
}

std::shared_ptr<detail::Restoration> detail::CheckpointState::restoredFrom(const std::string &path, bool counts,
                                                                           SourceLocation where) {
  const TensorFile file = TensorFile::read(path, where, TensorFile::Digest::Required);
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
    of_->expectPartial(); // the error names the values
    throw AssertionError(absl::StrCat("restore: nothing has taken ", listed(names), " of ", of_->path),
                         detail::userLine(where));
  }
  return *this;
}

} // namespace calque
