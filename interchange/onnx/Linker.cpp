#include "onnx/Program.h"

#include "calque/error.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace calque::onnx {

namespace {

// Functions that call others twice each make a program that is far longer than their file.
constexpr std::size_t kMostNodes = 100'000;

// Names in errors of compiled code live as long as the process.
const char *interned(std::string text) {
  static std::mutex mutex;
  static std::unordered_set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(std::move(text)).first->c_str();
}

// Replaces references to a function's attributes by those of the node that calls it, also in graphs.
void bindAttributes(std::vector<Node> &nodes, const std::vector<Attribute> &given) {
  for (Node &node : nodes) {
    std::vector<Attribute> bound;
    for (Attribute &attribute : node.attributes) {
      if (attribute.reference.empty()) {
        if (attribute.graph) {
          attribute.graph = std::make_shared<Graph>(*attribute.graph);
          bindAttributes(attribute.graph->nodes, given);
        }
        bound.push_back(attribute);
        continue;
      }
      // An attribute that the caller leaves out, and that has no default, is left out here, too.
      const auto found = std::ranges::find(given, attribute.reference, &Attribute::name);
      if (found != given.end()) {
        bound.push_back(*found);
        bound.back().name = attribute.name;
      }
    }
    node.attributes = std::move(bound);
  }
}

std::string nameOf(const std::string &domain, const std::string &op) {
  return domain.empty() ? "'" + op + "'" : "'" + op + "' of '" + domain + "'";
}

} // namespace

Linker::Linker(const std::string &file, const ModelFile &model, const Storage &storage, std::set<std::string> &known)
    : file_(file), model_(model), storage_(storage), known_(&known) {}

void Linker::refuse(const std::string &message) const { throw DataError(file_ + ": " + message); }

void Linker::link(Graph &graph) { link(graph, model_.opsets, {}, nullptr); }

void Linker::link(Graph &graph, const Opsets &opsets, std::set<std::string> names, std::set<std::string> *reads) {
  for (const ValueInfo &input : graph.inputs)
    names.insert(input.name);
  for (const TensorData &each : graph.initializers)
    names.insert(each.name);
  for (const SparseData &each : graph.sparseInitializers)
    names.insert(each.values.name);
  std::vector<std::string> outputs;
  for (const ValueInfo &output : graph.outputs)
    outputs.push_back(output.name);
  linkNodes(graph.nodes, outputs, opsets, std::move(names), reads);
}

void Linker::linkNodes(std::vector<Node> &nodes, const std::vector<std::string> &outputs, const Opsets &opsets,
                       std::set<std::string> names, std::set<std::string> *reads) {
  std::vector<std::set<std::string>> readBy(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!active_.empty() && ++nodes_ > kMostNodes)
      refuse("its functions make more than " + std::to_string(kMostNodes) + " nodes");
    linkNode(nodes[i], i, opsets, names, readBy[i]);
    names.insert(nodes[i].outputs.begin(), nodes[i].outputs.end());
  }
  std::set<std::string> later;
  for (const std::string &output : outputs) {
    if (!output.empty() && !names.contains(output))
      refuse("output '" + output + "' is not computed");
    later.insert(output);
  }
  if (reads)
    reads->insert(outputs.begin(), outputs.end());
  passOnKnown(nodes);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (const std::string &name : readBy[i])
      if (later.insert(name).second)
        nodes[i].dead.push_back(name);
    for (const std::string &name : nodes[i].outputs)
      if (!later.contains(name))
        nodes[i].dead.push_back(name);
    if (reads)
      reads->insert(readBy[i].begin(), readBy[i].end());
  }
}

// What must be known is computed from what must be known, but for shapes.
void Linker::passOnKnown(const std::vector<Node> &nodes) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const Node &node = nodes[i];
    const bool asksForShapes = node.domain.empty() && (node.op == "Shape" || node.op == "Size");
    const bool mustBeKnown =
        std::ranges::any_of(node.outputs, [&](const std::string &name) { return known_->contains(name); });
    if (!mustBeKnown || asksForShapes)
      continue;
    for (const std::string &input : node.inputs)
      if (!input.empty())
        known_->insert(input);
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph) {
        for (const ValueInfo &output : attribute.graph->outputs)
          known_->insert(output.name);
        passOnKnown(attribute.graph->nodes);
      }
  }
}

