// Convolutions and pooling of images with their channels last, as they are here.
#include "stablehlo/export/Emit.h"

#include "calque/dtype.h"

#include <algorithm>
#include <cmath>

namespace calque::stablehlo {

namespace {

// How a window slides over images of a type.
struct Sliding {
  Ints strides, dilations, window, low, high;

  Sliding(Emit &e, const ProgramType &images, Ints sizes, Ints spread)
      : strides(e.list("strides")), dilations(std::move(spread)), window(std::move(sizes)) {
    const std::size_t rank = strides.size();
    if (dilations.empty())
      dilations.assign(rank, 1);
    low.assign(rank, 0);
    high.assign(rank, 0);
    const Ints &pads = e.list("pads");
    for (std::size_t i = 0; i < pads.size(); ++i)
      (i % 2 ? high : low)[i / 2] = pads[i];
    if (e.attribute<std::string>("padding") != "same")
      return;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t size = images.sizes[i + 1], reach = (window[i] - 1) * dilations[i] + 1;
      if (size == kUnknownSize && strides[i] != 1)
        e.refuse("the padding 'same' with a stride depends on a size that only the call knows, " + images.str() +
                 ": give sizes in the types of get_concrete_function");
      // With a stride of 1 it is the reach alone that counts.
      const std::int64_t output = size == kUnknownSize ? 1 : size ? (size - 1) / strides[i] + 1 : 0;
      const std::int64_t taken = size == kUnknownSize ? 1 : size;
      const std::int64_t padding = std::max<std::int64_t>((output - 1) * strides[i] - taken + reach, 0);
      low[i] = padding / 2;
      high[i] = padding - padding / 2;
    }
  }
};

Ints windowOf(const ProgramType &filter) { return {filter.sizes.begin(), filter.sizes.end() - 2}; }
Ints ones(std::size_t count) { return Ints(count, 1); }

// "[b, 0, 1, f]", by names of the first, the dimensions between, and the last ones.
std::string dimensions(const char *first, std::size_t count, const char *second, const char *last) {
  std::string text = "[";
  auto add = [&](const std::string &name) { text += (text.size() > 1 ? ", " : "") + name; };
  if (*first)
    add(first);
  for (std::size_t i = 0; i < count; ++i)
    add(std::to_string(i));
  if (*second)
    add(second);
  add(last);
  return text + "]";
}

struct Convolution {
  std::string numbers;
  Ints strides, low, high, lhsDilation, rhsDilation;
  bool isReversed = false;
  std::int64_t groups = 1, batchGroups = 1;

