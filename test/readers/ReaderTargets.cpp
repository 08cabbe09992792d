#include "test/readers/ReaderTargets.h"

#include "calque/checkpoint.h"
#include "calque/layers/registry.h"
#include "calque/onnx.h"
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "calque/saving.h"
#include "calque/stablehlo.h"
#include "calque/training.h"
#include "schema/ProgramBytes.h"
#include "test/interchange/Models.h"
#include "test/readers/ProgramMutator.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace calque::testing {

using namespace std::string_literals;

namespace {

using Errors = ReaderTarget::Errors;
using Maker = ReaderTarget (*)(const TemporaryDirectory &directory);

Tensor floats() { return tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3}); }
Tensor integers() { return tensor<std::int64_t>({7, -8}); }

template <typename Element> void goThrough(const data::Dataset<Element> &dataset) {
  for (const Element &element : dataset)
    (void)element;
}

// What is written into a file.
template <typename Write> std::string written(const TemporaryDirectory &directory, Write write) {
  const std::string path = directory.file("seed.safetensors"); // an ending that none is added to
  write(path);
  std::string bytes = readFile(path);
  std::filesystem::remove(path);
  return bytes;
}

//===-- Saving ----------------------------------------------------------------------------------===//

ReaderTarget safetensors(const TemporaryDirectory &directory) {
  return {[&directory] {
            auto tensors = [](const std::string &path) {
              save_safetensors(path, {{"x", floats()}, {"y", integers()}}, {{"k", "v"}});
            };
            return std::vector{written(directory, tensors),
                               // Without a digest, as others write it.
                               "\xbf\0\0\0\0\0\0\0"s
                               R"({"__metadata__":{"k":"v"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                               R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},)"
                               R"("e":{"dtype":"I64","shape":[0],"data_offsets":[11,11]}})"
                               "\0\0\0\0\0\0\0\0\1\0\1"s};
          },
          [](const std::string &path) {
            load_safetensors(path);
            load_safetensors_metadata(path);
          },
          Errors::OfFile, mutatedTensorFile};
}

std::vector<std::string> functionFiles(const TemporaryDirectory &directory) {
  auto loops = [](const std::string &path) {
    Variable w(floats());
    auto f = function([&](const Tensor &x, const Tensor &n) {
      Tensor y = x * w + tensor<float>({1, 2, 3});
      while (sum(y) < 100)
        y = y * 2;
      w.assign_add(y);
      return std::pair(grad([](const Tensor &z) { return sum(sin(z)); })(y), cast(n, DType::Float64));
    });
    f(floats(), integers());
    save_functions(path, {{"f", f}, {"g", f}});
  };
  auto open = [](const std::string &path) {
    auto f = function([&](const Tensor &x) { return softmax(x, 1); });
    save_functions(path, {{"f", f.get_concrete_function(TensorSpec<float>({kDynamic, 3}))}});
  };
  // A loop variable whose sizes vary, which is all that programs have stacks for.
  auto varying = [](const std::string &path) {
    auto f = function([](const Tensor &x) {
      auto grow = [](const Tensor &y) { return concat({y, y}, 0); };
      return while_loop([](const Tensor &y) { return sum(y) < 100; }, grow, x,
                        {.shape_invariants = {Shape{kDynamic, 3}}});
    });
    save_functions(path, {{"f", f.get_concrete_function(TensorSpec<float>({kDynamic, 3}))}});
  };
  return {written(directory, loops), written(directory, open), written(directory, varying)};
}

ReaderTarget functions(const TemporaryDirectory &directory) {
  return {[&directory] { return functionFiles(directory); }, [](const std::string &path) { load_functions(path); },
          Errors::OfFile, mutatedFunctions};
}

// The programs of such files without what is around them: as many in a second as of files in a minute.
ReaderTarget programs(const TemporaryDirectory &directory) {
  return {[&directory] {
            std::vector<std::string> seeds;
            for (const std::string &file : functionFiles(directory))
              std::ranges::move(programsOf(file), std::back_inserter(seeds));
            return seeds;
          },
          [](const std::string &path) {
            const std::string bytes = readFile(path);
            const schema::ReadProgram read = schema::readProgram(std::as_bytes(std::span(bytes)), keptForTest);
            if (!read.program)
              throw DataError(path + ": " + read.fault);
            lookAt(*read.program);
            // It is saved again, and read.
            runtime::ByteWriter again;
            schema::writeProgram(*read.program, again);
            if (const std::string fault = schema::readProgram(again.bytes, keptForTest).fault; !fault.empty())
              throw std::logic_error("what was read is not read again: " + fault);
          },
          Errors::OfFile, mutatedProgramBytes};
}

