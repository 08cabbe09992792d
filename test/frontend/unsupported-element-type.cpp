// Must not compile: there are no tensors of char.
#include "calque/calque.h"

calque::Tensor x = calque::tensor<char>({'a'});
