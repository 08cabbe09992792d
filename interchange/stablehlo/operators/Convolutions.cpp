// Convolutions with any order of dimensions, dilations of both operands and groups of both kinds.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

// The places of a batch or output dimension, of a feature dimension, and of the dimensions of space.
struct Order {
  std::int64_t first = -1, second = -1;
  Numbers space;

  Order() = default;
  Order(const Call &call, const Numbers &order) {
    const auto rank = static_cast<std::int64_t>(order.size());
    space.assign(rank < 2 ? 0 : static_cast<std::size_t>(rank - 2), -1);
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t which = order[static_cast<std::size_t>(i)];
      if (which >= static_cast<std::int64_t>(space.size()) || which < -2)
        call.refuse("dimension " + std::to_string(which) + " of a convolution of " + std::to_string(space.size()) +
                    " dimensions");
      std::int64_t &at = which == -1 ? first : which == -2 ? second : space[static_cast<std::size_t>(which)];
      if (at >= 0)
        call.refuse("a dimension of a convolution is named twice");
      at = i;
    }
    if (rank < 2)
      call.refuse("a convolution of tensors of rank " + std::to_string(rank));
  }
};

Tensor ordered(const Tensor &x, const Numbers &order) {
  return std::ranges::is_sorted(order) ? x : transpose(x, order);
}

struct Convolution {
  const Call &call;
  Order input, kernel, output;
  Numbers strides, low, high, inputDilations, dilations, reversals;
  std::int64_t groups, batchGroups;

  Convolution(const Call &of, const Numbers &padding) : call(of) {
    if (call.has("dim_numbers")) {
      setDimensions(call.attribute("dim_numbers"));
    } else {
      const Attribute &numbers = call.attribute("dimension_numbers");
      if (numbers.kind == Attribute::Kind::List)
        setDimensions(numbers);
      else
        setFields(numbers);
    }
    const std::size_t rank = input.space.size();
    const Attribute *window = call.operation().find("window");
    auto list = [&](const char *name, const char *brief, std::int64_t otherwise, std::size_t count) {
      Numbers all(count, otherwise);
      if (call.has(name))
        all = call.integers(name);
      else if (window)
        if (const auto found = window->dictionary.find(brief); found != window->dictionary.end())
          all = call.integersOf(found->second, brief);
      call.requireCount(all, static_cast<std::int64_t>(count), name);
      return all;
    };
    strides = list("window_strides", "stride", 1, rank);
    inputDilations = list("lhs_dilation", "lhs_dilate", 1, rank);
    dilations = list("rhs_dilation", "rhs_dilate", 1, rank);
    reversals = list("window_reversal", "reverse", 0, rank);
    const Numbers pads = padding.empty() ? list("padding", "pad", 0, 2 * rank) : padding;
    call.requireCount(pads, static_cast<std::int64_t>(2 * rank), "the padding");
    for (std::size_t i = 0; i < rank; ++i) {
      low.push_back(pads[2 * i]);
      high.push_back(pads[2 * i + 1]);
      if (strides[i] < 1 || inputDilations[i] < 1 || dilations[i] < 1)
        call.refuse("a stride or a dilation that is not positive");
    }
    groups = call.integer("feature_group_count", 1);
    batchGroups = call.integer("batch_group_count", 1);
    if (groups < 1 || batchGroups < 1 || (groups > 1 && batchGroups > 1))
      call.refuse("feature_group_count is " + std::to_string(groups) + " and batch_group_count " +
                  std::to_string(batchGroups));
  }

