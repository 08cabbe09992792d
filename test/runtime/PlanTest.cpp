#include "runtime/Plan.h"
#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

using namespace calque::runtime;

namespace {

// What the kernels below were called with.
std::vector<std::vector<int64_t>> calls;

template <size_t Count> void note(const int64_t *words) { calls.emplace_back(words, words + Count); }

KernelRef kernelOf(CalqueKernel run, CalqueKernel scratch = nullptr) {
  return std::make_shared<const LoadedKernel>(LoadedKernel{{run, scratch}, nullptr});
}

int64_t word(const void *address) { return reinterpret_cast<int64_t>(address); }

// A frame with two inputs, an output, a workspace and two unknown sizes.
struct Frame : CalqueCallFrame {
  Frame() : CalqueCallFrame{} {
    inputs = in;
    outputs = out;
    workspace = memory;
    input_sizes = sizes;
    output_sizes = outSizes;
  }
  float a[4] = {}, b[4] = {}, c[4] = {};
  char memory[256] = {};
  void *in[2] = {a, b}, *out[1] = {c};
  int64_t sizes[2] = {7, 9}, outSizes[1] = {0};
};

class Plans : public ::testing::Test {
protected:
  void SetUp() override { calls.clear(); }
};

TEST_F(Plans, HandKernelsWhatTheirOperandsName) {
  Plan plan;
  plan.numSizes = 2;
  plan.steps = {{0, 6}, {1, 1}, {0, 6}};
  plan.operands = {{From::Frame},      {From::Input, 1, 4},          {From::Output, 0, 8}, {From::Workspace, 0, 64},
                   {From::Size, 1, 1}, {From::Number, 0, -5},        {From::Number, 0, 1}, {From::Number, 0, 10},
                   {From::Input, 0},   {From::Number, 0, INT64_MIN}, {From::Output},       {From::Workspace},
                   {From::Size}};
  LoadedPlan loaded(plan, {kernelOf(&note<6>), kernelOf(&note<1>)});
  Frame frame;
  EXPECT_EQ(loaded.run(frame), 0);
  EXPECT_EQ(calls,
            (std::vector<std::vector<int64_t>>{{word(static_cast<CalqueCallFrame *>(&frame)), word(frame.b + 1),
                                                word(frame.c + 2), word(frame.memory + 64), 10, -5},
                                               {1},
                                               {10, word(frame.a), INT64_MIN, word(frame.c), word(frame.memory), 7}}));
}

TEST_F(Plans, KeepTheirConstants) {
  Plan plan;
  plan.constants = {{std::byte(1)}, {}, {std::byte(2), std::byte(3)}};
  plan.steps = {{0, 3}};
  plan.operands = {{From::Constant, 0}, {From::Constant, 1}, {From::Constant, 2, 1}};
  LoadedPlan loaded(plan, {kernelOf([](const int64_t *words) {
                      calls.push_back({*reinterpret_cast<char *>(words[0]), *reinterpret_cast<char *>(words[2]),
                                       words[0] % CALQUE_BUFFER_ALIGNMENT, (words[2] - 1) % CALQUE_BUFFER_ALIGNMENT});
                    })});
  Frame frame;
  EXPECT_EQ(loaded.run(frame), 0);
  EXPECT_EQ(calls, (std::vector<std::vector<int64_t>>{{1, 3, 0, 0}}));
}

TEST_F(Plans, ComputeNumbersFromSizesBeforeTheFirstStep) {
  Plan plan;
  plan.numSizes = 2;
  plan.numComputed = 2;
  plan.numbers = 0;
  plan.steps = {{1, 2}};
  plan.operands = {{From::Computed, 1, 2}, {From::Computed, 0}};
  LoadedPlan loaded(plan, {kernelOf([](const int64_t *words) {
                             auto *computed = reinterpret_cast<int64_t *>(words[0]);
                             computed[0] = words[1] + 64; // an address
                             computed[1] = words[2] * words[3];
                           }),
                           kernelOf(&note<2>)});
  Frame frame;
  EXPECT_EQ(loaded.run(frame), 0);
  EXPECT_EQ(calls, (std::vector<std::vector<int64_t>>{{65, word(frame.memory + 64)}}));
}

TEST_F(Plans, ComputeShapesFromSizes) {
  Plan plan;
  plan.numSizes = 2;
  plan.shapes = 0;
  LoadedPlan loaded(plan, {kernelOf([](const int64_t *words) {
                      *reinterpret_cast<int64_t *>(words[1]) = words[3] + words[4];
                      *reinterpret_cast<int64_t *>(words[2]) = 128;
                      if (words[3] == 8)
                        calque_rt_fail(reinterpret_cast<CalqueCallFrame *>(words[0]), 5, words[3], 0);
                    })});
  Frame frame;
  EXPECT_EQ(loaded.computeShapes(frame), 0);
  EXPECT_EQ(frame.outSizes[0], 16);
  EXPECT_EQ(frame.workspace_bytes, 128);
  frame.sizes[0] = 8;
  EXPECT_EQ(loaded.computeShapes(frame), 1);
  EXPECT_EQ(frame.error.site, 5);
}

TEST_F(Plans, GiveTheKernelOfShapesTheMemoryThatItAsksFor) {
  // Asks for 64 bytes, and fills all of them.
  auto shapes = kernelOf(
      [](const int64_t *words) {
        std::memset(reinterpret_cast<void *>(words[5]), 7, 64);
        *reinterpret_cast<int64_t *>(words[2]) = *reinterpret_cast<char *>(words[5] + 63);
      },
      [](const int64_t *words) { *reinterpret_cast<int64_t *>(words[5]) = 64; });
  Plan plan;
  plan.numSizes = 2;
  plan.shapes = 0;
  LoadedPlan loaded(plan, {shapes});
  Frame frame;
  EXPECT_EQ(loaded.computeShapes(frame), 0);
  EXPECT_EQ(frame.workspace_bytes, 7);
}

TEST_F(Plans, GiveKernelsTheMemoryThatTheyAskFor) {
  // Asks for its operand's number of bytes, and fills all of them.
  auto fill = kernelOf(
      [](const int64_t *words) {
        std::memset(reinterpret_cast<void *>(words[1]), 1, static_cast<size_t>(words[0]));
        calls.push_back({words[0], words[1] % CALQUE_BUFFER_ALIGNMENT});
      },
      [](const int64_t *words) { *reinterpret_cast<int64_t *>(words[1]) = words[0]; });
  Plan plan;
  plan.steps = {{0, 1}, {0, 1}, {0, 1}};
  plan.operands = {{From::Number, 0, 100}, {From::Number, 0, 100'000}, {From::Number, 0, 10}};
  Frame frame;
  EXPECT_EQ(LoadedPlan(plan, {fill}).run(frame), 0);
  EXPECT_EQ(calls, (std::vector<std::vector<int64_t>>{{100, 0}, {100'000, 0}, {10, 0}}));
  plan.operands[1].offset = INT64_MAX;
  EXPECT_THROW(LoadedPlan(plan, {fill}).run(frame), std::bad_alloc);
}

TEST_F(Plans, StopAtAFailedCheck) {
  Plan plan;
  plan.steps = {{0, 1}, {1, 1}};
  plan.operands = {{From::Frame}, {From::Number, 0, 3}};
  LoadedPlan loaded(plan, {kernelOf([](const int64_t *words) {
                             calque_rt_fail(reinterpret_cast<CalqueCallFrame *>(words[0]), 2, 0, 0);
                           }),
                           kernelOf(&note<1>)});
  Frame frame;
  EXPECT_EQ(loaded.run(frame), 1);
  EXPECT_EQ(frame.error.site, 2);
  EXPECT_TRUE(calls.empty()) << "no step runs after it";
}

// A plan that writes over inputs must not end in the middle.
TEST_F(Plans, HaveAllMemoryBeforeTheyWriteOverInputs) {
  Plan plan;
  plan.steps = {{0, 1}, {1, 1}};
  plan.operands = {{From::Number, 0, 3}, {From::Number, 0, 3}};
  auto asks = [](const int64_t *words) { *reinterpret_cast<int64_t *>(words[1]) = int64_t(1) << 46; };
  for (bool writesInputs : {false, true}) {
    calls.clear();
    plan.writesInputs = writesInputs;
    LoadedPlan loaded(plan, {kernelOf(&note<1>), kernelOf(&note<1>, asks)});
    Frame frame;
    EXPECT_THROW(loaded.run(frame), std::bad_alloc);
    EXPECT_EQ(calls.size(), writesInputs ? 0u : 1u);
  }
}

// A kernel that is one loop: (address, number of elements). It adds 1 to each element, in pieces of 10.
const KernelRef addOne = std::make_shared<const LoadedKernel>(LoadedKernel{
    {[](const int64_t *words) {
       auto *elements = reinterpret_cast<std::atomic<int> *>(words[0]);
       for (int64_t i = 0; i < words[1]; ++i)
         elements[i] += 1;
     },
     nullptr,
     [](const int64_t *words) {
       *reinterpret_cast<Pieces *>(words[2]) = {words[1], 10, [](void *context, int64_t begin, int64_t end) {
                                                  const auto *own = static_cast<const int64_t *>(context);
                                                  EXPECT_EQ(begin % 10, 0);
                                                  EXPECT_TRUE(end == begin + 10 || end == own[1]);
                                                  for (int64_t i = begin; i < end; ++i)
                                                    reinterpret_cast<std::atomic<int> *>(own[0])[i] += 1;
                                                }};
     }},
    nullptr});

// A short one: it adds its second word to its first element, by way of memory of its own.
const KernelRef addThroughMemory = std::make_shared<const LoadedKernel>(
    LoadedKernel{{[](const int64_t *words) {
                    auto *own = reinterpret_cast<volatile int64_t *>(words[2]);
                    for (int64_t i = 0; i < 100; ++i)
                      own[i] = words[1];
                    *reinterpret_cast<std::atomic<int> *>(words[0]) += static_cast<int>(own[99]);
                  },
                  [](const int64_t *words) { *reinterpret_cast<int64_t *>(words[2]) = 800; }},
                 nullptr});

TEST_F(Plans, RunEachPieceOfARoundOnce) {
  struct Counts {
    std::atomic<int> of[3000] = {};
  };
  for (int threads : {1, 2, 3, 7}) {
    setThreadCount(threads);
    for (const std::vector<int64_t> &sizes : std::vector<std::vector<int64_t>>{
             {1000, 7, 0, 31, 2999, 10}, {11}, {20, 20}, {3, 4, 5}, {0, 0}, std::vector<int64_t>(40, 25)}) {
      auto counts = std::make_unique<Counts[]>(2 * sizes.size());
      Plan plan;
      for (size_t i = 0; i < sizes.size(); ++i) {
        plan.steps.push_back({0, 2});
        plan.steps.push_back({1, 2, i % 2 ? 3000u : 0u}); // known and not known
        for (int64_t word : {word(counts[2 * i].of), sizes[i], word(counts[2 * i + 1].of), int64_t(i) + 5})
          plan.operands.push_back({From::Number, 0, word});
      }
      auto count = static_cast<uint32_t>(plan.steps.size());
      plan.rounds = {{0, count - 1}, {count - 1, 1}};
      LoadedPlan loaded(plan, {addOne, addThroughMemory});
      Frame frame;
      for (int run = 1; run <= 3; ++run) {
        EXPECT_EQ(loaded.run(frame), 0);
        for (size_t i = 0; i < sizes.size(); ++i) {
          for (int64_t k = 0; k < 3000; ++k)
            ASSERT_EQ(counts[2 * i].of[k], k < sizes[i] ? run : 0) << k << " of " << sizes[i];
          EXPECT_EQ(counts[2 * i + 1].of[0], run * static_cast<int>(i + 5));
        }
      }
    }
  }
  setThreadCount(0);
}

// A step that follows another one runs behind it, and each chain on one thread.
TEST_F(Plans, RunChainsInTheirOrder) {
  auto twice = kernelOf([](const int64_t *words) { // and its second word
    auto *value = reinterpret_cast<int64_t *>(words[0]);
    *value = *value * 2 + words[1];
  });
  for (int threads : {1, 2, 3, 7}) {
    setThreadCount(threads);
    int64_t values[30] = {};
    Plan plan;
    for (int64_t chain = 0; chain < 30; ++chain)
      for (int64_t step = 0; step < 5; ++step) {
        plan.steps.push_back({0, 2, chain % 3 ? 9000u : 900u, step > 0});
        plan.operands.push_back({From::Number, 0, word(values + chain)});
        plan.operands.push_back({From::Number, 0, chain + step});
      }
    plan.rounds = {{0, 150}};
    Frame frame;
    EXPECT_EQ(LoadedPlan(plan, {twice}).run(frame), 0);
    for (int64_t chain = 0; chain < 30; ++chain)
      EXPECT_EQ(values[chain], 31 * chain + 8 + 2 * 4 + 3 * 2 + 4) << chain;
  }
  setThreadCount(0);
}

TEST_F(Plans, RunARoundBetweenTheStepsAroundIt) {
  setThreadCount(2);
  std::atomic<int> elements[200] = {};
  Plan plan;
  plan.writesInputs = true;
  plan.steps = {{1, 1}, {0, 2}, {0, 2}, {1, 1}, {2, 2}};
  plan.operands = {{From::Number, 0, word(elements)},
                   {From::Number, 0, word(elements)},
                   {From::Number, 0, 100},
                   {From::Number, 0, word(elements + 100)},
                   {From::Number, 0, 100},
                   {From::Number, 0, word(elements + 150)},
                   {From::Number, 0, word(elements)},
                   {From::Number, 0, 9}};
  plan.rounds = {{1, 2}};
  auto note =
      kernelOf([](const int64_t *words) { calls.push_back({*reinterpret_cast<std::atomic<int> *>(words[0])}); });
  Frame frame;
  EXPECT_EQ(LoadedPlan(plan, {addOne, note, addThroughMemory}).run(frame), 0);
  EXPECT_EQ(calls, (std::vector<std::vector<int64_t>>{{0}, {1}}));
  EXPECT_EQ(elements[0], 10);
  EXPECT_EQ(elements[99], 1);
  setThreadCount(0);
}

} // namespace
