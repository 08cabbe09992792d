#include "calque/tensor.h"
#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/variable.h"
#include "frontend/core/Apply.h"
#include "frontend/core/AutoCast.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/KeyCache.h"
#include "frontend/core/ObjectPool.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Signature.h"
#include "frontend/core/Trace.h"
#include "frontend/native/Capture.h"
#include "frontend/native/MadeConstants.h"
#include "runtime/Print.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ostream>
#include <span>
#include <sstream>

namespace calque {
namespace detail {

static std::atomic<DType> defaultType{DType::Float32};

std::uint64_t nextId() {
  // Threads take ids in blocks, so that they seldom write to the shared counter.
  constexpr std::uint64_t block = 4096;
  static std::atomic<std::uint64_t> blocks{1};
  thread_local std::uint64_t next = 0, end = 0;
  if (next == end) {
    next = blocks.fetch_add(1, std::memory_order_relaxed) * block;
    end = next + block;
  }
  return next++;
}

const TensorImpl &implOf(const Tensor &x, SourceLocation where) {
  if (!x.defined())
    throw StateError("an empty tensor is used; it was never given a value", userLine(where));
  return *x.impl();
}

Tensor makeEager(TypeRef type, runtime::Buffer buffer, SourceLocation where) {
  auto impl = std::allocate_shared<TensorImpl>(PoolAllocator<TensorImpl>());
  impl->type = std::move(type);
  impl->buffer = std::move(buffer);
  impl->id = nextId();
  impl->where = where;
  return Tensor(std::move(impl));
}

Tensor makeConstant(TypeRef type, runtime::Buffer buffer, SourceLocation where) {
  if (MadeConstants *made = constantsOfRuns())
    buffer = made->shared(*type, std::move(buffer));
  return makeEager(std::move(type), std::move(buffer), where);
}

void requireElementType(DType dtype, SourceLocation where) {
  if (schema::Fault fault = schema::checkElementType(dtype))
    throwFault(fault, where);
}

namespace {
// Cached, because numbers become tensors often.
const TypeRef &scalarType(DType dtype) {
  constexpr std::size_t kMost = std::size(kDTypes);
  static const auto *types = [] {
    auto *made = new std::array<TypeRef, kMost>;
    for (std::size_t i = 0; i < kMost; ++i)
      (*made)[i] = std::make_shared<const schema::TensorType>(schema::TensorType{static_cast<DType>(i), {}});
    return made;
  }();
  return types->at(static_cast<std::size_t>(dtype));
}
} // namespace

TypeRef sharedType(DType dtype, std::span<const std::int64_t> dims) {
  static auto *types = new KeyCache<TypeRef>(4096); // never destroyed: other threads may still run
  absl::FixedArray<std::uint64_t, 9> key(dims.size() + 1);
  key[0] = static_cast<std::uint64_t>(dtype);
  std::copy(dims.begin(), dims.end(), key.begin() + 1);
  ReadScope scope;
  return types->findOrMake(key, [&] {
    return std::make_shared<const schema::TensorType>(schema::TensorType{dtype, {dims.begin(), dims.end()}});
  });
}

void checkShape(const schema::Dims &shape, DType dtype, SourceLocation where) {
  requireElementType(dtype, where);
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  bool empty = false;
  for (std::int64_t size : shape) {
    if (size < 0)
      throw ValueError(absl::StrCat("a shape has no negative sizes; this one is ", schema::shapeString(shape)), where);
    empty |= size == 0;
  }
  for (std::int64_t size : shape)
    if (!empty && __builtin_mul_overflow(bytes, size, &bytes))
      throw ShapeError(
          absl::StrCat("a tensor of shape ", schema::shapeString(shape), " has more bytes than can be addressed"),
          where);
}

void requireType(const std::string &message, const schema::TensorType &given, const schema::TensorType &wanted,
                 SourceLocation where) {
  if (given.dtype != wanted.dtype)
    throw DTypeError(message, where);
  if (given.dims != wanted.dims)
    throw ShapeError(message, where);
}

runtime::Buffer allocate(const schema::TensorType &type, SourceLocation where, const std::string &whose) {
  try {
    return runtime::Buffer::allocate(type.numBytes());
  } catch (const std::bad_alloc &) {
    throw MemoryError(
        absl::StrCat(whose, "there is no memory for ", type.str(), ", which has ", type.numBytes(), " bytes"), where);
  }
}

Tensor makeTensor(DType dtype, const void *data, std::size_t count, const Shape &shape, SourceLocation where) {
  schema::Dims dims = knownDims(shape, where);
  checkShape(dims, dtype, where);
  TypeRef type = dims.empty() ? scalarType(dtype)
                              : std::make_shared<const schema::TensorType>(schema::TensorType{dtype, std::move(dims)});
  if (static_cast<std::int64_t>(count) != type->numElements())
    throw ValueError(absl::StrCat("a tensor of shape ", schema::shapeString(type->dims), " has ",
                                  schema::counted(static_cast<std::size_t>(type->numElements()), "element"), ", not ",
                                  count),
                     where);
  runtime::Buffer buffer = allocate(*type, where);
  if (count)
    std::memcpy(buffer.data(), data, type->numBytes());
  return makeConstant(std::move(type), std::move(buffer), where);
}

namespace {

// The first way in to each depth gives the sizes; all others must agree.
void measure(const Literal &literal, std::size_t depth, schema::Dims &dims, SourceLocation where) {
  const bool isFirst = dims.size() == depth;
  if (!literal.isList()) {
    if (!isFirst)
      throw ValueError("tensor: a number stands beside a list of numbers", where);
    return;
  }
  const std::size_t size = literal.list().size();
  if (isFirst)
    dims.push_back(static_cast<std::int64_t>(size));
  else if (static_cast<std::size_t>(dims[depth]) != size)
    throwRagged(depth, static_cast<std::size_t>(dims[depth]), size, where);
  const bool isNested = size && literal.list().begin()->isList();
  if (!isFirst && size && isNested != (dims.size() > depth + 1))
    throw ValueError("tensor: a number stands beside a list of numbers", where);
  for (const Literal &each : literal.list()) {
    if (each.isList() != isNested)
      throw ValueError("tensor: a number stands beside a list of numbers", where);
    if (isNested)
      measure(each, depth + 1, dims, where);
  }
}

template <typename F> void forEachNumber(const Literal &literal, const F &f) {
  if (!literal.isList())
    return f(literal);
  for (const Literal &each : literal.list())
    forEachNumber(each, f);
}

// The element type of literals by themselves. A double beside floats makes all of them of its type.
DType typeOf(const Literal &literal) {
  bool anyBool = false, anyInt = false, anyWide = false, anyFloat = false, anyDouble = false, anyComplex = false;
  forEachNumber(literal, [&](const Literal &each) {
    const Number &number = each.number();
    anyBool |= number.isBool();
    anyFloat |= number.isFloat();
    anyComplex |= number.isComplex();
    anyDouble |= number.isFloat() && number.isDouble();
    anyInt |= !number.isBool() && !number.isFloat();
    anyWide |= each.isWide();
  });
  if (anyComplex)
    return promote(anyDouble ? default_dtype() : DType::Float32, DType::Complex64);
  if (anyDouble || !(anyFloat || anyInt || anyBool))
    return default_dtype();
  return anyFloat ? DType::Float32 : anyWide ? DType::Int64 : anyInt ? DType::Int32 : DType::Bool;
}

} // namespace

void throwRagged(std::size_t depth, std::size_t first, std::size_t other, SourceLocation where) {
  throw ValueError(absl::StrCat("tensor: rows of different lengths, ", first, " and ", other, ", in dimension ", depth),
                   where);
}

Tensor makeTensor(const Literal &literal, const DType *dtype, const Shape *shape, SourceLocation where) {
  schema::Dims dims;
  measure(literal, 0, dims, where);
  const DType type = dtype ? *dtype : typeOf(literal);
  requireElementType(type, where);
  std::size_t count = 0;
  forEachNumber(literal, [&](const Literal &) { ++count; });
  std::vector<std::byte> elements(count * size_of(type));
  std::byte *next = elements.data();
  forEachNumber(literal, [&](const Literal &each) {
    // Beside numbers, true is 1, as in C++.
    each.number().convert(type, next, where);
    next += size_of(type);
  });
  return makeTensor(type, elements.data(), count, shape ? *shape : Shape(dims, where), where);
}

// Checks that `bytes` are the elements of a tensor, and returns its type.
static TypeRef typeOfBytes(const char *function, DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                           SourceLocation where) {
  schema::Dims dims = knownDims(shape, where);
  checkShape(dims, dtype, where);
  auto type = std::make_shared<const schema::TensorType>(schema::TensorType{dtype, std::move(dims)});
  if (bytes.size() != type->numBytes())
    throw ValueError(absl::StrCat(function, ": ", type->str(), " has ", type->numBytes(), " bytes, not ", bytes.size()),
                     where);
  return type;
}

} // namespace detail

DType default_dtype() { return detail::defaultType.load(std::memory_order_relaxed); }
void set_default_dtype(DType dtype, SourceLocation where) {
  if (!is_floating(dtype))
    throw ValueError(absl::StrCat("set_default_dtype: takes ", names_of({DTypeKind::Float}), ", not ", name_of(dtype)),
                     where);
  detail::defaultType = dtype;
}

Tensor tensor_from_bytes(DType dtype, std::span<const std::byte> bytes, const Shape &shape, SourceLocation where) {
  detail::typeOfBytes("tensor_from_bytes", dtype, bytes, shape, where);
  return detail::makeTensor(dtype, bytes.data(), bytes.size() / size_of(dtype), shape, where);
}

Tensor tensor_from_memory(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                          std::shared_ptr<const void> owner, SourceLocation where) {
  detail::TypeRef type = detail::typeOfBytes("tensor_from_memory", dtype, bytes, shape, where);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % size_of(dtype))
    throw ValueError(absl::StrCat("tensor_from_memory: the memory is not aligned to the ", size_of(dtype),
                                  " bytes of an element of ", name_of(dtype)),
                     where);
  runtime::Buffer buffer =
      runtime::Buffer::foreign(const_cast<std::byte *>(bytes.data()), bytes.size(), [owner = std::move(owner)] {});
  return detail::makeEager(std::move(type), std::move(buffer), where);
}

