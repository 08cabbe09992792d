#include "frontend/compiled/CodeByStructure.h"

#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/Dump.h"
#include "frontend/compiled/KnownCode.h"
#include "frontend/core/KeyCache.h"
#include "frontend/core/Movement.h"
#include "frontend/core/Numerics.h"

#include <bit>
#include <cstring>

namespace calque::detail {

using schema::ValueId;

namespace {
void appendBytes(Key &key, const void *data, std::size_t count) {
  key.push_back(count);
  std::size_t first = key.size();
  key.resize(first + (count + 7) / 8, 0);
  if (count)
    std::memcpy(key.data() + first, data, count);
}

} // namespace

Key structureKey(const schema::Recording &recording) {
  Key key;
  key.push_back(recording.parameters.size());
  for (ValueId parameter : recording.parameters)
    appendKey(key, recording.typeOf(parameter));
  for (const schema::RecordedOp &op : recording.ops()) {
    key.push_back(static_cast<std::uint64_t>(op.op) << 48 | static_cast<std::uint64_t>(op.numOperands) << 16 |
                  op.numResults);
    for (ValueId operand : recording.operandsOf(op))
      key.push_back(static_cast<std::uint64_t>(operand));
    for (const schema::Attribute &attribute : recording.attributesOf(op))
      appendKey(key, attribute);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      appendKey(key, recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
  }
  key.push_back(recording.results.size());
  for (ValueId result : recording.results)
    key.push_back(static_cast<std::uint64_t>(result));
  return key;
}

void appendKey(Key &key, const schema::TensorType &type) {
  key.push_back(static_cast<std::uint64_t>(type.dtype) << 32 | type.dims.size());
  for (std::int64_t dim : type.dims)
    key.push_back(static_cast<std::uint64_t>(dim));
}

void appendKey(Key &key, const schema::Attribute &attribute) {
  key.push_back(attribute.index());
  struct Visitor {
    Key &key;
    void operator()(bool value) const { key.push_back(value); }
    void operator()(std::int64_t value) const { key.push_back(static_cast<std::uint64_t>(value)); }
    void operator()(const schema::Scalar &value) const {
      key.push_back(value.value().index());
      key.push_back(value.bits());
    }
    void operator()(const std::string &value) const { appendBytes(key, value.data(), value.size()); }
    void operator()(const std::vector<std::int64_t> &value) const {
      appendBytes(key, value.data(), value.size() * sizeof(std::int64_t));
    }
    void operator()(DType value) const { key.push_back(static_cast<std::uint64_t>(value)); }
    void operator()(const schema::RecordingRef &value) const {
      Key inner = structureKey(*value);
      appendBytes(key, inner.data(), inner.size() * sizeof(std::uint64_t));
    }
    void operator()(const schema::ConstantRef &value) const {
      appendKey(key, value->type);
      key.push_back(value->splat);
      appendBytes(key, value->bytes.data(), value->bytes.size());
    }
  };
  std::visit(Visitor{key}, attribute);
}

bool Versions::admit(KeyView form, int most) {
  std::lock_guard lock(mutex);
  if (byForm.size() > kMostCachedOperations)
    byForm.clear();
  return ++byForm[hashKey(form)] <= most;
}

std::vector<bool> connectedResults(const schema::Recording &recording) {
  static auto *cache =
      new KeyCache<std::vector<bool>>(kMostCachedOperations); // never destroyed: other threads may still run
  ReadScope scope;
  return cache->findOrMake(structureKey(recording), [&] {
    runtime::ForkSection section;
    KnownCode &known = KnownCode::ofProcess();
    if (auto connected = known.findConnected(recording))
      return *std::move(connected);
    std::vector<bool> connected = compiler().connected(recording);
    known.addConnected(recording, connected);
    return connected;
  });
}

namespace {
// The most programs that are compiled for their own positions, which makes faster code, before those that differ only
// in positions share the code of their indexed form.
constexpr int kMostPositions = 2;

} // namespace

StructuredCode codeByStructure(const schema::Recording &recording, SourceLocation where, bool checks) {
  using CodeRef = std::unique_ptr<const Code>;
  // Never destroyed: other threads may still run.
  static auto *plain = new KeyCache<CodeRef>(kMostCachedOperations),
              *checked = new KeyCache<CodeRef>(kMostCachedOperations);
  auto *cache = checks ? checked : plain;
  auto codeOf = [&](const schema::Recording &program, const Key &key) -> const Code & {
    return *cache->findOrMake(key, [&] {
      dump(program, Dumped::Eager, where);
      return compileRecording(program, {}, where, checks);
    });
  };
  static auto *forms = new Versions; // as `cache`
  Key key = structureKey(recording);
  if (const CodeRef *found = cache->find(key))
    return {**found, {}, {}};
  IndexedRecording indexed = withIndices(recording);
  if (!indexed.indices.empty()) {
    Key form = structureKey(indexed.recording);
    const CodeRef *found = cache->find(form);
    if (found || !forms->admit(form, kMostPositions)) {
      const Code &code = found ? **found : codeOf(indexed.recording, form);
      return {code, std::move(indexed.indices), std::move(indexed.recording)};
    }
  }
  return {codeOf(recording, key), {}, {}};
}

std::vector<Tensor> runSlice(const Slice &slice, std::span<const Tensor> parameters, SourceLocation where) {
  ReadScope scope;
  std::vector<const Tensor *> inputs;
  for (std::size_t parameter : slice.parameters)
    inputs.push_back(&parameters[parameter]);
  StructuredCode structured = codeByStructure(slice.recording, where, canCheckNumerics(inputs));
  for (const Tensor &indices : structured.indices)
    inputs.push_back(&indices);
  std::vector<Tensor> results(slice.recording.results.size());
  run(structured.code, inputs, {}, results, {where, structured.indexed ? &*structured.indexed : &slice.recording});
  return results;
}

} // namespace calque::detail
