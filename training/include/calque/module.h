// Modules: objects that list their variables and those of their parts.
//
//   struct Block : Module {
//     Variable scale = variable("scale", ones({64}));
//     Tensor operator()(const Tensor &x) const { return x * scale; }
//   };
//   struct Net : Module {
//     Block &block = submodule<Block>("block");                       // a module of your own: made and kept here
//     layers::Dense head = submodule("head", layers::Dense(10));      // a layer: a shared handle
//     Tensor operator()(const Tensor &x) const { return head(block(x)); }
//   };
//   Net net;
//   net.trainable_variables(); // block/scale, head/kernel, head/bias
#ifndef CALQUE_MODULE_H
#define CALQUE_MODULE_H

#include "calque/constraints.h"
#include "calque/trackable.h"

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calque {

// The name of a part, and the line of the program that gives it.
struct PartName {
  std::string name;
  SourceLocation where;
  PartName(std::string text, SourceLocation line = SourceLocation::current()) : name(std::move(text)), where(line) {}
  PartName(const char *text, SourceLocation line = SourceLocation::current()) : name(text), where(line) {}
};

class Module;

// A shared handle to a module, such as a layer.
template <typename H>
concept ModuleHandle = requires(const H &handle) {
  { handle.body() } -> std::convertible_to<std::shared_ptr<Module>>;
};

// A module can't be moved, because its parts may refer to it. A function may return a module that it has made, if all
// its return statements name the same variable. C++ then makes the module in the caller's place:
//
//   Net make_net() {
//     Net net;
//     net.build({1, 784});
//     return net;
//   }
//   Net net = make_net();
//
// Code that needs a copy or a move does not compile. The move constructors are declared for such functions alone, and
// are defined nowhere.
#define CALQUE_STAYS                                                                                                   \
  __attribute__((                                                                                                      \
      error("a module stays where it is made: return it by its name and without std::move, or hold it in a "           \
            "std::unique_ptr")))

class CALQUE_API Module : public Trackable {
public:
  Module() = default;
  ~Module() override;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  CALQUE_STAYS Module(Module &&);

  // The variables in the order in which they were registered, each once, even if parts share it. A functional model has
  // them layer by layer, in the order of layers(), which is Keras' order. StateError if a layer inside has not made its
  // variables yet. It makes them at its first call, or in build().
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const;
  // The variables that training changes, and the others. Training changes a variable if two modules are trainable: the
  // module that owns the variable, and the module on which this function is called. So a part inside of a frozen part
  // can be made trainable again.
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const;
  std::vector<Variable> non_trainable_variables(SourceLocation where = SourceLocation::current()) const;
  // The variables without the states of random generators.
  std::vector<Variable> weights(SourceLocation where = SourceLocation::current()) const;
  // Each variable with a path: "block/scale". If parts share a variable, its path goes through the part that was
  // registered first.
  std::vector<std::pair<std::string, Variable>> named_variables(SourceLocation where = SourceLocation::current()) const;

  // The number of elements of the weights.
  std::int64_t count_params(SourceLocation where = SourceLocation::current()) const;
  // The values of the weights, in their order.
  std::vector<Tensor> get_weights(SourceLocation where = SourceLocation::current()) const;
  // ValueError if the numbers of values and weights differ. ShapeError or DTypeError for a value whose type is not that
  // of its weight. After an error all weights are unchanged.
  void set_weights(const std::vector<Tensor> &values, SourceLocation where = SourceLocation::current());

  // The parts that are modules, with their names.
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children() const;
  // All modules inside of this one, each once, in the order of their registration. A module comes before its own parts.
  std::vector<std::shared_ptr<Module>> submodules() const;

  // For checkpoints (checkpoint.h): visits all parts with the names under which they were registered. A part that is
  // registered after a restore gets its value when it is registered.
  void checkpoint_parts(CheckpointVisitor &visitor) override;

  // Whether the variables of this module count as variables of a module that contains it. Those of an optimiser don't:
  // the optimiser is only saved and restored with the containing module.
  virtual bool has_weights() const { return true; }

  // Whether training changes the variables. set_trainable() also sets it for all present parts, as in Keras. A part may
  // be set differently afterwards.
  bool trainable() const { return trainable_; }
  void set_trainable(bool trainable);

  // The name that was given to the module, or with which it was registered. A layer without such a name gets a name
  // from its kind, "dense", "dense_1" and so on in this process. Other modules without such a name have an empty name.
  const std::string &name() const { return name_; }
  // Whether the module has a given name. If a module with a name from its kind becomes a part of another module, that
  // module renames it.
  bool has_given_name() const { return !name_.empty() && !isNameByKind; }

protected:
  // Makes a module with a given name. ValueError for a '/' in the name.
  explicit Module(std::string name, SourceLocation where = SourceLocation::current());

  // Use these in the initialisers of members. ValueError for a name that is empty, that another part has, or that
  // contains a '/'.
  Variable variable(std::string name, const Operand &initial, bool trainable = true, const Constraint &constraint = {});
  template <ModuleHandle H> H submodule(std::string name, H handle, SourceLocation where = SourceLocation::current()) {
    adopt(std::move(name), handle.body(), where);
    return handle;
  }
  template <typename M, typename... Args>
    requires std::is_base_of_v<Module, M>
  M &submodule(PartName name, Args &&...args) {
    auto module = std::make_shared<M>(std::forward<Args>(args)...);
    adopt(std::move(name.name), module, name.where);
    return *module;
  }
  // Makes an existing variable or module a part of this module. ValueError if this module is a part of the other
  // module.
  void adopt(std::string name, const Variable &variable, SourceLocation where = SourceLocation::current());
  void adopt(std::string name, std::shared_ptr<Module> module, SourceLocation where = SourceLocation::current());
  // Makes a variable that is not a weight a part of this module: the state of a random generator.
  void adopt_state(std::string name, const Variable &variable, SourceLocation where = SourceLocation::current());
  // Makes the present parts of another module parts of this module, and keeps the other module alive. Errors are those
  // of adopt().
  void adopt_parts(const std::shared_ptr<Module> &module, SourceLocation where = SourceLocation::current());
  void set_name(std::string name, SourceLocation where = SourceLocation::current());
  // Gives a module without a name a new name by its kind: "dense", "dense_1".
  void set_name_by_kind(const std::string &kind);
  // Called before the first variable is registered.
  virtual void before_variable() {}
  // The order in which variables() lists the variables of the parts, as positions in children(). Empty: the order of
  // registration. Paths, and therefore files, don't depend on this order.
  virtual std::vector<std::size_t> order_of_parts() const { return {}; }

  // Removes the parts that were registered during its life, unless keep() is called.
  class CALQUE_API Registration {
  public:
    explicit Registration(Module &of) : module(of), before(of.parts_.size()) {}
    ~Registration();
    Registration(const Registration &) = delete;
    Registration &operator=(const Registration &) = delete;
    void keep() { kept = true; }

  private:
    Module &module;
    const std::size_t before;
    bool kept = false;
  };

  // Throws unless all variables are made.
  virtual void checkBuilt(SourceLocation where) const;

private:
  struct Part {
    std::string name;
    std::optional<Variable> variable; // or
    std::shared_ptr<Module> module;
    bool isState = false;
  };
  struct Found;
  struct Collector;
  struct Names;

  static void visitPart(CheckpointVisitor &visitor, const Part &part);
  // Registers a part. If a restored checkpoint has a value for the part, the part gets it.
  void registerPart(Part part);
  void checkName(const std::string &name, SourceLocation where) const;
  void requireNoPartOf(const Module &other, SourceLocation where, const std::string &name) const;
  void nameAsPart(const std::string &name);
  void collect(Collector &collector) const;
  void arrange(Collector &collector) const;
  std::vector<const Part *> partsInOrder() const;
  std::vector<Found> collected(SourceLocation where, bool withPaths = false) const;
  template <typename Wanted> std::vector<Variable> variablesThat(SourceLocation where, Wanted wanted) const;

  std::string name_;
  bool isNameByKind = false;
  std::vector<Part> parts_;
  mutable std::shared_ptr<Names> names_; // of the parts, if there are many
  bool trainable_ = true;
  bool mayBePart_ = false; // of another module
};

} // namespace calque
#endif
