// The type rules that records name, one family in each file. A rule appends the types of the results or returns a
// fault; its caller puts the operation's name before the message.
#ifndef CALQUE_SCHEMA_TYPERULES_H
#define CALQUE_SCHEMA_TYPERULES_H

#include "schema/Schema.h"

#include <optional>

namespace calque::schema {

#include "schema/TypeRules.h.inc"

//===-- Helpers of several families -------------------------------------------------------------===//

using Ints = std::vector<std::int64_t>;
// Attribute i, which is a list.
inline const Ints &ints(const OpCall &call, std::size_t i) { return call.attribute<Ints>(i); }

inline Fault shapeFault(std::string message) { return {FaultKind::Shape, std::move(message)}; }
inline Fault dtypeFault(std::string message) { return {FaultKind::DType, std::move(message)}; }
inline Fault valueFault(std::string message) { return {FaultKind::Value, std::move(message)}; }

// "[1,-2]": a list of numbers, none of which stands for an unknown size.
std::string listString(std::span<const std::int64_t> numbers);

// Broadcasts the shapes as NumPy does. A dimension of unknown size is never broadcast. Beside a known size other than
// 1, it has that size, which the call checks. Beside 1, it stays unknown.
Fault broadcastShapes(std::span<const TensorType> operands, Dims &result);

// Merges two sizes that must be equal into the known one, if either is known. std::nullopt if they differ.
std::optional<std::int64_t> mergeDims(std::int64_t a, std::int64_t b);

// fit: whether the shapes are equal for some values of unknown sizes. broadcastsTo: whether, for some such values, the
// first shape broadcasts to the second.
bool fit(const TensorType &a, const TensorType &b);
bool broadcastsTo(const TensorType &from, const TensorType &to);

// Refuses integers and bool, and says how to make floating-point numbers of them. Complex numbers come to a rule only
// where the record says what they are.
Fault requireFloating(std::span<const TensorType> types);

Fault sameDType(const TensorType &a, const TensorType &b);

// The product of the unit and the sizes. Negative sizes, which are unknown or inferred, are left out. std::nullopt on
// overflow.
std::optional<std::int64_t> productOf(std::span<const std::int64_t> sizes, std::int64_t unit = 1);
// Adds to a size; a fault on overflow.
Fault addSize(std::int64_t &size, std::int64_t more);

// Refuses a shape with a negative size.
Fault checkSizes(const Ints &shape);
// Sets `shape` to attribute 0, the shape. Attribute 1, `sizes`, names an operand and an axis for each unknown size;
// that dimension's size replaces it.
Fault openShape(const OpCall &call, Dims &shape);

// Checks the types of a program's parameters. Messages call the program `what`.
Fault checkProgram(const RecordingRef &program, std::span<const TensorType> parameters, const char *what);

// Makes axes non-negative. They must be distinct and in [-rank, rank). An empty list means all axes if `emptyMeansAll`.
Fault normalizeAxes(std::span<const std::int64_t> axes, std::int64_t rank, bool emptyMeansAll,
                    std::vector<std::int64_t> &result);
Fault normalizeAxis(std::int64_t axis, std::int64_t rank, std::int64_t &result);

// The size of a window's output, and the padding of its input, in one dimension. Without `same`, the padding is the
// given one. With `same`, the output is as large as the input divided by the stride, rounded up, and the end has at
// most one more than the start.
struct WindowExtent {
  std::int64_t output;
  std::int64_t padLow;
  std::int64_t padHigh;
};
WindowExtent windowExtent(std::int64_t input, std::int64_t window, std::int64_t stride, bool same,
                          std::int64_t padLow = 0, std::int64_t padHigh = 0);

} // namespace calque::schema
#endif
