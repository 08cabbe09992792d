// An object file for the linkers of Linux, made of images and of bytes.
//
//   ElfObject object;
//   std::size_t number = object.addImage(image);
//   object.addBytes("table", bytes);
//   std::vector<std::byte> file = object.file();
#ifndef CALQUE_FRONTEND_SAVING_ELFOBJECT_H
#define CALQUE_FRONTEND_SAVING_ELFOBJECT_H

#include "runtime/Image.h"

#include <map>
#include <optional>

namespace calque::detail {

class ElfObject {
public:
  explicit ElfObject(runtime::Machine machine) : machine(machine) {}
  // Adds code and data; returns the image's number.
  std::size_t addImage(const runtime::Image &image);
  // Adds read-only data, which other files find by the name.
  void addBytes(const std::string &name, std::span<const std::byte> bytes);
  // A function that an image exports.
  struct FunctionAddress {
    std::size_t image;
    std::string symbol;
  };
  // Adds a list of addresses, which other files find by the name. std::nullopt is a null address.
  void addAddresses(const std::string &name, std::span<const std::optional<FunctionAddress>> addresses);
  // The whole file.
  std::vector<std::byte> file() const;

private:
  enum class Section : std::uint8_t { Code, Data, Addresses };
  struct Placed {
    std::uint64_t code, data; // where the image's parts are in the sections
    std::map<std::string, std::uint64_t> symbols;
  };
  struct Symbol {
    std::string name;
    std::optional<Section> section; // none: another file defines the symbol
    std::uint64_t offset = 0, size = 0;
  };
  struct Relocation {
    Section section;
    std::uint64_t offset;
    std::uint32_t type;
    std::uint32_t symbol; // an index into the file's symbols
    std::int64_t addend;
  };
  std::vector<std::byte> &bytesOf(Section section) { return sections[static_cast<std::size_t>(section)]; }
  std::uint64_t append(Section section, std::span<const std::byte> bytes, std::uint64_t alignment);
  std::uint32_t importOf(const std::string &name);

  const runtime::Machine machine;
  std::vector<std::byte> sections[3];
  std::vector<Placed> images;
  std::vector<Symbol> symbols; // after the symbols of the sections
  std::map<std::string, std::uint32_t> imports;
  std::vector<Relocation> relocations;
};

} // namespace calque::detail
#endif
