#include "codegen/native/LinkObject.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace calque::codegen {

using runtime::Fixup;
using runtime::Image;

namespace {

using ELF = llvm::object::ELF64LE;
using File = llvm::object::ELFFile<ELF>;

//===-- What depends on the machine --------------------------------------------------------------===//

runtime::Machine machineOf(const ELF::Ehdr &header) {
  switch (header.e_machine) {
  case llvm::ELF::EM_X86_64:
    return runtime::Machine::X86_64;
  case llvm::ELF::EM_AARCH64:
    return runtime::Machine::Aarch64;
  default:
    return runtime::Machine::None;
  }
}

struct Relocation {
  Fixup::Kind kind;
  bool throughAddress = false; // the place refers to a place with the target's address
};

// None for those that LLVM does not make for position-independent code.
std::optional<Relocation> relocationOf(runtime::Machine machine, uint32_t type) {
  if (machine == runtime::Machine::Aarch64)
    switch (type) { // of those, the image says what they are
    case llvm::ELF::R_AARCH64_ABS64:
    case llvm::ELF::R_AARCH64_PREL32:
    case llvm::ELF::R_AARCH64_PREL64:
    case llvm::ELF::R_AARCH64_CALL26:
    case llvm::ELF::R_AARCH64_JUMP26:
    case llvm::ELF::R_AARCH64_ADR_PREL_PG_HI21:
    case llvm::ELF::R_AARCH64_ADD_ABS_LO12_NC:
    case llvm::ELF::R_AARCH64_LDST8_ABS_LO12_NC:
    case llvm::ELF::R_AARCH64_LDST16_ABS_LO12_NC:
    case llvm::ELF::R_AARCH64_LDST32_ABS_LO12_NC:
    case llvm::ELF::R_AARCH64_LDST64_ABS_LO12_NC:
    case llvm::ELF::R_AARCH64_LDST128_ABS_LO12_NC:
      return Relocation{Fixup::Kind::Elf};
    case llvm::ELF::R_AARCH64_ADR_GOT_PAGE:
    case llvm::ELF::R_AARCH64_LD64_GOT_LO12_NC:
      return Relocation{Fixup::Kind::Elf, true};
    default:
      return std::nullopt;
    }
  switch (type) {
  case llvm::ELF::R_X86_64_PC32:
  case llvm::ELF::R_X86_64_PLT32:
    return Relocation{Fixup::Kind::Relative32};
  case llvm::ELF::R_X86_64_GOTPCREL:
  case llvm::ELF::R_X86_64_GOTPCRELX:
  case llvm::ELF::R_X86_64_REX_GOTPCRELX:
  case llvm::ELF::R_X86_64_CODE_4_GOTPCRELX:
    return Relocation{Fixup::Kind::Relative32, true};
  case llvm::ELF::R_X86_64_PC64:
    return Relocation{Fixup::Kind::Relative64};
  case llvm::ELF::R_X86_64_64:
    return Relocation{Fixup::Kind::Absolute64};
  default:
    return std::nullopt;
  }
}

//===-- The object -------------------------------------------------------------------------------===//

class Linker {
public:
  explicit Linker(llvm::ArrayRef<llvm::StringRef> exports) : exports(exports) {}

  bool link(llvm::StringRef object);

  Image image;
  std::string error;

private:
  // Where a section goes.
  struct Place {
    Fixup::Part part;
    uint64_t offset;
  };
  // What a symbol stands for.
  struct Target {
    Fixup::Target target;
    uint32_t import;
    uint64_t offset; // in the part, if it is no import
  };

  template <typename T> bool take(llvm::Expected<T> found, T &value) {
    if (!found) {
      error = "the object can't be read: " + llvm::toString(found.takeError());
      return false;
    }
    value = std::move(*found);
    return true;
  }

  bool place(const File &file, unsigned number, const ELF::Shdr &section);
  bool findSymbols(const File &file, const ELF::Shdr &table);
  bool targetOf(const File &file, uint32_t symbol, Target &target);
  bool relocate(const File &file, const ELF::Shdr &relocations);
  // A place in the data that holds the address of something in the image.
  uint64_t addressOf(const Target &target);

