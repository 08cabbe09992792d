// What calls the user's callables, and what does so on threads.
#include "data/Node.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/function.h"
#include "calque/tensors.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace calque::data::detail {
namespace {

//===-- One after the other ---------------------------------------------------------------------===//

struct Map : Stage {
  Map(NodePtr from, std::function<Mapping()> begin, bool depends, std::int64_t threads, std::optional<Parts> signature)
      : Stage(std::move(from)), begin(std::move(begin)), depends(depends), threads(threads),
        signature(std::move(signature)) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, Mapping f, bool depends)
        : from(std::move(from)), f(std::move(f)), depends(depends) {}
    bool next(Item &item) override {
      if (!from->next(item))
        return false;
      item.settle();
      item.parts = f(std::move(item.parts));
      return true;
    }
    std::int64_t skip(std::int64_t count) override { return depends ? Cursor::skip(count) : from->skip(count); }
    const std::unique_ptr<Cursor> from;
    const Mapping f;
    const bool depends;
  };
  std::string name() const override { return depends ? "scan" : "map"; }
  std::optional<Spec> spec() const override {
    if (signature)
      return specOf(signature);
    std::optional<Spec> traced = MayMakeElements::areAllowed() && !depends ? trace() : std::nullopt;
    return traced ? traced : specOfFirst(*this);
  }
  // What the callable makes of any element of tensors, as tracing it finds out. None for a callable that looks at
  // elements, and so can't be traced.
  std::optional<Spec> trace() const {
    const std::optional<Spec> given = from->spec();
    if (!given || !given->rest.empty() || given->tensors.empty())
      return std::nullopt;
    try {
      Spec spec;
      const Mapping f = begin();
      auto traced = function([&](const Tensors &x) {
        Parts parts;
        for (const auto &[name, tensor] : x)
          parts.tensors.push_back(tensor);
        parts = f(std::move(parts));
        spec.rest = parts.rest;
        return Tensors(parts.tensors);
      });
      Tensors types;
      for (const TensorSpec<> &tensor : given->tensors)
        types.push_back(tensor);
      spec.tensors = traced.get_concrete_function(types).result_specs();
      for (const TensorSpec<> &tensor : spec.tensors)
        if (!tensor.shape().is_known())
          spec.open = absl::StrCat("map makes ", tensor.str());
      return spec;
    } catch (const std::exception &) {
      return std::nullopt;
    }
  }
  std::string unknown() const override { return absl::StrCat(name(), " without an output_signature"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override;
  const std::function<Mapping()> begin;
  const bool depends; // on the elements before
  const std::int64_t threads;
  const std::optional<Parts> signature;
};

struct Filter : Stage {
  Filter(NodePtr from, Predicate predicate, bool endsAtFalse)
      : Stage(std::move(from)), predicate(std::move(predicate)), endsAtFalse(endsAtFalse) {}
  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, Predicate predicate, bool endsAtFalse)
        : from(std::move(from)), predicate(std::move(predicate)), endsAtFalse(endsAtFalse) {}
    bool next(Item &item) override {
      while (!isDone && from->next(item)) {
        item.settle();
        if (predicate(item.parts))
          return true;
        isDone = endsAtFalse;
      }
      return false;
    }
    const std::unique_ptr<Cursor> from;
    const Predicate predicate;
    const bool endsAtFalse;
    bool isDone = false;
  };
  std::string name() const override { return endsAtFalse ? "take_while" : "filter"; }
  std::int64_t cardinality() const override { return from->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening), predicate, endsAtFalse);
  }
  const Predicate predicate;
  const bool endsAtFalse;
};

struct IgnoreErrors : Stage {
  using Stage::Stage;
  struct At : Cursor {
    explicit At(std::unique_ptr<Cursor> from) : from(std::move(from)) {}
    bool next(Item &item) override {
      for (;;)
        try {
          return from->next(item);
        } catch (const std::exception &) { // and no other exceptions, such as the one that ends a thread
        }
    }
    const std::unique_ptr<Cursor> from;
  };
  std::string name() const override { return "ignore_errors"; }
  std::int64_t cardinality() const override { return from->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<At>(from->open(opening));
  }
};

//===-- On threads ------------------------------------------------------------------------------===//

// Threads take items from a cursor, one at a time, and work on them at once. What comes of them is given in the order
// in which they were taken. The threads start when the first item is asked for.
class Ahead : public Cursor {
public:
  // Up to `count` items are in work or ready.
  Ahead(std::unique_ptr<Cursor> from, Mapping f, std::int64_t threads, std::int64_t count)
      : from(std::move(from)), f(std::move(f)), numThreads(static_cast<std::size_t>(threads)),
        count(static_cast<std::size_t>(count)) {}
  ~Ahead() override { stop(); }

