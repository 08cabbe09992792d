// Structures take arguments and results apart into tensors, variables and host values, and rebuild them.
//
// A Structure<T> has two functions. `visit(x, v)` passes every part of x to the visitor v, in order: v.tensor(t),
// v.variable(x), v.host(bytes), v.text(string), v.count(n). Tensors and variables live as long as x, unless a tensor is
// moved to v. `map(x, m)` makes a T like x, with m.tensor(t) in place of each tensor t and m.variable(w) in place of
// each variable w. Aggregates of at most 8 fields have a Structure. Specialise the template for your other types:
//
//   template <> struct calque::Structure<Batch> {
//     template <typename V> static void visit(const Batch &x, V &v) { calque::visit_structure(x.images(), v); }
//     template <typename M> static Batch map(const Batch &x, M &m) { return Batch(calque::map_structure(x.images(),
//     m)); }
//   };
#ifndef CALQUE_STRUCTURE_H
#define CALQUE_STRUCTURE_H

#include "calque/variable.h"

#include <array>
#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace calque {

template <typename T> struct Structure;

// Visits x. If the visitor has `enter(x)` and `leave()`, they are called before and after each part.
template <typename T, typename V> void visit_structure(const T &x, V &v) {
  if constexpr (requires { v.enter(x); }) {
    v.enter(x);
    Structure<T>::visit(x, v);
    v.leave();
  } else {
    Structure<T>::visit(x, v);
  }
}
template <typename T, typename M> T map_structure(const T &x, M &m) { return Structure<T>::map(x, m); }

namespace detail {

// Never called. With a body, because the compiler may ask for one where a field's own constructor takes the value.
struct AnyField {
  template <typename U> operator U() const { __builtin_unreachable(); }
};
template <typename T, std::size_t... I> constexpr bool takesFields(std::index_sequence<I...>) {
  return requires { T{((void)I, AnyField())...}; };
}
// The number of an aggregate's fields, found as the largest number of initialisers that it takes.
template <typename T, std::size_t N = 8> constexpr std::size_t countFields() {
  if constexpr (N == 0 || takesFields<T>(std::make_index_sequence<N>()))
    return N;
  else
    return countFields<T, N - 1>();
}
// Whether an aggregate can be made from its fields. It can't if a field is a non-const reference, for example.
template <typename T> constexpr bool takesItsFields = takesFields<T>(std::make_index_sequence<countFields<T>()>());
template <typename T> constexpr bool hasTooManyFields = takesFields<T>(std::make_index_sequence<9>());

// Whether an aggregate has a base class. The first initialiser of such an aggregate is for its base.
template <typename T> struct AnyBase {
  template <typename U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  operator U() const {
    __builtin_unreachable();
  }
};
struct NoBase {};
template <typename T>
constexpr bool hasBase = requires { T{AnyBase<T>()}; } && !requires { T{NoBase()}; }; // a field may take anything
// Whether an array is among an aggregate's fields. Initialisers in braces may initialise the elements of an array;
// initialisers in parentheses may not.
template <typename T> struct AnyOther {
  template <typename U>
    requires(!std::is_same_v<U, T>)
  operator U() const {
    __builtin_unreachable();
  }
};
template <typename T, std::size_t... I> constexpr bool takesValues(std::index_sequence<I...>) {
  return requires { T(((void)I, AnyOther<T>())...); };
}
template <typename T>
constexpr bool hasArray = [] {
  constexpr std::size_t count = hasTooManyFields<T> ? 9 : countFields<T>();
  constexpr auto initialisers = std::make_index_sequence<count>();
  return count != 0 && takesFields<T>(initialisers) && !takesValues<T>(initialisers);
}();

// These distinguish types that can't be taken apart, so that the error suggests a type to take instead.
template <typename T> constexpr bool isText = std::is_convertible_v<const T &, std::string_view>;
template <typename T> constexpr bool isPointer = requires(const T &x) { *x; } && !isText<T>;
template <typename T> constexpr bool isMap = requires { typename T::mapped_type; };
template <typename T>
constexpr bool isSequence = requires(const T &x) { x.begin() != x.end(); } && !isText<T> && !isMap<T>;
template <typename T> constexpr bool isVariant = requires(const T &x) { x.valueless_by_exception(); };

// Refuses fields that are declared as references. The traced value that takes the place of a part may not live as long
// as the reference.
template <typename... Declared> struct CheckedFields {
  static constexpr bool areValues = (... && !std::is_reference_v<Declared>);
  static_assert(areValues, "Calque can't take apart what holds references: hold the tensors and variables by value");
};
// Calls f with the fields, and refuses declared types that are references.
template <typename... Declared, typename F>
auto withDeclared(F &f, const std::remove_reference_t<Declared> &...fields) {
  static_assert(sizeof(CheckedFields<Declared...>) != 0);
  return f(fields...);
}

// Calls f with references to the fields.
template <typename T, typename F> auto withFields(const T &x, F &&f) {
  constexpr std::size_t n = countFields<T>();
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    const auto &[a] = x;
    return withDeclared<decltype(a)>(f, a);
  } else if constexpr (n == 2) {
    const auto &[a, b] = x;
    return withDeclared<decltype(a), decltype(b)>(f, a, b);
  } else if constexpr (n == 3) {
    const auto &[a, b, c] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c)>(f, a, b, c);
  } else if constexpr (n == 4) {
    const auto &[a, b, c, d] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c), decltype(d)>(f, a, b, c, d);
  } else if constexpr (n == 5) {
    const auto &[a, b, c, d, e] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>(f, a, b, c, d, e);
  } else if constexpr (n == 6) {
    const auto &[a, b, c, d, e, g] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g)>(f, a, b, c, d, e,
                                                                                                      g);
  } else if constexpr (n == 7) {
    const auto &[a, b, c, d, e, g, h] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g), decltype(h)>(
        f, a, b, c, d, e, g, h);
  } else {
    const auto &[a, b, c, d, e, g, h, i] = x;
    return withDeclared<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g), decltype(h),
                        decltype(i)>(f, a, b, c, d, e, g, h, i);
  }
}
} // namespace detail

