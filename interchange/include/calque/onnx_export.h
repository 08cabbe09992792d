// Functions as files of ONNX, which other systems run.
//
//   auto f = net_function.get_concrete_function(TensorSpec<float>({kDynamic, 784}, "image"));
//   save_onnx("net.onnx", f, {.outputs = {"logits"}});
//
// What a function computes is written: the program of a trace, with derivatives expanded, so that a gradient and a step
// of training can be written as well. docs/onnx.md says what becomes of operations.
#ifndef CALQUE_ONNX_EXPORT_H
#define CALQUE_ONNX_EXPORT_H

#include "calque/saved_functions.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace calque {

// Where a model has its weights.
enum class OnnxStorage : std::uint8_t {
  Automatic, // inside, unless the file would have 2^31 bytes or more
  Inside,
  External // in the file "<path>.data" beside the model, but for those of less than 1,024 bytes
};

// Operator sets of ONNX's own domain that models are written with.
inline constexpr std::int64_t kFirstOnnxOpset = 18, kLastOnnxOpset = 24;

struct OnnxExportOptions {
  std::int64_t opset = 21;
  OnnxStorage weights = OnnxStorage::Automatic;
  // Names for the tensors among the arguments and the results, in order. Without them they have those of the function's
  // arguments and of the parts of its result: "x", "x_1", "result", "logits".
  std::vector<std::string> inputs = {}, outputs = {};
  // Leaves out prints and assertions, for which ONNX has no operators.
  bool leave_out_effects = false;
  std::string description = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// Writes the one trace of a function. An unknown size of the signature is a symbolic one, "x_0". Captured tensors are
// initialisers, and so are captured variables, by their names. A variable that the function assigns is an input, whose
// present value is its default, and has its value after the call as an output, "new_<name>". A variable that is an
// argument is an input. Files are written whole or not at all.
//
// ValueError for an operation that ONNX lacks and that is not composed of its operators, with the line of the
// operation; for an operator set that is not written, for names that don't fit, and for a model that is too large for
// OnnxStorage::Inside. StateError for a function that has not one trace, and while a function is traced. DataError if
// the file can't be written.
CALQUE_API void save_onnx(const std::string &path, const FunctionToSave &function, OnnxExportOptions options = {},
                          SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
