// A data set is a graph of nodes. A node makes cursors, each of which gives the items one after the other.
#ifndef CALQUE_TRAINING_DATA_NODE_H
#define CALQUE_TRAINING_DATA_NODE_H

#include "Support.h"
#include "calque/data/untyped.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <semaphore>
#include <utility>

namespace calque::data::detail {

// The rows of one of the tensors of a source.
struct Component {
  DType dtype;
  Shape shape; // of a row
  std::function<void(std::int64_t row, std::byte *out)> copy;

  std::size_t numBytes() const;
};

struct Rows {
  std::int64_t size;
  std::vector<Component> components;
  std::string rest;
};

// An element of a data set: its parts, or the number of a row that is not copied yet, so that shuffling copies nothing
// and batching copies each row once.
struct Item {
  std::shared_ptr<const Rows> rows;
  std::int64_t row = 0;
  Parts parts;

  std::size_t count() const { return rows ? rows->components.size() : parts.tensors.size(); }
  const std::string &rest() const { return rows ? rows->rest : parts.rest; }
  DType dtype(std::size_t component) const;
  Shape shape(std::size_t component) const;
  void copy(std::size_t component, std::byte *out) const;
  // Copies the row.
  void settle();
};

struct Cursor {
  virtual ~Cursor() = default;
  // Gives the next item, or returns false at the end. After an exception it goes on behind the item that threw.
  virtual bool next(Item &item) = 0;
  // Goes on without so many items. Returns how many there were.
  virtual std::int64_t skip(std::int64_t count);
};

struct Node;

// Which random numbers a cursor draws: the numbers of iterations, by the nodes that count them, and where among the
// repetitions of one iteration it is opened.
struct Opening {
  // Of the nodes that have such numbers.
  struct Numbers {
    std::map<const void *, std::uint64_t> iterations, seeds;
  };
  std::shared_ptr<const Numbers> numbers;
  std::uint64_t salt = 0;

  // A seed for a node that counts iterations.
  std::uint64_t seed(const void *node, std::uint64_t seed) const;
  // One for what the callable of a node draws.
  std::uint64_t seedOfCallable(const Node &node) const;
  // For the repetition with a number.
  Opening nested(std::uint64_t number) const;
};

// The types of all elements.
struct Spec {
  std::vector<TensorSpec<>> tensors; // kDynamic for sizes that differ
  std::string rest;
  std::string open = {}; // why sizes differ
};

// While one lives, spec() may call the user's callables and make an element.
class MayMakeElements {
public:
  MayMakeElements() : before(std::exchange(allowed, true)) {}
  ~MayMakeElements() { allowed = before; }
  MayMakeElements(const MayMakeElements &) = delete;
  MayMakeElements &operator=(const MayMakeElements &) = delete;
  static bool areAllowed() { return allowed; }

private:
  static inline thread_local bool allowed = false;
  const bool before;
};

struct Node {
  virtual ~Node() = default;
  // What the node does, such as "take(3)". Equal data sets have equal names.
  virtual std::string name() const = 0;
  virtual std::vector<const Node *> inputs() const { return {}; }
  // Found without making elements, unless these may be; none where that can't be, and then unknown() says why.
  virtual std::optional<Spec> spec() const = 0;
  virtual std::string unknown() const;
  virtual std::int64_t cardinality() const = 0;
  virtual std::unique_ptr<Cursor> open(const Opening &opening) const = 0;
  // How many iterations there were, where their order differs.
  virtual std::atomic<std::uint64_t> *iterations() const { return nullptr; }
  // What the data sets that a callable makes draw their seeds by, so that they draw the same ones again.
  virtual std::atomic<std::uint64_t> *seedOfCallable() const { return nullptr; }
};
using NodePtr = std::shared_ptr<const Node>;

// A node on another one. Without a change its elements have the same types and number.
struct Stage : Node {
  explicit Stage(NodePtr from) : from(std::move(from)) {}
  std::vector<const Node *> inputs() const override { return {from.get()}; }
  std::optional<Spec> spec() const override { return from->spec(); }
  std::int64_t cardinality() const override { return from->cardinality(); }
  const NodePtr from;
};

Untyped makeSource(Rows rows);
Component componentOf(const Tensor &x);
const void *bytesOf(const Tensor &x, SourceLocation where = {});
Tensor tensorOf(DType dtype, const void *bytes, std::size_t count, const Shape &shape);
// Of an output signature.
std::optional<Spec> specOf(const std::optional<Parts> &signature);
// That of the first element with sizes that are not known, because others may have other ones. None where no elements
// may be made, and where there are none.
std::optional<Spec> specOfFirst(const Node &node);
// The same types and ranks with sizes that are not known.
Spec withOpenSizes(Spec spec, const std::string &why);
// Of elements of either of two.
std::optional<Spec> merged(const std::optional<Spec> &a, const std::optional<Spec> &b);
// Moves each tensor of an item's to one that is stacked. `where` is the line of the batch.
Item stacked(const std::vector<Item> &items, SourceLocation where);

// Gives the same items, up to `count` of which a thread makes ahead, from now on. It holds one of the permits while it
// makes one.
using Permits = std::counting_semaphore<>;
std::unique_ptr<Cursor> madeAhead(std::unique_ptr<Cursor> from, std::int64_t count, std::shared_ptr<Permits> permits);
// How many threads, at least one, `num_parallel_calls` asks for.
std::int64_t parallelCalls(const char *operation, std::int64_t number, SourceLocation where);

void requireAtLeastOne(const char *operation, const char *what, std::int64_t value, SourceLocation where);
void requireNotBelow(const char *operation, const char *what, std::int64_t value, std::int64_t least,
                     SourceLocation where);
// One that is given, or else drawn: from the global generator, or while the callable of a data set makes others, by the
// seed that it is called with.
std::int64_t drawSeed(const std::optional<std::int64_t> &seed, SourceLocation where);

// splitmix64 (Steele, Lea, Flood, 2014), so that orders do not depend on the standard library.
class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed) {}
  // Below `bound`, without bias.
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t value, least = -bound % bound; // 2^64 mod bound
    do
      value = draw();
    while (value < least);
    return value % bound;
  }
  // In [0, 1).
  double unit() { return static_cast<double>(draw() >> 11) * 0x1p-53; }
  std::uint64_t draw() {
    std::uint64_t x = state += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
  }

private:
  std::uint64_t state;
};

// While one lives, this thread's drawSeed() draws by a seed.
class DrawsSeeds {
public:
  explicit DrawsSeeds(std::uint64_t seed) : random(seed), before(std::exchange(current_, &random)) {}
  ~DrawsSeeds() { current_ = before; }
  DrawsSeeds(const DrawsSeeds &) = delete;
  DrawsSeeds &operator=(const DrawsSeeds &) = delete;
  static Random *current() { return current_; }

private:
  static inline thread_local Random *current_ = nullptr;
  Random random;
  Random *const before;
};

} // namespace calque::data::detail
#endif
