// Elements that are kept for the next iterations, in memory or in a file.
#include "data/Node.h"
#include "data/Records.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace calque::data::detail {
namespace {

// What is random before a cache is as in a first iteration, whichever iteration fills it: so that a position in a later
// one is found again where the cache is empty.
Opening firstOpening(const Opening &opening) {
  return {std::make_shared<const Opening::Numbers>(Opening::Numbers{{}, opening.numbers->seeds})};
}

//===-- In memory -------------------------------------------------------------------------------===//

struct Kept {
  std::mutex mutex;
  std::shared_ptr<const std::vector<Item>> items; // once an iteration came to its end
};

struct FromMemory : Cursor {
  explicit FromMemory(std::shared_ptr<const std::vector<Item>> items) : items(std::move(items)) {}
  bool next(Item &item) override {
    if (at == items->size())
      return false;
    item = (*items)[at++];
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    count = std::min(count, static_cast<std::int64_t>(items->size() - at));
    at += static_cast<std::size_t>(count);
    return count;
  }
  const std::shared_ptr<const std::vector<Item>> items;
  std::size_t at = 0;
};

struct ToMemory : Cursor {
  ToMemory(std::unique_ptr<Cursor> from, std::shared_ptr<Kept> kept) : from(std::move(from)), kept(std::move(kept)) {}
  bool next(Item &item) override {
    try {
      if (from->next(item)) {
        own.push_back(item);
        return true;
      }
    } catch (...) { // an element is missing
      isWhole = false;
      throw;
    }
    if (std::exchange(isWhole, false)) {
      std::lock_guard lock(kept->mutex);
      if (!kept->items)
        kept->items = std::make_shared<const std::vector<Item>>(std::move(own));
    }
    return false;
  }
  const std::unique_ptr<Cursor> from;
  const std::shared_ptr<Kept> kept;
  std::vector<Item> own;
  bool isWhole = true;
};

struct Cache : Stage {
  using Stage::Stage;
  std::string name() const override { return "cache"; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    {
      std::lock_guard lock(kept->mutex);
      if (kept->items)
        return std::make_unique<FromMemory>(kept->items);
    }
    return std::make_unique<ToMemory>(from->open(firstOpening(opening)), kept);
  }
  const std::shared_ptr<Kept> kept = std::make_shared<Kept>();
};

//===-- In a file -------------------------------------------------------------------------------===//
//
// TFRecords: kFirst, one for each element, and kLast with the number of elements, so that a file that was cut is known.
// An element is the number of its tensors, each with its element type, rank and sizes in 64 bits and its elements;
// whether it has numbers or texts; and its rest. Numbers are as this machine has them.

constexpr std::string_view kFirst = "calque cache 1", kLast = "end of calque cache ";

std::string encode(const Parts &parts) {
  std::string bytes = "element ";
  putCount(bytes, parts.tensors.size());
  for (const Tensor &tensor : parts.tensors) {
    const Shape shape = tensor.shape();
    putCount(bytes, static_cast<std::uint64_t>(tensor.dtype()));
    putCount(bytes, shape.size());
    for (std::int64_t size : shape)
      putCount(bytes, static_cast<std::uint64_t>(size));
    put(bytes, bytesOf(tensor), static_cast<std::size_t>(std::int64_t(tensor.size())) * size_of(tensor.dtype()));
  }
  putCount(bytes, parts.has_values);
  return bytes + parts.rest;
}

// Nothing for what is no element.
std::optional<Parts> decode(std::string_view bytes) {
  if (!bytes.starts_with("element "))
    return std::nullopt;
  bytes.remove_prefix(8);
  bool isSound = true;
  auto take = [&] {
    std::uint64_t number = 0;
    isSound = isSound && bytes.size() >= sizeof(number);
    if (isSound) {
      std::memcpy(&number, bytes.data(), sizeof(number));
      bytes.remove_prefix(sizeof(number));
    }
    return number;
  };
  Parts parts;
  for (std::uint64_t count = take(); isSound && parts.tensors.size() < count;) {
    const auto dtype = static_cast<DType>(take());
    Shape shape;
    std::size_t size = size_of(dtype);
    isSound = isSound && is_dtype(dtype);
    for (std::uint64_t rank = take(); isSound && shape.size() < rank;) {
      const std::uint64_t extent = take();
      isSound = isSound && extent <= INT64_MAX && !__builtin_mul_overflow(size, extent, &size);
      if (isSound)
        shape.push_back(extent);
    }
    isSound = isSound && size <= bytes.size();
    if (!isSound)
      break;
    parts.tensors.push_back(tensorOf(dtype, bytes.data(), size, shape));
    bytes.remove_prefix(size);
  }
  parts.has_values = take() != 0;
  parts.rest = bytes;
  return isSound ? std::optional(parts) : std::nullopt;
}

// "(float32[3], int32[])"
template <typename Types> std::string describe(const Types &types) {
  std::string text;
  for (const auto &type : types)
    absl::StrAppend(&text, text.empty() ? "" : ", ", training::describe(type.dtype(), type.shape()));
  return absl::StrCat("(", text, ")");
}

struct FromFile : Cursor {
  // The types of the data set that is cached, where they are known, tell a file of another one.
  FromFile(const std::string &path, std::optional<Spec> spec, SourceLocation where)
      : records(path, where, Compression::None), spec(std::move(spec)) {
    std::string first;
    if (!records.next(first) || first != kFirst)
      records.file.fail("this is no cache of a data set");
  }
  bool next(Item &item) override {
    if (isDone)
      return false;
    isDone = true; // where this throws
    std::string record;
    if (!records.next(record))
      records.file.fail(absl::StrCat("truncated: the cache ends behind element ", records.count() - 1,
                                     " without saying that it is whole"));
    if (record == absl::StrCat(std::string(kLast), records.count() - 2))
      return false;
    std::optional<Parts> parts =
        readWithinMemory(records.file.path, records.file.where, [&] { return decode(record); });
    if (!parts)
      records.file.fail(absl::StrCat("record ", records.count() - 1, " of the cache holds no element"));
    if (spec && !fits(*parts))
      records.file.fail(absl::StrCat("the cache is one of another data set: element ", records.count() - 2, " is ",
                                     describe(parts->tensors), ", and those of this one are ",
                                     describe(spec->tensors)));
    item = {nullptr, 0, std::move(*parts)};
    isDone = false;
    return true;
  }
  bool fits(const Parts &parts) const {
    return std::equal(parts.tensors.begin(), parts.tensors.end(), spec->tensors.begin(), spec->tensors.end(),
                      [](const Tensor &x, const TensorSpec<> &type) {
                        return x.dtype() == type.dtype() && x.shape().is_compatible_with(type.shape());
                      });
  }
  RecordReader records;
  const std::optional<Spec> spec;
  bool isDone = false;
};

struct ToFile : Cursor {
  ToFile(std::unique_ptr<Cursor> from, const std::string &path, SourceLocation where)
      : from(std::move(from)), file(std::make_unique<FileWriter>(path, where)) {
    write(std::string(kFirst));
  }
  bool next(Item &item) override {
    try {
      if (from->next(item)) {
        item.settle();
        if (file)
          write(encode(item.parts));
        ++count;
        return true;
      }
    } catch (...) { // an element is missing
      file.reset();
      throw;
    }
    if (const auto whole = std::move(file)) {
      const std::string last = absl::StrCat(std::string(kLast), count);
      whole->write(headerOf(last) + last + footerOf(last));
      whole->finish();
    }
    return false;
  }
  void write(const std::string &record) { file->write(headerOf(record) + record + footerOf(record)); }
  const std::unique_ptr<Cursor> from;
  std::unique_ptr<FileWriter> file; // none where an element was missing, and after the end
  std::int64_t count = 0;
};

struct FileCache : Stage {
  FileCache(NodePtr from, std::string path, SourceLocation where)
      : Stage(std::move(from)), path(std::move(path)), where(where) {}
  std::string name() const override { return absl::StrCat("cache(", path, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      return std::make_unique<FromFile>(path, from->spec(), where);
    return std::make_unique<ToFile>(from->open(firstOpening(opening)), path, where);
  }
  const std::string path;
  const SourceLocation where;
};

} // namespace

Untyped Untyped::cache(const std::string &path, SourceLocation where) const {
  if (path.empty())
    return Untyped(std::make_shared<Cache>(node(where)));
  return Untyped(std::make_shared<FileCache>(node(where), path, CallSite::resolve(where)));
}

} // namespace calque::data::detail
