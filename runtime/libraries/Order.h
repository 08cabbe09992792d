// The order of elements, for Sort.cpp: NaN is larger than all numbers and equal to itself, and the zeros of both signs
// are equal. Of equal elements the earlier one comes first, so that there is one order, whatever the algorithm and on
// any number of threads.
//
// An element is sorted as an unsigned integer, its *key*, that says the same by its bits: a radix sort takes the keys
// digit by digit, and makes no comparison that a branch would mispredict.
#ifndef CALQUE_RUNTIME_LIBRARIES_ORDER_H
#define CALQUE_RUNTIME_LIBRARIES_ORDER_H

#include "runtime/ThreadPool.h"

#include "calque/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

namespace calque::runtime {

template <std::size_t Bytes>
using UnsignedOf =
    std::conditional_t<Bytes == 1, uint8_t,
                       std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

// The key of an element.
template <typename T> UnsignedOf<sizeof(T)> keyOf(T x) {
  using Bits = UnsignedOf<sizeof(T)>;
  constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
  const auto bits = std::bit_cast<Bits>(x);
  if constexpr (detail::kIsFloating<T>) {
    // Chosen without a branch.
    const auto infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    const auto magnitude = static_cast<Bits>(bits & ~sign), isNegative = static_cast<Bits>(bits >> (8 * sizeof(T) - 1));
    const auto number = static_cast<Bits>(bits ^ (static_cast<Bits>(Bits(0) - isNegative) | sign));
    const Bits finite = magnitude == 0 ? sign : number;
    return magnitude > infinity ? std::numeric_limits<Bits>::max() : finite;
  } else {
    return static_cast<Bits>(std::is_signed_v<T> ? bits ^ sign : bits);
  }
}

// A key and the place of its element, as one number where both have 32 bits.
struct WideEntry {
  uint64_t key, place;
  auto operator<=>(const WideEntry &) const = default;
};
template <std::size_t Bytes> struct EntriesOf {
  using Entry = uint64_t;
  static constexpr int kDigits = Bytes;                    // bytes of the key
  static constexpr int64_t kMostPlaces = int64_t(1) << 32; // of a row
  static Entry make(uint64_t key, int64_t place) { return key << 32 | static_cast<uint64_t>(place); }
  static uint64_t keyOf(Entry entry) { return entry >> 32; }
  static int64_t placeOf(Entry entry) { return static_cast<int64_t>(entry & 0xffffffffU); }
};
template <> struct EntriesOf<8> {
  using Entry = WideEntry;
  static constexpr int kDigits = 8;
  static constexpr int64_t kMostPlaces = std::numeric_limits<int64_t>::max();
  static Entry make(uint64_t key, int64_t place) { return {key, static_cast<uint64_t>(place)}; }
  static uint64_t keyOf(const Entry &entry) { return entry.key; }
  static int64_t placeOf(const Entry &entry) { return static_cast<int64_t>(entry.place); }
};

// Sorts entries whose places increase, in `entries` or in `other`, and returns where. Both have `count` of them.
template <typename Of>
typename Of::Entry *sorted(typename Of::Entry *entries, typename Of::Entry *other, int64_t count) {
  // Below this, comparisons take less time than to count digits.
  constexpr int64_t kFewEntries = Of::kDigits == 8 ? 2048 : 512;
  if (count < kFewEntries) {
    std::sort(entries, entries + count); // entries differ in their places
    return entries;
  }
  // The pieces are those of the threads. Their number does not show in the result.
  constexpr int64_t kPiece = 1 << 16;
  constexpr int kValues = 256;
  using Counts = std::array<int64_t, kValues>;
  const int64_t pieces = std::min<int64_t>(pieceCount(count, kPiece), 64), piece = pieceCount(count, pieces);
  const std::unique_ptr<Counts[]> counts(new (std::nothrow) Counts[static_cast<std::size_t>(pieces)]);
  if (!counts) {
    std::sort(entries, entries + count);
    return entries;
  }
  auto forEachPiece = [&](auto body) {
    parallelFor(pieces, 1, [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p)
        body(counts[static_cast<std::size_t>(p)], p * piece, std::min(count, (p + 1) * piece));
    });
  };
  for (int digit = 0; digit < Of::kDigits; ++digit) {
    auto valueAt = [&](int64_t i) { return static_cast<std::size_t>(Of::keyOf(entries[i]) >> (8 * digit) & 0xff); };
    forEachPiece([&](Counts &own, int64_t begin, int64_t end) {
      own.fill(0);
      for (int64_t i = begin; i < end; ++i)
        ++own[valueAt(i)];
    });
    // Where the first entry of each digit goes, by piece.
    int64_t next = 0;
    bool isOne = false; // all have the same digit
    for (std::size_t value = 0; value < kValues; ++value) {
      const int64_t before = next;
      for (int64_t p = 0; p < pieces; ++p)
        next += std::exchange(counts[static_cast<std::size_t>(p)][value], next);
      isOne = isOne || next - before == count;
    }
    if (isOne)
      continue;
    forEachPiece([&](Counts &own, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        other[own[valueAt(i)]++] = entries[i];
    });
    std::swap(entries, other);
  }
  return entries;
}

