// Reads the messages of ONNX.
#include "onnx/Messages.h"

#include "calque/error.h"

namespace calque::onnx {

namespace {

template <typename Each> void eachField(Wire wire, const Each &each) {
  for (Field field; wire.next(field);)
    each(field, wire);
}

template <typename T> void readInto(T &message, const Wire &from);

// What must hold of a message that has been read.
template <typename T> void finish(T &) {}
void nameDomain(std::string &domain) {
  if (domain == "ai.onnx") // the default domain's other name
    domain.clear();
}
void finish(Node &node) { nameDomain(node.domain); }
void finish(std::pair<std::string, std::int64_t> &opset) { nameDomain(opset.first); }

// Takes one field of a message to where describe() says that it belongs.
class Reader {
public:
  Reader(const Field &field, const Wire &wire) : field_(field), wire_(wire) {}

  template <typename T> void field(std::uint64_t number, T &value, bool = true) {
    if (field_.number == number)
      take(value);
  }
  // A text for people, which is not kept.
  void note(std::uint64_t, const std::string &) {}
  void present(std::uint64_t number, bool &is) { is = is || field_.number == number; }
  void refuse(std::uint64_t number, const char *what) {
    if (field_.number == number)
      wire_.damaged(what);
  }
  template <typename F> void choice(std::uint64_t number, ValueType::Kind &is, ValueType::Kind kind, const F &f) {
    if (field_.number != number)
      return;
    is = kind;
    if (kind != ValueType::Kind::Other)
      readWith(f);
  }
  template <typename T, typename F> void inside(std::uint64_t number, std::optional<T> &value, const F &f) {
    if (field_.number != number)
      return;
    value.emplace();
    readWith(f);
  }

private:
  template <typename F> void readWith(const F &f) {
    eachField(wire_.inside(field_), [&](const Field &field, const Wire &wire) {
      Reader inner(field, wire);
      f(inner);
    });
  }
  void take(std::string &value) { value = field_.text(wire_); }
  void take(std::int64_t &value) { value = field_.integer(wire_); }
  void take(bool &value) { value = field_.integer(wire_) == 1; }
  void take(float &value) { value = field_.number32(wire_); }
  void take(Bytes &value) { value = field_.message(wire_); }
  void take(std::vector<std::int64_t> &values) { field_.appendTo(values, wire_); }
  void take(std::vector<float> &values) { field_.appendTo(values, wire_); }
  void take(std::vector<double> &values) { field_.appendTo(values, wire_); }
  void take(std::map<std::string, std::string> &values) {
    std::pair<std::string, std::string> entry;
    take(entry);
    values.insert(std::move(entry));
  }
  void take(Opsets &values) {
    std::pair<std::string, std::int64_t> entry;
    take(entry);
    values[entry.first] = entry.second;
  }
  template <typename T> void take(std::vector<T> &values) { take(values.emplace_back()); }
  template <typename T> void take(std::optional<T> &value) { take(value.emplace()); }
  template <typename T> void take(std::shared_ptr<T> &value) {
    value = std::make_shared<T>();
    take(*value);
  }
  template <typename T> void take(T &message) {
    message = T();
    readInto(message, wire_.inside(field_));
  }

  const Field &field_;
  const Wire &wire_;
};

template <typename T> void readInto(T &message, const Wire &from) {
  eachField(from, [&](const Field &field, const Wire &wire) {
    Reader reader(field, wire);
    describe(reader, message);
  });
  finish(message);
}

TensorData readTensorData(const Wire &from) {
  TensorData tensor;
  readInto(tensor, from);
  return tensor;
}

DataValue readData(const Wire &from, const ValueType &type);

// A sequence has its elements in a field for each kind of them.
DataValue readSequence(const Wire &from, const ValueType &type) {
  DataValue value;
  value.sequence.emplace();
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 3 || field.number == 5 || field.number == 7)
      value.sequence->push_back(readData(wire.inside(field), type.inner ? *type.inner : ValueType()));
  });
  return value;
}

DataValue readData(const Wire &from, const ValueType &type) {
  if (type.kind == ValueType::Kind::Sequence)
    return readSequence(from, type);
  DataValue value;
  if (type.kind != ValueType::Kind::Optional) {
    value.tensor = readTensorData(from);
    return value;
  }
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 3 || field.number == 5)
      value = readData(wire.inside(field), type.inner ? *type.inner : ValueType());
  });
  return value;
}

constexpr const char *kTypeNames[] = {
    "UNDEFINED", "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
    "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
    "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
    "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",          "INT2"};
constexpr std::pair<std::int64_t, DType> kTypes[] = {
    {1, DType::Float32}, {2, DType::UInt8},   {3, DType::Int8},     {4, DType::UInt16},   {5, DType::Int16},
    {6, DType::Int32},   {7, DType::Int64},   {9, DType::Bool},     {10, DType::Float16}, {11, DType::Float64},
    {12, DType::UInt32}, {13, DType::UInt64}, {16, DType::BFloat16}};

} // namespace

std::optional<DType> dtypeOf(std::int64_t type) {
  for (const auto &[number, dtype] : kTypes)
    if (number == type)
      return dtype;
  return {};
}
std::int64_t numberOf(DType dtype) {
  for (const auto &[number, each] : kTypes)
    if (each == dtype)
      return number;
  return 0;
}
std::string nameOfType(std::int64_t type) {
  if (type >= 0 && type < std::ssize(kTypeNames))
    return kTypeNames[type];
  return "element type " + std::to_string(type);
}

const Attribute *Node::find(const std::string &attribute) const {
  for (const Attribute &each : attributes)
    if (each.name == attribute)
      return &each;
  return nullptr;
}

ModelFile readModel(Bytes bytes, const std::string &file) {
  ModelFile model;
  readInto(model, Wire(bytes, file));
  if (!model.graph)
    throw DataError(file + " is no ONNX file, or damaged: it has no graph");
  return model;
}

TensorData readTensor(Bytes bytes, const std::string &file) { return readTensorData(Wire(bytes, file)); }
DataValue readValue(Bytes bytes, const std::string &file, const ValueType &type) {
  return readData(Wire(bytes, file), type);
}

} // namespace calque::onnx
