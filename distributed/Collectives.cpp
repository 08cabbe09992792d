// The public functions of collectives: they check what is asked, and apply operations.
#include "calque/distributed/collectives.h"
#include "Operations.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/moving.h"
#include "calque/call_site.h"
#include "calque/custom_gradient.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque::distributed {

using detail::Collective;
using detail::Kind;

namespace {

using Tensors = std::vector<Tensor>;

template <typename E> [[noreturn]] void fail(const std::string &text, SourceLocation where) {
  throw E(text, CallSite::resolve(where));
}

Tensor apply(const Collective &what, const Tensor &x, SourceLocation where) {
  return detail::operationOf(what)({x}, where)[0];
}

void checkRank(const char *function, const char *role, int rank, const Group &group, SourceLocation where) {
  if (rank < 0 || rank >= group.size(where))
    fail<ValueError>(absl::StrCat(function, ": the ", role, " is ", rank, ", and group '", group.name(where), "' has ",
                                  group.size(where), " ranks"),
                     where);
}

std::int64_t axisOf(const char *function, const Tensor &x, std::int64_t axis, SourceLocation where) {
  const auto rank = static_cast<std::int64_t>(x.shape(where).size());
  if (axis < -rank || axis >= rank)
    fail<ValueError>(absl::StrCat(function, ": axis ", axis, " is not one of ", rank), where);
  return axis < 0 ? axis + rank : axis;
}
Tensor toFront(const Tensor &x, std::int64_t axis, SourceLocation where) {
  return axis == 0 ? x : moveaxis(Operand(x, where), {axis}, {0});
}
Tensor fromFront(const Tensor &x, std::int64_t axis, SourceLocation where) {
  return axis == 0 ? x : moveaxis(Operand(x, where), {0}, {axis});
}

void checkType(const char *function, const Tensor &x, Reduction op, SourceLocation where) {
  const DType dtype = x.dtype(where);
  if (op == Reduction::Mean && !is_floating(dtype))
    fail<DTypeError>(absl::StrCat(function, ": a mean is of floating-point numbers, not of ", name_of(dtype)), where);
  if (dtype == DType::Bool && (op == Reduction::Sum || op == Reduction::Prod))
    fail<DTypeError>(
        absl::StrCat(function, ": sums and products are of numbers, not of bool; cast, or take Max for a logical or"),
        where);
}

// The elements that equal the extreme share the gradient.
Tensor pullExtreme(const Collective &what, const Tensor &x, const Tensor &extreme, const Tensor &cotangent) {
  Collective sum = what;
  sum.reduction = Reduction::Sum;
  const Operation &all = detail::operationOf(sum);
  const Tensor isExtreme = cast(x == extreme, x.dtype());
  return isExtreme / all({isExtreme})[0] * all({cotangent})[0];
}

// The product of the other ranks' elements times the gradient. A quotient by the own element would fail at 0.
Tensor pullProduct(const Collective &what, const Tensor &x, const Tensor &cotangent) {
  Collective sum = what, parts = what;
  sum.reduction = parts.reduction = Reduction::Sum;
  parts.kind = Kind::AllGather;
  const Tensor all = detail::operationOf(parts)({expand_dims(x, {0})})[0];
  Tensor others = ones(x.shape(), x.dtype());
  for (int rank = 0; rank < what.size(); ++rank)
    if (rank != what.rank())
      others = others * all[rank];
  return others * detail::operationOf(sum)({cotangent})[0];
}

// Not linear, so that the gradient is not that of the operation.
Tensor withGradient(const Collective &what, const Tensor &x, SourceLocation where) {
  const Tensor reduced = stop_gradient(apply(what, stop_gradient(x), where));
  auto pull = [&](const Tensors &cotangents) {
    return Tensors{what.reduction == Reduction::Prod ? pullProduct(what, x, cotangents[0])
                                                     : pullExtreme(what, x, reduced, cotangents[0])};
  };
  return calque::detail::withGradient("all_reduce", {x}, {reduced}, pull, where)[0];
}

// Sums and means of one or more tensors, and other reductions of one.
Tensors allReduce(const Tensors &tensors, const ReduceOptions &options, SourceLocation where) {
  for (const Tensor &x : tensors)
    checkType("all_reduce", x, options.op, where);
  const bool isMean = options.op == Reduction::Mean;
  if (options.reproducible && (!(isMean || options.op == Reduction::Sum) || !is_floating(tensors[0].dtype(where))))
    fail<ValueError>("all_reduce: reproducible is an option of sums and means of floats; others are so anyway", where);
  const Collective what{.kind = Kind::AllReduce,
                        .group = options.group.state(where),
                        .reduction = isMean ? Reduction::Sum : options.op,
                        .isReproducible = options.reproducible,
                        .tensors = tensors.size()};
  if (what.reduction != Reduction::Sum && is_floating(tensors[0].dtype(where)))
    return {withGradient(what, tensors[0], where)};
  Tensors results = detail::operationOf(what)(tensors, where);
  if (isMean)
    for (Tensor &x : results)
      x = x / Operand(static_cast<float>(what.size()), where);
  return results;
}

} // namespace

