#include "test/fuzz/Shrinker.h"

#include "test/fuzz/Edits.h"
#include "test/fuzz/Interpreter.h"

#include <algorithm>
#include <set>

namespace calque::fuzz {

namespace {

// Takes smaller programs as long as they fail. A transformation's body is shrunk by one of these of its own, which asks
// the one around it.
class Shrinker {
public:
  Shrinker(Program program, const std::function<bool(const Program &)> &fails, int questions)
      : best(std::move(program)), fails(fails), questions(questions) {}

  // Of a body: arguments and the number of results stay.
  bool runOnBody() {
    bool changed = structure();
    changed |= bypass();
    changed |= bypassResults();
    changed |= bodies();
    changed |= effects();
    changed |= unused();
    changed |= attributes();
    changed |= data();
    return changed;
  }

  Program run() {
    for (bool changed = true; changed && questions > 0;) {
      changed = false;
      // What removes most comes first.
      changed |= results();
      changed |= structure();
      changed |= cut();
      changed |= bypass();
      changed |= bodies();
      changed |= effects();
      changed |= sizes();
      changed |= attributes();
      changed |= data();
    }
    return best;
  }

private:
  bool take(Program candidate) {
    if (questions <= 0 || !check(candidate))
      return false;
    return takeWhole(prune(candidate));
  }

  bool takeWhole(Program candidate) {
    if (questions <= 0 || !check(candidate) || (candidate.steps.empty() && !isBody()))
      return false;
    --questions;
    if (!fails(candidate))
      return false;
    best = std::move(candidate);
    return true;
  }

  bool isBody() const { return best.numArguments > 0; }

  // Removes one after the other, from the last, so that what is left keeps its place.
  template <typename F> bool each(std::size_t count, F &&attempt) {
    bool changed = false;
    for (std::size_t i = count; i-- > 0;)
      changed |= attempt(i);
    return changed;
  }

  bool results() {
    for (std::size_t i = 0; best.results.size() > 1 && i < best.results.size(); ++i) {
      Program one = best;
      one.results = {best.results[i]};
      if (take(one))
        return true;
    }
    // What comes before a result may fail as well.
    for (int value = static_cast<int>(best.inputs.size()); value < best.numValues(); ++value) {
      Program early = best;
      early.results = {value};
      if (check(early) && prune(early).steps.size() < best.steps.size() && take(early))
        return true;
    }
    return each(best.results.size(), [&](std::size_t i) {
      if (i >= best.results.size() || best.results.size() == 1)
        return false;
      Program less = best;
      less.results.erase(less.results.begin() + static_cast<std::ptrdiff_t>(i));
      return take(less);
    });
  }

  bool structure() {
    bool changed = each(best.nested.size(), [&](std::size_t i) {
      if (i >= best.nested.size())
        return false;
      Program less = best;
      less.nested.erase(less.nested.begin() + static_cast<std::ptrdiff_t>(i));
      return take(less);
    });
    for (std::size_t i = 0; i < best.inputs.size(); ++i)
      if (best.inputs[i].kind != Input::Kind::Parameter && !isBody()) {
        Program simpler = best;
        simpler.inputs[i].kind = Input::Kind::Parameter;
        changed |= take(simpler);
      }
    for (std::size_t i = 0; i < best.variables.size(); ++i)
      if (best.variables[i].isArgument && !isBody()) {
        Program simpler = best;
        simpler.variables[i].isArgument = false;
        changed |= take(simpler);
      }
    if (best.eagerNested) {
      Program simpler = best;
      simpler.eagerNested = false;
      changed |= take(simpler);
    }
    for (std::size_t i = 0; i < best.steps.size(); ++i)
      if (best.steps[i].transform && best.steps[i].transform->native) {
        Program simpler = best;
        simpler.steps[i].transform->native = false;
        changed |= take(simpler);
      }
    for (std::size_t i = 0; i < best.steps.size(); ++i)
      if (const std::optional<TapeUse> &tape = best.steps[i].tape;
          tape && (tape->tapeOf >= 0 || tape->pauseBegin < tape->pauseEnd)) {
        Program simpler = best;
        TapeUse &use = *simpler.steps[i].tape;
        use.tapeOf = -1;
        use.pauseBegin = use.pauseEnd = 0;
        changed |= take(simpler);
      }
    for (std::size_t i = 0; i < best.steps.size(); ++i)
      if (best.steps[i].tape) {
        Program simpler = best;
        Step &step = simpler.steps[i];
        std::size_t targets = static_cast<std::size_t>(step.tape->numTargets);
        // The first target alone, without output gradients.
        std::vector<int> operands{step.operands[0]};
        auto first = step.operands.begin() + static_cast<std::ptrdiff_t>(targets * (step.tape->seeded ? 2 : 1));
        operands.insert(operands.end(), first, step.operands.end());
        if (operands.size() == step.operands.size())
          continue;
        step.operands = operands;
        step.tape->numTargets = 1;
        step.tape->seeded = false;
        changed |= take(simpler);
      }
    return changed;
  }

