// Host code that decides on tensors does the same eagerly and traced, with the same derivatives, or is refused.
#include "test/native/Corpus.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>

using namespace calque;
using namespace calque::testing;

namespace calque::testing {
void PrintTo(const NativeCase &given, std::ostream *os) { *os << given.name; }
} // namespace calque::testing

namespace {

std::vector<Tensors> inputs(bool areVectors) {
  std::vector<Tensors> all;
  for (std::vector<double> numbers : std::vector<std::vector<double>>{
           {3, 2, 1, 4}, {-1.5, 4, 7, 0}, {7.5, -2, 3, 12}, {11, 5, 0.5, 10}, {0, 0, 0, 0}, {2.25, 9, 6, -3}}) {
    Tensors given;
    for (double each : numbers)
      given.push_back(areVectors ? tensor<double>({each, each * 0.5 + 1, -each}) : scalar<double>(each));
    all.push_back(given);
  }
  return all;
}

struct Outcome {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> gradients; // empty where there is no path
  std::string error;
};

template <typename F> Outcome outcomeOf(F &&f, const Tensors &given, bool withGradient) {
  Outcome outcome;
  try {
    GradientTape tape;
    if (withGradient)
      for (const Tensor &x : given)
        tape.watch(x);
    Tensors results = f(given);
    Tensor target;
    for (const Tensor &result : results) {
      outcome.values.push_back(result.template to_vector<double>());
      target = target.defined() ? target + sum(result) : sum(result);
    }
    if (withGradient)
      for (const std::optional<Tensor> &gradient : tape.gradient(target, given))
        outcome.gradients.push_back(gradient ? gradient->template to_vector<double>() : std::vector<double>());
  } catch (const std::exception &error) {
    outcome.error = error.what();
  }
  return outcome;
}

void expectNear(const std::vector<double> &eager, const std::vector<double> &compiled) {
  ASSERT_EQ(eager.size(), compiled.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_NEAR(eager[i], compiled[i], 1e-9 * (1 + std::abs(eager[i])));
}

enum class Sizes { Scalars, Vectors, OpenVectors }; // of which only the call knows the size
constexpr const char *kEndings[] = {"", "_of_vectors", "_of_open_vectors"};

class Native : public ::testing::TestWithParam<std::tuple<NativeCase, Sizes>> {};

} // namespace

TEST_P(Native, DoesWhatHostCodeDoes) {
  const auto &[given, sizes] = GetParam();
  const bool areVectors = sizes != Sizes::Scalars;
  Function<Tensors(const Tensors &)> whole = function(given.lambda);
  std::function<Tensors(const Tensors &)> compiled = whole;
  if (sizes == Sizes::OpenVectors && given.refused.empty()) {
    const Tensors open(4, Tensor(TensorSpec<double>({kDynamic})));
    auto concrete = whole.get_concrete_function(open);
    compiled = [=](const Tensors &x) { return concrete(x); };
  }
  if (!given.refused.empty()) {
    auto lambda = given.lambda;
    try {
      compiled(inputs(areVectors)[0]);
      ADD_FAILURE() << "is not refused";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(given.refused), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("Corpus"), std::string::npos) << error.what(); // a line
    }
    return;
  }
  for (const Tensors &x : inputs(areVectors)) {
    Outcome eager = outcomeOf(given.lambda, x, given.hasGradient), traced = outcomeOf(compiled, x, given.hasGradient);
    if (!eager.error.empty()) {
      EXPECT_NE(traced.error.find(eager.error), std::string::npos) << traced.error;
      continue;
    }
    ASSERT_EQ(traced.error, "");
    ASSERT_EQ(eager.values.size(), traced.values.size());
    for (std::size_t i = 0; i < eager.values.size(); ++i)
      expectNear(eager.values[i], traced.values[i]);
    ASSERT_EQ(eager.gradients.size(), traced.gradients.size());
    for (std::size_t i = 0; i < eager.gradients.size(); ++i) {
      // In a trace there is a path if any branch has one.
      std::vector<double> none(traced.gradients[i].size());
      expectNear(eager.gradients[i].empty() ? none : eager.gradients[i], traced.gradients[i]);
    }
  }
}

std::string nameOf(const ::testing::TestParamInfo<std::tuple<NativeCase, Sizes>> &info) {
  const auto &[given, sizes] = info.param;
  return given.name + kEndings[static_cast<int>(sizes)];
}

INSTANTIATE_TEST_SUITE_P(Corpus, Native,
                         ::testing::Combine(::testing::ValuesIn(nativeCorpus()),
                                            ::testing::Values(Sizes::Scalars, Sizes::Vectors)),
                         nameOf);

// All of it takes seconds.
std::vector<NativeCase> withManyWaysOut() {
  const std::set<std::string> names{"nested_ifs",
                                    "early_return",
                                    "while",
                                    "do_while",
                                    "swap_inputs",
                                    "bisection",
                                    "line_search",
                                    "flag_in_a_loop",
                                    "nested_whiles",
                                    "nested_continue_and_break",
                                    "return_from_a_nested_loop",
                                    "four_breaks",
                                    "tail_recursion",
                                    "two_loops_in_a_row",
                                    "newton",
                                    "host_bound_with_break",
                                    "loop_in_a_helper_called_twice"};
  std::vector<NativeCase> cases = nativeCorpus();
  std::erase_if(
      cases, [&](const NativeCase &each) { return !names.contains(each.name) && !std::getenv("CALQUE_NATIVE_ALL"); });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(OpenCorpus, Native,
                         ::testing::Combine(::testing::ValuesIn(withManyWaysOut()),
                                            ::testing::Values(Sizes::OpenVectors)),
                         nameOf);
