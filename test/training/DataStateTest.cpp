// Where iterators stand, caches, and data sets in traced lambdas.
#include "Idx.h"
#include "Testing.h"

#include <set>

using namespace calque;
using namespace calque::testing;
using data::Dataset;

namespace {

using Numbers = std::vector<std::int64_t>;

template <typename Iterator> Numbers restOf(Iterator it) {
  Numbers numbers;
  for (; it != std::default_sentinel; ++it)
    for (double value : valuesOf(*it))
      numbers.push_back(static_cast<std::int64_t>(value));
  return numbers;
}
Numbers numbersOf(const Dataset<Tensor> &dataset) { return restOf(dataset.begin()); }

// Saves at each element, and finds the same ones behind it in a data set that was made anew.
void expectResumes(const std::function<Dataset<Tensor>()> &make) {
  Dataset<Tensor> first = make();
  numbersOf(first); // so that it is not the first iteration
  std::vector<std::string> states;
  std::vector<Numbers> parts;
  auto it = first.begin();
  for (; it != first.end(); ++it) {
    states.push_back(it.get_state());
    parts.push_back({});
    for (double value : valuesOf(*it))
      parts.back().push_back(static_cast<std::int64_t>(value));
  }
  states.push_back(it.get_state());
  const Numbers after = numbersOf(first);
  ASSERT_GT(states.size(), 3u);
  for (std::size_t from = 0; from < states.size(); ++from) {
    Dataset<Tensor> second = make();
    auto other = second.begin();
    other.set_state(states[from]);
    Numbers expected;
    for (std::size_t i = from; i < parts.size(); ++i)
      expected.insert(expected.end(), parts[i].begin(), parts[i].end());
    EXPECT_EQ(other.get_state(), states[from]);
    EXPECT_EQ(restOf(other), expected) << states[from];
    EXPECT_EQ(numbersOf(second), after) << "the next iteration after " << states[from];
  }
}

} // namespace

TEST(Position, IsFoundAgainInAnotherDataSet) {
  Dataset twenty = data::range(20);
  expectResumes([&] { return twenty.shuffle(7, {.seed = 1}).batch(3).prefetch(2); });
  expectResumes([&] { return twenty.take(6).shuffle(6, {.seed = 2}).repeat(3); });
  expectResumes([&] { return twenty.skip(3).shard(2, 1).concatenate(twenty.shuffle(20, {.seed = 3}).take(3)); });
  expectResumes([&] {
    return data::zip(twenty.shuffle(5, {.seed = 4}), twenty.repeat().shuffle(9, {.seed = 5}))
        .map([](const Tensor &x, const Tensor &y) { return x * 100 + y; }, {.num_parallel_calls = 3})
        .enumerate()
        .map([](const Tensor &i, const Tensor &x) { return i * 10000 + x; });
  });
  expectResumes([&] {
    return twenty.filter([](const Tensor &x) { return x.item<std::int64_t>() % 3 > 0; })
        .interleave([](const Tensor &x) { return data::range(x.item<std::int64_t>()).shuffle(4, {.seed = 6}).take(2); },
                    {.cycle_length = 3})
        .batch(2)
        .unbatch()
        .shuffle(4, {.seed = 7});
  });
  expectResumes([&] {
    return data::sample_from_datasets(std::vector{twenty, twenty.shuffle(20, {.seed = 8})}, {.seed = 9})
        .cache()
        .take_while([](const Tensor &) { return true; });
  });
  expectResumes([&] {
    return twenty
        .scan(std::int64_t(0),
              [](std::int64_t sum, const Tensor &x) {
                return std::pair(sum + x.item<std::int64_t>(), scalar(sum + x.item<std::int64_t>()));
              })
        .window(3, {.shift = 2})
        .map([](const std::vector<Tensor> &all) { return all.back(); });
  });
}

