#include "frontend/compiled/SiteErrors.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/Signature.h"
#include "frontend/native/Following.h"
#include "program/SiteText.h"

#include <algorithm>

namespace calque::detail {

namespace {
// The operation that was recorded of a failing site; null where its recording is not known.
const schema::RecordedOp *recordedAt(const Site &site, const Caller &caller) {
  return caller.recording ? caller.recording->operationAt(site.recorded) : nullptr;
}

// "argument 1 'x'", or what else the code takes: a captured tensor, or a variable.
std::string nameOfInput(std::size_t input, const Caller &caller) {
  if (!caller.signature) // of one operation
    return absl::StrCat("operand ", input);
  std::size_t numParameters = caller.recording->parameters.size();
  if (input >= numParameters)
    return absl::StrCat("variable '", caller.recording->variables[input - numParameters].name, "'");
  std::string path = caller.signature->tensorPath(input);
  return path.empty() ? "a captured tensor" : path;
}

InputNames inputNames(const Caller &caller) {
  return [&caller](std::size_t input) { return nameOfInput(input, caller); };
}

// The variable that is assigned what the check gives.
const schema::RecordedVariable &assignedTo(const schema::Recording &recording, const schema::RecordedOp &check,
                                           SourceLocation where) {
  for (const schema::RecordedOp &op : recording.ops())
    if (op.op == schema::OpId::VariableAssign && recording.operandsOf(op)[0] == check.firstResult)
      return recording.variables[static_cast<std::size_t>(std::get<std::int64_t>(recording.attributesOf(op)[0]))];
  throw InternalError("an assignment's check of sizes has no assignment", where);
}

// Throws the error of a value whose sizes are not those of the variable that is assigned it.
[[noreturn]] void throwAssignedMisfits(const Code &code, const Site &site, const CalqueErrorSlot &slot,
                                       const Caller &caller, const schema::RecordedOp &check, SourceLocation where) {
  const auto &ops = caller.recording->ops();
  const std::string size = describeSize(site.sizes[0], slot.values[0], "the value", inputNames(caller));
  // A branch or a loop only gives what is assigned.
  if (std::ranges::none_of(ops, [&](const schema::RecordedOp &op) { return &op == &check; }))
    throw SizesDisagree(absl::StrCat("a variable can't be assigned a value of other sizes in a branch or a loop: ",
                                     size, ", and it must be ", slot.values[1]),
                        where, &code);
  const schema::RecordedVariable &variable = assignedTo(*caller.recording, check, where);
  const schema::TensorType &given = caller.recording->typeOf(caller.recording->operandsOf(check)[0]);
  throw SizesDisagree(absl::StrCat("variable '", variable.name, "' is ", variable.type.str(), " and can't be assigned ",
                                   given.str(), ": ", size, ", and it must be ", slot.values[1]),
                      where, &code);
}
} // namespace

Failure failureAt(const Site &site, const Caller &caller) {
  Failure failure{site.operation, "index", locationOf(site.line)};
  auto take = [&](schema::OpId op, const schema::SourceLine &line) {
    failure.operation = nameInMessages(op, line);
    failure.index = line.index ? line.index : "index";
    failure.where = locationOf(line);
  };
  if (caller.operation)
    take(caller.op, *caller.operation);
  else if (const schema::RecordedOp *op = recordedAt(site, caller))
    take(op->op, op->line);
  if (!failure.where.line || isInStandardLibrary(failure.where))
    failure.where = caller.where;
  return failure;
}

void throwSite(const Code &code, const CalqueErrorSlot &slot, const Caller &caller, bool isHeard,
               const std::string &failedElements) {
  const Executable &executable = *code.executable;
  if (slot.site < 0 || static_cast<std::size_t>(slot.site) >= executable.sites.size())
    throw InternalError("native code failed at a site that it does not have", caller.where);
  const Site &site = executable.sites[static_cast<std::size_t>(slot.site)];
  Failure failure = failureAt(site, caller);
  SourceLocation where = failure.where;
  const schema::RecordedOp *recorded = recordedAt(site, caller);
  const LibraryCheck check = recorded ? libraryCheckOf(*recorded) : LibraryCheck::None;
  if (check == LibraryCheck::LoopFollowed && site.kind == Site::Kind::AssertionFailed)
    throw LoopTooFar(site.text, where, !isHeard);
  const bool isOfSizes = site.kind == Site::Kind::SizesDiffer || site.kind == Site::Kind::SizeTooSmall ||
                         site.kind == Site::Kind::SizeNotDivisible;
  if (check == LibraryCheck::AssignedFits && isOfSizes)
    throwAssignedMisfits(code, site, slot, caller, *recorded, where);
  const std::string message = siteMessage(
      site, slot.values,
      {failure.operation, failure.index, caller.text ? *caller.text : site.text, failedElements, inputNames(caller)});
  if (isOfSizes)
    throw SizesDisagree(message, where, &code);
  switch (site.kind) {
#define CALQUE_SITE_KIND(kind, name, ErrorClass, text)                                                                 \
  case Site::Kind::kind:                                                                                               \
    throw ErrorClass(message, where);
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
  }
  throw InternalError("native code failed at a site that can't fail", where);
}

std::string whose(const Caller &caller) {
  return caller.operation ? std::string(nameInMessages(caller.op, *caller.operation)) + ": " : "";
}

} // namespace calque::detail
