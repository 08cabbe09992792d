#include "absl/strings/str_cat.h"
#include "data/File.h"
#include "data/Idx.h"
#include "data/ImageSet.h"

#include "calque/call_site.h"

namespace calque::data {
namespace {

constexpr unsigned kImages = 0x00000803, kLabels = 0x00000801;
constexpr int kClasses = 10;
constexpr std::int64_t kSide = 28;

ImageSet readMnist(const std::string &split, const std::string &directory, SourceLocation where) {
  const std::string prefix = split == "train" ? "train" : "t10k";
  std::string imagesPath = findFile(directory, absl::StrCat(prefix, "-images-idx3-ubyte"), where);
  std::string labelsPath = findFile(directory, absl::StrCat(prefix, "-labels-idx1-ubyte"), where);
  IdxFile images = readIdxFile(imagesPath, kImages, where, [&](const Shape &shape) {
    if (shape[0] == 0 || shape[1] == 0 || shape[2] == 0)
      throw DataError(absl::StrCat(imagesPath, ": there are no images in it"), where);
    if (shape[1] != kSide || shape[2] != kSide)
      throw DataError(absl::StrCat(imagesPath, ": the images are ", shape[1].str(), "x", shape[2].str(),
                                   " and must be ", kSide, "x", kSide),
                      where);
  });
  IdxFile labels = readIdxFile(labelsPath, kLabels, where, [&](const Shape &shape) {
    if (images.shape[0] != shape[0])
      throw DataError(absl::StrCat(labelsPath, ": there are ", shape[0].str(), " labels for the ",
                                   images.shape[0].str(), " images of ", imagesPath),
                      where);
  });
  requireLabels(labelsPath, labels.bytes, 0, kClasses, where);
  return {images.shape[0], {kSide, kSide}, std::move(images.bytes), std::move(labels.bytes)};
}

} // namespace

Dataset<> mnist(const std::string &split, const std::string &directory, SourceLocation where) {
  where = CallSite::resolve(where);
  requireSplit("mnist", split, where);
  return readWithinMemory(directory, where, [&] {
    return elementsOf(std::make_shared<const ImageSet>(readMnist(split, directory, where)), {kSide, kSide, 1});
  });
}

Splits load_mnist(const std::string &directory, SourceLocation where) {
  where = CallSite::resolve(where);
  return readWithinMemory(directory, where, [&] {
    return Splits{tensorsOf(readMnist("train", directory, where)), tensorsOf(readMnist("test", directory, where))};
  });
}

Dataset<> fashion_mnist(const std::string &split, const std::string &directory, SourceLocation where) {
  return mnist(split, directory, where);
}
Splits load_fashion_mnist(const std::string &directory, SourceLocation where) { return load_mnist(directory, where); }

} // namespace calque::data
