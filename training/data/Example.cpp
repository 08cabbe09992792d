// tf.train.Example in the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding, tensorflow/core/example/feature.proto):
//
//   Example { Features features = 1; }    Features { map<string, Feature> feature = 1; }
//   Feature { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
//   BytesList { repeated bytes value = 1; } FloatList { repeated float value = 1; } ...
//
// An entry of a map is a message of a key, 1, and a value, 2. Numbers may be packed into one field or not.
#include "Support.h"
#include "calque/data/records.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <limits>
#include <string_view>

namespace calque::data {
namespace {

enum Wire : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

//===-- Reading ---------------------------------------------------------------------------------===//

class Reader {
public:
  Reader(std::string_view bytes, std::size_t begin, SourceLocation where) : bytes(bytes), begin(begin), where(where) {}

  bool isAtEnd() const { return at == bytes.size(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (isAtEnd())
        damaged("ends within a number");
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      if (shift == 63 && byte > 1)
        break;
      value |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    damaged("has a number of more than 64 bits");
  }
  float fixed32() {
    float value;
    const std::string_view four = take(4);
    std::memcpy(&value, four.data(), 4); // little-endian, as the machines that Calque compiles for
    return value;
  }
  Reader message() {
    const std::string_view content = text();
    return Reader(content, begin + at - content.size(), where);
  }
  std::string_view text() { return take(varint()); }
  void skip(unsigned wire) {
    if (wire == Varint)
      varint();
    else if (wire == Fixed64)
      take(8);
    else if (wire == Bytes)
      text();
    else if (wire == Fixed32)
      take(4);
    else
      damaged(absl::StrCat("has a field of the kind ", wire, ", which there is not"));
  }
  // Calls f with the number and the kind of each field. What f does not take is passed over.
  template <typename F> void fields(F &&f) {
    while (!isAtEnd()) {
      const std::uint64_t tag = varint();
      if (!f(tag >> 3, static_cast<unsigned>(tag & 7)))
        skip(static_cast<unsigned>(tag & 7));
    }
  }
  [[noreturn]] void damaged(const std::string &fault) const {
    throw DataError(absl::StrCat("this is no tf.train.Example: at byte ", begin + at, " it ", fault), where);
  }

private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes.size() - at)
      damaged(absl::StrCat("ends within a field of ", count, " bytes"));
    at += static_cast<std::size_t>(count);
    return bytes.substr(at - static_cast<std::size_t>(count), static_cast<std::size_t>(count));
  }
  const std::string_view bytes;
  const std::size_t begin; // in the whole message
  const SourceLocation where;
  std::size_t at = 0;
};

// A list of numbers, packed or not. `one` reads one.
template <typename T, typename F> std::vector<T> listOf(Reader list, unsigned wireOfOne, F &&one) {
  std::vector<T> values;
  list.fields([&](std::uint64_t number, unsigned wire) {
    if (number != 1 || (wire != wireOfOne && wire != Bytes))
      return false;
    if (wire == wireOfOne)
      values.push_back(one(list));
    else
      for (Reader packed = list.message(); !packed.isAtEnd();)
        values.push_back(one(packed));
    return true;
  });
  return values;
}

// Where a message comes twice, protocol buffers merge the two: lists grow.
template <typename T> void add(Example::Feature &feature, std::vector<T> values) {
  if (auto *list = std::get_if<std::vector<T>>(&feature))
    list->insert(list->end(), values.begin(), values.end());
  else
    feature = std::move(values);
}

Example::Feature featureOf(Reader reader) {
  Example::Feature feature;
  reader.fields([&](std::uint64_t number, unsigned wire) {
    if (number < 1 || number > 3 || wire != Bytes)
      return false;
    Reader list = reader.message();
    if (number == 1) {
      std::vector<std::string> values;
      list.fields([&](std::uint64_t field, unsigned kind) {
        if (field != 1 || kind != Bytes)
          return false;
        values.emplace_back(list.text());
        return true;
      });
      add(feature, std::move(values));
    } else if (number == 2) {
      add(feature, listOf<float>(list, Fixed32, [](Reader &one) { return one.fixed32(); }));
    } else {
      add(feature,
          listOf<std::int64_t>(list, Varint, [](Reader &one) { return static_cast<std::int64_t>(one.varint()); }));
    }
    return true;
  });
  return feature;
}

//===-- Writing ---------------------------------------------------------------------------------===//

void appendVarint(std::string &bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}
std::string field(unsigned number, std::string_view content) {
  std::string bytes;
  appendVarint(bytes, number << 3 | Bytes);
  appendVarint(bytes, content.size());
  return bytes.append(content);
}

const char *nameOf(const Example::Feature &feature) {
  constexpr const char *names[] = {"bytes", "floats", "integers"};
  return names[feature.index()];
}

} // namespace

