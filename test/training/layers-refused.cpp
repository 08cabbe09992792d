// Must not compile: handles of what is no layer, and modules that move.
#include <calque/training.h>

using namespace calque;

#define CASE_other 1
#define CASE_arguments 2
#define CASE_moved 3
#define CASE_twoReturns 4
#define CASE_inVector 5
#define CASE_OF(name) CASE_##name
#define CASE(name) CASE_OF(name)

struct Plain : layers::LayerBody {
  explicit Plain(int) : LayerBody("plain", false) {}
};

struct Block : Module {
  Variable scale = variable("scale", ones({2}));
};
#if CASE(ARGUMENT) == CASE_twoReturns
Block refused(bool first) {
  Block one, other;
  if (first)
    return one;
  return other;
}
#endif

void refused() {
#if CASE(ARGUMENT) == CASE_other
  layers::make_layer<std::string>("plain");
#elif CASE(ARGUMENT) == CASE_arguments
  layers::make_layer<Plain>("plain", 1);
#elif CASE(ARGUMENT) == CASE_moved
  Block block;
  const Block other = std::move(block);
#elif CASE(ARGUMENT) == CASE_inVector
  std::vector<Block> blocks;
  blocks.emplace_back();
#endif
}
