// Kernels, found by a key of everything that decides their code. Programs that have a kernel in common share its code.
#ifndef CALQUE_RUNTIME_KERNELS_H
#define CALQUE_RUNTIME_KERNELS_H

#include "runtime/Image.h"
#include "runtime/LoadedCode.h"
#include "runtime/abi.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace calque::runtime {

// A digest (SHA-256) of all that decides what a kernel's code is: its body, the CPU, the options and the compiler.
using KernelKey = std::array<std::byte, 32>;

// The pieces of a kernel that is one parallel loop. `body` runs a range of the iterations; its context is the address
// of the kernel's words. The pieces of a kernel may run in any order, and interleaved with pieces of other kernels.
struct Pieces {
  int64_t count = 0, grain = 0;
  CalqueLoopBody body = nullptr;
};

struct Kernel {
  CalqueKernel run = nullptr;
  // Stores the number of bytes of scratch memory, at the address that follows the kernel's arguments. When the kernel
  // runs, the address of that memory follows the arguments. Null if the kernel needs no scratch memory.
  CalqueKernel scratch = nullptr;
  // Stores the kernel's pieces at the address that follows all of its words. Null if the kernel is not one loop.
  CalqueKernel pieces = nullptr;
};
// The names by which an image exports them.
inline constexpr const char *kKernelSymbol = "kernel", *kScratchSymbol = "kernel.scratch",
                            *kPiecesSymbol = "kernel.pieces";

struct LoadedKernel {
  Kernel kernel;
  std::shared_ptr<const LoadedCode> code; // null for the runtime's own
  KernelKey key = {};
  std::string runtime = {}; // the name of a kernel of the runtime
};
using KernelRef = std::shared_ptr<const LoadedKernel>;

// The kernel of the runtime (abi.h) with this name, from the table of its functions; null if there is none.
inline KernelRef runtimeKernel(const RuntimeFunction *functions, const std::string &name) {
  auto run = reinterpret_cast<CalqueKernel>(findFunction(functions, name));
  return run ? std::make_shared<const LoadedKernel>(LoadedKernel{{run}, nullptr, {}, name}) : nullptr;
}

// Where the compiler looks for a kernel before it compiles it. Thread safe. Throws nothing, since the compiler is built
// without exceptions.
class KernelSource {
public:
  virtual ~KernelSource() = default;
  // Null if there is none.
  virtual KernelRef find(const KernelKey &key) = 0;
  // Loads a kernel, or returns the one that another thread was first to add. Null, with the reason in `error`, if it
  // can't be loaded.
  virtual KernelRef add(const KernelKey &key, const Image &image, std::string &error) = 0;
};

// The kernels of a process. A kernel that nothing uses any more stays until there are many of them.
class KernelCache : public KernelSource {
public:
  KernelRef find(const KernelKey &key) override;
  KernelRef add(const KernelKey &key, const Image &image, std::string &error) override;
  // Loads kernels together, which takes less time and memory than one by one. A kernel that can't be loaded is null,
  // with the reason. Throws std::bad_alloc.
  struct Added {
    KernelRef kernel;
    std::string error;
  };
  std::vector<Added> add(std::span<const KernelKey> keys, std::span<const Image *const> images);
  std::size_t size() const;

  static constexpr std::size_t kMostUnused = 1024;

private:
  void dropUnused();

  mutable std::mutex mutex;
  std::map<KernelKey, KernelRef> kernels;
  std::size_t limit = kMostUnused; // of kernels, at which the unused ones are dropped
};

} // namespace calque::runtime
#endif