// Loads functions, and makes native code of what has been loaded, which is not run: a file may loop.
ReaderTarget compiled(const TemporaryDirectory &directory) {
  ReaderTarget target = functions(directory);
  target.read = [](const std::string &path) {
    const SavedFunctions functions = load_functions(path);
    for (const std::string &name : functions.names())
      for (const std::vector<TensorSpec<>> &specs : functions.argument_specs(name))
        try {
          functions[name].ir("llvm", std::vector<Tensor>(specs.begin(), specs.end()));
        } catch (const Error &) { // what the compiler refuses
        }
  };
  return target;
}

// Loads functions, and traces what has been loaded.
ReaderTarget traces(const TemporaryDirectory &directory) {
  ReaderTarget target = functions(directory);
  target.read = [](const std::string &path) {
    const SavedFunctions functions = load_functions(path);
    for (const std::string &name : functions.names())
      for (const std::vector<TensorSpec<>> &specs : functions.argument_specs(name))
        try {
          functions[name].ir("traced", std::vector<Tensor>(specs.begin(), specs.end()));
        } catch (const DataError &) {
          throw std::logic_error("tracing finds damage");
        } catch (const Error &) { // its operations don't fit what they are given now
        }
  };
  return target;
}

// What a program has, and what it is after a restore that failed.
struct Program {
  Variable x{floats()}, n{integers()};
  std::vector<Variable> list{Variable(1.0f), Variable(2.0f)};
  Tensor tensor = floats();
  std::string text = "text";
  std::int64_t step = 3;
  double rate = 0.5;
  bool flag = true;
  data::Dataset<Tensor> dataset = data::from_tensor_slices(floats()).shuffle(4, {.seed = 1});
  data::Dataset<Tensor>::Iterator iterator = dataset.begin();
  random::Generator generator{1};
  Checkpoint checkpoint{{"x", x},       {"n", n},       {"list", list}, {"tensor", tensor}, {"text", text},
                        {"step", step}, {"rate", rate}, {"flag", flag}, {"data", iterator}, {"generator", generator}};

