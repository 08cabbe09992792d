// Operators that move, repeat or leave out elements.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

Results transposed(const Call &call) {
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty() && call.value(0).rank() == 0)
    return call.value(0);
  return transpose(call.tensor(0), order);
}

Results concatenated(const Call &call) {
  const std::int64_t rank = call.value(0).rank();
  const std::int64_t axis = call.axis(call.integer("axis"), rank);
  bool hasElements = false, isImages = axis == 1 && rank > 2;
  Value::Elements all;
  for (std::size_t i = 0; i < call.size(); ++i) {
    hasElements = hasElements || call.value(i).hasElements();
    isImages = isImages && call.value(i).isImages();
  }
  if (isImages) {
    std::vector<Tensor> images;
    for (std::size_t i = 0; i < call.size(); ++i)
      images.push_back(call.value(i).images());
    return Value::ofImages(concat(images, rank - 1));
  }
  if (hasElements && rank == 1) {
    for (std::size_t i = 0; i < call.size(); ++i) {
      const Value &each = call.value(i);
      const auto elements = each.elements();
      for (std::int64_t k = 0; !elements && k < each.shape()[0]; ++k)
        all.emplace_back();
      if (elements)
        all.insert(all.end(), elements->begin(), elements->end());
    }
    return Value::ofElements(all, false, call.value(0).dtype(), concat(call.tensors(), 0));
  }
  // A vector of sizes of which one is computed: the others keep what is known of them.
  return call.size() == 1 ? Results(call.value(0)) : Results(concat(call.tensors(), axis));
}

Results splitUp(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  std::vector<std::int64_t> sizes;
  if (call.version() < 13)
    sizes = call.integers("split");
  else if (call.has(1))
    sizes = call.integers(1);
  const auto parts = call.version() >= 18 && call.hasAttribute("num_outputs")
                         ? call.integer("num_outputs")
                         : static_cast<std::int64_t>(call.outputs());
  if (sizes.empty()) {
    const Size whole = x.shape()[static_cast<std::size_t>(axis)];
    if (!whole.is_known())
      return split(x, parts, axis);
    // Where the number does not divide the size, the last part is the smallest.
    const std::int64_t size = whole, chunk = (size + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(size - i * chunk, 0, chunk));
  }
  return split(x, sizes, axis);
}

// start:end:step of Python along one axis.
Tensor sliceOne(const Call &call, const Tensor &x, std::int64_t axis, std::int64_t start, std::int64_t end,
                std::int64_t step) {
  if (step == 0)
    call.refuse("the step along axis " + std::to_string(axis) + " is 0");
  const Size given = x.shape()[static_cast<std::size_t>(axis)];
  if (!given.is_known()) {
    // What counts from one end, the split of the other end leaves.
    constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
    if (step == -1 && start >= kFar - 1 && end <= -kFar)
      return reverse(x, axis);
    if (step == -1 && start == -1 && end <= -kFar)
      return reverse(x, axis);
    if (step != 1)
      call.refuse("the size of axis " + std::to_string(axis) + " is not known while tracing, and its step is " +
                  std::to_string(step));
    if (start >= 0 && end >= kFar)
      return start == 0 ? x : split(x, {start, -1}, axis)[1];
    if (start >= 0 && end < 0) {
      const Tensor front = split(x, {-1, -end}, axis)[0];
      return start == 0 ? front : split(front, {start, -1}, axis)[1];
    }
    if (start >= 0)
      return split(x, {start, std::max<std::int64_t>(end - start, 0), -1}, axis)[1];
    const Tensor rest = split(x, {-1, -start}, axis)[1];
    if (end >= kFar)
      return rest;
    if (end < 0)
      return split(rest, {std::max<std::int64_t>(end - start, 0), -1}, axis)[0];
    call.refuse("a slice from " + std::to_string(start) + " to " + std::to_string(end) +
                " along an axis whose size is not known while tracing");
  }
  const std::int64_t size = given;
  auto place = [&](std::int64_t at) { return at < 0 ? at + size : at; };
  if (step > 0) {
    const std::int64_t from = std::clamp<std::int64_t>(start < -size ? 0 : place(start), 0, size);
    const std::int64_t to = std::clamp<std::int64_t>(end < -size ? 0 : place(end), 0, size);
    return sliceAlong(x, axis, from, std::max(from, to), step);
  }
  const std::int64_t from = std::clamp<std::int64_t>(start < -size ? -1 : place(start), -1, size - 1);
  const std::int64_t to = std::clamp<std::int64_t>(end < -size ? -1 : place(end), -1, size - 1);
  std::vector<std::int64_t> places;
  for (std::int64_t i = from; i > to; i += step)
    places.push_back(i);
  if (step == -1 && from == size - 1 && to == -1)
    return reverse(x, axis);
  return pick(x, places, axis);
}

