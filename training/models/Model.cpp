#include "calque/models/model.h"

#include "Support.h"
#include "Trainer.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/functions.h"
#include "calque/init_scope.h"

#include <algorithm>

namespace calque {

using layers::Layer;
using layers::LayerBody;
using training::fail;
using training::isBuilt;

void Model::build_parts(const std::vector<TensorSpec<>> &inputs) {
  InitScope now;
  Tensors examples;
  for (const TensorSpec<> &input : inputs) {
    // No variable is made by the size of a batch.
    Shape sample = input.shape();
    if (!sample.empty() && !sample[0].is_known())
      sample[0] = 1;
    examples.push_back(zeros(sample, input.dtype()), input.name());
  }
  call_inputs(examples, {});
}

//===-- Layers ----------------------------------------------------------------------------------===//

std::vector<Layer> Model::layers() const {
  std::vector<Layer> found;
  for (const auto &[name, part] : children())
    if (auto layer = std::dynamic_pointer_cast<LayerBody>(part))
      found.emplace_back(layer);
  return found;
}

std::string Model::nameOf(const Layer &layer) const {
  for (const auto &[name, part] : children())
    if (part == layer.body())
      return name;
  return layer.body()->kind();
}

Layer Model::get_layer(const std::string &name, SourceLocation where) const {
  before_layer();
  std::vector<std::string> names;
  for (const auto &[known, part] : children())
    if (auto layer = std::dynamic_pointer_cast<LayerBody>(part)) {
      if (known == name)
        return Layer(layer);
      names.push_back(absl::StrCat("'", known, "'"));
    }
  fail<LookupError>(absl::StrCat(title(), ": there is no layer '", name, "'; there are ", absl::StrJoin(names, ", ")),
                    where);
}

Layer Model::get_layer(std::int64_t index, SourceLocation where) const {
  before_layer();
  std::vector<Layer> all = layers();
  const auto count = static_cast<std::int64_t>(all.size()), place = index < 0 ? index + count : index;
  if (place < 0 || place >= count)
    fail<IndexError>(absl::StrCat(title(), ": there is no layer ", index, " of ", count), where);
  return all[static_cast<std::size_t>(place)];
}

//===-- Tables and pictures ---------------------------------------------------------------------===//

std::vector<Model::Row> Model::rows() const {
  std::vector<Row> rows;
  for (const auto &[name, part] : children()) {
    if (!part->has_weights())
      continue;
    auto layer = std::dynamic_pointer_cast<const LayerBody>(part);
    rows.push_back({name, layer ? layer->kind() : "module", {}, {}, part});
  }
  return rows;
}

namespace {
// 1234567 as "1,234,567".
std::string grouped(std::int64_t number) {
  std::string digits = absl::StrCat(number);
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::int64_t elementsOf(const std::vector<Variable> &variables) {
  std::int64_t total = 0;
  for (const Variable &variable : variables) {
    std::int64_t count = 1;
    for (const Size &size : variable.shape())
      count *= size;
    total += count;
  }
  return total;
}

} // namespace

bool training::isBuilt(const Module &module) {
  auto has = [](const Module &each) {
    const auto *layer = dynamic_cast<const LayerBody *>(&each);
    return !layer || layer->built();
  };
  const std::vector<std::shared_ptr<Module>> parts = module.submodules();
  return has(module) && std::all_of(parts.begin(), parts.end(), [&](const auto &part) { return has(*part); });
}

std::string Model::summary(SourceLocation where) const {
  const bool allBuilt = isBuilt(*this);
  std::int64_t all = allBuilt ? count_params(where) : 0;
  std::int64_t trainable = allBuilt ? elementsOf(trainable_variables(where)) : 0;
  std::vector<std::array<std::string, 4>> cells = {{"Layer (type)", "Output", "Param #", "Connected to"}};
  std::vector<const Module *> counted;
  for (const Row &row : rows()) {
    std::string params = "0";
    // A layer that is called several times is counted where it is first.
    if (row.layer && std::find(counted.begin(), counted.end(), row.layer.get()) == counted.end()) {
      if (!isBuilt(*row.layer)) {
        params = "0 (unbuilt)"; // as Keras has it
      } else {
        params = grouped(row.layer->count_params(where));
        if (!allBuilt) {
          all += row.layer->count_params(where);
          trainable += elementsOf(row.layer->trainable_variables(where));
        }
      }
      counted.push_back(row.layer.get());
    }
    cells.push_back({absl::StrCat(row.name, " (", row.kind, ")"),
                     row.results.empty() ? "?" : absl::StrJoin(row.results, ", "), params,
                     absl::StrJoin(row.connections, ", ")});
  }
  std::array<std::size_t, 4> widths = {};
  for (const auto &row : cells)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  const bool connected = widths[3] > cells[0][3].size() ||
                         std::any_of(cells.begin() + 1, cells.end(), [](auto &row) { return !row[3].empty(); });
  std::string text = absl::StrCat("Model: \"", name().empty() ? kind() : name(), "\"\n");
  std::size_t width = widths[0] + widths[1] + widths[2] + 4 + (connected ? widths[3] + 2 : 0);
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < (connected ? 4u : 3u); ++i) {
      const std::string blanks(widths[i] - cells[r][i].size(), ' ');
      absl::StrAppend(&line, i ? "  " : "", i == 2 ? blanks : "", cells[r][i], i == 2 ? "" : blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
    if (r == 0)
      absl::StrAppend(&text, std::string(width, '-'), "\n");
  }
  return absl::StrCat(text, std::string(width, '-'), "\nTotal params: ", grouped(all),
                      "\nTrainable params: ", grouped(trainable), "\nNon-trainable params: ", grouped(all - trainable),
                      "\n");
}

std::string Model::dot() const {
  std::string text = "digraph model {\n  node [shape=box];\n";
  std::vector<Row> all = picture();
  for (const Row &row : all)
    absl::StrAppend(&text, "  \"", row.name, "\" [label=\"", row.name, " (", row.kind, ")",
                    row.results.empty() ? "" : "\\n", absl::StrJoin(row.results, ", "), "\"];\n");
  for (const Row &row : all)
    for (const std::string &from : row.connections)
      absl::StrAppend(&text, "  \"", from.substr(0, from.find('[')), "\" -> \"", row.name, "\";\n");
  return absl::StrCat(text, "}\n");
}

SymbolicTensors Model::graph_inputs(SourceLocation where) const {
  fail<StateError>(absl::StrCat(title(), ": is no graph of layers, as functional models and built Sequentials are"),
                   where);
}
SymbolicTensors Model::graph_outputs(SourceLocation where) const { return graph_inputs(where); }

Model &ModelHandle::model(SourceLocation where) const {
  if (!model_)
    calque::detail::throwEmptyHandle("model", where);
  return *model_;
}

} // namespace calque
