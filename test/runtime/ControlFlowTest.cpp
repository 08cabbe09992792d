// The kernels of the runtime that run parts of a plan, and stacks.
#include "runtime/Plan.h"
#include "runtime/Stacks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

using namespace calque::runtime;

namespace {

int64_t word(const void *address) { return reinterpret_cast<int64_t>(address); }
template <typename T> T &at(int64_t word) { return *reinterpret_cast<T *>(word); }

KernelRef kernelOf(CalqueKernel run) {
  return std::make_shared<const LoadedKernel>(LoadedKernel{{run, nullptr}, nullptr});
}

// Numbers of the kernels that the plans below are made of.
enum : uint32_t { Cond, While, IsBelow, AddTwo, Increment, AddInPlace, Negate, Shapes, Fail, Push, Always, numKernels };

std::vector<KernelRef> kernels() {
  std::vector<KernelRef> made(numKernels);
  made[Cond] = kernelOf(calque_rt_cond);
  made[While] = kernelOf(calque_rt_while);
  made[IsBelow] =
      kernelOf([](const int64_t *words) { at<bool>(words[2]) = at<int64_t>(words[0]) < at<int64_t>(words[1]); });
  made[Always] = kernelOf([](const int64_t *words) { at<bool>(words[0]) = true; });
  made[AddTwo] = kernelOf([](const int64_t *words) {
    for (int i = 0; i < 2; ++i)
      (&at<int64_t>(words[2]))[i] = (&at<int64_t>(words[0]))[i] + (&at<int64_t>(words[1]))[i];
  });
  made[Increment] = kernelOf([](const int64_t *words) { at<int64_t>(words[1]) = at<int64_t>(words[0]) + 1; });
  made[AddInPlace] = kernelOf([](const int64_t *words) { at<int64_t>(words[1]) += at<int64_t>(words[0]); });
  made[Negate] = kernelOf([](const int64_t *words) { at<int64_t>(words[1]) = -at<int64_t>(words[0]); });
  // Of one unknown size: the result has one more.
  made[Shapes] = kernelOf([](const int64_t *words) {
    at<int64_t>(words[1]) = words[3] + 1;
    at<int64_t>(words[2]) = 0;
  });
  made[Fail] = kernelOf([](const int64_t *words) {
    if (at<int64_t>(words[1]) == words[2])
      calque_rt_fail(&at<CalqueCallFrame>(words[0]), 3, words[2], 0);
  });
  made[Push] = kernelOf(calque_rt_stack_push);
  return made;
}

struct Frame : CalqueCallFrame {
  Frame() : CalqueCallFrame{} {}
};

// A part with one step.
PlanPart part(Step step, std::vector<Operand> operands) {
  PlanPart made;
  made.plan.steps = {step};
  made.plan.operands = std::move(operands);
  return made;
}

// A plan with one step, whose words are numbers behind the frame.
LoadedPlan planOf(uint32_t kernel, const std::vector<int64_t> &words, std::vector<PlanPart> parts) {
  Plan plan;
  plan.steps = {{kernel, static_cast<uint32_t>(words.size() + 1)}};
  plan.operands = {{From::Frame}};
  for (int64_t each : words)
    plan.operands.push_back({From::Number, 0, each});
  plan.parts = std::move(parts);
  return LoadedPlan(std::move(plan), kernels());
}

PlanPart incrementing() { return part({Increment, 2}, {{From::Input, 0}, {From::Output, 0}}); }
PlanPart negating() { return part({Negate, 2}, {{From::Input, 0}, {From::Output, 0}}); }

} // namespace

TEST(ConditionalPart, IsTheOneThatThePredicateNames) {
  int64_t input = 5, result = 0;
  bool predicate = false;
  LoadedPlan plan =
      planOf(Cond, {0, 1, 1, 1, 0, word(&predicate), word(&input), word(&result)}, {incrementing(), negating()});
  for (bool each : {true, false, true}) {
    predicate = each;
    Frame frame;
    EXPECT_EQ(plan.run(frame), 0);
    EXPECT_EQ(result, each ? 6 : -5);
  }
}

