#include "calque/assertions.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"

#include <initializer_list>
#include <map>
#include <numeric>

namespace calque {

using detail::typeOf;
using schema::OpId;

namespace {

// The user's message, as it follows the text of a fault.
std::string behind(const std::string &message) { return message.empty() ? "" : absl::StrCat(": ", message); }

// Asserts that all elements of the condition are true. A failure shows the elements of `values`, which broadcast to the
// condition.
void assertElements(const Tensor &condition, std::initializer_list<Tensor> values, std::string message,
                    SourceLocation where) {
  std::vector<Tensor> operands{condition};
  for (const Tensor &value : values) {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(condition.rank() - value.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    operands.push_back(axes.empty() ? value : expand_dims(Operand(value, where), axes));
  }
  schema::Attribute attribute = std::move(message);
  detail::apply(OpId::Assert, operands, {&attribute, 1}, where);
}

// Asserts that a comparison holds for all elements. The message of a library begins with the function that the user has
// called, and says it all: its user does not know of the comparison.
void assertAll(const char *name, const char *relation, Tensor (*compare)(const Operand &, const Operand &),
               const Operand &x, const Operand &y, const std::string &message) {
  SourceLocation where = detail::userLine(x.where());
  const std::string called = detail::calledName(name);
  const bool isWhole = detail::inLibraryCall() && message.starts_with(called + ": ");
  CallSite library(where, name);
  assertElements(compare(x, y), {x.toTensor(), y.toTensor()},
                 isWhole ? message : absl::StrCat(called, ": not all elements are ", relation, behind(message)), where);
}

} // namespace

void assert_true(const Operand &condition, std::string message) {
  assertElements(condition.toTensor(), {}, std::move(message), condition.where());
}

void assert_equal(const Operand &x, const Operand &y, const std::string &message) {
  assertAll("assert_equal", "equal", equal, x, y, message);
}
void assert_less(const Operand &x, const Operand &y, const std::string &message) {
  assertAll("assert_less", "less", less, x, y, message);
}
void assert_less_equal(const Operand &x, const Operand &y, const std::string &message) {
  assertAll("assert_less_equal", "less or equal", less_equal, x, y, message);
}
void assert_greater(const Operand &x, const Operand &y, const std::string &message) {
  assertAll("assert_greater", "greater", greater, x, y, message);
}
void assert_greater_equal(const Operand &x, const Operand &y, const std::string &message) {
  assertAll("assert_greater_equal", "greater or equal", greater_equal, x, y, message);
}

Tensor check_numerics(const Operand &x, const std::string &message) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "check_numerics");
  Tensor value = x.toTensor();
  if (!is_floating(value.dtype()))
    throw DTypeError(absl::StrCat("check_numerics: takes ", names_of({DTypeKind::Float}), ", not ", typeOf(value)),
                     where);
  Tensor stopped = stop_gradient(Operand(value, where));
  assertElements(isfinite(Operand(stopped, where)), {stopped},
                 absl::StrCat("check_numerics: an element is NaN or infinite", behind(message)), where);
  return value;
}

void assert_rank(const Operand &x, std::int64_t rank, const std::string &message) {
  Tensor value = x.toTensor();
  if (value.rank() != rank)
    throw ShapeError(absl::StrCat("assert_rank: ", typeOf(value), " has rank ", value.rank(), ", and must have ", rank,
                                  behind(message)),
                     detail::userLine(x.where()));
}

void assert_shapes(const std::vector<std::pair<Tensor, std::vector<ExpectedSize>>> &shapes, SourceLocation where) {
  where = detail::userLine(where);
  CallSite library(where, "assert_shapes");
  struct Found {
    std::size_t tensor, dimension;
    Size size;
  };
  std::map<std::string, Found> sizes; // by name; a known size, if one of this name is known
  auto sizeAt = [&](const Found &at) {
    return size(Operand(shapes[at.tensor].first, where), static_cast<std::int64_t>(at.dimension));
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto &[tensor, expected] = shapes[i];
    const Shape shape = tensor.shape(where);
    if (shape.size() != expected.size())
      throw ShapeError(
          absl::StrCat("assert_shapes: tensor ", i, " is ", typeOf(tensor), ", and must have rank ", expected.size()),
          where);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Found here{i, d, shape[d]};
      const std::string dimension = absl::StrCat("dimension ", d, " of tensor ", i, ", ", typeOf(tensor), ",");
      auto require = [&](const Tensor &x, const auto &y, const std::string &expected) {
        assert_true(Operand(equal(Operand(x, where), Operand(y, where)), where),
                    absl::StrCat("assert_shapes: ", dimension, " must be ", expected));
      };
      if (!expected[d].name()) {
        const std::int64_t wanted = expected[d].size();
        if (wanted < -1)
          throw ValueError(absl::StrCat("assert_shapes: ", dimension, " can't have the size ", wanted), where);
        if (wanted >= 0 && !shape[d].is_known())
          require(sizeAt(here), wanted, absl::StrCat(wanted));
        else if (wanted >= 0 && shape[d] != wanted)
          throw ShapeError(absl::StrCat("assert_shapes: ", dimension, " must be ", wanted), where);
        continue;
      }
      auto [found, isNew] = sizes.try_emplace(*expected[d].name(), here);
      Found &first = found->second;
      if (isNew)
        continue;
      const std::string other = absl::StrCat("'", found->first, "', dimension ", first.dimension, " of tensor ",
                                             first.tensor, ", ", typeOf(shapes[first.tensor].first));
      if (!first.size.is_known() || !shape[d].is_known())
        require(sizeAt(here), sizeAt(first), other);
      else if (first.size != shape[d])
        throw ShapeError(absl::StrCat("assert_shapes: ", dimension, " must be ", other), where);
      if (shape[d].is_known())
        first = here;
    }
  }
}

} // namespace calque
