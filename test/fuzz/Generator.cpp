#include "test/fuzz/Generator.h"

#include "test/Matrices.h"
#include "test/fuzz/Builder.h"

#include <map>

namespace calque::fuzz {

bool isOfComplexNumbers(OpId op) {
  return op == OpId::ComplexOf || op == OpId::RealPart || op == OpId::ImagPart || op == OpId::Angle || op == OpId::Conj;
}

bool isOfMatrices(OpId op) { return testing::kOfMatrices.contains(schema::schemaOf(op).mnemonic); }

std::string_view hookReason(OpId op) {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"variable_read", "its type is that of a variable, which is made with it"},
      {"variable_assign", "its operand has the type of a variable"},
      {"assert", "it must hold in most programs"},
      {"print", "its operand must be equal bit for bit in all ways"},
      {"host_call", "the program has a callable for it"},
      {"gradient", "a tape or vjp makes it, with what was recorded as operands"},
      {"jvp", "a transformation makes it, with the values between its sources and targets as operands"},
      {"batch", "vmap makes it, and what follows is typed as one example"},
      {"unbatch", "vmap makes it, of the examples that a batch gave"},
      {"custom_gradient", "it holds a program, which is recorded with it"},
      {"checkpoint", "it holds a program, which is recorded with it"},
      {"sigmoid_slope", "the derivative of sigmoid makes it"},
      {"softplus_slope", "the derivative of softplus makes it"},
      {"sinc_slope", "the derivative of sinc makes it"},
      {"polygamma2", "the derivative of trigamma makes it"},
      {"polygamma3", "the derivative of trigamma makes it"},
      {"gammainc_slope", "the derivative of gammainc makes it"},
      {"gamma_density", "the derivative of gammainc makes it"},
      {"gamma_slope", "the derivative of a gamma variable makes it"},
      {"gamma_sample", "a gamma variable makes it, whose derivative is that of the quantile"},
      {"betainc_slope_a", "the derivative of betainc makes it"},
      {"betainc_slope_b", "the derivative of betainc makes it"},
      {"beta_density", "the derivative of betainc makes it"},
      {"zeta_slope", "the derivative of zeta makes it"},
      {"scalb", "ldexp makes it, of whole numbers"},
      {"known", "an eager tape makes it, of an operation's results and what they were"},
      {"extern", "the fuzzer defines some of its own"},
      {"ordered_extern", "it has an effect outside of the program"},
      {"complex", "programs with complex numbers have it"},
      {"real", "programs with complex numbers have it"},
      {"imag", "programs with complex numbers have it"},
      {"angle", "programs with complex numbers have it"},
      {"conj", "programs with complex numbers have it"},
      {"pairs", "the compiler makes it, of complex numbers"},
      {"part_of_pairs", "the compiler makes it, of complex numbers"},
      {"linear_recurrence_parts", "the compiler makes it, of complex numbers"},
      {"fourier", "tests of its own draw complex numbers for it"},
      {"fourier_parts", "the compiler makes it, of complex numbers"},
      {"fourier_pairs", "the compiler makes it, of complex numbers"},
      {"real_fourier", "tests of its own draw complex numbers for it"},
      {"real_fourier_parts", "the compiler makes it, of complex numbers"},
      {"real_fourier_pairs", "the compiler makes it, of complex numbers"},
      {"fourier_to_real", "tests of its own draw complex numbers for it"},
      {"fourier_to_real_parts", "the compiler makes it, of complex numbers"},
      {"fourier_to_real_pairs", "the compiler makes it, of complex numbers"},
      {"banded_product", "the derivative of banded_solve makes it"},
      {"band_of_product", "the derivative of banded_solve makes it"},
      {"cholesky_parts", "the compiler makes it, of complex numbers"},
      {"triangular_solve_parts", "the compiler makes it, of complex numbers"},
      {"lu_factor_parts", "the compiler makes it, of complex numbers"},
      {"lu_solve_parts", "the compiler makes it, of complex numbers"},
      {"determinant_parts", "the compiler makes it, of complex numbers"},
      {"adjugate_parts", "the compiler makes it, of complex numbers"},
      {"slogdet_parts", "the compiler makes it, of complex numbers"},
      {"qr_parts", "the compiler makes it, of complex numbers"},
      {"qr_complete_parts", "the compiler makes it, of complex numbers"},
      {"eigh_parts", "the compiler makes it, of complex numbers"},
      {"svd_parts", "the compiler makes it, of complex numbers"},
      {"svd_full_parts", "the compiler makes it, of complex numbers"},
      {"pseudo_inverse_parts", "the compiler makes it, of complex numbers"},
      {"eig_parts", "the compiler makes it, of complex numbers"},
      {"schur_parts", "the compiler makes it, of complex numbers"},
      {"expm_parts", "the compiler makes it, of complex numbers"},
      {"sylvester_parts", "the compiler makes it, of complex numbers"},
      {"sqrtm_parts", "the compiler makes it, of complex numbers"},
      {"logm_parts", "the compiler makes it, of complex numbers"},
      {"banded_solve_parts", "the compiler makes it, of complex numbers"},
      {"positive_banded_solve_parts", "the compiler makes it, of complex numbers"},
      {"cond", "it holds programs, which are recorded with it"},
      {"while", "it holds programs, which are recorded with it"},
      {"update_at", "a scan makes it, of the results that it stacks"},
      {"stack_push", "the reverse of a loop makes it, of what its iterations have seen"},
      {"stack_pop", "the reverse of a loop makes it, of what its iterations have seen"},
      {"stack_empty", "the reverse of a loop makes it, and what it has seen is put there"},
      {"stack_is_empty", "the compiler makes it, of stacks whose entries know their sizes"},
      {"stack_add", "the derivative of a derivative makes it, of a stack that is used twice"},
      {"stack_sum_like", "the derivative of a derivative makes it, of a stack that is used for many examples"},
      {"open_sizes", "a loop whose variables change their sizes makes it"},
      {"sized_push", "the reverse of a loop whose variables change their sizes makes it"},
      {"sized_pop", "the reverse of a loop whose variables change their sizes makes it"},
      {"stack_below", "the compiler makes it, of values whose sizes are late"},
      {"on_entries", "the compiler makes it, of values whose sizes are late"},
  };
  // test/operations/Linalg*.cpp have matrices that are regular, and compare what is defined of their factors.
  if (isOfMatrices(op))
    return "a matrix that is drawn may have no factors, or more than one choice of them";
  auto found = reasons.find(schema::schemaOf(op).mnemonic);
  return found == reasons.end() ? std::string_view() : found->second;
}

bool isLeftOut(OpId op) {
  const std::string_view reason = hookReason(op);
  const bool isMadeOutside = op == OpId::GammaSample || op == OpId::GammaSlope || op == OpId::Scalb;
  return isMadeOutside || op == OpId::OrderedExtern || reason.find("complex numbers") != std::string_view::npos;
}

Generator::Generator(double nativeShare, Numbers numbers)
    : nativeShare(nativeShare), numbers(numbers), strategies(std::make_unique<Strategies>(numbers)) {}
Generator::~Generator() = default;

Made Generator::make(std::uint64_t seed, std::uint64_t palette) {
  if (!pool || pool->seed != palette)
    pool = std::make_unique<Pool>(*strategies, palette, numbers);
  // A draw may come to nothing; the next one of the same seed is tried.
  for (std::uint64_t attempt = 0;; ++attempt) {
    try {
      Made made = Builder(*strategies, *pool, mix(seed, attempt)).build();
      if (!made.program.steps.empty() && check(made.program)) {
        made.program.seed = seed;
        made.program = withNative(made.program, nativeShare);
        return made;
      }
    } catch (const Undecided &) {
    }
  }
}

} // namespace calque::fuzz
