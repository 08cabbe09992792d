// Reductions, running sums and products, and what orders elements.
#include "stablehlo/export/Emit.h"

#include "calque/calque.h"

#include <algorithm>
#include <cmath>

namespace calque::stablehlo {

namespace {

// The value with which an operation begins: nothing that it would change.
Written neutral(Emit &e, std::string_view operation, DType dtype) {
  const double infinity = INFINITY;
  if (operation == "add" || operation == "or")
    return e.number(0.0, dtype);
  if (operation == "multiply" || operation == "and")
    return e.number(1.0, dtype);
  // A conversion of infinity saturates.
  return e.number(operation == "maximum" ? -infinity : infinity, dtype);
}

// Reduced dimensions come back as ones of size 1.
Written kept(Emit &e, const Written &x, const Written &reduced, const Ints &axes) {
  Dims dims = Emit::dims(reduced);
  Dims around = Emit::dims(x);
  std::size_t next = 0;
  for (std::size_t i = 0; i < around.size(); ++i)
    around[i] = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end() ? Dim{1} : dims[next++];
  return e.reshape(reduced, around);
}

Written reduced(Emit &e, const char *operation, const Written &x, const Ints &axes, bool keeps) {
  const Written made = e.reduce(operation, x, neutral(e, operation, *x.type.dtype), axes);
  return keeps ? kept(e, x, made, axes) : made;
}

// Of integers of 8 and 16 bits the result has more.
template <const char *Op> Values reduction(Emit &e) {
  const Ints axes = e.axes("axes", e.rank(), true);
  return {reduced(e, Op, e.convert(e.in(), *e.result().dtype), axes, e.flag("keepdims"))};
}
constexpr char kSum[] = "add", kMax[] = "maximum", kMin[] = "minimum", kProd[] = "multiply", kAny[] = "or",
               kAll[] = "and";

// The number of elements over axes, as a scalar of a type.
Written count(Emit &e, const Ints &axes, DType dtype) {
  std::int64_t known = 1;
  Values unknown;
  for (std::int64_t axis : axes) {
    const Dim dim = e.dims(0)[static_cast<std::size_t>(axis)];
    if (dim.known == kUnknownSize)
      unknown.push_back(e.convert(e.sizeOf(dim), DType::Int64));
    else
      known *= dim.known;
  }
  if (unknown.empty())
    return e.number(ProgramNumber(known), dtype);
  Written size = e.number(ProgramNumber(known), DType::Int64);
  for (const Written &each : unknown)
    size = e.same("multiply", {size, each});
  return e.convert(size, dtype);
}

Values mean(Emit &e) {
  const Ints axes = e.axes("axes", e.rank(), true);
  // Sums of many halves are those of float32.
  const DType dtype = *e.result().dtype, taken = is_half(dtype) ? DType::Float32 : dtype;
  const Written sum = reduced(e, "add", e.convert(e.in(), taken), axes, e.flag("keepdims"));
  const Written size = e.broadcast(count(e, axes, taken), {}, Emit::dims(sum));
  return {e.convert(e.same("divide", {sum, size}), dtype)};
}

// The largest element over axes for each element of x, 0 where it is infinite: what exponents may be shifted by.
Written shifted(Emit &e, const Written &x, const Ints &axes, Written &largest) {
  largest = reduced(e, "maximum", x, axes, true);
  const Written isFinite = e.line("is_finite", {largest}, "", {DType::Bool, largest.type.sizes});
  const Written shift = e.select(isFinite, largest, e.numberLike(0, largest));
  return e.broadcast(shift, Emit::dims(x));
}

Values logSumExp(Emit &e) {
  const DType dtype = e.dtype(), taken = is_half(dtype) ? DType::Float32 : dtype;
  const Written x = e.convert(e.in(), taken);
  const Ints axes = e.axes("axes", e.rank(), true);
  Written largest;
  const Written shift = shifted(e, x, axes, largest);
  const Written powers = e.same("exponential", {e.same("subtract", {x, shift})});
  const Written log = e.same("log", {reduced(e, "add", powers, axes, true)});
  const Written isFinite = e.line("is_finite", {largest}, "", {DType::Bool, largest.type.sizes});
  Written made = e.same("add", {log, e.select(isFinite, largest, e.numberLike(0, largest))});
  if (!e.flag("keepdims")) {
    Dims dims;
    for (std::int64_t i = 0; i < e.rank(); ++i)
      if (std::ranges::find(axes, i) == axes.end())
        dims.push_back(Emit::dims(made)[static_cast<std::size_t>(i)]);
    made = e.reshape(made, dims);
  }
  return {e.convert(made, dtype)};
}

Values softmax(Emit &e, bool isLog) {
  const DType dtype = e.dtype(), taken = is_half(dtype) ? DType::Float32 : dtype;
  const Written x = e.convert(e.in(), taken);
  const Ints axes{e.axis("axis", e.rank())};
  const Written largest = e.broadcast(reduced(e, "maximum", x, axes, true), Emit::dims(x));
  const Written rest = e.same("subtract", {x, largest}), powers = e.same("exponential", {rest});
  const Written sum = reduced(e, "add", powers, axes, true);
  const Written made = isLog ? e.same("subtract", {rest, e.broadcast(e.same("log", {sum}), Emit::dims(x))})
                             : e.same("divide", {powers, e.broadcast(sum, Emit::dims(x))});
  return {e.convert(made, dtype)};
}

// The first place whose element is the largest or smallest, where NaN is: the smallest number of those places.
template <const char *Op> Values place(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  const DType dtype = e.dtype();
  const Written x = e.in();
  const Dims dims = Emit::dims(x);
  Written isThere = e.compare("EQ", x, e.broadcast(reduced(e, Op, x, {axis}, true), dims));
  if (is_floating(dtype))
    isThere = e.same("or", {isThere, e.compare("NE", x, x)});
  const Written places = e.iota(dims, axis, DType::Int64);
  const Written none = e.numberLike(static_cast<double>(std::int64_t(1) << 62), DType::Int64, x);
  return {reduced(e, "minimum", e.select(isThere, places, none), {axis}, false)};
}

Values sumLike(Emit &e) {
  const ProgramType &x = e.type(), &like = e.type(1);
  const std::size_t more = x.sizes.size() - like.sizes.size();
  Ints summed;
  for (std::size_t i = 0; i < x.sizes.size(); ++i)
    if (i < more || (like.sizes[i - more] == 1 && x.sizes[i] != 1))
      summed.push_back(static_cast<std::int64_t>(i));
  if (summed.empty())
    return {e.in()};
  return {e.reshape(e.reduce("add", e.in(), e.number(0.0, e.dtype()), summed), e.dims(1))};
}

// x moved by some places along an axis, with a value in the places that become free.
Written moved(Emit &e, const Written &x, std::int64_t axis, std::int64_t by, double value) {
  const std::size_t rank = x.type.sizes.size();
  Ints low(rank, 0), high(rank, 0);
  low[static_cast<std::size_t>(axis)] = by;
  high[static_cast<std::size_t>(axis)] = -by;
  return e.pad(x, e.number(value, *x.type.dtype), low, high, Ints(rank, 0));
}

std::int64_t sizeAlong(Emit &e, std::int64_t axis) {
  const std::int64_t size = e.type().sizes[static_cast<std::size_t>(axis)];
  if (size == kUnknownSize)
    e.requireKnown(e.type());
  return size;
}

// In log2(n) rounds, each of which combines the windows of the last one (Hillis and Steele, Data parallel algorithms,
// 1986).
template <const char *Op> Values running(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank()), sign = e.flag("reverse") ? -1 : 1, n = sizeAlong(e, axis);
  const double none = std::string_view(Op) == "add" ? 0 : 1;
  Written x = e.convert(e.in(), *e.result().dtype);
  if (e.flag("exclusive"))
    x = moved(e, x, axis, sign, none);
  for (std::int64_t width = 1; width < n; width *= 2)
    x = e.same(Op, {x, moved(e, x, axis, sign * width, none)});
  return {x};
}

// The same for h -> factor * h + term: of two steps, one with the product of the factors.
Values linearRecurrence(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank()), sign = e.flag("reverse") ? -1 : 1, n = sizeAlong(e, axis);
  const DType dtype = e.dtype(), taken = is_half(dtype) ? DType::Float32 : dtype;
  Written factor = e.convert(e.in(0), taken), term = e.convert(e.in(1), taken);
  for (std::int64_t width = 1; width < n; width *= 2) {
    const Written before = moved(e, term, axis, sign * width, 0);
    term = e.same("add", {e.same("multiply", {factor, before}), term});
    if (2 * width < n)
      factor = e.same("multiply", {factor, moved(e, factor, axis, sign * width, 1)});
  }
  return {e.convert(term, dtype)};
}

