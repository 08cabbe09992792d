// Checks that layers share.
#ifndef CALQUE_TRAINING_LAYERS_CHECKS_H
#define CALQUE_TRAINING_LAYERS_CHECKS_H

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "calque/functions.h"
#include "calque/layers/extent.h"

#include <limits>
#include <vector>

namespace calque::layers {

using training::describe;
using training::fail;

inline void checkAtLeastOne(const char *layer, const char *what, std::int64_t value, SourceLocation where) {
  if (value < 1)
    fail<ValueError>(absl::StrCat(layer, ": ", what, " is ", value, " and must be at least 1"), where);
}

template <std::size_t rank>
void checkExtent(const char *layer, const char *what, const Extents<rank> &extents, SourceLocation where) {
  for (std::int64_t size : extents.sizes)
    checkAtLeastOne(layer, what, size, where);
}

inline void checkPadding(const char *layer, const std::string &padding, SourceLocation where) {
  if (padding != "same" && padding != "valid")
    fail<ValueError>(absl::StrCat(layer, ": there is no padding '", padding, "'; it is 'same' or 'valid'"), where);
}

inline void checkFloating(const std::string &title, const Shape &input, DType dtype) {
  if (!is_floating(dtype))
    fail<DTypeError>(
        absl::StrCat(title, ": takes inputs of ", names_of({DTypeKind::Float}), ", not ", describe(dtype, input)));
}

inline void checkRank(const std::string &title, const Shape &input, std::size_t rank) {
  if (input.size() != rank)
    fail<ShapeError>(
        absl::StrCat(title, ": takes inputs of rank ", rank, ", channels last; this one has shape ", input.str()));
}

inline void checkHasBatch(const std::string &title, const Shape &input) {
  if (input.empty())
    fail<ShapeError>(absl::StrCat(title, ": takes inputs of rank 1 or more, a batch first; this one is a scalar"));
}

inline void checkHasChannels(const std::string &title, const Shape &input) {
  if (input.size() < 2)
    fail<ShapeError>(
        absl::StrCat(title, ": takes inputs of rank 2 or more, a batch first; this one has shape ", input.str()));
}

// The last dimension, by which variables are made.
inline std::int64_t channelsOf(const std::string &title, const Shape &input) {
  if (!input.back().is_known())
    fail<ShapeError>(absl::StrCat(
        title, ": its variables are made by the last dimension of the input, which is not known in ", input.str()));
  return input.back();
}

// Checks that the last dimension is the one for which the variables were made. One that is not known is compared at
// the call.
inline void checkChannels(const std::string &title, const Shape &input, std::int64_t channels) {
  if (input.back().is_known() && input.back() != channels)
    fail<ShapeError>(absl::StrCat(title, ": was built for inputs whose last dimension is ", channels,
                                  "; this one has shape ", input.str()));
}

// Checks that a mask says for each step of a sequence whether it counts. Sizes that are not known are compared where
// the mask is used.
inline void checkStepsMask(const std::string &title, const Tensor &mask, const Tensor &input) {
  const Shape shape = input.shape();
  if (shape.size() < 2) // the layer refuses it
    return;
  const Shape expected = {shape[0], shape[1]};
  if (!mask.shape().is_compatible_with(expected))
    fail<ShapeError>(absl::StrCat(title, ": a mask is bool", expected.str(), " for an input of shape ", shape.str(),
                                  ", one for each step; this one is ", training::describe(mask.dtype(), mask.shape())));
}

// What a softmax is taken of where a mask leaves some out: the lowest number in their place, so that neither what is
// there nor its gradient counts. Keras has -1e9, above which a number may be that counts.
inline Tensor lowestUnless(const Tensor &counts, const Tensor &x) {
  const double lowest = dispatch(x.dtype(), []<typename T>(std::type_identity<T>) {
    return static_cast<double>(std::numeric_limits<T>::lowest());
  });
  return where(counts, x, full({}, lowest, x.dtype()));
}

// Checks that a window fits into an image that is not padded: else nothing is left of it. Sizes that are not known are
// compared at the call.
template <std::size_t rank>
void checkWindowFits(const std::string &title, const Tensor &x, const Extents<rank> &window,
                     const Extents<rank> &dilations, const std::string &padding) {
  if (padding != "valid")
    return;
  const Shape input = x.shape();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t length = (window.sizes[i] - 1) * dilations.sizes[i] + 1;
    const Size &size = input[i + 1];
    if (size.is_known() && size < length)
      fail<ShapeError>(absl::StrCat(title, ": its window takes ", length, " along axis ", i + 1,
                                    " of an input, and this one has shape ", input.str(),
                                    "; padding 'same' gives as many as there are"));
    if (!size.is_known())
      assert_true(greater_equal(calque::size(x, static_cast<std::int64_t>(i) + 1), length),
                  absl::StrCat(title, ": its window takes ", length, " along axis ", i + 1,
                               " of an input, and this one is smaller; padding 'same' gives as many as there are"));
  }
}

// The same of other dimensions.
inline std::int64_t axisOf(const std::string &title, const Shape &input, std::int64_t axis) {
  auto rank = static_cast<std::int64_t>(input.size());
  if (axis < -rank || axis >= rank || axis == 0 || axis == -rank)
    fail<ShapeError>(
        absl::StrCat(title, ": there is no axis ", axis, " behind the batch in an input of shape ", input.str()));
  return axis < 0 ? axis + rank : axis;
}
inline std::int64_t sizeOfAxis(const std::string &title, const Shape &input, std::int64_t axis) {
  const Size &size = input[static_cast<std::size_t>(axisOf(title, input, axis))];
  if (axis == -1 || axis + 1 == static_cast<std::int64_t>(input.size()))
    return channelsOf(title, input);
  if (!size.is_known())
    fail<ShapeError>(absl::StrCat(title, ": its variables are made by the size of axis ", axis,
                                  " of the input, which is not known in ", input.str()));
  return size;
}
inline void checkAxis(const std::string &title, const Shape &input, std::int64_t axis, std::int64_t built) {
  const Size &size = input[static_cast<std::size_t>(axis)];
  if (axis + 1 == static_cast<std::int64_t>(input.size()))
    checkChannels(title, input, built);
  else if (size.is_known() && size != built)
    fail<ShapeError>(absl::StrCat(title, ": was built for inputs whose size along axis ", axis, " is ", built,
                                  "; this one has shape ", input.str()));
}

template <std::size_t rank> std::vector<std::int64_t> sizesOf(const Extents<rank> &extents) {
  return {extents.sizes.begin(), extents.sizes.end()};
}

} // namespace calque::layers
#endif
