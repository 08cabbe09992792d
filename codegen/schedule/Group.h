// Groups: nests that become one kernel. They share an outer loop, the *rows*, and run one block of rows after the
// other. The values that one nest makes for another are in the first cache then, or exist for one block only. A sum of
// products is a nest like others: panels that all blocks read are packed before the first block.
#ifndef CALQUE_CODEGEN_SCHEDULE_GROUP_H
#define CALQUE_CODEGEN_SCHEDULE_GROUP_H

#include "codegen/schedule/Plans.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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
    unsigned wholeLoop;       // the loop of the whole nest that has it
    mlir::Value initial = {}; // of a reduction; may be null
    SumOrder order = {};
    std::optional<ContractionPlan> product = std::nullopt; // of the nest, in blocks
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
  // What attributes say of a kernel and its operations. Fails where they don't fit together, with an error at the
  // operation that is at fault.
  static llvm::FailureOr<GroupPlan> of(plan::GroupAttr group, llvm::ArrayRef<plan::MemberAttr> members,
                                       llvm::ArrayRef<Nest> nests, const Target &target);
  // And these attributes.
  plan::GroupAttr attribute(mlir::MLIRContext *context) const;
  plan::MemberAttr attributeOf(const Member &member, mlir::MLIRContext *context) const;

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
  // A way to give a nest a loop over the rows: one of its loops, or the outer part of one.
  struct Way {
    Nest nest;
    unsigned rowLoop, wholeLoop;
  };
  // The way by one of a nest's loops, if there is one.
  static std::optional<Way> wayBy(unsigned loop, const Nest &nest, const Extent &rows);
  // All ways that are open to a nest.
  static std::vector<Way> waysFor(const Groupable &whole, const Extent &rows, const Target &target);
  void begin(llvm::ArrayRef<const Nest *> nests, const Extent &rows);
  // Adds a member, if its rows are apart from each other in what it shares with those before it.
  bool add(const Way &way);
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
  // The bytes that the sums of a piece take on a thread's stack.
  int64_t bytesOfSums() const;

  llvm::SmallDenseSet<mlir::Value> begun; // the exchanges that a member has
};

// The operations of a kernel that would be its members: all but fills that initialise another one's result.
llvm::SmallVector<mlir::linalg::LinalgOp> groupableIn(mlir::func::FuncOp kernel);
// Emits a group's kernel at the builder's insertion point.
void emitGroup(KernelContext context, const GroupPlan &plan);

} // namespace calque::codegen
#endif
