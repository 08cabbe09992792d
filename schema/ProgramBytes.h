// Programs as bytes: operations by their mnemonics, attributes by their names. The bytes are the same in every process
// and on every machine, and no number among them follows the order of the records. Saved functions and the keys of
// native code consist of such bytes. docs/saving.md describes the form byte by byte.
#ifndef CALQUE_SCHEMA_PROGRAMBYTES_H
#define CALQUE_SCHEMA_PROGRAMBYTES_H

#include "schema/Bytes.h"
#include "schema/Recording.h"

namespace calque::schema {

// The newest version of the form. All earlier versions can be read.
inline constexpr std::uint32_t kProgramVersion = 1;

// Writes the program with its names and lines.
void writeProgram(const Recording &recording, runtime::ByteWriter &bytes);
// Writes only what native code depends on: no names and no lines.
void writeCode(const Recording &recording, runtime::ByteWriter &bytes);

struct ReadProgram {
  RecordingRef program; // null: there is a fault
  std::string fault;    // "operation 'foo' is not known"
};
// Reads what writeProgram has written, and nothing else: every operation and attribute is known, operands come before
// their uses, and the types of results are those that the type rules give. `keep` makes a text live as long as the
// process. `shown` converts the labels of prints and the messages of assertions.
ReadProgram readProgram(std::span<const std::byte> bytes, const char *(*keep)(const std::string &),
                        std::string (*shown)(std::string_view) = nullptr);

} // namespace calque::schema
#endif
