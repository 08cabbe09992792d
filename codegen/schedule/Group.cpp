// Decides whether nests can be run row by row, and how many rows at a time.
#include "codegen/schedule/Group.h"
#include "codegen/schedule/Contraction.h"
#include "codegen/schedule/DotProducts.h"
#include "ir/ElementType.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir;

namespace calque::codegen {

namespace {

// The elements of a buffer that an access reaches in one row: from `first` on, `length` of them. Each may be unknown.
struct Reach {
  std::optional<int64_t> first;
  std::optional<Extent> length;
};

Reach reachInRow(const Access &access, const Nest &nest, unsigned rowLoop) {
  Reach reach{access.offset, Extent(1)};
  SmallVector<unsigned> loops;
  bool isKnown = true;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (loop != rowLoop && access.varies(loop)) {
      loops.push_back(loop);
      isKnown &= access.strides[loop].isKnown() && nest.extents[loop].isKnown();
    }
  if (isKnown) {
    int64_t low = 0, high = 0;
    for (unsigned loop : loops) {
      int64_t last = *access.strides[loop].known() * (*nest.extents[loop].known() - 1);
      (last < 0 ? low : high) += last;
    }
    return {access.offset + low, Extent(high - low + 1)};
  }
  // Elements that lie one after the other.
  llvm::stable_sort(loops, [&](unsigned a, unsigned b) { return access.distance(a) < access.distance(b); });
  for (unsigned loop : loops) {
    if (!(access.strides[loop] == *reach.length))
      return {};
    reach.length = *reach.length * nest.extents[loop];
  }
  return reach;
}

// How nests use a buffer that one of them writes for another.
struct Use {
  Value root;
  unsigned members = 0;
  bool isWritten = false;
};

SmallVector<Use> sharedBuffers(ArrayRef<const Nest *> nests) {
  llvm::MapVector<Value, Use> uses;
  for (const Nest *nest : nests) {
    llvm::SmallDenseSet<Value> own;
    auto note = [&](const Access &access, bool isWritten) {
      if (!access.isBuffer)
        return;
      Value root = rootBuffer(access.value);
      Use &use = uses[root];
      use.root = root;
      use.isWritten |= isWritten;
      use.members += own.insert(root).second;
    };
    for (const Access &access : nest->inputs)
      note(access, false);
    for (const Access &access : nest->outputs)
      note(access, true);
  }
  SmallVector<Use> shared;
  for (auto &[root, use] : uses)
    if (use.isWritten && use.members > 1)
      shared.push_back(use);
  return shared;
}

SmallVector<const Access *> accessesTo(const Nest &nest, Value root) {
  SmallVector<const Access *> found;
  for (const auto *accesses : {&nest.inputs, &nest.outputs})
    for (const Access &access : *accesses)
      if (access.isBuffer && rootBuffer(access.value) == root)
        found.push_back(&access);
  return found;
}

// Whether the rows that an access reaches are interleaved in memory, so that going from row to row would touch all
// memory again and again.
bool liesAcross(const Access &access, const Nest &nest, unsigned rowLoop) {
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (loop != rowLoop && access.varies(loop) && access.distance(loop) > access.distance(rowLoop))
      return access.varies(rowLoop);
  return false;
}

// Adds the elements that an access reaches to an exchange. Returns false if the rows would overlap.
bool extend(GroupPlan::Exchange &exchange, const Access &access, const Nest &nest, unsigned rowLoop, bool isFirst) {
  const Extent &stride = access.strides[rowLoop];
  Reach reach = reachInRow(access, nest, rowLoop);
  if (access.unknownOffset || !reach.first || !reach.length || stride.scale() <= 0)
    return false;
  if (isFirst) {
    exchange.slab = stride;
    exchange.first = *reach.first;
    exchange.length = reach.length->known().value_or(-1);
  } else if (!(stride == exchange.slab)) {
    return false;
  } else if (exchange.length >= 0 && reach.length->isKnown()) {
    int64_t end = std::max(exchange.first + exchange.length, *reach.first + *reach.length->known());
    exchange.first = std::min(exchange.first, *reach.first);
    exchange.length = end - exchange.first;
  } else if (exchange.first != *reach.first) {
    return false;
  } else {
    exchange.length = -1;
  }
  if (std::optional<int64_t> known = stride.known(); known && exchange.length >= 0)
    return exchange.length <= *known;
  return *reach.length == stride || (*reach.length == 1 && exchange.length == 1);
}

} // namespace

FailureOr<Groupable> Groupable::of(const Nest &nest, const Target &target) {
  if (nest.iterations() == 0 || nest.outputs.empty() || !VectorBuilder::canVectorize(nest) || nest.readsBuffers() ||
      (nest.hasReduction() && !Combiner::of(nest)))
    return failure();
  ProductPlan product = ProductPlan::of(nest, target);
  if (product.dots)
    return failure();
  return Groupable{nest, std::move(product.tiles)};
}

std::optional<GroupPlan::Way> GroupPlan::wayBy(unsigned loop, const Nest &nest, const Extent &rows) {
  std::optional<Extent> inner = nest.extents[loop].dividedBy(rows);
  if (!inner)
    return std::nullopt;
  if (*inner == 1)
    return Way{nest, loop, loop};
  if (nest.isIndexed(loop))
    return std::nullopt;
  Way way{nest, nest.numLoops(), loop};
  Nest &cut = way.nest;
  cut.extents[loop] = *inner;
  cut.extents.push_back(rows);
  cut.isReduction.push_back(nest.isReduction[loop]);
  for (auto *accesses : {&cut.inputs, &cut.outputs})
    for (Access &access : *accesses)
      access.strides.push_back(access.strides[loop] * *inner);
  return way;
}

std::vector<GroupPlan::Way> GroupPlan::waysFor(const Groupable &whole, const Extent &rows, const Target &target) {
  const Nest &nest = whole.nest;
  std::vector<Way> ways;
  if (whole.product) {
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (nest.extents[loop] == rows && whole.product->inBlocksOf(loop, nest))
        ways.push_back({nest, loop, loop});
    return ways;
  }
  // If threads share the terms of a reduction, the loop over these terms may be the loop over the rows.
  TermPieces pieces = nest.hasReduction() ? TermPieces::of(nest) : TermPieces();
  if (pieces.count && SumOrder::of(nest, target).vectorLoop)
    return ways;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (pieces.count ? loop != pieces.loop : nest.isReduction[loop])
      continue;
    if (std::optional<Way> way = wayBy(loop, nest, rows))
      ways.push_back(std::move(*way));
  }
  return ways;
}

