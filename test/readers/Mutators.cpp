#include "test/readers/Mutators.h"
#include "test/readers/ProgramMutator.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nettle/sha2.h>
#include <nlohmann/json.hpp>
#include <vector>
#include <zlib.h>

namespace calque::testing {

namespace {

std::size_t below(std::size_t bound, std::mt19937_64 &random) {
  return static_cast<std::size_t>(random() % std::max<std::size_t>(bound, 1));
}

} // namespace

std::string mutated(std::string bytes, std::mt19937_64 &random) {
  auto below = [&](std::size_t bound) { return testing::below(bound, random); };
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

//===-- JSON ------------------------------------------------------------------------------------===//

namespace {

using Json = nlohmann::ordered_json;

// A text that is not UTF-8 has other letters then.
std::string dumped(const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void collect(Json &json, std::vector<Json *> &nodes) {
  nodes.push_back(&json);
  for (Json &each : json)
    if (each.is_structured())
      collect(each, nodes);
    else
      nodes.push_back(&each);
}

Json scalar(std::mt19937_64 &random) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Json scalars[] = {nullptr,
                          true,
                          false,
                          "",
                          0,
                          1,
                          -1,
                          2,
                          127,
                          4096,
                          1 << 30,
                          std::int64_t(1) << 32,
                          Limits::max(),
                          Limits::min(),
                          std::numeric_limits<std::uint64_t>::max(),
                          0.5,
                          -1e300,
                          1e-300,
                          Json::array(),
                          Json::object()};
  return scalars[below(std::size(scalars), random)];
}

void mutate(Json &root, const Mutation &mutation, std::mt19937_64 &random) {
  std::vector<Json *> nodes;
  collect(root, nodes);
  Json &node = *nodes[below(nodes.size(), random)];
  switch (random() % 8) {
  case 0:
    node = scalar(random);
    break;
  case 1: { // a copy of another one, maybe of one around it
    Json copy = *nodes[below(nodes.size(), random)];
    node = std::move(copy);
    break;
  }
  case 2:
    if (node.is_structured() && !node.empty())
      node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(below(node.size(), random))));
    else
      node = nullptr;
    break;
  case 3:
    if (node.is_array()) {
      Json copy = node.empty() ? scalar(random) : node[below(node.size(), random)];
      for (std::size_t times = 1 + below(8, random); times-- > 0;)
        node.push_back(copy);
    } else
      node = Json::array({node});
    break;
  case 4: { // two change their places
    Json &other = *nodes[below(nodes.size(), random)];
    if (!node.is_structured() && !other.is_structured())
      std::swap(node, other);
    else
      node = scalar(random);
    break;
  }
  default: // where the most is: texts and numbers
    for (int tries = 0; tries < 16; ++tries) {
      Json &leaf = *nodes[below(nodes.size(), random)];
      if (leaf.is_string()) {
        std::string text = leaf.get<std::string>();
        mutation(text);
        leaf = std::move(text);
        break;
      }
      if (leaf.is_number_integer()) {
        leaf = static_cast<std::int64_t>(leaf.get<std::uint64_t>() + random() % 9 - 4);
        break;
      }
      if (leaf.is_number()) {
        leaf = leaf.get<double>() * (random() % 2 ? -1 : 1e30);
        break;
      }
    }
  }
}

} // namespace

std::string mutatedJson(std::string text, const Mutation &mutation, std::mt19937_64 &random) {
  Json json;
  if (random() % 8)
    json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_structured()) {
    mutation(text);
    return text;
  }
  mutate(json, mutation, random);
  return dumped(json);
}

//===-- Files of tensors ------------------------------------------------------------------------===//

namespace {

// The file with the digest that its bytes have.
void digest(std::string &bytes) {
  const std::string name = R"("calque.sha256":")";
  const std::size_t at = bytes.find(name) + name.size(), digits = 64;
  if (at < name.size() || at + digits > bytes.size())
    return;
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
}

constexpr std::string_view kPrograms = "programs/";

// The header and the data behind it; false where they are not to be told apart.
bool split(const std::string &bytes, std::string &text, std::string &data) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length)
    return false;
  text = bytes.substr(sizeof length, length);
  data = bytes.substr(sizeof length + length);
  return true;
}

// A file of both, with the digest that it has.
std::string joined(const std::string &text, const std::string &data) {
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += text;
  bytes += data;
  digest(bytes);
  return bytes;
}

