// The network where the library is built without MPI: one process, which has all parts itself.
#include "Communicator.h"

#include <cstdlib>
#include <cstring>

namespace calque::distributed::detail {

namespace {

void copy(const void *in, void *out, std::size_t bytes) {
  if (bytes && in != out)
    std::memcpy(out, in, bytes);
}

class OneProcess : public Communicator {
public:
  OneProcess() : Communicator(0, 1) {}
  void allReduce(const void *in, void *out, std::size_t count, DType dtype, Reduction) override {
    copy(in, out, count * size_of(dtype));
  }
  void reduce(const void *in, void *out, std::size_t count, DType dtype, int) override {
    copy(in, out, count * size_of(dtype));
  }
  void reduceScatter(const void *in, void *out, std::size_t count, DType dtype) override {
    copy(in, out, count * size_of(dtype));
  }
  void allGather(const void *in, void *out, std::size_t bytes) override { copy(in, out, bytes); }
  void allToAll(const void *in, void *out, std::size_t bytes) override { copy(in, out, bytes); }
  void broadcast(void *, std::size_t, int) override {}
  void gather(const void *in, void *out, std::size_t bytes, int) override { copy(in, out, bytes); }
  void scatter(const void *in, void *out, std::size_t bytes, int) override { copy(in, out, bytes); }
  void exchange(const void *in, std::optional<int> to, void *out, std::optional<int>, std::size_t bytes) override {
    if (to)
      copy(in, out, bytes);
  }
  void send(const void *, std::size_t, int, int) override {
    throw NetworkFault("a rank that is alone would wait for itself");
  }
  void receive(void *, std::size_t, int, int) override {
    throw NetworkFault("a rank that is alone would wait for itself");
  }
  void barrier() override {}
  Reports report(const Report &, double) override { return {}; }
  std::unique_ptr<Communicator> split(int, int) override { return std::make_unique<OneProcess>(); }
  int sizeOnMachine() override { return 1; }
};

} // namespace

bool hasNetwork() { return false; }
std::unique_ptr<Communicator> joinNetwork() { return std::make_unique<OneProcess>(); }
void leaveNetwork() {}
void abortNetwork(int status) { std::_Exit(status); }

} // namespace calque::distributed::detail
