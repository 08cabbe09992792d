// Memory runs out at one place after another: each allocation of a call fails once. A call ends in the right result or
// in an error, a failed one has changed nothing, and the same call afterwards succeeds.
//
// What is disabled can't be clean: the destructor of nlohmann::json allocates, and ends the process where it can't.
//
// All places of the first hundreds are tried, and of those behind some. CALQUE_ALL_ALLOCATIONS=1 tries all of them.
// A steady call has no such place (SteadyTest.cpp). The compiler's library is loaded before any allocation fails: what
// LLVM makes when it is loaded can't fail without an end of the process.
#include "Testing.h"
#include "calque/saved_functions.h"
#include "calque/training.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

//===-- Allocations that fail -------------------------------------------------------------------===//

namespace {
constinit std::atomic<std::int64_t> untilFailure{-1}; // allocations up to the one that fails; below 0: none does
constinit std::atomic<bool> hasFailed{false};

bool fails() {
  if (untilFailure.load(std::memory_order_relaxed) < 0 || untilFailure.fetch_sub(1) != 0)
    return false;
  hasFailed = true;
  return true;
}
void *allocate(std::size_t bytes) { return fails() ? nullptr : std::malloc(bytes ? bytes : 1); }
void *allocate(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return fails() ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
// As the standard's, whose handler must not return where it has freed nothing.
void *orThrow(void *memory) {
  if (memory)
    return memory;
  if (std::new_handler handler = std::get_new_handler())
    handler();
  throw std::bad_alloc();
}
} // namespace

// The array forms are not here: the standard's call these.
void *operator new(std::size_t bytes) { return orThrow(allocate(bytes)); }
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept { return allocate(bytes); }
void *operator new(std::size_t bytes, std::align_val_t alignment) { return orThrow(allocate(bytes, alignment)); }
void *operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return allocate(bytes, alignment);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t, const std::nothrow_t &) noexcept { std::free(memory); }

namespace {

enum class Outcome { Success, Failure, NotReached };

// Calls a function whose allocation `number` fails. An error that is not about memory goes on to the caller.
Outcome callWithFailure(std::int64_t number, const std::function<void()> &call) {
  hasFailed = false;
  untilFailure = number;
  bool isThrown = false;
  try {
    call();
  } catch (const std::bad_alloc &) {
    isThrown = true;
  } catch (const MemoryError &) {
    isThrown = true;
  } catch (const CompileError &error) { // for the code of a kernel
    isThrown = std::string(error.what()).starts_with("there is no memory");
    untilFailure = -1;
    if (!isThrown)
      throw;
  } catch (...) {
    untilFailure = -1;
    throw;
  }
  untilFailure = -1;
  return isThrown ? Outcome::Failure : hasFailed ? Outcome::Success : Outcome::NotReached;
}

bool triesAll() { return std::getenv("CALQUE_ALL_ALLOCATIONS") != nullptr; }
// All of the first `each` places are tried.
std::int64_t after(std::int64_t number, std::int64_t each) {
  return number + (triesAll() || number < each ? 1 : number / (each / 10));
}

// Tries the places of a call one after another. `call` checks its own result; `check` is told whether it has ended.
void failEach(
    const std::function<void()> &call, const std::function<void(bool)> &check = [](bool) {}, std::int64_t each = 300) {
  for (int i = 0; i < 3; ++i) { // with what the first calls make for later ones
    call();
    check(true);
  }
  std::int64_t failures = 0;
  for (std::int64_t number = 0;; number = after(number, each)) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    Outcome outcome = Outcome::NotReached;
    try {
      outcome = callWithFailure(number, call);
      check(outcome != Outcome::Failure);
      call();
      check(true);
    } catch (const std::exception &error) {
      FAIL() << error.what();
    }
    if (::testing::Test::HasFailure() || outcome == Outcome::NotReached)
      break;
    failures += outcome == Outcome::Failure;
  }
  EXPECT_GT(failures, 0);
}

void requireValues(const Tensor &found, const std::vector<float> &expected) {
  const std::vector<float> values = found.to_vector<float>();
  if (values != expected)
    throw std::runtime_error("a call has another result");
}

const Tensor x = tensor({1.0f, 2.0f, 3.0f});

} // namespace

//===-- Calls -----------------------------------------------------------------------------------===//

TEST(OutOfMemory, InEagerCalls) {
  failEach([] { requireValues(exp(log(x)) * 0.f + slice(concat({x, x}, 0), {0}, {3}) * 0.f + x, {1, 2, 3}); });
}

TEST(OutOfMemory, InEagerGradients) {
  Variable w(tensor({2.0f, 2.0f, 2.0f}));
  failEach([&] {
    GradientTape outer({.persistent = true});
    GradientTape tape;
    tape.watch(x);
    outer.watch(x);
    const Tensor y = sum(x * x * w);
    const std::vector<std::optional<Tensor>> first = tape.gradient(y, {x, w});
    requireValues(*first[0], {4, 8, 12});
    requireValues(*first[1], {1, 4, 9});
    requireValues(*outer.gradient(*first[0], x), {4, 4, 4});
    requireValues(*outer.gradient(*first[0], x), {4, 4, 4});
  });
}

