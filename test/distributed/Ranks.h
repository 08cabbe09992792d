// What the tests of distributed programs share. Each test runs on all ranks, which do the same.
#ifndef CALQUE_TEST_DISTRIBUTED_RANKS_H
#define CALQUE_TEST_DISTRIBUTED_RANKS_H

#include "calque/calque.h"
#include "calque/distributed.h"
#include "test/frontend/Testing.h"

namespace calque::testing {

inline int rank() { return distributed::World().rank(); }
inline int ranks() { return distributed::World().size(); }

// Calls the body eagerly and compiled, twice each, and expects these elements.
inline void inBothModes(const std::function<Tensor(const Tensor &)> &body, const Tensor &x,
                        const std::vector<double> &expected) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>(body);
    for (int call = 0; call < 2; ++call)
      EXPECT_EQ(cast(compiled ? f(x) : f.eager(x), DType::Float64).to_vector<double>(), expected);
  }
}

// The tensors of all ranks: the body of each rank.
template <typename F> std::vector<double> ofRanks(F f) {
  std::vector<double> all;
  for (int i = 0; i < ranks(); ++i)
    for (double each : std::vector<double>(f(i)))
      all.push_back(each);
  return all;
}

} // namespace calque::testing
#endif
