// The comparisons of StableHLO's tests, which are operations and targets of custom calls.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_CHECKS_H
#define CALQUE_INTERCHANGE_STABLEHLO_CHECKS_H

#include "stablehlo/Support.h"

namespace calque::stablehlo {

Results expectEqual(const Call &call);
Results expectNear(const Call &call);
Results expectClose(const Call &call);

} // namespace calque::stablehlo
#endif
