// Groups: nests that become one kernel. They share an outer loop, the *rows*, and run one block of rows after the
// other. The values that one nest makes for another are in the first cache then, or exist for one block only. A sum of
// products is a nest like others: panels that all blocks read are packed before the first block.
#ifndef CALQUE_CODEGEN_SCHEDULE_GROUP_H
#define CALQUE_CODEGEN_SCHEDULE_GROUP_H

#include "codegen/schedule/ContractionPlan.h"

#include <vector>

namespace calque::codegen {

// A nest that can be a member of a group.
struct Groupable {
  Nest nest;
  std::optional<ContractionPlan> product; // how a sum of products becomes tiles

  // Fails where it can't be one.
  static llvm::FailureOr<Groupable> of(const Nest &nest, const Target &target);
};

// The plan of a group's kernel: how its nests are cut into rows, and how many rows are a block.
class GroupPlan {
public:
  // A nest with a loop over the group's rows.
  struct Member {
    Nest nest;
    unsigned rowLoop;
    mlir::Value initial; // of a reduction; may be null
    SumOrder order;
    std::optional<ContractionPlan> product; // of the nest, in blocks
    // Of a nest that combines the rows: how many terms of a result a row has.
    int64_t termsOfRow = 1;
    // Whether the nest combines the rows. Its results are there after the last row, so that no other member uses them.
    bool combinesRows() const { return nest.isReduction[rowLoop]; }
  };
  // A buffer that several members use and one of them writes. Row i is its elements from first + i * slab on.
  struct Exchange {
    mlir::Value root;
    Extent slab;
    int64_t first, length; // the elements of a row that are used, where they are known; else the length is -1
    int64_t reads;         // of how many members
  };

  // Such a plan, if there is one. The nests are in the order in which they run one after the other.
  static std::optional<GroupPlan> of(llvm::ArrayRef<Groupable> nests, const Target &target);

  // The bytes of memory that need not be read and written, compared with kernels of their own. `isOwn`: whether nothing
  // but the group uses a buffer.
  double savedBytes(const Target &target, llvm::function_ref<bool(mlir::Value root)> isOwn) const;
  // "4096 rows, 8 at a time, of 5 nests, 1 of which combine 128 rows each"
  std::string text() const;

  Extent rows;
  int64_t block = 1;
  // If members combine the rows: how many rows a thread takes at a time. The partial results of these pieces are
  // combined in order. 0: no member combines the rows.
  int64_t piece = 0;
  // A block has a multiple of so many rows, or a whole piece, so that runs of sums end where blocks do.
  int64_t rowsOfRuns = 1;
  std::vector<Member> members;
  llvm::SmallVector<Exchange> exchanges;

private:
  bool cutIntoRows(llvm::ArrayRef<Groupable> nests, const Extent &rows, const Target &target);
  // Cuts the terms of a nest that combines the rows as they are if it is alone, so that its sums have the same bits.
  // Fails where pieces or runs would end within a row.
  bool cutTerms(Member &member, const Nest &whole);
  // Fails where there is no block of a good size.
  bool chooseBlock(const Target &target);
  bool chooseBlockOfProducts(const Target &target);
  // The rows of one tile of products whose rows are the group's; 0: there are none.
  int64_t rowsOfTiles() const;
  // The bytes that packing the panels of products and reading them for each block takes, beyond what they take alone.
  double bytesOfPanels(const Target &target) const;
};

// Emits a group's kernel at the builder's insertion point. `initials` has the initial value of each reduction. Returns
// false, and emits nothing, where the nests are no group.
bool emitGroup(Schedule schedule, llvm::ArrayRef<Nest> nests, llvm::ArrayRef<mlir::Value> initials);

} // namespace calque::codegen
#endif