Tensor::Tensor(const Variable &x, SourceLocation where) : Tensor(detail::valueAsTensor(x, where)) {}

bool Tensor::is_known(SourceLocation where) const { return !detail::implOf(*this, where).trace; }

std::span<const std::byte> Tensor::bytes(SourceLocation where) const {
  const detail::TensorImpl &impl = detail::implOf(*this, where);
  const auto *data = static_cast<const std::byte *>(rawData(impl.type->dtype, where));
  return {data, impl.type->numBytes()};
}

Tensor Tensor::operator[](const Operand &i) const {
  SourceLocation where = detail::userLine(i.where());
  CallSite library(where, "x[i]");
  const Shape shape = this->shape(where);
  if (shape.empty())
    throw ShapeError("x[i]: a scalar has no entries", where);
  if (i.isFloat())
    throw DTypeError("x[i]: an index is an integer", where);
  if (!i.isHostNumber())
    return gather(Operand(*this, where), i, 0);
  const std::int64_t index = i.toTensor(DType::Int64).item<std::int64_t>(where);
  if (!shape[0].is_known())
    return gather(Operand(*this, where),
                  index < 0 ? shape[0] + Operand(index, where) : Operand(index, where).toTensor(), 0);
  if (index >= shape[0] || index < -shape[0])
    throw IndexError(absl::StrCat("x[i]: there is no entry ", index, " in a tensor of shape ", shape.str()), where);
  return gather(Operand(*this, where), Operand(index < 0 ? index + shape[0] : index, where), 0);
}

