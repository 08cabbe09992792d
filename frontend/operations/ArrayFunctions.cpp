// Public functions on shapes and subscripts. Each applies several operations.
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/transforms.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/core/Trace.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/Concatenation.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace calque {

using detail::dimensionOf;
using detail::typeOf;
using schema::OpId;

namespace {

bool differ(const Size &a, const Size &b) { return a.is_known() && b.is_known() && a != b; }

} // namespace

Tensor size(const Operand &x, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "size");
  Tensor value = x.toTensor();
  schema::Attribute attribute = axis;
  return detail::apply(OpId::SizeOf, {&value, 1}, {&attribute, 1}, where);
}

Tensor size(const Operand &x) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "size");
  return Operand(x.toTensor().size(), where).toTensor(DType::Int64);
}

Tensor stack(const std::vector<Tensor> &tensors, std::int64_t axis, SourceLocation where) {
  where = detail::userLine(where);
  CallSite library(where, "stack");
  if (tensors.empty())
    throw ValueError("stack: needs at least one tensor", where);
  const Tensor &first = tensors[0];
  const Shape shape = first.shape();
  std::vector<Tensor> expanded;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Shape other = tensors[i].shape();
    if (tensors[i].dtype() != first.dtype())
      throw DTypeError(absl::StrCat("stack: tensor ", i, " is ", typeOf(tensors[i]), " and tensor 0 ", typeOf(first),
                                    "; there is no implicit conversion, use cast"),
                       where);
    if (!std::equal(shape.begin(), shape.end(), other.begin(), other.end(),
                    [](const Size &a, const Size &b) { return !differ(a, b); }))
      throw ShapeError(absl::StrCat("stack: tensor ", i, " is ", typeOf(tensors[i]), " and tensor 0 ", typeOf(first),
                                    "; their shapes must be equal"),
                       where);
    expanded.push_back(expand_dims(Operand(tensors[i], where), {axis}));
  }
  return detail::concatenated(std::move(expanded), axis, where);
}

Tensor detail::concatenated(std::vector<Tensor> parts, std::int64_t axis, SourceLocation where) {
  constexpr std::size_t kMost = 64;
  while (parts.size() > kMost && !currentTrace() && eagerTapesActive()) {
    std::vector<Tensor> blocks;
    for (auto from = parts.begin(); from != parts.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(kMost, parts.end() - from);
      blocks.push_back(concat({from, to}, axis, where));
      from = to;
    }
    parts = std::move(blocks);
  }
  return concat(parts, axis, where);
}

std::vector<Tensor> detail::splitEvenly(const Operand &x, std::int64_t parts, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "split");
  Tensor value = x.toTensor();
  Shape shape = value.shape();
  const std::size_t dimension = dimensionOf(axis, value.rank(), "split", where);
  if (parts < 1)
    throw ValueError(absl::StrCat("split: the number of parts is at least 1, unlike ", parts), where);
  const Size whole = shape[dimension];
  if (!whole.is_known()) { // the call computes the size of a part
    shape[dimension] = parts;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, -1);
    return unstack(Operand(reshape(Operand(value, where), shape), where), static_cast<std::int64_t>(dimension));
  }
  if (whole % parts != 0)
    throw ValueError(absl::StrCat("split: ", typeOf(value), " has no ", parts, " parts of one size along axis ", axis,
                                  "; a list of sizes makes others"),
                     where);
  return split(Operand(value, where), std::vector<std::int64_t>(static_cast<std::size_t>(parts), whole / parts), axis);
}

std::vector<Tensor> unstack(const Operand &x, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "unstack");
  Tensor value = x.toTensor();
  Shape shape = value.shape();
  std::size_t dimension = dimensionOf(axis, value.rank(), "unstack", where);
  if (!shape[dimension].is_known())
    throw StateError(absl::StrCat("unstack: the size of axis ", axis, " of ", typeOf(value),
                                  " is the number of results, and is not known while tracing"),
                     where);
  std::vector<std::int64_t> ones(static_cast<std::size_t>(std::int64_t(shape[dimension])), 1);
  if (ones.empty())
    return {};
  std::vector<Tensor> parts = split(Operand(value, where), ones, axis);
  for (Tensor &part : parts)
    part = squeeze(Operand(part, where), {axis});
  return parts;
}