Results sliced(const Call &call) {
  std::vector<std::int64_t> starts, ends, axes, steps;
  const Value &x = call.value(0);
  if (call.version() < 10) {
    if (call.size() > 1)
      call.refuse("starts and ends are attributes in operator set " + std::to_string(call.version()));
    starts = call.integers("starts");
    ends = call.integers("ends");
    axes = call.integers("axes");
  } else {
    starts = call.integers(1);
    ends = call.integers(2);
    if (call.has(3))
      axes = call.integers(3);
    if (call.has(4))
      steps = call.integers(4);
  }
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    call.refuse("starts, ends, axes and steps have different lengths");
  axes = call.axes(axes, x.rank());
  if (x.hasElements() && x.rank() == 1 && starts.size() == 1) {
    std::vector<std::int64_t> numbers;
    const auto elements = *x.elements();
    for (std::size_t i = 0; i < elements.size(); ++i)
      numbers.push_back(static_cast<std::int64_t>(i));
    Value::Elements made;
    const auto size = static_cast<std::int64_t>(elements.size());
    auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    if (steps[0] == 1) {
      for (std::int64_t i = place(starts[0]); i < place(ends[0]); ++i)
        made.push_back(elements[static_cast<std::size_t>(i)]);
      return Value::ofElements(made, false, x.dtype(), sliceOne(call, x.tensor(), 0, starts[0], ends[0], 1));
    }
  }
  Tensor result = call.tensor(0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    result = sliceOne(call, result, axes[i], starts[i], ends[i], steps[i]);
  return result;
}

Results tiled(const Call &call) { return tile(call.tensor(0), call.integers(1)); }

// The place in an axis that an element of its padding shows.
std::int64_t reflected(const std::string &mode, std::int64_t at, std::int64_t size) {
  if (mode == "edge")
    return std::clamp<std::int64_t>(at, 0, size - 1);
  if (mode == "wrap")
    return ((at % size) + size) % size;
  if (size == 1)
    return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t within = ((at % period) + period) % period;
  return within < size ? within : period - within;
}

Results padded(const Call &call) {
  Tensor x = call.tensor(0);
  const std::int64_t rank = x.rank();
  const std::string mode = call.text("mode", "constant");
  std::vector<std::int64_t> pads, axes;
  const bool isInput = call.version() >= 11;
  pads = isInput ? call.integers(1) : call.integers("pads");
  if (call.has(3))
    axes = call.axes(call.integers(3), rank);
  else
    for (std::int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  if (pads.size() != 2 * axes.size())
    call.refuse("there are " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes");
  std::vector<std::int64_t> low(static_cast<std::size_t>(rank), 0), high = low;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    low[static_cast<std::size_t>(axes[i])] = pads[i];
    high[static_cast<std::size_t>(axes[i])] = pads[i + axes.size()];
  }
  if (mode != "constant") {
    if (mode != "reflect" && mode != "edge" && (mode != "wrap" || call.version() < 19))
      call.refuse("attribute 'mode' is '" + mode + "'");
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const std::int64_t before = low[static_cast<std::size_t>(axis)], after = high[static_cast<std::size_t>(axis)];
      if (before == 0 && after == 0)
        continue;
      const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
      if (size == 0)
        call.refuse("axis " + std::to_string(axis) + " has no elements to be repeated");
      std::vector<std::int64_t> places;
      for (std::int64_t i = -before; i < size + after; ++i)
        places.push_back(reflected(mode, i, size));
      x = pick(x, places, axis);
    }
    return x;
  }
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    std::int64_t &before = low[static_cast<std::size_t>(axis)], &after = high[static_cast<std::size_t>(axis)];
    if (before < 0 || after < 0) {
      const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
      x = sliceAlong(x, axis, std::max<std::int64_t>(-before, 0), size - std::max<std::int64_t>(-after, 0));
      before = std::max<std::int64_t>(before, 0);
      after = std::max<std::int64_t>(after, 0);
    }
  }
  if (isInput ? !call.has(2) : call.number("value", 0) == 0)
    return pad(x, low, high, x.dtype() == DType::Bool ? Number(false) : Number(0));
  const Tensor value = isInput ? reshape(call.tensor(2), {}) : scalarOf(call.number("value", 0), x.dtype());
  // The value may be computed: it is chosen where there is padding.
  const Tensor inside = pad(full(x.shape(), true, DType::Bool), low, high, false);
  return where(inside, pad(x, low, high, x.dtype() == DType::Bool ? Number(false) : Number(0)), value);
}

