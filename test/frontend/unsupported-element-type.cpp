// Must not compile: there are no tensors of char.
#include "calque/tensor.h"

calque::Tensor x = calque::tensor<char>({'a'});
