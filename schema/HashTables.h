// Hash tables that a failed allocation leaves as they were.
//
// Abseil's tables are written for programs without exceptions. If std::bad_alloc is thrown while such a table grows, or
// if the constructor of a new element throws, the table's destructor frees an invalid pointer. So the tables here
// allocate memory for elements and for a larger table before anything changes. The interface is that of
// absl::flat_hash_map and absl::flat_hash_set.
//
//   HashMap<ValueId, std::size_t> numbers;
//   auto [at, isNew] = numbers.try_emplace(value, numbers.size());
#ifndef CALQUE_SCHEMA_HASHTABLES_H
#define CALQUE_SCHEMA_HASHTABLES_H

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

namespace calque {

// The base of maps and sets. `Element` is the type of the elements that move from a table to a larger one.
template <typename Base, typename Element> class HashTable : protected Base {
  static_assert(std::is_nothrow_move_constructible_v<Element>, "a table grows by moving its elements");

public:
  using Base::begin;
  using Base::clear;
  using Base::contains;
  using Base::count;
  using Base::empty;
  using Base::end;
  using Base::find;
  using Base::size;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::key_type;
  using typename Base::size_type;
  using typename Base::value_type;

  HashTable() = default;
  HashTable(const HashTable &other) { addAll(other.begin(), other.end(), other.size()); }
  HashTable(HashTable &&other) noexcept
      : Base(static_cast<Base &&>(other)), hasErased(std::exchange(other.hasErased, false)) {}
  HashTable &operator=(HashTable other) noexcept {
    swap(other);
    return *this;
  }

  void swap(HashTable &other) noexcept {
    Base::swap(static_cast<Base &>(other));
    std::swap(hasErased, other.hasErased);
  }
  // Allocates memory for so many elements in all.
  void reserve(std::size_t count) {
    if (count > room(Base::capacity()))
      grow(count + count / 3 + 2);
  }
  template <typename At> auto erase(const At &at) {
    hasErased = true;
    return Base::erase(at);
  }
  template <typename Predicate> void eraseIf(Predicate predicate) {
    for (auto at = begin(); at != end();)
      if (auto here = at++; predicate(*here))
        erase(here);
  }
  friend bool operator==(const HashTable &a, const HashTable &b) {
    return static_cast<const Base &>(a) == static_cast<const Base &>(b);
  }

protected:
  template <typename It> void addAll(It first, It last, std::size_t count) {
    reserve(count);
    for (; first != last; ++first) {
      Element element(*first);
      makeRoom();
      Base::insert(std::move(element));
    }
  }
  // Makes room for an element, so that the next insertion allocates no memory.
  void makeRoom() {
    const std::size_t capacity = Base::capacity(), count = size();
    // A large table reuses the slots of erased elements in place. A small table would grow.
    const bool isSmall = capacity <= kGroup;
    if (count >= room(capacity) || (isSmall && hasErased))
      grow(count < room(capacity) ? capacity : 2 * capacity + 1);
  }

private:
  // The largest group of slots that Abseil looks at together. A larger table reuses the slots of erased elements in
  // place, as long as it has no more elements than room() returns (raw_hash_set::rehash_and_grow_if_necessary).
  static constexpr std::size_t kGroup = 16;
  static std::size_t room(std::size_t capacity) {
    if (capacity <= kGroup) // a small table is never full
      return capacity < 2 ? 0 : capacity - capacity / 8 - 1;
    return static_cast<std::size_t>(std::uint64_t(capacity) * 25 / 32);
  }
  void grow(std::size_t capacity) {
    Base larger(capacity < 7 ? 7 : capacity); // if this throws, there is no table to free
    for (auto &element : static_cast<Base &>(*this))
      if constexpr (requires { typename Base::mapped_type; })
        larger.emplace(std::move(const_cast<key_type &>(element.first)), std::move(element.second));
      else
        larger.insert(std::move(const_cast<key_type &>(element)));
    Base::swap(larger);
    hasErased = false;
  }

  bool hasErased = false; // whether elements were erased since the table has grown
};

template <typename K, typename V, typename Base = absl::flat_hash_map<K, V>>
class HashMap : public HashTable<Base, std::pair<K, V>> {
  using Table = HashTable<Base, std::pair<K, V>>;

public:
  using mapped_type = V;
  using Base::at;
  using typename Table::iterator;

  HashMap() = default;
  HashMap(std::initializer_list<std::pair<const K, V>> elements) {
    Table::addAll(elements.begin(), elements.end(), elements.size());
  }
  template <std::input_iterator It> HashMap(It first, It last) { Table::addAll(first, last, 0); }

  // Key is K by default, so that a key may be in braces.
  template <typename Key = K, typename... Args> std::pair<iterator, bool> try_emplace(Key &&key, Args &&...args) {
    if constexpr (std::is_nothrow_constructible_v<K, Key &&> && std::is_nothrow_constructible_v<V, Args &&...>) {
      Table::makeRoom();
      return Base::try_emplace(std::forward<Key>(key), std::forward<Args>(args)...);
    } else {
      if (auto found = Table::find(key); found != Table::end())
        return {found, false};
      std::pair<K, V> element(std::piecewise_construct, std::forward_as_tuple(std::forward<Key>(key)),
                              std::forward_as_tuple(std::forward<Args>(args)...));
      Table::makeRoom();
      return Base::emplace(std::move(element.first), std::move(element.second));
    }
  }
  template <typename Key = K, typename Value = V> std::pair<iterator, bool> emplace(Key &&key, Value &&value) {
    return try_emplace(std::forward<Key>(key), std::forward<Value>(value));
  }
  std::pair<iterator, bool> insert(std::pair<K, V> element) {
    return try_emplace(std::move(element.first), std::move(element.second));
  }
  template <typename Key = K, typename Value = V> std::pair<iterator, bool> insert_or_assign(Key &&key, Value &&value) {
    auto result = try_emplace(std::forward<Key>(key), std::forward<Value>(value));
    if (!result.second)
      result.first->second = std::forward<Value>(value); // try_emplace has not moved from it
    return result;
  }
  template <typename Key = K> V &operator[](Key &&key) { return try_emplace(std::forward<Key>(key)).first->second; }
};

template <typename K, typename Base = absl::flat_hash_set<K>> class HashSet : public HashTable<Base, K> {
  using Table = HashTable<Base, K>;

public:
  using typename Table::iterator;

  HashSet() = default;
  HashSet(std::initializer_list<K> elements) { Table::addAll(elements.begin(), elements.end(), elements.size()); }
  template <std::input_iterator It> HashSet(It first, It last) { Table::addAll(first, last, 0); }

  template <typename Key = K> std::pair<iterator, bool> insert(Key &&key) {
    if constexpr (!std::is_nothrow_constructible_v<K, Key &&>)
      if (auto found = Table::find(key); found != Table::end())
        return {found, false};
    K element(std::forward<Key>(key));
    Table::makeRoom();
    return Base::insert(std::move(element));
  }
  template <std::input_iterator It> void insert(It first, It last) {
    for (; first != last; ++first)
      insert(*first);
  }
  template <typename... Args> std::pair<iterator, bool> emplace(Args &&...args) {
    return insert(K(std::forward<Args>(args)...));
  }
};

} // namespace calque
#endif
