// What the rules of operations write with: the operation, values, and lines that are appended to a function's text.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_EXPORT_EMIT_H
#define CALQUE_INTERCHANGE_STABLEHLO_EXPORT_EMIT_H

#include "stablehlo/export/Text.h"

#include "calque/tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

namespace calque::stablehlo {

struct StackBuffers;

// A value of the text. A stack, which programs have beside tensors, has the values that stand for it.
struct Written {
  std::string name;
  ProgramType type;
  std::shared_ptr<const StackBuffers> stack = nullptr;
};
using Values = std::vector<Written>;

// A size: a number, or that of a value's dimension.
struct Dim {
  std::int64_t known = kUnknownSize;
  Written of = {};
  std::int64_t axis = 0;
};
using Dims = std::vector<Dim>;

// The text of a function that is being made: its constants come first, and its operations, in regions too, see them.
struct FunctionText {
  std::string head; // up to the bracket before the body
  std::vector<ConstantText> constants;
  std::string lines;
  std::unordered_map<std::string, Written> known; // small constants, by what is written of them
  std::size_t depth = 2;                          // of indentation
};

// The module that is being made.
struct Making {
  bool usesChlo = false, dropsEffects = false, writesLocations = false;
  std::size_t next = 0; // number of a value
  // Functions that main calls, by what they compute, and how often a name has been given.
  std::vector<std::unique_ptr<FunctionText>> functions = {};
  std::map<std::string, std::pair<std::string, std::vector<ProgramType>>> composed = {};
  std::map<std::string, std::size_t> names = {};
  std::vector<Tensor> tensors = {};                     // whose memory constants use
  std::vector<std::shared_ptr<const void>> owners = {}; // of constants' bytes

  std::string fresh() { return "%" + std::to_string(next++); }
};

// An operation of a program, as its rule sees it.
class Emit {
public:
  Emit(Making &making, FunctionText &text, const RecordedProgram &program, const ProgramOperation &op,
       const ProgramOperation &shown, Values operands, Values &variables)
      : making(making), text(text), op(op), shown(shown), program_(program), operands_(std::move(operands)),
        variables(variables) {}

  std::size_t size() const { return operands_.size(); }
  const Written &in(std::size_t i = 0) const { return operands_[i]; }
  const Values &operands() const { return operands_; }
  const ProgramType &type(std::size_t i = 0) const { return operands_[i].type; }
  const ProgramType &result(std::size_t i = 0) const { return program_.types[op.first_result + i]; }
  DType dtype(std::size_t i = 0) const { return *type(i).dtype; }
  std::int64_t rank(std::size_t i = 0) const { return static_cast<std::int64_t>(type(i).sizes.size()); }
  template <typename T> const T &attribute(std::string_view name) const { return op.attribute<T>(name); }
  const Ints &list(std::string_view name) const { return attribute<Ints>(name); }
  std::int64_t integer(std::string_view name) const { return attribute<std::int64_t>(name); }
  bool flag(std::string_view name) const { return attribute<bool>(name); }
  // An attribute that is an axis of a rank, from 0 on, and axes, where none may mean all.
  std::int64_t axis(std::string_view name, std::int64_t rank) const;
  Ints axes(std::string_view name, std::int64_t rank, bool emptyMeansAll = false) const;

  //===-- Lines ---------------------------------------------------------------------------------===//
  // Appends "%5 = <before>%1, %2<behind> : (types) -> type". The operation of `before` has StableHLO's name without its
  // dialect, unless it has one.
  Written line(const std::string &before, const Values &operands, const std::string &behind, ProgramType result);
  // The same where all operands and the result have one type, which is written once.
  Written same(const std::string &operation, const Values &operands);
  // Appends "%5 = <before> : (types) -> type", where `before` has the operands already.
  Written bracketed(const std::string &before, const Values &operands, ProgramType result);
  // An operation in the form that all have, with properties and regions, and any number of results.
  Values general(const std::string &operation, const Values &operands, const std::string &properties,
                 const std::vector<std::string> &regions, const std::vector<ProgramType> &results);
  // The text of a region with arguments of these types.
  std::string region(const std::vector<ProgramType> &arguments,
                     const std::function<Values(const Values &arguments)> &body);
  // A region that applies an operation to two scalars.
  std::string reducer(const std::string &operation, DType dtype);

