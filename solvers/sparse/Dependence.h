// Which elements of a program's results depend on which elements of one of its parameters.
#ifndef CALQUE_SOLVERS_SPARSE_DEPENDENCE_H
#define CALQUE_SOLVERS_SPARSE_DEPENDENCE_H

#include "calque/program.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace calque::sparse::detail {

// Sets of indices. Equal sets have one number; that of no indices is 0.
class IndexSets {
public:
  using Id = std::uint32_t;
  IndexSets();
  Id single(std::int32_t index);
  Id unite(Id a, Id b);
  Id unite(const std::vector<Id> &sets);
  const std::vector<std::int32_t> &of(Id id) const { return sets_[id]; }
  // Thrown where the sets have more indices than fit into memory.
  struct TooLarge {};

private:
  Id keep(std::vector<std::int32_t> indices);
  std::vector<std::vector<std::int32_t>> sets_;
  std::unordered_multimap<std::uint64_t, Id> byHash_;
  std::unordered_map<std::uint64_t, Id> united_; // of two
  std::size_t total_ = 0;
};

// What is known of a value of the program.
struct Dependence {
  std::vector<std::int64_t> sizes; // empty for one whose sizes are not known, too
  std::vector<IndexSets::Id> sets; // of each element, or one for all
  std::vector<double> known;       // the elements, or one for all; empty: not known
  bool isWhole = false;            // the sizes are not known: one set for all
  bool isConstant() const { return sets.size() == 1 && sets[0] == 0; }
  IndexSets::Id at(std::int64_t i) const { return sets.size() == 1 ? sets[0] : sets[static_cast<std::size_t>(i)]; }
  double knownAt(std::int64_t i) const { return known.size() == 1 ? known[0] : known[static_cast<std::size_t>(i)]; }
  std::int64_t count() const;
};

// The rule: an element of a result depends on no index that no element depends on of which it is computed. Operations
// whose elements are known one by one pass on the sets of these elements; of any other one each element of each result
// gets the sets of all elements of all operands. So nothing is missed, whatever an operation does.
class Dependences {
public:
  std::vector<Dependence> run(const RecordedProgram &program, const std::vector<Dependence> &parameters);
  IndexSets &sets() { return sets_; }

private:
  using Operands = std::vector<const Dependence *>;
  std::vector<Dependence> apply(const ProgramOperation &op, const Operands &operands, const RecordedProgram &program);
  bool moved(const ProgramOperation &op, const Operands &operands, std::vector<Dependence> &results);
  bool selected(const ProgramOperation &op, const Operands &operands, Dependence &result);
  bool added(const ProgramOperation &op, const Operands &operands, Dependence &result);
  void elementwise(const ProgramOperation &op, const Operands &operands, Dependence &result, DType dtype);
  std::vector<Dependence> loop(const ProgramOperation &op, const Operands &operands);
  std::vector<Dependence> branches(const ProgramOperation &op, const Operands &operands);
  IndexSets::Id all(const Operands &operands);
  Dependence united(const Dependence &a, const Dependence &b);

  IndexSets sets_;
  std::size_t work_ = 0; // elements that have been looked at
};

} // namespace calque::sparse::detail
#endif