void GroupPlan::begin(ArrayRef<const Nest *> nests, const Extent &rows) {
  this->rows = rows;
  piece = 0;
  rowsOfRuns = 1;
  members.clear();
  exchanges.clear();
  begun.clear();
  for (const Use &use : sharedBuffers(nests))
    exchanges.push_back({use.root, Extent(0), 0, 0, 0});
}

bool GroupPlan::add(const Way &way) {
  const auto &[cut, rowLoop, wholeLoop] = way;
  SmallVector<Exchange> next = exchanges;
  llvm::SmallDenseSet<Value> now = begun;
  auto across = [&, row = rowLoop, &own = cut](const Access &access) { return liesAcross(access, own, row); };
  if (llvm::any_of(cut.inputs, across) || llvm::any_of(cut.outputs, across))
    return false;
  for (Exchange &exchange : next) {
    for (const Access *access : accessesTo(cut, exchange.root))
      if (!extend(exchange, *access, cut, rowLoop, now.insert(exchange.root).second))
        return false;
    for (const Access &access : cut.inputs)
      exchange.reads += access.isBuffer && access.isUsed && rootBuffer(access.value) == exchange.root;
  }
  exchanges = std::move(next);
  begun = std::move(now);
  members.push_back({cut, rowLoop, wholeLoop});
  return true;
}

