// The errors of public calls. Calque throws subclasses of Error only. Exceptions of the user's own code pass through.
//
//   try {
//     matmul(x, w);
//   } catch (const calque::ShapeError &error) {
//     std::cerr << error.what() << '\n'; // the message, then "  at model.cpp:12"
//   }
#ifndef CALQUE_ERROR_H
#define CALQUE_ERROR_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <stdexcept>
#include <string>

namespace calque {

class CALQUE_API Error : public std::runtime_error {
public:
  // what() is the message, then "\n  at file:line" if the line is known.
  Error(const char *category, const std::string &message, SourceLocation location);
  ~Error() override;

  // The name of the class: "ShapeError".
  const char *category() const noexcept { return category_; }
  // The user's line; its `line` is 0 if it is unknown. If the standard library calls Calque for the user, as
  // std::accumulate does, this is the line of the function that is being traced.
  SourceLocation location() const noexcept { return location_; }

private:
  const char *category_;
  SourceLocation location_;
};

#define CALQUE_DEFINE_ERROR(Name)                                                                                      \
  class CALQUE_API Name : public Error {                                                                               \
  public:                                                                                                              \
    explicit Name(const std::string &message, SourceLocation location = {}) : Error(#Name, message, location) {}       \
    ~Name() override;                                                                                                  \
  };

CALQUE_DEFINE_ERROR(ShapeError)        // shapes that don't fit
CALQUE_DEFINE_ERROR(DTypeError)        // element types that don't fit
CALQUE_DEFINE_ERROR(ValueError)        // an attribute or host value that is out of range
CALQUE_DEFINE_ERROR(IndexError)        // an index in a tensor that is out of range
CALQUE_DEFINE_ERROR(DivisionError)     // an integer divided by zero
CALQUE_DEFINE_ERROR(LinAlgError)       // a matrix that has no such factors or inverse
CALQUE_DEFINE_ERROR(AssertionError)    // assert_true
CALQUE_DEFINE_ERROR(LeakedTensorError) // a traced tensor outside of its trace
CALQUE_DEFINE_ERROR(SignatureError)    // arguments that a function does not take
CALQUE_DEFINE_ERROR(LookupError)       // a name that nothing has, a gradient that is not registered
CALQUE_DEFINE_ERROR(StateError)        // misuse: a second use of a tape, a variable made in a later trace
CALQUE_DEFINE_ERROR(DataError)         // a file that is missing or does not hold what it should
CALQUE_DEFINE_ERROR(RecursionError)    // a function that calls itself without end
CALQUE_DEFINE_ERROR(MemoryError)       // memory that the system does not have
CALQUE_DEFINE_ERROR(CompileError)      // a program that can't be compiled, or no compiler
CALQUE_DEFINE_ERROR(InternalError)     // a fault of Calque
#undef CALQUE_DEFINE_ERROR

} // namespace calque
#endif
