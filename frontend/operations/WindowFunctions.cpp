// Public functions on windows: convolutions and pooling.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/gradients/CustomGradient.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <array>

namespace calque {

using detail::typeOf;
using schema::OpId;

Padding::Padding(const Pairs &pairs) {
  for (auto [before, behind] : pairs) {
    numbers_.push_back(before);
    numbers_.push_back(behind);
  }
}

namespace {

using Ints = std::vector<std::int64_t>;

// A call of a public function: its line and its name in messages.
struct Called {
  Called(const Operand &first, std::string_view name)
      : where(detail::userLine(first.where())), name(name), library(where, name.data()) {}

  [[noreturn]] void refuse(schema::Fault fault) const {
    fault.message = absl::StrCat(std::string(name), ": ", fault.message);
    detail::throwFault(fault, where);
  }

  // The number of dimensions of the images along which a window slides.
  std::size_t spatialRank(const Tensor &images) const {
    if (images.rank() < 3 || images.rank() > 5)
      refuse(schema::shapeFault(absl::StrCat("images must have rank 3 to 5, [N,...,C], not ", typeOf(images))));
    return static_cast<std::size_t>(images.rank() - 2);
  }
  // The numbers; if there are none, a 1 for each dimension.
  Ints perDimension(Ints numbers, std::size_t rank, const char *what) const {
    if (numbers.empty())
      numbers.assign(rank, 1);
    if (numbers.size() != rank)
      refuse(schema::valueFault(absl::StrCat(what, " must be a number for each of ", schema::counted(rank, "dimension"),
                                             ", not ", schema::listString(numbers))));
    return numbers;
  }

  Tensor withOverride(const std::vector<Tensor> &operands, Tensor result) const {
    if (detail::gradientOverridesActive()) [[unlikely]]
      detail::overrideGradient(name, operands, {&result, 1}, where);
    return result;
  }

  const SourceLocation where;
  const std::string_view name;
  const CallSite library;
};

// The images and filters as tensors. A number gets the type of the other operand.
std::vector<Tensor> adopted(const Operand &input, const Operand &filter) {
  const Operand *operands[] = {&input, &filter};
  return detail::adoptNumbers(OpId::Conv, operands);
}

Tensor convolve(const Called &call, const std::vector<Tensor> &operands, Ints strides, const Padding &padding,
                Ints dilations, std::int64_t groups) {
  schema::Attribute attributes[] = {std::move(strides), padding.name(), padding.numbers(), std::move(dilations),
                                    groups};
  return detail::apply(OpId::Conv, operands, attributes, call.where);
}

void requireTwoDimensions(const Called &call, const Ints &numbers, const char *what) {
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 1)
    call.refuse(
        schema::valueFault(absl::StrCat(what, " must be two positive numbers, not ", schema::listString(numbers))));
}

} // namespace

Tensor conv(const Operand &input, const Operand &filter, ConvOptions options) {
  Called call(input, detail::kConv);
  std::vector<Tensor> operands = adopted(input, filter);
  Ints strides = call.perDimension(std::move(options.strides), call.spatialRank(operands[0]), "strides");
  return call.withOverride(operands, convolve(call, operands, std::move(strides), options.padding,
                                              std::move(options.dilations), options.groups));
}

Tensor conv2d(const Operand &input, const Operand &filter, Ints strides, Padding padding) {
  Called call(input, detail::kConv2d);
  std::vector<Tensor> operands = adopted(input, filter);
  requireTwoDimensions(call, strides, "strides");
  return call.withOverride(operands, convolve(call, operands, std::move(strides), padding, {}, 1));
}

Tensor depthwise_conv2d(const Operand &input, const Operand &filter, DepthwiseOptions options) {
  Called call(input, detail::kDepthwiseConv2d);
  std::vector<Tensor> operands = adopted(input, filter);
  const Shape shape = operands[1].shape();
  if (operands[0].rank() != 4)
    call.refuse(schema::shapeFault(absl::StrCat("images must have rank 4, [N,H,W,C], not ", typeOf(operands[0]))));
  if (shape.size() != 4 || !shape[2].is_known())
    call.refuse(schema::shapeFault(absl::StrCat(
        "filters must have rank 4, [KH,KW,C,M], and as many channels as is known, not ", typeOf(operands[1]))));
  const std::int64_t channels = shape[2];
  const Size taken = operands[0].shape()[3];
  if (channels < 1 || (taken.is_known() && taken != channels))
    call.refuse(
        schema::shapeFault(absl::StrCat("images ", typeOf(operands[0]), " have ", taken.str(), " channels and filters ",
                                        typeOf(operands[1]), " take ", channels, "; they must be equal and not 0")));
  Ints strides = call.perDimension(std::move(options.strides), 2, "strides");
  // Each channel is a group; its filters stand next to each other.
  Tensor merged =
      detail::apply(OpId::MergeDims, {&operands[1], 1}, std::array{schema::Attribute(std::int64_t(2))}, call.where);
  merged = expand_dims(Operand(merged, call.where), {2});
  return call.withOverride(operands, convolve(call, {operands[0], merged}, std::move(strides), options.padding,
                                              std::move(options.dilations), channels));
}