int64_t GroupPlan::bytesOfSums() const {
  // The sums, and what they have rounded away.
  int64_t bytes = 0;
  for (const Member &member : members)
    if (member.combinesRows())
      bytes += 2 * *member.nest.iterations(false).known() * ir::ElementType(member.nest.outputs[0].element).bytes();
  return bytes;
}

bool GroupPlan::cutIntoRows(ArrayRef<Groupable> nests, const Extent &rows, const Target &target) {
  begin(llvm::map_to_vector(nests, [](const Groupable &each) { return &each.nest; }), rows);
  for (const Groupable &whole : nests) {
    std::vector<Way> ways = waysFor(whole, rows, target);
    if (llvm::none_of(ways, [&](const Way &way) { return add(way); }))
      return false;
    Member &member = members.back();
    if (member.combinesRows() && !cutTerms(member, whole.nest))
      return false;
    if (whole.product)
      member.product = whole.product->inBlocksOf(member.rowLoop, member.nest);
    // The sums of a piece are on the thread's stack beside the blocks of buffers.
    if (bytesOfSums() > kMostStackBytes / 2)
      return false;
  }
  return true;
}

bool GroupPlan::cutTerms(Member &member, const Nest &whole) {
  auto [loop, count] = TermPieces::of(whole);
  int64_t extent = *whole.extents[loop].known(), size = extent / count, ofRow = extent / *rows.known(),
          beside = *whole.iterations(true).known() / extent;
  // In a kernel of its own, the nest has one piece for all terms that are left.
  if (size % ofRow || extent - size * count >= size || (piece && piece != size / ofRow))
    return false;
  // A run ends where the loops inside of a row end, if these are longer than a run.
  if (beside > 1 && (ofRow > 1 || beside <= kRunLength))
    return false;
  piece = size / ofRow;
  member.termsOfRow = ofRow * beside;
  if (beside == 1)
    rowsOfRuns = std::lcm(rowsOfRuns, kRunLength / std::gcd(kRunLength, ofRow));
  return true;
}

int64_t GroupPlan::rowsOfTiles() const {
  int64_t rows = 0;
  for (const Member &member : members)
    if (member.product && member.product->rowLoop == member.rowLoop)
      rows = rows ? std::lcm(rows, member.product->tile.rows) : member.product->tile.rows;
  return rows;
}

bool GroupPlan::chooseBlockOfProducts(const Target &target) {
  // Each block reads all panels, so that a block has as many rows as fit into the second cache. The values that members
  // exchange are on the stack.
  double bytes = 0, exchanged = 0;
  llvm::SmallDenseSet<Value> seen;
  for (const Member &member : members)
    for (const auto *accesses : {&member.nest.inputs, &member.nest.outputs})
      for (const Access &access : *accesses)
        if (access.varies(member.rowLoop) && seen.insert(rootBuffer(access.value)).second)
          bytes += static_cast<double>(access.distance(member.rowLoop) * ir::ElementType(access.element).bytes());
  for (const Exchange &exchange : exchanges)
    exchanged += static_cast<double>(
        exchange.slab.guess() * ir::ElementType(cast<MemRefType>(exchange.root.getType()).getElementType()).bytes());
  constexpr int64_t kFewestTiles = 4, kFewestBlocks = 32, kMostRows = 256, kMostOfUnknown = 64;
  int64_t tile = rowsOfTiles(), most = rows.isKnown() ? kMostRows : kMostOfUnknown;
  most = std::min(most, static_cast<int64_t>(static_cast<double>(target.l2Bytes) / std::max(bytes, 1.0)));
  most = std::min(most, static_cast<int64_t>(static_cast<double>(kMostStackBytes) / std::max(exchanged, 1.0)));
  if (std::optional<int64_t> known = rows.known())
    most = std::min(most, std::max(*known / kFewestBlocks, kFewestTiles * tile));
  if (most < kFewestTiles * tile || (rows.known() && *rows.known() < 4 * most))
    return false;
  block = most - most % tile;
  if (piece) {
    // All blocks of a piece have the same size, so that the code is emitted for one block only.
    while (block > 1 && (piece % block || block % rowsOfRuns))
      --block;
    return block >= kFewestTiles * tile && *rows.known() % piece == 0;
  }
  // Blocks that divide all rows need no code for a rest, but some of their tiles may have fewer rows.
  constexpr double kMostWaste = 1.04;
  if (std::optional<int64_t> known = rows.known())
    for (int64_t candidate = most; candidate > most / 2; --candidate)
      if (int64_t tiles = (candidate + tile - 1) / tile;
          *known % candidate == 0 && static_cast<double>(tiles * tile) <= kMostWaste * static_cast<double>(candidate)) {
        block = candidate;
        break;
      }
  return true;
}

