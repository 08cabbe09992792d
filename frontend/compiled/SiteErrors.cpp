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
  const std::string *text = caller.text;
  const schema::RecordedOp *recorded = recordedAt(site, caller);
  const LibraryCheck check = recorded ? libraryCheckOf(*recorded) : LibraryCheck::None;
  switch (site.kind) {
  case Site::Kind::IndexOutOfRange:
    throw IndexError(absl::StrCat(failure.operation, ": ", failure.index, " ", describeIndex(site, slot.values)),
                     where);
  case Site::Kind::DivisionByZero:
    throw DivisionError(absl::StrCat(failure.operation, ": an integer is divided by zero"), where);
  case Site::Kind::AssertionFailed:
    if (check == LibraryCheck::LoopFollowed)
      throw LoopTooFar(site.text, where, !isHeard);
    throw AssertionError(absl::StrCat(text ? *text : site.text, failedElements), where);
  case Site::Kind::NotFinite:
    throwNotFinite(failure.operation, failedElements, where);
  case Site::Kind::SizesDiffer:
  case Site::Kind::SizeTooSmall:
  case Site::Kind::SizeNotDivisible:
    if (check == LibraryCheck::AssignedFits) {
      const auto &ops = caller.recording->ops();
      // A branch or a loop only gives what is assigned.
      if (std::ranges::none_of(ops, [&](const schema::RecordedOp &op) { return &op == recorded; }))
        throw SizesDisagree(absl::StrCat("a variable can't be assigned a value of other sizes in a branch or a loop: ",
                                         describeSize(site.sizes[0], slot.values[0], "the value", inputNames(caller)),
                                         ", and it must be ", slot.values[1]),
                            where, &code);
      const schema::RecordedVariable &variable = assignedTo(*caller.recording, *recorded, where);
      const schema::TensorType &given = caller.recording->typeOf(caller.recording->operandsOf(*recorded)[0]);
      std::string size = describeSize(site.sizes[0], slot.values[0], "the value", inputNames(caller));
      throw SizesDisagree(absl::StrCat("variable '", variable.name, "' is ", variable.type.str(),
                                       " and can't be assigned ", given.str(), ": ", size, ", and it must be ",
                                       slot.values[1]),
                          where, &code);
    }
    throw SizesDisagree(absl::StrCat(failure.operation, ": ", describeSizes(site, slot.values, inputNames(caller))),
                        where, &code);
  case Site::Kind::TooManyBytes:
    throw ShapeError(
        absl::StrCat(site.text, " has more bytes than can be addressed with the sizes of this call's arguments"),
        where);
  case Site::Kind::OutOfMemory:
    throw MemoryError(absl::StrCat(failure.operation, ": there is no memory for a gradient after ", slot.values[0],
                                   " iterations, of each of which it keeps ", slot.values[1], " bytes, ",
                                   slot.values[0] * slot.values[1],
                                   " in all; with the option checkpoint = true a loop keeps few of them"),
                      where);
  case Site::Kind::Print:
  case Site::Kind::HostCall:
  case Site::Kind::Extern:
    break;
  }
  throw InternalError("native code failed at a site that can't fail", where);
}

std::string whose(const Caller &caller) {
  return caller.operation ? std::string(nameInMessages(caller.op, *caller.operation)) + ": " : "";
}

} // namespace calque::detail
