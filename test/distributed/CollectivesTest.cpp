// What each collective gives, for each element type, eagerly and compiled.
#include "test/distributed/Ranks.h"

#include <cmath>
#include <limits>

using namespace calque;
using namespace calque::testing;
using distributed::Reduction;

namespace {

// Each rank's numbers: rank + 1 and 2 (rank + 1).
Tensor own(DType dtype) {
  const float first = static_cast<float>(rank() + 1);
  return cast(tensor({first, 2 * first}), dtype);
}
double sumOfRanks() { return ranks() * (ranks() + 1) / 2.0; }
double productOfRanks() { return std::tgamma(ranks() + 1.0); }

std::vector<DType> numbers() {
  std::vector<DType> all;
  for (const DTypeInfo &info : kDTypes)
    if (info.kind != DTypeKind::Bool && info.kind != DTypeKind::Complex)
      all.push_back(info.dtype);
  return all;
}

} // namespace

TEST(Collectives, AllReduceOfEachNumericType) {
  const double n = ranks();
  for (DType dtype : numbers()) {
    SCOPED_TRACE(name_of(dtype));
    auto reduced = [](Reduction op) {
      return [op](const Tensor &x) { return distributed::all_reduce(x, {.op = op}); };
    };
    inBothModes(reduced(Reduction::Sum), own(dtype), {sumOfRanks(), 2 * sumOfRanks()});
    inBothModes(reduced(Reduction::Max), own(dtype), {n, 2 * n});
    inBothModes(reduced(Reduction::Min), own(dtype), {1, 2});
    if (size_of(dtype) > 1) // a byte does not hold it
      inBothModes(reduced(Reduction::Prod), own(dtype), {productOfRanks(), std::pow(2, n) * productOfRanks()});
    if (is_floating(dtype))
      inBothModes(reduced(Reduction::Mean), own(dtype), {(n + 1) / 2, n + 1});
  }
}

TEST(Collectives, AllReduceOfBoolsIsOrAndAnd) {
  const Tensor x = tensor({rank() == 0, true, false});
  inBothModes([](const Tensor &a) { return distributed::all_reduce(a, {.op = Reduction::Max}); }, x, {1, 1, 0});
  inBothModes([](const Tensor &a) { return distributed::all_reduce(a, {.op = Reduction::Min}); }, x,
              {double(ranks() == 1), 1, 0});
}

TEST(Collectives, NanBeatsAnyNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int from = 0; from < ranks(); ++from)
    for (Reduction op : {Reduction::Max, Reduction::Min})
      EXPECT_TRUE(std::isnan(distributed::all_reduce(scalar(rank() == from ? nan : 1.0f), {.op = op}).item<float>()));
}

TEST(Collectives, SeveralTensorsAreOneMessage) {
  auto f = [](const Tensor &x) {
    std::vector<Tensor> parts =
        distributed::all_reduce({x, x[0] + x[1], reshape(x * 2, {2, 1}), zeros({0}, x.dtype())});
    EXPECT_EQ(parts[2].shape(), Shape({2, 1}));
    EXPECT_EQ(parts[3].shape(), Shape({0}));
    return concat({parts[0], reshape(parts[1], {1}), reshape(parts[2], {2})});
  };
  const double s = sumOfRanks();
  inBothModes(f, own(DType::Float32), {s, 2 * s, 3 * s, 2 * s, 4 * s});
  inBothModes(f, own(DType::BFloat16), {s, 2 * s, 3 * s, 2 * s, 4 * s});
}

TEST(Collectives, ReproducibleSumsAreThoseOfATree) {
  // A sum whose bits depend on the order: ((0+1)+2)+3 differs from (0+1)+(2+3).
  const float values[] = {1.0f, 1e8f, -1e8f, 3.0f};
  const float x = values[rank() % 4];
  float expected = values[0];
  if (ranks() == 2)
    expected = values[0] + values[1];
  else if (ranks() == 3)
    expected = (values[0] + values[1]) + values[2];
  else if (ranks() == 4)
    expected = (values[0] + values[1]) + (values[2] + values[3]);
  for (int size : {1, 3, 1000})
    inBothModes([](const Tensor &a) { return distributed::all_reduce(a, {.reproducible = true}); }, full({size}, x),
                std::vector<double>(static_cast<std::size_t>(size), expected));
}

