// What models are refused, and what is said.
#include "calque/onnx.h"

#include "calque/calque.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"
#include "test/interchange/Models.h"

#include <set>

namespace calque::testing {
namespace {

using namespace onnx;

Message identity(const Message &input) {
  return graph({.nodes = {node("Identity", {"x"}, {"y"})}, .inputs = {input}, .outputs = {port("y", kFloat, {2})}});
}
Message withNodes(const std::vector<Message> &nodes, const std::vector<Message> &initializers = {}) {
  return graph({.nodes = nodes,
                .inputs = {port("x", kFloat, {2})},
                .outputs = {port("y", kFloat, {2})},
                .initializers = initializers});
}

// The error of loading a model, with "FILE" for its path.
template <typename E> std::string loadError(const std::string &bytes, const OnnxOptions &options = {}) {
  const Folder folder;
  const std::string path = folder.write("model.onnx", bytes);
  std::string text = errorOf<E>([&] { load_onnx(path, options); });
  for (std::size_t at; (at = text.find(path)) != std::string::npos;)
    text.replace(at, path.size(), "FILE");
  return text.substr(0, text.find("\n  at"));
}
template <typename E> std::string loadError(const Message &model, const OnnxOptions &options = {}) {
  return loadError<E>(model.bytes, options);
}
// The error of a call.
template <typename E> std::string callError(const Message &made, const std::vector<Tensor> &inputs) {
  const Folder folder;
  const std::string path = folder.write(made);
  const OnnxModel net = load_onnx(path);
  std::string text = errorOf<E>([&] { net(inputs); });
  for (std::size_t at; (at = text.find(path)) != std::string::npos;)
    text.replace(at, path.size(), "FILE");
  return text.substr(0, text.find("\n  at"));
}
const Tensor kX = tensor<float>({1, 2});

TEST(OnnxErrors, FilesThatAreNoModels) {
  EXPECT_CONTAINS(errorOf<DataError>([] { load_onnx("/nowhere/model.onnx"); }),
                  "/nowhere/model.onnx can't be read: No such file or directory");
  EXPECT_CONTAINS(errorOf<DataError>([] { load_onnx("/"); }), "/ can't be read: it is no file");
  EXPECT_EQ(loadError<DataError>(std::string()), "FILE is no ONNX file, or damaged: it has no graph");
  EXPECT_EQ(loadError<DataError>(std::string("\x3a\x7f", 2)),
            "FILE is no ONNX file, or damaged: field 7 has 127 bytes, but 0 are left");
  EXPECT_EQ(loadError<DataError>(std::string("\x08", 1)), "FILE is no ONNX file, or damaged: it ends within a number");
  EXPECT_EQ(loadError<DataError>(std::string("\x0b", 1)), "FILE is no ONNX file, or damaged: a field of kind 3");
  EXPECT_EQ(loadError<DataError>(std::string(11, '\xff')),
            "FILE is no ONNX file, or damaged: a number has more than 64 bits");
  EXPECT_EQ(loadError<DataError>(Message().text(1, "9")),
            "FILE is no ONNX file, or damaged: field 1 is of another kind");
  Message deep = withNodes({});
  for (int i = 0; i < 60; ++i)
    deep = graph(
        {.nodes = {node("If", {"x"}, {"y"}, {graphAttribute("then_branch", deep)})}, .inputs = {}, .outputs = {}});
  EXPECT_EQ(loadError<DataError>(model(deep)),
            "FILE is no ONNX file, or damaged: messages are nested more than 100 deep");
}

TEST(OnnxErrors, VersionsAndTypes) {
  EXPECT_EQ(loadError<DataError>(Message().integer(1, 2).message(7, withNodes({}))),
            "FILE has version 2 of the format; versions from 3 on are read");
  EXPECT_EQ(loadError<DataError>(model(identity(port("x", kFloat, {2})), 99)),
            "FILE has operator set 99; sets up to 27 are read");
  EXPECT_EQ(loadError<DataError>(model(identity(port("x", kFloat, {2}))).message(20, Message())),
            "FILE has training steps in its training_info, which are not read");
  EXPECT_EQ(loadError<DataError>(model(identity(port("x", kString, {2})))),
            "FILE: 'x' has the element type STRING, which Calque does not have");
  EXPECT_EQ(loadError<DataError>(model(identity(Message().text(1, "x").message(2, Message().message(5, Message()))))),
            "FILE: 'x' is a map, a sparse tensor or opaque, which Calque does not have");
}

TEST(OnnxErrors, Nodes) {
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Frob", {"x"}, {"y"}, {}, "odd")}))),
            "FILE: operator 'Frob' of node 'odd' is not known");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Frob", {"x"}, {"y"}, {}, "odd", "own")}))),
            "FILE: Frob 'odd' is of the domain 'own', of which the file names no version");
  EXPECT_EQ(
      loadError<DataError>(model(withNodes({node("Frob", {"x"}, {"y"}, {}, "", "own")}), 17, {}, {opset("own", 1)})),
      "FILE: operator 'Frob' of 'own' of node number 0 is not known");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Gelu", {"x"}, {"y"}, {}, "g")}), 17)),
            "FILE: Gelu 'g' is in operator set 17, and exists from 20 on");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Relu", {"z"}, {"y"}, {}, "r")}))),
            "FILE: Relu 'r' reads 'z', which nothing before it computes");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Constant", {}, {"y"}, {}, "c")}))),
            "FILE: Constant 'c' of FILE: a constant without a value");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Relu", {"x"}, {"z"})}))), "FILE: output 'y' is not computed");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Relu", {"x", "x"}, {"y"}, {}, "r")}))),
            "FILE: Relu 'r' has 2 inputs, expected 1");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Clip", {"x", "x", "x", "x"}, {"y"}, {}, "c")}))),
            "FILE: Clip 'c' has 4 inputs, expected 1 to 3");
  EXPECT_EQ(loadError<DataError>(model(withNodes({node("Elu", {"x"}, {"y"}, {reference("alpha", "a")}, "e")}))),
            "FILE: Elu 'e' has an attribute 'alpha' that refers to one of a function, outside of it");
  Message own;
  own.text(1, "f").text(4, "x").text(5, "y").message(7, node("f", {"x"}, {"y"}, {}, "again", "own")).text(10, "own");
  EXPECT_EQ(
      loadError<DataError>(model(withNodes({node("f", {"x"}, {"y"}, {}, "", "own")}), 17, {own}, {opset("own", 1)})),
      "FILE: function 'f' of 'own' calls itself");
  EXPECT_EQ(loadError<DataError>(
                model(withNodes({node("f", {"x", "x"}, {"y"}, {}, "n", "own")}), 17, {own}, {opset("own", 1)})),
            "FILE: f 'n' of FILE: the function has 1 inputs and 1 outputs, the node 2 and 1");
}

