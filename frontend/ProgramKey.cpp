#include "frontend/ProgramKey.h"

#include "runtime/Bytes.h"
#include "runtime/CodeCache.h"

namespace calque::detail {

namespace {

class KeyText {
public:
  // Returns whether the code depends on the recording alone.
  bool add(const schema::Recording &recording) {
    number(recording.parameters.size());
    for (schema::ValueId parameter : recording.parameters)
      type(recording.typeOf(parameter));
    number(recording.variables.size());
    for (const schema::RecordedVariable &variable : recording.variables)
      type(variable.type);
    number(recording.ops().size());
    for (const schema::RecordedOp &op : recording.ops()) {
      if (op.op == schema::OpId::Extern)
        return false;
      writer.text(schema::schemaOf(op.op).mnemonic);
      values(recording.operandsOf(op));
      for (const schema::Attribute &attribute : recording.attributesOf(op))
        if (!add(attribute))
          return false;
      number(op.numResults);
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        type(recording.typeOf(op.firstResult + static_cast<schema::ValueId>(r)));
    }
    values(recording.results);
    return true;
  }
  void add(std::string_view text) { writer.text(text); }
  std::span<const std::byte> bytes() const { return writer.bytes; }

private:
  void number(std::uint64_t value) { writer.number(value); }
  void values(std::span<const schema::ValueId> values) {
    number(values.size());
    for (schema::ValueId value : values)
      number(static_cast<std::uint64_t>(value));
  }
  void type(const schema::TensorType &type) {
    writer.text(name_of(type.dtype));
    ints(type.dims);
  }
  void ints(std::span<const std::int64_t> values) {
    number(values.size());
    for (std::int64_t value : values)
      number(static_cast<std::uint64_t>(value));
  }
  bool add(const schema::Attribute &attribute) {
    struct Visitor {
      KeyText &key;
      bool operator()(bool value) const { return key.number(value), true; }
      bool operator()(std::int64_t value) const { return key.number(static_cast<std::uint64_t>(value)), true; }
      bool operator()(const schema::Scalar &value) const {
        key.number(value.value().index());
        return key.number(value.bits()), true;
      }
      bool operator()(const std::string &value) const { return key.writer.text(value), true; }
      bool operator()(const std::vector<std::int64_t> &value) const { return key.ints(value), true; }
      bool operator()(DType value) const { return key.writer.text(name_of(value)), true; }
      bool operator()(const schema::RecordingRef &value) const { return key.add(*value); }
      bool operator()(const schema::ConstantRef &value) const {
        key.type(value->type);
        key.number(value->splat);
        return key.writer.block(value->bytes), true;
      }
    };
    return std::visit(Visitor{*this}, attribute);
  }

  runtime::ByteWriter writer;
};

} // namespace

std::optional<runtime::KernelKey> programKey(const schema::Recording &recording, std::string_view context) {
  KeyText text;
  text.add(context);
  if (!text.add(recording))
    return std::nullopt;
  return runtime::cacheKey(text.bytes());
}

} // namespace calque::detail
