// Einstein's sums of products.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/operations/ProductOrder.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace calque {

using detail::ProductOrder;
using detail::typeOf;

namespace {

bool areUnlike(const Size &a, const Size &b) { return a.is_known() && b.is_known() && a != b; }

// A tensor whose dimensions have letters.
struct Lettered {
  Tensor tensor;
  std::string letters;
};

class Einsum {
public:
  Einsum(const std::string &equation, const std::vector<Tensor> &tensors, SourceLocation where)
      : equation(equation), where(where) {
    std::string text;
    for (char c : equation)
      if (c != ' ')
        text += c;
    std::size_t arrow = text.find("->");
    std::string inputs = text.substr(0, arrow);
    std::vector<std::string> lists{""};
    for (char c : inputs)
      c == ',' ? lists.push_back("") : lists.back().push_back(c);
    for (const std::string &list : lists)
      requireLetters(list);
    if (lists.size() != tensors.size())
      throw ValueError(absl::StrCat("einsum: '", equation, "' has subscripts for ",
                                    schema::counted(lists.size(), "tensor"), ", and given is ", tensors.size()),
                       where);
    output = arrow == std::string::npos ? kDots + lettersOfOne(inputs) : text.substr(arrow + 2);
    requireLetters(output);
    const std::string others = spellDots(lists, tensors);
    if (std::size_t at = output.find(kDots); at != std::string::npos)
      output.replace(at, kDots.size(), others);
    else if (!others.empty())
      throw ValueError(absl::StrCat("einsum: the result of '", equation, "' lacks '...', which stands for ",
                                    schema::counted(others.size(), "dimension"), " of the tensors"),
                       where);
    inputs = absl::StrCat(inputs, others);
    for (char letter : output)
      if (inputs.find(letter) == std::string::npos || std::count(output.begin(), output.end(), letter) > 1)
        throw ValueError(absl::StrCat("einsum: '", std::string(1, letter), "' must stand once behind the arrow of '",
                                      equation, "', and before it too"),
                         where);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      terms.push_back({tensors[i], lists[i]});
    broadcastOnes();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      requireSizes(terms[i].letters, terms[i].tensor, i);
  }

  Tensor result() {
    for (Lettered &term : terms)
      term = diagonal(std::move(term));
    for (std::size_t i = 0; i < terms.size(); ++i)
      terms[i] = reduced(terms[i], i, i);
    // A pair is replaced by its product, which takes the place of the first of the two.
    for (auto [first, second] : orderOfProducts()) {
      terms[first] = product(first, second);
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(second));
      terms[first] = reduced(terms[first], first, first);
    }
    const Lettered &all = terms[0];
    std::vector<std::int64_t> permutation;
    bool isInOrder = true;
    for (char letter : output) {
      permutation.push_back(static_cast<std::int64_t>(all.letters.find(letter)));
      isInOrder &= permutation.back() + 1 == static_cast<std::int64_t>(permutation.size());
    }
    return isInOrder ? all.tensor : transpose(Operand(all.tensor, where), permutation);
  }

private:
  // Without an arrow, the result has the letters that occur once, in the order of the alphabet.
  static std::string lettersOfOne(const std::string &inputs) {
    std::map<char, int> counts;
    for (char c : inputs)
      counts[c] += c != ',' && c != '.';
    std::string letters;
    for (auto [letter, count] : counts)
      if (count == 1)
        letters += letter;
    return letters;
  }

  inline static const std::string kDots = "...";

  void requireLetters(std::string list) const {
    if (std::size_t dots = list.find(kDots); dots != std::string::npos)
      list.erase(dots, kDots.size());
    for (char c : list)
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
        throw ValueError(absl::StrCat("einsum: subscripts are letters and one '...', with commas between tensors and "
                                      "'->' before the result; '",
                                      equation, "' has '", std::string(1, c), "'"),
                         where);
  }

