// Batches of elements, and the slices of them.
#include "data/Node.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace calque::data::detail {
namespace {

std::int64_t batchesOf(std::int64_t elements, std::int64_t size, bool dropRemainder) {
  return elements < 0 ? elements : elements / size + (!dropRemainder && elements % size != 0);
}

// The size of all batches, kDynamic where they differ, and why.
Size sizeOfBatches(std::int64_t elements, std::int64_t size, bool dropRemainder, std::string &open) {
  if (dropRemainder || elements == kInfinite || (elements >= 0 && elements % size == 0))
    return size;
  if (elements >= 0 && elements < size)
    return elements;
  open = elements >= 0 ? absl::StrCat("the last batch has ", elements % size, " elements and the others have ", size,
                                      "; batch(size, drop_remainder = true) leaves it out")
                       : absl::StrCat("the last batch may have less elements than ", size,
                                      "; batch(size, drop_remainder = true) leaves it out");
  return kDynamic;
}

struct Batch : Stage {
  Batch(NodePtr from, std::int64_t batchSize, bool dropRemainder, SourceLocation where)
      : Stage(std::move(from)), batchSize(batchSize), dropRemainder(dropRemainder), where(where) {}

  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const Batch &batch)
        : from(std::move(from)), batchSize(static_cast<std::size_t>(batch.batchSize)),
          dropRemainder(batch.dropRemainder), where(batch.where) {}
    // Where an element throws, those before it in its batch are kept.
    bool next(Item &item) override {
      for (Item one; items.size() < batchSize && from->next(one);)
        items.push_back(std::move(one));
      const std::vector<Item> all = std::exchange(items, {});
      if (all.empty() || (dropRemainder && all.size() < batchSize))
        return false;
      item = stacked(all, where);
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t elements;
      const auto size = static_cast<std::int64_t>(batchSize);
      if (!items.empty() || __builtin_mul_overflow(count, size, &elements))
        return Cursor::skip(count);
      return batchesOf(from->skip(elements), size, dropRemainder);
    }
    const std::unique_ptr<Cursor> from;
    const std::size_t batchSize;
    const bool dropRemainder;
    const SourceLocation where;
    std::vector<Item> items;
  };
  std::string name() const override { return absl::StrCat("batch(", batchSize, ",", dropRemainder, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), *this);
  }
  std::optional<Spec> spec() const override {
    std::optional<Spec> spec = from->spec();
    if (!spec)
      return spec;
    std::string open;
    const Size size = sizeOfBatches(from->cardinality(), batchSize, dropRemainder, open);
    if (!open.empty())
      spec->open = open;
    for (TensorSpec<> &tensor : spec->tensors) {
      Shape shape = tensor.shape();
      shape.insert(shape.begin(), size);
      tensor = TensorSpec<>(tensor.dtype(), shape);
    }
    return spec;
  }
  std::int64_t cardinality() const override { return batchesOf(from->cardinality(), batchSize, dropRemainder); }
  const std::int64_t batchSize;
  const bool dropRemainder;
  const SourceLocation where;
};

//===-- Padding ---------------------------------------------------------------------------------===//

struct Padding {
  std::vector<Shape> shapes; // none: to the longest
  std::vector<double> values;
  SourceLocation where;

  // The shape that a component of all items is padded to. `longest` takes the place of unknown sizes that it is above.
  Shape shapeOf(const std::vector<Item> &items, std::size_t component, std::int64_t longest) const;
  Item pad(const std::vector<Item> &items, std::int64_t longest = 0) const;
};

Shape Padding::shapeOf(const std::vector<Item> &items, std::size_t component, std::int64_t longest) const {
  Shape shape = items[0].shape(component);
  if (!shapes.empty())
    shape = shapes[component];
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shapes.empty() || !shape[d].is_known())
      shape[d] = d == 0 ? longest : 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Shape own = items[i].shape(component);
    if (own.size() != shape.size())
      throw ShapeError(absl::StrCat("padded_batch: component ", component, " of element ", i, " has shape ", own.str(),
                                    ", which has another rank than ", shape.str()),
                       where);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool isOpen = shapes.empty() || !shapes[component][d].is_known();
      if (isOpen && (longest == 0 || d > 0))
        shape[d] = std::max<std::int64_t>(shape[d], own[d]);
      else if (own[d] > shape[d])
        throw ShapeError(absl::StrCat("padded_batch: component ", component, " of element ", i, " has shape ",
                                      own.str(), ", which is larger than the padded shape ", shape.str()),
                         where);
    }
  }
  return shape;
}

