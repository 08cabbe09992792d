#include "Support.h"
#include "absl/strings/str_cat.h"
#include "data/Node.h"

#include "calque/callable.h"
#include "calque/host_call.h"
#include "calque/random.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace calque::data {
namespace detail {
namespace {

const void *bytesOf(const Tensor &x, SourceLocation where = {}) {
  return dispatch(x.dtype(where),
                  [&]<typename T>(std::type_identity<T>) { return static_cast<const void *>(x.data<T>(where)); });
}

Component componentOf(const Tensor &x) {
  const Shape shape = x.shape();
  Component component{x.dtype(), Shape(shape.begin() + 1, shape.end()), nullptr};
  std::size_t bytes = component.numElements() * size_of(x.dtype());
  component.copy = [x, bytes](std::int64_t row, std::byte *out) {
    if (bytes)
      std::memcpy(out, static_cast<const std::byte *>(bytesOf(x)) + static_cast<std::size_t>(row) * bytes, bytes);
  };
  return component;
}

Tensor makeOf(DType dtype, const std::vector<std::byte> &bytes, Shape shape) {
  return calque::detail::makeTensor(dtype, bytes.data(), bytes.size() / size_of(dtype), std::move(shape), {});
}

//===-- The source ------------------------------------------------------------------------------===//

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
    std::shared_ptr<const Rows> rows;
    std::int64_t row = 0;
  };
  std::unique_ptr<Cursor> open() const override { return std::make_unique<At>(rows); }
  ElementTypes types(SourceLocation) const override {
    auto of = [](const Component &component) { return TensorSpec<>(component.dtype, component.shape); };
    return {of(rows->components[0]), of(rows->components[1])};
  }
  std::int64_t size() const override { return rows->size; }
  std::shared_ptr<const Rows> rows;
};

//===-- Shuffling -------------------------------------------------------------------------------===//

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
  std::uint64_t draw() {
    std::uint64_t x = state += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
  }

private:
  std::uint64_t state;
};

struct Shuffle : Node {
  Shuffle(std::shared_ptr<const Node> from, std::int64_t bufferSize, std::uint64_t seed, bool reshuffle)
      : from(std::move(from)), bufferSize(bufferSize), seed(seed), reshuffle(reshuffle) {}
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
    std::unique_ptr<Cursor> from;
    std::size_t bufferSize;
    Random random;
    std::vector<Item> buffer;
    bool ended = false;
  };
  std::unique_ptr<Cursor> open() const override {
    std::uint64_t iteration = reshuffle ? iterations.fetch_add(1) : 0;
    Random ofIterations(seed ^ iteration * 0xd1342543de82ef95ULL);
    return std::make_unique<At>(from->open(), bufferSize, ofIterations.draw());
  }
  ElementTypes types(SourceLocation at) const override { return from->types(at); }
  std::int64_t size() const override { return from->size(); }
  std::shared_ptr<const Node> from;
  std::int64_t bufferSize;
  std::uint64_t seed;
  bool reshuffle;
  mutable std::atomic<std::uint64_t> iterations{0};
};

//===-- Batching --------------------------------------------------------------------------------===//

struct Batch : Node {
  Batch(std::shared_ptr<const Node> from, std::int64_t batchSize, bool dropRemainder, SourceLocation where)
      : from(std::move(from)), batchSize(batchSize), dropRemainder(dropRemainder), where(where) {}

  struct At : Cursor {
    At(std::unique_ptr<Cursor> from, const Batch &batch)
        : from(std::move(from)), batchSize(static_cast<std::size_t>(batch.batchSize)),
          dropRemainder(batch.dropRemainder), where(batch.where) {}
    bool next(Item &item) override {
      items.clear();
      for (Item one; items.size() < batchSize && from->next(one);)
        items.push_back(std::move(one));
      if (items.empty() || (dropRemainder && items.size() < batchSize))
        return false;
      item = {nullptr, 0, {stack(0), stack(1)}};
      return true;
    }

