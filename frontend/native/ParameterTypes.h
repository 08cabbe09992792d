// Finds the types of the parameters of a graph's states.
#ifndef CALQUE_FRONTEND_NATIVE_PARAMETERTYPES_H
#define CALQUE_FRONTEND_NATIVE_PARAMETERTYPES_H

#include "frontend/native/Operands.h"
#include "frontend/native/Vocabulary.h"

namespace calque::detail::native {

class ParameterTypes {
public:
  ParameterTypes(const Graph &graph, const std::vector<std::vector<Sample>> &samples, const Vocabulary &vocabulary)
      : graph(graph), samples(samples), vocabulary(vocabulary) {}

  // NotCaptured if nothing shows the type.
  const schema::TensorType &of(int state, std::size_t parameter) const;

private:
  const schema::TensorType &ofArgument(int state, std::size_t parameter) const;

  const Graph &graph;
  const std::vector<std::vector<Sample>> &samples; // of each state's parameters
  const Vocabulary &vocabulary;
};

} // namespace calque::detail::native
#endif
