// What changes the order, number and choice of elements, and not the elements themselves.
#include "data/Node.h"

#include "absl/strings/str_cat.h"

#include <exception>

namespace calque::data::detail {
namespace {

struct Shuffle : Stage {
  Shuffle(NodePtr from, std::int64_t bufferSize, std::uint64_t seed, bool reshuffle)
      : Stage(std::move(from)), bufferSize(bufferSize), seed(seed), reshuffle(reshuffle) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, std::int64_t bufferSize, std::uint64_t seed)
        : from(std::move(from)), bufferSize(static_cast<std::size_t>(bufferSize)), random(seed) {}
    bool next(Item &item) override {
      for (Item more; !ended && buffer.size() < bufferSize;)
        if ((ended = !from->next(more)) == false)
          buffer.push_back(std::move(more));
      if (buffer.empty())
        return false;
      std::swap(buffer[random.below(buffer.size())], buffer.back());
      item = std::move(buffer.back());
      buffer.pop_back();
      return true;
    }
    const std::unique_ptr<Cursor> from;
    const std::size_t bufferSize;
    Random random;
    std::vector<Item> buffer;
    bool ended = false;
  };
  std::string name() const override { return absl::StrCat("shuffle(", bufferSize, ",", seed, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    const std::uint64_t own = reshuffle ? opening.seed(this, seed) : Random(seed).draw();
    return std::make_unique<At>(from->open(opening), bufferSize, own);
  }
  std::atomic<std::uint64_t> *iterations() const override { return reshuffle ? &count : nullptr; }
  const std::int64_t bufferSize;
  const std::uint64_t seed;
  const bool reshuffle;
  mutable std::atomic<std::uint64_t> count{0};
};

struct Repeat : Stage {
  Repeat(NodePtr from, std::int64_t times) : Stage(std::move(from)), times(times) {}
  struct At : Cursor {
    At(NodePtr node, std::int64_t times, const Opening &opening)
        : node(std::move(node)), times(times), opening(opening) {}
    bool next(Item &item) override {
      while (begin()) {
        if (from->next(item)) {
          isEmpty = false;
          return true;
        }
        end();
      }
      return false;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = 0;
      while (done < count && begin()) {
        const std::int64_t some = from->skip(count - done);
        done += some;
        isEmpty = isEmpty && some == 0;
        if (done < count)
          end();
      }
      return done;
    }
    // Whether there is another repetition. One without elements would have no end.
    bool begin() {
      if (from)
        return true;
      if (number == times || (number > 0 && isEmpty))
        return false;
      from = node->open(opening.nested(static_cast<std::uint64_t>(number)));
      return true;
    }
    void end() {
      from.reset();
      ++number;
    }
    const NodePtr node;
    const std::int64_t times;
    const Opening opening;
    std::unique_ptr<Cursor> from;
    std::int64_t number = 0;
    bool isEmpty = true;
  };
  std::string name() const override { return absl::StrCat("repeat(", times, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from, times, opening);
  }
  std::int64_t cardinality() const override {
    const std::int64_t one = from->cardinality();
    std::int64_t all;
    if (one == 0 || times == 0)
      return 0;
    if (one == kInfinite || times < 0)
      return kInfinite;
    return one < 0 ? one : __builtin_mul_overflow(one, times, &all) ? kUnknown : all;
  }
  const std::int64_t times;
};

// Elements from a number on, each so many, up to a number of them.
struct Part : Stage {
  Part(NodePtr from, std::string text, std::int64_t first, std::int64_t step, std::int64_t most)
      : Stage(std::move(from)), text(std::move(text)), first(first), step(step), most(most) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const Part &part)
        : from(std::move(from)), before(part.first), step(part.step), most(part.most) {}
    bool next(Item &item) override {
      if (done == most || !pass() || !from->next(item))
        return false;
      ++done;
      before = step - 1;
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      if (most >= 0)
        count = std::min(count, most - done);
      if (step != 1)
        return Cursor::skip(count);
      if (count == 0 || !pass())
        return 0;
      count = from->skip(count);
      done += count;
      return count;
    }
    bool pass() {
      const std::int64_t skipped = from->skip(before), missing = before - skipped;
      before = missing;
      return missing == 0;
    }
    const std::unique_ptr<Cursor> from;
    std::int64_t before;
    const std::int64_t step, most;
    std::int64_t done = 0;
  };
  std::string name() const override { return text; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), *this);
  }
  std::int64_t cardinality() const override {
    std::int64_t count = from->cardinality();
    if (most == 0)
      return 0;
    if (count == kInfinite)
      return most < 0 ? kInfinite : most;
    if (count == kUnknown)
      return kUnknown;
    count = count <= first ? 0 : (count - first - 1) / step + 1;
    return most < 0 ? count : std::min(count, most);
  }
  const std::string text;
  const std::int64_t first, step, most; // -1: all
};

