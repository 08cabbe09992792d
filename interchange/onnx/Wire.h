// Protocol Buffers' wire format: a message is a list of numbered fields. Nothing is copied, and no length is believed
// before it is checked.
//
//   Wire wire(bytes, "model.onnx");
//   for (Field field; wire.next(field);)
//     if (field.number == 1)
//       version = field.integer(wire);
#ifndef CALQUE_INTERCHANGE_ONNX_WIRE_H
#define CALQUE_INTERCHANGE_ONNX_WIRE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calque::onnx {

using Bytes = std::span<const std::byte>;

class Wire;

// One field. Its kind says how it is encoded: a number in groups of 7 bits, 8 bytes, a length and bytes, or 4 bytes.
struct Field {
  enum Kind : std::uint8_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

  std::uint64_t number = 0;
  Kind kind = Varint;
  std::uint64_t value = 0; // of all kinds but Length
  Bytes bytes;             // of Length

  // DataError for a field of another kind.
  std::int64_t integer(const Wire &wire) const;
  float number32(const Wire &wire) const;
  std::string text(const Wire &wire) const;
  Bytes message(const Wire &wire) const;
  // Append the numbers of a repeated field, which is one number or several that are packed.
  void appendTo(std::vector<std::int64_t> &numbers, const Wire &wire) const;
  void appendTo(std::vector<float> &numbers, const Wire &wire) const;
  void appendTo(std::vector<double> &numbers, const Wire &wire) const;
};

class Wire {
public:
  // `file` is for messages. `depth` counts the messages around this one: DataError beyond a bound, so that no file
  // makes the reader's stack overflow.
  Wire(Bytes bytes, std::string_view file, int depth = 0);

  // Reads the next field. Returns false at the end.
  bool next(Field &field);
  [[noreturn]] void damaged(const std::string &what) const;
  std::string_view file() const { return file_; }
  int depth() const { return depth_; }
  // The reader of a message in a field.
  Wire inside(const Field &field) const { return Wire(field.message(*this), file_, depth_ + 1); }

private:
  friend struct Field;
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t size);

  Bytes rest_;
  std::string_view file_;
  int depth_;
};

} // namespace calque::onnx
#endif
