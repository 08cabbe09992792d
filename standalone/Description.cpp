#include "standalone/Description.h"

#include "schema/Bytes.h"

#include <algorithm>

namespace calque::standalone {

using runtime::ByteReader;
using runtime::ByteWriter;

namespace {

constexpr std::uint32_t kVersion = 3;

// One description of the form for both directions.
struct Writer {
  static constexpr bool reads = false;
  ByteWriter bytes;
  template <std::integral T> void operator()(const T &value) { bytes.number(static_cast<std::uint64_t>(value)); }
  void operator()(const std::string &text) { bytes.text(text); }
  void operator()(const std::vector<std::byte> &block) { bytes.block(block); }
  template <typename T, typename F> void list(const std::vector<T> &values, std::size_t, F &&each) {
    bytes.number<std::uint64_t>(values.size());
    for (const T &value : values)
      each(value);
  }
};
struct Reader {
  static constexpr bool reads = true;
  ByteReader bytes;
  template <std::integral T> void operator()(T &value) { value = static_cast<T>(bytes.number<std::uint64_t>()); }
  void operator()(std::string &text) { text = bytes.text(); }
  void operator()(std::vector<std::byte> &block) {
    std::span<const std::byte> taken = bytes.block();
    block.assign(taken.begin(), taken.end());
  }
  template <typename T, typename F> void list(std::vector<T> &values, std::size_t leastBytes, F &&each) {
    values.resize(bytes.count(leastBytes));
    for (T &value : values)
      each(value);
  }
};

template <typename Form, typename Type> void typeForm(Form &form, Type &type) {
  std::string dtype = Form::reads ? "" : name_of(type.dtype);
  form(dtype);
  if constexpr (Form::reads) {
    auto found = std::ranges::find(kDTypes, dtype, &DTypeInfo::name);
    if (found == std::end(kDTypes))
      form.bytes.known = false;
    else
      type.dtype = found->dtype;
  }
  form.list(type.dims, 8, [&](auto &size) { form(size); });
}

template <typename Form, typename D> void descriptionForm(Form &form, D &description) {
  auto types = [&](auto &list) { form.list(list, 16, [&](auto &type) { typeForm(form, type); }); };
  auto numbers = [&](auto &list) { form.list(list, 8, [&](auto &number) { form(number); }); };
  auto cpu = static_cast<std::uint32_t>(description.cpu);
  form(cpu);
  if constexpr (Form::reads) {
    form.bytes.known &= cpu < std::size(runtime::kCpus);
    description.cpu = static_cast<runtime::Cpu>(cpu);
  }
  form.list(description.functions, 64, [&](auto &function) {
    form(function.name);
    form(function.program);
    numbers(function.kernels);
    form.list(function.lines, 8, [&](auto &line) { form(line); });
    types(function.inputs);
    form.list(function.inputNames, 8, [&](auto &name) { form(name); });
    form(function.numArguments);
    numbers(function.captures);
    numbers(function.variables);
    types(function.results);
  });
  for (auto *values : {&description.captures, &description.variables})
    form.list(*values, 32, [&](auto &value) {
      form(value.name);
      typeForm(form, value.type);
      form(value.bytes);
    });
}

} // namespace

std::vector<std::byte> serialize(const Description &description) {
  Writer writer;
  writer.bytes.number(kVersion);
  descriptionForm(writer, description);
  return std::move(writer.bytes.bytes);
}

std::optional<Description> parseDescription(std::span<const std::byte> bytes) {
  Reader reader{ByteReader(bytes)};
  Description description;
  if (reader.bytes.number<std::uint32_t>() != kVersion)
    return std::nullopt;
  descriptionForm(reader, description);
  if (!reader.bytes.complete || !reader.bytes.known || !reader.bytes.rest.empty())
    return std::nullopt;
  return description;
}

} // namespace calque::standalone