// What is sorted: a row of elements from the smallest or the largest on.
template <typename T> class Row {
public:
  using Of = EntriesOf<sizeof(T)>;
  using Entry = typename Of::Entry;
  using Entries = std::unique_ptr<Entry[]>;

  Row(const T *x, int64_t length, bool descending)
      : x(x), length(length), flipped(descending ? std::numeric_limits<Key>::max() : 0) {}

  // The places of the first `count` elements of the order.
  void first(int64_t *order, int64_t count) const {
    // Of more than a quarter, most have to be moved anyway.
    const bool isWhole = count > length / 4;
    const int64_t capacity = isWhole ? length : 2 * count + 64;
    Entries entries = length <= Of::kMostPlaces ? memoryFor(capacity) : nullptr,
            other = entries ? memoryFor(capacity) : nullptr;
    if (!other) {
      inPlace(order, count);
      return;
    }
    int64_t kept = capacity;
    if (isWhole)
      all(entries.get());
    else
      kept = select(entries.get(), capacity, count);
    const Entry *found = sorted<Of>(entries.get(), other.get(), kept);
    for (int64_t i = 0; i < count; ++i)
      order[i] = Of::placeOf(found[i]);
  }

private:
  using Key = UnsignedOf<sizeof(T)>;
  Key keyAt(int64_t i) const { return static_cast<Key>(keyOf(x[i]) ^ flipped); }
  Entry entryAt(int64_t i) const { return Of::make(keyAt(i), i); }
  static Entries memoryFor(int64_t count) { return Entries(new (std::nothrow) Entry[static_cast<std::size_t>(count)]); }

  void all(Entry *entries) const {
    constexpr int64_t kGrain = 1 << 16;
    parallelFor(length, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        entries[i] = entryAt(i);
    });
  }

  // Keeps `count` entries or a few more, with increasing places, among which are the first ones of the order. An
  // element that is not before the last of those that are kept can't be one of them, and few are, once some were seen.
  int64_t select(Entry *entries, int64_t capacity, int64_t count) const {
    int64_t kept = std::min(capacity, length);
    for (int64_t i = 0; i < kept; ++i)
      entries[i] = entryAt(i);
    auto drop = [&] {
      std::nth_element(entries, entries + (count - 1), entries + kept);
      kept = count;
      return static_cast<Key>(Of::keyOf(entries[count - 1]));
    };
    Key last = drop();
    for (int64_t i = std::min(capacity, length); i < length; ++i) {
      const Key key = keyAt(i);
      if (key >= last) [[likely]] // an equal one comes later
        continue;
      entries[kept++] = Of::make(key, i);
      if (kept == capacity)
        last = drop();
    }
    // By place, as a radix sort takes them.
    std::sort(entries, entries + kept, [](const Entry &a, const Entry &b) { return Of::placeOf(a) < Of::placeOf(b); });
    return kept;
  }

  // Where there is no memory for entries: `count` is the length, so that the places are sorted where they are, or few
  // elements are looked for one by one.
  void inPlace(int64_t *order, int64_t count) const {
    auto isBefore = [&](int64_t a, int64_t b) {
      const Key first = keyAt(a), second = keyAt(b);
      return first < second || (first == second && a < b);
    };
    if (count == length) {
      std::iota(order, order + count, 0);
      std::sort(order, order + count, isBefore);
      return;
    }
    for (int64_t k = 0; k < count; ++k) {
      int64_t next = -1;
      for (int64_t i = 0; i < length; ++i)
        if ((k == 0 || isBefore(order[k - 1], i)) && (next < 0 || isBefore(i, next)))
          next = i;
      order[k] = next;
    }
  }

  const T *x;
  const int64_t length;
  const Key flipped;
};

} // namespace calque::runtime
#endif
