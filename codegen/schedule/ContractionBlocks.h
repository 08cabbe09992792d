// The steps in which ContractionPlan.cpp chooses a contraction's plan: the order of the terms, then the tile, and then
// blocks, copies and runs.
#ifndef CALQUE_CODEGEN_SCHEDULE_CONTRACTIONBLOCKS_H
#define CALQUE_CODEGEN_SCHEDULE_CONTRACTIONBLOCKS_H

#include "codegen/schedule/ContractionPlan.h"

namespace calque::codegen {

// The loops over terms, from the outermost on.
llvm::SmallVector<unsigned> termsInOrder(const Nest &nest, const Access &a);

// The fastest tile for results of `rows` rows and `vectors` vectors.
// `inRuns`: the terms are summed up in runs, and the tile has the sums of finished runs beside those of the current
// run. `least`: the number of terms of the shortest block.
Tile chooseTile(int64_t rows, int64_t vectors, int64_t terms, int64_t least, int64_t bytesOfVector, bool inRuns,
                const Target &target);

// Completes a plan that has its tile and the roles of its loops.
void completePlan(ContractionPlan &plan, const Nest &nest, const Target &target);

} // namespace calque::codegen
#endif
