#include "calque/dlpack.h"

#include "calque/call_site.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace calque {

namespace {

using dlpack::Array;
using dlpack::DataType;

DataType typeOf(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  if (dtype == DType::Bool)
    return {dlpack::kBool, bits, 1};
  if (dtype == DType::BFloat16)
    return {dlpack::kBFloat, bits, 1};
  if (is_floating(dtype))
    return {dlpack::kFloat, bits, 1};
  if (is_complex(dtype))
    return {dlpack::kComplex, bits, 1};
  return {std::string(name_of(dtype)).front() == 'u' ? dlpack::kUInt : dlpack::kInt, bits, 1};
}

DType dtypeOf(const DataType &type, SourceLocation where) {
  for (const DTypeInfo &info : kDTypes) {
    const DataType own = typeOf(info.dtype);
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes)
      return info.dtype;
  }
  throw DTypeError("from_dlpack: elements with the code " + std::to_string(type.code) + ", " +
                       std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                       " lanes are of no type that Calque has",
                   where);
}

// What a given array keeps alive. The shape and the strides are behind it.
template <typename Managed> struct Shared {
  Managed managed;
  Tensor tensor; // the memory's owner, unless it is a copy
  std::unique_ptr<std::byte[]> copy;
  std::vector<std::int64_t> shape, strides;
};

template <typename Managed> Managed *shared(const Tensor &x, bool copy, SourceLocation where) {
  auto made = std::make_unique<Shared<Managed>>();
  const std::span<const std::byte> bytes = x.bytes(where);
  made->shape = x.shape(where);
  made->strides.resize(made->shape.size());
  std::int64_t step = 1;
  for (std::size_t i = made->shape.size(); i-- > 0;) {
    made->strides[i] = step;
    step *= std::max<std::int64_t>(made->shape[i], 1);
  }
  auto *data = const_cast<std::byte *>(bytes.data());
  if (copy) {
    made->copy.reset(new std::byte[std::max<std::size_t>(bytes.size(), 1)]);
    data = made->copy.get();
    std::ranges::copy(bytes, data);
  } else {
    made->tensor = x;
  }
  made->managed = {};
  made->managed.array = {.data = data,
                         .device = {dlpack::kCpu, 0},
                         .rank = static_cast<std::int32_t>(made->shape.size()),
                         .type = typeOf(x.dtype(where)),
                         .shape = made->shape.data(),
                         .strides = made->strides.data(),
                         .byte_offset = 0};
  made->managed.context = made.get();
  made->managed.deleter = [](Managed *self) { delete static_cast<Shared<Managed> *>(self->context); };
  return &made.release()->managed;
}

// The number of elements, and the number of bytes; checked, as an array comes from others' code.
struct Extent {
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
};
Extent extentOf(const Array &array, DType dtype, SourceLocation where) {
  if (array.rank < 0 || (array.rank > 0 && !array.shape))
    throw ValueError("from_dlpack: an array of rank " + std::to_string(array.rank) + " without a shape", where);
  Extent extent;
  extent.shape.assign(array.shape, array.shape + array.rank);
  bool isEmpty = false;
  for (std::int64_t size : extent.shape) {
    if (size < 0)
      throw ValueError("from_dlpack: the array has a size of " + std::to_string(size), where);
    isEmpty = isEmpty || size == 0;
  }
  std::size_t count = isEmpty ? 0 : 1;
  for (std::int64_t size : extent.shape)
    if (!isEmpty && __builtin_mul_overflow(count, static_cast<std::size_t>(size), &count))
      count = static_cast<std::size_t>(-1);
  if (__builtin_mul_overflow(count, size_of(dtype), &extent.bytes) || extent.bytes > (std::size_t(1) << 62))
    throw ValueError("from_dlpack: the array has more elements than memory can hold", where);
  return extent;
}

bool isRowMajor(const Array &array, const Extent &extent) {
  std::int64_t step = 1;
  for (std::size_t i = extent.shape.size(); array.strides && extent.bytes != 0 && i-- > 0;) {
    if (extent.shape[i] != 1 && array.strides[i] != step)
      return false;
    step *= extent.shape[i];
  }
  return true;
}

