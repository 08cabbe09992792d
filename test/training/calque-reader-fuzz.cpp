// calque-reader-fuzz: gives every reader mutated and cut files. A reader may refuse a file with a DataError, which
// names it, and may do nothing else: no crash, no other error, no more memory than the file can be unpacked to.
//
//   calque-reader-fuzz --seconds 60 --seed 7 [READER...]
#include "Idx.h"
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "calque/training.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nettle/sha2.h>
#include <sys/resource.h>
#include <zlib.h>

using namespace calque;
using namespace calque::testing;
using namespace std::string_literals;

namespace {

struct Target {
  std::string name;
  std::vector<std::string> seeds; // the contents of valid files
  std::function<void(const std::string &path)> read;
  // What DataErrors need not begin with, as the reader knows no file.
  bool hasNoPath = false;
  // Mutates what checksums would keep from being looked at; none: any bytes.
  std::string (*mutate)(std::string bytes, std::mt19937_64 &random) = nullptr;
};

template <typename Element> void goThrough(const data::Dataset<Element> &dataset) {
  for (const Element &element : dataset)
    (void)element;
}

std::string written(const TemporaryDirectory &directory, const std::function<void(const std::string &path)> &write) {
  const std::string path = directory.file("seed");
  write(path);
  return readFile(path);
}

// The file with the digest that its bytes have, so that what is behind the digest is reached.
std::string digested(std::string bytes) {
  const std::string name = R"("calque.sha256":")";
  const std::size_t at = bytes.find(name) + name.size(), digits = 64;
  if (at < name.size() || at + digits > bytes.size())
    return bytes;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), digits, '0');
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t *>(bytes.data()));
  std::uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(&context, sizeof digest, digest);
  for (std::size_t i = 0; i < sizeof digest; ++i) {
    bytes[at + 2 * i] = "0123456789abcdef"[digest[i] >> 4];
    bytes[at + 2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  return bytes;
}

// Loads functions, and traces what has been loaded.
void traceFunctions(const std::string &path) {
  const std::string own = path + ".digested";
  writeFile(own, digested(readFile(path)));
  const SavedFunctions functions = load_functions(own);
  for (const std::string &name : functions.names())
    for (const std::vector<TensorSpec<>> &specs : functions.argument_specs(name))
      try {
        functions[name].ir("traced", std::vector<Tensor>(specs.begin(), specs.end()));
      } catch (const DataError &) {
        throw std::logic_error("tracing finds damage");
      } catch (const Error &) { // its operations don't fit what they are given now
      }
}

std::string mutated(std::string bytes, std::mt19937_64 &random);
std::string mutatedPng(std::string bytes, std::mt19937_64 &random);

std::vector<Target> targets(const TemporaryDirectory &directory) {
  const Tensor floats = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3}), integers = tensor<std::int64_t>({7, -8});
  std::vector<std::int32_t> bytes;
  for (int i = 0; i < 9 * 8 * 3; ++i)
    bytes.push_back(i * 5 % 256);
  const Tensor image = tensor(bytes, {9, 8, 3});
  auto file = [&](auto write) { return written(directory, write); };
  const std::string idx = header(0x802, {2, 3}) + "abcdef", text = "a,b,c\n1,\"x \"\"y\"\"\",2.5\n,z,nan\n";
  const std::string example = data::Example{{{"x", std::vector<float>{1, 2}},
                                             {"y", std::vector<std::int64_t>{3, -4}},
                                             {"z", std::vector<std::string>{"one", ""}}}}
                                  .serialize();
  const std::string cifar(2 * 3073, '\5');
  return {
      {"idx",
       {idx, file([&](const std::string &path) { writeGzip(path, idx); })},
       [](auto &path) { data::read_idx(path); }},
      {"csv",
       {text},
       [](auto &path) {
         data::read_csv(path);
         goThrough(data::csv_dataset(path, {{"a", DType::Int32, 0}, {"c"}}));
         goThrough(data::csv_rows(path));
       }},
      {"text", {text}, [](auto &path) { goThrough(data::text_line_dataset(path)); }},
      {"tfrecord",
       {file([&](const std::string &path) {
         data::TFRecordWriter writer(path);
         for (const std::string &record : {example, std::string(), text})
           writer.write(record);
       })},
       [](auto &path) { goThrough(data::tfrecord_dataset(path)); }},
      {"example", {example}, [](auto &path) { data::Example::parse(readFile(path)); }, true},
      {"npy",
       {file([&](const std::string &path) { data::write_npy(path, floats); })},
       [](auto &path) { data::read_npy(path); }},
      {"npz",
       {file([&](const std::string &path) { data::write_npz(path, {{"x", floats}, {"y", integers}}); }),
        file([&](const std::string &path) { data::write_npz(path, {{"x", floats}}, {.compressed = true}); })},
       [](auto &path) { data::read_npz(path); }},
      {"safetensors",
       {file([&](const std::string &path) { save_safetensors(path, {{"x", floats}, {"y", integers}}, {{"k", "v"}}); }),
        // Without a digest, so that what is behind it is reached.
        "\xbf\0\0\0\0\0\0\0"s
        R"({"__metadata__":{"k":"v"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},)"
        R"("e":{"dtype":"I64","shape":[0],"data_offsets":[11,11]}})"
        "\0\0\0\0\0\0\0\0\1\0\1"s},
       [](auto &path) {
         load_safetensors(path);
         load_safetensors_metadata(path);
       }},
      {"functions",
       {file([&](const std::string &path) {
          Variable w(floats);
          auto f = function([&](const Tensor &x, const Tensor &n) {
            Tensor y = x * w + tensor<float>({1, 2, 3});
            while (sum(y) < 100)
              y = y * 2;
            w.assign_add(y);
            return std::pair(grad([](const Tensor &z) { return sum(sin(z)); })(y), cast(n, DType::Float64));
          });
          f(floats, integers);
          save_functions(path, {{"f", f}, {"g", f}});
        }),
        file([&](const std::string &path) {
          auto f = function([&](const Tensor &x) { return softmax(x, 1); });
          save_functions(path, {{"f", f.get_concrete_function(TensorSpec<float>({kDynamic, 3}))}});
        })},
       traceFunctions},
      {"png", {data::encode_png(image)}, [](auto &path) { data::read_image(path); }, false, mutatedPng},
      {"jpeg", {data::encode_jpeg(image, 80)}, [](auto &path) { data::read_image(path); }},
      {"cache",
       {file([&](const std::string &path) {
         std::filesystem::remove(path);
         goThrough(data::from_tensor_slices(floats, integers).cache(path));
       })},
       [](auto &path) { goThrough(data::from_tensor_slices(ones({2}), ones({2})).cache(path)); }},
      {"cifar",
       {cifar},
       [](auto &path) {
         std::filesystem::rename(path, std::filesystem::path(path).replace_filename("test_batch.bin"));
         data::cifar10("test", std::filesystem::path(path).parent_path());
       }},
  };
}

