#include "frontend/saving/Restoration.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/warnings.h"
#include "frontend/compiled/VariableLocks.h"
#include "frontend/core/CallNames.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <charconv>

namespace calque {

//===-- Parts -----------------------------------------------------------------------------------===//

Trackable::~Trackable() = default;

void Trackable::restore_made(const std::function<void(CheckpointVisitor &)> &parts) {
  // A copy, because restore() may change the list.
  for (const detail::Awaited &each : std::vector(awaited_.rbegin(), awaited_.rend()))
    each.from->restore(each.path, parts, {});
}

void Trackable::unmake(const std::function<void(CheckpointVisitor &)> &parts) {
  for (const detail::Awaited &each : awaited_)
    each.from->giveBack(each.path, parts);
}

std::string CheckpointVisitor::pathOf(const std::string &name) const {
  // Names of the root's parts are names in the file, where Calque has names of its own.
  if (name.empty() || name.find('/') != std::string::npos || (path_.empty() && name.starts_with("calque.")))
    throw ValueError(absl::StrCat("checkpoint: '", name, "'", path_.empty() ? "" : absl::StrCat(" in '", path_, "'"),
                                  " is no name of a part; it must not be empty, have no '/' and not begin with "
                                  "'calque.'"),
                     detail::userLine({}));
  return path_.empty() ? name : absl::StrCat(path_, "/", name);
}

void CheckpointVisitor::variable(const std::string &name, const Variable &variable) {
  const std::shared_ptr<detail::VariableState> &state = detail::stateOf(variable, {});
  if (items_.seen.insert(state.get()).second)
    items_.variables.push_back({pathOf(name), state});
}
void CheckpointVisitor::slot(const std::string &kind, const Variable &of, const Variable &slot) {
  const std::shared_ptr<detail::VariableState> &state = detail::stateOf(slot, {});
  if (items_.seen.insert(state.get()).second)
    items_.slots.push_back({path_, kind, detail::stateOf(of, {}), state});
}
void CheckpointVisitor::tensor(const std::string &name, Tensor &x) { items_.tensors.push_back({pathOf(name), &x}); }
void CheckpointVisitor::value(const std::string &name, std::string &x) {
  text(name, [&x] { return x; }, [&x](const std::string &from) { x = from; });
}
void CheckpointVisitor::text(const std::string &name, std::function<std::string()> save,
                             std::function<void(const std::string &)> restore) {
  items_.texts.push_back({pathOf(name), std::move(save), std::move(restore)});
}
void CheckpointVisitor::part(const std::string &name, Trackable &part) {
  if (!items_.seen.insert(&part).second)
    return;
  // Parts name their own parts by nested calls, which need a stack.
  constexpr std::size_t kDeepest = 1000;
  if (items_.depth == kDeepest)
    throw ValueError(absl::StrCat("checkpoint: parts are nested at most ", kDeepest,
                                  " deep, and there are more below '", pathOf(name).substr(0, 60), "...'"),
                     detail::userLine({}));
  CheckpointVisitor inside(items_, pathOf(name));
  ++items_.depth;
  part.checkpoint_parts(inside);
  --items_.depth;
}
void CheckpointVisitor::later(Trackable &object) { items_.later.emplace_back(&object, path_); }

namespace {
[[noreturn]] void throwNoNumber(const std::string &name, const std::string &text, const char *kind) {
  throw DataError(absl::StrCat("restore: '", name, "' is '", text, "', which is no ", kind), detail::userLine({}));
}
} // namespace

template <detail::SavedNumber T> void CheckpointVisitor::value(const std::string &name, T &x) {
  if constexpr (std::is_same_v<T, bool>)
    text(
        name, [&x] { return std::string(x ? "true" : "false"); },
        [&x, name](const std::string &from) {
          if (from != "true" && from != "false")
            throwNoNumber(name, from, "bool");
          x = from == "true";
        });
  else
    text(
        name,
        [&x] {
          char digits[64]; // the shortest text that reads back as the same number
          return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
        },
        [&x, name](const std::string &from) {
          T read{};
          const auto [end, fault] = std::from_chars(from.data(), from.data() + from.size(), read);
          if (fault != std::errc() || end != from.data() + from.size())
            throwNoNumber(name, from, std::is_integral_v<T> ? "integer of its type" : "number");
          x = read;
        });
}
#define CALQUE_SAVED_NUMBER(T) template CALQUE_API void CheckpointVisitor::value<T>(const std::string &name, T &x);
CALQUE_SAVED_NUMBER(bool)
CALQUE_SAVED_NUMBER(char)
CALQUE_SAVED_NUMBER(signed char)
CALQUE_SAVED_NUMBER(unsigned char)
CALQUE_SAVED_NUMBER(short)
CALQUE_SAVED_NUMBER(unsigned short)
CALQUE_SAVED_NUMBER(int)
CALQUE_SAVED_NUMBER(unsigned)
CALQUE_SAVED_NUMBER(long)
CALQUE_SAVED_NUMBER(unsigned long)
CALQUE_SAVED_NUMBER(long long)
CALQUE_SAVED_NUMBER(unsigned long long)
CALQUE_SAVED_NUMBER(float)
CALQUE_SAVED_NUMBER(double)
CALQUE_SAVED_NUMBER(long double)
#undef CALQUE_SAVED_NUMBER

namespace detail {

CheckpointItems CheckpointItems::of(const std::string &path, const std::function<void(CheckpointVisitor &)> &parts) {
  CheckpointItems items;
  CheckpointVisitor visitor(items, path);
  parts(visitor);
  return items;
}

//===-- Restoring -------------------------------------------------------------------------------===//

Restoration::Restoration(const TensorFile &file, TensorFile::Metadata given, const void *owner, SourceLocation where)
    : path(file.path()), owner(owner), where(where) {
  for (const TensorEntry &entry : file.entries())
    tensors[entry.name].value = file.tensor(entry, where);
  for (auto &[name, text] : given)
    texts[name].value = std::move(text);
  left = tensors.size() + texts.size();
}

template <typename T> void Restoration::take(Value<T> &value) {
  value = {{}, true};
  --left;
}

Restoration::~Restoration() {
  std::vector<std::string> left = unused();
  if (isPartial || left.empty())
    return;
  try {
    warn(absl::StrCat("restore: ", path, " has ", schema::counted(left.size(), "value"),
                      " that nothing has taken, the first is '", left[0],
                      "'; expect_partial() says that it is meant so"),
         where);
  } catch (...) { // from a handler of warnings
  }
}

std::vector<std::string> Restoration::pathsOf(const CheckpointItems::OfVariable &item) const {
  auto found = known.find(item.state.get());
  return found == known.end() || found->second.paths.empty() ? std::vector{item.path} : found->second.paths;
}

std::vector<std::string> Restoration::pathsOf(const CheckpointItems::OfSlot &item) const {
  auto found = known.find(item.of.get());
  const bool isKnown = found != known.end() && found->second.state.lock() == item.of;
  std::vector<std::string> paths;
  if (isKnown)
    for (const std::string &each : found->second.paths)
      paths.push_back(absl::StrCat(item.path, item.path.empty() ? "" : "/", item.kind, "/", each));
  if (paths.empty())
    paths.push_back(absl::StrCat(item.path, item.path.empty() ? "" : "/", item.state->name));
  return paths;
}

void Restoration::restore(const std::string &below, const std::function<void(CheckpointVisitor &)> &parts,
                          SourceLocation line) {
  line = userLine(line);
  CallSite site(line); // errors of names, or of the user's code, have this line
  CheckpointItems items = CheckpointItems::of(below, parts);
  std::lock_guard lock(mutex);
  for (const CheckpointItems::OfVariable &item : items.variables) {
    Known &entry = known[item.state.get()];
    if (entry.state.lock() != item.state)
      entry = {item.state, {}, false};
    if (std::ranges::find(entry.paths, item.path) == entry.paths.end())
      entry.paths.push_back(item.path);
  }

  // Everything is checked before anything changes.
  struct Assignment {
    std::shared_ptr<VariableState> state;
    Value<Tensor> *from;
    Tensor fresh;
  };
  std::vector<Assignment> assignments;
  auto find = [&](const auto &item) {
    for (const std::string &each : pathsOf(item)) {
      auto found = tensors.find(each);
      if (found == tensors.end() || found->second.taken)
        continue;
      const TensorImpl &impl = implOf(found->second.value);
      requireType(absl::StrCat("restore: '", each, "' is ", item.state->type->str(), " here, and ", impl.type->str(),
                               " in ", path),
                  *impl.type, *item.state->type, line);
      if (item.state->standIn)
        throw LeakedTensorError("a variable that was an argument of a traced function is used outside of the trace",
                                line);
      refuseHeld(*item.state, line);
      assignments.push_back({item.state, &found->second, makeEager(item.state->type, impl.buffer, line)});
      return;
    }
  };
  for (const CheckpointItems::OfVariable &item : items.variables)
    find(item);
  for (const CheckpointItems::OfSlot &item : items.slots)
    find(item);

  // Texts are restored first, because the user's code may refuse one. The texts before it then get back their old
  // values.
  std::vector<std::pair<const CheckpointItems::OfText *, std::string>> before;
  std::vector<Value<std::string> *> takenTexts;
  try {
    for (const CheckpointItems::OfText &item : items.texts) {
      auto found = texts.find(item.path);
      if (found == texts.end() || found->second.taken)
        continue;
      before.emplace_back(&item, item.save());
      item.restore(found->second.value);
      takenTexts.push_back(&found->second);
    }
  } catch (...) {
    for (auto each = before.rbegin(); each != before.rend(); ++each) {
      try {
        each->first->restore(each->second);
      } catch (...) { // the error above says more
      }
    }
    throw;
  }

  for (Value<std::string> *each : takenTexts)
    take(*each);
  for (const CheckpointItems::OfTensor &item : items.tensors)
    if (auto found = tensors.find(item.path); found != tensors.end() && !found->second.taken) {
      *item.tensor = std::move(found->second.value);
      take(found->second);
    }
  for (Assignment &each : assignments) {
    {
      std::unique_lock guard(each.state->mutex);
      std::swap(each.state->value, each.fresh);
    }
    take(*each.from); // so that the variable is the only owner of its memory
    Known &entry = known[each.state.get()];
    if (entry.state.lock() != each.state)
      entry = {each.state, {}, false};
    entry.restored = true;
  }
  for (const auto &[object, at] : items.later) {
    // This restore replaces earlier ones of the same checkpoint, which then don't warn of values that nothing has
    // taken.
    std::erase_if(object->awaited_, [&](const Awaited &each) {
      const bool isBefore = each.from->owner == owner;
      if (isBefore && each.from.get() != this)
        each.from->expectPartial();
      return isBefore;
    });
    if (left)
      object->awaited_.insert(object->awaited_.begin(), {shared_from_this(), at});
  }
}

void Restoration::giveBack(const std::string &below, const std::function<void(CheckpointVisitor &)> &parts) {
  CheckpointItems items = CheckpointItems::of(below, parts);
  std::lock_guard lock(mutex);
  auto back = [&](const auto &item) {
    auto entry = known.find(item.state.get());
    if (entry == known.end() || entry->second.state.lock() != item.state || !entry->second.restored)
      return;
    for (const std::string &each : pathsOf(item))
      if (auto found = tensors.find(each); found != tensors.end() && found->second.taken) {
        found->second = {item.state->value, false};
        ++left;
        break;
      }
  };
  for (const CheckpointItems::OfSlot &item : items.slots)
    back(item);
  for (const CheckpointItems::OfVariable &item : items.variables)
    back(item);
}

//===-- Values that wait ------------------------------------------------------------------------===//

namespace {

std::string below(const std::string &path, const std::string &rest) {
  return path.empty() ? rest : absl::StrCat(path, "/", rest);
}

// The innermost object on a path, and the rest of the path.
template <typename Map>
std::optional<std::pair<typename Map::const_iterator, std::string>> innermost(const Map &objects,
                                                                              const std::string &path) {
  for (std::size_t slash = path.rfind('/');; slash = slash == 0 ? std::string::npos : path.rfind('/', slash - 1)) {
    const bool isRoot = slash == std::string::npos;
    if (auto found = objects.find(isRoot ? std::string() : path.substr(0, slash)); found != objects.end())
      return std::pair(found, isRoot ? path : path.substr(slash + 1));
    if (isRoot)
      return std::nullopt;
  }
}

} // namespace

Restoration::Waiting Restoration::waitingFor(const CheckpointItems &items) {
  std::vector<std::pair<std::shared_ptr<Restoration>, Objects>> files;
  for (const auto &[object, now] : items.later)
    for (const Awaited &each : object->awaited_) {
      auto found = std::ranges::find(files, each.from, [](const auto &file) { return file.first; });
      if (found == files.end())
        found = files.insert(files.end(), {each.from, {}});
      found->second.emplace(each.path, now);
    }
  Waiting waiting;
  for (const auto &[file, objects] : files)
    file->addWaiting(items, objects, waiting);
  return waiting;
}

void Restoration::addWaiting(const CheckpointItems &items, const Objects &objects, Waiting &waiting) const {
  std::lock_guard lock(mutex);
  if (!left)
    return;
  // The variables, by their paths in the file; the paths of objects that have variables; and the paths of optimisers,
  // with the variables for which they have slots.
  std::map<std::string, const CheckpointItems::OfVariable *> variables;
  HashSet<std::string> filled;
  HashSet<std::pair<std::string, const VariableState *>> withSlots;
  for (const CheckpointItems::OfVariable &item : items.variables) {
    const auto entry = known.find(item.state.get());
    if (entry != known.end() && entry->second.state.lock() == item.state)
      for (const std::string &each : entry->second.paths)
        variables.emplace(each, &item);
    for (std::string at = item.path; !at.empty() && filled.insert(at).second;) {
      const std::size_t slash = at.rfind('/');
      at.resize(slash == std::string::npos ? 0 : slash);
    }
    filled.insert("");
  }
  for (const CheckpointItems::OfSlot &item : items.slots)
    withSlots.emplace(item.path, item.of.get());

  // The present path of a value; std::nullopt if nothing waits for the value. After expect_partial(), a value waits
  // only if its part is surely not made yet: its object has no variables, or its variable has no slots.
  const std::function<std::optional<std::string>(const std::string &)> pathNow =
      [&](const std::string &path) -> std::optional<std::string> {
    const auto found = innermost(objects, path);
    if (!found)
      return std::nullopt;
    const auto &[object, rest] = *found;
    const std::string &now = object->second;
    if (const std::size_t slash = rest.find('/'); slash != std::string::npos) {
      const std::string kind = rest.substr(0, slash), of = rest.substr(slash + 1);
      if (auto known = variables.find(of); known != variables.end()) {
        if (isPartial && withSlots.contains(std::pair(now, known->second->state.get())))
          return std::nullopt;
        return below(now, absl::StrCat(kind, "/", known->second->path));
      }
      if (auto later = tensors.find(of); later != tensors.end() && !later->second.taken)
        if (const std::optional<std::string> place = pathNow(of))
          return below(now, absl::StrCat(kind, "/", *place));
    }
    if (isPartial && filled.contains(now))
      return std::nullopt;
    return below(now, rest);
  };
  for (const auto &[path, value] : tensors)
    if (!value.taken)
      if (std::optional<std::string> now = pathNow(path))
        waiting.tensors.emplace(*std::move(now), value.value);
  for (const auto &[path, value] : texts)
    if (!value.taken)
      if (std::optional<std::string> now = pathNow(path))
        waiting.texts.emplace(*std::move(now), value.value);
}

//===-- Values that nothing has taken -----------------------------------------------------------===//

std::vector<std::string> Restoration::unused() const {
  std::lock_guard lock(mutex);
  std::vector<std::string> left;
  for (const auto &[name, value] : tensors)
    if (!value.taken)
      left.push_back(name);
  for (const auto &[name, value] : texts)
    if (!value.taken)
      left.push_back(name);
  return left;
}

std::vector<std::string> Restoration::missing(const CheckpointItems &items) const {
  std::lock_guard lock(mutex);
  std::vector<std::string> result;
  auto add = [&](const auto &item) {
    auto found = known.find(item.state.get());
    if (found == known.end() || found->second.state.lock() != item.state || !found->second.restored)
      result.push_back(pathsOf(item).front());
  };
  for (const CheckpointItems::OfVariable &item : items.variables)
    add(item);
  for (const CheckpointItems::OfSlot &item : items.slots)
    add(item);
  for (const CheckpointItems::OfTensor &item : items.tensors)
    if (!tensors.contains(item.path) && item.tensor->defined())
      result.push_back(item.path);
  for (const CheckpointItems::OfText &item : items.texts)
    if (!texts.contains(item.path))
      result.push_back(item.path);
  return result;
}

void Restoration::expectPartial() {
  std::lock_guard lock(mutex);
  isPartial = true;
}

} // namespace detail
} // namespace calque