namespace {
// The largest reach of a dilated window. A larger one is refused, before sizes overflow.
constexpr std::int64_t kMostReach = std::int64_t(1) << 40;
} // namespace

Tensor conv_transpose(const Operand &input, const Operand &filter, ConvTransposeOptions options) {
  Called call(input, detail::kConvTranspose);
  std::vector<Tensor> operands = adopted(input, filter);
  const Tensor &images = operands[0], &filters = operands[1];
  const std::size_t rank = call.spatialRank(images);
  const Shape shape = images.shape(), window = filters.shape();
  if (window.size() != rank + 2)
    call.refuse(schema::shapeFault(absl::StrCat("filters must have rank ", rank + 2,
                                                ", those of the window, then F and C, not ", typeOf(filters))));
  if (images.dtype() != filters.dtype())
    call.refuse(schema::dtypeFault(absl::StrCat("the operands' types differ: ", typeOf(images), " and ",
                                                typeOf(filters), "; there is no implicit conversion, use cast")));
  if (const Size &channels = shape[rank + 1], &taken = window[rank + 1];
      channels.is_known() && taken.is_known() && channels != taken)
    call.refuse(
        schema::shapeFault(absl::StrCat("images ", typeOf(images), " have ",
                                        schema::counted(static_cast<std::size_t>(std::int64_t(channels)), "channel"),
                                        " and filters ", typeOf(filters), " take ", taken.str())));
  Ints strides = call.perDimension(std::move(options.strides), rank, "strides");
  for (std::size_t i = 0; i < rank; ++i) {
    if (strides[i] < 1)
      call.refuse(
          schema::valueFault(absl::StrCat("strides must be positive numbers, not ", schema::listString(strides))));
    if (!window[i].is_known() || window[i] < 1)
      call.refuse(
          schema::shapeFault(absl::StrCat("the filters' window must be known and not empty: ", typeOf(filters))));
  }
  const bool same = options.padding == "same";
  if (!same && options.padding != "valid")
    call.refuse(
        schema::valueFault(absl::StrCat("padding must be \"same\" or \"valid\", not \"", options.padding, "\"")));
  Ints dilations = call.perDimension(std::move(options.dilations), rank, "dilations"), outputPadding, pads;
  if (!options.output_padding.empty())
    outputPadding = call.perDimension(std::move(options.output_padding), rank, "output padding");
  // The images are the cotangent of a convolution's result, and the result is the cotangent of its operand. A tensor
  // `like`, whose elements nothing reads, has the operand's sizes: the images' sizes times the strides, plus `further`,
  // by which a window reaches further than its stride, or less far.
  Ints further(rank + 2, 0), beyond(rank + 2, 0);
  bool isNothing = false; // whether images without elements give a size below 0
  for (std::size_t i = 0; i < rank; ++i) {
    if (dilations[i] < 1)
      call.refuse(
          schema::valueFault(absl::StrCat("dilations must be positive numbers, not ", schema::listString(dilations))));
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(std::int64_t(window[i]) - 1, dilations[i], &reach) || reach > kMostReach)
      call.refuse(schema::valueFault(absl::StrCat("the dilations ", schema::listString(dilations), " of the window ",
                                                  typeOf(filters), " are more than a dimension can have")));
    const std::int64_t size = reach + 1;
    if (outputPadding.empty()) {
      further[i + 1] = same ? 0 : std::max<std::int64_t>(size - strides[i], 0);
      continue;
    }
    if (outputPadding[i] < 0 || outputPadding[i] >= std::max(strides[i], dilations[i]))
      call.refuse(schema::valueFault(absl::StrCat(
          "output padding must not be negative, and less than the strides ", schema::listString(strides),
          " or the dilations ", schema::listString(dilations), ", unlike ", schema::listString(outputPadding))));
    // The first window begins where Keras lets it begin.
    const std::int64_t added = outputPadding[i], pad = same ? size / 2 : 0;
    const std::int64_t around = same ? size + size % 2 - 2 + added : 2 * (size - 1) + added;
    const std::int64_t before = same ? std::min(around / 2 + around % 2, size - 1) : size - 1;
    // `low` and `high` are cut off in front and behind. If `high` is negative, no window reaches the last places of the
    // result. Up to stride - 1 of them are in the convolution's operand. Zeros are appended for the others.
    const std::int64_t low = size - 1 - before, high = 2 * pad - added - low;
    beyond[i + 1] = std::max<std::int64_t>(-high - (strides[i] - 1), 0);
    further[i + 1] = size - strides[i] - 2 * pad + added - beyond[i + 1];
    pads.push_back(low);
    pads.push_back(std::max<std::int64_t>(high, 0));
  }
  Shape whole = shape;
  Tensor like;
  if (shape.is_known()) {
    for (std::size_t i = 0; i < rank; ++i) {
      std::int64_t size = 0;
      if (__builtin_mul_overflow(std::int64_t(shape[i + 1]), strides[i], &size) ||
          __builtin_add_overflow(size, further[i + 1], &size))
        call.refuse(schema::valueFault(absl::StrCat("the strides ", schema::listString(strides), " times the sizes of ",
                                                    typeOf(images), " are more than a dimension can have")));
      whole[i + 1] = std::max<std::int64_t>(size, 0);
      isNothing |= size < 0;
    }
    whole.back() = window[rank];
    like = zeros(whole, images.dtype(), call.where);
  } else {
    Ints repeats{1};
    repeats.insert(repeats.end(), strides.begin(), strides.end());
    repeats.push_back(1);
    like = detail::apply(OpId::StopGradient, {&images, 1}, {}, call.where);
    like = tile(Operand(sum(Operand(like, call.where), -1, true), call.where), repeats);
    for (std::size_t i = 0; i < rank; ++i)
      if (std::int64_t &more = further[i + 1]; more < 0) {
        like = split(Operand(like, call.where), {-1, -more}, static_cast<std::int64_t>(i) + 1)[0];
        more = 0;
      }
    like = pad(Operand(like, call.where), Ints(rank + 2, 0), further);
    whole = like.shape();
    whole.back() = window[rank];
    like = broadcast_to(Operand(like, call.where), whole);
  }
  if (isNothing)
    return call.withOverride(operands, pad(Operand(like, call.where), Ints(rank + 2, 0), beyond));
  const Tensor all[] = {images, filters, like};
  const schema::Attribute attributes[] = {std::move(strides), pads.empty() ? options.padding : std::string("valid"),
                                          std::move(pads), std::move(dilations), std::int64_t(1)};
  Tensor result = detail::apply(OpId::ConvInputGrad, all, attributes, call.where);
  if (std::ranges::any_of(beyond, [](std::int64_t more) { return more > 0; }))
    result = pad(Operand(result, call.where), Ints(rank + 2, 0), beyond);
  return call.withOverride(operands, std::move(result));
}

