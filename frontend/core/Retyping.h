// Computes the types of a recorded program again, for operands with known sizes in place of unknown ones.
#ifndef CALQUE_FRONTEND_CORE_RETYPING_H
#define CALQUE_FRONTEND_CORE_RETYPING_H

#include "schema/Recording.h"

namespace calque::detail {

// Returns the program with parameters of these types, which may differ from its own only where those have unknown
// sizes. Programs inside of its operations get types for their new operands, so that a size stays unknown only if it
// depends on values that the program computes. Returns the given program if its types are the same. Throws the errors
// of type rules, with an operation's line.
schema::RecordingRef retyped(const schema::RecordingRef &program, std::span<const schema::TensorType> parameters);

// The types of an operation's results, from the types of its operands, in the same way.
std::vector<schema::TensorType> retypedResults(schema::OpId op, const schema::SourceLine &line,
                                               std::span<const schema::Attribute> attributes,
                                               std::span<const schema::TensorType> operands);

} // namespace calque::detail
#endif
