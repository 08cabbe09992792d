// Branches and loops on the values of tensors. Eagerly they run as C++ code does. In a traced function they become
// branches and loops of the compiled program. Derivatives of all kinds and vmap pass through them.
//
//   Tensor y = cond(sum(x) > 0, [&] { return x * 2; }, [&] { return -x; });
//
//   auto [i, sum] = while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
//                              [&](const Tensor &i, const Tensor &sum) { return std::tuple(i + 1, sum + i * i); },
//                              std::tuple(scalar(0), scalar(0)));
//
//   for (Tensor i : range(n)) // a C++ loop, which a trace makes a loop of its program, too
//     sum = sum + i * i;
//
// In a trace, both branches of a `cond` are traced, and the body of a loop is traced once, whatever the predicate is.
// Host code in a branch or body runs while it is traced, and at no other time. Branches and bodies may read and assign
// variables, and draw random numbers. Variables and generators change as often as the branch or the body runs. Tensors
// from outside are captured.
#ifndef CALQUE_CONTROL_FLOW_H
#define CALQUE_CONTROL_FLOW_H

#include "calque/call_site.h"
#include "calque/transforms.h"

namespace calque {

struct WhileOptions {
  // The loop ends after this number of iterations, even if the condition still holds. ValueError for a negative number.
  std::optional<std::int64_t> maximum_iterations = {};
  // Saves memory in reverse mode. The loop variables of some iterations are kept, about 3 sqrt(n) of n. The others are
  // computed again, so the loop runs once more. Under an eager tape such a loop is traced, and its condition and body
  // can't read elements.
  bool checkpoint = false;
  // The shapes of the loop variables' tensors, in order, with kDynamic for each size that an iteration may change. A
  // tensor with nullopt, or a tensor that is not listed, keeps its shape. In a trace, a size with kDynamic is unknown
  // in the loop and after it, like an unknown size of a TensorSpec. ValueError for more shapes than tensors, ShapeError
  // for a shape that does not fit the initial tensor. vmap and `checkpoint` refuse a loop with such sizes.
  //
  //   auto [n, xs] = while_loop(
  //       [](const Tensor &n, const Tensor &) { return n < 9; },
  //       [](const Tensor &n, const Tensor &xs) { return std::tuple(n + 1, concat({xs, max(xs, {0}, true) * 2})); },
  //       std::tuple(scalar(0), ones({1, 3})), {.shape_invariants = {std::nullopt, Shape{kDynamic, 3}}});
  std::vector<std::optional<Shape>> shape_invariants = {};
};

struct RangeOptions {
  std::int64_t step = 1;   // not 0
  bool checkpoint = false; // as that of WhileOptions; of a C++ loop over a range, see checkpointed()
};

struct ScanOptions {
  bool reverse = false;    // from the last slice to the first
  bool checkpoint = false; // as that of WhileOptions
};

namespace detail {

// The result of a branch or a body: its tensors, and the parts of its structure that must be the same in all branches
// or iterations.
struct Produced {
  std::vector<Tensor> tensors;
  std::vector<std::uint64_t> host;  // host values and counts, in order
  std::vector<std::string> texts;   // texts, in order
  std::vector<const void *> states; // variables, in order
};
struct CALQUE_API ProducedCollector : Produced {
  void tensor(const Tensor &x);
  void variable(const Variable &x);
  void host(std::uint64_t bits);
  void text(const std::string &text);
  void count(std::size_t n) { host(n); }
};
template <typename T> Produced producedBy(const T &x) {
  ProducedCollector collector;
  visit_structure(x, collector);
  return collector;
}

using BranchBody = std::function<Produced()>;
using LoopCondition = std::function<Tensor(const std::vector<Tensor> &)>;
using LoopBody = std::function<Produced(const std::vector<Tensor> &)>;

// Returns the tensors of the branch that the predicate chooses.
CALQUE_API std::vector<Tensor> runCond(const char *operation, const Tensor &predicate, const BranchBody &then,
                                       const BranchBody &otherwise, SourceLocation where);
// Returns the tensors of the branch with this index; the last branch serves any other index.
CALQUE_API std::vector<Tensor> runSwitch(const Tensor &index, const std::vector<BranchBody> &branches,
                                         SourceLocation where);
// Returns the loop variables after the last iteration.
CALQUE_API std::vector<Tensor> runWhile(const char *operation, const LoopCondition &condition, const LoopBody &body,
                                        const Produced &initial, const WhileOptions &options, SourceLocation where);

struct ScanStep {
  Produced carry, result;
};
using ScanBody = std::function<ScanStep(const std::vector<Tensor> &carry, const std::vector<Tensor> &x)>;
struct Scanned {
  std::vector<Tensor> carry, results;
};
// Returns the carry after the last slice of xs, and the stacked results of all slices. The body is called at least
// once, even for no slices, because its call gives the types of the results.
CALQUE_API Scanned runScan(const char *operation, const ScanBody &body, const Produced &initial,
                           const std::vector<Tensor> &xs, const ScanOptions &options, SourceLocation where);

// The bound, the comparison and the next index of a loop over int64 scalars. ShapeError for a bound that is no integer
// scalar.
CALQUE_API Tensor rangeBound(const char *operation, const char *what, const Tensor &bound, SourceLocation where);
CALQUE_API Tensor isBefore(const Tensor &i, const Tensor &end, std::int64_t step, SourceLocation where);
CALQUE_API Tensor advanced(const Tensor &i, std::int64_t step, SourceLocation where);
[[noreturn]] CALQUE_API void throwStep(SourceLocation where);

// The type of a result that is kept. A structure without parts takes the place of void.
template <typename R> using Kept = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::decay_t<R>>;

template <typename Call> auto keptOf(Call &&call) -> Kept<decltype(call())> {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return {};
  } else {
    return call();
  }
}
template <typename F> auto keptCall(const SourceLocation &where, F &f) {
  return keptOf([&] { return callAt(where, f); });
}

// Refuses branches that return different types.
template <typename A, typename B> struct CheckedBranches {
  static constexpr bool areAlike = std::is_same_v<A, B>;
  static_assert(areAlike, "the branches of a cond return values of the same type");
};

// Makes a branch that also stores its result in `kept`, because the structure of the result is needed later.
template <typename F, typename Result>
BranchBody branchOf(const SourceLocation &where, F &f, std::optional<Result> &kept) {
  return [&where, &f, &kept] {
    kept.emplace(keptCall(where, f));
    return producedBy(*kept);
  };
}

template <typename Result> auto returned(const Result &structure, const std::vector<Tensor> &tensors) {
  if constexpr (std::is_same_v<Result, std::tuple<>>)
    return;
  else
    return withTensors(structure, tensors);
}

// Refuses a body whose result does not have the type of the loop variables.
template <typename State, typename Next> struct CheckedState {
  static constexpr bool isSame = std::is_same_v<State, Next>;
  static_assert(isSame, "the body of a loop returns the next values of the loop variables, of the type that it takes: "
                        "for several, a std::tuple as the initial one");
};
// Refuses numbers as loop variables: a number would be the same in all iterations.
template <typename State> struct CheckedInitial {
  static constexpr bool isNoNumber = !std::is_arithmetic_v<State>;
  static_assert(isNoNumber, "loop variables are tensors: begin with scalar(0) instead of a number");
};
template <typename T> struct CheckedDecision {
  static constexpr bool isTensor = std::is_convertible_v<const T &, Tensor>;
  static_assert(isTensor, "the condition of a loop returns a bool scalar, as a Tensor");
};

// Calls f with a first argument and the loop variables. If these are a tuple, its elements are arguments of f.
template <typename F, typename First, typename T>
auto applyAfter(const SourceLocation &where, F &f, const First &first, const T &state) {
  return callAt(where, f, first, state);
}
template <typename F, typename First, typename... T>
auto applyAfter(const SourceLocation &where, F &f, const First &first, const std::tuple<T...> &state) {
  if constexpr (!canCall<F, First, T...>() && canCall<F, First, std::tuple<T...>>())
    return callAt(where, f, first, state);
  else
    return std::apply([&](const auto &...parts) { return callAt(where, f, first, parts...); }, state);
}

// Refuses a step of a scan that does not return a pair of the next carry and a result.
template <typename Carry, typename Step> struct CheckedStep {
  static constexpr bool isPair = false;
  static_assert(sizeof(Step *) == 0,
                "the step of a scan returns a std::pair: the next carry, of the type of the initial "
                "one, and the result of this slice");
};
template <typename Carry, typename Y> struct CheckedStep<Carry, std::pair<Carry, Y>> {
  static constexpr bool isPair = true;
};

} // namespace detail

