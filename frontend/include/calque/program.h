// A function's program as data, for libraries that write it in another form, as <calque/onnx.h> does.
//
//   FunctionProgram made = program_of(f.get_concrete_function(TensorSpec<float>({kDynamic, 3})));
//   for (const ProgramOperation &op : made.program->operations)
//     std::cout << op.name << '\n'; // "mul", "reduce_sum"
//
// Derivatives, mapped axes and complex numbers are expanded: the operations are those of real numbers that are left.
// Their names, attributes and meanings are those of their records, which docs/reference.md lists.
#ifndef CALQUE_PROGRAM_H
#define CALQUE_PROGRAM_H

#include "calque/saved_functions.h"

#include <limits>
#include <span>
#include <string_view>
#include <variant>

namespace calque {

struct RecordedProgram;

// The number of a value of a program.
using ProgramValue = std::size_t;

inline constexpr std::int64_t kUnknownSize = std::numeric_limits<std::int64_t>::min();

struct ProgramType {
  // None for the stacks that derivatives of loops have, which are no tensors.
  std::optional<DType> dtype;
  std::vector<std::int64_t> sizes; // kUnknownSize where only a call knows the size
  // "float32[?,3]"
  CALQUE_API std::string str() const;
};

// The elements of a constant: all of them, row-major, or one that stands for all. They live as long as the program.
struct ProgramConstant {
  ProgramType type;
  bool is_splat = false;
  std::span<const std::byte> bytes;
};

// A number of C++, kept exactly.
using ProgramNumber = std::variant<bool, std::int64_t, std::uint64_t, double>;

using ProgramAttribute = std::variant<bool, std::int64_t, ProgramNumber, std::string, std::vector<std::int64_t>, DType,
                                      ProgramConstant, std::shared_ptr<const RecordedProgram>>;

// What an elementwise operation computes of an element of each operand: an operand, a number of the type of the inner
// expression, or a function of inner expressions, which the records' field `scalar` names: "add", "select", "exp".
struct ElementExpression {
  std::string_view function; // empty: operand `operand`; "constant": `number`
  double number = 0;
  std::size_t operand = 0;
  std::vector<ElementExpression> inner;
};

struct ProgramOperation {
  std::string_view name; // of the record: "reduce_sum"
  std::string function;  // that the user called: "mean"
  std::vector<ProgramValue> operands;
  ProgramValue first_result = 0;
  std::size_t num_results = 0;
  std::vector<std::pair<std::string_view, ProgramAttribute>> attributes;
  SourceLocation where;                          // the user's line
  const ElementExpression *expression = nullptr; // of an elementwise operation

  // The attribute of this name and type, which the operation must have.
  template <typename T> const T &attribute(std::string_view attribute_name) const {
    for (const auto &[each, value] : attributes)
      if (each == attribute_name)
        if (const T *found = std::get_if<T>(&value))
          return *found;
    throw LookupError(
        "operation '" + std::string(name) + "' has no such attribute '" + std::string(attribute_name) + "'", where);
  }
};

// Operations in program order. A program inside of an operation uses no values but its own.
struct RecordedProgram {
  std::vector<ProgramType> types; // of the values
  std::vector<ProgramValue> parameters, results;
  std::vector<ProgramOperation> operations;
  std::shared_ptr<const void> owner; // of the constants' bytes
};

// A variable that the program reads or assigns. The attribute `variable` of the operations is its number.
struct ProgramVariable {
  std::string name; // its own, which may be empty
  ProgramType type;
  std::optional<Variable> variable; // none: it is an argument of the function
};

struct FunctionProgram {
  std::string name;
  std::shared_ptr<const RecordedProgram> program;
  // The names, in messages, of the tensors among the arguments and results: "argument 0 'x'", "result["logits"]". The
  // parameters of the program are the arguments and then the captured tensors.
  std::vector<std::string> arguments, results;
  std::vector<Tensor> captures;
  std::vector<ProgramVariable> variables;
};

// The program of a function that has one trace. StateError for a function without a trace, or with several, and while a
// function is traced. Compiler's errors for a derivative that there is not.
CALQUE_API FunctionProgram program_of(const FunctionToSave &function, SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
