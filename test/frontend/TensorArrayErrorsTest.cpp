// What arrays of tensors refuse: every misuse is an error of its class with the user's line, eagerly and in a trace.
#include "Misuse.h"

using namespace calque;
using namespace calque::testing;

namespace {

// Captured, so that no index is known in a trace.
Tensor index(int i) { return scalar(i); }
Tensor pair() { return ones({2}); }
TensorArray three() { return TensorArray(3, DType::Float32, {2}); }
TensorArray written() { return three().write(1, pair()); }
// Its size is not fixed.
TensorArray grown() { return TensorArray().write(0, pair()); }
// As a loop leaves it: what is written is known at the call only.
TensorArray looped() {
  return for_range(0, 1, three(), [](const Tensor &, TensorArray array) { return array.write(1, pair()); });
}
TensorArray moved() {
  TensorArray array(1), taken = std::move(array);
  return array;
}

} // namespace

// clang-format off
TEST(TensorArrayErrors, OfMaking) {
  expectBoth({
      MISUSE(ValueError, "TensorArray: the size must not be negative, and is -1", TensorArray(-1)),
      MISUSE(ValueError, "TensorArray: the size must not be negative, and is -1", TensorArray(-1, DType::Float32, {})),
      MISUSE(ValueError, "kDynamic is used as a number", TensorArray(kDynamic)),
      MISUSE(ValueError, "kDynamic is the size of a tensor", TensorArray(3, DType::Float32, {kDynamic})),
      MISUSE(ValueError, "a shape has no negative sizes; this one is [-2]", TensorArray(3, DType::Float32, {-2})),
      MISUSE(ValueError, "element type", TensorArray(3, static_cast<DType>(77), {})),
  });
}

TEST(TensorArrayErrors, OfEmptyHandles) {
  const char *array = "an empty array is used", *text = "an empty tensor is used";
  expectBoth({
      MISUSE(StateError, array, moved().size()),
      MISUSE(StateError, array, moved().dtype()),
      MISUSE(StateError, array, moved().element_shape()),
      MISUSE(StateError, array, moved().write(0, 1)),
      MISUSE(StateError, array, moved().scatter(pair(), pair())),
      MISUSE(StateError, array, moved().unstack(pair())),
      MISUSE(StateError, array, moved().read(0)),
      MISUSE(StateError, array, moved().gather(0)),
      MISUSE(StateError, array, moved().stack()),
      MISUSE(StateError, array, moved().concat()),
      MISUSE(StateError, text, three().write(0, Tensor())),
      MISUSE(StateError, text, three().write(Tensor(), pair())),
      MISUSE(StateError, text, three().scatter(Tensor(), pair())),
      MISUSE(StateError, text, three().unstack(Tensor())),
      MISUSE(StateError, text, written().read(Tensor())),
      MISUSE(StateError, text, written().gather(Tensor())),
  });
}

TEST(TensorArrayErrors, OfIndices) {
  const char *scalar = ": the index must be an integer scalar, not ", *list = "TensorArray::scatter: the indices must be integers of rank 1, not ";
  expectBoth({
      MISUSE(ShapeError, std::string("TensorArray::write") + scalar + "float32[2]", three().write(pair(), pair())),
      MISUSE(ShapeError, std::string("TensorArray::write") + scalar + "int64[1]", three().write(tensor<std::int64_t>({1}), pair())),
      MISUSE(ShapeError, std::string("TensorArray::read") + scalar + "bool[]", written().read(calque::scalar(true))),
      MISUSE(ShapeError, std::string("TensorArray::read") + scalar + "float32[2]", looped().read(pair())),
      MISUSE(DTypeError, "1.5", three().write(1.5, pair())),
      MISUSE(ShapeError, list, three().scatter(pair(), ones({2, 2}))),
      MISUSE(ShapeError, list, three().scatter(index(1), pair())),
      MISUSE(ShapeError, list, three().scatter(1, pair())),
      MISUSE(DTypeError, "TensorArray::gather: ", written().gather(pair())),
      MISUSE(IndexError, "TensorArray::write: index 3 is out of range [0, 3)", three().write(3, pair())),
      MISUSE(IndexError, "TensorArray::write: index -1 is out of range [0, 3)", three().write(-1, pair())),
      MISUSE(IndexError, "TensorArray::write: index 3 is out of range [0, 3)", three().write(index(3), pair())),
      MISUSE(IndexError, "TensorArray::write: index -1 is out of range [0, 3)", three().write(index(-1), pair())),
      MISUSE(IndexError, "TensorArray::write: index 3 is out of range [0, 3)", looped().write(3, pair())),
      MISUSE(IndexError, "TensorArray::write: index 0 is out of range [0, 0)", TensorArray(0, DType::Float32, {2}).write(index(0), pair())),
      MISUSE(IndexError, "TensorArray::write: index 2 is out of range [0, 1)", grown().write(2, pair())),
      MISUSE(IndexError, "TensorArray::read: index 3 is out of range [0, 3)", written().read(3)),
      MISUSE(IndexError, "TensorArray::read: index 5 is out of range [0, 3)", written().read(index(5))),
      MISUSE(IndexError, "TensorArray::read: index -2 is out of range [0, 3)", looped().read(-2)),
      MISUSE(IndexError, "TensorArray::gather: index 4 is out of range [0, 3)", written().gather(tensor<int>({1, 4}))),
      MISUSE(IndexError, "TensorArray::scatter: index 3 is out of range [0, 3)", three().scatter(tensor<int>({3, 0}), ones({2, 2}))),
      MISUSE(IndexError, "TensorArray::scatter: index -1 is out of range [0, 3)", looped().scatter(tensor<int>({0, -1}), ones({2, 2}))),
  });
}

