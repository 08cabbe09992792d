// Files of tensors in the format safetensors: what is written, what is read, and what is refused.
#include "calque/safetensors.h"
#include "calque/file_writer.h"
#include "test/saving/Testing.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace calque;
using namespace calque::testing;

namespace {

// A file as another program writes it.
std::string fileOf(const std::string &header, const std::string &data = {}) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

void expectSame(const Tensor &x, const Tensor &expected) {
  EXPECT_EQ(x.dtype(), expected.dtype());
  EXPECT_EQ(x.shape().str(), expected.shape().str());
  EXPECT_TRUE(std::ranges::equal(x.bytes(), expected.bytes()));
}

std::string faultIn(const std::string &path) {
  std::string text = errorOf<DataError>([&] { load_safetensors(path); });
  EXPECT_TRUE(text.starts_with(path + ": ")) << text;
  return text;
}

const std::map<std::string, Tensor> &samples() {
  static const std::map<std::string, Tensor> all = {
      {"flags", tensor<bool>({true, false, true})},
      {"int32", tensor({1, -2, 3, 4, 5, 6}, {2, 3})},
      {"int64", tensor({std::int64_t(1) << 40})},
      {"float32", tensor<float>({0.5, -1}, {1, 2, 1})},
      {"float64", tensor<double>({0.1, std::nan(""), -0.0})},
      {"scalar", scalar(0.25)},
      {"empty", zeros({0, 3})},
      {"ä \"quoted\" \\ \n name", ones({2})},
  };
  return all;
}

} // namespace

TEST(Safetensors, KeepsEveryTypeAndShape) {
  TemporaryDirectory directory;
  const std::string path = directory.file("all.safetensors");
  save_safetensors(path, samples(), {{"epoch", "3"}, {"note", "\"ä\""}});
  std::map<std::string, Tensor> loaded = load_safetensors(path);
  ASSERT_EQ(loaded.size(), samples().size());
  for (const auto &[name, x] : samples())
    expectSame(loaded.at(name), x);
  EXPECT_EQ(load_safetensors_metadata(path), (std::map<std::string, std::string>{{"epoch", "3"}, {"note", "\"ä\""}}));
  save_safetensors(path, {});
  EXPECT_TRUE(load_safetensors(path).empty());
  EXPECT_EQ(namesIn(directory.path).size(), 1u);
}

TEST(Safetensors, TakesSlicesTransposesAndVariables) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  Variable v(tensor<float>({1, 2}), {.name = "v"});
  save_safetensors(path, {{"row", x[1]}, {"rows", x.rows(1, 2)}, {"transposed", transpose(x)}, {"v", v}});
  v.assign_add(1);
  std::map<std::string, Tensor> loaded = load_safetensors(path);
  expectSame(loaded.at("row"), tensor({4, 5, 6}));
  expectSame(loaded.at("rows"), tensor({4, 5, 6}, {1, 3}));
  expectSame(loaded.at("transposed"), tensor({1, 4, 2, 5, 3, 6}, {3, 2}));
  expectSame(loaded.at("v"), tensor<float>({1, 2}));

  layers::Dense dense(2);
  dense.build(Shape{1, 3});
  save_safetensors(path, dense.named_variables());
  loaded = load_safetensors(path);
  ASSERT_EQ(loaded.size(), 2u);
  expectSame(loaded.at("kernel"), dense.variable("kernel").value());
  // What is loaded is nobody else's.
  Variable kernel(loaded.at("kernel"));
  kernel.assign_add(1);
  expectSame(loaded.at("kernel"), dense.variable("kernel").value());
}

TEST(Safetensors, BeginsTheDataAtAMultipleOf64AndAlignsEachTensor) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  for (std::size_t length = 1; length < 70; ++length) {
    save_safetensors(path, {{std::string(length, 'n'), tensor<double>({1})}, {"flag", scalar(true)}});
    const std::string bytes = readFile(path);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    EXPECT_EQ((header + 8) % 64, 0u);
    EXPECT_EQ(bytes.size(), header + 8 + 9);
    EXPECT_EQ(bytes.substr(8, 34), "{\"__metadata__\":{\"calque.format\":\"");
    EXPECT_NE(bytes.find("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]"), std::string::npos);
  }
}