// Returns the result of `then` if the predicate, a bool scalar, is true, else the result of `otherwise`. A result is a
// tensor, a structure, or void. Both branches return the same C++ type, with tensors of the same dtypes and shapes and
// with the same host values. ShapeError for a predicate that is not a scalar. ShapeError, DTypeError or ValueError for
// branches that differ; these errors name the lines of both.
template <typename Then, typename Otherwise> auto cond(const Operand &predicate, Then &&then, Otherwise &&otherwise) {
  const SourceLocation where = CallSite::resolve(predicate.where());
  detail::requireCallable(then, "cond", where);
  detail::requireCallable(otherwise, "cond", where);
  using Result = decltype(detail::keptCall(where, then));
  using Other = decltype(detail::keptCall(where, otherwise));
  if constexpr (detail::CheckedBranches<Result, Other>::areAlike) {
    std::optional<Result> first, second;
    std::vector<Tensor> tensors = detail::runCond("cond", predicate.toTensor(), detail::branchOf(where, then, first),
                                                  detail::branchOf(where, otherwise, second), where);
    return detail::returned(first ? *first : *second, tensors);
  }
}

// Returns the result of branch number `index`, an integer scalar. The last branch also serves any other index. The
// branches are callables of one type, such as std::function<Tensor()>. Their results must agree as those of cond do,
// with the same errors.
template <typename Branch> auto switch_case(const Operand &index, std::vector<Branch> branches) {
  const SourceLocation where = CallSite::resolve(index.where());
  using Result = decltype(detail::keptCall(where, branches[0]));
  std::optional<Result> kept;
  std::vector<detail::BranchBody> bodies;
  for (Branch &branch : branches) {
    detail::requireCallable(branch, "switch_case", where);
    bodies.push_back(detail::branchOf(where, branch, kept));
  }
  std::vector<Tensor> tensors = detail::runSwitch(index.toTensor(), bodies, where);
  return detail::returned(*kept, tensors);
}

