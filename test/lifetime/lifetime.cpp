// Calque where a program or a thread ends, or has little room: each case is a process of its own, named by the
// argument. It prints what it has done, and "end" where main returns.
#include <calque/training.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <pthread.h>
#include <thread>

using namespace calque;

namespace {

void check(bool holds, const std::string &what) {
  if (holds)
    return;
  std::cout << "fails: " << what << std::endl;
  std::_Exit(1);
}

void useEagerly() {
  Tensor y = ones({3}) * 2;
  check(y.to_vector<float>() == std::vector<float>{2, 2, 2}, "an eager operation");
  check(slice(y, {1}, {2}).item<float>() == 2, "a movement");
}

// Of compiled code and tapes. Where the process ends, what was not compiled before may be refused.
void useAll(const char *when) {
  useEagerly();
  auto f = function([](const Tensor &x) { return tanh(x) + 1; });
  for (int i = 0; i < 2; ++i)
    try {
      check(f(zeros({5})).to_vector<float>()[0] == 1, "a function");
      Tensor y = ones({3});
      GradientTape tape;
      tape.watch(y);
      check(tape.gradient(sum(y * y), y)->to_vector<float>()[2] == 2, "a tape");
      GradientOverride identity("exp", [](const auto &, const Tensor &, const Tensor &g) { return std::vector{g}; });
    } catch (const CompileError &error) {
      check(std::strstr(error.what(), "the process is ending"), error.what());
      std::cout << "refused " << std::flush;
    }
  std::cout << when << std::endl;
}

struct AtEnd {
  explicit AtEnd(const char *when) : when(when) {}
  ~AtEnd() { useAll(when); }
  const char *when;
};

// Calls a function on a thread with a stack of so many bytes.
void onSmallStack(std::size_t bytes, std::function<void()> call) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  check(pthread_attr_setstacksize(&attributes, bytes) == 0, "the size of a stack");
  pthread_t thread;
  auto run = [](void *context) -> void * {
    (*static_cast<std::function<void()> *>(context))();
    return nullptr;
  };
  check(pthread_create(&thread, &attributes, run, &call) == 0, "a thread");
  pthread_join(thread, nullptr);
}

//===-- Cases -----------------------------------------------------------------------------------===//

void staticDestructor() {
  static AtEnd later("in a static destructor");
  useAll("in main");
}

std::unique_ptr<AtEnd> global;
void globalDestructor() { // made before the compiler is loaded, so that it dies after it
  global = std::make_unique<AtEnd>("in a global's destructor");
  useAll("in main");
}

void firstUseInDestructor() { global = std::make_unique<AtEnd>("in a global's destructor"); }

void handlerOfAtexit() {
  std::atexit([] { useAll("in a function of atexit"); });
  useAll("in main");
}

void threadLocalDestructor() {
  auto use = [](const char *when) {
    // Made before Calque's own objects of this thread.
    thread_local AtEnd later(when);
    useAll("on a thread");
    (void)later;
  };
  std::thread(use, "in its thread_local destructor").join();
  use("in main's thread_local destructor");
}

void keyDestructor() {
  static pthread_key_t key;
  pthread_key_create(&key, [](void *) { useAll("in a key's destructor"); });
  std::thread([] {
    useAll("on a thread");
    pthread_setspecific(key, &key);
  }).join();
}

std::unique_ptr<GradientTape> globalTape;
std::unique_ptr<GradientOverride> globalOverride;
std::unique_ptr<Function<Tensor(const Tensor &)>> globalFunction;
void globalObjects() {
  Tensor x = ones({2});
  globalTape = std::make_unique<GradientTape>();
  globalTape->watch(x);
  Tensor y = x * x;
  globalOverride = std::make_unique<GradientOverride>(
      "exp", [](const auto &, const Tensor &, const Tensor &g) { return std::vector{g}; });
  globalFunction = std::make_unique<Function<Tensor(const Tensor &)>>([](const Tensor &t) { return t + 1; });
  (*globalFunction)(x);
}

void tapeOutlivesItsThread() {
  std::unique_ptr<GradientTape> tape;
  Tensor x = ones({2}), y;
  std::thread([&] {
    tape = std::make_unique<GradientTape>();
    tape->watch(x);
    y = x * 3;
  }).join();
  tape.reset();
  std::thread([&] {
    auto own = std::make_unique<GradientTape>();
    own->watch(x);
    check(own->gradient(x * 3, x)->to_vector<float>()[0] == 3, "another thread's tape");
  }).join();
}

