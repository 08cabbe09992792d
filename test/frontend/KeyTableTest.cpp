#include "frontend/core/KeyCache.h"

#include <gtest/gtest.h>

#include <random>

using namespace calque::detail;

namespace {

struct Entry : KeyEntry {
  explicit Entry(Key words, std::vector<std::uint32_t> open = {}, int *freed = nullptr) : freed(freed) {
    key = std::move(words);
    hash = hashKey(key);
    unknown = std::move(open);
  }
  ~Entry() {
    if (freed)
      ++*freed;
  }
  int *freed;
};

template <typename Table> Entry *find(const Table &table, Key key) { return table.find(hashKey(key), key); }

// A number below `end`.
std::uint64_t draw(std::mt19937 &random, std::uint64_t end) { return random() % end; }
Key drawKey(std::mt19937 &random) {
  Key key(1 + draw(random, 4));
  for (std::uint64_t &word : key)
    word = draw(random, 3);
  return key;
}

// The rule by which a table chooses, in the words of docs/functions.md.
template <typename Accept>
Entry *chosenByScanning(const std::vector<std::shared_ptr<Entry>> &entries, const Key &key, Accept accept) {
  auto fits = [&](const Entry &entry) { return entry.matches(key) && accept(entry); };
  auto knowsMore = [](const Entry &a, const Entry &b) {
    bool more = false, less = false;
    for (std::uint32_t i = 0; i < a.key.size(); ++i) {
      bool unknownInA = std::count(a.unknown.begin(), a.unknown.end(), i);
      bool unknownInB = std::count(b.unknown.begin(), b.unknown.end(), i);
      more |= unknownInB && !unknownInA;
      less |= unknownInA && !unknownInB;
    }
    return more && !less;
  };
  for (const std::shared_ptr<Entry> &entry : entries)
    if (fits(*entry) && std::none_of(entries.begin(), entries.end(),
                                     [&](const auto &other) { return fits(*other) && knowsMore(*other, *entry); }))
      return entry.get();
  return nullptr;
}

// Compares a table with a cap with a list in which the entry that was used least recently is searched for. `timeOfUse`
// is a use's time, of the numbers of insertions and of uses until then; an insertion is a use.
template <Recency recency> void expectEvictionAsInAList(auto timeOfUse) {
  struct Model {
    std::uint64_t word, lastUse;
  };
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::size_t most = 1 + draw(random, 40);
    KeyTable<Entry, recency> table(most);
    ReadScope scope;
    std::vector<Model> model;
    std::uint64_t insertions = 0, uses = 0;
    for (int i = 0; i < 2000; ++i) {
      std::uint64_t word = draw(random, 2 * most + 1);
      auto known = std::find_if(model.begin(), model.end(), [&](const Model &entry) { return entry.word == word; });
      // Some entries are patterns, whose eviction takes another way.
      bool isPattern = word % 3 == 0;
      ASSERT_EQ(find(table, isPattern ? Key{word, 5} : Key{word}) != nullptr, known != model.end());
      if (known != model.end()) {
        known->lastUse = timeOfUse(insertions, ++uses, /*inserts=*/false);
        continue;
      }
      table.insert(isPattern ? std::make_shared<Entry>(Key{word, 0}, std::vector<std::uint32_t>{1})
                             : std::make_shared<Entry>(Key{word}));
      if (model.size() == most)
        model.erase(std::min_element(model.begin(), model.end(),
                                     [](const Model &a, const Model &b) { return a.lastUse < b.lastUse; }));
      model.push_back({word, timeOfUse(++insertions, ++uses, /*inserts=*/true)});
      ASSERT_EQ(table.entries().size(), model.size());
    }
  }
}

} // namespace

