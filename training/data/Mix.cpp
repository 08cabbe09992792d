// Elements of several data sets, taken by turns, by numbers or at random.
#include "data/Node.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <deque>
#include <exception>
#include <numeric>

namespace calque::data::detail {
namespace {

struct Interleave : Stage {
  Interleave(NodePtr from, std::function<Untyped(const Parts &)> f, const InterleaveOptions &options, const char *text,
             std::optional<Parts> signature, std::uint64_t seed)
      : Stage(std::move(from)), f(std::move(f)), options(options), text(text), signature(std::move(signature)),
        seed(seed) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const Interleave &node, const Opening &opening)
        : from(std::move(from)), f(node.f), blockLength(node.options.block_length),
          ahead(static_cast<std::size_t>(node.options.num_parallel_calls - 1)), opening(opening), node(node),
          open(static_cast<std::size_t>(node.options.cycle_length)) {
      if (ahead)
        permits = std::make_shared<Permits>(node.options.num_parallel_calls);
    }
    bool next(Item &item) override {
      for (std::size_t without = 0; without < open.size();) {
        std::unique_ptr<Cursor> &place = open[turn];
        if (!place && !fill(place)) {
          ++without;
          advance();
          continue;
        }
        without = 0;
        if (place->next(item)) {
          if (++taken == blockLength)
            advance();
          return true;
        }
        place.reset(); // the next one takes its place, and its turn
        taken = 0;
      }
      return false;
    }

  private:
    // The elements of the data set that f makes, when it is first asked for one.
    struct Made : Cursor {
      Made(std::function<Untyped(const Parts &)> f, Parts parts, Opening opening, std::uint64_t seed)
          : f(std::move(f)), parts(std::move(parts)), opening(std::move(opening)), seed(seed) {}
      bool next(Item &item) override {
        if (f) {
          DrawsSeeds draws(seed);
          node = std::exchange(f, nullptr)(parts).node({});
          cursor = node->open(opening);
        }
        return cursor && cursor->next(item); // none where that threw
      }
      std::function<Untyped(const Parts &)> f;
      const Parts parts;
      const Opening opening;
      const std::uint64_t seed;
      NodePtr node; // which the cursor needs
      std::unique_ptr<Cursor> cursor;
    };
    // What comes next, or what asking for it threw.
    struct Ready {
      std::unique_ptr<Cursor> cursor;
      std::exception_ptr error;
    };
    void advance() {
      turn = (turn + 1) % open.size();
      taken = 0;
    }
    // Places are filled when it is their turn, so that threads ahead change nothing about the order.
    bool fill(std::unique_ptr<Cursor> &place) {
      while (!ended && ready.size() <= ahead)
        try {
          Item item;
          if (!from->next(item)) {
            ended = true;
            break;
          }
          item.settle();
          const Opening own = opening.nested(++number);
          std::unique_ptr<Cursor> made =
              std::make_unique<Made>(f, std::move(item.parts), own, own.seedOfCallable(node));
          if (ahead)
            made = madeAhead(std::move(made), blockLength, permits);
          ready.push_back({std::move(made), nullptr});
        } catch (...) {
          ready.push_back({nullptr, std::current_exception()});
        }
      if (ready.empty())
        return false;
      Ready next = std::move(ready.front());
      ready.pop_front();
      if (next.error)
        std::rethrow_exception(next.error);
      place = std::move(next.cursor);
      return true;
    }
    const std::unique_ptr<Cursor> from;
    const std::function<Untyped(const Parts &)> f;
    const std::int64_t blockLength;
    const std::size_t ahead; // how many are made before it is their turn
    const Opening opening;
    const Interleave &node;
    std::shared_ptr<Permits> permits;
    std::deque<Ready> ready;
    std::vector<std::unique_ptr<Cursor>> open;
    std::size_t turn = 0;
    std::int64_t taken = 0;
    std::uint64_t number = 0;
    bool ended = false;
  };
  std::string name() const override {
    return absl::StrCat(text, "(", options.cycle_length, ",", options.block_length, ")");
  }
  std::optional<Spec> spec() const override {
    if (signature || !MayMakeElements::areAllowed())
      return specOf(signature);
    // As the data set of the first element says, or makes, its elements.
    const std::unique_ptr<Cursor> cursor = from->open({std::make_shared<const Opening::Numbers>()});
    Item item;
    if (!cursor->next(item))
      return std::nullopt;
    item.settle();
    DrawsSeeds draws(seed); // so that to ask changes nothing
    const NodePtr made = f(item.parts).node({});
    if (std::optional<Spec> spec = made->spec())
      return withOpenSizes(std::move(*spec),
                           absl::StrCat(text, " may make elements of other sizes than the first ones"));
    return std::nullopt;
  }
  std::string unknown() const override { return text; }
  std::int64_t cardinality() const override { return from->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    // What f makes is no part of the graph, and so counts no iterations: the salt stands for them.
    Opening own = opening;
    own.salt = opening.seed(this, 0);
    return std::make_unique<At>(from->open(opening), *this, own);
  }
  std::atomic<std::uint64_t> *iterations() const override { return &count; }
  std::atomic<std::uint64_t> *seedOfCallable() const override { return &seed; }
  const std::function<Untyped(const Parts &)> f;
  const InterleaveOptions options;
  const char *const text;
  const std::optional<Parts> signature;
  mutable std::atomic<std::uint64_t> seed;
  mutable std::atomic<std::uint64_t> count{0};
};

