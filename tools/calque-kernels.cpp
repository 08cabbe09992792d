// Compiles eager operations when Calque is built, so that a program's first ones don't wait for the compiler.
//
//   calque-kernels DIRECTORY TARGET...
//
// DIRECTORY is that of installed code, beside the compiler's library; what was there goes. A TARGET is baseline, avx2,
// avx512, or native for this machine's. Which operations, and on which types, follows from the records: elementwise
// ones on tensors of one shape, with scalars, and with rows beside them, all others on tensors of rank 1 and 2, and
// those that make tensors of a shape with such shapes.
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/compiled/EagerCode.h"
#include "frontend/compiled/KnownCode.h"
#include "schema/Moves.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

using namespace calque;
using schema::Attribute;
using schema::AttributeKind;
using schema::OperationSchema;
using schema::TensorType;

namespace {

struct Wanted {
  schema::OpId op;
  std::vector<TensorType> operands;
  std::vector<Attribute> attributes;
};

// The sizes stand for any that are not 1.
std::vector<std::vector<schema::Dims>> shapesFor(const OperationSchema &op) {
  auto count = static_cast<std::size_t>(op.numOperands);
  std::vector<schema::Dims> vectors(count, {3}), scalars(count);
  if (op.elementwise) {
    std::vector<std::vector<schema::Dims>> shapes{vectors, scalars};
    for (std::size_t i = 0; i < count && count > 1; ++i) {
      shapes.push_back(vectors);
      shapes.back()[i] = {};
    }
    if (count == 2)
      shapes.push_back({{3, 3}, {3}});
    return shapes;
  }
  std::vector<schema::Dims> matrices(count, {3, 3});
  if (count == 0)
    return {{}};
  if (op.open) // of which one takes a random state, of two elements
    return {vectors, matrices, std::vector<schema::Dims>(count, {2})};
  if (count == 2)
    return {vectors, matrices, {{3, 3}, {3}}};
  return {vectors, matrices};
}

std::vector<Attribute> valuesOf(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Bool:
    return {false, true};
  case AttributeKind::Int:
    return {std::int64_t(-1), std::int64_t(0), std::int64_t(1)};
  case AttributeKind::Ints:
    return {std::vector<std::int64_t>{}, std::vector<std::int64_t>{0}, std::vector<std::int64_t>{1}};
  case AttributeKind::Type: {
    std::vector<Attribute> types;
    for (const DTypeInfo &type : kDTypes)
      types.emplace_back(type.dtype);
    return types;
  }
  default:
    return {};
  }
}

// Those of an operation's first attribute, where it is a shape or a size. They stand for any.
std::vector<Attribute> sizesOf(AttributeKind kind) {
  if (kind == AttributeKind::Int)
    return {std::int64_t(3)};
  return {schema::Dims{3}, schema::Dims{3, 3}};
}

std::vector<std::vector<Attribute>> attributesFor(const OperationSchema &op) {
  std::vector<std::vector<Attribute>> all{{}};
  for (const schema::AttributeSchema &attribute : op.attributes) {
    std::vector<std::vector<Attribute>> longer;
    const bool isSizes = op.open && &attribute == op.attributes.data();
    for (const Attribute &value : isSizes ? sizesOf(attribute.kind) : valuesOf(attribute.kind))
      for (std::vector<Attribute> values : all) {
        values.push_back(value);
        longer.push_back(std::move(values));
      }
    all = std::move(longer);
  }
  return all;
}

// The element types of operands: all alike, a first one of bool that chooses among the others, or a second one of
// indices.
std::vector<std::vector<DType>> elementsFor(const OperationSchema &op) {
  auto count = static_cast<std::size_t>(op.numOperands);
  if (count == 0)
    return {{}};
  std::vector<std::vector<DType>> elements;
  for (const DTypeInfo &type : kDTypes) {
    elements.emplace_back(count, type.dtype);
    if (count == 3 && type.dtype != DType::Bool)
      elements.push_back({DType::Bool, type.dtype, type.dtype});
    for (DType index : {DType::Int32, DType::Int64})
      if (count == 2 && !op.elementwise && type.dtype != index)
        elements.push_back({type.dtype, index});
  }
  return elements;
}

std::vector<Wanted> wantedOperations() {
  std::vector<Wanted> wanted;
  for (const OperationSchema &op : schema::operations()) {
    bool takesNothing = op.numOperands == 0 && !op.open; // a constant
    if (op.numOperands < 0 || takesNothing || !op.pure || schema::moveRuleOf(op.id))
      continue;
    for (const std::vector<Attribute> &attributes : attributesFor(op))
      for (const std::vector<DType> &elements : elementsFor(op))
        for (const std::vector<schema::Dims> &shapes : shapesFor(op)) {
          Wanted each{op.id, {}, attributes};
          for (std::size_t i = 0; i < shapes.size(); ++i)
            each.operands.push_back({elements[i], shapes[i]});
          if (!schema::inferTypes(op.id, each.operands, attributes).fault)
            wanted.push_back(std::move(each));
        }
  }
  return wanted;
}

int fail(const std::string &message) {
  std::cerr << "calque-kernels: " << message << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::cerr << "usage: calque-kernels DIRECTORY TARGET...\n";
    return 2;
  }
  std::filesystem::path directory = std::filesystem::absolute(argv[1]);
  std::vector<runtime::Cpu> targets;
  for (int i = 2; i < argc; ++i) {
    std::string name = argv[i];
    std::optional<runtime::Cpu> cpu = name == "native" ? runtime::hostCpu() : runtime::cpuNamed(name);
    if (!cpu)
      return fail("there is no target '" + name + "'; the targets are native, " + runtime::cpuNames());
    targets.push_back(*cpu);
  }
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  std::filesystem::create_directories(directory, error);
  if (!error) // a cache that others may write is not used
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  if (error)
    return fail(directory.string() + " can't be written: " + error.message());
  setenv("CALQUE_CACHE", directory.c_str(), 1);
  setenv("CALQUE_CACHE_SIZE", "1T", 1);

  std::vector<Wanted> wanted = wantedOperations();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  auto work = [&] {
    try {
      for (std::size_t i; (i = next++) < wanted.size() * targets.size();) {
        const Wanted &each = wanted[i % wanted.size()];
        detail::setCompileOptions(CompileOptions{.cpu = targets[i / wanted.size()]});
        detail::compileOpen(each.op, each.operands, each.attributes);
      }
    } catch (const std::exception &error) {
      std::cerr << error.what() << "\n";
      failed = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
  }
  return failed;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
