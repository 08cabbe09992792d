// Says why a function was traced again: explain_retraces(), and the warning about functions that are traced often.
#include "frontend/functions/FunctionCore.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/Fork.h"

#include <set>

namespace calque {

namespace {
std::string timeText(double milliseconds) { return absl::StrFormat("%.1f ms", milliseconds); }
std::string siteText(SourceLocation where) { return detail::lineOf(where).str(); }
} // namespace

std::string Retrace::str() const {
  std::string text = absl::StrCat("traced in ", timeText(milliseconds), " for the call at ", siteText(call),
                                  "; the most similar trace is of the call at ", siteText(previous_call), "\n");
  for (const Change &change : changes)
    absl::StrAppend(&text, "  ", change.argument, " was ", change.before, " and is ", change.now, "\n");
  if (!note.empty())
    absl::StrAppend(&text, "  ", note, "\n");
  return text;
}

namespace detail {

namespace {
bool isNumber(const SignaturePart &part) {
  return part.kind == SignaturePart::Kind::Host && !part.text.starts_with("string ");
}
} // namespace

void TraceHistory::noteChanges(const Signature &before) {
  for (const SignaturePart &part : signature.parts)
    for (const SignaturePart &old : before.parts) {
      if (old.path != part.path || old.kind != part.kind || old.text == part.text)
        continue;
      if (isNumber(part))
        changedNumbers.push_back(part.path);
      sizesChanged |= part.kind == SignaturePart::Kind::Tensor && old.type.dtype == part.type.dtype &&
                      old.type.dims.size() == part.type.dims.size();
    }
}

std::string FunctionCore::warning() {
  runtime::ForkSection section;
  if (callsPerTrace.size() < kWarningTraces || warnings == kMostWarnings || loaded)
    return ""; // the user of a loaded function can't change how it is traced
  ++warnings;
  int calls = 0;
  for (int count : callsPerTrace)
    calls += count;
  double spent = 0;
  bool wasEvicted = false, sizesChanged = false, sizesRefused = false;
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < callsPerTrace.size() && i < history.size(); ++i) {
    const TraceHistory &made = *history[history.size() - 1 - i];
    spent += made.milliseconds;
    wasEvicted |= made.wasEvicted;
    sizesChanged |= made.sizesChanged;
    sizesRefused |= made.sizesRefused;
    numbers.insert(made.changedNumbers.begin(), made.changedNumbers.end());
  }
  std::vector<std::string> advice;
  if (wasEvicted)
    advice.push_back(
        absl::StrCat("a max_traces above ", options.max_traces, ", which evicts traces that are needed again"));
  if (!numbers.empty())
    advice.push_back(absl::StrCat("a tensor in place of the number: ", absl::StrJoin(numbers, ", ")));
  if (sizesChanged && !sizesRefused && inputSignature.empty())
    advice.push_back(
        absl::StrCat("sizes left open by an input_signature", options.reduce_retracing ? "" : ", or reduce_retracing"));
  const Retrace &last = history.back()->retrace;
  std::string text = absl::StrCat(callsPerTrace.size(), " of the last ", calls, " calls of function '", name,
                                  "', made at ", lineOf(where).str(), ", traced it, which took ", timeText(spent));
  for (std::size_t i = 0; i < last.changes.size(); ++i)
    absl::StrAppend(&text, i ? ", " : ": ", last.changes[i].argument, " was ", last.changes[i].before, " and is ",
                    last.changes[i].now);
  if (!last.note.empty() && (sizesRefused || last.changes.empty()))
    absl::StrAppend(&text, last.changes.empty() ? ": " : "; ", last.note);
  absl::StrAppend(&text, "; the calls are at ", siteText(last.previous_call), " and ", siteText(last.call));
  if (!advice.empty())
    absl::StrAppend(&text, ". What helps: ", absl::StrJoin(advice, "; "));
  return absl::StrCat(text, ". explain_retraces() has them all");
}

std::vector<Retrace> FunctionCore::retraces() {
  TraceLock::Guard guard(lock);
  std::vector<Retrace> result;
  for (const std::shared_ptr<TraceHistory> &made : history)
    if (!made->isFirst) {
      result.push_back(made->retrace);
      result.back().milliseconds = made->milliseconds;
    }
  return result;
}

} // namespace detail
} // namespace calque
