#include "frontend/core/AutoCast.h"

#include "absl/strings/str_cat.h"
#include "calque/auto_cast.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"

namespace calque {

namespace {
constinit thread_local std::optional<DType> castsTo;

// What a function traces depends on the type. No other mode has this number: those of overrides are counted from 1.
std::unique_ptr<detail::ModeScope> modeOf(const std::optional<DType> &dtype) {
  return dtype ? std::make_unique<detail::ModeScope>(~static_cast<std::uint64_t>(*dtype)) : nullptr;
}
} // namespace

// Two equal modes would be none, so that the one around it ends here.
AutoCast::AutoCast(std::optional<DType> dtype, SourceLocation where)
    : before(castsTo), ended(modeOf(before)), begun(modeOf(dtype)) {
  if (dtype && !(is_dtype(*dtype) && is_floating(*dtype)))
    throw DTypeError(absl::StrCat("AutoCast: variables are read as ", names_of({DTypeKind::Float}), ", not as ",
                                  is_dtype(*dtype) ? name_of(*dtype) : "an unknown type"),
                     detail::userLine(where));
  castsTo = dtype;
}
AutoCast::~AutoCast() { castsTo = before; }

Tensor detail::valueAsTensor(const Variable &x, SourceLocation where) {
  Tensor value = x.value(where);
  if (castsTo) [[unlikely]]
    if (const DType dtype = value.dtype(where); is_floating(dtype) && dtype != *castsTo)
      return cast(Operand(value, where), *castsTo);
  return value;
}

} // namespace calque
