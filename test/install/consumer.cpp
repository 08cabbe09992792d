// A program outside of the project: eager, compiled, differentiated, with an operation of its own.
#include <calque/calque.h>

namespace {
std::int32_t cube(const calque::KernelTensor *in, const calque::KernelTensor *out, void *) {
  const auto *x = static_cast<const float *>(in[0].data);
  auto *y = static_cast<float *>(out[0].data);
  for (std::int64_t i = 0; i < in[0].sizes[0]; ++i)
    y[i] = x[i] * x[i] * x[i];
  return 0;
}
} // namespace

int main() {
  using namespace calque;
  Variable w(scalar(3.0f));
  auto f = function([&](const Tensor &x) {
    GradientTape tape;
    return *tape.gradient(x * w * w, w);
  });
  Tensor x = scalar(2.0f);
  if (f(x).item<float>() != 12 || f.eager(x).item<float>() != 12)
    return 1;

  Operation own({.name = "consumer_cube",
                 .types = [](const std::vector<TensorSpec<>> &in) { return in; },
                 .kernel = cube,
                 .pullback = [](const std::vector<Tensor> &in, const std::vector<Tensor> &,
                                const std::vector<Tensor> &g) { return std::vector<Tensor>{3 * square(in[0]) * g[0]}; },
                 .batching =
                     [&](const std::vector<Tensor> &in, const std::vector<bool> &) {
                       // The kernel takes vectors: all examples one after the other.
                       return std::vector<Tensor>{reshape(own({reshape(in[0], {-1})})[0], in[0].shape())};
                     }});
  auto gradients =
      function([&](const Tensor &rows) { return vmap(grad([&](const Tensor &row) { return own({row})[0]; }))(rows); });
  auto values =
      function([&](const Tensor &rows) { return vmap([&](const Tensor &row) { return own({row})[0]; })(rows); });
  Tensor rows = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  return gradients(rows).to_vector<float>() == std::vector<float>{3, 12, 27, 48} &&
                 values(rows).to_vector<float>() == std::vector<float>{1, 8, 27, 64}
             ? 0
             : 2;
}
