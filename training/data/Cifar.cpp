#include "absl/strings/str_cat.h"
#include "data/File.h"
#include "data/ImageSet.h"

#include "calque/call_site.h"

namespace calque::data {
namespace {

constexpr std::size_t kCifarSide = 32, kPlane = kCifarSide * kCifarSide, kImage = 3 * kPlane;

// A record has its labels, a byte each, and the planes of red, green and blue.
void append(ImageSet &set, const std::string &path, std::size_t labels, std::size_t label, int classes,
            SourceLocation where) {
  readWithinMemory(path, where, [&] {
    FileReader file(path, where);
    const std::size_t before = set.labels.size();
    for (std::string record; !(record = file.readSome(labels + kImage)).empty();) {
      if (record.size() < labels + kImage)
        file.fail(absl::StrCat("truncated: it ends within image ", set.labels.size() - before, ", which has ",
                               labels + kImage, " bytes"));
      set.labels.push_back(static_cast<unsigned char>(record[label]));
      if (set.labels.back() >= classes) // before more is unpacked
        requireLabels(path, set.labels, before, classes, where);
      for (std::size_t i = 0; i < kPlane; ++i)
        for (std::size_t channel = 0; channel < 3; ++channel)
          set.pixels.push_back(static_cast<unsigned char>(record[labels + channel * kPlane + i]));
    }
    if (set.labels.size() == before)
      file.fail("there are no images in it");
    set.count = static_cast<std::int64_t>(set.labels.size());
  });
}

ImageSet readCifar10(const std::string &split, const std::string &directory, SourceLocation where) {
  ImageSet set{0, {kCifarSide, kCifarSide, 3}, {}, {}};
  std::vector<std::string> names = {"test_batch.bin"};
  if (split == "train") {
    names.clear();
    for (int i = 1; i <= 5; ++i)
      names.push_back(absl::StrCat("data_batch_", i, ".bin"));
  }
  for (const std::string &name : names)
    append(set, findFile(directory, name, where), 1, 0, 10, where);
  return set;
}

ImageSet readCifar100(const std::string &split, const std::string &directory, bool coarse, SourceLocation where) {
  ImageSet set{0, {kCifarSide, kCifarSide, 3}, {}, {}};
  append(set, findFile(directory, absl::StrCat(split, ".bin"), where), 2, coarse ? 0 : 1, coarse ? 20 : 100, where);
  return set;
}

} // namespace

Dataset<> cifar10(const std::string &split, const std::string &directory, SourceLocation where) {
  where = CallSite::resolve(where);
  requireSplit("cifar10", split, where);
  return elementsOf(std::make_shared<const ImageSet>(readCifar10(split, directory, where)),
                    {kCifarSide, kCifarSide, 3});
}
Dataset<> cifar100(const std::string &split, const std::string &directory, bool coarse, SourceLocation where) {
  where = CallSite::resolve(where);
  requireSplit("cifar100", split, where);
  return elementsOf(std::make_shared<const ImageSet>(readCifar100(split, directory, coarse, where)),
                    {kCifarSide, kCifarSide, 3});
}

Splits load_cifar10(const std::string &directory, SourceLocation where) {
  where = CallSite::resolve(where);
  return readWithinMemory(directory, where, [&] {
    return Splits{tensorsOf(readCifar10("train", directory, where)), tensorsOf(readCifar10("test", directory, where))};
  });
}
Splits load_cifar100(const std::string &directory, bool coarse, SourceLocation where) {
  where = CallSite::resolve(where);
  return readWithinMemory(directory, where, [&] {
    return Splits{tensorsOf(readCifar100("train", directory, coarse, where)),
                  tensorsOf(readCifar100("test", directory, coarse, where))};
  });
}

} // namespace calque::data
