// Recordings made by hand, compiled by the compiler's library and called as an ahead-of-time program calls them:
// through runtime/abi.h alone.
#ifndef CALQUE_TEST_CODEGEN_RECORDINGS_H
#define CALQUE_TEST_CODEGEN_RECORDINGS_H

#include "program/Compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

extern "C" calque::Compiler *calque_compiler(int version, const calque::runtime::RuntimeFunction *functions);

namespace calque::testing {

using schema::Attribute;
using schema::OpId;
using schema::TensorType;
using schema::ValueId;
using Ints = std::vector<std::int64_t>;

// Appends operations whose types the records infer. Each has a line of its own, from 1 on, in "sizes.cpp".
struct Recorder {
  ValueId parameter(const TensorType &type) { return recording.addParameter(type); }
  std::vector<ValueId> many(OpId op, const std::vector<ValueId> &operands,
                            const std::vector<Attribute> &attributes = {}) {
    std::vector<TensorType> types;
    for (ValueId operand : operands)
      types.push_back(recording.typeOf(operand));
    schema::Inference inferred = schema::inferTypes(op, types, attributes);
    EXPECT_EQ(inferred.fault.message, "") << schema::schemaOf(op).mnemonic;
    ValueId first = recording.append(op, operands, attributes, inferred.types, {"sizes.cpp", ++line, 1});
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < inferred.types.size(); ++i)
      results.push_back(first + static_cast<ValueId>(i));
    return results;
  }
  ValueId operator()(OpId op, const std::vector<ValueId> &operands, const std::vector<Attribute> &attributes = {}) {
    return many(op, operands, attributes).at(0);
  }
  // One value at every element of a shape.
  ValueId constant(double value, DType dtype = DType::Float32, schema::Dims shape = {}) {
    auto data = std::make_shared<schema::ConstantData>();
    data->splat = !shape.empty();
    data->type = {dtype, std::move(shape)};
    data->bytes.resize(size_of(dtype));
    auto put = [&](auto element) { std::memcpy(data->bytes.data(), &element, sizeof(element)); };
    dtype == DType::Float32   ? put(static_cast<float>(value))
    : dtype == DType::Float64 ? put(value)
    : dtype == DType::Int32   ? put(static_cast<std::int32_t>(value))
                              : put(static_cast<std::int64_t>(value));
    return (*this)(OpId::Constant, {}, {schema::ConstantRef(data)});
  }
  // d(sum of target * weights) / d(sources), where the weights are all `seed`.
  std::vector<ValueId> gradient(ValueId target, const std::vector<ValueId> &sources, double seed = 1) {
    ValueId seeds = (*this)(OpId::BroadcastLike, {constant(seed, recording.typeOf(target).dtype), target});
    std::vector<ValueId> operands{target, seeds};
    operands.insert(operands.end(), sources.begin(), sources.end());
    return many(OpId::Gradient, operands, {Ints{1, static_cast<std::int64_t>(sources.size()), 0}});
  }
  schema::Recording recording;
  std::uint32_t line = 0;
};

// A tensor of the tests' own, in memory as aligned as Calque's.
struct Array {
  TensorType type;
  std::shared_ptr<void> memory;

  // Without memory for its elements, where nothing will read them.
  explicit Array(const TensorType &type, bool hasElements = true) : type(type) {
    std::size_t bytes = hasElements ? (type.numBytes() + 63) / 64 * 64 + 64 : 64;
    memory.reset(std::aligned_alloc(64, bytes), std::free);
    std::memset(memory.get(), hasElements ? 0xA5 : 0, bytes);
  }
  std::size_t size() const { return static_cast<std::size_t>(type.numElements()); }
  double at(std::size_t i) const {
    const void *data = memory.get();
    return dispatch(type.dtype, [&]<typename T>(std::type_identity<T>) {
      using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      return static_cast<double>(static_cast<const Stored *>(data)[i]);
    });
  }
  void set(std::size_t i, double value) {
    void *data = memory.get();
    dispatch(type.dtype, [&]<typename T>(std::type_identity<T>) { static_cast<T *>(data)[i] = static_cast<T>(value); });
  }
  bool sameBits(const Array &other) const {
    return type == other.type && std::memcmp(memory.get(), other.memory.get(), type.numBytes()) == 0;
  }
};

struct Outcome {
  std::vector<Array> results;
  std::shared_ptr<const Executable> executable;
  const Site *failed = nullptr; // of the executable
  std::int64_t values[2] = {0, 0};
};

struct Native {
  explicit Native(const schema::Recording &recording) {
    static runtime::KernelCache kernels;
    CompileResult compiled =
        calque_compiler(kCompilerInterfaceVersion, calque_rt_functions())->compile(recording, kernels);
    EXPECT_EQ(compiled.error, "");
    if (compiled.program)
      executable = std::make_shared<const Executable>(*std::move(compiled.program));
    for (ValueId result : recording.results)
      types.push_back(recording.typeOf(result));
  }
  Outcome operator()(const std::vector<Array> &arguments) const {
    Outcome outcome;
    outcome.executable = executable;
    std::vector<void *> inputs, outputs;
    std::vector<std::int64_t> inputSizes, outputSizes(executable->unknownOutputs.size());
    for (const Array &argument : arguments)
      inputs.push_back(argument.memory.get());
    for (const UnknownSize &unknown : executable->unknownInputs)
      inputSizes.push_back(arguments[unknown.index].type.dims[unknown.dimension]);
    CalqueCallFrame frame = {};
    frame.version = CALQUE_ABI_VERSION;
    frame.size = sizeof(frame);
    frame.inputs = inputs.data();
    frame.input_sizes = inputSizes.data();
    frame.output_sizes = outputSizes.data();
    auto fail = [&] {
      outcome.failed = &executable->sites.at(static_cast<std::size_t>(frame.error.site));
      outcome.values[0] = frame.error.values[0];
      outcome.values[1] = frame.error.values[1];
      return outcome;
    };
    if (executable->plan.hasShapes() && executable->plan.computeShapes(frame))
      return fail();
    std::vector<TensorType> actual = types;
    for (std::size_t i = 0; i < outputSizes.size(); ++i)
      actual[executable->unknownOutputs[i].index].dims[executable->unknownOutputs[i].dimension] = outputSizes[i];
    for (const TensorType &type : actual) {
      outcome.results.emplace_back(type);
      outputs.push_back(outcome.results.back().memory.get());
    }
    std::size_t bytes =
        executable->plan.hasShapes() ? static_cast<std::size_t>(frame.workspace_bytes) : executable->workspaceBytes;
    Array workspace(TensorType{DType::Bool, {static_cast<std::int64_t>(bytes)}});
    frame.outputs = outputs.data();
    frame.workspace = workspace.memory.get();
    return executable->plan.run(frame) ? fail() : outcome;
  }
  std::shared_ptr<const Executable> executable;
  std::vector<TensorType> types;
};

} // namespace calque::testing
#endif
