#include "calque/error.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Signature.h"
#include "frontend/core/Trace.h"
#include "runtime/Fork.h"
#include "runtime/Printable.h"

#include <mutex>
#include <set>

namespace calque {
namespace {
// Programs write errors to terminals, and names and messages of files are among their texts.
std::string describe(const std::string &message, SourceLocation location) {
  if (!location.line)
    return runtime::printable(message);
  return runtime::printable(absl::StrCat(message, "\n  at ", location.file, ":", location.line));
}
} // namespace

namespace {
SourceLocation ofTheUser(SourceLocation location) {
  if (!detail::isInStandardLibrary(location))
    return location;
  const std::shared_ptr<detail::Trace> &trace = detail::currentTrace();
  return trace && !detail::isInStandardLibrary(trace->call) ? trace->call : SourceLocation();
}
} // namespace

Error::Error(const char *category, const std::string &message, SourceLocation location)
    : std::runtime_error(describe(message, ofTheUser(location))), category_(category), location_(ofTheUser(location)) {}

// Out of line, so that each class has one type_info and can be caught across libraries.
Error::~Error() = default;
ShapeError::~ShapeError() = default;
DTypeError::~DTypeError() = default;
ValueError::~ValueError() = default;
IndexError::~IndexError() = default;
DivisionError::~DivisionError() = default;
LinAlgError::~LinAlgError() = default;
AssertionError::~AssertionError() = default;
LeakedTensorError::~LeakedTensorError() = default;
SignatureError::~SignatureError() = default;
LookupError::~LookupError() = default;
StateError::~StateError() = default;
DataError::~DataError() = default;
RecursionError::~RecursionError() = default;
MemoryError::~MemoryError() = default;
CompileError::~CompileError() = default;
InternalError::~InternalError() = default;

namespace detail {

void throwFault(const schema::Fault &fault, SourceLocation where) {
  switch (fault.kind) {
  case schema::FaultKind::Shape:
    throw ShapeError(fault.message, where);
  case schema::FaultKind::DType:
    throw DTypeError(fault.message, where);
  case schema::FaultKind::Value:
    throw ValueError(fault.message, where);
  }
  throw InternalError(fault.message, where);
}

void throwLeaked(const TensorImpl &x, SourceLocation where) {
  if (const SpecImpl *spec = specOf(x))
    throw StateError(absl::StrCat("a TensorSpec, ", typeText(*x.type, spec->anyRank),
                                  ", stands for the tensors that a function takes; it has no elements to compute with"),
                     where);
  throw LeakedTensorError(absl::StrCat("a traced tensor is used outside of the trace that made it, at ",
                                       lineOf(x.where).str(),
                                       "; return it instead of storing it, and collect what a loop's iterations make "
                                       "by scan, or in a TensorArray that is a loop variable"),
                          where);
}

void throwNothingToCall(const char *what, SourceLocation where) {
  throw StateError(
      absl::StrCat(what, ": there is nothing to call; it is given an empty std::function or a null pointer"),
      userLine(where));
}

void throwEmptyHandle(const char *what, const SourceLocation &where) {
  throw StateError(absl::StrCat("an empty ", what, " is used; it was moved from, or made of a null pointer"),
                   userLine(where));
}

// Of libstdc++ as of libc++.
bool isInStandardLibrary(SourceLocation where) {
  return std::string_view(where.file).find("/include/c++/") != std::string_view::npos;
}

const char *interned(const std::string &text) {
  static runtime::ForkMutex mutex;
  static auto *texts = new std::set<std::string>; // never destroyed: errors may outlive it
  std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

SourceLocation locationOf(const std::string &line) {
  std::size_t colon = line.rfind(':');
  if (colon == std::string::npos)
    return {};
  unsigned number = 0;
  for (char digit : line.substr(colon + 1)) {
    if (digit < '0' || digit > '9')
      return {};
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  return SourceLocation::at(interned(line.substr(0, colon)), number);
}

} // namespace detail
} // namespace calque
