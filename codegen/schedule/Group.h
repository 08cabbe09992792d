// Groups: nests that become one kernel. They share an outer loop, the *rows*, and run one block of rows after the
// other. So the values that one nest makes for another are in the first cache, or exist for one block only. A sum of
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

  // Fails if the nest can't be a member.
  static llvm::FailureOr<Groupable> of(const Nest &nest, const Target &target);
};

// The plan of a group's kernel: how its nests are cut into rows, and how many rows are a block.
class GroupPlan {
public:
  // A nest with a loop over the group's rows.
  struct Member {
    Nest nest;
    unsigned rowLoop;
    unsigned wholeLoop;       // the loop of the whole nest of which it is all or the outer part
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
    int64_t reads;         // how many members read it
  };

  // The plan of a group of these nests, if there is one. The nests are in program order.
  static std::optional<GroupPlan> of(llvm::ArrayRef<Groupable> nests, const Target &target);
  // The plan that the attributes of a kernel and its operations describe. Fails if they do not fit together, with an
  // error at the operation that is at fault.
  static llvm::FailureOr<GroupPlan> of(plan::GroupAttr group, llvm::ArrayRef<plan::MemberAttr> members,
                                       llvm::ArrayRef<Nest> nests, const Target &target);
  // The attributes that describe this plan.
  plan::GroupAttr attribute(mlir::MLIRContext *context) const;
  plan::MemberAttr attributeOf(const Member &member, mlir::MLIRContext *context) const;

  // How many fewer bytes of memory the group reads and writes than one kernel for each nest. `isOwn`: whether only the
  // group uses a buffer.
  double savedBytes(const Target &target, llvm::function_ref<bool(mlir::Value root)> isOwn) const;
  // "4096 rows, 8 at a time, of 5 nests, 1 of which combine 128 rows each"
  std::string text() const;

  Extent rows;
  int64_t block = 1;
  // If members combine the rows: how many rows a thread takes at a time. The partial results of these pieces are
  // combined in order. 0: no member combines the rows.
  int64_t piece = 0;
  // A block has a multiple of this number of rows, or is a whole piece, so that runs of sums end where blocks do.
  int64_t rowsOfRuns = 1;
  std::vector<Member> members;
  llvm::SmallVector<Exchange> exchanges;

private:
  // A way to give a nest a loop over the rows: one of its loops, or the outer part of one.
  struct Way {
    Nest nest;
    unsigned rowLoop, wholeLoop;
  };
  // The way that uses this loop of a nest, if there is one.
  static std::optional<Way> wayBy(unsigned loop, const Nest &nest, const Extent &rows);
  // All ways to give a nest a loop over the rows.
  static std::vector<Way> waysFor(const Groupable &whole, const Extent &rows, const Target &target);
  void begin(llvm::ArrayRef<const Nest *> nests, const Extent &rows);
  // Adds a member if its rows are disjoint in each buffer that it shares with the members before it.
  bool add(const Way &way);
  bool cutIntoRows(llvm::ArrayRef<Groupable> nests, const Extent &rows, const Target &target);
  // Cuts the terms of a nest that combines the rows as the nest's own kernel would, so that its sums have the same
  // bits. Fails if pieces or runs would end within a row.
  bool cutTerms(Member &member, const Nest &whole);
  // Fails if there is no block of a good size.
  bool chooseBlock(const Target &target);
  bool chooseBlockOfProducts(const Target &target);
  // The rows of one tile of products whose rows are the group's; 0: there are none.
  int64_t rowsOfTiles() const;
  // How many more bytes of memory the group reads and writes for the panels of products than the products' own kernels
  // do.
  double bytesOfPanels(const Target &target) const;
  // The bytes that the sums of a piece take on a thread's stack.
  int64_t bytesOfSums() const;

  llvm::SmallDenseSet<mlir::Value> begun; // the exchanges that a member so far uses
};

// The operations of a kernel that would be members of its group: all but the fills that initialise another operation's
// result.
llvm::SmallVector<mlir::linalg::LinalgOp> groupableIn(mlir::func::FuncOp kernel);
// Emits a group's kernel at the builder's insertion point.
void emitGroup(KernelContext context, const GroupPlan &plan);

} // namespace calque::codegen
#endif