  Written write(Emit &e, const Written &x, const Written &y, const ProgramType &result) const {
    std::string pads, reverse;
    for (std::size_t i = 0; i < low.size(); ++i) {
      pads += (i ? ", " : "") + listed({low[i], high[i]});
      reverse += (i ? ", " : "") + std::string(isReversed ? "true" : "false");
    }
    std::string window = "window = {stride = " + listed(strides) + ", pad = [" + pads + "]";
    if (lhsDilation != ones(low.size()))
      window += ", lhs_dilate = " + listed(lhsDilation);
    if (rhsDilation != ones(low.size()))
      window += ", rhs_dilate = " + listed(rhsDilation);
    if (isReversed)
      window += ", reverse = [" + reverse + "]";
    // The form of convolutions has their operands in brackets.
    std::string name = "convolution(" + x.name + ", " + y.name + ") dim_numbers = " + numbers + ", " + window +
                       "} {batch_group_count = " + std::to_string(batchGroups) +
                       " : i64, feature_group_count = " + std::to_string(groups) + " : i64";
    if (is_floating(*x.type.dtype) && !is_half(*x.type.dtype))
      name += ", precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";
    return e.bracketed(name + "}", {x, y}, result);
  }
};

std::string ofImages(std::size_t rank) { return dimensions("b", rank, "", "f"); }

Values conv(Emit &e) {
  const Sliding sliding(e, e.type(), windowOf(e.type(1)), e.list("dilations"));
  const std::size_t rank = sliding.strides.size();
  Convolution made{ofImages(rank) + "x" + dimensions("", rank, "i", "o") + "->" + ofImages(rank),
                   sliding.strides,
                   sliding.low,
                   sliding.high,
                   ones(rank),
                   sliding.dilations};
  made.groups = e.integer("groups");
  return {made.write(e, e.in(0), e.in(1), e.result())};
}

void requireSizes(Emit &e, const ProgramType &type) {
  for (std::size_t i = 1; i + 1 < type.sizes.size(); ++i)
    if (type.sizes[i] == kUnknownSize)
      e.requireKnown(type);
}

// Filters [...,C/groups,F] as [...,F/groups,C], whose groups change places with their channels.
Written swapped(Emit &e, const Written &filter, std::int64_t groups) {
  const std::size_t rank = filter.type.sizes.size() - 2;
  if (groups == 1) {
    Ints order;
    for (std::size_t i = 0; i < rank; ++i)
      order.push_back(static_cast<std::int64_t>(i));
    order.push_back(static_cast<std::int64_t>(rank) + 1);
    order.push_back(static_cast<std::int64_t>(rank));
    return e.transpose(filter, order);
  }
  const std::int64_t channels = filter.type.sizes[rank], filters = filter.type.sizes[rank + 1];
  Ints split(filter.type.sizes.begin(), filter.type.sizes.begin() + static_cast<std::ptrdiff_t>(rank)), order;
  Ints merged = split;
  for (std::size_t i = 0; i < rank; ++i)
    order.push_back(static_cast<std::int64_t>(i));
  split.insert(split.end(), {channels, groups, filters / groups});
  const auto n = static_cast<std::int64_t>(rank);
  order.insert(order.end(), {n + 2, n + 1, n});
  merged.insert(merged.end(), {filters / groups, groups * channels});
  return e.reshape(e.transpose(e.reshape(filter, split), order), merged);
}

// The cotangent with zeros between its elements, and the filters turned around.
Values convInputGrad(Emit &e) {
  const Sliding sliding(e, e.type(2), windowOf(e.type(1)), e.list("dilations"));
  requireSizes(e, e.type(2));
  requireSizes(e, e.type(0));
  const std::size_t rank = sliding.strides.size();
  Convolution made{ofImages(rank) + "x" + dimensions("", rank, "i", "o") + "->" + ofImages(rank),
                   ones(rank),
                   {},
                   {},
                   sliding.strides,
                   sliding.dilations};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t reach = (sliding.window[i] - 1) * sliding.dilations[i] + 1;
    const std::int64_t spread = (e.type(0).sizes[i + 1] - 1) * sliding.strides[i] + 1;
    made.low.push_back(reach - 1 - sliding.low[i]);
    made.high.push_back(e.type(2).sizes[i + 1] - 1 + reach - spread - made.low[i]);
  }
  made.isReversed = true;
  made.groups = e.integer("groups");
  return {made.write(e, e.in(0), swapped(e, e.in(1), made.groups), e.result())};
}

// A convolution of the images with the cotangent, in which examples take the place of channels.
Values convFilterGrad(Emit &e) {
  const Sliding sliding(e, e.type(), windowOf(e.type(2)), e.list("dilations"));
  requireSizes(e, e.type(0));
  requireSizes(e, e.type(1));
  const std::size_t rank = sliding.strides.size();
  Convolution made{dimensions("f", rank, "", "b") + "x" + dimensions("i", rank, "", "o") + "->" +
                       dimensions("", rank, "b", "f"),
                   sliding.dilations,
                   sliding.low,
                   {},
                   ones(rank),
                   sliding.strides};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = e.type(0).sizes[i + 1];
    const std::int64_t spread = (e.type(1).sizes[i + 1] - 1) * sliding.strides[i] + 1;
    const std::int64_t reach = (sliding.window[i] - 1) * sliding.dilations[i] + 1;
    // What strides leave behind the last window is not seen.
    made.high.push_back(spread + reach - 1 - size - sliding.low[i]);
  }
  made.batchGroups = e.integer("groups");
  return {made.write(e, e.in(0), e.in(1), e.result())};
}

//===-- Pooling -----------------------------------------------------------------------------------===//