  void setDimensions(const Attribute &numbers) {
    if (numbers.kind != Attribute::Kind::List || numbers.list.size() != 3)
      call.refuse("the dimensions of a convolution are no three lists");
    input = Order(call, call.integersOf(numbers.list[0], "dim_numbers"));
    kernel = Order(call, call.integersOf(numbers.list[1], "dim_numbers"));
    output = Order(call, call.integersOf(numbers.list[2], "dim_numbers"));
    if (kernel.space.size() != input.space.size() || output.space.size() != input.space.size() ||
        static_cast<std::int64_t>(input.space.size()) + 2 != call.rank(0) || call.rank(1) != call.rank(0))
      call.refuse("its dimensions don't fit operands of the ranks " + std::to_string(call.rank(0)) + " and " +
                  std::to_string(call.rank(1)));
  }
  // The fields of the generic form's earlier spelling.
  void setFields(const Attribute &numbers) {
    if (numbers.kind != Attribute::Kind::Dictionary)
      call.refuse("attribute 'dimension_numbers' is '" + numbers.text + "'");
    auto order = [&](const char *batch, const char *feature, const char *space) {
      auto field = [&](const char *name) {
        const auto found = numbers.dictionary.find(name);
        return found == numbers.dictionary.end() ? Numbers() : call.integersOf(found->second, name);
      };
      const Numbers b = field(batch), f = field(feature), s = field(space);
      Numbers places(s.size() + 2, -3);
      auto set = [&](std::int64_t at, std::int64_t what) {
        if (at < 0 || at >= static_cast<std::int64_t>(places.size()))
          call.refuse("dimension " + std::to_string(at) + " of a convolution");
        places[static_cast<std::size_t>(at)] = what;
      };
      set(b.empty() ? 0 : b[0], -1);
      set(f.empty() ? 0 : f[0], -2);
      for (std::size_t i = 0; i < s.size(); ++i)
        set(s[i], static_cast<std::int64_t>(i));
      return Order(call, places);
    };
    input = order("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions");
    kernel = order("kernel_output_feature_dimension", "kernel_input_feature_dimension", "kernel_spatial_dimensions");
    output = order("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions");
  }

  Tensor run() {
    const DType to = call.dtype();
    // Images [N, ..., C] and filters [..., C, F].
    Numbers order{input.first}, filterOrder = kernel.space;
    order.insert(order.end(), input.space.begin(), input.space.end());
    order.push_back(input.second);
    filterOrder.push_back(kernel.second);
    filterOrder.push_back(kernel.first);
    Tensor x = as(ordered(call.tensor(0), order), to), w = as(ordered(call.tensor(1), filterOrder), to);
    const std::size_t rank = input.space.size();
    Numbers axes;
    for (std::size_t i = 0; i < rank; ++i)
      if (reversals[i] != 0)
        axes.push_back(static_cast<std::int64_t>(i));
    if (!axes.empty())
      w = reverse(w, axes);
    if (batchGroups > 1)
      x = batchToFeatures(x);
    Tensor y = convolved(x, w, std::max(groups, batchGroups));
    Numbers back(rank + 2);
    back[static_cast<std::size_t>(output.first)] = 0;
    for (std::size_t i = 0; i < rank; ++i)
      back[static_cast<std::size_t>(output.space[i])] = static_cast<std::int64_t>(i) + 1;
    back[static_cast<std::size_t>(output.second)] = static_cast<std::int64_t>(rank) + 1;
    return ordered(y, back);
  }

  // Group g of the batch is convolved with group g of the filters: the batch's groups become groups of channels.
  Tensor batchToFeatures(const Tensor &x) const {
    const Shape shape = x.shape();
    if (!shape[0].is_known() || shape[0] % batchGroups != 0)
      call.refuse("a batch of " + shape[0].str() + " in " + std::to_string(batchGroups) + " groups");
    Shape parted{Size(batchGroups), Size(shape[0] / batchGroups)}, merged{Size(shape[0] / batchGroups)};
    Numbers order;
    for (std::size_t i = 1; i < shape.size(); ++i) {
      parted.push_back(shape[i]);
      merged.push_back(shape[i]);
      order.push_back(static_cast<std::int64_t>(i));
    }
    merged.back() = Size(merged.back() * batchGroups);
    order.insert(order.end(), {0, static_cast<std::int64_t>(shape.size())});
    return reshape(transpose(reshape(x, parted), order), merged);
  }