// The structure of a type without a specialisation. Numbers and enumerations are host values, which are part of a
// function's key. The parts of an aggregate are its fields.
template <typename T> struct Structure {
  static constexpr bool isHost = std::is_arithmetic_v<T> || std::is_enum_v<T>;
  static_assert(!isHost || sizeof(T) <= sizeof(std::uint64_t) || std::is_same_v<T, long double>,
                "no key holds this number");
  static constexpr bool isAggregate = std::is_aggregate_v<T>;
  static constexpr bool isHandled = isHost || isAggregate;
  static_assert(isHandled || !detail::isText<T>, "Calque can't take this text apart: take it as a std::string");
  static_assert(isHandled || !detail::isMap<T>,
                "Calque can't take this map apart: take it as a std::map or std::unordered_map");
  static_assert(isHandled || !detail::isSequence<T>,
                "Calque can't take this container apart: take it as a std::vector or std::array");
  static_assert(isHandled || !detail::isPointer<T>,
                "Calque can't take a pointer apart: take what it points to by value, or capture the pointer");
  static_assert(!detail::isVariant<T>, "Calque can't take a std::variant apart: take a struct with a std::optional for "
                                       "each alternative");
  static_assert(isHandled || detail::isText<T> || detail::isMap<T> || detail::isSequence<T> || detail::isPointer<T> ||
                    detail::isVariant<T>,
                "Calque can't take this type apart: make it an aggregate or specialise calque::Structure for it");
  static constexpr bool hasFields = [] {
    if constexpr (!isAggregate) {
      return false;
    } else if constexpr (detail::hasBase<T>) {
      static_assert(!detail::hasBase<T>, "an aggregate with a base class needs its own calque::Structure");
      return false;
    } else if constexpr (detail::hasArray<T>) {
      static_assert(!detail::hasArray<T>, "Calque can't take an array of C apart: use std::array");
      return false;
    } else {
      static_assert(!detail::hasTooManyFields<T>,
                    "an aggregate with more than 8 fields needs its own calque::Structure");
      static_assert(detail::hasTooManyFields<T> || detail::takesItsFields<T>,
                    "Calque can't make this aggregate of its fields: hold the tensors and variables by value, without "
                    "references, or specialise calque::Structure for it");
      return !detail::hasTooManyFields<T> && detail::takesItsFields<T>;
    }
  }();

  template <typename V> static void visit(const T &x, V &v) {
    if constexpr (isHost) {
      std::uint64_t bits = 0;
      if constexpr (std::is_same_v<T, long double>) {
        double rounded = static_cast<double>(x);
        std::memcpy(&bits, &rounded, sizeof(rounded));
      } else {
        std::memcpy(&bits, &x, sizeof(x) < sizeof(bits) ? sizeof(x) : sizeof(bits));
      }
      v.host(bits);
    } else if constexpr (hasFields) {
      detail::withFields(x, [&](const auto &...fields) { (visit_structure(fields, v), ...); });
    }
  }
  template <typename M> static T map(const T &x, M &m) {
    if constexpr (!hasFields)
      return x;
    else // Braces evaluate the fields in order.
      return detail::withFields(x, [&](const auto &...fields) { return T{map_structure(fields, m)...}; });
  }
};

