#include "calque/config.h"

#include "Fields.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_set>

namespace calque {

using training::fail;
using Json = nlohmann::ordered_json;

namespace {

// `path` is that of the value, for messages: "layers[2].config.rate".
Json jsonOf(const Config &config, const std::string &path, SourceLocation where);

Json jsonOf(const ConfigValue &value, const std::string &path, SourceLocation where) {
  if (value.is<bool>())
    return value.as<bool>();
  if (value.is<std::int64_t>())
    return value.as<std::int64_t>();
  if (value.is<double>()) {
    double number = value.as<double>();
    if (!std::isfinite(number))
      fail<ValueError>(absl::StrCat("config: JSON has no number ", number,
                                    path.empty() ? "" : absl::StrCat(", which ", path, " is")),
                       where);
    return number;
  }
  if (value.is<std::string>())
    return value.as<std::string>();
  if (value.is<ConfigValue::List>()) {
    Json list = Json::array();
    for (const ConfigValue &element : value.as<ConfigValue::List>())
      list.push_back(jsonOf(element, absl::StrCat(path, "[", list.size(), "]"), where));
    return list;
  }
  if (value.is<Config>())
    return jsonOf(value.as<Config>(), path, where);
  return nullptr;
}

Json jsonOf(const Config &config, const std::string &path, SourceLocation where) {
  Json object = Json::object();
  for (const auto &[name, value] : config)
    object[name] = jsonOf(value, absl::StrCat(path, path.empty() ? "" : ".", name), where);
  return object;
}

std::string textOf(const Json &json, int indent, SourceLocation where) {
  try {
    return json.dump(indent);
  } catch (const Json::exception &) {
    fail<ValueError>("config: a text in it is not UTF-8", where);
  }
}

template <typename T> const char *nameOf();
template <> const char *nameOf<bool>() { return "bool"; }
template <> const char *nameOf<std::int64_t>() { return "integer"; }
template <> const char *nameOf<double>() { return "number"; }
template <> const char *nameOf<std::string>() { return "text"; }
template <> const char *nameOf<ConfigValue::List>() { return "list"; }
template <> const char *nameOf<Config>() { return "config"; }

template <typename T>
using Held =
    std::conditional_t<std::is_same_v<T, ConfigValue::List> || std::is_same_v<T, Config>, std::shared_ptr<const T>, T>;

} // namespace

//===-- Values ----------------------------------------------------------------------------------===//

ConfigValue::ConfigValue(List list) : value_(std::make_shared<const List>(std::move(list))) {}
ConfigValue::ConfigValue(const Config &config) : value_(std::make_shared<const Config>(config)) {}

template <typename T> bool ConfigValue::is() const {
  return std::holds_alternative<Held<T>>(value_) ||
         (std::is_same_v<T, double> && std::holds_alternative<std::int64_t>(value_));
}

template <typename T> T ConfigValue::as(SourceLocation where) const {
  if (const auto *held = std::get_if<Held<T>>(&value_)) {
    if constexpr (std::is_same_v<Held<T>, T>)
      return *held;
    else
      return **held;
  }
  if constexpr (std::is_same_v<T, double>)
    if (const auto *integer = std::get_if<std::int64_t>(&value_))
      return static_cast<double>(*integer);
  fail<ValueError>(absl::StrCat("config: ", str(where), " is not of the kind that is asked for: ", nameOf<T>()), where);
}

#define CALQUE_CONFIG_KIND(T)                                                                                          \
  template CALQUE_API bool ConfigValue::is<T>() const;                                                                 \
  template CALQUE_API T ConfigValue::as<T>(SourceLocation) const;
CALQUE_CONFIG_KIND(bool)
CALQUE_CONFIG_KIND(std::int64_t)
CALQUE_CONFIG_KIND(double)
CALQUE_CONFIG_KIND(std::string)
CALQUE_CONFIG_KIND(ConfigValue::List)
CALQUE_CONFIG_KIND(Config)
#undef CALQUE_CONFIG_KIND

std::string ConfigValue::str(SourceLocation where) const { return textOf(jsonOf(*this, "", where), -1, where); }

bool ConfigValue::operator==(const ConfigValue &other) const {
  if (is<List>() && other.is<List>())
    return as<List>() == other.as<List>();
  if (is<Config>() && other.is<Config>())
    return as<Config>() == other.as<Config>();
  return value_ == other.value_;
}

//===-- Configs ---------------------------------------------------------------------------------===//

Config::Config(std::initializer_list<Entry> entries) {
  for (const Entry &entry : entries)
    set(entry.first, entry.second);
}

const ConfigValue *Config::find(const std::string &name) const {
  for (const Entry &entry : entries_)
    if (entry.first == name)
      return &entry.second;
  return nullptr;
}

const ConfigValue &Config::at(const std::string &name, SourceLocation where) const {
  if (const ConfigValue *found = find(name))
    return *found;
  auto appendName = [](std::string *text, const Entry &entry) { absl::StrAppend(text, "'", entry.first, "'"); };
  const std::string names = entries_.empty() ? "it is empty" : "there are " + absl::StrJoin(entries_, ", ", appendName);
  fail<LookupError>(absl::StrCat("config: there is no '", name, "'; ", names), where);
}

void Config::set(const std::string &name, ConfigValue value) {
  for (Entry &entry : entries_)
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  entries_.emplace_back(name, std::move(value));
}

void Config::erase(const std::string &name) {
  std::erase_if(entries_, [&](const Entry &entry) { return entry.first == name; });
}

std::string Config::str(int indent, SourceLocation where) const {
  return textOf(jsonOf(*this, "", where), indent, where);
}

Config Config::parse(const std::string &json, SourceLocation where) {
  // Makes the values while it is parsed: a file may have any number of names, of which each is looked up once.
  class Builder {
  public:
    explicit Builder(SourceLocation where) : where(where) {}
    Config whole;
    bool isWhole = false;

    bool null() { return add({}); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value); }
    bool number_unsigned(std::uint64_t value) {
      if (value > INT64_MAX)
        fail<ValueError>(absl::StrCat("config: int64 does not hold ", value), where);
      return add(static_cast<std::int64_t>(value));
    }
    bool number_float(double value, const std::string &) { return add(value); }
    bool string(std::string &text) { return add(std::move(text)); }
    bool binary(std::vector<std::uint8_t> &) { return false; }
    bool start_object(std::size_t) { return open(false); }
    bool start_array(std::size_t) { return !levels.empty() && open(true); }
    bool key(std::string &name) {
      if (!levels.back().names.insert(name).second)
        fail<ValueError>(absl::StrCat("config: the name '", name, "' stands twice in one object"), where);
      levels.back().name = std::move(name);
      return true;
    }
    bool end_object() {
      Config config = std::move(levels.back().config);
      levels.pop_back();
      if (!levels.empty())
        return add(config);
      whole = std::move(config);
      return isWhole = true;
    }
    bool end_array() {
      ConfigValue::List list = std::move(levels.back().list);
      levels.pop_back();
      return add(std::move(list));
    }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) { return false; }

