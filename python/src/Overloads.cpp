// Functions that C++ overloads by the types of their arguments, and those that are templates there.
#include "Call.h"
#include "Tensors.h"

#include <calque/arrays.h>
#include <calque/linalg.h>

namespace calque::python {

namespace {

AxisList axes(Call &c, int i) { return c.has(i) ? AxisList(c.integers(i)) : AxisList(); }
bool isInteger(PyObject *object) { return PyIndex_Check(object) && !isTensor(object); }

PyObject *callRound(Call &c) {
  const Operand x = c.operand(0);
  if (!c.has(1))
    return resultOf(c.run([&] { return round(x); }));
  const std::int64_t decimals = c.integer(1);
  return resultOf(c.run([&] { return round(x, decimals); }));
}

PyObject *callDivide(Call &c) {
  const Operand x = c.operand(0), y = c.operand(1);
  return resultOf(c.run([&] { return trueDivide(x, y); }));
}

PyObject *callSplit(Call &c) {
  const Operand x = c.operand(0);
  const std::int64_t axis = c.has(2) ? c.integer(2) : 0;
  if (isInteger(c.given(1))) {
    const std::int64_t parts = c.integer(1);
    return resultOf(c.run([&] { return split(x, parts, axis); }));
  }
  const std::vector<std::int64_t> sizes = c.integers(1);
  return resultOf(c.run([&] { return split(x, sizes, axis); }));
}
PyObject *callEye(Call &c) {
  const Size n = c.size(0), m = c.has(1) ? c.size(1) : n;
  const std::int64_t k = c.has(2) ? c.integer(2) : 0;
  const DType dtype = c.has(3) ? c.dtype(3) : default_dtype();
  return resultOf(c.run([&] { return eye(n, m, k, dtype, c.where()); }));
}

PyObject *callTensordot(Call &c) {
  const Operand a = c.operand(0), b = c.operand(1);
  if (!c.has(2) || isInteger(c.given(2))) {
    const std::int64_t number = c.has(2) ? c.integer(2) : 2;
    return resultOf(c.run([&] { return tensordot(a, b, number); }));
  }
  PyObject *pair = c.given(2);
  if (!(PyList_Check(pair) || PyTuple_Check(pair)) || PySequence_Fast_GET_SIZE(pair) != 2)
    throw ValueError("tensordot: 'axes' is a number, or a pair of lists of axes", c.where());
  auto list = [&](int i) {
    PyObject *part = PySequence_Fast_GET_ITEM(pair, i);
    std::vector<std::int64_t> numbers;
    if (isInteger(part))
      numbers.push_back(integerOf(part, "axes", c.where()));
    else
      for (nb::handle each : nb::borrow<nb::object>(part))
        numbers.push_back(integerOf(each.ptr(), "axes", c.where()));
    return AxisList(numbers);
  };
  const AxisList first = list(0), second = list(1);
  return resultOf(c.run([&] { return tensordot(a, b, first, second); }));
}

PyObject *callHistogram(Call &c) {
  static PyObject *type = namedTuple("Histogram", {"counts", "edges"});
  const Operand x = c.operand(0);
  HistogramOptions options;
  if (c.has(2))
    options.range = c.interval(2);
  if (c.has(3))
    options.weights = c.tensor(3);
  if (c.has(4))
    options.density = c.flag(4);
  Histogram made;
  if (!c.has(1) || isInteger(c.given(1))) {
    const std::int64_t bins = c.has(1) ? c.integer(1) : 10;
    made = c.run([&] { return histogram(x, bins, options); });
  } else {
    const Tensor edges = c.tensor(1);
    made = c.run([&] { return histogram(x, edges, options); });
  }
  return resultOf(type, {made.counts, made.edges});
}

PyObject *callRoll(Call &c) {
  const Operand x = c.operand(0);
  const AxisList along = axes(c, 2);
  PyObject *shifts = c.given(1);
  if (isTensor(shifts) || variableIn(shifts)) {
    const Tensor by = c.tensor(1);
    return resultOf(c.run([&] { return roll(x, by, along); }));
  }
  const AxisList by = c.integers(1);
  return resultOf(c.run([&] { return roll(x, by, along); }));
}

PyObject *callToeplitz(Call &c) {
  const Operand column = c.operand(0);
  if (!c.has(1))
    return resultOf(c.run([&] { return linalg::toeplitz(column); }));
  const Operand row = c.operand(1);
  return resultOf(c.run([&] { return linalg::toeplitz(column, row); }));
}

// Of Python numbers the rule for literals. A traced size gives as many numbers as the call has.
PyObject *callArange(Call &c) {
  const SourceLocation where = c.where();
  std::optional<DType> dtype;
  if (c.has(3))
    dtype = c.dtype(3);
  const int stop = c.has(1) ? 1 : 0;
  std::optional<Number> end = numberIn(c.given(stop), where);
  if (!end && !c.has(1) && !c.has(2)) {
    const Size size = c.size(0);
    return resultOf(c.run([&] { return iota({size}, dtype.value_or(DType::Int64), 0, where); }));
  }
  auto literal = [&](int i, Number otherwise) { return i < 0 || !c.has(i) ? otherwise : c.number(i); };
  const Number first = literal(stop ? 0 : -1, Number(0)), last = literal(stop, Number(0)), step = literal(2, Number(1));
  const bool anyFloat = first.isFloat() || last.isFloat() || step.isFloat();
  auto made = [&](auto start, auto limit, auto by) {
    return resultOf(c.run([&] { return arange(start, limit, by, dtype, where); }));
  };
  if (anyFloat)
    return made(first.toDouble(), last.toDouble(), step.toDouble());
  auto integer = [&](int i, std::int64_t otherwise) { return i < 0 || !c.has(i) ? otherwise : c.integer(i); };
  const std::int64_t from = integer(stop ? 0 : -1, 0), to = integer(stop, 0), by = integer(2, 1);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (!dtype && from >= -most && from <= most && to >= -most && to <= most && by >= -most && by <= most)
    dtype = DType::Int32;
  return made(from, to, by);
}

} // namespace

void addOverloads(std::vector<Entry> &entries) {
  entries.insert(entries.end(), {
                                    {"",
                                     "round",
                                     {"x", "decimals"},
                                     1,
                                     2,
                                     callRound,
                                     "round(x, decimals=None)\n--\n\nThe nearest integer, or the nearest number with "
                                     "so many decimals; halves go to the "
                                     "even one."},
                                    {"",
                                     "divide",
                                     {"lhs", "rhs"},
                                     2,
                                     2,
                                     callDivide,
                                     "divide(lhs, rhs)\n--\n\nlhs / rhs of floats, as the operator. Integers, whose "
                                     "quotient would be none, are refused: div truncates theirs."},
                                    {"",
                                     "split",
                                     {"x", "sizes", "axis"},
                                     2,
                                     3,
                                     callSplit,
                                     "split(x, sizes, axis=0)\n--\n\nThe parts of x along an axis: a number of equal "
                                     "parts, or parts of these sizes, one "
                                     "of which may be -1 and is what the others leave."},
                                    {"",
                                     "eye",
                                     {"n", "m", "k", "dtype"},
                                     1,
                                     4,
                                     callEye,
                                     "eye(n, m=None, k=0, dtype=None)\n--\n\nn by m, with ones on diagonal k."},
                                    {"",
                                     "tensordot",
                                     {"a", "b", "axes"},
                                     2,
                                     3,
                                     callTensordot,
                                     "tensordot(a, b, axes=2)\n--\n\nSums products over the last axes of a and the "
                                     "first ones of b, or over a pair of "
                                     "lists of axes."},
                                    {"",
                                     "histogram",
                                     {"x", "bins", "range", "weights", "density"},
                                     1,
                                     5,
                                     callHistogram,
                                     "histogram(x, bins=10, range=None, weights=None, density=False)\n--\n\nCounts the "
                                     "elements of x in bins: a number of "
                                     "equal ones, or those between edges."},
                                    {"",
                                     "roll",
                                     {"x", "shift", "axis"},
                                     2,
                                     3,
                                     callRoll,
                                     "roll(x, shift, axis=None)\n--\n\nMoves elements along the axes; those that leave "
                                     "at one end come in at the other."},
                                    {"linalg",
                                     "toeplitz",
                                     {"column", "row"},
                                     1,
                                     2,
                                     callToeplitz,
                                     "toeplitz(column, row=None)\n--\n\nThe matrix with constant diagonals that has "
                                     "this first column and this first row; without a row it is symmetric."},
                                    {"",
                                     "arange",
                                     {"start", "stop", "step", "dtype"},
                                     1,
                                     4,
                                     callArange,
                                     "arange(start, stop=None, step=1, dtype=None)\n--\n\nThe numbers start, start + "
                                     "step, ... before stop; with one "
                                     "argument those from 0 before it."},
                                });
}

} // namespace calque::python