  bool cut() {
    bool changed = false;
    for (int value = best.numValues(); value-- > static_cast<int>(best.inputs.size());) {
      if (value >= best.numValues() || value < static_cast<int>(best.inputs.size()))
        continue;
      Interpreter interpreter(best);
      try {
        interpreter.run();
      } catch (const Undecided &) {
        return changed;
      }
      if (value >= static_cast<int>(interpreter.meaning.values.size()))
        continue;
      const Array &array = *interpreter.meaning.values[value];
      Data data{array.type, {}};
      for (const Num &element : array.elements)
        data.values.push_back(roundTo(
            array.type.dtype, std::isfinite(element.value) || is_inexact(array.type.dtype) ? element.value : 0));
      changed |= take(withInput(best, value, std::move(data)));
    }
    return changed;
  }

  // A value gives way to another of its type.
  bool bypass() {
    bool changed = false;
    for (int value = best.numValues(); value-- > 0;)
      for (int other = 0; other < value && value < best.numValues(); ++other) {
        if (best.typeOf(other) != best.typeOf(value))
          continue;
        Program simpler = best;
        bool used = false;
        for (Step &step : simpler.steps)
          for (int &operand : step.operands)
            if (operand == value) {
              operand = other;
              used = true;
            }
        if (used && take(simpler)) {
          changed = true;
          break;
        }
      }
    return changed;
  }

  bool bypassResults() {
    bool changed = false;
    for (std::size_t r = 0; r < best.results.size(); ++r)
      for (int other = 0; r < best.results.size() && other < best.results[r]; ++other) {
        if (best.typeOf(other) != best.typeOf(best.results[r]))
          continue;
        Program simpler = best;
        simpler.results[r] = other;
        changed |= take(simpler);
      }
    return changed;
  }

  //===-- Transformations --===//
  bool bodies() {
    bool changed = false;
    for (std::size_t s = best.steps.size(); s-- > 0;) {
      if (s >= best.steps.size() || !best.steps[s].transform)
        continue;
      bool isInlined = false;
      for (std::size_t number = 0; number <= best.steps[s].transform->alternatives.size() && !isInlined; ++number)
        if (std::optional<Program> simpler = inlined(best, s, number))
          isInlined = take(*simpler);
      if (isInlined) {
        changed = true;
        continue;
      }
      for (std::size_t a = best.steps[s].transform->captured.size(); a-- > 0;)
        if (std::optional<Program> simpler = withoutArgument(best, s, a))
          changed |= take(*simpler);
      for (std::size_t r = best.steps[s].types.size(); r-- > 0;)
        if (std::optional<Program> simpler = withoutResult(best, s, r))
          changed |= take(*simpler);
      // Its steps need no others of this program than before, so that the step keeps its place.
      auto programIn = [s](Program &program, std::size_t number) -> std::shared_ptr<const Program> & {
        Transform &transform = *program.steps[s].transform;
        return number ? transform.alternatives[number - 1] : transform.body;
      };
      for (std::size_t number = 0;
           s < best.steps.size() && best.steps[s].transform && number <= best.steps[s].transform->alternatives.size();
           ++number) {
        std::function<bool(const Program &)> ask = [&](const Program &body) {
          Program simpler = best;
          programIn(simpler, number) = std::make_shared<const Program>(body);
          return take(simpler);
        };
        changed |= Shrinker(*programIn(best, number), ask, questions).runOnBody();
      }
    }
    return changed;
  }

  bool effects() {
    return each(best.steps.size(), [&](std::size_t i) {
      if (i >= best.steps.size() || !best.steps[i].types.empty())
        return false;
      std::vector<bool> kept(best.steps.size(), true);
      kept[i] = false;
      return take(select(best, kept));
    });
  }