Tensor squeeze(const Operand &x, const AxisList &axisList) {
  const std::vector<std::int64_t> &axes = axisList.numbers();
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "squeeze");
  Tensor value = x.toTensor();
  const Shape shape = value.shape();
  std::vector<bool> isLeftOut(shape.size());
  for (std::int64_t axis : axes) {
    std::size_t dimension = dimensionOf(axis, value.rank(), "squeeze", where);
    if (isLeftOut[dimension])
      throw ValueError(absl::StrCat("squeeze: axis ", axis, " is given twice"), where);
    if (differ(shape[dimension], 1))
      throw ShapeError(absl::StrCat("squeeze: axis ", axis, " of ", typeOf(value), " has size ", shape[dimension].str(),
                                    "; only a dimension of size 1 can be left out"),
                       where);
    isLeftOut[dimension] = true;
  }
  for (std::size_t i = 0; axes.empty() && i < shape.size(); ++i) {
    if (!shape[i].is_known())
      throw StateError(absl::StrCat("squeeze: whether dimension ", i, " of ", typeOf(value),
                                    " is 1 is not known while tracing; name the axes"),
                       where);
    isLeftOut[i] = shape[i] == 1;
  }
  Shape kept;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!isLeftOut[i])
      kept.push_back(shape[i]);
  return reshape(Operand(value, where), kept);
}

Tensor tile(const Operand &x, std::vector<std::int64_t> repeats) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "tile");
  Tensor value = x.toTensor();
  for (std::int64_t count : repeats)
    if (count < 0)
      throw ValueError(absl::StrCat("tile: repeats must not be negative: ", schema::shapeString(repeats)), where);
  // The shorter of the two lists is filled up with ones in front.
  const Shape shape = value.shape();
  const std::size_t rank = std::max(shape.size(), repeats.size());
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  std::vector<std::int64_t> counts; // the axes of new dimensions; each comes before the dimension that it repeats
  Shape repeated;
  for (std::size_t i = 0; i < rank; ++i) {
    counts.push_back(static_cast<std::int64_t>(repeated.size()));
    repeated.push_back(repeats[i]);
    if (i >= rank - shape.size())
      repeated.push_back(shape[i - (rank - shape.size())]);
  }
  if (counts.empty())
    return value;
  value = broadcast_to(Operand(expand_dims(Operand(value, where), counts), where), repeated);
  for (std::size_t i = rank - shape.size(); i < rank; ++i) {
    schema::Attribute axis = static_cast<std::int64_t>(i);
    value = detail::apply(OpId::MergeDims, {&value, 1}, {&axis, 1}, where);
  }
  return value;
}

Tensor clip(const Operand &x, const Operand &low, const Operand &high) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "clip");
  // Numbers among the operands get the type of the tensors.
  const Operand *operands[] = {&x, &low, &high};
  std::vector<Tensor> tensors = detail::adoptNumbers(OpId::Maximum, operands);
  Tensor notBelow = maximum(Operand(tensors[0], where), Operand(tensors[1], where));
  return minimum(Operand(notBelow, where), Operand(tensors[2], where));
}

Tensor round(const Operand &x, std::int64_t decimals) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "round");
  const Tensor value = x.toTensor();
  if (decimals == 0 || !is_floating(value.dtype()))
    return round(Operand(value, where)); // round() refuses other types
  if (is_half(value.dtype())) // which has no numbers large enough to multiply by
    return cast(round(cast(Operand(value, where), DType::Float32), decimals), value.dtype());
  const std::int64_t largest = value.dtype() == DType::Float32 ? std::numeric_limits<float>::max_exponent10
                                                               : std::numeric_limits<double>::max_exponent10;
  if (decimals < -largest || decimals > largest)
    throw ValueError(absl::StrCat("round: ", decimals, " decimals of ", name_of(value.dtype()), " are not between ",
                                  -largest, " and ", largest),
                     where);
  double power = 0;
  (void)absl::SimpleAtod(absl::StrCat("1e", std::abs(decimals)), &power); // correctly rounded, unlike pow
  if (decimals < 0)
    return round(Operand(value / power, where)) * power;
  const Tensor scaled = value * power;
  return calque::where(isfinite(scaled), round(Operand(scaled, where)) / power, stop_gradient(value));
}

Tensor sort(const Operand &x, std::int64_t axis, bool descending) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "sort");
  Tensor value = x.toTensor(), order = argsort(Operand(value, where), axis, descending);
  return take_along_axis(Operand(value, where), Operand(order, where), axis);
}