// One of several at a time.
struct Select : Node {
  Select(std::vector<NodePtr> all, bool stopOnEmpty) : all(std::move(all)), stopOnEmpty(stopOnEmpty) {}
  std::vector<const Node *> inputs() const override {
    std::vector<const Node *> inputs;
    for (const NodePtr &each : all)
      inputs.push_back(each.get());
    return inputs;
  }
  std::optional<Spec> spec() const override {
    std::optional<Spec> spec = all[0]->spec();
    for (const NodePtr &each : all)
      spec = merged(spec, each->spec());
    return spec;
  }
  std::int64_t cardinality() const override { return kUnknown; }
  std::vector<std::unique_ptr<Cursor>> openAll(const Opening &opening) const {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (std::size_t i = 0; i < all.size(); ++i)
      cursors.push_back(all[i]->open(opening.nested(i)));
    return cursors;
  }
  const std::vector<NodePtr> all;
  const bool stopOnEmpty;
};

struct Choose : Select {
  Choose(std::vector<NodePtr> all, NodePtr choice, bool stopOnEmpty, SourceLocation where)
      : Select(std::move(all), stopOnEmpty), choice(std::move(choice)), where(where) {}
  struct At : Cursor {
    At(std::vector<std::unique_ptr<Cursor>> all, std::unique_ptr<Cursor> choice, bool stopOnEmpty, SourceLocation where)
        : all(std::move(all)), choice(std::move(choice)), stopOnEmpty(stopOnEmpty), where(where) {}
    bool next(Item &item) override {
      for (Item number; !isDone && choice->next(number);) {
        number.settle();
        const Tensor &x = number.parts.tensors[0];
        const std::int64_t which =
            x.dtype() == DType::Int32 ? x.item<std::int32_t>(where) : x.item<std::int64_t>(where);
        if (which < 0 || which >= static_cast<std::int64_t>(all.size()))
          throw IndexError(
              absl::StrCat("choose_from_datasets: the choice is ", which, " and there are ", all.size(), " data sets"),
              where);
        if (all[static_cast<std::size_t>(which)]->next(item))
          return true;
        isDone = stopOnEmpty;
      }
      return false;
    }
    const std::vector<std::unique_ptr<Cursor>> all;
    const std::unique_ptr<Cursor> choice;
    const bool stopOnEmpty;
    const SourceLocation where;
    bool isDone = false;
  };
  std::string name() const override { return "choose"; }
  std::vector<const Node *> inputs() const override {
    std::vector<const Node *> inputs = Select::inputs();
    inputs.push_back(choice.get());
    return inputs;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(openAll(opening), choice->open(opening), stopOnEmpty, where);
  }
  const NodePtr choice;
  const SourceLocation where;
};

