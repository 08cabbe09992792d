// The handle to a graph of nodes, and the iterators over it.
#include "data/Node.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "calque/callable.h"
#include "calque/host_call.h"

#include <algorithm>

namespace calque::data::detail {
namespace {

// The nodes, each once, in an order that depends on the graph alone.
void collect(const Node &node, std::vector<const Node *> &nodes) {
  if (std::find(nodes.begin(), nodes.end(), &node) != nodes.end())
    return;
  nodes.push_back(&node);
  for (const Node *input : node.inputs())
    collect(*input, nodes);
}
std::vector<const Node *> nodesOf(const Node &node) {
  std::vector<const Node *> nodes;
  collect(node, nodes);
  return nodes;
}

// "range(0,1,5).shuffle(5,1).zip(...)": which elements it gives.
std::string describe(const Node &node) {
  const std::vector<const Node *> inputs = node.inputs();
  if (inputs.empty())
    return node.name();
  if (inputs.size() == 1)
    return absl::StrCat(describe(*inputs[0]), ".", node.name());
  std::vector<std::string> texts;
  for (const Node *input : inputs)
    texts.push_back(describe(*input));
  return absl::StrCat(node.name(), "[", absl::StrJoin(texts, ","), "]");
}

using Numbers = Opening::Numbers;
std::unique_ptr<Cursor> open(const Node &node, Numbers numbers) {
  return node.open({std::make_shared<const Numbers>(std::move(numbers))});
}
// Begins the next iteration.
Numbers count(const Node &node) {
  Numbers numbers;
  for (const Node *each : nodesOf(node)) {
    if (std::atomic<std::uint64_t> *counter = each->iterations())
      numbers.iterations[each] = counter->fetch_add(1);
    if (std::atomic<std::uint64_t> *seed = each->seedOfCallable())
      numbers.seeds[each] = seed->load();
  }
  return numbers;
}

// Without seeds, and with those of callables.
constexpr const char *kHeader = "calque data set 1", *kHeaderWithSeeds = "calque data set 2";

} // namespace

//===-- The handle ------------------------------------------------------------------------------===//

const std::shared_ptr<const Node> &Untyped::node(SourceLocation where) const {
  if (!node_)
    calque::detail::throwEmptyHandle("data set", where);
  return node_;
}

std::int64_t Untyped::cardinality(SourceLocation where) const { return node(where)->cardinality(); }

std::int64_t Untyped::size(SourceLocation where) const {
  const std::int64_t count = cardinality(where);
  if (count == kInfinite)
    throw ValueError("the data set has no end, and so no size", CallSite::resolve(where));
  if (count == kUnknown)
    throw ValueError("the size of the data set is not known before it is iterated over", CallSite::resolve(where));
  return count;
}

static Spec specOf(const Node &node, SourceLocation where) {
  std::optional<Spec> spec = node.spec();
  if (!spec)
    throw ValueError(absl::StrCat("the types of the elements are not known before they are made: ", node.unknown(),
                                  " does not say them"),
                     CallSite::resolve(where));
  return *std::move(spec);
}

std::vector<TensorSpec<>> Untyped::elementSpec(SourceLocation where) const {
  const NodePtr &from = node(where);
  // In a trace the callables would become a part of it.
  std::optional<MayMakeElements> mayMake;
  if (!calque::detail::isTracing())
    mayMake.emplace();
  return specOf(*from, where).tensors;
}

//===-- Iterators -------------------------------------------------------------------------------===//

struct UntypedIterator::Eager {
  Eager(NodePtr node, Numbers numbers)
      : node(std::move(node)), numbers(numbers), cursor(detail::open(*this->node, std::move(numbers))) {}
  void next() {
    Item item;
    bool isThere = false;
    try {
      isThere = cursor->next(item);
      item.settle();
    } catch (...) {
      hasThrown = true;
      hasElement = false;
      throw;
    }
    if (isThere) {
      parts = std::move(item.parts);
      hasElement = true;
      ++number;
    } else {
      cursor.reset();
      parts = {};
    }
  }

