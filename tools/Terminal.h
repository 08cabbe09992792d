// What the tools that read files of strangers write to a terminal.
#ifndef CALQUE_TOOLS_TERMINAL_H
#define CALQUE_TOOLS_TERMINAL_H

#include "runtime/Printable.h"

#include <ostream>
#include <streambuf>
#include <string>

namespace calque::tools {

// While it lives, what is written to a stream has its control characters as \x1b, whatever of the program writes it.
//
//   EscapedOutput out(std::cout);
class EscapedOutput : std::streambuf {
public:
  explicit EscapedOutput(std::ostream &stream) : stream(stream), below(stream.rdbuf(this)) {}
  EscapedOutput(const EscapedOutput &) = delete;
  EscapedOutput &operator=(const EscapedOutput &) = delete;
  ~EscapedOutput() override {
    EscapedOutput::sync();
    stream.rdbuf(below);
  }

private:
  int_type overflow(int_type c) override {
    if (c == traits_type::eof())
      return traits_type::not_eof(c);
    pending += traits_type::to_char_type(c);
    return c != '\n' || pass() ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char *text, std::streamsize count) override {
    pending.append(text, static_cast<std::size_t>(count));
    return pending.ends_with('\n') && !pass() ? 0 : count;
  }
  int sync() override { return pass() && below->pubsync() == 0 ? 0 : -1; }

  bool pass() {
    const std::string shown = runtime::printable(pending);
    pending.clear();
    const auto size = static_cast<std::streamsize>(shown.size());
    return below->sputn(shown.data(), size) == size;
  }

  std::ostream &stream;
  std::streambuf *below;
  std::string pending; // what is not passed on yet: a character of several bytes is seen whole
};

} // namespace calque::tools
#endif
