// NumPy's files and images: what is written is read again, in every form, and what is damaged is named.
#include "Idx.h"
#include "Testing.h"

#include <zlib.h>

using namespace calque;
using namespace calque::testing;

namespace {

template <typename F> std::string faultOf(F &&read) { return errorOf<DataError>(read); }

// A .npy file of version 1 with a header as Python writes it.
std::string npy(const std::string &header, const std::string &elements, char version = 1) {
  std::string bytes = "\x93NUMPY" + std::string({version, '\0'});
  bytes += {static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  if (version > 1)
    bytes += std::string(2, '\0');
  return bytes + header + elements;
}
std::string header(const std::string &descr, const std::string &shape, const char *fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

// Numbers of every element type, of several ranks and of none.
std::map<std::string, Tensor> arrays() {
  return {{"bool", tensor<bool>({true, false, true}, {3, 1})},
          {"int32", tensor<std::int32_t>({1, -2, 3, INT32_MAX, INT32_MIN, 0}, {2, 3})},
          {"int64", tensor<std::int64_t>({INT64_MIN, INT64_MAX})},
          {"float32", tensor<float>({0.1f, -INFINITY, 1e-40f, 4, 5, 6, 7, 8}, {2, 2, 2})},
          {"float64", scalar<double>(0.1)},
          {"none", zeros({3, 0, 2}, DType::Float64)}};
}
void expectEqual(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(valuesOf(a), valuesOf(b));
}

} // namespace

TEST(Npy, ReadsWhatItWrites) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  for (const auto &[name, x] : arrays()) {
    data::write_npy(path, x);
    expectEqual(data::read_npy(path), x);
    EXPECT_EQ(readFile(path).find('\n') % 64, 63u); // elements begin at a multiple of 64
  }
  EXPECT_CONTAINS(readFile(path), "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0, 2), }");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path), {}), 1);
  EXPECT_MISUSE(DataError, data::write_npy("/no/such.npy", scalar(1)), "/no/such.npy: can't be written: No such file");
  EXPECT_CONTAINS(faultOf([&] { data::read_npy("/no/such.npy"); }), "/no/such.npy: No such file or directory");
}

TEST(Npy, WritesWhereAPathLeads) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy"), link = directory.file("link.npy");
  data::write_npy(path, scalar(1));
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("x.npy", link);
  data::write_npy(link, scalar(2.0));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(data::read_npy(path).item<float>(), 2);
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_MISUSE(DataError, data::write_npy(directory.path, scalar(1)), ": can't be written: it is no regular file");
}

TEST(Npy, ReadsOtherTypesAndOrders) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  auto read = [&](const std::string &bytes) {
    writeFile(path, bytes);
    return data::read_npy(path);
  };
  expectEqual(read(npy(header("|u1", "(2,)"), "\x01\xff")), tensor<std::uint8_t>({1, 255}));
  expectEqual(read(npy(header("|i1", "(2,)"), "\x01\xff")), tensor<std::int8_t>({1, -1}));
  expectEqual(read(npy(header("<u2", "(1,)"), "\xff\xff")), tensor<std::uint16_t>({65535}));
  expectEqual(read(npy(header(">i2", "(1,)"), "\xff\xfe")), tensor<std::int16_t>({-2}));
  expectEqual(read(npy(header("<u4", "(1,)"), "\xff\xff\xff\xff")), tensor<std::uint32_t>({4294967295}));
  expectEqual(read(npy(header(">f8", "()"), std::string("\x3f\xf8\0\0\0\0\0\0", 8))), scalar<double>(1.5));
  // 1, -2, the smallest one above 0 (2^-24), infinity: IEEE 754 binary16.
  expectEqual(read(npy(header("<f2", "(4,)"), std::string("\x00\x3c\x00\xc0\x01\x00\x00\x7c", 8))),
              tensor<float16>({1, -2, 0x1p-24f, INFINITY}));
  expectEqual(read(npy(header("<V2", "(2,)"), std::string("\x80\x3f\xa0\xc0", 4))), tensor<bfloat16>({1, -5}));
  // Element (i, j, k) of Fortran's order stands at i + 2 j + 4 k.
  expectEqual(read(npy(header("|i1", "(2, 2, 2)", "True"), std::string("\0\1\2\3\4\5\6\7", 8))),
              tensor<std::int8_t>({0, 4, 2, 6, 1, 5, 3, 7}, {2, 2, 2}));
  expectEqual(read(npy("{ \"shape\": (1,), 'fortran_order':False, 'descr': '|b1' }", "\x02", 3)), tensor<bool>({true}));
}

