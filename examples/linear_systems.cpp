// Large linear systems by iterations, and derivatives of their solutions.
#include <calque/calque.h>
#include <calque/solvers.h>
#include <calque/sparse.h>

#include <iostream>

using namespace calque;

// The heat in a rod of n cells whose ends are at 0: conductivities of the n + 1 walls, and a source in each cell.
Tensor flow(const Tensor &walls, const Tensor &heat) {
  Tensor steps = pad(heat, {0}, {1}) - pad(heat, {1}, {0}), streams = walls * steps;
  return slice(streams, {0}, {heat.shape()[0]}) - slice(streams, {1}, {std::int64_t(heat.shape()[0]) + 1});
}
Tensor heat(const Tensor &walls, const Tensor &source) {
  auto apply = [&](const Tensor &v) { return flow(walls, v); };
  return solvers::cg(apply, source, {.rtol = 1e-10}).x;
}

int main() {
  const Tensor walls = ones({101}, DType::Float64), source = full({100}, 0.001, DType::Float64);
  // No matrix is made: the system is a function. The iteration is compiled with it.
  auto solve = function(heat);
  std::cout << "middle      " << round(solve(walls, source)[49], 4) << '\n';
  // How the mean heat depends on the wall at the end. This solves one more system, and keeps no iterations.
  auto slopes = function(grad([](const Tensor &w, const Tensor &s) { return mean(heat(w, s)); }));
  std::cout << "slope       " << round(slopes(walls, source)[0], 4) << '\n';

  // A matrix that is not symmetric, with a preconditioner.
  Tensor a = tensor<double>({{4, 1, 0}, {-2, 5, 1}, {0, 1, 3}}), b = tensor<double>({1, 2, 3});
  auto r = solvers::gmres(a, b, {.rtol = 1e-12, .preconditioner = solvers::jacobi(a)});
  std::cout << "gmres       " << round(r.x, 4) << " in " << r.iterations << '\n';

  // A solver of your own. Its derivatives are those of the solution, whatever it does inside.
  auto own = [&](const Tensor &b) {
    return solvers::custom_linear_solve(
        [&](const Tensor &v) { return matmul(a, v); }, b,
        [](const auto &product, const Tensor &right) { return solvers::bicgstab(product, right, {.rtol = 1e-12}).x; });
  };
  std::cout << "own         " << round(own(b), 4) << ' ' << round(grad(own)(b), 4) << '\n';

  // The same rod as a sparse matrix, which three products with directions give: the pattern that is found is
  // tridiagonal.
  auto residual = [&](const Tensor &v) { return flow(walls, v) - source; };
  sparse::Csr rod = jacobian(residual, {.sparsity = sparse::detect})(zeros({100}, DType::Float64));
  std::cout << "sparse      " << rod.pattern().size() << " values, "
            << round(solvers::cg(rod, source, {.rtol = 1e-10, .preconditioner = solvers::jacobi(rod.diagonal())}).x[49],
                     4)
            << '\n';
}