Tensor all_reduce(const Tensor &x, ReduceOptions options, SourceLocation where) {
  CallSite site(where, "all_reduce");
  return allReduce({x}, options, where)[0];
}

std::vector<Tensor> all_reduce(const std::vector<Tensor> &tensors, ReduceOptions options, SourceLocation where) {
  CallSite site(where, "all_reduce");
  if (tensors.empty())
    return {};
  if (options.op != Reduction::Sum && options.op != Reduction::Mean && tensors.size() > 1)
    fail<ValueError>("all_reduce: several tensors are summed or averaged; reduce each for another reduction", where);
  for (const Tensor &x : tensors)
    if (x.dtype(where) != tensors[0].dtype(where))
      fail<DTypeError>(absl::StrCat("all_reduce: tensors of one message have one element type, not ",
                                    name_of(tensors[0].dtype(where)), " and ", name_of(x.dtype(where))),
                       where);
  return allReduce(tensors, options, where);
}

Tensor all_gather(const Tensor &x, AxisOptions options, SourceLocation where) {
  CallSite site(where, "all_gather");
  const Collective what{.kind = Kind::AllGather, .group = options.group.state(where)};
  if (x.shape(where).empty() && options.axis == 0)
    return apply(what, reshape(Operand(x, where), {1}), where);
  const std::int64_t axis = axisOf("all_gather", x, options.axis, where);
  return fromFront(apply(what, toFront(x, axis, where), where), axis, where);
}

Tensor reduce_scatter(const Tensor &x, AxisOptions options, SourceLocation where) {
  CallSite site(where, "reduce_scatter");
  checkType("reduce_scatter", x, Reduction::Sum, where);
  const std::int64_t axis = axisOf("reduce_scatter", x, options.axis, where);
  const Collective what{.kind = Kind::ReduceScatter, .group = options.group.state(where)};
  return fromFront(apply(what, toFront(x, axis, where), where), axis, where);
}

namespace {
Tensor rooted(Kind kind, const char *function, const Tensor &x, const RootOptions &options, SourceLocation where) {
  CallSite site(where, function);
  checkRank(function, "root", options.root, options.group, where);
  if (kind == Kind::Reduce)
    checkType(function, x, Reduction::Sum, where);
  return apply({.kind = kind, .group = options.group.state(where), .peer = options.root}, x, where);
}
} // namespace
Tensor broadcast(const Tensor &x, RootOptions options, SourceLocation where) {
  return rooted(Kind::Broadcast, "broadcast", x, options, where);
}
Tensor reduce(const Tensor &x, RootOptions options, SourceLocation where) {
  return rooted(Kind::Reduce, "reduce", x, options, where);
}
Tensor gather(const Tensor &x, RootOptions options, SourceLocation where) {
  return rooted(Kind::Gather, "gather", x, options, where);
}
Tensor scatter(const Tensor &x, RootOptions options, SourceLocation where) {
  return rooted(Kind::Scatter, "scatter", x, options, where);
}

Tensor all_to_all(const Tensor &x, AllToAllOptions options, SourceLocation where) {
  CallSite site(where, "all_to_all");
  const std::int64_t split = axisOf("all_to_all", x, options.split_axis, where),
                     joined = axisOf("all_to_all", x, options.concat_axis, where);
  const Collective what{.kind = Kind::AllToAll, .group = options.group.state(where)};
  const Tensor parts = apply(what, toFront(x, split, where), where);
  if (joined == split)
    return fromFront(parts, split, where);
  // Part of each rank: [ranks, own, ...], whose first axis goes before the joined one and is merged with it.
  Shape shape = parts.shape(where);
  const std::int64_t ranks = what.size(), own = std::int64_t(shape[0]) / ranks;
  shape[0] = own;
  Shape apart = shape;
  apart.insert(apart.begin(), ranks);
  Tensor each = reshape(Operand(parts, where), apart);
  each = moveaxis(Operand(each, where), {1}, {split + 1});
  each = moveaxis(Operand(each, where), {0}, {joined});
  Shape result = x.shape(where);
  result[static_cast<std::size_t>(split)] = own;
  result[static_cast<std::size_t>(joined)] = std::int64_t(result[static_cast<std::size_t>(joined)]) * ranks;
  return reshape(Operand(each, where), result);
}