// The elements in row-major order.
void gatherInto(std::byte *to, const std::byte *from, const Array &array, const std::vector<std::int64_t> &shape,
                std::size_t width) {
  std::vector<std::int64_t> at(shape.size(), 0);
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      offset += at[i] * array.strides[i];
    std::memcpy(to, from + offset * static_cast<std::int64_t>(width), width);
    to += width;
    std::size_t i = at.size();
    while (i > 0 && ++at[i - 1] == shape[i - 1])
      at[--i] = 0;
    if (i == 0)
      return;
  }
}

template <typename Managed> Tensor taken(Managed *given, SourceLocation where) {
  const Array &array = given->array;
  if (array.device.type != dlpack::kCpu && array.device.type != dlpack::kCudaHost &&
      array.device.type != dlpack::kRocmHost)
    throw ValueError("from_dlpack: the array is in the memory of device type " + std::to_string(array.device.type) +
                         ", which the CPU does not read",
                     where);
  const DType dtype = dtypeOf(array.type, where);
  const Extent extent = extentOf(array, dtype, where);
  if (!array.data && extent.bytes != 0)
    throw ValueError("from_dlpack: the array has no memory", where);
  const auto *data = static_cast<const std::byte *>(array.data) + (array.data ? array.byte_offset : 0);
  const std::span<const std::byte> bytes(data, extent.bytes);
  const Shape shape(extent.shape);
  // Other libraries may have bools of any bits.
  const bool areBools = dtype != DType::Bool || !isRowMajor(array, extent) ||
                        std::ranges::all_of(bytes, [](std::byte each) { return each <= std::byte(1); });
  const std::size_t width = size_of(dtype);
  const bool isAligned = reinterpret_cast<std::uintptr_t>(data) % width == 0;
  auto finish = [](Managed *self) {
    if (self->deleter)
      self->deleter(self);
  };
  if (isRowMajor(array, extent) && isAligned && areBools && extent.bytes != 0) {
    const auto owner = std::make_shared<std::unique_ptr<Managed, decltype(finish)>>(nullptr, finish);
    Tensor x = tensor_from_memory(dtype, bytes, shape, owner, where);
    owner->reset(given); // from here on nothing throws
    return x;
  }
  std::vector<std::byte> copy(bytes.size());
  if (!bytes.empty()) {
    if (isRowMajor(array, extent))
      std::ranges::copy(bytes, copy.begin());
    else
      gatherInto(copy.data(), data, array, extent.shape, width);
  }
  if (dtype == DType::Bool)
    for (std::byte &each : copy)
      each = std::byte(each != std::byte(0));
  Tensor x = tensor_from_bytes(dtype, copy, shape, where);
  finish(given);
  return x;
}

} // namespace

dlpack::ManagedTensorVersioned *to_dlpack(const Tensor &x, ToDlpackOptions options, SourceLocation line) {
  auto *made = shared<dlpack::ManagedTensorVersioned>(x, options.copy, CallSite::resolve(line));
  made->version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  made->flags = options.copy ? dlpack::kIsCopied : dlpack::kReadOnly;
  return made;
}
dlpack::ManagedTensor *to_unversioned_dlpack(const Tensor &x, ToDlpackOptions options, SourceLocation line) {
  return shared<dlpack::ManagedTensor>(x, options.copy, CallSite::resolve(line));
}

Tensor from_dlpack(dlpack::ManagedTensorVersioned *array, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  if (!array)
    throw ValueError("from_dlpack: the pointer is null", where);
  // Of another major version nothing but the version and the deleter may be read.
  if (array->version.major != dlpack::kMajorVersion)
    throw ValueError("from_dlpack: the array has version " + std::to_string(array->version.major) + "." +
                         std::to_string(array->version.minor) + " of DLPack; versions 1.x are read",
                     where);
  return taken(array, where);
}
Tensor from_dlpack(dlpack::ManagedTensor *array, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  if (!array)
    throw ValueError("from_dlpack: the pointer is null", where);
  return taken(array, where);
}

} // namespace calque
