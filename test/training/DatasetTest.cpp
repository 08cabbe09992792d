// The elements of data sets, of many structures, and the transformations of data sets.
#include "test/training/Numbers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

using namespace calque;
using namespace calque::testing;
using data::Dataset;

namespace {

// int64[0], int64[1], ...: element i has i elements that are i.
Dataset<Tensor> ragged(std::int64_t n) {
  return data::range(n).map([](const Tensor &i) {
    return tensor(Numbers(static_cast<std::size_t>(numberIn(i)), numberIn(i)), Shape{numberIn(i)});
  });
}

struct Example {
  Tensor image;
  std::map<std::string, Tensor> labels;
  std::optional<Tensor> weight;
};

} // namespace

//===-- Structures ------------------------------------------------------------------------------===//

TEST(Elements, AreOfAnyStructure) {
  Example all{
      tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2}), {{"b", tensor({1, 2, 3})}, {"a", ones({3})}}, tensor({7, 8, 9})};
  Dataset examples = data::from_tensor_slices(all);
  static_assert(std::is_same_v<decltype(examples), Dataset<Example>>);
  std::vector<int> seen;
  for (const Example &one : examples) {
    EXPECT_EQ(one.image.shape(), Shape{2});
    EXPECT_EQ(one.labels.at("a").item<float>(), 1);
    seen.insert(seen.end(), {one.labels.at("b").item<int>(), one.weight->item<int>()});
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 7, 2, 8, 3, 9}));
  for (const Example &batch : examples.shuffle(3).batch(2, true)) {
    EXPECT_EQ(batch.image.shape(), (Shape{2, 2}));
    EXPECT_EQ(batch.labels.at("b").shape(), Shape{2});
  }
  for (auto [x, y, weight] : data::from_tensor_slices(ones({4, 3}), ones({4}), zeros({4})).batch(3)) {
    EXPECT_EQ(x.shape()[1], 3);
    EXPECT_EQ(weight.shape(), y.shape());
  }
  for (const std::vector<Tensor> &one : data::from_tensor_slices(std::vector{ones({2}), ones({2, 5})}))
    EXPECT_EQ(one.at(1).shape(), Shape{5});
  for (const auto &[one, two] : data::from_tensor_slices(std::array{ones({2}), ones({2, 5})}).batch(2))
    EXPECT_EQ(two.shape(), (Shape{2, 5}));
  int count = 0;
  for (const Tensor &x : data::from_tensors(ones({4, 3})))
    count += x.shape() == Shape{4, 3};
  EXPECT_EQ(count, 1);
  EXPECT_EQ((*data::from_tensors(ones({2}), zeros({3})).begin()).second.shape(), Shape{3});
}

TEST(Elements, MayBeNumbersAndTexts) {
  const std::vector<std::string> words = {"to", "", "be"};
  Dataset lengths = data::from_generator(words).map([](const std::string &word) { return int(word.size()); });
  static_assert(std::is_same_v<decltype(lengths), Dataset<int>>);
  std::vector<int> all;
  for (int length : lengths)
    all.push_back(length);
  EXPECT_EQ(all, (std::vector<int>{2, 0, 2}));
  EXPECT_EQ(lengths.size(), 3);
  EXPECT_MISUSE(ValueError, for (int length : lengths.batch(2))(void) length,
                "batch: the elements have numbers or texts, which can't be stacked as tensors can");
}