TEST(Npy, NamesWhatIsWrong) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  auto fault = [&](const std::string &bytes) {
    writeFile(path, bytes);
    return faultOf([&] { data::read_npy(path); });
  };
  const std::string four = "1234";
  EXPECT_CONTAINS(fault("NUMPY"), path + ": this is no array of NumPy: it does not begin with its magic number");
  EXPECT_CONTAINS(fault(npy(header("<f4", "(1,)"), four).substr(0, 40)),
                  "truncated: it ends within the header of the array");
  EXPECT_CONTAINS(fault("\x93NUMPY\x01"), "truncated: it ends within the header of the array");
  EXPECT_CONTAINS(fault("\x93NUMPY\x02" + std::string("\0\0\0\0\1", 5)),
                  "the header of the array has 16777216 bytes, and may have 1048576");
  EXPECT_CONTAINS(fault(npy(header("<f4", "(1,)"), four, 4)), "version 4 of the array's format is not known");
  for (const char *text : {"", "{}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
                           "{'descr': '<f4', 'fortran_order': True, 'shape': (-1,)}",
                           "{'descr': [('a', '<f4')], 'fortran_order': True, 'shape': (1,)}",
                           "{'descr': '<f4', 'shape': (1,), 'shape': (1,)} x"})
    EXPECT_CONTAINS(fault(npy(text, four)),
                    "the header of the array is damaged, or one of fields: " + std::string(text));
  EXPECT_CONTAINS(fault(npy("{'descr': \x93\n\x1b", four)), "or one of fields: {'descr': \\x93\\x0a\\x1b");
  EXPECT_CONTAINS(fault(npy(header("<f4", "(2,)"), four)),
                  "the header says <f4[2], which are 8 bytes, and there are 4");
  EXPECT_CONTAINS(fault(npy(header("<f4", "()"), "12345")),
                  "the header says <f4[], which are 4 bytes, and there are 5");
  EXPECT_CONTAINS(fault(npy(header("<f4", "(4294967296, 4294967296)"), four)),
                  "which are more than 2^64 bytes, and there are 4");
  for (const char *descr : {"<c32", "<U4", "|O", "<f16", ""})
    EXPECT_CONTAINS(fault(npy(header(descr, "(1,)"), four)),
                    "the array is one of '" + std::string(descr) + "', which no element type of Calque holds");
}

