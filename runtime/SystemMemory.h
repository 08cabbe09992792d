// How much memory the system has, and how much of it is left.
#ifndef CALQUE_RUNTIME_SYSTEMMEMORY_H
#define CALQUE_RUNTIME_SYSTEMMEMORY_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace calque::runtime {

// The bytes that the process may write without being ended for it: the smaller of what the system says is available,
// with swap, and what the control group may still take. The largest number if neither is known. Takes some 30 us.
size_t availableMemory() noexcept;
// The bytes of the machine, or of the control group if that has less. The largest number if neither is known.
size_t totalMemory() noexcept;

// A number of bytes as environment variables say it, above 0: "100000", "512M", "2G".
std::optional<std::uint64_t> bytesNamed(std::string_view text);

} // namespace calque::runtime
#endif
