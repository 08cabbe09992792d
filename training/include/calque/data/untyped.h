// A data set without the type of its elements: a chain of nodes that make parts (elements.h). Dataset (dataset.h) adds
// the type, so that nodes are not compiled for each type.
#ifndef CALQUE_DATA_UNTYPED_H
#define CALQUE_DATA_UNTYPED_H

#include "calque/data/elements.h"
#include "calque/tensor_spec.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calque::detail {
class TracedElements;
}

namespace calque::data {

// The cardinality of an infinite data set, and of a data set whose cardinality is unknown before an iteration. The
// values are TensorFlow's.
inline constexpr std::int64_t kInfinite = -1;
inline constexpr std::int64_t kUnknown = -2;
// As many as the machine can use.
inline constexpr std::int64_t kAutotune = -1;

struct ShuffleOptions {
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
  bool reshuffle_each_iteration = true;
};

struct PaddedBatchOptions {
  // The padded shape of each tensor of an element, in order. kDynamic pads to the longest tensor of the batch. Empty:
  // all sizes are kDynamic.
  std::vector<Shape> padded_shapes = {};
  // The padding value of each tensor of an element, or one value for all. Empty: 0.
  std::vector<double> padding_values = {};
  bool drop_remainder = false;
};

struct BucketOptions {
  std::vector<Shape> padded_shapes = {};
  std::vector<double> padding_values = {};
  bool drop_remainder = false;
  // Pads to the bucket's upper boundary minus 1, instead of the longest tensor of the batch.
  bool pad_to_bucket_boundary = false;
  // No padding: all elements of a batch must have the same shape.
  bool no_padding = false;
};

struct WindowOptions {
  std::optional<std::int64_t> shift = std::nullopt; // from one window to the next; none: the size
  std::int64_t stride = 1;                          // from one element of a window to the next
  bool drop_remainder = false;
};

struct InterleaveOptions {
  std::int64_t cycle_length = 2; // the number of data sets that are open at once
  std::int64_t block_length = 1; // the number of consecutive elements from each
  // The number of threads that make elements of the open data sets ahead, and call the callable; kAutotune: the number
  // of processors. With 1, no thread works ahead. The elements and their order are the same for any number.
  std::int64_t num_parallel_calls = 1;
};

struct SampleOptions {
  std::vector<double> weights = {}; // equal unless given; they need not add up to 1
  std::optional<std::int64_t> seed = std::nullopt;
  bool stop_on_empty_dataset = false;
};

struct SequenceOptions {
  bool shuffle = false;                            // the order of the batches
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
  std::int64_t workers = 1;                        // threads that make batches; the order is kept
};

namespace detail {

struct Node;
struct Cursor;
struct Opening;

using Mapping = std::function<Parts(Parts)>;
using Predicate = std::function<bool(const Parts &)>;
using Generator = std::function<std::optional<Parts>()>;

// Iterates over the elements. Copies are the same iterator.
class CALQUE_API UntypedIterator {
public:
  bool isAtEnd() const;
  // StateError at the end; next() throws it, too.
  const Parts &parts() const;
  void next();
  std::string get_state(SourceLocation where) const;
  void set_state(const std::string &state, SourceLocation where);

private:
  friend class Untyped;
  struct Eager;
  std::shared_ptr<Eager> eager_;
  std::shared_ptr<calque::detail::TracedElements> traced_;
  std::string rest_;          // the rest of all elements, in a trace
  mutable Parts tracedParts_; // empty until they are read
};

// A shared handle to a node.
class CALQUE_API Untyped {
public:
  explicit Untyped(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  static Untyped slices(Parts parts, SourceLocation where);
  static Untyped one(Parts parts, SourceLocation where);
  static Untyped range(std::int64_t begin, std::int64_t end, std::int64_t step, SourceLocation where);
  static Untyped generator(std::function<Generator()> begin, std::optional<Parts> signature,
                           std::int64_t cardinality = kUnknown);
  static Untyped sequence(std::function<std::int64_t()> size, std::function<Parts(std::int64_t)> at,
                          std::function<void()> onEpochEnd, const SequenceOptions &options,
                          std::optional<Parts> signature, SourceLocation where);
  static Untyped zip(const std::vector<Untyped> &all, SourceLocation where);
  static Untyped choose(const std::vector<Untyped> &all, const Untyped &choice, bool stopOnEmpty, SourceLocation where);
  static Untyped sample(const std::vector<Untyped> &all, const SampleOptions &options, SourceLocation where);

  Untyped map(Mapping f, std::int64_t parallelCalls, std::optional<Parts> signature, SourceLocation where) const;
  // Each iteration maps with its own callable, which `begin` makes.
  Untyped scan(std::function<Mapping()> begin, std::optional<Parts> signature, SourceLocation where) const;
  Untyped filter(Predicate predicate, bool endsAtFalse, SourceLocation where) const;
  Untyped interleave(std::function<Untyped(const Parts &)> f, const InterleaveOptions &options, const char *name,
                     std::optional<Parts> signature, SourceLocation where) const;
  Untyped shuffle(std::int64_t bufferSize, const ShuffleOptions &options, SourceLocation where) const;
  Untyped repeat(std::int64_t count, SourceLocation where) const;
  Untyped batch(std::int64_t size, bool dropRemainder, SourceLocation where) const;
  Untyped paddedBatch(std::int64_t size, const PaddedBatchOptions &options, SourceLocation where) const;
  Untyped bucket(std::function<std::int64_t(const Parts &)> length, const std::vector<std::int64_t> &boundaries,
                 const std::vector<std::int64_t> &batchSizes, const BucketOptions &options, SourceLocation where) const;
  Untyped unbatch(SourceLocation where) const;
  Untyped window(std::int64_t size, const WindowOptions &options, SourceLocation where) const;
  Untyped take(std::int64_t count, SourceLocation where) const;
  Untyped skip(std::int64_t count, SourceLocation where) const;
  Untyped shard(std::int64_t shards, std::int64_t index, SourceLocation where) const;
  Untyped concatenate(const Untyped &other, SourceLocation where) const;
  Untyped enumerate(std::int64_t start, SourceLocation where) const;
  Untyped cache(const std::string &path, SourceLocation where) const;
  Untyped prefetch(std::int64_t count, SourceLocation where) const;
  Untyped ignoreErrors(SourceLocation where) const;

  std::int64_t cardinality(SourceLocation where) const;
  std::int64_t size(SourceLocation where) const;
  std::vector<TensorSpec<>> elementSpec(SourceLocation where) const;
  UntypedIterator begin(SourceLocation where) const;
  // StateError for a handle that was moved from.
  const std::shared_ptr<const Node> &node(SourceLocation where) const;

private:
  std::shared_ptr<const Node> node_;
};

} // namespace detail
} // namespace calque::data
#endif
