#include "frontend/operations/LoopVariables.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "calque/call_site.h"
#include "calque/custom_gradient.h"
#include "frontend/core/Apply.h"

namespace calque::detail {

using schema::OpId;

namespace {
std::string lineAfter(const char *before, SourceLocation where) {
  return where.line ? absl::StrCat(before, lineOf(where).str()) : "";
}
} // namespace

bool differ(const Produced &a, const Produced &b) {
  return a.host != b.host || a.texts != b.texts || a.states != b.states || a.tensors.size() != b.tensors.size();
}

void requireDecision(const char *operation, const char *what, const Tensor &x, SourceLocation where) {
  const schema::TensorType &type = *implOf(x, where).type;
  if (type.dtype != DType::Bool || type.rank() != 0)
    throw ShapeError(absl::StrCat(operation, ": the ", what, " must be a bool scalar, not ", type.str()), where);
}

std::string describe(const Tensor &x) {
  const TensorImpl &impl = implOf(x);
  return absl::StrCat(impl.type->str(), lineAfter(" of ", impl.where));
}

std::vector<Tensor> own(std::vector<Tensor> tensors, SourceLocation where) {
  for (Tensor &x : tensors)
    if (x.impl().use_count() > 1)
      x = alias(x, where);
  return tensors;
}

schema::TensorType typeInLoop(const Tensor &initial, std::size_t i, const WhileOptions &options, const Iterated &what,
                              SourceLocation where) {
  schema::TensorType type = *implOf(initial, where).type;
  if (i >= options.shape_invariants.size() || !options.shape_invariants[i])
    return type;
  const Shape &shape = *options.shape_invariants[i];
  bool fits = shape.size() == static_cast<std::size_t>(type.rank());
  for (std::size_t d = 0; fits && d < shape.size(); ++d)
    if (mayVary(shape[d]))
      type.dims[d] = schema::kOpenSize;
    else
      fits = shape[d].is_known() ? type.dims[d] == shape[d] : type.dims[d] == schema::kOpenSize;
  if (!fits)
    throw ShapeError(absl::StrCat(what.operation, ": loop variable ", i, " is ", describe(initial),
                                  ", and its shape invariant is ", shape.str()),
                     where);
  return type;
}

namespace {
// Returns x with the type of `like`, in which some sizes of x are unknown.
Tensor withOpenSizes(const Tensor &x, const Tensor &like, SourceLocation where) {
  const Tensor operands[] = {x, like};
  return applyAll(OpId::OpenSizes, operands, {}, where)[0];
}

// For a variable with some sizes that vary: checks at the call that its other unknown sizes stay the same.
void requireKept(const Iterated &what, std::size_t i, const Tensor &next, const Tensor &variable,
                 const Varying &varying, SourceLocation where) {
  const schema::TensorType &type = *implOf(next, where).type;
  for (std::size_t d = 0; varying.of(i) && type.rank() == varying.types[i].rank() && d < type.dims.size(); ++d)
    if (varying.types[i].dims[d] == schema::kOpenSize && !varying.of(i, d) && implOf(variable).trace != 0) {
      CallSite site(where, what.operation);
      const auto axis = static_cast<std::int64_t>(d);
      assert_true(Operand(equal(Operand(size(Operand(next, where), axis), where),
                                Operand(size(Operand(variable, where), axis), where)),
                          where),
                  absl::StrCat(what.operation, ": dimension ", d, " of loop variable ", i - what.before,
                               " changes its size, and does not vary"));
    }
}
} // namespace

std::vector<Tensor> nextValues(const Iterated &what, const Produced &next, const Produced &initial,
                               const std::vector<Tensor> &variables, SourceLocation where, const Varying &varying) {
  if (differ(initial, next))
    throw ValueError(absl::StrCat(what.operation,
                                  what.isScan ? ": the step gives other host values than the carry has"
                                              : ": the body gives other host values than the loop variables have",
                                  "; what changes from iteration to iteration is a tensor"),
                     where);
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < next.tensors.size(); ++i) {
    const schema::TensorType &given = *implOf(next.tensors[i], where).type;
    requireKept(what, i, next.tensors[i], variables[i], varying, where);
    if (given == *implOf(variables[i], where).type) {
      result.push_back(next.tensors[i]);
      continue;
    }
    const std::string is = describe(initial.tensors[i]), gives = describe(next.tensors[i]);
    std::string message = what.isScan ? absl::StrCat(what.operation, ": tensor ", i, " of the carry is ", is,
                                                     ", and the step gives ", gives)
                                      : absl::StrCat(what.operation, ": loop variable ", i - what.before, " is ", is,
                                                     ", and the body gives ", gives);
    if (!varying.of(i)) {
      result.push_back(fitting(message, next.tensors[i], variables[i], what.operation, where));
      continue;
    }
    // Sizes that vary may be any. requireKept() makes sure that the others are the variable's.
    schema::TensorType wanted = varying.types[i];
    for (std::size_t d = 0; d < wanted.dims.size() && wanted.rank() == given.rank(); ++d)
      if (varying.of(i, d))
        wanted.dims[d] = given.dims[d];
    requireType(message, given, wanted, where);
    const bool isTraced = implOf(variables[i]).trace != 0;
    result.push_back(isTraced ? withOpenSizes(next.tensors[i], variables[i], where) : next.tensors[i]);
  }
  return result;
}

} // namespace calque::detail
