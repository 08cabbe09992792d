// The steps of a model on several processes.
#include "Trainer.h"

#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "calque/random.h"

#include <algorithm>

namespace calque {

using training::fail;

namespace {

// The rows [begin, begin + count) of a tensor.
Tensor rowsOf(const Tensor &x, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> begins(x.shape().size(), 0), ends;
  for (std::int64_t size : x.shape())
    ends.push_back(size);
  begins[0] = begin;
  ends[0] = begin + count;
  return slice(x, begins, ends);
}

Tensors rowsOf(const Tensors &tensors, std::int64_t begin, std::int64_t count) {
  Tensors rows;
  for (const auto &[name, x] : tensors)
    rows.push_back(rowsOf(x, begin, count), name);
  return rows;
}

void assignAll(std::vector<Variable> variables, const std::vector<Tensor> &values) {
  for (std::size_t i = 0; i < variables.size(); ++i)
    variables[i].assign(values[i]);
}

std::vector<Tensor> valuesOf(const std::vector<Variable> &variables, SourceLocation where) {
  std::vector<Tensor> values;
  for (const Variable &variable : variables)
    values.push_back(variable.value(where));
  return values;
}

} // namespace

const models::Distribution *Trainer::distribution() const {
  return state->compiled ? state->compiled->options.distribution.get() : nullptr;
}

void Trainer::joinRanks() {
  const models::Distribution *ranks = distribution();
  if (!ranks)
    return;
  CallSite site(state->line);
  // The generator too, which initialises layers and shuffles.
  std::vector<Variable> variables{random::global_generator().state()};
  if (training::isBuilt(trained())) {
    buildOptimizer(trained().trainable_variables(state->line));
    for (const std::vector<Variable> &each :
         {trained().variables(state->line), state->compiled->options.optimizer.variables(state->line)})
      variables.insert(variables.end(), each.begin(), each.end());
  }
  assignAll(variables, ranks->broadcast(valuesOf(variables, state->line), state->line));
}

Batch Trainer::ownPart(const Batch &batch) {
  const models::Distribution *ranks = distribution();
  if (!ranks)
    return batch;
  const std::int64_t rows = training::rowsOf(state->call, batch);
  if (ranks->has_own_data()) {
    setShare(static_cast<double>(rows), state->compiled->rowsOfAll);
    return batch;
  }
  const std::int64_t begin = rows * ranks->rank() / ranks->size(), end = rows * (ranks->rank() + 1) / ranks->size();
  setShare(static_cast<double>(end - begin), static_cast<double>(rows));
  // A process without rows computes on one that does not count, so that all make the same step.
  const std::int64_t from = std::min(begin, rows - 1), count = std::max<std::int64_t>(end - begin, 1);
  CallSite site(state->line);
  Batch part{rowsOf(batch.x, from, count), rowsOf(batch.y, from, count), std::nullopt,
             rowsOf(batch.sample_weights, from, count)};
  if (batch.sample_weight)
    part.sample_weight = rowsOf(*batch.sample_weight, from, count);
  return part;
}

void Trainer::setShare(double own, double all) { state->compiled->share->assign(tensor<double>({own, own / all})); }

bool Trainer::nextBatch(const Batches::Next &next, Batch &batch) {
  const bool isThere = next(batch);
  const models::Distribution *ranks = distribution();
  if (!ranks || !ranks->has_own_data())
    return isThere;
  // All end with the first that has no more.
  const double rows = isThere ? static_cast<double>(training::rowsOf(state->call, batch)) : 0;
  const std::vector<double> sums =
      ranks->sum({tensor<double>({rows, isThere ? 1.0 : 0.0})}, state->line)[0].to_vector<double>();
  state->compiled->rowsOfAll = sums[0];
  return sums[1] == ranks->size();
}

std::vector<std::optional<Tensor>> Trainer::average_gradients(std::vector<std::optional<Tensor>> gradients) {
  const models::Distribution *ranks = distribution();
  if (!ranks)
    return gradients;
  CallSite site(state->line);
  state->compiled->hasAveraged = true;
  // Losses are means over the rows of this process, which are its share of all rows.
  const Tensor share = state->compiled->share->value()[1];
  std::vector<Tensor> parts;
  for (const std::optional<Tensor> &gradient : gradients)
    if (gradient)
      parts.push_back(*gradient * cast(share, gradient->dtype()));
  // Statistics of layers, such as the moving means of batch normalisation, stay the same on all.
  std::vector<Variable> statistics;
  for (const Variable &variable : trained().variables(state->line))
    if (!variable.trainable() && is_floating(variable.dtype())) {
      statistics.push_back(variable);
      parts.push_back(variable.value() * cast(share, variable.dtype()));
    }
  const std::vector<Tensor> sums = ranks->sum(parts, state->line);
  auto next = sums.begin();
  for (std::optional<Tensor> &gradient : gradients)
    if (gradient)
      gradient = *next++;
  assignAll(statistics, {next, sums.end()});
  return gradients;
}

std::vector<std::pair<Variable, Tensor>> Trainer::metricStates() {
  std::vector<std::pair<Variable, Tensor>> states;
  if (distribution())
    for (const metrics::Metric &metric : metrics())
      for (const Variable &variable : metric.variables(state->line))
        states.emplace_back(variable, variable.value());
  return states;
}

void Trainer::sumMetrics(const std::vector<std::pair<Variable, Tensor>> &before) {
  const models::Distribution *ranks = distribution();
  if (!ranks || before.empty())
    return;
  // What this step has added, if the process had a row that counts.
  const Tensor counts = state->compiled->share->value()[0] > 0.0;
  std::vector<Tensor> added;
  for (const auto &[variable, value] : before)
    added.push_back((variable.value() - value) * cast(counts, variable.dtype()));
  const std::vector<Tensor> sums = ranks->sum(added, state->line);
  for (std::size_t i = 0; i < before.size(); ++i) {
    Variable variable = before[i].first;
    variable.assign(before[i].second + sums[i]);
  }
}

void Trainer::requireAveraged() {
  if (distribution() && !state->compiled->hasAveraged)
    fail<StateError>(absl::StrCat(state->call, ": the model is trained by several processes, and its train_step() does "
                                               "not call average_gradients(), so that their weights would differ"),
                     state->line);
}

void Trainer::keepOwnCallbacks(std::vector<callbacks::AnyCallback> &all) const {
  if (distribution() && distribution()->rank() != 0)
    std::erase_if(all, [](const callbacks::AnyCallback &each) { return !each->runs_on_every_rank(); });
}

} // namespace calque
