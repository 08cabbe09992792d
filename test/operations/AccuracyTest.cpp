// Results are as near to the exact ones as the records say, over all exponents; `./dev ulp` asks for all inputs of
// float32.
#include "test/operations/Accuracy.h"

#include <cfenv>
#include <fstream>
#include <sstream>

using namespace calque;
using namespace calque::testing;

namespace {
class Accuracy : public ::testing::TestWithParam<ElementwiseCase> {};
class Exceptions : public ::testing::TestWithParam<ElementwiseCase> {};
} // namespace

TEST(UlpError, CountsDistances) {
  EXPECT_EQ(ulpError(1.0f, 1), 0);
  EXPECT_EQ(ulpError(0x1.000002p0f, 1), 1);
  EXPECT_EQ(ulpError(1.0f, 1 - 0x1p-24L), 1); // the distance below 1
  EXPECT_EQ(ulpError(2.0f, 2 + 0x1p-23L), 0.5);
  EXPECT_EQ(ulpError(0.0f, 0x1.8p-149L), 1.5);
  EXPECT_EQ(ulpError(0x1p-149f, 0), 1);
  EXPECT_EQ(ulpError(HUGE_VALF, 0x1p200L), 0);
  EXPECT_EQ(ulpError(std::numeric_limits<float>::max(), 0x1p200L), 1);
  EXPECT_EQ(ulpError(-HUGE_VALF, -0x1.fffffep127L), 1);
  for (auto [result, exact] : std::vector<std::pair<float, Real>>{
           {NAN, 1}, {1, NAN}, {-0.0f, 0}, {0, -0.0L}, {std::numeric_limits<float>::max(), HUGE_VALL}, {1, -HUGE_VALL}})
    EXPECT_EQ(ulpError(result, exact), HUGE_VAL) << result << " " << exact;
  EXPECT_EQ(ulpError(NAN, NAN), 0);
  EXPECT_EQ(ulpError(-0.0f, -0.0L), 0);
  EXPECT_EQ(ulpError(-HUGE_VALF, -HUGE_VALL), 0);
  EXPECT_EQ(ulpError(0x1.0000000000001p0, 1), 1);
  EXPECT_EQ(ulpError(1.0, 1 - 0x1p-54L), 0.5);
  EXPECT_EQ(ulpError(0.0, 0x1.8p-1074L), 1.5);
  EXPECT_EQ(ulpError(std::numeric_limits<double>::max(), 0x1p2000L), 1);
  EXPECT_EQ(ulpError(HUGE_VAL, 0x1p2000L), 0);
}

TEST_P(Accuracy, IsWithinTheRecordsLimit) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Worst worst = worstOfSample(GetParam(), dtype, GetParam().isReferenceSlow ? 13 : 20);
    EXPECT_LE(worst.ulp, GetParam().ulp) << dtype << ": " << worst.str();
  }
}

