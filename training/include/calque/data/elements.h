// How the elements of data sets are taken apart into tensors and other parts, and made again from these.
//
// An element is a tensor, a C++ number, a std::string, or a std::pair, std::tuple, std::array, std::vector,
// std::optional, std::map<std::string, T> or aggregate of elements. A type of your own with a Structure (structure.h)
// may be an element too, if it has a default constructor and always has the same number of tensors.
#ifndef CALQUE_DATA_ELEMENTS_H
#define CALQUE_DATA_ELEMENTS_H

#include "calque/export.h"
#include "calque/structure.h"

#include <cstring>
#include <string>
#include <vector>

namespace calque::data::detail {

// The parts of an element.
struct Parts {
  std::vector<Tensor> tensors;
  // The bytes of the parts that are not tensors: numbers, texts, keys of maps and lengths of vectors, in order. Empty
  // for tensors in a structure of fixed form. Elements with an equal rest have the same structure.
  std::string rest;
  bool has_values = false; // has numbers or texts, which can't be stacked
};

inline void put(std::string &rest, const void *bytes, std::size_t count) {
  rest.append(static_cast<const char *>(bytes), count);
}
inline void putCount(std::string &rest, std::uint64_t count) { put(rest, &count, sizeof(count)); }
inline void putText(std::string &rest, const std::string &text) {
  putCount(rest, text.size());
  rest += text;
}

// Throws a DataError for parts of another structure.
[[noreturn]] CALQUE_API void throwOtherStructure();

// Reads parts in order. The parts may come from the file of a cache, which may belong to another data set, so each read
// is checked.
struct Taker {
  const Parts &from;
  std::size_t tensor = 0, at = 0;