void Linker::linkNode(Node &node, std::size_t index, const Opsets &opsets, const std::set<std::string> &names,
                      std::set<std::string> &reads) {
  const std::string title =
      node.op + " " + (node.name.empty() ? "number " + std::to_string(index) : "'" + node.name + "'");
  node.label = interned(title + " of " + file_);
  for (const std::string &input : node.inputs) {
    if (!input.empty() && !names.contains(input))
      refuse(title + " reads '" + input + "', which nothing before it computes");
    if (!input.empty())
      reads.insert(input);
  }
  for (const Function &function : model_.functions)
    if (function.name == node.op && function.domain == node.domain && function.overload == node.overload)
      return linkFunction(node, function);
  const auto version = opsets.find(node.domain);
  if (version == opsets.end())
    refuse(title + " is of the domain '" + node.domain + "', of which the file names no version");
  node.version = version->second;
  node.operation = findOperator(node.domain, node.op);
  if (!node.operation)
    refuse("operator " + nameOf(node.domain, node.op) + " of node " +
           (node.name.empty() ? "number " + std::to_string(index) : "'" + node.name + "'") + " is not known");
  const Operator &op = *node.operation;
  if (node.version < op.since())
    refuse(title + " is in operator set " + std::to_string(node.version) + ", and exists from " +
           std::to_string(op.since()) + " on");
  const auto count = static_cast<int>(node.inputs.size());
  if (count < op.fewest || count > op.most)
    refuse(title + " has " + std::to_string(count) + " inputs, expected " + std::to_string(op.fewest) +
           (op.most == op.fewest    ? ""
            : op.most == kAnyNumber ? " or more"
                                    : " to " + std::to_string(op.most)));
  for (std::size_t i = 0; i < node.inputs.size() && i < 32; ++i)
    if (op.known >> i & 1 && !node.inputs[i].empty())
      known_->insert(node.inputs[i]);
  for (Attribute &attribute : node.attributes) {
    if (!attribute.reference.empty())
      refuse(title + " has an attribute '" + attribute.name + "' that refers to one of a function, outside of it");
    if (attribute.graph)
      link(*attribute.graph, opsets, names, &reads);
  }
  if (op.name == "Constant") {
    const RunGraph none;
    const Call call(node, {}, storage_, none);
    try {
      node.constant = std::make_shared<const Results>(op.apply(call));
      call.checkAllRead();
    } catch (const ValueError &error) { // of its attributes, which are the file's
      throw DataError(file_ + ": " + error.what());
    }
  }
}

void Linker::linkFunction(Node &node, const Function &function) {
  if (std::ranges::find(active_, &function) != active_.end())
    refuse("function " + nameOf(function.domain, function.name) + " calls itself");
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    refuse(std::string(node.label) + ": the function has " + std::to_string(function.inputs.size()) + " inputs and " +
           std::to_string(function.outputs.size()) + " outputs, the node " + std::to_string(node.inputs.size()) +
           " and " + std::to_string(node.outputs.size()));
  auto own = std::make_shared<Function>(function);
  std::vector<Attribute> given = node.attributes;
  for (const Attribute &each : function.defaults)
    if (!node.find(each.name))
      given.push_back(each);
  bindAttributes(own->nodes, given);
  // An input that must be known in the function must be so outside of it, where it has another name.
  std::set<std::string> known;
  std::set<std::string> *const outside = std::exchange(known_, &known);
  active_.push_back(&function);
  linkNodes(own->nodes, own->outputs, own->opsets, {own->inputs.begin(), own->inputs.end()}, nullptr);
  active_.pop_back();
  known_ = outside;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty() && known.contains(own->inputs[i]))
      known_->insert(node.inputs[i]);
  node.function = std::move(own);
}

} // namespace calque::onnx
