#include "runtime/Kernels.h"

#include <algorithm>
#include <new>
#include <vector>

namespace calque::runtime {

KernelRef runtimeKernel(const std::string &name) {
  for (const RuntimeFunction *each = calque_rt_functions(); each->name; ++each)
    if (name == each->name)
      return std::make_shared<const LoadedKernel>(
          LoadedKernel{{reinterpret_cast<CalqueKernel>(each->address)}, nullptr, {}, name});
  return nullptr;
}

KernelRef KernelCache::find(const KernelKey &key) {
  std::lock_guard lock(mutex);
  auto found = kernels.find(key);
  return found == kernels.end() ? nullptr : found->second;
}

KernelRef KernelCache::add(const KernelKey &key, const Image &image, std::string &error) try {
  const Image *const one[] = {&image};
  LoadResult loaded = LoadedCode::load(one, calque_rt_functions());
  if (!loaded.code) {
    error = std::move(loaded.error);
    return nullptr;
  }
  auto symbol = [&](const char *name) { return reinterpret_cast<CalqueKernel>(loaded.code->find(0, name)); };
  Kernel kernel{symbol(kKernelSymbol), symbol(kScratchSymbol)};
  if (!kernel.run) {
    error = "an image exports no kernel";
    return nullptr;
  }
  auto made = std::make_shared<const LoadedKernel>(LoadedKernel{kernel, std::move(loaded.code), key});
  std::lock_guard lock(mutex);
  KernelRef kept = kernels.try_emplace(key, std::move(made)).first->second;
  dropUnused();
  return kept;
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