  std::string state() const {
    std::string all = text + std::to_string(step) + std::to_string(rate) + std::to_string(flag) + iterator.get_state();
    for (const Tensor &each : {x.value(), n.value(), list[0].value(), list[1].value(), generator.state().value()}) {
      const auto bytes = each.bytes();
      all.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    return all;
  }
};

ReaderTarget checkpoint(const TemporaryDirectory &directory) {
  auto program = std::make_shared<Program>();
  return {[&directory, program] {
            return std::vector{
                written(directory, [&](const std::string &path) { program->checkpoint.write(path); }),
                written(directory, [](const std::string &path) { Checkpoint{{"x", Variable(floats())}}.write(path); })};
          },
          [program](const std::string &path) {
            const std::string before = program->state();
            try {
              program->checkpoint.restore(path).expect_partial();
            } catch (const Error &) {
              if (program->state() != before)
                throw std::logic_error("a restore that failed has changed something");
              throw;
            }
          },
          Errors::Known, mutatedTensorFile, "file.safetensors"};
}

std::vector<std::string> modelFiles(const TemporaryDirectory &directory) {
  set_seed(0);
  auto sequential = [](const std::string &path) {
    Sequential model({Input({1}), layers::Dense(1), layers::Dropout(0.5)});
    model.compile({.optimizer = optimizers::SGD(0.1, {.momentum = 0.5}), .loss = "mse", .metrics = {"mae"}});
    model.train_on_batch(ones({2, 1}), ones({2, 1}));
    model.save(path);
  };
  auto images = [](const std::string &path) {
    Sequential model({Input({4, 4, 1}), layers::Conv2D(2, 3), layers::BatchNormalization(), layers::Flatten(),
                      layers::Dense(1, {.activation = "sigmoid"})});
    model.save(path);
  };
  auto graph = [](const std::string &path) {
    const SymbolicTensor x = Input({3});
    const layers::Dense dense(3, {.use_bias = false});
    models::Functional(x, dense(dense(x))).save(path);
  };
  return {written(directory, sequential), written(directory, images), written(directory, graph)};
}

ReaderTarget model(const TemporaryDirectory &directory) {
  return {[&directory] { return modelFiles(directory); }, [](const std::string &path) { load_model(path); },
          Errors::Known, mutatedTensorFile, "file.safetensors"};
}

ReaderTarget weights(const TemporaryDirectory &directory) {
  auto model = std::make_shared<Sequential>(
      Sequential{Input({4, 4, 1}), layers::Conv2D(2, 3), layers::Flatten(), layers::Dense(1)});
  return {[&directory, model] {
            return std::vector{written(directory, [&](const std::string &path) { model->save_weights(path); }),
                               written(directory, [&](const std::string &path) { model->save(path); }),
                               written(directory, [](const std::string &path) {
                                 save_safetensors(
                                     path, {{"conv2d.weight", zeros({2, 1, 3, 3})}, {"dense.weight", zeros({1, 8})}});
                               })};
          },
          [model](const std::string &path) {
            // One of them for each file, as both take twice as long.
            const char *layout = std::filesystem::file_size(path) % 2 ? "keras" : "torch";
            model->load_weights(path, {.skip_mismatch = true, .strict = false, .layout = layout});
          },
          Errors::Known, mutatedTensorFile, "file.safetensors"};
}

// What configs are made into, each of which may refuse them.
ReaderTarget configs(const TemporaryDirectory &) {
  return {[] {
            return std::vector{
                layers::serialize(layers::Conv2D(2, 3)).str(),
                layers::serialize(layers::Bidirectional(layers::LSTM(2))).str(),
                layers::serialize(layers::TimeDistributed(layers::Dense(2, {.kernel_regularizer = "l2"}))).str(),
                optimizers::serialize(optimizers::AdamW(schedules::CosineDecay(0.1, 100), {.amsgrad = true})).str(),
                losses::serialize(losses::Huber()).str(),
                metrics::serialize(metrics::AUC()).str(),
            };
          },
          [](const std::string &path) {
            const std::string text = readFile(path);
            // Models have weights, as many as a config says; those of a file are fewer, and another target's.
            if (text.find("Sequential") != std::string::npos || text.find("Functional") != std::string::npos)
              return;
            const Config config = Config::parse(text);
            auto offer = [](auto make) {
              try {
                make();
              } catch (const MemoryError &) {
                throw;
              } catch (const Error &) {
              }
            };
            offer([&] { layers::deserialize(config); });
            offer([&] { optimizers::deserialize(config); });
            offer([&] { losses::deserialize(config); });
            offer([&] { metrics::deserialize(config); });
            offer([&] { schedules::Schedule::from_config(config); });
            offer([&] { Initializer::from_config(config); });
            offer([&] { Regularizer::from_config(config); });
            offer([&] { Constraint::from_config(config); });
          },
          Errors::Known, mutatedJson};
}

//===-- Data ------------------------------------------------------------------------------------===//

const std::string kText = "a,b,c\n1,\"x \"\"y\"\"\",2.5\n,z,nan\n";

std::string anExample() {
  return data::Example{{{"x", std::vector<float>{1, 2}},
                        {"y", std::vector<std::int64_t>{3, -4}},
                        {"z", std::vector<std::string>{"one", ""}}}}
      .serialize();
}

Tensor anImage() {
  std::vector<std::int32_t> bytes;
  for (int i = 0; i < 9 * 8 * 3; ++i)
    bytes.push_back(i * 5 % 256);
  return tensor(bytes, {9, 8, 3});
}

ReaderTarget idx(const TemporaryDirectory &directory) {
  return {[&directory] {
            const std::string bytes = header(0x802, {2, 3}) + "abcdef";
            return std::vector{bytes, written(directory, [&](const std::string &path) { writeGzip(path, bytes); })};
          },
          [](const std::string &path) { data::read_idx(path); }};
}

ReaderTarget csv(const TemporaryDirectory &) {
  return {[] { return std::vector{kText}; },
          [](const std::string &path) {
            data::read_csv(path);
            goThrough(data::csv_dataset(path, {{"a", DType::Int32, 0}, {"c"}}));
            goThrough(data::csv_rows(path));
          }};
}

ReaderTarget text(const TemporaryDirectory &) {
  return {[] { return std::vector{kText}; }, [](const std::string &path) { goThrough(data::text_line_dataset(path)); }};
}

ReaderTarget tfrecord(const TemporaryDirectory &directory) {
  return {[&directory] {
            return std::vector{written(directory, [](const std::string &path) {
              data::TFRecordWriter writer(path);
              for (const std::string &record : {anExample(), std::string(), kText})
                writer.write(record);
            })};
          },
          [](const std::string &path) { goThrough(data::tfrecord_dataset(path)); }, Errors::OfFile, mutatedRecords};
}

ReaderTarget example(const TemporaryDirectory &) {
  return {[] { return std::vector{anExample()}; },
          [](const std::string &path) { data::Example::parse(readFile(path)); }, Errors::Data};
}

ReaderTarget npy(const TemporaryDirectory &directory) {
  return {[&directory] {
            return std::vector{written(directory, [](const std::string &path) { data::write_npy(path, floats()); })};
          },
          [](const std::string &path) { data::read_npy(path); }};
}

ReaderTarget npz(const TemporaryDirectory &directory) {
  return {[&directory] {
            return std::vector{
                written(directory,
                        [](const std::string &path) { data::write_npz(path, {{"x", floats()}, {"y", integers()}}); }),
                written(directory, [](const std::string &path) {
                  data::write_npz(path, {{"x", floats()}}, {.compressed = true});
                })};
          },
          [](const std::string &path) { data::read_npz(path); }};
}

ReaderTarget png(const TemporaryDirectory &) {
  return {[] { return std::vector{data::encode_png(anImage())}; },
          [](const std::string &path) { data::read_image(path); }, Errors::OfFile, mutatedPng};
}

ReaderTarget jpeg(const TemporaryDirectory &) {
  return {[] { return std::vector{data::encode_jpeg(anImage(), 80)}; },
          [](const std::string &path) { data::read_image(path); }};
}

ReaderTarget cache(const TemporaryDirectory &directory) {
  return {[&directory] {
            return std::vector{written(directory, [](const std::string &path) {
              goThrough(data::from_tensor_slices(floats(), integers()).cache(path));
            })};
          },
          [](const std::string &path) { goThrough(data::from_tensor_slices(floats(), integers()).cache(path)); },
          Errors::Data, mutatedRecords};
}

ReaderTarget cifar(const TemporaryDirectory &) {
  return {[] { return std::vector{std::string(std::size_t(2) * 3073, '\5')}; },
          [](const std::string &path) { data::cifar10("test", std::filesystem::path(path).parent_path()); },
          Errors::OfFile, nullptr, "test_batch.bin"};
}

// Models with what a file may have: constants, branches, functions with attributes, sparse and external tensors.
ReaderTarget onnxModel(const TemporaryDirectory &) {
  return {[] {
            namespace make = onnx;
            const make::Message branch =
                make::graph({.nodes = {make::node("Elu", {"x"}, {"r"}, {make::attribute("alpha", 0.5f)})},
                             .inputs = {},
                             .outputs = {make::port("r", make::kFloat, {2})},
                             .initializers = {make::floats("inner", {2}, {1, 2})}});
            make::Message function;
            function.text(1, "f").text(4, "x").text(5, "y").text(10, "own").message(
                7, make::node("Elu", {"x"}, {"y"}, {make::reference("alpha", "a")}));
            make::Message sparse;
            sparse.message(1, make::floats("s", {1}, {3})).message(2, make::ints("", {1})).integer(3, 2);
            const make::Message graph =
                make::graph({.nodes = {make::node("If", {"c"}, {"y"},
                                                  {make::graphAttribute("then_branch", branch),
                                                   make::graphAttribute("else_branch", branch)}),
                                       make::node("f", {"x"}, {"z"}, {make::attribute("a", 2.0f)}, "call", "own"),
                                       make::node("Constant", {}, {"k"}, {make::attribute("value_ints", {1, 2})})},
                             .inputs = {make::port("x", make::kFloat, {"n"}), make::port("c", make::kBool, {})},
                             .outputs = {make::port("y", make::kFloat, {2}), make::port("z", make::kFloat, {"n"})},
                             .initializers = {make::floats("w", {1, 2}, {1, 2}), make::ints("i", {3, 4})}})
                    .message(15, sparse);
            const make::Message outside = make::graph({.nodes = {make::node("Relu", {"x"}, {"y"})},
                                                       .inputs = {make::port("x", make::kFloat, {2})},
                                                       .outputs = {make::port("y", make::kFloat, {2})},
                                                       .initializers = {make::external("w", {1}, "file", "0", "4")}});
            return std::vector{make::model(graph, 17, {function}, {make::opset("own", 1)}).bytes,
                               make::model(outside).bytes};
          },
          [](const std::string &path) { load_onnx(path); }};
}

// Modules with what a text may have: aliases, attributes of all kinds, constants, regions, and both forms of
// operations.
ReaderTarget stableHlo(const TemporaryDirectory &) {
  return {[] {
            return std::vector<std::string>{R"(#map = dense<[0, 1]> : tensor<2xi64>
module @m attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf32> {jax.arg_info = "x"} loc("x")) -> (tensor<3xf32> {jax.result_info = "y"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(#loc)
    %c:2 = call @pair(%arg0) : (tensor<?x3xf32>) -> (tensor<3xf32>, tensor<i32>)
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.slice %0 [0:3:1] : (tensor<3xf32>) -> tensor<3xf32>
    %2:2 = stablehlo.while(%a = %1, %b = %c#1) : tensor<3xf32>, tensor<i32>
    cond {
      %t = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      stablehlo.return %a, %b : tensor<3xf32>, tensor<i32>
    }
    return %2#0 : tensor<3xf32>
  }
  func.func private @pair(%x: tensor<?x3xf32>) -> (tensor<3xf32>, tensor<i32>) {
    %0 = stablehlo.constant dense<"0x0000803F0000004000004040"> : tensor<3xf32>
    %1 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
    %2 = stablehlo.constant dense_resource<r> : tensor<1xi32>
    %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
    %4 = stablehlo.constant dense<(1.0, -2.5e-1)> : tensor<complex<f32>>
    return %0, %3 : tensor<3xf32>, tensor<i32>
  }
}
{-# dialect_resources: {builtin: {r: "0x0400000007000000"}} #-}
)",
                                            R"("builtin.module"() <{sym_name = "g"}> ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }) {other = array<i64: 1, 2>, more = #stablehlo.gather<offset_dims = [0], index_vector_dim = 1>} : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)"};
          },
          [](const std::string &path) { load_stablehlo(path); }};
}

const std::vector<std::pair<std::string, Maker>> kReaders = {
    {"safetensors", safetensors},
    {"functions", functions},
    {"programs", programs},
    {"traces", traces},
    {"compiled", compiled},
    {"checkpoint", checkpoint},
    {"model", model},
    {"weights", weights},
    {"configs", configs},
    {"idx", idx},
    {"csv", csv},
    {"text", text},
    {"tfrecord", tfrecord},
    {"example", example},
    {"npy", npy},
    {"npz", npz},
    {"png", png},
    {"jpeg", jpeg},
    {"cache", cache},
    {"cifar", cifar},
    {"onnx", onnxModel},
    {"stablehlo", stableHlo},
};

} // namespace

const std::vector<std::string> &readerNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const auto &[name, make] : kReaders)
      made.push_back(name);
    return made;
  }();
  return names;
}

