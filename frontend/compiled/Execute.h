// Runs native code.
#ifndef CALQUE_FRONTEND_COMPILED_EXECUTE_H
#define CALQUE_FRONTEND_COMPILED_EXECUTE_H

#include "frontend/compiled/SiteErrors.h"

namespace calque::detail {

// Runs code on its parameters and variables. After a failed check it throws the error of the site; then no variable has
// changed. `seen`, if given, receives the variables' values before the call.
void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen = nullptr);

// Computes the sizes of code of unknown sizes once. The code must then be called only with inputs of these types. Its
// results get known types.
void fixSizes(Code &code, std::span<const schema::TensorType> inputs, const Caller &caller);

} // namespace calque::detail
#endif
