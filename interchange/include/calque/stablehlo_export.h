// Functions as modules of StableHLO, which JAX and other compilers read and run.
//
//   auto f = net_function.get_concrete_function(TensorSpec<float>({128, 784}, "image"));
//   save_stablehlo("net.mlir", f, {.outputs = {"logits"}});
//
// What a function computes is written: the program of a trace, with derivatives expanded, so that a gradient and a step
// of training can be written as well. docs/to-stablehlo.md says what becomes of operations, and how JAX calls a module.
#ifndef CALQUE_STABLEHLO_EXPORT_H
#define CALQUE_STABLEHLO_EXPORT_H

#include "calque/saved_functions.h"

#include <cstdint>
#include <string>
#include <vector>

namespace calque {

// What becomes of the variables that a function captures.
enum class StableHloVariables : std::uint8_t {
  // The first arguments: those that the function assigns, and then those that it only reads.
  Arguments,
  // Constants with their present values. Those that the function assigns are arguments all the same.
  Constants
};

struct StableHloExportOptions {
  StableHloVariables variables = StableHloVariables::Arguments;
  // Names for the tensors among the function's arguments and results, in order. Without them they have those of the
  // function's arguments and of the parts of its result: "x", "x[1]", "result", "result["logits"]".
  std::vector<std::string> inputs = {}, outputs = {};
  // Writes special functions, such as erf and lgamma, as operations of CHLO, a dialect that JAX reads beside StableHLO.
  // Without it they are composed of StableHLO's operations, or refused.
  bool chlo = false;
  // Leaves out prints and assertions, for which StableHLO has no operations.
  bool leave_out_effects = false;
  // Writes the line of the user's program behind each operation.
  bool locations = false;
};

// The one trace of a function as the text of a module, whose function is "main".
//
// Its arguments are the variables and then the function's arguments; its results are the function's and then the new
// values of the variables that it assigns, named "new_<name>". Captured tensors are constants. An unknown size of the
// signature is a "?" of a type.
//
// ValueError for an operation that StableHLO lacks and that is not composed of its operations, with the line of the
// operation; for names that don't fit. StateError for a function that has not one trace, and while a function is
// traced.
CALQUE_API std::string stablehlo_text(const FunctionToSave &function, StableHloExportOptions options = {},
                                      SourceLocation where = SourceLocation::current());

// Writes the same text to a file, whole or not at all. DataError if it can't be written.
CALQUE_API void save_stablehlo(const std::string &path, const FunctionToSave &function,
                               StableHloExportOptions options = {}, SourceLocation where = SourceLocation::current());

// The variables that a function captures and that are arguments of its module, in their order: what a call of the
// module is given first. The new values of the first ones are the last results of the call, in the same order.
CALQUE_API std::vector<Variable> stablehlo_variables(const FunctionToSave &function,
                                                     StableHloExportOptions options = {},
                                                     SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
