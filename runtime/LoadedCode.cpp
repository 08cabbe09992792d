#include "runtime/LoadedCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace calque::runtime {

namespace {

// Distances inside of a mapping have 32 bits.
constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 30;

constexpr std::uint64_t roundUp(std::uint64_t size, std::uint64_t unit) { return (size + unit - 1) / unit * unit; }

//===-- What depends on the machine --------------------------------------------------------------===//

// A stub jumps to the address that stands in the table of imported functions.
constexpr std::size_t kStubBytes = 8;

void writeStub(std::byte *stub, const std::byte *slot) {
  // jmp *slot(%rip), ud2
  constexpr unsigned char code[kStubBytes] = {0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x0b};
  std::memcpy(stub, code, sizeof code);
  auto distance = static_cast<std::int32_t>(slot - (stub + 6)); // it fits, as both are in the mapping
  std::memcpy(stub + 2, &distance, sizeof distance);
}

//===-- Imports ----------------------------------------------------------------------------------===//

// Functions of the C and C++ libraries, as the library with this function finds them. What the program shows by name is
// not asked: it may show nothing, or another `exp`.
void *libraryFunction(const char *name) {
  static void *const own = [] {
    Dl_info here;
    bool found = dladdr(reinterpret_cast<void *>(&libraryFunction), &here) && here.dli_fname;
    void *library = found ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return library ? library : dlopen(nullptr, RTLD_LAZY); // a program into which all of this is linked
  }();
  return dlsym(own, name);
}

//===-- Checks -----------------------------------------------------------------------------------===//

std::size_t width(Fixup::Kind kind) { return kind == Fixup::Kind::Relative32 ? 4 : 8; }

// Images come from files, so that nothing about them is taken for granted but what their bytes compute.
std::string whatIsWrong(const Image &image) {
  if (image.machine != hostMachine())
    return "native code is for another processor";
  for (std::uint32_t alignment : {image.codeAlignment, image.dataAlignment})
    if (!std::has_single_bit(alignment) || alignment > kMostAlignment)
      return "native code has an alignment that memory can't have";
  if (image.code.empty())
    return "native code is empty";
  for (const Fixup &fixup : image.fixups) {
    std::size_t size = fixup.part == Fixup::Part::Code ? image.code.size() : image.data.size();
    if (size < width(fixup.kind) || fixup.offset > size - width(fixup.kind))
      return "native code has a fixup outside of it";
    bool imports = fixup.target == Fixup::Target::Import || fixup.target == Fixup::Target::ImportAddress;
    if (imports && fixup.import >= image.imports.size())
      return "native code has a fixup for an import that it does not have";
  }
  for (const Image::Symbol &symbol : image.symbols)
    if (symbol.offset >= image.code.size())
      return "native code has a symbol outside of it";
  return "";
}

LoadResult refused(std::string error) { return {nullptr, std::move(error)}; }

std::string systemError() { return std::strerror(errno); }

} // namespace

LoadedCode::~LoadedCode() { munmap(begin, bytes); }

