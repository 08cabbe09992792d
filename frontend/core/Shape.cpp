#include "calque/shape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <ostream>

namespace calque {
namespace detail {

void retain(const SizeOrigin *origin) noexcept { origin->references.fetch_add(1, std::memory_order_relaxed); }
void release(const SizeOrigin *origin) noexcept {
  if (origin->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete origin;
}

void throwIsNoSize(bool isNegative, SourceLocation where) {
  throw ValueError(absl::StrCat("a number that is too ", isNegative ? "small" : "large", " is given as a size"),
                   userLine(where));
}

Shape shapeOf(const std::shared_ptr<const TensorImpl> &x, SourceLocation where) {
  Shape shape;
  for (std::size_t i = 0; i < x->type->dims.size(); ++i) {
    std::int64_t size = x->type->dims[i];
    shape.push_back(size == schema::kOpenSize ? Size::of(new SizeOrigin(x, static_cast<std::int64_t>(i), where))
                                              : Size(size));
  }
  return shape;
}

Shape shapeOf(const schema::Dims &dims) {
  Shape shape;
  for (std::int64_t size : dims)
    shape.push_back(size == schema::kOpenSize ? kDynamic : Size(size));
  return shape;
}

schema::Dims knownDims(const Shape &shape, SourceLocation where) {
  for (const Size &size : shape)
    if (!size.is_known() && !size.origin())
      throw ValueError("kDynamic is the size of a tensor; it stands for any size in a TensorSpec only",
                       userLine(where));
  return shape;
}

schema::Dims openDims(const Shape &shape) {
  schema::Dims dims;
  dims.reserve(shape.size());
  for (const Size &size : shape)
    dims.push_back(size.is_known() ? std::int64_t(size) : schema::kOpenSize);
  return dims;
}

namespace {
// "argument 0, float32[?,3]," or "float32[?,3], made at model.cpp:7,".
std::string describe(const TensorImpl &x) {
  std::string type = x.type->str();
  const std::shared_ptr<Trace> &trace = currentTrace();
  if (trace && trace->id == x.trace)
    for (std::size_t i = 0; i < trace->numArguments && i < trace->recording.parameters.size(); ++i)
      if (trace->recording.parameters[i] == x.value && !trace->argumentNames[i].empty())
        return absl::StrCat(trace->argumentNames[i], ", ", type, ",");
  return x.where.line ? absl::StrCat(type, ", made at ", lineOf(x.where).str(), ",") : type;
}

// The tensor that a size is of, and the dimension.
std::pair<Tensor, std::int64_t> sourceOf(const SizeOrigin &origin, SourceLocation where) {
  Tensor x(origin.tensor);
  if (origin.axis >= 0)
    return {x, origin.axis};
  schema::Attribute flat = schema::Dims{-1};
  return {apply(schema::OpId::Reshape, {&x, 1}, {&flat, 1}, where), 0};
}

std::string nameOf(const SizeOrigin &origin) {
  std::string what = origin.axis < 0 ? "the number of elements" : absl::StrCat("dimension ", origin.axis);
  return absl::StrCat(what, " of ", describe(*origin.tensor));
}

// The same at the end of a clause, where no comma closes the apposition.
std::string nameAtEnd(const SizeOrigin &origin) {
  std::string name = nameOf(origin);
  if (name.ends_with(','))
    name.pop_back();
  return name;
}

bool isSame(const SizeOrigin &a, const SizeOrigin &b) { return a.tensor == b.tensor && a.axis == b.axis; }

// C++ depends on a size that is not known.
void noteAsked(const SizeOrigin &origin) {
  if (const std::shared_ptr<Trace> &trace = currentTrace())
    trace->noteSizesAsked(*origin.tensor, nameAtEnd(origin));
}
} // namespace

Tensor sizeAsTensor(const Size &size, SourceLocation where) {
  if (!size.origin())
    throw ValueError("kDynamic is used as a number; it stands for any size in a TensorSpec only", userLine(where));
  // A size is no function of the elements: no gradient passes.
  auto [x, axis] = sourceOf(*size.origin(), where);
  Tensor source = apply(schema::OpId::StopGradient, {&x, 1}, {}, where);
  schema::Attribute attribute = axis;
  return apply(schema::OpId::SizeOf, {&source, 1}, {&attribute, 1}, where);
}

std::size_t dimensionOf(std::int64_t axis, std::int64_t rank, const char *function, SourceLocation where) {
  std::int64_t normal = 0;
  if (schema::Fault fault = schema::normalizeAxis(axis, rank, normal)) {
    fault.message = absl::StrCat(function, ": ", fault.message);
    throwFault(fault, where);
  }
  return static_cast<std::size_t>(normal);
}

Tensor applyOpen(schema::OpId open, std::span<const Tensor> operands, const Shape &shape,
                 std::initializer_list<schema::Attribute> others, SourceLocation where) {
  where = userLine(where);
  std::vector<Tensor> all(operands.begin(), operands.end());
  schema::Dims dims = openDims(shape), sizes;
  std::vector<std::shared_ptr<const TensorImpl>> sources; // of all, as they were given
  for (const Tensor &operand : operands)
    sources.push_back(operand.impl());
  for (const Size &size : shape) {
    if (size.is_known())
      continue;
    if (!size.origin())
      throw ValueError("kDynamic is the size of a tensor; it stands for any size in a TensorSpec only", where);
    auto [x, axis] = sourceOf(*size.origin(), where);
    auto found = std::find(sources.begin(), sources.end(), x.impl());
    if (found == sources.end()) {
      // Operations on real numbers take sizes of real tensors. Of sizes alone no gradient is taken.
      const Tensor source = is_complex(x.impl()->type->dtype) ? apply(schema::OpId::RealPart, {&x, 1}, {}, where) : x;
      all.push_back(apply(schema::OpId::StopGradient, {&source, 1}, {}, where));
      sources.push_back(x.impl());
      found = sources.end() - 1;
    }
    sizes.push_back(found - sources.begin());
    sizes.push_back(axis);
  }
  std::vector<schema::Attribute> attributes{std::move(dims), std::move(sizes)};
  attributes.insert(attributes.end(), others.begin(), others.end());
  return apply(open, all, attributes, where);
}

} // namespace detail

std::int64_t Size::asked() const {
  if (!origin_)
    throw ValueError("kDynamic is used as a number; it stands for any size in a TensorSpec only", detail::userLine({}));
  detail::noteAsked(*origin_);
  throw StateError(absl::StrCat(detail::nameOf(*origin_), " is not known while tracing and is used as a C++ number; "
                                                          "operations on tensors take it as Operand(size), split "
                                                          "cuts parts of known sizes off, and is_known() asks"),
                   detail::userLine(origin_->where));
}

bool Size::equalUnknown(const Size &a, const Size &b) {
  bool anyIsAny = (!a.is_known() && !a.origin_) || (!b.is_known() && !b.origin_);
  if (anyIsAny)
    return a.is_known() == b.is_known();
  if (a.origin_ && b.origin_ && detail::isSame(*a.origin_, *b.origin_))
    return true;
  const detail::SizeOrigin &origin = a.origin_ ? *a.origin_ : *b.origin_;
  detail::noteAsked(origin);
  std::string other = a.origin_ && b.origin_ ? detail::nameAtEnd(*b.origin_) : (a.origin_ ? b : a).str();
  throw StateError(absl::StrCat(detail::nameOf(origin), " is not known while tracing, nor is whether it equals ", other,
                                "; is_known() and is_compatible_with() ask what is known, and Operand(size) is "
                                "compared when the function runs"),
                   detail::userLine(origin.where));
}

std::string Size::str() const { return is_known() ? absl::StrCat(value_) : "?"; }
std::ostream &operator<<(std::ostream &os, const Size &size) { return os << size.str(); }

Shape::Shape(std::initializer_list<Size> sizes) : Shape(sizes.begin(), sizes.end(), SourceLocation()) {}
Shape::Shape(std::size_t rank, const Size &size) {
  for (std::size_t i = 0; i < rank; ++i)
    push_back(size);
}
Shape::operator std::vector<std::int64_t>() const { return {begin(), end()}; }

void Shape::push_back(Size size) {
  if (rank_ < kSmall && large_.empty()) {
    small_[rank_] = std::move(size);
  } else {
    if (large_.empty())
      large_.assign(std::make_move_iterator(small_.begin()), std::make_move_iterator(small_.end()));
    large_.push_back(std::move(size));
  }
  ++rank_;
}

void Shape::pop_back() { erase(data() + checked(rank_ - 1)); }

Size *Shape::insert(const Size *at, Size size) {
  const std::ptrdiff_t position = at - data();
  push_back(std::move(size));
  std::rotate(data() + position, data() + rank_ - 1, data() + rank_);
  return data() + position;
}

Size *Shape::erase(const Size *first, const Size *last) {
  Size *to = data() + (first - data());
  Size *end = std::move(data() + (last - data()), data() + rank_, to);
  rank_ = static_cast<std::size_t>(end - data());
  if (large_.empty()) {
    for (std::size_t i = rank_; i < kSmall; ++i)
      small_[i] = 0;
  } else if (rank_) {
    large_.resize(rank_);
  } else {
    clear();
    return data();
  }
  return to;
}

bool Shape::is_compatible_with(const Shape &other) const {
  return std::equal(begin(), end(), other.begin(), other.end(), [](const Size &a, const Size &b) {
    return !a.is_known() || !b.is_known() || std::int64_t(a) == std::int64_t(b);
  });
}

bool Shape::equals(const Shape &other) const {
  if (rank_ != other.rank_)
    return false;
  for (std::size_t i = 0; i < rank_; ++i) {
    const Size &a = (*this)[i], &b = other[i];
    if (a.is_known() && b.is_known() && std::int64_t(a) != std::int64_t(b))
      return false;
  }
  for (std::size_t i = 0; i < rank_; ++i)
    if (!((*this)[i] == other[i]))
      return false;
  return true;
}

void Shape::throwNoDimension(std::size_t dimension) const {
  throw ValueError(absl::StrCat("there is no dimension ", static_cast<std::int64_t>(dimension), " in the shape ", str(),
                                ", which has ", rank_),
                   detail::userLine({}));
}

std::string Shape::str() const {
  return absl::StrCat(
      "[", absl::StrJoin(*this, ",", [](std::string *text, const Size &size) { text->append(size.str()); }), "]");
}
std::ostream &operator<<(std::ostream &os, const Shape &shape) { return os << shape.str(); }

} // namespace calque
