// Readers and writers of files: what they read, and what they say of damaged ones.
#include "Idx.h"
#include "Testing.h"

#include <bit>
#include <ctime>

using namespace calque;
using namespace calque::testing;
using data::Dataset;

namespace {

template <typename F> std::string faultOf(F &&read) { return errorOf<DataError>(read); }

std::vector<std::string> textsOf(const Dataset<std::string> &dataset) {
  return std::vector<std::string>([&] {
    std::vector<std::string> texts;
    for (const std::string &text : dataset)
      texts.push_back(text);
    return texts;
  }());
}

} // namespace

//===-- Text and CSV ----------------------------------------------------------------------------===//

TEST(TextLines, EndAsTheirFilesHaveIt) {
  TemporaryDirectory directory;
  const std::string unix = directory.file("a"), dos = directory.file("b.gz"), none = directory.file("c");
  const std::string wide(200'000, 'x');
  writeFile(unix, "one\n\n" + wide + "\n");
  writeGzip(dos, "two\r\nthree");
  writeFile(none, "");
  EXPECT_EQ(textsOf(data::text_line_dataset({unix, none, dos})),
            (std::vector<std::string>{"one", "", wide, "two", "three"}));
  EXPECT_CONTAINS(faultOf([&] { textsOf(data::text_line_dataset("/no/such")); }),
                  "/no/such: No such file or directory");
}

TEST(Csv, FindsOutTypes) {
  TemporaryDirectory directory;
  const std::string path = directory.file("table.csv");
  writeFile(path, "\xEF\xBB\xBFname, count ,weight,holes,ok,text\r\n"
                  "\"Smith, \"\"J\"\"\n2nd\",1,0.5,3,true,1\r\n"
                  "\r\n"
                  "Lee,-2,+1e3,,FALSE,x\n"
                  "NA,3,nan,4,true,");
  const data::CsvTable table = data::read_csv(path);
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"name", "count", "weight", "holes", "ok", "text"}));
  EXPECT_EQ(table.texts("name"), (std::vector<std::string>{"Smith, \"J\"\n2nd", "Lee", "NA"}));
  EXPECT_EQ(table.texts("text"), (std::vector<std::string>{"1", "x", ""}));
  EXPECT_EQ(table.column("count").to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(table.column("ok").to_vector<bool>(), (std::vector<bool>{true, false, true}));
  const std::vector<double> weight = table.column("weight").to_vector<double>(),
                            holes = table.column("holes").to_vector<double>();
  EXPECT_EQ(weight[1], 1000);
  EXPECT_TRUE(std::isnan(weight[2]) && std::isnan(holes[1]) && holes[2] == 4);
  const Tensor matrix = table.matrix({"count", "ok"});
  EXPECT_EQ(matrix.shape(), (Shape{3, 2}));
  EXPECT_EQ(matrix.to_vector<float>(), (std::vector<float>{1, 1, -2, 0, 3, 1}));
  EXPECT_EQ(table.matrix({}, DType::Float64).shape(), (Shape{3, 4}));
  EXPECT_MISUSE(DataError, table.matrix({"holes"}, DType::Int32), "the column 'holes' has values that are no int32");
  EXPECT_MISUSE(DataError, table.matrix({"count"}, DType::Bool), "the column 'count' has values that are no bool");
  EXPECT_MISUSE(LookupError, table.column("size"),
                "the table has no column 'size'; there are count, holes, name, ok, text, weight");
  EXPECT_MISUSE(DTypeError, table.column("name"), "column 'name' of the table holds texts, which texts() gives");
  EXPECT_MISUSE(DTypeError, table.texts("count"), "column 'count' of the table holds numbers, which column() gives");
  writeFile(path, "a;b\n'x';\"1\"\n");
  const data::CsvTable texts = data::read_csv(path, {}, {.field_delim = ';', .use_quote_delim = false});
  EXPECT_EQ(texts.texts("b")[0], "\"1\"");
  EXPECT_MISUSE(ValueError, texts.matrix(), "the table has no columns of numbers for a matrix");
}

