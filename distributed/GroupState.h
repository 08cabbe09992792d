// What a group of ranks knows: its communicator, which programs its ranks have agreed on, and whether they are in step.
#ifndef CALQUE_DISTRIBUTED_GROUPSTATE_H
#define CALQUE_DISTRIBUTED_GROUPSTATE_H

#include "Communicator.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace calque::distributed::detail {

class GroupState {
public:
  GroupState(std::string name, std::unique_ptr<Communicator> communicator)
      : name(std::move(name)), communicator(std::move(communicator)) {}

  const std::string name;
  const std::unique_ptr<Communicator> communicator;
  int numSplits = 0; // groups split from it so far

  // Compares what this rank is about to do with the other ranks. Throws what calque::StateError says, without a line:
  // std::runtime_error for a rank that does something else, or does not come. Nothing is compared twice, if `once`.
  // After that has failed, so does each call: the ranks are no longer in step.
  void agree(const std::vector<std::string> &lines, const std::vector<std::string> &hashed, bool once);
  // A call has failed on this rank. The next collective asks the other ranks whether it has on them too.
  void interrupt() { isInterrupted = true; }
  // Called before each collective.
  void enter();

private:
  void compare(const Report &own, double timeout);

  std::unordered_set<std::uint64_t> agreed; // hashes
  std::atomic<bool> isInterrupted{false};
  std::string broken; // why the ranks are not in step
};

// The options of init(), with those of the environment.
const InitOptions &settings();

// A rank calls the network from one thread at a time: the order of two threads would differ from rank to rank. Throws
// std::runtime_error while another thread does.
class NetworkScope {
public:
  NetworkScope();

private:
  std::unique_lock<std::mutex> lock;
};

// The group of a name that a program has made, or null.
std::shared_ptr<GroupState> findGroup(const std::string &name);

} // namespace calque::distributed::detail
#endif