LoadResult LoadedCode::load(std::span<const Image *const> images, const RuntimeFunction *functions) {
  // Where everything goes: the code, the stubs, then from the next page on the data and the table of imported
  // addresses.
  struct Place {
    std::uint64_t code, data;
    std::vector<std::uint32_t> imports; // their numbers in the table
  };
  std::vector<Place> places;
  std::vector<const std::string *> imported;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::unordered_map<std::string_view, std::pair<std::size_t, std::uint64_t>> exported; // image, offset
  std::uint64_t codeBytes = 0, dataBytes = 0;
  for (const Image *image : images) {
    if (std::string wrong = whatIsWrong(*image); !wrong.empty())
      return refused(wrong);
    Place &place = places.emplace_back();
    place.code = roundUp(codeBytes, image->codeAlignment);
    place.data = roundUp(dataBytes, image->dataAlignment);
    codeBytes = place.code + image->code.size();
    dataBytes = place.data + image->data.size();
    for (const std::string &name : image->imports) {
      auto [found, isNew] = numbers.try_emplace(name, static_cast<std::uint32_t>(imported.size()));
      if (isNew)
        imported.push_back(&name);
      place.imports.push_back(found->second);
    }
    for (const Image::Symbol &symbol : image->symbols)
      exported.try_emplace(symbol.name, places.size() - 1, symbol.offset);
    if (std::max(codeBytes, dataBytes) + imported.size() * kStubBytes > kMostBytes)
      return refused("native code is too large to be loaded");
  }
  if (places.empty())
    return refused("native code is empty");
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t stubs = roundUp(codeBytes, kStubBytes);
  std::uint64_t data = roundUp(stubs + imported.size() * kStubBytes, page);
  std::uint64_t slots = roundUp(data + dataBytes, sizeof(void *));
  std::uint64_t total = roundUp(slots + imported.size() * sizeof(void *), page);

  void *mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return refused(absl::StrCat("there is no memory for native code: ", systemError()));
  std::shared_ptr<LoadedCode> loaded(new LoadedCode(static_cast<std::byte *>(mapping), total));
  std::byte *const begin = loaded->begin;

  auto addressOf = [&](const std::string &name) -> void * {
    for (const RuntimeFunction *each = functions; each && each->name; ++each)
      if (name == each->name)
        return each->address;
    if (auto found = exported.find(name); found != exported.end())
      return begin + places[found->second.first].code + found->second.second;
    return libraryFunction(name.c_str());
  };
  std::vector<std::byte *> addresses;
  for (std::size_t i = 0; i < imported.size(); ++i) {
    void *address = addressOf(*imported[i]);
    if (!address)
      return refused(absl::StrCat("native code calls '", *imported[i], "', which no library has"));
    std::byte *slot = begin + slots + i * sizeof(void *);
    std::memcpy(slot, &address, sizeof address);
    writeStub(begin + stubs + i * kStubBytes, slot);
    addresses.push_back(static_cast<std::byte *>(address));
  }

  for (std::size_t i = 0; i < images.size(); ++i) {
    const Image &image = *images[i];
    std::byte *parts[] = {begin + places[i].code, begin + data + places[i].data};
    std::copy(image.code.begin(), image.code.end(), parts[0]);
    std::copy(image.data.begin(), image.data.end(), parts[1]);
    for (const Fixup &fixup : image.fixups) {
      std::byte *place = parts[static_cast<int>(fixup.part)] + fixup.offset;
      const std::uint32_t import =
          fixup.target >= Fixup::Target::Import ? places[i].imports[fixup.import] : std::uint32_t(0);
      auto write = [&](const std::byte *target) {
        std::uint64_t value = reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uint64_t>(fixup.addend);
        if (fixup.kind != Fixup::Kind::Absolute64)
          value -= reinterpret_cast<std::uintptr_t>(place);
        auto distance = static_cast<std::int64_t>(value);
        if (fixup.kind == Fixup::Kind::Relative32 && distance != static_cast<std::int32_t>(distance))
          return false;
        for (std::size_t byte = 0; byte < width(fixup.kind); ++byte)
          place[byte] = static_cast<std::byte>(value >> (8 * byte));
        return true;
      };
      bool written = false;
      switch (fixup.target) {
      case Fixup::Target::Code:
      case Fixup::Target::Data:
        written = write(parts[fixup.target == Fixup::Target::Data]);
        break;
      case Fixup::Target::Import:
        written = write(addresses[import]) || write(begin + stubs + import * kStubBytes);
        break;
      case Fixup::Target::ImportAddress:
        written = write(begin + slots + import * sizeof(void *));
        break;
      }
      if (!written)
        return refused("native code has a fixup whose target is out of reach");
    }
    for (const Image::Symbol &symbol : image.symbols)
      loaded->exports.push_back({i, symbol.name, parts[0] + symbol.offset});
  }

  if (mprotect(begin, data, PROT_READ | PROT_EXEC) || (total > data && mprotect(begin + data, total - data, PROT_READ)))
    return refused(absl::StrCat("native code can't be made executable: ", systemError()));
  __builtin___clear_cache(reinterpret_cast<char *>(begin), reinterpret_cast<char *>(begin + data));
  return {std::move(loaded), ""};
}

void *LoadedCode::find(std::size_t image, std::string_view symbol) const {
  auto each = std::lower_bound(exports.begin(), exports.end(), image,
                               [](const Export &one, std::size_t number) { return one.image < number; });
  for (; each != exports.end() && each->image == image; ++each)
    if (each->name == symbol)
      return each->address;
  return nullptr;
}

} // namespace calque::runtime
