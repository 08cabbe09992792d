// An array of fixed size, whose elements are on the stack if they are few.
#ifndef CALQUE_FRONTEND_STACKARRAY_H
#define CALQUE_FRONTEND_STACKARRAY_H

#include <array>
#include <span>
#include <vector>

namespace calque::detail {

template <typename T, std::size_t N> class StackArray {
public:
  explicit StackArray(std::size_t size) : size_(size) {
    if (size > N)
      many_.resize(size);
  }
  T *data() { return size_ > N ? many_.data() : few_.data(); }
  T &operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return size_; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() { return {data(), size_}; }

private:
  std::size_t size_;
  std::array<T, N> few_{};
  std::vector<T> many_;
};

} // namespace calque::detail
#endif