template <> struct Structure<Tensor> {
  template <typename V> static void visit(const Tensor &x, V &v) { v.tensor(x); }
  template <typename M> static Tensor map(const Tensor &x, M &m) { return m.tensor(x); }
};

template <> struct Structure<Variable> {
  template <typename V> static void visit(const Variable &x, V &v) { v.variable(x); }
  template <typename M> static Variable map(const Variable &x, M &m) { return m.variable(x); }
};

// A known size is a host value. StateError for an unknown size.
template <> struct Structure<Size> {
  template <typename V> static void visit(const Size &x, V &v) { v.host(static_cast<std::uint64_t>(std::int64_t(x))); }
  template <typename M> static Size map(const Size &x, M &) { return x; }
};

template <> struct Structure<Shape> {
  template <typename V> static void visit(const Shape &x, V &v) {
    v.count(x.size());
    for (const Size &size : x)
      visit_structure(size, v);
  }
  template <typename M> static Shape map(const Shape &x, M &) { return x; }
};

template <> struct Structure<std::string> {
  template <typename V> static void visit(const std::string &x, V &v) { v.text(x); }
  template <typename M> static std::string map(const std::string &x, M &) { return x; }
};

template <typename T> struct Structure<std::vector<T>> {
  template <typename V> static void visit(const std::vector<T> &x, V &v) {
    v.count(x.size());
    for (const T &element : x)
      visit_structure(element, v);
  }
  template <typename M> static std::vector<T> map(const std::vector<T> &x, M &m) {
    std::vector<T> result;
    result.reserve(x.size());
    for (const T &element : x)
      result.push_back(map_structure(element, m));
    return result;
  }
};

// Of std::vector<bool>, which has no elements to refer to. That class is made only where it is used.
template <std::same_as<bool> T> struct Structure<std::vector<T>> {
  template <typename V> static void visit(const std::vector<T> &x, V &v) {
    v.count(x.size());
    for (bool element : x)
      visit_structure(element, v);
  }
  template <typename M> static std::vector<T> map(const std::vector<T> &x, M &) { return x; }
};

template <typename T, std::size_t N> struct Structure<std::array<T, N>> {
  template <typename V> static void visit(const std::array<T, N> &x, V &v) {
    for (const T &element : x)
      visit_structure(element, v);
  }
  template <typename M> static std::array<T, N> map(const std::array<T, N> &x, M &m) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<T, N>{map_structure(x[I], m)...};
    }(std::make_index_sequence<N>());
  }
};

template <typename A, typename B> struct Structure<std::pair<A, B>> {
  template <typename V> static void visit(const std::pair<A, B> &x, V &v) {
    visit_structure(x.first, v);
    visit_structure(x.second, v);
  }
  template <typename M> static std::pair<A, B> map(const std::pair<A, B> &x, M &m) {
    if constexpr (detail::CheckedFields<A, B>::areValues)
      return std::pair<A, B>{map_structure(x.first, m), map_structure(x.second, m)};
    else
      return x;
  }
};

template <typename... T> struct Structure<std::tuple<T...>> {
  template <typename V> static void visit(const std::tuple<T...> &x, V &v) {
    std::apply([&](const auto &...fields) { (visit_structure(fields, v), ...); }, x);
  }
  template <typename M> static std::tuple<T...> map(const std::tuple<T...> &x, M &m) {
    if constexpr (detail::CheckedFields<T...>::areValues)
      return std::apply([&](const auto &...fields) { return std::tuple<T...>{map_structure(fields, m)...}; }, x);
    else
      return x;
  }
};