  Tensor convolved(Tensor x, const Tensor &w, std::int64_t count) const {
    const std::size_t rank = input.space.size();
    const Shape filter = w.shape();
    bool isPlain = rank >= 1 && rank <= 3 && is_floating(x.dtype());
    for (std::size_t i = 0; i < rank; ++i)
      isPlain = isPlain && low[i] >= 0 && high[i] >= 0 && inputDilations[i] == 1 && filter[i] > 0;
    for (std::size_t i = rank; i < filter.size(); ++i)
      isPlain = isPlain && filter[i].is_known() && filter[i] > 0;
    const Shape images = x.shape();
    const bool fits = images.back().is_known() && filter[rank].is_known() && images.back() == filter[rank] * count &&
                      filter[rank + 1].is_known() && filter[rank + 1] % count == 0;
    if (!fits)
      call.refuse("images with " + images.back().str() + " channels and filters of shape " + filter.str() + " in " +
                  std::to_string(count) + " groups");
    Numbers before = low, behind = high;
    if (!isPlain) {
      Numbers front{0}, back{0}, interior{0};
      for (std::size_t i = 0; i < rank; ++i) {
        front.push_back(low[i]);
        back.push_back(high[i]);
        interior.push_back(inputDilations[i] - 1);
      }
      for (Numbers *each : {&front, &back, &interior})
        each->push_back(0);
      x = padOf(call, x, scalarOf(0, x.dtype()), front, back, interior);
      before.assign(rank, 0);
      behind.assign(rank, 0);
    }
    const bool isCalques = rank >= 1 && rank <= 3 && is_floating(x.dtype());
    bool isEmpty = false;
    Shape result{x.shape()[0]};
    for (std::size_t i = 0; i < rank; ++i) {
      const Size size = x.shape()[i + 1];
      if (!size.is_known()) {
        result.push_back(kDynamic);
        continue;
      }
      const std::int64_t n = size + before[i] + behind[i], reach = (filter[i] - 1) * dilations[i] + 1;
      result.push_back(Size(filter[i] == 0 || n < reach ? 0 : (n - reach) / strides[i] + 1));
      isEmpty = isEmpty || filter[i] == 0 || n < reach || size == 0;
    }
    result.push_back(filter.back());
    if (isEmpty || images.back() == 0)
      return zeros(result, x.dtype());
    if (isCalques) {
      Padding::Pairs pairs;
      for (std::size_t i = 0; i < rank; ++i)
        pairs.emplace_back(before[i], behind[i]);
      return conv(x, w, {.strides = strides, .padding = pairs, .dilations = dilations, .groups = count});
    }
    return byPlaces(x, w, result, count);
  }

  // The sum of a product for each place of the window: of integers and complex numbers, and of more than three
  // dimensions.
  Tensor byPlaces(const Tensor &x, const Tensor &w, const Shape &result, std::int64_t count) const {
    const std::size_t rank = input.space.size();
    const Shape images = x.shape(), filter = w.shape();
    if (!images.is_known() || !result.is_known())
      call.refuse("images of unknown sizes");
    Numbers place(rank, 0);
    Tensor total;
    const std::int64_t channels = filter[rank], features = filter[rank + 1] / count;
    for (;;) {
      Numbers starts{0}, limits{std::int64_t(images[0])}, steps{1};
      Numbers from, to;
      for (std::size_t i = 0; i < rank; ++i) {
        starts.push_back(place[i] * dilations[i]);
        limits.push_back(starts.back() + (result[i + 1] - 1) * strides[i] + 1);
        steps.push_back(strides[i]);
        from.push_back(place[i]);
        to.push_back(place[i] + 1);
      }
      starts.push_back(0);
      limits.push_back(std::int64_t(images.back()));
      steps.push_back(1);
      from.insert(from.end(), {0, 0});
      to.insert(to.end(), {channels, std::int64_t(filter.back())});
      Shape grouped = result;
      grouped.back() = Size(count);
      grouped.push_back(Size(channels));
      const Tensor part = reshape(sliceOf(x, starts, limits, steps), grouped);
      const Tensor here =
          reshape(sliceOf(w, from, to, Numbers(rank + 2, 1)), {Size(channels), Size(count), Size(features)});
      const auto last = static_cast<std::int64_t>(rank) + 2;
      // [group, N, ..., features]
      const Tensor term = contract(part, here, {last - 1}, {1}, {last}, {0});
      total = total.defined() ? total + term : term;
      std::size_t i = rank;
      for (; i-- > 0;) {
        if (++place[i] < filter[i])
          break;
        place[i] = 0;
      }
      if (i == SIZE_MAX)
        break;
    }
    return reshape(moveaxis(total, 0, static_cast<std::int64_t>(rank) + 1), result);
  }
};

Results convolution(const Call &call) { return Convolution(call, {}).run(); }
Results dynamicConvolution(const Call &call) { return Convolution(call, call.known(2)).run(); }

constexpr Operator kTable[] = {
    {"stablehlo.convolution", 2, 2, convolution},
    {"stablehlo.dynamic_conv", 3, 3, dynamicConvolution},
};

} // namespace

Table convolutionOperators() { return kTable; }

} // namespace calque::stablehlo
