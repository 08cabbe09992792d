// The network by MPI.
#include "Communicator.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace calque::distributed::detail {

namespace {

void check(int status, const char *call) {
  if (status == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw NetworkFault(absl::StrCat(call, " fails: ", std::string(text, static_cast<std::size_t>(length))));
}

MPI_Datatype typeOf(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return MPI_INT8_T;
  case DType::Int16:
    return MPI_INT16_T;
  case DType::Int32:
    return MPI_INT32_T;
  case DType::Int64:
    return MPI_INT64_T;
  case DType::UInt8:
    return MPI_UINT8_T;
  case DType::UInt16:
    return MPI_UINT16_T;
  case DType::UInt32:
    return MPI_UINT32_T;
  case DType::UInt64:
    return MPI_UINT64_T;
  case DType::Float32:
    return MPI_FLOAT;
  case DType::Float64:
    return MPI_DOUBLE;
  default:
    throw NetworkFault(absl::StrCat("MPI has no numbers of type ", name_of(dtype)));
  }
}

// MPI does not say what the maximum with NaN is, and MPI's libraries have one that depends on the order. These are
// commutative, and NaN beats any number.
template <typename T, bool isMax> void extremes(void *in, void *inOut, const int *count) {
  const T *a = static_cast<const T *>(in);
  T *b = static_cast<T *>(inOut);
  for (int i = 0; i < *count; ++i)
    if (std::isnan(a[i]) || (isMax ? a[i] > b[i] : a[i] < b[i]))
      b[i] = a[i];
}
template <typename T, bool isMax> void extremesOf(void *in, void *inOut, int *count, MPI_Datatype *) {
  extremes<T, isMax>(in, inOut, count);
}
MPI_Op made(MPI_User_function *function) {
  MPI_Op op;
  check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
  return op;
}

MPI_Op opOf(DType dtype, Reduction op) {
  const bool isMax = op == Reduction::Max;
  if (is_floating(dtype) && (isMax || op == Reduction::Min)) {
    static const MPI_Op ofFloats[] = {made(extremesOf<float, false>), made(extremesOf<float, true>)},
                        ofDoubles[] = {made(extremesOf<double, false>), made(extremesOf<double, true>)};
    return dtype == DType::Float32 ? ofFloats[isMax] : ofDoubles[isMax];
  }
  switch (op) {
  case Reduction::Max:
    return MPI_MAX;
  case Reduction::Min:
    return MPI_MIN;
  case Reduction::Prod:
    return MPI_PROD;
  default:
    return MPI_SUM;
  }
}

// A block of bytes as a number of elements of a type. MPI counts in int, so that a block of more bytes is one element
// of a type made for it.
class Block {
public:
  explicit Block(std::size_t bytes) {
    if (bytes <= INT_MAX) {
      count = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t unit = std::size_t(1) << 20;
    MPI_Datatype large;
    check(MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &large), "MPI_Type_contiguous");
    absl::Cleanup free = [&] { MPI_Type_free(&large); };
    const int lengths[] = {static_cast<int>(bytes / unit), static_cast<int>(bytes % unit)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / unit * unit)};
    const MPI_Datatype types[] = {large, MPI_BYTE};
    check(MPI_Type_create_struct(2, lengths, places, types, &type), "MPI_Type_create_struct");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    count = 1;
  }
  ~Block() {
    if (type != MPI_BYTE)
      MPI_Type_free(&type);
  }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  MPI_Datatype type = MPI_BYTE;
  int count;
};

// Calls f(first element, number of elements) for pieces that MPI can count.
template <typename F> void inPieces(std::size_t count, F f) {
  constexpr std::size_t most = std::size_t(1) << 30;
  for (std::size_t at = 0; at < count; at += most)
    f(at, static_cast<int>(std::min(most, count - at)));
}
const void *at(const void *data, std::size_t bytes) { return static_cast<const char *>(data) + bytes; }
void *at(void *data, std::size_t bytes) { return static_cast<char *>(data) + bytes; }

