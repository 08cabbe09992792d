// Items, what they are stacked to, and the types of elements.
#include "data/Node.h"

#include "absl/strings/str_cat.h"
#include "calque/random.h"

#include <cstring>

namespace calque::data::detail {

const void *bytesOf(const Tensor &x, SourceLocation where) {
  return dispatch_all(x.dtype(where),
                      [&]<typename T>(std::type_identity<T>) { return static_cast<const void *>(x.data<T>(where)); });
}

Tensor tensorOf(DType dtype, const void *bytes, std::size_t count, const Shape &shape) {
  return calque::detail::makeTensor(dtype, bytes, count / size_of(dtype), shape, {});
}

static std::size_t numBytesOf(DType dtype, const Shape &shape) {
  std::size_t count = size_of(dtype);
  for (std::int64_t size : shape)
    count *= static_cast<std::size_t>(size);
  return count;
}

void throwOtherStructure() {
  throw DataError("the elements have another structure than the type of the data set says: the cache is one of other "
                  "elements",
                  CallSite::resolve({}));
}

std::size_t Component::numBytes() const { return numBytesOf(dtype, shape); }

Component componentOf(const Tensor &x) {
  const Shape shape = x.shape();
  Component component{x.dtype(), Shape(shape.begin() + 1, shape.end()), nullptr};
  const std::size_t bytes = component.numBytes();
  component.copy = [x, bytes](std::int64_t row, std::byte *out) {
    if (bytes)
      std::memcpy(out, static_cast<const std::byte *>(bytesOf(x)) + static_cast<std::size_t>(row) * bytes, bytes);
  };
  return component;
}

DType Item::dtype(std::size_t component) const {
  return rows ? rows->components[component].dtype : parts.tensors[component].dtype();
}
Shape Item::shape(std::size_t component) const {
  return rows ? rows->components[component].shape : parts.tensors[component].shape();
}
void Item::copy(std::size_t component, std::byte *out) const {
  if (rows)
    rows->components[component].copy(row, out);
  else if (const std::size_t count = numBytesOf(dtype(component), shape(component)))
    std::memcpy(out, bytesOf(parts.tensors[component]), count);
}

void Item::settle() {
  if (!rows)
    return;
  parts = {{}, rows->rest};
  for (const Component &component : rows->components) {
    std::vector<std::byte> bytes(component.numBytes());
    component.copy(row, bytes.data());
    parts.tensors.push_back(tensorOf(component.dtype, bytes.data(), bytes.size(), component.shape));
  }
  rows.reset();
}

std::int64_t Cursor::skip(std::int64_t count) {
  std::int64_t done = 0;
  for (Item item; done < count && next(item);)
    ++done;
  return done;
}

Item stacked(const std::vector<Item> &items, SourceLocation where) {
  const Item &first = items.front();
  Item result;
  result.parts.rest = first.rest();
  for (const Item &item : items) {
    if (item.parts.has_values)
      throw ValueError("batch: the elements have numbers or texts, which can't be stacked as tensors can; map them to "
                       "tensors first",
                       where);
    if (item.rest() != first.rest() || item.count() != first.count())
      throw ValueError(absl::StrCat("batch: element ", &item - &first,
                                    " differs from the first one in its number of tensors, or in its keys"),
                       where);
  }
  for (std::size_t component = 0; component < first.count(); ++component) {
    const DType dtype = first.dtype(component);
    const Shape one = first.shape(component);
    const std::size_t bytes = numBytesOf(dtype, one);
    std::vector<std::byte> all(bytes * items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (const DType own = items[i].dtype(component); own != dtype)
        throw DTypeError(absl::StrCat("Cannot batch tensors with different types in component ", component,
                                      ". First element had type ", name_of(dtype), " and element ", i, " had type ",
                                      name_of(own), "."),
                         where);
      if (const Shape own = items[i].shape(component); own != one)
        throw ShapeError(absl::StrCat("Cannot batch tensors with different shapes in component ", component,
                                      ". First element had shape ", one.str(), " and element ", i, " had shape ",
                                      own.str(), "."),
                         where);
      items[i].copy(component, all.data() + i * bytes);
    }
    Shape shape = one;
    shape.insert(shape.begin(), items.size());
    result.parts.tensors.push_back(tensorOf(dtype, all.data(), all.size(), shape));
  }
  return result;
}

std::optional<Spec> specOf(const std::optional<Parts> &signature) {
  if (!signature)
    return std::nullopt;
  Spec spec{{}, signature->rest, {}};
  for (const Tensor &tensor : signature->tensors)
    spec.tensors.emplace_back(tensor.dtype(), tensor.shape());
  for (const TensorSpec<> &tensor : spec.tensors)
    if (!tensor.shape().is_known())
      spec.open = absl::StrCat("the output_signature says ", tensor.str());
  return spec;
}

Spec withOpenSizes(Spec spec, const std::string &why) {
  for (TensorSpec<> &tensor : spec.tensors)
    if (tensor.shape().size() != 0) {
      tensor = TensorSpec<>(tensor.dtype(), Shape(tensor.shape().size(), kDynamic));
      spec.open = why;
    }
  return spec;
}

std::optional<Spec> specOfFirst(const Node &node) {
  if (!MayMakeElements::areAllowed())
    return std::nullopt;
  // No iteration is counted, so that the next one has the order that it would have had.
  const std::unique_ptr<Cursor> cursor = node.open({std::make_shared<const Opening::Numbers>()});
  Item item;
  if (!cursor->next(item))
    return std::nullopt;
  item.settle();
  return withOpenSizes(*specOf(std::optional(std::move(item.parts))),
                       absl::StrCat(node.name(), " may make elements of other sizes than the first one"));
}

std::optional<Spec> merged(const std::optional<Spec> &a, const std::optional<Spec> &b) {
  if (!a || !b || a->rest != b->rest || a->tensors.size() != b->tensors.size())
    return std::nullopt;
  Spec spec = *a;
  if (spec.open.empty())
    spec.open = b->open;
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    Shape shape = a->tensors[i].shape();
    const Shape &other = b->tensors[i].shape();
    if (a->tensors[i].dtype() != b->tensors[i].dtype() || shape.size() != other.size())
      return std::nullopt;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d].is_known() && !(other[d].is_known() && shape[d] == other[d])) {
        if (other[d].is_known())
          spec.open = absl::StrCat("it joins elements of ", a->tensors[i].str(), " and ", b->tensors[i].str());
        shape[d] = kDynamic;
      }
    spec.tensors[i] = TensorSpec<>(a->tensors[i].dtype(), shape);
  }
  return spec;
}