TopK top_k(const Operand &x, std::int64_t k, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "top_k");
  Tensor value = x.toTensor();
  const Shape shape = value.shape();
  std::size_t dimension = dimensionOf(axis, value.rank(), "top_k", where);
  if (k < 0)
    throw ValueError(absl::StrCat("top_k: the number of elements must not be negative: ", k), where);
  if (shape[dimension].is_known() && shape[dimension] < k)
    throw ShapeError(absl::StrCat("top_k: ", schema::counted(static_cast<std::size_t>(k), "element"),
                                  " asked for, and axis ", axis, " of ", typeOf(value), " has ",
                                  shape[dimension].str()),
                     where);
  Tensor order = argsort(Operand(value, where), axis, true);
  Tensor indices = split(Operand(order, where), {k, -1}, axis)[0];
  return {take_along_axis(Operand(value, where), Operand(indices, where), axis), indices};
}

//===-- Histogram -------------------------------------------------------------------------------===//

Histogram histogram(const Operand &x, std::int64_t bins) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "histogram");
  Tensor all = x.toTensor();
  const DType dtype = all.dtype();
  if (!is_floating(dtype))
    throw DTypeError(absl::StrCat("histogram: takes ", names_of({DTypeKind::Float}), ", not ", typeOf(all),
                                  "; use cast(x, DType::Float32)"),
                     where);
  if (bins < 1)
    throw ValueError(absl::StrCat("histogram: the number of bins must be positive, not ", bins), where);
  constexpr std::int64_t kMostBins = std::int64_t(1) << 48; // more than any memory holds
  if (bins > kMostBins)
    throw ValueError(absl::StrCat("histogram: the number of bins must be at most ", kMostBins, ", not ", bins), where);
  // Operators take no line. Here all operations have the call's line.
  auto at = [&](const auto &value) { return Operand(value, where); };
  auto choose = [&](const Tensor &condition, const auto &x, const auto &y) {
    return calque::where(at(condition), at(x), at(y));
  };
  all = reshape(at(stop_gradient(at(all))), {-1});
  assert_true(at(calque::all(at(isfinite(at(all))))), "histogram: x must be finite");
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor low = min(at(concat({all, full({1}, at(infinity), dtype)}, 0, where))),
         high = max(at(concat({all, full({1}, at(-infinity), dtype)}, 0, where)));
  Tensor isNone = greater(at(low), at(high)), isOne = equal(at(low), at(high));
  low = choose(isNone, 0, choose(isOne, low - 0.5, low));
  high = choose(isNone, 1, choose(isOne, high + 0.5, high));
  // If high - low overflows, the computation takes half of both, and counts each edge from the nearer end. Otherwise
  // the edges are those of numpy.linspace, with its roundings.
  Tensor isLong = logical_not(at(isfinite(at(high - low))));
  Tensor scale = cast(at(choose(isLong, 0.5, 1)), dtype);
  Tensor length = high * scale - low * scale, step = length / bins / scale;
  Tensor k = cast(at(iota({bins + 1}, DType::Int64, 0, where)), dtype);
  Tensor isNearLow = logical_or(at(logical_not(at(isLong))), at(less_equal(at(k * 2), at(bins))));
  Tensor edges = choose(isNearLow, k * step + low, high - (bins - k) * step);
  edges = choose(equal(at(k), at(bins)), high, edges);
  Tensor from = slice(at(edges), {0}, {bins}), to = slice(at(edges), {1}, {bins + 1});
  assert_true(at(calque::all(at(less(at(from), at(to))))),
              absl::StrCat("histogram: there are too few numbers between the elements of x for ",
                           schema::counted(static_cast<std::size_t>(bins), "bin")));
  Tensor index = cast(at(floor(at((all * scale - low * scale) / length * bins))), DType::Int64);
  index = clip(at(index), at(0), at(bins - 1));
  // The quotient is rounded, so that the index may be one off. The edges decide.
  Tensor isBelow = less(at(all), at(gather(at(from), at(index)))),
         isBeyond =
             logical_and(at(greater_equal(at(all), at(gather(at(to), at(index))))), at(less(at(index), at(bins - 1))));
  index = index - cast(at(isBelow), DType::Int64) + cast(at(isBeyond), DType::Int64);
  Tensor each = cast(at(equal(at(index), at(index))), DType::Int64);
  return {scatter_add(at(zeros({bins}, DType::Int64, where)), at(index), at(each)), edges};
}

