#include "Events.h"
#include "Support.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "calque/callbacks.h"
#include "calque/functions.h"
#include "calque/models/model.h"

namespace calque::callbacks {

using training::EventFile;
using training::fail;
using training::Message;

struct TensorBoard::Files {
  std::shared_ptr<EventFile> train, validation;
};

namespace {

// The layers and their weights as a GraphDef: a node for each, below those that it is a part of. What flows between
// layers is written for those of a Sequential.
Message graphOf(Model &model) {
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
  std::map<std::string, std::vector<std::string>> variables; // of each layer's path
  std::vector<std::string> paths;
  for (const auto &[path, variable] : model.named_variables()) {
    const std::size_t slash = path.rfind('/');
    const std::string owner = slash == std::string::npos ? "" : path.substr(0, slash);
    if (!variables.contains(owner))
      paths.push_back(owner);
    const std::string name = absl::StrCat(root, "/", path);
    variables[owner].push_back(name);
    node(name, "VarHandleOp", {});
  }
  node(absl::StrCat(root, "/input"), "Placeholder", {});
  std::string before = absl::StrCat(root, "/input");
  const bool isChain = model.kind() == "sequential";
  for (const std::string &path : paths) {
    const std::string name = path.empty() ? absl::StrCat(root, "/call") : absl::StrCat(root, "/", path, "/call");
    std::vector<std::string> inputs = variables[path];
    if (isChain)
      inputs.insert(inputs.begin(), before);
    node(name, "Layer", inputs);
    before = name;
  }
  return graph;
}

} // namespace

TensorBoard::TensorBoard(TensorBoardOptions options, SourceLocation where)
    : of(std::move(options)), files(std::make_shared<Files>()) {
  if (of.update_freq < 0 || of.histogram_freq < 0)
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
  if (of.update_freq > 0 && steps % of.update_freq == 0)
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
    files->train->graph(graphOf(model()));
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