std::string Example::serialize() const {
  std::string all;
  for (const auto &[name, feature] : features) {
    std::string list;
    if (const auto *texts = std::get_if<std::vector<std::string>>(&feature)) {
      for (const std::string &text : *texts)
        list += field(1, text);
    } else if (const auto *floats = std::get_if<std::vector<float>>(&feature)) {
      if (!floats->empty())
        list = field(1, {reinterpret_cast<const char *>(floats->data()), floats->size() * sizeof(float)});
    } else {
      for (std::int64_t value : std::get<std::vector<std::int64_t>>(feature))
        appendVarint(list, static_cast<std::uint64_t>(value));
      if (!list.empty())
        list = field(1, list);
    }
    const std::string value = field(static_cast<unsigned>(feature.index()) + 1, list);
    all += field(1, field(1, name) + field(2, value));
  }
  return field(1, all);
}

Example Example::parse(const std::string &message, SourceLocation where) {
  Example example;
  Reader reader(message, 0, CallSite::resolve(where));
  reader.fields([&](std::uint64_t number, unsigned wire) {
    if (number != 1 || wire != Bytes)
      return false;
    Reader features = reader.message();
    features.fields([&](std::uint64_t field, unsigned kind) {
      if (field != 1 || kind != Bytes)
        return false;
      Reader entry = features.message();
      std::string name;
      Feature feature;
      entry.fields([&](std::uint64_t part, unsigned partKind) {
        if (part < 1 || part > 2 || partKind != Bytes)
          return false;
        if (part == 1)
          name = entry.text();
        else
          feature = featureOf(entry.message());
        return true;
      });
      example.features[name] = std::move(feature);
      return true;
    });
    return true;
  });
  return example;
}

std::map<std::string, Tensor> parse_single_example(const std::string &message,
                                                   const std::map<std::string, FixedLenFeature> &features,
                                                   SourceLocation where) {
  where = CallSite::resolve(where);
  const Example example = Example::parse(message, where);
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, asked] : features) {
    std::size_t count = 1;
    for (std::int64_t size : asked.shape)
      count *= static_cast<std::size_t>(size);
    const auto found = example.features.find(name);
    if (found == example.features.end()) {
      if (!asked.default_value)
        throw DataError(absl::StrCat("parse_single_example: there is no feature '", name, "', and it has no default"),
                        where);
      dispatch(asked.dtype, [&]<typename T>(std::type_identity<T>) {
        tensors.emplace(name, tensor(std::vector<T>(count, static_cast<T>(*asked.default_value)), asked.shape, where));
      });
      continue;
    }
    auto make = [&](const auto &values) {
      if (values.size() != count)
        throw DataError(absl::StrCat("parse_single_example: feature '", name, "' has ", values.size(),
                                     " values, which are not those of the shape ", asked.shape.str()),
                        where);
      return dispatch(asked.dtype, [&]<typename T>(std::type_identity<T>) {
        std::vector<T> converted;
        for (auto value : values) {
          if constexpr (std::is_integral_v<decltype(value)>)
            if (static_cast<std::int64_t>(static_cast<T>(value)) != value)
              throw DataError(absl::StrCat("parse_single_example: feature '", name, "' holds ", value, ", which ",
                                           name_of(asked.dtype), " does not"),
                              where);
          converted.push_back(static_cast<T>(value));
        }
        return tensor(converted, asked.shape, where);
      });
    };
    const bool isFloat = is_floating(asked.dtype);
    if (const auto *floats = std::get_if<std::vector<float>>(&found->second); floats && isFloat)
      tensors.emplace(name, make(*floats));
    else if (const auto *integers = std::get_if<std::vector<std::int64_t>>(&found->second); integers && !isFloat)
      tensors.emplace(name, make(*integers));
    else
      throw DataError(absl::StrCat("parse_single_example: feature '", name, "' holds ", nameOf(found->second),
                                   ", which don't become ", name_of(asked.dtype)),
                      where);
  }
  return tensors;
}

} // namespace calque::data