TEST(ConditionalPart, FailsWithItsSite) {
  int64_t input = 5;
  bool predicate = true;
  PlanPart failing = part({Fail, 3}, {{From::Frame}, {From::Input, 0}, {From::Number, 0, 5}});
  failing.firstSite = 40;
  LoadedPlan plan = planOf(Cond, {0, 1, 1, 0, 0, word(&predicate), word(&input)}, {failing, part({Fail, 3}, {})});
  Frame frame;
  EXPECT_EQ(plan.run(frame), 1);
  EXPECT_EQ(frame.error.site, 43);
  EXPECT_EQ(frame.error.values[0], 5);
}

TEST(ConditionalPart, GivesResultsOfTheSizesThatAreExpected) {
  int64_t input = 5, result = 0;
  bool predicate = true;
  PlanPart open = incrementing();
  open.plan.shapes = Shapes;
  open.plan.numSizes = open.numOutputSizes = 1;
  open.firstSite = 40; // of the part's own sites, not of the sizes of what it gives
  for (int64_t expected : {8, 9}) {
    result = 0;
    LoadedPlan plan = planOf(Cond, {0, 0, 1, 1, 2, word(&predicate), word(&input), word(&result), expected, 7}, {open});
    Frame frame;
    EXPECT_EQ(plan.run(frame), expected == 9);
    EXPECT_EQ(result, expected == 8 ? 6 : 0);
    if (expected == 9) {
      EXPECT_EQ(frame.error.site, 2);
      EXPECT_EQ(frame.error.values[0], 8);
      EXPECT_EQ(frame.error.values[1], 9);
    }
  }
}

namespace {

// i and x go on to i + 1 and to x + step, two numbers, as long as i < limit.
struct Loop {
  int64_t i = 0, x[2] = {1, 2}, limit = 0, step[2] = {10, 20};
  int64_t lastI = -1, lastX[2] = {-1, -1}, spareI = -1, spareX[2] = {-1, -1};

  int32_t run(PlanPart body, Frame &frame) {
    PlanPart condition = part({IsBelow, 3}, {{From::Input, 0}, {From::Input, 2}, {From::Output, 0}});
    LoadedPlan plan = planOf(While,
                             {0, 1, 2, 2, 0, 0, word(&i), word(x), word(&limit), word(step), word(&lastI), word(lastX),
                              word(&spareI), word(spareX), sizeof i, sizeof x, 0, 0},
                             {condition, std::move(body)});
    return plan.run(frame);
  }
};

PlanPart counting() {
  PlanPart body = part({Increment, 2},
                       {{From::Input, 0}, {From::Output, 0}, {From::Input, 1}, {From::Input, 3}, {From::Output, 1}});
  body.plan.steps.push_back({AddTwo, 3});
  return body;
}

} // namespace

TEST(Loops, GiveTheLastValues) {
  for (int64_t limit = 0; limit < 4; ++limit) {
    Loop loop;
    loop.limit = limit;
    Frame frame;
    EXPECT_EQ(loop.run(counting(), frame), 0);
    EXPECT_EQ(loop.lastI, limit);
    EXPECT_EQ(loop.lastX[0], 1 + 10 * limit);
    EXPECT_EQ(loop.lastX[1], 2 + 20 * limit);
    // Neither the initial values nor the invariants change.
    EXPECT_EQ(loop.i, 0);
    EXPECT_EQ(loop.x[1], 2);
    EXPECT_EQ(loop.step[1], 20);
  }
}

