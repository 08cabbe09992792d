#include "frontend/functions/Graph.h"
#include "absl/strings/str_cat.h"

namespace calque::detail {

namespace {
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return absl::StrCat(result, "\"");
}
} // namespace

std::string graphOf(const schema::Recording &recording, std::size_t numArguments, std::size_t numResults) {
  std::vector<std::string> nodes(recording.numValues()); // the node that makes each value
  std::string text = absl::StrCat("digraph ", quoted(recording.name), " {\n  node [shape=box];\n");
  auto node = [&](const std::string &id, const std::string &label, bool ellipse) {
    absl::StrAppend(&text, "  ", id, " [label=", quoted(label), ellipse ? ", shape=ellipse" : "", "];\n");
  };
  auto edge = [&](schema::ValueId value, const std::string &to) {
    absl::StrAppend(&text, "  ", nodes[schema::index(value)], " -> ", to,
                    " [label=", quoted(recording.typeOf(value).str()), "];\n");
  };
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    std::string id = absl::StrCat("p", i);
    node(id, i < numArguments ? absl::StrCat("tensor ", i) : absl::StrCat("capture ", i - numArguments), true);
    nodes[static_cast<std::size_t>(recording.parameters[i])] = id;
  }
  for (std::size_t i = 0; i < recording.ops().size(); ++i) {
    const schema::RecordedOp &op = recording.ops()[i];
    std::string id = absl::StrCat("o", i), label(schema::schemaOf(op.op).mnemonic);
    std::span<const schema::Attribute> attributes = recording.attributesOf(op);
    for (std::size_t a = 0; a < attributes.size(); ++a)
      if (schema::schemaOf(op.op).attributes[a].name == "variable")
        absl::StrAppend(&label, " ",
                        recording.variables[static_cast<std::size_t>(std::get<std::int64_t>(attributes[a]))].name);
    if (op.line.line)
      absl::StrAppend(&label, "\n", op.line.str());
    node(id, label, false);
    for (schema::ValueId operand : recording.operandsOf(op))
      edge(operand, id);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      nodes[schema::index(op.firstResult) + r] = id;
  }
  for (std::size_t i = 0; i < numResults; ++i) {
    std::string id = absl::StrCat("r", i);
    node(id, absl::StrCat("result ", i), true);
    edge(recording.results[i], id);
  }
  return absl::StrCat(text, "}\n");
}

} // namespace calque::detail
