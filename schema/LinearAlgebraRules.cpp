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

// The type of real numbers that are made of complex ones; another type itself.
TensorType ofParts(TensorType type) {
  type.dtype = real_of(type.dtype);
  return type;
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
  results.push_back(ofParts(results[0]));
  return {};
}

Fault eigenvectors(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  results = {ofParts(withSizes(matrix, {rowsOf(matrix)})), matrix};
  return {};
}

Fault eigenpairs(const OpCall &call, std::vector<TensorType> &results) {
  TensorType matrix;
  if (Fault fault = squareOf(call, matrix))
    return fault;
  const TensorType values = ofParts(withSizes(matrix, {rowsOf(matrix)})), vectors = ofParts(matrix);
  results = {values, values, vectors, vectors};
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
  results = {withSizes(call[0], {rows, both}), ofParts(withSizes(call[0], {both})),
             withSizes(call[0], {both, columns})};
  return {};
}

Fault svdFullFactors(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  const std::int64_t rows = rowsOf(call[0]), columns = columnsOf(call[0]);
  results = {withSizes(call[0], {rows, rows}), ofParts(withSizes(call[0], {smallerOf(rows, columns)})),
             withSizes(call[0], {columns, columns})};
  return {};
}

Fault pseudoInverse(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  results.push_back(withSizes(call[0], {columnsOf(call[0]), rowsOf(call[0])}));
  return {};
}

//===-- Parts of complex matrices ---------------------------------------------------------------===//

namespace {

// The rule of complex matrices, two operands for each, and two results for each result that is complex.
template <Fault (*rule)(const OpCall &, std::vector<TensorType> &)>
Fault onParts(const OpCall &call, std::vector<TensorType> &results) {
  std::vector<TensorType> operands, found;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const TensorType &re = call[i];
    if (re.dtype == DType::Int64) { // an order of rows
      operands.push_back(re);
      continue;
    }
    if (!is_floating(re.dtype) || is_half(re.dtype))
      return dtypeFault(absl::StrCat("takes float32 or float64, not ", re.str()));
    if (++i == call.operands.size())
      return shapeFault(absl::StrCat("there is no imaginary part for ", re.str()));
    const TensorType &im = call[i];
    if (Fault fault = sameDType(re, im))
      return fault;
    if (re.rank() != im.rank() || !fit(re, im))
      return shapeFault(
          absl::StrCat("the parts have the shapes ", shapeString(re.dims), " and ", shapeString(im.dims)));
    TensorType whole = re;
    for (std::size_t at = 0; at < whole.dims.size(); ++at)
      whole.dims[at] = *mergeDims(re.dims[at], im.dims[at]);
    whole.dtype = promote(whole.dtype, DType::Complex64);
    operands.push_back(std::move(whole));
  }
  if (Fault fault = rule({call.op, operands, call.attributes}, found))
    return fault;
  for (TensorType &type : found) {
    const bool isComplex = is_complex(type.dtype);
    results.push_back(ofParts(std::move(type)));
    if (isComplex)
      results.push_back(TensorType(results.back()));
  }
  return {};
}

} // namespace

Fault squareMatrixOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<squareMatrix>(call, results);
}
Fault solutionOfParts(const OpCall &call, std::vector<TensorType> &results) { return onParts<solution>(call, results); }
Fault luFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<luFactors>(call, results);
}
Fault factoredSolutionOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<factoredSolution>(call, results);
}
Fault matrixScalarOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<matrixScalar>(call, results);
}
Fault signAndLogarithmOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<signAndLogarithm>(call, results);
}
Fault qrFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<qrFactors>(call, results);
}
Fault qrCompleteFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<qrCompleteFactors>(call, results);
}
Fault eigenvectorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<eigenvectors>(call, results);
}
Fault svdFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<svdFactors>(call, results);
}
Fault svdFullFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<svdFullFactors>(call, results);
}
Fault pseudoInverseOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<pseudoInverse>(call, results);
}
Fault eigenpairsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<eigenpairs>(call, results);
}
Fault schurFactorsOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<schurFactors>(call, results);
}
Fault sylvesterSolutionOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<sylvesterSolution>(call, results);
}
Fault bandedSolutionOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<bandedSolution>(call, results);
}
Fault positiveBandedSolutionOfParts(const OpCall &call, std::vector<TensorType> &results) {
  return onParts<positiveBandedSolution>(call, results);
}

//===-- Bands -----------------------------------------------------------------------------------===//

namespace {

// The numbers of diagonals below and above, and how many a band of them has.
Fault checkBand(const OpCall &call, std::int64_t &diagonals) {
  const auto lower = call.attribute<std::int64_t>(0), upper = call.attribute<std::int64_t>(1);
  constexpr std::int64_t kMost = std::int64_t(1) << 30;
  if (lower < 0 || upper < 0 || lower > kMost || upper > kMost)
    return valueFault(absl::StrCat("the numbers of diagonals below and above are 0 or more, and at most ", kMost,
                                   ", not ", lower, " and ", upper));
  diagonals = lower + upper + 1;
  return {};
}

} // namespace

// The operands are bands and what stands beside them.
Fault bandedSolution(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  std::int64_t diagonals = 0;
  if (Fault fault = checkBand(call, diagonals))
    return fault;
  if (!mergeDims(rowsOf(call[0]), diagonals))
    return shapeFault(absl::StrCat("a band of ", call.attribute<std::int64_t>(0), " diagonals below and ",
                                   call.attribute<std::int64_t>(1), " above has ", diagonals, " rows, unlike ",
                                   call[0].str()));
  const std::optional<std::int64_t> rows = mergeDims(columnsOf(call[0]), rowsOf(call[1]));
  if (!rows)
    return shapeFault(absl::StrCat("the right-hand sides ", call[1].str(), " must have as many rows as the band ",
                                   call[0].str(), " has columns"));
  Dims batch;
  if (Fault fault = mergeBatches(call, batch))
    return fault;
  batch.insert(batch.end(), {*rows, columnsOf(call[1])});
  results.push_back({call[0].dtype, std::move(batch)});
  return {};
}

Fault positiveBandedSolution(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = bandedSolution(call, results))
    return fault;
  if (call.attribute<std::int64_t>(0) > 0 && call.attribute<std::int64_t>(1) > 0)
    return valueFault("the band of a symmetric matrix has the diagonals below or those above, not both");
  return {};
}

Fault bandOfProduct(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkMatrices(call))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  std::int64_t diagonals = 0;
  if (Fault fault = checkBand(call, diagonals))
    return fault;
  const std::optional<std::int64_t> rows = mergeDims(rowsOf(call[0]), rowsOf(call[1])),
                                    columns = mergeDims(columnsOf(call[0]), columnsOf(call[1]));
  Dims batch;
  if (!rows || !columns)
    return shapeFault(
        absl::StrCat("the factors have the shapes ", shapeString(call[0].dims), " and ", shapeString(call[1].dims)));
  if (Fault fault = mergeBatches(call, batch))
    return fault;
  batch.insert(batch.end(), {diagonals, *rows});
  results.push_back({call[0].dtype, std::move(batch)});
  return {};
}

} // namespace calque::schema