bool GroupPlan::chooseBlock(const Target &target) {
  if (rowsOfTiles())
    return chooseBlockOfProducts(target);
  // The data of a block stay in half of the first cache, if a row is short enough.
  double bytes = 0;
  llvm::SmallDenseSet<Value> seen;
  int64_t lanes = target.vectorBytes / 4;
  for (const Member &member : members) {
    for (const auto *accesses : {&member.nest.inputs, &member.nest.outputs})
      for (const Access &access : *accesses)
        if (access.varies(member.rowLoop) && seen.insert(rootBuffer(access.value)).second)
          bytes += static_cast<double>(access.distance(member.rowLoop) * ir::ElementType(access.element).bytes());
    lanes = std::min(lanes, KernelContext::lanesFor(member.nest, target));
  }
  auto most = static_cast<int64_t>(static_cast<double>(target.l1Bytes) / 2 / std::max(bytes, 1.0));
  // A nest takes some time to begin. The data of a few vectors of each nest may be in the second cache.
  int64_t few = 8 * lanes;
  if (most < few && bytes * static_cast<double>(few) <= static_cast<double>(target.l2Bytes) / 4)
    most = few;
  // Threads share the blocks.
  constexpr int64_t kFewestBlocks = 32;
  if (std::optional<int64_t> known = rows.known())
    most = std::min(most, std::max<int64_t>(*known / kFewestBlocks, lanes));
  block = std::max<int64_t>(most, 1);
  if (block >= lanes)
    block -= block % lanes;
  if (piece) {
    block = std::min((block + rowsOfRuns - 1) / rowsOfRuns * rowsOfRuns, piece);
    return true;
  }
  std::optional<int64_t> known = rows.known();
  if (!known)
    return true;
  block = std::min(block, *known);
  // A number that divides all rows leaves no rest.
  for (int64_t candidate = block, step = block >= lanes && block % lanes == 0 ? lanes : 1; candidate > block / 2;
       candidate -= step)
    if (*known % candidate == 0) {
      block = candidate;
      break;
    }
  return true;
}

plan::GroupAttr GroupPlan::attribute(MLIRContext *context) const {
  std::optional<int64_t> number;
  if (!rows.isKnown())
    for (const Member &member : llvm::reverse(members))
      if (member.rowLoop == member.wholeLoop)
        number = &member - members.data();
  return plan::GroupAttr::get(context, rows.known(), number, block, piece);
}

plan::MemberAttr GroupPlan::attributeOf(const Member &member, MLIRContext *context) const {
  std::optional<int64_t> order;
  if (member.order.vectorLoop)
    order = *member.order.vectorLoop;
  return plan::MemberAttr::get(context, member.wholeLoop, order,
                               member.product ? codegen::attributeOf(*member.product, member.nest, context)
                                              : plan::TilesAttr());
}

