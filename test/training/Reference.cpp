#include "Reference.h"

namespace calque::testing {

namespace {
struct Line {
  const char *name, *dtype, *what;
  std::vector<double> numbers;
};
const std::vector<Line> &lines() {
  static const std::vector<Line> all = {
#include "reference/KerasReference.h.inc"
  };
  return all;
}
} // namespace

const std::vector<double> &reference(const std::string &name, const std::string &dtype, const std::string &what) {
  for (const Line &line : lines())
    if (line.name == name && line.dtype == dtype && line.what == what)
      return line.numbers;
  ADD_FAILURE() << "there are no numbers of " << name << ", " << dtype << ", " << what;
  static const std::vector<double> none;
  return none;
}

Tensor referenceInput(const std::string &name, DType dtype) {
  const std::vector<double> &numbers = reference("inputs", "", name);
  bool isVector = numbers.size() == 5;
  return makeTensor(name == "labels" || name == "predicted" ? DType::Int32 : dtype, numbers,
                    isVector ? Shape{5} : Shape{5, 3});
}

std::vector<std::string> referenceNames(const std::string &prefix) {
  std::vector<std::string> names;
  for (const Line &line : lines())
    if (std::string(line.name).rfind(prefix, 0) == 0 && (names.empty() || names.back() != line.name))
      names.emplace_back(line.name);
  return names;
}

} // namespace calque::testing