TEST(Csv, ReadsTheColumnsThatAreAskedFor) {
  TemporaryDirectory directory;
  const std::string path = directory.file("table.csv");
  writeFile(path, "1,2.5,x\n3,,y\n4,0.25,z");
  const std::vector<data::CsvColumn> columns = {{"1", DType::Float32, -1}, {"0", DType::Int32}};
  const data::CsvTable table = data::read_csv(path, columns, {.header = false});
  EXPECT_EQ(table.names(), (std::vector<std::string>{"1", "0"}));
  EXPECT_EQ(table.column("1").to_vector<float>(), (std::vector<float>{2.5, -1, 0.25}));
  std::vector<int> counts;
  std::vector<Shape> shapes;
  Dataset rows = data::csv_dataset(path, columns, {.header = false});
  EXPECT_EQ(rows.element_spec()[0].str(), "int32[]"); // in the order of the names
  for (const auto &batch : rows.batch(2)) {
    shapes.push_back(batch.at("1").shape());
    for (int count : batch.at("0").to_vector<int>())
      counts.push_back(count);
  }
  EXPECT_EQ(counts, (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(shapes, (std::vector<Shape>{{2}, {1}}));
  std::vector<std::string> last;
  for (const std::vector<std::string> &row : data::csv_rows(path))
    last = row;
  EXPECT_EQ(last, (std::vector<std::string>{"4", "0.25", "z"}));
  EXPECT_MISUSE(ValueError, data::csv_dataset(path, {}), "csv_dataset: names no columns");
}

// As NumPy and TensorFlow read them: loadtxt and decode_csv give the same.
TEST(Csv, RoundsNumbersThatAreTooLargeOrTooSmall) {
  TemporaryDirectory directory;
  const std::string path = directory.file("table.csv"), zeros(400, '0');
  const std::string texts[] = {"1e-400",
                               "-1e-400",
                               "1e400",
                               "-1e400",
                               "0." + zeros + "1",
                               "1" + zeros,
                               "1" + zeros + "e-800",
                               "0." + zeros + "1e800",
                               "1e-9999999999999999999",
                               "9e9999999999999999999",
                               "1" + zeros + "e-400",
                               "4e-324",
                               "1e39",
                               "1e-50"};
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> wide = {0,        -0.0, infinity, -infinity, 0,      infinity, 0,
                                    infinity, 0,    infinity, 1,         5e-324, 1e39,     1e-50};
  std::string all = "a\n";
  for (const std::string &text : texts)
    all += text + "\n";
  writeFile(path, all);
  // Bit for bit, as there are zeros with a sign.
  const std::vector<double> found = data::read_csv(path).column("a").to_vector<double>();
  ASSERT_EQ(found.size(), wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found[i]), std::bit_cast<std::uint64_t>(wide[i])) << texts[i];
  const std::vector<float> narrow = data::read_csv(path, {{"a", DType::Float32}}).column("a").to_vector<float>();
  for (std::size_t i = 0; i < wide.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow[i]), std::bit_cast<std::uint32_t>(static_cast<float>(wide[i])))
        << texts[i];
  std::vector<double> rows;
  for (const auto &row : data::csv_dataset(path, {{"a", DType::Float64}}))
    rows.push_back(row.at("a").item<double>());
  EXPECT_EQ(rows, wide);
  // What only begins as a number is a text, and integers are refused.
  writeFile(path, "a\n1e400x\n");
  EXPECT_EQ(data::read_csv(path).texts("a")[0], "1e400x");
  EXPECT_CONTAINS(faultOf([&] { data::read_csv(path, {{"a"}}); }), "'1e400x' is no float32");
  writeFile(path, "a\n9223372036854775808\n");
  EXPECT_EQ(data::read_csv(path).column("a").to_vector<double>()[0], 0x1p63);
  EXPECT_CONTAINS(faultOf([&] { data::read_csv(path, {{"a", DType::Int64}}); }), "'9223372036854775808' is no int64");
}