TEST(Collectives, GatherAndScatterOfEachType) {
  const int n = ranks(), last = n - 1;
  for (const DTypeInfo &info : kDTypes) {
    if (info.kind == DTypeKind::Complex) // refused, as by all operations of users that are ordered
      continue;
    SCOPED_TRACE(info.name);
    const bool isBool = info.kind == DTypeKind::Bool;
    const Tensor x = isBool ? tensor({rank() % 2 == 1, true}) : own(info.dtype);
    auto of = [&](int i) {
      return isBool ? std::vector<double>{double(i % 2), 1} : std::vector<double>{i + 1.0, i * 2 + 2.0};
    };
    const std::vector<double> all = ofRanks(of), none(all.size(), 0);
    inBothModes([](const Tensor &a) { return distributed::all_gather(a); }, x, all);
    inBothModes([&](const Tensor &a) { return distributed::gather(a, {.root = last}); }, x,
                rank() == last ? all : none);
    inBothModes([&](const Tensor &a) { return distributed::broadcast(a, {.root = last}); }, x, of(last));
    inBothModes([](const Tensor &a) { return distributed::scatter(distributed::all_gather(a)); }, x, of(rank()));
    inBothModes([](const Tensor &a) { return distributed::shift(a, 1); }, x, of((rank() + last) % n));
    if (!isBool)
      inBothModes([](const Tensor &a) { return distributed::reduce_scatter(distributed::all_gather(a)); }, x,
                  {n * (rank() + 1.0), n * (rank() * 2 + 2.0)});
  }
}

TEST(Collectives, AlongOtherAxes) {
  const int n = ranks();
  const Tensor x = full({2, 1}, float(rank()));
  std::vector<double> rows;
  for (int row = 0; row < 2; ++row)
    for (int i = 0; i < n; ++i)
      rows.push_back(i);
  inBothModes([](const Tensor &a) { return distributed::all_gather(a, {.axis = 1}); }, x, rows);
  inBothModes([](const Tensor &a) { return distributed::all_gather(a, {.axis = -1}); }, x, rows);
  inBothModes([](const Tensor &a) { return distributed::all_gather(sum(a)); }, x,
              ofRanks([](int i) { return std::vector<double>{2.0 * i}; }));
  inBothModes(
      [](const Tensor &a) { return distributed::reduce_scatter(distributed::all_gather(a, {.axis = 1}), {.axis = 1}); },
      x, {double(n * rank()), double(n * rank())});
}

TEST(Collectives, AllToAllTransposesBlocks) {
  const int n = ranks();
  // Element j of rank i is 10 i + j, and goes to element i of rank j.
  std::vector<float> elements;
  for (int j = 0; j < n; ++j)
    elements.push_back(float(10 * rank() + j));
  inBothModes([](const Tensor &a) { return distributed::all_to_all(a); }, tensor(elements),
              ofRanks([](int i) { return std::vector<double>{10.0 * i + rank()}; }));
  // Columns are split, and rows are joined: the parts of a matrix by rows become parts by columns.
  const Tensor row = reshape(tensor(elements), {1, n});
  auto f = [](const Tensor &a) { return distributed::all_to_all(a, {.split_axis = 1, .concat_axis = 0}); };
  EXPECT_EQ(f(row).shape(), Shape({n, 1}));
  inBothModes(f, row, ofRanks([](int i) { return std::vector<double>{10.0 * i + rank()}; }));
  inBothModes([&](const Tensor &a) { return distributed::all_to_all(f(a), {.split_axis = 0, .concat_axis = 1}); }, row,
              std::vector<double>(elements.begin(), elements.end()));
}

TEST(Collectives, PermuteGivesZerosWithoutASource) {
  const int n = ranks();
  const Tensor x = full({2}, float(rank() + 1));
  const double before = rank() == 0 ? 0 : rank();
  inBothModes([](const Tensor &a) { return distributed::shift(a, 1, {.periodic = false}); }, x, {before, before});
  inBothModes([](const Tensor &a) { return distributed::shift(a, -1); }, x,
              std::vector<double>(2, (rank() + 1) % n + 1.0));
  inBothModes([&](const Tensor &a) { return distributed::permute(a, {{0, n - 1}}); }, x,
              std::vector<double>(2, rank() == n - 1 ? 1 : 0));
}

