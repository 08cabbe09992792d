#include "frontend/compiled/ProgramKey.h"

#include "runtime/CodeCache.h"
#include "schema/ProgramBytes.h"

#include <algorithm>

namespace calque::detail {

namespace {
bool hasUserOperation(const schema::Recording &recording) {
  return std::ranges::any_of(recording.ops(), [&](const schema::RecordedOp &op) {
    return op.op == schema::OpId::Extern || op.op == schema::OpId::OrderedExtern ||
           std::ranges::any_of(recording.attributesOf(op), [](const schema::Attribute &attribute) {
             const auto *inner = std::get_if<schema::RecordingRef>(&attribute);
             return inner && hasUserOperation(**inner);
           });
  });
}
} // namespace

std::optional<runtime::KernelKey> programKey(const schema::Recording &recording, std::string_view context) {
  if (hasUserOperation(recording))
    return std::nullopt;
  runtime::ByteWriter bytes;
  bytes.text(context);
  schema::writeCode(recording, bytes);
  return runtime::cacheKey(bytes.bytes);
}

} // namespace calque::detail
