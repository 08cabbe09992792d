// jacobian and hessian with a pattern, or with one that is found.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/function.h"
#include "calque/init_scope.h"
#include "calque/user_calls.h"
#include "sparse/Compressed.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace calque::sparse::detail {

using namespace solvers::internal;
using namespace internal;

struct Compressed::State {
  const char *what;
  bool isHessian, isChecked;
  std::shared_ptr<const Colours> given; // null: patterns are found
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Colours>> found; // by types of arguments

  std::shared_ptr<const Colours> coloursOf(const Pattern &pattern) const {
    return std::make_shared<const Colours>(isHessian ? coloursOfHessian(what, pattern) : coloursOfJacobian(pattern));
  }
  Pattern find(const Bound &f, const Tensor &x, const std::vector<Tensor> &others) const;
  std::shared_ptr<const Colours> coloursFor(const Bound &f, const Tensor &x, const FurtherArguments &others);
};

// Looks for patterns in the runs of one capture of C++ loops, each of which makes the derivative anew.
constexpr int kMostInCapture = 300;
void countInCapture(const char *what) {
  thread_local std::uint64_t capture = 0;
  thread_local int count = 0;
  const std::uint64_t now = capture_in_progress();
  if (std::exchange(capture, now) != now)
    count = 0;
  if (now && ++count > kMostInCapture)
    fail<StateError>(absl::StrCat(what, ": the pattern is looked for more than ", kMostInCapture,
                                  " times while C++ loops are captured, each time that the derivative is made; make it "
                                  "outside of the traced function, or give a pattern"));
}

// The pattern is found apart from a function that is being traced, which has no values yet.
Pattern Compressed::State::find(const Bound &f, const Tensor &x, const std::vector<Tensor> &others) const {
  countInCapture(what);
  if (executing_eagerly())
    return foundPattern(what, isHessian, f, x, others);
  try {
    InitScope apart;
    return foundPattern(what, isHessian, f, x, others);
  } catch (const LeakedTensorError &) {
    fail<StateError>(absl::StrCat(what, ": no pattern is found, for the function captures a tensor of the function "
                                        "that is being traced; take the tensor as a further argument, or give a "
                                        "pattern"));
  }
}

std::shared_ptr<const Colours> Compressed::State::coloursFor(const Bound &f, const Tensor &x,
                                                             const FurtherArguments &others) {
  if (given)
    return given;
  std::string key = absl::StrCat(describe(x), "|", others.key);
  for (const Tensor &other : others.tensors)
    absl::StrAppend(&key, "|", describe(other));
  {
    const std::lock_guard lock(mutex);
    if (auto known = found.find(key); known != found.end())
      return known->second;
  }
  // The function may come back here. Of threads that find the same, the first one's stays.
  std::shared_ptr<const Colours> made = coloursOf(find(f, x, others.tensors));
  const std::lock_guard lock(mutex);
  return found.emplace(std::move(key), std::move(made)).first->second;
}

Compressed::Compressed(const char *what, bool isHessian, const Sparsity &sparsity, bool isChecked, SourceLocation made)
    : state_(std::make_shared<State>()) {
  CallSite site(made, what);
  state_->what = what;
  state_->isHessian = isHessian;
  state_->isChecked = isChecked;
  if (sparsity.pattern())
    state_->given = state_->coloursOf(*sparsity.pattern());
}

Csr Compressed::operator()(const Bound &f, const Tensor &x, const FurtherArguments &others,
                           SourceLocation where) const {
  CallSite site(where, state_->what);
  const std::shared_ptr<const Colours> colours = state_->coloursFor(f, x, others);
  const Map call = [&](const Tensor &at) { return f(at, others.tensors); };
  return state_->isHessian ? compressedHessian(state_->what, call, *colours, x, state_->isChecked)
                           : compressedJacobian(state_->what, call, *colours, x, state_->isChecked);
}

} // namespace calque::sparse::detail
