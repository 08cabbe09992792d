#include "frontend/saving/ElfObject.h"

#include <cstring>
#include <elf.h>

namespace calque::detail {

using runtime::Fixup;
using runtime::Image;

namespace {
constexpr std::uint32_t kFirstSymbol = 4; // after the empty symbol and the symbols of the three sections

std::uint32_t symbolOf(Fixup::Part part) { return part == Fixup::Part::Code ? 1 : 2; }

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

template <typename T> std::span<const std::byte> bytesIn(const T &value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
} // namespace

std::uint64_t ElfObject::append(Section section, std::span<const std::byte> bytes, std::uint64_t alignment) {
  std::vector<std::byte> &to = bytesOf(section);
  to.resize(aligned(to.size(), alignment));
  std::uint64_t offset = to.size();
  to.insert(to.end(), bytes.begin(), bytes.end());
  return offset;
}

std::uint32_t ElfObject::importOf(const std::string &name) {
  auto [found, isNew] = imports.try_emplace(name, kFirstSymbol + static_cast<std::uint32_t>(symbols.size()));
  if (isNew)
    symbols.push_back({name, std::nullopt});
  return found->second;
}

std::size_t ElfObject::addImage(const Image &image) {
  Placed placed{append(Section::Code, image.code, image.codeAlignment),
                append(Section::Data, image.data, image.dataAlignment),
                {}};
  for (const Image::Symbol &symbol : image.symbols)
    placed.symbols.emplace(symbol.name, placed.code + symbol.offset);
  for (const Fixup &fixup : image.fixups) {
    const bool inCode = fixup.part == Fixup::Part::Code;
    Relocation made{inCode ? Section::Code : Section::Data, (inCode ? placed.code : placed.data) + fixup.offset, 0, 0,
                    fixup.addend};
    made.type = fixup.kind == Fixup::Kind::Elf          ? fixup.relocation
                : fixup.kind == Fixup::Kind::Absolute64 ? R_X86_64_64
                : fixup.kind == Fixup::Kind::Relative64 ? R_X86_64_PC64
                                                        : R_X86_64_PC32;
    switch (fixup.target) {
    case Fixup::Target::Code:
    case Fixup::Target::Data: {
      const bool toCode = fixup.target == Fixup::Target::Code;
      made.symbol = symbolOf(toCode ? Fixup::Part::Code : Fixup::Part::Data);
      made.addend += static_cast<std::int64_t>(toCode ? placed.code : placed.data);
      break;
    }
    case Fixup::Target::Import:
      made.symbol = importOf(image.imports[fixup.import]);
      if (made.type == R_X86_64_PC32)
        made.type = R_X86_64_PLT32;
      break;
    case Fixup::Target::ImportAddress:
      made.symbol = importOf(image.imports[fixup.import]);
      if (fixup.kind != Fixup::Kind::Elf)
        made.type = R_X86_64_GOTPCREL;
      break;
    }
    relocations.push_back(made);
  }
  images.push_back(std::move(placed));
  return images.size() - 1;
}

void ElfObject::addBytes(const std::string &name, std::span<const std::byte> bytes) {
  std::uint64_t offset = append(Section::Data, bytes, 16);
  symbols.push_back({name, Section::Data, offset, bytes.size()});
}

void ElfObject::addAddresses(const std::string &name, std::span<const std::optional<FunctionAddress>> addresses) {
  std::uint64_t offset = append(Section::Addresses, std::vector<std::byte>(8 * addresses.size()), 8);
  symbols.push_back({name, Section::Addresses, offset, 8 * addresses.size()});
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!addresses[i])
      continue;
    const Placed &image = images[addresses[i]->image];
    if (auto found = image.symbols.find(addresses[i]->symbol); found != image.symbols.end())
      relocations.push_back(
          {Section::Addresses, offset + 8 * i,
           static_cast<std::uint32_t>(machine == runtime::Machine::X86_64 ? R_X86_64_64 : R_AARCH64_ABS64), 1,
           static_cast<std::int64_t>(found->second)});
  }
}