  void take(void *bytes, std::size_t count) {
    requireRest(count);
    std::memcpy(bytes, from.rest.data() + at, count);
    at += count;
  }
  std::uint64_t takeCount() {
    std::uint64_t count = 0;
    take(&count, sizeof(count));
    return count;
  }
  std::string takeText() {
    const std::size_t size = takeCount();
    requireRest(size);
    std::string text = from.rest.substr(at, size);
    at += size;
    return text;
  }
  const Tensor &takeTensor() {
    requireTensors(1);
    return from.tensors[tensor++];
  }
  void requireRest(std::size_t count) const {
    if (count > from.rest.size() - at)
      throwOtherStructure();
  }
  void requireTensors(std::size_t count) const {
    if (count > from.tensors.size() - tensor)
      throwOtherStructure();
  }
};

template <typename T> struct Codec;

// The codec of a type with a Structure of its own.
template <typename T> struct StructuredCodec {
  static void write(const T &x, Parts &parts) {
    for (Tensor &tensor : calque::detail::tensorsIn(x))
      parts.tensors.push_back(std::move(tensor));
  }
  static T read(Taker &taker) {
    T like{};
    const std::size_t count = calque::detail::tensorsIn(like).size();
    taker.requireTensors(count);
    const auto first = taker.from.tensors.begin() + static_cast<std::ptrdiff_t>(taker.tensor);
    taker.tensor += count;
    return calque::detail::withTensors(like, {first, first + static_cast<std::ptrdiff_t>(count)});
  }
};

template <typename T> struct Codec {
  static constexpr bool isNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
  // Whether the type is an aggregate that has the general Structure.
  static constexpr bool isAggregate = [] {
    if constexpr (requires { Structure<T>::isAggregate; })
      return Structure<T>::isAggregate;
    else
      return false;
  }();
  static void write(const T &x, Parts &parts) {
    static_assert(!std::is_same_v<T, Variable>, "a data set has no variables as elements: take their values");
    if constexpr (isNumber) {
      put(parts.rest, &x, sizeof(x));
      parts.has_values = true;
    } else if constexpr (isAggregate) {
      calque::detail::withFields(
          x, [&]<typename... Field>(const Field &...fields) { (Codec<Field>::write(fields, parts), ...); });
    } else {
      StructuredCodec<T>::write(x, parts);
    }
  }
  static T read(Taker &taker) {
    if constexpr (isNumber) {
      T x;
      taker.take(&x, sizeof(x));
      return x;
    } else if constexpr (isAggregate) {
      // Braces evaluate the fields in order. `like` gives the types of the fields.
      const T like{};
      return calque::detail::withFields(
          like, [&]<typename... Field>(const Field &...) { return T{Codec<Field>::read(taker)...}; });
    } else {
      return StructuredCodec<T>::read(taker);
    }
  }
};

template <> struct Codec<Tensor> {
  static void write(const Tensor &x, Parts &parts) { parts.tensors.push_back(x); }
  static Tensor read(Taker &taker) { return taker.takeTensor(); }
};
template <> struct Codec<std::string> {
  static void write(const std::string &x, Parts &parts) {
    putText(parts.rest, x);
    parts.has_values = true;
  }
  static std::string read(Taker &taker) { return taker.takeText(); }
};
template <typename T> struct Codec<std::vector<T>> {
  static void write(const std::vector<T> &x, Parts &parts) {
    putCount(parts.rest, x.size());
    for (const T &element : x)
      Codec<T>::write(element, parts);
  }
  static std::vector<T> read(Taker &taker) {
    std::vector<T> x;
    for (std::size_t count = taker.takeCount(); x.size() < count;)
      x.push_back(Codec<T>::read(taker));
    return x;
  }
};
template <typename T> struct Codec<std::optional<T>> {
  static void write(const std::optional<T> &x, Parts &parts) {
    putCount(parts.rest, x.has_value());
    if (x)
      Codec<T>::write(*x, parts);
  }
  static std::optional<T> read(Taker &taker) {
    return taker.takeCount() ? std::optional<T>(Codec<T>::read(taker)) : std::nullopt;
  }
};
template <typename T> struct Codec<std::map<std::string, T>> {
  static void write(const std::map<std::string, T> &x, Parts &parts) {
    putCount(parts.rest, x.size());
    for (const auto &[key, value] : x) {
      putText(parts.rest, key);
      Codec<T>::write(value, parts);
    }
  }
  static std::map<std::string, T> read(Taker &taker) {
    std::map<std::string, T> x;
    for (std::size_t count = taker.takeCount(); x.size() < count;) {
      std::string key = taker.takeText();
      x.emplace(std::move(key), Codec<T>::read(taker));
    }
    return x;
  }
};
template <typename T, std::size_t N> struct Codec<std::array<T, N>> {
  static void write(const std::array<T, N> &x, Parts &parts) {
    for (const T &element : x)
      Codec<T>::write(element, parts);
  }
  static std::array<T, N> read(Taker &taker) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<T, N>{((void)I, Codec<T>::read(taker))...};
    }(std::make_index_sequence<N>());
  }
};
template <typename A, typename B> struct Codec<std::pair<A, B>> {
  static void write(const std::pair<A, B> &x, Parts &parts) {
    Codec<A>::write(x.first, parts);
    Codec<B>::write(x.second, parts);
  }
  static std::pair<A, B> read(Taker &taker) { return {Codec<A>::read(taker), Codec<B>::read(taker)}; }
};
template <typename... T> struct Codec<std::tuple<T...>> {
  static void write(const std::tuple<T...> &x, Parts &parts) {
    std::apply([&](const T &...fields) { (Codec<T>::write(fields, parts), ...); }, x);
  }
  static std::tuple<T...> read(Taker &taker) { return std::tuple<T...>{Codec<T>::read(taker)...}; }
};

template <typename Element> Parts partsOf(const Element &x) {
  Parts parts;
  Codec<Element>::write(x, parts);
  return parts;
}
template <typename Element> Element elementOf(const Parts &parts) {
  Taker taker{parts};
  Element element = Codec<Element>::read(taker);
  if (taker.at != parts.rest.size() || taker.tensor != parts.tensors.size())
    throwOtherStructure();
  return element;
}

} // namespace calque::data::detail
#endif
