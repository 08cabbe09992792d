// Messages of ONNX, by the numbers of their fields in the format's published schema.
#include "onnx/Model.h"

#include "calque/error.h"

namespace calque::onnx {

namespace {

template <typename Each> void eachField(Wire wire, const Each &each) {
  for (Field field; wire.next(field);)
    each(field, wire);
}

std::pair<std::string, std::string> readEntry(const Wire &from) {
  std::pair<std::string, std::string> entry;
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 1)
      entry.first = field.text(wire);
    else if (field.number == 2)
      entry.second = field.text(wire);
  });
  return entry;
}

TensorData readTensorData(const Wire &from) {
  TensorData tensor;
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      return field.appendTo(tensor.dims, wire);
    case 2:
      tensor.type = field.integer(wire);
      return;
    case 3:
      wire.damaged("a tensor in segments, which this version does not read");
    case 4:
      return field.appendTo(tensor.floats, wire);
    case 5:
    case 7:
    case 11:
      return field.appendTo(tensor.integers, wire);
    case 6:
      return tensor.strings.push_back(field.message(wire));
    case 8:
      tensor.name = field.text(wire);
      return;
    case 9:
      tensor.raw = field.message(wire);
      return;
    case 10:
      return field.appendTo(tensor.doubles, wire);
    case 13:
      tensor.external.insert(readEntry(wire.inside(field)));
      return;
    case 14:
      tensor.isExternal = field.integer(wire) == 1;
      return;
    default:
      return;
    }
  });
  return tensor;
}

SparseData readSparse(const Wire &from) {
  SparseData sparse;
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 1)
      sparse.values = readTensorData(wire.inside(field));
    else if (field.number == 2)
      sparse.indices = readTensorData(wire.inside(field));
    else if (field.number == 3)
      field.appendTo(sparse.dims, wire);
  });
  return sparse;
}

ValueType readType(const Wire &from) {
  ValueType type;
  auto readDim = [](const Wire &from) {
    ValueType::Dim dim;
    eachField(from, [&](const Field &field, const Wire &wire) {
      if (field.number == 1)
        dim.size = field.integer(wire);
      else if (field.number == 2)
        dim.symbol = field.text(wire);
    });
    return dim;
  };
  auto readInner = [&](const Field &field, const Wire &wire, ValueType::Kind kind) {
    type.kind = kind;
    type.inner = std::make_shared<ValueType>();
    eachField(wire.inside(field), [&](const Field &part, const Wire &inside) {
      if (part.number == 1)
        *type.inner = readType(inside.inside(part));
    });
  };
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      type.kind = ValueType::Kind::Tensor;
      eachField(wire.inside(field), [&](const Field &part, const Wire &inside) {
        if (part.number == 1)
          type.element = part.integer(inside);
        else if (part.number == 2) {
          type.dims.emplace();
          eachField(inside.inside(part), [&](const Field &dim, const Wire &shape) {
            if (dim.number == 1)
              type.dims->push_back(readDim(shape.inside(dim)));
          });
        }
      });
      return;
    case 4:
      return readInner(field, wire, ValueType::Kind::Sequence);
    case 9:
      return readInner(field, wire, ValueType::Kind::Optional);
    case 5:
    case 7:
    case 8:
      type.kind = ValueType::Kind::Other;
      return;
    default:
      return;
    }
  });
  return type;
}

ValueInfo readInfo(const Wire &from) {
  ValueInfo info;
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 1)
      info.name = field.text(wire);
    else if (field.number == 2)
      info.type = readType(wire.inside(field));
  });
  return info;
}

Graph readGraph(const Wire &from);

