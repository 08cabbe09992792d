#include "calque/solvers/parameters.h"

#include "absl/strings/str_cat.h"
#include "implicit/Function.h"

namespace calque::solvers::detail {

using internal::describe;
using internal::fail;

Tensor ravelTensors(const std::vector<Tensor> &tensors, SourceLocation where) {
  CallSite site(where, "ravel");
  if (tensors.empty())
    fail<ValueError>("ravel: there are no tensors in the structure");
  std::vector<Tensor> vectors;
  for (const Tensor &x : tensors)
    vectors.push_back(reshape(x, {-1}));
  return vectors.size() == 1 ? vectors[0] : concat(vectors);
}

std::vector<Tensor> unravelTensors(const std::vector<Tensor> &like, const Tensor &vector, SourceLocation where) {
  CallSite site(where, "unravel");
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (const Tensor &x : like) {
    for (const Size &size : x.shape())
      if (!size.is_known())
        fail<StateError>(absl::StrCat("unravel: the sizes of the structure must be known while tracing, and there is ",
                                      describe(x)));
    if (x.dtype() != vector.dtype())
      fail<DTypeError>(absl::StrCat("unravel: the vector is ", describe(vector), ", and there is ", describe(x),
                                    " in the structure"));
    sizes.push_back(x.size());
    total += sizes.back();
  }
  if (vector.rank() != 1 || !vector.size().is_known() || vector.size() != total)
    fail<ShapeError>(
        absl::StrCat("unravel: the structure has ", total, " elements, and the vector is ", describe(vector)));
  std::vector<Tensor> parts = split(vector, sizes);
  for (std::size_t i = 0; i < like.size(); ++i)
    parts[i] = reshape(parts[i], like[i].shape());
  return parts;
}

} // namespace calque::solvers::detail
