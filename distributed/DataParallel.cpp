#include "calque/distributed/collectives.h"
#include "calque/distributed/data_parallel.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/host_call.h"

#include <map>

namespace calque::distributed {

namespace {

std::int64_t bytesOf(const Tensor &x) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(x.dtype()));
  for (std::int64_t size : x.shape())
    bytes *= size;
  return bytes;
}

// Sums or means of tensors of any types, in messages of tensors of one type.
std::vector<Tensor> reduceInBuckets(const std::vector<Tensor> &tensors, const DataParallelOptions &options,
                                    Reduction op, SourceLocation where) {
  std::vector<Tensor> results(tensors.size());
  struct Bucket {
    std::vector<std::size_t> numbers;
    std::int64_t bytes = 0;
  };
  std::map<DType, Bucket> open;
  auto send = [&](Bucket &bucket) {
    std::vector<Tensor> parts;
    for (std::size_t i : bucket.numbers)
      parts.push_back(tensors[i]);
    const bool isReproducible = options.reproducible && is_floating(parts[0].dtype());
    const std::vector<Tensor> sums =
        all_reduce(parts, {.op = op, .group = options.group, .reproducible = isReproducible}, where);
    for (std::size_t i = 0; i < sums.size(); ++i)
      results[bucket.numbers[i]] = sums[i];
    bucket = {};
  };
  // A gradient of a last layer is there first.
  for (std::size_t i = tensors.size(); i-- > 0;) {
    Bucket &bucket = open[tensors[i].dtype()];
    bucket.numbers.push_back(i);
    bucket.bytes += bytesOf(tensors[i]);
    if (bucket.bytes >= options.bucket_bytes)
      send(bucket);
  }
  for (auto &[dtype, bucket] : open)
    if (!bucket.numbers.empty())
      send(bucket);
  return results;
}

// The tensors of one rank, in a message for each type.
std::vector<Tensor> broadcastAll(const std::vector<Tensor> &tensors, const Group &group, SourceLocation where) {
  std::map<DType, std::vector<std::size_t>> ofTypes;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    ofTypes[tensors[i].dtype()].push_back(i);
  std::vector<Tensor> results(tensors.size());
  for (const auto &[dtype, numbers] : ofTypes) {
    std::vector<Tensor> parts;
    for (std::size_t i : numbers)
      parts.push_back(reshape(tensors[i], {-1}));
    const Tensor all = broadcast(concat(parts), {.group = group}, where);
    std::int64_t place = 0;
    for (std::size_t i : numbers) {
      const std::int64_t count = tensors[i].size();
      results[i] = reshape(slice(all, {place}, {place + count}), tensors[i].shape());
      place += count;
    }
  }
  return results;
}

void check(const char *function, const DataParallelOptions &options, SourceLocation where) {
  options.group.state(where); // StateError before init()
  if (options.bucket_bytes < 1)
    throw ValueError(absl::StrCat(function, ": bucket_bytes is ", options.bucket_bytes, ", and must be positive"),
                     CallSite::resolve(where));
}

class Ranks : public models::Distribution {
public:
  Ranks(const DataParallelOptions &options, SourceLocation where)
      : options(options), rank_(options.group.rank(where)), size_(options.group.size(where)) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool has_own_data() const override { return options.own_data; }
  std::vector<Tensor> sum(const std::vector<Tensor> &tensors, SourceLocation where) const override {
    return reduceInBuckets(tensors, options, Reduction::Sum, where);
  }
  std::vector<Tensor> broadcast(const std::vector<Tensor> &tensors, SourceLocation where) const override {
    return broadcastAll(tensors, options.group, where);
  }

private:
  const DataParallelOptions options;
  const int rank_, size_;
};

} // namespace

DataParallel::DataParallel(DataParallelOptions options, SourceLocation where) {
  check("DataParallel", options, where);
  distribution = std::make_shared<const Ranks>(options, where);
}

std::vector<std::optional<Tensor>> average(const std::vector<std::optional<Tensor>> &gradients,
                                           DataParallelOptions options, SourceLocation where) {
  CallSite site(where, "average");
  check("average", options, where);
  std::vector<Tensor> tensors;
  for (const std::optional<Tensor> &gradient : gradients)
    if (gradient)
      tensors.push_back(*gradient);
  const std::vector<Tensor> means = reduceInBuckets(tensors, options, Reduction::Mean, where);
  std::vector<std::optional<Tensor>> results = gradients;
  auto next = means.begin();
  for (std::optional<Tensor> &result : results)
    if (result)
      result = *next++;
  return results;
}

void broadcast_variables(const std::vector<Variable> &variables, const Group &group, SourceLocation where) {
  CallSite site(where, "broadcast_variables");
  if (calque::detail::isTracing())
    throw StateError("broadcast_variables: is called before the first step, outside of functions",
                     CallSite::resolve(where));
  std::vector<Tensor> values;
  for (const Variable &variable : variables)
    values.push_back(variable.value());
  values = broadcastAll(values, group, where);
  for (std::size_t i = 0; i < variables.size(); ++i)
    Variable(variables[i]).assign(values[i]);
}

} // namespace calque::distributed