// Another text of the metadata; false where there is none but the digest.
bool mutateText(Json &header, const Mutation &mutation, std::mt19937_64 &random) {
  std::vector<Json *> texts;
  if (auto metadata = header.find("__metadata__"); metadata != header.end() && metadata->is_object())
    for (auto &[name, text] : metadata->items())
      if (name != "calque.sha256" && name != "calque.format" && text.is_string())
        texts.push_back(&text);
  if (texts.empty())
    return false;
  Json &text = *texts[below(texts.size(), random)];
  text = mutatedJson(text.get<std::string>(), mutation, random);
  return true;
}

// Other bytes for an entry whose name begins so, and places that fit; false where the places do not fit to begin with.
bool mutateEntry(Json &header, std::string &data, const Mutation &mutation, std::mt19937_64 &random,
                 std::string_view beginning = {}) {
  struct Entry {
    Json *json;
    std::size_t begin, end;
  };
  std::vector<Entry> entries;
  std::vector<std::string> names;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    if (!entry.is_object() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2 || !entry["data_offsets"][0].is_number_unsigned() ||
        !entry["data_offsets"][1].is_number_unsigned())
      return false;
    entries.push_back({&entry, entry["data_offsets"][0], entry["data_offsets"][1]});
    names.push_back(name);
    if (entries.back().begin > entries.back().end || entries.back().end > data.size())
      return false;
  }
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (names[i].starts_with(beginning))
      candidates.push_back(i);
  if (candidates.empty())
    return false;
  const Entry &chosen = entries[candidates[below(candidates.size(), random)]];
  std::string bytes = data.substr(chosen.begin, chosen.end - chosen.begin);
  const std::size_t before = bytes.size();
  mutation(bytes);
  data.replace(chosen.begin, before, bytes);
  const std::size_t from = chosen.begin;
  for (Entry &each : entries) {
    const bool isIt = each.json == chosen.json;
    if (!isIt && each.begin >= from + before && each.end > from)
      each.begin += bytes.size() - before, each.end += bytes.size() - before;
    if (isIt)
      each.end = each.begin + bytes.size();
    (*each.json)["data_offsets"] = Json::array({each.begin, each.end});
    if (isIt && (*each.json)["dtype"] == "U8")
      (*each.json)["shape"] = Json::array({bytes.size()});
  }
  return true;
}

} // namespace

std::string mutatedTensorFile(std::string bytes, const Mutation &mutation, std::mt19937_64 &random) {
  const auto kind = random() % 16;
  std::string text, data;
  if (!split(bytes, text, data) || kind == 0) {
    mutation(bytes);
    if (random() % 4)
      digest(bytes);
    return bytes;
  }
  const Json::parser_callback_t all = nullptr;
  if (kind == 1)
    mutation(text);
  else if (kind == 2)
    mutation(data);
  else if (Json header = Json::parse(text, all, /*allow_exceptions=*/false); header.is_object()) {
    if (kind < 4 || !(kind < 10 ? mutateText(header, mutation, random) || mutateEntry(header, data, mutation, random)
                                : mutateEntry(header, data, mutation, random)))
      mutate(header, mutation, random);
    text = dumped(header);
  } else
    mutation(text);
  return joined(text, data);
}

std::string mutatedProgramBytes(std::string bytes, const Mutation &mutation, std::mt19937_64 &random) {
  for (std::size_t times = 1 + below(4, random); times > 0; --times)
    bytes = mutatedProgram(std::move(bytes), random);
  if (random() % 8 == 0)
    mutation(bytes);
  return bytes;
}

std::string mutatedFunctions(std::string bytes, const Mutation &mutation, std::mt19937_64 &random) {
  std::string text, data;
  if (random() % 4 == 0 || !split(bytes, text, data))
    return mutatedTensorFile(std::move(bytes), mutation, random);
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Mutation ofProgram = [&](std::string &program) {
    program = mutatedProgramBytes(std::move(program), mutation, random);
  };
  if (!header.is_object() || !mutateEntry(header, data, ofProgram, random, kPrograms))
    return mutatedTensorFile(std::move(bytes), mutation, random);
  return joined(dumped(header), data);
}

std::vector<std::string> programsOf(const std::string &file) {
  std::vector<std::string> programs;
  std::string text, data;
  if (!split(file, text, data))
    return programs;
  const Json header = Json::parse(text);
  for (const auto &[name, entry] : header.items())
    if (name.starts_with(kPrograms)) {
      const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
      programs.push_back(data.substr(begin, end - begin));
    }
  return programs;
}

