// Must not compile: handles of what is no layer.
#include <calque/training.h>

using namespace calque;

#define CASE_other 1
#define CASE_arguments 2
#define CASE_OF(name) CASE_##name
#define CASE(name) CASE_OF(name)

struct Plain : layers::LayerBody {
  explicit Plain(int) : LayerBody("plain", false) {}
};

void refused() {
#if CASE(ARGUMENT) == CASE_other
  layers::make_layer<std::string>("plain");
#elif CASE(ARGUMENT) == CASE_arguments
  layers::make_layer<Plain>("plain", 1);
#endif
}
