// Arrays of tensors that are written and read one at a time: eagerly, in a trace, and as loop variables.
//
//   TensorArray squares(10);
//   for (int i = 0; i < 10; ++i)
//     squares.write(i, scalar(i * i));
//   Tensor all = squares.stack(); // int32[10]
//
//   // As a loop variable. The body takes the array by value and returns it.
//   TensorArray powers = for_range(0, 10, TensorArray(10, DType::Float32, {2}), [&](const Tensor &i, TensorArray a) {
//     return a.write(i, pow(x, cast(i, DType::Float32)));
//   });
#ifndef CALQUE_TENSOR_ARRAY_H
#define CALQUE_TENSOR_ARRAY_H

#include "calque/structure.h"

namespace calque {

struct TensorArrayOptions {
  bool overwrite = false; // an element may be written more than once
  bool zeros = false;     // an element that was not written reads as zeros, and is no error
};

namespace detail {
struct ArrayState;
// The properties of an array that are the same in all iterations of a loop.
struct ArrayTraits {
  bool overwrite, zeros, grows;
};
// The elements along axis 0, zeros where none is written; and a bool for each element, whether it is written.
struct ArrayParts {
  Tensor elements, written;
};
} // namespace detail

// A value: a copy is independent of the original. Both share the elements that neither has written since. All elements
// have one type and shape, given to the constructor or by the first write. As a structure, an array consists of two
// tensors (detail::ArrayParts). Their types must be known before a loop in which the array is a loop variable: else
// StateError.
//
// IndexError for an index outside of the array. AssertionError for a second write of an element, and for reading an
// element that was not written. The error is thrown while tracing if the index and the written elements are known then,
// else when the function runs.
//
// Gradients pass through arrays, from the elements that are read to the tensors that were written.
class CALQUE_API TensorArray {
public:
  // Makes an array without elements. Each write at index size() adds one. Growing in a traced loop is a StateError.
  explicit TensorArray(TensorArrayOptions options = {}, SourceLocation where = SourceLocation::current());
  // Makes an array of `size` elements, none of them written. The size may be unknown while tracing.
  explicit TensorArray(const Size &size, TensorArrayOptions options = {},
                       SourceLocation where = SourceLocation::current());
  TensorArray(const Size &size, DType dtype, const Shape &element_shape, TensorArrayOptions options = {},
              SourceLocation where = SourceLocation::current());

  // The number of elements, written or not.
  Size size(SourceLocation where = SourceLocation::current()) const;
  // The type and shape of the elements. StateError before the first write, unless the constructor got them.
  DType dtype(SourceLocation where = SourceLocation::current()) const;
  Shape element_shape(SourceLocation where = SourceLocation::current()) const;

  // Sets the element at an integer scalar. DTypeError and ShapeError for another type than that of the elements.
  TensorArray &write(const Operand &index, const Operand &x);
  // Sets the elements at indices [k] to the slices of x along axis 0. AssertionError for an index that is given twice.
  TensorArray &scatter(const Operand &indices, const Operand &x);
  // Sets all elements to the slices of x along axis 0. An array that grows gets as many elements as there are slices.
  TensorArray &unstack(const Operand &x);

  // The element at an integer scalar.
  Tensor read(const Operand &index) const;
  // The elements at integers of any shape, which comes before the elements' own.
  Tensor gather(const Operand &indices) const;
  // All elements, along a new axis 0.
  Tensor stack(SourceLocation where = SourceLocation::current()) const;
  // All elements, concatenated along their axis 0. ShapeError for scalars.
  Tensor concat(SourceLocation where = SourceLocation::current()) const;

  // For Structure.
  detail::ArrayTraits traits() const;
  detail::ArrayParts parts() const;
  // The latest parts. They may belong to a trace that has ended.
  detail::ArrayParts lastParts() const;
  TensorArray withParts(detail::ArrayParts parts) const;

private:
  detail::ArrayState &own();
  void setParts(detail::ArrayParts parts, bool allWritten);
  void writeKnown(std::int64_t index, const Tensor &x, const char *name, SourceLocation where);
  void writeWhole(const Tensor &index, const Tensor &x, const char *name, SourceLocation where);
  void scatterWhole(const Tensor &indices, const Tensor &x, const char *name, SourceLocation where);
  Tensor gatherWritten(const Tensor &indices, const char *name, SourceLocation where) const;
  Tensor stackWritten(const char *name, SourceLocation where) const;

  std::shared_ptr<detail::ArrayState> state_;
};

template <> struct Structure<TensorArray> {
  template <typename V> static void visit(const TensorArray &x, V &v) {
    visit_structure(x.traits(), v);
    detail::ArrayParts parts = x.parts();
    v.tensor(std::move(parts.elements));
    v.tensor(std::move(parts.written));
  }
  template <typename M> static TensorArray map(const TensorArray &x, M &m) {
    const detail::ArrayParts parts = x.lastParts();
    Tensor elements = m.tensor(parts.elements);
    return x.withParts({elements, m.tensor(parts.written)});
  }
};

} // namespace calque
#endif