TEST(OutOfMemory, InAssignments) {
  Variable v(zeros({3}));
  std::vector<float> expected(3);
  failEach([&] { v.assign_add(concat({x}, 0)); },
           [&](bool isDone) {
             for (std::size_t i = 0; i < 3; ++i)
               expected[i] += isDone ? static_cast<float>(i + 1) : 0;
             requireValues(v.value(), expected);
           });
}

namespace {
// A step of training, which changes the variables.
struct Step {
  Variable w{tensor({1.0f, 1.0f, 1.0f})}, steps{scalar(0.0f)};
  Tensor operator()(const Tensor &given) {
    GradientTape tape;
    const Tensor loss = sum(given * w);
    w.assign_add(*tape.gradient(loss, w));
    steps.assign_add(1.f);
    return loss;
  }
  void check(bool isDone) {
    done += isDone;
    std::vector<float> expected;
    for (int i = 1; i <= 3; ++i)
      expected.push_back(1 + static_cast<float>(i * done));
    requireValues(w.value(), expected);
    requireValues(steps.value(), {static_cast<float>(done)});
  }
  int done = 0;
};
} // namespace

TEST(OutOfMemory, InFirstCalls) {
  Step step;
  failEach([&] { function([&](const Tensor &given) { return step(given); })(x); },
           [&](bool isDone) { step.check(isDone); });
}

// What a function has of other arguments stays.
TEST(OutOfMemory, InFirstCallsOfOtherArguments) {
  Step step;
  auto f = function([&](const Tensor &given, const std::string &) { return step(given); });
  int number = 0;
  failEach([&] { f(x, std::to_string(number++)); },
           [&](bool isDone) {
             step.check(isDone);
             f(x, "0");
             step.check(true);
           });
}

TEST(OutOfMemory, InBranchesAndLoops) {
  auto call = [] {
    auto f = function([](const Tensor &given) {
      Tensor y = given;
      if (sum(given) > 5.f)
        y = y * 2.f;
      while (sum(y) < 100.f)
        y = y + y;
      return cond(sum(y) > 0.f, [&] { return y; }, [&] { return -y; });
    });
    requireValues(f(x), {32, 64, 96});
    requireValues(f(x * 0.f + 40.f), {80, 80, 80});
    requireValues(f(x * 0.125f), {32, 64, 96});
  };
  failEach(call, [](bool) {}, 50);
}

TEST(OutOfMemory, InModels) {
  failEach([] {
    Sequential net({Input({3}), layers::Dense(2, {.kernel_initializer = "ones", .name = "first"}),
                    layers::Dense(1, {.kernel_initializer = "ones", .name = "second"})});
    requireValues(net(reshape(x, {1, 3})), {12});
    if (net.named_variables().size() != 4)
      throw std::runtime_error("a model has other variables");
  });
}

TEST(OutOfMemory, DISABLED_InSavedFunctions) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("calque-memory-" + std::to_string(::getpid()))).string();
  Step step;
  auto f = function([&](const Tensor &given) { return step(given); });
  f(x);
  failEach([&] {
    save_functions(path, {{"step", f}});
    const SavedFunctions loaded = load_functions(path);
    if (loaded.variables().size() != 2)
      throw std::runtime_error("a file has other variables");
    loaded.function<Tensor(const Tensor &)>("step")(x);
  });
  std::filesystem::remove(path);
}

//===-- Compilation -----------------------------------------------------------------------------===//

namespace {

// In a process of its own, as the compiler can't be used after memory has run out in it. `number` makes another program
// of each, so that none finds the code of another. Returns whether the allocation was reached.
bool compileWithFailure(std::int64_t number) {
  Step step;
  auto known = function([&](const Tensor &given) { return step(given); });
  known(x);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const char *fault = nullptr;
    int code = 0;
    try {
      auto f = function([&](const Tensor &given) { return step(tanh(given * float(number + 2)) * 0.f + given); });
      const Outcome outcome = callWithFailure(number, [&] { f(x); });
      step.done = 1;
      step.check(outcome != Outcome::Failure);
      known(x);
      step.check(true);
      bool isDone = true;
      try {
        f(x);
      } catch (const MemoryError &error) {
        isDone = false;
        if (std::string(error.what()).find("nothing else is compiled in this process any more") == std::string::npos)
          throw;
      }
      step.check(isDone);
      code = outcome == Outcome::NotReached ? 2 : isDone ? 0 : 3;
    } catch (const std::exception &error) {
      fault = error.what();
      std::fprintf(stderr, "allocation %lld: %s\n", static_cast<long long>(number), fault);
      code = 1;
    }
    if (number % 16 == 0 && code != 1)
      std::exit(code); // with the ends of static objects
    std::_Exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  EXPECT_TRUE(code == 0 || code == 2 || code == 3)
      << "allocation " << number << ": " << (code < 0 ? "signal " + std::to_string(WTERMSIG(status)) : "fault");
  return code != 2;
}

} // namespace

TEST(OutOfMemory, InCompilations) {
  std::int64_t number = 0;
  while (compileWithFailure(number) && !HasFailure())
    number += triesAll() ? 1 : 1 + number / 12;
  EXPECT_GT(number, 1000);
}

int main(int argc, char **argv) {
  // Programs that are compiled once are found again, so that the compiler is not asked.
  std::string pattern = (std::filesystem::temp_directory_path() / "calque-XXXXXX").string();
  const char *cache = ::mkdtemp(pattern.data());
  ::setenv("CALQUE_CACHE", cache, 1);
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  std::filesystem::remove_all(cache);
  return result;
}
