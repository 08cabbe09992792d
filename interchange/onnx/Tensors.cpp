#include "onnx/Tensors.h"

#include "calque/functions.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace calque::onnx {

MappedFile::MappedFile(const std::filesystem::path &path, const std::string &name) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    throw DataError(name + " can't be read: " + std::strerror(errno));
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    throw DataError(name + " can't be read: it is no file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  // An empty file can't be mapped.
  if (size != 0) {
    void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
      const int error = errno;
      ::close(file);
      throw DataError(name + " can't be read: " + std::strerror(error));
    }
    bytes_ = Bytes(static_cast<const std::byte *>(memory), size);
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

void MappedFile::leave(Bytes read) const {
  // Whole pages only: what is beside them belongs to others.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(read.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(read.data()) + read.size()) / page * page;
  if (begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

Storage::Storage(const std::string &path)
    : name_(path), folder_(std::filesystem::path(path).parent_path()), file_(std::make_shared<MappedFile>(path, path)) {
  if (folder_.empty())
    folder_ = ".";
}

namespace {

std::string labelOf(const TensorData &data, const std::string &file) { return file + ": tensor '" + data.name + "'"; }

// The number of elements, as a file can't have more of them than its bytes. DataError for sizes below 0 and for more
// elements than an address has.
std::uint64_t countOf(const std::vector<std::int64_t> &dims, const std::string &label) {
  std::uint64_t count = 1;
  bool isEmpty = false;
  for (std::int64_t size : dims) {
    if (size < 0)
      throw DataError(label + " has a size of " + std::to_string(size));
    isEmpty = isEmpty || size == 0;
  }
  for (std::int64_t size : dims)
    if (!isEmpty && __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count))
      throw DataError(label + " has more elements than memory can hold");
  return isEmpty ? 0 : count;
}

void expectCount(std::uint64_t given, std::uint64_t wanted, const char *unit, const std::string &label) {
  if (given != wanted)
    throw DataError(label + " has " + std::to_string(given) + " " + unit + ", but its shape takes " +
                    std::to_string(wanted));
}

template <typename To, typename From> Tensor converted(DType dtype, const std::vector<From> &from, const Shape &shape) {
  std::vector<To> elements(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    elements[i] = static_cast<To>(from[i]);
  return tensor_from_bytes(dtype, std::as_bytes(std::span(elements)), shape);
}

std::optional<std::uint64_t> numberIn(const TensorData &data, const std::string &key, const std::string &label) {
  const auto found = data.external.find(key);
  if (found == data.external.end())
    return {};
  std::uint64_t number = 0;
  const std::string &text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw DataError(label + " has external data at the " + key + " '" + text + "', which is no number");
  return number;
}

} // namespace

std::pair<Bytes, std::shared_ptr<const MappedFile>> Storage::externalBytes(const TensorData &data,
                                                                           std::uint64_t size) const {
  const std::string label = labelOf(data, name_);
  const auto location = data.external.find("location");
  if (location == data.external.end())
    throw DataError(label + " has external data without a location");
  const std::filesystem::path relative = location->second;
  // A file from a stranger names no files but those that came with it. Links count as what they lead to.
  bool isInside = !relative.empty() && relative.is_relative();
  for (const std::filesystem::path &part : relative)
    isInside = isInside && part != "..";
  std::error_code error;
  const std::filesystem::path home = std::filesystem::canonical(folder_, error);
  const std::filesystem::path place = std::filesystem::weakly_canonical(folder_ / relative, error);
  isInside =
      isInside && !error && std::mismatch(home.begin(), home.end(), place.begin(), place.end()).first == home.end();
  if (!isInside)
    throw DataError(label + " has external data in '" + location->second + "', outside of the model's folder");
  const std::shared_ptr<const MappedFile> file = [&] {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const MappedFile> &found = others_[place];
    if (!found)
      found = std::make_shared<MappedFile>(place, label + ": external data in '" + location->second + "'");
    return found;
  }();
  const std::uint64_t offset = numberIn(data, "offset", label).value_or(0);
  const std::uint64_t length = numberIn(data, "length", label).value_or(size);
  expectCount(length, size, "bytes of external data", label);
  if (offset > file->bytes().size() || length > file->bytes().size() - offset)
    throw DataError(label + " has external data of " + std::to_string(length) + " bytes from " +
                    std::to_string(offset) + ", but '" + location->second + "' has " +
                    std::to_string(file->bytes().size()));
  return {file->bytes().subspan(offset, length), file};
}

Tensor Storage::make(const TensorData &data) const {
  const std::string label = labelOf(data, name_);
  const std::optional<DType> dtype = dtypeOf(data.type);
  if (!dtype)
    throw DataError(label + " has the element type " + nameOfType(data.type) + ", which Calque does not have");
  const std::uint64_t count = countOf(data.dims, label);
  const auto width = static_cast<std::uint64_t>(size_of(*dtype));
  std::uint64_t size;
  if (__builtin_mul_overflow(count, width, &size))
    throw DataError(label + " has more elements than memory can hold");
  const Shape shape(data.dims);
  if (data.isExternal || data.raw) {
    auto [bytes, owner] = data.isExternal ? externalBytes(data, size) : std::pair(*data.raw, file_);
    expectCount(bytes.size(), size, "bytes", label);
    // Bytes of bools may have any value in a file.
    if (*dtype == DType::Bool) {
      std::vector<unsigned char> bools(bytes.size());
      for (std::size_t i = 0; i < bools.size(); ++i)
        bools[i] = bytes[i] != std::byte(0);
      return tensor_from_bytes(*dtype, std::as_bytes(std::span(bools)), shape);
    }
    if (size != 0 && reinterpret_cast<std::uintptr_t>(bytes.data()) % width == 0)
      return tensor_from_memory(*dtype, bytes, shape, owner);
    Tensor copy = tensor_from_bytes(*dtype, bytes, shape);
    owner->leave(bytes);
    return copy;
  }
  const bool isFloat = *dtype == DType::Float32, isDouble = *dtype == DType::Float64;
  expectCount(isFloat    ? data.floats.size()
              : isDouble ? data.doubles.size()
                         : data.integers.size(),
              count, "elements", label);
  if (isFloat)
    return tensor_from_bytes(*dtype, std::as_bytes(std::span(data.floats)), shape);
  if (isDouble)
    return tensor_from_bytes(*dtype, std::as_bytes(std::span(data.doubles)), shape);
  switch (width) {
  case 1:
    if (*dtype == DType::Bool) {
      std::vector<std::int64_t> bools = data.integers;
      for (std::int64_t &each : bools)
        each = each != 0;
      return converted<std::uint8_t>(*dtype, bools, shape);
    }
    return converted<std::uint8_t>(*dtype, data.integers, shape);
  case 2:
    return converted<std::uint16_t>(*dtype, data.integers, shape);
  case 4:
    return converted<std::uint32_t>(*dtype, data.integers, shape);
  default:
    return converted<std::uint64_t>(*dtype, data.integers, shape);
  }
}

Tensor Storage::make(const SparseData &data) const {
  const std::string label = labelOf(data.values, name_);
  const Tensor values = make(data.values), indices = make(data.indices);
  // Unlike those of other tensors, the elements of a sparse one are not in the file.
  const std::uint64_t count = countOf(data.dims, label);
  if (count > (std::uint64_t(1) << 24))
    throw DataError(label + " is sparse, with more than 2^24 elements");
  const auto rank = static_cast<std::int64_t>(data.dims.size());
  bool fits = indices.dtype() == DType::Int64 && values.rank() == 1 && indices.rank() >= 1 && indices.rank() <= 2 &&
              indices.shape()[0] == values.shape()[0] && (indices.rank() == 1 || indices.shape()[1] == rank) &&
              rank > 0;
  if (fits)
    for (std::int64_t at = 0; std::int64_t index : indices.to_vector<std::int64_t>()) {
      const std::int64_t size =
          indices.rank() == 1 ? static_cast<std::int64_t>(count) : data.dims[static_cast<std::size_t>(at++ % rank)];
      fits = fits && index >= 0 && index < size;
    }
  if (!fits)
    throw DataError(label + " is sparse, and its indices don't fit its values");
  const Shape shape(data.dims);
  if (indices.rank() == 2)
    return scatter_nd_set(zeros(shape, values.dtype()), indices, values);
  return reshape(scatter_set(zeros({Size(count)}, values.dtype()), indices, values), shape);
}

} // namespace calque::onnx
