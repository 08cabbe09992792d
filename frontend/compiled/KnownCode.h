// Native code that is there already: in this process, or on disk from an earlier one.
#ifndef CALQUE_FRONTEND_COMPILED_KNOWNCODE_H
#define CALQUE_FRONTEND_COMPILED_KNOWNCODE_H

#include "program/Compiler.h"
#include "program/ProgramFile.h"
#include "runtime/CodeCache.h"

namespace calque::detail {

// The directory of installed code, beside the compiler's library.
inline constexpr const char *kInstalledCode = "calque-kernels";

class KnownCode : public runtime::KernelSource {
public:
  // `compiler` is the compiler's library, beside which is what it compiled when Calque was built. One that can't be
  // told from others means that nothing on disk is used.
  KnownCode(runtime::CacheSettings settings, std::string compiler);
  // That of the process. ValueError where the environment has settings that can't be.
  static KnownCode &ofProcess();

  // The program of a recording. Its kernels are loaded.
  std::optional<CompiledProgram> find(const schema::Recording &recording, CompileOptions options);
  // The same, if it was compiled when Calque was built.
  std::optional<CompiledProgram> findInstalled(const schema::Recording &recording, CompileOptions options);
  void add(const schema::Recording &recording, CompileOptions options, const CompiledProgram &program);

  // Which results of a recording a path leads to, as the compiler said in an earlier process.
  std::optional<std::vector<bool>> findConnected(const schema::Recording &recording) const;
  void addConnected(const schema::Recording &recording, const std::vector<bool> &connected);

  runtime::KernelRef find(const runtime::KernelKey &key) override;
  runtime::KernelRef add(const runtime::KernelKey &key, const runtime::Image &image, std::string &error) override;

private:
  // The key of what is known of a recording, if it depends on that alone.
  std::optional<runtime::CacheKey> keyOf(const schema::Recording &recording, const std::string &what) const;
  std::optional<runtime::CacheKey> keyOf(const schema::Recording &recording, CompileOptions options) const;
  std::optional<CompiledProgram> programOf(const schema::Recording &recording, const runtime::CodeCache::Entry &entry);
  runtime::CacheKey onDisk(const runtime::KernelKey &key) const;
  std::vector<runtime::CodeCache::Entry> load(std::span<const runtime::CacheKey> keys) const;
  // What a program's entry says of its kernels.
  std::vector<StoredKernel> stored(std::span<const runtime::KernelRef> kernels) const;
  // Null for those that are not there.
  std::vector<runtime::KernelRef> findAll(std::span<StoredKernel> kernels);

  runtime::KernelCache loaded;
  std::optional<runtime::CodeCache> disk, installed;
  std::string context; // the compiler's build id
};

} // namespace calque::detail
#endif
