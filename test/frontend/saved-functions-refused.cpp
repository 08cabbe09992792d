// Signatures of saved functions that do not compile: ARGUMENT names one.
#include "calque/calque.h"
#include "calque/saved_functions.h"

using namespace calque;

class Closed {
  Tensor x;
};
template <> struct calque::Structure<Closed> {
  template <typename V> static void visit(const Closed &, V &) {}
  template <typename M> static Closed map(const Closed &x, M &) { return x; }
};
struct WithoutDefault {
  Tensor x;
  struct Part {
    explicit Part(const Tensor &) {}
    Part(const Part &) = default;
  } part;
};
template <> struct calque::Structure<WithoutDefault::Part> {
  template <typename V> static void visit(const WithoutDefault::Part &, V &) {}
  template <typename M> static WithoutDefault::Part map(const WithoutDefault::Part &x, M &) { return x; }
};

template <typename File> void closed(const File &file) { file.template function<Closed(Tensor)>("f"); }
template <typename File> void no_default(const File &file) { file.template function<WithoutDefault(Tensor)>("f"); }
template <typename File> void no_signature(const File &file) { file.template function<Tensor>("f"); }

void call(const SavedFunctions &file) { ARGUMENT(file); }
