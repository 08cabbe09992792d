// How a call's arguments are distinguished: a key for the table of traces, and a signature for messages.
#ifndef CALQUE_ARGUMENTS_H
#define CALQUE_ARGUMENTS_H

#include "calque/small_vector.h"
#include "calque/structure.h"

#include <forward_list>
#include <memory>

namespace calque::detail {

struct Signature;

// A call's arguments, taken apart by visit_structure: the tensors, the variables and the key. Small calls allocate
// nothing.
class CALQUE_API Arguments {
public:
  // `where` is the call's line. Errors about empty handles name it.
  explicit Arguments(const SourceLocation &where);
  void tensor(const Tensor &x);
  void tensor(Tensor &&x); // a tensor that exists only for the call
  void variable(const Variable &x);
  void host(std::uint64_t bits);
  void text(const std::string &text);
  void count(std::size_t n) { host(n); }

  std::span<const std::uint64_t> key() const;
  std::span<const Tensor *const> tensors() const;
  std::span<const Variable *const> variables() const;

private:
  void word(std::uint64_t value);

  const SourceLocation where_;
  SmallVector<std::uint64_t, 24> words_;
  SmallVector<const Tensor *, 8> tensors_;
  SmallVector<const Variable *, 8> variables_;
  std::forward_list<Tensor> made_;
};

// The name of a number's C++ type in messages. The name of an integer type follows from its width, so that messages are
// the same on all systems.
template <typename T> constexpr const char *nameOfNumber() {
  if constexpr (std::is_same_v<T, float>)
    return "float ";
  else if constexpr (std::is_same_v<T, double>)
    return "double ";
  else if constexpr (std::is_same_v<T, long double>)
    return "long double ";
  else if constexpr (std::is_same_v<T, char>)
    return "char ";
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "int8_t " : "uint8_t ";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "int16_t " : "uint16_t ";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "int " : "unsigned ";
  else
    return std::is_signed_v<T> ? "int64_t " : "uint64_t ";
}

// Takes a structure apart as Arguments does, and notes each part's name and text.
class CALQUE_API SignatureBuilder {
public:
  explicit SignatureBuilder(const SourceLocation &where = {});
  ~SignatureBuilder();
  SignatureBuilder(const SignatureBuilder &) = delete;
  SignatureBuilder &operator=(const SignatureBuilder &) = delete;

  // Messages call the next visited part by this name: "argument 0".
  void begin(std::string path);
  template <typename T> void enter(const T &x) {
    push(std::is_same_v<T, std::string>);
    if constexpr (std::is_same_v<T, bool>)
      note(x ? "bool true" : "bool false");
    else if constexpr (std::is_enum_v<T>)
      note("enum " + std::to_string(static_cast<std::underlying_type_t<T>>(x)));
    else if constexpr (std::is_same_v<T, Size>)
      note("size " + x.str());
    else if constexpr (std::is_same_v<T, long double>)
      note(nameOfNumber<T>() + Number(static_cast<double>(x)).str()); // rounded as in the key
    else if constexpr (detail::kIsNumber<T>)
      note(nameOfNumber<T>() + Number(x).str());
  }
  void leave();
  void tensor(const Tensor &x);
  void variable(const Variable &x);
  void host(std::uint64_t bits);
  void text(const std::string &text);
  void count(std::size_t n);

  Signature take();

private:
  void push(bool isText);
  void note(std::string value);
  struct State;
  std::unique_ptr<State> state;
};

} // namespace calque::detail
#endif
