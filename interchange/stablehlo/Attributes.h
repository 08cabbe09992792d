// Types and attributes of MLIR's text.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_ATTRIBUTES_H
#define CALQUE_INTERCHANGE_STABLEHLO_ATTRIBUTES_H

#include "stablehlo/Module.h"
#include "stablehlo/Scanner.h"

namespace calque::stablehlo {

class AttributeReader {
public:
  AttributeReader(std::string_view text, const std::string &file) : scan(text, file) {}

  Type type();
  // (t, ...) -> t or (t, ...); the results of a type alone are that type.
  void functionType(std::vector<Type> &arguments, std::vector<Type> &results);
  std::vector<Type> typeList();
  Attribute attribute();
  // Appends the entries of a dictionary {a = 1, b}.
  void dictionary(Attributes &into, std::string_view open = "{", std::string_view close = "}");
  // [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  Attribute convolutionDimensions();
  void location();
  // #name = ... and !name = ..., in front of operations and behind.
  void alias();
  // {-# dialect_resources: ... #-}, which may stand behind the constants that name them.
  void findResources(std::string_view text);

  Scanner scan;

protected:
  // A number, and its type behind a colon.
  Attribute number(bool hasType = true);
  int depth_ = 0;

private:
  Attribute elements();
  Attribute named();
  Type tensor();

  std::map<std::string, Attribute, std::less<>> aliases_;
  std::map<std::string, Type, std::less<>> typeAliases_;
  std::map<std::string, std::string, std::less<>> resources_;
};

// The elements that stand between dense< and >: a number, numbers in brackets, or bytes as hexadecimal digits.
Dense readElements(std::string_view text, const Type &type, const Scanner &scan);
// The elements of an array's or a resource's bytes.
Dense elementsOfBytes(std::string_view bytes, const Type &type, const Scanner &scan);
// The number of elements of a type. Refuses more than memory can hold, and open sizes.
std::size_t countOf(const Type &type, const Scanner &scan);

} // namespace calque::stablehlo
#endif