// Runs the body as long as the condition returns true, a bool scalar. Returns the last values of the loop variables.
// The condition and the body take the loop variables: a tensor, a structure, or the elements of a tuple as separate
// arguments. The body returns the next values, with the same dtypes and shapes and the same host values. If they
// differ, the error names the loop variable, both types and both lines. In a trace, a condition that assigns a variable
// is a StateError.
template <typename Condition, typename Body, typename State>
State while_loop(Condition &&condition, Body &&body, const State &initial, WhileOptions options = {},
                 SourceLocation line = SourceLocation::current()) {
  if constexpr (detail::CheckedInitial<State>::isNoNumber) {
    const SourceLocation where = CallSite::resolve(line);
    detail::requireCallable(condition, "while_loop", where);
    detail::requireCallable(body, "while_loop", where);
    auto decide = [&](const std::vector<Tensor> &tensors) {
      auto decision =
          detail::keptOf([&] { return detail::applyTo(where, condition, detail::withTensors(initial, tensors)); });
      if constexpr (detail::CheckedDecision<decltype(decision)>::isTensor)
        return Tensor(decision);
      else
        return Tensor();
    };
    auto next = [&](const std::vector<Tensor> &tensors) {
      auto made = detail::keptOf([&] { return detail::applyTo(where, body, detail::withTensors(initial, tensors)); });
      if constexpr (detail::CheckedState<State, decltype(made)>::isSame)
        return detail::producedBy(made);
      else
        return detail::Produced();
    };
    return detail::withTensors(
        initial, detail::runWhile("while_loop", decide, next, detail::producedBy(initial), options, where));
  } else {
    return initial;
  }
}

