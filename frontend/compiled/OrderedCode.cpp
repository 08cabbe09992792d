#include "frontend/compiled/OrderedCode.h"

#include "frontend/operations/UserOperationRegistry.h"

#include <algorithm>

namespace calque::detail {

namespace {
struct Told {
  std::shared_ptr<OrderedPrograms> object;
  std::vector<OrderedCall> calls;
};

// The objects of the code with their calls, in program order.
std::vector<Told> toldOf(const Code &code, const Caller &caller) {
  std::vector<Told> told;
  for (const Site &site : code.executable->sites) {
    if (site.kind != Site::Kind::Extern)
      continue;
    const std::string &symbol = caller.text ? *caller.text : site.text;
    std::shared_ptr<OrderedPrograms> object = programsOf(symbol);
    if (!object)
      continue;
    auto found = std::ranges::find(told, object, &Told::object);
    if (found == told.end())
      found = told.insert(found, Told{std::move(object), {}});
    OrderedCall call{symbol, {}, {}, failureAt(site, caller).where};
    for (std::size_t i = 0; i < site.types.size(); ++i)
      (i < site.numInputs ? call.inputs : call.results).emplace_back(site.types[i].dtype, Shape(site.types[i].dims));
    found->calls.push_back(std::move(call));
  }
  return told;
}
} // namespace

void beginOrdered(const Code &code, const Caller &caller) {
  for (const Told &each : toldOf(code, caller))
    each.object->begin(each.calls, caller.where);
  code.hasBegun->store(true, std::memory_order_release);
}

void failOrdered(const Code &code, const Caller &caller) {
  for (const Told &each : toldOf(code, caller))
    each.object->failed(caller.where);
}

} // namespace calque::detail