TEST(Csv, NamesLineAndColumnOfWhatIsWrong) {
  TemporaryDirectory directory;
  const std::string path = directory.file("table.csv");
  auto fault = [&](const std::string &text, const std::vector<data::CsvColumn> &columns = {}) {
    writeFile(path, text);
    return faultOf([&] { data::read_csv(path, columns); });
  };
  EXPECT_CONTAINS(fault(""), path + ": there are no lines in it");
  EXPECT_CONTAINS(fault("a,b\n1,2\n\n3\n"), "line 4: there are 1 fields and should be 2");
  EXPECT_CONTAINS(fault("a,b\n1,\"2\n3,4"), "line 2: the quote of a field has no end");
  EXPECT_CONTAINS(fault("a\n\"1\"2"), "line 2: something follows the closing quote of '1'");
  EXPECT_CONTAINS(fault("a\n1\"2\""),
                  "line 2: there is a quote inside of the field '1', which does not begin with one");
  EXPECT_CONTAINS(fault("a,b,a\n"), "line 1: there are two columns with the name 'a'");
  EXPECT_CONTAINS(fault("a,b\n1,2", {{"c"}}), "there is no column 'c'; there are a, b");
  EXPECT_CONTAINS(fault("a\n1\n2.5", {{"a", DType::Int32}}), "line 3, column 'a': '2.5' is no int32");
  EXPECT_CONTAINS(fault("a\n1\n3000000000", {{"a", DType::Int32}}), "line 3, column 'a': '3000000000' is no int32");
  EXPECT_CONTAINS(fault("a,b\n,1", {{"a", DType::Bool}}),
                  "line 2, column 'a': a value is missing, and bool has no default");
  EXPECT_CONTAINS(fault("a,b\n,1", {{"a", DType::Int32, 0.5}}), "line 2, column 'a': the default 0.5 is no int32");
  EXPECT_CONTAINS(fault("a,b\n,1", {{"a", DType::Int64, 0x1p63}}), "the default 9223372036854775808 is no int64");
  EXPECT_CONTAINS(fault("a,b\n,1", {{"a", DType::Bool, 2}}), "the default 2 is no bool");
}

// Eight times as many columns take some eight times as long, and not 64.
TEST(Csv, TakesTimeByTheNumberOfColumns) {
  TemporaryDirectory directory;
  const std::string path = directory.file("wide.csv");
  auto secondsFor = [&](int columns) {
    std::string names, values;
    for (int i = 0; i < columns; ++i) {
      names += (i ? ",c" : "c") + std::to_string(i);
      values += (i ? "," : "") + std::to_string(i % 100);
    }
    writeFile(path, names + "\n" + values + "\n" + values + "\n");
    const std::vector<data::CsvColumn> some = {{"c1"}, {"c" + std::to_string(columns - 1)}};
    const std::clock_t before = std::clock();
    const data::CsvTable table = data::read_csv(path);
    const Tensor matrix = table.matrix();
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    EXPECT_EQ(matrix.shape(), (Shape{2, columns}));
    EXPECT_EQ(matrix[1][Operand(columns - 1)].item<float>(), static_cast<float>((columns - 1) % 100));
    EXPECT_EQ(data::read_csv(path, some).column(some[1].name).to_vector<float>()[0],
              static_cast<float>((columns - 1) % 100));
    return seconds;
  };
  secondsFor(1000);
  const double few = secondsFor(20'000), many = secondsFor(160'000);
  EXPECT_LT(many, 30 * few);
}

//===-- Records ---------------------------------------------------------------------------------===//

