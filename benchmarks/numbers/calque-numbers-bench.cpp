// Element types, and the functions that users of NumPy take for granted: `./dev bench --numbers`. numbers_peers.py has
// the same cases for JAX, PyTorch and NumPy, with the same checks; draws of random numbers are other ones in each
// system, so that their checks are means, and agree in two digits.
#include "benchmarks/Harness.h"

#include "calque/arrays.h"
#include "calque/calque.h"
#include "calque/image.h"

#include <cmath>

using namespace calque;
using namespace calque::benchmarks;

namespace {

constexpr std::int64_t kMillion = 1'000'000;

double elementOf(const Tensor &x) { return cast(x, DType::Float64).item<double>(); }
double total(const Tensor &x) { return elementOf(sum(cast(x, DType::Float64))); }
double meanOf(const Tensor &x) { return elementOf(mean(cast(x, DType::Float64))); }

// Integers below 2^32 in an order without a pattern: Knuth's multiplicative hash of their places.
std::vector<std::uint32_t> hashes(std::int64_t count, std::uint32_t seed) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<std::uint32_t>(i) + seed) * 2654435761U;
  return values;
}
// The same as numbers of [0, 1).
Tensor numbers(const Shape &shape, std::uint32_t seed, DType dtype = DType::Float32) {
  std::int64_t count = 1;
  for (std::int64_t size : shape)
    count *= size;
  std::vector<double> values;
  for (std::uint32_t hash : hashes(count, seed))
    values.push_back(hash / 4294967296.0);
  return cast(tensor(values, shape), dtype);
}
// The same as integers from -100 on.
Tensor bytes(std::uint32_t seed) {
  return cast(floor(numbers({1024, 1024}, seed, DType::Float64) * 200.0) - 100.0, DType::Int8);
}

// A compiled function of these arguments.
template <typename F, typename... T> Work compiled(double (*check)(const Tensor &), F f, T... arguments) {
  auto made = function(std::move(f));
  return {[=]() mutable { return made(arguments...); }, check};
}

// Three rounds of Marsaglia's xorshift.
Tensor xorshift(Tensor x) {
  for (int round = 0; round < 3; ++round) {
    x = bitwise_xor(x, left_shift(x, scalar<std::uint32_t>(13)));
    x = bitwise_xor(x, right_shift(x, scalar<std::uint32_t>(17)));
    x = bitwise_xor(x, left_shift(x, scalar<std::uint32_t>(5)));
  }
  return x;
}

void addTypes(std::vector<Case> &cases) {
  cases.push_back(
      {"xorshift_10^7", [] { return compiled(meanOf, xorshift, tensor(hashes(10 * kMillion, 1), {10 * kMillion})); }});
  cases.push_back(
      {"complex_multiply_add_10^6", [] {
         auto z = [](std::uint32_t seed) { return complex(numbers({kMillion}, seed), numbers({kMillion}, seed + 7)); };
         return compiled([](const Tensor &x) { return total(real(x)); },
                         [](const Tensor &a, const Tensor &b, const Tensor &c) { return a * b + c; }, z(1), z(2), z(3));
       }});
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    const std::string name(name_of(dtype));
    cases.push_back({"gemm_" + name, [dtype] {
                       return compiled(
                           total, [](const Tensor &x, const Tensor &y) { return matmul(x, y); },
                           numbers({1024, 1024}, 1, dtype), numbers({1024, 1024}, 2, dtype));
                     }});
    cases.push_back({"convert_" + name + "_10^7", [dtype] {
                       return compiled(
                           meanOf, [dtype](const Tensor &x) { return cast(x, dtype); }, numbers({10 * kMillion}, 1));
                     }});
  }
  cases.push_back(
      {"gemm_int8", [] {
         return compiled(
             total,
             [](const Tensor &x, const Tensor &y) { return matmul(cast(x, DType::Int32), cast(y, DType::Int32)); },
             bytes(1), bytes(2));
       }});
}

