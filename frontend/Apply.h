// The one door that every operation goes through.
#ifndef CALQUE_FRONTEND_APPLY_H
#define CALQUE_FRONTEND_APPLY_H

#include "calque/tensor.h"
#include "ir/schema/Schema.h"

#include <initializer_list>

namespace calque::detail {

// Applies an operation of at most one result: type rule, then recording or running it, then the tapes. The Tensor is
// empty for an operation without results. ShapeError, DTypeError, ValueError by the type rule.
CALQUE_API Tensor apply(schema::OpId op, std::span<const Tensor> operands,
                        std::span<const schema::Attribute> attributes, SourceLocation where);

// Records an operation of any number of results in this thread's trace, which there must be.
std::vector<Tensor> applyRecorded(schema::OpId op, std::span<const Tensor> operands,
                                  std::span<const schema::Attribute> attributes, SourceLocation where);

// What the generated public functions call: numbers adopt the element type of the tensors beside them.
Tensor applyPublic(schema::OpId op, std::initializer_list<const Operand *> operands,
                   std::initializer_list<schema::Attribute> attributes);
Tensor applyPublic(schema::OpId op, const std::vector<Tensor> &operands,
                   std::initializer_list<schema::Attribute> attributes, SourceLocation where);

// A tensor where one of the type of `like` is wanted; DTypeError and ShapeError with the message for others. Sizes that
// are left open on one side while tracing are compared at the call.
Tensor fitting(const std::string &message, const Tensor &x, const Tensor &like, SourceLocation where);

// Zeros of a tensor's type, whose sizes may be open; onesLike is in calque/transforms.h. Neither counts as following
// the tensor.
Tensor zerosLike(const Tensor &x, SourceLocation where);

// The operands as tensors of one call.
std::vector<Tensor> adoptNumbers(std::span<const Operand *const> operands);

// The line to report: that of the outermost library call in progress, or the operation's own.
SourceLocation userLine(SourceLocation where);
// Whether a library call is in progress.
bool inLibraryCall();

} // namespace calque::detail
#endif
