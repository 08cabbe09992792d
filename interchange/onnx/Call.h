// What an operator is given: its node's inputs and attributes, and the version of the operator set.
//
//   Results softmax(const Call &call) {
//     if (call.version() < 13)
//       call.refuse("...");
//     return calque::softmax(call.tensor(0), call.integer("axis", -1));
//   }
#ifndef CALQUE_INTERCHANGE_ONNX_CALL_H
#define CALQUE_INTERCHANGE_ONNX_CALL_H

#include "onnx/Model.h"
#include "onnx/Value.h"

#include <functional>
#include <string_view>

namespace calque::onnx {

class Storage;

// Runs a graph inside of a node, which sees the values around it.
using RunGraph = std::function<std::vector<Value>(const Graph &graph, const std::vector<Value> &inputs)>;

class Call {
public:
  Call(const Node &node, std::vector<Value> inputs, const Storage &storage, const RunGraph &run)
      : node_(node), inputs_(std::move(inputs)), storage_(storage), run_(run), read_(node.attributes.size()) {}

  std::int64_t version() const { return node_.version; }
  std::size_t outputs() const { return node_.outputs.size(); }
  // Whether the node gives output i a name.
  bool gives(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  // Throws a ValueError with the node's operator, its name and the file before the message.
  [[noreturn]] void refuse(const std::string &message) const;
  // Refuses a node whose operator reads elements on the host, if they are not known now.
  void requireKnown(std::size_t i, const std::string &why) const;

  std::size_t size() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && !inputs_[i].isNone(); }
  // Inputs. Refuse one that is left out, and a sequence where a tensor is expected.
  const Value &value(std::size_t i) const;
  Tensor tensor(std::size_t i) const;
  const std::vector<Value> &sequence(std::size_t i) const;
  std::vector<Tensor> tensors(std::size_t from = 0) const;
  // Elements that must be known while tracing, such as axes.
  std::vector<std::int64_t> integers(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  std::vector<double> numbers(std::size_t i) const;
  double number(std::size_t i) const;
  // Elements that are sizes, some of which only the call may know. At most one element may be a number that the call
  // computes, if `orOne` is true; it is -1 in the result.
  Shape sizes(std::size_t i, bool orOne = false) const;

  // Attributes. Those without a value to fall back on refuse a node that lacks them.
  bool hasAttribute(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::int64_t integer(std::string_view name) const;
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise) != 0; }
  float number(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, const std::string &otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {}) const;
  std::vector<double> numbers(std::string_view name, std::vector<double> otherwise = {}) const;
  std::vector<std::string> texts(std::string_view name) const;
  Tensor tensor(std::string_view name) const;
  Tensor sparse(std::string_view name) const;
  // The element type that an attribute names.
  DType type(std::string_view name, std::optional<DType> otherwise = {}) const;
  DType typeOf(std::int64_t number) const;
  const Graph &graph(std::string_view name) const;
  std::vector<Value> run(const Graph &graph, const std::vector<Value> &inputs) const { return run_(graph, inputs); }
  // Attributes that change nothing here.
  void ignore(std::initializer_list<std::string_view> names) const;
  // Refuses attributes that the operator has not asked for.
  void checkAllRead() const;

  // An axis from 0. Refuses one that the rank does not have.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> axes, std::int64_t rank) const;

private:
  // The kinds of attributes by ONNX's numbers. Refuses one of another kind than the operator expects.
  enum Kind : std::int64_t {
    Any = 0,
    Float = 1,
    Int = 2,
    Text = 3,
    OneTensor = 4,
    OneGraph = 5,
    Floats = 6,
    Ints = 7,
    Texts = 8,
    Sparse = 11
  };
  const Attribute *find(std::string_view name, Kind kind = Any) const;
  const Attribute &get(std::string_view name, Kind kind) const;

  const Node &node_;
  std::vector<Value> inputs_;
  const Storage &storage_;
  const RunGraph &run_;
  mutable std::vector<bool> read_;
};

} // namespace calque::onnx
#endif
