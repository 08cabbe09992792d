// The beginning of a distributed program, and groups of its ranks.
//
//   distributed::World world = distributed::init();
//   distributed::Group row = world.split(world.rank() / 2); // ranks 0 and 1, ranks 2 and 3
//   Tensor sum = distributed::all_reduce(x, {.group = row});
#ifndef CALQUE_DISTRIBUTED_GROUP_H
#define CALQUE_DISTRIBUTED_GROUP_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <memory>
#include <string>

namespace calque::distributed {

namespace detail {
class GroupState;
}

// Processes that take part in a collective. A handle: copies are the same group. Each of its ranks calls its
// collectives in the same order, from one thread at a time.
class CALQUE_API Group {
public:
  // All processes.
  Group() = default;
  // Which of the group this process is, from 0 to size() - 1. StateError before init().
  int rank(SourceLocation where = SourceLocation::current()) const;
  int size(SourceLocation where = SourceLocation::current()) const;
  // "world", or for the second group that was split from it "world/2", which saved functions name.
  std::string name(SourceLocation where = SourceLocation::current()) const;

  // A collective: makes groups of the ranks that give the same color, in the order of `key` and then of their ranks,
  // and returns the one with this rank. ValueError for a negative color, StateError while a function is traced.
  Group split(int color, int key = 0, SourceLocation where = SourceLocation::current()) const;

  // The group itself, for this library.
  const std::shared_ptr<detail::GroupState> &state(SourceLocation where) const;

private:
  explicit Group(std::shared_ptr<detail::GroupState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::GroupState> state_; // empty: all processes
};
using World = Group;

struct InitOptions {
  // Compares each collective with those of the other ranks before it runs, so that one that differs is an error at its
  // line and no deadlock. It costs a message to each rank. Without it, the programs of ranks are compared before their
  // first run alone. Also the environment variable CALQUE_DISTRIBUTED_VERIFY=1.
  bool verify = false;
  // How many seconds a rank waits for the others when programs are compared, before it fails and names those that have
  // not come. Ranks compile at different speeds. Also the environment variable CALQUE_DISTRIBUTED_TIMEOUT.
  double timeout = 300;
  // How many threads compute in this process. 0: the processors to which the launcher has bound it, or its share of the
  // machine's; CALQUE_NUM_THREADS and OMP_NUM_THREADS come first.
  int threads = 0;
};

// Begins the distributed program, and returns all processes. Later calls return them again, and ignore the options.
// If MPI is not initialised yet, it is now, and is finalised when the process ends. From now on an exception that
// nothing catches, and an end of the process with a status other than 0, end all processes with a message that names
// this rank. StateError if MPI was initialised before for less than MPI_THREAD_SERIALIZED, or has been finalised.
CALQUE_API World init(InitOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API bool initialized() noexcept;
// Whether the library was built with MPI. Without it, there is one rank.
CALQUE_API bool has_mpi() noexcept;

// Waits until all ranks of the group have come here. Ordered among the collectives of a function.
CALQUE_API void barrier(const Group &group = {}, SourceLocation where = SourceLocation::current());

} // namespace calque::distributed
#endif
