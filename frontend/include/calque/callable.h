// Empty handles and callables are refused where they are given or used.
#ifndef CALQUE_CALLABLE_H
#define CALQUE_CALLABLE_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <string>
#include <type_traits>

namespace calque::detail {

[[noreturn]] CALQUE_API void throwNothingToCall(const char *what, SourceLocation where);
[[noreturn]] CALQUE_API void throwEmptyHandle(const char *what, const SourceLocation &where);
// A text that lives as long as the process.
CALQUE_API const char *interned(const std::string &text);

// StateError for an empty std::function and for a null pointer; `what` is the public function that is given it.
template <typename F> void requireCallable(const F &f, const char *what, SourceLocation where) {
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> || requires { f.operator bool(); })
    if (!f)
      throwNothingToCall(what, where);
}

} // namespace calque::detail
#endif
