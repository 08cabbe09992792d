// The user's line. Operators have no argument for the line, so the constructors of Operand take it as a default
// argument.
#ifndef CALQUE_SOURCE_LOCATION_H
#define CALQUE_SOURCE_LOCATION_H

namespace calque {

// Not an aggregate, so that braces in a call, such as those of a shape, never make a location.
struct SourceLocation {
  const char *file = ""; // a literal, or interned for the life of the process
  unsigned line = 0;     // 0: unknown
  unsigned column = 0;   // 0: unknown

  constexpr SourceLocation() = default;
  static constexpr SourceLocation at(const char *file, unsigned line, unsigned column = 0) {
    SourceLocation location;
    location.file = file;
    location.line = line;
    location.column = column;
    return location;
  }
  static constexpr SourceLocation current(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return at(file, line);
  }
};

} // namespace calque
#endif
