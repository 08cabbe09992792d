#include "runtime/Kernels.h"

#include <algorithm>
#include <new>
#include <vector>

namespace calque::runtime {

KernelRef KernelCache::find(const KernelKey &key) {
  std::lock_guard lock(mutex);
  auto found = kernels.find(key);
  return found == kernels.end() ? nullptr : found->second;
}

std::vector<KernelCache::Added> KernelCache::add(std::span<const KernelKey> keys,
                                                 std::span<const Image *const> images) {
  std::vector<Added> added(keys.size());
  std::vector<LoadResult> loaded = LoadedCode::load(images, calque_rt_functions());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    added[i].error = std::move(loaded[i].error);
    if (!loaded[i].code)
      continue;
    auto symbol = [&](const char *name) { return reinterpret_cast<CalqueKernel>(loaded[i].code->find(name)); };
    Kernel kernel{symbol(kKernelSymbol), symbol(kScratchSymbol), symbol(kPiecesSymbol)};
    if (kernel.run)
      added[i].kernel = std::make_shared<const LoadedKernel>(LoadedKernel{kernel, std::move(loaded[i].code), keys[i]});
    else
      added[i].error = "an image exports no kernel";
  }
  std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (added[i].kernel)
      added[i].kernel = kernels.try_emplace(keys[i], added[i].kernel).first->second;
  dropUnused();
  return added;
}

KernelRef KernelCache::add(const KernelKey &key, const Image &image, std::string &error) try {
  const Image *const one[] = {&image};
  Added added = std::move(add({&key, 1}, one)[0]);
  if (!added.kernel)
    error = std::move(added.error);
  return added.kernel;
} catch (const std::bad_alloc &) {
  error = "there is no memory for the code of a kernel";
  return nullptr;
}

std::size_t KernelCache::size() const {
  std::lock_guard lock(mutex);
  return kernels.size();
}

void KernelCache::dropUnused() {
  if (kernels.size() <= limit)
    return;
  // Others get their handles from this map alone, under its lock.
  std::erase_if(kernels, [](const auto &each) { return each.second.use_count() == 1; });
  limit = std::max(kMostUnused, 2 * kernels.size());
}

} // namespace calque::runtime
