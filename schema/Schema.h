// The schema: identities, attributes, type rules and traits of operations, generated from the records, without MLIR.
//
// The front end uses it while recording and the dialect's verifier while compiling, so both give the same types and
// messages:
//
//   Inference inference = inferTypes(OpId::Add, {{DType::Float32, {2, 1}}, {DType::Float32, {3}}}, {});
//   inference.types[0].str()  // "float32[2,3]"
#ifndef CALQUE_SCHEMA_SCHEMA_H
#define CALQUE_SCHEMA_SCHEMA_H

#include "calque/dtype.h"
#include "schema/Scalar.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace calque::schema {

// The sizes of a tensor's dimensions, outermost first; empty for a scalar.
using Dims = std::vector<std::int64_t>;
// The mark of an unknown size, which only a call knows.
inline constexpr std::int64_t kOpenSize = std::numeric_limits<std::int64_t>::min();

// The element type of stacks (`!calque.stack`). The derivatives of loops have stacks, users have none. The type is not
// in the table of element types, and no file can name it.
inline constexpr DType kStackType{-1};

struct TensorType {
  DType dtype = DType::Float32;
  Dims dims;

  std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  bool isStatic() const;
  // The number of elements; the shape must be static.
  std::int64_t numElements() const;
  std::size_t numBytes() const { return static_cast<std::size_t>(numElements()) * size_of(dtype); }
  // "float32[2,?,3]"
  std::string str() const;
  bool operator==(const TensorType &) const = default;
};

std::string shapeString(std::span<const std::int64_t> dims);

// "1 tensor", "2 tensors", "0 axes": a count in a message. `plural` is for nouns that take no -s.
std::string counted(std::size_t count, std::string_view noun, std::string_view plural = {});

// The dimension that an axis within [-rank, rank) names. A negative axis may come as an unsigned number, as ODS has it.
constexpr std::int64_t normalAxis(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

// The elements of a constant: all of them, row-major, or one that stands for all.
struct ConstantData {
  TensorType type;
  bool splat = false;
  std::vector<std::byte> bytes;
  bool operator==(const ConstantData &) const = default;
};
using ConstantRef = std::shared_ptr<const ConstantData>;

// A program inside of an operation, which becomes its region. It uses no values but its parameters.
class Recording;
using RecordingRef = std::shared_ptr<const Recording>;

} // namespace calque::schema

#ifdef _GLIBCXX_RELEASE
// libstdc++ assumes that a variant of texts, lists and shared pointers always has a value. If memory runs out while the
// variant is copied, libstdc++ then destroys a value that does not exist. This line says that one alternative may leave
// the variant without a value, so that libstdc++ checks.
template <> struct std::__detail::__variant::_Never_valueless_alt<calque::schema::RecordingRef> : std::false_type {};
#endif

namespace calque::schema {

using Attribute =
    std::variant<bool, std::int64_t, Scalar, std::string, std::vector<std::int64_t>, DType, ConstantRef, RecordingRef>;
// The alternatives of Attribute in order, and then Text, which is a string on which code does not depend.
enum class AttributeKind : std::uint8_t { Bool, Int, Number, String, Ints, Type, Constant, Recording, Text };

bool equal(const Attribute &a, const Attribute &b);

enum class OpId : std::uint16_t {
#define CALQUE_OPERATION(Name, mnemonic) Name,
#include "schema/Operations.h.inc"
};

// The kind of a type rule's error, which decides the class of the user's error.
enum class FaultKind : std::uint8_t { Shape, DType, Value };

struct Fault {
  FaultKind kind = FaultKind::Value;
  std::string message; // empty: no fault
  explicit operator bool() const { return !message.empty(); }
};

// The arguments of a type rule.
struct OpCall {
  OpId op;
  std::span<const TensorType> operands;
  std::span<const Attribute> attributes;

  const std::string_view name() const;
  const TensorType &operator[](std::size_t i) const { return operands[i]; }
  template <typename T> const T &attribute(std::size_t i) const { return std::get<T>(attributes[i]); }
};

struct Inference {
  std::vector<TensorType> types;
  Fault fault;
};

// Appends the types of the results, or returns a fault.
using TypeRule = Fault (*)(const OpCall &call, std::vector<TensorType> &results);

struct AttributeSchema {
  std::string_view name;
  AttributeKind kind;
  bool mayBeEmpty; // an empty list is the default
};

struct OperationSchema {
  OpId id;
  std::string_view mnemonic;
  std::string_view function;   // the public function; empty if there is none
  std::string_view inMessages; // its name in errors: the public function that a user calls to get it
  std::span<const AttributeSchema> attributes;
  int numOperands;           // -1: any number
  std::uint32_t selecting;   // bit i: operand i is an index or a condition, whose element type is not the data's
  std::uint32_t givingSizes; // bit i: only the type and the sizes of operand i are used
  TypeRule rule;
  bool elementwise;
  bool pure;           // has no effect, except in programs inside of it: may be erased, moved and merged
  bool differentiable; // false: no gradient passes
  bool differentiates; // its results are derivatives of its operands
  bool counted;        // only the first counts[0] operands receive cotangents
  bool perAxis;        // only as many operands receive cotangents as `axes` has entries, the first ones
  bool lacksGradient;  // a gradient that would pass through is an error
  bool severalResults; // the number of results follows from operands and attributes
  bool takesComplex;   // complex numbers are among its operands or results, else they are refused
  bool eachPart;       // of complex numbers, it is the same operation on the real and on the imaginary parts
  // The operation that does the same with unknown sizes, which it takes from tensors. Its operands are this operation's
  // operands, then the tensors that have the sizes. Its attributes are `shape` and `sizes`, then this operation's
  // attributes without the first, which is the shape or the only size.
  std::optional<OpId> open;
  // The values whose elements derivatives read, beside the cotangents. There is a word for each operand, about the
  // derivative with respect to it: a bit for each operand that is read, and kResultBit for the results. A single word
  // stands for all operands; no word means that a derivative may read everything.
  std::span<const std::uint32_t> gradientTakes;
  std::uint32_t passesCotangent; // bit i: operand i's cotangent has the elements of the result's, unless broadcast

  static constexpr std::uint32_t kResultBit = 1u << 31;
  // Of complex operands, derivatives are those of what the operation is on their parts.
  std::uint32_t takenBy(std::size_t operand, bool isComplex) const {
    return gradientTakes.empty() || (isComplex && !eachPart)
               ? ~std::uint32_t(0)
               : gradientTakes[std::min(operand, gradientTakes.size() - 1)];
  }
};

std::span<const OperationSchema> operations();
inline const OperationSchema &schemaOf(OpId op) { return operations()[static_cast<std::size_t>(op)]; }
// The operation with this mnemonic, or null.
const OperationSchema *findOperation(std::string_view mnemonic);

// The operation whose public function has this name, or null.
const OperationSchema *findFunction(std::string_view function);

// Applies the operation's type rule. A fault begins with `name`, or with the mnemonic if `name` is empty, as for IR
// that is written by hand.
Inference inferTypes(OpId op, std::span<const TensorType> operands, std::span<const Attribute> attributes,
                     std::string_view name = {});

// A fault for a number that was cast to DType, but is no enumerator.
Fault checkElementType(DType dtype);

} // namespace calque::schema
#endif
