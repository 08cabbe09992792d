// Functions that are written as ONNX and as StableHLO, for the tests that read the files again and for those that other
// systems run.
#ifndef CALQUE_TEST_INTERCHANGE_EXPORTCASES_H
#define CALQUE_TEST_INTERCHANGE_EXPORTCASES_H

#include "calque/calque.h"
#include "calque/onnx_export.h"

#include <functional>
#include <string>
#include <vector>

namespace calque::testing {

using Tensors = std::vector<Tensor>;

struct ExportCase {
  std::string name;
  Function<Tensors(const Tensors &)> function;
  Tensors inputs;
  // Of the inputs, with unknown sizes; none: the inputs' own types.
  std::vector<TensorSpec<>> specs = {};
  // Whether each operation is one of ONNX, so that what is read again gives the same bits.
  bool sameBits = true;
  OnnxExportOptions options = {};
  // Whether load_onnx can compile it: of some operators it must know sizes that the call has.
  bool compiles = true;
  // Whether it is written as StableHLO with operations of CHLO.
  bool takesChlo = false;

  ConcreteFunction<Tensors(const Tensors &)> concrete() const {
    Tensors given;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      given.push_back(specs.empty() ? Tensor(TensorSpec<>(inputs[i].dtype(), inputs[i].shape())) : Tensor(specs[i]));
    return function.get_concrete_function(given);
  }
};

inline void PrintTo(const ExportCase &each, std::ostream *os) { *os << each.name; }

std::vector<ExportCase> exportCases();
// Each elementwise operation of the records, for each element type that it takes.
std::vector<ExportCase> elementwiseExportCases();
// What StableHLO has, and ONNX has not.
std::vector<ExportCase> stableHloExportCases();

} // namespace calque::testing
#endif
