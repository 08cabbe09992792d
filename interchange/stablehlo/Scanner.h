// Characters, words, numbers and strings of MLIR's text, with the line for errors.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_SCANNER_H
#define CALQUE_INTERCHANGE_STABLEHLO_SCANNER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace calque::stablehlo {

class Scanner {
public:
  Scanner(std::string_view text, const std::string &file) : text_(text), file_(file) {}

  // Passes over white space and comments.
  void skip();
  bool atEnd() {
    skip();
    return at_ >= text_.size();
  }
  // The next character that is no white space, or 0 at the end.
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool sees(std::string_view token) {
    skip();
    return text_.substr(at_).starts_with(token);
  }
  bool accept(std::string_view token) {
    if (!sees(token))
      return false;
    at_ += token.size();
    return true;
  }
  // A word as a whole: `to` is not in `tokens`.
  bool seesWord(std::string_view word);
  bool acceptWord(std::string_view word) {
    if (!seesWord(word))
      return false;
    at_ += word.size();
    return true;
  }
  // DataError if another token is next. `what` says where it is expected.
  void expect(std::string_view token, const char *what);

  // A name of letters, digits, _, $, . and -, which begins with no digit. Empty if there is none.
  std::string_view word();
  // The characters of a name or number that follow directly: of %0, @main, ^bb0 and #map.
  std::string_view suffix();
  bool seesNumber();
  std::int64_t integer(const char *what);
  // A string in quotes.
  std::string string();
  // The text of brackets and what is in them, from an opening bracket to its closing one.
  std::string_view balanced();
  // A number's characters, also hexadecimal.
  std::string_view number();

  // The characters of sizes: digits, ? and x within tensor<...>, without white space.
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void advance(std::size_t count = 1) { at_ += count; }
  std::size_t position() const { return at_; }
  void moveTo(std::size_t position) { at_ = position; }
  std::string_view between(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  // The line of the position, from 1.
  int line() const;
  const std::string &file() const { return file_; }
  [[noreturn]] void refuse(const std::string &message) const;

private:
  std::string_view text_;
  const std::string &file_;
  std::size_t at_ = 0;
  // The last line that was asked for, and its position.
  mutable std::size_t counted_ = 0;
  mutable int line_ = 1;
};

// Counts what is inside of what, so that no text makes the reader's stack overflow.
class Nesting {
public:
  explicit Nesting(const Scanner &scanner, int &depth) : depth_(depth) {
    if (++depth_ > kMost) {
      --depth_;
      scanner.refuse("more than " + std::to_string(kMost) + " regions, lists or types are inside of each other");
    }
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting &) = delete;
  Nesting &operator=(const Nesting &) = delete;

private:
  static constexpr int kMost = 200;
  int &depth_;
};

} // namespace calque::stablehlo
#endif
