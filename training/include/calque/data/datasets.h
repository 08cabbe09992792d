// The common image data sets for beginners, from files on this machine: nothing is downloaded.
//
//   data::Dataset train = data::fashion_mnist("train");       // pairs, float32[28,28,1] in [0, 1] and int32
//   auto [train, test] = data::load_mnist("/data/mnist");     // whole tensors, bytes as int32
//   auto [x, y] = train;                                      // int32[60000,28,28] and int32[60000]
//
// DataError for a file that is missing, is damaged, or has other contents; the error is one line, and names the file,
// the place and the fault. ValueError for a split that is not "train" or "test".
#ifndef CALQUE_DATA_DATASETS_H
#define CALQUE_DATA_DATASETS_H

#include "calque/data/dataset.h"

namespace calque::data {

// Reads a file in the IDX format of MNIST, plain or compressed by gzip. Bytes and 16-bit integers become int32.
CALQUE_API Tensor read_idx(const std::string &path, SourceLocation where = SourceLocation::current());

// The images of handwritten digits by LeCun, Cortes and Burges, and their labels, from a directory with the four files
// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or with
// ".gz". Elements are float32[28,28,1], a byte's value / 255, and int32, 0 to 9.
CALQUE_API Dataset<> mnist(const std::string &split, const std::string &directory,
                           SourceLocation where = SourceLocation::current());

// The directory of Debian's package dataset-fashion-mnist.
inline constexpr const char *kFashionMnistDirectory = "/usr/share/datasets/fashion-mnist";
// The same as mnist() for images of clothes: Xiao, Rasul, Vollgraf: Fashion-MNIST, 2017.
CALQUE_API Dataset<> fashion_mnist(const std::string &split, const std::string &directory = kFashionMnistDirectory,
                                   SourceLocation where = SourceLocation::current());

// Small photographs of ten or a hundred kinds of things: Krizhevsky: Learning multiple layers of features from tiny
// images, 2009. The directory has the files of the "binary version": data_batch_1.bin to data_batch_5.bin and
// test_batch.bin, or train.bin and test.bin, plain or with ".gz". Elements are float32[32,32,3], red, green and blue as
// a byte's value / 255, and int32, the class. Of CIFAR-100, it is the fine class unless `coarse` is set.
CALQUE_API Dataset<> cifar10(const std::string &split, const std::string &directory,
                             SourceLocation where = SourceLocation::current());
CALQUE_API Dataset<> cifar100(const std::string &split, const std::string &directory, bool coarse = false,
                              SourceLocation where = SourceLocation::current());

// Both splits whole: images, int32[n,28,28] or int32[n,32,32,3] with values from 0 to 255, and labels, int32[n]. They
// are like the results of Keras' load_data(), except for the element type: Calque has no bytes.
using Splits = std::pair<std::pair<Tensor, Tensor>, std::pair<Tensor, Tensor>>;
CALQUE_API Splits load_mnist(const std::string &directory, SourceLocation where = SourceLocation::current());
CALQUE_API Splits load_fashion_mnist(const std::string &directory = kFashionMnistDirectory,
                                     SourceLocation where = SourceLocation::current());
CALQUE_API Splits load_cifar10(const std::string &directory, SourceLocation where = SourceLocation::current());
CALQUE_API Splits load_cifar100(const std::string &directory, bool coarse = false,
                                SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