TEST(Safetensors, IsReadAsOthersWriteIt) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  writeFile(path, fileOf(R"({ "b": {"shape":[], "data_offsets":[8,9], "dtype":"BOOL"},
      "a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}, "__metadata__":{"k":"v"} }   )",
                         std::string("\1\0\0\0\2\0\0\0\1", 9)));
  std::map<std::string, Tensor> loaded = load_safetensors(path);
  expectSame(loaded.at("a"), tensor({1, 2}));
  expectSame(loaded.at("b"), scalar(true));
  EXPECT_EQ(load_safetensors_metadata(path).at("k"), "v");
  EXPECT_MISUSE(DataError, load_safetensors(path, {.require_digest = true}),
                "it has no SHA-256, which says whether the file is as it was written");
  // Types that Calque has not are known, and refused by name.
  writeFile(path, fileOf(R"({"h":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]}})", "abcd"));
  EXPECT_CONTAINS(faultIn(path), "'h' is F8_E4M3[2,2], and tensors of Calque are BOOL, I32, I64, F32, F64");
}

TEST(Safetensors, SmallerElementsAreWidened) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  auto load = [&](const std::string &code, std::size_t size, auto... elements) {
    std::string bytes;
    (bytes.append(reinterpret_cast<const char *>(&elements), sizeof(elements)), ...);
    const std::string count = std::to_string(bytes.size() / size), end = std::to_string(bytes.size());
    writeFile(path,
              fileOf(R"({"x":{"dtype":")" + code + R"(","shape":[)" + count + R"(],"data_offsets":[0,)" + end + "]}}",
                     bytes));
    return load_safetensors(path).at("x");
  };
  using U16 = std::uint16_t;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // 1, -2, 65504, the smallest one, infinity.
  expectSame(load("F16", 2, U16(0x3c00), U16(0xc000), U16(0x7bff), U16(0x0001), U16(0x7c00)),
             tensor<float16>({1, -2, 65504, 0x1p-24f, infinity}));
  expectSame(load("BF16", 2, U16(0x3f80), U16(0xc0a0), U16(0x0001), U16(0xff80)),
             tensor<bfloat16>({1, -5, 0x1p-133f, -infinity}));
  EXPECT_TRUE(std::isnan(load("F16", 2, U16(0x7fff)).to_vector<float16>()[0]));
  EXPECT_TRUE(std::isnan(load("BF16", 2, U16(0x7fff)).to_vector<bfloat16>()[0]));
  expectSame(load("I8", 1, std::int8_t(-128), std::int8_t(127)), tensor<std::int8_t>({-128, 127}));
  expectSame(load("U8", 1, std::uint8_t(255)), tensor<std::uint8_t>({255}));
  expectSame(load("I16", 2, std::int16_t(-32768)), tensor<std::int16_t>({-32768}));
  expectSame(load("U16", 2, U16(65535)), tensor<U16>({65535}));
  expectSame(load("U32", 4, std::uint32_t(4294967295u)), tensor<std::uint32_t>({4294967295}));
}

TEST(Safetensors, EveryByteThatIsAnotherOneIsFound) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  save_safetensors(path, {{"w", tensor<float>({1, 2, 3})}, {"flag", scalar(true)}, {"none", zeros({0})}},
                   {{"epoch", "3"}});
  const std::string whole = readFile(path);
  auto write = [&](const std::string &bytes) {
    std::filesystem::remove(path); // to cut a file and write it anew takes a disk milliseconds
    writeFile(path, bytes);
  };
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      write(bytes);
      SCOPED_TRACE("byte " + std::to_string(at) + ", bit " + std::to_string(bit));
      faultIn(path);
    }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    SCOPED_TRACE("cut to " + std::to_string(length));
    EXPECT_CONTAINS(faultIn(path), "truncated");
  }
  write(whole + "x");
  EXPECT_CONTAINS(faultIn(path), "bytes of data, and there are");
}

