// What collectives need of the network: MPI, or nothing where there is one process.
#ifndef CALQUE_DISTRIBUTED_COMMUNICATOR_H
#define CALQUE_DISTRIBUTED_COMMUNICATOR_H

#include "calque/distributed/collectives.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace calque::distributed::detail {

// A call of the network that fails.
struct NetworkFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What ranks tell each other before they go on.
struct Report {
  std::uint64_t hash; // of all lines
  std::vector<std::string> lines;
};
struct Reports {
  std::vector<int> missing;       // ranks that have not come in time; nothing else is known then
  bool areEqual = true;           // whether all hashes are
  std::vector<Report> ofAll = {}; // by rank, if they are not equal
};

// The processes of a group. Its functions block, and throw NetworkFault. Blocks are contiguous, of so many bytes.
class Communicator {
public:
  virtual ~Communicator() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Reduces elements of all ranks; not of bool, float16 or bfloat16. `out` may be `in`.
  virtual void allReduce(const void *in, void *out, std::size_t count, DType dtype, Reduction op) = 0;
  virtual void reduce(const void *in, void *out, std::size_t count, DType dtype, int root) = 0; // sums
  // `count` elements of each rank's part.
  virtual void reduceScatter(const void *in, void *out, std::size_t count, DType dtype) = 0; // sums
  virtual void allGather(const void *in, void *out, std::size_t bytes) = 0;
  virtual void allToAll(const void *in, void *out, std::size_t bytes) = 0;
  virtual void broadcast(void *data, std::size_t bytes, int root) = 0;
  virtual void gather(const void *in, void *out, std::size_t bytes, int root) = 0;
  virtual void scatter(const void *in, void *out, std::size_t bytes, int root) = 0;
  // Sends `in` to one rank and receives `out` from one, each of which may be missing.
  virtual void exchange(const void *in, std::optional<int> to, void *out, std::optional<int> from,
                        std::size_t bytes) = 0;
  virtual void send(const void *in, std::size_t bytes, int to, int tag) = 0;
  virtual void receive(void *out, std::size_t bytes, int from, int tag) = 0;
  virtual void barrier() = 0;

  // Gives each rank what the others report. Waits for them for so many seconds.
  virtual Reports report(const Report &own, double timeout) = 0;
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
  // Of the group, the ranks on this machine, this one included.
  virtual int sizeOnMachine() = 0;

protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

private:
  const int rank_, size_;
};

// How the process takes part in a network. One of these is compiled: Mpi.cpp or OneProcess.cpp.
bool hasNetwork();
// Begins it, unless something else has. Throws NetworkFault if it can't be used.
std::unique_ptr<Communicator> joinNetwork();
// Ends it, if this library has begun it. Waits for the other processes.
void leaveNetwork();
// Ends all processes.
[[noreturn]] void abortNetwork(int status);

} // namespace calque::distributed::detail
#endif
