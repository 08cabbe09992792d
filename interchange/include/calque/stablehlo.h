// Modules of StableHLO, as jax.export and others write them: run, compiled, differentiated and saved like any other
// function.
//
//   StableHlo net = load_stablehlo("mlp.mlir");
//   Tensor y = net({w, b, x})[0];                            // operation by operation
//   auto f = net.function();                                 // the module's main as one native function
//   Tensor same = f({w, b, x})[0];
//   Tensor slope = grad([&](const Tensor &x) { return sum(net({w, b, x})[0]); })(x);
//
// A module is applied by Calque's own operations, so that it works wherever they do: eagerly, in function(), under
// tapes, in vmap, in branches and loops. docs/stablehlo.md lists the operations.
#ifndef CALQUE_STABLEHLO_H
#define CALQUE_STABLEHLO_H

#include "calque/function.h"
#include "calque/tensor_spec.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace calque {

namespace stablehlo {
class Program;
struct Function;
} // namespace stablehlo

// An argument or result of a function.
struct StableHloPort {
  std::string name; // what JAX has noted of it: "params['w']" or "result[0]". Else "argument 0" or "result 0".
  TensorSpec<> spec;
};

// A shared handle: copies are the same module. Several threads may call it.
class CALQUE_API StableHlo {
public:
  // Makes an empty handle. Using it is a StateError until another handle is assigned.
  StableHlo() = default;

  // The name of the module, and those of its public functions in the order of the text.
  std::string name(SourceLocation where = SourceLocation::current()) const;
  std::vector<std::string> functions(SourceLocation where = SourceLocation::current()) const;
  // The arguments and results of a public function. LookupError for another name; StateError for a function with tuples
  // or tokens.
  std::vector<StableHloPort> inputs(const std::string &function = "main",
                                    SourceLocation where = SourceLocation::current()) const;
  std::vector<StableHloPort> outputs(const std::string &function = "main",
                                     SourceLocation where = SourceLocation::current()) const;

  // The results of a public function. SignatureError for another number of arguments, and for a tensor that an argument
  // does not take. Errors of operations begin with the operation, its line and the file.
  std::vector<Tensor> call(const std::string &function, const std::vector<Tensor> &inputs,
                           SourceLocation where = SourceLocation::current()) const;
  // Those of `main`.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 SourceLocation where = SourceLocation::current()) const;

  // A public function as a function of Calque's, with its signature unless the options have one.
  Function<std::vector<Tensor>(const std::vector<Tensor> &)>
  function(const std::string &name = "main", FunctionOptions options = {},
           SourceLocation where = SourceLocation::current()) const;

  // The signatures of the public functions, and the operations with their numbers, as text.
  std::string str(SourceLocation where = SourceLocation::current()) const;

private:
  friend CALQUE_API StableHlo read_stablehlo(std::string_view text, const std::string &name, SourceLocation where);
  const stablehlo::Program &program(const SourceLocation &where) const;
  const stablehlo::Function &find(const std::string &function, const SourceLocation &where) const;
  std::shared_ptr<const stablehlo::Program> program_;
};

// Reads the text of a module, in the form that jax.export, lowered.as_text() and stablehlo-translate print, or in the
// form that all operations share. DataError, which begins with the path and the line, for a file that is missing, for
// text that is no StableHLO, and for operations, types and attributes that Calque does not have. Portable bytecode is
// not read.
CALQUE_API StableHlo load_stablehlo(const std::string &path, SourceLocation where = SourceLocation::current());
// The same of text in memory. The name stands for the path in errors.
CALQUE_API StableHlo read_stablehlo(std::string_view text, const std::string &name = "text",
                                    SourceLocation where = SourceLocation::current());

// The operations that Calque has, by their names: "stablehlo.add".
CALQUE_API std::vector<std::string> stablehlo_operations();

} // namespace calque
#endif
