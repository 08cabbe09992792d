// Tests codegen/native/LinkObject.h with objects that LLVM makes of IR and assembly.
#include "codegen/native/LinkObject.h"
#include "runtime/LoadedCode.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace calque;
using codegen::LinkResult;
using runtime::Fixup;
using runtime::Image;
using runtime::LoadedCode;

namespace {

// The object of LLVM IR, which may have assembly of its own.
std::string objectOf(const std::string &text) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str();
    return "";
  }
  std::string error;
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm::TargetRegistry::lookupTarget(triple, error)
          ->createTargetMachine(triple, "", "", {}, llvm::Reloc::PIC_, llvm::CodeModel::Small));
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(triple);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager manager;
  machine->addPassesToEmitFile(manager, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  manager.run(*module);
  return std::string(bytes.begin(), bytes.end());
}

std::string objectOfAssembly(std::initializer_list<const char *> lines) {
  std::string text;
  for (const char *line : lines)
    text += "module asm \"" + std::string(line) + "\"\n";
  return objectOf(text);
}

class LinkObject : public testing::Test {
protected:
  void SetUp() override {
    if (runtime::hostMachine() != runtime::Machine::X86_64)
      GTEST_SKIP() << "native code for this processor can't be linked yet";
  }

  Image link(const std::string &object, llvm::ArrayRef<llvm::StringRef> exports = {"entry"}) {
    LinkResult linked = codegen::linkObject(object, exports);
    EXPECT_TRUE(linked.image) << linked.error;
    return linked.image.value_or(Image());
  }
  // Loads an image into `code`, and gives its function.
  template <typename F> F *load(const Image &image, const char *name = "entry") {
    const Image *images[] = {&image};
    runtime::LoadResult loaded = LoadedCode::load(images, nullptr)[0];
    EXPECT_TRUE(loaded.code) << loaded.error;
    code = loaded.code;
    return code ? reinterpret_cast<F *>(code->find(name)) : nullptr;
  }
  std::string errorOf(const std::string &object) {
    LinkResult linked = codegen::linkObject(object, {"entry"});
    EXPECT_FALSE(linked.image);
    return linked.error;
  }

  std::shared_ptr<const LoadedCode> code;
};

TEST_F(LinkObject, TakesFunctionsConstantsAndImports) {
  Image image = link(objectOf(R"(
    @table = private constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5], align 64
    declare double @exp(double)
    define internal double @twice(double %x) noinline {
      %e = call double @exp(double %x)
      %r = fmul double %e, 2.125
      ret double %r
    }
    define double @entry(i64 %i) {
      %p = getelementptr double, ptr @table, i64 %i
      %x = load double, ptr %p
      %y = call double @twice(double %x)
      ret double %y
    })"));
  EXPECT_EQ(image.imports, std::vector<std::string>{"exp"});
  ASSERT_EQ(image.symbols.size(), 1u);
  EXPECT_EQ(image.dataAlignment, 64u);
  EXPECT_EQ(load<double(std::int64_t)>(image)(2), std::exp(3.5) * 2.125);
}

