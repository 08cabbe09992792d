// Pooling. Windows that Calque has are one operation; dilated ones, those that ceil_mode lets end beyond the images,
// and other types than floats are computed element by element of the window.
#include "onnx/Windows.h"

#include <cmath>
#include <limits>

namespace calque::onnx {

namespace {

// Whether Calque's own windows serve.
bool isPlain(const Window &window, const Shape &input, DType dtype) {
  if (!is_floating(dtype) || window.isDilated() || window.rank() > 3)
    return false;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    if (window.low[i] >= window.sizes[i] || window.high[i] >= window.sizes[i])
      return false;
    if (!window.ceil)
      continue;
    const Size &size = input[2 + i];
    if (!size.is_known() || (size + window.low[i] + window.high[i] - window.reach(i)) % window.strides[i] != 0)
      return false;
  }
  return true;
}

Number lowest(DType dtype) {
  if (is_floating(dtype))
    return -HUGE_VAL;
  if (dtype == DType::Int8)
    return std::numeric_limits<std::int8_t>::min();
  return 0; // of UInt8
}

Results maxPool(const Call &call) {
  const Value &x = call.value(0);
  const Window window = windowOf(call, x.shape());
  const DType dtype = x.dtype();
  const bool columnMajor = call.integer("storage_order", 0) == 1;
  if (!call.gives(1) && isPlain(window, x.shape(), dtype))
    return Value::ofImages(max_pool(x.images(), window.sizes, {.strides = window.strides, .padding = window.pairs()}));
  if (!is_floating(dtype) && dtype != DType::Int8 && dtype != DType::UInt8)
    call.refuse("its input is " + std::string(name_of(dtype)));
  const Tensor images = x.tensor();
  const Shape shape = images.shape();
  Tensor best, places, at;
  if (call.gives(1)) {
    // The number of each element in the whole tensor, row by row or column by column within an image.
    Shape counted = shape;
    at = zeros(counted, DType::Int64);
    std::int64_t step = 1;
    for (std::size_t i = 0; i < window.rank(); ++i) {
      const std::size_t axis = columnMajor ? 2 + i : shape.size() - 1 - i;
      at = at + iota(counted, DType::Int64, static_cast<std::int64_t>(axis)) * step;
      step *= shape[axis];
    }
    at = at + iota(counted, DType::Int64, 1) * step + iota(counted, DType::Int64, 0) * (step * std::int64_t(shape[1]));
  }
  std::vector<Tensor> numbers;
  if (call.gives(1))
    eachTap(at, window, -1, [&](const Tensor &view, std::int64_t) { numbers.push_back(view); });
  eachTap(images, window, lowest(dtype), [&](const Tensor &view, std::int64_t tap) {
    if (!call.gives(1)) {
      best = best.defined() ? maximum(best, view) : view;
      return;
    }
    const Tensor &number = numbers[static_cast<std::size_t>(tap)];
    if (!best.defined()) {
      best = view;
      places = number;
      return;
    }
    const Tensor isBetter = logical_and(number >= 0, logical_or(view > best, places < 0));
    best = where(isBetter, view, best);
    places = where(isBetter, number, places);
  });
  return call.gives(1) ? Results{best, places} : Results(best);
}

Results averagePool(const Call &call) {
  const Value &x = call.value(0);
  const Window window = windowOf(call, x.shape());
  const bool countsPadding = call.flag("count_include_pad", false);
  if ((!countsPadding || !window.isPadded()) && isPlain(window, x.shape(), x.dtype()))
    return Value::ofImages(
        average_pool(x.images(), window.sizes, {.strides = window.strides, .padding = window.pairs()}));
  const Tensor images = x.tensor();
  Tensor sum, count;
  auto into = [](Tensor &all) {
    return [&all](const Tensor &view, std::int64_t) { all = all.defined() ? all + view : view; };
  };
  eachTap(widened(images), window, 0, into(sum));
  // What counts: the images, and their padding if it is to be counted, but not what ceil_mode reads beyond.
  Shape one{1, 1};
  std::vector<std::int64_t> low(2, 0), high(2, 0);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    one.push_back(images.shape()[2 + i]);
    low.push_back(window.low[i]);
    high.push_back(window.high[i]);
  }
  Tensor counted = ones(one, sum.dtype());
  Window inside = window;
  if (countsPadding) {
    counted = pad(counted, low, high, 1);
    inside.low.assign(window.rank(), 0);
    inside.high.assign(window.rank(), 0);
  }
  eachTap(counted, inside, 0, into(count), outputSizes(window, images.shape()));
  return back(sum / count, images.dtype());
}

