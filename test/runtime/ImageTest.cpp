// Tests runtime/Image.h: the form for files.
#include "runtime/Image.h"

#include "runtime/LoadedCode.h"

#include <gtest/gtest.h>

using namespace calque::runtime;

namespace {

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Image sample() {
  Image image;
  image.dataAlignment = 64;
  image.code = bytesOf({0xb8, 42, 0, 0, 0, 0xc3, 0, 0, 0, 0});
  image.data = bytesOf({1, 2, 3, 4, 5, 6, 7, 8});
  image.fixups = {{.kind = Fixup::Kind::Relative32,
                   .part = Fixup::Part::Code,
                   .target = Fixup::Target::Import,
                   .import = 1,
                   .offset = 6,
                   .addend = -4},
                  {.kind = Fixup::Kind::Absolute64,
                   .part = Fixup::Part::Data,
                   .target = Fixup::Target::Code,
                   .offset = 0,
                   .addend = 5}};
  image.imports = {"calque_rt_fail", "exp"};
  image.symbols = {{"entry", 0}, {"", 5}};
  return image;
}

TEST(Image, IsTheSameAfterItsFormForFiles) {
  for (const Image &image : {sample(), Image()}) {
    ParsedImage parsed = parseImage(serialize(image));
    ASSERT_TRUE(parsed.image) << parsed.error;
    EXPECT_EQ(*parsed.image, image);
  }
}

TEST(Image, HasAFormThatNoMachineChanges) {
  Image image;
  image.machine = Machine::X86_64;
  image.code = bytesOf({0xc3});
  image.symbols = {{"f", 0x102}};
  std::string begin = "calque-image\n";
  std::vector<std::byte> expected(reinterpret_cast<const std::byte *>(begin.data()),
                                  reinterpret_cast<const std::byte *>(begin.data()) + begin.size());
  for (std::byte each : bytesOf({1, 0, 0, 0, 62, 0, 0, 0, 16,   0, 0, 0, 16, 0, 0, 0, //
                                 1, 0, 0, 0, 0,  0, 0, 0, 0xc3,                       // code
                                 0, 0, 0, 0, 0,  0, 0, 0,                             // data
                                 0, 0, 0, 0, 0,  0, 0, 0,                             // fixups
                                 0, 0, 0, 0, 0,  0, 0, 0,                             // imports
                                 1, 0, 0, 0, 0,  0, 0, 0,                             // symbols
                                 1, 0, 0, 0, 0,  0, 0, 0, 'f',  2, 1, 0, 0,  0, 0, 0, 0}))
    expected.push_back(each);
  EXPECT_EQ(serialize(image), expected);
}

TEST(Image, CutShortIsRefused) {
  std::vector<std::byte> bytes = serialize(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ParsedImage parsed = parseImage(std::span(bytes).first(length));
    EXPECT_FALSE(parsed.image) << length;
    EXPECT_EQ(parsed.error, length < 13 ? "these bytes are no native code of Calque"
                                        : (length < 17 ? "this native code is in the form of another version"
                                                       : "this native code is cut short"))
        << length;
  }
  bytes.push_back(std::byte(0));
  EXPECT_EQ(parseImage(bytes).error, "this native code is damaged");
}

// Lengths that would take all memory are among these.
TEST(Image, DamagedIsRefusedOrIsAnotherOne) {
  const std::vector<std::byte> bytes = serialize(sample());
  int refused = 0, notLoaded = 0, loaded = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
      std::vector<std::byte> damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(mask);
      ParsedImage parsed = parseImage(damaged);
      if (!parsed.image) {
        EXPECT_NE(parsed.error, "");
        ++refused;
        continue;
      }
      EXPECT_NE(*parsed.image, sample()) << at;
      const Image *images[] = {&*parsed.image};
      LoadResult result = LoadedCode::load(images, calque_rt_functions())[0];
      EXPECT_EQ(result.code == nullptr, !result.error.empty());
      ++(result.code ? loaded : notLoaded);
    }
  EXPECT_GT(refused, 0);
  EXPECT_GT(notLoaded, 0);
  if (hostMachine() != Machine::None) {
    EXPECT_GT(loaded, 0);
  }
}

} // namespace
