// Changes programs of saved functions as their writer would have written them: what byte flips never reach, because the
// bytes around them no longer fit.
#ifndef CALQUE_TEST_READERS_PROGRAMMUTATOR_H
#define CALQUE_TEST_READERS_PROGRAMMUTATOR_H

#include "schema/Recording.h"

#include <random>
#include <string>

namespace calque::testing {

// A program, the bytes of which are given, with operations put in, taken away, doubled and exchanged, other operands,
// attributes, types, constants and regions, and numbers that are at an end or overflow where they are added or
// multiplied. Any operation of the records may be put in. The types of results are mostly those that the operations
// give then, so that a reader goes on. Bytes that are no program come back as they are.
std::string mutatedProgram(std::string bytes, std::mt19937_64 &random);

// Does what the front end does with a program that was read, but for what needs elements: a program that a reader
// accepts must be safe to ask.
void lookAt(const schema::Recording &program);

// Keeps a text as long as the process runs.
const char *keptForTest(const std::string &text);

} // namespace calque::testing
#endif
