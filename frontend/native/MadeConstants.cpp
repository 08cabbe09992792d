#include "frontend/native/MadeConstants.h"

#include "absl/hash/hash.h"
#include "frontend/core/Trace.h"

#include <algorithm>
#include <string_view>

namespace calque::detail {

namespace {
// What has no more bytes than the smallest block of the pool is not worth the look.
constexpr std::size_t kFewBytes = 64;
// After so many new bytes, buffers that nothing else holds any more are let go.
constexpr std::size_t kLookAfter = std::size_t(64) << 20;

std::string_view contentOf(const runtime::Buffer &buffer, std::size_t bytes) {
  return {static_cast<const char *>(buffer.data()), bytes};
}
} // namespace

void MadeConstants::hold(std::size_t bytes) {
  heldSinceLook += bytes;
  if (heldSinceLook < kLookAfter)
    return;
  heldSinceLook = 0;
  // A buffer of one element is in both tables.
  byElement.eraseIf([](const auto &each) { return each.second.useCount() <= 2; });
  for (auto &[hash, buffers] : byContent)
    std::erase_if(buffers, [](const runtime::Buffer &each) { return each.unique(); });
  byContent.eraseIf([](const auto &each) { return each.second.empty(); });
}

runtime::Buffer MadeConstants::shared(const schema::TensorType &type, runtime::Buffer made) {
  const std::size_t bytes = type.numBytes();
  if (bytes <= kFewBytes)
    return made;
  const std::string_view content = contentOf(made, bytes);
  std::vector<runtime::Buffer> &alike = byContent[absl::HashOf(content)];
  for (const runtime::Buffer &each : alike)
    if (each.bytes() == bytes && contentOf(each, bytes) == content)
      return each;
  alike.push_back(made);
  hold(bytes);
  return made;
}

runtime::Buffer MadeConstants::filled(const schema::TensorType &type, const void *element,
                                      absl::FunctionRef<runtime::Buffer()> fill) {
  if (type.numBytes() <= kFewBytes)
    return fill();
  std::pair key(std::string(static_cast<const char *>(element), size_of(type.dtype)), type.numBytes());
  if (auto found = byElement.find(key); found != byElement.end())
    return found->second;
  runtime::Buffer buffer = shared(type, fill());
  byElement.emplace(std::move(key), buffer);
  return buffer;
}

MadeConstants *constantsOfRuns() {
  const std::shared_ptr<Trace> &trace = currentTrace();
  return trace ? trace->madeConstants.get() : nullptr;
}

} // namespace calque::detail