TEST(Loops, WriteOverVariablesInPlace) {
  PlanPart body = part({AddInPlace, 2}, {{From::Input, 3}, {From::Output, 1}, {From::Input, 0}, {From::Output, 0}});
  body.plan.steps.push_back({Increment, 2});
  body.inPlace = {1};
  for (int64_t limit : {0, 1, 2, 5}) {
    Loop loop;
    loop.limit = limit;
    Frame frame;
    EXPECT_EQ(loop.run(body, frame), 0);
    EXPECT_EQ(loop.lastX[0], 1 + 10 * limit);
    EXPECT_EQ(loop.lastX[1], 2);
    EXPECT_EQ(loop.spareX[0], -1); // no buffer besides
  }
}

TEST(Loops, EndAtAFailedCheck) {
  PlanPart body =
      part({Fail, 3}, {{From::Frame}, {From::Input, 0}, {From::Number, 0, 3}, {From::Input, 0}, {From::Output, 0}});
  body.plan.steps.push_back({Increment, 2});
  body.firstSite = 10;
  Loop loop;
  loop.limit = 1'000'000'000'000;
  Frame frame;
  EXPECT_EQ(loop.run(body, frame), 1);
  EXPECT_EQ(frame.error.site, 13);
  EXPECT_EQ(frame.error.values[0], 3);
}

TEST(Loops, KeepTheSizesOfTheirVariables) {
  int64_t x = 0, last = 0, spare = 0;
  PlanPart growing = incrementing();
  growing.plan.shapes = Shapes;
  growing.plan.numSizes = growing.numOutputSizes = 1;
  auto run = [&](PlanPart condition, Frame &frame) {
    return planOf(While, {0, 1, 1, 0, 6, 0, word(&x), word(&last), word(&spare), sizeof x, 4, 0, 0},
                  {std::move(condition), growing})
        .run(frame);
  };
  Frame frame;
  EXPECT_EQ(run(part({Always, 1}, {{From::Output, 0}}), frame), 1);
  EXPECT_EQ(frame.error.site, 6);
  EXPECT_EQ(frame.error.values[0], 5);
  EXPECT_EQ(frame.error.values[1], 4);
  // Without an iteration the sizes are those that it begins with.
  Frame another;
  EXPECT_EQ(run(part({IsBelow, 3}, {{From::Input, 0}, {From::Input, 0}, {From::Output, 0}}), another), 0);
}

//===-- Stacks ----------------------------------------------------------------------------------===//

namespace {

struct StackOf : Frame {
  Stacks memory;
  StackOf() { stacks = &memory; }
  template <typename T> double push(double stack, const T &entry) {
    double made = -1;
    int64_t words[] = {
        word(static_cast<CalqueCallFrame *>(this)), 1, sizeof(T), word(&stack), word(&entry), word(&made), 0};
    calque_rt_stack_push(words);
    return made;
  }
  template <typename T> double pop(double stack, T &entry) {
    double below = -1;
    int64_t words[] = {
        word(static_cast<CalqueCallFrame *>(this)), 1, sizeof(T), word(&stack), word(&below), word(&entry)};
    calque_rt_stack_pop(words);
    return below;
  }
};

} // namespace

TEST(StackKernels, GiveBackWhatWasPut) {
  StackOf frame;
  double stack = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    stack = frame.push(stack, i);
    stack = frame.push(stack, std::array<float, 3>{static_cast<float>(i), 0.5f, -1});
  }
  for (int64_t i = 1000; i-- > 0;) {
    std::array<float, 3> three{};
    stack = frame.pop(stack, three);
    EXPECT_EQ(three, (std::array<float, 3>{static_cast<float>(i), 0.5f, -1}));
    int64_t one = -1;
    stack = frame.pop(stack, one);
    EXPECT_EQ(one, i);
  }
  EXPECT_EQ(stack, 0);
}

TEST(StackKernels, GiveZerosOfTheEmptyStack) {
  StackOf frame;
  std::array<double, 2> entry{1, 2};
  EXPECT_EQ(frame.pop(0, entry), 0);
  EXPECT_EQ(entry, (std::array<double, 2>{}));
}

