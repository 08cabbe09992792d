// Configs: plain values from which a layer, an activation or a model can be made. They print as JSON, and can be read
// from JSON.
//
//   Config config = layers::Dense(3, {.activation = "relu"}).get_config();
//   config["units"].as<std::int64_t>();  // 3
//   std::cout << config.str();           // {"units":3,"activation":"relu",...}
//   Config same = Config::parse(config.str());
//   Config own{{"name", "scale"}, {"factors", {1, 2.5}}, {"inner", Config{{"axis", -1}}}};
#ifndef CALQUE_CONFIG_H
#define CALQUE_CONFIG_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace calque {

class Config;

// Null, a bool, an integer, a number, a text, a list or a config.
class CALQUE_API ConfigValue {
public:
  using List = std::vector<ConfigValue>;

  ConfigValue() = default; // null
  ConfigValue(std::nullopt_t) {}
  template <std::same_as<bool> B> ConfigValue(B value) : value_(value) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  ConfigValue(I value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point F> ConfigValue(F value) : value_(static_cast<double>(value)) {}
  ConfigValue(const char *text) : value_(std::string(text)) {}
  ConfigValue(std::string text) : value_(std::move(text)) {}
  ConfigValue(List list);
  ConfigValue(std::initializer_list<ConfigValue> list) : ConfigValue(List(list)) {}
  ConfigValue(const Config &config);
  template <typename T> ConfigValue(const std::optional<T> &value) {
    if (value)
      *this = ConfigValue(*value);
  }
  template <typename T>
    requires(!std::same_as<T, ConfigValue>)
  ConfigValue(const std::vector<T> &values) : ConfigValue(List(values.begin(), values.end())) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  // Returns the value as a bool, std::int64_t, double, std::string, List or Config. An integer is returned as a double,
  // too. ValueError for another kind of value.
  template <typename T> T as(SourceLocation where = SourceLocation::current()) const;
  template <typename T> bool is() const;

  // The value as JSON. ValueError for infinity and NaN, which JSON lacks.
  std::string str(SourceLocation where = SourceLocation::current()) const;
  bool operator==(const ConfigValue &other) const;

private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::shared_ptr<const List>,
               std::shared_ptr<const Config>>
      value_;
};

// Values by their names, in the order in which they were set.
class CALQUE_API Config {
public:
  using Entry = std::pair<std::string, ConfigValue>;

  Config() = default;
  Config(std::initializer_list<Entry> entries);

  // LookupError for a name that the config lacks.
  const ConfigValue &operator[](const std::string &name) const { return at(name, SourceLocation()); }
  const ConfigValue &at(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  bool contains(const std::string &name) const { return find(name) != nullptr; }
  // Null for a name that the config lacks.
  const ConfigValue *find(const std::string &name) const;
  void set(const std::string &name, ConfigValue value);
  void erase(const std::string &name);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // The config as JSON: on several lines, each level indented by `indent` blanks, or on one line if `indent` is -1.
  // ValueError as for a value.
  std::string str(int indent = -1, SourceLocation where = SourceLocation::current()) const;
  // Reads JSON. ValueError for a text that is not JSON or not an object, and for a name that occurs twice in one
  // object.
  static Config parse(const std::string &json, SourceLocation where = SourceLocation::current());
  bool operator==(const Config &other) const { return entries_ == other.entries_; }

private:
  std::vector<Entry> entries_;
};

CALQUE_API std::ostream &operator<<(std::ostream &os, const Config &config);

} // namespace calque
#endif
