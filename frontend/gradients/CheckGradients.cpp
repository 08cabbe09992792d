#include "calque/check_gradients.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/callable.h"
#include "calque/functions.h"
#include "calque/transforms.h"
#include "schema/Schema.h"

#include <cmath>

namespace calque {

namespace {

void requireFloat64(const Tensor &x, const std::string &what, SourceLocation where) {
  if (x.dtype(where) != DType::Float64)
    throw DTypeError(
        absl::StrCat("check_gradients: ", what, " is ", name_of(x.dtype(where)), "; differences need float64"), where);
}

// "[1,2]" for element 5 of a tensor [2,3].
std::string indexString(std::int64_t element, const Shape &shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; element /= shape[i])
    index[i] = element % shape[i];
  return schema::shapeString(index);
}

} // namespace

void check_gradients(const std::function<Tensor(const std::vector<Tensor> &)> &f, const std::vector<Tensor> &inputs,
                     CheckGradientsOptions options, SourceLocation where) {
  where = CallSite::resolve(where);
  detail::requireCallable(f, "check_gradients", where);
  if (!(options.eps > 0))
    throw ValueError(absl::StrCat("check_gradients: eps is ", Number(options.eps).str(), " and must be above zero"),
                     where);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    requireFloat64(inputs[i], absl::StrCat("input ", i), where);
  detail::PullbackTape tape("check_gradients", where);
  for (const Tensor &input : inputs)
    tape.watch(input, where);
  Tensor result = f(inputs);
  requireFloat64(result, "the result", where);
  tape.stop();
  std::vector<Tensor> gradients = tape.cotangents({result}, inputs, {detail::onesLike(result, where)}, where);

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> values = inputs[i].to_vector<double>(where), ofTape = gradients[i].to_vector<double>(where);
    for (std::size_t element = 0; element < values.size(); ++element) {
      auto at = [&](double by) {
        std::vector<double> moved = values;
        moved[element] += by;
        std::vector<Tensor> arguments = inputs;
        arguments[i] = tensor(moved, inputs[i].shape(), where);
        return sum(Operand(f(arguments), where)).item<double>(where);
      };
      double difference = (at(options.eps) - at(-options.eps)) / (2 * options.eps);
      if (std::fabs(ofTape[element] - difference) <= options.atol + options.rtol * std::fabs(difference))
        continue;
      throw AssertionError(absl::StrCat("check_gradients: at element ",
                                        indexString(static_cast<std::int64_t>(element), inputs[i].shape()),
                                        " of input ", i, " the gradient is ", ofTape[element], " and the difference ",
                                        difference),
                           where);
    }
  }
}

} // namespace calque
