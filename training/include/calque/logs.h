// Logs: the named numbers of a step, an epoch or an evaluation, in order.
#ifndef CALQUE_LOGS_H
#define CALQUE_LOGS_H

#include "calque/error.h"

#include <array>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace calque {

// logs["loss"] is a number. LookupError for a name that the logs lack. `auto [loss, accuracy] = logs.unpack<2>();`
class CALQUE_API Logs {
public:
  Logs() = default;
  Logs(std::initializer_list<std::pair<std::string, double>> values) : values_(values) {}

  double operator[](const std::string &name) const { return at(name, SourceLocation()); }
  double at(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  bool contains(const std::string &name) const { return find(name) != nullptr; }
  // Null for a name that the logs lack.
  const double *find(const std::string &name) const;
  // Adds a number, or replaces the number with this name.
  void set(const std::string &name, double value);
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  // "loss: 0.4321 - accuracy: 0.9000", with four digits.
  std::string str() const;
  // "'loss', 'accuracy'".
  std::string names() const;

  // The N numbers, in order. ValueError if there are not N.
  template <std::size_t N> std::array<double, N> unpack(SourceLocation where = SourceLocation::current()) const {
    checkCount(N, where);
    std::array<double, N> numbers;
    for (std::size_t i = 0; i < N; ++i)
      numbers[i] = values_[i].second;
    return numbers;
  }

private:
  void checkCount(std::size_t count, SourceLocation where) const;
  std::vector<std::pair<std::string, double>> values_;
};
// Prints str().
CALQUE_API std::ostream &operator<<(std::ostream &os, const Logs &logs);

// The logs of fit(): for each name, a number for each epoch.
struct CALQUE_API History {
  std::map<std::string, std::vector<double>> history;
  std::vector<std::int64_t> epoch;

  // A picture of the curves with these names, or of all, in SVG, which browsers show. The curve has a gap where a
  // number is not finite. LookupError for a name that was not logged.
  std::string svg(const std::vector<std::string> &names = {}, SourceLocation where = SourceLocation::current()) const;
};

} // namespace calque
#endif
