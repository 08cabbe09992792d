// The names that a wrong one may have meant, for messages.
#ifndef CALQUE_TRAINING_NEAREST_H
#define CALQUE_TRAINING_NEAREST_H

#include <string>
#include <vector>

namespace calque::training {

// The names in a map.
template <typename Map> std::vector<std::string> keysOf(const Map &map) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : map)
    keys.push_back(name);
  return keys;
}

// "there are a, b, c", and of many names "the nearest are a, b, c".
std::string nearest(const std::string &name, std::vector<std::string> names);

} // namespace calque::training
#endif
