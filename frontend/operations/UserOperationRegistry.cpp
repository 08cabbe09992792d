#include "frontend/operations/UserOperationRegistry.h"

#include "absl/strings/str_cat.h"
#include "runtime/Fork.h"

#include <exception>
#include <map>
#include <mutex>
#include <utility>

namespace calque::detail {

namespace {

struct Registered {
  std::shared_ptr<const OperationDefinition> definition;
  BatchingProgram batching;
};
struct Registry {
  runtime::ForkMutex mutex;
  std::map<std::string, std::shared_ptr<const Registered>> operations;
  std::map<std::string, std::function<void(const std::string &)>> families; // by prefix
};
Registry &registry() {
  static auto *operations = new Registry; // never destroyed: native code may still look it up while the process ends
  return *operations;
}

std::shared_ptr<const Registered> registered(const std::string &name) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().operations.find(name);
  return found == registry().operations.end() ? nullptr : found->second;
}

// Lets the family of the name make the operation.
void makeByFamily(const std::string &name) {
  std::function<void(const std::string &)> make;
  {
    std::lock_guard lock(registry().mutex);
    auto found = registry().families.find(name.substr(0, name.find('[')));
    if (found == registry().families.end() || !name.ends_with(']'))
      return;
    make = found->second;
  }
  make(name);
}

// Answers the compiler by the rules of users' operations. No exception may pass into the compiler.
struct Rules : schema::ExternRules {
  schema::RecordingRef batched(const std::string &symbol, std::span<const schema::TensorType> operands,
                               const std::vector<bool> &isBatched, std::string &error) override {
    const std::shared_ptr<const Registered> found = registered(symbol);
    if (!found || !found->batching)
      return nullptr;
    try {
      return found->batching(operands, isBatched);
    } catch (const std::exception &thrown) {
      error = absl::StrCat(symbol, ": ", thrown.what());
    } catch (...) {
      error = absl::StrCat(symbol, ": it throws what is no std::exception");
    }
    return nullptr;
  }
};

} // namespace

bool addUserOperation(std::shared_ptr<const OperationDefinition> definition, BatchingProgram batching) {
  std::string name = definition->name;
  auto added = std::make_shared<const Registered>(std::move(definition), std::move(batching));
  std::lock_guard lock(registry().mutex);
  return registry().operations.emplace(std::move(name), std::move(added)).second;
}

bool addOperationFamily(const std::string &prefix, std::function<void(const std::string &name)> make) {
  std::lock_guard lock(registry().mutex);
  return registry().families.emplace(prefix, std::move(make)).second;
}

std::shared_ptr<const OperationDefinition> findUserOperation(const std::string &name) {
  std::shared_ptr<const Registered> found = registered(name);
  if (!found) {
    makeByFamily(name);
    found = registered(name);
  }
  return found ? found->definition : nullptr;
}

std::shared_ptr<OrderedPrograms> programsOf(const std::string &name) {
  const std::shared_ptr<const OperationDefinition> definition = findUserOperation(name);
  return definition ? definition->programs : nullptr;
}

std::int32_t runUserOperation(const OperationDefinition &definition, std::span<const schema::TensorType> types,
                              std::size_t numInputs, std::span<void *const> addresses) {
  std::vector<KernelTensor> tensors;
  for (std::size_t i = 0; i < types.size(); ++i)
    tensors.push_back({types[i].numElements() ? addresses[i] : nullptr, types[i].dims.data(),
                       static_cast<std::int32_t>(types[i].dims.size()), types[i].dtype});
  return definition.kernel(tensors.data(), tensors.data() + numInputs, definition.data);
}

schema::ExternRules &userOperationRules() {
  static auto *rules = new Rules;
  return *rules;
}

} // namespace calque::detail
