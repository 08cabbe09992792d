// The errors of collectives, one test for each way to provoke one.
#include "test/distributed/Ranks.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace calque;
using namespace calque::testing;
using distributed::Reduction;

namespace {
// `line` is that of the last line of the call.
template <typename E, typename F> void expectError(F statement, const std::string &part, unsigned line) {
  const std::string message = errorOf<E>(statement);
  EXPECT_CONTAINS(message, part);
  bool hasLine = false;
  for (unsigned lines = 0; lines < 5; ++lines)
    hasLine |= message.ends_with("MisuseTest.cpp:" + std::to_string(line - lines));
  EXPECT_TRUE(hasLine) << message << ", and the call ends at line " << line;
}
const Tensor &two() {
  static const Tensor x = ones({2});
  return x;
}
} // namespace

TEST(Misuse, OfTypes) {
  using distributed::all_reduce;
  expectError<DTypeError>([] { all_reduce(tensor({true}), {}); }, "all_reduce: sums and products are of numbers",
                          __LINE__);
  expectError<DTypeError>([] { all_reduce(tensor({1}), {.op = Reduction::Mean}); },
                          "all_reduce: a mean is of floating-point numbers, not of int32", __LINE__ - 1);
  expectError<DTypeError>([] { all_reduce({two(), tensor({1})}); },
                          "all_reduce: tensors of one message have one element type, not float32 and int32",
                          __LINE__ - 1);
  expectError<ValueError>([] { all_reduce({two(), two()}, {.op = Reduction::Max}); },
                          "all_reduce: several tensors are summed or averaged", __LINE__ - 1);
  expectError<ValueError>([] { all_reduce(tensor({1}), {.reproducible = true}); },
                          "all_reduce: reproducible is an option of sums and means of floats", __LINE__ - 1);
  expectError<DTypeError>([] { distributed::reduce_scatter(tensor({true})); }, "reduce_scatter: sums", __LINE__);
  expectError<DTypeError>([] { distributed::reduce(tensor({true})); }, "reduce: sums", __LINE__);
}

TEST(Misuse, OfSizes) {
  if (ranks() > 1) {
    const Tensor odd = ones({ranks() + 1});
    expectError<ShapeError>([&] { distributed::reduce_scatter(odd); },
                            "reduce_scatter: the size " + std::to_string(ranks() + 1) + " is not a multiple of the " +
                                std::to_string(ranks()) + " ranks",
                            __LINE__ - 3);
    expectError<ShapeError>([&] { distributed::scatter(odd); }, "scatter: the size", __LINE__);
    expectError<ShapeError>([&] { distributed::all_to_all(odd); }, "all_to_all: the size", __LINE__);
  }
  expectError<ShapeError>([] { distributed::gather(scalar(1.0f)); }, "gather: takes tensors with an axis", __LINE__);
  expectError<ValueError>([] { distributed::all_gather(two(), {.axis = 1}); }, "all_gather: axis 1 is not one of 1",
                          __LINE__);
  expectError<ValueError>([] { distributed::halo_exchange(two(), {.width = 3}); },
                          "halo_exchange: the width is 3, and must be from 1 to 2", __LINE__ - 1);
  expectError<ShapeError>([] { distributed::recv(TensorSpec<float>({kDynamic}), 0); },
                          "recv: the sizes of a message must be known", __LINE__ - 1);
}

TEST(Misuse, OfRanks) {
  const int n = ranks();
  expectError<ValueError>([&] { distributed::broadcast(two(), {.root = n}); },
                          "broadcast: the root is " + std::to_string(n) + ", and group 'world' has " +
                              std::to_string(n) + " ranks",
                          __LINE__);
  expectError<ValueError>([&] { distributed::gather(two(), {.root = -1}); }, "gather: the root is -1", __LINE__);
  expectError<ValueError>([&] { distributed::permute(two(), {{0, n}}); }, "permute: the destination is", __LINE__);
  expectError<ValueError>([&] { distributed::permute(two(), {{n, 0}}); }, "permute: the source is", __LINE__);
  expectError<ValueError>([&] { distributed::permute(two(), {{0, 0}, {0, n - 1}}); },
                          "permute: rank 0 stands twice as a ", __LINE__);
  expectError<ValueError>([&] { distributed::send(two(), n); }, "send: the destination is", __LINE__);
  expectError<ValueError>([&] { distributed::send(two(), rank()); }, "send: a rank that sends to itself", __LINE__);
  expectError<ValueError>([&] { distributed::recv(TensorSpec<float>({1}), -1); }, "recv: the source is -1", __LINE__);
  expectError<ValueError>([&] { distributed::World().split(-1); }, "split: the color is -1", __LINE__);
  if (n > 1)
    expectError<ValueError>([&] { distributed::send(two(), (rank() + 1) % n, {.tag = -1}); },
                            "send: the tag is -1, and must be from 0 to 32766", __LINE__);
}

TEST(Misuse, OfUnknownSizes) {
  auto f = function([](const Tensor &x) { return distributed::all_reduce(x); },
                    {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(two()); }),
                  "all_reduce: the sizes of a tensor that is sent must be known; one is float32[?]");
}

TEST(Misuse, OfGroupsInFunctions) {
  const std::string message = errorOf<StateError>([] {
    function([](const Tensor &x) {
      distributed::World().split(0);
      return x;
    })(two());
  });
  EXPECT_CONTAINS(message, "split: groups are made outside of functions");
}