  bool next(Item &item) override {
    if (threads.empty())
      start();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return slots.empty() ? ended : slots.front()->isReady; });
    if (slots.empty())
      return false;
    const std::shared_ptr<Slot> slot = std::move(slots.front());
    slots.pop_front();
    lock.unlock();
    changed.notify_all();
    if (slot->error)
      std::rethrow_exception(std::exchange(slot->error, nullptr));
    item = std::move(slot->item);
    return true;
  }
  std::int64_t skip(std::int64_t number) override {
    return threads.empty() ? from->skip(number) : Cursor::skip(number);
  }

  void start() {
    try {
      while (threads.size() < numThreads)
        threads.emplace_back([this] { run(); });
    } catch (...) { // fewer threads do as well, but none
      if (threads.empty())
        throw;
    }
  }

private:
  struct Slot {
    Item item;
    std::exception_ptr error;
    bool isReady = false;
  };

  void stop() {
    {
      std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void run() {
    while (std::shared_ptr<Slot> slot = take()) {
      if (!slot->error)
        try {
          slot->item.settle(); // copies the row on this thread, before the consumer asks for it
          if (f)
            slot->item.parts = f(std::move(slot->item.parts));
        } catch (...) {
          slot->error = std::current_exception();
        }
      std::lock_guard lock(mutex);
      slot->isReady = true;
      changed.notify_all();
    }
  }

  // The next item, or what its making threw; nothing at the end.
  std::shared_ptr<Slot> take() {
    std::lock_guard order(taking);
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || ended || slots.size() < count; });
      if (stopped || ended)
        return nullptr;
    }
    auto slot = std::make_shared<Slot>();
    bool isThere = true;
    try {
      isThere = from->next(slot->item);
    } catch (...) {
      slot->error = std::current_exception();
    }
    std::lock_guard lock(mutex);
    if (isThere)
      slots.push_back(slot);
    else
      ended = true;
    changed.notify_all();
    return isThere ? slot : nullptr;
  }

  const std::unique_ptr<Cursor> from;
  const Mapping f;
  const std::size_t numThreads, count;
  std::mutex taking, mutex; // in this order
  std::condition_variable changed;
  std::deque<std::shared_ptr<Slot>> slots;
  bool ended = false, stopped = false;
  std::vector<std::thread> threads;
};

struct Prefetch : Stage {
  Prefetch(NodePtr from, std::int64_t count) : Stage(std::move(from)), count(count) {}
  std::string name() const override { return absl::StrCat("prefetch(", count, ")"); }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Ahead>(from->open(opening), nullptr, 1, count);
  }
  const std::int64_t count;
};

std::unique_ptr<Cursor> Map::open(const Opening &opening) const {
  std::unique_ptr<Cursor> cursor = from->open(opening);
  if (threads == 1)
    return std::make_unique<At>(std::move(cursor), begin(), depends);
  return std::make_unique<Ahead>(std::move(cursor), begin(), threads, threads);
}

// Makes its items while it holds a permit.
struct Permitted : Cursor {
  Permitted(std::unique_ptr<Cursor> from, std::shared_ptr<Permits> permits)
      : from(std::move(from)), permits(std::move(permits)) {}
  bool next(Item &item) override {
    permits->acquire();
    const absl::Cleanup release = [&] { permits->release(); };
    const bool isThere = from->next(item);
    item.settle();
    return isThere;
  }
  const std::unique_ptr<Cursor> from;
  const std::shared_ptr<Permits> permits;
};

} // namespace

std::unique_ptr<Cursor> madeAhead(std::unique_ptr<Cursor> from, std::int64_t count, std::shared_ptr<Permits> permits) {
  auto cursor =
      std::make_unique<Ahead>(std::make_unique<Permitted>(std::move(from), std::move(permits)), nullptr, 1, count);
  cursor->start();
  return cursor;
}

std::int64_t parallelCalls(const char *operation, std::int64_t number, SourceLocation where) {
  if (number == kAutotune)
    return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  requireAtLeastOne(operation, "the number of parallel calls", number, where);
  return number;
}

Untyped Untyped::map(Mapping f, std::int64_t parallelCalls, std::optional<Parts> signature,
                     SourceLocation where) const {
  parallelCalls = detail::parallelCalls("map", parallelCalls, where);
  return Untyped(
      std::make_shared<Map>(node(where), [f = std::move(f)] { return f; }, false, parallelCalls, std::move(signature)));
}
Untyped Untyped::scan(std::function<Mapping()> begin, std::optional<Parts> signature, SourceLocation where) const {
  return Untyped(std::make_shared<Map>(node(where), std::move(begin), true, 1, std::move(signature)));
}
Untyped Untyped::filter(Predicate predicate, bool endsAtFalse, SourceLocation where) const {
  return Untyped(std::make_shared<Filter>(node(where), std::move(predicate), endsAtFalse));
}
Untyped Untyped::prefetch(std::int64_t count, SourceLocation where) const {
  if (count == kAutotune)
    count = 2;
  requireAtLeastOne("prefetch", "the number of elements", count, where);
  return Untyped(std::make_shared<Prefetch>(node(where), count));
}
Untyped Untyped::ignoreErrors(SourceLocation where) const {
  return Untyped(std::make_shared<IgnoreErrors>(node(where)));
}

} // namespace calque::data::detail
