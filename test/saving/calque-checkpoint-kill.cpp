// calque-checkpoint-kill: kills a process that saves in a loop, at random moments, and each time restores the newest
// checkpoint. It must be whole, its digest and its values right, and no older than the last save that was done.
//
//   calque-checkpoint-kill --kills 50 --seed 1
#include "calque/calque.h"
#include "test/training/Idx.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

using namespace calque;
using namespace calque::testing;

namespace {

constexpr std::int64_t kElements = 100'000;

// Each save has another number, which all values are made of.
struct State {
  Variable weights{zeros({kElements})}, more{zeros({3, 1000}, DType::Float64)};
  std::int64_t step = 0;
  Checkpoint checkpoint{{"weights", weights}, {"more", more}, {"step", step}};
  void set(std::int64_t number) {
    step = number;
    weights.assign(full({kElements}, static_cast<double>(number % (1 << 20))));
    more.assign(full({3, 1000}, static_cast<double>(number), DType::Float64));
  }
  bool isWhole() const {
    const std::vector<float> values = weights.to_vector<float>();
    const std::vector<double> others = more.to_vector<double>();
    return std::ranges::all_of(values, [&](float x) { return x == static_cast<float>(step % (1 << 20)); }) &&
           std::ranges::all_of(others, [&](double x) { return x == static_cast<double>(step); });
  }
};

// What both processes see: whether saving has begun, and the last step that is saved.
struct Shared {
  std::atomic<std::int64_t> saved{-1};
};

Shared *map(int descriptor) {
  return static_cast<Shared *>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
}

// Goes on from what is there, until it is killed.
[[noreturn]] void saveInALoop(const std::string &directory, int descriptor, bool beside) {
  State state;
  Shared *shared = map(descriptor);
  CheckpointManager manager(state.checkpoint, directory, {.max_to_keep = 3});
  manager.restore_or_initialize();
  for (std::int64_t step = state.step + 1;; ++step) {
    state.set(step);
    manager.save(std::nullopt, {.enable_async = beside});
    // Beside the program, the save before this one is done.
    shared->saved = beside ? step - 1 : step;
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 5 && argv[1] == std::string("save"))
    saveInALoop(argv[2], std::atoi(argv[3]), argv[4] == std::string("beside"));
  int kills = 50;
  std::uint64_t seed = std::random_device()();
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string("--kills") && i + 1 < argc)
      kills = std::atoi(argv[++i]);
    else if (argv[i] == std::string("--seed") && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else {
      std::cout << "calque-checkpoint-kill [--kills N (50)] [--seed S (fresh)]\n";
      return argv[i] == std::string("--help") ? 0 : 2;
    }
  TemporaryDirectory directory;
  const int descriptor = ::memfd_create("calque-checkpoint-kill", 0); // the child inherits it
  if (descriptor < 0 || ::ftruncate(descriptor, sizeof(Shared)))
    return 2;
  Shared *shared = new (map(descriptor)) Shared;
  std::mt19937_64 random(seed);
  int losses = 0, unfinished = 0;
  std::int64_t saves = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const std::int64_t before = shared->saved;
    const std::string number = std::to_string(descriptor);
    const bool beside = random() % 2;
    const char *arguments[] = {argv[0], "save", directory.path.c_str(), number.c_str(), beside ? "beside" : "here",
                               nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char **>(arguments), environ))
      return 2;
    // From the first save on, any moment is as good as another one.
    while (shared->saved == before && ::waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) {
      std::cout << "the saving process has ended by itself\n";
      return 1;
    }
    for (const auto &entry : std::filesystem::directory_iterator(directory.path))
      unfinished += entry.path().extension() == ".unfinished";
    State state;
    CheckpointManager manager(state.checkpoint, directory.path);
    try {
      manager.restore_or_initialize();
    } catch (const Error &error) {
      std::cout << "kill " << kill << ": " << error.what() << '\n';
      ++losses;
      continue;
    }
    if (!state.isWhole() || state.step < shared->saved) {
      std::cout << "kill " << kill << ": step " << state.step << " is restored, and " << shared->saved
                << " was saved\n";
      ++losses;
    }
    saves = state.step;
    for (const auto &entry : std::filesystem::directory_iterator(directory.path))
      if (entry.path().extension() == ".unfinished") {
        std::cout << "kill " << kill << ": " << entry.path() << " is left\n";
        ++losses;
      }
  }
  std::cout << kills << " kills, " << saves << " saves, " << unfinished << " of them unfinished, " << losses
            << " losses, seed " << seed << '\n';
  return losses ? 1 : 0;
}