//===-- Pooling ---------------------------------------------------------------------------------===//

namespace {

Tensor poolBy(const Called &call, OpId op, const Tensor &images, const Ints &window, const Ints &strides,
              const Padding &padding) {
  const schema::Attribute attributes[] = {window, strides, padding.name(), padding.numbers()};
  return detail::apply(op, {&images, 1}, attributes, call.where);
}

Tensor pool(const Called &call, const Operand &input, WindowReduction reduction, const Ints &window,
            PoolOptions options) {
  const Tensor images = input.toTensor();
  if (window.empty() || window.size() > 3 ||
      std::any_of(window.begin(), window.end(), [](auto size) { return size < 1; }))
    call.refuse(schema::valueFault(
        absl::StrCat("the window must be one to three positive numbers, not ", schema::listString(window))));
  Ints strides = options.strides.empty() ? window : std::move(options.strides);
  strides = call.perDimension(std::move(strides), window.size(), "strides");
  const OpId op = reduction == WindowReduction::Max ? OpId::MaxPool : OpId::SumPool;
  Tensor result = poolBy(call, op, images, window, strides, options.padding);
  if (reduction == WindowReduction::Mean && options.padding.name() == "valid" && options.padding.numbers().empty()) {
    double count = 1;
    for (std::int64_t size : window)
      count *= static_cast<double>(size);
    result = div(Operand(result, call.where), Operand(count, call.where));
  } else if (reduction == WindowReduction::Mean) {
    // The number of elements in a window is the same for all images and channels.
    Shape one = images.shape();
    one.front() = 1;
    one.back() = 1;
    Tensor counts =
        poolBy(call, OpId::SumPool, ones(one, images.dtype(), call.where), window, strides, options.padding);
    result = div(Operand(result, call.where), Operand(counts, call.where));
  }
  return call.withOverride({images}, result);
}

} // namespace

Tensor reduce_window(const Operand &input, WindowReduction reduction, Ints window, PoolOptions options) {
  return pool(Called(input, detail::kReduceWindow), input, reduction, window, std::move(options));
}

Tensor max_pool(const Operand &input, Ints window, PoolOptions options) {
  return pool(Called(input, detail::kMaxPool), input, WindowReduction::Max, window, std::move(options));
}

Tensor average_pool(const Operand &input, Ints window, PoolOptions options) {
  return pool(Called(input, detail::kAveragePool), input, WindowReduction::Mean, window, std::move(options));
}

Tensor max_pool2d(const Operand &input, Ints window, Ints strides, Padding padding) {
  Called call(input, detail::kMaxPool2d);
  requireTwoDimensions(call, window, "the window");
  requireTwoDimensions(call, strides, "strides");
  return pool(call, input, WindowReduction::Max, window, {std::move(strides), std::move(padding)});
}

} // namespace calque