TEST(Dispatch, TheMostSpecificEntryWins) {
  KeyTable<Entry> table;
  ReadScope scope;
  Entry *both = table.insert(std::make_shared<Entry>(Key{7, 0, 0}, std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(find(table, {7, 2, 3}), both);
  Entry *rows = table.insert(std::make_shared<Entry>(Key{7, 0, 3}, std::vector<std::uint32_t>{1}));
  EXPECT_EQ(find(table, {7, 2, 3}), rows);
  EXPECT_EQ(find(table, {7, 2, 4}), both);
  Entry *exact = table.insert(std::make_shared<Entry>(Key{7, 2, 3}));
  EXPECT_EQ(find(table, {7, 2, 3}), exact);
  EXPECT_EQ(find(table, {7, 1, 3}), rows);
  EXPECT_EQ(find(table, {8, 2, 3}), nullptr);
  EXPECT_EQ(find(table, {7, 2}), nullptr);
}

TEST(Dispatch, TiesGoToTheFirstMade) {
  KeyTable<Entry> table;
  ReadScope scope;
  Entry *rows = table.insert(std::make_shared<Entry>(Key{0, 3}, std::vector<std::uint32_t>{0}));
  Entry *columns = table.insert(std::make_shared<Entry>(Key{2, 0}, std::vector<std::uint32_t>{1}));
  EXPECT_EQ(find(table, {2, 3}), rows);
  EXPECT_EQ(find(table, {2, 4}), columns);
  // Neither of two that have different sizes open is more specific, however many they are.
  Entry *one = table.insert(std::make_shared<Entry>(Key{1, 0, 0, 4}, std::vector<std::uint32_t>{1, 2}));
  table.insert(std::make_shared<Entry>(Key{1, 2, 3, 0}, std::vector<std::uint32_t>{3}));
  EXPECT_EQ(find(table, {1, 2, 3, 4}), one);
}

TEST(Dispatch, APatternIsPassedOverWhereItIsNotAccepted) {
  KeyTable<Entry> table;
  ReadScope scope;
  Entry *both = table.insert(std::make_shared<Entry>(Key{0, 0}, std::vector<std::uint32_t>{0, 1}));
  Entry *rows = table.insert(std::make_shared<Entry>(Key{0, 3}, std::vector<std::uint32_t>{0}));
  Key key{2, 3};
  EXPECT_EQ(table.find(hashKey(key), key, [&](const Entry &entry) { return &entry != rows; }), both);
}

TEST(Dispatch, FindsWhatScanningFinds) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    KeyTable<Entry> table;
    ReadScope scope;
    std::vector<std::shared_ptr<Entry>> entries;
    for (int i = 0; i < 100; ++i) {
      Key key = drawKey(random);
      std::vector<std::uint32_t> unknown;
      // With many forms in one table, and with few.
      for (std::uint32_t position = 0; position < key.size(); ++position)
        if (draw(random, 4) < (seed % 2 ? 2 : position == 0 ? 4 : 0))
          unknown.push_back(position);
      for (std::uint32_t position : unknown)
        key[position] = 0;
      entries.push_back(std::make_shared<Entry>(key, unknown));
      table.insert(entries.back());
      for (int lookup = 0; lookup < 20; ++lookup) {
        Key sought = drawKey(random);
        std::uint64_t refused = draw(random, 3);
        auto accept = [&](const Entry &entry) { return entry.number % 3 != refused; };
        Entry *expected = chosenByScanning(entries, sought, accept);
        ASSERT_EQ(table.find(hashKey(sought), sought, accept), expected);
        ASSERT_EQ(table.find(hashKey(sought), sought),
                  chosenByScanning(entries, sought, [](const Entry &) { return true; }));
        if (expected) {
          auto isSame = [&](const auto &other) {
            return other->key == expected->key && other->unknown == expected->unknown && accept(*other);
          };
          ASSERT_EQ(table.findSame(expected->key, expected->unknown, accept),
                    std::find_if(entries.begin(), entries.end(), isSame)->get());
        }
      }
    }
  }
}

TEST(Dispatch, AnEntryIsTheSameOnlyWithTheSameUnknownWords) {
  KeyTable<Entry> table;
  ReadScope scope;
  auto any = [](const Entry &) { return true; };
  Entry *rows = table.insert(std::make_shared<Entry>(Key{0, 3}, std::vector<std::uint32_t>{0}));
  EXPECT_EQ(table.findSame(Key{0, 3}, {0}, any), rows);
  EXPECT_EQ(table.findSame(Key{0, 4}, {0}, any), nullptr);
  EXPECT_EQ(table.findSame(Key{0, 3}, {0, 1}, any), nullptr);
  EXPECT_EQ(table.findSame(Key{0, 3}, {}, any), nullptr);
}