Attribute readAttribute(const Wire &from) {
  Attribute attribute;
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      attribute.name = field.text(wire);
      return;
    case 2:
      attribute.f = field.number32(wire);
      return;
    case 3:
      attribute.i = field.integer(wire);
      return;
    case 4:
      attribute.s = field.text(wire);
      return;
    case 5:
      attribute.tensor = readTensorData(wire.inside(field));
      return;
    case 6:
      attribute.graph = std::make_shared<Graph>(readGraph(wire.inside(field)));
      return;
    case 7:
      return field.appendTo(attribute.floats, wire);
    case 8:
      return field.appendTo(attribute.ints, wire);
    case 9:
      return attribute.strings.push_back(field.text(wire));
    case 20:
      attribute.type = field.integer(wire);
      return;
    case 21:
      attribute.reference = field.text(wire);
      return;
    case 22:
      attribute.sparse = readSparse(wire.inside(field));
      return;
    default:
      return;
    }
  });
  return attribute;
}

Node readNode(const Wire &from) {
  Node node;
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      return node.inputs.push_back(field.text(wire));
    case 2:
      return node.outputs.push_back(field.text(wire));
    case 3:
      node.name = field.text(wire);
      return;
    case 4:
      node.op = field.text(wire);
      return;
    case 5:
      return node.attributes.push_back(readAttribute(wire.inside(field)));
    case 7:
      node.domain = field.text(wire);
      return;
    case 8:
      node.overload = field.text(wire);
      return;
    default:
      return;
    }
  });
  if (node.domain == "ai.onnx") // the default domain's other name
    node.domain.clear();
  return node;
}

Graph readGraph(const Wire &from) {
  Graph graph;
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      return graph.nodes.push_back(readNode(wire.inside(field)));
    case 2:
      graph.name = field.text(wire);
      return;
    case 5:
      return graph.initializers.push_back(readTensorData(wire.inside(field)));
    case 11:
      return graph.inputs.push_back(readInfo(wire.inside(field)));
    case 12:
      return graph.outputs.push_back(readInfo(wire.inside(field)));
    case 15:
      return graph.sparseInitializers.push_back(readSparse(wire.inside(field)));
    default:
      return;
    }
  });
  return graph;
}

void readOpset(const Wire &from, Opsets &opsets) {
  std::string domain;
  std::int64_t version = 0;
  eachField(from, [&](const Field &field, const Wire &wire) {
    if (field.number == 1)
      domain = field.text(wire);
    else if (field.number == 2)
      version = field.integer(wire);
  });
  opsets[domain == "ai.onnx" ? "" : domain] = version;
}

Function readFunction(const Wire &from) {
  Function function;
  eachField(from, [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      function.name = field.text(wire);
      return;
    case 4:
      return function.inputs.push_back(field.text(wire));
    case 5:
      return function.outputs.push_back(field.text(wire));
    case 6:
      return function.attributes.push_back(field.text(wire));
    case 7:
      return function.nodes.push_back(readNode(wire.inside(field)));
    case 9:
      return readOpset(wire.inside(field), function.opsets);
    case 10:
      function.domain = field.text(wire);
      return;
    case 11:
      return function.defaults.push_back(readAttribute(wire.inside(field)));
    case 13:
      function.overload = field.text(wire);
      return;
    default:
      return;
    }
  });
  return function;
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
  eachField(Wire(bytes, file), [&](const Field &field, const Wire &wire) {
    switch (field.number) {
    case 1:
      model.ir = field.integer(wire);
      return;
    case 2:
      model.producer = field.text(wire);
      return;
    case 3:
      model.producerVersion = field.text(wire);
      return;
    case 6:
      model.doc = field.text(wire);
      return;
    case 7:
      model.graph = readGraph(wire.inside(field));
      return;
    case 8:
      return readOpset(wire.inside(field), model.opsets);
    case 14:
      return model.metadata.push_back(readEntry(wire.inside(field)));
    case 20:
      model.hasTraining = true;
      return;
    case 25:
      return model.functions.push_back(readFunction(wire.inside(field)));
    default:
      return;
    }
  });
  if (!model.graph)
    throw DataError(file + " is no ONNX file, or damaged: it has no graph");
  return model;
}

TensorData readTensor(Bytes bytes, const std::string &file) { return readTensorData(Wire(bytes, file)); }
DataValue readValue(Bytes bytes, const std::string &file, const ValueType &type) {
  return readData(Wire(bytes, file), type);
}

} // namespace calque::onnx