// A limit that is off by a unit in the last place is multiplied by what is large, as in x * (1 + erf(x)).
TEST_P(Accuracy, HasExactLimits) {
  const ElementwiseCase &op = GetParam();
  const std::vector<double> far = {INFINITY, 0x1p100, 1e4, 2, 0, -2, -1e4, -0x1p100, -INFINITY};
  for (DType dtype : {DType::Float32, DType::Float64}) {
    std::vector<std::vector<double>> operands(op.schema().numOperands);
    for (double first : {-INFINITY, INFINITY})
      for (double other : operands.size() == 1 ? std::vector<double>{0} : far) {
        operands[0].push_back(first);
        for (std::size_t k = 1; k < operands.size(); ++k)
          operands[k].push_back(other);
      }
    std::vector<Tensor> x;
    for (const std::vector<double> &values : operands)
      x.push_back(makeTensor(dtype, values, {static_cast<std::int64_t>(values.size())}));
    std::vector<double> results = valuesOf(op.function(x));
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<Real> at;
      for (const std::vector<double> &values : operands)
        at.push_back(values[i]);
      const Real reference = op.reference(at.data());
      const double exact = dtype == DType::Float32 ? static_cast<float>(reference) : static_cast<double>(reference);
      // The largest number of the type, where the reference has larger ones.
      const double largest =
          dtype == DType::Float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
      const bool isLargest =
          std::isfinite(reference) && std::isinf(exact) && results[i] == std::copysign(largest, exact);
      EXPECT_TRUE(results[i] == exact || isLargest || (std::isnan(results[i]) && std::isnan(exact)))
          << dtype << " of " << operands[0][i] << ": " << results[i] << " instead of " << exact;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Operations, Accuracy, ::testing::ValuesIn(floatFunctions()),
                         [](const auto &info) { return info.param.name(); });

// The page has a row for every function: "| `exp` | limit | worst | at | inputs | worst of float64 | at |".
TEST(AccuracyPage, ListsEveryFunction) {
  std::ifstream page(CALQUE_SOURCE "/docs/accuracy.md");
  ASSERT_TRUE(page);
  std::vector<std::string> found, expected;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `"))
      continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');)
      cells.push_back(cell.substr(std::min<std::size_t>(cell.size(), 1), std::max<std::size_t>(cell.size(), 2) - 2));
    ASSERT_EQ(cells.size(), 8u) << line;
    found.push_back(cells[1] + " " + cells[2]);
    for (const std::string &worst : {cells[3], cells[6]})
      EXPECT_LE(std::stod(worst), std::stod(cells[2])) << line;
  }
  for (const ElementwiseCase &op : floatFunctions())
    expected.push_back("`" + op.name() + "` " + std::to_string(op.ulp));
  EXPECT_EQ(found, expected) << "./dev ulp FUNCTION writes the row of a function";
}

// Vectors that are not full must not compute with numbers that nobody gave.
TEST_P(Exceptions, AreNotRaisedByOrdinaryOperands) {
  const ElementwiseCase &op = GetParam();
  for (const std::vector<DType> &signature : signatures(op)) {
    if (!is_floating(signature.back()))
      continue;
    for (std::int64_t size : {1, 2, 3, 5, 17, 1000}) {
      std::vector<Tensor> operands;
      for (std::size_t i = 0; i < signature.size(); ++i) {
        // Not the same for all operands, and not the middle, which is a special number of some functions.
        double value = op.low + (op.high - op.low) * (i ? 0.6 : 0.7);
        operands.push_back(
            makeTensor(signature[i], std::vector<double>(static_cast<std::size_t>(size), value), {size}));
      }
      auto compiled = function<Tensor(const std::vector<Tensor> &)>(op.function);
      compiled(operands);
      std::feclearexcept(FE_ALL_EXCEPT);
      op.function(operands);
      EXPECT_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO)) << "eagerly, " << size << " elements";
      std::feclearexcept(FE_ALL_EXCEPT);
      compiled(operands);
      EXPECT_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO)) << "compiled, " << size << " elements";
    }
  }
}

// Beside elements of 8 bytes, those of 4 bytes are computed in vectors that are shorter than a register.
TEST(ExceptionsOfMixedTypes, AreNotRaisedByOrdinaryOperands) {
  using Binary = std::function<Tensor(const Tensor &, const Tensor &)>;
  const Binary functions[] = {
      [](const Tensor &x, const Tensor &y) { return cast(x / y, DType::Float64); },
      [](const Tensor &x, const Tensor &y) { return cast(x, DType::Float64) / cast(y, DType::Float64) + 1; },
      [](const Tensor &x, const Tensor &y) { return cast(x / y > 0.5f, DType::Int64) + cast(x, DType::Int64); },
      [](const Tensor &x, const Tensor &y) { return where(cast(x, DType::Int64) > 1, x / y, x); },
  };
  for (std::int64_t size : {1, 2, 3, 4, 5, 7, 9, 18})
    for (const Binary &body : functions) {
      SCOPED_TRACE(std::to_string(size) + " elements, function " + std::to_string(&body - functions));
      auto compiled = function(body);
      Tensor x = full({size}, 2.f), y = full({size}, 3.f);
      compiled(x, y);
      std::feclearexcept(FE_ALL_EXCEPT);
      compiled(x, y);
      EXPECT_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO));
    }
}
INSTANTIATE_TEST_SUITE_P(Operations, Exceptions, ::testing::ValuesIn(elementwiseCases()),
                         [](const auto &info) { return info.param.name(); });