TEST_F(LinkObject, TakesTablesOfJumps) {
  auto *entry = load<std::int64_t(std::int64_t)>(link(objectOf(R"(
    define i64 @entry(i64 %x) {
      switch i64 %x, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e ]
    a:
      ret i64 11
    b:
      ret i64 -7
    c:
      ret i64 %x
    d:
      %s = mul i64 %x, %x
      ret i64 %s
    e:
      %t = call i64 @labs(i64 -90)
      ret i64 %t
    other:
      ret i64 0
    }
    declare i64 @labs(i64))")));
  EXPECT_EQ(entry(1), -7);
  EXPECT_EQ(entry(2), 2);
  EXPECT_EQ(entry(3), 9);
  EXPECT_EQ(entry(4), 90);
  EXPECT_EQ(entry(5), 0);
}

// Tables of pointers are sections that only a linker writes.
TEST_F(LinkObject, TakesAddressesInConstants) {
  Image image = link(objectOf(R"(
    @functions = constant [3 x ptr] [ptr @one, ptr @two, ptr @abs]
    define i32 @one(i32 %x) { ret i32 1 }
    define i32 @two(i32 %x) { ret i32 2 }
    declare i32 @abs(i32)
    define ptr @address() { ret ptr @two }
    define ptr @absolute() { ret ptr @abs }
    define ptr @constants() { ret ptr @functions }
    define i32 @entry(i64 %i) {
      %p = getelementptr ptr, ptr @functions, i64 %i
      %f = load ptr, ptr %p
      %r = call i32 %f(i32 -5)
      ret i32 %r
    })"),
                     {"entry", "two", "address", "absolute", "constants"});
  auto *entry = load<int(std::int64_t)>(image);
  EXPECT_EQ(entry(0), 1);
  EXPECT_EQ(entry(1), 2);
  EXPECT_EQ(entry(2), 5);
  auto returned = [&](const char *name) { return reinterpret_cast<void *(*)()>(code->find(name))(); };
  EXPECT_EQ(returned("address"), code->find("two"));
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(returned("absolute"))(-8), 8);
  void *second;
  std::memcpy(&second, static_cast<char *>(returned("constants")) + sizeof(void *), sizeof second);
  EXPECT_EQ(second, code->find("two"));
}

// The sizes of a tensor of rank 0, for one.
TEST_F(LinkObject, TakesAddressesOfNothing) {
  Image image = link(objectOf(R"(
    @none = private constant [0 x i64] zeroinitializer
    define ptr @entry() { ret ptr @none })"));
  EXPECT_TRUE(image.data.empty());
  EXPECT_NE(load<void *()>(image)(), nullptr);
}

TEST_F(LinkObject, TakesEachRelocation) {
  Image image = link(objectOfAssembly({
      ".text",
      ".globl entry",
      "entry: sub $8, %rsp",
      "mov $-3, %edi",
      "call abs@PLT",                 // PLT32
      "mov abs@GOTPCREL(%rip), %rcx", // REX_GOTPCRELX
      "mov %eax, %edi",
      "call *%rcx",
      "call *abs@GOTPCREL(%rip)", // GOTPCRELX
      "mov %eax, %edi",
      "call helper",                     // PLT32 to another section
      "mov helper@GOTPCREL(%rip), %rcx", // the address of what is here
      "mov %eax, %edi",
      "call *%rcx",
      "pushq helper@GOTPCREL(%rip)", // and once more
      "pop %rcx",
      "mov %eax, %edi",
      "call *%rcx",
      "lea far(%rip), %rcx",
      "add far(%rip), %rcx", // PC64
      "mov %eax, %edi",
      "call *%rcx",
      "mov pointer(%rip), %rcx", // 64
      "mov %eax, %edi",
      "call *%rcx",
      "add $8, %rsp",
      "ret",
      ".section .text.other,\\22ax\\22,@progbits",
      "nop",
      "helper: lea 10(%rdi), %eax",
      "ret",
      ".section .rodata,\\22a\\22,@progbits",
      ".balign 32",
      ".byte 1",
      ".balign 8",
      "far: .quad helper - far",
      ".section .data.rel.ro,\\22aw\\22,@progbits",
      "pointer: .quad helper",
  }));
  EXPECT_EQ(image.dataAlignment, 32u);
  EXPECT_EQ(image.imports, std::vector<std::string>{"abs"});
  // One place with the address serves both.
  EXPECT_EQ(image.data.size(), 16u + 8 + 8);
  EXPECT_EQ(load<int()>(image)(), 53);
}

TEST_F(LinkObject, LeavesBehindWhatNoCodeReads) {
  std::initializer_list<const char *> plain = {".text", ".globl entry", "entry: mov $5, %eax", "ret"};
  Image expected = link(objectOfAssembly(plain));
  Image image = link(objectOfAssembly({
      ".text",
      ".globl entry, hidden",
      "entry: .cfi_startproc",
      "mov $5, %eax",
      "ret",
      ".cfi_endproc",
      "hidden = 5",
      ".section .debug_line,\\22\\22,@progbits",
      ".quad entry",
      ".section .note.gnu.property,\\22a\\22,@note",
      ".quad 0",
      ".section .comment,\\22MS\\22,@progbits,1",
      ".asciz \\22who made it\\22",
      ".data",
      ".bss",
  }));
  EXPECT_EQ(image, expected);
  EXPECT_EQ(load<int()>(image)(), 5);
}

// Equal code gives equal images, whatever the file was named and in which order it was asked for.
TEST_F(LinkObject, DependsOnTheCodeAlone) {
  std::string text = R"(
    declare i32 @abs(i32)
    declare i32 @getpid()
    define i32 @entry() {
      %p = call i32 @getpid()
      %r = call i32 @abs(i32 %p)
      ret i32 %r
    })";
  std::string named = "source_filename = \"another.cpp\"\n" + text;
  EXPECT_EQ(runtime::serialize(link(objectOf(text))), runtime::serialize(link(objectOf(named))));
}

