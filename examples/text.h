// A text as numbers, for the examples that learn to write.
#ifndef CALQUE_EXAMPLES_TEXT_H
#define CALQUE_EXAMPLES_TEXT_H

#include <calque/training.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// int32 numbers of letters, each the position of one in `letters`.
struct Text {
  std::string letters;
  calque::Tensor x, y; // parts of the text [n,length], and for each letter of them the one that follows

  // Every `stride` letters a part begins. Throws a DataError for a file that has no part.
  Text(const std::string &path, std::int64_t length, std::int64_t stride) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (std::ssize(text) <= length)
      throw calque::DataError(path + ": there is no text of more than " + std::to_string(length) + " letters");
    letters = text;
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    std::vector<std::int32_t> numbers;
    for (char each : text)
      numbers.push_back(static_cast<std::int32_t>(letters.find(each)));
    const std::int64_t parts = (std::ssize(numbers) - length - 1) / stride + 1;
    calque::Tensor all = calque::tensor(numbers), begins = calque::iota({parts, 1}, calque::DType::Int64) * stride,
                   at = begins + calque::iota({length}, calque::DType::Int64);
    x = all[at];
    y = all[at + 1];
  }
  std::string operator()(const calque::Tensor &numbers) const {
    std::string result;
    for (std::int32_t each : numbers.to_vector<std::int32_t>())
      result += letters[static_cast<std::size_t>(each)];
    return result;
  }
};

// Draws a letter by the softmax of twice the logits, which prefers what is likely: Gumbel's numbers make the largest
// sum such a draw. [...,letters] gives [...].
inline calque::Tensor draw(const calque::Tensor &logits) {
  using namespace calque;
  return cast(argmax(2 * logits - log(-log(random::uniform(logits.shape()))), -1), DType::Int32);
}

#endif
