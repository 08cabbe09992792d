// Applies operations. Every operation, eager or traced, goes through these functions.
#ifndef CALQUE_FRONTEND_CORE_APPLY_H
#define CALQUE_FRONTEND_CORE_APPLY_H

#include "calque/tensor.h"
#include "schema/Recording.h"

#include <initializer_list>

namespace calque::detail {

// Applies an operation of at most one result: checks it by its type rule, records or runs it, and shows it to the
// tapes. Returns an empty Tensor for an operation without results. ShapeError, DTypeError or ValueError if the type
// rule refuses the operands.
CALQUE_API Tensor apply(schema::OpId op, std::span<const Tensor> operands,
                        std::span<const schema::Attribute> attributes, SourceLocation where);

// Applies an operation of any number of results.
CALQUE_API std::vector<Tensor> applyAll(schema::OpId op, std::span<const Tensor> operands,
                                        std::span<const schema::Attribute> attributes, SourceLocation where);

// Applies an operation of at most one result, and ignores GradientOverrides: its gradient is that of its record.
Tensor applyAsIs(schema::OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 SourceLocation where);

// The generated public functions call this. Numbers adopt the element type of the tensors beside them.
Tensor applyPublic(schema::OpId op, std::initializer_list<const Operand *> operands,
                   std::initializer_list<schema::Attribute> attributes);
std::vector<Tensor> applyPublicAll(schema::OpId op, std::initializer_list<const Operand *> operands,
                                   std::initializer_list<schema::Attribute> attributes);
Tensor applyPublic(schema::OpId op, const std::vector<Tensor> &operands,
                   std::initializer_list<schema::Attribute> attributes, SourceLocation where);

// Does the same for a shape with unknown sizes, by the operation that the record names as `open`.
Tensor applyPublicOpen(schema::OpId open, std::initializer_list<const Operand *> operands, const Shape &shape,
                       std::initializer_list<schema::Attribute> others, SourceLocation where);
// Converts a number to the element type of x. DTypeError and ValueError by the rule of number.h.
schema::Scalar numberFor(const Operand &x, const Number &number);

// Returns x for use where the type of `like` is required. DTypeError or ShapeError with the message if the types
// differ. A size that is unknown in one of the two types is compared at the call; the error of that comparison names
// `operation`, the function that the user has called.
Tensor fitting(const std::string &message, const Tensor &x, const Tensor &like, const char *operation,
               SourceLocation where);

// Returns zeros of a tensor's type. Its sizes may be unknown. No gradient passes from the zeros to the tensor.
// onesLike, in calque/transforms.h, is the same for ones.
Tensor zerosLike(const Tensor &x, SourceLocation where);

// Returns integers as int64, which is the type that indices are computed in. Its largest number, an index of nothing,
// stands for what is beyond.
Tensor asInt64(const Tensor &integers, SourceLocation where);

// Returns the operands as tensors. Numbers adopt the element type of the tensors beside them, except indices and
// conditions.
std::vector<Tensor> adoptNumbers(schema::OpId op, std::span<const Operand *const> operands);

} // namespace calque::detail
#endif
