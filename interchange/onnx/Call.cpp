#include "onnx/Call.h"

#include "onnx/Tensors.h"

#include "calque/call_site.h"

namespace calque::onnx {

void Call::refuse(const std::string &message) const {
  throw ValueError(std::string(node_.label) + ": " + message, CallSite::resolve({}));
}

void Call::requireKnown(std::size_t i, const std::string &why) const {
  if (!value(i).isKnown())
    refuse("the elements of input " + std::to_string(i) + " '" + node_.inputs[i] + "' are not known while tracing, " +
           why);
}

const Value &Call::value(std::size_t i) const {
  if (!has(i))
    refuse("input " + std::to_string(i) + " is missing");
  return inputs_[i];
}
Tensor Call::tensor(std::size_t i) const {
  const Value &x = value(i);
  if (!x.isTensor())
    refuse("input " + std::to_string(i) + " '" + node_.inputs[i] + "' is a sequence, not a tensor");
  return x.tensor();
}
const std::vector<Value> &Call::sequence(std::size_t i) const {
  const Value &x = value(i);
  if (!x.isSequence())
    refuse("input " + std::to_string(i) + " '" + node_.inputs[i] + "' is a tensor, not a sequence");
  return x.sequence();
}
std::vector<Tensor> Call::tensors(std::size_t from) const {
  std::vector<Tensor> all;
  for (std::size_t i = from; i < inputs_.size(); ++i)
    all.push_back(tensor(i));
  return all;
}

std::vector<std::int64_t> Call::integers(std::size_t i) const {
  const auto elements = value(i).elements();
  std::vector<std::int64_t> numbers;
  if (elements)
    for (const std::optional<Size> &each : *elements)
      if (each && each->is_known())
        numbers.push_back(std::int64_t(*each));
  if (elements && numbers.size() == elements->size())
    return numbers;
  if (value(i).isKnown())
    return hostIntegers(tensor(i));
  refuse("input " + std::to_string(i) + " '" + node_.inputs[i] +
         "' must be known while the model is traced: give it as a constant");
}
std::int64_t Call::integer(std::size_t i) const {
  const std::vector<std::int64_t> all = integers(i);
  if (all.size() != 1)
    refuse("input " + std::to_string(i) + " '" + node_.inputs[i] + "' has " + std::to_string(all.size()) +
           " elements, expected one");
  return all[0];
}
std::vector<double> Call::numbers(std::size_t i) const {
  if (!value(i).isKnown())
    refuse("input " + std::to_string(i) + " '" + node_.inputs[i] +
           "' must be known while the model is traced: give it as a constant");
  return hostNumbers(tensor(i));
}
double Call::number(std::size_t i) const {
  const std::vector<double> all = numbers(i);
  if (all.size() != 1)
    refuse("input " + std::to_string(i) + " '" + node_.inputs[i] + "' has " + std::to_string(all.size()) +
           " elements, expected one");
  return all[0];
}

Shape Call::sizes(std::size_t i, bool orOne) const {
  const auto elements = value(i).elements();
  if (!elements) {
    Shape shape;
    for (std::int64_t each : integers(i))
      shape.push_back(each);
    return shape;
  }
  Shape shape;
  for (const std::optional<Size> &each : *elements) {
    if (!each && !orOne)
      refuse("input " + std::to_string(i) + " '" + node_.inputs[i] +
             "' has a size that is computed from the sizes of a call, which the program can't know");
    orOne = orOne && each.has_value();
    shape.push_back(each ? *each : Size(-1));
  }
  return shape;
}

const Attribute *Call::find(std::string_view name, Kind kind) const {
  for (std::size_t i = 0; i < node_.attributes.size(); ++i)
    if (node_.attributes[i].name == name) {
      const std::int64_t given = node_.attributes[i].type;
      if (kind != Any && given != kind)
        refuse("attribute '" + std::string(name) + "' is of kind " + std::to_string(given) + ", expected " +
               std::to_string(kind));
      read_[i] = true;
      return &node_.attributes[i];
    }
  return nullptr;
}
const Attribute &Call::get(std::string_view name, Kind kind) const {
  if (const Attribute *found = find(name, kind))
    return *found;
  refuse("attribute '" + std::string(name) + "' is missing");
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute *found = find(name, Int);
  return found ? found->i : otherwise;
}
std::int64_t Call::integer(std::string_view name) const { return get(name, Int).i; }
float Call::number(std::string_view name, float otherwise) const {
  const Attribute *found = find(name, Float);
  return found ? found->f : otherwise;
}
std::string Call::text(std::string_view name, const std::string &otherwise) const {
  const Attribute *found = find(name, Text);
  return found ? found->s : otherwise;
}
std::vector<std::int64_t> Call::integers(std::string_view name, std::vector<std::int64_t> otherwise) const {
  const Attribute *found = find(name, Ints);
  return found ? found->ints : otherwise;
}
std::vector<double> Call::numbers(std::string_view name, std::vector<double> otherwise) const {
  const Attribute *found = find(name, Floats);
  return found ? std::vector<double>(found->floats.begin(), found->floats.end()) : otherwise;
}
std::vector<std::string> Call::texts(std::string_view name) const {
  const Attribute *found = find(name, Texts);
  return found ? found->strings : std::vector<std::string>();
}
Tensor Call::tensor(std::string_view name) const {
  const Attribute &attribute = get(name, OneTensor);
  if (!attribute.tensor)
    refuse("attribute '" + std::string(name) + "' is no tensor");
  return storage_.make(*attribute.tensor);
}
Tensor Call::sparse(std::string_view name) const {
  const Attribute &attribute = get(name, Sparse);
  if (!attribute.sparse)
    refuse("attribute '" + std::string(name) + "' is no sparse tensor");
  return storage_.make(*attribute.sparse);
}
DType Call::type(std::string_view name, std::optional<DType> otherwise) const {
  const Attribute *found = find(name, Int);
  if (!found && otherwise)
    return *otherwise;
  return typeOf(get(name, Int).i);
}
DType Call::typeOf(std::int64_t number) const {
  if (const std::optional<DType> dtype = dtypeOf(number))
    return *dtype;
  refuse("Calque does not have the element type " + nameOfType(number));
}
const Graph &Call::graph(std::string_view name) const {
  const Attribute &attribute = get(name, OneGraph);
  if (!attribute.graph)
    refuse("attribute '" + std::string(name) + "' is no graph");
  return *attribute.graph;
}

void Call::ignore(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names)
    find(name);
}
void Call::checkAllRead() const {
  for (std::size_t i = 0; i < read_.size(); ++i)
    if (!read_[i])
      refuse("attribute '" + node_.attributes[i].name + "' is not known in operator set " +
             std::to_string(node_.version));
}

std::int64_t Call::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    refuse("axis " + std::to_string(axis) + " is out of range for a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}
std::vector<std::int64_t> Call::axes(std::vector<std::int64_t> axes, std::int64_t rank) const {
  for (std::int64_t &each : axes)
    each = axis(each, rank);
  return axes;
}

} // namespace calque::onnx