  private:
    struct Level {
      bool isList = false;
      ConfigValue::List list = {};
      Config config = {};
      std::string name = {}; // of the next value
      std::unordered_set<std::string> names = {};
    };
    bool open(bool isList) {
      // What reads the values calls itself for those inside, and a file may have anything.
      constexpr std::size_t kDeepest = 500;
      if (levels.size() > kDeepest)
        fail<ValueError>(absl::StrCat("config: values are nested deeper than ", kDeepest, " levels"), where);
      levels.push_back({.isList = isList});
      return true;
    }
    bool add(ConfigValue value) {
      if (levels.empty())
        return false;
      if (levels.back().isList)
        levels.back().list.push_back(std::move(value));
      else
        levels.back().config.entries_.emplace_back(std::move(levels.back().name), std::move(value));
      return true;
    }

    const SourceLocation where;
    std::vector<Level> levels;
  };
  Builder builder(where);
  if (!nlohmann::json::sax_parse(json, &builder) || !builder.isWhole)
    fail<ValueError>(absl::StrCat("config: this is no object of JSON: ", json.substr(0, 60)), where);
  return std::move(builder.whole);
}

DType dtypeNamed(const std::string &name) {
  for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64})
    if (name == name_of(dtype))
      return dtype;
  fail<ValueError>(absl::StrCat("config: there is no element type '", name, "'"));
}

std::ostream &operator<<(std::ostream &os, const Config &config) { return os << config.str(); }

} // namespace calque
