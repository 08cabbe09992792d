// The elements of a TensorArray, and what its functions refuse.
#ifndef CALQUE_FRONTEND_OPERATIONS_ARRAYSTATE_H
#define CALQUE_FRONTEND_OPERATIONS_ARRAYSTATE_H

#include "calque/tensor_array.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "runtime/Fork.h"

#include <optional>
#include <vector>

namespace calque::detail {

// An array is a list as long as every index is known that it is written at: what is written is known too, and a write
// moves nothing. Else it is whole.
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
  // A list whose number of elements only the call knows, and whose type nobody does.
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
  SourceLocation where; // it is made

  // A list.
  std::optional<DType> dtype; // of elements, where known
  Shape shape;
  Size openSize;             // 0 where the list has its number of elements
  std::vector<Tensor> items; // those that are not written are empty
  std::weak_ptr<Trace> home; // the trace that it was made or written in last; none for an eager list
  std::uint64_t homeId = 0;
  SourceLocation writtenAt;
  mutable runtime::ForkMutex mutex; // threads may share an array that they only read
  mutable ArrayParts made;          // of the list, as they were asked for last

  ArrayParts whole;
  bool allWritten = false; // as far as is known
};

namespace arrays {

Tensor indexTensor(std::int64_t index, SourceLocation where);
Tensor gatherAt(const Tensor &x, const Tensor &indices, SourceLocation where);
Tensor updateAt(const Tensor &x, const Tensor &index, const Tensor &slice, SourceLocation where);
Tensor withAxis(const Tensor &x, SourceLocation where);
Shape withSize(const Size &size, Shape shape);
bool isTraced(const Tensor &x);

// The elements of indices, where they are known.
std::optional<std::vector<std::int64_t>> knownIndices(const Tensor &indices);

// Whether these are integers of a rank.
bool isIndex(const Tensor &indices, std::int64_t rank, SourceLocation where);
// An index, or indices; a number is one.
Tensor indicesOf(const Operand &given);
// The same for what must be one index. ShapeError.
Tensor indexOf(const char *name, const Operand &given, SourceLocation where);
[[noreturn]] void throwOutOfRange(const char *name, std::int64_t index, std::int64_t size, SourceLocation where);
[[noreturn]] void throwNotWritten(const char *name, std::int64_t index, SourceLocation where);
[[noreturn]] void throwWritten(const char *name, std::int64_t index, SourceLocation where);
[[noreturn]] void throwCannotGrow(const char *name, SourceLocation where);

// The first place where an eager bool tensor does not hold.
std::optional<std::size_t> firstFalse(const Tensor &flags);

// Refuses elements that are not written, or that are, by the flags of elements at indices: now, or at the call.
void requireWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                    SourceLocation where);
void requireNotWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                       SourceLocation where);

// StateError where the type of the elements is not known.
void requireTyped(const char *name, const ArrayState &state, SourceLocation where);

// Refuses another type than that of the elements. Sizes that are not known are compared at the call.
void requireElement(const char *name, const ArrayState &state, const schema::TensorType &given, SourceLocation where);

// What is written: a number has the type of the elements.
Tensor valueOf(const ArrayState &state, const Operand &x);

// The type of the slices along axis 0.
schema::TensorType sliceType(const char *name, const Tensor &x, SourceLocation where);

// Refuses a list of other sizes: now, or at the call.
void requireSlices(const char *name, const Size &wanted, const Tensor &x, SourceLocation where);
// The number of elements.
Size sizeOf(const ArrayState &state, SourceLocation where);

// The parts of an array whose elements have a type. Those of a list are made where it was written, once: outside of the
// loop, for a list that the loop's body only reads. A tape may have begun to watch the elements since they were made.
ArrayParts partsOf(const ArrayState &state, SourceLocation where);

// Whether all elements are known to be written.
bool isAllWritten(const ArrayState &state);

// The parts of an array that tensors of a type are written to. Refuses one that has no place left.
ArrayParts partsToWrite(const char *name, const ArrayState &state, DType dtype, const Shape &shape,
                        SourceLocation where);
// The state of an array. Refuses none, a trace's tensors outside of it, and what transforms have made of an array.
const ArrayState &usable(const std::shared_ptr<ArrayState> &state, const char *name, SourceLocation where);

} // namespace arrays
} // namespace calque::detail
#endif
