// A program outside of the project: eager, compiled, differentiated.
#include <calque/calque.h>

int main() {
  using namespace calque;
  Variable w(scalar(3.0f));
  auto f = function([&](const Tensor &x) {
    GradientTape tape;
    return *tape.gradient(x * w * w, w);
  });
  Tensor x = scalar(2.0f);
  return f(x).item<float>() == 12 && f.eager(x).item<float>() == 12 ? 0 : 1;
}