TEST(Npz, ReadsWhatItWrites) {
  TemporaryDirectory directory;
  const std::string path = directory.file("all.npz");
  std::map<std::string, Tensor> all = arrays();
  all.emplace("large", zeros({1000, 300}));
  for (bool compressed : {false, true}) {
    data::write_npz(path, all, {.compressed = compressed});
    const std::map<std::string, Tensor> read = data::read_npz(path);
    EXPECT_EQ(read.size(), all.size());
    for (const auto &[name, x] : all)
      expectEqual(read.at(name), x);
    EXPECT_EQ(readFile(path).size() < 100'000, compressed);
  }
  data::write_npz(path, {});
  EXPECT_TRUE(data::read_npz(path).empty());
  EXPECT_MISUSE(ValueError, data::write_npz(path, {{std::string(70'000, 'x'), scalar(1)}}),
                "write_npz: a name has 70004 bytes, which a zip file doesn't hold");
}

TEST(Npz, NamesTheArrayThatIsDamaged) {
  TemporaryDirectory directory;
  const std::string path = directory.file("all.npz");
  auto fault = [&](std::string bytes) {
    writeFile(path, bytes);
    return faultOf([&] { data::read_npz(path); });
  };
  data::write_npz(path, {{"x", ones({50})}}, {.compressed = true});
  const std::string deflated = readFile(path);
  data::write_npz(path, {{"x", ones({50})}});
  const std::string stored = readFile(path);
  const std::size_t entry = stored.find("PK\1\2"), local = 0;
  auto with = [](std::string bytes, std::size_t at, char byte) {
    bytes.at(at) = byte;
    return bytes;
  };
  EXPECT_CONTAINS(fault("PK"), path + ": truncated, or no .npz file: there is no directory of a zip file at its end");
  EXPECT_CONTAINS(fault(stored.substr(0, stored.size() - 30)), "there is no directory of a zip file at its end");
  EXPECT_CONTAINS(fault(with(stored, 200, 'x')), "array 'x.npy': is damaged: its checksum is wrong");
  EXPECT_CONTAINS(fault(with(stored, entry, 'x')), "entry 0 of the directory: it does not begin with its magic number");
  EXPECT_CONTAINS(fault(with(stored, local, 'x')), "array 'x.npy': the entry does not begin with its magic number");
  EXPECT_CONTAINS(fault(with(stored, entry + 8, 1)), "array 'x.npy': the entry is encrypted");
  EXPECT_CONTAINS(fault(with(stored, entry + 10, 12)), "array 'x.npy': method 12 of compression is not known");
  EXPECT_CONTAINS(fault(with(stored, entry + 10, 8)), "array 'x.npy': the directory says 328 bytes, and there are 6");
  EXPECT_CONTAINS(fault(with(deflated, 60, '\xff')), "array 'x.npy': the compressed data are damaged");
  const std::size_t sizes = entry + 46 + 5 + 4;
  EXPECT_CONTAINS(fault(with(stored, sizes + 12, 1)), "it says that there are");
  EXPECT_CONTAINS(fault(with(deflated, deflated.find("PK\1\2") + 46 + 5 + 4 + 1, 9)),
                  "the directory says 2376 bytes, and there are 328");
  const std::size_t end64 = stored.find("PK\6\6");
  EXPECT_CONTAINS(fault(with(stored, end64, 'x')),
                  "the record at the end: it names a place where there is no record of 64 bits");
  // A directory that names one entry many times.
  std::string twice = with(with(stored, end64 + 24, 2), end64 + 32, 2);
  twice.insert(end64, stored.substr(entry, end64 - entry));
  twice[twice.find("PK\6\7") + 8] = static_cast<char>(twice.find("PK\6\6"));
  twice[twice.find("PK\6\7") + 9] = static_cast<char>(twice.find("PK\6\6") >> 8);
  EXPECT_CONTAINS(fault(twice), "array 'x.npy': the entries overlap: they have more bytes than the file");
  data::write_npz(path, {{"x", ones({50})}});
  EXPECT_EQ(data::read_npz(path).size(), 1u);
}

//===-- Images ----------------------------------------------------------------------------------===//

namespace {
Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < height * width * channels; ++i)
    values.push_back(static_cast<std::int32_t>(i * 37 % 256));
  return tensor(values, Shape{height, width, channels});
}
} // namespace

TEST(Images, PngKeepsEveryPixel) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.png");
  for (std::int64_t channels : {1, 2, 3, 4}) {
    const Tensor image = picture(5, 7, channels);
    data::write_image(path, image);
    expectEqual(data::read_image(path), image);
    expectEqual(data::decode_image(readFile(path)), image);
  }
  const Tensor grey = picture(2, 3, 1), colour = data::decode_image(data::encode_png(grey), {.channels = 4});
  EXPECT_EQ(colour.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(colour.to_vector<int>()[5], 37);
  EXPECT_EQ(colour.to_vector<int>()[7], 255);
  EXPECT_EQ(data::decode_image(data::encode_png(picture(2, 3, 4)), {.channels = 2}).shape(), (Shape{2, 3, 2}));
  // One pixel is its own mean; of two, each channel moves away from its mean.
  expectValues(data::adjust_contrast(tensor<float>({0.5f, 0, 0}, {1, 1, 3}), 2), {0.5, 0, 0});
  expectValues(data::adjust_contrast(tensor<float>({1, 4, 3, 0}, {1, 2, 2}), 2), {0, 6, 4, -2});
  const Tensor unit = data::decode_image(data::encode_png(grey), {.dtype = DType::Float64});
  EXPECT_EQ(unit.to_vector<double>()[1], 37 / 255.0);
  expectEqual(data::decode_image(data::encode_png(unit)), grey);
}

TEST(Images, JpegKeepsWhatIsSmooth) {
  TemporaryDirectory directory;
  std::vector<std::int32_t> values;
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 23; ++x)
      values.insert(values.end(), {10 * y, 200, 8 * x});
  const Tensor image = tensor(values, {17, 23, 3});
  data::write_image(directory.file("x.jpg"), image);
  const std::vector<int> read = data::read_image(directory.file("x.jpg")).to_vector<int>();
  ASSERT_EQ(read.size(), values.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    EXPECT_NEAR(read[i], values[i], 12);
  EXPECT_EQ(data::decode_image(data::encode_jpeg(image, 50), {.channels = 1, .dtype = DType::Float32}).shape(),
            (Shape{17, 23, 1}));
  EXPECT_EQ(data::decode_image(data::encode_jpeg(full({3, 3, 1}, 99, DType::Int32))).to_vector<int>()[4], 99);
}

TEST(Images, SayWhatIsWrong) {
  TemporaryDirectory directory;
  const std::string png = data::encode_png(picture(9, 9, 3)), jpeg = data::encode_jpeg(picture(9, 9, 3));
  auto fault = [](const std::string &bytes) { return faultOf([&] { data::decode_image(bytes); }); };
  EXPECT_CONTAINS(fault("GIF89a"), "decode_image: this is neither a PNG nor a JPEG image: it begins as neither does");
  EXPECT_CONTAINS(fault(png.substr(0, 60)),
                  "decode_image: the PNG image is damaged: truncated: the image ends within its data");
  EXPECT_CONTAINS(fault(jpeg.substr(0, jpeg.size() - 20)),
                  "decode_image: the JPEG image is damaged: Premature end of JPEG file");
  writeFile(directory.file("x.png"), png.substr(0, 10));
  EXPECT_CONTAINS(faultOf([&] { data::read_image(directory.file("x.png")); }),
                  directory.file("x.png") + ": the PNG image is damaged");
  // A JPEG whose header says 60000x60000: height and width follow the marker FF C0, its length and a byte.
  std::string forged = jpeg;
  const std::size_t sizes = forged.find("\xff\xc0") + 5;
  for (std::size_t i : {0, 2})
    forged[sizes + i] = '\xEA', forged[sizes + i + 1] = '\x60';
  EXPECT_CONTAINS(fault(forged),
                  "its header says 60000x60000 pixels, which " + std::to_string(forged.size()) + " bytes can't hold");
  EXPECT_MISUSE(ValueError, data::decode_image(png, {.channels = 5}),
                "an image is read with 1 to 4 channels, or 0 for those of the file, not with 5");
  EXPECT_MISUSE(ValueError, data::decode_image(png, {.dtype = DType::Bool}),
                "an image is read as numbers up to 255, not as bool");
  EXPECT_MISUSE(ValueError, data::decode_image(jpeg, {.channels = 4}),
                "a JPEG has no opacity, and so none of 4 channels");
  EXPECT_MISUSE(ShapeError, data::adjust_contrast(ones({3, 3}), 2),
                "adjust_contrast: takes images [...,height,width,channels]; these have shape [3,3]");
  EXPECT_MISUSE(DTypeError, data::adjust_contrast(ones({3, 3, 1}, DType::Int32), 2),
                "adjust_contrast: takes images of floats, not of int32");
  EXPECT_MISUSE(ShapeError, data::encode_png(ones({3, 3})),
                "encode_png: takes an image [height,width,channels] of 1 to 4 channels; this one has shape [3,3]");
  EXPECT_MISUSE(ShapeError, data::encode_jpeg(ones({3, 3, 4})),
                "encode_jpeg: takes an image [height,width,channels] of 1 or 3 channels");
  EXPECT_MISUSE(
      ShapeError, data::encode_jpeg(zeros({1, 70'000, 1})),
      "encode_jpeg: takes an image of at most 65500 pixels in each direction; this one has shape [1,70000,1]");
  EXPECT_MISUSE(ValueError, data::encode_png(full({1, 1, 1}, 256, DType::Int32)),
                "encode_png: element 0 is 256, and must be from 0 to 255");
  EXPECT_MISUSE(ValueError, data::encode_png(full({1, 1, 1}, -0.5)),
                "encode_png: element 0 is -0.5, and must be from 0 to 1");
  EXPECT_MISUSE(ValueError, data::encode_jpeg(ones({1, 1, 1}), 0),
                "encode_jpeg: the quality is 0 and must be from 1 to 100");
  EXPECT_MISUSE(ValueError, data::write_image(directory.file("x.bmp"), ones({1, 1, 1})),
                "ends in none of .png, .jpg and .jpeg");
}
