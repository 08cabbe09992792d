#include "Operations.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "calque/arrays/moving.h"
#include "calque/error.h"
#include "calque/functions.h"

#include <algorithm>
#include <map>

namespace calque::distributed::detail {

namespace {

using Specs = std::vector<TensorSpec<>>;
using Tensors = std::vector<Tensor>;

struct KindName {
  Kind kind;
  const char *name;
  std::optional<Kind> transpose; // of the linear ones
};
constexpr KindName kKinds[] = {
    {Kind::AllReduce, "all_reduce", Kind::AllReduce},
    {Kind::AllGather, "all_gather", Kind::ReduceScatter},
    {Kind::ReduceScatter, "reduce_scatter", Kind::AllGather},
    {Kind::Broadcast, "broadcast", Kind::Reduce},
    {Kind::Reduce, "reduce", Kind::Broadcast},
    {Kind::Gather, "gather", Kind::Scatter},
    {Kind::Scatter, "scatter", Kind::Gather},
    {Kind::AllToAll, "all_to_all", Kind::AllToAll},
    {Kind::Permute, "permute", Kind::Permute},
    {Kind::Send, "send", {}},
    {Kind::Recv, "recv", {}},
    {Kind::Barrier, "barrier", {}},
};
const KindName &nameOf(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

constexpr std::pair<Reduction, const char *> kReductions[] = {
    {Reduction::Sum, "sum"}, {Reduction::Max, "max"}, {Reduction::Min, "min"}, {Reduction::Prod, "prod"}};

bool hasRoot(Kind kind) {
  return kind == Kind::Broadcast || kind == Kind::Reduce || kind == Kind::Gather || kind == Kind::Scatter;
}
bool isMessage(Kind kind) { return kind == Kind::Send || kind == Kind::Recv; }

std::string shapeText(const Shape &shape) {
  std::vector<std::string> sizes;
  for (std::int64_t size : shape)
    sizes.push_back(absl::StrCat(size));
  return absl::StrJoin(sizes, "x");
}

//===-- Names -------------------------------------------------------------------------------------===//

// Takes a number behind a prefix: "root 2".
bool take(const std::string &field, const std::string &prefix, int &number) {
  return field.starts_with(prefix) && absl::SimpleAtoi(field.substr(prefix.size()), &number);
}

// Takes a field of a name. False if it is none.
bool takeField(Collective &what, const std::string &field) {
  int number = 0;
  for (auto [reduction, name] : kReductions)
    if (field == name && what.kind == Kind::AllReduce) {
      what.reduction = reduction;
      return true;
    }
  if (field == "tree" && what.kind == Kind::AllReduce)
    return what.isReproducible = true;
  if (what.kind == Kind::AllReduce && take(field, "x", number) && number > 1) {
    what.tensors = static_cast<std::size_t>(number);
    return true;
  }
  if (hasRoot(what.kind) && take(field, "root ", number)) {
    what.peer = number;
    return number >= 0 && number < what.size();
  }
  if (isMessage(what.kind) && take(field, what.kind == Kind::Send ? "to " : "from ", number)) {
    what.peer = number;
    return number >= 0 && number < what.size();
  }
  if (isMessage(what.kind) && take(field, "tag ", number)) {
    what.tag = number;
    return number >= 0;
  }
  if (what.kind == Kind::Permute) {
    const std::pair<std::string, std::string> ends = absl::StrSplit(field, absl::MaxSplits('>', 1));
    std::pair<int, int> pair;
    if (!absl::SimpleAtoi(ends.first, &pair.first) || !absl::SimpleAtoi(ends.second, &pair.second))
      return false;
    what.pairs.push_back(pair);
    auto isRank = [&](int rank) { return rank >= 0 && rank < what.size(); };
    return isRank(pair.first) && isRank(pair.second);
  }
  if (what.kind == Kind::Recv) { // "float32 2x3"
    const std::pair<std::string, std::string> parts = absl::StrSplit(field, absl::MaxSplits(' ', 1));
    auto info = std::ranges::find(kDTypes, parts.first, &DTypeInfo::name);
    if (info == std::end(kDTypes))
      return false;
    Shape shape;
    const std::vector<std::string> sizes = absl::StrSplit(parts.second, 'x', absl::SkipEmpty());
    for (const std::string &each : sizes) {
      std::int64_t size = 0;
      if (!absl::SimpleAtoi(each, &size) || size < 0)
        return false;
      shape.push_back(size);
    }
    what.received.emplace(info->dtype, shape);
    return true;
  }
  return false;
}

//===-- Types -------------------------------------------------------------------------------------===//

// One tensor whose first axis becomes as many times as large, or as small, as the group has ranks.
Specs scaled(const Collective &what, const Specs &in, bool grows) {
  if (in[0].shape().empty())
    throw ShapeError(absl::StrCat(nameOf(what.kind).name, ": takes tensors with an axis, not a scalar"));
  Shape shape = in[0].shape();
  const std::int64_t size = shape[0];
  if (grows) {
    shape[0] = size * what.size();
    return {TensorSpec<>(in[0].dtype(), shape)};
  }
  if (size % what.size() != 0)
    throw ShapeError(
        absl::StrCat(nameOf(what.kind).name, ": the size ", size, " is not a multiple of the ", what.size(), " ranks"));
  shape[0] = size / what.size();
  return {TensorSpec<>(in[0].dtype(), shape)};
}

Specs typesOf(const Collective &what, const Specs &in) {
  const bool takesNothing = what.kind == Kind::Recv || what.kind == Kind::Barrier;
  if (in.size() != (takesNothing ? 0 : what.tensors))
    throw ShapeError(absl::StrCat(nameOf(what.kind).name, ": takes ", what.tensors, " tensors, not ", in.size()));
  for (const TensorSpec<> &spec : in) {
    if (!spec.has_rank() || !spec.shape().is_known())
      throw ShapeError(absl::StrCat(nameOf(what.kind).name,
                                    ": the sizes of a tensor that is sent must be known; one is ", spec.str()));
    if (spec.dtype() != in[0].dtype())
      throw DTypeError(absl::StrCat(nameOf(what.kind).name, ": tensors of one message have one element type, not ",
                                    in[0].str(), " and ", spec.str()));
  }
  switch (what.kind) {
  case Kind::AllGather:
  case Kind::Gather:
    return scaled(what, in, true);
  case Kind::ReduceScatter:
  case Kind::Scatter:
    return scaled(what, in, false);
  case Kind::AllToAll:
    scaled(what, in, false);
    return in;
  case Kind::Send:
  case Kind::Barrier:
    return {};
  case Kind::Recv:
    return {*what.received};
  default:
    return in;
  }
}

//===-- Gradients and many examples ----------------------------------------------------------------===//

std::optional<Collective> transposeOf(const Collective &what) {
  if (!nameOf(what.kind).transpose || what.reduction != Reduction::Sum)
    return std::nullopt;
  Collective transpose = what;
  transpose.kind = *nameOf(what.kind).transpose;
  for (auto &[source, destination] : transpose.pairs)
    std::swap(source, destination);
  std::ranges::sort(transpose.pairs);
  return transpose;
}

// A collective along the first axis of an example is one along that axis of all of them, which goes to the front
// meanwhile.
Tensors ofExamples(const Collective &what, const Tensors &in, const std::vector<bool> &batched) {
  const Operation &operation = operationOf(what);
  std::int64_t examples = 1;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (batched[i])
      examples = in[i].shape()[0];
  switch (what.kind) {
  case Kind::AllReduce:
  case Kind::Broadcast:
  case Kind::Reduce:
  case Kind::Permute: {
    Tensors all = in;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!batched[i]) {
        Shape shape = in[i].shape();
        shape.insert(shape.begin(), examples);
        all[i] = broadcast_to(in[i], shape);
      }
    return operation(all);
  }
  case Kind::AllGather:
  case Kind::ReduceScatter:
  case Kind::Gather:
  case Kind::Scatter:
  case Kind::AllToAll:
    return {swapaxes(operation({swapaxes(in[0], 0, 1)})[0], 0, 1)};
  default:
    throw ValueError("a message is of one example: send outside of vmap");
  }
}

//===-- Programs ----------------------------------------------------------------------------------===//

// Compares the collectives of a program with those of the other ranks before it runs for the first time.
class Programs : public OrderedPrograms {
public:
  void begin(const std::vector<OrderedCall> &calls, SourceLocation where) override;
  void failed(SourceLocation) override;

private:
  std::mutex mutex;
  std::vector<std::shared_ptr<GroupState>> groups; // of the programs that have begun
};

} // namespace

std::string Collective::name() const {
  std::vector<std::string> fields{group->name};
  if (kind == Kind::AllReduce)
    fields.emplace_back(std::ranges::find(kReductions, reduction, &std::pair<Reduction, const char *>::first)->second);
  if (isReproducible)
    fields.emplace_back("tree");
  if (tensors > 1)
    fields.push_back(absl::StrCat("x", tensors));
  if (hasRoot(kind))
    fields.push_back(absl::StrCat("root ", peer));
  if (isMessage(kind)) {
    fields.push_back(absl::StrCat(kind == Kind::Send ? "to " : "from ", peer));
    fields.push_back(absl::StrCat("tag ", tag));
  }
  for (auto [source, destination] : pairs)
    fields.push_back(absl::StrCat(source, ">", destination));
  if (received)
    fields.push_back(absl::StrCat(name_of(received->dtype()), " ", shapeText(received->shape())));
  return absl::StrCat(nameOf(kind).name, "[", absl::StrJoin(fields, ","), "]");
}

std::optional<Collective> collectiveOf(const std::string &name) {
  const std::size_t bracket = name.find('[');
  if (bracket == std::string::npos || !name.ends_with(']'))
    return std::nullopt;
  auto kind = std::ranges::find(kKinds, name.substr(0, bracket), &KindName::name);
  if (kind == std::end(kKinds))
    return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(name.substr(bracket + 1, name.size() - bracket - 2), ',');
  Collective what{kind->kind, findGroup(fields[0])};
  if (!what.group)
    return std::nullopt;
  for (std::size_t i = 1; i < fields.size(); ++i)
    if (!takeField(what, fields[i]))
      return std::nullopt;
  // A name that another one stands for would be a second operation.
  if ((what.kind == Kind::Recv && !what.received) || what.name() != name)
    return std::nullopt;
  return what;
}

namespace {
const std::shared_ptr<Programs> &programs() {
  static const auto *own = new std::shared_ptr<Programs>(std::make_shared<Programs>());
  return *own;
}

OperationDefinition definitionOf(const Collective &what, const std::string &name) {
  auto *own = new Collective(what); // as the operation, until the end of the program
  OperationDefinition definition{.name = name,
                                 .types = [own](const Specs &in) { return typesOf(*own, in); },
                                 .kernel = runCollective,
                                 .data = own,
                                 .order = isMessage(what.kind) || what.kind == Kind::Barrier ? CallOrder::Once
                                                                                             : CallOrder::Repeatable,
                                 .failure = [](std::int32_t) { return lastFailure(); },
                                 .programs = programs()};
  definition.batching = [own](const Tensors &in, const std::vector<bool> &batched) {
    return ofExamples(*own, in, batched);
  };
  if (std::optional<Collective> transpose = transposeOf(what))
    definition.transpose = transpose->name();
  return definition;
}

struct Operations {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Operation>> byName;
};
Operations &operations() {
  static auto *own = new Operations;
  return *own;
}

const Operation &operationNamed(const Collective &what, const std::string &name) {
  std::lock_guard lock(operations().mutex);
  std::unique_ptr<const Operation> &operation = operations().byName[name];
  if (!operation)
    operation = std::make_unique<const Operation>(definitionOf(what, name));
  return *operation;
}
} // namespace

const Operation &operationOf(const Collective &what) { return operationNamed(what, what.name()); }

void registerFamilies() {
  for (const KindName &kind : kKinds)
    registerOperations(kind.name, [](const std::string &name) {
      if (std::optional<Collective> what = collectiveOf(name))
        operationNamed(*what, name);
    });
}

namespace {

void Programs::begin(const std::vector<OrderedCall> &calls, SourceLocation where) {
  struct Part {
    std::shared_ptr<GroupState> group;
    std::vector<std::string> lines, hashed;
  };
  std::vector<Part> parts;
  for (const OrderedCall &call : calls) {
    std::optional<Collective> what = collectiveOf(call.operation);
    if (!what || isMessage(what->kind)) // a message has two ends, whose programs differ
      continue;
    auto part = std::ranges::find(parts, what->group, &Part::group);
    if (part == parts.end())
      part = parts.insert(part, Part{what->group, {}, {}});
    std::string text = call.operation;
    for (const TensorSpec<> &input : call.inputs)
      absl::StrAppend(&text, " ", input.str());
    part->hashed.push_back(text);
    part->lines.push_back(call.where.line
                              ? absl::StrCat(text, "\t", call.where.file ? call.where.file : "", ":", call.where.line)
                              : text);
  }
  // All ranks ask groups in one order.
  std::ranges::sort(parts, {}, [](const Part &part) { return part.group->name; });
  try {
    NetworkScope scope;
    for (Part &part : parts)
      part.group->agree(part.lines, part.hashed, true);
  } catch (const std::runtime_error &error) {
    throw StateError(absl::StrCat("the collectives can't run: ", error.what()), where);
  }
  std::lock_guard lock(mutex);
  for (Part &part : parts)
    if (std::ranges::find(groups, part.group) == groups.end())
      groups.push_back(part.group);
}

// Which of its collectives the call has passed over is not known, so that each group asks.
void Programs::failed(SourceLocation) {
  std::lock_guard lock(mutex);
  for (const std::shared_ptr<GroupState> &group : groups)
    group->interrupt();
}

} // namespace

} // namespace calque::distributed::detail
