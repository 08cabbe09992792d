#include "absl/strings/str_cat.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Signature.h"

#include <ostream>

namespace calque {

TensorSpec<void>::TensorSpec(DType dtype, Shape shape, std::string name, SourceLocation where)
    : dtype_(dtype), shape_(std::move(shape)), name_(std::move(name)) {
  detail::requireElementType(dtype, where);
  // What is not known of another tensor may be any here.
  for (Size &size : *shape_)
    if (!size.is_known())
      size = kDynamic;
  for (const Size &size : *shape_)
    if (size.is_known() && size < 0)
      throw ValueError(absl::StrCat("a TensorSpec has no negative sizes; kDynamic is one that is not known, and ",
                                    size.str(), " is none"),
                       where);
}

TensorSpec<void>::TensorSpec(DType dtype, AnyShape, std::string name, SourceLocation where)
    : dtype_(dtype), name_(std::move(name)) {
  detail::requireElementType(dtype, where);
}

const Shape &TensorSpec<void>::shape(SourceLocation where) const {
  if (!shape_)
    throw StateError("a TensorSpec of any shape has no shape to ask for", where);
  return *shape_;
}

std::string TensorSpec<void>::str() const { return name_of(dtype_) + (shape_ ? shape_->str() : "[...]"); }

std::ostream &operator<<(std::ostream &os, const TensorSpec<> &spec) { return os << spec.str(); }

TensorSpec<void>::operator Tensor() const {
  auto impl = std::make_shared<detail::SpecImpl>();
  impl->type = std::make_shared<const schema::TensorType>(
      schema::TensorType{dtype_, detail::openDims(shape_.value_or(Shape()))});
  impl->id = detail::nextId();
  impl->trace = detail::kSpecTrace;
  impl->name = name_;
  impl->anyRank = !shape_;
  return Tensor(std::shared_ptr<const detail::TensorImpl>(std::move(impl)));
}

} // namespace calque
