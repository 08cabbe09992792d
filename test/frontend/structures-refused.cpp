// Must not compile, each for a reason of its own: what functions can't take apart.
#include "calque/function.h"

class Closed {
public:
  explicit Closed(calque::Tensor x) : x(x) {}

private:
  calque::Tensor x;
};
struct Wide {
  int a, b, c, d, e, f, g, h, i;
};

auto function = calque::function([](const ARGUMENT &) { return calque::Tensor(); });
void call(const ARGUMENT &x) { function(x); }