ReaderTarget readerTarget(const std::string &name, const TemporaryDirectory &directory) {
  for (const auto &[known, make] : kReaders)
    if (known == name)
      return make(directory);
  throw std::invalid_argument("there is no reader '" + name + "'");
}

//===-- Running ---------------------------------------------------------------------------------===//

ReaderRun::ReaderRun(const std::string &name) : of(readerTarget(name, directory)), path(directory.file(of.file)) {}

ReaderRun::~ReaderRun() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool ReaderRun::isSound(std::string_view bytes) {
  // The file is written over, unless the reader has put another one there.
  struct stat status{};
  if (descriptor >= 0 && (::fstat(descriptor, &status) || status.st_nlink == 0)) {
    ::close(descriptor);
    descriptor = -1;
  }
  if (descriptor < 0)
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto size = static_cast<off_t>(bytes.size());
  if (descriptor < 0 || ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != size ||
      (status.st_size > size && ::ftruncate(descriptor, size)))
    throw std::runtime_error(path + ": can't be written");
  text.reset();
  try {
    of.read(path);
    return true;
  } catch (const MemoryError &error) {
    text = error.what();
    return false;
  } catch (const DataError &error) {
    text = error.what();
    return of.errors != Errors::OfFile || text->starts_with(path);
  } catch (const Error &error) {
    text = error.what();
    return of.errors == Errors::Known;
  } catch (const std::exception &error) {
    text = error.what();
    return false;
  }
}

void useMemoryForFiles() {
  if (std::filesystem::is_directory("/dev/shm"))
    ::setenv("TMPDIR", "/dev/shm", 0);
}

} // namespace calque::testing
