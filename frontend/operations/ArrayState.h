// The elements of a TensorArray, and the checks of its functions.
#ifndef CALQUE_FRONTEND_OPERATIONS_ARRAYSTATE_H
#define CALQUE_FRONTEND_OPERATIONS_ARRAYSTATE_H

#include "calque/tensor_array.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "runtime/Fork.h"

#include <optional>
#include <vector>

namespace calque::detail {

// An array is a list as long as the index of each write is known. It is then known which elements are written, and a
// write moves no elements. Otherwise the array is whole: it consists of two tensors (ArrayParts).
struct ArrayState {
  ArrayState(TensorArrayOptions options, bool grows, SourceLocation where)
      : options(options), grows(grows), where(where) {
    noteHome(where);
  }
  ArrayState(const ArrayState &other)
      : options(other.options), grows(other.grows), where(other.where), dtype(other.dtype), shape(other.shape),
        openSize(other.openSize), items(other.items), home(other.home), homeId(other.homeId),
        writtenAt(other.writtenAt), whole(other.whole), allWritten(other.allWritten) {}

  void noteHome(SourceLocation at) {
    const std::shared_ptr<Trace> &trace = currentTrace();
    home = trace;
    homeId = trace ? trace->id : 0;
    writtenAt = at;
  }
  bool isWhole() const { return whole.elements.defined(); }
  // Whether it is a list whose number of elements only the call knows, and whose element type is not known yet.
  bool isOpen() const { return !isWhole() && !openSize.is_known(); }
  bool hasType() const { return isWhole() || dtype; }
  schema::TensorType elementType() const {
    if (!isWhole())
      return {*dtype, openDims(shape)};
    schema::TensorType type = *implOf(whole.elements).type;
    type.dims.erase(type.dims.begin());
    return type;
  }
  Shape elementShape(SourceLocation at) const {
    Shape sizes = shape;
    if (isWhole()) {
      sizes = whole.elements.shape(at);
      sizes.erase(sizes.begin());
    }
    return sizes;
  }

  TensorArrayOptions options;
  bool grows;
  SourceLocation where; // the line that made the array

  // Used while the array is a list.
  std::optional<DType> dtype; // of the elements, if it is known
  Shape shape;
  Size openSize;             // the number of elements if only the call knows it, else 0
  std::vector<Tensor> items; // elements that were not written are empty
  std::weak_ptr<Trace> home; // the trace in which the list was last made or written; none if that was eager
  std::uint64_t homeId = 0;
  SourceLocation writtenAt;
  mutable runtime::ForkMutex mutex; // threads may share an array that they only read
  mutable ArrayParts made;          // the parts of the list, as partsOf() has last made them

  ArrayParts whole;
  bool allWritten = false; // whether all elements are known to be written
};

namespace arrays {

Tensor indexTensor(std::int64_t index, SourceLocation where);
Tensor gatherAt(const Tensor &x, const Tensor &indices, SourceLocation where);
Tensor updateAt(const Tensor &x, const Tensor &index, const Tensor &slice, SourceLocation where);
Tensor withAxis(const Tensor &x, SourceLocation where);
Shape withSize(const Size &size, Shape shape);
bool isTraced(const Tensor &x);

// The numbers in a tensor of indices; std::nullopt if it is traced.
std::optional<std::vector<std::int64_t>> knownIndices(const Tensor &indices);

// Whether the indices are integers and have this rank.
bool isIndex(const Tensor &indices, std::int64_t rank, SourceLocation where);
// An index or indices, as a tensor. A number becomes an int64 scalar.
Tensor indicesOf(const Operand &given);
// As indicesOf(), for one index. ShapeError if it is no integer scalar.
Tensor indexOf(const char *name, const Operand &given, SourceLocation where);
[[noreturn]] void throwOutOfRange(const char *name, std::int64_t index, std::int64_t size, SourceLocation where);
[[noreturn]] void throwNotWritten(const char *name, std::int64_t index, SourceLocation where);
[[noreturn]] void throwWritten(const char *name, std::int64_t index, SourceLocation where);
[[noreturn]] void throwCannotGrow(const char *name, SourceLocation where);

// The first place at which an eager bool tensor is false.
std::optional<std::size_t> firstFalse(const Tensor &flags);

// requireWritten refuses elements that were not written, requireNotWritten elements that were. `flags` are the flags of
// the elements at the indices. Traced flags are checked at the call, others now.
void requireWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                    SourceLocation where);
void requireNotWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                       SourceLocation where);

// StateError if the type of the elements is not known.
void requireTyped(const char *name, const ArrayState &state, SourceLocation where);

// Refuses an element of another type than the array's elements. Unknown sizes are compared at the call.
void requireElement(const char *name, const ArrayState &state, const schema::TensorType &given, SourceLocation where);

// The value to write, as a tensor. A number gets the type of the elements.
Tensor valueOf(const ArrayState &state, const Operand &x);

// The type of the slices along axis 0. ShapeError for a scalar.
schema::TensorType sliceType(const char *name, const Tensor &x, SourceLocation where);

// Refuses any other number of slices than `wanted`: now if both numbers are known, else at the call.
void requireSlices(const char *name, const Size &wanted, const Tensor &x, SourceLocation where);
// The number of elements.
Size sizeOf(const ArrayState &state, SourceLocation where);

// The parts of an array whose elements have a type. The parts of a list are made once, in the trace in which the list
// was written: if a loop's body only reads the list, this is outside of the loop. While tapes record, they are made
// anew, because a tape may have begun to watch the elements.
ArrayParts partsOf(const ArrayState &state, SourceLocation where);

// Whether all elements are known to be written.
bool isAllWritten(const ArrayState &state);

// The parts of an array into which elements of this type are written. AssertionError if all elements were written
// already, and the array may not be overwritten.
ArrayParts partsToWrite(const char *name, const ArrayState &state, DType dtype, const Shape &shape,
                        SourceLocation where);
// The state of an array. Refuses an empty handle, tensors of a trace outside of the trace, and arrays that a transform
// has taken apart or put together.
const ArrayState &usable(const std::shared_ptr<ArrayState> &state, const char *name, SourceLocation where);

} // namespace arrays
} // namespace calque::detail
#endif
