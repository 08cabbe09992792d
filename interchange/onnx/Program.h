// A model that is loaded: its graph with the operators found, and its initialisers.
#ifndef CALQUE_INTERCHANGE_ONNX_PROGRAM_H
#define CALQUE_INTERCHANGE_ONNX_PROGRAM_H

#include "onnx/Operators.h"
#include "onnx/Tensors.h"

#include "calque/onnx.h"

#include <set>
#include <unordered_map>

namespace calque::onnx {

// The values of a graph, and of those around it.
class Scope {
public:
  explicit Scope(const Scope *around = nullptr) : around_(around) {}
  void set(const std::string &name, Value value) { values_[name] = std::move(value); }
  void drop(const std::string &name) { values_.erase(name); }
  // Null for a name that has no value.
  const Value *find(const std::string &name) const {
    for (const Scope *scope = this; scope; scope = scope->around_)
      if (const auto found = scope->values_.find(name); found != scope->values_.end())
        return &found->second;
    return nullptr;
  }

private:
  const Scope *around_;
  std::unordered_map<std::string, Value> values_;
};

class Program {
public:
  Program(const std::string &path, OnnxOptions options, const SourceLocation &where);

  std::vector<Value> run(std::vector<Value> inputs, const SourceLocation &where) const;

  Storage storage;
  ModelFile model;
  std::vector<OnnxPort> inputs, outputs;
  std::map<std::string, Variable> variables;
  std::set<std::string> knownInputs; // also initialisers
  std::map<std::string, Value> constants;

private:
  std::vector<Value> runGraph(const Graph &graph, const std::vector<Value> &inputs, const Scope &around,
                              const SourceLocation &where) const;
  void runNodes(const std::vector<Node> &nodes, Scope &scope, const SourceLocation &where) const;
  Results runNode(const Node &node, const Scope &scope, const SourceLocation &where) const;
};

// Finds the operators and functions of a graph's nodes, checks that each value is computed before it is read, and notes
// when values are read last. DataError for what is missing. Fills in the names of values whose elements must be known.
class Linker {
public:
  Linker(const std::string &file, const ModelFile &model, const Storage &storage, std::set<std::string> &known);

  void link(Graph &graph);
  void link(Graph &graph, const Opsets &opsets, std::set<std::string> names, std::set<std::string> *reads);

private:
  void linkNodes(std::vector<Node> &nodes, const std::vector<std::string> &outputs, const Opsets &opsets,
                 std::set<std::string> names, std::set<std::string> *reads);
  void linkNode(Node &node, std::size_t index, const Opsets &opsets, const std::set<std::string> &names,
                std::set<std::string> &reads);
  void linkFunction(Node &node, const Function &function);
  void passOnKnown(const std::vector<Node> &nodes);
  [[noreturn]] void refuse(const std::string &message) const;

  const std::string &file_;
  const ModelFile &model_;
  const Storage &storage_;
  std::set<std::string> *known_;
  std::vector<const Function *> active_;
  std::size_t nodes_ = 0;
};

OnnxPort portOf(const ValueInfo &info, const std::map<std::string, std::int64_t> &sizes, const std::string &file);

} // namespace calque::onnx
#endif
