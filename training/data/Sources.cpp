// Data sets that are made of no other: slices, ranges, generators and sequences.
#include "data/Node.h"

#include "absl/strings/str_cat.h"

namespace calque::data::detail {
namespace {

TensorSpec<> specOf(const Component &component) { return TensorSpec<>(component.dtype, component.shape); }

struct Source : Node {
  explicit Source(std::shared_ptr<const Rows> rows) : rows(std::move(rows)) {}
  struct At : Cursor {
    explicit At(std::shared_ptr<const Rows> rows) : rows(std::move(rows)) {}
    bool next(Item &item) override {
      if (row == rows->size)
        return false;
      item = {rows, row++, {}};
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      count = std::min(count, rows->size - row);
      row += count;
      return count;
    }
    const std::shared_ptr<const Rows> rows;
    std::int64_t row = 0;
  };
  std::string name() const override { return absl::StrCat("slices(", rows->size, ")"); }
  std::unique_ptr<Cursor> open(const Opening &) const override { return std::make_unique<At>(rows); }
  std::optional<Spec> spec() const override {
    Spec spec{{}, rows->rest, {}};
    for (const Component &component : rows->components)
      spec.tensors.push_back(specOf(component));
    return spec;
  }
  std::int64_t cardinality() const override { return rows->size; }
  const std::shared_ptr<const Rows> rows;
};

struct One : Node {
  explicit One(Parts parts) : parts(std::move(parts)) {}
  struct At : Cursor {
    explicit At(const Parts &parts) : parts(parts) {}
    bool next(Item &item) override {
      if (std::exchange(isDone, true))
        return false;
      item = {nullptr, 0, parts};
      return true;
    }
    const Parts parts;
    bool isDone = false;
  };
  std::string name() const override { return "tensors"; }
  std::unique_ptr<Cursor> open(const Opening &) const override { return std::make_unique<At>(parts); }
  std::optional<Spec> spec() const override { return detail::specOf(std::optional(parts)); }
  std::int64_t cardinality() const override { return 1; }
  const Parts parts;
};

struct Range : Node {
  Range(std::int64_t begin, std::int64_t step, std::int64_t count) : begin(begin), step(step), count(count) {}
  struct At : Cursor {
    At(std::int64_t begin, std::int64_t step, std::int64_t count) : begin(begin), step(step), count(count) {}
    bool next(Item &item) override {
      if (at == count)
        return false;
      item = {nullptr, 0, {{scalar(begin + step * at++)}, {}}};
      return true;
    }
    std::int64_t skip(std::int64_t more) override {
      more = std::min(more, count - at);
      at += more;
      return more;
    }
    const std::int64_t begin, step, count;
    std::int64_t at = 0;
  };
  std::string name() const override { return absl::StrCat("range(", begin, ",", step, ",", count, ")"); }
  std::unique_ptr<Cursor> open(const Opening &) const override { return std::make_unique<At>(begin, step, count); }
  std::optional<Spec> spec() const override { return Spec{{TensorSpec<std::int64_t>({})}, {}, {}}; }
  std::int64_t cardinality() const override { return count; }
  const std::int64_t begin, step, count;
};

struct Generated : Node {
  Generated(std::function<Generator()> begin, std::optional<Parts> signature, std::int64_t size)
      : begin(std::move(begin)), signature(std::move(signature)), size(size) {}
  struct At : Cursor {
    explicit At(Generator generator) : generator(std::move(generator)) {}
    bool next(Item &item) override {
      if (isDone)
        return false;
      std::optional<Parts> parts = generator();
      if (!parts) {
        isDone = true;
        return false;
      }
      item = {nullptr, 0, std::move(*parts)};
      return true;
    }
    Generator generator;
    bool isDone = false; // not asked again
  };
  std::string name() const override { return "generator"; }
  std::unique_ptr<Cursor> open(const Opening &) const override { return std::make_unique<At>(begin()); }
  std::optional<Spec> spec() const override { return signature ? detail::specOf(signature) : specOfFirst(*this); }
  std::int64_t cardinality() const override { return size; }
  const std::function<Generator()> begin;
  const std::optional<Parts> signature;
  const std::int64_t size;
};

// The numbers of a sequence's batches in the order of an iteration.
struct Indices : Node {
  Indices(std::function<std::int64_t()> size, bool shuffles, std::uint64_t seed)
      : size(std::move(size)), shuffles(shuffles), seed(seed) {}
  struct At : Cursor {
    At(std::int64_t count, bool shuffles, std::uint64_t seed) {
      for (std::int64_t i = 0; i < count; ++i)
        order.push_back(i);
      Random random(seed);
      for (std::size_t i = order.size(); shuffles && i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    }
    bool next(Item &item) override {
      if (at == order.size())
        return false;
      item = {nullptr, 0, {{scalar(order[at++])}, {}}};
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      count = std::min(count, static_cast<std::int64_t>(order.size() - at));
      at += static_cast<std::size_t>(count);
      return count;
    }
    std::vector<std::int64_t> order;
    std::size_t at = 0;
  };
  std::string name() const override { return "sequence"; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(size(), shuffles, opening.seed(this, seed));
  }
  std::optional<Spec> spec() const override { return Spec{{TensorSpec<std::int64_t>({})}, {}, {}}; }
  std::int64_t cardinality() const override { return size(); }
  std::atomic<std::uint64_t> *iterations() const override { return shuffles ? &count : nullptr; }
  const std::function<std::int64_t()> size;
  const bool shuffles;
  const std::uint64_t seed;
  mutable std::atomic<std::uint64_t> count{0};
};

// Calls for the end of an iteration.
struct AtEnd : Stage {
  AtEnd(NodePtr from, std::function<void()> call) : Stage(std::move(from)), call(std::move(call)) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, std::function<void()> call) : from(std::move(from)), call(std::move(call)) {}
    bool next(Item &item) override {
      if (from->next(item))
        return true;
      if (auto once = std::exchange(call, nullptr))
        once();
      return false;
    }
    std::int64_t skip(std::int64_t count) override { return from->skip(count); }
    const std::unique_ptr<Cursor> from;
    std::function<void()> call;
  };
  std::string name() const override { return "end"; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), call);
  }
  const std::function<void()> call;
};

} // namespace

