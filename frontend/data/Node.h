// What a data set is made of: nodes that make cursors, which give items one after the other.
#ifndef CALQUE_FRONTEND_DATA_NODE_H
#define CALQUE_FRONTEND_DATA_NODE_H

#include "calque/data.h"

#include <array>
#include <cstddef>
#include <functional>

namespace calque::data::detail {

// One of an element's two tensors, for every row of a source.
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

// An element: a row that nobody has copied yet, so that shuffling moves no elements and batching copies them once; or
// tensors.
struct Item {
  std::shared_ptr<const Rows> rows;
  std::int64_t row = 0;
  std::array<Tensor, 2> tensors;

  Dataset::Element element() const;
};

struct Cursor {
  virtual ~Cursor() = default;
  // False at the end.
  virtual bool next(Item &item) = 0;
};

struct Node {
  virtual ~Node() = default;
  virtual std::unique_ptr<Cursor> open() const = 0;
  virtual std::int64_t size() const = 0;
};

std::shared_ptr<const Node> makeSource(Rows rows);

} // namespace calque::data::detail
#endif