Tensor Tensor::rows(std::int64_t start, std::int64_t end, SourceLocation where) const {
  where = detail::userLine(where);
  CallSite library(where, "rows");
  const Shape shape = this->shape(where);
  if (shape.empty())
    throw ShapeError("rows: a scalar has no entries", where);
  if (!shape[0].is_known())
    throw StateError("rows: the number of entries is not known while tracing; gather takes entries by their numbers",
                     where);
  const std::int64_t size = shape[0];
  auto place = [size](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, std::int64_t(0), size); };
  const std::int64_t first = place(start), last = std::max(first, place(end));
  if (!shape.is_known())
    return gather(Operand(*this, where), iota({last - first}, DType::Int64) + Operand(first, where), 0);
  std::vector<std::int64_t> starts(shape.size(), 0), limits = shape;
  starts[0] = first;
  limits[0] = last;
  return slice(Operand(*this, where), std::move(starts), std::move(limits));
}

std::string Tensor::repr() const {
  std::ostringstream text;
  text << *this;
  if (!defined() || impl_->trace || detail::specOf(*impl_))
    return text.str();
  return absl::StrCat("Tensor(", text.str(), ", shape=", shape().str(), ", dtype=", name_of(dtype()), ")");
}

DType Tensor::dtype(SourceLocation where) const { return detail::implOf(*this, where).type->dtype; }

