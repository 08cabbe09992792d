#include "stablehlo/Scanner.h"

#include "calque/error.h"

#include <algorithm>
#include <charconv>

namespace calque::stablehlo {

namespace {
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool isPart(char c) { return isLetter(c) || isDigit(c) || c == '$' || c == '.' || c == '-'; }
} // namespace

void Scanner::skip() {
  while (at_ < text_.size()) {
    if (isSpace(text_[at_]))
      ++at_;
    else if (text_[at_] == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      return;
  }
}

bool Scanner::seesWord(std::string_view word) {
  return sees(word) && (at_ + word.size() >= text_.size() || !isPart(text_[at_ + word.size()]));
}

void Scanner::expect(std::string_view token, const char *what) {
  if (accept(token))
    return;
  std::string found(text_.substr(std::min(at_, text_.size()), 16));
  found = found.substr(0, found.find('\n'));
  refuse("expected '" + std::string(token) + "' " + what + ", found " +
         (at_ >= text_.size() ? "the end" : "'" + found + "'"));
}

std::string_view Scanner::word() {
  skip();
  const std::size_t begin = at_;
  if (at_ < text_.size() && isLetter(text_[at_]))
    while (at_ < text_.size() && isPart(text_[at_])) {
      if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>')
        break; // an arrow
      ++at_;
    }
  return between(begin, at_);
}

std::string_view Scanner::suffix() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && isPart(text_[at_])) {
    if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>')
      break;
    ++at_;
  }
  return between(begin, at_);
}

bool Scanner::seesNumber() {
  const char c = peek();
  if (isDigit(c))
    return true;
  const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  return (c == '-' || c == '+') && (isDigit(after) || after == '.');
}

std::string_view Scanner::number() {
  skip();
  const std::size_t begin = at_;
  if (here() == '-' || here() == '+')
    ++at_;
  if (text_.substr(at_).starts_with("0x")) {
    at_ += 2;
    while (isDigit(here()) || (here() >= 'a' && here() <= 'f') || (here() >= 'A' && here() <= 'F'))
      ++at_;
    return between(begin, at_);
  }
  while (isDigit(here()) || here() == '.')
    ++at_;
  // An exponent, but not the x or letters that may follow a size.
  if (here() == 'e' || here() == 'E') {
    std::size_t after = at_ + 1;
    if (after < text_.size() && (text_[after] == '-' || text_[after] == '+'))
      ++after;
    if (after < text_.size() && isDigit(text_[after])) {
      at_ = after;
      while (isDigit(here()))
        ++at_;
    }
  }
  return between(begin, at_);
}

std::int64_t Scanner::integer(const char *what) {
  skip();
  const std::size_t begin = at_;
  if (here() == '-')
    ++at_;
  while (isDigit(here()))
    ++at_;
  const std::string_view digits = between(begin, at_);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    at_ = begin;
    refuse("expected a number " + std::string(what));
  }
  return value;
}

std::string Scanner::string() {
  expect("\"", "before a text");
  std::string made;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      made += text_[at_++];
      continue;
    }
    if (at_ + 1 >= text_.size())
      break;
    const char c = text_[at_ + 1];
    unsigned value = 0;
    const char *first = text_.data() + at_ + 1;
    if (c == 'n' || c == 't' || c == '"' || c == '\\') {
      made += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      at_ += 2;
    } else if (at_ + 3 < text_.size() && std::from_chars(first, first + 2, value, 16).ptr == first + 2) {
      made += static_cast<char>(value);
      at_ += 3;
    } else {
      refuse("a backslash in a text stands before none of n, t, \\, \" and two hexadecimal digits");
    }
  }
  if (at_ >= text_.size())
    refuse("a text has no end");
  ++at_;
  return made;
}

std::string_view Scanner::balanced() {
  skip();
  const std::size_t begin = at_;
  std::string open;
  do {
    if (at_ >= text_.size()) {
      at_ = begin;
      refuse(std::string("the bracket '") + here() + "' is not closed");
    }
    const char c = text_[at_];
    if (c == '"') {
      string();
      continue;
    }
    if (c == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') {
      at_ += 2;
      continue;
    }
    const std::size_t opens = std::string_view("([{<").find(c), closes = std::string_view(")]}>").find(c);
    if (opens != std::string_view::npos)
      open += ")]}>"[opens];
    if (closes != std::string_view::npos) {
      if (open.empty() || open.back() != c)
        refuse(std::string("the bracket '") + c + "' closes none");
      open.pop_back();
    }
    ++at_;
  } while (!open.empty());
  return between(begin, at_);
}

int Scanner::line() const {
  const std::size_t end = std::min(at_, text_.size());
  if (end < counted_) {
    counted_ = 0;
    line_ = 1;
  }
  line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                       text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  counted_ = end;
  return line_;
}

void Scanner::refuse(const std::string &message) const {
  throw DataError(file_ + ":" + std::to_string(line()) + ": " + message);
}

} // namespace calque::stablehlo
