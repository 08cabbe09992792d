// The seed of a program that sets none. The global generator starts once in a process, so that each case is a process
// of its own: this program again, for the one test that prints.
#include "Testing.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {
// What Seed.DISABLED_Prints prints, with CALQUE_SEED set to a text; none is as if it were not set.
std::string printed(const std::string &setting) {
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX CALQUE_SEED='" + setting + "' /proc/" +
                              std::to_string(getpid()) +
                              "/exe --gtest_also_run_disabled_tests --gtest_filter=Seed.DISABLED_Prints 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  char line[512];
  while (pipe && std::fgets(line, sizeof line, pipe))
    if (const std::string read = line; read.starts_with("seed "))
      text += read;
  EXPECT_TRUE(pipe && pclose(pipe) == 0) << command;
  return text;
}
std::string numbers(std::int64_t seed) {
  std::ostringstream text;
  text << "seed " << seed << " draws " << random::stateless_uniform({2}, random::state(seed, 0)) << '\n';
  return text.str();
}
} // namespace

TEST(Seed, DISABLED_Prints) {
  try {
    const std::int64_t seed = random::seed();
    std::cout << "seed " << seed << " draws " << random::uniform({2}) << std::endl;
  } catch (const ValueError &error) {
    std::cout << "seed refused: " << error.what() << std::endl;
  }
}

TEST(Seed, DiffersFromRunToRun) {
  const std::string first = printed(""), second = printed("");
  ASSERT_TRUE(first.starts_with("seed ")) << first;
  EXPECT_NE(first, second); // but for one run in 4 billion
  // The number says how to repeat it.
  EXPECT_EQ(printed(first.substr(5, first.find(' ', 5) - 5)), first);
}

TEST(Seed, IsThatOfTheEnvironment) {
  EXPECT_EQ(printed("7"), numbers(7));
  EXPECT_EQ(printed("-9223372036854775808"), numbers(INT64_MIN));
}

TEST(Seed, RefusesOtherTexts) {
  for (const char *text : {"seven", "1.5", "9223372036854775808", "7 8"})
    EXPECT_CONTAINS(printed(text),
                    "seed refused: CALQUE_SEED is '" + std::string(text) + "' and must be a whole number, of 64 bits");
}

TEST(Seed, IsThatOfSetSeed) {
  set_seed(42);
  EXPECT_EQ(random::seed(), 42);
  random::uniform({3});
  EXPECT_EQ(random::seed(), 42);
  auto f = function([] { set_seed(43); });
  EXPECT_EQ(random::seed(), 42);
  f();
  EXPECT_EQ(random::seed(), 43);
}
