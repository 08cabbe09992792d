#include "test/operations/Accuracy.h"

#include <bit>
#include <sstream>
#include <thread>

namespace calque::testing {

namespace {

constexpr std::int64_t kChunk = 1 << 20;

template <typename T> double errorOf(float result, T exact) {
  if (std::isnan(exact) || std::isnan(result))
    return std::isnan(exact) && std::isnan(result) ? 0 : HUGE_VAL;
  if (std::isinf(exact))
    return result == exact ? 0 : HUGE_VAL;
  if (exact == 0 && result == 0)
    return std::signbit(exact) == std::signbit(result) ? 0 : HUGE_VAL;
  const T beyond = 0x1p128L;
  T found = std::isinf(result) ? std::copysign(beyond, static_cast<T>(result)) : static_cast<T>(result);
  if (std::fabs(exact) > beyond)
    exact = std::copysign(beyond, exact);
  int exponent = exact == 0 ? -126 : std::clamp(std::ilogb(exact), -126, 127);
  return static_cast<double>(std::ldexp(std::fabs(found - exact), 23 - exponent));
}

// ilogb and ldexp take longer than the functions themselves.
double fastError(float result, double exact) {
  std::uint64_t exponent = std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7ff;
  if (exponent < 1023 - 126 || exponent > 1023 + 127 || !std::isfinite(result))
    return errorOf(result, exact);
  double perUlp = std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
  return std::fabs(static_cast<double>(result) - exact) * perUlp;
}

template <typename T> T referenceOf(const ElementwiseCase &op, const std::vector<float> &operands) {
  std::vector<T> x(operands.begin(), operands.end());
  if constexpr (std::is_same_v<T, double>)
    return op.fastReference(x.data());
  else
    return op.reference(x.data());
}

// Adds the results of one call.
template <typename T>
void compare(Worst &worst, const ElementwiseCase &op, const std::vector<std::vector<float>> &x,
             const std::vector<float> &results, std::size_t begin, std::size_t end) {
  T operands[3] = {};
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < x.size(); ++k)
      operands[k] = static_cast<T>(x[k][i]);
    double error = 0;
    if constexpr (std::is_same_v<T, double>)
      error = fastError(results[i], op.fastReference(operands));
    else
      error = errorOf(results[i], op.reference(operands));
    if (error > worst.ulp || worst.operands.empty()) {
      worst.ulp = error;
      worst.operands.clear();
      for (const std::vector<float> &operand : x)
        worst.operands.push_back(operand[i]);
      worst.result = results[i];
    }
  }
  worst.count += end - begin;
}

Worst finished(Worst worst, const ElementwiseCase &op) {
  worst.exact = referenceOf<Real>(op, worst.operands);
  worst.ulp = errorOf(worst.result, worst.exact);
  return worst;
}

Function<Tensor(const std::vector<Tensor> &)> compiled(const ElementwiseCase &op) {
  return function<Tensor(const std::vector<Tensor> &)>(op.function);
}

std::vector<float> call(Function<Tensor(const std::vector<Tensor> &)> &f, const std::vector<std::vector<float>> &x) {
  std::vector<Tensor> operands;
  for (const std::vector<float> &operand : x)
    operands.push_back(tensor(operand, {static_cast<std::int64_t>(operand.size())}));
  return f(operands).to_vector<float>();
}

} // namespace

std::vector<ElementwiseCase> float32Functions() {
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

std::string Worst::str() const {
  std::ostringstream out;
  out << ulp << " ULP at " << std::hexfloat;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out << (i ? ", " : "") << operands[i];
  out << ": " << result << " instead of " << static_cast<double>(exact);
  return out.str();
}

Worst worstOfSample(const ElementwiseCase &op) {
  const float infinity = HUGE_VALF;
  const std::vector<float> special = {0,       0x1p-149f,      0x1.8p-127f,   0x1p-126f,
                                      1,       0x1.fffffep-1f, 0x1.000002p0f, 0x1p23f,
                                      0x1p31f, 0x1p64f,        0x1p127f,      std::numeric_limits<float>::max(),
                                      infinity};
  std::mt19937 random(1);
  std::size_t count = op.schema().numOperands;
  std::vector<std::vector<float>> x(count);
  for (std::uint32_t i = 0; i < kChunk; ++i)
    for (std::size_t k = 0; k < count; ++k) {
      // The first operand has every sign and exponent equally often.
      std::uint32_t low = random(), bits = k == 0 ? i << 12 | (low & 0xfff) : low;
      if (count > 1 && i % 3 != 0) { // exponents from -7 to 8
        bits = (bits & 0x80ffffff) + 0x3c000000;
        if (i % 3 == 2 && k > 0)
          bits &= 0xfff80000;
      }
      x[k].push_back(std::bit_cast<float>(bits));
    }
  // Every pair of special values, of either sign.
  std::vector<float> values = special;
  for (float value : special)
    values.push_back(-value);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < values.size() * (count > 1 ? values.size() : 1); ++i) {
    x[0].push_back(values[i % values.size()]);
    for (std::size_t k = 1; k < count; ++k)
      x[k].push_back(values[i / values.size()]);
  }
  auto f = compiled(op);
  std::vector<float> results = call(f, x);
  Worst worst;
  compare<Real>(worst, op, x, results, 0, results.size());
  return finished(worst, op);
}

Worst worstOfAll(const ElementwiseCase &op, int threads) {
  auto f = compiled(op);
  std::vector<Worst> worsts(static_cast<std::size_t>(threads));
  std::vector<std::vector<float>> x(1, std::vector<float>(kChunk));
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
  return finished(worst, op);
}

} // namespace calque::testing
