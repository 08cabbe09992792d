// Recorded programs for operands whose sizes are known where the programs leave them open.
#ifndef CALQUE_FRONTEND_CORE_RETYPING_H
#define CALQUE_FRONTEND_CORE_RETYPING_H

#include "schema/Recording.h"

namespace calque::detail {

// A program for parameters of these types, which are its own but for sizes that it leaves open. Programs inside of its
// operations are made for what they are given then, so that a size stays open only where it depends on what the program
// computes. It is the given program where the types are its own. The errors of type rules, with an operation's line.
schema::RecordingRef retyped(const schema::RecordingRef &program, std::span<const schema::TensorType> parameters);

// The types of an operation's results, those of its operands given, in the same way.
std::vector<schema::TensorType> retypedResults(schema::OpId op, const schema::SourceLine &line,
                                               std::span<const schema::Attribute> attributes,
                                               std::span<const schema::TensorType> operands);

} // namespace calque::detail
#endif