// What a callable shuffles draws its seed by that of the data set, not from the global generator while elements are
// made, where it depends on how far threads are ahead, and is drawn again after a restore.
TEST(Position, HasTheSeedsThatCallablesDraw) {
  auto shuffled = [](const Tensor &i) {
    const auto from = i.item<std::int64_t>() * 10;
    return data::range(from, from + 4).shuffle(4);
  };
  set_seed(5);
  expectResumes([&] { return data::range(3).flat_map(shuffled); });
  expectResumes([&] { return data::range(5).interleave(shuffled, {.cycle_length = 3}).shuffle(3, {.seed = 1}); });
  expectResumes([&] {
    return data::range(6)
        .interleave(shuffled, {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 3})
        .repeat(2)
        .prefetch(4);
  });
  expectResumes([&] {
    return data::range(3).flat_map([&](const Tensor &i) {
      return data::sample_from_datasets(std::vector{data::range(4), data::range(3).flat_map(shuffled)})
          .map([i](const Tensor &x) { return x + 100 * i; });
    });
  });
  expectResumes([&] { return data::range(3).flat_map(shuffled).cache().repeat(2).shuffle(5, {.seed = 2}); });
  // The same by a seed, however many threads there are; another one each time.
  auto made = [&](std::int64_t threads) {
    set_seed(5);
    Dataset all = data::range(6).interleave(shuffled, {.cycle_length = 3, .num_parallel_calls = threads});
    (void)all.element_spec();
    Numbers first = numbersOf(all);
    random::uniform({2});
    const Numbers second = numbersOf(all);
    EXPECT_NE(first, second);
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  EXPECT_EQ(made(1), made(4));
}

TEST(Position, ReadsStatesWithoutSeeds) {
  Dataset two = data::range(2).flat_map([](const Tensor &i) { return data::range(i.item<std::int64_t>() + 2); });
  auto it = two.begin();
  const std::string of = "; of range(0,1,2).flat_map(1,1)";
  it.set_state("calque data set 1; element 3; end 0; iterations 0" + of);
  EXPECT_EQ(restOf(it), (Numbers{0, 1, 2}));
  EXPECT_CONTAINS(it.get_state(), "calque data set 2; element 5; end 1; iterations 0; seeds ");
  for (const char *seeds : {"; seeds ", "; seeds x", "; seeds 1,2"}) {
    const std::string state = std::string("calque data set 2; element 3; end 0; iterations 0") + seeds + of;
    EXPECT_MISUSE(ValueError, it.set_state(state), "this is no state of an iterator: '" + state + "'");
  }
}

TEST(Position, IsRefusedWhereItDoesNotFit) {
  Dataset ten = data::range(10).shuffle(3, {.seed = 1});
  auto it = ten.begin();
  const std::string state = it.get_state();
  EXPECT_EQ(state, "calque data set 1; element 1; end 0; iterations 0; of range(0,1,10).shuffle(3,1)");
  EXPECT_MISUSE(ValueError, data::range(10).begin().set_state(state),
                "the state is one of the data set range(0,1,10).shuffle(3,1), and this one is range(0,1,10)");
  const std::string of = "; of range(0,1,10).shuffle(3,1)";
  for (const std::string &damaged :
       {std::string(), "nonsense; " + state, "calque data set 1; element x; end 0; iterations 0" + of,
        "calque data set 1; element 0; end 0; iterations 0" + of,
        "calque data set 1; element 1; end 2; iterations 0" + of,
        "calque data set 1; element 1; end 0; iterations " + of,
        "calque data set 1; element 1; end 0; iterations 0,1" + of})
    EXPECT_MISUSE(ValueError, it.set_state(damaged), "this is no state of an iterator: '" + damaged + "'");
  for (const char *place : {"element 11; end 0", "element 99; end 1"})
    EXPECT_MISUSE(ValueError, it.set_state("calque data set 1; " + std::string(place) + "; iterations 0" + of),
                  "the state is behind the end of the data set");
  EXPECT_EQ(it.get_state(), state); // as it was
  Dataset bad = data::range(4).map([](const Tensor &x) {
    if (x.item<std::int64_t>() == 1)
      throw std::runtime_error("bad");
    return x;
  });
  auto thrown = bad.begin();
  EXPECT_THROW(++thrown, std::runtime_error);
  EXPECT_MISUSE(StateError, thrown.get_state(),
                "the position of an iterator is not known behind an element that threw");
  EXPECT_CONTAINS(errorOf<StateError>([&] { *thrown; }),
                  "the iterator of a data set has no element, because to make it threw; ++ goes on to the next");
  EXPECT_EQ((++thrown)->item<std::int64_t>(), 2);
  auto pairs = [&] {
    return data::zip(bad, data::range(4)).ignore_errors().map([](const Tensor &x, const Tensor &y) {
      return x * 10 + y;
    });
  };
  EXPECT_EQ(numbersOf(pairs()), (Numbers{0, 22, 33})); // side by side
  expectResumes(pairs);
  auto f = function([&](const Tensor &x) {
    auto traced = data::range(3).begin();
    traced.get_state();
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1)); }), "an iterator has no state in a trace");
  auto g = function([&](const Tensor &x) {
    auto traced = data::range(3).begin();
    traced.set_state("");
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { g(scalar(1)); }), "an iterator has no state in a trace");
}

