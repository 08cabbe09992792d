// The one door that every operation goes through.
#ifndef CALQUE_FRONTEND_CORE_APPLY_H
#define CALQUE_FRONTEND_CORE_APPLY_H

#include "calque/tensor.h"
#include "schema/Recording.h"

#include <initializer_list>

namespace calque::detail {

// Applies an operation of at most one result: checks it by its type rule, records or runs it, and shows it to the
// tapes. Returns an empty Tensor for an operation without results. ShapeError, DTypeError, ValueError by the type rule.
CALQUE_API Tensor apply(schema::OpId op, std::span<const Tensor> operands,
                        std::span<const schema::Attribute> attributes, SourceLocation where);

// The same for an operation of any number of results.
CALQUE_API std::vector<Tensor> applyAll(schema::OpId op, std::span<const Tensor> operands,
                                        std::span<const schema::Attribute> attributes, SourceLocation where);

// An operation of at most one result, with the gradient of its record whatever overrides are in force.
Tensor applyAsIs(schema::OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 SourceLocation where);

// The generated public functions call this. Numbers adopt the element type of the tensors beside them.
Tensor applyPublic(schema::OpId op, std::initializer_list<const Operand *> operands,
                   std::initializer_list<schema::Attribute> attributes);
std::vector<Tensor> applyPublicAll(schema::OpId op, std::initializer_list<const Operand *> operands,
                                   std::initializer_list<schema::Attribute> attributes);
Tensor applyPublic(schema::OpId op, const std::vector<Tensor> &operands,
                   std::initializer_list<schema::Attribute> attributes, SourceLocation where);

// The same for a shape with unknown sizes, by the operation that the record names as `open`.
Tensor applyPublicOpen(schema::OpId open, std::initializer_list<const Operand *> operands, const Shape &shape,
                       std::initializer_list<schema::Attribute> others, SourceLocation where);
// A number as an element of x. DTypeError and ValueError by the rule of number.h.
schema::Scalar numberFor(const Operand &x, const Number &number);

// Returns x for use where the type of `like` is required. DTypeError or ShapeError with the message if the types
// differ. A size that is unknown in one of the two types is compared at the call; the error of that comparison names
// `operation`, the function that the user has called.
Tensor fitting(const std::string &message, const Tensor &x, const Tensor &like, const char *operation,
               SourceLocation where);

// Zeros of a tensor's type, whose sizes may be unknown; onesLike is in calque/transforms.h. No gradient passes from
// either to the tensor.
Tensor zerosLike(const Tensor &x, SourceLocation where);

// The operands as tensors. Numbers adopt the element type of the tensors beside them, but for indices and conditions.
std::vector<Tensor> adoptNumbers(schema::OpId op, std::span<const Operand *const> operands);

// The line to report: the line of the outermost library call in progress, or `where`, the operation's line, if there is
// none.
SourceLocation userLine(SourceLocation where);
// The same line for a recorded operation, with the name of the library call in progress.
schema::SourceLine recordedLine(SourceLocation where);
// The name that errors give an operation: that of the library call in progress, or of the operation's public function.
std::string_view nameInMessages(schema::OpId op);
std::string_view nameInMessages(schema::OpId op, const schema::SourceLine &line);
// While such an object lives, recorded operations have its name in messages, whatever library call is in progress.
class CalledAs {
public:
  explicit CalledAs(const char *function);
  ~CalledAs();
  CalledAs(const CalledAs &) = delete;
  CalledAs &operator=(const CalledAs &) = delete;

private:
  const char *previous;
};
// The name of the operation that checks, at each call, that a value of unknown sizes fits the variable to which it is
// assigned. Execute.cpp recognises this operation by the address of the text.
inline constexpr char kAssignment[] = "assign";
// Whether a library call is in progress.
bool inLibraryCall();

} // namespace calque::detail
#endif