TEST(Elements, AreRefusedWhereTheyDontFit) {
  EXPECT_MISUSE(ValueError, data::from_tensor_slices(std::vector<Tensor>()), "takes tensors alone, and at least one");
  EXPECT_MISUSE(ValueError, data::from_tensor_slices(std::pair(ones({2}), 3)), "takes tensors alone, and at least one");
  EXPECT_MISUSE(ShapeError, data::from_tensor_slices(std::pair(ones({2}), scalar(3))), "a scalar has no slices");
  Dataset vectors = data::range(1, 3).map(
      [](const Tensor &i) { return std::vector<Tensor>(static_cast<std::size_t>(numberIn(i)), i); });
  EXPECT_MISUSE(ValueError, for (auto x : vectors.batch(2))(void) x,
                "batch: element 1 differs from the first one in its number of tensors, or in its keys");
  Dataset types =
      data::range(2).map([](const Tensor &i) { return cast(i, numberIn(i) ? DType::Int32 : DType::Float32); });
  EXPECT_MISUSE(DTypeError, for (auto x : types.batch(2))(void) x,
                "Cannot batch tensors with different types in component 0. First element had type float32 and element "
                "1 had type int32.");
  EXPECT_MISUSE(ShapeError, for (auto x : ragged(4).skip(2).batch(2))(void) x,
                "Cannot batch tensors with different shapes in component 0. First element had shape [2] and element 1 "
                "had shape [3].");
}

//===-- Transformations -------------------------------------------------------------------------===//

TEST(Transformations, MapInOrderOnAnyNumberOfThreads) {
  for (std::int64_t calls : {std::int64_t(1), std::int64_t(2), std::int64_t(7), data::kAutotune}) {
    Dataset squares = data::range(41).map([](const Tensor &i) { return i * i; }, {.num_parallel_calls = calls});
    const Numbers all = numbersOf(squares);
    ASSERT_EQ(all.size(), 41u);
    for (std::int64_t i = 0; i < 41; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)], i * i);
    EXPECT_EQ(squares.size(), 41);
  }
  // Functions of several parameters, and Calque's own.
  Dataset sums = data::from_tensor_slices(tensor({1, 2}), tensor({3, 4})).map([](const Tensor &x, const Tensor &y) {
    return std::tuple(x, x + y);
  });
  EXPECT_EQ(std::get<1>(*sums.begin()).item<int>(), 4);
  EXPECT_EQ(numbersOf(sums.map([](auto pair) { return std::get<0>(pair); })), (Numbers{1, 2}));
  EXPECT_EQ(numbersOf(sums.map([](auto, auto sum) { return sum; })), (Numbers{4, 6}));
  EXPECT_MISUSE(ValueError, data::range(2).map([](const Tensor &x) { return x; }, {.num_parallel_calls = 0}),
                "map: the number of parallel calls is 0 and must be at least 1");
}

TEST(Transformations, AnErrorComesInPlaceOfItsElement) {
  for (std::int64_t calls : {1, 4})
    for (bool prefetches : {false, true}) {
      Dataset bad = data::range(9).map(
          [](const Tensor &i) {
            if (numberIn(i) % 4 == 3)
              throw std::runtime_error("bad " + std::to_string(numberIn(i)));
            return i;
          },
          {.num_parallel_calls = calls});
      if (prefetches)
        bad = bad.prefetch(3);
      auto it = bad.begin();
      Numbers seen;
      std::string errors;
      while (it != bad.end())
        try {
          seen.push_back(numberIn(*it));
          ++it;
        } catch (const std::runtime_error &error) {
          errors += std::string(error.what()) + " after " + std::to_string(seen.back()) + "; ";
          ++it; // goes on behind it
        }
      EXPECT_EQ(seen, (Numbers{0, 1, 2, 4, 5, 6, 8}));
      EXPECT_EQ(errors, "bad 3 after 2; bad 7 after 6; ");
      EXPECT_EQ(numbersOf(bad.ignore_errors()), (Numbers{0, 1, 2, 4, 5, 6, 8}));
    }
}

TEST(Transformations, LeavingThreadsWithWorkEndsThem) {
  std::atomic<int> calls{0};
  Dataset endless = data::range(1).repeat().map(
      [&](const Tensor &x) {
        ++calls;
        return x;
      },
      {.num_parallel_calls = 3});
  for (int round = 0; round < 30; ++round)
    for (const Tensor &x : endless.batch(3).prefetch(2)) {
      EXPECT_EQ(x.shape(), Shape{3});
      break;
    }
  const int before = calls;
  std::this_thread::yield();
  EXPECT_EQ(calls, before); // no thread is left
}

