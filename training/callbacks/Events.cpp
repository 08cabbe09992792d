#include "Events.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <unistd.h>

namespace calque::training {

//===-- Protobuf ----------------------------------------------------------------------------------===//
void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}
void Message::fixed(std::uint64_t bits, int size) {
  for (int i = 0; i < size; ++i)
    text += static_cast<char>(bits >> (8 * i));
}
void Message::number(int field, std::uint64_t value) {
  varint(static_cast<std::uint64_t>(field) << 3);
  varint(value);
}
void Message::real(int field, double value) {
  varint(static_cast<std::uint64_t>(field) << 3 | 1);
  fixed(std::bit_cast<std::uint64_t>(value), 8);
}
void Message::realOf32(int field, float value) {
  varint(static_cast<std::uint64_t>(field) << 3 | 5);
  fixed(std::bit_cast<std::uint32_t>(value), 4);
}
void Message::bytes(int field, const std::string &value) {
  varint(static_cast<std::uint64_t>(field) << 3 | 2);
  varint(value.size());
  text += value;
}
void Message::reals(int field, const std::vector<double> &values) {
  Message packed;
  for (double value : values)
    packed.fixed(std::bit_cast<std::uint64_t>(value), 8);
  bytes(field, packed.text);
}

//===-- TFRecord ----------------------------------------------------------------------------------===//
std::uint32_t crc32c(const std::string &bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit)
        rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0u); // Castagnoli's polynomial, reflected
      made[i] = rest;
    }
    return made;
  }();
  std::uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}
std::uint32_t maskedCrc32c(const std::string &bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

Message histogramOf(const std::vector<double> &values) {
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, squares = 0;
  std::int64_t count = 0;
  for (double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
      squares += value * value;
      ++count;
    }
  if (count == 0)
    low = high = 0;
  constexpr int kBuckets = 30;
  std::vector<double> limits, counts(kBuckets, 0);
  // One value makes a bucket around it.
  const double from = low == high ? low - 0.5 : low, to = low == high ? high + 0.5 : high;
  for (int i = 1; i <= kBuckets; ++i)
    limits.push_back(i == kBuckets ? to : from + (to - from) * i / kBuckets);
  for (double value : values)
    if (std::isfinite(value)) {
      auto bucket = static_cast<int>((value - from) / (to - from) * kBuckets);
      ++counts[static_cast<std::size_t>(std::clamp(bucket, 0, kBuckets - 1))];
    }
  Message histogram;
  histogram.real(1, low);
  histogram.real(2, high);
  histogram.real(3, static_cast<double>(count));
  histogram.real(4, sum);
  histogram.real(5, squares);
  histogram.reals(6, limits);
  histogram.reals(7, counts);
  return histogram;
}

//===-- Events ------------------------------------------------------------------------------------===//
EventFile::EventFile(const std::string &directory) : file(nullptr, std::fclose) {
  static std::atomic<int> made{0};
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  char host[256] = "localhost";
  ::gethostname(host, sizeof(host) - 1);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  // TensorBoard reads what has "tfevents" in its name.
  path_ = absl::StrFormat("%s/events.out.tfevents.%d.%s.%d.%d.v2", directory, static_cast<std::int64_t>(now.count()),
                          host, static_cast<int>(::getpid()), made++);
  file.reset(std::fopen(path_.c_str(), "wb"));
  if (!file)
    cantBeWritten();
  Message event;
  event.bytes(3, "brain.Event:2"); // the file's version
  write(event);
  flush();
}

void EventFile::write(const Message &event) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  Message timed;
  timed.real(1, now.count());
  const std::string data = timed.str() + event.str();
  auto little = [](std::uint64_t bits, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i)
      bytes += static_cast<char>(bits >> (8 * i));
    return bytes;
  };
  const std::string length = little(data.size(), 8);
  const std::string record = length + little(maskedCrc32c(length), 4) + data + little(maskedCrc32c(data), 4);
  std::lock_guard<std::mutex> lock(mutex);
  if (std::fwrite(record.data(), 1, record.size(), file.get()) != record.size())
    cantBeWritten();
}

void EventFile::summary(const Message &value, std::int64_t step) {
  Message all, event;
  all.message(1, value);
  event.number(2, static_cast<std::uint64_t>(step));
  event.message(5, all);
  write(event);
}

void EventFile::scalar(const std::string &tag, double value, std::int64_t step) {
  Message entry;
  entry.bytes(1, tag);
  entry.realOf32(2, static_cast<float>(value));
  summary(entry, step);
}

void EventFile::histogram(const std::string &tag, const std::vector<double> &values, std::int64_t step) {
  Message entry;
  entry.bytes(1, tag);
  entry.message(5, histogramOf(values));
  summary(entry, step);
}

void EventFile::text(const std::string &tag, const std::string &text, std::int64_t step) {
  Message plugin, metadata, tensor, entry;
  plugin.bytes(1, "text");
  metadata.message(1, plugin);
  tensor.number(1, 7); // DT_STRING
  tensor.message(2, Message());
  tensor.bytes(8, text);
  entry.bytes(1, tag);
  entry.message(8, tensor);
  entry.message(9, metadata);
  summary(entry, step);
}

void EventFile::graph(const Message &graph) {
  Message event;
  event.bytes(4, graph.str());
  write(event);
}

void EventFile::flush() {
  std::lock_guard<std::mutex> lock(mutex);
  if (std::fflush(file.get()) != 0)
    cantBeWritten();
}

void EventFile::cantBeWritten() const {
  fail<DataError>(absl::StrCat("summary: ", path_, ": the event file can't be written"));
}

} // namespace calque::training
