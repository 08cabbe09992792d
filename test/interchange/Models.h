// Writes models of ONNX, as an exporter would: messages of Protocol Buffers, by the numbers of their fields.
#ifndef CALQUE_TEST_INTERCHANGE_MODELS_H
#define CALQUE_TEST_INTERCHANGE_MODELS_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

namespace calque::testing::onnx {

class Message {
public:
  Message &integer(std::uint64_t field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message &text(std::uint64_t field, const std::string &value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Message &message(std::uint64_t field, const Message &value) { return text(field, value.bytes); }
  Message &number(std::uint64_t field, float value) {
    varint(field << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    bytes.append(reinterpret_cast<const char *>(&bits), 4);
    return *this;
  }
  template <typename T> Message &list(std::uint64_t field, const std::vector<T> &values, const auto &add) {
    for (const T &each : values)
      add(field, each);
    return *this;
  }

  std::string bytes;

private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes.push_back(static_cast<char>(value | 128));
    bytes.push_back(static_cast<char>(value));
  }
};

enum Type : std::int64_t { kFloat = 1, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9 };

template <typename T>
Message tensorOf(const std::string &name, std::int64_t type, const std::vector<std::int64_t> &dims,
                 const std::vector<T> &elements) {
  Message message;
  for (std::int64_t size : dims)
    message.integer(1, size);
  message.integer(2, type).text(8, name);
  return message.text(9, std::string(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T)));
}
inline Message floats(const std::string &name, const std::vector<std::int64_t> &dims, const std::vector<float> &x) {
  return tensorOf(name, kFloat, dims, x);
}
inline Message ints(const std::string &name, const std::vector<std::int64_t> &x) {
  return tensorOf(name, kInt64, {static_cast<std::int64_t>(x.size())}, x);
}
// A tensor whose elements are in another file.
inline Message external(const std::string &name, const std::vector<std::int64_t> &dims, const std::string &location,
                        const std::string &offset = "", const std::string &length = "") {
  Message message;
  for (std::int64_t size : dims)
    message.integer(1, size);
  message.integer(2, kFloat).text(8, name).integer(14, 1);
  message.message(13, Message().text(1, "location").text(2, location));
  if (!offset.empty())
    message.message(13, Message().text(1, "offset").text(2, offset));
  if (!length.empty())
    message.message(13, Message().text(1, "length").text(2, length));
  return message;
}

inline Message attribute(const std::string &name, std::int64_t value) {
  return Message().text(1, name).integer(3, value).integer(20, 2);
}
inline Message attribute(const std::string &name, int value) { return attribute(name, std::int64_t(value)); }
inline Message attribute(const std::string &name, float value) {
  return Message().text(1, name).number(2, value).integer(20, 1);
}
inline Message attribute(const std::string &name, const char *value) {
  return Message().text(1, name).text(4, value).integer(20, 3);
}
inline Message attribute(const std::string &name, const std::vector<std::int64_t> &values) {
  Message message = Message().text(1, name).integer(20, 7);
  for (std::int64_t each : values)
    message.integer(8, each);
  return message;
}
inline Message floatsAttribute(const std::string &name, const std::vector<float> &values) {
  Message message = Message().text(1, name).integer(20, 6);
  for (float each : values)
    message.number(7, each);
  return message;
}
inline Message graphAttribute(const std::string &name, const Message &graph) {
  return Message().text(1, name).message(6, graph).integer(20, 5);
}
inline Message tensorAttribute(const std::string &name, const Message &tensor) {
  return Message().text(1, name).message(5, tensor).integer(20, 4);
}
// That of the function around the node.
inline Message reference(const std::string &name, const std::string &outer) {
  return Message().text(1, name).text(21, outer).integer(20, 1);
}

inline Message node(const std::string &op, const std::vector<std::string> &inputs,
                    const std::vector<std::string> &outputs, const std::vector<Message> &attributes = {},
                    const std::string &name = "", const std::string &domain = "") {
  Message message;
  for (const std::string &each : inputs)
    message.text(1, each);
  for (const std::string &each : outputs)
    message.text(2, each);
  message.text(3, name).text(4, op).text(7, domain);
  for (const Message &each : attributes)
    message.message(5, each);
  return message;
}

// A size is a number or a name.
using Dims = std::vector<std::variant<int, std::string>>;
inline Message port(const std::string &name, std::int64_t type, const Dims &dims) {
  Message shape;
  for (const auto &each : dims)
    shape.message(1,
                  each.index() == 0 ? Message().integer(1, std::get<0>(each)) : Message().text(2, std::get<1>(each)));
  return Message().text(1, name).message(2, Message().message(1, Message().integer(1, type).message(2, shape)));
}

struct GraphParts {
  std::vector<Message> nodes, inputs, outputs, initializers = {};
};
inline Message graph(const GraphParts &parts) {
  Message message;
  message.text(2, "graph");
  for (const Message &each : parts.nodes)
    message.message(1, each);
  for (const Message &each : parts.initializers)
    message.message(5, each);
  for (const Message &each : parts.inputs)
    message.message(11, each);
  for (const Message &each : parts.outputs)
    message.message(12, each);
  return message;
}

inline Message opset(const std::string &domain, std::int64_t version) {
  return Message().text(1, domain).integer(2, version);
}
inline Message model(const Message &graph, std::int64_t version = 17, const std::vector<Message> &functions = {},
                     const std::vector<Message> &opsets = {}) {
  Message message;
  message.integer(1, 9).text(2, "test").message(7, graph).message(8, opset("", version));
  for (const Message &each : opsets)
    message.message(8, each);
  for (const Message &each : functions)
    message.message(25, each);
  return message;
}

// A folder for a test's files, which goes with the object.
class Folder {
public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "calque-onnx-XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string write(const std::string &name, const std::string &bytes) const {
    const std::filesystem::path path = path_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  std::string write(const Message &model) const { return write("model.onnx", model.bytes); }
  const std::filesystem::path &path() const { return path_; }
  std::string file(const std::string &name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

} // namespace calque::testing::onnx
#endif
