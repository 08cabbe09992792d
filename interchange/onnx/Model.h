// What a file of ONNX says, as structures. They point into the file's bytes, which must outlive them.
#ifndef CALQUE_INTERCHANGE_ONNX_MODEL_H
#define CALQUE_INTERCHANGE_ONNX_MODEL_H

#include "onnx/Wire.h"

#include "calque/dtype.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calque::onnx {

struct Graph;

// Element types by ONNX's numbers.
std::optional<DType> dtypeOf(std::int64_t type);
std::int64_t numberOf(DType dtype);
// "FLOAT8E5M2"; "element type 99" for an unknown one.
std::string nameOfType(std::int64_t type);

struct TensorData {
  std::string name;
  std::int64_t type = 0;
  std::vector<std::int64_t> dims;
  bool isExternal = false;
  std::map<std::string, std::string> external; // "location", "offset", "length"
  // The elements are in one of these.
  std::optional<Bytes> raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers; // also those of halves, as bits
  std::vector<Bytes> strings;
};

struct SparseData {
  TensorData values, indices;
  std::vector<std::int64_t> dims;
};

// The type of an input or output. A sequence and an optional have the type of their elements.
struct ValueType {
  enum class Kind : std::uint8_t { Unknown, Tensor, Sequence, Optional, Other };
  struct Dim {
    std::optional<std::int64_t> size;
    std::string symbol;
  };
  Kind kind = Kind::Unknown;
  std::int64_t element = 0;
  std::optional<std::vector<Dim>> dims;
  std::shared_ptr<ValueType> inner;
};

struct ValueInfo {
  std::string name;
  ValueType type;
};

struct Attribute {
  std::string name, reference; // of a function's node: the name of the function's attribute that it stands for
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::optional<TensorData> tensor;
  std::optional<SparseData> sparse;
  std::shared_ptr<Graph> graph;
  enum Type : std::uint8_t { Float = 1, Int, String, Tensor, Subgraph, Floats, Ints, Strings };
  std::int64_t type = 0;
};

struct Operator;
struct Function;
struct Results;

struct Node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
  std::string doc; // is written, and not read

  // Found when the model is loaded.
  const Operator *operation = nullptr;      // or
  std::shared_ptr<const Function> function; // a function of the model, with the attributes of this node
  std::int64_t version = 0;                 // the operator set that counts
  const char *label = nullptr;              // "Conv 'stem' of resnet.onnx"
  std::vector<std::string> dead;            // values that no later node reads
  std::shared_ptr<const Results> constant;  // what the node always gives

  const Attribute *find(const std::string &attribute) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorData> initializers;
  std::vector<SparseData> sparseInitializers;
  std::vector<ValueInfo> inputs, outputs;
};

using Opsets = std::map<std::string, std::int64_t>;

struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  Opsets opsets;
};

struct ModelFile {
  std::int64_t ir = 0;
  std::string producer, producerVersion, doc;
  Opsets opsets;
  std::optional<Graph> graph;
  std::vector<Function> functions;
  std::vector<std::pair<std::string, std::string>> metadata;
  bool hasTraining = false;
};

// A value of ONNX's test data: a tensor, a sequence or an optional.
struct DataValue {
  std::optional<TensorData> tensor;
  std::optional<std::vector<DataValue>> sequence;
};

// DataError for bytes that are no such message.
ModelFile readModel(Bytes bytes, const std::string &file);
// Writes a model, piece by piece. The bytes of tensors go out as they are.
using Sink = std::function<void(const void *bytes, std::size_t size)>;
void writeModel(ModelFile &model, const Sink &sink);
// How many bytes that are.
std::uint64_t sizeOfModel(ModelFile &model);
TensorData readTensor(Bytes bytes, const std::string &file);
DataValue readValue(Bytes bytes, const std::string &file, const ValueType &type);

} // namespace calque::onnx
#endif
