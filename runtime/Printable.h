// Texts of a file on their way to a terminal. A stranger's file has labels, messages and names in it, and a terminal
// obeys the control characters in them: it changes its title, its colours or what it has shown before.
//
//   std::puts(printable(label).c_str());
#ifndef CALQUE_RUNTIME_PRINTABLE_H
#define CALQUE_RUNTIME_PRINTABLE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace calque::runtime {

// The text with control characters written as \x1b. Line ends and tabs stay. Control characters are those of ASCII, and
// those that UTF-8 writes in two bytes, U+0080 to U+009F, each byte of which is escaped. Other bytes stay as they are.
inline std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  auto escape = [&](unsigned char byte) {
    shown += "\\x";
    shown += digits[byte >> 4];
    shown += digits[byte & 15];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      escape(byte);
      escape(next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      escape(byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

} // namespace calque::runtime
#endif