TEST(Safetensors, NamesWhatIsWrongInAFile) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  auto faultOf = [&](const std::string &bytes) {
    writeFile(path, bytes);
    return faultIn(path);
  };
  auto headerFault = [&](const std::string &header, const std::string &data = {}) {
    return faultOf(fileOf(header, data));
  };
  auto entry = [](const std::string &type, const std::string &shape, const std::string &offsets) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  EXPECT_CONTAINS(faultOf("abc"), "truncated: it ends within its header");
  EXPECT_CONTAINS(faultOf(std::string(8, '\x7f')), "this is no safetensors file: its header has 9187201950435737471 "
                                                   "bytes, and may have 100000000");
  EXPECT_CONTAINS(faultOf(fileOf("{}").substr(0, 9)), "truncated, or no safetensors file: its header has 2 bytes, and "
                                                      "there are 1");
  EXPECT_CONTAINS(headerFault(""), "its header is damaged: it does not begin with '{'");
  EXPECT_CONTAINS(headerFault(" {}"), "its header is damaged: it does not begin with '{'");
  EXPECT_CONTAINS(headerFault("{"), "it is no JSON at byte 2");
  EXPECT_CONTAINS(headerFault("{}x"), "it is no JSON at byte 3");
  EXPECT_CONTAINS(headerFault(std::string("{}\0x", 4)), "it is no JSON at byte 2");
  EXPECT_CONTAINS(headerFault("{\"\xff\":1}"), "it is no JSON at byte 3");
  EXPECT_CONTAINS(headerFault(R"({"a":1})"), "there is a number where an object should be");
  EXPECT_CONTAINS(headerFault(R"({"a":[]})"), "there is a list where an object should be");
  EXPECT_CONTAINS(headerFault(R"({"a":null})"), "there is null where an object should be");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"k":1}})"), "'k' has a number where it may not");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"k":{}}})"), "'k' has an object where it may not");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"k":"1","k":"2"}})"), "there are two of the name 'k'");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{},"__metadata__":{}})"), "there are two of the name '__metadata__'");
  const std::string byte = entry("U8", "[1]", "[0,1]");
  EXPECT_CONTAINS(headerFault("{\"a\":" + byte + ",\"a\":" + byte + "}", "x"), "there are two of the name 'a'");
  EXPECT_CONTAINS(headerFault(R"({"a":{"dtype":"U8","shape":[1]}})", "x"), "'a' has not all of dtype, shape and data_");
  EXPECT_CONTAINS(headerFault(R"({"a":{"dtype":"U8","dtype":"U8"}})", "x"), "'a' has two fields 'dtype'");
  EXPECT_CONTAINS(headerFault(R"({"a":{"color":"red"}})", "x"), "'a' has a field 'color'");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[-1]", "[0,1]") + "}", "x"), "'a' has a number below 0 where");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[1.0]", "[0,1]") + "}", "x"), "'a' has a number that is no int");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[[1]]", "[0,1]") + "}", "x"), "'a' has a list where it may not");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[1]", "[0,1,1]") + "}", "x"), "'a' has a number where it may");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[1]", "[0]") + "}", "x"),
                  "'a' has a list of other than two num");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U9", "[1]", "[0,1]") + "}", "x"),
                  "'a' is U9[1], and there is no such element type");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("F32", "[1]", "[0,1]") + "}", "x"),
                  "'a' is F32[1], which takes 4 bytes, and it has 1");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("F4", "[1]", "[0,1]") + "}", "x"),
                  "'a' is F4[1], which takes no number of bytes, and it has 1");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("F32", "[4294967296,4294967296]", "[0,0]") + "}"),
                  "which takes no number of bytes, and it has 0");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[1]", "[1,2]") + "}", "xy"),
                  "'a' is U8[1] in bytes 1 to 2 of the data, and those before it end at 0");
  EXPECT_CONTAINS(headerFault("{\"a\":" + byte + ",\"b\":" + byte + "}", "x"), "and those before it end at 1");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("U8", "[1]", "[1,0]") + "}", "x"), "in bytes 1 to 0 of the data");
  // A small file asks for nothing.
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("F32", "[1000000000]", "[0,4000000000]") + "}", "x"),
                  "truncated: its header says 4000000000 bytes of data, and there are 1");
  EXPECT_CONTAINS(headerFault("{\"a\":" + entry("BOOL", "[2]", "[0,2]") + "}", "\1\2"),
                  "'a' is BOOL[2], and element 1 is 2, which is no bool");
  std::string deep = "{\"a\":";
  EXPECT_CONTAINS(headerFault(deep + std::string(1'000'000, '[')), "there is a list where an object should be");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"calque.sha256":"12"}})"), "its SHA-256 is not as Calque writes it");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"calque.format":"1"}})"), "its SHA-256 is not as Calque writes it");
  const std::string digest = R"("calque.sha256":")" + std::string(64, '0') + "\"";
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"calque.format":"2",)" + digest + "}}"),
                  "version '2' of Calque's tensor files is not known; this is version 1");
  EXPECT_CONTAINS(headerFault(R"({"__metadata__":{"calque.format":"1",)" + digest + "}}"),
                  "it is damaged: its SHA-256 is not the one that was written into it");
}