TEST(OnnxErrors, FunctionsThatCallOthersWithoutEnd) {
  // Each of 30 functions calls the one before twice: a file of two kilobytes, and 2^30 nodes.
  std::vector<Message> functions;
  for (int i = 0; i < 30; ++i) {
    const std::string inner = i == 0 ? "Relu" : "f" + std::to_string(i - 1), domain = i == 0 ? "" : "own";
    Message function;
    function.text(1, "f" + std::to_string(i)).text(4, "x").text(5, "y");
    function.message(7, node(inner, {"x"}, {"m"}, {}, "", domain))
        .message(7, node(inner, {"m"}, {"y"}, {}, "", domain));
    functions.push_back(function.text(10, "own"));
  }
  EXPECT_EQ(loadError<DataError>(
                model(withNodes({node("f29", {"x"}, {"y"}, {}, "", "own")}), 17, functions, {opset("own", 1)})),
            "FILE: its functions make more than 100000 nodes");
}

TEST(OnnxErrors, Tensors) {
  auto refused = [](const Message &w) {
    return loadError<DataError>(model(withNodes({node("Add", {"x", "w"}, {"y"})}, {w})));
  };
  EXPECT_EQ(refused(floats("w", {2}, {1, 2, 3})), "FILE: tensor 'w' has 12 bytes, but its shape takes 8");
  EXPECT_EQ(refused(floats("w", {-2}, {})), "FILE: tensor 'w' has a size of -2");
  EXPECT_EQ(refused(floats("w", {1LL << 40, 1LL << 40}, {})),
            "FILE: tensor 'w' has more elements than memory can hold");
  EXPECT_EQ(refused(floats("w", {(1LL << 62) + 1}, {})), "FILE: tensor 'w' has more elements than memory can hold");
  EXPECT_EQ(refused(tensorOf<char>("w", kString, {2}, {})),
            "FILE: tensor 'w' has the element type STRING, which Calque does not have");
  Message typed;
  typed.integer(1, 3).integer(2, kFloat).text(8, "w").number(4, 1.0f);
  EXPECT_EQ(refused(typed), "FILE: tensor 'w' has 1 elements, but its shape takes 3");
  Message segmented;
  segmented.integer(1, 1).integer(2, kFloat).text(8, "w").message(3, Message());
  EXPECT_EQ(refused(segmented),
            "FILE is no ONNX file, or damaged: a tensor in segments, which this version does not read");
  auto sparse = [](const std::vector<std::int64_t> &indices, std::vector<std::int64_t> dims) {
    Message message;
    message.message(1, floats("w", {2}, {1, 2})).message(2, ints("", indices));
    for (std::int64_t each : dims)
      message.integer(3, each);
    return loadError<DataError>(model(withNodes({node("Relu", {"x"}, {"y"})}).message(15, message)));
  };
  EXPECT_EQ(sparse({1}, {4}), "FILE: tensor 'w' is sparse, and its indices don't fit its values");
  EXPECT_EQ(sparse({1, 2}, {1LL << 40}), "FILE: tensor 'w' is sparse, with more than 2^24 elements");
}

