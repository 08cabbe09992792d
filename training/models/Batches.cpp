// Tensors in batches, and the weights of classes.
#include "Trainer.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "calque/models/trainer.h"
#include "calque/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace calque {

using training::describe;
using training::fail;

namespace {

const std::byte *bytesOf(const Tensor &x) {
  return dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    return reinterpret_cast<const std::byte *>(static_cast<const void *>(x.data<T>()));
  });
}

// The rows of a tensor.
struct Column {
  explicit Column(const Tensor &x) : x(x), shape(x.shape()) {
    row = size_of(x.dtype());
    for (std::size_t i = 1; i < shape.size(); ++i)
      row *= static_cast<std::size_t>(std::int64_t(shape[i]));
  }
  // Those of an order, or the next ones where there is none.
  Tensor take(std::int64_t at, std::int64_t count, const std::vector<std::int64_t> &order,
              std::vector<std::byte> &scratch) const {
    Shape taken = shape;
    taken[0] = count;
    const std::byte *from = bytesOf(x) + static_cast<std::size_t>(at) * row;
    if (!order.empty()) {
      scratch.resize(static_cast<std::size_t>(count) * row);
      for (std::int64_t i = 0; i < count && row != 0; ++i)
        std::memcpy(scratch.data() + static_cast<std::size_t>(i) * row,
                    bytesOf(x) + static_cast<std::size_t>(order[static_cast<std::size_t>(at + i)]) * row, row);
      from = scratch.data();
    }
    const std::size_t elements = static_cast<std::size_t>(count) * row / size_of(x.dtype());
    return calque::detail::makeTensor(x.dtype(), from, elements, taken, {});
  }

  Tensor x;
  Shape shape;
  std::size_t row;
};

struct Source {
  std::vector<std::pair<std::string, Column>> x, y, weights;
  std::optional<Column> weight;
};

// A random number below a bound, which does not depend on the standard library.
std::uint64_t below(std::mt19937_64 &random, std::uint64_t bound) {
  std::uint64_t value, least = -bound % bound;
  do
    value = random();
  while (value < least);
  return value % bound;
}
void shuffle(std::vector<std::int64_t> &order, std::mt19937_64 &random) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[below(random, i)]);
}

std::uint64_t drawnSeed() { return static_cast<std::uint64_t>(random::global_generator().draw_seed()); }

} // namespace

std::int64_t training::rowsOf(const char *call, const Batch &tensors) {
  std::optional<std::int64_t> rows;
  std::string first;
  auto look = [&](const std::string &what, const Tensor &x) {
    std::string given = absl::StrCat(what, " ", describe(x.dtype(), x.shape()));
    if (!x.is_known())
      fail<StateError>(
          absl::StrCat(call, ": takes tensors that have values, and ", given, " is being traced; call it outside"));
    if (x.rank() == 0)
      fail<ValueError>(absl::StrCat(call, ": takes tensors whose first dimension is the examples, not ", given));
    std::int64_t own = x.shape()[0];
    if (rows && *rows != own)
      fail<ValueError>(absl::StrCat(call, ": ", first, " and ", given, " have different numbers of examples"));
    if (!rows)
      first = given;
    rows = own;
  };
  for (const auto &[name, x] : tensors.x)
    look("x", x);
  for (const auto &[name, y] : tensors.y)
    look("y", y);
  if (tensors.sample_weight)
    look("sample_weight", *tensors.sample_weight);
  for (const auto &[name, weight] : tensors.sample_weights)
    look("sample_weight", weight);
  if (!rows || *rows == 0)
    fail<ValueError>(absl::StrCat(call, ": there are no examples"));
  return *rows;
}

Batch Batches::weighted(Batch batch, Tensors sample_weight) {
  if (sample_weight.size() == 1 && sample_weight.names()[0].empty())
    batch.sample_weight = sample_weight[0];
  else
    batch.sample_weights = std::move(sample_weight);
  return batch;
}

