// Linear algebra and Fourier transforms: `./dev bench --linalg`. Where Eigen and FFTW are installed, NAME_eigen and
// NAME_fftw are the same by them, with the same check; linalg_peers.py has JAX, PyTorch, NumPy and SciPy. Matrices are
// float64, transforms complex64. Eigen is compiled with -O3 for the machine's own CPU, and its small matrices have
// sizes that the compiler knows, but for singular values, general eigenvalues and exponentials. Eigen works on one
// thread.
#include "benchmarks/Harness.h"
#include "benchmarks/linalg/Peers.h"

#include "calque/calque.h"
#include "calque/fft.h"
#include "calque/linalg.h"

#include <cmath>

using namespace calque;
using namespace calque::benchmarks;
using peers::Task;

namespace {

constexpr std::int64_t kMany = 10000;

double elementOf(const Tensor &x) { return cast(x, DType::Float64).item<double>(); }

struct Matrices {
  std::int64_t count;
  int n;
  bool definite; // symmetric with a large diagonal
};

std::vector<double> valuesOf(const Matrices &of) {
  const std::int64_t n = of.n;
  std::vector<double> values(static_cast<std::size_t>(of.count * n * n));
  for (std::int64_t b = 0; b < of.count; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t row = of.definite ? std::min(i, j) : i, column = of.definite ? std::max(i, j) : j;
        double value = std::sin(1.3 * static_cast<double>(row * n + column) + 0.37 * static_cast<double>(b));
        if (i == j)
          value += of.definite ? static_cast<double>(n) + 0.1 * static_cast<double>(i) : 2;
        values[static_cast<std::size_t>((b * n + i) * n + j)] = value;
      }
  return values;
}
Tensor tensorOf(const Matrices &of) {
  return of.count == 1 ? tensor(valuesOf(of), {of.n, of.n}) : tensor(valuesOf(of), {of.count, of.n, of.n});
}

Tensor trace(const Tensor &a) { return sum(einsum("...ii->...i", {a})); }
// The sum over matrices of the last element of each.
Tensor last(const Tensor &a) {
  return sum(einsum("...ii->...i", {a}) *
             one_hot(scalar<std::int64_t>(a.shape()[2] - 1), a.shape()[2], DType::Float64));
}

// What is computed: all results of the function, and a number that all systems agree on.
using Results = std::pair<std::vector<Tensor>, Tensor>;
Results compute(Task task, const Tensor &given) {
  const Tensor a = given.shape().size() == 2 ? expand_dims(given, {0}) : given;
  switch (task) {
  case Task::Cholesky: {
    Tensor l = linalg::cholesky(a);
    return {{l}, last(l)};
  }
  case Task::Solve: {
    Tensor x = linalg::solve(a, ones({a.shape()[2]}, DType::Float64));
    return {{x}, sum(x)};
  }
  case Task::Inverse: {
    Tensor x = linalg::inv(a);
    return {{x}, trace(x)};
  }
  case Task::Lu: {
    auto [factors, order] = linalg::lu_factor(a);
    return {{factors, order}, last(factors)};
  }
  case Task::Qr: {
    auto [q, r] = linalg::qr(a);
    return {{q, r}, last(abs(r))};
  }
  case Task::Eigh: {
    auto [values, vectors] = linalg::eigh(a);
    return {{values, vectors}, sum(square(values))};
  }
  case Task::Eig: {
    auto [values, vectors] = linalg::eig(a);
    return {{values, vectors}, sum(square(abs(values)))};
  }
  case Task::Svd: {
    auto [u, s, vh] = linalg::svd(a);
    return {{u, s, vh}, sum(s)};
  }
  case Task::Expm: {
    Tensor x = linalg::expm(a);
    return {{x}, trace(x)};
  }
  }
  return {};
}

struct Named {
  const char *name;
  Task task;
  bool definite;
};
constexpr Named kTasks[] = {{"cholesky", Task::Cholesky, true},
                            {"solve", Task::Solve, false},
                            {"inv", Task::Inverse, false},
                            {"lu", Task::Lu, false},
                            {"qr", Task::Qr, false},
                            {"svd", Task::Svd, false},
                            {"eigh", Task::Eigh, true},
                            {"eig", Task::Eig, false},
                            {"expm", Task::Expm, false}};

Work workOf(Task task, const Tensor &a) {
  auto made = function([task](const Tensor &x) { return compute(task, x); });
  return {[=]() mutable { return made(a).second; }, elementOf};
}

// A loss whose gradient goes through all results: of values alone for eigh and svd.
Tensor lossOf(Task task, const Tensor &a) {
  switch (task) {
  case Task::Cholesky:
    return 2.0 * sum(log(einsum("...ii->...i", {linalg::cholesky(a)})));
  case Task::Solve:
    return sum(square(linalg::solve(a, ones({a.shape()[a.shape().size() - 1]}, DType::Float64))));
  case Task::Inverse:
    return sum(square(linalg::inv(a)));
  case Task::Eigh:
    return sum(square(linalg::eigh(a).values) * 0.5);
  case Task::Svd:
    return sum(linalg::svd(a).s);
  default:
    return compute(task, a).second;
  }
}
Case gradientOf(const std::string &name, Task task, const Matrices &of) {
  return {name + "_gradient", [=] {
            Tensor a = tensorOf(of);
            auto made = function(grad([task](const Tensor &x) { return lossOf(task, x); }));
            return Work{[=]() mutable { return made(a); }, [](const Tensor &g) { return elementOf(sum(abs(g))); }};
          }};
}

void addMatrices(std::vector<Case> &cases) {
  auto add = [&](const Named &named, std::int64_t count, int n) {
    const Matrices of{count, n, named.definite};
    const std::string name = std::string(named.name) + (count == 1 ? "_" : "_many_") + std::to_string(n);
    const Task task = named.task;
    cases.push_back({name, [=] { return workOf(task, tensorOf(of)); }});
    if (peers::eigen(task, {}, 0, n))
      cases.push_back({name + "_eigen", [=] {
                         auto run = peers::eigen(task, valuesOf(of), count, n);
                         return Work{[=] { return scalar<double>(run()); }, elementOf};
                       }});
    const bool differentiated = task != Task::Lu && task != Task::Qr && task != Task::Eig && task != Task::Expm;
    if (differentiated && n <= 500)
      cases.push_back(gradientOf(name, task, of));
  };
  for (const Named &named : kTasks) {
    for (int n : {3, 6, 12})
      add(named, kMany, n);
    for (int n : {100, 500, 2000}) {
      const bool slow = named.task == Task::Eig || named.task == Task::Svd || named.task == Task::Expm;
      if (n < 2000 || !slow)
        add(named, 1, n);
    }
  }
  // jax#36927: a batch of solves of 3 x 3 with a matrix on the right; jax#36799: a short scan of 3 x 3 in float64.
  cases.push_back({"jax_36927", [] {
                     Tensor a = tensorOf({kMany, 3, false}), b = tensorOf({kMany, 3, true});
                     auto made = function([](const Tensor &x, const Tensor &y) { return linalg::solve(x, y); });
                     return Work{[=]() mutable { return made(a, b); },
                                 [](const Tensor &x) { return elementOf(trace(x)); }};
                   }});
  cases.push_back({"jax_36799", [] {
                     Tensor a = tensor<double>({0.5, 0.2, -0.1, 0.1, 0.6, 0.2, -0.3, 0.1, 0.4}, {3, 3});
                     auto made = function([](const Tensor &matrix) {
                       Tensor x = ones({3}, DType::Float64);
                       for (Tensor i : range(1000))
                         x = matmul(matrix, x) + 0.1;
                       return sum(x);
                     });
                     return Work{[=]() mutable { return made(a); }, elementOf};
                   }});
}

std::vector<std::complex<float>> numbersOf(const Shape &shape) {
  std::int64_t size = 1;
  for (std::int64_t each : shape)
    size *= each;
  std::vector<std::complex<float>> numbers(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double at = static_cast<double>(i % 100003);
    numbers[i] = {static_cast<float>(std::sin(0.37 * at)), static_cast<float>(std::cos(0.11 * at))};
  }
  return numbers;
}

void addTransforms(std::vector<Case> &cases) {
  auto add = [&](const std::string &name, const Shape &shape, bool allAxes) {
    auto transform = [allAxes](const Tensor &x) { return allAxes ? fft::fftn(x) : fft::fft(x); };
    auto second = [](const Tensor &x) { return elementOf(abs(reshape(x, {-1})[1])); };
    cases.push_back({name, [=] {
                       Tensor x = tensor(numbersOf(shape), shape);
                       auto made = function(transform);
                       return Work{[=]() mutable { return made(x); }, second};
                     }});
    std::vector<int> sizes(shape.begin(), shape.end());
    if (peers::fftw({{}}, {1}, false, 1))
      cases.push_back({name + "_fftw", [=] {
                         auto run = peers::fftw(numbersOf(shape), sizes, allAxes, num_threads());
                         return Work{[=] { return scalar<double>(run()); }, elementOf};
                       }});
    cases.push_back({name + "_gradient", [=] {
                       Tensor x = tensor(numbersOf(shape), shape);
                       auto made = function(grad([=](const Tensor &y) {
                         Tensor z = transform(y);
                         return sum(square(real(z)) * square(imag(z)));
                       }));
                       return Work{[=]() mutable { return made(x); }, second};
                     }});
  };
  for (int exponent = 10; exponent <= 22; exponent += 2)
    add("fft_2^" + std::to_string(exponent), {std::int64_t{1} << exponent}, false);
  add("fft_1000x1024", {1000, 1024}, false);
  add("fft_128^3", {128, 128, 128}, true);
  for (std::int64_t prime : {1009, 10007, 65537})
    add("fft_prime_" + std::to_string(prime), {prime}, false);
}

} // namespace

int main(int argc, char **argv) {
  std::vector<Case> cases;
  addMatrices(cases);
  addTransforms(cases);
  return runCases(cases, {}, argc, argv);
}
