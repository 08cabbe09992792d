#include "ir/schema/Recording.h"

namespace calque::schema {

ValueId Recording::addParameter(const TensorType &type) {
  ValueId value = static_cast<ValueId>(types_.size());
  types_.push_back(type);
  parameters.push_back(value);
  return value;
}

ValueId Recording::append(OpId op, std::span<const ValueId> operands, std::span<const Attribute> attributes,
                          std::span<const TensorType> results, SourceLine line) {
  RecordedOp recorded{op,
                      static_cast<std::uint32_t>(operands_.size()),
                      static_cast<std::uint32_t>(operands.size()),
                      static_cast<std::uint32_t>(attributes_.size()),
                      static_cast<std::uint32_t>(attributes.size()),
                      static_cast<ValueId>(types_.size()),
                      static_cast<std::uint32_t>(results.size()),
                      line};
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  attributes_.insert(attributes_.end(), attributes.begin(), attributes.end());
  types_.insert(types_.end(), results.begin(), results.end());
  ops_.push_back(recorded);
  return recorded.firstResult;
}

std::span<const ValueId> Recording::gradientOperandsOf(const RecordedOp &op) const {
  std::span<const ValueId> operands = operandsOf(op);
  const OperationSchema &schema = schemaOf(op.op);
  if (!schema.counted && !schema.perAxis)
    return operands;
  const auto &list = std::get<std::vector<std::int64_t>>(attributesOf(op)[0]);
  return operands.first(schema.counted ? static_cast<std::size_t>(list[0]) : list.size());
}

std::span<const ValueId> Recording::capturesOf(const RecordedOp &op) const {
  if (!schemaOf(op.op).counted)
    return {};
  const auto &counts = std::get<std::vector<std::int64_t>>(attributesOf(op)[0]);
  return operandsOf(op).subspan(static_cast<std::size_t>(counts[0] + counts[1]));
}

} // namespace calque::schema