TEST(TFRecord, WritesWhatTensorFlowReads) {
  TemporaryDirectory directory;
  const std::string path = directory.file("records"), gzip = directory.file("records.gz");
  const std::vector<std::string> records = {"hello", "", std::string(300'000, 'z') + '\0'};
  for (const std::string &to : {path, gzip}) {
    data::TFRecordWriter writer(to, {to == gzip ? "GZIP" : ""});
    for (const std::string &record : records)
      writer.write(record);
    writer.flush();
    writer.close();
    EXPECT_MISUSE(StateError, writer.write("more"), "TFRecordWriter: the writer is closed");
  }
  EXPECT_EQ(textsOf(data::tfrecord_dataset(path)), records);
  EXPECT_EQ(textsOf(data::tfrecord_dataset(gzip, {"GZIP"})), records);
  EXPECT_EQ(textsOf(data::tfrecord_dataset(std::vector{path, path}).skip(2).take(2)),
            (std::vector<std::string>{records[2], "hello"}));
  // The CRC32C of 32 bytes of 0 is 0x8A9136AA (RFC 3720, B.4), which TensorFlow rotates and adds to.
  {
    data::TFRecordWriter(path).write(std::string(32, 0));
  }
  const std::string bytes = readFile(path);
  ASSERT_EQ(bytes.size(), 12u + 32 + 4);
  const std::uint32_t crc = 0x8A9136AA, masked = (crc >> 15 | crc << 17) + 0xA282EAD8;
  EXPECT_EQ(bytes.substr(44), (std::string{static_cast<char>(masked), static_cast<char>(masked >> 8),
                                           static_cast<char>(masked >> 16), static_cast<char>(masked >> 24)}));
  EXPECT_MISUSE(ValueError, data::tfrecord_dataset(path, {"ZIP"}),
                "tfrecord_dataset: there is no compression 'ZIP'; it is 'GZIP' or ''");
  EXPECT_MISUSE(DataError, data::TFRecordWriter("/no/such/file"), "/no/such/file: can't be written: No such file");
}

TEST(TFRecord, NamesTheRecordAndTheByte) {
  TemporaryDirectory directory;
  const std::string path = directory.file("records");
  {
    data::TFRecordWriter writer(path);
    writer.write("first");
    writer.write("second record");
  }
  const std::string whole = readFile(path);
  auto fault = [&](const std::string &bytes) {
    writeFile(path, bytes);
    return faultOf([&] { textsOf(data::tfrecord_dataset(path)); });
  };
  EXPECT_CONTAINS(fault(whole.substr(0, 30)),
                  path + ": record 1, at byte 21, is truncated: the file ends within its header");
  EXPECT_CONTAINS(fault(whole.substr(0, 36)),
                  "record 1, at byte 21, is truncated: the file ends within its 13 bytes of data");
  std::string flipped = whole;
  flipped[14] ^= 4;
  EXPECT_CONTAINS(fault(flipped), "record 0, at byte 0, is damaged: the checksum of its data is wrong");
  flipped = whole;
  flipped[22] ^= 4;
  EXPECT_CONTAINS(fault(flipped), "record 1, at byte 21, is damaged: the checksum of its length is wrong");
  writeFile(path, whole);
  EXPECT_CONTAINS(faultOf([&] { textsOf(data::tfrecord_dataset(path, {"GZIP"})); }),
                  "not compressed by gzip, as it should be");
}

TEST(Example, IsTensorFlowsMessage) {
  const data::Example example{{{"f", std::vector<float>{1.5f, -2}},
                               {"i", std::vector<std::int64_t>{3, -1}},
                               {"s", std::vector<std::string>{"ab", ""}}}};
  // Derived from the wire format by hand: a field is its number << 3 | 2, its length and its content.
  const std::string f = std::string("\x12\x0A\x0A\x08\x00\x00\xC0\x3F\x00\x00\x00\xC0", 12);
  const std::string i = std::string("\x1A\x0D\x0A\x0B\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 15);
  const std::string s = std::string("\x0A\x06\x0A\x02"
                                    "ab"
                                    "\x0A\x00",
                                    8);
  auto entry = [](const std::string &name, const std::string &value) {
    const std::string both = "\x0A\x01" + name + '\x12' + char(value.size()) + value;
    return '\x0A' + std::string(1, char(both.size())) + both;
  };
  const std::string features = entry("f", f) + entry("i", i) + entry("s", s);
  const std::string message = '\x0A' + std::string(1, char(features.size())) + features;
  EXPECT_EQ(example.serialize(), message);
  EXPECT_EQ(data::Example::parse(message).features, example.features);
  // Not packed, and with a field that is not known.
  const std::string loose =
      std::string("\x0A\x0D\x0A\x0B\x0A\x01i\x12\x06\x1A\x04\x08\x03\x08\x04\x15\x01\x02\x03\x04", 20);
  EXPECT_EQ(std::get<2>(data::Example::parse(loose).features.at("i")), (std::vector<std::int64_t>{3, 4}));
  auto tensors =
      data::parse_single_example(message, {{"f", {.shape = {1, 2}}},
                                           {"i", {.shape = {2}, .dtype = DType::Int64}},
                                           {"none", {.shape = {2}, .dtype = DType::Int32, .default_value = 7}}});
  EXPECT_EQ(tensors.at("f").shape(), (Shape{1, 2}));
  EXPECT_EQ(tensors.at("i").to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, -1}));
  EXPECT_EQ(tensors.at("none").to_vector<int>(), (std::vector<int>{7, 7}));
}

TEST(Example, NamesTheByteOrTheFeature) {
  auto fault = [](const std::string &bytes) { return faultOf([&] { data::Example::parse(bytes); }); };
  EXPECT_CONTAINS(fault("\x0A"), "this is no tf.train.Example: at byte 1 it ends within a number");
  EXPECT_CONTAINS(fault("\x0A\x05"
                        "abc"),
                  "at byte 2 it ends within a field of 5 bytes");
  EXPECT_CONTAINS(fault("\x0B"), "at byte 1 it has a field of the kind 3, which there is not");
  EXPECT_CONTAINS(fault(std::string(11, '\xFF')), "at byte 10 it has a number of more than 64 bits");
  const std::string message =
      data::Example{{{"x", std::vector<float>{1, 2}}, {"i", std::vector<std::int64_t>{std::int64_t(1) << 40}}}}
          .serialize();
  EXPECT_MISUSE(DataError, data::parse_single_example(message, {{"y", {}}}),
                "there is no feature 'y', and it has no default");
  EXPECT_MISUSE(DataError, data::parse_single_example(message, {{"x", {.shape = {3}}}}),
                "feature 'x' has 2 values, which are not those of the shape [3]");
  EXPECT_MISUSE(DataError, data::parse_single_example(message, {{"x", {.shape = {2}, .dtype = DType::Int64}}}),
                "feature 'x' holds floats, which don't become int64");
  EXPECT_MISUSE(DataError, data::parse_single_example(message, {{"i", {.dtype = DType::Int32}}}),
                "feature 'i' holds 1099511627776, which int32 does not");
}

//===-- CIFAR -----------------------------------------------------------------------------------===//

TEST(Cifar, ReadsTheBinaryFiles) {
  TemporaryDirectory directory;
  auto record = [](const std::string &labels, int first) {
    std::string bytes = labels;
    for (int i = 0; i < 3072; ++i)
      bytes += static_cast<char>(first + i / 1024);
    return bytes;
  };
  for (int i = 1; i <= 5; ++i)
    writeFile(directory.file("data_batch_" + std::to_string(i) + ".bin"),
              record({char(i)}, 10 * i) + record({'\x09'}, 0));
  writeFile(directory.file("test_batch.bin"), record({'\x03'}, 100));
  auto [train, test] = data::load_cifar10(directory.path);
  EXPECT_EQ(train.first.shape(), (Shape{10, 32, 32, 3}));
  EXPECT_EQ(train.second.to_vector<int>(), (std::vector<int>{1, 9, 2, 9, 3, 9, 4, 9, 5, 9}));
  EXPECT_EQ(test.first.to_vector<int>()[1], 101); // green of the first pixel
  for (auto [x, y] : data::cifar10("test", directory.path)) {
    EXPECT_EQ(x.shape(), (Shape{32, 32, 3}));
    EXPECT_EQ(x.to_vector<float>()[5], 102 / 255.0f);
    EXPECT_EQ(y.item<int>(), 3);
  }
  writeGzip(directory.file("train.bin.gz"), record({'\x13', '\x63'}, 1));
  writeFile(directory.file("test.bin"), record({'\x02', '\x11'}, 1));
  EXPECT_EQ(data::load_cifar100(directory.path).first.second.to_vector<int>(), std::vector<int>{99});
  EXPECT_EQ((*data::cifar100("test", directory.path, true).begin()).second.item<int>(), 2);
  EXPECT_MISUSE(ValueError, data::cifar10("valid", directory.path), "cifar10: there is no split 'valid'");
  EXPECT_MISUSE(ValueError, data::cifar100("valid", directory.path), "cifar100: there is no split 'valid'");
  writeFile(directory.file("test_batch.bin"), record({'\x0A'}, 100));
  EXPECT_CONTAINS(faultOf([&] { data::cifar10("test", directory.path); }),
                  "test_batch.bin: label 0 is 10 and must be below 10");
  writeFile(directory.file("test_batch.bin"), record({'\x01'}, 100) + "more");
  EXPECT_CONTAINS(faultOf([&] { data::cifar10("test", directory.path); }),
                  "test_batch.bin: truncated: it ends within image 1, which has 3073 bytes");
  writeFile(directory.file("test_batch.bin"), "");
  EXPECT_CONTAINS(faultOf([&] { data::cifar10("test", directory.path); }), "test_batch.bin: there are no images in it");
  std::filesystem::remove(directory.file("test_batch.bin"));
  EXPECT_CONTAINS(faultOf([&] { data::cifar10("test", directory.path); }),
                  "test_batch.bin: there is no such file, and no test_batch.bin.gz");
  EXPECT_CONTAINS(faultOf([&] { data::cifar10("test", "/no/such"); }), "/no/such: there is no such directory");
}
