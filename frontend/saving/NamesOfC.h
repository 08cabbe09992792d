// Which identifiers a header for C must not declare, because the language or its library has them for something else.
//
//   isNameOfC("index");            // true: <strings.h> declares a function
//   isNoParameter("index");        // false: a parameter may hide it
//   isNoParameter("si_value");     // true: <signal.h> makes a macro of it
#ifndef CALQUE_FRONTEND_SAVING_NAMESOFC_H
#define CALQUE_FRONTEND_SAVING_NAMESOFC_H

#include <string_view>

namespace calque::detail {

// Keywords, and what the headers of C and POSIX declare or define, as variables and functions of a header can't be
// called.
bool isNameOfC(std::string_view name);

// Keywords and macros, as parameters of functions can't be called either.
bool isNoParameter(std::string_view name);

} // namespace calque::detail
#endif
