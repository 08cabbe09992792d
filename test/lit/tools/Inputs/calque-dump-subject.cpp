// A program for the tests of calque-dump, which does what its argument says.
#include <calque/calque.h>

#include <cstdlib>
#include <iostream>
#include <string>

using namespace calque;

int main(int argc, char **argv) {
  std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "eager") {
      Tensor x = ones({3});
      std::cout << x + x << '\n';
    } else if (what == "named") {
      function([](const Tensor &x) { return exp(x); }, {.name = "given"})(ones({2}));
      function([](const Tensor &x) { return log(x); }, {.name = "other"})(ones({2}));
    } else if (what == "parts") {
      // A vector's loop is a part of its own, which a hundred iterations run.
      auto f = function(
          [](const Tensor &x) {
            return for_range(0, 100, x, [x](const Tensor &, const Tensor &y) { return tanh(y) + x; });
          },
          {.name = "parts"});
      f(ones({300}));
    } else if (what == "exit") {
      return 7;
    } else if (what == "abort") {
      std::abort();
    }
  } catch (const Error &error) {
    std::cerr << error.category() << ": " << error.what() << '\n';
    return 1;
  }
}