std::vector<std::byte> ElfObject::file() const {
  // The sections: none, the three with contents, their relocations, symbols, their names, the sections' names, and the
  // note that the stack is not executable.
  enum {
    None,
    Code,
    Data,
    Addresses,
    CodeRelocations,
    DataRelocations,
    AddressRelocations,
    Symbols,
    Names,
    SectionNames,
    NoStack,
    Count
  };
  static constexpr const char *kNames[] = {"",           ".text",        ".rodata",           ".data.rel.ro",
                                           ".rela.text", ".rela.rodata", ".rela.data.rel.ro", ".symtab",
                                           ".strtab",    ".shstrtab",    ".note.GNU-stack"};
  std::vector<std::byte> out(sizeof(Elf64_Ehdr));
  Elf64_Shdr headers[Count] = {};
  auto put = [&](int section, std::span<const std::byte> bytes, std::uint64_t alignment) {
    out.resize(aligned(out.size(), alignment));
    headers[section].sh_offset = out.size();
    headers[section].sh_size = bytes.size();
    headers[section].sh_addralign = alignment;
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  constexpr std::uint64_t alignments[] = {64, 64, 8};
  for (int i = 0; i < 3; ++i) {
    put(Code + i, sections[i], alignments[i]);
    headers[Code + i].sh_type = SHT_PROGBITS;
    headers[Code + i].sh_flags = SHF_ALLOC | (i == 0 ? SHF_EXECINSTR : i == 2 ? SHF_WRITE : 0);
    std::vector<std::byte> entries;
    for (const Relocation &relocation : relocations)
      if (static_cast<int>(relocation.section) == i) {
        Elf64_Rela entry = {relocation.offset, ELF64_R_INFO(std::uint64_t(relocation.symbol), relocation.type),
                            relocation.addend};
        auto bytes = bytesIn(entry);
        entries.insert(entries.end(), bytes.begin(), bytes.end());
      }
    put(CodeRelocations + i, entries, 8);
    headers[CodeRelocations + i].sh_type = SHT_RELA;
    headers[CodeRelocations + i].sh_flags = SHF_INFO_LINK;
    headers[CodeRelocations + i].sh_link = Symbols;
    headers[CodeRelocations + i].sh_info = static_cast<Elf64_Word>(Code + i);
    headers[CodeRelocations + i].sh_entsize = sizeof(Elf64_Rela);
  }

  std::string names(1, '\0');
  std::vector<std::byte> table(sizeof(Elf64_Sym));
  auto add = [&](const Elf64_Sym &symbol) {
    auto bytes = bytesIn(symbol);
    table.insert(table.end(), bytes.begin(), bytes.end());
  };
  for (int i = 0; i < 3; ++i)
    add({0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), STV_DEFAULT, static_cast<Elf64_Half>(Code + i), 0, 0});
  for (const Symbol &symbol : symbols) {
    auto name = static_cast<Elf64_Word>(names.size());
    names += symbol.name + '\0';
    if (symbol.section)
      add({name, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), STV_HIDDEN,
           static_cast<Elf64_Half>(Code + static_cast<int>(*symbol.section)), symbol.offset, symbol.size});
    else
      add({name, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), STV_DEFAULT, SHN_UNDEF, 0, 0});
  }
  put(Symbols, table, 8);
  headers[Symbols].sh_type = SHT_SYMTAB;
  headers[Symbols].sh_link = Names;
  headers[Symbols].sh_info = kFirstSymbol; // the symbols before it are local
  headers[Symbols].sh_entsize = sizeof(Elf64_Sym);
  put(Names, std::as_bytes(std::span(names)), 1);
  headers[Names].sh_type = SHT_STRTAB;
  std::string sectionNames;
  for (int i = 0; i < Count; ++i) {
    headers[i].sh_name = static_cast<Elf64_Word>(sectionNames.size());
    sectionNames += std::string(kNames[i]) + '\0';
  }
  put(SectionNames, std::as_bytes(std::span(sectionNames)), 1);
  headers[SectionNames].sh_type = SHT_STRTAB;
  put(NoStack, {}, 1);
  headers[NoStack].sh_type = SHT_PROGBITS;

  out.resize(aligned(out.size(), 8));
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = static_cast<Elf64_Half>(machine);
  header.e_version = EV_CURRENT;
  header.e_shoff = out.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = Count;
  header.e_shstrndx = SectionNames;
  std::memcpy(out.data(), &header, sizeof header);
  auto all = std::as_bytes(std::span(headers));
  out.insert(out.end(), all.begin(), all.end());
  return out;
}

} // namespace calque::detail
