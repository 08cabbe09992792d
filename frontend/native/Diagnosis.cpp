#include "frontend/native/Diagnosis.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace calque::detail::native {

namespace {

// How many iterations a run makes, and how many of the first ones are not looked at: they may begin with constants.
constexpr std::size_t kIterations = 40, kFirst = 2;

constexpr char kDecided[] =
    ": a C++ number, flag or recursion decides which; decide on a tensor, and count by for (Tensor "
    "i : range(n))";

// The steps between two decisions of a loop, and the decisions between them.
struct Iteration {
  std::span<const PathStep> steps;
  std::vector<std::pair<std::uint32_t, bool>> decisions; // lines and sides
  Value first = 0;
};

std::string placeOf(const schema::SourceLine &line) {
  if (!line.file)
    return "";
  const char *slash = std::strrchr(line.file, '/');
  return absl::StrCat(slash ? slash + 1 : line.file, ":", line.line);
}

class Diagnosis {
public:
  explicit Diagnosis(const Vocabulary &vocabulary) : vocabulary(vocabulary) {}

  // Of a path that goes around a loop.
  std::optional<NotCaptured> ofIterations(const Path &path) const {
    std::map<std::uint32_t, std::vector<std::size_t>> byLine;
    for (std::size_t i = 0; i < path.decisions.size(); ++i)
      byLine[path.decisions[i].line.line].push_back(i);
    for (const auto &[line, at] : byLine) {
      std::vector<Iteration> iterations;
      for (std::size_t k = kFirst; k + 1 < at.size(); ++k)
        iterations.push_back(between(path, at[k], at[k + 1]));
      for (std::size_t k = 0; k + 2 < iterations.size(); ++k)
        if (iterations[k].decisions == iterations[k + 1].decisions &&
            iterations[k].decisions == iterations[k + 2].decisions)
          if (std::string why = difference(iterations[k], iterations[k + 1]);
              !why.empty() && !difference(iterations[k + 1], iterations[k + 2]).empty())
            return NotCaptured{
                absl::StrCat("in the loop that decides at ", placeOf(path.decisions[at[0]].line), ", ", why),
                whereDiffers(iterations[k], iterations[k + 1])};
    }
    return std::nullopt;
  }

  // Of two paths that leave a loop, one of them an iteration later.
  std::optional<NotCaptured> ofEnds(const Path &path, const Path &later) const {
    if (path.decisions.empty() || later.decisions.size() <= path.decisions.size())
      return std::nullopt;
    const Iteration end = behind(path), laterEnd = behind(later);
    const std::string why = difference(end, laterEnd);
    if (why.empty())
      return std::nullopt;
    return NotCaptured{absl::StrCat("behind the loop that decides at ", placeOf(path.decisions.back().line), ", ", why),
                       whereDiffers(end, laterEnd)};
  }

private:
  static Iteration between(const Path &path, std::size_t from, std::size_t to) {
    Iteration iteration;
    const std::size_t begin = path.decisions[from].position, end = path.decisions[to].position;
    iteration.steps = std::span(path.steps).subspan(begin, end - begin);
    iteration.first = begin < path.steps.size() ? path.steps[begin].first : path.numValues;
    for (std::size_t i = from; i < to; ++i)
      iteration.decisions.emplace_back(path.decisions[i].line.line, path.decisions[i].taken);
    return iteration;
  }
  static Iteration behind(const Path &path) {
    Iteration iteration;
    const std::size_t begin = path.decisions.back().position;
    iteration.steps = std::span(path.steps).subspan(begin);
    iteration.first = begin < path.steps.size() ? path.steps[begin].first : path.numValues;
    return iteration;
  }

  static std::size_t firstDifference(const Iteration &a, const Iteration &b) {
    const std::size_t count = std::min(a.steps.size(), b.steps.size());
    for (std::size_t i = 0; i < count; ++i)
      if (a.steps[i].kind != b.steps[i].kind || otherOperand(a, b, i))
        return i;
    return count;
  }
  // An operand from outside that is another one. Of those that were computed, some may be older than others.
  static std::optional<std::size_t> otherOperand(const Iteration &a, const Iteration &b, std::size_t i) {
    const auto &x = a.steps[i].operands, &y = b.steps[i].operands;
    for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k)
      if (x[k] < 0 && y[k] < 0 && x[k] != y[k])
        return k;
    return std::nullopt;
  }

  schema::SourceLine whereDiffers(const Iteration &a, const Iteration &b) const {
    const std::size_t i = firstDifference(a, b);
    const Iteration &longer = a.steps.size() > b.steps.size() ? a : b;
    return i < longer.steps.size() ? vocabulary.whereOf(longer.steps[i].kind) : schema::SourceLine();
  }

  // What is another thing in the second, with what to do; empty if all is alike.
  std::string difference(const Iteration &a, const Iteration &b) const {
    const std::size_t i = firstDifference(a, b);
    if (i == a.steps.size() && i == b.steps.size())
      return "";
    if (i == a.steps.size() || i == b.steps.size())
      return absl::StrCat("there are ", a.steps.size(), " operations and then ", b.steps.size(), kDecided);
    const Kind one = a.steps[i].kind, other = b.steps[i].kind;
    if (one == other) {
      const std::size_t k = *otherOperand(a, b, i);
      const std::string before = vocabulary.numberOf(a.steps[i].operands[k]),
                        after = vocabulary.numberOf(b.steps[i].operands[k]);
      if (!before.empty() && !after.empty())
        return absl::StrCat(at(one), " takes the C++ number ", before, " and then ", after,
                            ": make it a tensor that the loop changes");
      return absl::StrCat(at(one), " takes another tensor from outside of the loop each time: stack() the tensors and "
                                   "take for (Tensor row : rows)");
    }
    if (std::string what = vocabulary.differenceOf(one, other); !what.empty())
      return absl::StrCat(at(one), " ", what);
    if (at(one) == at(other)) // which makes several operations
      return absl::StrCat(at(one), " takes another number of tensors each time", kGrows);
    return absl::StrCat("there is ", at(one), " and then ", at(other), " in its place", kDecided);
  }
  std::string at(Kind kind) const {
    return absl::StrCat(vocabulary.nameOf(kind), " at ", placeOf(vocabulary.whereOf(kind)));
  }

  const Vocabulary &vocabulary;
};

} // namespace

std::optional<NotCaptured> diagnose(absl::FunctionRef<Path(const Decisions &)> run, const Decisions &shown,
                                    const Vocabulary &vocabulary) {
  const Diagnosis diagnosis(vocabulary);
  auto tried = [&](const Decisions &decisions) -> std::optional<Path> {
    try {
      return run(decisions);
    } catch (const NotCaptured &) {
    } catch (const Error &) {
    }
    return std::nullopt; // what is wrong with another path
  };
  for (char side : {'1', '0'})
    if (std::optional<Path> path = tried(Decisions(kIterations, side)))
      if (std::optional<NotCaptured> found = diagnosis.ofIterations(*path))
        return found;
  for (char side : {'1', '0'}) {
    const char out = side == '1' ? '0' : '1';
    std::optional<Path> path = tried(Decisions(4, side) + out), later = tried(Decisions(5, side) + out);
    if (path && later)
      if (std::optional<NotCaptured> found = diagnosis.ofEnds(*path, *later))
        return found;
  }
  if (std::optional<Path> path = tried(shown))
    return diagnosis.ofIterations(*path);
  return std::nullopt;
}

} // namespace calque::detail::native
