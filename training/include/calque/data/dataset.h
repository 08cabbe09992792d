// Data sets: sequences of elements for training loops.
//
//   data::Dataset train = data::fashion_mnist("train").shuffle(60'000).batch(64).prefetch(4);
//   for (int epoch = 0; epoch < 5; ++epoch)
//     for (auto [x, y] : train) // float32[64,28,28,1] in [0, 1] and int32[64]; another order in each epoch
//       step(x, y);
//
//   data::Dataset lengths = data::from_generator([file = open("words")]() mutable { return file.next(); })
//                               .filter([](const std::string &word) { return word.size() > 3; })
//                               .map([](const std::string &word) { return scalar(std::int64_t(word.size())); })
//                               .padded_batch(32);
#ifndef CALQUE_DATA_DATASET_H
#define CALQUE_DATA_DATASET_H

#include "calque/callable.h"
#include "calque/data/untyped.h"

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace calque::data {

// `Dataset<>` is a data set of pairs (x, y).
template <typename Element = std::pair<Tensor, Tensor>> class Dataset;

// Options of `map`.
template <typename Result> struct MapOptions {
  // How many threads call the callable at once; kAutotune: as many as there are processors. The order is kept.
  std::int64_t num_parallel_calls = 1;
  // An element of tensors or specs with the types of all elements, for loops in traced lambdas:
  // `.output_signature = TensorSpec<float>({28, 28})`, or a std::pair of specs.
  std::optional<Result> output_signature = std::nullopt;
};
template <typename Result> struct SignatureOptions {
  std::optional<Result> output_signature = std::nullopt;
};

namespace detail {

// Calls f with an element, or with the parts of a pair, tuple or array.
template <typename F, typename Element> constexpr bool takesWhole() {
  using Known = typename calque::detail::CallableTraits<std::decay_t<F>>::Signature;
  if constexpr (std::is_void_v<Known>)
    return std::is_invocable_v<F &, const Element &>;
  else
    return calque::detail::SignatureParts<Known>::count == 1;
}
template <typename F, typename Element> decltype(auto) callWith(F &f, const Element &x) {
  if constexpr (takesWhole<F, Element>()) {
    return f(x);
  } else {
    constexpr bool hasParts = requires { std::tuple_size<Element>::value; };
    static_assert(hasParts, "the callable does not take the elements of the data set");
    return std::apply([&](const auto &...parts) -> decltype(auto) { return f(parts...); }, x);
  }
}
template <typename F, typename Element>
using Mapped =
    std::remove_cvref_t<decltype(callWith(std::declval<std::decay_t<F> &>(), std::declval<const Element &>()))>;

template <typename T> inline constexpr bool isDataset = false;
template <typename Element> inline constexpr bool isDataset<Dataset<Element>> = true;

template <typename Element> std::optional<Parts> partsOf(const std::optional<Element> &signature) {
  return signature ? std::optional(partsOf(*signature)) : std::nullopt;
}

// Access to the private members of Dataset for functions of this library.
struct Access {
  template <typename Element> static const Untyped &untyped(const Dataset<Element> &x) { return x.untyped_; }
  template <typename Element> static Dataset<Element> typed(Untyped x) { return Dataset<Element>(std::move(x)); }
};

} // namespace detail

// A sequence of elements, whose types elements.h lists. It is a shared handle. Iterating does not change the data set,
// so several loops may iterate over it, one after the other or at the same time.
//
// Random choices are drawn from seeds, so that the elements and their order are the same in each run and on any number
// of threads. If a callable throws, the iteration throws the same exception in place of the element, and continues with
// the next element. Callables are copied once. If `num_parallel_calls` is not 1, a callable must not depend on the
// order of its calls.
//
// In a traced lambda, a loop over a data set is a loop of the program. It gets the elements when the program runs, so
// each call of the function begins a new iteration. All elements must have one type, which is known without making an
// element. Otherwise the loop is a ValueError: for a smaller last batch, which `drop_remainder` leaves out, and for
// `map` and generators without an `output_signature`.
template <typename E> class Dataset {
public:
  using Element = E;

  // Applies f to each element: f(element), or f(first, second) for pairs and so on. Its results are the elements.
  template <typename F, typename Result = detail::Mapped<F, Element>>
  Dataset<Result> map(F f, MapOptions<Result> options = {}, SourceLocation where = SourceLocation::current()) const {
    calque::detail::requireCallable(f, "map", where);
    auto each = [f = std::make_shared<F>(std::move(f))](const detail::Parts &parts) {
      return detail::partsOf<Result>(detail::callWith(*f, detail::elementOf<Element>(parts)));
    };
    return detail::Access::typed<Result>(
        untyped_.map(std::move(each), options.num_parallel_calls, detail::partsOf(options.output_signature), where));
  }
  // f(state, element) returns a std::pair of the next state and an element. Each iteration begins with a copy of
  // `initial`.
  template <typename State, typename F,
            typename Result =
                typename std::remove_cvref_t<std::invoke_result_t<F &, const State &, const Element &>>::second_type>
  Dataset<Result> scan(State initial, F f, SignatureOptions<Result> options = {},
                       SourceLocation where = SourceLocation::current()) const {
    calque::detail::requireCallable(f, "scan", where);
    auto begin = [f = std::make_shared<F>(std::move(f)), initial = std::move(initial)] {
      return [f, state = initial](const detail::Parts &parts) mutable {
        auto [next, element] = (*f)(std::as_const(state), detail::elementOf<Element>(parts));
        state = std::move(next);
        return detail::partsOf<Result>(element);
      };
    };
    return detail::Access::typed<Result>(
        untyped_.scan(std::move(begin), detail::partsOf(options.output_signature), where));
  }
  // The elements for which the predicate returns true, as a bool or as a tensor of one element.
  template <typename F> Dataset filter(F predicate, SourceLocation where = SourceLocation::current()) const {
    calque::detail::requireCallable(predicate, "filter", where);
    return Dataset(untyped_.filter(asPredicate(std::move(predicate)), false, where));
  }
  // The elements before the first one for which the predicate is false.
  template <typename F> Dataset take_while(F predicate, SourceLocation where = SourceLocation::current()) const {
    calque::detail::requireCallable(predicate, "take_while", where);
    return Dataset(untyped_.filter(asPredicate(std::move(predicate)), true, where));
  }
  // f makes a data set of each element. The result has the elements of these data sets: `block_length` from the first,
  // then from the second, and so on through `cycle_length` open data sets. When an open data set ends, the next one of
  // f takes its place. With `num_parallel_calls`, threads make elements ahead, one for each open data set and each of
  // the next ones. The order of elements and the places of exceptions are the same. ValueError for lengths and numbers
  // below 1.
  template <typename F, typename Result = detail::Mapped<F, Element>>
  Result interleave(F f, InterleaveOptions options = {}, SourceLocation where = SourceLocation::current()) const {
    return nested<Result>(std::move(f), options, "interleave", where);
  }
  // The elements of all data sets that f makes of each element, one data set after the other.
  template <typename F, typename Result = detail::Mapped<F, Element>>
  Result flat_map(F f, SourceLocation where = SourceLocation::current()) const {
    return nested<Result>(std::move(f), {.cycle_length = 1}, "flat_map", where);
  }

  // The elements in random order: each is drawn from a buffer of the next `buffer_size` elements. A buffer as large as
  // the data set makes all orders equally likely. ValueError for a buffer of less than one element.
  Dataset shuffle(std::int64_t buffer_size, ShuffleOptions options = {},
                  SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.shuffle(buffer_size, options, where));
  }
  // All elements `count` times, or without end for -1. A data set that was shuffled before has another order each time.
  Dataset repeat(std::int64_t count = -1, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.repeat(count, where));
  }
  // Stacks `size` elements along a new first dimension. The last batch may be smaller; `drop_remainder` leaves it out
  // then. ValueError for a size below 1. While iterating, ShapeError or DTypeError for elements that differ, and
  // ValueError for elements with numbers or texts.
  Dataset batch(std::int64_t size, bool drop_remainder = false,
                SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.batch(size, drop_remainder, where));
  }
  // Batches of tensors of one rank and different sizes, which are padded at their ends. ShapeError for a tensor that is
  // larger than the padded shape.
  Dataset padded_batch(std::int64_t size, PaddedBatchOptions options = {},
                       SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.paddedBatch(size, options, where));
  }
  // Padded batches of elements of similar length. Bucket i has the lengths from boundary i - 1 up to, but not
  // including, boundary i. Its batches have `batch_sizes[i]` elements; there is one size more than boundaries. A batch
  // comes as soon as its bucket is full. At the end the remaining elements come in the order of the buckets. ValueError
  // for boundaries that don't ascend.
  template <typename F>
  Dataset bucket_by_sequence_length(F length, const std::vector<std::int64_t> &boundaries,
                                    const std::vector<std::int64_t> &batch_sizes, BucketOptions options = {},
                                    SourceLocation where = SourceLocation::current()) const {
    calque::detail::requireCallable(length, "bucket_by_sequence_length", where);
    auto of = [f = std::make_shared<F>(std::move(length))](const detail::Parts &parts) -> std::int64_t {
      auto count = detail::callWith(*f, detail::elementOf<Element>(parts));
      if constexpr (std::is_same_v<decltype(count), Tensor>)
        return count.dtype() == DType::Int32 ? count.template item<std::int32_t>()
                                             : count.template item<std::int64_t>();
      else
        return static_cast<std::int64_t>(count);
    };
    return Dataset(untyped_.bucket(std::move(of), boundaries, batch_sizes, options, where));
  }
  // The slices of each element along the first dimension. ShapeError for scalars and different numbers of slices.
  Dataset unbatch(SourceLocation where = SourceLocation::current()) const { return Dataset(untyped_.unbatch(where)); }
  // Vectors of `size` consecutive elements.
  Dataset<std::vector<Element>> window(std::int64_t size, WindowOptions options = {},
                                       SourceLocation where = SourceLocation::current()) const {
    return detail::Access::typed<std::vector<Element>>(untyped_.window(size, options, where));
  }
  // take: the first `count` elements, all for -1. skip: the elements behind these, none for -1.
  Dataset take(std::int64_t count, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.take(count, where));
  }
  Dataset skip(std::int64_t count, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.skip(count, where));
  }
  // Every `num_shards`-th element, beginning with element number `index`.
  Dataset shard(std::int64_t num_shards, std::int64_t index, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.shard(num_shards, index, where));
  }
  Dataset concatenate(const Dataset &other, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.concatenate(other.untyped_, where));
  }
  // Pairs of the element's number, an int64 scalar that counts from `start`, and the element.
  Dataset<std::pair<Tensor, Element>> enumerate(std::int64_t start = 0,
                                                SourceLocation where = SourceLocation::current()) const {
    return detail::Access::typed<std::pair<Tensor, Element>>(untyped_.enumerate(start, where));
  }
  // Keeps the elements of the first complete iteration for later iterations: in memory, or in a file that later
  // processes read. Shuffling before the cache has one order for all iterations. The file is written whole or not at
  // all. DataError, while iterating, for a file that is damaged or can't be written.
  Dataset cache(const std::string &path = {}, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.cache(path, where));
  }
  // A thread makes up to `count` elements ahead. An error in the thread is thrown in place of its element. ValueError
  // for a count below 1 other than kAutotune.
  Dataset prefetch(std::int64_t count, SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.prefetch(count, where));
  }
  // Leaves out the elements that throw.
  Dataset ignore_errors(SourceLocation where = SourceLocation::current()) const {
    return Dataset(untyped_.ignoreErrors(where));
  }

  // The number of elements, kInfinite, or kUnknown, as after `filter`.
  std::int64_t cardinality(SourceLocation where = SourceLocation::current()) const {
    return untyped_.cardinality(where);
  }
  // The number of elements. ValueError if it is infinite or unknown.
  std::int64_t size(SourceLocation where = SourceLocation::current()) const { return untyped_.size(where); }
  // The types of an element's tensors, in order, with kDynamic for sizes that may differ. For `map` without an
  // `output_signature`, the callable is traced to find the types. If it can't be traced, because it reads elements, and
  // for other callables and generators, the first element is made in an iteration of its own. Element types and ranks
  // are then those of the first element, and all sizes are kDynamic. ValueError if the types are unknown: if there is
  // no element, or in a trace, where no element is made.
  std::vector<TensorSpec<>> element_spec(SourceLocation where = SourceLocation::current()) const {
    return untyped_.elementSpec(where);
  }

  // An input iterator. `*dataset.begin()` is the first element.
  class Iterator {
  public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    // StateError at the end.
    const Element &operator*() const {
      const detail::Parts &parts = from_.parts();
      if (!element_)
        element_.emplace(detail::elementOf<Element>(parts));
      return *element_;
    }
    const Element *operator->() const { return &**this; }
    Iterator &operator++() {
      element_.reset();
      from_.next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return from_.isAtEnd(); }

    // get_state() returns the position of the iterator as a line of text. set_state() moves an iterator of an equal
    // data set to that position, in this process or another one: it is at the same element, and the same elements
    // follow. Elements before the position are made again if later ones depend on them; `map` is not called for them.
    // The state does not include values that callables remember. StateError in a trace and behind an element that
    // threw. ValueError for a text that is not a state, or is the state of another data set.
    std::string get_state(SourceLocation where = SourceLocation::current()) const { return from_.get_state(where); }
    void set_state(const std::string &state, SourceLocation where = SourceLocation::current()) {
      element_.reset();
      from_.set_state(state, where);
    }

  private:
    friend class Dataset;
    explicit Iterator(detail::UntypedIterator from) : from_(std::move(from)) {}
    detail::UntypedIterator from_;
    mutable std::optional<Element> element_; // empty until it is read
  };
  Iterator begin(SourceLocation where = SourceLocation::current()) const { return Iterator(untyped_.begin(where)); }
  std::default_sentinel_t end() const { return {}; }

private:
  friend struct detail::Access;
  template <typename Other> friend class Dataset;
  explicit Dataset(detail::Untyped untyped) : untyped_(std::move(untyped)) {}

  template <typename F> static detail::Predicate asPredicate(F predicate) {
    return [f = std::make_shared<F>(std::move(predicate))](const detail::Parts &parts) {
      return static_cast<bool>(detail::callWith(*f, detail::elementOf<Element>(parts)));
    };
  }
  template <typename Result, typename F>
  Result nested(F f, InterleaveOptions options, const char *name, SourceLocation where) const {
    static_assert(detail::isDataset<Result>, "the callable of interleave and flat_map makes data sets");
    calque::detail::requireCallable(f, name, where);
    auto make = [f = std::make_shared<F>(std::move(f))](const detail::Parts &parts) {
      return detail::Access::untyped(detail::callWith(*f, detail::elementOf<Element>(parts)));
    };
    return Result(untyped_.interleave(std::move(make), options, name, std::nullopt, where));
  }

  detail::Untyped untyped_;
};

} // namespace calque::data
#endif
