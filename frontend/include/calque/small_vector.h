// A list that stores few elements in itself, without allocating memory. Public headers use it, so that programs need no
// other library for them.
#ifndef CALQUE_SMALL_VECTOR_H
#define CALQUE_SMALL_VECTOR_H

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace calque::detail {

// Allocates no memory up to N elements. With more than N elements, all elements are in one vector.
template <typename T, std::size_t N> class SmallVector {
public:
  SmallVector() = default;
  // `size` elements that are T().
  explicit SmallVector(std::size_t size) { resize(size); }
  SmallVector(const SmallVector &) = delete;
  SmallVector &operator=(const SmallVector &) = delete;

  void push_back(T value) {
    if (size_ < N) {
      few_[size_] = std::move(value);
    } else {
      if (size_ == N)
        moveToMany();
      many_.push_back(std::move(value));
    }
    ++size_;
  }
  // Added elements are T().
  void resize(std::size_t size) {
    if (size > N) {
      if (size_ <= N)
        moveToMany();
      many_.resize(size);
    } else if (size_ > N) {
      for (std::size_t i = 0; i < size; ++i)
        few_[i] = std::move(many_[i]);
      many_.clear();
    } else {
      for (std::size_t i = size_; i < size; ++i)
        few_[i] = T();
      for (std::size_t i = size; i < size_; ++i)
        few_[i] = T();
    }
    size_ = size;
  }

  T *data() { return size_ > N ? many_.data() : few_; }
  const T *data() const { return size_ > N ? many_.data() : few_; }
  std::size_t size() const { return size_; }
  T *begin() { return data(); }
  T *end() { return data() + size_; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + size_; }
  T &operator[](std::size_t i) { return data()[i]; }
  const T &operator[](std::size_t i) const { return data()[i]; }

private:
  void moveToMany() { many_.assign(std::make_move_iterator(few_), std::make_move_iterator(few_ + size_)); }

  std::size_t size_ = 0;
  T few_[N]; // not initialised beyond the size, so that numbers cost nothing
  std::vector<T> many_;
};

} // namespace calque::detail
#endif
