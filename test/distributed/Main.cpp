// Runs the tests on each rank. Rank 0 prints; the others print what fails.
#include "calque/distributed.h"

#include <gtest/gtest.h>

#include <iostream>

namespace {
class Failures : public ::testing::EmptyTestEventListener {
  // GoogleTest can't be asked for the test while it reports a failure.
  void OnTestStart(const ::testing::TestInfo &test) override {
    name = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const ::testing::TestPartResult &result) override {
    if (result.failed())
      std::cerr << "rank " << calque::distributed::World().rank() << ", " << name << ", "
                << (result.file_name() ? result.file_name() : "") << ":" << result.line_number() << ": "
                << result.message() << std::endl;
  }
  std::string name;
};
} // namespace

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (calque::distributed::init({.timeout = 20}).rank() != 0) {
    ::testing::TestEventListeners &listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  return RUN_ALL_TESTS();
}
