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

} // namespace calque::testing
#endif