void exitWhileCompiling() {
  static std::atomic<int> compiled{0};
  std::thread([] {
    for (int i = 1;; ++i)
      try {
        Tensor x = ones({i});
        function([](const Tensor &t) { return tanh(t) * 2 + 1; })(x);
        ++compiled;
      } catch (const CompileError &) {
        return;
      }
  }).detach();
  // LLVM makes static objects of its own in its first programs.
  while (compiled < 4)
    std::this_thread::yield();
}

void smallStack() {
  onSmallStack(std::size_t(PTHREAD_STACK_MIN), [] {
    Tensor y = ones({3}) * 2;
    check(y.to_vector<float>()[0] == 2, "an eager operation");
    std::cout << "eager" << std::endl;
  });
}

void quarterOfAMegabyte() {
  auto f = function([](const Tensor &a, const Tensor &b) { return sum(softmax(matmul(a, b), -1)); });
  auto product = [&] { check(std::abs(f(ones({300, 200}), ones({200, 100})).item<float>() - 300) < 0.1, "a product"); };
  onSmallStack(256 << 10, [&] {
    useAll("on a small stack");
    product();
  });
  // Its code is there.
  Variable w(ones({3}));
  auto step = function([&](const Tensor &x, int n) {
    w.assign_add(x * n);
    return std::pair(sum(w), x[0] > 0);
  });
  step(ones({3}), 2);
  onSmallStack(64 << 10, [&] { check(step(ones({3}), 2).first.item<float>() == 15, "a steady call"); });
}

// The lambda waits for a thread that calls the same function.
void lambdaJoinsACaller() {
  auto holder = std::make_shared<std::optional<Function<Tensor(const Tensor &)>>>();
  auto f = [holder](const Tensor &x) {
    std::thread([&] {
      try {
        (**holder)(ones({2}));
        check(false, "an error");
      } catch (const StateError &error) {
        std::cout << error.what() << std::endl;
      }
    }).join();
    return x + 1;
  };
  holder->emplace(Function<Tensor(const Tensor &)>(f));
  check((**holder)(ones({2})).to_vector<float>()[1] == 2, "the call itself");
  std::thread([&] { check((**holder)(ones({2})).to_vector<float>()[1] == 2, "a later call"); }).join();
  holder->reset(); // the lambda holds its own function
}

// Two functions, each of which calls the other with less, first called on two threads at once.
void lambdasOfTwoFunctions() {
  struct Pair {
    std::optional<Function<Tensor(const Tensor &, int)>> f, g;
    std::atomic<int> inside{0};
  };
  auto pair = std::make_shared<Pair>();
  auto meet = [pair](int n) {
    if (n != 4)
      return;
    ++pair->inside; // until both are in their lambdas
    while (pair->inside < 2)
      std::this_thread::yield();
  };
  auto make = [&](auto other) {
    return [pair, meet, other](const Tensor &x, int n) {
      meet(n);
      return n == 0 ? x : (*((*pair).*other))(x, n - 1) + 1;
    };
  };
  pair->f.emplace(Function<Tensor(const Tensor &, int)>(make(&Pair::g)));
  pair->g.emplace(Function<Tensor(const Tensor &, int)>(make(&Pair::f)));
  std::future<Tensor> one = std::async(std::launch::async, [&] { return (*pair->f)(ones({2}), 4); });
  Tensor two = (*pair->g)(ones({2}), 4);
  check(one.get().to_vector<float>()[0] == 5 && two.to_vector<float>()[1] == 5, "the results");
  pair->f.reset(); // the lambdas hold the pair
  pair->g.reset();
}

void iteratorAtItsEnd() {
  data::Dataset set = data::from_tensor_slices(ones({1, 2}), ones({1}));
  auto at = set.begin();
  ++at;
  check(at == set.end(), "the end");
  int errors = 0;
  auto refused = [&](auto use, const char *message) {
    try {
      use();
    } catch (const StateError &error) {
      errors += std::strstr(error.what(), message) != nullptr;
    }
  };
  refused([&] { ++at; }, "the iterator of a data set is at its end and can't go further");
  refused([&] { *at; }, "the iterator of a data set is at its end, where there is no element");
  refused([&] { at->first.shape(); }, "where there is no element");
  check(errors == 3, "errors");
}

