// The messages of ONNX: the numbers of their fields in the format's published schema, for the reader and the writer.
//
// describe() names each field of a message to a visitor. A field that the visitor writes may have a condition: a number
// 0 is written where it says something.
#ifndef CALQUE_INTERCHANGE_ONNX_MESSAGES_H
#define CALQUE_INTERCHANGE_ONNX_MESSAGES_H

#include "onnx/Model.h"

namespace calque::onnx {

template <typename V> void describe(V &v, std::pair<std::string, std::string> &entry) {
  v.field(1, entry.first);
  v.field(2, entry.second);
}

template <typename V> void describe(V &v, TensorData &tensor) {
  v.field(1, tensor.dims);
  v.field(2, tensor.type);
  v.refuse(3, "a tensor in segments, which this version does not read");
  v.field(4, tensor.floats);
  for (std::uint64_t number : {5, 7, 11}) // by element type
    v.field(number, tensor.integers, number == 7);
  v.field(6, tensor.strings);
  v.field(8, tensor.name);
  v.field(9, tensor.raw);
  v.field(10, tensor.doubles);
  v.field(13, tensor.external);
  v.field(14, tensor.isExternal);
}

template <typename V> void describe(V &v, SparseData &sparse) {
  v.field(1, sparse.values);
  v.field(2, sparse.indices);
  v.field(3, sparse.dims);
}

template <typename V> void describe(V &v, ValueType::Dim &dim) {
  v.field(1, dim.size);
  v.field(2, dim.symbol);
}

template <typename V> void describe(V &v, ValueType &type) {
  using Kind = ValueType::Kind;
  v.choice(1, type.kind, Kind::Tensor, [&](auto &tensor) {
    tensor.field(1, type.element);
    tensor.inside(2, type.dims, [&](auto &shape) { shape.field(1, *type.dims); });
  });
  for (const auto &[number, kind] : {std::pair(4, Kind::Sequence), std::pair(9, Kind::Optional)})
    v.choice(number, type.kind, kind, [&](auto &inner) { inner.field(1, type.inner); });
  for (std::uint64_t number : {5, 7, 8}) // maps, sparse tensors, opaque values
    v.choice(number, type.kind, Kind::Other, [](auto &) {});
}

template <typename V> void describe(V &v, ValueInfo &info) {
  v.field(1, info.name);
  v.field(2, info.type, info.type.kind != ValueType::Kind::Unknown);
}

template <typename V> void describe(V &v, Attribute &attribute) {
  const auto type = static_cast<Attribute::Type>(attribute.type);
  v.field(1, attribute.name);
  v.field(2, attribute.f, type == Attribute::Float);
  v.field(3, attribute.i, type == Attribute::Int);
  v.field(4, attribute.s, type == Attribute::String);
  v.field(5, attribute.tensor);
  v.field(6, attribute.graph);
  v.field(7, attribute.floats);
  v.field(8, attribute.ints);
  v.field(9, attribute.strings);
  v.field(20, attribute.type);
  v.field(21, attribute.reference);
  v.field(22, attribute.sparse);
}

template <typename V> void describe(V &v, Node &node) {
  v.field(1, node.inputs);
  v.field(2, node.outputs);
  v.field(3, node.name);
  v.field(4, node.op);
  v.field(5, node.attributes);
  v.note(6, node.doc);
  v.field(7, node.domain);
  v.field(8, node.overload);
}

template <typename V> void describe(V &v, Graph &graph) {
  v.field(1, graph.nodes);
  v.field(2, graph.name);
  v.field(5, graph.initializers);
  v.field(11, graph.inputs);
  v.field(12, graph.outputs);
  v.field(15, graph.sparseInitializers);
}

template <typename V> void describe(V &v, std::pair<std::string, std::int64_t> &opset) {
  v.field(1, opset.first);
  v.field(2, opset.second);
}

template <typename V> void describe(V &v, Function &function) {
  v.field(1, function.name);
  v.field(4, function.inputs);
  v.field(5, function.outputs);
  v.field(6, function.attributes);
  v.field(7, function.nodes);
  v.field(9, function.opsets);
  v.field(10, function.domain);
  v.field(11, function.defaults);
  v.field(13, function.overload);
}

template <typename V> void describe(V &v, ModelFile &model) {
  v.field(1, model.ir);
  v.field(2, model.producer);
  v.field(3, model.producerVersion);
  v.field(6, model.doc);
  v.field(7, model.graph);
  v.field(8, model.opsets);
  v.field(14, model.metadata);
  v.present(20, model.hasTraining);
  v.field(25, model.functions);
}

} // namespace calque::onnx
#endif
