// The type rules that records name, one family a file. Each appends the result's type or says what is wrong; the name
// of the operation is put before the message by the caller.
#ifndef CALQUE_IR_SCHEMA_TYPERULES_H
#define CALQUE_IR_SCHEMA_TYPERULES_H

#include "ir/schema/Schema.h"

#include <optional>

namespace calque::schema {

#include "ir/schema/TypeRules.h.inc"

//===-- What several families share -------------------------------------------------------------===//

inline Fault shapeFault(std::string message) { return {FaultKind::Shape, std::move(message)}; }
inline Fault dtypeFault(std::string message) { return {FaultKind::DType, std::move(message)}; }
inline Fault valueFault(std::string message) { return {FaultKind::Value, std::move(message)}; }

// Merges the shapes as NumPy does. An unknown dimension is never broadcast: against a static size other than 1 it has
// that size (checked when the function is called), against 1 it stays unknown.
Fault broadcastShapes(std::span<const TensorType> operands, Shape &result);

// Two sizes that must be equal; the known one of two, or a fault.
std::optional<std::int64_t> mergeDims(std::int64_t a, std::int64_t b);

// Whether the shapes may be equal, and whether the first may be broadcast to the second: unknown sizes may be any.
bool fit(const TensorType &a, const TensorType &b);
bool broadcastsTo(const TensorType &from, const TensorType &to);

Fault sameDType(const TensorType &a, const TensorType &b);

// A unit times the sizes, leaving out negative ones, which are unknown or inferred; nothing when it does not fit.
std::optional<std::int64_t> productOf(std::span<const std::int64_t> sizes, std::int64_t unit = 1);
// Makes a size larger, if that fits.
Fault addSize(std::int64_t &size, std::int64_t more);

// Makes axes non-negative; they must be within [-rank, rank) and differ. No axes become all when `emptyMeansAll`.
Fault normalizeAxes(std::span<const std::int64_t> axes, std::int64_t rank, bool emptyMeansAll,
                    std::vector<std::int64_t> &result);
Fault normalizeAxis(std::int64_t axis, std::int64_t rank, std::int64_t &result);

// The sizes of a window's output and the padding before it, for one dimension; "same" pads at the end first.
struct WindowExtent {
  std::int64_t output;
  std::int64_t padLow;
  std::int64_t padHigh;
};
WindowExtent windowExtent(std::int64_t input, std::int64_t window, std::int64_t stride, bool same);

} // namespace calque::schema
#endif