void addFunctions(std::vector<Case> &cases) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const std::string name = "_" + std::string(name_of(dtype)) + "_10^6";
    cases.push_back({"atan2" + name, [dtype] {
                       return compiled(
                           meanOf, [](const Tensor &y, const Tensor &x) { return atan2(y - 0.5, x - 0.5); },
                           numbers({kMillion}, 1, dtype), numbers({kMillion}, 2, dtype));
                     }});
    cases.push_back({"lgamma" + name, [dtype] {
                       return compiled(
                           meanOf, [](const Tensor &x) { return lgamma(10.0 * x); },
                           numbers({kMillion}, 1, dtype) + 0.001);
                     }});
  }
  cases.push_back({"quantile_10^6", [] {
                     return compiled(
                         total, [](const Tensor &x, const Tensor &q) { return quantile(x, q); }, numbers({kMillion}, 1),
                         tensor<float>({0.1F, 0.5F, 0.9F}));
                   }});
  cases.push_back({"histogram_10^6", [] {
                     return compiled(
                         [](const Tensor &x) { return elementOf(x[7]); },
                         [](const Tensor &x) { return histogram(x, 100, {.range = std::pair{0.0, 1.0}}).counts; },
                         numbers({kMillion}, 1));
                   }});
  cases.push_back({"searchsorted_10^6", [] {
                     return compiled(
                         meanOf, [](const Tensor &x, const Tensor &v) { return searchsorted(x, v); },
                         sort(numbers({100'000}, 1)), numbers({kMillion}, 2));
                   }});
  cases.push_back({"unique_10^6", [] { // of a thousand integers; eagerly, because the result's size is not known before
                     Tensor x = cast(floor(numbers({kMillion}, 1, DType::Float64) * 1000.0), DType::Int32);
                     return Work{[=] { return unique(x); }, total};
                   }});
  cases.push_back({"sort_axis_0", [] {
                     return compiled([](const Tensor &x) { return total(x[5000]); },
                                     [](const Tensor &x) { return sort(x, 0); }, numbers({10'000, 100}, 1));
                   }});
  cases.push_back(
      {"top_k",
       [] { return compiled(total, [](const Tensor &x) { return top_k(x, 10).values; }, numbers({256, 10'000}, 1)); }});
}

void addRandom(std::vector<Case> &cases) {
  auto draw = [&](const char *name, auto how) {
    cases.push_back({name, [how] {
                       auto generator = std::make_shared<random::Generator>(1);
                       auto made = function([generator, how] { return how(*generator); });
                       return Work{[=]() mutable { return made(); }, meanOf};
                     }});
  };
  draw("uniform_10^6", [](random::Generator &g) { return g.uniform({kMillion}); });
  draw("normal_10^6", [](random::Generator &g) { return g.normal({kMillion}, {.mean = 1}); });
  draw("gamma_10^6", [](random::Generator &g) { return g.gamma({kMillion}, 2.5); });
  cases.push_back({"sobol_65536x16", [] { return compiled(meanOf, [] { return random::sobol(65'536, 16); }); }});
}

void addArrays(std::vector<Case> &cases) {
  cases.push_back({"update_slices_1000", [] {
                     return compiled(
                         total,
                         [](Tensor x, const Tensor &row) {
                           for (Tensor i : range(1000))
                             x = dynamic_update_slice(x, row + cast(i, DType::Float32), {i, 0});
                           return x;
                         },
                         numbers({1000, 256}, 1), numbers({1, 256}, 2));
                   }});
  cases.push_back({"roll_stencil_1000x1000", [] {
                     return compiled([](const Tensor &x) { return total(abs(x)); },
                                     [](const Tensor &x) {
                                       return roll(x, 1, {0}) + roll(x, -1, {0}) + roll(x, 1, {1}) + roll(x, -1, {1}) -
                                              4.0 * x;
                                     },
                                     numbers({1000, 1000}, 1));
                   }});
  cases.push_back({"einsum_of_five", [] {
                     return compiled(
                         total,
                         [](const Tensor &a, const Tensor &b, const Tensor &c, const Tensor &d, const Tensor &e) {
                           return einsum("ab,bc,cd,de,ef->af", {a, b, c, d, e});
                         },
                         numbers({512, 8}, 1), numbers({8, 512}, 2), numbers({512, 8}, 3), numbers({8, 512}, 4),
                         numbers({512, 8}, 5));
                   }});
  cases.push_back({"resize_linear", [] {
                     return compiled(
                         meanOf, [](const Tensor &x) { return image::resize(x, {512, 512}); },
                         numbers({8, 256, 256, 3}, 1));
                   }});
}

} // namespace

int main(int argc, char **argv) {
  std::vector<Case> cases;
  addTypes(cases);
  addFunctions(cases);
  addRandom(cases);
  addArrays(cases);
  return runCases(cases, {}, argc, argv);
}