  NodePtr node;
  Numbers numbers;
  std::unique_ptr<Cursor> cursor; // none at the end
  Parts parts;
  std::int64_t number = 0;                    // of elements, this one among them
  bool hasThrown = false, hasElement = false; // ever, and now
};

UntypedIterator Untyped::begin(SourceLocation where) const {
  const NodePtr &from = node(where);
  UntypedIterator iterator;
  if (!calque::detail::isTracing()) {
    iterator.eager_ = std::make_shared<UntypedIterator::Eager>(from, count(*from));
    iterator.eager_->next();
    return iterator;
  }
  where = CallSite::resolve(where);
  const Spec spec = specOf(*from, where);
  for (const TensorSpec<> &type : spec.tensors)
    if (!type.shape().is_known())
      throw ValueError(absl::StrCat("a loop over a data set in a trace takes elements of one shape; ", spec.open),
                       where);
  auto begin = [from, spec, where] {
    auto cursor = std::shared_ptr<Cursor>(detail::open(*from, count(*from)));
    return [cursor, from, spec, where]() -> std::optional<std::vector<Tensor>> {
      Item item;
      if (!cursor->next(item))
        return std::nullopt;
      item.settle();
      if (item.parts.rest != spec.rest || item.parts.tensors.size() != spec.tensors.size())
        throw ValueError("a loop over a data set in a trace takes elements of one structure; the keys, lengths or "
                         "numbers of this one differ from those that were known while tracing",
                         where);
      return std::move(item.parts.tensors);
    };
  };
  iterator.rest_ = spec.rest;
  iterator.traced_ = std::make_shared<calque::detail::TracedElements>(
      calque::detail::HostElements{begin, from.get(), spec.tensors}, where);
  return iterator;
}

bool UntypedIterator::isAtEnd() const { return traced_ ? traced_->isAtEnd() : !eager_->cursor; }

const Parts &UntypedIterator::parts() const {
  if (traced_) {
    tracedParts_ = {traced_->element(), rest_};
    return tracedParts_;
  }
  if (!eager_->cursor)
    throw StateError("the iterator of a data set is at its end, where there is no element", CallSite::resolve({}));
  if (!eager_->hasElement)
    throw StateError("the iterator of a data set has no element, because to make it threw; ++ goes on to the next",
                     CallSite::resolve({}));
  return eager_->parts;
}

void UntypedIterator::next() {
  if (traced_)
    return traced_->next();
  if (!eager_->cursor)
    throw StateError("the iterator of a data set is at its end and can't go further", CallSite::resolve({}));
  eager_->next();
}

//===-- Where an iterator stands ----------------------------------------------------------------===//
//
// "calque data set 1; element 12; end 0; iterations 3,0; of range(0,1,40).shuffle(9,1).batch(4,0)". The iterations are
// those of the nodes that count them, in the order of nodesOf(). Where callables make data sets, version 2 has the
// seeds that they draw by behind these, "; seeds 17,4", which are no part of what the data set is, as a callable may
// draw none.

std::string UntypedIterator::get_state(SourceLocation where) const {
  if (traced_)
    throw StateError("an iterator has no state in a trace, where there are no elements yet", CallSite::resolve(where));
  if (eager_->hasThrown)
    throw StateError("the position of an iterator is not known behind an element that threw; ignore_errors() before "
                     "leaves such elements out",
                     CallSite::resolve(where));
  std::vector<std::uint64_t> iterations, seeds;
  const Numbers &numbers = eager_->numbers;
  for (const Node *each : nodesOf(*eager_->node)) {
    if (auto found = numbers.iterations.find(each); found != numbers.iterations.end())
      iterations.push_back(found->second);
    if (auto found = numbers.seeds.find(each); found != numbers.seeds.end())
      seeds.push_back(found->second);
  }
  return absl::StrCat(seeds.empty() ? kHeader : kHeaderWithSeeds, "; element ", eager_->number, "; end ",
                      eager_->cursor ? 0 : 1, "; iterations ", absl::StrJoin(iterations, ","),
                      seeds.empty() ? "" : "; seeds ", absl::StrJoin(seeds, ","), "; of ", describe(*eager_->node));
}

void UntypedIterator::set_state(const std::string &state, SourceLocation where) {
  where = CallSite::resolve(where);
  if (traced_)
    throw StateError("an iterator has no state in a trace, where there are no elements yet", where);
  auto refuse = [&] { throw ValueError(absl::StrCat("this is no state of an iterator: '", state, "'"), where); };
  const bool hasSeeds = state.starts_with(kHeaderWithSeeds);
  const std::size_t count = hasSeeds ? 6 : 5;
  const std::vector<std::string> fields = absl::StrSplit(state, absl::MaxSplits("; ", count - 1));
  auto take = [&](std::size_t i, std::string_view name) {
    std::string_view text = fields.size() == count ? std::string_view(fields[i]) : std::string_view();
    if (!text.starts_with(name))
      refuse();
    text.remove_prefix(name.size());
    return std::string(text);
  };
  std::int64_t number = -1;
  take(0, hasSeeds ? kHeaderWithSeeds : kHeader);
  const std::string end = take(2, "end "), of = take(count - 1, "of ");
  auto numbersIn = [&](std::size_t i, std::string_view name) {
    std::vector<std::uint64_t> numbers;
    const std::string texts = take(i, name);
    for (absl::string_view text : absl::StrSplit(texts, ',', absl::SkipEmpty()))
      if (!absl::SimpleAtoi(text, &numbers.emplace_back()))
        refuse();
    return numbers;
  };
  const std::vector<std::uint64_t> iterations = numbersIn(3, "iterations ");
  const std::vector<std::uint64_t> seeds = hasSeeds ? numbersIn(4, "seeds ") : std::vector<std::uint64_t>();
  const Node &node = *eager_->node;
  if (of != describe(node))
    throw ValueError(absl::StrCat("the state is one of the data set ", of, ", and this one is ", describe(node)),
                     where);
  if (!absl::SimpleAtoi(take(1, "element "), &number) || (end != "0" && end != "1") || number < (end == "0"))
    refuse();
  Numbers numbers;
  std::vector<std::pair<std::atomic<std::uint64_t> *, std::uint64_t>> next; // of the nodes, for what comes after
  std::size_t iteration = 0, seed = 0;
  for (const Node *each : nodesOf(node)) {
    if (std::atomic<std::uint64_t> *counter = each->iterations()) {
      if (iteration == iterations.size())
        refuse();
      numbers.iterations[each] = iterations[iteration++];
      next.emplace_back(counter, numbers.iterations[each] + 1);
    }
    if (std::atomic<std::uint64_t> *own = each->seedOfCallable()) {
      if (hasSeeds && seed == seeds.size())
        refuse();
      numbers.seeds[each] = hasSeeds ? seeds[seed++] : own->load();
      next.emplace_back(own, numbers.seeds[each]);
    }
  }
  if (iteration != iterations.size() || seed != seeds.size())
    refuse();
  auto moved = std::make_shared<Eager>(eager_->node, std::move(numbers));
  const bool isAtEnd = end == "1";
  moved->number = isAtEnd ? number : number - 1;
  bool isThere = moved->cursor->skip(moved->number) == moved->number;
  if (isAtEnd)
    moved->cursor.reset();
  else if (isThere) {
    moved->next();
    isThere = moved->cursor != nullptr;
  }
  if (!isThere)
    throw ValueError(absl::StrCat("the state is behind the end of the data set: '", state, "'"), where);
  // What comes after this iteration is what would have come after it there.
  for (const auto &[number, value] : next)
    number->store(value);
  *eager_ = std::move(*moved);
}

} // namespace calque::data::detail