// Copies the elements of a tensor into a larger one, from dimension d on.
void place(const std::byte *from, const Shape &shape, std::byte *to, const Shape &padded, std::size_t d,
           std::size_t size) {
  if (d == shape.size()) {
    std::memcpy(to, from, size);
    return;
  }
  std::size_t inner = size, outer = size;
  for (std::size_t i = d + 1; i < shape.size(); ++i) {
    inner *= static_cast<std::size_t>(std::int64_t(shape[i]));
    outer *= static_cast<std::size_t>(std::int64_t(padded[i]));
  }
  const auto count = static_cast<std::size_t>(std::int64_t(shape[d]));
  if (inner == outer) {
    if (count != 0 && inner != 0)
      std::memcpy(to, from, count * inner);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    place(from + i * inner, shape, to + i * outer, padded, d + 1, size);
}

Item Padding::pad(const std::vector<Item> &items, std::int64_t longest) const {
  std::vector<Item> padded(items.size());
  const std::size_t components = items[0].count();
  for (const auto &[count, what] :
       {std::pair(shapes.size(), "padded_shapes"), std::pair(values.size() == 1 ? 0 : values.size(), "padding_values")})
    if (count && count != components)
      throw ValueError(
          absl::StrCat("padded_batch: there are ", count, " ", what, " for elements of ", components, " tensors"),
          where);
  for (std::size_t i = 0; i < items.size(); ++i) {
    padded[i].parts = {{}, items[i].rest(), items[i].parts.has_values};
    if (items[i].count() != components)
      return stacked(items, where); // which says so
  }
  for (std::size_t component = 0; component < components; ++component) {
    const Shape shape = shapeOf(items, component, longest);
    const double value = values.empty() ? 0 : values[values.size() == 1 ? 0 : component];
    std::size_t count = 1;
    for (std::int64_t size : shape)
      count *= static_cast<std::size_t>(size);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const DType dtype = items[i].dtype(component);
      const std::size_t size = size_of(dtype);
      std::vector<std::byte> own(size), all(count * size);
      for (std::int64_t extent : items[i].shape(component))
        own.resize(own.size() * static_cast<std::size_t>(extent));
      items[i].copy(component, own.data());
      dispatch_all(dtype, [&]<typename T>(std::type_identity<T>) {
        // A double holds an int64 only so far; what it holds must be what the type does.
        if constexpr (std::is_integral_v<T>) {
          if (!(value == std::trunc(value) && value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                value <= static_cast<double>(std::numeric_limits<T>::max()) && value < 0x1p63))
            throw ValueError(absl::StrCat("padded_batch: ", value, " can't pad component ", component, ", which is ",
                                          name_of(dtype)),
                             where);
        }
        const T filling(value);
        for (std::size_t k = 0; value != 0 && k < count; ++k)
          std::memcpy(all.data() + k * size, &filling, size);
      });
      place(own.data(), items[i].shape(component), all.data(), shape, 0, size);
      padded[i].parts.tensors.push_back(tensorOf(dtype, all.data(), all.size(), shape));
    }
  }
  return stacked(padded, where);
}

