// Finds the patterns that match a key. The form of a pattern is its number of words, and the positions of its unknown
// words. Patterns of one form are in a hash table by their known words. So a lookup makes one probe for each form of
// the key's size, for any number of patterns. An index is made from all patterns at once, and then only read.
#ifndef CALQUE_FRONTEND_CORE_PATTERNINDEX_H
#define CALQUE_FRONTEND_CORE_PATTERNINDEX_H

#include "absl/container/inlined_vector.h"
#include "frontend/core/KeyEntry.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace calque::detail {

template <typename T> class PatternIndex {
public:
  PatternIndex() = default;
  // The patterns come in the order in which they were made.
  explicit PatternIndex(std::span<T *const> patterns) {
    auto lessSpecificLast = [](const T *a, const T *b) {
      using Form = std::tuple<std::size_t, std::size_t, const Positions &>;
      return Form(a->key.size(), a->unknown.size(), a->unknown) < Form(b->key.size(), b->unknown.size(), b->unknown);
    };
    std::vector<T *> byForm(patterns.begin(), patterns.end());
    std::stable_sort(byForm.begin(), byForm.end(), lessSpecificLast);
    for (auto begin = byForm.begin(); begin != byForm.end();) {
      auto end = std::upper_bound(begin, byForm.end(), *begin, lessSpecificLast);
      forms.emplace_back(std::span<T *const>(begin, end));
      begin = end;
    }
  }

  bool empty() const { return forms.empty(); }

  // The most specific of the accepted patterns that match; of several, the one that was made first.
  template <typename Accept> T *find(KeyView key, Accept accept) const {
    T *first = nullptr;
    absl::InlinedVector<T *, 8> matches; // none is less specific than another
    for (auto form = firstOfSize(key.size()); form != forms.end() && form->keySize == key.size(); ++form) {
      T *match = form->find(key, accept);
      // Patterns of more specific forms come earlier.
      if (!match ||
          std::any_of(matches.begin(), matches.end(), [&](T *other) { return other->moreSpecificThan(*match); }))
        continue;
      matches.push_back(match);
      if (!first || match->number < first->number)
        first = match;
    }
    return first;
  }

  // The first made of the accepted patterns with exactly these known words and unknown positions.
  template <typename Accept> T *findSame(KeyView key, const Positions &unknown, Accept accept) const {
    for (auto form = firstOfSize(key.size()); form != forms.end() && form->keySize == key.size(); ++form)
      if (form->unknown == unknown)
        return form->find(key, accept);
    return nullptr;
  }

private:
  struct Form {
    explicit Form(std::span<T *const> patterns)
        : keySize(patterns[0]->key.size()), unknown(patterns[0]->unknown), slots(std::bit_ceil(2 * patterns.size())) {
      for (T *pattern : patterns) {
        std::size_t i = firstSlot(pattern->key);
        while (slots[i & (slots.size() - 1)])
          ++i;
        slots[i & (slots.size() - 1)] = pattern;
      }
    }
    template <typename Accept> T *find(KeyView key, Accept accept) const {
      for (std::size_t i = firstSlot(key);; ++i) {
        T *pattern = slots[i & (slots.size() - 1)];
        if (!pattern || (pattern->matches(key) && accept(*pattern)))
          return pattern;
      }
    }
    // A single pattern needs no hash.
    std::size_t firstSlot(KeyView key) const { return slots.size() == 2 ? 0 : hashKey(key, unknown); }

    std::size_t keySize;
    Positions unknown;
    std::vector<T *> slots; // at least half of them are empty
  };

  typename std::vector<Form>::const_iterator firstOfSize(std::size_t keySize) const {
    return std::lower_bound(forms.begin(), forms.end(), keySize,
                            [](const Form &form, std::size_t size) { return form.keySize < size; });
  }

  std::vector<Form> forms; // ordered by the key's size, then by the number of unknown words
};

} // namespace calque::detail
#endif