// Runs the body for the indices begin, begin + step, ... before `end`. The bounds are integer scalars. The body takes
// the index, an int64 scalar, and the loop variables. It returns the next values of the loop variables, as the body of
// while_loop does. for_range returns the last values.
//
//   Tensor w = for_range(0, 300, w0, [&](const Tensor &, const Tensor &w) { return w - 0.1f * gradient(w); });
template <typename State, typename Body>
State for_range(const Operand &begin, const Operand &end, const State &initial, Body &&body,
                RangeOptions options = {}) {
  if constexpr (detail::CheckedInitial<State>::isNoNumber) {
    const SourceLocation where = CallSite::resolve(begin.where());
    detail::requireCallable(body, "for_range", where);
    if (options.step == 0)
      detail::throwStep(where);
    using Loop = std::tuple<Tensor, State>;
    const Loop first(detail::rangeBound("for_range", "the beginning", begin.toTensor(), where), initial);
    const Tensor last = detail::rangeBound("for_range", "the end", end.toTensor(), where);
    auto decide = [&](const std::vector<Tensor> &tensors) {
      return detail::isBefore(tensors[0], last, options.step, where);
    };
    auto next = [&](const std::vector<Tensor> &tensors) {
      auto [i, state] = detail::withTensors(first, tensors);
      auto made = detail::keptOf([&, &i = i, &state = state] { return detail::applyAfter(where, body, i, state); });
      if constexpr (detail::CheckedState<State, decltype(made)>::isSame)
        return detail::producedBy(Loop(detail::advanced(i, options.step, where), made));
      else
        return detail::Produced();
    };
    std::vector<Tensor> tensors = detail::runWhile("for_range", decide, next, detail::producedBy(first),
                                                   WhileOptions{.checkpoint = options.checkpoint}, where);
    return std::get<1>(detail::withTensors(first, tensors));
  } else {
    return initial;
  }
}

// The numbers begin, begin + step, ... before `end`, as int64 scalars: `for (Tensor i : range(n))`. In a trace this is
// a loop of the program, even if the bounds are C++ numbers (`for (int i = 0; ...)` unrolls). The body of the loop is
// plain C++ (docs/native-control-flow.md): it may leave by `break`, `continue` and `return`, and may assign C++
// variables from outside of the loop.
class CALQUE_API Range {
public:
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

private:
  friend CALQUE_API Range range(const Operand &, const Operand &, const Operand &);
  friend CALQUE_API Range checkpointed(Range);
  Range(Tensor first, Tensor end, Tensor step)
      : first_(std::move(first)), end_(std::move(end)), step_(std::move(step)) {}
  Tensor first_, end_, step_;
  bool isCheckpointed_ = false;
};

// All arguments are C++ integers, sizes or integer scalars (else ShapeError). ValueError for a step of 0;
// AssertionError at the call if only the call knows that the step is 0.
CALQUE_API Range range(const Operand &begin, const Operand &end, const Operand &step = 1);
// The numbers 0, 1, ... before `end`.
CALQUE_API Range range(const Operand &end);
// With options: `for (Tensor i : range(n, {.checkpoint = true}))`.
CALQUE_API Range range(const Operand &begin, const Operand &end, RangeOptions options);
CALQUE_API Range range(const Operand &end, RangeOptions options);

// The condition of a C++ loop, or the tensor whose slices it goes through, with a checkpoint: see checkpointed().
class CALQUE_API Checkpointed {
public:
  // As that of Tensor.
  explicit operator bool() const;
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

private:
  friend CALQUE_API Checkpointed checkpointed(const Operand &);
  Checkpointed(Tensor x, SourceLocation where) : x_(std::move(x)), where_(where) {}
  Tensor x_;
  SourceLocation where_;
};

// Gives a C++ loop the meaning of WhileOptions::checkpoint: in a trace, reverse mode keeps the variables of about
// 3 sqrt(n) of n iterations, and computes the others again. Eagerly it changes nothing, and an eager tape keeps all.
//
//   while (checkpointed(error > tolerance))
//     ...
//   for (Tensor row : checkpointed(xs))
//     ...
//   for (Tensor i : checkpointed(range(n))) // as range(n, {.checkpoint = true})
//     ...
//
// A condition belongs to the innermost C++ loop on tensors around it, be it the loop's own or one that leaves it:
// `if (checkpointed(done)) break;`. A function whose condition is in no such loop is refused (StateError).
CALQUE_API Checkpointed checkpointed(const Operand &x);
CALQUE_API Range checkpointed(Range range);
// `a && b` is a C++ number already: write checkpointed(a) && b.
template <std::same_as<bool> T> Checkpointed checkpointed(T) = delete;