std::string mutated(std::string bytes, std::mt19937_64 &random) {
  auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % std::max<std::size_t>(bound, 1)); };
  for (std::size_t times = 1 + below(4); times-- > 0 && !bytes.empty();) {
    const std::size_t at = below(bytes.size());
    switch (below(7)) {
    case 0:
      bytes[at] ^= static_cast<char>(1 << below(8));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2: // a number that is at an end
      for (std::size_t i = at, end = std::min(bytes.size(), at + (std::size_t(1) << below(4))); i < end; ++i)
        bytes[i] = "\x00\xff\x7f\x80"[below(4)];
      break;
    case 3:
      bytes.resize(at);
      break;
    case 4:
      bytes.erase(at, 1 + below(16));
      break;
    case 5:
      bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(64)));
      break;
    default:
      bytes.insert(at, 1 + below(8), static_cast<char>(random()));
    }
  }
  return bytes;
}

std::uint32_t bigEndian(const std::string &bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}
std::string bigEndian(std::uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}
std::string inflated(const std::string &bytes) {
  std::string result(1 << 16, '\0');
  uLongf size = result.size();
  if (uncompress(reinterpret_cast<Bytef *>(result.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size()) != Z_OK)
    return {};
  result.resize(size);
  return result;
}
std::string deflated(const std::string &bytes) {
  std::string result(compressBound(bytes.size()), '\0');
  uLongf size = result.size();
  compress(reinterpret_cast<Bytef *>(result.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
           bytes.size());
  result.resize(size);
  return result;
}

// A chunk's data is mutated, or what is compressed in it, or the chunks are moved; then all have their checksums. One
// file in four is mutated as any other is.
std::string mutatedPng(std::string bytes, std::mt19937_64 &random) {
  if (random() % 4 == 0)
    return mutated(std::move(bytes), random);
  std::vector<std::pair<std::string, std::string>> chunks; // type and data
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = bigEndian(bytes, at);
    chunks.emplace_back(bytes.substr(at + 4, 4), bytes.substr(at + 8, length));
    at += 12 + length;
  }
  auto &[type, data] = chunks[random() % chunks.size()];
  switch (random() % 8) {
  case 0:
    chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(random() % chunks.size()),
                  chunks[random() % chunks.size()]);
    break;
  case 1:
    chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(random() % chunks.size()));
    break;
  case 2:
    std::swap(chunks[random() % chunks.size()], chunks[random() % chunks.size()]);
    break;
  case 3: { // chunks that the seed has not
    const char *others[] = {"PLTE", "tRNS", "IDAT", "gAMA", "abcd", "Abcd", "IEND"};
    chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(random() % (chunks.size() + 1)),
                  {others[random() % 7], mutated(std::string(random() % 9, '\1'), random)});
    break;
  }
  case 4: // of a header that fits: another depth, kind of colour or interlacing
    for (auto &[each, header] : chunks)
      if (each == "IHDR") {
        header[8] = "\1\2\4\10\20"[random() % 5];
        header[9] = "\0\2\3\4\6"[random() % 5];
        header[12] = static_cast<char>(random() % 2);
      }
    [[fallthrough]];
  case 5:
    for (auto &[each, compressed] : chunks)
      if (each == "IDAT")
        compressed = deflated(mutated(inflated(compressed), random));
    break;
  default:
    data = mutated(data, random);
  }
  std::string result = bytes.substr(0, 8);
  for (const auto &[each, content] : chunks) {
    const std::string whole = each + content;
    const auto sum = crc32(0, reinterpret_cast<const Bytef *>(whole.data()), static_cast<uInt>(whole.size()));
    result +=
        bigEndian(static_cast<std::uint32_t>(content.size())) + whole + bigEndian(static_cast<std::uint32_t>(sum));
  }
  return result;
}

