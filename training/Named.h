// Values that are made by a name and a config of options: regularisers and constraints.
#ifndef CALQUE_TRAINING_NAMED_H
#define CALQUE_TRAINING_NAMED_H

#include "Fields.h"
#include "absl/strings/str_join.h"
#include "calque/callable.h"

#include <functional>
#include <mutex>

namespace calque::training {

template <typename Value> class Named {
public:
  using Make = std::function<Value(const Config &)>;

  explicit Named(const char *kind) : kind(kind) {}
  // Keras' class name is another name, which messages don't list.
  void add(std::string name, std::string className, Make make) {
    known.push_back({std::move(name), std::move(className), std::move(make)});
  }
  // One of the user's. ValueError for a name that is taken.
  void addOwn(const std::string &name, Make make, SourceLocation where) {
    std::string function = absl::StrCat("register_", kind);
    calque::detail::requireCallable(make, function.c_str(), where);
    std::lock_guard lock(mutex);
    for (const Entry &each : known)
      if (each.name == name || each.className == name)
        fail<ValueError>(absl::StrCat(function, ": there is a ", kind, " '", name, "' already"), where);
    known.push_back({name, {}, std::move(make)});
  }
  // LookupError for a name that there is not.
  Value made(const std::string &name, const Config &options, SourceLocation where) {
    return makeOf(name, where)(options);
  }
  // {"class_name": ..., "config": ...}, or the name alone.
  Value made(const ConfigValue &config, SourceLocation where) {
    if (config.is<std::string>())
      return made(config.as<std::string>(where), Config(), where);
    const Config whole = config.as<Config>(where);
    const ConfigValue *options = whole.find("config");
    return made(whole.at("class_name", where).as<std::string>(where),
                options && !options->is_null() ? options->as<Config>(where) : Config(), where);
  }

private:
  struct Entry {
    std::string name, className;
    Make make;
  };
  Make makeOf(const std::string &name, SourceLocation where) {
    std::lock_guard lock(mutex);
    for (const Entry &each : known)
      if (each.name == name || (!name.empty() && each.className == name))
        return each.make;
    auto appendName = [](std::string *text, const Entry &each) { text->append(each.name); };
    fail<LookupError>(
        absl::StrCat(kind, ": there is no '", name, "'; there are ", absl::StrJoin(known, ", ", appendName)), where);
  }

  const char *const kind;
  std::mutex mutex;
  std::vector<Entry> known;
};

} // namespace calque::training
#endif