// Each of these powers raises no exception, but many would with the exponent of another one.
void trapInPowers(DType dtype) {
  double largest = dtype == DType::Float32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  const std::vector<std::pair<double, double>> powers = {
      {0, 2},        {-1, -1},       {largest, 0.5}, {0, 0.5},  {-2, 3}, {largest, -1}, {0, 5},  {-1, -2},    {0, 3},
      {largest, -2}, {largest, 0.7}, {0, 1},         {-1.5, 4}, {0, 4},  {largest, 1},  {-2, 1}, {-0.5, -2.0}};
  auto binary = [](const Tensor &x, const Tensor &y) { return pow(x, y); };
  auto run = [&](const Tensor &x, const Tensor &y) {
    pow(x, y);
    function(binary)(x, y);
  };
  for (std::size_t size : {powers.size(), std::size_t{16}, std::size_t{2}}) {
    std::vector<double> bases, exponents;
    for (std::size_t i = 0; i < size; ++i) {
      bases.push_back(powers[i].first);
      exponents.push_back(powers[i].second);
    }
    run(cast(tensor<double>(bases), dtype), cast(tensor<double>(exponents), dtype));
  }
  for (auto [base, exponent] : powers) {
    Tensor x = full({13}, base, dtype);
    run(x, full({13}, exponent, dtype));
    run(x, full({}, exponent, dtype));
    pow(x, exponent);
    function([exponent = exponent](const Tensor &x) { return pow(x, exponent); })(x);
  }
}

// Operands that raise no exception of IEEE 754 trap none, in vectors that are not full, while LLVM compiles, and in
// gradients.
void trappedExceptions() {
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  using Unary = Tensor (*)(const Tensor &);
  const Unary functions[] = {
      [](const Tensor &x) { return expm1(x); },      [](const Tensor &x) { return rsqrt(x); },
      [](const Tensor &x) { return exp(x); },        [](const Tensor &x) { return log(x); },
      [](const Tensor &x) { return log1p(x); },      [](const Tensor &x) { return tanh(x); },
      [](const Tensor &x) { return erf(x); },        [](const Tensor &x) { return sin(x); },
      [](const Tensor &x) { return cos(x); },        [](const Tensor &x) { return tan(x); },
      [](const Tensor &x) { return sqrt(x); },       [](const Tensor &x) { return sigmoid(x); },
      [](const Tensor &x) { return softmax(x, 0); }, [](const Tensor &x) { return logsumexp(x); },
      [](const Tensor &x) { return max(x); },        [](const Tensor &x) { return mean(x); },
      [](const Tensor &x) { return x / x; },         [](const Tensor &x) { return pow(x, x); },
      [](const Tensor &x) { return sum(floor(x)); }, [](const Tensor &x) { return square(x); },
  };
  for (DType dtype : {DType::Float32, DType::Float64}) {
    // Known fault: vectors of 32 bytes raise overflow on the way to powers of float64 (docs/accuracy.md).
    if (dtype == DType::Float32 || __builtin_cpu_supports("avx512f"))
      trapInPowers(dtype);
    for (std::int64_t size : {1, 13}) {
      Tensor x = full({size}, 2.5, dtype);
      for (Unary f : functions) {
        function(f)(x);
        GradientTape tape;
        tape.watch(x);
        tape.gradient(f(x), x);
      }
    }
  }
}

const std::map<std::string, void (*)()> kCases = {
    {"static-destructor", staticDestructor},
    {"global-destructor", globalDestructor},
    {"first-use-in-destructor", firstUseInDestructor},
    {"atexit", handlerOfAtexit},
    {"thread-local-destructor", threadLocalDestructor},
    {"key-destructor", keyDestructor},
    {"global-objects", globalObjects},
    {"tape-outlives-its-thread", tapeOutlivesItsThread},
    {"exit-while-compiling", exitWhileCompiling},
    {"small-stack", smallStack},
    {"quarter-of-a-megabyte", quarterOfAMegabyte},
    {"lambda-joins-a-caller", lambdaJoinsACaller},
    {"lambdas-of-two-functions", lambdasOfTwoFunctions},
    {"iterator-at-its-end", iteratorAtItsEnd},
    {"trapped-exceptions", trappedExceptions},
};

} // namespace

int main(int argc, char **argv) {
  auto found = kCases.find(argc == 2 ? argv[1] : "");
  if (found == kCases.end())
    return 2;
  found->second();
  std::cout << "end" << std::endl;
}