struct Concatenate : Stage {
  Concatenate(NodePtr from, NodePtr other) : Stage(std::move(from)), other(std::move(other)) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, NodePtr other, const Opening &opening)
        : from(std::move(from)), other(std::move(other)), opening(opening) {}
    bool next(Item &item) override {
      do
        if (from->next(item))
          return true;
      while (goOn());
      return false;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = from->skip(count);
      if (done < count && goOn())
        done += from->skip(count - done);
      return done;
    }
    bool goOn() {
      if (!other)
        return false;
      from = other->open(opening);
      other.reset();
      return true;
    }
    std::unique_ptr<Cursor> from;
    NodePtr other;
    const Opening opening;
  };
  std::string name() const override { return "concatenate"; }
  std::vector<const Node *> inputs() const override { return {from.get(), other.get()}; }
  std::optional<Spec> spec() const override { return merged(from->spec(), other->spec()); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), other, opening.nested(1));
  }
  std::int64_t cardinality() const override {
    const std::int64_t a = from->cardinality(), b = other->cardinality();
    return a == kInfinite || b == kInfinite ? kInfinite : a < 0 || b < 0 ? kUnknown : a + b;
  }
  const NodePtr other;
};

struct Enumerate : Stage {
  Enumerate(NodePtr from, std::int64_t start, SourceLocation where)
      : Stage(std::move(from)), start(start), where(where) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, std::int64_t start, SourceLocation where)
        : from(std::move(from)), start(start), where(where) {}
    bool next(Item &item) override {
      if (!from->next(item))
        return false;
      std::int64_t number = 0;
      if (__builtin_add_overflow(start, done++, &number))
        throw ValueError(absl::StrCat("enumerate: there is no number behind ", INT64_MAX), where);
      item.settle();
      item.parts.tensors.insert(item.parts.tensors.begin(), scalar(number));
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      count = from->skip(count);
      done += count;
      return count;
    }
    const std::unique_ptr<Cursor> from;
    const std::int64_t start;
    const SourceLocation where;
    std::int64_t done = 0;
  };
  std::string name() const override { return absl::StrCat("enumerate(", start, ")"); }
  std::optional<Spec> spec() const override {
    std::optional<Spec> spec = from->spec();
    if (spec)
      spec->tensors.insert(spec->tensors.begin(), TensorSpec<std::int64_t>({}));
    return spec;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), start, where);
  }
  const std::int64_t start;
  const SourceLocation where;
};