int rankIn(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}
int sizeOf(MPI_Comm comm) {
  int size = 1;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

class Mpi : public Communicator {
public:
  // Reports go through a communicator of their own, so that they are not taken for messages of collectives.
  Mpi(MPI_Comm data, MPI_Comm control) : Communicator(rankIn(data), sizeOf(data)), data(data), control(control) {
    MPI_Comm_set_errhandler(data, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(control, MPI_ERRORS_RETURN);
  }

  void allReduce(const void *in, void *out, std::size_t count, DType dtype, Reduction op) override {
    const MPI_Datatype type = typeOf(dtype);
    const MPI_Op reduction = opOf(dtype, op);
    inPieces(count, [&](std::size_t first, int n) {
      const std::size_t offset = first * size_of(dtype);
      const void *from = in == out ? MPI_IN_PLACE : at(in, offset);
      check(MPI_Allreduce(from, at(out, offset), n, type, reduction, data), "MPI_Allreduce");
    });
  }
  void reduce(const void *in, void *out, std::size_t count, DType dtype, int root) override {
    inPieces(count, [&](std::size_t first, int n) {
      const std::size_t offset = first * size_of(dtype);
      check(MPI_Reduce(at(in, offset), at(out, offset), n, typeOf(dtype), MPI_SUM, root, data), "MPI_Reduce");
    });
  }
  void reduceScatter(const void *in, void *out, std::size_t count, DType dtype) override {
    if (count == 0)
      return;
    if (count > INT_MAX) // the parts are not contiguous in pieces
      throw NetworkFault(
          absl::StrCat("a part of reduce_scatter has ", count, " elements, and MPI counts to ", INT_MAX));
    check(MPI_Reduce_scatter_block(in, out, static_cast<int>(count), typeOf(dtype), MPI_SUM, data),
          "MPI_Reduce_scatter_block");
  }
  void allGather(const void *in, void *out, std::size_t bytes) override {
    const Block block(bytes);
    check(MPI_Allgather(in, block.count, block.type, out, block.count, block.type, data), "MPI_Allgather");
  }
  void allToAll(const void *in, void *out, std::size_t bytes) override {
    const Block block(bytes);
    check(MPI_Alltoall(in, block.count, block.type, out, block.count, block.type, data), "MPI_Alltoall");
  }
  void broadcast(void *buffer, std::size_t bytes, int root) override {
    const Block block(bytes);
    check(MPI_Bcast(buffer, block.count, block.type, root, data), "MPI_Bcast");
  }
  void gather(const void *in, void *out, std::size_t bytes, int root) override {
    const Block block(bytes);
    check(MPI_Gather(in, block.count, block.type, out, block.count, block.type, root, data), "MPI_Gather");
  }
  void scatter(const void *in, void *out, std::size_t bytes, int root) override {
    const Block block(bytes);
    check(MPI_Scatter(in, block.count, block.type, out, block.count, block.type, root, data), "MPI_Scatter");
  }
  void exchange(const void *in, std::optional<int> to, void *out, std::optional<int> from, std::size_t bytes) override {
    const Block block(bytes);
    check(MPI_Sendrecv(in, block.count, block.type, to.value_or(MPI_PROC_NULL), kExchange, out, block.count, block.type,
                       from.value_or(MPI_PROC_NULL), kExchange, data, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
  void send(const void *in, std::size_t bytes, int to, int tag) override {
    const Block block(bytes);
    check(MPI_Send(in, block.count, block.type, to, tag, data), "MPI_Send");
  }
  void receive(void *out, std::size_t bytes, int from, int tag) override {
    const Block block(bytes);
    MPI_Status status;
    check(MPI_Recv(out, block.count, block.type, from, tag, data, &status), "MPI_Recv");
    MPI_Count got = 0;
    check(MPI_Get_elements_x(&status, MPI_BYTE, &got), "MPI_Get_elements_x");
    if (static_cast<std::size_t>(got) != bytes)
      throw NetworkFault(absl::StrCat("the message has ", got, " bytes, and the tensor ", bytes));
  }
  void barrier() override { check(MPI_Barrier(data), "MPI_Barrier"); }

  Reports report(const Report &own, double timeout) override;

  std::unique_ptr<Communicator> split(int color, int key) override {
    MPI_Comm ofData, ofControl;
    check(MPI_Comm_split(data, color, key, &ofData), "MPI_Comm_split");
    check(MPI_Comm_dup(ofData, &ofControl), "MPI_Comm_dup");
    return std::make_unique<Mpi>(ofData, ofControl);
  }
  int sizeOnMachine() override {
    MPI_Comm machine;
    check(MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
    absl::Cleanup free = [&] { MPI_Comm_free(&machine); };
    return sizeOf(machine);
  }

private:
  static constexpr int kExchange = 32'767; // no tag of a user's
  MPI_Comm data, control;
};

// Hashes go to each rank by a message, so that the ranks that don't come are known. If they differ, each rank knows so,
// and all give their lines.
Reports Mpi::report(const Report &own, double timeout) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> hashes(ranks, own.hash);
  std::vector<MPI_Request> requests(2 * ranks, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < ranks; ++i) {
    const int other = static_cast<int>(i);
    if (other == rank())
      continue;
    check(MPI_Irecv(&hashes[i], 1, MPI_UINT64_T, other, 0, control, &requests[i]), "MPI_Irecv");
    check(MPI_Isend(&own.hash, 1, MPI_UINT64_T, other, 0, control, &requests[ranks + i]), "MPI_Isend");
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int tries = 0;; ++tries) {
    int areDone = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &areDone, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (areDone)
      break;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > timeout) {
      Reports reports;
      for (std::size_t i = 0; i < ranks; ++i)
        if (int isDone = 0; requests[i] != MPI_REQUEST_NULL) {
          check(MPI_Test(&requests[i], &isDone, MPI_STATUS_IGNORE), "MPI_Test");
          if (isDone)
            continue;
          reports.missing.push_back(static_cast<int>(i));
          MPI_Cancel(&requests[i]);
          MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
      // Small messages are on their way already: what is sent is not taken back.
      for (std::size_t i = 0; i < ranks; ++i)
        if (requests[ranks + i] != MPI_REQUEST_NULL)
          MPI_Request_free(&requests[ranks + i]);
      return reports;
    }
    if (tries < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(200)); // a rank may compile for seconds
  }
  Reports reports;
  reports.areEqual = std::ranges::all_of(hashes, [&](std::uint64_t hash) { return hash == own.hash; });
  if (reports.areEqual)
    return reports;
  std::string text;
  for (const std::string &line : own.lines)
    absl::StrAppend(&text, line, "\n");
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(ranks), places(ranks);
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, control), "MPI_Allgather");
  std::size_t total = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    places[i] = static_cast<int>(total);
    total += static_cast<std::size_t>(lengths[i]);
  }
  if (total > INT_MAX)
    throw NetworkFault("the lists of collectives are too long to be compared");
  std::string all(total, '\0');
  check(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, control),
        "MPI_Allgatherv");
  for (std::size_t i = 0; i < ranks; ++i) {
    Report report{hashes[i], {}};
    std::string_view rest =
        std::string_view(all).substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i]));
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
      report.lines.emplace_back(rest.substr(0, end));
    reports.ofAll.push_back(std::move(report));
  }
  return reports;
}

bool isOurs = false;

bool isRunning() {
  int began = 0, ended = 0;
  MPI_Initialized(&began);
  MPI_Finalized(&ended);
  return began && !ended;
}

} // namespace

bool hasNetwork() { return true; }

std::unique_ptr<Communicator> joinNetwork() {
  int began = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&began);
  MPI_Finalized(&ended);
  if (ended)
    throw NetworkFault("MPI has been finalised, and can't be initialised again");
  if (!began) {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    isOurs = true;
  } else {
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  }
  if (level < MPI_THREAD_SERIALIZED)
    throw NetworkFault(isOurs ? "this MPI serves one thread alone (MPI_THREAD_SERIALIZED is needed)"
                              : "MPI was initialised for one thread; initialise it with MPI_THREAD_SERIALIZED");
  MPI_Comm data, control;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &data), "MPI_Comm_dup");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &control), "MPI_Comm_dup");
  return std::make_unique<Mpi>(data, control);
}

void leaveNetwork() {
  if (isOurs && isRunning())
    MPI_Finalize();
}

void abortNetwork(int status) {
  if (isRunning())
    MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

} // namespace calque::distributed::detail