  // Replaces the dots of each list by characters that are no letters, one for each dimension that the dots stand for.
  // Dimensions are matched from the last one on, so that the same dimension has the same character in all lists.
  // Returns all such characters.
  static std::string spellDots(std::vector<std::string> &lists, const std::vector<Tensor> &tensors) {
    std::vector<std::size_t> counts;
    std::size_t most = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto rank = static_cast<std::size_t>(tensors[i].rank()), letters = lists[i].size() - kDots.size();
      bool hasDots = lists[i].find(kDots) != std::string::npos;
      counts.push_back(hasDots && rank > letters ? rank - letters : 0);
      most = std::max(most, counts.back());
    }
    std::string others;
    for (std::size_t i = 0; i < most; ++i)
      others += static_cast<char>('\1' + i);
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (std::size_t at = lists[i].find(kDots); at != std::string::npos)
        lists[i].replace(at, kDots.size(), others.substr(most - counts[i]));
    return others;
  }

  // Leaves out dimensions of size 1 where another tensor has another size for the same letter.
  void broadcastOnes() {
    std::set<char> letters;
    for (const Lettered &term : terms)
      letters.insert(term.letters.begin(), term.letters.end());
    for (char other : letters) {
      auto sizeIn = [&](const Lettered &term) -> std::optional<Size> {
        std::size_t at = term.letters.find(other);
        const Shape shape = term.tensor.shape();
        return at < shape.size() ? std::optional(shape[at]) : std::nullopt;
      };
      auto isOne = [](const Size &size) { return size.is_known() && size == 1; };
      bool isRepeated = std::any_of(terms.begin(), terms.end(), [&](const Lettered &term) {
        std::optional<Size> size = sizeIn(term);
        return size && !isOne(*size);
      });
      for (Lettered &term : terms)
        if (std::optional<Size> size = sizeIn(term); size && isOne(*size) && isRepeated) {
          std::size_t at = term.letters.find(other);
          term.tensor = squeeze(Operand(term.tensor, where), static_cast<std::int64_t>(at));
          term.letters.erase(at, 1);
        }
    }
  }

  void requireSizes(const std::string &list, const Tensor &tensor, std::size_t number) {
    const Shape shape = tensor.shape();
    // Dots stand for as many dimensions as are left. So a list with dots differs only if it has too many letters.
    if (list.size() != shape.size())
      throw ShapeError(absl::StrCat("einsum: '", list, "' has ", schema::counted(list.size(), "subscript"),
                                    ", and tensor ", number, " is ", typeOf(tensor)),
                       where);
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto [known, isNew] = sizes.try_emplace(list[i], shape[i]);
      if (areUnlike(known->second, shape[i]) && !absl::ascii_isalpha(static_cast<unsigned char>(list[i])))
        throw ShapeError(absl::StrCat("einsum: a dimension that '...' stands for is ", known->second.str(), " and ",
                                      shape[i].str(), " in '", equation, "'; tensor ", number, " is ", typeOf(tensor)),
                         where);
      if (areUnlike(known->second, shape[i]))
        throw ShapeError(absl::StrCat("einsum: the letter '", std::string(1, list[i]), "' is ", known->second.str(),
                                      " and ", shape[i].str(), " in '", equation, "'; tensor ", number, " is ",
                                      typeOf(tensor)),
                         where);
      if (shape[i].is_known())
        known->second = shape[i];
    }
  }

  // Whether the result has the letter, or a tensor other than these two.
  bool isNeeded(char letter, std::size_t first, std::size_t second) const {
    auto has = [&](const std::string &letters) { return letters.find(letter) != std::string::npos; };
    bool isFound = has(output);
    for (std::size_t i = 0; i < terms.size() && !isFound; ++i)
      isFound = i != first && i != second && has(terms[i].letters);
    return isFound;
  }

  // Sums over the dimensions whose letters are needed neither by the result nor by a tensor other than these two.
  Lettered reduced(const Lettered &term, std::size_t first, std::size_t second) const {
    std::vector<std::int64_t> axes;
    std::string kept;
    for (std::size_t i = 0; i < term.letters.size(); ++i)
      if (isNeeded(term.letters[i], first, second))
        kept += term.letters[i];
      else
        axes.push_back(static_cast<std::int64_t>(i));
    return axes.empty() ? term : Lettered{total(term.tensor, axes), kept};
  }

  // The pairs in whose order the tensors are multiplied.
  std::vector<ProductOrder::Pair> orderOfProducts() const {
    std::string all;
    std::vector<double> lengths;
    auto setOf = [&](const std::string &letters) {
      ProductOrder::Letters set = 0;
      for (char letter : letters) {
        std::size_t at = all.find(letter);
        if (at == std::string::npos) {
          at = all.size();
          all += letter;
          const Size &size = sizes.at(letter);
          lengths.push_back(size.is_known() ? static_cast<double>(std::int64_t(size)) : ProductOrder::kUnknownSize);
        }
        set |= at < ProductOrder::kMostLetters ? ProductOrder::Letters(1) << at : 0;
      }
      return set;
    };
    std::vector<ProductOrder::Letters> factors;
    for (const Lettered &term : terms)
      factors.push_back(setOf(term.letters));
    return ProductOrder(std::move(factors), setOf(output), std::move(lengths)).pairs();
  }

  // In the type of the tensors, as products have it: sums of small integers are of a larger one.
  Tensor total(const Tensor &x, const std::vector<std::int64_t> &axes) const {
    const Tensor sums = sum(Operand(x, where), axes);
    return sums.dtype() == x.dtype() ? sums : cast(Operand(sums, where), x.dtype());
  }

  // If a tensor has a letter twice, takes the elements at which both indices are the same: sets the others to zero, and
  // sums over one of the two dimensions.
  Lettered diagonal(Lettered term) const {
    for (std::size_t i = 0; i < term.letters.size(); ++i)
      for (std::size_t j = term.letters.size(); --j > i;) {
        if (term.letters[j] != term.letters[i])
          continue;
        Shape rows(term.letters.size(), 1), columns = rows;
        const Shape shape = term.tensor.shape();
        if (!shape[i].is_known() || !shape[j].is_known())
          throw StateError(absl::StrCat("einsum: '", std::string(1, term.letters[i]),
                                        "' stands twice in one tensor of '", equation,
                                        "', whose size must be known; it is ", typeOf(term.tensor)),
                           where);
        rows[i] = shape[i];
        columns[j] = shape[j];
        Tensor isSame = iota(rows, DType::Int64, static_cast<std::int64_t>(i)) ==
                        iota(columns, DType::Int64, static_cast<std::int64_t>(j));
        Tensor kept = calque::where(Operand(isSame, where), Operand(term.tensor, where), 0);
        term = {total(kept, {static_cast<std::int64_t>(j)}), term.letters.substr(0, j) + term.letters.substr(j + 1)};
      }
    return term;
  }

  // A letter of both operands is a batch dimension if the result or another tensor needs it. Otherwise the product sums
  // over it.
  Lettered product(std::size_t first, std::size_t second) const {
    const Lettered &a = terms[first], &b = terms[second];
    std::vector<std::int64_t> batchA, batchB, summedA, summedB;
    std::string batch, freeA, freeB = b.letters;
    for (std::size_t i = 0; i < a.letters.size(); ++i) {
      std::size_t at = b.letters.find(a.letters[i]);
      if (at == std::string::npos) {
        freeA += a.letters[i];
        continue;
      }
      freeB.erase(freeB.find(a.letters[i]), 1);
      bool isBatch = isNeeded(a.letters[i], first, second);
      (isBatch ? batchA : summedA).push_back(static_cast<std::int64_t>(i));
      (isBatch ? batchB : summedB).push_back(static_cast<std::int64_t>(at));
      if (isBatch)
        batch += a.letters[i];
    }
    return {contract(Operand(a.tensor, where), Operand(b.tensor, where), batchA, batchB, summedA, summedB),
            batch + freeA + freeB};
  }

  const std::string &equation;
  const SourceLocation where;
  std::string output;
  std::vector<Lettered> terms;
  std::map<char, Size> sizes;
};

} // namespace

Tensor einsum(const std::string &equation, const std::vector<Tensor> &tensors, SourceLocation where) {
  where = detail::userLine(where);
  CallSite library(where, "einsum");
  return Einsum(equation, tensors, where).result();
}

} // namespace calque