//===-- Scatter ---------------------------------------------------------------------------------===//

namespace {
// Scatters along an axis. The operation writes slices of the first dimension, so another axis is moved there, and moved
// back afterwards.
Tensor scatterAlong(OpId op, const char *function, const Operand &x, const Operand &indices, const Operand &updates,
                    std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, function);
  const Operand *operands[] = {&x, &indices, &updates};
  std::vector<Tensor> tensors = detail::adoptNumbers(op, operands);
  if (!is_integer(tensors[1].dtype()))
    throw DTypeError(absl::StrCat(function, ": indices must be integers, not ", typeOf(tensors[1])), where);
  const auto first = static_cast<std::int64_t>(dimensionOf(axis, tensors[0].rank(), function, where));
  // Moves `count` dimensions from one place to another.
  auto moved = [&](const Tensor &value, std::int64_t from, std::int64_t count, std::int64_t to) {
    std::vector<std::int64_t> order, block;
    for (std::int64_t i = 0; i < value.rank(); ++i)
      (i >= from && i < from + count ? block : order).push_back(i);
    order.insert(order.begin() + std::min<std::ptrdiff_t>(to, std::ssize(order)), block.begin(), block.end());
    return from == to || count == 0 ? value : transpose(Operand(value, where), order);
  };
  const std::int64_t indexRank = tensors[1].rank();
  if (tensors[2].rank() != tensors[0].rank() - 1 + indexRank)
    throw ShapeError(absl::StrCat(function, ": the updates ", typeOf(tensors[2]), " must have rank ",
                                  tensors[0].rank() - 1 + indexRank, ", that of gather's result for ",
                                  typeOf(tensors[0]), " and the indices ", typeOf(tensors[1])),
                     where);
  tensors[0] = moved(tensors[0], first, 1, 0);
  tensors[1] = expand_dims(Operand(tensors[1], where), {-1});
  tensors[2] = moved(tensors[2], first, indexRank, 0);
  return moved(detail::apply(op, tensors, {}, where), 0, 1, first);
}
} // namespace

Tensor scatter_set(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdSet, "scatter_set", x, indices, updates, axis);
}

Tensor scatter_add(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdAdd, "scatter_add", x, indices, updates, axis);
}

Tensor scatter_max(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdMax, "scatter_max", x, indices, updates, axis);
}

//===-- Einstein's sums -------------------------------------------------------------------------===//

namespace {

// A tensor whose dimensions have letters.
struct Lettered {
  Tensor tensor;
  std::string letters;
};

class Einsum {
public:
  Einsum(const std::string &equation, const std::vector<Tensor> &tensors, SourceLocation where)
      : equation(equation), where(where) {
    std::string text;
    for (char c : equation)
      if (c != ' ')
        text += c;
    std::size_t arrow = text.find("->");
    std::string inputs = text.substr(0, arrow);
    std::vector<std::string> lists{""};
    for (char c : inputs)
      c == ',' ? lists.push_back("") : lists.back().push_back(c);
    for (const std::string &list : lists)
      requireLetters(list);
    if (lists.size() != tensors.size())
      throw ValueError(absl::StrCat("einsum: '", equation, "' has subscripts for ",
                                    schema::counted(lists.size(), "tensor"), ", and given is ", tensors.size()),
                       where);
    output = arrow == std::string::npos ? kDots + lettersOfOne(inputs) : text.substr(arrow + 2);
    requireLetters(output);
    const std::string others = spellDots(lists, tensors);
    if (std::size_t at = output.find(kDots); at != std::string::npos)
      output.replace(at, kDots.size(), others);
    else if (!others.empty())
      throw ValueError(absl::StrCat("einsum: the result of '", equation, "' lacks '...', which stands for ",
                                    schema::counted(others.size(), "dimension"), " of the tensors"),
                       where);
    inputs = absl::StrCat(inputs, others);
    for (char letter : output)
      if (inputs.find(letter) == std::string::npos || std::count(output.begin(), output.end(), letter) > 1)
        throw ValueError(absl::StrCat("einsum: '", std::string(1, letter), "' must stand once behind the arrow of '",
                                      equation, "', and before it too"),
                         where);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      terms.push_back({tensors[i], lists[i]});
    broadcastOnes();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      requireSizes(terms[i].letters, terms[i].tensor, i);
  }

