// Prints of compiled code, and tensors as text.
//
// Generated code passes a tensor to `calque_rt_print`, which passes it to the handler in the call's frame. Nothing is
// printed once a check of the call has failed.
//
//   struct Printer : HostCallbacks {
//     Printer() : HostCallbacks{[](void *self, int32_t site, int32_t dtype, int32_t rank, const int64_t *dims,
//                                  const void *data) {
//           std::cout << static_cast<Printer *>(self)->texts[site]
//                     << formatTensor(dtype, {dims, static_cast<size_t>(rank)}, data) << '\n';
//         }} {}
//     std::vector<std::string> texts;
//   };
//   Printer printer;
//   frame.host = static_cast<HostCallbacks *>(&printer);
#ifndef CALQUE_RUNTIME_PRINT_H
#define CALQUE_RUNTIME_PRINT_H

#include "runtime/abi.h"

#include <optional>
#include <span>
#include <string>

namespace calque::runtime {

// The caller's handlers. CalqueCallFrame::host points to them, or is null for a caller without handlers.
struct HostCallbacks {
  // `self` is the frame's host pointer. Called on the thread of the call. It must not throw: generated code can't
  // unwind, so an exception ends the process.
  void (*print)(void *self, int32_t site, int32_t dtype, int32_t rank, const int64_t *dims, const void *data);
  // Runs a host call and returns whether it succeeded. `words` are the addresses of its operands and results, of which
  // there are `numAddresses`, then the sizes of the operands' dimensions. If a check has `failed`, it runs nothing, but
  // still fills the results. Null for a caller that serves no host calls, which then fail.
  bool (*call)(void *self, int32_t site, bool failed, const int64_t *words, size_t numAddresses) = nullptr;
  // An assertion that fails the call stores here which of its elements do not hold, as text of describeFailed()
  // (Assertions.h).
  std::string failedElements = {};
};

// A dense row-major tensor as str() of NumPy 2.4 writes it. Elements have one width; floats have at most 8 digits
// behind the point, and all have an exponent where their magnitudes are far apart. Lines break at 75 columns. Above
// 1000 elements, "..." stands between the first and the last three of each dimension. Rank 0 is the bare value with all
// its digits; a tensor without elements is []. `dtype` is a calque::DType; std::invalid_argument for any other number.
std::string formatTensor(int32_t dtype, std::span<const int64_t> dims, const void *data);

// A line that is printed tensor by tensor, as the calls of HostCallbacks::print give them.
class PrintedLine {
public:
  // Adds the next tensor, or none if `dtype` is below 0, to the line of a text. Each `{}` of the text is the place of a
  // tensor, and `{{` and `}}` are braces. A text without a place is a label before the tensor. Returns the whole line,
  // without a line end, once it is complete.
  std::optional<std::string> add(const std::string &text, int32_t dtype, std::span<const int64_t> dims,
                                 const void *data);

private:
  // Appends the text up to the place of its next tensor, or to its end. Returns whether there is such a place.
  bool copyText(const std::string &text);

  std::string line;
  size_t copied = 0; // of the text
  bool hasBegun = false;
};

} // namespace calque::runtime
#endif