// Calls the step for each slice of xs along axis 0. xs is a tensor, or a structure of tensors with the same size along
// axis 0. The step takes the carry and a slice, and returns a pair: the next carry and a result. scan returns the last
// carry, and the results stacked along axis 0. The carry keeps its dtypes and shapes. The sizes of a result must be
// known while tracing. ShapeError if a tensor has no axis 0, or if the sizes along axis 0 differ; AssertionError at the
// call if these sizes are unknown while tracing and differ.
//
//   auto [total, sums] = scan([](const Tensor &sum, const Tensor &x) { return std::pair(sum + x, sum + x); },
//                             scalar(0.f), xs);
template <typename Step, typename Carry, typename Xs>
auto scan(Step &&step, const Carry &initial, const Xs &xs, ScanOptions options = {},
          SourceLocation line = SourceLocation::current()) {
  if constexpr (detail::CheckedInitial<Carry>::isNoNumber) {
    const SourceLocation where = CallSite::resolve(line);
    detail::requireCallable(step, "scan", where);
    using Made = decltype(detail::callAt(where, step, initial, xs));
    if constexpr (detail::CheckedStep<Carry, Made>::isPair) {
      using Result = typename Made::second_type;
      std::optional<Result> kept;
      auto body = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &x) {
        Made made = detail::callAt(where, step, detail::withTensors(initial, carry), detail::withTensors(xs, x));
        kept.emplace(made.second);
        return detail::ScanStep{detail::producedBy(made.first), detail::producedBy(made.second)};
      };
      detail::Scanned scanned =
          detail::runScan("scan", body, detail::producedBy(initial), detail::tensorsIn(xs), options, where);
      return std::pair<Carry, Result>(detail::withTensors(initial, scanned.carry),
                                      detail::withTensors(*kept, scanned.results));
    }
  }
}

// Returns the last carry of a scan whose step returns the next carry alone.
template <typename Step, typename Carry, typename Xs>
Carry fold(Step &&step, const Carry &initial, const Xs &xs, ScanOptions options = {},
           SourceLocation line = SourceLocation::current()) {
  if constexpr (detail::CheckedInitial<Carry>::isNoNumber) {
    const SourceLocation where = CallSite::resolve(line);
    detail::requireCallable(step, "fold", where);
    auto body = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &x) {
      auto made = detail::keptOf(
          [&] { return detail::callAt(where, step, detail::withTensors(initial, carry), detail::withTensors(xs, x)); });
      if constexpr (detail::CheckedState<Carry, decltype(made)>::isSame)
        return detail::ScanStep{detail::producedBy(made), {}};
      else
        return detail::ScanStep{};
    };
    detail::Scanned scanned =
        detail::runScan("fold", body, detail::producedBy(initial), detail::tensorsIn(xs), options, where);
    return detail::withTensors(initial, scanned.carry);
  } else {
    return initial;
  }
}

// Applies f to each slice of xs along axis 0, one after the other, and stacks the results along axis 0. vmap applies f
// to all slices at once, if the operations of f allow it.
template <typename F, typename Xs> auto map_fn(F &&f, const Xs &xs, SourceLocation line = SourceLocation::current()) {
  const SourceLocation where = CallSite::resolve(line);
  detail::requireCallable(f, "map_fn", where);
  using Result = detail::Kept<decltype(detail::callAt(where, f, xs))>;
  std::optional<Result> kept;
  auto body = [&](const std::vector<Tensor> &, const std::vector<Tensor> &x) {
    kept.emplace(detail::keptOf([&] { return detail::callAt(where, f, detail::withTensors(xs, x)); }));
    return detail::ScanStep{{}, detail::producedBy(*kept)};
  };
  detail::Scanned scanned = detail::runScan("map_fn", body, {}, detail::tensorsIn(xs), ScanOptions(), where);
  return detail::withTensors(*kept, scanned.results);
}

} // namespace calque
#endif
