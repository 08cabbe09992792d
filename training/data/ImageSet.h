// Sets of images and labels that are kept as bytes: as floats they would take four times the memory.
#ifndef CALQUE_TRAINING_DATA_IMAGESET_H
#define CALQUE_TRAINING_DATA_IMAGESET_H

#include "calque/data/datasets.h"

#include <memory>
#include <string>
#include <vector>

namespace calque::data {

struct ImageSet {
  std::int64_t count = 0;
  Shape shape; // of an image
  std::vector<unsigned char> pixels, labels;
};

// Elements of `shape`, which has as many pixels as the set's own, in [0, 1].
Dataset<> elementsOf(std::shared_ptr<const ImageSet> set, const Shape &shape);
// int32 tensors of all.
std::pair<Tensor, Tensor> tensorsOf(const ImageSet &set);

// ValueError unless it is "train" or "test".
void requireSplit(const char *name, const std::string &split, SourceLocation where);
// The path of the file, or else of its compressed form. DataError where there is none, or no directory.
std::string findFile(const std::string &directory, const std::string &name, SourceLocation where);
// DataError for a label of `classes` or above.
void requireLabels(const std::string &path, const std::vector<unsigned char> &labels, std::size_t first, int classes,
                   SourceLocation where);

} // namespace calque::data
#endif