TEST(Collectives, HalosAreTheNeighboursSlices) {
  const double r = rank(), last = ranks() - 1;
  const Tensor x = tensor({float(10 * r), float(10 * r + 1), float(10 * r + 2)});
  const std::vector<double> middle{10 * r, 10 * r + 1, 10 * r + 2};
  auto expected = [&](double before, double behind) {
    return std::vector<double>{before, middle[0], middle[1], middle[2], behind};
  };
  inBothModes([](const Tensor &a) { return distributed::halo_exchange(a); }, x,
              expected(r == 0 ? 0 : 10 * r - 8, r == last ? 0 : 10 * r + 10));
  inBothModes([](const Tensor &a) { return distributed::halo_exchange(a, {.periodic = true}); }, x,
              expected(r == 0 ? 10 * last + 2 : 10 * r - 8, r == last ? 0 : 10 * r + 10));
}

TEST(Collectives, MessagesGoFromRankToRank) {
  if (ranks() == 1)
    GTEST_SKIP() << "a message has two ends";
  auto f = function([](const Tensor &x) {
    if (rank() == 0)
      distributed::send(x + 1, 1, {.tag = 7});
    return rank() == 1 ? distributed::recv(TensorSpec<float>({2}), 0, {.tag = 7}) : x;
  });
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(f(full({2}, float(call))).to_vector<float>(),
              std::vector<float>(2, rank() == 1 ? float(call + 1) : float(call)));
  if (rank() == 0)
    distributed::send(scalar(5), 1);
  if (rank() == 1)
    EXPECT_EQ(distributed::recv(TensorSpec<std::int32_t>({}), 0).item<std::int32_t>(), 5);
}

TEST(Collectives, RunInOrderUsedOrNot) {
  auto f = function([](const Tensor &x) {
    distributed::all_reduce(x);            // not used
    Tensor a = distributed::all_reduce(x); // nor merged with the next one
    Tensor b = distributed::all_reduce(x);
    distributed::barrier();
    return a + b;
  });
  const float s = 2 * float(sumOfRanks());
  EXPECT_EQ(f(own(DType::Float32)).to_vector<float>(), (std::vector<float>{s, 2 * s}));
  const std::string ir = f.ir("simplified", own(DType::Float32));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = ir.find("ordered_extern", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 4u) << ir;
}

TEST(Collectives, StandInBranchesAndLoops) {
  const float s = float(sumOfRanks());
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 3; ++i)
      if (sum(distributed::all_reduce(y)) > 0.0f) // the same on all ranks
        y = distributed::all_reduce(y) / float(ranks());
      else
        y = y - 1;
    return y;
  });
  const float mean = s / float(ranks());
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(f(own(DType::Float32)).to_vector<float>(), (std::vector<float>{mean, 2 * mean}));
  EXPECT_EQ(f(-own(DType::Float32)).to_vector<float>(),
            (std::vector<float>{-float(rank() + 1) - 3, -2 * float(rank() + 1) - 3}));
  auto loop = function([](Tensor x, const Tensor &n) {
    Tensor i = scalar(0);
    while (i < n) {
      x = distributed::all_reduce(x, {.op = Reduction::Mean}) + 1;
      i = i + 1;
    }
    return x;
  });
  for (int n : {0, 1, 5})
    EXPECT_EQ(loop(scalar(float(rank())), scalar(n)).item<float>(),
              n == 0 ? float(rank()) : float(ranks() - 1) / 2 + float(n));
}

TEST(Groups, AreSplitByColorAndKey) {
  const distributed::World world;
  const distributed::Group parity = world.split(rank() % 2), reversed = world.split(0, -rank());
  EXPECT_EQ(parity.size(), (ranks() + 1 - rank() % 2) / 2);
  EXPECT_EQ(parity.rank(), rank() / 2);
  EXPECT_EQ(reversed.rank(), ranks() - 1 - rank());
  EXPECT_EQ(parity.name().substr(0, 6), "world/");
  float expected = 0;
  for (int i = rank() % 2; i < ranks(); i += 2)
    expected += float(i);
  inBothModes([&](const Tensor &x) { return distributed::all_reduce(x, {.group = parity}); }, scalar(float(rank())),
              {expected});
  inBothModes([&](const Tensor &x) { return distributed::broadcast(x, {.root = 0, .group = reversed}); },
              scalar(float(rank())), {double(ranks() - 1)});
}

TEST(Groups, InitGivesTheWorldAgain) {
  EXPECT_TRUE(distributed::initialized());
  EXPECT_EQ(distributed::init().size(), ranks());
  EXPECT_EQ(distributed::World().name(), "world");
}
