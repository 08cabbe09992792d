// The sources of data sets.
#include "test/training/Numbers.h"

#include <algorithm>
#include <set>

using namespace calque;
using namespace calque::testing;
using data::Dataset;

TEST(Sources, Range) {
  EXPECT_EQ(numbersOf(data::range(4)), upTo(4));
  EXPECT_EQ(numbersOf(data::range(5, -3, -3)), (Numbers{5, 2, -1}));
  EXPECT_EQ(numbersOf(data::range(3, 3)), Numbers());
  EXPECT_EQ(data::range(INT64_MAX - 1, INT64_MAX).size(), 1);
  EXPECT_EQ(data::range(1, 10, 4).size(), 3);
  EXPECT_MISUSE(ValueError, data::range(0, 3, 0), "range: the step is 0");
  EXPECT_MISUSE(ValueError, data::range(INT64_MIN, INT64_MAX), "there are more elements than int64 counts");
}

TEST(Sources, GeneratorsBeginAnewAndAreAskedForWhatIsNeeded) {
  auto asked = std::make_shared<int>(0);
  Dataset endless = data::from_generator([asked, i = std::int64_t(0)]() mutable -> std::optional<Tensor> {
    ++*asked;
    return scalar(i++);
  });
  EXPECT_EQ(numbersOf(endless.take(3)), upTo(3));
  EXPECT_EQ(*asked, 3);
  EXPECT_EQ(numbersOf(endless.skip(1).take(2)), (Numbers{1, 2}));
  EXPECT_EQ(endless.cardinality(), data::kUnknown);
  auto finite = [made = 0]() mutable { // the callable makes what generates
    return [i = std::int64_t(10) * made++, left = 2]() mutable {
      return left-- ? std::optional(scalar(i++)) : std::nullopt;
    };
  };
  Dataset pairs = data::from_generator(finite);
  EXPECT_EQ(numbersOf(pairs), (Numbers{0, 1}));
  EXPECT_EQ(numbersOf(pairs), (Numbers{10, 11}));
  EXPECT_EQ(numbersOf(data::from_generator([] { return std::vector{scalar(3), scalar(4)}; }).repeat(2)),
            (Numbers{3, 4, 3, 4}));
  EXPECT_MISUSE(StateError, data::from_generator(std::function<std::optional<Tensor>()>()), "there is nothing to call");
}

namespace {
struct InBatches {
  std::int64_t size() const { return 3; }
  std::pair<Tensor, Tensor> operator[](std::int64_t i) const { return {full({2}, i), scalar(i)}; }
  void on_epoch_end() { ++*ends; }
  std::shared_ptr<int> ends = std::make_shared<int>(0);
};
} // namespace

TEST(Sources, SequencesEndTheirEpochs) {
  InBatches batches;
  Dataset plain = data::from_sequence(batches);
  EXPECT_EQ(plain.size(), 3);
  for (int epoch = 1; epoch <= 2; ++epoch) {
    Numbers order;
    for (auto [x, y] : plain)
      order.push_back(numberIn(y));
    EXPECT_EQ(order, upTo(3));
    EXPECT_EQ(*batches.ends, epoch);
  }
  for (auto [x, y] : plain)
    break;
  EXPECT_EQ(*batches.ends, 2); // not for what is left early
  std::set<Numbers> orders;
  auto y = [](const Tensor &, const Tensor &second) { return second; };
  Dataset shuffled =
      data::from_sequence(std::make_shared<InBatches>(batches), {.shuffle = true, .seed = 1, .workers = 3}).map(y);
  for (int epoch = 0; epoch < 20; ++epoch) {
    Numbers order = numbersOf(shuffled);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, upTo(3));
  }
  EXPECT_EQ(orders.size(), 6u);
  EXPECT_EQ(*batches.ends, 22);
  EXPECT_MISUSE(StateError, data::from_sequence(std::shared_ptr<InBatches>()), "an empty sequence is used");
}

TEST(Sources, ZipIsAsLongAsTheShortest) {
  Numbers sums;
  for (auto [a, b, c] : data::zip(data::range(5), data::range(10, 13), data::range(100).repeat()))
    sums.push_back(numberIn(a) + numberIn(b) + numberIn(c));
  EXPECT_EQ(sums, (Numbers{10, 13, 16}));
  EXPECT_EQ(data::zip(data::range(5), data::range(3)).size(), 3);
  EXPECT_EQ(data::zip(data::range(5).repeat(), data::range(3).repeat()).cardinality(), data::kInfinite);
  for (const auto &[named, i] :
       data::zip(data::from_tensor_slices(std::map<std::string, Tensor>{{"a", ones({2})}}), data::range(9)))
    EXPECT_EQ(named.at("a").item<float>(), 1);
}

TEST(Sources, ChooseAndSampleFromSeveral) {
  const std::vector<Dataset<Tensor>> all = {data::range(3), data::range(10, 13), data::range(20, 23)};
  Dataset choice = data::from_tensor_slices(tensor({0, 2, 0, 1, 0, 0, 2}));
  EXPECT_EQ(numbersOf(data::choose_from_datasets(all, choice)), (Numbers{0, 20, 1, 10, 2, 21}));
  EXPECT_EQ(numbersOf(data::choose_from_datasets(all, choice, true)), (Numbers{0, 20, 1, 10, 2}));
  EXPECT_MISUSE(IndexError, numbersOf(data::choose_from_datasets(all, data::range(2, 5))),
                "choose_from_datasets: the choice is 3 and there are 3 data sets");
  EXPECT_MISUSE(ValueError, data::choose_from_datasets(std::vector<Dataset<Tensor>>(), choice),
                "choose_from_datasets: there are no data sets to take elements of");
  Dataset sampled = data::sample_from_datasets(all, {.weights = {1, 0, 2}, .seed = 5});
  Numbers order = numbersOf(sampled);
  EXPECT_GT(std::set<Numbers>({order, numbersOf(sampled), numbersOf(sampled), numbersOf(sampled)}).size(), 1u);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (Numbers{0, 1, 2, 20, 21, 22})); // none of a weight of 0
  int counts[2] = {};
  for (std::int64_t x :
       numbersOf(data::sample_from_datasets(std::vector{data::range(1).repeat(), data::range(1, 2).repeat()},
                                            {.weights = {1, 3}, .seed = 2})
                     .take(4000)))
    ++counts[x];
  EXPECT_NEAR(counts[0], 1000, 110); // 4 standard deviations
  for (const std::vector<double> &weights : {std::vector<double>{1, 2}, {0, 0, 0}, {1, -1, 1}, {1, 1, HUGE_VAL}})
    EXPECT_MISUSE(ValueError, data::sample_from_datasets(all, {.weights = weights}),
                  "weights must be one for each of the 3 data sets, finite, not below 0, and not all 0");
}
