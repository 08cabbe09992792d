#include "Testing.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace calque::testing {

namespace {

template <typename T> T numberOf(const nlohmann::json &value) {
  if (value.is_string()) // not finite
    return static_cast<T>(std::stod(value.get<std::string>()));
  if constexpr (std::is_integral_v<T>)
    return value.get<T>();
  else
    return static_cast<T>(value.get<double>());
}

Tensor arrayOf(const nlohmann::json &array) {
  for (const DTypeInfo &info : kDTypes)
    if (array[0] == info.name)
      return dispatch(info.dtype, [&]<typename T>(std::type_identity<T>) {
        std::vector<T> elements;
        for (const nlohmann::json &value : array[2])
          elements.push_back(numberOf<T>(value));
        return tensor(elements, Shape(array[1].get<std::vector<std::int64_t>>()));
      });
  ADD_FAILURE() << "element type " << array[0];
  return {};
}

std::map<std::string, Expected> readExpected() {
  std::map<std::string, Expected> cases;
  std::ifstream file(CALQUE_ARRAYS_EXPECTED);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    Expected &made = cases[entry[0].get<std::string>()];
    for (const nlohmann::json &array : entry[1])
      made.inputs.push_back(arrayOf(array));
    for (const nlohmann::json &array : entry[2])
      made.outputs.push_back(arrayOf(array));
  }
  return cases;
}

bool isOf(const Tensor &x, DType dtype) { return x.dtype() == dtype; }

// The tensors of float64 in another float type.
std::vector<Tensor> in(DType dtype, std::vector<Tensor> tensors) {
  for (Tensor &x : tensors)
    if (isOf(x, DType::Float64))
      x = cast(x, dtype);
  return tensors;
}

void expectAll(const std::vector<Tensor> &found, const std::vector<Tensor> &expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expectClose(found[i], expected[i], tolerance);
  }
}

using Many = std::vector<Tensor>(const std::vector<Tensor> &);

} // namespace

const Expected &expected(const std::string &name) {
  static const std::map<std::string, Expected> cases = readExpected();
  auto found = cases.find(name);
  if (found == cases.end())
    throw std::runtime_error("expected.json has no case '" + name + "'");
  return found->second;
}

void expectClose(const Tensor &found, const Tensor &expected, double tolerance) {
  ASSERT_EQ(found.dtype(), expected.dtype());
  ASSERT_EQ(found.shape(), expected.shape());
  if (!is_floating(found.dtype())) {
    EXPECT_EQ(valuesOf<std::int64_t>(found), valuesOf<std::int64_t>(expected));
    return;
  }
  const std::vector<double> a = valuesOf(found), b = valuesOf(expected);
  double largest = 0;
  for (double x : b)
    largest = std::isfinite(x) ? std::max(largest, std::fabs(x)) : largest;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]) || std::fabs(a[i] - b[i]) <= tolerance * largest)
        << "element " << i << ": " << a[i] << ", expected " << b[i];
}

void check(const std::string &name, const ManyBody &f, Checks checks) {
  SCOPED_TRACE(name);
  const Expected &numbers = expected(name);
  const std::vector<Tensor> &inputs = numbers.inputs;
  std::vector<Tensor> eager = f(inputs);
  {
    SCOPED_TRACE("eager");
    expectAll(eager, numbers.outputs, checks.tolerance);
  }
  if (::testing::Test::HasFatalFailure())
    return;
  if (checks.compiled) {
    SCOPED_TRACE("compiled");
    expectAll(function<Many>(f)(inputs), eager, checks.tolerance);
  }
  if (checks.float32) {
    SCOPED_TRACE("float32");
    const std::vector<Tensor> small = in(DType::Float32, inputs);
    expectAll(f(small), in(DType::Float32, numbers.outputs), checks.tolerance32);
    expectAll(function<Many>(f)(small), in(DType::Float32, numbers.outputs), checks.tolerance32);
  }
  if (checks.unknownSizes && !inputs.empty()) {
    SCOPED_TRACE("unknown sizes");
    std::vector<TensorSpec<>> specs;
    for (const Tensor &x : inputs)
      specs.emplace_back(x.dtype(), Shape(static_cast<std::size_t>(x.rank()), kDynamic));
    auto open = function<Many>(f);
    auto concrete = open.get_concrete_function(std::vector<Tensor>(specs.begin(), specs.end()));
    expectAll(concrete(inputs), numbers.outputs, checks.tolerance);
  }
  if (checks.vmap && !inputs.empty()) {
    SCOPED_TRACE("vmap");
    // Three examples: the inputs, and others of the same sizes.
    std::vector<Tensor> examples;
    std::vector<std::vector<Tensor>> each(3);
    for (const Tensor &x : inputs) {
      const bool isFloat = is_floating(x.dtype());
      std::vector<Tensor> of{x, isFloat ? x * 0.75 : x, isFloat && x.rank() > 0 ? reverse(x) : x};
      examples.push_back(stack(of));
      for (std::size_t i = 0; i < 3; ++i)
        each[i].push_back(of[i]);
    }
    const std::vector<Tensor> found = vmap(std::function<Many>(f))(examples);
    std::vector<std::vector<Tensor>> alone(eager.size());
    for (const std::vector<Tensor> &x : each) {
      const std::vector<Tensor> results = f(x);
      for (std::size_t i = 0; i < eager.size(); ++i)
        alone[i].push_back(results[i]);
    }
    std::vector<Tensor> loop;
    for (const std::vector<Tensor> &results : alone)
      loop.push_back(stack(results));
    expectAll(found, loop, checks.tolerance);
  }
  if (checks.derivatives > 0) {
    SCOPED_TRACE("derivatives");
    expectDerivatives(
        [f](const std::vector<Tensor> &x) {
          std::vector<Tensor> parts;
          for (const Tensor &result : f(x))
            if (isOf(result, DType::Float64))
              parts.push_back(reshape(result, {-1}));
          return concat(parts);
        },
        inputs, checks.derivatives);
  }
}

} // namespace calque::testing
