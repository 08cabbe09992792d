// What an operation is given: its operands, attributes, regions, and the types of its results.
//
//   Results transposed(const Call &call) { return transpose(call.tensor(0), call.integers("permutation")); }
#ifndef CALQUE_INTERCHANGE_STABLEHLO_CALL_H
#define CALQUE_INTERCHANGE_STABLEHLO_CALL_H

#include "onnx/Value.h"
#include "stablehlo/Module.h"

#include "calque/call_site.h"

#include <functional>
#include <string_view>

namespace calque::stablehlo {

// A tensor, a tuple, or a token, which is no value. Integers that say sizes keep those that only the call knows.
using onnx::hostIntegers;
using onnx::hostNumbers;
using onnx::Results;
using onnx::Value;

// How regions run.
struct Runner {
  // `isLifted`: the region's arguments are scalars, and are given as tensors of all elements.
  std::function<std::vector<Value>(const Region &region, std::vector<Value> arguments, bool isLifted)> region;
  std::function<std::vector<Value>(const Function &function, std::vector<Value> arguments)> function;
  std::function<const Function *(std::string_view name)> find;
};

class Call {
public:
  Call(const Operation &operation, std::vector<Value> inputs, const Runner &runner, bool isLifted,
       const SourceLocation &where)
      : operation_(operation), inputs_(std::move(inputs)), runner_(runner), isLifted_(isLifted), where_(where) {}

  const Operation &operation() const { return operation_; }
  const std::string &name() const { return operation_.name; }
  const SourceLocation &where() const { return where_; }
  // Whether the operation is part of a body that is applied to many elements at once.
  bool isLifted() const { return isLifted_; }
  // Throws a ValueError with the operation, its line and the file before the message.
  [[noreturn]] void refuse(const std::string &message) const;

  std::size_t size() const { return inputs_.size(); }
  const Value &value(std::size_t i) const;
  Tensor tensor(std::size_t i) const;
  std::vector<Tensor> tensors(std::size_t from = 0, std::size_t count = SIZE_MAX) const;
  std::int64_t rank(std::size_t i) const { return value(i).rank(); }
  // Elements that must be known while tracing.
  std::vector<std::int64_t> known(std::size_t i) const;
  // Sizes that an operand says, some of which only the call may know.
  Shape sizes(std::size_t i) const;

  std::size_t results() const { return operation_.types.size(); }
  const Type &type(std::size_t i = 0) const;
  DType dtype(std::size_t i = 0) const;
  // The sizes of a result. Refuses open ones.
  Shape shape(std::size_t i = 0) const;

  // Attributes. Those without a value to fall back on refuse an operation that lacks them.
  bool has(std::string_view attribute) const { return operation_.find(attribute) != nullptr; }
  const Attribute &attribute(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise) const;
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise ? 1 : 0) != 0; }
  double number(std::string_view name) const;
  // An enumerator or a text.
  std::string word(std::string_view name, const std::string &otherwise) const;
  // The integers of a field of an attribute with fields; empty if it has no such field.
  std::vector<std::int64_t> field(std::string_view attribute, std::string_view name) const;
  std::int64_t field(std::string_view attribute, std::string_view name, std::int64_t otherwise) const;
  std::vector<std::int64_t> integersOf(const Attribute &attribute, std::string_view name) const;

  const Region &region(std::size_t i) const;
  std::vector<Value> run(const Region &region, std::vector<Value> arguments) const {
    return runner_.region(region, std::move(arguments), false);
  }
  // The region's body at all elements of tensors at once.
  std::vector<Tensor> lift(const Region &region, const std::vector<Tensor> &arguments) const;
  std::vector<Value> apply(const Function &function, std::vector<Value> arguments) const {
    return runner_.function(function, std::move(arguments));
  }
  const Function *find(std::string_view name) const { return runner_.find(name); }
  std::vector<Tensor> tensorsOf(const std::vector<Value> &values, const char *what) const;

  // Refuses an axis that the rank does not have.
  std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
  void requireAxes(const std::vector<std::int64_t> &axes, std::int64_t rank, const char *what) const;
  void requireCount(const std::vector<std::int64_t> &numbers, std::int64_t count, const char *what) const;

private:
  const Operation &operation_;
  std::vector<Value> inputs_;
  const Runner &runner_;
  bool isLifted_;
  const SourceLocation &where_;
};

} // namespace calque::stablehlo
#endif