Sliding pooling(Emit &e, const ProgramType &images) { return {e, images, e.list("window"), {}}; }

std::string padding(const Ints &low, const Ints &high) {
  std::string pads;
  for (std::size_t i = 0; i < low.size(); ++i)
    pads += (i ? ", " : "") + listed({low[i], high[i]});
  return "padding = dense<[" + pads + "]> : tensor<" + std::to_string(low.size()) + "x2xi64>";
}
// A list for the dimensions of images, in which that of the examples and that of the channels have a number of their
// own.
Ints around(const Ints &numbers, std::int64_t other) {
  Ints all{other};
  all.insert(all.end(), numbers.begin(), numbers.end());
  all.push_back(other);
  return all;
}
std::string windows(const Sliding &sliding) {
  return padding(around(sliding.low, 0), around(sliding.high, 0)) +
         ", window_dimensions = " + arrayOf(around(sliding.window, 1)) +
         ", window_strides = " + arrayOf(around(sliding.strides, 1));
}

Values pool(Emit &e, const char *operation, double initial) {
  const Written first = e.number(initial, e.dtype());
  return e.general("reduce_window", {e.in(0), first}, windows(pooling(e, e.type())), {e.reducer(operation, e.dtype())},
                   {e.result()});
}

Values maxPoolGrad(Emit &e) {
  const ProgramType scalar{e.dtype(), {}};
  const std::string selects =
      e.region({scalar, scalar}, [&](const Values &x) { return Values{e.compare("GE", x[0], x[1])}; });
  return e.general("select_and_scatter", {e.in(0), e.in(1), e.number(0.0, e.dtype())}, windows(pooling(e, e.type())),
                   {selects, e.reducer("add", e.dtype())}, {e.result()});
}

// Pairs of an element and of what is picked there, of which the first with the largest element stays.
Values maxPoolPick(Emit &e) {
  const ProgramType scalar{e.dtype(), {}};
  const std::string body = e.region({scalar, scalar, scalar, scalar}, [&](const Values &x) {
    const Written stays = e.compare("GE", x[0], x[2]);
    return Values{e.select(stays, x[0], x[2]), e.select(stays, x[1], x[3])};
  });
  const Values initial{e.number(-INFINITY, e.dtype()), e.number(0.0, e.dtype())};
  return {e.general("reduce_window", {e.in(0), e.in(1), initial[0], initial[1]}, windows(pooling(e, e.type())), {body},
                    {e.result(), e.result()})[1]};
}

// The cotangent with zeros between its elements, summed over the windows that see an element.
Values sumPoolGrad(Emit &e) {
  const ProgramType &images = e.type(1), &given = e.type(0);
  requireSizes(e, images);
  const Sliding sliding = pooling(e, images);
  Ints low, high;
  for (std::size_t i = 0; i < sliding.window.size(); ++i) {
    const std::int64_t spread = (given.sizes[i + 1] - 1) * sliding.strides[i] + 1;
    low.push_back(sliding.window[i] - 1 - sliding.low[i]);
    high.push_back(images.sizes[i + 1] + sliding.window[i] - 1 - spread - low[i]);
  }
  return e.general("reduce_window", {e.in(0), e.number(0.0, e.dtype())},
                   "base_dilations = " + arrayOf(around(sliding.strides, 1)) + ", " +
                       padding(around(low, 0), around(high, 0)) +
                       ", window_dimensions = " + arrayOf(around(sliding.window, 1)),
                   {e.reducer("add", e.dtype())}, {e.result()});
}

constexpr Rule kRules[] = {
    {"conv", conv},
    {"conv_input_grad", convInputGrad},
    {"conv_filter_grad", convFilterGrad},
    {"max_pool", [](Emit &e) { return pool(e, "maximum", -INFINITY); }},
    {"max_pool_grad", maxPoolGrad},
    {"max_pool_pick", maxPoolPick},
    {"sum_pool", [](Emit &e) { return pool(e, "add", 0); }},
    {"sum_pool_grad", sumPoolGrad},
};

} // namespace

Rules windowRules() { return kRules; }

} // namespace calque::stablehlo