TEST_F(LinkObject, RefusesWhatCannotBePlaced) {
  auto with = [](std::initializer_list<const char *> lines) {
    std::vector<const char *> all = {".text", ".globl entry", "entry: ret"};
    all.insert(all.end(), lines);
    std::string text;
    for (const char *line : all)
      text += "module asm \"" + std::string(line) + "\"\n";
    return objectOf(text);
  };
  EXPECT_EQ(errorOf(with({".data", ".long 1"})), "native code has writable data: section .data");
  EXPECT_EQ(errorOf(with({".bss", ".zero 4"})), "native code has writable data: section .bss");
  EXPECT_EQ(errorOf(with({".section .text.w,\\22awx\\22,@progbits", "nop"})),
            "native code has writable data: section .text.w");
  EXPECT_EQ(errorOf(with({".section .tdata,\\22awT\\22,@progbits", ".long 1"})),
            "native code has thread-local data: section .tdata");
  EXPECT_EQ(errorOf(with({".section .tbss,\\22awT\\22,@nobits", ".zero 4"})),
            "native code has thread-local data: section .tbss");
  EXPECT_EQ(errorOf(with({".section .rodata,\\22a\\22,@progbits", ".balign 8192", ".byte 1"})),
            "native code has an alignment of more than a page: section .rodata");
  EXPECT_EQ(errorOf(with({"mov $abs, %eax"})), "native code has a relocation of an unknown kind: R_X86_64_32");
  EXPECT_EQ(errorOf(with({"mov %fs:outside@TPOFF, %eax"})),
            "native code has a relocation of an unknown kind: R_X86_64_TPOFF32");
  EXPECT_EQ(errorOf(with({".comm shared, 4, 4", "mov shared(%rip), %eax"})),
            "native code refers to what is not loaded with it: symbol 'shared'");
  EXPECT_EQ(errorOf(with({".type choose, @gnu_indirect_function", "choose: ret", ".globl choose", "call choose@PLT"})),
            "native code refers to what is not loaded with it: symbol 'choose'");
  EXPECT_EQ(errorOf(objectOfAssembly({".text", "entry: ret"})),
            "native code does not define what it must export: entry");
  EXPECT_EQ(errorOf(objectOfAssembly({".text", ".globl entry", "call entry@PLT"})),
            "native code does not define what it must export: entry");
  EXPECT_EQ(errorOf(objectOfAssembly({".section .rodata,\\22a\\22,@progbits", ".globl entry", "entry: .long 1"})),
            "native code does not define what it must export: entry");
}

TEST_F(LinkObject, RefusesOtherProcessorsAndOtherFiles) {
  std::string object = objectOfAssembly({".text", ".globl entry", "entry: ret"});
  std::string other = object;
  other[18] = static_cast<char>(243);
  EXPECT_EQ(errorOf(other), "native code for this processor can't be linked yet");
  EXPECT_EQ(errorOf("\xcf\xfa\xed\xfe, an object of another system"),
            "native code for this processor can't be linked yet");
  for (std::size_t at : {4, 5}) {
    std::string other = object;
    other[at] ^= 3;
    EXPECT_EQ(errorOf(other), "native code for this processor can't be linked yet");
  }
  for (std::size_t length = 0; length < object.size(); ++length)
    EXPECT_NE(errorOf(object.substr(0, length)), "") << length;
}

} // namespace