std::uint64_t Opening::seed(const void *node, std::uint64_t seed) const {
  const auto found = numbers->iterations.find(node);
  const std::uint64_t iteration = found == numbers->iterations.end() ? 0 : found->second;
  return Random(seed ^ iteration * 0xd1342543de82ef95ULL ^ salt).draw();
}
std::uint64_t Opening::seedOfCallable(const Node &node) const {
  // A node that a callable has made has drawn its own as the same one each time.
  const auto found = numbers->seeds.find(&node);
  return Random(salt ^ (found == numbers->seeds.end() ? node.seedOfCallable()->load() : found->second)).draw();
}
Opening Opening::nested(std::uint64_t number) const {
  return number ? Opening{numbers, Random(salt ^ number * 0x9e3779b97f4a7c15ULL).draw()} : *this;
}

std::string Node::unknown() const {
  std::string why;
  for (const Node *input : inputs())
    if (why.empty() && !input->spec())
      why = input->unknown();
  return why.empty() ? name() : why;
}

void requireNotBelow(const char *operation, const char *what, std::int64_t value, std::int64_t least,
                     SourceLocation where) {
  if (value < least)
    throw ValueError(absl::StrCat(operation, ": ", what, " is ", value, " and must be at least ", least),
                     CallSite::resolve(where));
}
void requireAtLeastOne(const char *operation, const char *what, std::int64_t value, SourceLocation where) {
  requireNotBelow(operation, what, value, 1, where);
}

std::int64_t drawSeed(const std::optional<std::int64_t> &seed, SourceLocation where) {
  if (seed)
    return *seed;
  if (Random *random = DrawsSeeds::current())
    return static_cast<std::int64_t>(random->draw() >> 1); // not below 0, as those of a generator
  return random::global_generator().draw_seed(where);
}

} // namespace calque::data::detail