// A std::string_view refers to characters that it does not own. Do not return one, because a result outlives them:
// return a std::string.
template <> struct Structure<std::string_view> {
  template <typename V> static void visit(std::string_view x, V &v) { v.text(std::string(x)); }
  template <typename M> static std::string_view map(std::string_view x, M &) { return x; }
};

namespace detail {
// Visits a key of a map, which is a host value. A string is visited as one text and not as a part, so that messages can
// name the entry by its key.
template <typename K, typename V> void visitKey(const K &key, V &v) {
  if constexpr (std::is_same_v<K, std::string>)
    v.text(key);
  else
    visit_structure(key, v);
}
// Sorts pointers to entries of a map.
CALQUE_API void sortEntries(std::vector<const void *> &entries, bool (*isLess)(const void *, const void *));
} // namespace detail

template <typename K, typename T, typename C> struct Structure<std::map<K, T, C>> {
  template <typename V> static void visit(const std::map<K, T, C> &x, V &v) {
    v.count(x.size());
    for (const auto &[key, value] : x) {
      detail::visitKey(key, v);
      visit_structure(value, v);
    }
  }
  template <typename M> static std::map<K, T, C> map(const std::map<K, T, C> &x, M &m) {
    std::map<K, T, C> result(x.key_comp());
    for (const auto &[key, value] : x)
      result.emplace_hint(result.end(), key, map_structure(value, m));
    return result;
  }
};

// The parts of an unordered map are visited in the order of its keys, so that equal maps are equal arguments.
template <typename K, typename T, typename H, typename E> struct Structure<std::unordered_map<K, T, H, E>> {
  using Map = std::unordered_map<K, T, H, E>;
  using Entry = std::pair<const K, T>;
  static std::vector<const void *> inOrder(const Map &x) {
    std::vector<const void *> entries;
    for (const Entry &entry : x)
      entries.push_back(&entry);
    detail::sortEntries(entries, [](const void *a, const void *b) {
      return static_cast<const Entry *>(a)->first < static_cast<const Entry *>(b)->first;
    });
    return entries;
  }
  template <typename V> static void visit(const Map &x, V &v) {
    v.count(x.size());
    for (const void *pointer : inOrder(x)) {
      const Entry &entry = *static_cast<const Entry *>(pointer);
      detail::visitKey(entry.first, v);
      visit_structure(entry.second, v);
    }
  }
  template <typename M> static Map map(const Map &x, M &m) {
    Map result(x.size(), x.hash_function(), x.key_eq());
    for (const void *pointer : inOrder(x)) {
      const Entry &entry = *static_cast<const Entry *>(pointer);
      result.emplace(entry.first, map_structure(entry.second, m));
    }
    return result;
  }
};

template <typename T> struct Structure<std::optional<T>> {
  template <typename V> static void visit(const std::optional<T> &x, V &v) {
    v.count(x.has_value());
    if (x)
      visit_structure(*x, v);
  }
  template <typename M> static std::optional<T> map(const std::optional<T> &x, M &m) {
    return x ? std::optional<T>(map_structure(*x, m)) : std::nullopt;
  }
};

namespace detail {

// Replaces tensors in map() by those of a list, in order. Variables are replaced from another list, or kept if that
// list is null. The lists are as long as the structure has tensors and variables.
struct Replacement {
  const Tensor *nextTensor;
  const Variable *nextVariable = nullptr; // null: they stay
  Tensor tensor(const Tensor &) { return *nextTensor++; }
  Variable variable(const Variable &x) { return nextVariable ? *nextVariable++ : x; }
};

// Collects the tensors that visit() passes.
struct CALQUE_API TensorCollector {
  std::vector<Tensor> tensors;
  void tensor(const Tensor &x);
  void variable(const Variable &) {}
  void host(std::uint64_t) {}
  void text(const std::string &) {}
  void count(std::size_t) {}
};

// Returns the tensors of a structure, in order.
template <typename T> std::vector<Tensor> tensorsIn(const T &x) {
  TensorCollector collector;
  visit_structure(x, collector);
  return std::move(collector.tensors);
}
// Returns the structure with other tensors in place of its own, in order.
template <typename T> T withTensors(const T &x, const std::vector<Tensor> &tensors) {
  Replacement replacement{tensors.data()};
  return map_structure(x, replacement);
}

} // namespace detail

} // namespace calque
#endif