struct PaddedBatch : Stage {
  PaddedBatch(NodePtr from, std::int64_t batchSize, bool dropRemainder, Padding padding)
      : Stage(std::move(from)), batchSize(batchSize), dropRemainder(dropRemainder), padding(std::move(padding)) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const PaddedBatch &batch)
        : from(std::move(from)), batchSize(static_cast<std::size_t>(batch.batchSize)),
          dropRemainder(batch.dropRemainder), padding(batch.padding) {}
    bool next(Item &item) override {
      for (Item one; items.size() < batchSize && from->next(one);)
        items.push_back(std::move(one));
      const std::vector<Item> all = std::exchange(items, {});
      if (all.empty() || (dropRemainder && all.size() < batchSize))
        return false;
      item = padding.pad(all);
      return true;
    }
    const std::unique_ptr<Cursor> from;
    const std::size_t batchSize;
    const bool dropRemainder;
    const Padding padding;
    std::vector<Item> items;
  };
  std::string name() const override { return absl::StrCat("padded_batch(", batchSize, ",", dropRemainder, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), *this);
  }
  std::optional<Spec> spec() const override {
    std::optional<Spec> spec = from->spec();
    if (!spec || (!padding.shapes.empty() && padding.shapes.size() != spec->tensors.size()))
      return std::nullopt;
    spec->open.clear();
    const Size size = sizeOfBatches(from->cardinality(), batchSize, dropRemainder, spec->open);
    for (std::size_t i = 0; i < spec->tensors.size(); ++i) {
      Shape shape = padding.shapes.empty() ? spec->tensors[i].shape() : padding.shapes[i];
      if (!shape.is_known())
        spec->open = "padded_batch pads to the longest of each batch; padded_shapes make them equal";
      shape.insert(shape.begin(), size);
      spec->tensors[i] = TensorSpec<>(spec->tensors[i].dtype(), shape);
    }
    return spec;
  }
  std::int64_t cardinality() const override { return batchesOf(from->cardinality(), batchSize, dropRemainder); }
  const std::int64_t batchSize;
  const bool dropRemainder;
  const Padding padding;
};

struct Bucket : Stage {
  using Length = std::function<std::int64_t(const Parts &)>;
  Bucket(NodePtr from, Length length, std::vector<std::int64_t> boundaries, std::vector<std::int64_t> sizes,
         const BucketOptions &options, SourceLocation where)
      : Stage(std::move(from)), length(std::move(length)), boundaries(std::move(boundaries)), sizes(std::move(sizes)),
        options(options), where(where) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, std::shared_ptr<const Bucket> bucket)
        : from(std::move(from)), bucket(std::move(bucket)), buckets(this->bucket->sizes.size()) {}
    bool next(Item &item) override {
      for (Item one; from->next(one);) {
        one.settle();
        const std::int64_t length = bucket->length(one.parts);
        if (length < 0)
          throw ValueError(absl::StrCat("bucket_by_sequence_length: a length is at least 0, unlike ", length),
                           bucket->where);
        const auto &boundaries = bucket->boundaries;
        const auto own = static_cast<std::size_t>(std::upper_bound(boundaries.begin(), boundaries.end(), length) -
                                                  boundaries.begin());
        buckets[own].push_back(std::move(one));
        if (buckets[own].size() == static_cast<std::size_t>(bucket->sizes[own])) {
          item = batch(own);
          return true;
        }
      }
      for (std::size_t own = 0; own < buckets.size(); ++own)
        if (!buckets[own].empty() && !bucket->options.drop_remainder) {
          item = batch(own);
          return true;
        }
      return false;
    }
    Item batch(std::size_t own) {
      const std::vector<Item> items = std::exchange(buckets[own], {});
      if (bucket->options.no_padding)
        return stacked(items, bucket->where);
      std::int64_t longest = 0;
      if (bucket->options.pad_to_bucket_boundary) {
        if (own == bucket->boundaries.size())
          throw ValueError("bucket_by_sequence_length: an element is longer than all boundaries, and so has none to be "
                           "padded to",
                           bucket->where);
        longest = bucket->boundaries[own] - 1;
      }
      return Padding{bucket->options.padded_shapes, bucket->options.padding_values, bucket->where}.pad(items, longest);
    }
    const std::unique_ptr<Cursor> from;
    const std::shared_ptr<const Bucket> bucket;
    std::vector<std::vector<Item>> buckets;
  };
  std::string name() const override { return "bucket_by_sequence_length"; }
  std::optional<Spec> spec() const override { return specOfFirst(*this); }
  std::string unknown() const override { return name(); }
  std::int64_t cardinality() const override { return from->cardinality() > 0 ? kUnknown : from->cardinality(); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), self.lock());
  }
  const Length length;
  const std::vector<std::int64_t> boundaries, sizes;
  const BucketOptions options;
  const SourceLocation where;
  std::weak_ptr<const Bucket> self;
};

