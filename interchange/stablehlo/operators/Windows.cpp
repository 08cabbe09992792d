// Reductions of windows by any body, and what is scattered to the elements that windows choose.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

struct Window {
  Numbers sizes, strides, baseDilations, dilations, low, high;

  Window(const Call &call, std::int64_t rank) {
    const Numbers ones(static_cast<std::size_t>(rank), 1);
    sizes = call.integers("window_dimensions", ones);
    strides = call.integers("window_strides", ones);
    baseDilations = call.integers("base_dilations", ones);
    dilations = call.integers("window_dilations", ones);
    const Numbers padding = call.integers("padding", Numbers(static_cast<std::size_t>(2 * rank), 0));
    for (const Numbers *each : {&sizes, &strides, &baseDilations, &dilations}) {
      call.requireCount(*each, rank, "a list of a window");
      for (std::int64_t n : *each)
        if (n < 1 || n > std::int64_t(1) << 40)
          call.refuse("a window has the number " + std::to_string(n) + " among its sizes, strides or dilations");
    }
    call.requireCount(padding, 2 * rank, "the padding of a window");
    for (std::size_t i = 0; i < padding.size(); i += 2) {
      low.push_back(padding[i]);
      high.push_back(padding[i + 1]);
    }
  }
  bool isPlain() const {
    auto areOnes = [](const Numbers &all) { return std::ranges::all_of(all, [](auto n) { return n == 1; }); };
    return areOnes(baseDilations) && areOnes(dilations);
  }
};

// The reduction of Calque's that this one is: of floats, with the images' batch in front and their channels behind.
std::optional<Tensor> ofImages(const Call &call, const Window &window, const Tensor &x, const Tensor &initial) {
  const std::string body = bodyOf(call.region(0));
  const auto rank = static_cast<std::size_t>(x.rank());
  if ((body != "add" && body != "maximum") || !is_floating(x.dtype()) || rank < 3 || rank > 5 || !window.isPlain() ||
      !isNeutral(body, initial))
    return {};
  for (std::size_t i : {std::size_t(0), rank - 1})
    if (window.sizes[i] != 1 || window.strides[i] != 1 || window.low[i] != 0 || window.high[i] != 0)
      return {};
  PoolOptions options;
  Padding::Pairs pairs;
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    if (window.low[i] < 0 || window.high[i] < 0 || window.low[i] >= window.sizes[i] ||
        window.high[i] >= window.sizes[i])
      return {};
    pairs.emplace_back(window.low[i], window.high[i]);
    options.strides.push_back(window.strides[i]);
  }
  options.padding = pairs;
  return reduce_window(x, body == "add" ? WindowReduction::Sum : WindowReduction::Max,
                       Numbers(window.sizes.begin() + 1, window.sizes.end() - 1), options);
}

// Of each tensor, `count` entries from a place on along an axis, `step` apart.
std::vector<Tensor> entries(const std::vector<Tensor> &xs, std::size_t axis, std::int64_t from, std::int64_t count,
                            std::int64_t step) {
  std::vector<Tensor> made;
  for (const Tensor &x : xs) {
    const Shape shape = x.shape();
    Numbers starts(shape.size(), 0), limits(shape), steps(shape.size(), 1);
    starts[axis] = from;
    limits[axis] = count == 0 ? from : from + (count - 1) * step + 1;
    steps[axis] = step;
    made.push_back(sliceOf(x, starts, limits, steps));
  }
  return made;
}

// The windows along one axis. Few entries are combined one after the other, many by windows of 2, 4, 8, ... entries.
std::vector<Tensor> alongAxis(const Call &call, std::vector<Tensor> xs, std::size_t axis, std::int64_t size,
                              std::int64_t stride, std::int64_t dilation) {
  const std::int64_t n = xs[0].shape()[axis];
  const std::int64_t reach = (size - 1) * dilation + 1;
  const std::int64_t count = n < reach ? 0 : (n - reach) / stride + 1;
  auto combine = [&](const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
    std::vector<Tensor> both = a;
    both.insert(both.end(), b.begin(), b.end());
    return call.lift(call.region(0), both);
  };
  if (count == 0 || size == 1)
    return entries(xs, axis, 0, count, stride);
  if (size <= 8) {
    std::vector<Tensor> all = entries(xs, axis, 0, count, stride);
    for (std::int64_t k = 1; k < size; ++k)
      all = combine(all, entries(xs, axis, k * dilation, count, stride));
    return all;
  }
  std::vector<Tensor> all;
  std::int64_t done = 0; // entries of the window that `all` has, from the first place on
  const std::int64_t last = (count - 1) * stride + 1;
  for (std::int64_t width = 1; width <= size; width *= 2) {
    // xs has windows of `width`.
    if (size & width) {
      const std::vector<Tensor> part = entries(xs, axis, done * dilation, last, 1);
      all = done == 0 ? part : combine(all, part);
      done += width;
    }
    if (2 * width <= size) {
      const std::int64_t left = std::int64_t(xs[0].shape()[axis]) - width * dilation;
      xs = combine(entries(xs, axis, 0, left, 1), entries(xs, axis, width * dilation, left, 1));
    }
  }
  return entries(all, axis, 0, count, stride);
}