namespace {
Tensor permuted(const char *function, const Tensor &x, std::vector<std::pair<int, int>> pairs, const Group &group,
                SourceLocation where) {
  std::ranges::sort(pairs);
  std::vector<bool> isSource(static_cast<std::size_t>(group.size(where))), isDestination = isSource;
  for (auto [source, destination] : pairs) {
    checkRank(function, "source", source, group, where);
    checkRank(function, "destination", destination, group, where);
    for (auto [rank, role, seen] :
         {std::tuple(source, "source", &isSource), std::tuple(destination, "destination", &isDestination)}) {
      if ((*seen)[static_cast<std::size_t>(rank)])
        fail<ValueError>(absl::StrCat(function, ": rank ", rank, " stands twice as a ", role), where);
      (*seen)[static_cast<std::size_t>(rank)] = true;
    }
  }
  return apply({.kind = Kind::Permute, .group = group.state(where), .pairs = std::move(pairs)}, x, where);
}

std::vector<std::pair<int, int>> pairsOfShift(int by, bool isPeriodic, int ranks) {
  std::vector<std::pair<int, int>> pairs;
  for (int source = 0; source < ranks; ++source) {
    const int destination = source + by % ranks;
    if (isPeriodic)
      pairs.emplace_back(source, (destination + ranks) % ranks);
    else if (source + by >= 0 && source + by < ranks)
      pairs.emplace_back(source, source + by);
  }
  return pairs;
}
} // namespace

Tensor permute(const Tensor &x, const std::vector<std::pair<int, int>> &pairs, const Group &group,
               SourceLocation where) {
  CallSite site(where, "permute");
  return permuted("permute", x, pairs, group, where);
}

Tensor shift(const Tensor &x, int by, ShiftOptions options, SourceLocation where) {
  CallSite site(where, "shift");
  return permuted("shift", x, pairsOfShift(by, options.periodic, options.group.size(where)), options.group, where);
}

Tensor halo_exchange(const Tensor &x, HaloOptions options, SourceLocation where) {
  CallSite site(where, "halo_exchange");
  const std::int64_t axis = axisOf("halo_exchange", x, options.axis, where),
                     size = x.shape(where)[static_cast<std::size_t>(axis)];
  if (options.width < 1 || options.width > size)
    fail<ValueError>(absl::StrCat("halo_exchange: the width is ", options.width, ", and must be from 1 to ", size,
                                  ", the size of the axis"),
                     where);
  auto slices = [&](std::int64_t begin) {
    std::vector<std::int64_t> begins(x.shape(where).size(), 0), ends;
    for (std::int64_t each : x.shape(where))
      ends.push_back(each);
    begins[static_cast<std::size_t>(axis)] = begin;
    ends[static_cast<std::size_t>(axis)] = begin + options.width;
    return slice(Operand(x, where), begins, ends);
  };
  auto shifted = [&](const Tensor &part, int by) {
    return permuted("halo_exchange", part, pairsOfShift(by, options.periodic, options.group.size(where)), options.group,
                    where);
  };
  const Tensor before = shifted(slices(size - options.width), 1), behind = shifted(slices(0), -1);
  return concat({before, x, behind}, axis, where);
}

namespace {
Collective message(const char *function, Kind kind, const char *role, int peer, const MessageOptions &options,
                   SourceLocation where) {
  checkRank(function, role, peer, options.group, where);
  if (peer == options.group.rank(where))
    fail<ValueError>(absl::StrCat(function, ": a rank that sends to itself would wait for itself"), where);
  if (options.tag < 0 || options.tag > 32'766)
    fail<ValueError>(absl::StrCat(function, ": the tag is ", options.tag, ", and must be from 0 to 32766"), where);
  return {.kind = kind, .group = options.group.state(where), .peer = peer, .tag = options.tag};
}
} // namespace

void send(const Tensor &x, int destination, MessageOptions options, SourceLocation where) {
  CallSite site(where, "send");
  detail::operationOf(message("send", Kind::Send, "destination", destination, options, where))({x}, where);
}

Tensor recv(const TensorSpec<> &spec, int source, MessageOptions options, SourceLocation where) {
  CallSite site(where, "recv");
  if (!spec.has_rank() || !spec.shape().is_known())
    fail<ShapeError>(absl::StrCat("recv: the sizes of a message must be known, not ", spec.str()), where);
  Collective what = message("recv", Kind::Recv, "source", source, options, where);
  what.received = TensorSpec<>(spec.dtype(), spec.shape());
  return detail::operationOf(what)({}, where)[0];
}

void barrier(const Group &group, SourceLocation where) {
  CallSite site(where, "barrier");
  detail::operationOf({.kind = Kind::Barrier, .group = group.state(where)})({}, where);
}

} // namespace calque::distributed
