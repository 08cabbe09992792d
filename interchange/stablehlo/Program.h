// A module that is loaded: its operations found and checked, and how they run.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_PROGRAM_H
#define CALQUE_INTERCHANGE_STABLEHLO_PROGRAM_H

#include "stablehlo/Operators.h"

#include <string>
#include <vector>

namespace calque::stablehlo {

class Program {
public:
  // DataError for operations and types that Calque does not have.
  Program(Module module, std::string file);

  std::vector<Value> run(const Function &function, std::vector<Value> arguments, const SourceLocation &where) const;

  const Module module;
  const std::string file;

private:
  struct Frame {
    std::vector<Value> values;
    int depth = 0;
  };
  std::vector<Value> runFunction(const Function &function, std::vector<Value> arguments, bool isLifted, int depth,
                                 const SourceLocation &where) const;
  std::vector<Value> runRegion(const Region &region, std::vector<Value> arguments, Frame &frame, bool isLifted,
                               const SourceLocation &where) const;
  Results runOperation(const Operation &operation, Frame &frame, bool isLifted, const SourceLocation &where) const;
  void check(const Operation &operation, const Results &results, const SourceLocation &where) const;
};

} // namespace calque::stablehlo
#endif