TEST(Misuse, MessagesHaveNoGradientCheckpointOrExamples) {
  if (ranks() == 1)
    GTEST_SKIP() << "a message has two ends";
  const int other = rank() == 0 ? 1 : 0;
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    checkpoint([&](const Tensor &x) {
                      distributed::send(x, other);
                      return x;
                    })(two());
                  }),
                  "can't stand in a pullback or a checkpoint, which may run any number of times");
  EXPECT_CONTAINS(errorOf<CompileError>([&] {
                    vmap([&](const Tensor &x) {
                      distributed::send(x, other);
                      return x;
                    })(ones({2, 2}));
                  }),
                  "a message is of one example");
}

TEST(Misuse, VmapRefusesCollectivesThatExamplesDecide) {
  EXPECT_CONTAINS(errorOf<CompileError>([] {
                    vmap([](const Tensor &x) {
                      return cond(x > 0, [&] { return distributed::all_reduce(x); }, [&] { return x; });
                    })(two());
                  }),
                  "a branch has effects");
}

//===-- Ranks that differ -------------------------------------------------------------------------===//

// Each of these leaves its group out of step, so that it has its own.
namespace {
distributed::Group fresh() { return distributed::World().split(0); }
} // namespace

TEST(Differences, OfKindsAreFoundBeforeTheFirstRun) {
  if (ranks() == 1)
    GTEST_SKIP() << "one rank can't differ";
  const distributed::Group group = fresh();
  unsigned line = 0;
  auto f = function([&](const Tensor &x) {
    Tensor y = distributed::all_reduce(x, {.group = group});
    line = __LINE__;
    if (rank() == 0) // two lines below
      return distributed::all_reduce(y, {.op = Reduction::Max, .group = group});
    return distributed::broadcast(y, {.group = group}); // three
  });
  const std::string message = errorOf<StateError>([&] { f(two()); });
  EXPECT_CONTAINS(message, "the collectives can't run: the ranks of group '" + group.name() +
                               "' do not do the same: collective 2 is all_reduce[");
  EXPECT_CONTAINS(message, ",max] float32[2] at ");
  EXPECT_CONTAINS(message, "MisuseTest.cpp:" + std::to_string(line + 2) + " on rank 0, and broadcast[");
  EXPECT_CONTAINS(message, "MisuseTest.cpp:" + std::to_string(line + 3) + " on rank ");
  // From here on the group is out of step.
  EXPECT_CONTAINS(errorOf<StateError>([&] { distributed::all_gather(two(), {.group = group}); }), "do not do the same");
}

TEST(Differences, OfTypesAndSizesAreFound) {
  if (ranks() == 1)
    GTEST_SKIP() << "one rank can't differ";
  const distributed::Group sizes = fresh(), types = fresh(), counts = fresh();
  EXPECT_CONTAINS(errorOf<StateError>([&] { distributed::all_reduce(ones({rank() == 0 ? 2 : 3}), {.group = sizes}); }),
                  "float32[2]");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    distributed::all_reduce(ones({2}, rank() == 0 ? DType::Float32 : DType::Float64), {.group = types});
                  }),
                  "float64[2]");
  const std::string message = errorOf<StateError>([&] {
    function([&](const Tensor &x) {
      Tensor y = distributed::all_reduce(x, {.group = counts});
      return rank() == 0 ? distributed::all_reduce(y, {.group = counts}) : y;
    })(two());
  });
  EXPECT_CONTAINS(message, "and nothing more on rank 1");
}

TEST(Differences, ARankThatFailsAloneIsOutOfStep) {
  if (ranks() == 1)
    GTEST_SKIP() << "one rank can't differ";
  const distributed::Group group = fresh();
  auto f = function([&](const Tensor &x, const Tensor &i) {
    Tensor y = distributed::all_reduce(x, {.group = group});
    return gather(y, i, 0);
  });
  auto next = [&] { return distributed::all_reduce(two(), {.group = group}); };
  next(); // agreed on before
  EXPECT_EQ(f(two(), scalar(0)).item<float>(), float(ranks()));
  // All fail in the same way, and go on.
  EXPECT_THROW(f(two(), scalar(7)), IndexError);
  EXPECT_EQ(next().to_vector<float>(), std::vector<float>(2, float(ranks())));
}

TEST(Differences, TwoThreadsHaveNoOrder) {
  if (ranks() == 1)
    GTEST_SKIP() << "needs a rank that waits";
  // A group out of step refuses everything, so that asking it waits for nobody.
  const distributed::Group group = fresh();
  EXPECT_THROW(distributed::all_reduce(ones({rank() == 0 ? 2 : 3}), {.group = group}), StateError);
  // Rank 1 sends when this file is there.
  const auto id = distributed::broadcast(scalar(static_cast<std::int32_t>(getpid()))).item<std::int32_t>();
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("calque-ranks-" + std::to_string(id));
  if (rank() == 0) {
    std::thread waits([&] { EXPECT_EQ(distributed::recv(TensorSpec<float>({2}), 1).size(), 2); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // or the other thread would be refused
    std::string message;
    while (message.find("split: can't be done: another thread of this rank is in a collective") == std::string::npos)
      message = errorOf<StateError>([&] { group.split(0); });
    std::ofstream(file).flush();
    waits.join();
  } else if (rank() == 1) {
    while (!std::filesystem::exists(file))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    distributed::send(two(), 0);
    std::filesystem::remove(file);
  }
}
