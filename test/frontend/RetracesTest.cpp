// The rows of the contract of functions that are about retraces: how they are explained, and when they are warned of.
#include "Testing.h"

#include <algorithm>
#include <regex>

using namespace calque;
using namespace calque::testing;

namespace {

// Collects warnings while it lives.
class Warnings {
public:
  Warnings() : before(set_warning_handler([this](const Warning &warning) { all.push_back(warning); })) {}
  ~Warnings() { set_warning_handler(before); }
  std::vector<Warning> all;

private:
  WarningHandler before;
};

} // namespace

// What follows a container of another length is compared as well, and counts when the most similar trace is chosen.
TEST(FunctionContract, RetracesAreExplainedBehindContainers) {
  auto f = function([](const std::vector<Tensor> &v, const std::optional<Tensor> &o, int n,
                       const Tensor &y) { return v[0] * n + y + (o ? *o : zeros({1})); },
                    {.argument_names = {"v", "o", "n", "y"}});
  Tensor x = ones({3});
  f({x}, std::nullopt, 1, x);
  f({x, x}, std::nullopt, 2, x);
  f({x, x}, std::nullopt, 3, ones({1}));
  f({x, x}, x, 4, ones({1}));
  std::vector<std::vector<std::string>> found;
  for (const Retrace &retrace : f.explain_retraces()) {
    found.emplace_back();
    for (const Retrace::Change &change : retrace.changes)
      found.back().push_back(change.argument + ": " + change.before + ", " + change.now);
  }
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0],
            (std::vector<std::string>{"argument 0 'v': 1 element, 2 elements", "argument 2 'n': int 1, int 2"}));
  EXPECT_EQ(found[1],
            (std::vector<std::string>{"argument 2 'n': int 2, int 3", "argument 3 'y': float32[3], float32[1]"}));
  ASSERT_EQ(found[2].size(), 2u);
  EXPECT_EQ(found[2][1], "argument 2 'n': int 3, int 4");
}

TEST(FunctionContract, RetracesAreExplained) {
  auto f = function([](const Tensor &x, int n) { return x * n; }, {.name = "f", .argument_names = {"x", "n"}});
  EXPECT_TRUE(f.explain_retraces().empty());
  int first = __LINE__ + 1;
  f(ones({2}), 1);
  EXPECT_TRUE(f.explain_retraces().empty());
  f(ones({2}), 2);
  f(ones({3}), 2);
  f(ones({2}), 2);
  std::vector<Retrace> all = f.explain_retraces();
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(all[0].changes.size(), 1u);
  EXPECT_EQ(all[0].changes[0].argument, "argument 1 'n'");
  EXPECT_EQ(all[0].changes[0].before, "int 1");
  EXPECT_EQ(all[0].changes[0].now, "int 2");
  EXPECT_EQ(all[0].previous_call.line, first);
  EXPECT_EQ(all[0].call.line, first + 2);
  EXPECT_GT(all[0].milliseconds, 0);
  // Of the two traces it is compared with the more similar one.
  ASSERT_EQ(all[1].changes.size(), 1u);
  EXPECT_EQ(all[1].changes[0].argument, "argument 0 'x'");
  EXPECT_EQ(all[1].changes[0].before, "float32[2]");
  EXPECT_EQ(all[1].changes[0].now, "float32[3]");
  EXPECT_EQ(all[1].previous_call.line, first + 2);
  std::string text = std::regex_replace(all[1].str(), std::regex("[0-9.]+ ms|[^ ]*/"), "");
  EXPECT_EQ(text, "traced in  for the call at RetracesTest.cpp:" + std::to_string(first + 3) +
                      "; the most similar trace is of the call at RetracesTest.cpp:" + std::to_string(first + 2) +
                      "\n  argument 0 'x' was float32[2] and is float32[3]\n");
}

TEST(FunctionContract, RetraceWarningNamesWhatChanged) {
  Warnings warnings;
  auto f = function([](const Tensor &x, int n) { return x * n; }, {.name = "grows"});
  for (int i = 0; i < 4; ++i)
    f(ones({2}), i);
  EXPECT_TRUE(warnings.all.empty());
  f(ones({2}), 4);
  ASSERT_EQ(warnings.all.size(), 1u);
  const std::string &message = warnings.all[0].message;
  EXPECT_CONTAINS(message, "5 of the last 5 calls of function 'grows'");
  EXPECT_TRUE(std::regex_search(message, std::regex("which took [0-9.]+ ms: argument 1 was int 3 and is int 4")))
      << message;
  EXPECT_TRUE(std::regex_search(message,
                                std::regex("the calls are at .*RetracesTest.cpp:[0-9]+ and .*RetracesTest.cpp:[0-9]+")))
      << message;
  EXPECT_EQ(warnings.all[0].location.line, __LINE__ - 9u);
  for (int i = 5; i < 20; ++i)
    f(ones({2}), i);
  EXPECT_EQ(warnings.all.size(), 2u) << "twice at most";
}

