#include "frontend/compiled/KnownCode.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/ProgramKey.h"
#include "schema/Bytes.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>

namespace calque::detail {

namespace {

// The build id that the linker has written into a library: a digest of its contents. Empty where there is none.
std::string buildId(const std::string &library) {
  std::ifstream file(library, std::ios::binary);
  auto read = [&](std::uint64_t offset, void *to, std::size_t bytes) {
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(static_cast<char *>(to), static_cast<std::streamsize>(bytes)));
  };
  Elf64_Ehdr header;
  if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return "";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (!read(header.e_phoff + i * sizeof part, &part, sizeof part) || part.p_type != PT_NOTE || part.p_filesz > 4096)
      continue;
    std::string notes(part.p_filesz, '\0');
    if (!read(part.p_offset, notes.data(), notes.size()))
      continue;
    auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    Elf64_Nhdr note;
    for (std::uint64_t at = 0; at + sizeof note <= notes.size();
         at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz)) {
      std::memcpy(&note, notes.data() + at, sizeof note);
      std::uint64_t name = at + sizeof note, id = name + padded(note.n_namesz);
      if (id + note.n_descsz > notes.size())
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(notes.data() + name, "GNU", 4))
        return notes.substr(id, note.n_descsz);
    }
  }
  return "";
}

constexpr const char *kConnected = "connected"; // takes the place of target and options in keys

} // namespace

KnownCode::KnownCode(runtime::CacheSettings settings, std::string compiler) {
  context = compiler.empty() ? "" : buildId(compiler);
  if (context.empty())
    return;
  if (!settings.directory.empty())
    disk.emplace(settings.directory, settings.maxBytes);
  std::string directory = compiler.substr(0, compiler.rfind('/') + 1);
  installed.emplace(absl::StrCat(directory, kInstalledCode));
}

KnownCode &KnownCode::ofProcess() {
  static auto *known = [] { // never destroyed: other threads may still run
    runtime::CacheSettings settings = runtime::cacheSettings();
    if (!settings.error.empty())
      throw ValueError(settings.error);
    return new KnownCode(std::move(settings), compilerLibrary());
  }();
  return *known;
}

std::optional<runtime::CacheKey> KnownCode::keyOf(const schema::Recording &recording, const std::string &what) const {
  if (context.empty())
    return std::nullopt;
  return programKey(recording, absl::StrCat(context, " ", what));
}

CompileOptions optionsFor(const schema::Recording &recording, CompileOptions options) {
  if (options.cpu == runtime::Cpu::Avx512Vnni && recording.ops().size() <= 1)
    options.cpu = runtime::Cpu::Avx512;
  return options;
}

std::optional<runtime::CacheKey> KnownCode::keyOf(const schema::Recording &recording, CompileOptions options) const {
  options = optionsFor(recording, options);
  return keyOf(recording, absl::StrCat(runtime::nameOf(options.cpu), options.optimize ? " optimized" : " plain",
                                       options.checkNumerics ? " checked" : ""));
}

std::optional<CompiledProgram> KnownCode::find(const schema::Recording &recording, CompileOptions options) {
  std::optional<runtime::CacheKey> key = keyOf(recording, options);
  return key ? programOf(recording, load({&*key, 1})[0]) : std::nullopt;
}

std::optional<CompiledProgram> KnownCode::findInstalled(const schema::Recording &recording, CompileOptions options) {
  std::optional<runtime::CacheKey> key = installed ? keyOf(recording, options) : std::nullopt;
  return key ? programOf(recording, installed->load(*key)) : std::nullopt;
}

std::optional<CompiledProgram> KnownCode::programOf(const schema::Recording &recording,
                                                    const runtime::CodeCache::Entry &entry) {
  std::optional<StoredProgram> stored = entry ? parseProgram(*entry) : std::nullopt;
  if (!stored)
    return std::nullopt;
  CompiledProgram program = std::move(stored->program);
  program.kernels = findAll(stored->kernels);
  if (!std::ranges::all_of(program.kernels, [](const runtime::KernelRef &kernel) { return kernel != nullptr; }))
    return std::nullopt;
  for (Site &site : program.interface.sites) {
    const schema::RecordedOp *op = recording.operationAt(site.recorded);
    site.line = (op ? op->line : recording.line).str();
  }
  return program;
}

void KnownCode::add(const schema::Recording &recording, CompileOptions options, const CompiledProgram &program) {
  if (!disk)
    return;
  if (std::optional<runtime::CacheKey> key = keyOf(recording, options))
    disk->store(*key, serialize(program, stored(program.kernels)));
}

