// A data set is a chain of nodes. A node makes cursors, each of which gives the items one after the other.
#ifndef CALQUE_TRAINING_DATA_NODE_H
#define CALQUE_TRAINING_DATA_NODE_H

#include "calque/data.h"
#include "calque/tensor_spec.h"

#include <array>
#include <cstddef>
#include <functional>

namespace calque::data::detail {

// The rows of one of the two tensors of a source.
struct Component {
  DType dtype;
  Shape shape; // of a row
  std::function<void(std::int64_t row, std::byte *out)> copy;

  std::size_t numElements() const;
};

struct Rows {
  std::int64_t size;
  std::array<Component, 2> components;
};

// An element of a data set: tensors, or the number of a row that is not copied yet, so that shuffling copies nothing
// and batching copies each row once.
struct Item {
  std::shared_ptr<const Rows> rows;
  std::int64_t row = 0;
  std::array<Tensor, 2> tensors;

  Dataset::Element element() const;
};

struct Cursor {
  virtual ~Cursor() = default;
  // Gives the next item, or returns false at the end.
  virtual bool next(Item &item) = 0;
};

// The type of one of the two tensors of all elements.
using ElementTypes = std::array<TensorSpec<>, 2>;

struct Node {
  virtual ~Node() = default;
  // Found without making elements. ValueError where they differ.
  virtual ElementTypes types(SourceLocation where) const = 0;
  virtual std::unique_ptr<Cursor> open() const = 0;
  virtual std::int64_t size() const = 0;
};

std::shared_ptr<const Node> makeSource(Rows rows);

} // namespace calque::data::detail
#endif