TEST(Safetensors, RefusesWhatItCantReadOrWrite) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  EXPECT_MISUSE(DataError, load_safetensors("/no/such"), "/no/such: can't be opened: No such file or directory");
  EXPECT_MISUSE(DataError, load_safetensors(directory.path), "can't be read: it is no regular file");
  EXPECT_MISUSE(DataError, save_safetensors("/no/such", {}), "/no/such: can't be written: No such file or directory");
  EXPECT_MISUSE(ValueError, save_safetensors(path, {{"\xff", scalar(1)}}),
                "a tensor file: the name '\\xff' is not UTF-8");
  EXPECT_MISUSE(ValueError, save_safetensors(path, {}, {{"k", "\xff"}}),
                "a tensor file: the text '\\xff' is not UTF-8");
  EXPECT_MISUSE(ValueError, save_safetensors(path, {{"__metadata__", scalar(1)}}),
                "a tensor file: the name '__metadata__' is the format's own");
  EXPECT_MISUSE(ValueError, save_safetensors(path, {}, {{"calque.x", ""}}),
                "save_safetensors: the name 'calque.x' of metadata begins with 'calque.', as Calque's own do");
  EXPECT_MISUSE(ValueError, save_safetensors(path, {}, {{"k", std::string(100'000'000, ' ')}}),
                "bytes, and the format takes at most 100000000");
  EXPECT_MISUSE(StateError, save_safetensors(path, {{"x", Tensor()}}), "empty");
  const std::vector<std::pair<std::string, Variable>> twice(2, {"w", Variable(1)});
  EXPECT_MISUSE(ValueError, save_safetensors(path, twice), "a tensor file: the name 'w' is given to two tensors");
  auto traced = function([&](const Tensor &x) {
    save_safetensors(path, {{"x", x}});
    return x;
  });
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { traced(ones({2})); }), "a traced tensor is used outside");
  EXPECT_TRUE(namesIn(directory.path).empty());
}

TEST(Safetensors, AFileThatCantBeWrittenLeavesTheOneBefore) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors");
  save_safetensors(path, {{"w", scalar(1)}});
  rlimit limit, small;
  ::getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 1000; // as of a disk that is full
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string text = errorOf<DataError>([&] { save_safetensors(path, {{"w", zeros({1000})}}); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_CONTAINS(text, path + ": can't be written: File too large");
  EXPECT_EQ(load_safetensors(path).at("w").item<int>(), 1);
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"x.safetensors"});
}

TEST(Safetensors, KeepsRightsAndLinks) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.safetensors"), link = directory.file("link");
  save_safetensors(path, {});
  ::chmod(path.c_str(), 0640);
  std::filesystem::create_symlink("x.safetensors", link);
  save_safetensors(link, {{"w", scalar(1)}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(load_safetensors(path).size(), 1u);
  struct stat status{};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(FileWriter, RemovesWhatEndedProcessesLeft) {
  TemporaryDirectory directory;
  writeFile(directory.file("x.1.0.unfinished"), "x");
  writeFile(directory.file("x-1.unfinished"), "x");
  writeFile(directory.file("other"), "x");
  detail::FileWriter writer(directory.file("y"), SourceLocation::current()); // has its file locked
  auto reserved = detail::FileWriter::reserve(directory.file("z"), SourceLocation::current());
  save_safetensors(directory.file("w"), {});
  const std::vector<std::string> names = namesIn(directory.path);
  EXPECT_EQ(names.size(), 4u) << ::testing::PrintToString(names);
  EXPECT_FALSE(std::filesystem::exists(directory.file("x.1.0.unfinished")));
  EXPECT_TRUE(std::filesystem::exists(directory.file("z.unfinished")));
  EXPECT_TRUE(std::filesystem::exists(directory.file("other")));
  writer.write("abc");
  writer.overwrite(1, "x");
  writer.finish();
  EXPECT_EQ(readFile(directory.file("y")), "axc");
  reserved->write("z");
  reserved->finish();
  EXPECT_EQ(namesIn(directory.path), (std::vector<std::string>{"other", "w", "y", "z"}));
}
