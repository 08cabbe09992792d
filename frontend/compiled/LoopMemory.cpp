#include "frontend/compiled/LoopMemory.h"

#include "absl/strings/str_cat.h"
#include "calque/loop_memory.h"
#include "calque/warnings.h"
#include "frontend/core/CallNames.h"
#include "runtime/SystemMemory.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace calque {

namespace {
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> limitThatWasSet{0}; // 0: none was

std::size_t defaultLimit() {
  const char *setting = std::getenv("CALQUE_LOOP_MEMORY");
  const std::string text = setting ? setting : "";
  if (text == "off")
    return kNoLimit;
  if (text.empty()) {
    const std::size_t all = runtime::totalMemory();
    return all == kNoLimit ? kNoLimit : all / 4;
  }
  const std::optional<std::uint64_t> bytes = runtime::bytesNamed(text);
  if (!bytes)
    throw ValueError(absl::StrCat("CALQUE_LOOP_MEMORY is '", text,
                                  "' and must be 'off' or a number of bytes above 0, such as 100000, 512M or 2G"));
  return *bytes;
}
} // namespace

void set_loop_memory(std::size_t bytes) { limitThatWasSet = bytes; }
std::size_t loop_memory() {
  if (const std::size_t bytes = limitThatWasSet.load(std::memory_order_relaxed))
    return bytes;
  static const std::size_t byDefault = defaultLimit(); // a failure is tried again
  return byDefault;
}

namespace detail {

using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::RecordingRef;

namespace {

// Whether a loop may get a checkpoint: it has none, and its variables keep their sizes.
bool mayGetCheckpoint(const Recording &recording, const RecordedOp &op) {
  if (op.op != OpId::While)
    return false;
  std::span<const schema::Attribute> attributes = recording.attributesOf(op);
  return !std::get<bool>(attributes[0]) && std::get<std::vector<std::int64_t>>(attributes[1]).empty();
}

// Finds the innermost loop around an operation, or the operation itself, that may get a checkpoint: it is likely that
// most of what is kept belongs to it. A derivative in the body of a loop is not one of that loop.
class LoopAround {
public:
  explicit LoopAround(std::int64_t operation) : operation(operation) {}

  // Returns whether the operation is in the recording.
  bool find(const Recording &recording, bool isDifferentiated = false) {
    isDifferentiated = isDifferentiated || std::ranges::any_of(recording.ops(), [](const RecordedOp &op) {
                         return schema::schemaOf(op.op).differentiates;
                       });
    for (const RecordedOp &op : recording.ops()) {
      const std::int64_t own = next++;
      bool isHere = own == operation;
      for (const schema::Attribute &attribute : recording.attributesOf(op))
        if (const auto *inner = std::get_if<RecordingRef>(&attribute); inner && !isHere)
          isHere = find(**inner, isDifferentiated);
      if (!isHere)
        continue;
      if (!loop && isDifferentiated && mayGetCheckpoint(recording, op))
        loop = own;
      return true;
    }
    return false;
  }
  std::optional<std::int64_t> loop; // its number

private:
  const std::int64_t operation;
  std::int64_t next = 0;
};

bool areOneLine(const schema::SourceLine &a, const schema::SourceLine &b) {
  return a.line == b.line && a.column == b.column && std::string_view(a.file) == b.file;
}

// Copies a recording, and gives all loops of a line a checkpoint: tracing may have made several of one.
Recording withCheckpoints(const Recording &recording, const schema::SourceLine &line) {
  Recording made;
  made.name = recording.name;
  made.line = recording.line;
  made.variables = recording.variables;
  std::vector<schema::ValueId> renamed(recording.numValues(), -1);
  for (schema::ValueId parameter : recording.parameters)
    renamed[schema::index(parameter)] = made.addParameter(recording.typeOf(parameter));
  for (const RecordedOp &op : recording.ops()) {
    std::span<const schema::Attribute> given = recording.attributesOf(op);
    std::vector<schema::Attribute> attributes(given.begin(), given.end());
    if (mayGetCheckpoint(recording, op) && areOneLine(op.line, line))
      attributes[0] = true;
    for (schema::Attribute &attribute : attributes)
      if (const auto *inner = std::get_if<RecordingRef>(&attribute))
        attribute = RecordingRef(std::make_shared<const Recording>(withCheckpoints(**inner, line)));
    made.appendCopy(recording, op, renamed, attributes);
  }
  for (schema::ValueId result : recording.results)
    made.results.push_back(renamed[schema::index(result)]);
  return made;
}

// Whether nobody has been warned of a line with this limit: a loop may be traced many times.
bool isFirstWarning(const SourceLocation &where, std::size_t limit) {
  static auto *mutex = new runtime::ForkMutex; // never destroyed: other threads may still run
  static auto *warned = new std::set<std::tuple<std::string, unsigned, std::size_t>>;
  std::lock_guard guard(*mutex);
  return warned->emplace(where.file ? where.file : "", where.line, limit).second;
}

} // namespace

std::size_t LoopMemory::limit() const { return isLifted.load(std::memory_order_relaxed) ? kNoLimit : loop_memory(); }

void LoopMemory::afterPassed(const Code &code, const LoopMemoryPassed &passed, const Caller &caller) {
  std::string warning, operation = "a loop";
  SourceLocation where = passed.where;
  {
    std::lock_guard guard(mutex);
    if (next() || isLifted.load(std::memory_order_relaxed)) // another thread was first
      return;
    LoopAround around(passed.operation);
    around.find(recording);
    const RecordedOp *loop = around.loop ? recording.operationAt(*around.loop) : nullptr;
    // The caller's own recording has its own lines.
    const RecordedOp *named = loop && caller.recording ? caller.recording->operationAt(*around.loop) : nullptr;
    if (!named || named->op != OpId::While)
      named = loop;
    if (named) {
      operation = nameInMessages(named->op, named->line);
      if (named->line.line)
        where = locationOf(named->line);
    }
    if (loop)
      try {
        owned = compileRecording(withCheckpoints(recording, loop->line), code.hostFunctions, caller.where, options);
        next_.store(owned.get(), std::memory_order_release);
        warning = absl::StrCat(operation, ": a gradient keeps ", passed.bytes,
                               " bytes of the iterations, and would go beyond the limit of ", passed.limit,
                               "; from now on the loop is compiled with checkpoint = true, which keeps few iterations "
                               "and computes the others again; CALQUE_LOOP_MEMORY and set_loop_memory() set the limit");
      } catch (const CompileError &error) {
        warning = absl::StrCat(operation, ": a gradient keeps ", passed.bytes,
                               " bytes of the iterations, and would go beyond the limit of ", passed.limit,
                               "; the loop can't have a checkpoint, and the call goes on beyond it: ", error.what());
      }
    else
      warning = absl::StrCat(operation, ": a gradient keeps ", passed.bytes,
                             " bytes of the iterations, and would go beyond the limit of ", passed.limit,
                             "; there is no loop around that can have a checkpoint, and the call goes on beyond it");
    if (!owned)
      isLifted = true;
  }
  if (isFirstWarning(where, passed.limit))
    warn(warning, where);
}

void LoopMemory::notePassed(std::size_t limit, const Caller &caller) {
  if (!hasWarned.exchange(true) && isFirstWarning(caller.where, limit))
    warn(absl::StrCat("a gradient keeps more than the limit of ", limit,
                      " bytes of the iterations of a loop, and the call has printed or called the host, so that it "
                      "can't be repeated: checkpoint = true keeps few iterations; CALQUE_LOOP_MEMORY and "
                      "set_loop_memory() set the limit"),
         caller.where);
}

} // namespace detail
} // namespace calque
