#include "stablehlo/Call.h"

#include <algorithm>

namespace calque::stablehlo {

void Call::refuse(const std::string &message) const {
  throw ValueError(std::string(operation_.label) + ": " + message, CallSite::resolve(where_));
}

const Value &Call::value(std::size_t i) const {
  if (i >= inputs_.size())
    refuse("operand " + std::to_string(i) + " is missing");
  return inputs_[i];
}
Tensor Call::tensor(std::size_t i) const {
  const Value &x = value(i);
  if (!x.isTensor())
    refuse("operand " + std::to_string(i) + " is a " + (x.isSequence() ? "tuple" : "token") + ", not a tensor");
  return x.tensor();
}
std::vector<Tensor> Call::tensors(std::size_t from, std::size_t count) const {
  std::vector<Tensor> all;
  for (std::size_t i = from; i < inputs_.size() && all.size() < count; ++i)
    all.push_back(tensor(i));
  return all;
}

std::vector<std::int64_t> Call::known(std::size_t i) const {
  const Value &x = value(i);
  if (x.isTensor() && x.isKnown())
    return hostIntegers(x.tensor());
  refuse("operand " + std::to_string(i) + " must be known while the module is traced");
}

Shape Call::sizes(std::size_t i) const {
  const auto elements = value(i).elements();
  if (!elements) {
    const std::vector<std::int64_t> all = known(i);
    return Shape(all);
  }
  Shape shape;
  for (const std::optional<Size> &each : *elements) {
    if (!each)
      refuse("a size is computed from sizes that only the call knows; sizes of operands are passed on, not computed "
             "with");
    shape.push_back(*each);
  }
  return shape;
}

const Type &Call::type(std::size_t i) const {
  if (i >= operation_.types.size())
    refuse("the text does not say the type of result " + std::to_string(i));
  return operation_.types[i];
}
DType Call::dtype(std::size_t i) const {
  const Type &of = type(i);
  if (!of.dtype)
    refuse("result " + std::to_string(i) + " has the type " + of.str() + ", expected a tensor");
  return *of.dtype;
}
Shape Call::shape(std::size_t i) const {
  const Type &of = type(i);
  if (std::ranges::find(of.dims, Type::kOpen) != of.dims.end())
    refuse("the sizes of its result, " + of.str() + ", must be known");
  return of.shape();
}

const Attribute &Call::attribute(std::string_view name) const {
  if (const Attribute *found = operation_.find(name))
    return *found;
  refuse("attribute '" + std::string(name) + "' is missing");
}

std::vector<std::int64_t> Call::integersOf(const Attribute &given, std::string_view name) const {
  std::vector<std::int64_t> all;
  auto append = [&](const Attribute &each) {
    if (each.kind != Attribute::Kind::Integer && each.kind != Attribute::Kind::Bool)
      refuse("attribute '" + std::string(name) + "' is expected to have integers");
    all.push_back(each.integer);
  };
  if (given.kind == Attribute::Kind::List) {
    for (const Attribute &each : given.list)
      if (each.kind == Attribute::Kind::List)
        for (const Attribute &inner : each.list)
          append(inner);
      else
        append(each);
  } else if (given.kind == Attribute::Kind::Elements) {
    if (!is_integer(*given.dense->type.dtype) && given.dense->type.dtype != DType::Bool)
      refuse("attribute '" + std::string(name) + "' is expected to have integers");
    all = hostIntegers(given.dense->elements);
    if (given.dense->isSplat) {
      std::uint64_t count = 1;
      for (std::int64_t size : given.dense->type.dims)
        if (size < 0 || size > 1 << 16 || (count *= static_cast<std::uint64_t>(size)) > 1U << 16)
          refuse("attribute '" + std::string(name) + "' has more than 65536 elements");
      all.resize(count, all[0]);
    }
  } else {
    append(given);
  }
  return all;
}
std::vector<std::int64_t> Call::integers(std::string_view name) const { return integersOf(attribute(name), name); }
std::vector<std::int64_t> Call::integers(std::string_view name, std::vector<std::int64_t> otherwise) const {
  return has(name) ? integers(name) : otherwise;
}
std::int64_t Call::integer(std::string_view name) const {
  const std::vector<std::int64_t> all = integers(name);
  if (all.size() != 1)
    refuse("attribute '" + std::string(name) + "' has " + std::to_string(all.size()) + " numbers, expected one");
  return all[0];
}
std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}
double Call::number(std::string_view name) const {
  const Attribute &given = attribute(name);
  if (given.kind != Attribute::Kind::Float && given.kind != Attribute::Kind::Integer)
    refuse("attribute '" + std::string(name) + "' is expected to be a number");
  return given.number;
}
std::string Call::word(std::string_view name, const std::string &otherwise) const {
  const Attribute *found = operation_.find(name);
  if (!found)
    return otherwise;
  if (found->kind != Attribute::Kind::Word && found->kind != Attribute::Kind::Text &&
      found->kind != Attribute::Kind::Symbol)
    refuse("attribute '" + std::string(name) + "' is expected to be a name");
  return found->text;
}

