#include "runtime/Print.h"

#include <atomic>
#include <charconv>
#include <cmath>
#include <concepts>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace calque::runtime {
namespace {

constexpr int64_t MostElements = 1000; // that are printed in full
constexpr int64_t EdgeItems = 3;

void append(std::string &text, uint8_t value) { text += value ? "True" : "False"; }

template <std::signed_integral T> void append(std::string &text, T value) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

template <std::floating_point T> void append(std::string &text, T value) {
  if (std::isnan(value)) {
    text += "nan"; // whatever its sign
    return;
  }
  if (std::isinf(value)) {
    text += value < 0 ? "-inf" : "inf";
    return;
  }
  // NumPy's bounds for leaving positional notation, here by element.
  T magnitude = std::abs(value);
  bool positional = value == 0 || (magnitude >= T(1e-4) && magnitude < T(1e8));
  char digits[64];
  char *end = std::to_chars(digits, digits + sizeof digits, value,
                            positional ? std::chars_format::fixed : std::chars_format::scientific)
                  .ptr;
  std::string_view shortest(digits, static_cast<size_t>(end - digits));
  size_t exponent = shortest.find('e');
  std::string_view mantissa = shortest.substr(0, exponent);
  text += mantissa;
  if (mantissa.find('.') == std::string_view::npos)
    text += '.';
  if (exponent != std::string_view::npos)
    text += shortest.substr(exponent);
}

template <typename T> class Formatter {
public:
  Formatter(std::span<const int64_t> dims, int64_t count) : dims(dims), shortened(count > MostElements) {}

  // `data` is a block of `count` elements with the dimensions from `axis` on.
  void run(const T *data, int64_t count, size_t axis) {
    if (axis == dims.size()) {
      append(text, *data);
      return;
    }
    int64_t size = dims[axis], stride = count / size;
    bool gap = shortened && size > 2 * EdgeItems;
    text += '[';
    for (int64_t index = 0; index < size; ++index) {
      if (index)
        separate(axis);
      if (gap && index == EdgeItems) {
        text += "...";
        index = size - EdgeItems - 1;
        continue;
      }
      run(data + index * stride, stride, axis + 1);
    }
    text += ']';
  }

  std::string text;

private:
  // A space within a row; as many line ends as there are dimensions below, then the brackets' indentation.
  void separate(size_t axis) {
    size_t below = dims.size() - axis - 1;
    text.append(below, '\n');
    text.append(below ? axis + 1 : 1, ' ');
  }

  std::span<const int64_t> dims;
  bool shortened;
};

template <typename T> std::string format(std::span<const int64_t> dims, const void *data) {
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  if (count == 0)
    return "[]";
  Formatter<T> formatter(dims, count);
  formatter.run(static_cast<const T *>(data), count, 0);
  return std::move(formatter.text);
}

} // namespace

std::string formatTensor(int32_t dtype, std::span<const int64_t> dims, const void *data) {
  switch (dtype) {
  case 0:
    return format<uint8_t>(dims, data);
  case 1:
    return format<int32_t>(dims, data);
  case 2:
    return format<int64_t>(dims, data);
  case 3:
    return format<float>(dims, data);
  case 4:
    return format<double>(dims, data);
  }
  throw std::invalid_argument("formatTensor: no dtype has the code " + std::to_string(dtype));
}

} // namespace calque::runtime

extern "C" __attribute__((visibility("default"))) void calque_rt_print(CalqueCallFrame *frame, int32_t site,
                                                                       int32_t dtype, int32_t rank, const int64_t *dims,
                                                                       const void *data) {
  if (std::atomic_ref<int32_t>(frame->error.failed).load(std::memory_order_acquire))
    return;
  auto *host = static_cast<calque::runtime::HostCallbacks *>(frame->host);
  if (!host || !host->print)
    return;
  // Ends the process here, where the cause can be seen, rather than unwind into code without unwind tables.
  [&]() noexcept { host->print(frame->host, site, dtype, rank, dims, data); }();
}