  llvm::ArrayRef<llvm::StringRef> exports;
  llvm::DenseMap<unsigned, Place> places;
  ELF::SymRange symbols;
  llvm::StringRef names; // of symbols
  llvm::StringMap<uint32_t> imports;
  std::map<std::pair<Fixup::Target, uint64_t>, uint64_t> addresses;
};

// The offset of contents that are added to a part of the image.
uint64_t append(std::vector<std::byte> &part, uint32_t &alignment, llvm::ArrayRef<uint8_t> contents, uint64_t wanted) {
  uint64_t offset = llvm::alignTo(part.size(), wanted);
  alignment = std::max(alignment, static_cast<uint32_t>(wanted));
  part.resize(offset);
  auto bytes = std::as_bytes(std::span(contents.data(), contents.size()));
  part.insert(part.end(), bytes.begin(), bytes.end());
  return offset;
}

bool Linker::place(const File &file, unsigned number, const ELF::Shdr &section) {
  llvm::StringRef name;
  if (!take(file.getSectionName(section), name))
    return false;
  bool isLoaded = section.sh_flags & llvm::ELF::SHF_ALLOC;
  bool isTable =
      section.sh_type == llvm::ELF::SHT_X86_64_UNWIND || section.sh_type == llvm::ELF::SHT_NOTE || name == ".eh_frame";
  bool isWritable = section.sh_flags & llvm::ELF::SHF_WRITE;
  if (!isLoaded || isTable || (isWritable && section.sh_size == 0))
    return true;
  // What is only written by whoever links it.
  if (name == ".data.rel.ro" || name.starts_with(".data.rel.ro."))
    isWritable = false;
  if (section.sh_flags & llvm::ELF::SHF_TLS) {
    error = "native code has thread-local data: section " + name.str();
    return false;
  }
  if (isWritable || section.sh_type == llvm::ELF::SHT_NOBITS) {
    error = "native code has writable data: section " + name.str();
    return false;
  }
  uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 1);
  if (!llvm::isPowerOf2_64(alignment) || alignment > runtime::kMostAlignment) {
    error = "native code has an alignment of more than a page: section " + name.str();
    return false;
  }
  llvm::ArrayRef<uint8_t> contents;
  if (!take(file.getSectionContents(section), contents))
    return false;
  if (section.sh_flags & llvm::ELF::SHF_EXECINSTR)
    places[number] = {Fixup::Part::Code, append(image.code, image.codeAlignment, contents, alignment)};
  else
    places[number] = {Fixup::Part::Data, append(image.data, image.dataAlignment, contents, alignment)};
  return true;
}

bool Linker::findSymbols(const File &file, const ELF::Shdr &table) {
  if (!take(file.symbols(&table), symbols) || !take(file.getStringTableForSymtab(table), names))
    return false;
  for (const ELF::Sym &symbol : symbols) {
    auto found = places.find(symbol.st_shndx);
    if (symbol.getBinding() == llvm::ELF::STB_LOCAL || found == places.end() || found->second.part != Fixup::Part::Code)
      continue;
    llvm::StringRef name;
    if (!take(symbol.getName(names), name))
      return false;
    if (llvm::is_contained(exports, name))
      image.symbols.push_back({name.str(), found->second.offset + symbol.st_value});
  }
  for (llvm::StringRef name : exports)
    if (llvm::none_of(image.symbols, [&](const Image::Symbol &symbol) { return symbol.name == name; })) {
      error = "native code does not define what it must export: " + name.str();
      return false;
    }
  return true;
}

bool Linker::targetOf(const File &file, uint32_t number, Target &target) {
  if (number >= symbols.size()) {
    error = "native code has a relocation without a symbol";
    return false;
  }
  const ELF::Sym &symbol = symbols[number];
  llvm::StringRef name;
  if (!take(symbol.getName(names), name))
    return false;
  bool isPlain = symbol.getType() != llvm::ELF::STT_TLS && symbol.getType() != llvm::ELF::STT_GNU_IFUNC;
  if (symbol.st_shndx == llvm::ELF::SHN_UNDEF && isPlain && !name.empty()) {
    auto [found, isNew] = imports.try_emplace(name, image.imports.size());
    if (isNew)
      image.imports.push_back(name.str());
    target = {Fixup::Target::Import, found->second, 0};
    return true;
  }
  auto found = places.find(symbol.st_shndx);
  if (!isPlain || found == places.end()) {
    error = "native code refers to what is not loaded with it: symbol '" + name.str() + "'";
    return false;
  }
  target = {found->second.part == Fixup::Part::Code ? Fixup::Target::Code : Fixup::Target::Data, 0,
            found->second.offset + symbol.st_value};
  return true;
}

