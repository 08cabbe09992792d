// Must not compile, each for a reason of its own: what functions can't take apart.
#include "calque/calque.h"

#include <list>
#include <map>
#include <variant>

class Closed {
public:
  explicit Closed(calque::Tensor x) : x(x) {}

private:
  calque::Tensor x;
};
struct Wide {
  int a, b, c, d, e, f, g, h, i;
};
struct Arrays {
  calque::Tensor x[2];
};
struct ArrayInside {
  int n;
  float numbers[3];
  calque::Tensor x;
};
struct LongArray {
  calque::Tensor x;
  float numbers[20];
};
struct Base {
  calque::Tensor x;
};
struct Derived : Base {
  calque::Tensor y;
};
struct Tag {};
struct Tagged : Tag {
  calque::Tensor y;
};
using Text = const char *;
using Span = std::span<const calque::Tensor>;
using List = std::list<calque::Tensor>;
using MultiMap = std::multimap<int, calque::Tensor>;
using Pointer = calque::Tensor *;
using UniquePointer = std::unique_ptr<calque::Tensor>;
using Variant = std::variant<calque::Tensor, int>;

auto function = calque::function([](const ARGUMENT &) { return calque::Tensor(); });
void call(const ARGUMENT &x) { function(x); }