// The same of complex numbers, given by their parts.
Values linearRecurrenceParts(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank()), sign = e.flag("reverse") ? -1 : 1, n = sizeAlong(e, axis);
  auto product = [&](const Values &a, const Values &b) {
    auto times = [&](std::size_t i, std::size_t j) { return e.same("multiply", {a[i], b[j]}); };
    const Written both = times(0, 0), turned = times(1, 1), right = times(0, 1), left = times(1, 0);
    return Values{e.same("subtract", {both, turned}), e.same("add", {right, left})};
  };
  auto before = [&](const Values &z, std::int64_t width, double none) {
    const Written re = moved(e, z[0], axis, sign * width, none), im = moved(e, z[1], axis, sign * width, 0);
    return Values{re, im};
  };
  Values factor{e.in(0), e.in(1)}, term{e.in(2), e.in(3)};
  for (std::int64_t width = 1; width < n; width *= 2) {
    const Values scaled = product(factor, before(term, width, 0));
    for (std::size_t part : {0, 1})
      term[part] = e.same("add", {scaled[part], term[part]});
    if (2 * width < n)
      factor = product(factor, before(factor, width, 1));
  }
  return term;
}

// By one key for all NaN and one for both zeros, as JAX has it: x == 0 ? 0 : x, then x != x ? NaN : x.
Values argSort(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  const DType dtype = e.dtype();
  const Written keys = dtype == DType::Bool ? e.convert(e.in(), DType::UInt8) : e.in();
  const Written places = e.iota(Emit::dims(keys), axis, DType::Int64);
  const ProgramType key{keys.type.dtype, {}}, index{DType::Int64, {}};
  const char *direction = e.flag("descending") ? "GT" : "LT";
  const std::string comparison = e.region({key, key, index, index}, [&](const Values &x) {
    if (!is_floating(dtype))
      return Values{e.compare(direction, x[0], x[1])};
    Values canonical;
    const Written zero = e.localNumber(0, dtype), nan = e.localNumber(NAN, dtype);
    for (std::size_t i = 0; i < 2; ++i) {
      const Written isZero = e.compare("EQ", x[i], zero), plain = e.select(isZero, zero, x[i]);
      canonical.push_back(e.select(e.compare("NE", x[i], x[i]), nan, plain));
    }
    return Values{e.line("compare " + std::string(direction) + ",", canonical, ", TOTALORDER", {DType::Bool, {}})};
  });
  return {e.general("sort", {keys, places}, "dimension = " + std::to_string(axis) + " : i64, is_stable = true",
                    {comparison}, {keys.type, places.type})[1]};
}