std::vector<std::int64_t> Call::field(std::string_view name, std::string_view field) const {
  const Attribute &all = attribute(name);
  if (all.kind != Attribute::Kind::Dictionary)
    refuse("attribute '" + std::string(name) + "' is expected to have fields");
  const auto found = all.dictionary.find(field);
  return found == all.dictionary.end() ? std::vector<std::int64_t>() : integersOf(found->second, field);
}
std::int64_t Call::field(std::string_view name, std::string_view field, std::int64_t otherwise) const {
  const std::vector<std::int64_t> all = this->field(name, field);
  return all.empty() ? otherwise : all[0];
}

const Region &Call::region(std::size_t i) const {
  if (i >= operation_.regions.size())
    refuse("region " + std::to_string(i) + " is missing");
  return operation_.regions[i];
}

std::vector<Tensor> Call::lift(const Region &region, const std::vector<Tensor> &arguments) const {
  std::vector<Tensor> made =
      tensorsOf(runner_.region(region, std::vector<Value>(arguments.begin(), arguments.end()), true), "a result");
  // A result that is the same for all elements has no sizes of theirs.
  for (Tensor &each : made)
    if (!arguments.empty() && each.rank() < arguments[0].rank())
      each = broadcast_to(each, arguments[0].shape());
  return made;
}

std::vector<Tensor> Call::tensorsOf(const std::vector<Value> &values, const char *what) const {
  std::vector<Tensor> all;
  for (const Value &each : values) {
    if (!each.isTensor())
      refuse(std::string(what) + " is a tuple or a token, not a tensor");
    all.push_back(each.tensor());
  }
  return all;
}

std::int64_t Call::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < 0 || axis >= rank)
    refuse("dimension " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return axis;
}
void Call::requireAxes(const std::vector<std::int64_t> &axes, std::int64_t rank, const char *what) const {
  std::vector<bool> seen(static_cast<std::size_t>(std::max<std::int64_t>(rank, 0)));
  for (std::int64_t each : axes) {
    if (each < 0 || each >= rank)
      refuse(std::string(what) + " name dimension " + std::to_string(each) + " of a tensor of rank " +
             std::to_string(rank));
    if (seen[static_cast<std::size_t>(each)])
      refuse(std::string(what) + " name dimension " + std::to_string(each) + " twice");
    seen[static_cast<std::size_t>(each)] = true;
  }
}
void Call::requireCount(const std::vector<std::int64_t> &numbers, std::int64_t count, const char *what) const {
  if (static_cast<std::int64_t>(numbers.size()) != count)
    refuse(std::string(what) + " has " + std::to_string(numbers.size()) + " numbers, expected " +
           std::to_string(count));
}

} // namespace calque::stablehlo
