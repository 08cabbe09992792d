// Writes the messages of ONNX. A message is preceded by its size, which one visitor counts and another one writes.
#include "onnx/Messages.h"

#include <bit>
#include <cstring>

namespace calque::onnx {

namespace {

// Gives each field to Out's raw(), which counts bytes or writes them.
template <typename Out> class Visitor {
public:
  template <typename T> void field(std::uint64_t number, T &value, bool isThere = true) {
    if (isThere)
      put(number, value);
  }
  void note(std::uint64_t number, std::string &text) { put(number, text); }
  void present(std::uint64_t, bool) {}
  void refuse(std::uint64_t, const char *) {}
  template <typename F> void choice(std::uint64_t number, ValueType::Kind &is, ValueType::Kind kind, const F &f) {
    if (is == kind && kind != ValueType::Kind::Other)
      nested(number, f);
  }
  template <typename T, typename F> void inside(std::uint64_t number, std::optional<T> &value, const F &f) {
    if (value)
      nested(number, f);
  }

private:
  Out &out() { return *static_cast<Out *>(this); }
  void varint(std::uint64_t value) {
    unsigned char bytes[10];
    std::size_t size = 0;
    for (; value >= 128; value >>= 7)
      bytes[size++] = static_cast<unsigned char>(value | 128);
    bytes[size++] = static_cast<unsigned char>(value);
    out().raw(bytes, size);
  }
  void tag(std::uint64_t number, Field::Kind kind) { varint(number << 3 | kind); }
  void block(std::uint64_t number, const void *bytes, std::size_t size) {
    tag(number, Field::Length);
    varint(size);
    out().raw(bytes, size);
  }
  template <typename F> void nested(std::uint64_t number, const F &f);

  // Texts and numbers that have their default are left out, but not those in lists, nor those whose presence says
  // something.
  void put(std::uint64_t number, std::string &text) {
    if (!text.empty())
      block(number, text.data(), text.size());
  }
  void put(std::uint64_t number, std::int64_t value) {
    tag(number, Field::Varint);
    varint(static_cast<std::uint64_t>(value));
  }
  void put(std::uint64_t number, bool value) {
    if (value)
      put(number, std::int64_t(1));
  }
  void put(std::uint64_t number, float value) {
    tag(number, Field::Fixed32);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    out().raw(&bits, sizeof(bits));
  }
  void put(std::uint64_t number, Bytes bytes) { block(number, bytes.data(), bytes.size()); }
  void put(std::uint64_t number, std::vector<std::string> &texts) {
    for (const std::string &each : texts)
      block(number, each.data(), each.size());
  }
  void put(std::uint64_t number, std::vector<std::int64_t> &values) {
    for (std::int64_t each : values)
      put(number, each);
  }
  template <typename T>
    requires(std::is_floating_point_v<T>)
  void put(std::uint64_t number, std::vector<T> &values) {
    if (!values.empty())
      block(number, values.data(), values.size() * sizeof(T));
  }
  void put(std::uint64_t number, std::map<std::string, std::string> &entries) { putEntries(number, entries); }
  void put(std::uint64_t number, Opsets &entries) { putEntries(number, entries); }
  template <typename Map> void putEntries(std::uint64_t number, Map &entries) {
    for (const auto &[key, value] : entries) {
      std::pair<std::string, typename Map::mapped_type> entry(key, value);
      put(number, entry);
    }
  }
  template <typename T>
    requires(!std::is_floating_point_v<T>)
  void put(std::uint64_t number, std::vector<T> &values) {
    for (T &each : values)
      put(number, each);
  }
  template <typename T> void put(std::uint64_t number, std::optional<T> &value) {
    if (value)
      put(number, *value);
  }
  template <typename T> void put(std::uint64_t number, std::shared_ptr<T> &value) {
    if (value)
      put(number, *value);
  }
  template <typename T> void put(std::uint64_t number, T &message) {
    nested(number, [&](auto &inner) { describe(inner, message); });
  }
};

class Counter : public Visitor<Counter> {
public:
  void raw(const void *, std::size_t size) { bytes += size; }
  std::uint64_t bytes = 0;
};

class Writer : public Visitor<Writer> {
public:
  explicit Writer(const Sink &sink) : sink_(&sink) {}
  void raw(const void *bytes, std::size_t size) { (*sink_)(bytes, size); }

private:
  const Sink *sink_;
};

template <typename Out> template <typename F> void Visitor<Out>::nested(std::uint64_t number, const F &f) {
  Counter size;
  f(size);
  tag(number, Field::Length);
  varint(size.bytes);
  if constexpr (std::is_same_v<Out, Counter>)
    out().bytes += size.bytes;
  else
    f(out());
}

} // namespace

void writeModel(ModelFile &model, const Sink &sink) {
  Writer writer(sink);
  describe(writer, model);
}

std::uint64_t sizeOfModel(ModelFile &model) {
  Counter counter;
  describe(counter, model);
  return counter.bytes;
}

} // namespace calque::onnx
