// What the parts of the corpus share: how they add cases, and what lambdas decide on.
#ifndef CALQUE_TEST_NATIVE_CORPUSCASES_H
#define CALQUE_TEST_NATIVE_CORPUSCASES_H

#include "test/native/Corpus.h"

namespace calque::testing {

// Adds a case to a list.
struct AddCase {
  std::vector<NativeCase> &cases;

  void operator()(std::string name, std::function<Tensors(const Tensors &)> lambda, std::string refused = "") const {
    cases.push_back({std::move(name), std::move(lambda), std::move(refused)});
  }
};

// Add the loops, those that a tensor ends and those that the host does.
void addLoops(std::vector<NativeCase> &cases);
void addHostLoops(std::vector<NativeCase> &cases);
void addNests(std::vector<NativeCase> &cases);

// What is decided on: the first element of a vector.
inline Tensor one(const Tensor &x) { return x.shape().size() == 0 ? x : gather(x, 0); }
// A number as a tensor of the inputs' shape.
inline Tensor number(const Tensors &a, double value) { return full(a[0].shape(), value, DType::Float64); }
inline bool more(const Tensor &x, const Operand &y) { return bool(one(x > y)); }
inline bool less(const Tensor &x, const Operand &y) { return bool(one(x < y)); }
inline bool same(const Tensor &x, const Operand &y) { return bool(one(equal(x, y))); }

} // namespace calque::testing
#endif
