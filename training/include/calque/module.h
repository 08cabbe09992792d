// Modules: objects that know their variables and those of their parts.
//
//   struct Block : Module {
//     Variable scale = variable("scale", ones({64}));
//     Tensor operator()(const Tensor &x) const { return x * scale; }
//   };
//   struct Net : Module {
//     Block &block = submodule<Block>("block");                       // a module of one's own: made and kept here
//     layers::Dense head = submodule("head", layers::Dense(10));      // a layer: a shared handle
//     Tensor operator()(const Tensor &x) const { return head(block(x)); }
//   };
//   Net net;
//   net.trainable_variables(); // block/scale, head/kernel, head/bias
#ifndef CALQUE_MODULE_H
#define CALQUE_MODULE_H

#include "calque/variable.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calque {

namespace layers {
class Layer;
class LayerBody;
} // namespace layers

// The name of a part, and the line that gives it.
struct PartName {
  std::string name;
  SourceLocation where;
  PartName(std::string text, SourceLocation line = SourceLocation::current()) : name(std::move(text)), where(line) {}
  PartName(const char *text, SourceLocation line = SourceLocation::current()) : name(text), where(line) {}
};

// A module is neither copied nor moved, because its parts may refer to it.
class CALQUE_API Module {
public:
  Module() = default;
  virtual ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  // The variables in the order in which they were registered, each once, even if parts share it. StateError for a layer
  // inside that has not made its variables yet: it makes them at its first call, or in build().
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const;
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const;
  // Each variable with the path of its first occurrence: "block/scale".
  std::vector<std::pair<std::string, Variable>> named_variables(SourceLocation where = SourceLocation::current()) const;

  // The name under which it was registered, at first empty.
  const std::string &name() const { return name_; }

protected:
  // Members are initialised by these. ValueError for a name that is empty, is another part's, or has a '/'.
  Variable variable(std::string name, const Operand &initial, bool trainable = true);
  template <typename L>
    requires std::is_base_of_v<layers::Layer, L>
  L submodule(std::string name, L layer, SourceLocation where = SourceLocation::current()) {
    adopt(std::move(name), layer.body(), where);
    return layer;
  }
  template <typename M, typename... Args>
    requires std::is_base_of_v<Module, M>
  M &submodule(PartName name, Args &&...args) {
    auto module = std::make_shared<M>(std::forward<Args>(args)...);
    adopt(std::move(name.name), module, name.where);
    return *module;
  }
  // Makes an existing variable or module a part of this one. ValueError if this module is a part of that one.
  void adopt(std::string name, const Variable &variable, SourceLocation where = SourceLocation::current());
  void adopt(std::string name, std::shared_ptr<Module> module, SourceLocation where = SourceLocation::current());

  // Throws unless all variables are made.
  virtual void checkBuilt(SourceLocation where) const;

private:
  friend class layers::LayerBody;
  struct Part {
    std::string name;
    std::optional<Variable> variable; // or
    std::shared_ptr<Module> module;
  };
  struct Collector;

  void checkName(const std::string &name, SourceLocation where) const;
  bool contains(const Module &other) const;
  void collect(const std::string &path, Collector &collector) const;

  std::string name_;
  std::vector<Part> parts_;
};

} // namespace calque
#endif
