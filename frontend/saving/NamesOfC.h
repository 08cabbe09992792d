// Tells which identifiers a header for C must not declare, because the language or its library uses them.
//
//   isNameOfC("index");            // true: <strings.h> declares a function
//   isNoParameter("index");        // false: a parameter may hide it
//   isNoParameter("si_value");     // true: <signal.h> makes a macro of it
#ifndef CALQUE_FRONTEND_SAVING_NAMESOFC_H
#define CALQUE_FRONTEND_SAVING_NAMESOFC_H

#include <string_view>

namespace calque::detail {

// Whether variables and functions of a header can't have this name, because it is a keyword, or the headers of C and
// POSIX declare or define it.
bool isNameOfC(std::string_view name);

// Whether parameters of functions can't have this name either, because it is a keyword or a macro with small letters.
bool isNoParameter(std::string_view name);

} // namespace calque::detail
#endif
