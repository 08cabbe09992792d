// The meanings of the numbers in paths: operations, tensors from outside, and messages.
#ifndef CALQUE_FRONTEND_NATIVE_VOCABULARY_H
#define CALQUE_FRONTEND_NATIVE_VOCABULARY_H

#include "frontend/core/TensorImpl.h"
#include "frontend/native/Path.h"

#include <span>
#include <string>
#include <vector>

namespace calque::detail::native {

// What is to be done about a list that is longer in each iteration.
inline constexpr char kGrows[] =
    ": a std::vector or another C++ container grows in the loop; a TensorArray or scan() keeps "
    "what each iteration gives";

// Translates the numbers of paths into operations and tensors.
class Vocabulary {
public:
  virtual ~Vocabulary() = default;
  // Appends the operation to the current trace.
  virtual std::vector<Tensor> apply(Kind step, const std::vector<Tensor> &operands) const = 0;
  virtual bool hasEffect(Kind step) const = 0;
  // Null if the step has no such result.
  virtual const schema::TensorType *typeOf(Kind step, std::size_t result) const = 0;
  virtual Tensor outside(Value value) const = 0;
  virtual const schema::TensorType &typeOfOutside(Value value) const = 0;
  // The types of the results for operands of other types; empty if the operands don't fit.
  virtual std::vector<schema::TensorType> resultsFor(Kind step, std::span<const schema::TensorType> operands) const = 0;
  // The operation's name in messages, and its line.
  virtual std::string nameOf(Kind step) const = 0;
  virtual schema::SourceLine whereOf(Kind step) const = 0;
  // What two kinds of one operation at one line do not have in common, and what to do; empty for other kinds.
  virtual std::string differenceOf(Kind one, Kind other) const = 0;
  // A constant of one element from outside; empty for other values.
  virtual std::string numberOf(Value value) const = 0;
  // The message of an end that throws. For an end that returns, the text has the types of its results behind
  // kTypesOfEnd (native/Emission.h).
  virtual const std::string &messageOf(Kind end) const = 0;
};

} // namespace calque::detail::native
#endif
