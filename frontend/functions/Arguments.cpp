#include "calque/arguments.h"

#include "absl/hash/hash.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"

#include <cstring>

namespace calque::detail {

namespace {
// A tag precedes each part of a key, so that different argument lists have different keys.
enum Tag : std::uint64_t { TensorTag = 1ULL << 56, VariableTag = 2ULL << 56, TextTag = 3ULL << 56 };

constinit thread_local std::uint64_t tracingMode = 0;
} // namespace

// Exclusive or: scopes may end in another order than they began in.
ModeScope::ModeScope(std::uint64_t mode) : mode(absl::HashOf(mode)) { tracingMode ^= this->mode; }
ModeScope::~ModeScope() { tracingMode ^= mode; }

Arguments::Arguments(const SourceLocation &where) : where_(where) { word(tracingMode); }

void Arguments::tensor(const Tensor &x) {
  const TensorImpl &impl = implOf(x, where_);
  word(TensorTag | static_cast<std::uint64_t>(impl.type->dtype) << 32 | impl.type->dims.size());
  for (std::int64_t dim : impl.type->dims)
    word(static_cast<std::uint64_t>(dim));
  tensors_.push_back(&x);
}

void Arguments::variable(const Variable &x) {
  if (!x.state())
    throw StateError("an empty variable is an argument", userLine(where_));
  // The number of the first argument that is the same variable.
  std::size_t alias = 0;
  while (alias < variables_.size() && !variables_.data()[alias]->same_as(x))
    ++alias;
  const schema::TensorType &type = *x.state()->type;
  word(VariableTag | static_cast<std::uint64_t>(x.trainable()) << 40 | static_cast<std::uint64_t>(type.dtype) << 32 |
       type.dims.size());
  word(alias);
  for (std::int64_t dim : type.dims)
    word(static_cast<std::uint64_t>(dim));
  variables_.push_back(&x);
}

void Arguments::text(const std::string &text) {
  word(TextTag | text.size());
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, std::min<std::size_t>(8, text.size() - i));
    word(bytes);
  }
}

} // namespace calque::detail
