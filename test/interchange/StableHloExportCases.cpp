#include "test/interchange/ExportCases.h"

#include "calque/arrays.h"
#include "calque/fft.h"
#include "calque/linalg.h"
#include "calque/random.h"
#include "calque/training.h"
#include "test/operations/Testing.h"

namespace calque::testing {

namespace {

Tensor numbers(std::uint64_t seed, const Shape &shape) {
  return cast(2 * random::stateless_uniform(shape, random::state(seed, 0)) - 1, DType::Float32);
}
ExportCase of(std::string name, ManyBody body, Tensors inputs, std::vector<TensorSpec<>> specs = {}) {
  return {name, Function<Tensors(const Tensors &)>(std::move(body), {.name = name}), std::move(inputs),
          std::move(specs), false};
}

void addMatrices(std::vector<ExportCase> &cases) {
  const Tensor a = numbers(1, {2, 4, 4}), b = numbers(2, {2, 4, 3});
  const Tensor positive = matmul(a, a, {.transpose_b = true}) + 4 * eye(4, DType::Float32);
  cases.push_back(of("cholesky", [](const Tensors &x) { return Tensors{linalg::cholesky(x[0])}; }, {positive}));
  cases.push_back(of("triangular_solve",
                     [](const Tensors &x) {
                       return Tensors{linalg::triangular_solve(x[0], x[1], {.lower = true}),
                                      linalg::triangular_solve(x[0], x[1], {.lower = true, .transpose = true}),
                                      linalg::triangular_solve(x[0], x[1], {.lower = false, .unit_diagonal = true})};
                     },
                     {positive, b}));
  cases.push_back(of("cholesky_gradient",
                     [](const Tensors &x) {
                       return Tensors{grad([](const Tensor &a) { return sum(square(linalg::cholesky(a))); })(x[0])};
                     },
                     {positive}));
}

void addTransforms(std::vector<ExportCase> &cases) {
  for (std::int64_t n : {8, 7}) {
    const std::string size = std::to_string(n);
    const Tensor x = numbers(3, {3, n}), y = numbers(4, {3, n});
    cases.push_back(of("fft_" + size,
                       [](const Tensors &x) {
                         const Tensor z = fft::fft(complex(x[0], x[1]));
                         const Tensor back = fft::ifft(z), columns = fft::fft2(z);
                         return Tensors{real(z), imag(z), real(back), imag(columns)};
                       },
                       {x, y}));
    cases.push_back(of("rfft_" + size,
                       [n](const Tensors &x) {
                         const Tensor z = fft::rfft(x[0]);
                         return Tensors{real(z), imag(z), fft::irfft(z, {.n = n})};
                       },
                       {x}));
    cases.push_back(of("rfft_gradient_" + size,
                       [](const Tensors &x) {
                         return Tensors{grad([](const Tensor &x) { return sum(square(abs(fft::rfft(x)))); })(x[0])};
                       },
                       {x}));
  }
}

void addComplex(std::vector<ExportCase> &cases) {
  const Tensor x = complex(numbers(5, {3, 4}), numbers(6, {3, 4})), y = complex(numbers(7, {4, 2}), numbers(8, {4, 2}));
  cases.push_back(
      of("complex", [](const Tensors &x) { return Tensors{exp(x[0]) * conj(x[0]), abs(x[0]), real(x[0])}; }, {x}));
  cases.push_back(of("complex_matmul", [](const Tensors &x) { return Tensors{matmul(x[0], x[1])}; }, {x, y}));
}

void addRandom(std::vector<ExportCase> &cases) {
  const Tensor state = random::state(7, 11);
  cases.push_back(of("random",
                     [](const Tensors &x) {
                       return Tensors{random::stateless_uniform({3, 7}, x[0]),
                                      random::stateless_uniform({9}, x[0], {.dtype = DType::Float64}),
                                      random::stateless_uniform({}, x[0])};
                     },
                     {state}));
  cases.push_back(of("random_open",
                     [](const Tensors &x) { return Tensors{x[1] + random::stateless_uniform(x[1].shape(), x[0])}; },
                     {state, numbers(9, {4, 5})}, {{DType::Int64, Shape{2}}, {DType::Float32, Shape{kDynamic, 5}}}));
}

void addIndices(std::vector<ExportCase> &cases) {
  const Tensor x = numbers(10, {4, 5}), updates = numbers(11, {3});
  const Tensor at = tensor<std::int64_t>({{1, 2}, {3, 0}, {1, 2}});
  cases.push_back(of("scatter_nd_gradient",
                     [](const Tensors &x) {
                       return Tensors{
                           grad([&](const Tensor &y) { return sum(square(scatter_nd_set(x[0], x[1], y))); })(x[2])};
                     },
                     {x, at, updates}));
  cases.push_back(of("sort", [](const Tensors &x) { return Tensors{sort(x[0]), sort(x[0], 0)}; }, {x}));
  const Tensor extremes = tensor<float>({NAN, 0.0F, -0.0F, INFINITY, -INFINITY, -NAN, 1, 0.0F});
  cases.push_back(of(
      "argsort_extremes",
      [](const Tensors &x) { return Tensors{argsort(x[0]), argsort(x[0], 0, true), argmax(x[0], 0), argmin(x[0], 0)}; },
      {extremes}));
}

void addPools(std::vector<ExportCase> &cases) {
  const Tensor images = numbers(12, {2, 6, 6, 4}), tangents = numbers(13, {2, 6, 6, 4});
  cases.push_back(of("max_pool_jvp",
                     [](const Tensors &x) {
                       return Tensors{
                           jvp([](const Tensor &y) { return max_pool2d(y, {2, 2}, {2, 2}); }, x[0], x[1]).second};
                     },
                     {images, tangents}));
}

} // namespace

std::vector<ExportCase> stableHloExportCases() {
  std::vector<ExportCase> cases;
  addMatrices(cases);
  addTransforms(cases);
  addComplex(cases);
  addRandom(cases);
  addIndices(cases);
  addPools(cases);
  for (ExportCase &each : elementwiseExportCases()) {
    each.name += "_chlo";
    each.takesChlo = true;
    cases.push_back(std::move(each));
  }
  return cases;
}

} // namespace calque::testing