Batches training::batchesOf(const char *call, const Batch &tensors, std::int64_t size, bool shuffles, double from,
                            double to) {
  const std::int64_t rows = rowsOf(call, tensors);
  if (size < 1)
    fail<ValueError>(absl::StrCat(call, ": a batch has at least one example, unlike ", size));
  auto source = std::make_shared<Source>();
  for (const auto &[name, x] : tensors.x)
    source->x.emplace_back(name, Column(x));
  for (const auto &[name, y] : tensors.y)
    source->y.emplace_back(name, Column(y));
  if (tensors.sample_weight)
    source->weight.emplace(*tensors.sample_weight);
  for (const auto &[name, weight] : tensors.sample_weights)
    source->weights.emplace_back(name, Column(weight));
  auto edge = [&](double part) { return static_cast<std::int64_t>(std::floor(static_cast<double>(rows) * part)); };
  const std::int64_t first = edge(from), last = edge(to);
  // Where an iteration stands.
  struct At {
    std::uint64_t seed = 0;
    std::int64_t row = 0;
    std::vector<std::int64_t> order;
  };
  auto ordered = [=](At &at) {
    std::mt19937_64 random(at.seed);
    at.order.resize(static_cast<std::size_t>(rows));
    std::iota(at.order.begin(), at.order.end(), 0);
    at.order.resize(static_cast<std::size_t>(last));
    at.order.erase(at.order.begin(), at.order.begin() + first);
    shuffle(at.order, random);
  };
  auto open = [=] {
    auto at = std::make_shared<At>();
    if (shuffles) {
      // Each epoch draws anew, so that training that goes on later, by the generator's state then, has the same orders.
      at->seed = drawnSeed();
      ordered(*at);
    }
    return Batches::Next(
        [=, scratch = std::vector<std::byte>()](Batch &batch) mutable {
          const std::int64_t count = std::min(size, last - first - at->row);
          if (count <= 0)
            return false;
          auto take = [&](const Column &column) {
            return column.take(at->order.empty() ? first + at->row : at->row, count, at->order, scratch);
          };
          Batch made;
          for (const auto &[name, x] : source->x)
            made.x.push_back(take(x), name);
          for (const auto &[name, y] : source->y)
            made.y.push_back(take(y), name);
          if (source->weight)
            made.sample_weight = take(*source->weight);
          for (const auto &[name, weight] : source->weights)
            made.sample_weights.push_back(take(weight), name);
          at->row += count;
          batch = std::move(made);
          return true;
        },
        [=] { return absl::StrCat("row ", at->row, " of ", last - first, " by ", at->seed); },
        [=](const std::string &text) {
          const std::vector<std::string> words = absl::StrSplit(text, ' ');
          At found;
          std::int64_t of = -1;
          if (words.size() != 6 || !absl::SimpleAtoi(words[1], &found.row) || !absl::SimpleAtoi(words[3], &of) ||
              !absl::SimpleAtoi(words[5], &found.seed) || of != last - first || found.row < 0 || found.row > of)
            fail<ValueError>(absl::StrCat("'", text, "' is no place in ", last - first, " examples"));
          if (shuffles)
            ordered(found);
          *at = std::move(found);
        });
  };
  return Batches(open, (last - first + size - 1) / size);
}

namespace {
// The weight of each example's class.
Tensor classWeights(const Tensor &labels, const std::map<std::int64_t, double> &weights, SourceLocation where) {
  const Shape shape = labels.shape();
  const std::int64_t examples = shape.empty() ? 1 : std::int64_t(shape[0]);
  const std::int64_t columns = shape.size() < 2 ? 1 : std::int64_t(shape[1]);
  if (shape.size() > 2)
    fail<ValueError>(
        absl::StrCat("fit: class_weight takes labels [N], [N,1] or [N,C], not ", describe(labels.dtype(), shape)),
        where);
  std::vector<float> result;
  dispatch(labels.dtype(), [&]<typename T>(std::type_identity<T>) {
    const T *row = labels.data<T>();
    for (std::int64_t i = 0; i < examples; ++i, row += columns) {
      std::int64_t label = columns == 1 ? static_cast<std::int64_t>(*row)
                                        : static_cast<std::int64_t>(std::max_element(row, row + columns) - row);
      auto found = weights.find(label);
      result.push_back(found == weights.end() ? 1.0f : static_cast<float>(found->second));
    }
  });
  return tensor(result);
}
} // namespace

