// Calls of functions that are not StableHLO's: those that JAX makes for its CPU, and annotations.
#include "stablehlo/Checks.h"

#include "calque/assertions.h"
#include "calque/control_flow.h"
#include "calque/linalg.h"
#include "calque/operation.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace calque::stablehlo {

namespace {

Results same(const Call &call) {
  Results all;
  for (std::size_t i = 0; i < call.results(); ++i)
    all.push_back(call.value(i));
  return all;
}

// A letter of LAPACK's, which JAX passes as its number.
char letter(const Call &call, const char *name, char otherwise) {
  const Attribute *config = call.operation().find("mhlo.backend_config");
  if (!config)
    config = call.operation().find("backend_config");
  if (!config || config->kind != Attribute::Kind::Dictionary)
    return otherwise;
  const auto found = config->dictionary.find(name);
  return found == config->dictionary.end() ? otherwise : static_cast<char>(found->second.integer);
}

// No error is reported as a number: a failure is a LinAlgError.
Tensor noError(const Call &call, std::size_t i) { return zeros(call.shape(i), call.dtype(i)); }

Tensor flipped(const Tensor &x) { return swapaxes(x, -1, -2); }

Results potrf(const Call &call) {
  const Tensor a = call.tensor(0);
  return {letter(call, "uplo", 'L') == 'L' ? linalg::cholesky(a) : flipped(linalg::cholesky(flipped(a))),
          noError(call, 1)};
}

// Exchanges of rows, from 1, that make an order of rows: int32 of int64, along the last dimension.
const calque::Operation &pivots() {
  static const calque::Operation made(
      {.name = "stablehlo.pivots",
       .types =
           [](const std::vector<TensorSpec<>> &in) {
             return std::vector<TensorSpec<>>{TensorSpec<>(DType::Int32, in[0].shape())};
           },
       .kernel = [](const KernelTensor *in, const KernelTensor *out, void *) -> std::int32_t {
         std::int64_t count = 1;
         for (std::int32_t i = 0; i + 1 < in->rank; ++i)
           count *= in->sizes[i];
         const std::int64_t n = in->sizes[in->rank - 1];
         std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
         for (std::int64_t b = 0; b < count; ++b) {
           const auto *order = static_cast<const std::int64_t *>(in->data) + b * n;
           auto *exchanged = static_cast<std::int32_t *>(out->data) + b * n;
           std::iota(rows.begin(), rows.end(), 0);
           for (std::int64_t i = 0; i < n; ++i) {
             const auto at = std::find(rows.begin() + i, rows.end(), order[i]);
             exchanged[i] = static_cast<std::int32_t>(at - rows.begin()) + 1;
             if (at != rows.end())
               std::iter_swap(rows.begin() + i, at);
           }
         }
         return 0;
       }});
  return made;
}
const bool kIsRegistered = [] {
  registerOperations("stablehlo.pivots", [](const std::string &) { pivots(); });
  return true;
}();

Results getrf(const Call &call) {
  const linalg::LuFactors lu = linalg::lu_factor(call.tensor(0));
  return {lu.factors, pivots()({lu.order})[0], noError(call, 2)};
}

Results trsm(const Call &call) {
  return linalg::triangular_solve(call.tensor(0), call.tensor(1),
                                  {.lower = letter(call, "uplo", 'L') == 'L',
                                   .transpose = letter(call, "trans_x", 'N') != 'N',
                                   .unit_diagonal = letter(call, "diag", 'N') == 'U',
                                   .left = letter(call, "side", 'L') == 'L'});
}

Results syevd(const Call &call) {
  Tensor a = call.tensor(0);
  if (letter(call, "uplo", 'L') != 'L')
    a = flipped(a); // the lower triangle is read
  const linalg::Eigh made = linalg::eigh(a);
  return {made.vectors, made.values, noError(call, 2)};
}

Results gesdd(const Call &call) {
  const char mode = letter(call, "mode", 'S');
  const Tensor a = call.tensor(0);
  const linalg::Svd made = linalg::svd(a, {.full_matrices = mode == 'A'});
  return {a, made.s, made.u, made.vh, noError(call, 4)};
}

// What LAPACK's geqrf leaves of A: R on and above the diagonal, below it the reflectors I - tau v v^T, whose v have 1
// on the diagonal. They are made one after the other, by a loop.
Results geqrf(const Call &call) {
  const Tensor a = call.tensor(0);
  const std::int64_t rank = a.rank();
  if (rank < 2 || is_complex(a.dtype()))
    call.refuse("a tensor of rank " + std::to_string(rank) + " and the type " + name_of(a.dtype()));
  const Size m = a.shape()[static_cast<std::size_t>(rank - 2)], n = a.shape()[static_cast<std::size_t>(rank - 1)];
  const Tensor rows = iota({m}, DType::Int64), columns = iota({n}, DType::Int64);
  const Tensor scales = zeros(call.shape(1), a.dtype());
  const Tensor places = iota({scales.shape()[static_cast<std::size_t>(rank - 2)]}, DType::Int64);
  const auto [factors, tau] =
      for_range(0, size(places), std::tuple(a, scales), [&](const Tensor &j, const std::tuple<Tensor, Tensor> &at) {
        const auto &[now, scale] = at;
        const Tensor x = take(now, j, -1); // [..., m]
        const Tensor alpha = expand_dims(take(x, j, -1), {rank - 2});
        const Tensor below = sum(square(where(rows > j, x, 0)), rank - 2, true);
        const Tensor isDone = equal(below, 0);
        const Tensor beta = where(isDone, alpha, -copysign(sqrt(square(alpha) + below), alpha));
        const Tensor factor = where(isDone, 0, (beta - alpha) / where(isDone, 1, beta));
        const Tensor v = where(rows > j, x / where(isDone, 1, alpha - beta), cast(equal(rows, j), x.dtype()));
        const Tensor wide = expand_dims(v, {rank - 1});
        const Tensor product = sum(wide * now, rank - 2, true); // v^T A
        const Tensor reflected = now - expand_dims(factor, {rank - 1}) * wide * product;
        const Tensor column = expand_dims(where(equal(rows, j), beta, where(rows > j, v, x)), {rank - 1});
        return std::tuple(where(columns > j, reflected, where(equal(columns, j), column, now)),
                          where(equal(places, j), factor, scale));
      });
  return {factors, tau};
}

// The matrix of which these are the reflectors, as many columns as are given.
Results orgqr(const Call &call) {
  const Tensor a = call.tensor(0), tau = call.tensor(1);
  const std::int64_t rank = a.rank();
  if (rank < 2 || tau.rank() != rank - 1 || is_complex(a.dtype()))
    call.refuse("tensors of the ranks " + std::to_string(rank) + " and " + std::to_string(tau.rank()));
  const Size m = a.shape()[static_cast<std::size_t>(rank - 2)], n = a.shape()[static_cast<std::size_t>(rank - 1)];
  const Tensor rows = iota({m}, DType::Int64), columns = iota({n}, DType::Int64);
  const Tensor start = broadcast_to(cast(equal(expand_dims(rows, {1}), columns), a.dtype()), a.shape());
  const Tensor count = size(tau, rank - 2);
  return for_range(0, count, start, [&](const Tensor &i, const Tensor &q) {
    const Tensor j = count - 1 - i;
    const Tensor v = where(rows > j, take(a, j, -1), cast(equal(rows, j), a.dtype()));
    const Tensor wide = expand_dims(v, {rank - 1});
    const Tensor factor = expand_dims(take(tau, j, -1), {rank - 2, rank - 1});
    return q - factor * wide * sum(wide * q, rank - 2, true);
  });
}

// JAX asserts what it found of sizes when it exported a function.
Results shapeAssertion(const Call &call) {
  assert_true(call.tensor(0), call.word("error_message", "an assertion about sizes does not hold"));
  return {};
}

Results topK(const Call &call) {
  const std::int64_t axis = call.rank(0) - 1;
  const Shape shape = call.shape();
  const TopK top = top_k(call.tensor(0), std::int64_t(shape[static_cast<std::size_t>(axis)]));
  return {top.values, as(top.indices, call.dtype(1))};
}

struct Target {
  std::string_view name;
  Results (*apply)(const Call &call);
};
constexpr Target kTargets[] = {
    {"Sharding", same},
    {"SPMDFullToShardShape", same},
    {"SPMDShardToFullShape", same},
    {"TopK", topK},
    {"annotate_device_placement", same},
    {"check.expect_almost_eq", expectNear},
    {"check.expect_close", expectClose},
    {"check.expect_eq", expectEqual},
    {"lapack_dgeqrf_ffi", geqrf},
    {"lapack_dgesdd_ffi", gesdd},
    {"lapack_dgetrf_ffi", getrf},
    {"lapack_dorgqr_ffi", orgqr},
    {"lapack_dpotrf_ffi", potrf},
    {"lapack_dsyevd_ffi", syevd},
    {"lapack_dtrsm_ffi", trsm},
    {"lapack_sgeqrf_ffi", geqrf},
    {"lapack_sgesdd_ffi", gesdd},
    {"lapack_sgetrf_ffi", getrf},
    {"lapack_sorgqr_ffi", orgqr},
    {"lapack_spotrf_ffi", potrf},
    {"lapack_ssyevd_ffi", syevd},
    {"lapack_strsm_ffi", trsm},
    {"mhlo.topk", topK},
    {"shape_assertion", shapeAssertion},
};

Results customCall(const Call &call) {
  const std::string target = call.word("call_target_name", "");
  for (const Target &each : kTargets)
    if (each.name == target)
      return each.apply(call);
  // mhlo.erf and others, which CHLO has.
  if (target.starts_with("mhlo."))
    if (const Operator *found = findOperator("chlo." + target.substr(5)); found && found->trait == Trait::Elementwise)
      return found->apply(call);
  call.refuse("a custom call of '" + target + "', which Calque does not have");
}

constexpr Operator kTable[] = {
    {"stablehlo.custom_call", 0, kAnyNumber, customCall},
};

} // namespace

Table customCallOperators() { return kTable; }

} // namespace calque::stablehlo
