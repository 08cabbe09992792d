// Finds, for unknown sizes of a graph's values, other values that have the same sizes.
//
//   UnknownSizes sizes(graph, vocabulary);
//   sizes.shapeOf(state, parameter, {}); // that of x, in a loop of which each iteration multiplies x by a number
#ifndef CALQUE_FRONTEND_NATIVE_UNKNOWNSIZES_H
#define CALQUE_FRONTEND_NATIVE_UNKNOWNSIZES_H

#include "frontend/native/Graph.h"
#include "frontend/native/Vocabulary.h"

#include <map>
#include <optional>

namespace calque::detail::native {

class UnknownSizes {
public:
  UnknownSizes(const Graph &graph, const Vocabulary &vocabulary) : graph(graph), vocabulary(vocabulary) {}

  // The parameters of a state, as tensors.
  using Known = std::pair<int, std::vector<Tensor>>;
  // The shape of a parameter of a state on some way to the state, as sizes of the known tensors and of tensors from
  // outside. std::nullopt if a size is not a size of any of these.
  std::optional<Shape> shapeOf(int state, std::size_t parameter, std::span<const Known> known);

private:
  using Types = std::vector<schema::TensorType>;
  void findAll();
  schema::TensorType numbered(schema::TensorType type);
  const schema::TensorType &typeOf(const Origin &source, const Types &parameters, const Types &locals);
  Types resultsOf(Kind step, Types operands) const;
  void infer(const std::vector<GraphStep> &steps, const Types &parameters, Types &locals);

  const Graph &graph;
  const Vocabulary &vocabulary;
  // Types in which each unknown size has a number of its own.
  std::map<int, Types> ofStates;
  std::map<Value, schema::TensorType> ofOutside;
  std::map<std::int64_t, std::pair<Value, std::size_t>> sources; // by number: a tensor from outside and a dimension
  static constexpr std::int64_t kFirst = 1'000'003;              // hardly a size that a program writes
  std::int64_t next = kFirst;
};

} // namespace calque::detail::native
#endif