//===-- PNG -------------------------------------------------------------------------------------===//

namespace {

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

} // namespace

std::string mutatedPng(std::string bytes, const Mutation &mutation, std::mt19937_64 &random) {
  std::vector<std::pair<std::string, std::string>> chunks; // type and data
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = bigEndian(bytes, at);
    if (length > bytes.size() - at - 12)
      break;
    chunks.emplace_back(bytes.substr(at + 4, 4), bytes.substr(at + 8, length));
    at += 12 + length;
  }
  if (chunks.empty() || random() % 4 == 0) {
    mutation(bytes);
    return bytes;
  }
  auto any = [&] { return chunks.begin() + static_cast<std::ptrdiff_t>(below(chunks.size(), random)); };
  auto compressed = [&] {
    for (auto &[type, data] : chunks)
      if (type == "IDAT") {
        std::string plain = inflated(data);
        mutation(plain);
        data = deflated(plain);
      }
  };
  switch (random() % 8) {
  case 0: {
    const auto copy = *any();
    chunks.insert(any(), copy);
    break;
  }
  case 1:
    chunks.erase(any());
    break;
  case 2:
    std::swap(*any(), *any());
    break;
  case 3: { // chunks that the seed has not
    const char *others[] = {"PLTE", "tRNS", "IDAT", "gAMA", "abcd", "Abcd", "IEND"};
    std::string data(below(9, random), '\1');
    mutation(data);
    chunks.insert(any(), {others[random() % 7], data});
    break;
  }
  case 4: // of a header that fits: another depth, kind of colour or interlacing
    for (auto &[type, header] : chunks)
      if (type == "IHDR" && header.size() >= 13) {
        header[8] = "\1\2\4\10\20"[random() % 5];
        header[9] = "\0\2\3\4\6"[random() % 5];
        header[12] = static_cast<char>(random() % 2);
      }
    compressed();
    break;
  case 5:
    compressed();
    break;
  default:
    mutation(any()->second);
  }
  std::string result = bytes.substr(0, 8);
  for (const auto &[type, data] : chunks) {
    const std::string whole = type + data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef *>(whole.data()), static_cast<uInt>(whole.size()));
    result += bigEndian(static_cast<std::uint32_t>(data.size())) + whole + bigEndian(static_cast<std::uint32_t>(sum));
  }
  return result;
}

//===-- Records ---------------------------------------------------------------------------------===//

namespace {

// CRC-32C, masked as records have it.
std::string checksumOf(const std::string &bytes) {
  static const auto table = [] {
    std::vector<std::uint32_t> made(256);
    for (std::uint32_t i = 0; i < 256; ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        made[i] = made[i] >> 1 ^ (made[i] & 1 ? 0x82f63b78U : 0);
    }
    return made;
  }();
  std::uint32_t sum = ~0U;
  for (char each : bytes)
    sum = table[(sum ^ static_cast<unsigned char>(each)) & 255] ^ sum >> 8;
  sum = ~sum;
  sum = (sum >> 15 | sum << 17) + 0xa282ead8U;
  std::string result(sizeof sum, '\0');
  std::memcpy(result.data(), &sum, sizeof sum);
  return result;
}

} // namespace

std::string mutatedRecords(std::string bytes, const Mutation &mutation, std::mt19937_64 &random) {
  std::vector<std::string> records;
  std::size_t at = 0;
  for (std::uint64_t length = 0; bytes.size() - at >= 16; at += 16 + length) {
    std::memcpy(&length, bytes.data() + at, sizeof length);
    if (length > bytes.size() - at - 16)
      break;
    records.push_back(bytes.substr(at + 12, length));
  }
  if (records.empty() || random() % 4 == 0) {
    mutation(bytes);
    return bytes;
  }
  auto any = [&] { return records.begin() + static_cast<std::ptrdiff_t>(below(records.size(), random)); };
  switch (random() % 8) {
  case 0: {
    const std::string copy = *any();
    records.insert(any(), copy);
    break;
  }
  case 1:
    records.erase(any());
    break;
  case 2:
    std::swap(*any(), *any());
    break;
  default:
    mutation(*any());
  }
  std::string result;
  for (const std::string &each : records) {
    std::string length(sizeof(std::uint64_t), '\0');
    const std::uint64_t size = each.size();
    std::memcpy(length.data(), &size, sizeof size);
    result += length + checksumOf(length) + each + checksumOf(each);
  }
  return result + bytes.substr(at);
}

} // namespace calque::testing