Results windows(const Call &call) {
  const std::size_t count = call.size() / 2;
  if (call.size() % 2 != 0)
    call.refuse(std::to_string(call.size()) + " operands, expected pairs");
  std::vector<Tensor> xs = call.tensors(0, count);
  const std::vector<Tensor> initial = call.tensors(count);
  const std::int64_t rank = xs[0].rank();
  const Window window(call, rank);
  if (count == 1)
    if (const std::optional<Tensor> y = ofImages(call, window, xs[0], initial[0]))
      return *y;
  Numbers interior = window.baseDilations;
  for (std::int64_t &each : interior)
    --each;
  for (std::size_t i = 0; i < count; ++i) {
    if (xs[i].rank() != rank)
      call.refuse("operands of the ranks " + std::to_string(rank) + " and " + std::to_string(xs[i].rank()));
    xs[i] = padOf(call, xs[i], initial[i], window.low, window.high, interior);
    if (!xs[i].shape().is_known())
      call.refuse("windows of a tensor of unknown sizes, but for sums and maxima of images");
  }
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    xs = alongAxis(call, std::move(xs), k, window.sizes[k], window.strides[k], window.dilations[k]);
  }
  if (count == 1 && isNeutral(bodyOf(call.region(0)), initial[0]))
    return xs;
  std::vector<Tensor> both = initial;
  for (std::size_t i = 0; i < count; ++i)
    both[i] = broadcast_to(initial[i], xs[i].shape());
  both.insert(both.end(), xs.begin(), xs.end());
  return call.lift(call.region(0), both);
}

// Of each window the element that the first region chooses, and at its place what the second makes of the source.
Results selectAndScatter(const Call &call) {
  const Tensor x = call.tensor(0), source = call.tensor(1), initial = call.tensor(2);
  const std::int64_t rank = x.rank();
  const Window window(call, rank);
  const Shape shape = x.shape();
  if (!shape.is_known())
    call.refuse("windows of a tensor of unknown sizes");
  std::int64_t size = 1, places = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    size *= shape[i];
    if (__builtin_mul_overflow(places, window.sizes[i], &places) || places > 1 << 12)
      call.refuse("a window of more than 4096 elements");
  }
  const Numbers none(static_cast<std::size_t>(rank), 0);
  const Tensor value = padOf(call, x, scalarOf(0, x.dtype()), window.low, window.high, none);
  const Tensor numbers = padOf(call, reshape(iota({Size(size)}, DType::Int64), shape), ofIntegers({-1}, {}), window.low,
                               window.high, none);
  const Shape around = value.shape();
  Shape results;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t n = around[i];
    results.push_back(Size(n < window.sizes[i] ? 0 : (n - window.sizes[i]) / window.strides[i] + 1));
  }
  bool isPadded = false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    isPadded = isPadded || window.low[i] != 0 || window.high[i] != 0;
  Tensor best, at;
  Numbers place = none;
  for (std::int64_t k = 0; k < places; ++k) {
    Numbers limits;
    for (std::size_t i = 0; i < shape.size(); ++i)
      limits.push_back(results[i] == 0 ? place[i] : place[i] + (results[i] - 1) * window.strides[i] + 1);
    const Tensor here = sliceOf(value, place, limits, window.strides),
                 number = sliceOf(numbers, place, limits, window.strides);
    if (!best.defined()) {
      best = here;
      at = number;
    } else {
      Tensor keeps = call.lift(call.region(0), {best, here})[0];
      if (isPadded)
        keeps = logical_and(at >= 0, logical_or(number < 0, keeps));
      best = where(keeps, best, here);
      at = where(keeps, at, number);
    }
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++place[i] < window.sizes[i])
        break;
      place[i] = 0;
    }
  }
  if (Numbers(results) != Numbers(source.shape()))
    call.refuse("a source of shape " + source.shape().str() + " for windows of shape " + results.str());
  const Tensor start = broadcast_to(initial, {Size(size)});
  const Tensor outside = isPadded ? where(at < 0, size, at) : at;
  return reshape(scatterBy(call, call.region(1), {start}, ravel(outside), {ravel(source)}, size)[0], shape);
}

constexpr Operator kTable[] = {
    {"stablehlo.reduce_window", 2, kAnyNumber, windows, Trait::None, 1},
    {"stablehlo.select_and_scatter", 3, 3, selectAndScatter, Trait::None, 2},
};

} // namespace

Table windowOperators() { return kTable; }

} // namespace calque::stablehlo
