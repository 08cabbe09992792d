// Copies boxes of elements between buffers: a slice, a transpose, a broadcast, a part of a concatenation.
//
//   int64_t sizes[] = {3, 2}, from[] = {1, 3}, to[] = {2, 1};
//   copyStrided(out, in, sizeof(float), sizes, from, to); // [2,3] transposed
//
// The pool's threads share large boxes.
#ifndef CALQUE_RUNTIME_STRIDEDCOPY_H
#define CALQUE_RUNTIME_STRIDEDCOPY_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace calque::runtime {

// Copies element i * fromStrides[0] + j * fromStrides[1] + ... of `from` to element i * toStrides[0] + j * toStrides[1]
// + ... of `to`, for each index (i, j, ...) of the box. Strides of `from` may be negative. Elements have 1, 2, 4, 8 or
// 16 bytes. No two elements are copied to one place, and the buffers don't overlap.
void copyStrided(void *to, const void *from, std::size_t elementBytes, std::span<const std::int64_t> sizes,
                 std::span<const std::int64_t> fromStrides, std::span<const std::int64_t> toStrides);

// Adds the elements instead of copying them, on this thread. For boxes that are small beside the buffer to which they
// are added. T is float or double.
template <typename T>
void addStrided(T *to, const T *from, std::span<const std::int64_t> sizes, std::span<const std::int64_t> fromStrides,
                std::span<const std::int64_t> toStrides);

// Writes `count` copies of one element.
void fillElements(void *to, const void *element, std::size_t elementBytes, std::int64_t count);

} // namespace calque::runtime
#endif
