// Patterns of Jacobians and Hessians, found from the programs of derivatives.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/function.h"
#include "calque/transforms.h"
#include "sparse/Compressed.h"
#include "sparse/Dependence.h"
#include "sparse/Pattern.h"

#include <algorithm>
#include <cmath>

namespace calque::sparse {

using namespace solvers::internal;
using namespace internal;

namespace {

// A pattern of so many places takes some gigabytes while it is made.
constexpr std::size_t kMostPlaces = 100'000'000;

// What is known of a captured tensor: numbers that double holds.
std::vector<double> numbersOf(const Tensor &x) {
  if (x.dtype() != DType::Float32 && x.dtype() != DType::Float64 && x.dtype() != DType::Int32 &&
      x.dtype() != DType::Int64 && x.dtype() != DType::Bool)
    return {};
  std::vector<double> numbers = cast(x, DType::Float64).to_vector<double>();
  const bool isExact = std::all_of(numbers.begin(), numbers.end(), [&](double number) {
    return x.dtype() != DType::Int64 || std::fabs(number) < 0x1p52;
  });
  return isExact ? numbers : std::vector<double>();
}

using Derivative = Tensor(const Tensor &x, const Tensor &v, const std::vector<Tensor> &others);

// Which elements of derivative(x, v, others), a function that is linear in v, depend on which elements of v. The
// derivative has no terms but these: element [i, j] of its matrix is 0 if element i does not depend on element j.
Pattern patternOf(const char *what, const std::function<Derivative> &derivative, const Tensor &x,
                  const std::vector<Tensor> &others) {
  requireFloat(what, "x", x);
  if (x.rank() != 1 || !x.size().is_known())
    fail<ShapeError>(absl::StrCat(what, ": x is ", describe(x), ", and must be a vector of known size"));
  const std::int64_t n = x.size();
  auto traced = function<Derivative>(derivative);
  const Tensor like(TensorSpec<>(x.dtype(), x.shape()));
  std::vector<Tensor> rest;
  for (const Tensor &other : others)
    rest.emplace_back(TensorSpec<>(other.dtype(), other.shape()));
  const FunctionProgram made = program_of(traced.get_concrete_function(like, like, rest));
  detail::Dependences dependences;
  std::vector<detail::Dependence> parameters(made.program->parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ProgramType &type = made.program->types[made.program->parameters[i]];
    parameters[i].sizes = type.sizes;
    parameters[i].sets = {0};
    // Behind the arguments are the captures.
    const std::size_t arguments = 2 + others.size();
    if (i >= arguments && i - arguments < made.captures.size())
      parameters[i].known = numbersOf(made.captures[i - arguments]);
  }
  try {
    parameters[1].sets.resize(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
      parameters[1].sets[static_cast<std::size_t>(j)] = dependences.sets().single(static_cast<std::int32_t>(j));
    const detail::Dependence result = dependences.run(*made.program, parameters)[0];
    if (result.isWhole || result.sizes.size() != 1)
      fail<ShapeError>(absl::StrCat(what, ": the function returns ",
                                    made.program->types[made.program->results[0]].str(),
                                    ", and must return a vector of known size"));
    std::size_t count = 0;
    for (std::int64_t i = 0; i < result.sizes[0]; ++i)
      count += dependences.sets().of(result.at(i)).size();
    if (count > kMostPlaces)
      throw detail::IndexSets::TooLarge();
    std::vector<std::int64_t> rows, columns;
    for (std::int64_t i = 0; i < result.sizes[0]; ++i)
      for (std::int32_t j : dependences.sets().of(result.at(i))) {
        rows.push_back(i);
        columns.push_back(j);
      }
    return Pattern(result.sizes[0], n, rows, columns);
  } catch (const detail::IndexSets::TooLarge &) {
    fail<ValueError>(
        absl::StrCat(what, ": the pattern that is found has more than 100 million places; give one of your own"));
  }
}

} // namespace

namespace internal {

Pattern foundPattern(const char *what, bool isHessian, const Bound &f, const Tensor &x,
                     const std::vector<Tensor> &others) {
  auto derivative = [&](const Tensor &at, const Tensor &v, const std::vector<Tensor> &rest) {
    auto g = [&](const Tensor &point) { return callUser([&](const Tensor &user) { return f(user, rest); }, point); };
    return isHessian ? hvp(g)(at, v) : jvp(g, at, v).second;
  };
  const Pattern found = patternOf(what, derivative, x, others);
  if (!isHessian)
    return found;
  const Pattern turned = found.transposed();
  // Both triangles have what one has: a place that one lacks is of an element that is 0.
  std::vector<std::int64_t> rows, columns;
  for (const Pattern *each : {&found, &turned})
    for (std::int64_t i = 0; i < each->rows(); ++i)
      for (std::int64_t k = each->indptr()[static_cast<std::size_t>(i)];
           k < each->indptr()[static_cast<std::size_t>(i) + 1]; ++k) {
        rows.push_back(i);
        columns.push_back(each->indices()[static_cast<std::size_t>(k)]);
      }
  return Pattern(found.rows(), found.columns(), rows, columns);
}

} // namespace internal

Pattern jacobian_pattern(const std::function<Tensor(const Tensor &)> &f, const Tensor &x, SourceLocation where) {
  const char *what = "sparse::jacobian_pattern";
  CallSite site(where, what);
  requireFunction(what, "the function", static_cast<bool>(f));
  return foundPattern(what, false, [&](const Tensor &at, const std::vector<Tensor> &) { return f(at); }, x, {});
}

Pattern hessian_pattern(const std::function<Tensor(const Tensor &)> &f, const Tensor &x, SourceLocation where) {
  const char *what = "sparse::hessian_pattern";
  CallSite site(where, what);
  requireFunction(what, "the function", static_cast<bool>(f));
  return foundPattern(what, true, [&](const Tensor &at, const std::vector<Tensor> &) { return f(at); }, x, {});
}

} // namespace calque::sparse
