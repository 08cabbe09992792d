// The objects behind the public handles.
#ifndef CALQUE_FRONTEND_CORE_TENSORIMPL_H
#define CALQUE_FRONTEND_CORE_TENSORIMPL_H

#include "calque/callable.h"
#include "calque/variable.h"
#include "runtime/Buffer.h"
#include "schema/Recording.h"

#include <shared_mutex>

namespace calque::detail {

using TypeRef = std::shared_ptr<const schema::TensorType>;

// An eager tensor with its elements, or a traced one, which stands for an SSA value of a trace.
struct TensorImpl {
  TypeRef type;
  runtime::Buffer buffer;  // of an eager tensor
  std::uint64_t id = 0;    // unique in the process, so that tapes and traces need not keep the tensor
  std::uint64_t trace = 0; // the trace that made it; 0: eager
  schema::ValueId value = -1;
  SourceLocation where; // the line that made the tensor; unknown for a tensor that only passes on another's elements
};

// A fresh id for a tensor or a trace; never 0.
std::uint64_t nextId();

// The object of a handle; refuses an empty one.
const TensorImpl &implOf(const Tensor &x, SourceLocation where = {});
// "float32[2,3]".
inline std::string typeOf(const Tensor &x) { return implOf(x).type->str(); }

// A type, cached: a call with recently used sizes allocates no types for its results.
TypeRef sharedType(DType dtype, std::span<const std::int64_t> dims);
// `where` is the line of errors about decisions on the tensor, and the line of library calls without a line of their
// own.
Tensor makeEager(TypeRef type, runtime::Buffer buffer, SourceLocation where = {});
// makeEager for elements that the caller has made. If runs of a lambda make equal elements repeatedly, they are stored
// once.
Tensor makeConstant(TypeRef type, runtime::Buffer buffer, SourceLocation where = {});
// Memory for a tensor of a type without unknown sizes. MemoryError if there is none; its text begins with `whose`.
runtime::Buffer allocate(const schema::TensorType &type, SourceLocation where, const std::string &whose = "");
// An eager tensor of rank 0. DTypeError and ValueError by the rule of number.h.
Tensor makeScalar(const Number &number, DType dtype, SourceLocation where);
// ValueError for a DType that is no enumerator, but was cast from another number.
void requireElementType(DType dtype, SourceLocation where);
// Refuses negative sizes, and shapes whose bytes overflow.
void checkShape(const schema::Dims &shape, DType dtype, SourceLocation where);
[[noreturn]] void throwLeaked(const TensorImpl &x, SourceLocation where);
// DTypeError or ShapeError with the message if the types differ.
void requireType(const std::string &message, const schema::TensorType &given, const schema::TensorType &wanted,
                 SourceLocation where);
[[noreturn]] void throwFault(const schema::Fault &fault, SourceLocation where);

// A variable. While a function is traced, each argument that is a variable is replaced by a stand-in, which tells it
// apart from a capture.
struct VariableState {
  std::string name;
  TypeRef type;
  bool trainable = true;
  bool standIn = false;
  std::function<Tensor(const Tensor &)> constraint;
  std::shared_ptr<VariableState> original; // the variable behind a stand-in, during the trace

  mutable std::shared_mutex mutex;
  Tensor value; // guarded by the mutex
};
// Refuses an empty handle.
const std::shared_ptr<VariableState> &stateOf(const Variable &x, SourceLocation where);

inline schema::SourceLine lineOf(SourceLocation where) { return {where.file, where.line, where.column}; }
inline SourceLocation locationOf(const schema::SourceLine &line) {
  return SourceLocation::at(line.file, line.line, line.column);
}
// Whether the line is one of the standard library, which called Calque for the user.
bool isInStandardLibrary(SourceLocation where);
// A location from "file:line", its file kept for the life of the process.
SourceLocation locationOf(const std::string &line);

} // namespace calque::detail
#endif