    Tensor stack(std::size_t component) const {
      auto dtypeOf = [&](const Item &item) {
        return item.rows ? item.rows->components[component].dtype : item.tensors[component].dtype();
      };
      auto shapeOf = [&](const Item &item) -> Shape {
        return item.rows ? item.rows->components[component].shape : item.tensors[component].shape();
      };
      DType dtype = dtypeOf(items[0]);
      const Shape one = shapeOf(items[0]);
      std::size_t bytes = size_of(dtype);
      for (std::int64_t size : one)
        bytes *= static_cast<std::size_t>(size);
      std::vector<std::byte> stacked(bytes * items.size());
      for (std::size_t i = 0; i < items.size(); ++i) {
        const Item &item = items[i];
        auto differs = [&] {
          return absl::StrCat("batch: element ", i, " differs from the first of its batch in component ", component);
        };
        if (dtypeOf(item) != dtype)
          throw DTypeError(absl::StrCat(differs(), ": it is ", name_of(dtypeOf(item)), ", not ", name_of(dtype)),
                           where);
        if (shapeOf(item) != one)
          throw ShapeError(absl::StrCat(differs(), ": its shape is ", shapeOf(item).str(), ", not ", one.str()), where);
        if (item.rows)
          item.rows->components[component].copy(item.row, stacked.data() + i * bytes);
        else if (bytes)
          std::memcpy(stacked.data() + i * bytes, bytesOf(item.tensors[component]), bytes);
      }
      Shape shape = {static_cast<std::int64_t>(items.size())};
      shape.insert(shape.end(), one.begin(), one.end());
      return makeOf(dtype, stacked, std::move(shape));
    }

    std::unique_ptr<Cursor> from;
    std::size_t batchSize;
    bool dropRemainder;
    SourceLocation where;
    std::vector<Item> items;
  };
  std::unique_ptr<Cursor> open() const override { return std::make_unique<At>(from->open(), *this); }
  ElementTypes types(SourceLocation at) const override {
    const std::int64_t elements = from->size(), rest = elements % batchSize;
    if (!dropRemainder && elements > batchSize && rest)
      throw ValueError(
          absl::StrCat("a loop over a data set in a trace takes elements of one shape; the last batch has ", rest,
                       " elements and the others have ", batchSize,
                       "; batch(size, drop_remainder = true) leaves it out"),
          at);
    const bool isSmall = !dropRemainder && elements && elements < batchSize;
    auto of = [&](const TensorSpec<> &one) {
      Shape shape = one.shape();
      shape.insert(shape.begin(), isSmall ? elements : batchSize);
      return TensorSpec<>(one.dtype(), shape);
    };
    ElementTypes ofOne = from->types(at);
    return {of(ofOne[0]), of(ofOne[1])};
  }
  std::int64_t size() const override {
    std::int64_t elements = from->size();
    return elements / batchSize + (!dropRemainder && elements % batchSize != 0);
  }
  std::shared_ptr<const Node> from;
  std::int64_t batchSize;
  bool dropRemainder;
  SourceLocation where;
};

//===-- Prefetching -----------------------------------------------------------------------------===//

struct Prefetch : Node {
  Prefetch(std::shared_ptr<const Node> from, std::int64_t count) : from(std::move(from)), count(count) {}

  class At : public Cursor {
  public:
    At(std::unique_ptr<Cursor> from, std::size_t count)
        : from(std::move(from)), count(count), thread([this] { run(); }) {}
    ~At() override {
      {
        std::lock_guard lock(mutex);
        stopped = true;
      }
      changed.notify_all();
      thread.join();
    }
    bool next(Item &item) override {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !ready.empty() || ended; });
      if (ready.empty()) {
        if (error)
          std::rethrow_exception(std::exchange(error, nullptr));
        return false;
      }
      item = std::move(ready.front());
      ready.pop_front();
      lock.unlock();
      changed.notify_all();
      return true;
    }

  private:
    void run() {
      std::exception_ptr failure;
      try {
        for (Item item; from->next(item);) {
          // The rows are copied on this thread, before the consumer asks for the element.
          auto [x, y] = item.element();
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return ready.size() < count || stopped; });
          if (stopped)
            return;
          ready.push_back({nullptr, 0, {std::move(x), std::move(y)}});
          lock.unlock();
          changed.notify_all();
        }
      } catch (...) {
        failure = std::current_exception();
      }
      std::lock_guard lock(mutex);
      error = std::move(failure);
      ended = true;
      changed.notify_all();
    }

    std::unique_ptr<Cursor> from;
    const std::size_t count;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Item> ready;
    std::exception_ptr error;
    bool ended = false, stopped = false;
    std::thread thread; // the last member, because it uses the others
  };
  std::unique_ptr<Cursor> open() const override {
    return std::make_unique<At>(from->open(), static_cast<std::size_t>(count));
  }
  ElementTypes types(SourceLocation at) const override { return from->types(at); }
  std::int64_t size() const override { return from->size(); }
  std::shared_ptr<const Node> from;
  std::int64_t count;
};

} // namespace

std::size_t Component::numElements() const {
  std::size_t count = 1;
  for (std::int64_t size : shape)
    count *= static_cast<std::size_t>(size);
  return count;
}