  Tensor result() {
    Lettered all = reduced(diagonal(terms[0]), 1);
    for (std::size_t next = 1; next < terms.size(); ++next)
      all = reduced(product(all, reduced(diagonal(terms[next]), next + 1, &all.letters), next + 1), next + 1);
    std::vector<std::int64_t> permutation;
    bool isInOrder = true;
    for (char letter : output) {
      permutation.push_back(static_cast<std::int64_t>(all.letters.find(letter)));
      isInOrder &= permutation.back() + 1 == static_cast<std::int64_t>(permutation.size());
    }
    return isInOrder ? all.tensor : transpose(Operand(all.tensor, where), permutation);
  }

private:
  // Without an arrow, the result has the letters that occur once, in the order of the alphabet.
  static std::string lettersOfOne(const std::string &inputs) {
    std::map<char, int> counts;
    for (char c : inputs)
      counts[c] += c != ',' && c != '.';
    std::string letters;
    for (auto [letter, count] : counts)
      if (count == 1)
        letters += letter;
    return letters;
  }

  inline static const std::string kDots = "...";

  void requireLetters(std::string list) const {
    if (std::size_t dots = list.find(kDots); dots != std::string::npos)
      list.erase(dots, kDots.size());
    for (char c : list)
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
        throw ValueError(absl::StrCat("einsum: subscripts are letters and one '...', with commas between tensors and "
                                      "'->' before the result; '",
                                      equation, "' has '", std::string(1, c), "'"),
                         where);
  }

  // Replaces the dots of each list by characters that are no letters, one for each dimension that the dots stand for.
  // Dimensions are matched from the last one on, so that the same dimension has the same character in all lists.
  // Returns all such characters.
  static std::string spellDots(std::vector<std::string> &lists, const std::vector<Tensor> &tensors) {
    std::vector<std::size_t> counts;
    std::size_t most = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto rank = static_cast<std::size_t>(tensors[i].rank()), letters = lists[i].size() - kDots.size();
      bool hasDots = lists[i].find(kDots) != std::string::npos;
      counts.push_back(hasDots && rank > letters ? rank - letters : 0);
      most = std::max(most, counts.back());
    }
    std::string others;
    for (std::size_t i = 0; i < most; ++i)
      others += static_cast<char>('\1' + i);
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (std::size_t at = lists[i].find(kDots); at != std::string::npos)
        lists[i].replace(at, kDots.size(), others.substr(most - counts[i]));
    return others;
  }

  // Leaves out dimensions of size 1 where another tensor has another size for the same letter.
  void broadcastOnes() {
    std::set<char> letters;
    for (const Lettered &term : terms)
      letters.insert(term.letters.begin(), term.letters.end());
    for (char other : letters) {
      auto sizeIn = [&](const Lettered &term) -> std::optional<Size> {
        std::size_t at = term.letters.find(other);
        const Shape shape = term.tensor.shape();
        return at < shape.size() ? std::optional(shape[at]) : std::nullopt;
      };
      auto isOne = [](const Size &size) { return size.is_known() && size == 1; };
      bool isRepeated = std::any_of(terms.begin(), terms.end(), [&](const Lettered &term) {
        std::optional<Size> size = sizeIn(term);
        return size && !isOne(*size);
      });
      for (Lettered &term : terms)
        if (std::optional<Size> size = sizeIn(term); size && isOne(*size) && isRepeated) {
          std::size_t at = term.letters.find(other);
          term.tensor = squeeze(Operand(term.tensor, where), static_cast<std::int64_t>(at));
          term.letters.erase(at, 1);
        }
    }
  }

