// What collectives do with their tensors when a program reaches them.
#include "Operations.h"

#include "absl/strings/str_cat.h"
#include "calque/half.h"

#include <algorithm>
#include <cstring>

namespace calque::distributed::detail {

namespace {

std::int64_t countOf(const KernelTensor &x) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < x.rank; ++i)
    count *= x.sizes[i];
  return count;
}
std::size_t bytesOf(const KernelTensor &x) { return static_cast<std::size_t>(countOf(x)) * size_of(x.dtype); }
bool isEmpty(const KernelTensor &x) { return countOf(x) == 0; }

void clear(const KernelTensor &x) {
  if (!isEmpty(x))
    std::memset(x.data, 0, bytesOf(x));
}

template <typename From, typename To> void convert(const void *from, void *to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<To *>(to)[i] = To(static_cast<const From *>(from)[i]);
}
void widen(DType dtype, const void *from, float *to, std::size_t count) {
  dtype == DType::Float16 ? convert<float16, float>(from, to, count) : convert<bfloat16, float>(from, to, count);
}
void narrow(DType dtype, const float *from, void *to, std::size_t count) {
  dtype == DType::Float16 ? convert<float, float16>(from, to, count) : convert<float, bfloat16>(from, to, count);
}

// The type in which a type is reduced. A bool is a byte that is 0 or 1.
DType reducedAs(DType dtype) { return dtype == DType::Bool ? DType::UInt8 : is_half(dtype) ? DType::Float32 : dtype; }

// Calls reduce(in, out) on `inCount` elements that make `outCount`, of the type in which `dtype` is reduced.
template <typename F>
void widened(DType dtype, const void *in, std::size_t inCount, void *out, std::size_t outCount, F reduce) {
  if (!is_half(dtype))
    return reduce(in, out);
  std::vector<float> wideIn(inCount), wideOut(outCount);
  widen(dtype, in, wideIn.data(), inCount);
  reduce(wideIn.data(), wideOut.data());
  narrow(dtype, wideOut.data(), out, outCount);
}

// The parts of all ranks, each of `stride` elements, added in the order of a balanced tree over ranks. The sum replaces
// the first part.
template <typename T> void addTree(T *parts, std::size_t stride, std::size_t ranks) {
  if (ranks == 1)
    return;
  const std::size_t half = (ranks + 1) / 2;
  addTree(parts, stride, half);
  addTree(parts + half * stride, stride, ranks - half);
  for (std::size_t i = 0; i < stride; ++i)
    parts[i] += parts[half * stride + i];
}

// Each rank gets the same slice of all, adds them, and all gather the sums. A sum is the same wherever it is computed.
template <typename T> void sumInTree(Communicator &all, const T *in, T *out, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(all.size());
  const std::size_t stride = (count + ranks - 1) / ranks;
  std::vector<T> padded(stride * ranks), slices(stride * ranks);
  std::copy_n(in, count, padded.begin());
  all.allToAll(padded.data(), slices.data(), stride * sizeof(T));
  addTree(slices.data(), stride, ranks);
  all.allGather(slices.data(), padded.data(), stride * sizeof(T));
  std::copy_n(padded.begin(), count, out);
}

void allReduceElements(const Collective &what, const void *in, void *out, std::size_t count, DType dtype) {
  Communicator &all = *what.group->communicator;
  if (what.isReproducible && dtype == DType::Float32)
    sumInTree(all, static_cast<const float *>(in), static_cast<float *>(out), count);
  else if (what.isReproducible && dtype == DType::Float64)
    sumInTree(all, static_cast<const double *>(in), static_cast<double *>(out), count);
  else
    all.allReduce(in, out, count, dtype, what.reduction);
}

