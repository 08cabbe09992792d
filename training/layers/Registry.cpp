#include "calque/layers/registry.h"

#include "Described.h"
#include "Nearest.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"

#include <mutex>
#include <unordered_map>

namespace calque::layers {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::string> names; // in order
  absl::flat_hash_map<std::string, LayerMaker> makers;
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
  CallSite site(where, "serialize");
  Config config = layer.get_config(where);
  const LayerBody &body = *layer.body();
  std::lock_guard lock(filled().mutex);
  auto found = registry().classes.find(typeid(body));
  if (found == registry().classes.end())
    fail<StateError>(absl::StrCat("serialize: the class of the layer '", body.kind(),
                                  "' is not known; register_layer() gives it a name"));
  return {{"class_name", found->second}, {"config", config}};
}

Layer deserialize(const Config &config, SourceLocation where) {
  CallSite site(where, "deserialize");
  std::string name = config.at("class_name", where).as<std::string>(where);
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
  const ConfigValue *options = config.find("config");
  return make(options ? options->as<Config>(where) : Config());
}

} // namespace calque::layers
