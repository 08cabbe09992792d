// Linear algebra from several threads at once, with small matrices in kernels of the runtime and large ones in LAPACK.
// Run under tsan as well, which does not see into LAPACK's library but into all that calls it.
#include "Testing.h"
#include "calque/linalg.h"

#include <atomic>
#include <barrier>

using namespace calque;
using namespace calque::testing;

namespace {

// A matrix [n, n] near 2 I, of numbers that differ by `kind`, and the same times its transpose.
Tensor regular(std::int64_t n, int kind, DType dtype = DType::Float64) {
  const Tensor places = cast(iota({n, n}, DType::Int64, 0) * n + iota({n, n}, DType::Int64, 1), DType::Float64);
  return cast(sin(places * (1.0 + kind)) / static_cast<double>(n) + 2 * eye(n, DType::Float64), dtype);
}
Tensor positive(std::int64_t n, int kind, DType dtype = DType::Float64) {
  const Tensor x = regular(n, kind, dtype);
  return matmul(x, x, {.transpose_b = true});
}
double largest(const Tensor &x) { return max(abs(x)).item<double>(); }

} // namespace

TEST(LinalgThreads, EagerAndCompiledSolutionsBesideEachOther) {
  constexpr int kThreads = 4, kCalls = 6;
  auto compiled = function([](const Tensor &a, const Tensor &s, const Tensor &b) {
    Tensor l = linalg::cholesky(s);
    auto [w, v] = linalg::eigh(s);
    return linalg::solve(a, b) + linalg::cho_solve(l, b) + matmul(v * (1 / w), matmul(v, b, {.transpose_a = true}));
  });
  auto slope = function(grad([](const Tensor &a, const Tensor &b) { return sum(linalg::solve(a, b)); }));
  std::barrier start(kThreads);
  std::atomic<int> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      for (int call = 0; call < kCalls; ++call)
        for (std::int64_t n : {3, 20, 70, 150}) {
          const int kind = thread + call;
          const Tensor a = regular(n, kind), s = positive(n, kind), b = sin(regular(n, kind + 9));
          // Of three solutions each has the residual of its own system.
          const Tensor all = compiled(a, s, b), x = linalg::solve(a, b), y = linalg::cho_solve(linalg::cholesky(s), b);
          const Tensor rest = all - x - y;
          wrong += largest(matmul(a, x) - b) > 1e-12 || largest(matmul(s, y) - b) > 1e-12 ||
                   largest(matmul(s, rest) - b) > 1e-10;
          const linalg::Svd f = linalg::svd(a);
          wrong += largest(matmul(f.u * f.s, f.vh) - a) > 1e-12;
          const linalg::Qr q = linalg::qr(a);
          wrong += largest(matmul(q.q, q.r) - a) > 1e-12;
          // -A^-T 1 x^T.
          const Tensor turned = linalg::solve(transpose(a), ones({n, n}, DType::Float64));
          wrong += largest(slope(a, b) + matmul(turned, x, {.transpose_b = true})) > 1e-11;
          try { // an error of one thread is no other's
            linalg::solve(zeros({n, n}, DType::Float64), b);
          } catch (const LinAlgError &) {
            ++refused;
          }
        }
    });
  for (std::thread &each : threads)
    each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, kThreads * kCalls * 4);
}

TEST(LinalgThreads, BatchesOfLargeMatricesAreShared) {
  std::vector<Tensor> all;
  for (int i = 0; i < 12; ++i)
    all.push_back(regular(70, i));
  const Tensor batch = stack(all);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int call = 0; call < 3; ++call) {
        const Tensor inverse = linalg::inv(batch);
        wrong += largest(matmul(inverse, batch) - eye(70, DType::Float64)) > 1e-12;
        const linalg::Eig e = linalg::eig(batch);
        wrong += largest(real(sum(e.values, {1})) - einsum("kii->k", {batch})) > 1e-10;
      }
    });
  for (std::thread &each : threads)
    each.join();
  EXPECT_EQ(wrong, 0);
}