TEST(Transformations, FilterTakeWhileAndScan) {
  EXPECT_EQ(numbersOf(data::range(10).filter([](const Tensor &i) { return i % 3 == 1; })), (Numbers{1, 4, 7}));
  EXPECT_EQ(numbersOf(data::range(10).take_while([](const Tensor &i) { return numberIn(i) < 4; })), upTo(4));
  Dataset running = data::range(5).scan(std::int64_t(0), [](std::int64_t sum, const Tensor &i) {
    return std::pair(sum + numberIn(i), scalar(sum + numberIn(i)));
  });
  EXPECT_EQ(numbersOf(running), (Numbers{0, 1, 3, 6, 10}));
  EXPECT_EQ(numbersOf(running), (Numbers{0, 1, 3, 6, 10}));
  EXPECT_EQ(data::range(10).filter([](const Tensor &) { return true; }).cardinality(), data::kUnknown);
}

TEST(Transformations, TakeSkipShardRepeatConcatenateEnumerate) {
  Dataset ten = data::range(10);
  EXPECT_EQ(numbersOf(ten.take(3)), upTo(3));
  EXPECT_EQ(numbersOf(ten.take(-1)), upTo(10));
  EXPECT_EQ(numbersOf(ten.take(0)), Numbers());
  EXPECT_EQ(numbersOf(ten.skip(8)), (Numbers{8, 9}));
  EXPECT_EQ(numbersOf(ten.skip(11)), Numbers());
  EXPECT_EQ(numbersOf(ten.skip(-1)), Numbers());
  EXPECT_EQ(numbersOf(ten.shard(4, 1)), (Numbers{1, 5, 9}));
  EXPECT_EQ(numbersOf(ten.take(2).repeat(3)), (Numbers{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(numbersOf(ten.take(2).repeat().take(5)), (Numbers{0, 1, 0, 1, 0}));
  EXPECT_EQ(numbersOf(ten.take(0).repeat()), Numbers()); // ends
  EXPECT_EQ(numbersOf(ten.skip(8).concatenate(ten.take(1))), (Numbers{8, 9, 0}));
  Numbers counts;
  EXPECT_EQ((*ten.enumerate(INT64_MAX).begin()).first.item<std::int64_t>(), INT64_MAX);
  EXPECT_MISUSE(ValueError, ++ ++ten.enumerate(INT64_MAX - 1).begin(), "enumerate: there is no number behind");
  for (auto [i, pair] : data::zip(ten, ten).skip(7).enumerate(5))
    counts.insert(counts.end(), {numberIn(i), numberIn(pair.second)});
  EXPECT_EQ(counts, (Numbers{5, 7, 6, 8, 7, 9}));
  for (const auto &[dataset, count] :
       std::vector<std::pair<Dataset<Tensor>, std::int64_t>>{{ten.take(3), 3},
                                                             {ten.skip(7), 3},
                                                             {ten.shard(4, 1), 3},
                                                             {ten.shard(4, 3), 2},
                                                             {ten.shard(20, 15), 0},
                                                             {ten.repeat(3), 30},
                                                             {ten.repeat(), -1},
                                                             {ten.repeat().take(4), 4},
                                                             {ten.concatenate(ten), 20},
                                                             {ten.concatenate(ten.repeat()), -1},
                                                             {ten.batch(4), 3},
                                                             {ten.batch(4, true), 2},
                                                             {ten.batch(4).unbatch(), -2},
                                                             {ten.batch(5).unbatch(), 10},
                                                             {ten.take(0).repeat(), 0}})
    EXPECT_EQ(dataset.cardinality(), count);
  EXPECT_EQ(ten.batch(4).unbatch().repeat().cardinality(), data::kInfinite);
  EXPECT_EQ(ten.batch(4).unbatch().repeat(2).cardinality(), data::kUnknown);
  EXPECT_MISUSE(ValueError, ten.repeat().size(), "the data set has no end, and so no size");
  EXPECT_MISUSE(ValueError, ten.batch(4).unbatch().size(), "the size of the data set is not known before");
  EXPECT_MISUSE(ValueError, ten.take(-2), "take: the count is -2 and must be at least -1");
  EXPECT_MISUSE(ValueError, ten.skip(-2), "skip: the count is -2 and must be at least -1");
  EXPECT_MISUSE(ValueError, ten.repeat(-2), "repeat: the count is -2 and must be at least -1");
  EXPECT_MISUSE(ValueError, ten.shard(3, 3), "shard: the index is 3 and must be below the 3 shards");
  EXPECT_MISUSE(ValueError, ten.shard(0, 0), "shard: the number of shards is 0 and must be at least 1");
}

TEST(Transformations, ARepeatedShuffleHasAnotherOrderEachTime) {
  Dataset shuffled = data::range(12).shuffle(12, {.seed = 3}), same = data::range(12).shuffle(12, {.seed = 3});
  const Numbers twice = numbersOf(shuffled.repeat(2));
  const Numbers first(twice.begin(), twice.begin() + 12), second(twice.begin() + 12, twice.end());
  EXPECT_NE(first, second);
  EXPECT_EQ(numbersOf(same.repeat(2)), twice); // by the seed
  Dataset fixed = data::range(12).shuffle(12, {.seed = 3, .reshuffle_each_iteration = false}).repeat(2);
  const Numbers equal = numbersOf(fixed);
  EXPECT_EQ(Numbers(equal.begin(), equal.begin() + 12), Numbers(equal.begin() + 12, equal.end()));
}

TEST(Transformations, PadBatchesToTheLongest) {
  std::vector<Shape> shapes;
  for (const Tensor &x : ragged(5).padded_batch(2))
    shapes.push_back(x.shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 1}, {2, 3}, {1, 4}}));
  EXPECT_EQ(numbersOf(ragged(4).padded_batch(3, {.padding_values = {-1}, .drop_remainder = true})),
            (Numbers{-1, -1, 1, -1, 2, 2}));
  EXPECT_EQ(numbersOf(ragged(3).padded_batch(3, {.padded_shapes = {{3}}})), (Numbers{0, 0, 0, 1, 0, 0, 2, 2, 0}));
  // In the middle of a tensor of higher rank, and several tensors.
  Dataset images = data::range(1, 3).map(
      [](const Tensor &i) { return std::pair(full({numberIn(i), 2, numberIn(i)}, 1.5, DType::Float64), i); });
  auto [x, y] = *images.padded_batch(2, {.padding_values = {0.25, 9}}).begin();
  EXPECT_EQ(x.shape(), (Shape{2, 2, 2, 2}));
  EXPECT_EQ(valuesOf(x),
            (std::vector<double>{1.5, .25, 1.5, .25, .25, .25, .25, .25, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(y.shape(), Shape{2});
  EXPECT_MISUSE(ShapeError, numbersOf(ragged(4).padded_batch(4, {.padded_shapes = {{2}}})),
                "padded_batch: component 0 of element 3 has shape [3], which is larger than the padded shape [2]");
  EXPECT_MISUSE(ShapeError, numbersOf(ragged(4).padded_batch(4, {.padded_shapes = {{2, 2}}})),
                "padded_batch: component 0 of element 0 has shape [0], which has another rank than [2,2]");
  EXPECT_MISUSE(ValueError, numbersOf(ragged(4).padded_batch(4, {.padded_shapes = {{2}, {3}}})),
                "padded_batch: there are 2 padded_shapes for elements of 1 tensors");
  EXPECT_MISUSE(ValueError, numbersOf(ragged(4).padded_batch(4, {.padding_values = {0.5}})),
                "padded_batch: 0.5 can't pad component 0, which is int64");
  EXPECT_MISUSE(ValueError, ragged(4).padded_batch(0), "padded_batch: the size is 0 and must be at least 1");
}

TEST(Transformations, BucketByLength) {
  auto length = [](const Tensor &x) { return std::int64_t(x.size()); };
  std::vector<Shape> shapes;
  for (const Tensor &x : ragged(9).bucket_by_sequence_length(length, {3, 6}, {2, 3, 2}))
    shapes.push_back(x.shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 1}, {3, 5}, {2, 7}, {1, 2}, {1, 8}}));
  shapes.clear();
  for (const Tensor &x : ragged(6).bucket_by_sequence_length(length, {3, 6}, {2, 3, 2},
                                                             {.drop_remainder = true, .pad_to_bucket_boundary = true}))
    shapes.push_back(x.shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}, {3, 5}}));
  EXPECT_EQ(numbersOf(ragged(3).concatenate(ragged(3)).bucket_by_sequence_length(length, {1, 2}, {2, 2, 2},
                                                                                 {.no_padding = true})),
            (Numbers{1, 1, 2, 2, 2, 2}));
  EXPECT_MISUSE(ValueError,
                numbersOf(ragged(4).bucket_by_sequence_length(length, {2}, {1, 1}, {.pad_to_bucket_boundary = true})),
                "an element is longer than all boundaries, and so has none to be padded to");
  EXPECT_MISUSE(ValueError,
                numbersOf(ragged(4).bucket_by_sequence_length([](const Tensor &) { return -1; }, {3}, {1, 1})),
                "bucket_by_sequence_length: a length is at least 0, unlike -1");
  EXPECT_MISUSE(ValueError, ragged(4).bucket_by_sequence_length(length, {3, 3}, {1, 1, 1}),
                "bucket_by_sequence_length: boundary 3 follows 3, and boundaries must rise");
  EXPECT_MISUSE(ValueError, ragged(4).bucket_by_sequence_length(length, {3}, {1}),
                "bucket_by_sequence_length: there are 1 sizes for 1 boundaries, and must be one more");
}

