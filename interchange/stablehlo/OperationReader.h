// Operations and regions of MLIR's text, in the form that all operations have and in those of their own.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_OPERATIONREADER_H
#define CALQUE_INTERCHANGE_STABLEHLO_OPERATIONREADER_H

#include "stablehlo/Attributes.h"

#include <unordered_map>

namespace calque::stablehlo {

class OperationReader : public AttributeReader {
public:
  using AttributeReader::AttributeReader;

protected:
  // Values that names stand for, and how many.
  struct Named {
    int first = 0, count = 1;
  };
  using Names = std::unordered_map<std::string, Named>;

  //===-- Values ------------------------------------------------------------------------------===//
  std::string valueName();
  void requireNew(const std::string &name) const;
  int define(const std::string &name, int count = 1);
  int use();

  //===-- Regions -----------------------------------------------------------------------------===//
  // The arguments of a block: ^bb0(%a: tensor<f32>, ...):
  void block(Region &region);
  void operations(Region &region);
  // A region with the brackets around it. `arguments` are those that stand in front of it.
  Region region(const std::vector<std::pair<std::string, Type>> &arguments = {});

  //===-- Operations --------------------------------------------------------------------------===//
  Operation operation();
  void operandList(Operation &made);
  void generic(Operation &made);
  // Names of attributes in the forms of their own, and what they are called otherwise.
  static std::string attributeName(const std::string &operation, const std::string &name);
  static Attribute listOf(std::vector<std::int64_t> numbers);
  // [0:2, 1:5:2] of a slice, or the [0] of an element of a tuple.
  void places(Operation &made);
  // Operands, attributes by name or by place, and types: the forms of all operations without regions.
  void pretty(Operation &made, int results);
  // (t, t) -> t, or t -> t, or the types of the results alone, or one for operands and results.
  void types(Operation &made, int results);
  void whileLoop(Operation &made);
  void reduce(Operation &made);
  // chlo.scan(%x) inits(%carry) dimension = 0 { ... } : (...) -> (...)
  void scanned(Operation &made);

  int values_ = 0;
  std::vector<Names> names_; // of the function, and of regions inside of each other
};

} // namespace calque::stablehlo
#endif