  void requireSizes(const std::string &list, const Tensor &tensor, std::size_t number) {
    const Shape shape = tensor.shape();
    // Dots stand for as many dimensions as are left. So a list with dots differs only if it has too many letters.
    if (list.size() != shape.size())
      throw ShapeError(absl::StrCat("einsum: '", list, "' has ", schema::counted(list.size(), "subscript"),
                                    ", and tensor ", number, " is ", typeOf(tensor)),
                       where);
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto [known, isNew] = sizes.try_emplace(list[i], shape[i]);
      if (differ(known->second, shape[i]) && !absl::ascii_isalpha(static_cast<unsigned char>(list[i])))
        throw ShapeError(absl::StrCat("einsum: a dimension that '...' stands for is ", known->second.str(), " and ",
                                      shape[i].str(), " in '", equation, "'; tensor ", number, " is ", typeOf(tensor)),
                         where);
      if (differ(known->second, shape[i]))
        throw ShapeError(absl::StrCat("einsum: the letter '", std::string(1, list[i]), "' is ", known->second.str(),
                                      " and ", shape[i].str(), " in '", equation, "'; tensor ", number, " is ",
                                      typeOf(tensor)),
                         where);
      if (shape[i].is_known())
        known->second = shape[i];
    }
  }

  bool isNeeded(char letter, std::size_t next, const std::string *other) const {
    auto has = [&](const std::string &letters) { return letters.find(letter) != std::string::npos; };
    return has(output) || (other && has(*other)) ||
           std::any_of(terms.begin() + static_cast<std::ptrdiff_t>(next), terms.end(),
                       [&](const Lettered &term) { return has(term.letters); });
  }

  // Sums over the dimensions whose letters are needed neither by the result, nor by the tensors from `next` on, nor by
  // `other`.
  Lettered reduced(Lettered term, std::size_t next, const std::string *other = nullptr) const {
    std::vector<std::int64_t> axes;
    std::string kept;
    for (std::size_t i = 0; i < term.letters.size(); ++i)
      if (isNeeded(term.letters[i], next, other))
        kept += term.letters[i];
      else
        axes.push_back(static_cast<std::int64_t>(i));
    return axes.empty() ? term : Lettered{sum(Operand(term.tensor, where), axes), kept};
  }

  // If a tensor has a letter twice, takes the elements at which both indices are the same: sets the others to zero, and
  // sums over one of the two dimensions.
  Lettered diagonal(Lettered term) const {
    for (std::size_t i = 0; i < term.letters.size(); ++i)
      for (std::size_t j = term.letters.size(); --j > i;) {
        if (term.letters[j] != term.letters[i])
          continue;
        Shape rows(term.letters.size(), 1), columns = rows;
        const Shape shape = term.tensor.shape();
        if (!shape[i].is_known() || !shape[j].is_known())
          throw StateError(absl::StrCat("einsum: '", std::string(1, term.letters[i]),
                                        "' stands twice in one tensor of '", equation,
                                        "', whose size must be known; it is ", typeOf(term.tensor)),
                           where);
        rows[i] = shape[i];
        columns[j] = shape[j];
        Tensor isSame = iota(rows, DType::Int64, static_cast<std::int64_t>(i)) ==
                        iota(columns, DType::Int64, static_cast<std::int64_t>(j));
        Tensor kept = calque::where(Operand(isSame, where), Operand(term.tensor, where), 0);
        term = {sum(Operand(kept, where), {static_cast<std::int64_t>(j)}),
                term.letters.substr(0, j) + term.letters.substr(j + 1)};
      }
    return term;
  }

  // A letter of both operands is a batch dimension if the result or the tensors from `next` on need it. Otherwise the
  // product sums over it.
  Lettered product(const Lettered &a, const Lettered &b, std::size_t next) const {
    std::vector<std::int64_t> batchA, batchB, summedA, summedB;
    std::string batch, freeA, freeB = b.letters;
    for (std::size_t i = 0; i < a.letters.size(); ++i) {
      std::size_t at = b.letters.find(a.letters[i]);
      if (at == std::string::npos) {
        freeA += a.letters[i];
        continue;
      }
      freeB.erase(freeB.find(a.letters[i]), 1);
      bool isBatch = isNeeded(a.letters[i], next, nullptr);
      (isBatch ? batchA : summedA).push_back(static_cast<std::int64_t>(i));
      (isBatch ? batchB : summedB).push_back(static_cast<std::int64_t>(at));
      if (isBatch)
        batch += a.letters[i];
    }
    return {contract(Operand(a.tensor, where), Operand(b.tensor, where), batchA, batchB, summedA, summedB),
            batch + freeA + freeB};
  }

  const std::string &equation;
  const SourceLocation where;
  std::string output;
  std::vector<Lettered> terms;
  std::map<char, Size> sizes;
};

} // namespace

Tensor einsum(const std::string &equation, const std::vector<Tensor> &tensors, SourceLocation where) {
  where = detail::userLine(where);
  CallSite library(where, "einsum");
  return Einsum(equation, tensors, where).result();
}

} // namespace calque
