#include "frontend/KeyCache.h"

#include <gtest/gtest.h>

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

TEST(KeyTable, EvictsTheLeastRecentlyUsed) {
  KeyTable<Entry, Recency::Exact> table(2);
  ReadScope scope;
  table.insert(std::make_shared<Entry>(Key{1}));
  table.insert(std::make_shared<Entry>(Key{2}));
  EXPECT_TRUE(find(table, {2}) && find(table, {1}));
  table.insert(std::make_shared<Entry>(Key{3}));
  EXPECT_FALSE(find(table, {2}));
  EXPECT_TRUE(find(table, {1}) && find(table, {3}));
  table.setLimit(1);
  EXPECT_FALSE(find(table, {1}));
  EXPECT_TRUE(find(table, {3}));
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