//===-- Slices and windows ----------------------------------------------------------------------===//

struct Unbatch : Stage {
  Unbatch(NodePtr from, SourceLocation where) : Stage(std::move(from)), where(where) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, SourceLocation where) : from(std::move(from)), where(where) {}
    bool next(Item &item) override {
      while (!rows || row == rows->size)
        if (!take())
          return false;
      item = {rows, row++, {}};
      return true;
    }
    bool take() {
      Item batch;
      rows.reset();
      if (!from->next(batch))
        return false;
      batch.settle();
      if (batch.parts.has_values || batch.parts.tensors.empty())
        throw ValueError("unbatch: takes elements of tensors alone, and of at least one", where);
      Rows slices{0, {}, batch.parts.rest};
      for (const Tensor &tensor : batch.parts.tensors) {
        const Shape shape = tensor.shape(), first = batch.parts.tensors[0].shape();
        if (shape.empty())
          throw ShapeError("unbatch: an element has a scalar, which has no slices", where);
        if (shape[0] != first[0])
          throw ShapeError(absl::StrCat("unbatch: tensors of shapes ", first.str(), " and ", shape.str(),
                                        " have not as many slices"),
                           where);
        slices.components.push_back(componentOf(tensor));
        slices.size = shape[0];
      }
      rows = std::make_shared<const Rows>(std::move(slices));
      row = 0;
      return true;
    }
    const std::unique_ptr<Cursor> from;
    const SourceLocation where;
    std::shared_ptr<const Rows> rows;
    std::int64_t row = 0;
  };
  std::string name() const override { return "unbatch"; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), where);
  }
  std::optional<Spec> spec() const override {
    std::optional<Spec> spec = from->spec();
    if (!spec)
      return spec;
    for (TensorSpec<> &tensor : spec->tensors) {
      Shape shape = tensor.shape();
      if (shape.empty())
        return std::nullopt;
      tensor = TensorSpec<>(tensor.dtype(), Shape(shape.begin() + 1, shape.end()));
    }
    return spec;
  }
  std::int64_t cardinality() const override {
    const std::int64_t batches = from->cardinality();
    const std::optional<Spec> spec = from->spec();
    if (batches <= 0)
      return batches;
    std::int64_t all;
    if (!spec || spec->tensors.empty() || spec->tensors[0].shape().empty() || !spec->tensors[0].shape()[0].is_known() ||
        __builtin_mul_overflow(batches, std::int64_t(spec->tensors[0].shape()[0]), &all))
      return kUnknown;
    return all;
  }
  const SourceLocation where;
};

