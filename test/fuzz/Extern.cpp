#include "test/fuzz/Extern.h"

#include "calque/calque.h"
#include "calque/operation.h"

namespace calque::fuzz {

namespace {

// Applies f to the addresses of the operands' and results' elements.
template <typename F> std::int32_t forElements(const KernelTensor *in, F f) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < in->rank; ++i)
    count *= in->sizes[i];
  for (std::int64_t i = 0; i < count; ++i)
    in->dtype == DType::Float32 ? f(i, float()) : f(i, double());
  return 0;
}

std::int32_t cube(const KernelTensor *in, const KernelTensor *out, void *) {
  return forElements(in, [&](std::int64_t i, auto zero) {
    using T = decltype(zero);
    T x = static_cast<const T *>(in->data)[i];
    static_cast<T *>(out->data)[i] = x * x * x;
  });
}
std::int32_t mixed(const KernelTensor *in, const KernelTensor *out, void *) {
  return forElements(in, [&](std::int64_t i, auto zero) {
    using T = decltype(zero);
    T x = static_cast<const T *>(in[0].data)[i], y = static_cast<const T *>(in[1].data)[i];
    static_cast<T *>(out[0].data)[i] = x * y;
    static_cast<T *>(out[1].data)[i] = x + 2 * y;
  });
}

using Tensors = std::vector<Tensor>;
using Specs = std::vector<TensorSpec<>>;

// With a rule for many examples, and without one.
const Operation &cubeOperation() {
  static const Operation operation(
      {.name = "fuzz_cube",
       .types = [](const Specs &in) { return in; },
       .kernel = cube,
       .pullback = [](const Tensors &in, const Tensors &,
                      const Tensors &g) { return Tensors{3 * square(in[0]) * g[0]}; },
       .batching = [](const Tensors &in, const std::vector<bool> &) { return cubeOperation()(in); }});
  return operation;
}
const Operation &mixedOperation() {
  static const Operation operation(
      {.name = "fuzz_mixed",
       .types = [](const Specs &in) { return in; },
       .kernel = mixed,
       .pullback = [](const Tensors &in, const Tensors &,
                      const Tensors &g) { return Tensors{g[0] * in[1] + g[1], g[0] * in[0] + 2 * g[1]}; }});
  return operation;
}

} // namespace

int numOperandsOfExtern(std::int64_t operation) { return operation == 0 ? 1 : 2; }

std::vector<TensorType> typesOfExtern(std::int64_t operation, const std::vector<TensorType> &operands) {
  if (operation < 0 || operation >= kExternOperations ||
      static_cast<int>(operands.size()) != numOperandsOfExtern(operation) || !is_floating(operands[0].dtype) ||
      is_half(operands[0].dtype) || operands.back() != operands[0])
    return {};
  return operands;
}

void evaluateExtern(const Call &call, std::size_t result) {
  if (call.attribute<std::int64_t>(0) == 0)
    elementwiseBy(call, [](const Real *x) { return x[0] * x[0] * x[0]; }, 3);
  else if (result == 0)
    elementwiseBy(call, [](const Real *x) { return x[0] * x[1]; }, 2);
  else
    elementwiseBy(call, [](const Real *x) { return x[0] + 2 * x[1]; }, 3);
}

const Operation &externOperation(std::int64_t operation) { return operation == 0 ? cubeOperation() : mixedOperation(); }

std::string_view nameOfExtern(std::int64_t operation) { return operation == 0 ? "cube" : "mixed"; }

std::string externDefinition(std::int64_t operation) {
  std::string name(nameOfExtern(operation));
  return "static const Operation " + name + "({.name = \"" + name +
         "\", .types = [](const std::vector<TensorSpec<>> &in) { return in; },\n"
         "    .kernel = [](const KernelTensor *in, const KernelTensor *out, void *) -> std::int32_t {\n"
         "      std::int64_t count = 1;\n"
         "      for (std::int32_t i = 0; i < in->rank; ++i)\n"
         "        count *= in->sizes[i];\n"
         "      auto run = [&](auto *x) {\n" +
         (operation == 0 ? "        auto *y = static_cast<decltype(x)>(out->data);\n"
                           "        for (std::int64_t i = 0; i < count; ++i)\n"
                           "          y[i] = x[i] * x[i] * x[i];\n"
                         : "        auto *y = static_cast<decltype(x)>(in[1].data), *p = "
                           "static_cast<decltype(x)>(out->data), *s = "
                           "static_cast<decltype(x)>(out[1].data);\n"
                           "        for (std::int64_t i = 0; i < count; ++i) {\n"
                           "          p[i] = x[i] * y[i];\n"
                           "          s[i] = x[i] + 2 * y[i];\n"
                           "        }\n") +
         "      };\n"
         "      in->dtype == DType::Float32 ? run(static_cast<float *>(in->data)) : run(static_cast<double "
         "*>(in->data));\n"
         "      return 0;\n"
         "    },\n"
         "    .pullback = [](const std::vector<Tensor> &in, const std::vector<Tensor> &, const std::vector<Tensor> &g) "
         "{\n"
         "      return std::vector<Tensor>" +
         (operation == 0 ? "{3 * square(in[0]) * g[0]}" : "{g[0] * in[1] + g[1], g[0] * in[0] + 2 * g[1]}") +
         ";\n    }});\n";
}

} // namespace calque::fuzz
