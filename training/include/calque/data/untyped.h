// What a data set is beneath the type of its elements: a chain of nodes, which makes parts (elements.h). Dataset
// (dataset.h) is the front of it, so that no node is compiled for a type.
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

// The cardinality of a data set without end, and of one that is not known before it is iterated over. As TensorFlow's.
inline constexpr std::int64_t kInfinite = -1;
inline constexpr std::int64_t kUnknown = -2;
// As many as the machine has use for.
inline constexpr std::int64_t kAutotune = -1;

struct ShuffleOptions {
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
  bool reshuffle_each_iteration = true;
};

struct PaddedBatchOptions {
  // For each tensor of an element, in order; kDynamic pads to the longest of the batch, as all sizes do without this.
  std::vector<Shape> padded_shapes = {};
  // For each tensor of an element, or one for all. 0 unless given.
  std::vector<double> padding_values = {};
  bool drop_remainder = false;
};

struct BucketOptions {
  std::vector<Shape> padded_shapes = {};
  std::vector<double> padding_values = {};
  bool drop_remainder = false;
  // Pads to one less than the bucket's upper boundary, not to the longest of the batch.
  bool pad_to_bucket_boundary = false;
  // Elements of a batch must have one shape already.
  bool no_padding = false;
};

struct WindowOptions {
  std::optional<std::int64_t> shift = std::nullopt; // from one window to the next; the size unless given
  std::int64_t stride = 1;                          // from one element of a window to the next
  bool drop_remainder = false;
};

struct InterleaveOptions {
  std::int64_t cycle_length = 2; // how many data sets are open at once
  std::int64_t block_length = 1; // how many elements in a row come from each
  // How many threads make elements of the open data sets ahead, and call the callable; kAutotune: as many as there are
  // processors. The elements and their order are the same for any number. With 1 no thread does.
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

// Goes through the elements. Copies are the same iterator.
class CALQUE_API UntypedIterator {
public:
  bool isAtEnd() const;
  // StateError at the end, as is next().
  const Parts &parts() const;
  void next();
  std::string get_state(SourceLocation where) const;
  void set_state(const std::string &state, SourceLocation where);

private:
  friend class Untyped;
  struct Eager;
  std::shared_ptr<Eager> eager_;
  std::shared_ptr<calque::detail::TracedElements> traced_;
  std::string rest_;          // of all elements, in a trace
  mutable Parts tracedParts_; // once they are asked for
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
  // Each iteration maps by a callable of its own.
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