TEST(StackKernels, ChangeNoStackThatIsThere) {
  StackOf frame;
  double base = frame.push(0, 1), left = frame.push(base, 2), right = frame.push(base, 3);
  int entry = 0;
  EXPECT_EQ(frame.pop(right, entry), base);
  EXPECT_EQ(entry, 3);
  EXPECT_EQ(frame.pop(left, entry), base);
  EXPECT_EQ(entry, 2);
  EXPECT_EQ(frame.pop(left, entry), base);
  EXPECT_EQ(frame.pop(base, entry), 0);
  EXPECT_EQ(entry, 1);
}

TEST(StackKernels, TakeOneStackForEachExample) {
  StackOf frame;
  double stacks[3] = {0, frame.push(0, std::array<float, 2>{7, 8}), 0};
  float entries[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  int64_t push[] = {
      word(static_cast<CalqueCallFrame *>(&frame)), 3, sizeof entries[0], word(stacks), word(entries), word(stacks)};
  calque_rt_stack_push(push);
  float taken[3][2];
  int64_t pop[] = {push[0], 3, sizeof entries[0], word(stacks), word(stacks), word(taken)};
  calque_rt_stack_pop(pop);
  EXPECT_EQ(std::memcmp(taken, entries, sizeof taken), 0);
  calque_rt_stack_pop(pop); // all but one are empty
  const float below[3][2] = {{0, 0}, {7, 8}, {0, 0}};
  EXPECT_EQ(std::memcmp(taken, below, sizeof taken), 0);
  EXPECT_EQ(stacks[1], 0);
}

TEST(StackKernels, TakeNoMoreThanWasPut) {
  StackOf frame;
  const double stack = frame.push(0, std::array<float, 2>{7, 8});
  double below = -1;
  std::array<float, 128> taken{1};
  int64_t pop[] = {
      word(static_cast<CalqueCallFrame *>(&frame)), 1, sizeof taken, word(&stack), word(&below), word(&taken), 5};
  calque_rt_stack_pop(pop);
  EXPECT_EQ(frame.error.failed, 1);
  EXPECT_EQ(frame.error.site, 5);
  EXPECT_EQ(taken, (std::array<float, 128>{}));
  EXPECT_EQ(below, 0);
}

// Also where addresses have 48 bits, as on AArch64, or a program's memory begins at low ones.
TEST(StackMemory, TellsSumsFromStacksAtAnyAddress) {
  for (std::uintptr_t address :
       {std::uintptr_t(0x1000), std::uintptr_t(0x7ffffffff000), std::uintptr_t(0xfffffffff000)}) {
    auto *entry = reinterpret_cast<Entry *>(address); // which nobody reads
    EXPECT_EQ(entryOf(stackOf(entry)), entry);
    EXPECT_FALSE(isSumOfStacks(stackOf(entry)));
    EXPECT_TRUE(isSumOfStacks(stackOf(entry) + stackOf(entry)));
    EXPECT_TRUE(isSumOfStacks(stackOf(entry) + stackOf(reinterpret_cast<Entry *>(0x1000))));
  }
  EXPECT_EQ(entryOf(0), nullptr);
  EXPECT_FALSE(isSumOfStacks(0));
}

TEST(StackMemory, GivesAlignedEntriesOfAnySize) {
  Stacks stacks;
  std::vector<std::pair<Entry *, size_t>> entries;
  for (size_t bytes : {0, 1, 15, 16, 17, 5000, 3, 100'000, 8}) {
    Entry *entry = stacks.allocate(bytes);
    EXPECT_EQ(word(entry) % static_cast<int64_t>(alignof(Entry)), 0);
    std::memset(static_cast<void *>(entry + 1), static_cast<int>(entries.size()), bytes);
    entries.push_back({entry, bytes});
  }
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t byte = 0; byte < entries[i].second; ++byte)
      EXPECT_EQ(reinterpret_cast<char *>(entries[i].first + 1)[byte], static_cast<char>(i));
}

TEST(StackMemory, IsUsedAgainBehindAMark) {
  Stacks stacks;
  Stacks::Mark none = stacks.mark();
  Entry *first = stacks.allocate(8);
  Stacks::Mark one = stacks.mark();
  Entry *second = stacks.allocate(8);
  for (int i = 0; i < 1000; ++i)
    stacks.allocate(100); // in further blocks
  stacks.release(one);
  EXPECT_EQ(stacks.allocate(8), second);
  first->below = 3;
  EXPECT_EQ(first->below, 3);
  stacks.release(none);
  EXPECT_EQ(stacks.mark().block, 0U);
}

// The values are the iterations before, and the bytes of one.
TEST(StackMemory, FailsWithItsSiteWhereThereIsNone) {
  Stacks stacks;
  Frame frame;
  frame.stacks = &stacks;
  int64_t i = 0, limit = 1000, lastI = 0, spareI = 0;
  double stack = 0, made = 0;
  int64_t entry = 7;
  PlanPart condition = part({IsBelow, 3}, {{From::Input, 0}, {From::Input, 1}, {From::Output, 0}});
  // The third step is to push more than there can be.
  PlanPart body = part({Push, 7}, {{From::Frame},
                                   {From::Number, 0, 1},
                                   {From::Number, 0, sizeof entry},
                                   {From::Number, 0, word(&stack)},
                                   {From::Number, 0, word(&entry)},
                                   {From::Number, 0, word(&made)},
                                   {From::Number, 0, 4},
                                   {From::Input, 0},
                                   {From::Output, 0},
                                   {From::Frame},
                                   {From::Number, 0, 1},
                                   {From::Number, 0, int64_t(1) << 47},
                                   {From::Number, 0, word(&stack)},
                                   {From::Number, 0, word(&entry)},
                                   {From::Number, 0, word(&made)},
                                   {From::Number, 0, 4}});
  body.plan.steps.push_back({Increment, 2});
  body.plan.steps.push_back({Push, 7});
  LoadedPlan plan =
      planOf(While, {0, 1, 1, 1, 0, 0, word(&i), word(&limit), word(&lastI), word(&spareI), sizeof i, 0, 0},
             {condition, body});
  EXPECT_EQ(plan.run(frame), 1);
  EXPECT_EQ(frame.error.site, 4);
  EXPECT_EQ(frame.error.values[0], 0);
  EXPECT_EQ(frame.error.values[1], 32 + 16 + (int64_t(1) << 47));
  EXPECT_EQ(stacks.bytes(), 32U);
  EXPECT_EQ(stacks.lacking, 0U);
}

// What an iteration puts on stacks ends with it where nothing needs it later.
TEST(StackMemory, OfAnIterationMayEndWithIt) {
  for (bool drops : {false, true}) {
    Stacks stacks;
    Frame frame;
    frame.stacks = &stacks;
    int64_t i = 0, limit = 1000, lastI = 0, spareI = 0;
    double stack = 0, made = 0;
    std::array<char, 1000> entry{};
    PlanPart condition = part({IsBelow, 3}, {{From::Input, 0}, {From::Input, 1}, {From::Output, 0}});
    PlanPart body = part({Increment, 2}, {{From::Input, 0},
                                          {From::Output, 0},
                                          {From::Frame},
                                          {From::Number, 0, 1},
                                          {From::Number, 0, sizeof entry},
                                          {From::Number, 0, word(&stack)},
                                          {From::Number, 0, word(entry.data())},
                                          {From::Number, 0, word(&made)}});
    body.plan.steps.push_back({Push, 6});
    LoadedPlan plan =
        planOf(While, {0, 1, 1, 1, 0, drops, word(&i), word(&limit), word(&lastI), word(&spareI), sizeof i, 0, 0},
               {condition, body});
    EXPECT_EQ(plan.run(frame), 0);
    EXPECT_EQ(lastI, 1000);
    EXPECT_EQ(stacks.mark().block == 0, drops);
  }
}