TEST(FunctionContract, RetraceWarningAdvisesWhatHelps) {
  Warnings warnings;
  auto few = function([](const Tensor &x, int n) { return x * n; }, {.max_traces = 2});
  for (int i = 0; i < 5; ++i)
    few(ones({2}), i % 3);
  ASSERT_EQ(warnings.all.size(), 1u);
  EXPECT_CONTAINS(warnings.all[0].message, ": the trace for this signature was evicted or cleared; the calls are at ");
  EXPECT_CONTAINS(warnings.all[0].message,
                  ". What helps: a max_traces above 2, which evicts traces that are needed again; a tensor in place of "
                  "the number: argument 1. explain_retraces() has them all");
  auto sizes = function([](const Tensor &x) { return x * 2; });
  for (int i = 1; i < 6; ++i)
    sizes(ones({i}));
  ASSERT_EQ(warnings.all.size(), 2u);
  EXPECT_CONTAINS(warnings.all[1].message,
                  ". What helps: sizes left open by an input_signature, or reduce_retracing. ");
  auto refused =
      function([](const Tensor &x) { return x * static_cast<float>(x.shape()[0]); }, {.reduce_retracing = true});
  for (int i = 1; i < 6; ++i)
    refused(ones({i}));
  ASSERT_EQ(warnings.all.size(), 3u);
  EXPECT_CONTAINS(warnings.all[2].message,
                  "it is traced for these sizes only, because a trace that leaves them open has "
                  "failed: the lambda asks for a size that would not be known, dimension 0 of "
                  "argument 0, float32[?]");
  EXPECT_EQ(warnings.all[2].message.find("What helps"), std::string::npos) << warnings.all[2].message;
}

TEST(FunctionContract, RetraceWarningNeedsFiveTracesInTenCalls) {
  Warnings warnings;
  auto f = function([](const Tensor &x, int n) { return x * n; });
  for (int i = 0; i < 20; ++i)
    for (int call = 0; call < 3; ++call) // four traces in each ten calls
      f(ones({2}), i);
  EXPECT_TRUE(warnings.all.empty());
  auto g = function([](const Tensor &x, int n) { return x * n; });
  for (int i = 0; i < 20; ++i)
    for (int call = 0; call < 2; ++call) // five
      g(ones({2}), i);
  EXPECT_EQ(warnings.all.size(), 2u);
}

TEST(FunctionContract, WarningsGoToStandardErrorUnlessHandled) {
  auto provoke = [] {
    auto f = function([](const Tensor &x, int n) { return x * n; }, {.name = "loud"});
    for (int i = 0; i < 5; ++i)
      f(ones({2}), i);
  };
  ::testing::internal::CaptureStderr();
  provoke();
  std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("calque: warning: 5 of the last 5 calls of function 'loud'")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  struct Mine {};
  WarningHandler before = set_warning_handler([](const Warning &) { throw Mine(); });
  EXPECT_FALSE(before);
  EXPECT_THROW(provoke(), Mine);
  EXPECT_TRUE(set_warning_handler(nullptr));
}

TEST(FunctionContract, RelaxedRetracingFallsBackAndSaysSo) {
  // The lambda asks for a size, which must be known then.
  auto f = function([](const Tensor &x) { return x * static_cast<float>(x.shape()[0]); },
                    {.name = "f", .reduce_retracing = true});
  expectValues(f(ones({2})), {2, 2});
  expectValues(f(ones({3})), {3, 3, 3});
  expectValues(f(ones({4})), {4, 4, 4, 4});
  expectValues(f(ones({3})), {3, 3, 3});
  EXPECT_EQ(f.trace_count(), 3);
  std::vector<Retrace> all = f.explain_retraces();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_CONTAINS(all[0].note, "it is traced for these sizes only, because a trace that leaves them open has failed: "
                               "the lambda asks for a size");
  EXPECT_EQ(all[0].changes[0].now, "float32[3]");
  EXPECT_CONTAINS(all[0].str(), all[0].note);
  // The same for a size that is caught or turned into nothing on the way.
  auto g = function(
      [](const Tensor &x) {
        try {
          return x * static_cast<float>(x.shape()[0]);
        } catch (...) {
          return x;
        }
      },
      {.reduce_retracing = true});
  g(ones({2}));
  expectValues(g(ones({3})), {3, 3, 3});
}
