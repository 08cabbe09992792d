#include "calque/arguments.h"

#include "absl/hash/hash.h"
#include "calque/callable.h"
#include "calque/control_flow.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"

#include <algorithm>
#include <cstring>

namespace calque::detail {

namespace {
// A tag precedes each part of a key, so that different argument lists have different keys.
enum Tag : std::uint64_t { TensorTag = 1ULL << 56, VariableTag = 2ULL << 56, TextTag = 3ULL << 56 };

constinit thread_local std::uint64_t tracingMode = 0;
} // namespace

// Modes are combined by exclusive or, because scopes may end in another order than they began.
ModeScope::ModeScope(std::uint64_t mode) : mode(absl::HashOf(mode)) { tracingMode ^= this->mode; }
ModeScope::~ModeScope() { tracingMode ^= mode; }

std::shared_ptr<const void> shared(const void *object, void (*destroy)(const void *)) { return {object, destroy}; }

void TensorCollector::tensor(const Tensor &x) { tensors.push_back(x); }

void ProducedCollector::tensor(const Tensor &x) { tensors.push_back(x); }
void ProducedCollector::variable(const Variable &x) { states.push_back(x.state().get()); }
void ProducedCollector::host(std::uint64_t bits) { Produced::host.push_back(bits); }
void ProducedCollector::text(const std::string &text) { texts.push_back(text); }

void sortEntries(std::vector<const void *> &entries, bool (*isLess)(const void *, const void *)) {
  std::sort(entries.begin(), entries.end(), isLess);
}

std::span<const std::uint64_t> Arguments::key() const { return {words_.data(), words_.size()}; }
std::span<const Tensor *const> Arguments::tensors() const { return {tensors_.data(), tensors_.size()}; }
std::span<const Variable *const> Arguments::variables() const { return {variables_.data(), variables_.size()}; }

inline void Arguments::word(std::uint64_t value) { words_.push_back(value); }
void Arguments::host(std::uint64_t bits) { word(bits); }
void Arguments::tensor(Tensor &&x) { tensor(made_.emplace_front(std::move(x))); }

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
