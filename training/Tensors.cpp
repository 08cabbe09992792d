#include "calque/tensors.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace calque {

using training::fail;

namespace {
// "there are 'image', 'label'" or "there are 2 without names".
std::string namesIn(const Tensors &tensors) {
  std::vector<std::string> names;
  for (const auto &[name, tensor] : tensors)
    if (!name.empty())
      names.push_back(absl::StrCat("'", name, "'"));
  return names.empty() ? absl::StrCat(tensors.size(), " without names") : absl::StrJoin(names, ", ");
}
} // namespace

Tensors::Tensors(const std::vector<Tensor> &tensors) {
  for (const Tensor &tensor : tensors)
    parts_.emplace_back(std::string(), tensor);
}

Tensors::Tensors(std::vector<Named> named, SourceLocation where) {
  for (Named &part : named)
    push_back(std::move(part.second), std::move(part.first), where);
}

void Tensors::push_back(Tensor x, std::string name, SourceLocation where) {
  if (!name.empty() && contains(name))
    fail<ValueError>(absl::StrCat("tensors: the name '", name, "' is given twice"), where);
  parts_.emplace_back(std::move(name), std::move(x));
}

const Tensor &Tensors::at(std::int64_t position, SourceLocation where) const {
  if (position < 0 || position >= static_cast<std::int64_t>(size()))
    fail<IndexError>(absl::StrCat("tensors: there is no number ", position, " of ", size()), where);
  return parts_[static_cast<std::size_t>(position)].second;
}

const Tensor &Tensors::at(const std::string &name, SourceLocation where) const {
  for (const Named &part : parts_)
    if (part.first == name && !name.empty())
      return part.second;
  fail<LookupError>(absl::StrCat("tensors: there is no '", name, "'; there are ", namesIn(*this)), where);
}

bool Tensors::contains(const std::string &name) const {
  for (const Named &part : parts_)
    if (part.first == name && !name.empty())
      return true;
  return false;
}

std::vector<std::string> Tensors::names() const {
  std::vector<std::string> names;
  for (const Named &part : parts_)
    names.push_back(part.first);
  return names;
}

std::vector<Tensor> Tensors::tensors() const {
  std::vector<Tensor> tensors;
  for (const Named &part : parts_)
    tensors.push_back(part.second);
  return tensors;
}

const Tensor &Tensors::single(SourceLocation where) const {
  checkCount(1, where);
  return parts_.front().second;
}

void Tensors::checkCount(std::size_t count, SourceLocation where) const {
  if (size() != count)
    fail<ValueError>(absl::StrCat("tensors: ", count, " asked for, and there are ", size()), where);
}

} // namespace calque