// Several tensors go out as one message.
void allReduce(const Collective &what, const KernelTensor *in, const KernelTensor *out) {
  const DType dtype = in[0].dtype;
  std::size_t count = 0;
  for (std::size_t i = 0; i < what.tensors; ++i)
    count += static_cast<std::size_t>(countOf(in[i]));
  if (count == 0)
    return;
  auto reduce = [&](const void *from, void *to) { allReduceElements(what, from, to, count, reducedAs(dtype)); };
  if (what.tensors == 1)
    return widened(dtype, in[0].data, count, out[0].data, count, reduce);
  std::vector<std::byte> packed(count * size_of(dtype));
  std::size_t place = 0;
  for (std::size_t i = 0; i < what.tensors; place += bytesOf(in[i++]))
    if (!isEmpty(in[i]))
      std::memcpy(packed.data() + place, in[i].data, bytesOf(in[i]));
  widened(dtype, packed.data(), count, packed.data(), count, reduce);
  place = 0;
  for (std::size_t i = 0; i < what.tensors; place += bytesOf(out[i++]))
    if (!isEmpty(out[i]))
      std::memcpy(out[i].data, packed.data() + place, bytesOf(out[i]));
}

void permute(const Collective &what, const KernelTensor &in, const KernelTensor &out) {
  std::optional<int> to, from;
  for (auto [source, destination] : what.pairs) {
    if (source == what.rank())
      to = destination;
    if (destination == what.rank())
      from = source;
  }
  what.group->communicator->exchange(in.data, to, out.data, from, bytesOf(in));
  if (!from)
    clear(out);
}

void run(const Collective &what, const KernelTensor *in, const KernelTensor *out) {
  Communicator &all = *what.group->communicator;
  const bool isRoot = what.rank() == what.peer;
  switch (what.kind) {
  case Kind::AllReduce:
    return allReduce(what, in, out);
  case Kind::AllGather:
    return all.allGather(in->data, out->data, bytesOf(*in));
  case Kind::ReduceScatter:
    return widened(in->dtype, in->data, static_cast<std::size_t>(countOf(*in)), out->data,
                   static_cast<std::size_t>(countOf(*out)), [&](const void *from, void *to) {
                     all.reduceScatter(from, to, static_cast<std::size_t>(countOf(*out)), reducedAs(in->dtype));
                   });
  case Kind::Broadcast:
    if (isRoot && !isEmpty(*in))
      std::memcpy(out->data, in->data, bytesOf(*in));
    return all.broadcast(out->data, bytesOf(*out), what.peer);
  case Kind::Reduce:
    widened(in->dtype, in->data, static_cast<std::size_t>(countOf(*in)), out->data,
            static_cast<std::size_t>(countOf(*out)), [&](const void *from, void *to) {
              all.reduce(from, to, static_cast<std::size_t>(countOf(*in)), reducedAs(in->dtype), what.peer);
            });
    return isRoot ? void() : clear(*out);
  case Kind::Gather:
    all.gather(in->data, out->data, bytesOf(*in), what.peer);
    return isRoot ? void() : clear(*out);
  case Kind::Scatter:
    return all.scatter(in->data, out->data, bytesOf(*out), what.peer);
  case Kind::AllToAll:
    return all.allToAll(in->data, out->data, bytesOf(*in) / static_cast<std::size_t>(what.size()));
  case Kind::Permute:
    return permute(what, *in, *out);
  case Kind::Send:
    return all.send(in->data, bytesOf(*in), what.peer, what.tag);
  case Kind::Recv:
    return all.receive(out->data, bytesOf(*out), what.peer, what.tag);
  case Kind::Barrier:
    return all.barrier();
  }
}

thread_local std::string failure;

// "all_reduce[world,sum] float32[2,3]".
std::string described(const Collective &what, const KernelTensor *in) {
  std::string text = what.name();
  const bool takesNothing = what.kind == Kind::Recv || what.kind == Kind::Barrier;
  for (std::size_t i = 0; i < (takesNothing ? 0 : what.tensors); ++i)
    absl::StrAppend(&text, " ", TensorSpec<>(in[i].dtype, Shape(in[i].sizes, in[i].sizes + in[i].rank)).str());
  return text;
}

} // namespace

std::string lastFailure() { return failure; }

std::int32_t runCollective(const KernelTensor *in, const KernelTensor *out, void *data) {
  const auto &what = *static_cast<const Collective *>(data);
  try {
    NetworkScope scope;
    what.group->enter();
    if (settings().verify && what.kind != Kind::Send && what.kind != Kind::Recv) {
      const std::vector<std::string> line{described(what, in)};
      what.group->agree(line, line, false);
    }
    run(what, in, out);
    return 0;
  } catch (const std::exception &error) { // none may pass through native code
    failure = error.what();
    return 1;
  }
}

} // namespace calque::distributed::detail
