#include "sparse/Dependence.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace calque::sparse::detail {

namespace {
// Of all sets that were made: 1.2 GB of indices.
constexpr std::size_t kMostIndices = 300'000'000;

std::uint64_t hashOf(const std::vector<std::int32_t> &indices) {
  std::uint64_t hash = 0xcbf29ce484222325 + indices.size();
  for (std::int32_t index : indices)
    hash = (hash ^ static_cast<std::uint32_t>(index)) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}
} // namespace

IndexSets::IndexSets() { sets_.emplace_back(); }

IndexSets::Id IndexSets::keep(std::vector<std::int32_t> indices) {
  if (indices.empty())
    return 0;
  const std::uint64_t hash = hashOf(indices);
  for (auto [at, end] = byHash_.equal_range(hash); at != end; ++at)
    if (sets_[at->second] == indices)
      return at->second;
  total_ += indices.size();
  if (total_ > kMostIndices)
    throw TooLarge();
  const auto id = static_cast<Id>(sets_.size());
  sets_.push_back(std::move(indices));
  byHash_.emplace(hash, id);
  return id;
}

IndexSets::Id IndexSets::single(std::int32_t index) { return keep({index}); }

IndexSets::Id IndexSets::unite(Id a, Id b) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  if (a > b)
    std::swap(a, b);
  const std::uint64_t both = (static_cast<std::uint64_t>(a) << 32) | b;
  if (const auto found = united_.find(both); found != united_.end())
    return found->second;
  std::vector<std::int32_t> indices;
  indices.reserve(sets_[a].size() + sets_[b].size());
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(indices));
  const Id made = keep(std::move(indices));
  united_.emplace(both, made);
  return made;
}

IndexSets::Id IndexSets::unite(const std::vector<Id> &given) {
  std::vector<Id> sets = given;
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (sets.size() <= 2)
    return sets.empty() ? 0 : unite(sets.front(), sets.back());
  std::vector<std::int32_t> indices;
  for (Id id : sets)
    indices.insert(indices.end(), sets_[id].begin(), sets_[id].end());
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return keep(std::move(indices));
}

} // namespace calque::sparse::detail