Shape Tensor::shape(SourceLocation where) const {
  detail::implOf(*this, where);
  return detail::shapeOf(impl_, where);
}
std::int64_t Tensor::rank(SourceLocation where) const { return detail::implOf(*this, where).type->rank(); }
Size Tensor::size(SourceLocation where) const {
  const schema::TensorType &type = *detail::implOf(*this, where).type;
  return type.isStatic() ? Size(type.numElements()) : Size::of(new detail::SizeOrigin(impl_, -1, where));
}

const void *Tensor::rawData(DType dtype, SourceLocation where) const {
  const detail::TensorImpl &impl = detail::implOf(*this, where);
  if (impl.trace) {
    if (!detail::currentTrace() || detail::currentTrace()->id != impl.trace)
      detail::throwLeaked(impl, where);
    throw StateError(absl::StrCat("the elements of a traced tensor are not known while tracing; print() shows them "
                                  "when the function runs. The tensor is made at ",
                                  detail::lineOf(impl.where).str()),
                     where);
  }
  if (dtype != impl.type->dtype)
    throw DTypeError(absl::StrCat("the elements are ", name_of(impl.type->dtype), ", not ", name_of(dtype)), where);
  return impl.buffer.data();
}

const void *Tensor::scalarData(DType dtype, SourceLocation where) const {
  const void *data = rawData(dtype, where);
  if (impl_->type->numElements() != 1)
    throw ShapeError(absl::StrCat("item() needs a tensor of one element; this one has shape ",
                                  schema::shapeString(impl_->type->dims)),
                     where);
  return data;
}

namespace detail {
bool isTrue(const Tensor &x, SourceLocation where, native::LoopMarks marks) {
  const TensorImpl &impl = implOf(x);
  if (impl.trace) {
    if (!currentTrace() || !currentTrace()->sees(impl.trace))
      throwLeaked(impl, where);
    if (!impl.type->isStatic())
      throw ShapeError(absl::StrCat("a tensor of type ", impl.type->str(),
                                    " is used as a condition (bool), which needs one element"),
                       where);
  }
  if (impl.type->numElements() != 1)
    throw ShapeError(
        absl::StrCat("a tensor of shape ", schema::shapeString(impl.type->dims),
                     " is used as a condition (bool), which needs one element; use where(condition, x, y), "
                     "and logical_and and logical_or for && and ||"),
        where);
  if (impl.trace)
    return decideOn(x, where, marks);
  const std::byte *data = x.bytes(where).data();
  return dispatch_all(impl.type->dtype, [&]<typename T>(std::type_identity<T>) {
    return *static_cast<const T *>(static_cast<const void *>(data)) != T();
  });
}
} // namespace detail

Tensor::operator bool() const { return detail::isTrue(*this, detail::implOf(*this).where); }

std::ostream &operator<<(std::ostream &os, const Tensor &x) {
  if (!x.defined())
    return os << "<empty tensor>";
  const detail::TensorImpl &impl = *x.impl();
  if (const detail::SpecImpl *spec = detail::specOf(impl))
    return os << "<any " << detail::typeText(*impl.type, spec->anyRank) << ">";
  if (impl.trace)
    return os << "<traced " << impl.type->str() << " at " << detail::lineOf(impl.where).str() << ">";
  return os << runtime::formatTensor(static_cast<std::int32_t>(impl.type->dtype), impl.type->dims, impl.buffer.data());
}

std::ostream &operator<<(std::ostream &os, const std::optional<Tensor> &x) { return x ? os << *x : os << "none"; }

Operand::Operand(const Tensor &x, SourceLocation where) : tensor_(x), where_(where) { detail::implOf(x, where); }
Operand::Operand(const Variable &x, SourceLocation where) : tensor_(detail::valueAsTensor(x, where)), where_(where) {}

Operand::Operand(const Size &size, SourceLocation where) : where_(where) {
  if (size.is_known()) {
    kind_ = Kind::Number;
    number_ = std::int64_t(size);
  } else {
    kind_ = Kind::Size;
    tensor_ = detail::sizeAsTensor(size, where);
  }
}

DType Operand::defaultDType() const {
  switch (kind_) {
  case Kind::Tensor:
    return tensor_.dtype();
  case Kind::Number:
    return number_.defaultDType();
  case Kind::Size:
    break;
  }
  return DType::Int32; // as an integer that is known
}