Results lpPool(const Call &call) {
  const Tensor x = call.tensor(0);
  const Window window = windowOf(call, x.shape());
  const auto p = static_cast<double>(call.integer("p", 2));
  Tensor sum;
  eachTap(pow(abs(x), scalarOf(p, x.dtype())), window, 0,
          [&](const Tensor &view, std::int64_t) { sum = sum.defined() ? sum + view : view; });
  return pow(sum, scalarOf(1 / p, x.dtype()));
}

std::vector<std::int64_t> spaceOf(const Call &call, bool channelsAreLast) {
  const std::int64_t rank = call.value(0).rank();
  if (rank < 3)
    call.refuse("its input has rank " + std::to_string(rank) + ", expected 3 or more");
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 2; i < rank; ++i)
    axes.push_back(channelsAreLast ? i - 1 : i);
  return axes;
}
template <Tensor (*F)(const Operand &, AxisList, bool)> Results globalPool(const Call &call) {
  const Value &x = call.value(0);
  return x.isImages() ? Value::ofImages(F(x.images(), spaceOf(call, true), true))
                      : Value(F(x.tensor(), spaceOf(call, false), true));
}
Tensor largest(const Operand &x, AxisList axes, bool keepdims) { return calque::max(x, std::move(axes), keepdims); }
Tensor average(const Operand &x, AxisList axes, bool keepdims) { return mean(x, std::move(axes), keepdims); }

Results globalLpPool(const Call &call) {
  const Tensor x = call.tensor(0);
  const auto p = static_cast<double>(call.integer("p", 2));
  return pow(sum(pow(abs(x), scalarOf(p, x.dtype())), spaceOf(call, false), true), scalarOf(1 / p, x.dtype()));
}

// Writes elements back to where MaxPool found them.
Results maxUnpool(const Call &call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  const Window window = windowOf(call, x.shape());
  Shape shape{x.shape()[0], x.shape()[1]};
  for (std::size_t i = 0; i < window.rank(); ++i)
    shape.push_back((std::int64_t(x.shape()[2 + i]) - 1) * window.strides[i] + window.sizes[i] - window.low[i] -
                    window.high[i]);
  Shape given = shape;
  if (call.has(2))
    given = Shape(call.integers(2));
  std::int64_t count = 1, last = 1;
  for (const Size &size : shape)
    count *= size;
  Tensor places = reshape(indices, {-1});
  for (const Size &size : given)
    last *= size;
  // The indices are those of the tensor that was pooled, whose sizes output_shape may exceed.
  Tensor flat = scatter_set(zeros({count}, x.dtype()), places, reshape(x, {-1}));
  Tensor result = reshape(flat, shape);
  if (call.has(2)) {
    std::vector<std::int64_t> low(given.size(), 0), high(given.size(), 0);
    for (std::size_t i = 0; i < given.size(); ++i)
      high[i] = std::int64_t(given[i]) - std::int64_t(shape[i]);
    result = pad(result, low, high, 0);
  }
  return result;
}

constexpr Operator kTable[] = {
    {"AveragePool", {1, 7, 10, 11, 19, 22}, 1, 1, 0, averagePool},
    {"GlobalAveragePool", {1, 22}, 1, 1, 0, globalPool<average>},
    {"GlobalLpPool", {2, 22}, 1, 1, 0, globalLpPool},
    {"GlobalMaxPool", {1, 22}, 1, 1, 0, globalPool<largest>},
    {"LpPool", {2, 11, 18, 22}, 1, 1, 0, lpPool},
    {"MaxPool", {1, 8, 10, 11, 12, 22}, 1, 1, 0, maxPool},
    {"MaxUnpool", {9, 11, 22}, 2, 3, 0b100, maxUnpool},
};

} // namespace

Table poolOperators() { return kTable; }

} // namespace calque::onnx