struct Zip : Node {
  explicit Zip(std::vector<NodePtr> all) : all(std::move(all)) {}
  struct At : Cursor {
    explicit At(std::vector<std::unique_ptr<Cursor>> all) : all(std::move(all)) {}
    bool next(Item &item) override {
      Item joined;
      std::exception_ptr error; // thrown when all have gone on, so that they stay side by side
      for (const auto &each : all)
        try {
          Item one;
          if (isDone || !each->next(one)) {
            isDone = true;
            return false;
          }
          one.settle();
          joined.parts.tensors.insert(joined.parts.tensors.end(), one.parts.tensors.begin(), one.parts.tensors.end());
          joined.parts.rest += one.parts.rest;
          joined.parts.has_values |= one.parts.has_values;
        } catch (...) {
          if (!error)
            error = std::current_exception();
        }
      if (error)
        std::rethrow_exception(error);
      item = std::move(joined);
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      for (const auto &each : all)
        if (const std::int64_t done = each->skip(count); done < count) {
          isDone = true;
          count = done;
        }
      return count;
    }
    const std::vector<std::unique_ptr<Cursor>> all;
    bool isDone = false;
  };
  std::string name() const override { return "zip"; }
  std::vector<const Node *> inputs() const override {
    std::vector<const Node *> inputs;
    for (const NodePtr &each : all)
      inputs.push_back(each.get());
    return inputs;
  }
  std::optional<Spec> spec() const override {
    Spec joined;
    for (const NodePtr &each : all) {
      const std::optional<Spec> spec = each->spec();
      if (!spec)
        return std::nullopt;
      joined.tensors.insert(joined.tensors.end(), spec->tensors.begin(), spec->tensors.end());
      joined.rest += spec->rest;
      if (joined.open.empty())
        joined.open = spec->open;
    }
    return joined;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const NodePtr &each : all)
      cursors.push_back(each->open(opening));
    return std::make_unique<At>(std::move(cursors));
  }
  std::int64_t cardinality() const override {
    std::int64_t least = kInfinite;
    for (const NodePtr &each : all) {
      const std::int64_t own = each->cardinality();
      if (own == kUnknown)
        return kUnknown;
      least = own == kInfinite ? least : least == kInfinite ? own : std::min(least, own);
    }
    return least;
  }
  const std::vector<NodePtr> all;
};

template <typename N, typename... Args> Untyped make(Args &&...args) {
  return Untyped(std::make_shared<N>(std::forward<Args>(args)...));
}

} // namespace

Untyped Untyped::shuffle(std::int64_t bufferSize, const ShuffleOptions &options, SourceLocation where) const {
  requireAtLeastOne("shuffle", "the buffer's size", bufferSize, where);
  return make<Shuffle>(node(where), bufferSize, static_cast<std::uint64_t>(drawSeed(options.seed, where)),
                       options.reshuffle_each_iteration);
}
Untyped Untyped::repeat(std::int64_t count, SourceLocation where) const {
  requireNotBelow("repeat", "the count", count, -1, where);
  return make<Repeat>(node(where), count);
}
Untyped Untyped::take(std::int64_t count, SourceLocation where) const {
  requireNotBelow("take", "the count", count, -1, where);
  return make<Part>(node(where), absl::StrCat("take(", count, ")"), 0, 1, count);
}
Untyped Untyped::skip(std::int64_t count, SourceLocation where) const {
  requireNotBelow("skip", "the count", count, -1, where);
  const bool all = count < 0;
  return make<Part>(node(where), absl::StrCat("skip(", count, ")"), all ? 0 : count, 1, all ? 0 : -1);
}
Untyped Untyped::shard(std::int64_t shards, std::int64_t index, SourceLocation where) const {
  requireAtLeastOne("shard", "the number of shards", shards, where);
  if (index < 0 || index >= shards)
    throw ValueError(absl::StrCat("shard: the index is ", index, " and must be below the ", shards, " shards"),
                     CallSite::resolve(where));
  return make<Part>(node(where), absl::StrCat("shard(", shards, ",", index, ")"), index, shards, -1);
}
Untyped Untyped::concatenate(const Untyped &other, SourceLocation where) const {
  return make<Concatenate>(node(where), other.node(where));
}
Untyped Untyped::enumerate(std::int64_t start, SourceLocation where) const {
  return make<Enumerate>(node(where), start, where);
}
Untyped Untyped::zip(const std::vector<Untyped> &all, SourceLocation where) {
  std::vector<NodePtr> nodes;
  for (const Untyped &each : all)
    nodes.push_back(each.node(where));
  return make<Zip>(std::move(nodes));
}

} // namespace calque::data::detail
