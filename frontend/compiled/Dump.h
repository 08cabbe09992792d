// Prints programs after stages of the compiler, as environment variables ask for it; docs/tools.md describes it to
// users.
//
//   CALQUE_DUMP=STAGE          after a stage of the compiler, or after each one: all
//   CALQUE_DUMP_FILE=FILE      appended to this file instead of written to standard error
//   CALQUE_DUMP_FUNCTION=NAME  only functions of this name; a warning at the end of the process if there is none
//   CALQUE_DUMP_EAGER=1        single eager operations as well
#ifndef CALQUE_FRONTEND_COMPILED_DUMP_H
#define CALQUE_FRONTEND_COMPILED_DUMP_H

#include "calque/source_location.h"
#include "schema/Recording.h"

namespace calque::detail {

enum class Dumped { Function, Eager };

// Prints a recording before it is compiled, if the environment asks for it. An error of the compiler is printed as a
// comment, because the program gets it as an exception afterwards. ValueError for an invalid setting.
void dump(const schema::Recording &recording, Dumped kind, SourceLocation where);

// Whether CALQUE_DUMP_FUNCTION asks for a function, if it asks for any.
bool isDumped(const std::string &name);
// Writes a part of a dump to where the environment wants it.
void writeDump(const std::string &text);

} // namespace calque::detail
#endif
