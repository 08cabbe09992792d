// A module of StableHLO as plain data. Values have numbers within their function.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_MODULE_H
#define CALQUE_INTERCHANGE_STABLEHLO_MODULE_H

#include "calque/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calque::stablehlo {

struct Type {
  enum class Kind : std::uint8_t { Tensor, Tuple, Token, Other };

  Kind kind = Kind::Other;
  std::string element;            // of a tensor, as the text has it: "f32"; of another type, its text
  std::optional<DType> dtype;     // nothing for element types that Calque lacks
  std::vector<std::int64_t> dims; // kOpen is a size that the text does not say
  std::vector<Type> parts;        // of a tuple

  static constexpr std::int64_t kOpen = -1;
  bool isTensor() const { return kind == Kind::Tensor; }
  // "tensor<2x?xf32>"
  std::string str() const;
  // The sizes; open ones are kDynamic.
  Shape shape() const;
};

// The elements of a constant. One that stands for all is kept alone.
struct Dense {
  Type type;
  Tensor elements; // of the type's shape, or a scalar
  bool isSplat = false;
};

struct Attribute {
  enum class Kind : std::uint8_t { Unit, Bool, Integer, Float, Text, Word, Symbol, List, Dictionary, Elements, Types };

  Kind kind = Kind::Unit;
  std::int64_t integer = 0; // also of a Bool
  double number = 0;
  std::string text; // of a Text and a Symbol; the name of a Word, such as LT, and of attributes that are not read
  std::vector<Attribute> list;
  std::map<std::string, Attribute, std::less<>> dictionary;
  std::shared_ptr<const Dense> dense;
  std::vector<Type> types; // of a type, one; of that of a function, its arguments and `integer` results
};
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Operation;
struct Function;
struct Operator;

// A block of operations, the last of which returns.
struct Region {
  std::vector<int> arguments;
  std::vector<Type> types;
  std::vector<Operation> operations;
};

struct Operation {
  std::string name; // "stablehlo.add"
  int line = 0;
  const char *label = nullptr; // "stablehlo.add in line 12 of model.mlir", as long as the process
  std::vector<int> operands;
  std::vector<int> results;
  std::vector<Type> types;        // of the results
  std::vector<Type> operandTypes; // if the text says them
  Attributes attributes;
  std::vector<Region> regions;
  std::vector<int> dead; // values that nothing reads after this operation

  const Operator *operation = nullptr;
  const Function *callee = nullptr; // of a call

  const Attribute *find(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
};

struct Function {
  std::string name;
  int line = 0;
  bool isPublic = true;
  bool hasBody = false;
  std::vector<std::string> argumentNames, resultNames; // by their jax.arg_info and jax.result_info, or empty
  std::vector<Type> results;
  Region body;
  int values = 0;
};

struct Module {
  std::string name;
  std::vector<std::unique_ptr<Function>> functions;

  const Function *find(std::string_view name) const {
    for (const auto &each : functions)
      if (each->name == name)
        return each.get();
    return nullptr;
  }
};

// The same text, as long as the process lives: names in errors of compiled code do.
const char *internedLabel(const std::string &label);

// Reads text. DataError with `file` and the line for what is no StableHLO, and for types, attributes and forms that are
// not read.
Module readModule(std::string_view text, const std::string &file);

} // namespace calque::stablehlo
#endif
