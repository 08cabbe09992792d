// Data sets: sequences of examples for training loops.
//
//   data::Dataset train = data::fashion_mnist("train").shuffle(60'000).batch(64).prefetch(4);
//   for (int epoch = 0; epoch < 5; ++epoch)
//     for (auto [x, y] : train) // float32[64,28,28,1] in [0, 1] and int32[64]; another order in each epoch
//       step(x, y);
#ifndef CALQUE_DATA_H
#define CALQUE_DATA_H

#include "calque/tensor.h"

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace calque::detail {
class TracedElements;
}

namespace calque::data {

namespace detail {
struct Node;
struct Cursor;
} // namespace detail

struct ShuffleOptions {
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
  bool reshuffle_each_iteration = true;
};

// A sequence of pairs of tensors. It is a shared handle. Iterating does not change the data set, so several loops may
// iterate over it, one after the other or at once.
//
// A loop over it in a traced lambda is a loop of the program, which asks for the elements when it runs: each call of
// the function iterates anew. Its elements have one shape (ValueError for a smaller last batch: `drop_remainder`).
class CALQUE_API Dataset {
public:
  using Element = std::pair<Tensor, Tensor>;

  // The slices of two tensors along their first dimension. ShapeError for scalars and for different numbers of slices.
  static Dataset from_tensor_slices(const Tensor &x, const Tensor &y, SourceLocation where = SourceLocation::current());

  // The elements in random order: each is drawn from a buffer of the next `buffer_size` ones. A buffer as large as the
  // data set makes all orders equally likely. ValueError for a buffer of less than one element.
  Dataset shuffle(std::int64_t buffer_size, ShuffleOptions options = {},
                  SourceLocation where = SourceLocation::current()) const;
  // Stacks `size` elements along a new first dimension. The last batch may be smaller, or is left out. ValueError for a
  // size of less than one; ShapeError or DTypeError while iterating over elements that differ.
  Dataset batch(std::int64_t size, bool drop_remainder = false, SourceLocation where = SourceLocation::current()) const;
  // A thread makes up to `count` elements ahead. An error in the thread is thrown where its element would have come.
  // ValueError for a count of less than one.
  Dataset prefetch(std::int64_t count, SourceLocation where = SourceLocation::current()) const;

  // The number of elements.
  std::int64_t size(SourceLocation where = SourceLocation::current()) const;

  class CALQUE_API Iterator {
  public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    // StateError at the end.
    const Element &operator*() const;
    const Element *operator->() const { return &**this; }
    Iterator &operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const;

  private:
    friend class Dataset;
    explicit Iterator(std::shared_ptr<detail::Cursor> cursor);
    explicit Iterator(std::shared_ptr<calque::detail::TracedElements> traced);
    std::shared_ptr<detail::Cursor> cursor_; // none at the end
    std::shared_ptr<calque::detail::TracedElements> traced_;
    mutable Element element_; // in a trace, once it is asked for
  };
  Iterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

private:
  friend Dataset mnist(const std::string &split, const std::string &directory, SourceLocation where);
  explicit Dataset(std::shared_ptr<const detail::Node> node) : node_(std::move(node)) {}
  // StateError for a handle that was moved from.
  const std::shared_ptr<const detail::Node> &node(SourceLocation where) const;
  std::shared_ptr<const detail::Node> node_;
};

// Reads a file in the IDX format of MNIST, plain or compressed by gzip. Bytes and 16-bit integers become int32.
// DataError, one line that names the file and its fault, where it is missing or does not hold what its header says.
CALQUE_API Tensor read_idx(const std::string &path, SourceLocation where = SourceLocation::current());

// The images of handwritten digits by LeCun, Cortes and Burges, and their labels, from a directory with the four files
// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or with
// ".gz". The split is "train" or "test" (ValueError). Elements are float32[28,28,1], a byte's value / 255, and int32, 0
// to 9. DataError as above, for images of another size, and where images and labels don't fit each other.
CALQUE_API Dataset mnist(const std::string &split, const std::string &directory,
                         SourceLocation where = SourceLocation::current());

// The directory of Debian's package dataset-fashion-mnist.
inline constexpr const char *kFashionMnistDirectory = "/usr/share/datasets/fashion-mnist";
// The same for images of clothes: Xiao, Rasul, Vollgraf: Fashion-MNIST, 2017.
CALQUE_API Dataset fashion_mnist(const std::string &split, const std::string &directory = kFashionMnistDirectory,
                                 SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
