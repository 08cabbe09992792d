#include "absl/strings/str_cat.h"
#include "data/Idx.h"
#include "data/Node.h"

#include "calque/call_site.h"

#include <filesystem>

namespace calque::data {
namespace {

constexpr unsigned kImages = 0x00000803, kLabels = 0x00000801;
constexpr int kClasses = 10;
constexpr std::int64_t kSide = 28;

// The path of the file, or else of its compressed form.
std::string find(const std::string &directory, const std::string &name, SourceLocation where) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::path(directory) / name;
  std::filesystem::path compressed = absl::StrCat(path.string(), ".gz");
  if (std::filesystem::exists(path, ignored))
    return path.string();
  if (std::filesystem::exists(compressed, ignored))
    return compressed.string();
  throw DataError(absl::StrCat(path.string(), ": there is no such file, and no ", compressed.filename().string()),
                  where);
}

} // namespace

Dataset mnist(const std::string &split, const std::string &directory, SourceLocation where) {
  where = CallSite::resolve(where);
  if (split != "train" && split != "test")
    throw ValueError(absl::StrCat("mnist: there is no split '", split, "'; it is 'train' or 'test'"), where);
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored))
    throw DataError(absl::StrCat(directory, ": there is no such directory"), where);
  std::string prefix = split == "train" ? "train" : "t10k";
  std::string imagesPath = find(directory, absl::StrCat(prefix, "-images-idx3-ubyte"), where);
  std::string labelsPath = find(directory, absl::StrCat(prefix, "-labels-idx1-ubyte"), where);
  auto images = std::make_shared<const IdxFile>(readIdxFile(imagesPath, kImages, where));
  auto labels = std::make_shared<const IdxFile>(readIdxFile(labelsPath, kLabels, where));
  if (images->bytes.empty())
    throw DataError(absl::StrCat(imagesPath, ": there are no images in it"), where);
  if (images->shape[1] != kSide || images->shape[2] != kSide)
    throw DataError(absl::StrCat(imagesPath, ": the images are ", images->shape[1].str(), "x", images->shape[2].str(),
                                 " and must be ", kSide, "x", kSide),
                    where);
  if (images->shape[0] != labels->shape[0])
    throw DataError(absl::StrCat(labelsPath, ": there are ", labels->shape[0].str(), " labels for the ",
                                 images->shape[0].str(), " images of ", imagesPath),
                    where);
  for (std::size_t i = 0; i < labels->bytes.size(); ++i)
    if (labels->bytes[i] >= kClasses)
      throw DataError(
          absl::StrCat(labelsPath, ": label ", i, " is ", labels->bytes[i], " and must be below ", kClasses), where);

  // Pixels stay bytes until an element is made: as floats they would take four times the memory.
  std::int64_t height = images->shape[1], width = images->shape[2];
  auto size = static_cast<std::size_t>(height * width);
  detail::Component x{DType::Float32, {height, width, 1}, [images, size](std::int64_t row, std::byte *out) {
                        const unsigned char *pixels = images->bytes.data() + static_cast<std::size_t>(row) * size;
                        for (std::size_t i = 0; i < size; ++i)
                          reinterpret_cast<float *>(out)[i] = static_cast<float>(pixels[i]) / 255;
                      }};
  detail::Component y{DType::Int32, {}, [labels](std::int64_t row, std::byte *out) {
                        *reinterpret_cast<std::int32_t *>(out) = labels->bytes[static_cast<std::size_t>(row)];
                      }};
  return Dataset(detail::makeSource({images->shape[0], {std::move(x), std::move(y)}}));
}

Dataset fashion_mnist(const std::string &split, const std::string &directory, SourceLocation where) {
  return mnist(split, directory, where);
}

} // namespace calque::data