uint64_t Linker::addressOf(const Target &target) {
  auto [found, isNew] = addresses.try_emplace({target.target, target.offset});
  if (isNew) {
    found->second = append(image.data, image.dataAlignment, llvm::SmallVector<uint8_t>(8, 0), 8);
    image.fixups.push_back({.kind = Fixup::Kind::Absolute64,
                            .part = Fixup::Part::Data,
                            .target = target.target,
                            .offset = found->second,
                            .addend = static_cast<int64_t>(target.offset)});
  }
  return found->second;
}

bool Linker::relocate(const File &file, const ELF::Shdr &section) {
  auto found = places.find(section.sh_info);
  if (found == places.end())
    return true;
  if (section.sh_type != llvm::ELF::SHT_RELA) {
    error = "native code has relocations in an unknown form: section type " + llvm::utostr(section.sh_type);
    return false;
  }
  ELF::RelaRange relocations;
  if (!take(file.relas(section), relocations))
    return false;
  for (const ELF::Rela &each : relocations) {
    uint32_t type = each.getType(false);
    if (type == llvm::ELF::R_X86_64_NONE)
      continue;
    std::optional<Relocation> relocation = relocationOf(image.machine, type);
    Target target{};
    if (relocation && !targetOf(file, each.getSymbol(false), target))
      return false;
    // Others have no table of the addresses of what is ours.
    if (relocation && relocation->throughAddress && relocation->kind == Fixup::Kind::Elf &&
        target.target != Fixup::Target::Import)
      relocation.reset();
    if (!relocation) {
      error = "native code has a relocation of an unknown kind: " +
              llvm::object::getELFRelocationTypeName(file.getHeader().e_machine, type).str();
      return false;
    }
    Fixup fixup{.kind = relocation->kind,
                .part = found->second.part,
                .target = target.target,
                .import = target.import,
                .offset = found->second.offset + each.r_offset,
                .addend = each.r_addend + static_cast<int64_t>(target.offset)};
    if (fixup.kind == Fixup::Kind::Elf)
      fixup.relocation = type;
    if (relocation->throughAddress && target.target == Fixup::Target::Import) {
      fixup.target = Fixup::Target::ImportAddress;
    } else if (relocation->throughAddress) {
      fixup.target = Fixup::Target::Data;
      fixup.addend = each.r_addend + static_cast<int64_t>(addressOf(target));
    }
    image.fixups.push_back(fixup);
  }
  return true;
}

bool Linker::link(llvm::StringRef object) {
  bool isELF64LE = object.size() > llvm::ELF::EI_DATA && object.starts_with(llvm::ELF::ElfMagic) &&
                   object[llvm::ELF::EI_CLASS] == llvm::ELF::ELFCLASS64 &&
                   object[llvm::ELF::EI_DATA] == llvm::ELF::ELFDATA2LSB;
  if (!isELF64LE) {
    error = "native code for this processor can't be linked yet";
    return false;
  }
  llvm::Expected<File> file = File::create(object);
  if (!file) {
    error = "the object can't be read: " + llvm::toString(file.takeError());
    return false;
  }
  image.machine = machineOf(file->getHeader());
  if (image.machine == runtime::Machine::None) {
    error = "native code for this processor can't be linked yet";
    return false;
  }
  ELF::ShdrRange sections;
  if (!take(file->sections(), sections))
    return false;
  for (auto [number, section] : llvm::enumerate(sections))
    if (!place(*file, number, section))
      return false;
  for (const ELF::Shdr &section : sections)
    if (section.sh_type == llvm::ELF::SHT_SYMTAB && !findSymbols(*file, section))
      return false;
  for (const ELF::Shdr &section : sections)
    if (llvm::is_contained({llvm::ELF::SHT_RELA, llvm::ELF::SHT_REL, llvm::ELF::SHT_CREL}, section.sh_type) &&
        !relocate(*file, section))
      return false;
  return true;
}

} // namespace

LinkResult linkObject(llvm::StringRef object, llvm::ArrayRef<llvm::StringRef> exports) {
  Linker linker(exports);
  LinkResult result;
  if (linker.link(object))
    result.image = std::move(linker.image);
  result.error = std::move(linker.error);
  return result;
}

} // namespace calque::codegen
