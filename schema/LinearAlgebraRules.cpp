// The type rules of linear algebra. The last two dimensions are those of a matrix, and those before them count
// matrices.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

namespace calque::schema {

namespace {

// The rows and columns of an operand's matrices.
std::int64_t rowsOf(const TensorType &type) { return type.dims[type.dims.size() - 2]; }
std::int64_t columnsOf(const TensorType &type) { return type.dims.back(); }

// Refuses what is no matrix of floats.
Fault checkMatrices(const OpCall &call) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  for (const TensorType &type : call.operands)
    if (type.rank() < 2)
      return shapeFault(absl::StrCat("takes matrices, which have rank 2 or more, not ", type.str()));
  return {};
}

// Makes the rows and columns of matrices equal, or refuses them.
Fault makeSquare(TensorType &type) {
  std::optional<std::int64_t> size = mergeDims(rowsOf(type), columnsOf(type));
  if (!size)
    return shapeFault(absl::StrCat("takes square matrices, not ", type.str()));
  type.dims[type.dims.size() - 2] = type.dims.back() = *size;
  return {};
}

// Merges the dimensions that count matrices.
Fault mergeBatches(const OpCall &call, Dims &batch) {
  batch.assign(call[0].dims.begin(), call[0].dims.end() - 2);
  for (const TensorType &type : call.operands) {
    bool fits = type.dims.size() == batch.size() + 2;
    for (std::size_t i = 0; fits && i < batch.size(); ++i) {
      std::optional<std::int64_t> size = mergeDims(batch[i], type.dims[i]);
      fits = size.has_value();
      batch[i] = size.value_or(0);
    }
    if (!fits)
      return shapeFault(absl::StrCat("takes as many matrices in each operand, in dimensions of the same sizes, not ",
                                     call[0].str(), " and ", type.str()));
  }
  return {};
}

// The type of a square matrix, or a fault.
Fault squareOf(const OpCall &call, TensorType &matrix) {
  if (Fault fault = checkMatrices(call))
    return fault;
  matrix = call[0];
  return makeSquare(matrix);
}

// The type of what each matrix has these last sizes of.
TensorType withSizes(const TensorType &matrix, std::initializer_list<std::int64_t> sizes) {
  TensorType result{matrix.dtype, {matrix.dims.begin(), matrix.dims.end() - 2}};
  result.dims.insert(result.dims.end(), sizes);
  return result;
}

// The number of rows or of columns, whichever is smaller. Unknown if either is: a known 0 would be the smaller one.
std::int64_t smallerOf(std::int64_t rows, std::int64_t columns) {
  if (rows == 0 || columns == 0)
    return 0;
  return rows == kOpenSize || columns == kOpenSize ? kOpenSize : std::min(rows, columns);
}

} // namespace

Fault squareMatrix(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = squareOf(call, result))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault solution(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  TensorType matrix = call[0], result = call[1];
  if (Fault fault = makeSquare(matrix))
    return fault;
  std::optional<std::int64_t> rows = mergeDims(rowsOf(matrix), rowsOf(result));
  if (!rows)
    return shapeFault(absl::StrCat("the right-hand sides ", call[1].str(), " must have as many rows as the matrices ",
                                   call[0].str()));
  Dims batch;
  if (Fault fault = mergeBatches(call, batch))
    return fault;
  batch.insert(batch.end(), {*rows, columnsOf(result)});
  results.push_back({result.dtype, std::move(batch)});
  return {};
}

Fault luFactors(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  TensorType order = withSizes(matrix, {rowsOf(matrix)});
  order.dtype = DType::Int64;
  results = {std::move(matrix), std::move(order)};
  return {};
}

// The operands are matrices, their factors, the order of rows and right-hand sides, which no user gives apart.
Fault factoredSolution(const OpCall &call, std::vector<TensorType> &results) {
  const TensorType operands[] = {call[0], call[3]};
  if (Fault fault = solution({call.op, operands, {}}, results))
    return fault;
  const TensorType &result = results[0];
  TensorType factors = withSizes(result, {rowsOf(result), rowsOf(result)}), order = withSizes(result, {rowsOf(result)});
  order.dtype = DType::Int64;
  if (!fit(call[1], factors) || !fit(call[2], order) || call[1].dtype != factors.dtype || call[2].dtype != order.dtype)
    return shapeFault(absl::StrCat("the factors ", call[1].str(), " and the order ", call[2].str(),
                                   " are not those of ", call[0].str()));
  return {};
}

Fault matrixScalar(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  results.push_back(withSizes(matrix, {}));
  return {};
}

Fault signAndLogarithm(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = matrixScalar(call, results))
    return fault;
  results.push_back(results[0]);
  return {};
}

Fault eigenvectors(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  results = {withSizes(matrix, {rowsOf(matrix)}), matrix};
  return {};
}

Fault eigenpairs(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  const TensorType values = withSizes(matrix, {rowsOf(matrix)});
  results = {values, values, matrix, matrix};
  return {};
}

Fault schurFactors(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  results = {matrix, matrix};
  return {};
}

Fault sylvesterSolution(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  for (std::size_t i = 1; i < call.operands.size(); ++i)
    if (Fault fault = sameDType(call[0], call[i]))
      return fault;
  TensorType a = call[0], b = call[1];
  if (Fault fault = makeSquare(a))
    return fault;
  if (Fault fault = makeSquare(b))
    return fault;
  const std::optional<std::int64_t> rows = mergeDims(rowsOf(a), rowsOf(call[2])),
                                    columns = mergeDims(rowsOf(b), columnsOf(call[2]));
  if (!rows || !columns)
    return shapeFault(absl::StrCat("C of A X + X B = C has as many rows as A and as many columns as B, unlike ",
                                   call[2].str(), " of ", call[0].str(), " and ", call[1].str()));
  Dims batch;
  if (Fault fault = mergeBatches(call, batch))
    return fault;
  batch.insert(batch.end(), {*rows, *columns});
  results.push_back({a.dtype, std::move(batch)});
  return {};
}

Fault qrFactors(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  const std::int64_t rows = rowsOf(call[0]), columns = columnsOf(call[0]), both = smallerOf(rows, columns);
  results = {withSizes(call[0], {rows, both}), withSizes(call[0], {both, columns})};
  return {};
}

Fault qrCompleteFactors(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  const std::int64_t rows = rowsOf(call[0]);
  results = {withSizes(call[0], {rows, rows}), call[0]};
  return {};
}

Fault svdFactors(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  const std::int64_t rows = rowsOf(call[0]), columns = columnsOf(call[0]), both = smallerOf(rows, columns);
  results = {withSizes(call[0], {rows, both}), withSizes(call[0], {both}), withSizes(call[0], {both, columns})};
  return {};
}

Fault svdFullFactors(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  const std::int64_t rows = rowsOf(call[0]), columns = columnsOf(call[0]);
  results = {withSizes(call[0], {rows, rows}), withSizes(call[0], {smallerOf(rows, columns)}),
             withSizes(call[0], {columns, columns})};
  return {};
}

Fault pseudoInverse(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  results.push_back(withSizes(call[0], {columnsOf(call[0]), rowsOf(call[0])}));
  return {};
}

} // namespace calque::schema
