#include "calque/layers/registry.h"

#include "Described.h"
#include "Nearest.h"
#include "absl/strings/str_join.h"

#include <mutex>
#include <unordered_map>

namespace calque::layers {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::string> names; // in order
  std::unordered_map<std::string, LayerMaker> makers;
  std::unordered_map<std::type_index, std::string> classes;
};
Registry &registry() {
  static Registry made;
  return made;
}

// The library's own layers are registered when first somebody asks.
Registry &filled() {
  static const bool done = [] {
    registerArithmetic();
    registerAttention();
    registerCore();
    registerConvolution();
    registerFunctional();
    registerMerging();
    registerPooling();
    registerNormalization();
    registerPreprocessing();
    registerRecurrent();
    registerRegularization();
    registerReshaping();
    registerSequential();
    return true;
  }();
  static_cast<void>(done);
  return registry();
}

//===-- Layers that occur more than once ----------------------------------------------------------===//

constexpr const char *kPolicy = "dtype_policy";
constexpr const char *kSharedId = "shared_object_id"; // as in files of Keras

// A call of serialize() of this thread, with those inside of it. The config of a layer that occurs again, in another
// model as well, is the one that it had, and both have a number that says so.
class Writing {
public:
  static Config write(const Layer &layer, const std::string &name, SourceLocation where) {
    if (current)
      return current->configOf(layer, name, where);
    Writing writing;
    Config config = writing.configOf(layer, name, where);
    // Which layers occur again is only known now.
    writing.known.clear();
    return writing.numbers.empty() ? config : writing.configOf(layer, name, where);
  }

private:
  Writing() { current = this; }
  ~Writing() { current = nullptr; }

  Config configOf(const Layer &layer, const std::string &name, SourceLocation where) {
    if (!layer.body())
      calque::detail::throwEmptyHandle("layer", where);
    const LayerBody &body = *layer.body();
    if (auto found = known.find(&body); found != known.end()) {
      numbers.try_emplace(&body, static_cast<std::int64_t>(numbers.size()));
      return found->second;
    }
    Config options = optionsOf(layer, name, where);
    Config config{{"class_name", classOf(body, where)}, {"config", std::move(options)}};
    if (const std::string policy = body.dtype_policy().name(); !policy.empty())
      config.set(kPolicy, policy);
    if (auto number = numbers.find(&body); number != numbers.end())
      config.set(kSharedId, number->second);
    kept.push_back(layer);
    return known[&body] = std::move(config);
  }
  // An option that has no config does not know whose it is.
  static Config optionsOf(const Layer &layer, const std::string &name, SourceLocation where) {
    try {
      return layer.get_config(where);
    } catch (const StateError &error) {
      const std::string text = error.what();
      std::string message = text.substr(0, text.find("\n  at "));
      const std::string &kind = layer.body()->kind();
      if (message.starts_with(absl::StrCat(kind, " '")) || message.starts_with("serialize: "))
        throw;
      if (message.starts_with(absl::StrCat(kind, ": ")))
        message = message.substr(kind.size() + 2);
      const std::string named = absl::StrCat(kind, name.empty() ? "" : absl::StrCat(" '", name, "'"), ": ", message);
      fail<StateError>(named, where);
    }
  }
  static std::string classOf(const LayerBody &body, SourceLocation where) {
    std::lock_guard lock(filled().mutex);
    auto found = registry().classes.find(typeid(body));
    if (found == registry().classes.end())
      fail<StateError>(absl::StrCat("serialize: the class of the layer '", body.kind(),
                                    "' is not known; register_layer() gives it a name"));
    return found->second;
  }

  static inline thread_local Writing *current = nullptr;
  std::unordered_map<const LayerBody *, Config> known;
  std::unordered_map<const LayerBody *, std::int64_t> numbers; // of those that occur again
  std::vector<Layer> kept;                                     // no other layer comes to be where one of them was
};

// A call of deserialize() of this thread, with those inside of it.
class Reading {
public:
  static Layer read(const Config &config, SourceLocation where) {
    if (current)
      return current->layerOf(config, where);
    return readAnother(config, where);
  }
  static Layer readAnother(const Config &config, SourceLocation where) {
    Reading reading;
    return reading.layerOf(config, where);
  }

private:
  Reading() : before(current) { current = this; }
  ~Reading() { current = before; }

  Layer layerOf(const Config &config, SourceLocation where) {
    const ConfigValue *id = config.find(kSharedId);
    if (!id)
      return made(config, where);
    const auto number = id->as<std::int64_t>(where);
    if (auto found = known.find(number); found != known.end())
      return found->second;
    return known.emplace(number, made(config, where)).first->second;
  }
  static Layer made(const Config &config, SourceLocation where) {
    const auto name = config.at("class_name", where).as<std::string>(where);
    LayerMaker make;
    {
      std::lock_guard lock(filled().mutex);
      auto found = registry().makers.find(name);
      if (found == registry().makers.end())
        fail<LookupError>(absl::StrCat("deserialize: there is no layer '", name, "'; ",
                                       training::nearest(name, registry().names),
                                       "; register_layer() makes one of your own known"));
      make = found->second;
    }
    const ConfigValue *options = config.find("config"), *policy = config.find(kPolicy);
    // Without one, it is not that of the layers which the program makes now.
    PolicyScope scope(policy ? DTypePolicy(policy->as<std::string>(where), where) : DTypePolicy());
    return make(options ? options->as<Config>(where) : Config());
  }

  static inline thread_local Reading *current = nullptr;
  Reading *before;
  std::unordered_map<std::int64_t, Layer> known;
};

void insert(const std::string &className, std::type_index body, LayerMaker make, SourceLocation where) {
  std::lock_guard lock(registry().mutex);
  if (registry().makers.contains(className) || registry().classes.contains(body))
    fail<ValueError>(absl::StrCat("register_layer: there is a layer '", className, "' already"), where);
  registry().names.push_back(className);
  registry().makers.emplace(className, std::move(make));
  registry().classes.emplace(body, className);
}

} // namespace

void registerOwn(const std::string &className, std::type_index body, LayerMaker make) {
  insert(className, body, std::move(make), {});
}

void register_layer(const std::string &class_name, std::type_index body, LayerMaker make, SourceLocation where) {
  calque::detail::requireCallable(make, "register_layer", where);
  filled();
  insert(class_name, body, std::move(make), where);
}

std::vector<std::string> registered_layers() {
  std::lock_guard lock(filled().mutex);
  return registry().names;
}

Config serialize(const Layer &layer, SourceLocation where) {
  return serializePart(layer, layer.body() && layer.body()->has_given_name() ? layer.name(where) : "", where);
}

Config serializePart(const Layer &layer, const std::string &name, SourceLocation where) {
  CallSite site(where, "serialize");
  return Writing::write(layer, name, where);
}

Layer deserialize(const Config &config, SourceLocation where) {
  CallSite site(where, "deserialize");
  return Reading::read(config, where);
}

Layer deserializeAnother(const Config &config, SourceLocation where) { return Reading::readAnother(config, where); }

} // namespace calque::layers