TEST(KeyTable, EvictsTheLeastRecentlyUsed) {
  KeyTable<Entry, Recency::Exact> table(2);
  ReadScope scope;
  table.insert(std::make_shared<Entry>(Key{1}));
  table.insert(std::make_shared<Entry>(Key{2}));
  EXPECT_TRUE(find(table, {2}) && find(table, {1}));
  table.insert(std::make_shared<Entry>(Key{3}));
  EXPECT_FALSE(find(table, {2}));
  EXPECT_TRUE(find(table, {1}) && find(table, {3}));
  expectEvictionAsInAList<Recency::Exact>([](std::uint64_t, std::uint64_t uses, bool) { return uses; });
}

TEST(KeyTable, CoarselyEvictsWhatWasNotUsedSinceTheLastInsertion) {
  KeyTable<Entry> table(3);
  ReadScope scope;
  for (std::uint64_t i = 0; i < 3; ++i)
    table.insert(std::make_shared<Entry>(Key{i}));
  EXPECT_TRUE(find(table, {0}) && find(table, {1}));
  table.insert(std::make_shared<Entry>(Key{3}));
  EXPECT_FALSE(find(table, {2}));
  for (std::uint64_t i = 4; i < 1000; ++i) {
    table.insert(std::make_shared<Entry>(Key{i}));
    EXPECT_TRUE(find(table, {i}));
  }
  EXPECT_EQ(table.entries().size(), 3u);
  expectEvictionAsInAList<Recency::Coarse>(
      [](std::uint64_t insertions, std::uint64_t, bool inserts) { return 2 * insertions + !inserts; });
}

TEST(KeyTable, FreesWhatIsEvictedOnceNobodyCanHoldIt) {
  int freed = 0;
  KeyTable<Entry> table(1);
  {
    ReadScope scope;
    Entry *first = table.insert(std::make_shared<Entry>(Key{1}, std::vector<std::uint32_t>{}, &freed));
    table.insert(std::make_shared<Entry>(Key{2}, std::vector<std::uint32_t>{}, &freed));
    EXPECT_EQ(find(table, {1}), nullptr);
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(first->key, Key{1}) << "a reader may still look at it";
    {
      ReadScope inner;
    }
    table.insert(std::make_shared<Entry>(Key{3}, std::vector<std::uint32_t>{}, &freed));
    EXPECT_EQ(freed, 0);
  }
  table.clear();
  EXPECT_EQ(freed, 3);
  EXPECT_EQ(table.numRetired(), 0u);
}

TEST(KeyCache, MakesAValueOnce) {
  KeyCache<int> cache(4);
  ReadScope scope;
  Key key{1, 2};
  EXPECT_EQ(cache.find(key), nullptr);
  const int &made = cache.findOrMake(key, [] { return 7; });
  EXPECT_EQ(made, 7);
  EXPECT_EQ(&cache.findOrMake(key, [] { return 8; }), &made);
  EXPECT_EQ(cache.find(key), &made);
}

TEST(KeyCache, TheFirstThatHasMadeAValueIsKept) {
  KeyCache<int> cache(4);
  ReadScope scope;
  Key key{1, 2};
  const int *first = nullptr;
  const int &second = cache.findOrMake(key, [&] {
    first = &cache.findOrMake(Key{1, 2}, [] { return 7; });
    key = {3}; // the words of a lookup may be needed for another one
    return 8;
  });
  EXPECT_EQ(&second, first);
  EXPECT_EQ(second, 7);
  EXPECT_EQ(cache.find(key), nullptr);
}

TEST(KeyCache, KeepsNothingOfAFailure) {
  KeyCache<int> cache(4);
  ReadScope scope;
  Key key{1};
  EXPECT_THROW(cache.findOrMake(key, []() -> int { throw 1; }), int);
  EXPECT_EQ(cache.findOrMake(key, [] { return 7; }), 7);
}

TEST(KeyCache, EvictsBeyondItsCap) {
  KeyCache<int> cache(2);
  ReadScope scope;
  for (std::uint64_t word = 0; word < 3; ++word)
    cache.findOrMake(Key{word}, [] { return 0; });
  EXPECT_EQ(cache.find(Key{0}), nullptr);
  EXPECT_NE(cache.find(Key{2}), nullptr);
}
