// Contractions: as MatMul where the dimensions are its own, else as Einsum.
#include "onnx/export/Emit.h"

#include <algorithm>

namespace calque::onnx {

namespace {

// An operand of MatMul: the examples, the dimension that is kept, and that over which products are added.
struct Side {
  Ints batch, contracting, free;
  std::int64_t rank;

  // Whether the examples come first in order, and one dimension is contracted.
  bool isMatrices() const {
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (batch[i] != static_cast<std::int64_t>(i))
        return false;
    return contracting.size() == 1;
  }
};

Side sideOf(Emit &e, std::size_t operand, std::string_view batch, std::string_view contracting) {
  Side side{e.axes(batch, e.rank(operand)), e.axes(contracting, e.rank(operand)), {}, e.rank(operand)};
  for (std::int64_t i = 0; i < side.rank; ++i)
    if (std::ranges::find(side.batch, i) == side.batch.end() &&
        std::ranges::find(side.contracting, i) == side.contracting.end())
      side.free.push_back(i);
  return side;
}

std::string einsum(Emit &e, const Side &lhs, const Side &rhs, const Names &operands) {
  std::string left(static_cast<std::size_t>(lhs.rank), ' '), right(static_cast<std::size_t>(rhs.rank), ' '), result;
  char next = 'a';
  auto at = [](std::string &text, std::int64_t i) -> char & { return text[static_cast<std::size_t>(i)]; };
  for (std::size_t i = 0; i < lhs.batch.size(); ++i)
    result += at(left, lhs.batch[i]) = at(right, rhs.batch[i]) = next++;
  for (std::size_t i = 0; i < lhs.contracting.size(); ++i)
    at(left, lhs.contracting[i]) = at(right, rhs.contracting[i]) = next++;
  for (std::int64_t i : lhs.free)
    result += at(left, i) = next++;
  for (std::int64_t i : rhs.free)
    result += at(right, i) = next++;
  return e.node("Einsum", operands, {attribute("equation", (left + "," + right + "->" + result).c_str())});
}

Names contract(Emit &e) {
  const Side lhs = sideOf(e, 0, "lhs_batch", "lhs_contracting"), rhs = sideOf(e, 1, "rhs_batch", "rhs_contracting");
  const DType result = *e.result().dtype;
  DType taken = result;
  if (result == DType::BFloat16)
    taken = DType::Float32;
  else if (is_integer(result) && size_of(result) < 4)
    taken = DType::Int32;
  std::string x = e.cast(e.in(0), e.dtype(0), taken), y = e.cast(e.in(1), e.dtype(1), taken);
  const std::size_t batch = lhs.batch.size();
  std::string made;
  // A left operand without examples may have several dimensions that are kept: MatMul takes all but the last as such.
  const bool leftFits = lhs.isMatrices() && (lhs.free.size() == 1 || (batch == 0 && rhs.free.size() <= 1));
  const bool rightFits = rhs.isMatrices() && rhs.free.size() <= 1 && (batch == 0 || rhs.free.size() == 1);
  if (leftFits && rightFits) {
    Ints first = lhs.batch, second = rhs.batch;
    first.insert(first.end(), lhs.free.begin(), lhs.free.end());
    first.push_back(lhs.contracting[0]);
    second.push_back(rhs.contracting[0]);
    second.insert(second.end(), rhs.free.begin(), rhs.free.end());
    made = e.node("MatMul", {e.transpose(x, first), e.transpose(y, second)});
  } else {
    made = einsum(e, lhs, rhs, {x, y});
  }
  return {e.cast(made, taken, result)};
}

constexpr Rule kRules[] = {{"contract", contract}};

} // namespace

Rules contractionRules() { return kRules; }

} // namespace calque::onnx