Tensor Operand::toTensor(DType dtype) const {
  switch (kind_) {
  case Kind::Tensor:
    return tensor_;
  case Kind::Number:
    return detail::makeScalar(number_, dtype, where_);
  case Kind::Size:
    break;
  }
  if (dtype == DType::Bool)
    throw DTypeError("a size can't become bool", detail::userLine(where_));
  if (is_integer(dtype) && size_of(dtype) < 4)
    throw DTypeError(
        absl::StrCat("a size that only the call knows may not fit ", name_of(dtype), "; cast the tensor beside it"),
        detail::userLine(where_));
  schema::Attribute type = dtype;
  return dtype == DType::Int64 ? tensor_ : detail::apply(schema::OpId::Cast, {&tensor_, 1}, {&type, 1}, where_);
}

namespace detail {
Tensor makeScalar(const Number &number, DType dtype, SourceLocation where) {
  requireElementType(dtype, userLine(where));
  alignas(complex128) std::byte element[sizeof(complex128)];
  number.convert(dtype, element, where);
  runtime::Buffer buffer = runtime::Buffer::allocate(size_of(dtype));
  std::memcpy(buffer.data(), element, size_of(dtype));
  return makeEager(scalarType(dtype), std::move(buffer), userLine(where));
}
} // namespace detail

namespace {
// Repeats an element. What is there already is copied, in pieces that stay in the nearest cache.
void fillWith(const std::byte *element, std::size_t elementBytes, std::span<std::byte> out) {
  constexpr std::size_t kLargestPiece = 4096;
  std::size_t filled = std::min(elementBytes, out.size());
  std::memcpy(out.data(), element, filled);
  for (std::size_t piece; filled < out.size(); filled += piece) {
    piece = std::min({filled, kLargestPiece, out.size() - filled});
    std::memcpy(out.data() + filled, out.data(), piece);
  }
}
} // namespace

Tensor full(const Shape &shape, const Operand &value, DType dtype) {
  SourceLocation where = detail::userLine(value.where());
  detail::requireElementType(dtype, where);
  Tensor element = value.toTensor(dtype);
  if (!shape.is_known())
    return detail::applyOpen(schema::OpId::BroadcastToOpen, {&element, 1}, shape, {}, where);
  schema::Dims dims = detail::knownDims(shape, where);
  const detail::TensorImpl &impl = detail::implOf(element, where);
  if (impl.trace || !impl.type->dims.empty() || impl.type->dtype != dtype)
    return detail::apply(schema::OpId::BroadcastTo, {&element, 1},
                         std::array<schema::Attribute, 1>{schema::Attribute(std::move(dims))}, where);
  detail::checkShape(dims, dtype, where);
  auto type = std::make_shared<const schema::TensorType>(schema::TensorType{dtype, std::move(dims)});
  auto fill = [&] {
    runtime::Buffer buffer = detail::allocate(*type, where);
    fillWith(static_cast<const std::byte *>(impl.buffer.data()), size_of(dtype),
             {static_cast<std::byte *>(buffer.data()), buffer.bytes()});
    return buffer;
  };
  detail::MadeConstants *made = detail::constantsOfRuns();
  runtime::Buffer buffer = made ? made->filled(*type, impl.buffer.data(), fill) : fill();
  return detail::makeEager(std::move(type), std::move(buffer), where);
}

Tensor zeros(const Shape &shape, DType dtype, SourceLocation where) {
  return full(shape, dtype == DType::Bool ? Operand(false, where) : Operand(0, where), dtype);
}
Tensor ones(const Shape &shape, DType dtype, SourceLocation where) {
  return full(shape, dtype == DType::Bool ? Operand(true, where) : Operand(1, where), dtype);
}

Tensor eye(std::int64_t n, DType dtype, SourceLocation where) {
  where = detail::userLine(where);
  detail::checkShape({n, n}, dtype, where);
  auto type = std::make_shared<const schema::TensorType>(schema::TensorType{dtype, {n, n}});
  runtime::Buffer buffer = detail::allocate(*type, where);
  auto *out = static_cast<std::byte *>(buffer.data());
  std::memset(out, 0, type->numBytes());
  Tensor one = (dtype == DType::Bool ? Operand(true, where) : Operand(1, where)).toTensor(dtype);
  std::size_t bytes = size_of(dtype);
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * (n + 1) * bytes, detail::implOf(one).buffer.data(), bytes);
  return detail::makeConstant(std::move(type), std::move(buffer), where);
}

} // namespace calque
