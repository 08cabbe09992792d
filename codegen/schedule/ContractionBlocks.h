// The parts of the choice of a contraction's plan (ContractionPlan.cpp): the order of its terms, its tile, and, once
// these are chosen, its blocks, its copies and its runs.
#ifndef CALQUE_CODEGEN_SCHEDULE_CONTRACTIONBLOCKS_H
#define CALQUE_CODEGEN_SCHEDULE_CONTRACTIONBLOCKS_H

#include "codegen/schedule/ContractionPlan.h"

namespace calque::codegen {

// The loops over terms, from the outermost on.
llvm::SmallVector<unsigned> termsInOrder(const Nest &nest, const Access &a);

// The fastest tile of so many rows and vectors of results.
// `inRuns`: the terms are summed up in runs, and the tile has the sums of runs beside those of the current one.
// `least`: the terms of the shortest block.
Tile chooseTile(int64_t rows, int64_t vectors, int64_t terms, int64_t least, int64_t bytesOfVector, bool inRuns,
                const Target &target);

// Completes a plan that has its tile and the roles of its loops.
void completePlan(ContractionPlan &plan, const Nest &nest, const Target &target);

} // namespace calque::codegen
#endif
