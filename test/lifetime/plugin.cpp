// A plugin that uses Calque, for a program that does not: what it loads stays hidden from the program.
#include <calque/calque.h>

using namespace calque;

extern "C" __attribute__((visibility("default"))) int use_calque() {
  auto f = function([](const Tensor &x) {
    assert_true(greater(x, -1e30f), "finite");          // calls the runtime
    return sum(exp(pow(cast(x, DType::Float64), 1.5))); // calls the C library
  });
  return f(zeros({100000})).item<double>() == 100000 ? 0 : 1;
}