Dataset::Element Item::element() const {
  if (!rows)
    return {tensors[0], tensors[1]};
  auto make = [&](const Component &component) {
    std::vector<std::byte> bytes(component.numElements() * size_of(component.dtype));
    component.copy(row, bytes.data());
    return makeOf(component.dtype, bytes, component.shape);
  };
  return {make(rows->components[0]), make(rows->components[1])};
}

std::shared_ptr<const Node> makeSource(Rows rows) {
  return std::make_shared<Source>(std::make_shared<const Rows>(std::move(rows)));
}

} // namespace detail

namespace {
void checkAtLeastOne(const char *operation, const char *what, std::int64_t value, SourceLocation where) {
  if (value < 1)
    throw ValueError(absl::StrCat(operation, ": ", what, " is ", value, " and must be at least 1"),
                     CallSite::resolve(where));
}
} // namespace

Dataset Dataset::from_tensor_slices(const Tensor &x, const Tensor &y, SourceLocation where) {
  where = CallSite::resolve(where);
  if (x.rank(where) == 0 || y.rank(where) == 0)
    throw ShapeError("from_tensor_slices: a scalar has no slices", where);
  if (x.shape()[0] != y.shape()[0])
    throw ShapeError(absl::StrCat("from_tensor_slices: there are ", x.shape()[0].str(), " and ", y.shape()[0].str(),
                                  " slices, and must be as many of both"),
                     where);
  detail::bytesOf(x, where), detail::bytesOf(y, where); // a traced tensor has no elements
  return Dataset(detail::makeSource({x.shape()[0], {detail::componentOf(x), detail::componentOf(y)}}));
}

const std::shared_ptr<const detail::Node> &Dataset::node(SourceLocation where) const {
  if (!node_)
    calque::detail::throwEmptyHandle("data set", where);
  return node_;
}

Dataset Dataset::shuffle(std::int64_t buffer_size, ShuffleOptions options, SourceLocation where) const {
  checkAtLeastOne("shuffle", "the buffer's size", buffer_size, where);
  std::int64_t seed = options.seed ? *options.seed : random::global_generator().draw_seed(where);
  return Dataset(std::make_shared<detail::Shuffle>(node(where), buffer_size, static_cast<std::uint64_t>(seed),
                                                   options.reshuffle_each_iteration));
}

Dataset Dataset::batch(std::int64_t size, bool drop_remainder, SourceLocation where) const {
  checkAtLeastOne("batch", "the size", size, where);
  return Dataset(std::make_shared<detail::Batch>(node(where), size, drop_remainder, CallSite::resolve(where)));
}

Dataset Dataset::prefetch(std::int64_t count, SourceLocation where) const {
  checkAtLeastOne("prefetch", "the number of elements", count, where);
  return Dataset(std::make_shared<detail::Prefetch>(node(where), count));
}

std::int64_t Dataset::size(SourceLocation where) const { return node(where)->size(); }
Dataset::Iterator Dataset::begin(SourceLocation where) const {
  const std::shared_ptr<const detail::Node> &from = node(where);
  if (!calque::detail::isTracing())
    return Iterator(from->open());
  where = CallSite::resolve(where);
  auto open = [from] {
    return [cursor = std::shared_ptr<detail::Cursor>(from->open())]() -> std::optional<std::vector<Tensor>> {
      detail::Item item;
      if (!cursor->next(item))
        return std::nullopt;
      auto [x, y] = item.element();
      return std::vector<Tensor>{x, y};
    };
  };
  const detail::ElementTypes types = from->types(where);
  return Iterator(std::make_shared<calque::detail::TracedElements>(
      calque::detail::HostElements{open, from.get(), {types.begin(), types.end()}}, where));
}

Dataset::Iterator::Iterator(std::shared_ptr<detail::Cursor> cursor) : cursor_(std::move(cursor)) { ++*this; }
Dataset::Iterator::Iterator(std::shared_ptr<calque::detail::TracedElements> traced) : traced_(std::move(traced)) {}
bool Dataset::Iterator::operator==(std::default_sentinel_t) const { return traced_ ? traced_->isAtEnd() : !cursor_; }
const Dataset::Element &Dataset::Iterator::operator*() const {
  if (traced_) {
    const std::vector<Tensor> &element = traced_->element();
    return element_ = {element[0], element[1]};
  }
  if (!cursor_)
    throw StateError("the iterator of a data set is at its end, where there is no element", CallSite::resolve({}));
  return element_;
}
Dataset::Iterator &Dataset::Iterator::operator++() {
  if (traced_) {
    traced_->next();
    return *this;
  }
  if (!cursor_)
    throw StateError("the iterator of a data set is at its end and can't go further", CallSite::resolve({}));
  if (detail::Item item; cursor_->next(item))
    element_ = item.element();
  else
    cursor_.reset();
  return *this;
}

} // namespace calque::data