TEST(Transformations, UnbatchAndWindow) {
  EXPECT_EQ(numbersOf(data::range(7).batch(3).unbatch()), upTo(7));
  EXPECT_EQ(numbersOf(data::range(7).batch(3).unbatch().shuffle(7, {.seed = 1}).batch(7).unbatch()).size(), 7u);
  EXPECT_MISUSE(ShapeError, numbersOf(data::range(3).unbatch()),
                "unbatch: an element has a scalar, which has no slices");
  Dataset uneven = data::range(1).map([](const Tensor &) { return std::pair(ones({2}), ones({3})); });
  EXPECT_MISUSE(ShapeError, uneven.unbatch().begin(), "unbatch: tensors of shapes [2] and [3] have not as many slices");
  EXPECT_MISUSE(ValueError, for (int x : data::from_generator(std::vector<int>{1}).unbatch())(void) x,
                "unbatch: takes elements of tensors alone");
  std::vector<Numbers> windows;
  auto collect = [&](const Dataset<std::vector<Tensor>> &all) {
    windows.clear();
    for (const std::vector<Tensor> &window : all) {
      windows.emplace_back();
      for (const Tensor &x : window)
        windows.back().push_back(numberIn(x));
    }
    EXPECT_EQ(all.size(), std::int64_t(windows.size()));
    return windows;
  };
  Dataset seven = data::range(7);
  EXPECT_EQ(collect(seven.window(3)), (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(collect(seven.window(3, {.shift = 2, .drop_remainder = true})),
            (std::vector<Numbers>{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}}));
  EXPECT_EQ(collect(seven.window(2, {.shift = 1, .stride = 3, .drop_remainder = true})),
            (std::vector<Numbers>{{0, 3}, {1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(collect(seven.window(1, {.shift = 5})), (std::vector<Numbers>{{0}, {5}}));
  EXPECT_MISUSE(ValueError, seven.window(0), "window: the size is 0");
  EXPECT_MISUSE(ValueError, seven.window(1, {.shift = 0}), "window: the shift is 0");
  EXPECT_MISUSE(ValueError, seven.window(1, {.stride = 0}), "window: the stride is 0");
}

TEST(Transformations, InterleaveAndFlatMap) {
  auto thrice = [](const Tensor &i) { return data::from_tensors(i).repeat(3); };
  EXPECT_EQ(numbersOf(data::range(3).interleave(thrice, {.cycle_length = 2, .block_length = 2})),
            (Numbers{0, 0, 1, 1, 0, 2, 2, 1, 2}));
  EXPECT_EQ(numbersOf(data::range(3).flat_map([](const Tensor &i) { return data::range(numberIn(i)); })),
            (Numbers{0, 0, 1}));
  EXPECT_EQ(numbersOf(data::range(0).interleave(thrice)), Numbers());
  EXPECT_MISUSE(ValueError, data::range(3).interleave(thrice, {.cycle_length = 0}),
                "interleave: the cycle's length is 0");
  EXPECT_MISUSE(ValueError, data::range(3).interleave(thrice, {.block_length = 0}),
                "interleave: the block's length is 0");
}

TEST(Transformations, SayTheTypesOfTheirElements) {
  auto text = [](const auto &dataset) {
    std::string all;
    for (const TensorSpec<> &spec : dataset.element_spec())
      all += spec.str() + " ";
    return all;
  };
  Dataset pairs = data::from_tensor_slices(ones({7, 3}), tensor({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(text(pairs), "float32[3] int32[] ");
  EXPECT_EQ(text(pairs.batch(2)), "float32[?,3] int32[?] ");
  EXPECT_EQ(text(pairs.batch(2, true).enumerate()), "int64[] float32[2,3] int32[2] ");
  EXPECT_EQ(text(pairs.repeat().batch(2)), "float32[2,3] int32[2] ");
  EXPECT_EQ(text(pairs.batch(7).concatenate(pairs.batch(2, true))), "float32[?,3] int32[?] ");
  EXPECT_EQ(text(pairs.batch(2).unbatch()), "float32[3] int32[] ");
  EXPECT_EQ(text(pairs.padded_batch(9, {.padded_shapes = {{4}, {}}})), "float32[7,4] int32[7] ");
  EXPECT_EQ(text(data::zip(pairs, data::range(3))), "float32[3] int32[] int64[] ");
  EXPECT_EQ(text(data::range(4).window(2, {.drop_remainder = true})), "int64[] int64[] ");
  Dataset said = data::range(4).map(
      [](const Tensor &i) { return std::pair(i, i); },
      {.output_signature = std::pair<Tensor, Tensor>(TensorSpec<std::int64_t>({}), TensorSpec<std::int64_t>({}))});
  EXPECT_EQ(text(said.filter([](const Tensor &, const Tensor &) { return true; }).batch(4)), "int64[?] int64[?] ");
}

// Without an output_signature: by tracing, and else by an element.
TEST(Transformations, FindOutTheTypesOfTheirElements) {
  auto text = [](const auto &dataset) {
    std::string all;
    for (const TensorSpec<> &spec : dataset.element_spec())
      all += spec.str() + " ";
    return all;
  };
  Dataset pairs = data::from_tensor_slices(ones({7, 3}), tensor({1, 2, 3, 4, 5, 6, 7}));
  int calls = 0;
  auto scaled = pairs.map([&](const Tensor &x, const Tensor &y) {
    ++calls;
    return std::pair(reshape(concat({x, x}), {3, 2}) * 2, cast(y, DType::Float64));
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(text(scaled), "float32[3,2] float64[] ");
  EXPECT_EQ(text(scaled.batch(2)), "float32[?,3,2] float64[?] ");
  EXPECT_EQ(text(scaled.batch(2, true).map([](const Tensor &x, const Tensor &) { return sum(x, {0}); })),
            "float32[3,2] ");
  EXPECT_EQ(text(scaled.filter([](const Tensor &, const Tensor &y) { return y > 2; }).repeat().prefetch(2)),
            "float32[3,2] float64[] ");
  EXPECT_EQ(text(data::zip(scaled, data::range(3).map([](const Tensor &i) { return i * 2; }))),
            "float32[3,2] float64[] int64[] ");
  EXPECT_EQ(text(scaled.enumerate().shuffle(3)), "int64[] float32[3,2] float64[] ");
  EXPECT_EQ(text(scaled.concatenate(scaled).take(1).cache()), "float32[3,2] float64[] ");
  // What looks at elements can't be traced, and may make other sizes of other ones.
  auto rows = data::range(1, 4).map([](const Tensor &i) { return ones({numberIn(i), 2}); });
  EXPECT_EQ(text(rows), "float32[?,?] ");
  EXPECT_EQ(text(rows.padded_batch(2, {.padded_shapes = {{4, 2}}, .drop_remainder = true})), "float32[2,4,2] ");
  EXPECT_EQ(text(rows.unbatch()), "float32[?] ");
  EXPECT_EQ(text(rows.flat_map([](const Tensor &x) { return data::from_tensor_slices(x); })), "float32[?] ");
  EXPECT_EQ(text(rows.scan(0, [](int n, const Tensor &x) { return std::pair(n + 1, x); })), "float32[?,?] ");
  EXPECT_EQ(
      text(data::from_generator([n = 0]() mutable { return n < 3 ? std::optional(zeros({++n})) : std::nullopt; })),
      "float32[?] ");
  EXPECT_EQ(text(data::range(3)
                     .map([](const Tensor &i) { return std::to_string(numberIn(i)); })
                     .map([](const std::string &word) { return zeros({std::int64_t(word.size())}); })),
            "float32[?] ");
  // The order of shuffling is what it would have been, and an exception is the callable's.
  auto shuffled = [&](bool asks) {
    Dataset<Tensor> all = data::range(20).shuffle(20, {.seed = 3}).map([](const Tensor &i) { return i + numberIn(i); });
    if (asks) {
      EXPECT_EQ(text(all), "int64[] ");
    }
    return numbersOf(all);
  };
  EXPECT_EQ(shuffled(true), shuffled(false));
  EXPECT_THROW(
      data::range(3).map([](const Tensor &) -> Tensor { throw std::out_of_range("no such word"); }).element_spec(),
      std::out_of_range);
  EXPECT_MISUSE(ValueError, data::range(0).map([](const Tensor &i) { return i + numberIn(i); }).batch(2).element_spec(),
                "the types of the elements are not known before they are made: map without an output_signature does "
                "not say them");
}

TEST(Transformations, InterleaveOnAnyNumberOfThreadsGivesOneOrder) {
  auto f = [](const Tensor &i) {
    return data::range(10 * numberIn(i), 10 * numberIn(i) + numberIn(i) % 4)
        .shuffle(3, {.seed = 5})
        .map([](const Tensor &x) {
          std::this_thread::sleep_for(std::chrono::microseconds(numberIn(x) % 3 * 100));
          return x;
        });
  };
  // Two iterations, of which the second one has another order, and a position.
  auto made = [&](std::int64_t cycle, std::int64_t block, std::int64_t calls) {
    set_seed(6); // the position has the seed that f would draw by
    Dataset<Tensor> mixed =
        data::range(20)
            .shuffle(20, {.seed = 4})
            .interleave(f, {.cycle_length = cycle, .block_length = block, .num_parallel_calls = calls});
    const Numbers first = numbersOf(mixed), second = numbersOf(mixed);
    EXPECT_EQ(numbersOf(mixed.take(5)).size(), 5u); // the threads end
    return std::tuple(first, second, mixed.begin().get_state());
  };
  for (std::int64_t cycle : {1, 3, 30})
    for (std::int64_t block : {1, 2})
      for (std::int64_t calls : {std::int64_t(2), std::int64_t(7), data::kAutotune})
        EXPECT_EQ(made(cycle, block, 1), made(cycle, block, calls)) << cycle << ' ' << block << ' ' << calls;
  // They work at once: each of these waits for the others.
  std::atomic<int> waiting{0};
  auto together = data::range(3).interleave(
      [&](const Tensor &i) {
        return data::from_tensors(i).map([&](const Tensor &x) {
          ++waiting;
          for (int turn = 0; turn < 20'000 && waiting < 3; ++turn)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return x;
        });
      },
      {.cycle_length = 3, .num_parallel_calls = 3});
  EXPECT_EQ(numbersOf(together), (Numbers{0, 1, 2}));
  EXPECT_EQ(waiting, 3);
  // Exceptions come where the elements would have come: of the callable, of an element, and of an element of an
  // element.
  auto failing = [](std::int64_t calls) {
    auto bad = data::range(6)
                   .map([](const Tensor &i) { return numberIn(i) == 4 ? throw std::runtime_error("4") : i; })
                   .interleave(
                       [](const Tensor &i) {
                         if (numberIn(i) == 1)
                           throw std::runtime_error("1");
                         return data::range(2).map([i](const Tensor &x) {
                           return numberIn(i) == 2 && numberIn(x) == 0 ? throw std::runtime_error("2") : i * 10 + x;
                         });
                       },
                       {.cycle_length = 2, .num_parallel_calls = calls});
    std::string all;
    auto add = [&](auto step) {
      try {
        return step();
      } catch (const std::runtime_error &error) {
        all += std::string(error.what()) + "! ";
      }
      return true;
    };
    auto it = bad.begin();
    for (int i = 0; i < 30 && it != bad.end(); ++i) {
      add([&] {
        all += std::to_string(numberIn(*it)) + " ";
        return true;
      });
      while (!add([&] { return ++it, true; }))
        ;
    }
    return all;
  };
  EXPECT_EQ(failing(1), failing(3));
  EXPECT_MISUSE(ValueError, data::range(3).interleave(f, {.num_parallel_calls = 0}),
                "interleave: the number of parallel calls is 0");
}

TEST(Transformations, InterleaveIsALoopOfAProgramWhereItsTypesAreSaid) {
  auto inner = [](const Tensor &i) { return data::from_tensors(i).repeat(2); };
  auto total = [](const auto &dataset) {
    return function([dataset](const Tensor &start) {
      Tensor sum = start;
      for (Tensor x : dataset)
        sum = sum * 3 + x;
      return sum;
    });
  };
  auto mixed = data::range(3).interleave(inner, {.cycle_length = 3, .num_parallel_calls = 2});
  auto said = mixed.map([](const Tensor &x) { return x; }, {.output_signature = Tensor(TensorSpec<std::int64_t>({}))});
  std::int64_t expected = 0;
  for (std::int64_t x : {0, 1, 2, 0, 1, 2})
    expected = expected * 3 + x;
  EXPECT_EQ(total(said)(scalar(std::int64_t(0))).template item<std::int64_t>(), expected);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { total(mixed)(scalar(std::int64_t(0))); }), "interleave does not say them");
}

TEST(Dataset, HasComplexElements) {
  const Tensor z = complex(ones({5}), iota({5}, DType::Float32));
  std::int64_t count = 0;
  for (Tensor batch : data::from_tensor_slices(z).batch(2)) {
    EXPECT_EQ(batch.dtype(), DType::Complex64);
    expectSameBits(batch, z.rows(2 * count, 2 * count + 2));
    ++count;
  }
  EXPECT_EQ(count, 3);
}