  // A step without a reader may be what fails. Pruning removes all of them at once, this one by one.
  bool unused() {
    return each(best.steps.size(), [&](std::size_t i) {
      if (i >= best.steps.size())
        return false;
      const Step &step = best.steps[i];
      auto isResult = [&](int value) {
        return value >= step.firstResult && value < step.firstResult + static_cast<int>(step.types.size());
      };
      auto reads = [&](const std::vector<int> &values) { return std::any_of(values.begin(), values.end(), isResult); };
      bool isRead = reads(best.results);
      for (const Step &other : best.steps)
        isRead |= reads(other.operands);
      if (isRead)
        return false;
      std::vector<bool> kept(best.steps.size(), true);
      kept[i] = false;
      return takeWhole(select(best, kept));
    });
  }

  // One size of dimensions smaller wherever it stands.
  bool sizes() {
    std::set<std::int64_t> all;
    for (const Input &input : best.inputs)
      all.insert(input.data.type.dims.begin(), input.data.type.dims.end());
    for (const VariableInput &variable : best.variables)
      all.insert(variable.data.type.dims.begin(), variable.data.type.dims.end());
    bool changed = false;
    for (auto size = all.rbegin(); size != all.rend(); ++size)
      for (std::int64_t smaller : {std::int64_t(1), *size / 2, *size - 1})
        if (smaller > 0 && smaller < *size && take(resized(best, *size, smaller))) {
          changed = true;
          break;
        }
    return changed;
  }
  bool attributes() {
    bool changed = false;
    for (std::size_t s = 0; s < best.steps.size(); ++s)
      for (std::size_t a = 0; s < best.steps.size() && a < best.steps[s].attributes.size(); ++a) {
        if (best.steps[s].op == OpId::VariableRead || best.steps[s].op == OpId::VariableAssign ||
            best.steps[s].op == OpId::Extern)
          continue;
        auto attempt = [&](Attribute value) {
          // What was taken before may have left fewer steps.
          if (s >= best.steps.size() || a >= best.steps[s].attributes.size() ||
              value.index() != best.steps[s].attributes[a].index())
            return;
          if (schema::equal(value, best.steps[s].attributes[a]))
            return;
          Program simpler = best;
          simpler.steps[s].attributes[a] = std::move(value);
          changed |= take(simpler);
        };
        Attribute now = best.steps[s].attributes[a];
        if (std::get_if<bool>(&now))
          attempt(false);
        else if (auto *number = std::get_if<std::int64_t>(&now); number && *number != 0)
          attempt(std::int64_t(0));
        else if (std::get_if<schema::Scalar>(&now))
          attempt(schema::Scalar());
        else if (std::get_if<std::string>(&now))
          attempt(std::string("valid"));
        else if (auto *list = std::get_if<Ints>(&now)) {
          attempt(Ints());
          attempt(Ints(list->size(), 1));
          attempt(Ints(list->size(), 0));
        }
      }
    return changed;
  }

  bool data() {
    bool changed = false;
    auto simplify = [&](auto &&dataOf) {
      for (Real all : {0, 1, 2}) {
        Program simpler = best;
        Data *data = dataOf(simpler);
        if (!data)
          return;
        bool isSame = true;
        for (Real &value : data->values) {
          isSame &= value == roundTo(data->type.dtype, all);
          value = roundTo(data->type.dtype, all);
        }
        if (isSame)
          break;
        if (take(simpler)) {
          changed = true;
          break;
        }
      }
      Program rounded = best;
      Data *data = dataOf(rounded);
      bool differs = false;
      for (std::size_t i = 0; data && i < data->values.size(); ++i) {
        Real &value = data->values[i], near = std::isfinite(value) ? std::round(value) : value;
        differs |= near != value && std::isfinite(value);
        value = near;
      }
      if (differs)
        changed |= take(rounded);
    };
    // Pruning may drop some on the way.
    for (std::size_t i = 0; i < best.inputs.size(); ++i)
      simplify([i](Program &p) { return i < p.inputs.size() ? &p.inputs[i].data : nullptr; });
    for (std::size_t i = 0; i < best.variables.size(); ++i)
      simplify([i](Program &p) { return i < p.variables.size() ? &p.variables[i].data : nullptr; });
    return changed;
  }

  Program best;
  const std::function<bool(const Program &)> &fails;
  int questions;
};

} // namespace

Program shrink(const Program &program, const std::function<bool(const Program &)> &fails, int mostQuestions) {
  return Shrinker(program, fails, mostQuestions).run();
}

} // namespace calque::fuzz
