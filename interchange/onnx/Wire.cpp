#include "onnx/Wire.h"

#include "calque/error.h"

#include <bit>
#include <cstring>

namespace calque::onnx {

namespace {
constexpr int kDeepest = 100;
}

Wire::Wire(Bytes bytes, std::string_view file, int depth) : rest_(bytes), file_(file), depth_(depth) {
  if (depth > kDeepest)
    damaged("messages are nested more than " + std::to_string(kDeepest) + " deep");
}

void Wire::damaged(const std::string &what) const {
  throw DataError(std::string(file_) + " is no ONNX file, or damaged: " + what);
}

std::uint64_t Wire::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty())
      damaged("it ends within a number");
    const auto byte = static_cast<std::uint64_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    value |= (byte & 127) << shift;
    if (!(byte & 128))
      return value;
  }
  damaged("a number has more than 64 bits");
}

std::uint64_t Wire::fixed(std::size_t size) {
  if (rest_.size() < size)
    damaged("it ends within a number");
  std::uint64_t value = 0;
  std::memcpy(&value, rest_.data(), size);
  rest_ = rest_.subspan(size);
  return value;
}

bool Wire::next(Field &field) {
  if (rest_.empty())
    return false;
  const std::uint64_t tag = varint();
  field.number = tag >> 3;
  field.bytes = {};
  field.value = 0;
  switch (tag & 7) {
  case Field::Varint:
    field.kind = Field::Varint;
    field.value = varint();
    break;
  case Field::Fixed64:
    field.kind = Field::Fixed64;
    field.value = fixed(8);
    break;
  case Field::Length: {
    field.kind = Field::Length;
    const std::uint64_t size = varint();
    if (size > rest_.size())
      damaged("field " + std::to_string(field.number) + " has " + std::to_string(size) + " bytes, but " +
              std::to_string(rest_.size()) + " are left");
    field.bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    break;
  }
  case Field::Fixed32:
    field.kind = Field::Fixed32;
    field.value = fixed(4);
    break;
  default:
    damaged("a field of kind " + std::to_string(tag & 7));
  }
  if (field.number == 0)
    damaged("a field without a number");
  return true;
}

namespace {
void expect(const Field &field, Field::Kind kind, const Wire &wire) {
  if (field.kind != kind)
    wire.damaged("field " + std::to_string(field.number) + " is of another kind");
}

template <typename T>
void appendFixed(const Field &field, Field::Kind kind, std::vector<T> &numbers, const Wire &wire) {
  if (field.kind == kind) {
    T number;
    std::memcpy(&number, &field.value, sizeof(T));
    numbers.push_back(number);
    return;
  }
  expect(field, Field::Length, wire);
  if (field.bytes.size() % sizeof(T) != 0)
    wire.damaged("field " + std::to_string(field.number) + " ends within a number");
  const std::size_t before = numbers.size();
  numbers.resize(before + field.bytes.size() / sizeof(T));
  if (!field.bytes.empty())
    std::memcpy(numbers.data() + before, field.bytes.data(), field.bytes.size());
}
} // namespace

std::int64_t Field::integer(const Wire &wire) const {
  expect(*this, Varint, wire);
  return static_cast<std::int64_t>(value);
}
float Field::number32(const Wire &wire) const {
  expect(*this, Fixed32, wire);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}
Bytes Field::message(const Wire &wire) const {
  expect(*this, Length, wire);
  return bytes;
}
std::string Field::text(const Wire &wire) const {
  const Bytes all = message(wire);
  return std::string(reinterpret_cast<const char *>(all.data()), all.size());
}
void Field::appendTo(std::vector<std::int64_t> &numbers, const Wire &wire) const {
  if (kind == Varint) {
    numbers.push_back(static_cast<std::int64_t>(value));
    return;
  }
  for (Wire packed(message(wire), wire.file_, wire.depth_); !packed.rest_.empty();)
    numbers.push_back(static_cast<std::int64_t>(packed.varint()));
}
void Field::appendTo(std::vector<float> &numbers, const Wire &wire) const {
  appendFixed(*this, Fixed32, numbers, wire);
}
void Field::appendTo(std::vector<double> &numbers, const Wire &wire) const {
  appendFixed(*this, Fixed64, numbers, wire);
}

} // namespace calque::onnx
