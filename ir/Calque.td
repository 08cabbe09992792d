// The dialect: all families of records.
#ifndef CALQUE_IR_CALQUE_TD
#define CALQUE_IR_CALQUE_TD

include "ir/TypeRules.td"
include "ir/Elementwise.td"
include "ir/Functions.td"
include "ir/Complex.td"
include "ir/Numbers.td"
include "ir/Bits.td"
include "ir/Special.td"
include "ir/Structured.td"
include "ir/Movement.td"
include "ir/LinearAlgebra.td"
include "ir/ComplexMatrices.td"
include "ir/Banded.td"
include "ir/Fourier.td"
include "ir/Effects.td"
include "ir/Transforms.td"
include "ir/ControlFlow.td"

#endif
