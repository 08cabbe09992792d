#include "frontend/core/Warnings.h"

#include "absl/strings/str_cat.h"
#include "calque/warnings.h"
#include "runtime/Fork.h"
#include "runtime/Printable.h"

#include <iostream>
#include <memory>
#include <mutex>

namespace calque {
namespace {
struct State {
  runtime::ForkMutex mutex;
  std::shared_ptr<const WarningHandler> handler; // null: standard error
};
State &state() {
  static auto *made = new State; // never destroyed: other threads may still run
  return *made;
}
} // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  auto fresh = handler ? std::make_shared<const WarningHandler>(std::move(handler)) : nullptr;
  std::lock_guard lock(state().mutex);
  std::swap(state().handler, fresh);
  return fresh ? *fresh : nullptr;
}

void detail::warn(const std::string &message, SourceLocation where) {
  std::shared_ptr<const WarningHandler> handler;
  {
    std::lock_guard lock(state().mutex);
    handler = state().handler;
  }
  if (handler) {
    (*handler)({message, where});
    return;
  }
  printWarning(message, where);
}

void detail::printWarning(const std::string &message, SourceLocation where) {
  std::string line = absl::StrCat("calque: warning: ", message);
  if (where.line)
    absl::StrAppend(&line, " (at ", where.file, ":", where.line, ")");
  std::cerr << runtime::printable(absl::StrCat(line, "\n")) << std::flush;
}

} // namespace calque