  //===-- What many rules are made of -------------------------------------------------------------===//
  Written constant(const ProgramType &type, std::span<const std::byte> bytes, bool isSplat);
  Written ints(const Ints &numbers, DType dtype = DType::Int64);
  // A number in each element of known sizes.
  Written number(const ProgramNumber &number, DType dtype, const Ints &sizes = {});
  Written number(double number, DType dtype, const Ints &sizes = {});
  // The same of a scalar as a line of its own here, where a reader that looks at one region finds it.
  Written localNumber(double number, DType dtype);
  // A number in each element of a value's sizes.
  Written numberLike(double number, const Written &like);
  Written numberLike(double number, DType dtype, const Written &like);
  Written convert(const Written &x, DType dtype);
  Written bitcast(const Written &x, DType dtype);
  // EQ, NE, LT, LE, GT or GE.
  Written compare(const char *direction, const Written &x, const Written &y);
  Written select(const Written &condition, const Written &x, const Written &y);
  Written transpose(const Written &x, const Ints &permutation);
  Written reshape(const Written &x, const Dims &dims);
  Written reshape(const Written &x, const Ints &sizes) { return reshape(x, known(sizes)); }
  // x with its dimensions at these of the result.
  Written broadcast(const Written &x, const Ints &at, const Dims &dims);
  // As NumPy broadcasts.
  Written broadcast(const Written &x, const Dims &dims);
  Written iota(const Dims &dims, std::int64_t axis, DType dtype);
  Written reduce(const std::string &operation, const Written &x, const Written &initial, const Ints &axes);
  Written pad(const Written &x, const Written &value, const Ints &low, const Ints &high, const Ints &interior);
  Written slice(const Written &x, const Ints &starts, const Ints &limits, const Ints &steps);

  //===-- Sizes ---------------------------------------------------------------------------------===//
  static Dims dims(const Written &x);
  Dims dims(std::size_t operand) const { return dims(in(operand)); }
  // Those of attributes `shape` and `sizes` of an operation that takes sizes from tensors.
  Dims openDims() const;
  static Dims known(const Ints &sizes);
  static bool areKnown(const Dims &dims);
  static Ints sizesOf(const Dims &dims);
  // As an int32 scalar, and sizes as a vector.
  Written sizeOf(const Dim &dim);
  Written shape(const Dims &dims);
  // Refuses what is written for known sizes alone.
  void requireKnown(const ProgramType &type) const;

  //===-- Programs inside of an operation ---------------------------------------------------------===//
  Values inlined(const RecordedProgram &inner, const Values &parameters);
  // The results of a function of Calque's operations, which is traced for the types of the values, and written once for
  // all calls with these types.
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;
  Values composed(const std::string &name, const Values &operands, const Function &function);

  // ValueError with the operation's line.
  [[noreturn]] void refuse(const std::string &message) const;

  Making &making;
  FunctionText &text;
  const ProgramOperation &op, &shown; // the user's, of which op may be a part

private:
  void append(const std::string &line);
  const RecordedProgram &program_;
  Values operands_;

public:
  Values &variables; // the present values of the function's variables
};

// How an operation of Calque is written. The results are returned.
struct Rule {
  std::string_view operation;
  Values (*write)(Emit &e);
};
using Rules = std::span<const Rule>;

// One for each file of rules.
Rules controlFlowRules();
Rules indexRules();
Rules matrixRules();
Rules movementRules();
Rules randomRules();
Rules reductionRules();
Rules windowRules();

// Writes one operation: by its rule, by the operation that is the same, or by its meaning on one element.
Values write(Emit &e);
Values writeElementwise(Emit &e);
// A function of elements that is composed of others by Calque's operations, or none.
const Emit::Function *specialFunction(std::string_view name);
// Writes the operations of a program on values. `shown` is the operation in errors, if it is not each one itself.
Values writeProgram(Making &making, FunctionText &text, const RecordedProgram &program, const Values &parameters,
                    Values &variables, const ProgramOperation *shown = nullptr);

} // namespace calque::stablehlo
#endif
