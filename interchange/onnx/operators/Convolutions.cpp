// Convolutions, of floats and of quantised integers, and what they are made of.
#include "onnx/Windows.h"

#include "calque/function.h"
#include "calque/init_scope.h"
#include "calque/quantized.h"

namespace calque::onnx {

namespace {

// Filters [F, C, ...] as Calque has them: [..., C, F]. Constants are brought into that order while tracing.
Tensor filtersOf(const Tensor &w) {
  std::optional<InitScope> now;
  if (w.is_known() && !executing_eagerly())
    now.emplace();
  std::vector<std::int64_t> order;
  for (std::int64_t i = 2; i < w.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  order.push_back(0);
  return transpose(w, order);
}

std::vector<std::int64_t> spaceOf(const Call &call, const Value &filters) {
  const Shape shape = filters.shape();
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 2; i < shape.size(); ++i)
    sizes.push_back(shape[i]);
  if (shape.size() < 3 || shape.size() > 5)
    call.refuse("filters of shape " + shape.str() + ": images have one to three dimensions");
  return sizes;
}

// The images with their channels last.
Tensor convolve(const Call &call, const Tensor &images, const Tensor &filters, const Window &window) {
  return conv(images, filtersOf(filters),
              {.strides = window.strides,
               .padding = window.pairs(),
               .dilations = window.dilations,
               .groups = call.integer("group", 1)});
}

Results convolution(const Call &call) {
  const Value &x = call.value(0), &w = call.value(1);
  const Window window = windowOf(call, x.shape(), spaceOf(call, w));
  const bool isNegative = std::ranges::any_of(window.low, [](auto n) { return n < 0; }) ||
                          std::ranges::any_of(window.high, [](auto n) { return n < 0; });
  if (isNegative)
    call.refuse("negative pads");
  Tensor y = convolve(call, x.images(), w.tensor(), window);
  return Value::ofImages(call.has(2) ? y + call.tensor(2) : y);
}

Results transposedConvolution(const Call &call) {
  const Value &x = call.value(0), &w = call.value(1);
  const std::vector<std::int64_t> sizes = spaceOf(call, w);
  const Shape input = x.shape();
  const std::size_t rank = sizes.size();
  const std::vector<std::int64_t> ones(rank, 1), zeros(rank, 0);
  const std::vector<std::int64_t> strides = call.integers("strides", ones),
                                  dilations = call.integers("dilations", ones);
  const std::vector<std::int64_t> more = call.integers("output_padding", zeros), shape = call.integers("output_shape");
  const std::vector<std::int64_t> pads = call.integers("pads", std::vector<std::int64_t>(2 * rank, 0));
  const std::string autoPad = call.text("auto_pad", "NOTSET");
  const std::int64_t groups = call.integer("group", 1);
  call.ignore({"kernel_shape"});
  if (strides.size() != rank || dilations.size() != rank || more.size() != rank || pads.size() != 2 * rank ||
      (!shape.empty() && shape.size() < rank))
    call.refuse("strides, dilations, pads, output_padding or output_shape don't have the window's " +
                std::to_string(rank) + " dimensions");
  // Filters [C, F / groups, ...] of each group, as Calque has them: [..., F, C].
  const std::vector<Tensor> parts =
      groups == 1 ? std::vector<Tensor>{x.images()} : split(x.images(), groups, static_cast<std::int64_t>(rank) + 1);
  const std::vector<Tensor> filters = groups == 1 ? std::vector<Tensor>{w.tensor()} : split(w.tensor(), groups, 0);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < parts.size(); ++i)
    results.push_back(conv_transpose(parts[i], filtersOf(filters[i]),
                                     {.strides = strides, .output_padding = zeros, .dilations = dilations}));
  Tensor y = results.size() == 1 ? results[0] : concat(results, static_cast<std::int64_t>(rank) + 1);
  // The whole result, of which the pads cut something off, and to which output_padding adds.
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t before = pads[i], after = pads[i + rank];
    const auto axis = static_cast<std::int64_t>(i) + 1;
    const Size given = y.shape()[i + 1];
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER" || !shape.empty()) {
      const std::int64_t whole = std::int64_t(given) + more[i];
      const std::int64_t wanted =
          shape.empty() ? std::int64_t(input[2 + i]) * strides[i] : shape[shape.size() - rank + i];
      const std::int64_t cut = whole - wanted;
      before = autoPad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      after = cut - before;
      if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER") {
        before = cut / 2;
        after = cut - before;
      }
    } else if (autoPad == "VALID") {
      before = after = 0;
    }
    after -= more[i];
    std::vector<std::int64_t> low(rank + 2, 0), high(rank + 2, 0);
    if (after < 0)
      high[i + 1] = -after;
    if (before < 0)
      low[i + 1] = -before;
    if (low[i + 1] || high[i + 1])
      y = pad(y, low, high, 0);
    if (before > 0 || after > 0) {
      const std::int64_t size = y.shape()[i + 1];
      y = sliceAlong(y, axis, std::max<std::int64_t>(before, 0), size - std::max<std::int64_t>(after, 0));
    }
  }
  return Value::ofImages(call.has(2) ? y + call.tensor(2) : y);
}