// Whether the reader did nothing that it may not do.
bool isSound(const Target &target, const std::string &path, std::string &text) {
  try {
    target.read(path);
    return true;
  } catch (const DataError &error) {
    text = error.what();
    const std::string folder = std::filesystem::path(path).parent_path();
    return target.hasNoPath || text.starts_with(folder) || target.name == "cache";
  } catch (const std::exception &error) {
    text = error.what();
    return false;
  }
}

} // namespace

int main(int argc, char **argv) {
  double seconds = 60;
  std::uint64_t seed = std::random_device()();
  std::vector<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (option == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (option.starts_with("-")) {
      std::cout << "calque-reader-fuzz [--seconds N (60) for each reader] [--seed S (fresh)] [READER...]\n";
      return option == "--help" ? 0 : 2;
    } else
      chosen.push_back(option);
  }
  if (std::filesystem::is_directory("/dev/shm"))
    ::setenv("TMPDIR", "/dev/shm", 0); // a hundred times as many files as on a disk
  TemporaryDirectory directory;
  int faults = 0;
  for (const Target &target : targets(directory)) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), target.name) == chosen.end())
      continue;
    std::mt19937_64 random(seed);
    std::uint64_t files = 0, read = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; files < target.seeds.size() || std::chrono::steady_clock::now() < end; ++files) {
      const std::string &valid = target.seeds[files % target.seeds.size()];
      // First each as it is, which must be read.
      const bool isWhole = files < target.seeds.size();
      const std::string bytes = isWhole ? valid : (target.mutate ? target.mutate : mutated)(valid, random);
      const std::string path = directory.file("file");
      writeFile(path, bytes);
      std::string text;
      const bool isFine = isSound(target, path, text);
      read += text.empty();
      if (!isFine || (isWhole && !text.empty())) {
        const std::string kept =
            "calque-reader-fuzz." + target.name + "." + std::to_string(seed) + "." + std::to_string(files);
        writeFile(kept, bytes);
        std::cout << target.name << ": " << (text.empty() ? "no error" : text) << "\n  the file is " << kept << "\n";
        ++faults;
        break;
      }
    }
    std::cout << target.name << ": " << files << " files, " << read << " of them read" << std::endl;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << "seed " << seed << ", at most " << usage.ru_maxrss / 1024 << " MB\n";
  return faults ? 1 : 0;
}