Results depthToSpace(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t block = call.integer("blocksize");
  const std::string mode = call.text("mode", "DCR");
  if (x.rank() != 4 || block < 1 || (mode != "DCR" && mode != "CRD"))
    call.refuse("an input of rank " + std::to_string(x.rank()) + ", blocksize " + std::to_string(block) + ", mode '" +
                mode + "'");
  const Shape s = x.shape();
  const std::int64_t depth = std::int64_t(s[1]) / (block * block), h = s[2], w = s[3];
  if (mode == "DCR")
    return reshape(transpose(reshape(x, {s[0], block, block, depth, h, w}), {0, 3, 4, 1, 5, 2}),
                   {s[0], depth, h * block, w * block});
  return reshape(transpose(reshape(x, {s[0], depth, block, block, h, w}), {0, 1, 4, 2, 5, 3}),
                 {s[0], depth, h * block, w * block});
}
Results spaceToDepth(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t block = call.integer("blocksize");
  if (x.rank() != 4 || block < 1)
    call.refuse("an input of rank " + std::to_string(x.rank()) + ", blocksize " + std::to_string(block));
  const Shape s = x.shape();
  const std::int64_t c = s[1], h = std::int64_t(s[2]) / block, w = std::int64_t(s[3]) / block;
  return reshape(transpose(reshape(x, {s[0], c, h, block, w, block}), {0, 3, 5, 1, 2, 4}),
                 {s[0], c * block * block, h, w});
}

Results trilu(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t k = call.has(1) ? call.integer(1) : 0;
  return call.flag("upper", true) ? triu(x, k) : tril(x, k);
}

Results reverseSequence(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t batch = call.integer("batch_axis", 1), time = call.integer("time_axis", 0);
  if ((batch != 0 || time != 1) && (batch != 1 || time != 0))
    call.refuse("batch_axis " + std::to_string(batch) + " and time_axis " + std::to_string(time) +
                ", expected 0 and 1 in some order");
  const Tensor lengths = expand_dims(cast(call.tensor(1), DType::Int64), {time});
  const Shape shape = x.shape();
  const Tensor at = iota({shape[0], shape[1]}, DType::Int64, time);
  Tensor places = where(at < lengths, lengths - 1 - at, at);
  for (std::int64_t i = 2; i < x.rank(); ++i)
    places = expand_dims(places, {i});
  return take_along_axis(x, broadcast_to(places, shape), time);
}

Results centerCropPad(const Call &call) {
  Tensor x = call.tensor(0);
  std::vector<std::int64_t> axes = call.axes(call.integers("axes"), x.rank());
  const std::vector<std::int64_t> sizes = call.integers(1);
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  if (axes.size() != sizes.size())
    call.refuse("there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t size = x.shape()[static_cast<std::size_t>(axes[i])], wanted = sizes[i];
    if (wanted < size) {
      x = sliceAlong(x, axes[i], (size - wanted) / 2, (size - wanted) / 2 + wanted);
    } else if (wanted > size) {
      std::vector<std::int64_t> low(static_cast<std::size_t>(x.rank()), 0), high = low;
      low[static_cast<std::size_t>(axes[i])] = (wanted - size) / 2;
      high[static_cast<std::size_t>(axes[i])] = wanted - size - (wanted - size) / 2;
      x = pad(x, low, high, x.dtype() == DType::Bool ? Number(false) : Number(0));
    }
  }
  return x;
}

constexpr Operator kTable[] = {
    {"CenterCropPad", {18}, 2, 2, 0b10, centerCropPad},
    {"Concat", {4, 11, 13}, 1, kAnyNumber, 0, concatenated},
    {"DepthToSpace", {1, 11, 13}, 1, 1, 0, depthToSpace},
    {"Pad", {2, 11, 13, 18, 19, 21, 23, 24, 25}, 1, 4, 0b1010, padded},
    {"ReverseSequence", {10}, 2, 2, 0, reverseSequence},
    {"Slice", {1, 10, 11, 13}, 1, 5, 0b11110, sliced},
    {"SpaceToDepth", {1, 13}, 1, 1, 0, spaceToDepth},
    {"Split", {2, 11, 13, 18}, 1, 2, 0b10, splitUp},
    {"Tile", {6, 13}, 2, 2, 0b10, tiled},
    {"Transpose", {1, 13, 21, 23, 24, 25}, 1, 1, 0, transposed},
    {"Trilu", {14}, 1, 2, 0b10, trilu},
};

} // namespace

Table movementOperators() { return kTable; }

} // namespace calque::onnx