Values topIndices(Emit &e) {
  const Written order = argSort(e)[0];
  Ints limits = order.type.sizes;
  const std::size_t rank = limits.size();
  limits[static_cast<std::size_t>(e.axis("axis", e.rank()))] = e.integer("count");
  return {e.slice(order, Ints(rank, 0), limits, Ints(rank, 1))};
}

constexpr Rule kRules[] = {
    {"reduce_sum", reduction<kSum>},
    {"reduce_max", reduction<kMax>},
    {"reduce_min", reduction<kMin>},
    {"reduce_prod", reduction<kProd>},
    {"reduce_mean", mean},
    {"logsumexp", logSumExp},
    {"reduce_any", reduction<kAny>},
    {"reduce_all", reduction<kAll>},
    {"softmax", [](Emit &e) { return softmax(e, false); }},
    {"log_softmax", [](Emit &e) { return softmax(e, true); }},
    {"argmax", place<kMax>},
    {"argmin", place<kMin>},
    {"axis_size", [](Emit &e) { return Values{count(e, e.axes("axes", e.rank(), true), *e.result().dtype)}; }},
    {"sum_like", sumLike},
    {"cumsum", running<kSum>},
    {"cumprod", running<kProd>},
    {"linear_recurrence", linearRecurrence},
    {"linear_recurrence_parts", linearRecurrenceParts},
    {"argsort", argSort},
    {"top_indices", topIndices},
};

} // namespace

Rules reductionRules() { return kRules; }

} // namespace calque::stablehlo
