#include "Events.h"
#include "Support.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "calque/callbacks.h"
#include "calque/functions.h"
#include "calque/models/model.h"

#include <algorithm>
#include <set>

namespace calque::callbacks {

using training::EventFile;
using training::fail;
using training::Message;

struct TensorBoard::Files {
  std::shared_ptr<EventFile> train, validation;
};

namespace {

// The layers and their weights as a GraphDef: a node for each call of a layer and for each weight, below the model.
// What flows between layers is written for a Sequential and for a graph of layers; of a layer that is called several
// times it comes from the latest call before.
template <typename Rows> Message graphOf(Model &model, const Rows &rows) {
  Message graph;
  auto node = [&](const std::string &name, const std::string &operation, const std::vector<std::string> &inputs) {
    Message made;
    made.bytes(1, name);
    made.bytes(2, operation);
    for (const std::string &input : inputs)
      made.bytes(3, input);
    graph.message(1, made);
  };
  const std::string root = model.name().empty() ? model.kind() : model.name();
  std::vector<std::string> paths;
  for (const auto &[path, variable] : model.named_variables()) {
    paths.push_back(path);
    node(absl::StrCat(root, "/", path), "VarHandleOp", {});
  }
  std::map<std::string, std::string> latest; // the node of each input, and of the latest call of each layer
  std::string before;
  const bool hasInputs = std::any_of(rows.begin(), rows.end(), [](const auto &row) { return !row.layer; });
  if (!hasInputs) {
    before = absl::StrCat(root, "/input");
    node(before, "Placeholder", {});
  }
  const bool isChain = model.kind() == "sequential";
  std::set<std::string> taken;
  for (const auto &row : rows) {
    std::string name = absl::StrCat(root, "/", row.name, row.layer ? "/call" : "");
    for (int i = 1; !taken.insert(name).second; ++i)
      name = absl::StrCat(root, "/", row.name, "/call_", i);
    std::vector<std::string> inputs;
    if (isChain)
      inputs.push_back(before);
    for (const std::string &connection : row.connections) {
      // "lstm[1]" is a result of several, which GraphDef calls "lstm:1".
      const std::size_t bracket = connection.find('[');
      auto found = latest.find(connection.substr(0, bracket));
      if (found == latest.end())
        continue;
      const std::string result = bracket == std::string::npos ? "" : connection.substr(bracket + 1);
      inputs.push_back(result.empty() || result == "0]"
                           ? found->second
                           : absl::StrCat(found->second, ":", absl::StripSuffix(result, "]")));
    }
    for (const std::string &path : paths)
      if (absl::StartsWith(path, row.name + "/"))
        inputs.push_back(absl::StrCat(root, "/", path));
    node(name, row.layer ? "Layer" : "Placeholder", inputs);
    latest[row.name] = before = name;
  }
  // The model's own weights.
  std::vector<std::string> own;
  for (const std::string &path : paths)
    if (path.find('/') == std::string::npos)
      own.push_back(absl::StrCat(root, "/", path));
  if (!own.empty())
    node(absl::StrCat(root, "/call"), "Layer", own);
  return graph;
}

} // namespace

UpdateFrequency::UpdateFrequency(const char *name, SourceLocation where) {
  const std::string text = name ? name : "";
  if (text != "epoch" && text != "batch")
    fail<ValueError>(
        absl::StrCat("tensorboard: update_freq is 'epoch', 'batch' or a number of steps, unlike '", text, "'"), where);
  steps_ = text == "batch" ? 1 : 0;
}

TensorBoard::TensorBoard(TensorBoardOptions options, SourceLocation where)
    : of(std::move(options)), files(std::make_shared<Files>()) {
  if (of.update_freq.steps() < 0 || of.histogram_freq < 0)
    fail<ValueError>("tensorboard: histogram_freq and update_freq are not below 0", where);
}

void TensorBoard::write(bool isValidation, const std::string &tag, double value, std::int64_t step) {
  std::shared_ptr<EventFile> &file = isValidation ? files->validation : files->train;
  if (!file)
    file = std::make_shared<EventFile>(of.log_dir + (isValidation ? "/validation" : "/train"));
  file->scalar(tag, value, step);
}

void TensorBoard::on_train_begin(Logs &) {
  *files = {};
  steps = 0;
  hasGraph = false;
}

void TensorBoard::on_train_batch_end(std::int64_t, Logs &logs) {
  if (const std::int64_t every = of.update_freq.steps(); every > 0 && steps % every == 0)
    for (const auto &[name, value] : logs)
      write(false, "batch_" + name, value, steps);
  ++steps;
}

void TensorBoard::on_epoch_end(std::int64_t epoch, Logs &logs) {
  for (const auto &[name, value] : logs) {
    const bool isValidation = absl::StartsWith(name, "val_");
    write(isValidation, "epoch_" + (isValidation ? name.substr(4) : name), value, epoch);
  }
  optimizers::Optimizer optimizer = model().optimizer();
  if (!logs.contains("learning_rate"))
    write(false, "epoch_learning_rate", optimizer.learning_rate().value().item<double>(), epoch);
  if (of.write_graph && !hasGraph)
    files->train->graph(graphOf(model(), model().rows()));
  hasGraph = true;
  if (of.histogram_freq > 0 && epoch % of.histogram_freq == 0)
    for (const auto &[path, variable] : model().named_variables())
      if (is_floating(variable.dtype()))
        files->train->histogram(path + "/histogram", cast(variable, DType::Float64).to_vector<double>(), epoch);
  files->train->flush();
  if (files->validation)
    files->validation->flush();
}

void TensorBoard::on_train_end(Logs &) { *files = {}; }

} // namespace calque::callbacks