TEST(TensorArrayErrors, OfTypes) {
  expectBoth({
      MISUSE(ShapeError, "TensorArray::write: the elements are float32[2], and one is given that is float32[3]", three().write(0, ones({3}))),
      MISUSE(ShapeError, "TensorArray::write: the elements are float32[2], and one is given that is float32[1,2]", three().write(index(0), ones({1, 2}))),
      MISUSE(DTypeError, "TensorArray::write: the elements are float32[2], and one is given that is int32[2]", three().write(0, tensor<int>({1, 2}))),
      MISUSE(ShapeError, "TensorArray::write: the elements are float32[2], and one is given that is float32[]", grown().write(1, 1.0f)),
      MISUSE(ShapeError, "TensorArray::write: the elements are float32[2], and one is given that is float32[3]", looped().write(0, ones({3}))),
      MISUSE(DTypeError, "int32", TensorArray(3, DType::Int32, {}).write(0, 1.5)),
      MISUSE(ShapeError, "TensorArray::scatter: the elements are float32[2], and one is given that is float32[3]", three().scatter(tensor<int>({0}), ones({1, 3}))),
      MISUSE(ShapeError, "TensorArray::scatter: slices are written, and a scalar has none", three().scatter(tensor<int>({0}), index(1))),
      MISUSE(ShapeError, "TensorArray::scatter: slices are needed for 2, and given is float32[3,2]", three().scatter(tensor<int>({0, 1}), ones({3, 2}))),
      MISUSE(ShapeError, "TensorArray::unstack: slices are needed for 3, and given is float32[4,2]", three().unstack(ones({4, 2}))),
      MISUSE(ShapeError, "TensorArray::unstack: slices are needed for 3, and given is float32[2]", TensorArray(3).unstack(pair())),
      MISUSE(DTypeError, "TensorArray::unstack: the elements are float32[2], and one is given that is float64[2]", three().unstack(ones({3, 2}, DType::Float64))),
      MISUSE(ShapeError, "TensorArray::unstack: slices are written, and a scalar has none", three().unstack(1.0f)),
      MISUSE(ShapeError, "TensorArray::concat: scalars have no axis", TensorArray().write(0, 1.0f).concat()),
  });
}

TEST(TensorArrayErrors, OfArraysWithoutAType) {
  const char *text = ": the type of the elements is not known, as nothing was written; make the array with a dtype and a shape";
  const auto of = [text](const char *method) { return std::string(method) + text; };
  expectBoth({
      MISUSE(StateError, of("TensorArray::dtype"), TensorArray(3).dtype()),
      MISUSE(StateError, of("TensorArray::element_shape"), TensorArray().element_shape()),
      MISUSE(StateError, of("TensorArray::read"), TensorArray(3).read(0)),
      MISUSE(StateError, of("TensorArray::gather"), TensorArray(3).gather(0)),
      MISUSE(StateError, of("TensorArray::stack"), TensorArray().stack()),
      MISUSE(StateError, of("TensorArray::concat"), TensorArray(3).concat()),
      MISUSE(StateError, of("TensorArray"), for_range(0, 3, TensorArray(3), [](const Tensor &i, TensorArray array) { return array.write(i, i); })),
      MISUSE(StateError, of("TensorArray"), function([](const TensorArray &array) { return array; })(TensorArray())),
  });
}

