// init(), groups, and how the process ends.
#include "GroupState.h"
#include "Operations.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/error.h"
#include "calque/host_call.h"
#include "calque/threads.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <thread>

namespace calque::distributed {

namespace detail {
namespace {

struct Process {
  std::mutex mutex;
  InitOptions options;
  std::shared_ptr<GroupState> world;
  std::map<std::string, std::weak_ptr<GroupState>> groups; // by name
  std::terminate_handler before = nullptr;
};
Process &process() {
  static auto *own = new Process; // never destroyed: the end of the process uses it
  return *own;
}
std::atomic<bool> hasBegun{false};

std::string thisRank() {
  const Communicator &all = *process().world->communicator;
  return absl::StrCat("calque::distributed: rank ", all.rank(), " of ", all.size());
}

// Ends all ranks with one message, where the process would end alone and leave the others waiting.
[[noreturn]] void terminated() {
  std::string what = "std::terminate() was called";
  if (std::exception_ptr thrown = std::current_exception())
    try {
      std::rethrow_exception(thrown);
    } catch (const Error &error) {
      what = absl::StrCat(error.category(), ": ", error.what());
    } catch (const std::exception &error) {
      what = error.what();
    } catch (...) {
      what = "an exception that is no std::exception";
    }
  std::cerr << thisRank() + " fails, and ends the others: " + what + "\n" << std::flush;
  abortNetwork(1);
}

void ended(int status, void *) {
  if (status == 0)
    return leaveNetwork();
  std::cerr << absl::StrCat(thisRank(), " ends with status ", status, ", and ends the others\n") << std::flush;
  abortNetwork(status);
}

// The number in an environment variable, if it is set.
template <typename T> void setFrom(const char *variable, T &value, SourceLocation where) {
  const char *text = std::getenv(variable);
  if (!text)
    return;
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !(number >= 0))
    throw ValueError(absl::StrCat(variable, " is '", text, "' and must be a number that is not negative"), where);
  value = static_cast<T>(number);
}

// How many processors this process may use: those to which it is bound, or its share of all.
int processors(int processesOnMachine) {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t own;
  const int bound = sched_getaffinity(0, sizeof(own), &own) == 0 ? CPU_COUNT(&own) : all;
  return std::max(1, bound < all ? bound : all / processesOnMachine);
}

void add(const std::shared_ptr<GroupState> &group) { process().groups[group->name] = group; }

} // namespace

const InitOptions &settings() { return process().options; }

std::shared_ptr<GroupState> findGroup(const std::string &name) {
  std::lock_guard lock(process().mutex);
  auto found = process().groups.find(name);
  return found == process().groups.end() ? nullptr : found->second.lock();
}

} // namespace detail

using detail::process;

World init(InitOptions options, SourceLocation where) {
  where = CallSite::resolve(where);
  std::lock_guard lock(process().mutex);
  if (process().world)
    return {};
  detail::setFrom("CALQUE_DISTRIBUTED_VERIFY", options.verify, where);
  detail::setFrom("CALQUE_DISTRIBUTED_TIMEOUT", options.timeout, where);
  if (!(options.timeout > 0))
    throw ValueError(absl::StrCat("init: the timeout is ", options.timeout, " s, and must be positive"), where);
  if (options.threads < 0)
    throw ValueError(absl::StrCat("init: the number of threads is ", options.threads, ", and can't be negative"),
                     where);
  std::shared_ptr<detail::GroupState> world;
  try {
    world = std::make_shared<detail::GroupState>("world", detail::joinNetwork());
    if (options.threads != 0)
      set_num_threads(options.threads);
    else if (!std::getenv("CALQUE_NUM_THREADS") && !std::getenv("OMP_NUM_THREADS"))
      set_num_threads(detail::processors(world->communicator->sizeOnMachine()));
  } catch (const detail::NetworkFault &error) {
    throw StateError(absl::StrCat("init: MPI can't be used: ", error.what()), where);
  }
  process().options = options;
  process().world = world;
  detail::add(world);
  if (detail::hasNetwork()) {
    process().before = std::set_terminate(detail::terminated);
    on_exit(detail::ended, nullptr);
  }
  detail::registerFamilies();
  detail::hasBegun = true;
  return {};
}

bool initialized() noexcept { return detail::hasBegun; }
bool has_mpi() noexcept { return detail::hasNetwork(); }

const std::shared_ptr<detail::GroupState> &Group::state(SourceLocation where) const {
  if (!initialized())
    throw StateError("distributed::init() has not been called", CallSite::resolve(where));
  return state_ ? state_ : process().world;
}
int Group::rank(SourceLocation where) const { return state(where)->communicator->rank(); }
int Group::size(SourceLocation where) const { return state(where)->communicator->size(); }
std::string Group::name(SourceLocation where) const { return state(where)->name; }

Group Group::split(int color, int key, SourceLocation where) const {
  where = CallSite::resolve(where);
  detail::GroupState &from = *state(where);
  if (color < 0)
    throw ValueError(absl::StrCat("split: the color is ", color, ", and can't be negative"), where);
  if (calque::detail::isTracing())
    throw StateError("split: groups are made outside of functions, and one is being traced", where);
  try {
    detail::NetworkScope scope;
    from.agree({"split"}, {"split"}, false);
    auto made = std::make_shared<detail::GroupState>(absl::StrCat(from.name, "/", ++from.numSplits),
                                                     from.communicator->split(color, key));
    std::lock_guard lock(process().mutex);
    detail::add(made);
    return Group(std::move(made));
  } catch (const std::runtime_error &error) {
    throw StateError(absl::StrCat("split: can't be done: ", error.what()), where);
  }
}

} // namespace calque::distributed