//===-- Caches ----------------------------------------------------------------------------------===//

TEST(Cache, KeepsAnIterationThatCameToItsEnd) {
  int made = 0;
  Dataset cached = data::range(4).map([&](const Tensor &x) { return ++made, x; }).cache();
  EXPECT_EQ(restOf(cached.take(2).begin()), (Numbers{0, 1}));
  EXPECT_EQ(made, 2);
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(numbersOf(cached), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(made, 6);
  EXPECT_EQ(cached.size(), 4);
}

TEST(Cache, IsAFileThatIsWhole) {
  TemporaryDirectory directory;
  const std::string path = directory.file("cache");
  int made = 0;
  using Element = std::pair<std::map<std::string, Tensor>, std::string>;
  auto make = [&] {
    return data::range(3)
        .map([&](const Tensor &x) {
          ++made;
          return Element{{{"x", x}, {"y", full({x.item<std::int64_t>(), 2}, 0.5)}}, "text"};
        })
        .cache(path);
  };
  auto expectAll = [&] {
    std::int64_t i = 0;
    for (const auto &[named, text] : make()) {
      EXPECT_EQ(named.at("x").item<std::int64_t>(), i);
      EXPECT_EQ(named.at("y").shape(), (Shape{i++, 2}));
      EXPECT_EQ(text, "text");
    }
    EXPECT_EQ(i, 3);
  };
  for (const auto &element : make()) { // left early
    (void)element;
    break;
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
  expectAll();
  EXPECT_EQ(made, 4);
  expectAll();
  EXPECT_EQ(made, 4);
  const std::string whole = readFile(path);
  auto error = [&](const std::string &bytes) {
    writeFile(path, bytes);
    return errorOf<DataError>([&] {
      for (const auto &element : make())
        (void)element;
    });
  };
  for (std::size_t size = 0; size < whole.size(); size += 7)
    EXPECT_CONTAINS(error(whole.substr(0, size)), path + ": ");
  EXPECT_CONTAINS(error(""), "this is no cache of a data set");
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  EXPECT_CONTAINS(error(flipped), "is damaged: the checksum of its data is wrong");
  {
    data::TFRecordWriter writer(path);
    writer.write("calque cache 1");
    writer.write("nonsense");
  }
  EXPECT_CONTAINS(error(readFile(path)), "record 1 of the cache holds no element");
  {
    data::TFRecordWriter writer(path);
    writer.write("calque cache 1");
  }
  EXPECT_CONTAINS(error(readFile(path)), "truncated: the cache ends behind element 0 without saying that it is whole");
  // One of other elements.
  writeFile(path, whole);
  EXPECT_CONTAINS(errorOf<DataError>([&] { numbersOf(data::range(3).cache(path)); }),
                  path + ": the cache is one of another data set: element 0 is (int64[], float32[0,2]), and those of "
                         "this one are (int64[])");
  EXPECT_CONTAINS(
      errorOf<DataError>([&] { numbersOf(data::range(3).map([](const Tensor &x) { return x; }).cache(path)); }),
      "the elements have another structure than the type of the data set says");
  const std::string rows = directory.file("rows");
  Tensor x = ones({4, 2});
  for (int iteration = 0; iteration < 2; ++iteration)
    EXPECT_EQ(numbersOf(data::from_tensor_slices(x).cache(rows)), Numbers(8, 1));
  EXPECT_EQ(numbersOf(data::from_tensor_slices(x).padded_batch(2).unbatch().cache(rows)),
            Numbers(8, 1)); // unknown sizes
  EXPECT_CONTAINS(errorOf<DataError>([&] { numbersOf(data::from_tensor_slices(ones({4, 3})).cache(rows)); }),
                  rows + ": the cache is one of another data set: element 0 is (float32[2]), and those of this one are "
                         "(float32[3])");
  EXPECT_CONTAINS(errorOf<DataError>([&] { numbersOf(data::range(3).cache(directory.file("no/such"))); }),
                  "no/such: can't be written: No such file or directory");
}

//===-- In traced lambdas -----------------------------------------------------------------------===//

TEST(TracedDataset, GivesElementsOfAnyStructure) {
  Dataset named = data::from_tensor_slices(
      std::map<std::string, Tensor>{{"a", tensor<float>({1, 2, 3})}, {"b", tensor<float>({10, 20, 30})}});
  auto f = [=](const Tensor &x) {
    Tensor sum = x;
    for (const auto &one : named)
      sum = sum * 2 + one.at("a") + one.at("b");
    return sum;
  };
  EXPECT_EQ(function(f)(scalar(1.0f)).item<float>(), f(scalar(1.0f)).item<float>());
  Dataset nested =
      data::zip(data::range(5), data::from_tensor_slices(std::vector{ones({5, 2}), zeros({5})})).batch(2, true);
  auto g = [=](const Tensor &x) {
    Tensor sum = x;
    for (const auto &[i, vector] : nested)
      sum = sum + cast(calque::sum(i), DType::Float32) + calque::sum(vector[0]);
    return sum;
  };
  EXPECT_EQ(function(g)(scalar(0.0f)).item<float>(), 6 + 8);
}

TEST(TracedDataset, TakesMapsThatSayTheirTypes) {
  auto halves = [](const Tensor &i) { return cast(i, DType::Float32) * 0.5f; };
  auto loop = [](const Dataset<Tensor> &all) {
    return [=](const Tensor &x) {
      Tensor sum = x;
      for (Tensor one : all)
        sum = sum + one;
      return sum;
    };
  };
  Dataset said = data::range(4).map(halves, {.output_signature = TensorSpec<float>({})});
  EXPECT_EQ(function(loop(said))(scalar(0.0f)).item<float>(), 3);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { function(loop(data::range(4).map(halves)))(scalar(0.0f)); }),
                  "the types of the elements are not known before they are made");
  Dataset open = data::range(4).map([](const Tensor &i) { return reshape(i, {1}); },
                                    {.output_signature = TensorSpec<std::int64_t>({kDynamic})});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { function(loop(open))(scalar(std::int64_t(0))); }),
                  "takes elements of one shape; the output_signature says int64[?]");
  EXPECT_CONTAINS(errorOf<ValueError>(
                      [&] { function(loop(open.padded_batch(2, {.drop_remainder = true})))(scalar(std::int64_t(0))); }),
                  "padded_batch pads to the longest of each batch; padded_shapes make them equal");
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    function(loop(data::range(4).filter([](const Tensor &) { return true; }).batch(3)))(
                        scalar(std::int64_t(0)));
                  }),
                  "the last batch may have less elements than 3");
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    function(loop(data::range(3).batch(3).concatenate(data::range(2).batch(2))))(
                        scalar(std::int64_t(0)));
                  }),
                  "it joins elements of int64[3] and int64[2]");
  Dataset keys = data::range(2).map(
      [](const Tensor &i) { return std::map<std::string, Tensor>{{i.item<std::int64_t>() ? "a" : "b", i}}; },
      {.output_signature = std::map<std::string, Tensor>{{"a", TensorSpec<std::int64_t>({})}}});
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    function([=](const Tensor &x) {
                      Tensor sum = x;
                      for (const auto &one : keys)
                        sum = sum + one.at("a");
                      return sum;
                    })(scalar(std::int64_t(0)));
                  }),
                  "a loop over a data set in a trace takes elements of one structure");
}
