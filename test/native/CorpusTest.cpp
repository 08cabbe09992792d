// Host code that decides on tensors does the same eagerly and traced, with the same derivatives, or is refused.
#include "test/native/Corpus.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

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

class Native : public ::testing::TestWithParam<std::tuple<NativeCase, bool>> {};

} // namespace

TEST_P(Native, DoesWhatHostCodeDoes) {
  const auto &[given, areVectors] = GetParam();
  auto compiled = function(given.lambda);
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

INSTANTIATE_TEST_SUITE_P(Corpus, Native, ::testing::Combine(::testing::ValuesIn(nativeCorpus()), ::testing::Bool()),
                         [](const auto &info) {
                           return std::get<0>(info.param).name + (std::get<1>(info.param) ? "_of_vectors" : "");
                         });
