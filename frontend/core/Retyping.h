// Types a recorded program anew, for operands whose sizes are known where they are unknown in the program.
#ifndef CALQUE_FRONTEND_CORE_RETYPING_H
#define CALQUE_FRONTEND_CORE_RETYPING_H

#include "schema/Recording.h"

namespace calque::detail {

// The program for parameters of these types, which may differ from its own in unknown sizes alone. Programs inside of
// its operations are typed anew for their new operands, so that a size stays unknown only if it depends on values that
// the program computes. Returns the given program if the types are its own. Throws the errors of type rules, with an
// operation's line.
schema::RecordingRef retyped(const schema::RecordingRef &program, std::span<const schema::TensorType> parameters);

// The types of an operation's results, from the types of its operands, in the same way.
std::vector<schema::TensorType> retypedResults(schema::OpId op, const schema::SourceLine &line,
                                               std::span<const schema::Attribute> attributes,
                                               std::span<const schema::TensorType> operands);

} // namespace calque::detail
#endif
