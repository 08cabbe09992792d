// Values that are made of options say once which they have: describe(a) shows each to a writer or a reader of configs.
// A type of one's own has configOf and readConfig in its namespace.
#ifndef CALQUE_TRAINING_FIELDS_H
#define CALQUE_TRAINING_FIELDS_H

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/config.h"

#include <algorithm>

namespace calque {

// ValueError for a name that is no element type's.
DType dtypeNamed(const std::string &name);

// How a value stands in a config.
template <typename T> ConfigValue configOf(const T &value) { return ConfigValue(value); }
inline ConfigValue configOf(const std::vector<double> &values) {
  return ConfigValue(ConfigValue::List(values.begin(), values.end()));
}

template <typename T> ConfigValue configOf(const std::optional<T> &value) {
  return value ? configOf(*value) : ConfigValue();
}

template <typename T> void readConfig(const ConfigValue &from, T &value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
    value = from.as<T>(SourceLocation());
  else if constexpr (std::is_integral_v<T>)
    value = static_cast<T>(from.as<std::int64_t>(SourceLocation()));
  else
    value = from.as<double>(SourceLocation());
}
// A list, with null for a size that is not known.
inline ConfigValue configOf(const Shape &value) {
  ConfigValue::List sizes;
  for (const Size &size : value)
    if (size.is_known())
      sizes.emplace_back(std::int64_t(size));
    else
      sizes.emplace_back();
  return sizes;
}
inline void readConfig(const ConfigValue &from, Shape &value) {
  value = Shape();
  for (const ConfigValue &size : from.as<ConfigValue::List>(SourceLocation()))
    value.push_back(size.is_null() ? kDynamic : Size(size.as<std::int64_t>(SourceLocation())));
}
inline ConfigValue configOf(DType value) { return ConfigValue(std::string(name_of(value))); }
inline void readConfig(const ConfigValue &from, DType &value) {
  value = dtypeNamed(from.as<std::string>(SourceLocation()));
}
template <typename T> void readConfig(const ConfigValue &from, std::vector<T> &values) {
  values.clear();
  for (const ConfigValue &element : from.as<ConfigValue::List>(SourceLocation())) {
    T value{};
    readConfig(element, value);
    values.push_back(value);
  }
}
template <typename T> void readConfig(const ConfigValue &from, std::optional<T> &value) {
  value.reset();
  if (!from.is_null())
    readConfig(from, value.emplace());
}

// What an error says, without its line, and without saying that it is about a config.
inline std::string messageOf(const Error &error) {
  std::string text = error.what();
  text = text.substr(0, text.find("\n  at "));
  return text.starts_with("config: ") ? text.substr(8) : text;
}

class ConfigWriter {
public:
  template <typename T> void operator()(const char *name, const T &value) { config.set(name, configOf(value)); }
  Config config;
};

// Options that the config lacks keep their defaults.
class ConfigReader {
public:
  // Errors name the kind of what is made, and the field.
  explicit ConfigReader(const Config &config, std::string kind) : config(config), kind(std::move(kind)) {}
  template <typename T> void operator()(const char *name, T &value) {
    known.emplace_back(name);
    const ConfigValue *found = config.find(name);
    if (!found)
      return;
    try {
      readConfig(*found, value);
    } catch (const ValueError &error) {
      training::fail<ValueError>(absl::StrCat(kind, ": '", name, "' of its config: ", messageOf(error)),
                                 error.location());
    } catch (const LookupError &error) {
      training::fail<LookupError>(absl::StrCat(kind, ": '", name, "' of its config: ", messageOf(error)),
                                  error.location());
    }
  }
  // Those that were asked for.
  const std::vector<std::string> &names() const { return known; }
  // ValueError for a name that was not asked for.
  void finish() const {
    for (const auto &[name, value] : config)
      // Keras writes null for what is not there.
      if (!value.is_null() && std::find(known.begin(), known.end(), name) == known.end())
        training::fail<ValueError>(absl::StrCat(kind, ": its config has '", name, "', which is no option of it"));
  }

private:
  const Config &config;
  const std::string kind;
  std::vector<std::string> known;
};

} // namespace calque
#endif
