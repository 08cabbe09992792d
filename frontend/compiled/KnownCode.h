// Native code that exists already: in this process, or on disk from an earlier process.
#ifndef CALQUE_FRONTEND_COMPILED_KNOWNCODE_H
#define CALQUE_FRONTEND_COMPILED_KNOWNCODE_H

#include "program/Compiler.h"
#include "program/ProgramFile.h"
#include "runtime/CodeCache.h"

namespace calque::detail {

// The directory of installed code, beside the compiler's library.
inline constexpr const char *kInstalledCode = "calque-kernels";

// The options with which a program is compiled. One operation alone has no use for dot products of bytes, since they
// take casts as well: its code is that for all CPUs of x86-64-v4, so that code which was compiled with Calque serves
// them.
CompileOptions optionsFor(const schema::Recording &recording, CompileOptions options);

class KnownCode : public runtime::KernelSource {
public:
  // `compiler` is the path of the compiler's library. The folder beside it holds the code that was compiled when Calque
  // was built. If the library has no build id, nothing on disk is used.
  KnownCode(runtime::CacheSettings settings, std::string compiler);
  // The object of the process. ValueError for invalid settings in the environment.
  static KnownCode &ofProcess();

  // Returns the program of a recording, with loaded kernels.
  std::optional<CompiledProgram> find(const schema::Recording &recording, CompileOptions options);
  // Returns the program if it was compiled when Calque was built.
  std::optional<CompiledProgram> findInstalled(const schema::Recording &recording, CompileOptions options);
  void add(const schema::Recording &recording, CompileOptions options, const CompiledProgram &program);

  // Which results of a recording are connected with its targets, as the compiler of an earlier process found.
  std::optional<std::vector<bool>> findConnected(const schema::Recording &recording) const;
  void addConnected(const schema::Recording &recording, const std::vector<bool> &connected);

  runtime::KernelRef find(const runtime::KernelKey &key) override;
  runtime::KernelRef add(const runtime::KernelKey &key, const runtime::Image &image, std::string &error) override;

private:
  // The key of an entry about a recording, if the entry depends on the recording alone.
  std::optional<runtime::CacheKey> keyOf(const schema::Recording &recording, const std::string &what) const;
  std::optional<runtime::CacheKey> keyOf(const schema::Recording &recording, CompileOptions options) const;
  std::optional<CompiledProgram> programOf(const schema::Recording &recording, const runtime::CodeCache::Entry &entry);
  runtime::CacheKey onDisk(const runtime::KernelKey &key) const;
  std::vector<runtime::CodeCache::Entry> load(std::span<const runtime::CacheKey> keys) const;
  // The kernels of a program as its entry stores them.
  std::vector<StoredKernel> stored(std::span<const runtime::KernelRef> kernels) const;
  // Null for kernels that are not known.
  std::vector<runtime::KernelRef> findAll(std::span<StoredKernel> kernels);

  runtime::KernelCache loaded;
  std::optional<runtime::CodeCache> disk, installed;
  std::string context; // the compiler's build id
};

} // namespace calque::detail
#endif