Untyped makeSource(Rows rows) {
  return Untyped(std::make_shared<Source>(std::make_shared<const Rows>(std::move(rows))));
}

Untyped Untyped::slices(Parts parts, SourceLocation where) {
  where = CallSite::resolve(where);
  if (parts.tensors.empty() || parts.has_values)
    throw ValueError("from_tensor_slices: takes tensors alone, and at least one", where);
  Rows rows{0, {}, std::move(parts.rest)};
  for (const Tensor &tensor : parts.tensors)
    if (tensor.rank(where) == 0)
      throw ShapeError("from_tensor_slices: a scalar has no slices", where);
  const Size size = parts.tensors[0].shape()[0];
  for (const Tensor &tensor : parts.tensors) {
    bytesOf(tensor, where); // a traced tensor has no elements
    if (tensor.shape()[0] != size)
      throw ShapeError(absl::StrCat("from_tensor_slices: there are ", size.str(), " and ", tensor.shape()[0].str(),
                                    " slices, and must be as many of both"),
                       where);
    rows.components.push_back(componentOf(tensor));
  }
  rows.size = size;
  return makeSource(std::move(rows));
}

Untyped Untyped::one(Parts parts, SourceLocation where) {
  for (const Tensor &tensor : parts.tensors)
    bytesOf(tensor, CallSite::resolve(where)); // a traced tensor has no elements
  return Untyped(std::make_shared<One>(std::move(parts)));
}

Untyped Untyped::range(std::int64_t begin, std::int64_t end, std::int64_t step, SourceLocation where) {
  if (step == 0)
    throw ValueError("range: the step is 0", CallSite::resolve(where));
  // In 64 bits without a sign, which hold the distance of any two numbers.
  const bool rises = step > 0;
  const std::uint64_t stride = rises ? std::uint64_t(step) : -std::uint64_t(step);
  const std::uint64_t distance =
      (rises ? begin < end : begin > end)
          ? (rises ? std::uint64_t(end) - std::uint64_t(begin) : std::uint64_t(begin) - std::uint64_t(end))
          : 0;
  const std::uint64_t count = distance / stride + (distance % stride != 0);
  if (count > static_cast<std::uint64_t>(INT64_MAX))
    throw ValueError(absl::StrCat("range: from ", begin, " to ", end, " there are more elements than int64 counts"),
                     CallSite::resolve(where));
  return Untyped(std::make_shared<Range>(begin, step, static_cast<std::int64_t>(count)));
}

Untyped Untyped::generator(std::function<Generator()> begin, std::optional<Parts> signature, std::int64_t cardinality) {
  return Untyped(std::make_shared<Generated>(std::move(begin), std::move(signature), cardinality));
}

Untyped Untyped::sequence(std::function<std::int64_t()> size, std::function<Parts(std::int64_t)> at,
                          std::function<void()> onEpochEnd, const SequenceOptions &options,
                          std::optional<Parts> signature, SourceLocation where) {
  const std::uint64_t seed = options.shuffle ? static_cast<std::uint64_t>(drawSeed(options.seed, where)) : 0;
  Untyped batches =
      Untyped(std::make_shared<Indices>(std::move(size), options.shuffle, seed))
          .map([at = std::move(at)](const Parts &index) { return at(index.tensors[0].item<std::int64_t>()); },
               options.workers, std::move(signature), where);
  if (!onEpochEnd)
    return batches;
  return Untyped(std::make_shared<AtEnd>(batches.node(where), std::move(onEpochEnd)));
}

} // namespace calque::data::detail
