#include "program/ProgramFile.h"

#include "schema/Bytes.h"

#include <algorithm>

namespace calque::detail {

using runtime::ByteReader;
using runtime::ByteWriter;

namespace {

constexpr std::string_view kMagic = "calque-program\n";
constexpr std::uint32_t kVersion = 6;

// One description of the form for both directions: `Form` is a Writer or a Reader.
struct Writer {
  static constexpr bool reads = false;
  ByteWriter &bytes;

  template <typename T>
    requires std::integral<T>
  void operator()(const T &value) {
    bytes.number(static_cast<std::uint64_t>(value));
  }
  template <typename T>
    requires std::is_enum_v<T>
  void choice(const T &value, T) {
    bytes.number(static_cast<std::uint8_t>(value));
  }
  void operator()(const std::string &text) { bytes.text(text); }
  void operator()(const std::vector<std::byte> &block) { bytes.block(block); }
  void operator()(const runtime::KernelKey &key) { bytes.raw(key); }
  template <typename T, typename F> void list(const std::vector<T> &values, std::size_t, F &&each) {
    bytes.number<std::uint64_t>(values.size());
    for (const T &value : values)
      each(value);
  }
};

struct Reader {
  static constexpr bool reads = true;
  ByteReader &bytes;

  template <typename T>
    requires std::integral<T>
  void operator()(T &value) {
    value = static_cast<T>(bytes.number<std::uint64_t>());
  }
  template <typename T>
    requires std::is_enum_v<T>
  void choice(T &value, T last) {
    value = bytes.choice(last);
  }
  void operator()(std::string &text) { text = bytes.text(); }
  void operator()(std::vector<std::byte> &block) {
    std::span<const std::byte> taken = bytes.block();
    block.assign(taken.begin(), taken.end());
  }
  void operator()(runtime::KernelKey &key) {
    std::span<const std::byte> taken = bytes.raw(key.size());
    std::copy(taken.begin(), taken.end(), key.begin());
  }
  template <typename T, typename F> void list(std::vector<T> &values, std::size_t leastBytes, F &&each) {
    values.resize(bytes.count(leastBytes));
    for (T &value : values)
      each(value);
  }
};

template <typename Form, typename T> void optional(Form &form, T &value) {
  std::uint64_t given = value ? std::uint64_t(*value) + 1 : 0;
  form(given);
  if constexpr (Form::reads)
    value = given ? std::optional(static_cast<std::uint32_t>(given - 1)) : std::nullopt;
}

template <typename Form, typename Type> void tensorType(Form &form, Type &type) {
  std::string dtype = Form::reads ? "" : name_of(type.dtype);
  form(dtype);
  if constexpr (Form::reads) {
    auto found =
        std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DTypeInfo &each) { return each.name == dtype; });
    if (found == std::end(kDTypes))
      form.bytes.known = false;
    else
      type.dtype = found->dtype;
  }
  form.list(type.dims, 8, [&](auto &size) { form(size); });
}

template <typename Form, typename S> void siteForm(Form &form, S &site) {
  form.choice(site.kind, kSiteKinds[std::size(kSiteKinds) - 1]);
  form(site.operation);
  form(site.text);
  form(site.recorded);
  form(site.callee);
  form.list(site.types, 16, [&](auto &type) { tensorType(form, type); });
  form(site.numInputs);
  form.list(site.examples, 8, [&](auto &count) { form(count); });
  for (auto &size : site.sizes) {
    form(size.argument);
    form(size.operand);
    form(size.dimension);
  }
}

template <typename Form, typename Plan> void planForm(Form &form, Plan &plan) {
  form.list(plan.steps, 32, [&](auto &step) {
    form(step.kernel);
    form(step.numOperands);
    form(step.cycles);
    form(step.follows);
  });
  form.list(plan.operands, 17, [&](auto &operand) {
    form.choice(operand.from, runtime::From::Computed);
    form(operand.index);
    form(operand.offset);
  });
  form.list(plan.rounds, 16, [&](auto &round) {
    form(round.first);
    form(round.count);
  });
  form.list(plan.constants, 8, [&](auto &constant) { form(constant); });
  optional(form, plan.shapes);
  optional(form, plan.numbers);
  form(plan.numSizes);
  form(plan.numComputed);
  form(plan.writesInputs);
  form.list(plan.parts, 64, [&](auto &part) {
    planForm(form, part.plan);
    form(part.workspaceBytes);
    form(part.numOutputSizes);
    form.list(part.inPlace, 8, [&](auto &index) { form(index); });
    form(part.firstSite);
  });
}

template <typename Form, typename Program, typename Kernels>
void programForm(Form &form, Program &program, Kernels &kernels) {
  form.list(kernels, 48, [&](auto &kernel) {
    form(kernel.runtime);
    form(kernel.key);
    form(kernel.image);
  });
  planForm(form, program.plan);
  auto &interface = program.interface;
  form(interface.workspaceBytes);
  for (auto *sizes : {&interface.unknownInputs, &interface.unknownOutputs})
    form.list(*sizes, 16, [&](auto &size) {
      form(size.index);
      form(size.dimension);
    });
  for (auto *indices : {&interface.assigned, &interface.inPlace, &interface.late})
    form.list(*indices, 8, [&](auto &index) { form(index); });
  form.list(interface.sites, 64, [&](auto &site) { siteForm(form, site); });
}

// Whether steps name kernels and operands that are there, and rounds steps.
bool isWhole(const runtime::Plan &plan, std::size_t numKernels) {
  std::uint64_t numOperands = 0;
  for (const runtime::Step &step : plan.steps) {
    numOperands += step.numOperands;
    if (step.kernel >= numKernels)
      return false;
  }
  std::uint64_t behind = 0;
  for (const runtime::Round &round : plan.rounds) {
    if (round.first < behind || round.count == 0)
      return false;
    behind = std::uint64_t(round.first) + round.count;
  }
  if (behind > plan.steps.size())
    return false;
  for (std::optional<std::uint32_t> kernel : {plan.shapes, plan.numbers})
    if (kernel && *kernel >= numKernels)
      return false;
  return numOperands == plan.operands.size() &&
         std::ranges::all_of(plan.parts, [&](const runtime::PlanPart &part) { return isWhole(part.plan, numKernels); });
}

} // namespace

std::vector<std::byte> serialize(const CompiledProgram &program, const std::vector<StoredKernel> &kernels) {
  ByteWriter bytes;
  bytes.raw(std::as_bytes(std::span(kMagic)));
  bytes.number(kVersion);
  Writer writer{bytes};
  programForm(writer, program, kernels);
  return std::move(bytes.bytes);
}

std::optional<StoredProgram> parseProgram(std::span<const std::byte> given) {
  ByteReader bytes(given);
  std::span<const std::byte> magic = bytes.raw(kMagic.size());
  if (!std::equal(magic.begin(), magic.end(), std::as_bytes(std::span(kMagic)).begin(),
                  std::as_bytes(std::span(kMagic)).end()) ||
      bytes.number<std::uint32_t>() != kVersion)
    return std::nullopt;
  StoredProgram stored;
  Reader reader{bytes};
  programForm(reader, stored.program, stored.kernels);
  if (!bytes.complete || !bytes.known || !bytes.rest.empty())
    return std::nullopt;
  if (!isWhole(stored.program.plan, stored.kernels.size()))
    return std::nullopt;
  return stored;
}

} // namespace calque::detail
