#include "test/operations/Accuracy.h"

#include <algorithm>
#include <bit>
#include <sstream>
#include <thread>

namespace calque::testing {

namespace {

constexpr std::int64_t kChunk = 1 << 20;

// `least`: smaller results have its units.
template <typename F, typename T> double errorOf(F result, T exact, double least = 0) {
  constexpr int kLeast = std::numeric_limits<F>::min_exponent - 1, kMost = std::numeric_limits<F>::max_exponent - 1;
  if (std::isnan(exact) || std::isnan(result))
    return std::isnan(exact) && std::isnan(result) ? 0 : HUGE_VAL;
  if (std::isinf(exact))
    return result == exact ? 0 : HUGE_VAL;
  if (exact == 0 && result == 0)
    return std::signbit(exact) == std::signbit(result) ? 0 : HUGE_VAL;
  const T beyond = std::ldexp(static_cast<T>(1), kMost + 1);
  T found = std::isinf(result) ? std::copysign(beyond, static_cast<T>(result)) : static_cast<T>(result);
  if (std::fabs(exact) > beyond)
    exact = std::copysign(beyond, exact);
  int exponent = exact == 0 ? kLeast : std::clamp(std::ilogb(exact), kLeast, kMost);
  if (least > 0)
    exponent = std::max(exponent, std::ilogb(least));
  return static_cast<double>(std::ldexp(std::fabs(found - exact), std::numeric_limits<F>::digits - 1 - exponent));
}

// ilogb and ldexp take longer than the functions themselves.
double fastError(float result, double exact) {
  std::uint64_t exponent = std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7ff;
  if (exponent < 1023 - 126 || exponent > 1023 + 127 || !std::isfinite(result))
    return errorOf(result, exact);
  double perUlp = std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
  return std::fabs(static_cast<double>(result) - exact) * perUlp;
}

// Operands as lists of numbers, one for each.
template <typename F> using Operands = std::vector<std::vector<F>>;

// Adds the results of one call.
template <typename T, typename F>
void compare(Worst &worst, const ElementwiseCase &op, const Operands<F> &x, const std::vector<F> &results,
             std::size_t begin, std::size_t end) {
  T operands[3] = {};
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < x.size(); ++k)
      operands[k] = static_cast<T>(x[k][i]);
    double error = 0;
    if constexpr (std::is_same_v<T, double>)
      error = fastError(results[i], op.fastReference(operands));
    else
      error = errorOf(results[i], op.reference(operands), std::is_same_v<F, double> ? op.digitsFrom : 0);
    if (error > worst.ulp || worst.operands.empty()) {
      worst.ulp = error;
      worst.operands.clear();
      for (const std::vector<F> &operand : x)
        worst.operands.push_back(operand[i]);
      worst.result = results[i];
    }
  }
  worst.count += end - begin;
}

template <typename F> Worst finished(Worst worst, const ElementwiseCase &op) {
  std::vector<Real> x(worst.operands.begin(), worst.operands.end());
  worst.exact = op.reference(x.data());
  worst.ulp = errorOf(static_cast<F>(worst.result), worst.exact, std::is_same_v<F, double> ? op.digitsFrom : 0);
  return worst;
}

Function<Tensor(const std::vector<Tensor> &)> compiled(const ElementwiseCase &op) {
  return function<Tensor(const std::vector<Tensor> &)>(op.function);
}

template <typename F> std::vector<F> call(Function<Tensor(const std::vector<Tensor> &)> &f, const Operands<F> &x) {
  std::vector<Tensor> operands;
  for (const std::vector<F> &operand : x)
    operands.push_back(tensor<F>(operand, {static_cast<std::int64_t>(operand.size())}));
  return f(operands).template to_vector<F>();
}

// `bits` with an exponent from -7 to 8.
std::uint32_t nearOne(std::uint32_t bits) { return (bits & 0x87ffffff) + 0x3c000000; }
std::uint64_t nearOne(std::uint64_t bits) { return (bits & 0x80ffffffffffffff) + 0x3f80000000000000; }

