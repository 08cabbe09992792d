// Memory stays as it is, however often matrices are factorised: eagerly and compiled, by kernels of the runtime and by
// LAPACK, and where a call ends in an error.
#include "test/Sanitizer.h"
#include "test/operations/Linalg.h"

#include <fstream>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

double residentMegabytes() {
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

} // namespace

TEST(LinalgMemory, IsFlatOverAThousandFactorisations) {
  if (isSanitized())
    GTEST_SKIP() << "the sanitizer keeps what is freed";
  using Tensors = std::vector<Tensor>;
  const ManyBody everything = [](const Tensors &in) {
    const Tensor &a = in[0], &s = in[1], &b = in[2];
    const linalg::LuFactors f = linalg::lu_factor(a);
    const linalg::Qr q = linalg::qr(a);
    const linalg::Eigh e = linalg::eigh(s);
    const linalg::Svd v = linalg::svd(a);
    const linalg::Schur t = linalg::schur(a);
    const linalg::Eig g = linalg::eig(a);
    return Tensors{linalg::cholesky(s),
                   linalg::solve(a, b),
                   linalg::inv(a),
                   linalg::triangular_solve(a, b),
                   linalg::lstsq(a, b),
                   f.factors,
                   q.q,
                   e.vectors,
                   v.u,
                   t.t,
                   real(g.vectors),
                   linalg::det(a),
                   linalg::expm(a),
                   linalg::sqrtm(s),
                   linalg::solve_sylvester(s, s, b)};
  };
  const auto compiled = function<Tensors(const Tensors &)>(everything);
  std::mt19937 random(1);
  for (auto [n, calls] : {std::pair<std::int64_t, int>{4, 1000}, {40, 1000}}) {
    SCOPED_TRACE(n);
    const Tensor a =
        randomMatrices(random, DType::Float64, {n, n}) * (1 / static_cast<double>(n)) + 2 * eye(n, DType::Float64);
    const Tensors inputs{a, positive(a), randomMatrices(random, DType::Float64, {n, n})};
    auto some = [&](int count) {
      for (int i = 0; i < count; ++i) {
        (void)everything(inputs);
        (void)compiled(inputs);
        if (i % 10 == 0) {
          EXPECT_THROW(linalg::cholesky(-inputs[1]), LinAlgError);
        }
      }
    };
    some(calls / 10); // pools of memory, code and LAPACK's own
    const double before = residentMegabytes();
    some(calls);
    // A leak of one matrix of 40 x 40 in each call would be 13 MB, one of 100 bytes in each of 15 operations 3 MB.
    EXPECT_LT(residentMegabytes() - before, 2);
  }
}
