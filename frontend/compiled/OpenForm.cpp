#include "frontend/compiled/OpenForm.h"

#include "frontend/compiled/CodeByStructure.h"
#include "frontend/compiled/Dump.h"
#include "frontend/core/KeyCache.h"

#include <algorithm>

namespace calque::detail {

using schema::Dims;
using schema::kOpenSize;
using schema::OpId;
using schema::TensorType;

namespace {

bool isEmpty(const TensorType &type) { return std::ranges::count(type.dims, 0) > 0; }

// The dimensions of operands that broadcast to `result`, with those merged that all operands have, or lack, alike.
// Where all have the shape of the result, one is left.
std::vector<Dims> merged(std::span<const TensorType> operands, const Dims &result) {
  auto sizeAt = [&](const TensorType &operand, std::size_t axis) {
    std::size_t missing = result.size() - operand.dims.size();
    return axis < missing ? 1 : operand.dims[axis - missing];
  };
  std::vector<Dims> dims(operands.size());
  std::size_t last = result.size(); // the dimension before, which is not 1 in the result
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    if (result[axis] == 1)
      continue;
    bool merges = last < axis;
    for (const TensorType &operand : operands)
      merges = merges && (sizeAt(operand, axis) == 1) == (sizeAt(operand, last) == 1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::int64_t size = sizeAt(operands[i], axis);
      if (merges)
        dims[i].back() *= size;
      else
        dims[i].push_back(size);
    }
    last = axis;
  }
  for (Dims &each : dims) // what an operand lacks in front needs no mention
    each.erase(each.begin(), std::ranges::find_if(each, [](std::int64_t size) { return size != 1; }));
  return dims;
}

Dims opened(Dims dims) {
  for (std::int64_t &size : dims)
    if (size != 1) // which may be broadcast
      size = kOpenSize;
  return dims;
}

// Replaces an operation whose first attribute is a shape, or a size, by the one that takes sizes of tensors. They are
// those of one operand more, which has no elements that anything reads: run() is called without it.
void takeSizes(OpenForm &form, OpId open) {
  const auto *shape = std::get_if<Dims>(&form.attributes[0]);
  Dims dims = shape ? *shape : Dims{std::get<std::int64_t>(form.attributes[0])}, sizes;
  if (dims.empty())
    return;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    sizes.push_back(static_cast<std::int64_t>(form.known.size()));
    sizes.push_back(static_cast<std::int64_t>(axis));
  }
  form.op = open;
  form.attributes[0] = Dims(dims.size(), kOpenSize);
  form.attributes.insert(form.attributes.begin() + 1, std::move(sizes));
  form.compiled.push_back({DType::Bool, Dims(dims.size(), kOpenSize)});
  form.known.push_back({DType::Bool, std::move(dims)});
}

// The most programs of an operation that are compiled for their own sizes. Code for unknown sizes takes several times
// as long to compile.
constexpr int kMostSizes = 8;

} // namespace

bool OpenForm::isOpen() const { return !std::ranges::all_of(compiled, &TensorType::isStatic); }

OpenForm openForm(OpId op, std::span<const TensorType> operands, std::span<const TensorType> results,
                  std::span<const schema::Attribute> attributes) {
  const schema::OperationSchema &schema = schema::schemaOf(op);
  OpenForm form{op,
                {operands.begin(), operands.end()},
                {operands.begin(), operands.end()},
                {attributes.begin(), attributes.end()}};
  // An operation of any number of operands is one of the user's, whose rule takes known sizes.
  if (schema.numOperands < 0 || std::ranges::any_of(operands, isEmpty) || std::ranges::any_of(results, isEmpty))
    return form;
  if (schema.elementwise) {
    std::vector<Dims> dims = merged(operands, results[0].dims);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      form.compiled[i].dims = opened(dims[i]);
      form.known[i].dims = std::move(dims[i]);
    }
    return form;
  }
  if (schema.open)
    takeSizes(form, *schema.open);
  for (TensorType &type : form.compiled) {
    Dims dims = std::exchange(type.dims, opened(type.dims));
    if (schema::inferTypes(form.op, form.compiled, form.attributes).fault) // these sizes must be known
      type.dims = std::move(dims);
  }
  return form;
}

std::shared_ptr<const Executable> openProgram(KeyView key, const schema::Recording &recording, bool isElementwise,
                                              SourceLocation where) {
  using Program = std::shared_ptr<const Executable>;
  static auto *programs = new KeyCache<Program>(kMostCachedOperations); // never destroyed: other threads may still run
  static auto *versions = new Versions;                                 // as they
  if (const Program *found = programs->find(key))
    return *found;
  std::unique_ptr<const Code> code = isElementwise ? knownCode(recording) : installedCode(recording);
  if (!code && versions->admit(key, kMostSizes))
    return nullptr;
  return programs->findOrMake(key, [&]() -> Program {
    try {
      if (!code)
        code = compileRecording(recording, {}, where);
      dump(recording, Dumped::Eager, where);
      return code->executable;
    } catch (const CompileError &) {
      return nullptr;
    }
  });
}

} // namespace calque::detail
