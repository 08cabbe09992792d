// Native code as plain data: it holds no address and runs wherever it is placed, in this process or in a later one.
//
//   Image image = ...;                             // codegen/native/LinkObject.h makes one
//   std::vector<std::byte> bytes = serialize(image);
//   ParsedImage parsed = parseImage(bytes);        // perhaps in another process
//   if (!parsed.image)
//     report(parsed.error);
//
// LoadedCode.h places images and makes them executable.
#ifndef CALQUE_RUNTIME_IMAGE_H
#define CALQUE_RUNTIME_IMAGE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace calque::runtime {

// The instruction set, by ELF's numbers.
enum class Machine : std::uint32_t { None = 0, X86_64 = 62, Aarch64 = 183 };
// The instruction set of this process, or None if no image can be loaded for it yet.
constexpr Machine hostMachine() {
#if defined(__x86_64__) && defined(__LP64__)
  return Machine::X86_64;
#else
  return Machine::None;
#endif
}

// A place in an image whose contents depend on the addresses of code, data and imported functions.
struct Fixup {
  // The value to write: the target's address plus the addend, or its distance from the place. Elf: the value of ELF's
  // relocation number `relocation`, for machines whose code only other linkers link.
  enum class Kind : std::uint8_t { Relative32, Relative64, Absolute64, Elf };
  enum class Part : std::uint8_t { Code, Data };
  // Import is the function itself, or a jump to it if the function is out of reach; ImportAddress is a place that holds
  // the function's address.
  enum class Target : std::uint8_t { Code, Data, Import, ImportAddress };

  Kind kind;
  Part part; // in which the place is
  Target target;
  std::uint32_t import = 0; // its number, if the target is an import
  std::uint64_t offset;     // of the place in its part
  std::int64_t addend = 0;
  std::uint32_t relocation = 0; // of Kind::Elf

  bool operator==(const Fixup &) const = default;
};

struct Image {
  struct Symbol {
    std::string name;
    std::uint64_t offset; // in the code
    bool operator==(const Symbol &) const = default;
  };

  Machine machine = hostMachine();
  std::uint32_t codeAlignment = 16, dataAlignment = 16; // powers of two, up to kMostAlignment
  std::vector<std::byte> code, data;                    // data is only read
  std::vector<Fixup> fixups;
  std::vector<std::string> imports; // functions
  std::vector<Symbol> symbols;      // the functions that it exports

  bool operator==(const Image &) const = default;
};

inline constexpr std::uint32_t kMostAlignment = 4096; // a page

// The form for files: the same bytes for the same image, on every machine.
std::vector<std::byte> serialize(const Image &image);

struct ParsedImage {
  std::optional<Image> image;
  std::string error; // empty when there is an image
};
// Damaged bytes give an error, an image that loading refuses, or an image with other contents, and do no other harm.
// Only a checksum can find other contents.
ParsedImage parseImage(std::span<const std::byte> bytes);

} // namespace calque::runtime
#endif