struct Window : Stage {
  Window(NodePtr from, std::int64_t size, std::int64_t shift, std::int64_t stride, bool dropRemainder)
      : Stage(std::move(from)), size(size), shift(shift), stride(stride), dropRemainder(dropRemainder) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const Window &window)
        : from(std::move(from)), size(window.size), shift(window.shift), stride(window.stride),
          dropRemainder(window.dropRemainder) {}
    bool next(Item &item) override {
      if (before > 0) {
        before -= from->skip(before);
        if (before > 0)
          return false;
      }
      const std::size_t span = static_cast<std::size_t>((size - 1) * stride + 1);
      for (Item one; ahead.size() < span && from->next(one);) {
        one.settle();
        ahead.push_back(std::move(one));
      }
      if (ahead.empty() || (dropRemainder && ahead.size() < span))
        return false;
      Item joined;
      std::uint64_t count = 0;
      std::string rest;
      for (std::size_t i = 0; i < std::min(ahead.size(), span); i += static_cast<std::size_t>(stride), ++count) {
        const Parts &one = ahead[i].parts;
        joined.parts.tensors.insert(joined.parts.tensors.end(), one.tensors.begin(), one.tensors.end());
        joined.parts.has_values |= one.has_values;
        rest += one.rest;
      }
      putCount(joined.parts.rest, count);
      joined.parts.rest += rest;
      const auto gone = std::min(ahead.size(), static_cast<std::size_t>(shift));
      ahead.erase(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(gone));
      before = shift - static_cast<std::int64_t>(gone);
      item = std::move(joined);
      return true;
    }
    const std::unique_ptr<Cursor> from;
    const std::int64_t size, shift, stride;
    const bool dropRemainder;
    std::vector<Item> ahead;
    std::int64_t before = 0; // to be skipped
  };
  std::string name() const override { return absl::StrCat("window(", size, ",", shift, ",", stride, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), *this);
  }
  std::optional<Spec> spec() const override {
    const std::optional<Spec> one = from->spec();
    const std::int64_t elements = from->cardinality();
    if (!one || !(dropRemainder || elements == kInfinite))
      return std::nullopt;
    Spec all{{}, {}, one->open};
    putCount(all.rest, static_cast<std::uint64_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      all.tensors.insert(all.tensors.end(), one->tensors.begin(), one->tensors.end());
      all.rest += one->rest;
    }
    return all;
  }
  std::string unknown() const override { return from->spec() ? "window without drop_remainder" : from->unknown(); }
  std::int64_t cardinality() const override {
    const std::int64_t elements = from->cardinality(), span = (size - 1) * stride + 1;
    if (elements < 0)
      return elements;
    if (dropRemainder)
      return elements < span ? 0 : (elements - span) / shift + 1;
    return elements == 0 ? 0 : (elements - 1) / shift + 1;
  }
  const std::int64_t size, shift, stride;
  const bool dropRemainder;
};

} // namespace

Untyped Untyped::batch(std::int64_t size, bool dropRemainder, SourceLocation where) const {
  requireAtLeastOne("batch", "the size", size, where);
  return Untyped(std::make_shared<Batch>(node(where), size, dropRemainder, CallSite::resolve(where)));
}

Untyped Untyped::paddedBatch(std::int64_t size, const PaddedBatchOptions &options, SourceLocation where) const {
  requireAtLeastOne("padded_batch", "the size", size, where);
  return Untyped(
      std::make_shared<PaddedBatch>(node(where), size, options.drop_remainder,
                                    Padding{options.padded_shapes, options.padding_values, CallSite::resolve(where)}));
}

Untyped Untyped::bucket(std::function<std::int64_t(const Parts &)> length, const std::vector<std::int64_t> &boundaries,
                        const std::vector<std::int64_t> &batchSizes, const BucketOptions &options,
                        SourceLocation where) const {
  constexpr const char *name = "bucket_by_sequence_length";
  if (batchSizes.size() != boundaries.size() + 1)
    throw ValueError(absl::StrCat(name, ": there are ", batchSizes.size(), " sizes for ", boundaries.size(),
                                  " boundaries, and must be one more"),
                     CallSite::resolve(where));
  for (std::size_t i = 1; i < boundaries.size(); ++i)
    if (boundaries[i] <= boundaries[i - 1])
      throw ValueError(absl::StrCat(name, ": boundary ", boundaries[i], " follows ", boundaries[i - 1],
                                    ", and boundaries must rise"),
                       CallSite::resolve(where));
  for (std::int64_t size : batchSizes)
    requireAtLeastOne(name, "the size", size, where);
  auto made = std::make_shared<Bucket>(node(where), std::move(length), boundaries, batchSizes, options,
                                       CallSite::resolve(where));
  made->self = made;
  return Untyped(std::move(made));
}

Untyped Untyped::unbatch(SourceLocation where) const {
  return Untyped(std::make_shared<Unbatch>(node(where), CallSite::resolve(where)));
}

Untyped Untyped::window(std::int64_t size, const WindowOptions &options, SourceLocation where) const {
  const std::int64_t shift = options.shift.value_or(size);
  requireAtLeastOne("window", "the size", size, where);
  requireAtLeastOne("window", "the shift", shift, where);
  requireAtLeastOne("window", "the stride", options.stride, where);
  return Untyped(std::make_shared<Window>(node(where), size, shift, options.stride, options.drop_remainder));
}

} // namespace calque::data::detail