template <typename F, typename Bits> Worst worstOfSampleIn(const ElementwiseCase &op, int logOfCount) {
  using Limits = std::numeric_limits<F>;
  constexpr bool isDouble = Limits::digits == 53;
  constexpr int kDigits = Limits::digits;
  auto power = [](int exponent) { return std::ldexp(static_cast<F>(1), exponent); };
  // Numbers with the fewest digits, neighbours of 1, bounds of integers, large ones.
  const std::vector<F> special = {0,
                                  Limits::denorm_min(),
                                  power(Limits::min_exponent - 2) * static_cast<F>(1.5),
                                  Limits::min(),
                                  1,
                                  1 - Limits::epsilon() / 2,
                                  1 + Limits::epsilon(),
                                  power(kDigits - 1),
                                  power(isDouble ? 62 : 31), // the C library's long double fails at -2^63
                                  power(Limits::max_exponent / 2),
                                  power(Limits::max_exponent - 1),
                                  Limits::max(),
                                  Limits::infinity()};
  std::mt19937_64 random(1);
  std::size_t count = op.schema().numOperands;
  Operands<F> x(count);
  constexpr int kBits = 8 * sizeof(Bits);
  for (Bits i = 0; i < Bits(1) << logOfCount; ++i)
    for (std::size_t k = 0; k < count; ++k) {
      // The first operand has every sign and exponent equally often.
      auto low = static_cast<Bits>(random() >> (64 - kBits));
      Bits bits = k == 0 ? i << (kBits - logOfCount) | low >> logOfCount : low;
      if ((count > 1 || isDouble) && i % 3 != 0) {
        bits = nearOne(low);
        if (i % 3 == 2 && k > 0) // few digits
          bits &= ~((Bits(1) << (kDigits - 5)) - 1);
      }
      x[k].push_back(std::bit_cast<F>(bits));
    }
  // Every pair of special values, of either sign.
  std::vector<F> values = special;
  for (F value : special)
    values.push_back(-value);
  values.push_back(Limits::quiet_NaN());
  for (std::size_t i = 0; i < values.size() * (count > 1 ? values.size() : 1); ++i) {
    x[0].push_back(values[i % values.size()]);
    for (std::size_t k = 1; k < count; ++k)
      x[k].push_back(values[i / values.size()]);
  }
  auto f = compiled(op);
  std::vector<F> results = call(f, x);
  Worst worst;
  compare<Real>(worst, op, x, results, 0, results.size());
  return finished<F>(worst, op);
}

} // namespace

std::vector<ElementwiseCase> floatFunctions() {
  std::vector<ElementwiseCase> functions;
  for (const ElementwiseCase &op : elementwiseCases()) {
    std::vector<schema::TensorType> types(op.schema().numOperands, {DType::Float32, {2}});
    schema::Inference inference = schema::inferTypes(op.id, types, {});
    if (!inference.fault && inference.types.at(0).dtype == DType::Float32)
      functions.push_back(op);
  }
  return functions;
}

double ulpError(float result, Real exact) { return errorOf(result, exact); }
double ulpError(double result, Real exact) { return errorOf(result, exact); }

std::string Worst::str() const {
  std::ostringstream out;
  out << ulp << " ULP at " << std::hexfloat;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out << (i ? ", " : "") << operands[i];
  out << ": " << result << " instead of " << static_cast<double>(exact);
  return out.str();
}

Worst worstOfSample(const ElementwiseCase &op, DType dtype, int logOfCount) {
  return dtype == DType::Float64 ? worstOfSampleIn<double, std::uint64_t>(op, logOfCount)
                                 : worstOfSampleIn<float, std::uint32_t>(op, logOfCount);
}

Worst worstOfAll(const ElementwiseCase &op, int threads) {
  auto f = compiled(op);
  std::vector<Worst> worsts(static_cast<std::size_t>(threads));
  Operands<float> x(1, std::vector<float>(kChunk));
  for (std::uint64_t chunk = 0; chunk < (std::uint64_t(1) << 32) / kChunk; ++chunk) {
    for (std::uint64_t i = 0; i < kChunk; ++i)
      x[0][i] = std::bit_cast<float>(static_cast<std::uint32_t>(chunk * kChunk + i));
    std::vector<float> results = call(f, x);
    std::vector<std::thread> workers;
    auto share = [&](std::size_t t) {
      std::size_t each = kChunk / worsts.size();
      compare<double>(worsts[t], op, x, results, t * each, t + 1 == worsts.size() ? kChunk : (t + 1) * each);
    };
    for (std::size_t t = 1; t < worsts.size(); ++t)
      workers.emplace_back(share, t);
    share(0);
    for (std::thread &worker : workers)
      worker.join();
  }
  Worst worst = worsts[0];
  for (std::size_t t = 1; t < worsts.size(); ++t) {
    std::uint64_t count = worst.count + worsts[t].count;
    if (worsts[t].ulp > worst.ulp)
      worst = worsts[t];
    worst.count = count;
  }
  return finished<float>(worst, op);
}

} // namespace calque::testing