Batches training::withClassWeights(Batches data, std::map<std::int64_t, double> weights, SourceLocation where) {
  if (weights.empty())
    return data;
  std::optional<std::int64_t> size = data.size();
  return Batches(
      [data = std::move(data), weights = std::move(weights), where] {
        const Batches::Next next = data.open();
        auto weighted = [next, weights, where](Batch &batch) {
          if (!next(batch))
            return false;
          if (batch.y.size() != 1)
            fail<ValueError>(absl::StrCat("fit: class_weight is of one target, and there are ", batch.y.size()), where);
          Tensor own = classWeights(batch.y[0], weights, where);
          // Weights for the only output may have its name.
          Tensors ofOutputs = std::exchange(batch.sample_weights, {});
          if (ofOutputs.size() > 1)
            fail<ValueError>(absl::StrCat("fit: class_weight is of one target, and there are ", ofOutputs.size(),
                                          " tensors of sample weights"),
                             where);
          if (batch.sample_weight || !ofOutputs.empty()) {
            std::vector<float> both = own.to_vector<float>();
            Tensor given = batch.sample_weight ? *batch.sample_weight : ofOutputs[0];
            if (given.rank() != 1 || given.shape()[0] != own.shape()[0])
              fail<ValueError>(absl::StrCat("fit: with class_weight, sample_weight is a number for each example, not ",
                                            describe(given.dtype(), given.shape())),
                               where);
            dispatch(given.dtype(), [&]<typename T>(std::type_identity<T>) {
              for (std::size_t i = 0; i < both.size(); ++i)
                both[i] *= static_cast<float>(given.data<T>()[i]);
            });
            own = tensor(both);
          }
          if (ofOutputs.empty())
            batch.sample_weight = own;
          else
            batch.sample_weights.push_back(own, ofOutputs.names()[0]);
          return true;
        };
        if (!next.has_state())
          return Batches::Next(weighted);
        return Batches::Next(
            weighted, [next] { return next.get_state(); }, [next](const std::string &text) { next.set_state(text); });
      },
      size);
}

Split train_test_split(const Tensor &x, const Tensor &y, SplitOptions options, SourceLocation where) {
  CallSite site(where, "train_test_split");
  const std::int64_t rows = training::rowsOf("train_test_split", {x, y});
  const bool isPart = options.test_size < 1;
  const auto tests =
      static_cast<std::int64_t>(isPart ? std::ceil(options.test_size * static_cast<double>(rows)) : options.test_size);
  if (!(options.test_size > 0) || tests >= rows)
    fail<ValueError>(absl::StrCat("train_test_split: of ", rows, " examples, test_size ",
                                  Number(options.test_size).str(), " leaves none in one of the halves"));
  if (options.stratify && !options.shuffle)
    fail<ValueError>("train_test_split: stratify takes examples in random order, so it needs shuffle");
  std::mt19937_64 random(options.seed ? static_cast<std::uint64_t>(*options.seed) : options.shuffle ? drawnSeed() : 0);
  std::vector<std::int64_t> training, testing, order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle)
    shuffle(order, random);
  if (options.stratify) {
    const Tensor &labels = *options.stratify;
    if (labels.rank() != 1 || labels.shape()[0] != rows || !is_integer(labels.dtype()))
      fail<ValueError>(absl::StrCat("train_test_split: stratify takes an integer label for each example, not ",
                                    describe(labels.dtype(), labels.shape())));
    std::map<std::int64_t, std::vector<std::int64_t>> classes;
    for (std::int64_t row : order)
      classes[dispatch(labels.dtype(), [&]<typename T>(std::type_identity<T>) {
        return static_cast<std::int64_t>(labels.data<T>()[row]);
      })].push_back(row);
    // Each class gives its share, rounded down; those with the largest remainders give one more.
    std::vector<std::pair<double, std::int64_t>> remainders;
    std::map<std::int64_t, std::int64_t> shares;
    std::int64_t given = 0;
    for (const auto &[label, own] : classes) {
      if (own.size() < 2)
        fail<ValueError>(
            absl::StrCat("train_test_split: stratify needs two examples of each class, and label ", label, " has one"));
      double exact = static_cast<double>(own.size()) * static_cast<double>(tests) / static_cast<double>(rows);
      shares[label] = static_cast<std::int64_t>(exact);
      given += shares[label];
      remainders.emplace_back(static_cast<double>(shares[label]) - exact, label);
    }
    std::sort(remainders.begin(), remainders.end());
    for (std::size_t i = 0; given < tests; ++i, ++given)
      ++shares[remainders[i].second];
    for (const auto &[label, own] : classes) {
      testing.insert(testing.end(), own.begin(), own.begin() + shares[label]);
      training.insert(training.end(), own.begin() + shares[label], own.end());
    }
    shuffle(testing, random);
    shuffle(training, random);
  } else {
    training.assign(order.begin(), order.end() - tests);
    testing.assign(order.end() - tests, order.end());
  }
  std::vector<std::byte> scratch;
  auto rowsOf = [&](const Tensor &of, const std::vector<std::int64_t> &which) {
    return Column(of).take(0, static_cast<std::int64_t>(which.size()), which, scratch);
  };
  return {rowsOf(x, training), rowsOf(x, testing), rowsOf(y, training), rowsOf(y, testing)};
}

} // namespace calque
