// The type rules of convolutions and pooling.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

#include <algorithm>

namespace calque::schema {

namespace {

// How windows slide. Three successive attributes of a call say so; the first of them is the strides.
struct Sliding {
  Sliding(const OpCall &call, std::size_t strides)
      : strides(ints(call, strides)), padding(call.attribute<std::string>(strides + 1)), pads(ints(call, strides + 2)) {
  }
  std::size_t rank() const { return strides.size(); } // the number of dimensions that the window slides along
  const Ints &strides;
  const std::string &padding;
  const Ints &pads;
};

// "[N,H,W,C]" and "[KH,KW,C,F]" for two spatial dimensions. There may be one to three.
std::string lettersOf(std::size_t rank, const char *before, const char *each, const char *behind) {
  std::string text = before;
  for (std::size_t i = 3 - rank; i < 3; ++i)
    absl::StrAppend(&text, each, std::string(1, "DHW"[i]), ",");
  return text + behind;
}
std::string imageLetters(std::size_t rank) { return lettersOf(rank, "[N,", "", "C]"); }

bool arePositive(const Ints &values) {
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value >= 1; });
}

// The type of the result of a window that slides over images. `window` has the window's sizes with dilations. A fault
// if padding or sizes are invalid.
Fault slide(const TensorType &input, const Ints &window, std::int64_t channels, const Sliding &sliding,
            TensorType &result) {
  const std::size_t rank = sliding.rank();
  if (sliding.padding != "same" && sliding.padding != "valid")
    return valueFault(absl::StrCat("padding must be \"same\" or \"valid\", not \"", sliding.padding, "\""));
  const bool same = sliding.padding == "same";
  Ints pads = sliding.pads;
  if (same && !pads.empty())
    return valueFault(absl::StrCat("padding is \"same\" or numbers, not both: ", listString(pads)));
  if (pads.empty())
    pads.assign(2 * rank, 0);
  if (pads.size() != 2 * rank || *std::min_element(pads.begin(), pads.end()) < 0)
    return valueFault(absl::StrCat("padding must be two numbers for each of ", rank,
                                   " dimensions, none of them negative, not ", listString(pads)));
  result = {input.dtype, {input.dims[0]}};
  TensorType padded = input;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t &size = padded.dims[i + 1];
    const bool isKnown = size != kOpenSize;
    for (std::int64_t given : {pads[2 * i], pads[2 * i + 1]})
      if (isKnown)
        if (Fault fault = addSize(size, given))
          return fault;
    WindowExtent extent =
        windowExtent(input.dims[i + 1], window[i], sliding.strides[i], same, pads[2 * i], pads[2 * i + 1]);
    if (same && isKnown)
      for (std::int64_t amount : {extent.padLow, extent.padHigh})
        if (Fault fault = addSize(size, amount))
          return fault;
    result.dims.push_back(extent.output);
  }
  result.dims.push_back(channels);
  // Code generation allocates the padded images, so their bytes must not overflow.
  if (!productOf(padded.dims, static_cast<std::int64_t>(size_of(padded.dtype))))
    return valueFault(absl::StrCat("the padded images ", padded.str(), " have more bytes than can be addressed"));
  return {};
}

// Images must have two more dimensions than there are strides.
Fault checkImages(const TensorType &input, const Sliding &sliding) {
  if (sliding.rank() < 1 || sliding.rank() > 3 || !arePositive(sliding.strides))
    return valueFault(absl::StrCat("strides must be one to three positive numbers, not ", listString(sliding.strides)));
  if (input.rank() != static_cast<std::int64_t>(sliding.rank()) + 2)
    return shapeFault(absl::StrCat("images must have rank ", sliding.rank() + 2, ", ", imageLetters(sliding.rank()),
                                   ", not ", input.str()));
  return {};
}

//===-- Convolutions ----------------------------------------------------------------------------===//

