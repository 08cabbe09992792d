// What the public handles point to.
#ifndef CALQUE_FRONTEND_TENSORIMPL_H
#define CALQUE_FRONTEND_TENSORIMPL_H

#include "calque/variable.h"
#include "ir/schema/Recording.h"
#include "runtime/Buffer.h"

#include <shared_mutex>

namespace calque::detail {

using TypeRef = std::shared_ptr<const schema::TensorType>;

// Eager elements, or a value of a trace.
struct TensorImpl {
  TypeRef type;
  runtime::Buffer buffer;  // of an eager tensor
  std::uint64_t id = 0;    // never given twice, so tapes and traces know a tensor without keeping it
  std::uint64_t trace = 0; // the trace that made it; 0: eager
  schema::ValueId value = -1;
  SourceLocation where; // what made a traced value
};

// A fresh id: of a tensor, or of a trace; never 0.
std::uint64_t nextId();

// Refuses an empty handle.
const TensorImpl &implOf(const Tensor &x, SourceLocation where = {});

// The type, kept for the next time: a call whose sizes were met lately takes no memory for the types of its results.
TypeRef sharedType(DType dtype, std::span<const std::int64_t> dims);
Tensor makeEager(TypeRef type, runtime::Buffer buffer);
// Refuses negative sizes and those whose bytes overflow.
void checkShape(const Shape &shape, DType dtype, SourceLocation where);
[[noreturn]] void throwLeaked(const TensorImpl &x, SourceLocation where);
// DTypeError or ShapeError with the message where a type is not the one that is wanted.
void requireType(const std::string &message, const schema::TensorType &given, const schema::TensorType &wanted,
                 SourceLocation where);
[[noreturn]] void throwFault(const schema::Fault &fault, SourceLocation where);

// A variable. Where a function takes one as an argument, its traces see a stand-in, so that a captured variable and an
// argument are told apart.
struct VariableState {
  std::string name;
  TypeRef type;
  bool trainable = true;
  bool standIn = false;
  std::shared_ptr<VariableState> original; // of a stand-in, while it is traced

  mutable std::shared_mutex mutex;
  Tensor value; // under the mutex
};

inline schema::SourceLine lineOf(SourceLocation where) { return {where.file, where.line, where.column}; }
// A location from "file:line", its file kept for the life of the process.
SourceLocation locationOf(const std::string &line);

} // namespace calque::detail
#endif
