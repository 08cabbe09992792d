// What the tests of saving share.
#ifndef CALQUE_TEST_SAVING_TESTING_H
#define CALQUE_TEST_SAVING_TESTING_H

#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <algorithm>

namespace calque::testing {

// The files of a directory, sorted.
inline std::vector<std::string> namesIn(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Notes the warnings while it lives.
struct Warnings {
  Warnings() {
    before = set_warning_handler([this](const Warning &warning) { texts.push_back(warning.message); });
  }
  ~Warnings() { set_warning_handler(before); }
  WarningHandler before;
  std::vector<std::string> texts;
};

} // namespace calque::testing
#endif
