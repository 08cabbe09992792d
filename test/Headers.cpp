// The headers of tests, which are precompiled with it.
#include "test/Tensors.h"
