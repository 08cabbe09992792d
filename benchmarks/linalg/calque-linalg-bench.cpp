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
  const Size n = a.shape()[a.shape().size() - 1];
  return sum(einsum("...ii->...i", {a}) * one_hot(scalar<std::int64_t>(n - 1), n, DType::Float64));
}

// All results of the function, of which checkOf takes the first one.
std::vector<Tensor> compute(Task task, const Tensor &a) {
  switch (task) {
  case Task::Cholesky:
    return {linalg::cholesky(a)};
  case Task::Solve:
    return {linalg::solve(a, ones({a.shape()[a.shape().size() - 1]}, DType::Float64))};
  case Task::Inverse:
    return {linalg::inv(a)};
  case Task::Lu: {
    auto [factors, order] = linalg::lu_factor(a);
    return {factors, order};
  }
  case Task::Qr: {
    auto [q, r] = linalg::qr(a);
    return {r, q};
  }
  case Task::Eigh: {
    auto [values, vectors] = linalg::eigh(a);
    return {values, vectors};
  }
  case Task::Eig: {
    auto [values, vectors] = linalg::eig(a);
    return {values, vectors};
  }
  case Task::Svd: {
    auto [u, s, vh] = linalg::svd(a);
    return {s, u, vh};
  }
  case Task::Expm:
    return {linalg::expm(a)};
  }
  return {};
}

// A number of the first result that all systems agree on.
double checkOf(Task task, const Tensor &x) {
  switch (task) {
  case Task::Cholesky:
  case Task::Lu:
    return elementOf(last(x));
  case Task::Solve:
  case Task::Svd:
    return elementOf(sum(x));
  case Task::Inverse:
  case Task::Expm:
    return elementOf(trace(x));
  case Task::Qr:
    return elementOf(last(abs(x)));
  case Task::Eigh:
    return elementOf(sum(square(x)));
  case Task::Eig:
    return elementOf(sum(square(abs(x))));
  }
  return 0;
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
  return {[=]() mutable { return made(a)[0]; }, [task](const Tensor &x) { return checkOf(task, x); }};
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
    return sum(compute(task, a)[0]);
  }
}
Case gradientOf(const std::string &name, Task task, const Matrices &of) {
  return {name + "_gradient", [=] {
            Tensor a = tensorOf(of);
            auto made = function(grad([task](const Tensor &x) { return lossOf(task, x); }));
            return Work{[=]() mutable { return made(a); }, [](const Tensor &g) { return elementOf(sum(abs(g))); }};
          }};
}

// jax#36799: a scan that carries a 3 x 3 matrix of float64, 2,000 steps of the Cholesky factor of a quasi-separable
// matrix with the diagonal d and, below it, p_i a_(i-1) ... a_(j+1) q_j (Foreman-Mackey and others 2017, which is where
// Gaussian processes of time series take it from).
Work quasiseparable() {
  constexpr std::int64_t n = 2000;
  struct Row {
    Tensor d, p, q, a;
  };
  std::vector<double> d, p, q, a;
  const double matrix[] = {0.5, 0.2, -0.1, 0.1, 0.6, 0.2, -0.3, 0.1, 0.4};
  for (int k = 0; k < n; ++k) {
    d.push_back(2 + 0.1 * std::sin(0.37 * k));
    for (int j = 0; j < 3; ++j) {
      p.push_back(0.3 * std::sin(0.11 * k + j));
      q.push_back(0.2 * std::cos(0.23 * k + 2 * j));
    }
    for (double element : matrix)
      a.push_back(element * (1 + 0.1 * std::sin(0.05 * k)));
  }
  const Row rows{tensor(d), tensor(p, {n, 3}), tensor(q, {n, 3}), tensor(a, {n, 3, 3})};
  auto made = function([](const Row &all) {
    auto step = [](const Tensor &f, const Row &row) {
      Tensor c = sqrt(row.d - matmul(row.p, matmul(f, row.p))), t = matmul(f, transpose(row.a));
      Tensor w = (row.q - matmul(row.p, t)) / c;
      return std::pair(matmul(row.a, t) + expand_dims(w, {1}) * w, concat({reshape(c, {1}), w}));
    };
    return scan(step, zeros({3, 3}, DType::Float64), all).second;
  });
  return {[=]() mutable { return made(rows); }, [](const Tensor &x) { return elementOf(sum(x)); }};
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
    if (differentiated)
      cases.push_back(gradientOf(name, task, of));
  };
  for (const Named &named : kTasks) {
    for (int n : {3, 6, 12})
      add(named, kMany, n);
    for (int n : {100, 500, 2000}) {
      const bool isAsked = named.task != Task::Eig && named.task != Task::Expm; // those take a minute
      if (n < 2000 || isAsked)
        add(named, 1, n);
    }
  }
  // jax#36927: a batch of solves of 3 x 3 with a matrix on the right.
  cases.push_back({"jax_36927", [] {
                     Tensor a = tensorOf({kMany, 3, false}), b = tensorOf({kMany, 3, true});
                     auto made = function([](const Tensor &x, const Tensor &y) { return linalg::solve(x, y); });
                     return Work{[=]() mutable { return made(a, b); },
                                 [](const Tensor &x) { return elementOf(trace(x)); }};
                   }});
  cases.push_back({"jax_36799", quasiseparable});
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
