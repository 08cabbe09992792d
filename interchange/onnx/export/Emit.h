// What the rules of operations write with: the operation, names of values, and nodes that are appended to a graph.
#ifndef CALQUE_INTERCHANGE_ONNX_EXPORT_EMIT_H
#define CALQUE_INTERCHANGE_ONNX_EXPORT_EMIT_H

#include "onnx/Operators.h"

#include "calque/program.h"

#include <deque>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

namespace calque::onnx {

using Names = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

// The model that is being made: its constants, which all of its graphs see, and the names that are taken.
class Making {
public:
  Making(std::int64_t opset, bool dropsEffects) : opset(opset), dropsEffects(dropsEffects) {}

  // A name that nothing has, "matmul_2" or "matmul".
  std::string fresh(const std::string &base);
  // A constant of the model with these bytes; small ones that are equal are one.
  std::string constant(DType dtype, const Ints &dims, std::span<const std::byte> bytes, const std::string &base);
  // The same of a tensor, whose memory is used in place.
  std::string constant(const Tensor &x, const std::string &base);
  std::string ints(const Ints &numbers);
  std::string scalar(std::int64_t number);

  ModelFile model;
  const std::int64_t opset;
  const bool dropsEffects;

private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> numbers_; // the last number behind a base
  std::unordered_map<std::string, std::string> constants_;
  std::deque<std::vector<std::byte>> bytes_; // of constants
  std::vector<Tensor> tensors_;              // whose memory constants use
};

// A size: a number, or that of a value's dimension.
struct Dim {
  std::int64_t known = kUnknownSize;
  std::string of = {};
  std::int64_t axis = 0;
};
using Dims = std::vector<Dim>;

// "[1,2]"
std::string listed(const Ints &numbers);

Attribute attribute(std::string name, std::int64_t number);
Attribute attribute(std::string name, int number);
Attribute attribute(std::string name, float number);
Attribute attribute(std::string name, Ints numbers);
Attribute attribute(std::string name, const char *text);
Attribute attribute(std::string name, DType dtype);
Attribute attribute(std::string name, Graph graph);

ValueInfo infoOf(const std::string &name, const ProgramType &type, const std::string &symbols = {});

// An operation of a program, as its rule sees it.
class Emit {
public:
  Emit(Making &making, Graph &graph, const RecordedProgram &program, const ProgramOperation &op, Names operands,
       Names &variables)
      : making(making), graph(graph), op(op), program_(program), operands_(std::move(operands)), variables(variables) {}

  std::size_t size() const { return operands_.size(); }
  const std::string &in(std::size_t i = 0) const { return operands_[i]; }
  const Names &operands() const { return operands_; }
  const ProgramType &type(std::size_t i = 0) const { return program_.types[op.operands[i]]; }
  const ProgramType &result(std::size_t i = 0) const { return program_.types[op.first_result + i]; }
  DType dtype(std::size_t i = 0) const { return *type(i).dtype; }
  std::int64_t rank(std::size_t i = 0) const { return static_cast<std::int64_t>(type(i).sizes.size()); }
  std::int64_t size(std::size_t operand, std::int64_t axis) const {
    return type(operand).sizes[static_cast<std::size_t>(axis)];
  }
  template <typename T> const T &attribute(std::string_view name) const { return op.attribute<T>(name); }
  const Ints &list(std::string_view name) const { return attribute<Ints>(name); }
  std::int64_t integer(std::string_view name) const { return attribute<std::int64_t>(name); }
  bool flag(std::string_view name) const { return attribute<bool>(name); }
  // An attribute that is an axis of a rank, from 0 on, and axes, where none may mean all.
  std::int64_t axis(std::string_view name, std::int64_t rank) const;
  Ints axes(std::string_view name, std::int64_t rank, bool emptyMeansAll = false) const;

  // Appends a node, and gives the names of its outputs.
  Names nodes(const std::string &op, Names inputs, std::size_t outputs, std::vector<Attribute> attributes = {});
  std::string node(const std::string &op, Names inputs, std::vector<Attribute> attributes = {}) {
    return nodes(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  std::string cast(const std::string &x, DType from, DType to);
  std::string ints(const Ints &numbers) { return making.ints(numbers); }
  // A scalar of an element type.
  std::string number(double number, DType dtype);
  std::string number(const ProgramNumber &number, DType dtype);
  std::string transpose(const std::string &x, const Ints &permutation);
  std::string reshape(const std::string &x, const Dims &dims);
  std::string reshape(const std::string &x, const Ints &sizes);
  std::string expand(const std::string &x, const Dims &dims);
  // Zeros of a type and sizes.
  std::string zeros(DType dtype, const Dims &dims);
  // 0, 1, ... below a size, as int64.
  std::string range(const Dim &size);
  // Indices of a type that ONNX takes.
  std::string indices(std::size_t operand);

  // The sizes of an operand, and those of attributes `shape` and `sizes` of an operation that takes sizes from tensors.
  Dims dims(std::size_t operand) const;
  Dims openDims() const;
  static Dims known(const Ints &sizes);
  // As a vector of int64, and one as a scalar or a vector of one.
  std::string shape(const Dims &dims);
  std::string sizeOf(const Dim &dim, bool isScalar);

  // The operations of a program, on values of these names, in this graph. Gives the names of its results.
  Names inlined(const RecordedProgram &inner, const Names &parameters);
  // A graph for an attribute, whose body makes its outputs of its inputs.
  Graph subgraph(const std::string &name, const std::vector<std::pair<std::string, ProgramType>> &inputs,
                 const std::vector<ProgramType> &outputs, const std::function<Names(Emit &)> &body);

  // ValueError with the operation's line.
  [[noreturn]] void refuse(const std::string &message) const;

  Making &making;
  Graph &graph;
  const ProgramOperation &op;

private:
  const RecordedProgram &program_;
  Names operands_;

public:
  Names &variables; // the present values of the function's variables
};

// How an operation of Calque is written. The names of the results are returned.
struct Rule {
  std::string_view operation;
  Names (*write)(Emit &e);
};
using Rules = std::span<const Rule>;

// One for each file of rules.
Rules contractionRules();
Rules controlFlowRules();
Rules indexRules();
Rules movementRules();
Rules reductionRules();
Rules windowRules();

// Writes one operation: by its rule, by the operator that is the same, or by its meaning on one element.
Names write(Emit &e);
Names writeElementwise(Emit &e);
// Writes the operations of a program on values of these names.
Names writeProgram(Making &making, Graph &graph, const RecordedProgram &program, const Names &parameters,
                   Names &variables);

} // namespace calque::onnx
#endif
