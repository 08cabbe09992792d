#include "data/ImageSet.h"
#include "data/Node.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace calque::data {

Dataset<> elementsOf(std::shared_ptr<const ImageSet> set, const Shape &shape) {
  const std::size_t size = set->count ? set->pixels.size() / static_cast<std::size_t>(set->count) : 0;
  detail::Component x{DType::Float32, shape, [set, size](std::int64_t row, std::byte *out) {
                        const unsigned char *pixels = set->pixels.data() + static_cast<std::size_t>(row) * size;
                        for (std::size_t i = 0; i < size; ++i)
                          reinterpret_cast<float *>(out)[i] = static_cast<float>(pixels[i]) / 255;
                      }};
  detail::Component y{DType::Int32, {}, [set](std::int64_t row, std::byte *out) {
                        *reinterpret_cast<std::int32_t *>(out) = set->labels[static_cast<std::size_t>(row)];
                      }};
  return detail::Access::typed<std::pair<Tensor, Tensor>>(
      detail::makeSource({set->count, {std::move(x), std::move(y)}, {}}));
}

std::pair<Tensor, Tensor> tensorsOf(const ImageSet &set) {
  Shape shape = set.shape;
  shape.insert(shape.begin(), set.count);
  return {tensor(std::vector<std::int32_t>(set.pixels.begin(), set.pixels.end()), shape),
          tensor(std::vector<std::int32_t>(set.labels.begin(), set.labels.end()), Shape{set.count})};
}

void requireSplit(const char *name, const std::string &split, SourceLocation where) {
  if (split != "train" && split != "test")
    throw ValueError(absl::StrCat(name, ": there is no split '", split, "'; it is 'train' or 'test'"), where);
}

std::string findFile(const std::string &directory, const std::string &name, SourceLocation where) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored))
    throw DataError(absl::StrCat(directory, ": there is no such directory"), where);
  std::filesystem::path path = std::filesystem::path(directory) / name;
  std::filesystem::path compressed = absl::StrCat(path.string(), ".gz");
  if (std::filesystem::exists(path, ignored))
    return path.string();
  if (std::filesystem::exists(compressed, ignored))
    return compressed.string();
  throw DataError(absl::StrCat(path.string(), ": there is no such file, and no ", compressed.filename().string()),
                  where);
}

void requireLabels(const std::string &path, const std::vector<unsigned char> &labels, std::size_t first, int classes,
                   SourceLocation where) {
  for (std::size_t i = first; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw DataError(absl::StrCat(path, ": label ", i - first, " is ", labels[i], " and must be below ", classes),
                      where);
}

} // namespace calque::data