// The type of a convolution's result. The call is the convolution, or one of its gradients.
Fault convResult(const OpCall &call, const TensorType &input, const TensorType &filter, TensorType &result) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  if (Fault fault = sameDType(input, filter))
    return fault;
  Sliding sliding(call, 0);
  const std::size_t rank = sliding.rank();
  if (Fault fault = checkImages(input, sliding))
    return fault;
  const std::int64_t groups = call.attribute<std::int64_t>(4);
  if (groups < 1)
    return valueFault(absl::StrCat("the number of groups must be positive, not ", groups));
  if (filter.rank() != input.rank())
    return shapeFault(absl::StrCat("filters must have rank ", rank + 2, ", ",
                                   lettersOf(rank, "[", "K", groups == 1 ? "C,F]" : "C/groups,F]"), ", not ",
                                   filter.str()));
  Ints window(filter.dims.begin(), filter.dims.end() - 2), dilations = ints(call, 3);
  if (std::count(window.begin(), window.end(), kOpenSize))
    return shapeFault(absl::StrCat("the filters' window must be known, not ", filter.str()));
  if (!arePositive(window))
    return shapeFault(absl::StrCat("the filters' window must not be empty: ", filter.str()));
  if (dilations.empty())
    dilations.assign(rank, 1);
  if (dilations.size() != rank || !arePositive(dilations))
    return valueFault(absl::StrCat("dilations must be a positive number for each of ", counted(rank, "dimension"),
                                   ", not ", listString(dilations)));
  for (std::size_t i = 0; i < rank; ++i)
    if (std::int64_t &size = window[i]; __builtin_mul_overflow(size - 1, dilations[i], &size) || ++size < 0)
      return valueFault(absl::StrCat("the filters ", filter.str(), " with dilations ", listString(dilations),
                                     " reach further than a dimension can"));
  if (Fault fault = slide(input, window, filter.dims[rank + 1], sliding, result))
    return fault;
  const std::int64_t channels = input.dims[rank + 1], taken = filter.dims[rank], filters = filter.dims[rank + 1];
  std::int64_t all = taken;
  if (taken != kOpenSize && channels != kOpenSize && (__builtin_mul_overflow(taken, groups, &all) || all != channels)) {
    TensorType fitting = filter;
    fitting.dims[rank] = channels / groups;
    return shapeFault(
        absl::StrCat("images ", input.str(), " have ", counted(static_cast<std::size_t>(channels), "channel"),
                     " and filters ", filter.str(), " take ",
                     groups == 1 ? absl::StrCat(taken) : absl::StrCat(taken, " in each of ", groups, " groups"),
                     channels % groups ? "" : absl::StrCat("; ", fitting.str(), " would fit")));
  }
  if (filters != kOpenSize && filters % groups)
    return shapeFault(absl::StrCat("the ", counted(static_cast<std::size_t>(filters), "filter"), " of ", filter.str(),
                                   " can't be divided into ", groups, " groups"));
  return {};
}

Fault checkCompatible(const TensorType &given, const TensorType &expected, const char *what) {
  if (!fit(given, expected))
    return shapeFault(absl::StrCat(what, " must be ", expected.str(), ", not ", given.str()));
  return sameDType(given, expected);
}

// The type of the gradient of a convolution's operand. Operand 2 of the call is like that operand.
Fault convGrad(const OpCall &call, const TensorType &input, const TensorType &filter, const TensorType &cotangent,
               std::vector<TensorType> &results) {
  TensorType forward;
  if (Fault fault = convResult(call, input, filter, forward))
    return fault;
  if (Fault fault = checkCompatible(cotangent, forward, "the cotangent"))
    return fault;
  results.push_back(call[2]);
  return {};
}

//===-- Pooling ---------------------------------------------------------------------------------===//

// The type of the result of pooling images. The call is the pooling, or one of its derivatives.
Fault poolResult(const OpCall &call, const TensorType &images, TensorType &result) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  Sliding sliding(call, 1);
  if (Fault fault = checkImages(images, sliding))
    return fault;
  const Ints &window = ints(call, 0), &pads = sliding.pads;
  if (window.size() != sliding.rank() || !arePositive(window))
    return valueFault(absl::StrCat("the window must be a positive number for each of ",
                                   counted(sliding.rank(), "dimension"), ", not ", listString(window)));
  if (Fault fault = slide(images, window, images.dims.back(), sliding, result))
    return fault;
  // A window that lies in the padding has no elements.
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= window[i / 2])
      return valueFault(
          absl::StrCat("padding must be less than the window ", listString(window), ", not ", listString(pads)));
  return {};
}

// As poolResult(), for the largest elements. With padding, windows over an empty dimension have no largest element.
Fault maxPoolResult(const OpCall &call, TensorType &result) {
  if (Fault fault = poolResult(call, call[0], result))
    return fault;
  const Ints &pads = Sliding(call, 1).pads;
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i] && call[0].dims[1 + i / 2] == 0)
      return shapeFault(
          absl::StrCat("axis ", 1 + i / 2, " of ", call[0].str(), " is empty, and an empty set has no result"));
  return {};
}

} // namespace

Fault conv(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = convResult(call, call[0], call[1], result))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault convInputGrad(const OpCall &call, std::vector<TensorType> &results) {
  return convGrad(call, call[2], call[1], call[0], results);
}

Fault convFilterGrad(const OpCall &call, std::vector<TensorType> &results) {
  return convGrad(call, call[0], call[2], call[1], results);
}

Fault maxPool(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = maxPoolResult(call, result))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault sumPool(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = poolResult(call, call[0], result))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault maxPoolGrad(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = maxPoolResult(call, result))
    return fault;
  if (Fault fault = checkCompatible(call[1], result, "the cotangent"))
    return fault;
  results.push_back(call[0]);
  return {};
}

Fault sumPoolGrad(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = poolResult(call, call[1], result))
    return fault;
  if (Fault fault = checkCompatible(call[0], result, "the cotangent"))
    return fault;
  results.push_back(call[1]);
  return {};
}

Fault maxPoolPick(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = maxPoolResult(call, result))
    return fault;
  if (Fault fault = checkCompatible(call[1], call[0], "the values"))
    return fault;
  results.push_back(std::move(result));
  return {};
}

} // namespace calque::schema