struct Sample : Select {
  Sample(std::vector<NodePtr> all, std::vector<double> weights, std::uint64_t seed, bool stopOnEmpty)
      : Select(std::move(all), stopOnEmpty), weights(std::move(weights)), seed(seed) {}
  struct At : Cursor {
    At(std::vector<std::unique_ptr<Cursor>> all, std::vector<double> weights, std::uint64_t seed, bool stopOnEmpty)
        : all(std::move(all)), weights(std::move(weights)), random(seed), stopOnEmpty(stopOnEmpty) {}
    bool next(Item &item) override {
      for (;;) {
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        if (total == 0)
          return false;
        double at = random.unit() * total;
        std::size_t which = 0;
        for (std::size_t i = 0; i < weights.size(); ++i)
          if (weights[i] > 0) { // the last one of these where rounding leaves nothing else
            which = i;
            if (at < weights[i])
              break;
            at -= weights[i];
          }
        if (all[which]->next(item))
          return true;
        weights[which] = 0;
        if (stopOnEmpty)
          std::fill(weights.begin(), weights.end(), 0.0);
      }
    }
    const std::vector<std::unique_ptr<Cursor>> all;
    std::vector<double> weights; // 0 for those at their end
    Random random;
    const bool stopOnEmpty;
  };
  std::string name() const override { return absl::StrCat("sample(", seed, ")"); }
  std::int64_t cardinality() const override {
    std::int64_t sum = 0;
    for (const NodePtr &each : all) {
      const std::int64_t own = each->cardinality();
      if (own < 0 || stopOnEmpty)
        return kUnknown;
      sum += own;
    }
    for (double weight : weights)
      if (weight == 0)
        return kUnknown;
    return sum;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(openAll(opening), weights, opening.seed(this, seed), stopOnEmpty);
  }
  std::atomic<std::uint64_t> *iterations() const override { return &count; }
  const std::vector<double> weights;
  const std::uint64_t seed;
  mutable std::atomic<std::uint64_t> count{0};
};

std::vector<NodePtr> nodesOf(const std::vector<Untyped> &all, const char *name, SourceLocation where) {
  if (all.empty())
    throw ValueError(absl::StrCat(name, ": there are no data sets to take elements of"), CallSite::resolve(where));
  std::vector<NodePtr> nodes;
  for (const Untyped &each : all)
    nodes.push_back(each.node(where));
  return nodes;
}

} // namespace

Untyped Untyped::interleave(std::function<Untyped(const Parts &)> f, const InterleaveOptions &options, const char *name,
                            std::optional<Parts> signature, SourceLocation where) const {
  requireAtLeastOne(name, "the cycle's length", options.cycle_length, where);
  requireAtLeastOne(name, "the block's length", options.block_length, where);
  InterleaveOptions own = options;
  own.num_parallel_calls = parallelCalls(name, options.num_parallel_calls, where);
  return Untyped(std::make_shared<Interleave>(node(where), std::move(f), own, name, std::move(signature),
                                              static_cast<std::uint64_t>(drawSeed(std::nullopt, where))));
}

Untyped Untyped::choose(const std::vector<Untyped> &all, const Untyped &choice, bool stopOnEmpty,
                        SourceLocation where) {
  return Untyped(std::make_shared<Choose>(nodesOf(all, "choose_from_datasets", where), choice.node(where), stopOnEmpty,
                                          CallSite::resolve(where)));
}

Untyped Untyped::sample(const std::vector<Untyped> &all, const SampleOptions &options, SourceLocation where) {
  std::vector<NodePtr> nodes = nodesOf(all, "sample_from_datasets", where);
  std::vector<double> weights = options.weights.empty() ? std::vector<double>(all.size(), 1) : options.weights;
  double sum = 0;
  bool areSound = weights.size() == all.size();
  for (double weight : weights) {
    areSound = areSound && weight >= 0;
    sum += weight;
  }
  if (!areSound || !std::isfinite(sum) || sum == 0)
    throw ValueError(absl::StrCat("sample_from_datasets: the ", weights.size(), " weights must be one for each of the ",
                                  all.size(), " data sets, finite, not below 0, and not all 0"),
                     CallSite::resolve(where));
  return Untyped(std::make_shared<Sample>(std::move(nodes), std::move(weights),
                                          static_cast<std::uint64_t>(drawSeed(options.seed, where)),
                                          options.stop_on_empty_dataset));
}

} // namespace calque::data::detail