std::optional<std::vector<bool>> KnownCode::findConnected(const schema::Recording &recording) const {
  std::optional<runtime::CacheKey> key = disk ? keyOf(recording, kConnected) : std::nullopt;
  runtime::CodeCache::Entry entry = key ? disk->load(*key) : std::nullopt;
  if (!entry || entry->size() != recording.results.size())
    return std::nullopt;
  std::vector<bool> connected;
  for (std::byte each : *entry)
    connected.push_back(each != std::byte(0));
  return connected;
}

void KnownCode::addConnected(const schema::Recording &recording, const std::vector<bool> &connected) {
  std::optional<runtime::CacheKey> key = disk ? keyOf(recording, kConnected) : std::nullopt;
  if (!key)
    return;
  std::vector<std::byte> bytes;
  for (bool each : connected)
    bytes.push_back(static_cast<std::byte>(each));
  disk->store(*key, bytes);
}

std::vector<runtime::CodeCache::Entry> KnownCode::load(std::span<const runtime::CacheKey> keys) const {
  std::vector<runtime::CodeCache::Entry> entries(keys.size());
  for (const std::optional<runtime::CodeCache> *cache : {&disk, &installed}) {
    if (!*cache)
      continue;
    std::vector<runtime::CacheKey> missing;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!entries[i])
        missing.push_back(keys[i]);
    std::vector<runtime::CodeCache::Entry> found = (*cache)->load(missing);
    auto next = found.begin();
    for (runtime::CodeCache::Entry &entry : entries)
      if (!entry)
        entry = std::move(*next++);
  }
  return entries;
}

// A kernel's key says nothing of how the compiler was built.
runtime::CacheKey KnownCode::onDisk(const runtime::KernelKey &key) const {
  runtime::ByteWriter text;
  text.text(context);
  text.raw(key);
  return runtime::cacheKey(text.bytes);
}

// With them, a later process reads one file for the program instead of one for each kernel.
std::vector<StoredKernel> KnownCode::stored(std::span<const runtime::KernelRef> kernels) const {
  std::vector<StoredKernel> stored;
  std::vector<runtime::CacheKey> files;
  for (const runtime::KernelRef &kernel : kernels) {
    stored.push_back({kernel->runtime, kernel->key});
    if (kernel->runtime.empty())
      files.push_back(onDisk(kernel->key));
  }
  std::vector<runtime::CodeCache::Entry> images = load(files);
  auto next = images.begin();
  for (StoredKernel &kernel : stored)
    if (kernel.runtime.empty())
      kernel.image = std::move(*next++).value_or(std::vector<std::byte>());
  return stored;
}

std::vector<runtime::KernelRef> KnownCode::findAll(std::span<StoredKernel> kernels) {
  std::vector<runtime::KernelRef> found;
  std::vector<StoredKernel *> missing, elsewhere;
  std::vector<runtime::KernelKey> keys;
  std::vector<runtime::CacheKey> files;
  for (StoredKernel &kernel : kernels) {
    bool isOfRuntime = !kernel.runtime.empty();
    found.push_back(isOfRuntime ? runtime::runtimeKernel(calque_rt_functions(), kernel.runtime)
                                : loaded.find(kernel.key));
    if (isOfRuntime || found.back())
      continue;
    missing.push_back(&kernel);
    keys.push_back(kernel.key);
    if (kernel.image.empty()) {
      elsewhere.push_back(&kernel);
      files.push_back(onDisk(kernel.key));
    }
  }
  if (missing.empty())
    return found;
  std::vector<runtime::CodeCache::Entry> entries = load(files);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (entries[i])
      elsewhere[i]->image = *std::move(entries[i]);
  std::vector<runtime::Image> images; // one that can't be read is empty, and refused
  for (const StoredKernel *kernel : missing)
    images.push_back(runtime::parseImage(kernel->image).image.value_or(runtime::Image()));
  std::vector<const runtime::Image *> pointers;
  for (const runtime::Image &image : images)
    pointers.push_back(&image);
  std::vector<runtime::KernelCache::Added> added = loaded.add(keys, pointers);
  for (std::size_t i = 0; i < missing.size(); ++i) // an image that can't be loaded is compiled anew
    found[static_cast<std::size_t>(missing[i] - kernels.data())] = std::move(added[i].kernel);
  return found;
}

runtime::KernelRef KnownCode::find(const runtime::KernelKey &key) try {
  StoredKernel kernel{"", key};
  return findAll({&kernel, 1})[0];
} catch (const std::bad_alloc &) {
  return nullptr;
}

runtime::KernelRef KnownCode::add(const runtime::KernelKey &key, const runtime::Image &image, std::string &error) {
  try {
    if (disk)
      disk->store(onDisk(key), runtime::serialize(image));
  } catch (const std::bad_alloc &) { // it is compiled again in another process
  }
  return loaded.add(key, image, error);
}

} // namespace calque::detail