TEST(OnnxErrors, Options) {
  const Message made = model(identity(port("x", kFloat, {"n"})));
  EXPECT_EQ(loadError<ValueError>(made, {.sizes = {{"m", 2}}}), "FILE has no size 'm'");
  EXPECT_EQ(loadError<ValueError>(made, {.sizes = {{"n", -2}}}), "the size 'n' of FILE is given as -2");
  EXPECT_EQ(loadError<ValueError>(made, {.constants = {{"z", kX}}}), "FILE has no input 'z'");
}

TEST(OnnxErrors, Calls) {
  const Message made = model(identity(port("x", kFloat, {2})));
  EXPECT_EQ(callError<SignatureError>(made, {}), "FILE has 1 inputs; 0 were given");
  EXPECT_EQ(callError<SignatureError>(made, {tensor<float>({1, 2, 3})}),
            "input 'x' of FILE is float32[2]; float32[3] was given");
  EXPECT_EQ(callError<SignatureError>(made, {tensor<double>({1, 2})}),
            "input 'x' of FILE is float32[2]; float64[2] was given");
  EXPECT_CONTAINS(errorOf<StateError>([] { OnnxModel()(kX); }), "an empty OnnxModel: load_onnx() makes one");
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(made));
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { net.call({}); }), "input 'x' of ");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { net.call({}); }), " was not given");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { net.call({{"x", kX}, {"z", kX}}); }), " has no input 'z'");
  const OnnxModel two =
      load_onnx(folder.write(model(graph({.nodes = {node("Identity", {"x"}, {"y"}), node("Neg", {"x"}, {"z"})},
                                          .inputs = {port("x", kFloat, {2})},
                                          .outputs = {port("y", kFloat, {2}), port("z", kFloat, {2})}}))));
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { two(kX); }),
                  " has 1 inputs and 2 outputs: give and take them as a list");
}

TEST(OnnxErrors, Sequences) {
  const Folder folder;
  const Message sequence = Message().text(1, "y").message(
      2, Message().message(4, Message().message(1, Message().message(1, Message().integer(1, kFloat)))));
  const OnnxModel net = load_onnx(folder.write(model(graph({.nodes = {node("SequenceConstruct", {"x", "x"}, {"y"})},
                                                            .inputs = {port("x", kFloat, {2})},
                                                            .outputs = {sequence}}))));
  EXPECT_EQ(net.run({kX})[0].sequence->size(), 2u);
  EXPECT_CONTAINS(errorOf<StateError>([&] { net(std::vector<Tensor>{kX}); }),
                  "has an output that is no tensor: run() gives it");
  EXPECT_CONTAINS(errorOf<StateError>([&] { net.function(); }),
                  "has sequences or optional values among its inputs or outputs, which a function can't take");
}

