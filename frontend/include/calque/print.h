// Prints: lines of text and values, in the order of the program, in compiled code at every call.
//
//   print("x", x);                                        // x [1. 2.]
//   print("step", i, "of", 10, "loss", loss);             // step 3 of 10 loss 0.25
//   print(std::map<std::string, Tensor>{{"w", w}});       // {'w': [1. 2.]}
//   print("traced");
//
// Host values are printed with their values at the time of tracing.
#ifndef CALQUE_PRINT_H
#define CALQUE_PRINT_H

#include "calque/structure.h"

namespace calque {

// An argument of print(), with the user's line: a text, a tensor, a variable's present value, a number, a size, or a
// structure of these. Structures are printed in Python's notation.
class CALQUE_API PrintItem {
public:
  template <typename T>
    requires(!std::is_same_v<T, PrintItem>)
  PrintItem(const T &x, SourceLocation where = SourceLocation::current()) : where_(where) {
    if constexpr (std::is_convertible_v<const T &, std::string_view>)
      text(x);
    else
      append(x);
  }
  SourceLocation where() const { return where_; }

private:
  friend class Print;
  // Appends a text without quotes.
  void text(std::string_view text);
  void operand(const Operand &x);

  template <typename T> void append(const T &x) {
    if constexpr (std::is_same_v<T, Operand>) {
      operand(x);
    } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
      text("'");
      text(x);
      text("'");
    } else if constexpr (std::is_same_v<T, DType>) {
      text(name_of(x));
    } else if constexpr (std::is_enum_v<T>) {
      operand(Operand(static_cast<std::underlying_type_t<T>>(x), where_));
    } else if constexpr (detail::kIsNumber<T> || detail::kIsComplex<T> || std::is_same_v<T, Tensor> ||
                         std::is_same_v<T, Variable> || std::is_same_v<T, Size>) {
      operand(Operand(x, where_));
    } else if constexpr (requires {
                           x.has_value();
                           *x;
                         }) {
      if (x)
        append(*x);
      else
        text("none");
    } else if constexpr (requires { typename T::mapped_type; }) {
      between("{", "}", [&](auto &&next) {
        for (const auto &[key, value] : x) {
          next();
          append(key);
          text(": ");
          append(value);
        }
      });
    } else if constexpr (detail::IsRange<const T>) {
      between("[", "]", [&](auto &&next) {
        for (const auto &element : x) {
          next();
          append(element);
        }
      });
    } else {
      auto fields = [&](const auto &...each) {
        between("(", ")", [&](auto &&next) { ((next(), append(each)), ...); });
      };
      if constexpr (requires { std::tuple_size<T>::value; }) {
        std::apply(fields, x);
      } else if constexpr (std::is_aggregate_v<T>) {
        if constexpr (Structure<T>::hasFields)
          detail::withFields(x, fields);
      } else {
        static_assert(std::is_void_v<T>,
                      "print() shows texts, tensors, variables, numbers, and structures of them: give it the parts");
      }
    }
  }
  template <typename F> void between(const char *open, const char *close, F all) {
    text(open);
    bool isFirst = true;
    all([&] {
      if (!isFirst)
        text(", ");
      isFirst = false;
    });
    text(close);
  }

  SourceLocation where_;
  std::string text_; // with {} in place of each tensor
  std::vector<Tensor> tensors_;
};

// The items of one line.
class CALQUE_API Print {
public:
  void add(const PrintItem &item);
  void run(SourceLocation where) const;

private:
  std::string text;
  std::vector<Tensor> tensors;
};

// Prints the items on a line of standard output, with a space between them. After a check of the call has failed,
// nothing is printed.
template <typename... Rest> void print(const PrintItem &first, const Rest &...rest) {
  Print line;
  line.add(first);
  (line.add(PrintItem(rest, first.where())), ...);
  line.run(first.where());
}

} // namespace calque
#endif