FailureOr<GroupPlan> GroupPlan::of(plan::GroupAttr group, ArrayRef<plan::MemberAttr> attributes, ArrayRef<Nest> nests,
                                   const Target &target) {
  GroupPlan plan;
  Operation *kernel = nests[0].op->getParentOp();
  std::optional<int64_t> known = group.getRows(), of = group.getRowsOf();
  bool isMember = of && *of >= 0 && *of < static_cast<int64_t>(nests.size());
  int64_t counted = isMember ? attributes[*of].getRow() : -1;
  bool isCounted = isMember && counted >= 0 && counted < nests[*of].numLoops();
  if (known.has_value() == of.has_value() || (known && *known < 1) || (of && !isCounted))
    return kernel->emitOpError("plan: a group has a number of rows, or a member whose rows_of are counted");
  const Extent rows = known ? Extent(*known) : nests[*of].extents[counted];
  plan.begin(llvm::map_to_vector(nests, [](const Nest &nest) { return &nest; }), rows);
  for (auto [nest, attribute] : llvm::zip_equal(nests, attributes)) {
    int64_t loop = attribute.getRow();
    std::optional<Way> way;
    if (loop >= 0 && loop < nest.numLoops())
      way = wayBy(static_cast<unsigned>(loop), nest, rows);
    plan::TilesAttr product = attribute.getProduct();
    bool canBe = VectorBuilder::canVectorize(nest) && !nest.readsBuffers() &&
                 (!nest.hasReduction() || Combiner::of(nest)) && !(product && way && way->rowLoop != way->wholeLoop);
    Operation *op = nest.op;
    auto refuse = [&] {
      return op->emitOpError("plan: loop ") << loop << " is no loop over the group's rows, or its rows overlap in what "
                                            << "members share, or it has no sums of pieces that a thread has room for";
    };
    if (!way || !canBe || !plan.add(*way))
      return refuse();
    Member &member = plan.members.back();
    if (product) {
      FailureOr<ContractionPlan> tiles = planOf(product, nest, target, member.rowLoop);
      if (failed(tiles))
        return failure();
      member.product = *tiles;
    }
    // Terms are in the pieces that threads share, whose sums are on the thread's stack.
    TermPieces pieces = nest.hasReduction() && !product ? TermPieces::of(nest) : TermPieces();
    const bool isShared = pieces.count;
    if (member.combinesRows() != isShared || (isShared && (pieces.loop != loop || !plan.cutTerms(member, nest))) ||
        plan.bytesOfSums() > kMostStackBytes / 2)
      return refuse();
    if (std::optional<int64_t> order = attribute.getOrder()) {
      if (*order < 0 || *order >= llvm::count(nest.isReduction, true) || product || isShared)
        return nest.op->emitOpError("plan: order names loop ")
               << *order << " over terms, which is none that vectors can run over";
      member.order.vectorLoop = static_cast<unsigned>(*order);
    }
  }
  plan.block = group.getBlock();
  if (plan.piece != group.getPiece())
    return kernel->emitOpError("plan: the pieces of its members have ")
           << plan.piece << " rows, not " << group.getPiece();
  int64_t most = plan.piece ? plan.piece : rows.known().value_or(std::numeric_limits<int32_t>::max());
  if (plan.block < 1 || plan.block > most || (plan.piece && plan.block < plan.piece && plan.block % plan.rowsOfRuns))
    return kernel->emitOpError("plan: a block has 1 to ")
           << most << " rows, a multiple of " << plan.rowsOfRuns << ", not " << plan.block;
  return plan;
}

std::optional<GroupPlan> GroupPlan::of(ArrayRef<Groupable> nests, const Target &target) {
  SmallVector<Extent> candidates;
  for (const auto &[nest, product] : nests) {
    TermPieces pieces = nest.hasReduction() && !product ? TermPieces::of(nest) : TermPieces();
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if ((pieces.count ? loop == pieces.loop : !nest.isReduction[loop]) &&
          !llvm::is_contained(candidates, nest.extents[loop]))
        candidates.push_back(nest.extents[loop]);
  }
  llvm::stable_sort(candidates, [](const Extent &a, const Extent &b) { return a.guess() > b.guess(); });
  // With fewer rows there is not enough work for many threads, and a block saves little.
  constexpr int64_t kFewestRows = 16;
  GroupPlan plan;
  for (const Extent &rows : candidates)
    if (rows.guess() >= kFewestRows && plan.cutIntoRows(nests, rows, target)) {
      for (auto [member, whole] : llvm::zip_equal(plan.members, nests))
        if (member.nest.hasReduction() && !member.product)
          member.order = SumOrder::of(whole.nest, target);
      if (plan.chooseBlock(target))
        return plan;
    }
  return std::nullopt;
}

