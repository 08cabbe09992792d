// Data sets made from tensors, numbers, callables and other data sets.
//
//   data::Dataset examples = data::from_tensor_slices(x, y);                  // pairs
//   data::Dataset named = data::from_tensor_slices(std::map<std::string, Tensor>{{"age", a}, {"fare", b}});
//   data::Dataset squares = data::range(10).map([](const Tensor &i) { return i * i; });
//   data::Dataset noise = data::from_generator([] { return std::optional(random::normal({3})); }).take(5);
//   data::Dataset both = data::zip(examples, named);
#ifndef CALQUE_DATA_SOURCES_H
#define CALQUE_DATA_SOURCES_H

#include "calque/data/dataset.h"

#include <concepts>
#include <ranges>

namespace calque::data {

// A data set of the slices of a structure: each element has the slices of all tensors along their first dimension.
// ShapeError for scalars and for different numbers of slices. ValueError for a structure without tensors, or with
// numbers or texts.
template <typename Element>
Dataset<Element> from_tensor_slices(const Element &x, SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<Element>(detail::Untyped::slices(detail::partsOf(x), where));
}
inline Dataset<> from_tensor_slices(const Tensor &x, const Tensor &y,
                                    SourceLocation where = SourceLocation::current()) {
  return from_tensor_slices(std::pair(x, y), where);
}
// Slices of pairs of other structures, such as a map of inputs and a tensor of labels.
template <typename X, typename Y>
  requires(!std::convertible_to<const Y &, SourceLocation> &&
           !(std::convertible_to<const X &, Tensor> && std::convertible_to<const Y &, Tensor>))
Dataset<std::pair<X, Y>> from_tensor_slices(const X &x, const Y &y, SourceLocation where = SourceLocation::current()) {
  return from_tensor_slices(std::pair<X, Y>(x, y), where);
}
inline Dataset<std::tuple<Tensor, Tensor, Tensor>>
from_tensor_slices(const Tensor &x, const Tensor &y, const Tensor &sample_weight,
                   SourceLocation where = SourceLocation::current()) {
  return from_tensor_slices(std::tuple(x, y, sample_weight), where);
}

// A data set of one element.
template <typename Element>
Dataset<Element> from_tensors(const Element &x, SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<Element>(detail::Untyped::one(detail::partsOf(x), where));
}
inline Dataset<> from_tensors(const Tensor &x, const Tensor &y, SourceLocation where = SourceLocation::current()) {
  return from_tensors(std::pair(x, y), where);
}

// int64 scalars from `begin` up to, but not including, `end`. ValueError for a step of 0.
inline Dataset<Tensor> range(std::int64_t begin, std::int64_t end, std::int64_t step = 1,
                             SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<Tensor>(detail::Untyped::range(begin, end, step, where));
}
inline Dataset<Tensor> range(std::int64_t end, SourceLocation where = SourceLocation::current()) {
  return range(0, end, 1, where);
}

namespace detail {
template <typename T> inline constexpr bool isOptional = false;
template <typename T> inline constexpr bool isOptional<std::optional<T>> = true;

// The state of an iteration over a range.
template <typename Range> struct InRange {
  explicit InRange(Range given) : range(std::move(given)), at(std::ranges::begin(range)) {}
  using Element = std::ranges::range_value_t<Range>;
  std::optional<Element> operator()() {
    if (at == std::ranges::end(range))
      return std::nullopt;
    Element element = *at;
    ++at;
    return element;
  }
  Range range;
  std::ranges::iterator_t<Range> at;
};

template <typename Next> Generator generatorOf(std::shared_ptr<Next> next) {
  return [next = std::move(next)]() -> std::optional<Parts> {
    auto element = (*next)();
    return element ? std::optional(partsOf(*element)) : std::nullopt;
  };
}

// How a generator makes elements: `begin(g)` begins an iteration.
template <typename G> struct Generating {
  static_assert(std::ranges::input_range<const G>,
                "a generator is a range, a callable that gives a std::optional of an element, or a callable that makes "
                "one of these");
  using Element = std::ranges::range_value_t<const G>;
  static Generator begin(const std::shared_ptr<G> &g) {
    return [g, at = std::ranges::begin(std::as_const(*g))]() mutable -> std::optional<Parts> {
      if (at == std::ranges::end(std::as_const(*g)))
        return std::nullopt;
      Parts parts = partsOf<Element>(*at);
      ++at;
      return parts;
    };
  }
};
template <std::invocable G> struct Generating<G> {
  using Made = std::invoke_result_t<G &>;
  static auto element() {
    if constexpr (isOptional<Made>)
      return std::type_identity<typename Made::value_type>();
    else if constexpr (std::invocable<Made &>)
      return std::type_identity<typename std::invoke_result_t<Made &>::value_type>();
    else
      return std::type_identity<std::ranges::range_value_t<Made>>();
  }
  using Element = typename decltype(element())::type;
  static Generator begin(const std::shared_ptr<G> &g) {
    if constexpr (isOptional<Made>) // the copy begins in the state in which the callable was given
      return generatorOf(std::make_shared<G>(*g));
    else if constexpr (std::invocable<Made &>)
      return generatorOf(std::make_shared<Made>((*g)()));
    else
      return generatorOf(std::make_shared<InRange<Made>>((*g)()));
  }
};
} // namespace detail

// A data set of the elements of a generator. A generator is a range, a callable that returns a std::optional with the
// next element and std::nullopt at the end, or a callable that makes such a range or callable for each iteration. Each
// iteration calls a copy of the callable, so that it begins from the start. It makes no more elements than it needs, so
// the generator may be infinite.
template <typename G, typename Element = typename detail::Generating<G>::Element>
Dataset<Element> from_generator(G generator, SignatureOptions<Element> options = {},
                                [[maybe_unused]] SourceLocation where = SourceLocation::current()) {
  if constexpr (std::invocable<G &>)
    calque::detail::requireCallable(generator, "from_generator", where);
  std::int64_t cardinality = kUnknown;
  if constexpr (std::ranges::sized_range<G>)
    cardinality = static_cast<std::int64_t>(std::ranges::size(generator));
  auto begin = [g = std::make_shared<G>(std::move(generator))] { return detail::Generating<G>::begin(g); };
  return detail::Access::typed<Element>(
      detail::Untyped::generator(std::move(begin), detail::partsOf(options.output_signature), cardinality));
}

// Keras' Sequence: an object with batches by number. `size()` is called at the beginning of each iteration, and
// `on_epoch_end()`, if the class has it, after the last batch.
template <typename S>
concept Sequence = requires(S &sequence, std::int64_t i) {
  { sequence.size() } -> std::convertible_to<std::int64_t>;
  sequence[i];
};

// The batches of a sequence. With `shuffle`, each iteration has another order. With several workers, `operator[]` is
// called on several threads at once. Changes of the sequence during an iteration are visible to it.
template <Sequence S, typename Element = std::remove_cvref_t<decltype(std::declval<S &>()[std::int64_t()])>>
Dataset<Element> from_sequence(std::shared_ptr<S> sequence, SequenceOptions options = {},
                               SourceLocation where = SourceLocation::current()) {
  if (!sequence)
    calque::detail::throwEmptyHandle("sequence", where);
  std::function<void()> onEpochEnd;
  if constexpr (requires { sequence->on_epoch_end(); })
    onEpochEnd = [sequence] { sequence->on_epoch_end(); };
  return detail::Access::typed<Element>(
      detail::Untyped::sequence([sequence] { return static_cast<std::int64_t>(sequence->size()); },
                                [sequence](std::int64_t i) { return detail::partsOf<Element>((*sequence)[i]); },
                                std::move(onEpochEnd), options, std::nullopt, where));
}
template <Sequence S>
auto from_sequence(S sequence, SequenceOptions options = {}, SourceLocation where = SourceLocation::current()) {
  return from_sequence(std::make_shared<S>(std::move(sequence)), options, where);
}

// Combines the elements of two data sets to pairs, of three to tuples. The result has as many elements as the shortest
// data set.
template <typename A, typename B>
Dataset<std::pair<A, B>> zip(const Dataset<A> &a, const Dataset<B> &b,
                             SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<std::pair<A, B>>(
      detail::Untyped::zip({detail::Access::untyped(a), detail::Access::untyped(b)}, where));
}
template <typename A, typename B, typename C>
Dataset<std::tuple<A, B, C>> zip(const Dataset<A> &a, const Dataset<B> &b, const Dataset<C> &c,
                                 SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<std::tuple<A, B, C>>(detail::Untyped::zip(
      {detail::Access::untyped(a), detail::Access::untyped(b), detail::Access::untyped(c)}, where));
}

namespace detail {
template <typename Element> std::vector<Untyped> untyped(const std::vector<Dataset<Element>> &all) {
  std::vector<Untyped> untyped;
  for (const Dataset<Element> &each : all)
    untyped.push_back(Access::untyped(each));
  return untyped;
}
} // namespace detail

// For each integer scalar of `choice`, the next element of the data set with this number. A data set at its end is
// skipped, or ends the result with `stop_on_empty_dataset`. IndexError, while iterating, for a number that no data set
// has.
template <typename Element>
Dataset<Element> choose_from_datasets(const std::vector<Dataset<Element>> &datasets, const Dataset<Tensor> &choice,
                                      bool stop_on_empty_dataset = false,
                                      SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<Element>(detail::Untyped::choose(
      detail::untyped(datasets), detail::Access::untyped(choice), stop_on_empty_dataset, where));
}
// Each element is the next one of a data set that is drawn at random by weights, among the data sets that are not at
// their end. ValueError unless there is one weight for each data set, and for weights that are not finite, below 0 or
// all 0.
template <typename Element>
Dataset<Element> sample_from_datasets(const std::vector<Dataset<Element>> &datasets, SampleOptions options = {},
                                      SourceLocation where = SourceLocation::current()) {
  return detail::Access::typed<Element>(detail::Untyped::sample(detail::untyped(datasets), options, where));
}

} // namespace calque::data
#endif
