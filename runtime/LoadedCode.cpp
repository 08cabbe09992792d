#include "runtime/LoadedCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <unordered_map>

namespace calque::runtime {

namespace {

// Distances between code and its data have 32 bits.
constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 30;

constexpr std::uint64_t roundUp(std::uint64_t size, std::uint64_t unit) { return (size + unit - 1) / unit * unit; }

//===-- What depends on the machine --------------------------------------------------------------===//

// A stub jumps to the address that stands in the table of imported functions.
constexpr std::size_t kStubBytes = 8;

void writeStub(std::byte *stub, const std::byte *slot) {
  // jmp *slot(%rip), ud2
  constexpr unsigned char code[kStubBytes] = {0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x0b};
  std::memcpy(stub, code, sizeof code);
  auto distance = static_cast<std::int32_t>(slot - (stub + 6)); // it fits, as both are in one mapping
  std::memcpy(stub + 2, &distance, sizeof distance);
}

//===-- Imports ----------------------------------------------------------------------------------===//

// Finds functions of the C and C++ libraries in the same way as the library that contains this function. The program's
// own symbols are not searched: they may be hidden, or have another `exp`.
void *libraryFunction(const char *name) {
  static void *const own = [] {
    Dl_info here;
    bool found = dladdr(reinterpret_cast<void *>(&libraryFunction), &here) && here.dli_fname;
    void *library = found ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return library ? library : dlopen(nullptr, RTLD_LAZY); // a program into which this library is linked
  }();
  return dlsym(own, name);
}

//===-- Checks -----------------------------------------------------------------------------------===//

std::size_t width(Fixup::Kind kind) { return kind == Fixup::Kind::Relative32 ? 4 : 8; }

// Images come from files, so that everything about them is checked, except what their code computes.
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

//===-- Places -----------------------------------------------------------------------------------===//

// Where an image goes: its code and then its stubs, its data and then its table of imported addresses. They are
// offsets, because pages are not taken yet.
struct Place {
  std::uint64_t code, stubs, codeEnd;
  std::uint64_t data, slots, dataEnd;
};

// The place of an image behind others, which end at `code` and `data`.
Place placeAfter(const Image &image, std::uint64_t code, std::uint64_t data) {
  const std::uint64_t count = image.imports.size();
  Place place;
  place.code = roundUp(code, image.codeAlignment);
  place.stubs = roundUp(place.code + image.code.size(), kStubBytes);
  place.codeEnd = place.stubs + count * kStubBytes;
  place.data = roundUp(data, image.dataAlignment);
  place.slots = roundUp(place.data + image.data.size(), sizeof(void *));
  place.dataEnd = place.slots + count * sizeof(void *);
  return place;
}

using Addresses = std::unordered_map<std::string_view, void *>; // of functions that were looked for

void *addressOf(const std::string &name, const RuntimeFunction *functions, Addresses &known) {
  auto [found, isNew] = known.try_emplace(name, nullptr);
  if (isNew) {
    void *own = findFunction(functions, name);
    found->second = own ? own : libraryFunction(name.c_str());
  }
  return found->second;
}

// Writes an image to its place. Returns what is wrong with the image; empty if nothing is.
std::string write(const Image &image, const Place &place, std::byte *code, std::byte *data,
                  const RuntimeFunction *functions, Addresses &known) {
  std::byte *parts[] = {code + place.code, data + place.data};
  auto stubOf = [&](std::size_t import) { return code + place.stubs + import * kStubBytes; };
  auto slotOf = [&](std::size_t import) { return data + place.slots + import * sizeof(void *); };
  std::vector<std::byte *> addresses;
  for (std::size_t i = 0; i < image.imports.size(); ++i) {
    void *address = addressOf(image.imports[i], functions, known);
    if (!address)
      return absl::StrCat("native code calls '", image.imports[i], "', which no library has");
    std::memcpy(slotOf(i), &address, sizeof address);
    writeStub(stubOf(i), slotOf(i));
    addresses.push_back(static_cast<std::byte *>(address));
  }
  std::ranges::copy(image.code, parts[0]);
  std::ranges::copy(image.data, parts[1]);
  for (const Fixup &fixup : image.fixups) {
    std::byte *at = parts[static_cast<int>(fixup.part)] + fixup.offset;
    auto put = [&](const std::byte *target) {
      std::uint64_t value = reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uint64_t>(fixup.addend);
      if (fixup.kind != Fixup::Kind::Absolute64)
        value -= reinterpret_cast<std::uintptr_t>(at);
      auto distance = static_cast<std::int64_t>(value);
      if (fixup.kind == Fixup::Kind::Relative32 && distance != static_cast<std::int32_t>(distance))
        return false;
      for (std::size_t byte = 0; byte < width(fixup.kind); ++byte)
        at[byte] = static_cast<std::byte>(value >> (8 * byte));
      return true;
    };
    bool isWritten = false;
    switch (fixup.target) {
    case Fixup::Target::Code:
    case Fixup::Target::Data:
      isWritten = put(parts[fixup.target == Fixup::Target::Data]);
      break;
    case Fixup::Target::Import:
      isWritten = put(addresses[fixup.import]) || put(stubOf(fixup.import));
      break;
    case Fixup::Target::ImportAddress:
      isWritten = put(slotOf(fixup.import));
      break;
    }
    if (!isWritten)
      return "native code has a fixup whose target is out of reach";
  }
  return "";
}

} // namespace

std::vector<LoadResult> LoadedCode::load(std::span<const Image *const> images, const RuntimeFunction *functions) {
  std::vector<LoadResult> results(images.size());
  std::vector<Place> places(images.size());
  std::uint64_t codeBytes = 0, dataBytes = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (std::string wrong = whatIsWrong(*images[i]); !wrong.empty()) {
      results[i] = refused(wrong);
      continue;
    }
    places[i] = placeAfter(*images[i], codeBytes, dataBytes);
    codeBytes = places[i].codeEnd;
    dataBytes = places[i].dataEnd;
  }
  auto forEachGood = [&](auto &&each) {
    for (std::size_t i = 0; i < images.size(); ++i)
      if (results[i].error.empty())
        each(i);
  };
  auto all = [&](const LoadResult &result) {
    forEachGood([&](std::size_t i) { results[i] = result; });
    return results;
  };
  if (codeBytes == 0)
    return results;
  if (codeBytes + dataBytes > kMostBytes)
    return all(refused("native code is too large to be loaded"));
  std::optional<CodePages> pages = takeCodePages(codeBytes, dataBytes);
  if (!pages)
    return all(refused(absl::StrCat("there is no memory for native code: ", systemError())));
  std::byte *const code = pages->code.data(), *const data = pages->data.data();
  Addresses known;
  forEachGood([&](std::size_t i) {
    const Place &place = places[i];
    if (std::string wrong = write(*images[i], place, code, data, functions, known); !wrong.empty()) {
      results[i] = refused(wrong);
      return;
    }
    std::shared_ptr<LoadedCode> loaded(new LoadedCode({code + place.code, place.codeEnd - place.code},
                                                      {data + place.data, place.dataEnd - place.data}));
    for (const Image::Symbol &symbol : images[i]->symbols)
      loaded->exports.push_back({symbol.name, code + place.code + symbol.offset});
    results[i].code = std::move(loaded);
  });
  if (!protect(*pages))
    return all(refused(absl::StrCat("native code can't be made executable: ", systemError())));
  __builtin___clear_cache(reinterpret_cast<char *>(code), reinterpret_cast<char *>(code + codeBytes));
  return results;
}

void *LoadedCode::find(std::string_view symbol) const {
  auto found = std::ranges::find(exports, symbol, &Export::name);
  return found == exports.end() ? nullptr : found->address;
}

} // namespace calque::runtime