TEST(TensorArrayErrors, OfSecondWrites) {
  const char *text = "TensorArray::write: element 1 was written before; with .overwrite = true it may be";
  const char *an = "an element was written before; with .overwrite = true it may be";
  expectBoth({
      MISUSE(AssertionError, text, written().write(1, pair())),
      MISUSE(AssertionError, text, grown().write(1, pair()).write(1, pair())),
      MISUSE(AssertionError, "TensorArray::unstack: element 1 was written before", written().unstack(ones({3, 2}))),
      MISUSE(AssertionError, "TensorArray::scatter: element 1 was written before", written().scatter(tensor<int>({0, 1}), ones({2, 2}))),
      MISUSE(AssertionError, an, three().unstack(ones({3, 2})).write(0, pair())),
      MISUSE(AssertionError, an, three().unstack(ones({3, 2})).scatter(tensor<int>({0}), ones({1, 2}))),
      MISUSE(AssertionError, "index 2 is given twice", three().scatter(tensor<int>({2, 0, 2}), ones({3, 2}))),
  });
  expectErrors({
      MISUSE(AssertionError, text, looped().write(1, pair())),
      MISUSE(AssertionError, text, looped().write(index(1), pair())),
      MISUSE(AssertionError, "TensorArray::unstack: element 1 was written before", looped().unstack(ones({3, 2}))),
      MISUSE(AssertionError, "TensorArray::scatter: element 1 was written before", looped().scatter(tensor<int>({0, 1}), ones({2, 2}))),
      MISUSE(AssertionError, "TensorArray::scatter: index 2 is given twice", looped().scatter(tensor<int>({2, 0, 2}), ones({3, 2}))),
  });
  // In a trace these are known at the call.
  expectTraced({
      MISUSE(AssertionError, std::string("TensorArray::write: ") + an, looped().write(1, pair())),
      MISUSE(AssertionError, std::string("TensorArray::unstack: ") + an, looped().unstack(ones({3, 2}))),
      MISUSE(AssertionError, std::string("TensorArray::scatter: ") + an, looped().scatter(tensor<int>({0, 1}), ones({2, 2}))),
      MISUSE(AssertionError, "TensorArray::scatter: an index is given twice", looped().scatter(tensor<int>({2, 0, 2}), ones({3, 2}))),
  });
}

TEST(TensorArrayErrors, OfReadingWhatWasNotWritten) {
  expectBoth({
      MISUSE(AssertionError, "TensorArray::read: element 2 was not written", written().read(2)),
      MISUSE(AssertionError, "TensorArray::stack: element 0 was not written", written().stack()),
      MISUSE(AssertionError, "TensorArray::concat: element 0 was not written", written().concat()),
  });
  expectErrors({
      MISUSE(AssertionError, "TensorArray::gather: element 2 was not written", written().gather(tensor<int>({1, 2}))),
      MISUSE(AssertionError, "TensorArray::read: element 2 was not written", looped().read(2)),
      MISUSE(AssertionError, "TensorArray::gather: element 2 was not written", looped().gather(tensor<int>({1, 2}))),
      MISUSE(AssertionError, "TensorArray::stack: element 0 was not written", looped().stack()),
  });
  expectTraced({
      MISUSE(AssertionError, "TensorArray::gather: an element was not written", written().gather(tensor<int>({1, 2}))),
      MISUSE(AssertionError, "TensorArray::read: an element was not written", looped().read(2)),
      MISUSE(AssertionError, "TensorArray::gather: an element was not written", looped().gather(tensor<int>({1, 2}))),
      MISUSE(AssertionError, "TensorArray::stack: an element was not written", looped().stack()),
      MISUSE(AssertionError, "TensorArray::concat: an element was not written", looped().concat()),
  });
}
// clang-format on

// The index is an argument, which a trace does not know.
TEST(TensorArrayErrors, OfIndicesThatOnlyTheCallKnows) {
  auto write = [](const Tensor &i, const Tensor &x) { return three().write(0, x).write(i, x).write(1, x).stack(); };
  auto compiled = function(write);
  EXPECT_NO_THROW(compiled(index(2), pair()));
  for (const auto &f : {std::function<Tensor(const Tensor &, const Tensor &)>(write),
                        std::function<Tensor(const Tensor &, const Tensor &)>(compiled)}) {
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(index(0), pair()); }), "was written before");
    EXPECT_CONTAINS(errorOf<IndexError>([&] { f(index(3), pair()); }),
                    "TensorArray::write: index 3 is out of range [0, 3)");
  }
  auto read = function([](const Tensor &i) { return written().read(i); });
  EXPECT_EQ(read(index(1)).size(), 2);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { read(index(2)); }), "TensorArray::read: an element was not written");
}