TEST(OnnxErrors, Operators) {
  auto refused = [](const Message &each) { return callError<ValueError>(model(withNodes({each})), {kX}); };
  EXPECT_EQ(refused(node("Relu", {"x"}, {"y"}, {attribute("slope", 1)}, "r")),
            "Relu 'r' of FILE: attribute 'slope' is not known in operator set 17");
  EXPECT_EQ(refused(node("Elu", {"x"}, {"y"}, {attribute("alpha", 1)}, "e")),
            "Elu 'e' of FILE: attribute 'alpha' is of kind 2, expected 1");
  EXPECT_EQ(refused(node("Concat", {"x"}, {"y"}, {}, "c")), "Concat 'c' of FILE: attribute 'axis' is missing");
  EXPECT_EQ(refused(node("Add", {"x", ""}, {"y"}, {}, "a")), "Add 'a' of FILE: input 1 is missing");
  EXPECT_EQ(refused(node("Softmax", {"x"}, {"y"}, {attribute("axis", 3)}, "s")),
            "Softmax 's' of FILE: axis 3 is out of range for a tensor of rank 1");
  EXPECT_EQ(refused(node("Cast", {"x"}, {"y"}, {attribute("to", 17)}, "c")),
            "Cast 'c' of FILE: Calque does not have the element type FLOAT8E4M3FN");
  EXPECT_EQ(refused(node("Relu", {"x"}, {"y", "z"}, {}, "r")), "Relu 'r' of FILE: output 1 'z' is not supported");
  // An error of an operation has the node in place of the operation's name.
  EXPECT_CONTAINS(
      callError<ShapeError>(
          model(withNodes({node("Add", {"x", "w"}, {"y"}, {}, "sum")}, {floats("w", {3}, {1, 2, 3})})), {kX}),
      "Add 'sum' of FILE: the shapes [2] and [3] don't broadcast");
}

TEST(OnnxErrors, CompiledCodeNamesTheNode) {
  const Folder folder;
  const std::string path = folder.write(model(graph({.nodes = {node("Gather", {"w", "i"}, {"y"}, {}, "rows")},
                                                     .inputs = {port("i", kInt64, {1})},
                                                     .outputs = {port("y", kFloat, {1})},
                                                     .initializers = {floats("w", {2}, {1, 2})}})));
  const auto f = load_onnx(path).function();
  expectValues(f({tensor<std::int64_t>({-1})})[0], {2});
  EXPECT_CONTAINS(errorOf<IndexError>([&] { f({tensor<std::int64_t>({7})}); }), "Gather 'rows' of " + path);
}

TEST(OnnxErrors, AShapeThatIsComputedCantBeCompiled) {
  const Folder folder;
  const std::string path = folder.write(model(graph({.nodes = {node("Reshape", {"x", "s"}, {"y"}, {}, "r")},
                                                     .inputs = {port("x", kFloat, {2}), port("s", kInt64, {2})},
                                                     .outputs = {port("y", kFloat, {"a", "b"})}})));
  const OnnxModel net = load_onnx(path);
  EXPECT_EQ(net.known_inputs(), std::vector<std::string>{"s"});
  const Tensor shape = tensor<std::int64_t>({2, 1});
  EXPECT_EQ(net({kX, shape})[0].shape(), (Shape{2, 1}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { net.function()({kX, shape}); }),
                  "input 1 's' must be known while the model is traced: give it as a constant");
  EXPECT_EQ(load_onnx(path, {.constants = {{"s", shape}}}).function()({kX})[0].shape(), (Shape{2, 1}));
}

// Whatever a file holds, reading it ends, with a model or an error of Calque's.
TEST(OnnxErrors, DamagedFilesAreRefused) {
  const Folder folder;
  const std::string whole =
      model(graph({.nodes = {node("MatMul", {"x", "w"}, {"p"}, {}, "product"), node("Clip", {"p", "low"}, {"y"}),
                             node("Constant", {}, {"c"}, {tensorAttribute("value", floats("", {2}, {1, 2}))})},
                   .inputs = {port("x", kFloat, {"n", 2})},
                   .outputs = {port("y", kFloat, {"n", 2})},
                   .initializers = {floats("w", {2, 2}, {1, 2, 3, 4}), floats("low", {}, {0})}}))
          .bytes;
  std::set<std::string> given;
  auto read = [&](const std::string &bytes) {
    const std::string path = folder.write("model.onnx", bytes);
    try {
      load_onnx(path);
      given.insert("a model");
    } catch (const DataError &error) {
      given.insert(std::string(error.what()).substr(path.size()));
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 3)
    read(whole.substr(0, size));
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 1 + i % 4; ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    read(bytes);
  }
  EXPECT_TRUE(given.contains("a model"));
  EXPECT_GT(given.size(), 15u);
}

} // namespace
} // namespace calque::testing
