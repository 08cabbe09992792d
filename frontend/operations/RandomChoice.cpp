// Draws of elements, with and without replacement.
#include "absl/strings/str_cat.h"
#include "calque/arrays/sets.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/random.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/operations/RandomStream.h"

namespace calque::random {

namespace {

// The weights as float64, [N].
Tensor weightsOf(const ChoiceOptions &options, const Size &count, SourceLocation where) {
  const Tensor weights = *options.weights;
  if (!is_floating(weights.dtype()))
    throw DTypeError(
        absl::StrCat("choice: weights are of ", names_of({DTypeKind::Float}), ", not ", detail::typeOf(weights)),
        where);
  const Shape shape = weights.shape();
  if (shape.size() != 1 || (shape[0].is_known() && count.is_known() && !(shape[0] == count)))
    throw ShapeError(absl::StrCat("choice: weights have one number for each of ", count.str(), " elements, unlike ",
                                  detail::typeOf(weights)),
                     where);
  return cast(stop_gradient(weights), DType::Float64);
}

} // namespace

Tensor stateless_choice(const Operand &x, const Operand &state, std::int64_t count, ChoiceOptions options) {
  SourceLocation where = detail::userLine(x.where());
  CallSite site(where, "choice");
  const Tensor given = x.toTensor(), seed = state.toTensor();
  if (given.rank() == 0)
    throw ShapeError("choice: draws from the elements along axis 0, and this is a scalar", where);
  if (count < 0)
    throw ValueError(absl::StrCat("choice: there are no ", count, " draws"), where);
  const Size size = given.shape().front();
  if (size.is_known() && size == 0 && count > 0)
    throw ValueError(absl::StrCat("choice: there is no element to draw from in ", detail::typeOf(given)), where);
  if (!options.replace && size.is_known() && count > std::int64_t(size))
    throw ValueError(
        absl::StrCat("choice: without replacement there are no ", count, " draws from ", size.str(), " elements"),
        where);
  if (options.replace) {
    const Tensor u = detail::unitNumbers({count}, seed, DType::Float64, where);
    Tensor place;
    const Tensor last = calque::size(given, 0);
    if (options.weights) {
      const Tensor sums = cumsum(weightsOf(options, size, where));
      // The first place whose sum is above the number, so that weights of 0 are not drawn.
      const Tensor total = max(sums);
      place = searchsorted(sums, u * total, "right");
    } else {
      place = cast(u * cast(last, DType::Float64), DType::Int64);
    }
    return gather(given, minimum(place, last - 1));
  }
  const Tensor u = detail::unitNumbers(Shape{size}, seed, DType::Float64, where);
  if (!options.weights)
    return gather(given, slice(argsort(u), {0}, {count}));
  // The largest of u^(1 / w), by the logarithm of exponentials: weights of 0 come last.
  const Tensor waits = -log1p(-u) / weightsOf(options, size, where);
  return gather(given, slice(argsort(waits), {0}, {count}));
}

} // namespace calque::random
