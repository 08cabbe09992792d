#include "GroupState.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace calque::distributed::detail {

namespace {

std::uint64_t hashOf(const std::vector<std::string> &lines) { // FNV-1a, the same on all machines
  std::uint64_t hash = 14695981039346656037u;
  auto add = [&](char c) { hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u; };
  for (const std::string &line : lines) {
    std::ranges::for_each(line, add);
    add('\n');
  }
  return hash;
}

// What a rank does at a place of its list, for a message.
std::string doneAt(const Report &report, std::size_t place) {
  return place < report.lines.size() ? report.lines[place] : "nothing more";
}

// A line is what is compared, a tab, and where it is.
std::string compared(const std::string &line) { return line.substr(0, line.find('\t')); }
std::string shown(std::string line) {
  if (const std::size_t tab = line.find('\t'); tab != std::string::npos)
    line.replace(tab, 1, " at ");
  return line;
}

// The first place at which two ranks differ, in words.
std::string firstDifference(const std::vector<Report> &reports) {
  const Report &first = reports[0];
  std::size_t place = ~std::size_t(0), other = 0;
  for (std::size_t rank = 1; rank < reports.size(); ++rank) {
    const Report &report = reports[rank];
    std::size_t at = 0;
    const std::size_t length = std::max(report.lines.size(), first.lines.size());
    while (at < length && compared(doneAt(first, at)) == compared(doneAt(report, at)))
      ++at;
    if (at < length && at < place) {
      place = at;
      other = rank;
    }
  }
  if (other == 0)
    return "the ranks differ";
  return absl::StrCat("collective ", place + 1, " is ", shown(doneAt(first, place)), " on rank 0, and ",
                      shown(doneAt(reports[other], place)), " on rank ", other);
}

std::mutex &networkMutex() {
  static std::mutex mutex;
  return mutex;
}

} // namespace

void GroupState::compare(const Report &own, double timeout) {
  const Reports reports = communicator->report(own, timeout);
  if (const std::size_t missing = reports.missing.size())
    broken = absl::StrCat(missing == 1 ? "rank " : "ranks ", absl::StrJoin(reports.missing, ", "), " of group '", name,
                          missing == 1 ? "' has" : "' have", " not come within ", timeout,
                          " s to where this rank is, at ", shown(doneAt(own, 0)));
  else if (!reports.areEqual)
    broken = absl::StrCat("the ranks of group '", name, "' do not do the same: ", firstDifference(reports.ofAll));
  if (!broken.empty())
    throw std::runtime_error(broken);
}

void GroupState::agree(const std::vector<std::string> &lines, const std::vector<std::string> &hashed, bool once) {
  enter();
  const Report own{hashOf(hashed), lines};
  if (once && agreed.contains(own.hash))
    return;
  compare(own, settings().timeout);
  if (once)
    agreed.insert(own.hash);
}

void GroupState::enter() {
  if (!broken.empty())
    throw std::runtime_error(broken);
  if (!isInterrupted)
    return;
  // The others fail in the same way and come too, or wait for a collective that this rank has passed over.
  static const std::vector<std::string> line{"the first collective after a call that has failed"};
  constexpr double most = 10;
  compare({hashOf(line), line}, std::min(most, settings().timeout));
  isInterrupted = false;
}

NetworkScope::NetworkScope() : lock(networkMutex(), std::try_to_lock) {
  if (!lock.owns_lock())
    throw std::runtime_error(
        "another thread of this rank is in a collective, and two threads have no order that is the "
        "same on all ranks");
}

} // namespace calque::distributed::detail
