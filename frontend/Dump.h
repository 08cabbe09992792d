// Shows programs on their way to native code, as the environment of the process asks for it; docs/tools.md is for
// users.
//
//   CALQUE_DUMP=STAGE          after a stage of the compiler, or after each one: all
//   CALQUE_DUMP_FILE=FILE      appended to this file instead of written to standard error
//   CALQUE_DUMP_FUNCTION=NAME  only functions of this name
//   CALQUE_DUMP_EAGER=1        single eager operations as well
#ifndef CALQUE_FRONTEND_DUMP_H
#define CALQUE_FRONTEND_DUMP_H

#include "calque/source_location.h"
#include "ir/schema/Recording.h"

namespace calque::detail {

enum class Dumped { Function, Eager };

// Shows a recording that is about to be compiled, if asked for. What the compiler refuses is shown as a comment: the
// program meets the error itself. ValueError for a setting that makes no sense.
void dump(const schema::Recording &recording, Dumped kind, SourceLocation where);

} // namespace calque::detail
#endif