TEST(TensorArrayErrors, OfSizesThatOnlyTheCallKnows) {
  auto f = function(
      [](const Tensor &x, const Tensor &y) {
        TensorArray array(x.shape()[0]);
        return array.unstack(y).stack();
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic, kDynamic})}});
  EXPECT_EQ(f(ones({3}), ones({3, 2})).shape(), (Shape{3, 2}));
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(ones({3}), ones({2, 2})); }),
                  "TensorArray::unstack: the slices are more, or fewer, than what they are for");
  auto write = function(
      [](const Tensor &x, const Tensor &y) {
        TensorArray array(x.shape()[0], DType::Float32, {x.shape()[0]});
        return array.write(1, y).read(1);
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(write(ones({3}), ones({3})).shape(), (Shape{3}));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { write(ones({3}), ones({2})); }), "TensorArray::write");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { write(ones({1}), ones({1})); }),
                  "TensorArray::write: index 1 is out of range [0, 1)");
}

TEST(TensorArrayErrors, OfGrowingInATrace) {
  const char *text = "TensorArray::write: an array that is made without a size can't grow where the index is known at "
                     "the call only, nor in a traced loop as its variable; make it with its size";
  auto byIndex = function([](const Tensor &i) { return TensorArray().write(i, pair()).stack(); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { byIndex(index(0)); }), text);
  auto byIndices = function([](const Tensor &i) { return grown().scatter(i, ones({1, 2})).stack(); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { byIndices(tensor<int>({1})); }), "can't grow where the index is known at");
  auto inLoop = [](const Tensor &n) {
    return for_range(0, n, grown(), [](const Tensor &, TensorArray array) { return array.write(array.size(), pair()); })
        .stack();
  };
  EXPECT_CONTAINS(errorOf<StateError>([&] { function(inLoop)(index(2)); }), text);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { inLoop(index(2)); }), "for_range: loop variable 0 is float32[1,2]");
}

// A body runs once in a trace, and what it makes is of no use outside of it.
TEST(TensorArrayErrors, OfWritingWhatALoopCaptures) {
  auto array = [](const Tensor &n) {
    TensorArray array(5, {.zeros = true});
    for_range(0, n, scalar(0), [&](const Tensor &i, const Tensor &sum) {
      array.write(i, pair());
      return sum;
    });
    return array.stack();
  };
  EXPECT_EQ(array(index(3)).shape(), (Shape{5, 2}));
  std::string message = errorOf<LeakedTensorError>([&] { function(array)(index(3)); });
  EXPECT_CONTAINS(message, "TensorArray::stack: the array holds what was written in a trace, at ");
  EXPECT_CONTAINS(message, "and is used outside of it; make it a loop variable, or return it");
  TensorArray kept(2, {.zeros = true});
  auto keep = function([&](const Tensor &x) {
    kept.write(0, x);
    return x;
  });
  keep(pair());
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { kept.read(0); }), "TensorArray::read: the array holds");
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { kept.write(1, pair()); }), "TensorArray::write: the array holds");

  auto list = [](const Tensor &n) {
    std::vector<Tensor> rows;
    for_range(0, n, scalar(0), [&](const Tensor &i, const Tensor &sum) {
      rows.push_back(i * 2);
      return sum;
    });
    return rows.back();
  };
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { function(list)(index(3)); }), "TensorArray");
}

TEST(TensorArrayErrors, OfMappingOverArrays) {
  const char *text = "TensorArray::stack: vmap, scan and map_fn neither take an array apart nor put arrays together; "
                     "give them what stack() returns";
  TensorArray array = three().unstack(ones({3, 2}));
  auto stack = [](const TensorArray &array) { return array.stack(); };
  EXPECT_CONTAINS(errorOf<StateError>([&] { vmap(stack)(array); }), text);
  EXPECT_CONTAINS(errorOf<StateError>([&] { map_fn(stack, array); }), text);
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { vmap([](const Tensor &x) { return TensorArray().write(0, x); })(pair()).stack(); }),
      text);
}