// The zero point of an operand, if there is one: a scalar, or of filters a vector.
std::optional<Tensor> zeroPointOf(const Call &call, std::size_t i) {
  if (!call.has(i))
    return {};
  const Tensor zero = call.tensor(i);
  return zero.rank() == 1 && zero.size() == 1 ? reshape(zero, {}) : zero;
}

// The sums of a convolution of integers, with the channels second.
Tensor integerConvolution(const Call &call, std::size_t filters, std::optional<Tensor> inputZero,
                          std::optional<Tensor> filterZero) {
  const Tensor x = call.tensor(0), w = call.tensor(filters);
  const Window window = windowOf(call, x.shape(), spaceOf(call, Value(w)));
  return channelsSecond(conv_integer(channelsLast(x), filtersOf(w),
                                     {.strides = window.strides,
                                      .padding = window.pairs(),
                                      .dilations = window.dilations,
                                      .groups = call.integer("group", 1),
                                      .input_zero_point = std::move(inputZero),
                                      .filter_zero_point = std::move(filterZero)}));
}

Results convInteger(const Call &call) {
  return integerConvolution(call, 1, zeroPointOf(call, 2), zeroPointOf(call, 3));
}

Results quantizedConvolution(const Call &call) {
  Tensor sums = integerConvolution(call, 3, zeroPointOf(call, 2), zeroPointOf(call, 5));
  if (call.has(8))
    sums = sums + perChannel(cast(call.tensor(8), DType::Int32), sums.rank());
  Tensor scale = call.tensor(4);
  if (scale.rank() == 1 && scale.size() > 1)
    scale = perChannel(scale, sums.rank());
  const Tensor factor = reshape(call.tensor(1), {}) * scale / reshape(call.tensor(6), {});
  const Tensor zero = reshape(call.tensor(7), {});
  return cast(round(cast(sums, DType::Float32) * factor) + cast(zero, DType::Float32), zero.dtype());
}

// Puts the columns of windows back to where they came from, and adds those that overlap.
Results columnsToImages(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::vector<std::int64_t> image = call.integers(1), block = call.integers(2);
  const std::size_t rank = image.size();
  std::int64_t taps = 1;
  for (std::int64_t size : block)
    taps *= size;
  const Size batch = x.shape()[0];
  const std::int64_t channels = std::int64_t(x.shape()[1]) / taps;
  Shape shape{batch, channels};
  for (std::int64_t size : image)
    shape.push_back(size);
  const Window window = windowOf(call, shape, block);
  const std::vector<std::int64_t> places = outputSizes(window, shape);
  // The place in the padded image of each element of each window.
  std::vector<std::int64_t> sizes;
  std::int64_t all = 1, windows = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    sizes.push_back(image[i] + window.low[i] + window.high[i]);
    all *= sizes[i];
    windows *= places[i];
  }
  std::vector<std::int64_t> targets;
  for (std::int64_t tap = 0; tap < taps; ++tap)
    for (std::int64_t at = 0; at < windows; ++at) {
      std::int64_t target = 0, stride = 1, restTap = tap, restAt = at;
      for (std::size_t i = rank; i-- > 0;) {
        target += stride * (restTap % block[i] * window.dilations[i] + restAt % places[i] * window.strides[i]);
        restTap /= block[i];
        restAt /= places[i];
        stride *= sizes[i];
      }
      targets.push_back(target);
    }
  Tensor y = scatter_add(calque::zeros({batch, channels, all}, x.dtype()), ofIntegers(targets),
                         reshape(x, {batch, channels, taps * windows}), 2);
  Shape padded{batch, channels};
  for (std::int64_t size : sizes)
    padded.push_back(size);
  y = reshape(y, padded);
  for (std::size_t i = 0; i < rank; ++i)
    y = sliceAlong(y, static_cast<std::int64_t>(i) + 2, window.low[i], window.low[i] + image[i]);
  return y;
}

constexpr Operator kTable[] = {
    {"Col2Im", {18}, 3, 3, 0b110, columnsToImages},
    {"Conv", {1, 11, 22}, 2, 3, 0, convolution},
    {"ConvInteger", {10}, 2, 4, 0, convInteger},
    {"ConvTranspose", {1, 11, 22}, 2, 3, 0, transposedConvolution},
    {"QLinearConv", {10}, 8, 9, 0, quantizedConvolution},
};

} // namespace

Table convolutionOperators() { return kTable; }

} // namespace calque::onnx