double GroupPlan::bytesOfPanels(const Target &target) const {
  // Panels that do not fit into the second cache come from the third one, which is faster than memory by this factor.
  constexpr double kFaster = 2;
  double bytes = 0;
  for (const Member &member : members)
    if (member.product && member.product->packsAll) {
      const Access &b = member.nest.inputs[member.product->operandOfB];
      Extent elements(ir::ElementType(b.element).bytes());
      for (unsigned loop = 0; loop < member.nest.numLoops(); ++loop)
        if (b.varies(loop))
          elements = elements * member.nest.extents[loop];
      auto ofPanels = static_cast<double>(elements.guess());
      bytes += ofPanels * 2;
      if (member.rowLoop == member.product->rowLoop && ofPanels > static_cast<double>(target.l2Bytes))
        bytes += ofPanels * static_cast<double>(rows.guess()) / static_cast<double>(block) / kFaster;
    }
  return bytes;
}

double GroupPlan::savedBytes(const Target &target, function_ref<bool(Value)> isOwn) const {
  double saved = -bytesOfPanels(target);
  for (const Exchange &exchange : exchanges) {
    auto element =
        static_cast<double>(ir::ElementType(cast<MemRefType>(exchange.root.getType()).getElementType()).bytes());
    saved += element * static_cast<double>((exchange.slab * rows).guess()) *
             static_cast<double>(exchange.reads + (isOwn(exchange.root) ? 1 : 0));
  }
  // A fill around the elements that others write touches a few elements here and there, in cache lines that another
  // core may have. Such a line takes as long as several lines that follow each other. It takes no time if the same
  // thread writes the elements next to it.
  constexpr double kScattered = 4;
  const auto line = static_cast<double>(target.lineBytes);
  auto isFill = [](const Member &member) {
    return llvm::none_of(member.nest.inputs, [](const Access &input) { return input.isBuffer && input.isUsed; });
  };
  for (const Member &member : members) {
    if (!isFill(member))
      continue;
    const Access &filled = member.nest.outputs[0];
    double share = 0; // half if only other fills write the buffer
    for (const Member &other : members)
      if (&other != &member && llvm::any_of(other.nest.outputs, [&](const Access &access) {
            return rootBuffer(access.value) == rootBuffer(filled.value);
          }))
        share = std::max(share, isFill(other) ? 0.5 : 1.0);
    double elements = 1; // that lie side by side
    for (unsigned loop = 0; loop < member.nest.numLoops(); ++loop)
      if (filled.distance(loop) == 1)
        elements = static_cast<double>(member.nest.extents[loop].guess());
    saved += kScattered * share * (static_cast<double>(ir::ElementType(filled.element).bytes()) * elements + line) *
             static_cast<double>(member.nest.iterations().guess()) / elements;
  }
  // A buffer that several members read is read from memory once.
  llvm::SmallDenseSet<Value> seen;
  for (const Member &member : members)
    for (const Access &access : member.nest.inputs) {
      if (!access.isUsed || !access.varies(member.rowLoop))
        continue;
      Value root = rootBuffer(access.value);
      if (llvm::any_of(exchanges, [&](const Exchange &exchange) { return exchange.root == root; }))
        continue;
      double bytes = static_cast<double>(ir::ElementType(access.element).bytes()) *
                     static_cast<double>((access.strides[member.rowLoop] * rows).guess());
      if (!seen.insert(root).second)
        saved += std::max(bytes, 0.0);
    }
  return saved;
}

std::string GroupPlan::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  auto print = [&](const Extent &extent) { extent.isKnown() ? stream << *extent.known() : stream << "?"; };
  print(rows);
  stream << " rows, " << block << " at a time, of " << members.size() << " nests";
  if (piece)
    stream << ", " << llvm::count_if(members, [](const Member &member) { return member.combinesRows(); })
           << " of which combine " << piece << " rows each";
  for (const Member &member : members)
    if (member.product)
      stream << "; " << member.product->text();
  return result;
}

} // namespace calque::codegen
