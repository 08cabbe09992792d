// Loops of a program over what host code makes.
#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"
#include "frontend/native/Capture.h"
#include "frontend/operations/HostCall.h"

#include <exception>

namespace calque::detail {

namespace {

using Next = std::function<std::optional<std::vector<Tensor>>()>;

std::int64_t numberIn(const Tensor &x) { return x.item<std::int64_t>(); }

} // namespace

bool isTracing() { return currentTrace() != nullptr; }

TracedElements::TracedElements(HostElements elements, SourceLocation where)
    : elements(std::move(elements)), where(userLine(where)), exceptions(std::uncaught_exceptions()) {
  auto open = [begin = this->elements.open](std::span<const Tensor>) {
    KeptByCall &kept = keptByCall();
    kept.entries[++kept.last] = std::make_shared<Next>(begin());
    return std::vector<Tensor>{scalar(kept.last)};
  };
  number = call("open", open, {}, {TensorSpec<std::int64_t>({})})[0];
  next();
}

// Errors on the way out are of no interest: what is not closed here, the end of the call closes.
TracedElements::~TracedElements() {
  if (ended || std::uncaught_exceptions() > exceptions || !currentTrace() || !number.defined() ||
      !currentTrace()->sees(implOf(number).trace))
    return;
  try {
    auto close = [](std::span<const Tensor> in) {
      keptByCall().entries.erase(numberIn(in[0]));
      return std::vector<Tensor>();
    };
    call("close", close, {number}, {});
  } catch (...) {
  }
}

void TracedElements::next() {
  if (ended)
    throw StateError("the iterator of a data set is at its end and can't go further", where);
  std::vector<TensorSpec<>> results = elements.types;
  results.insert(results.begin(), TensorSpec<bool>({}));
  auto ask = [types = elements.types, where = where](std::span<const Tensor> in) {
    auto &entries = keptByCall().entries;
    auto found = entries.find(numberIn(in[0]));
    if (found == entries.end())
      throw StateError("the iterator of a data set is at its end and can't go further", where);
    std::optional<std::vector<Tensor>> element = (*std::static_pointer_cast<Next>(found->second))();
    const bool isThere = element.has_value();
    if (!isThere) {
      entries.erase(found);
      element.emplace();
      for (const TensorSpec<> &type : types)
        element->push_back(zeros(type.shape(), type.dtype()));
    }
    element->insert(element->begin(), scalar(isThere));
    return std::move(*element);
  };
  isThere = false;
  element_ = call("next", ask, {number}, results);
  goesOn = element_.front();
  element_.erase(element_.begin());
}

bool TracedElements::isAtEnd() {
  if (!isThere)
    ended = ended || !decideOn(goesOn, where, {.isDeclared = true});
  isThere = !ended;
  return ended;
}

const std::vector<Tensor> &TracedElements::element() {
  constexpr const char *none = "the iterator of a data set is at its end, where there is no element";
  if (ended)
    throw StateError(none, where);
  if (!isThere)
    assert_true(Operand(goesOn, where), none);
  isThere = true;
  return element_;
}

std::vector<Tensor> TracedElements::call(const char *what, HostCallable callable, const std::vector<Tensor> &inputs,
                                         std::vector<TensorSpec<>> results) const {
  auto function = std::make_shared<HostFunction>();
  function->callable = std::move(callable);
  function->where = where;
  for (const Tensor &input : inputs)
    function->inputs.push_back(*implOf(input, where).type);
  for (const TensorSpec<> &spec : results)
    function->results.push_back({spec.dtype(), spec.shape()});
  function->identity =
      absl::StrCat(what, " ", reinterpret_cast<std::uintptr_t>(elements.owner), " ", where.file, " ", where.line);
  return recordHostCall(std::move(function), inputs);
}

} // namespace calque::detail
