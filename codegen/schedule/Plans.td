// What a kernel will be, as attributes: which of an operation's loops has which role, how loops are cut into tiles,
// blocks and pieces, and what is copied. `calque-plan-kernels` chooses them and `calque-schedule-loops` applies them.
// A plan has decisions only: what follows from the operation and the target is not in it.
//
// Loops are counted as the nest has them (Nest.h): those of one iteration are dropped, and adjacent ones merged where
// all operands allow it. `calque.nests` of a dump at the stage scheduled shows them in their order.
#ifndef CALQUE_CODEGEN_SCHEDULE_PLANS_TD
#define CALQUE_CODEGEN_SCHEDULE_PLANS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::calque::codegen::plan";
  let summary = "What kernels will be";
  let useDefaultAttributePrinterParser = 1;
}

class Plan_Attr<string name, string word> : AttrDef<Plan_Dialect, name> {
  let mnemonic = word;
  let assemblyFormat = "`<` struct(params) `>`";
}

// An estimate of cycles, from which follows how much of a loop a thread takes at a time.
def Plan_Cycles : AttrParameter<"::calque::codegen::plan::Cycles", "an estimate of cycles">;
class Plan_Number<int value> : DefaultValuedParameter<"int64_t", ""#value>;
def Plan_OptionalNumber : OptionalParameter<"::std::optional<int64_t>">;
def Plan_Numbers : OptionalParameter<"::mlir::DenseI64ArrayAttr">;
def Plan_Flag : DefaultValuedParameter<"bool", "false">;
// "[2 x 7 by 38, 2 x 38 within 38]": loops over terms from the outermost on, each with its iterations, the terms from
// one to the next, and how many terms it has where it begins at the place of a loop around it.
def Plan_Loops : OptionalArrayRefParameter<"::calque::codegen::TermLoop"> {
  let parser = "::calque::codegen::plan::parseLoops($_parser)";
  let printer = "::calque::codegen::plan::printLoops($_printer, $_self)";
}

def Plan_Panels : I32EnumAttr<"Panels", "where tiles read operand B", [
    I32EnumAttrCase<"AsTheyAre", 0, "as_they_are">,     // in its own memory
    I32EnumAttrCase<"ByPiece", 1, "by_piece">,          // each piece packs a panel before it reads it
    I32EnumAttrCase<"ByFirstTile", 2, "by_first_tile">, // each piece's first tile reads B as it is, and packs it
    I32EnumAttrCase<"Once", 3, "once">]> {              // all are packed before the first piece
  let cppNamespace = "::calque::codegen::plan";
}

// A sum of products with its vectors along the terms (DotProducts.h).
def Plan_Dots : Plan_Attr<"Dots", "dots"> {
  let parameters = (ins
    "int64_t":$a,                 // the operand of many rows, 0 or 1
    "int64_t":$along,             // the loop over terms that vectors run over
    "int64_t":$rows,              // a loop over results along which A varies and B does not
    Plan_OptionalNumber:$columns, // one along which B varies and A does not
    "int64_t":$lanes,
    "::mlir::DenseI64ArrayAttr":$tile, // rows and columns of results
    Plan_Flag:$packs,             // whether B is copied
    Plan_Cycles:$cycles);         // of one term of one result
}

// A sum of products with a tile of results in registers (ContractionPlan.h).
def Plan_Tiles : Plan_Attr<"Tiles", "tiles"> {
  let parameters = (ins
    // The loops. Operand B is contiguous along the columns or packed, and its vectors run along them. The rows are
    // those of A, and one of the others; B varies along batches.
    "int64_t":$b,
    "int64_t":$columns,
    Plan_OptionalNumber:$rows,
    "::mlir::DenseI64ArrayAttr":$terms, // from the outermost on, which is cut into blocks
    Plan_Numbers:$batches,
    Plan_Numbers:$others,
    Plan_Numbers:$shared, // those of the others that threads share

    // The tile: rows, and vectors of columns. The last panel may have fewer vectors and other rows.
    "int64_t":$lanes,
    "::mlir::DenseI64ArrayAttr":$tile,
    Plan_OptionalNumber:$last_panel_rows,

    // Blocks and pieces, in iterations of the outermost loop over terms, in rows and in panels. Where one is missing,
    // the kernel computes it from sizes that are known when it runs, within `most_...`.
    Plan_Number<1>:$most_term_pieces,
    "int64_t":$most_term_block,
    Plan_OptionalNumber:$term_pieces,
    Plan_OptionalNumber:$term_block,
    Plan_OptionalNumber:$row_block,
    Plan_OptionalNumber:$panel_block,
    Plan_Flag:$in_blocks,             // of a group's member: the rows are those of the group's block
    Plan_OptionalNumber:$cached_rows, // what it decides by: rows of which a block of terms stays in the second cache
    Plan_Flag:$shares_rows,           // and for windows whether threads share rows
    Plan_Flag:$shares_panels,         // and panels

    // What is copied.
    EnumParameter<Plan_Panels>:$panels,
    Plan_Flag:$packs_rows,

    // The terms of a run (0: all terms of a block are one), the loops over a block's terms, before which of these
    // accumulators begin anew, and whether sums of runs have their rounding errors beside them.
    Plan_Number<0>:$run,
    Plan_Loops:$loops,
    Plan_Numbers:$starts,
    Plan_Flag:$exact,
    // Zeros that are not multiplied, as numbers of the operation's `calque.borders`.
    Plan_Numbers:$left_out,
    Plan_OptionalNumber:$beside_rows,
    Plan_OptionalNumber:$beside_terms,
    // Lines of the next block that each run asks for.
    Plan_Number<0>:$lines_of_a,
    Plan_Number<0>:$lines_of_b,

    // How many last columns are dot products instead, and how.
    Plan_Number<0>:$last_columns,
    OptionalParameter<"DotsAttr">:$dots,

    Plan_Cycles:$cycles); // of one term of one result, on average
}

// Vectors along one loop, or one element after the other (NestPlan.h). Each loop has one role.
def Plan_Vectors : Plan_Attr<"Vectors", "vectors"> {
  let parameters = (ins
    Plan_OptionalNumber:$along, // vectors run over it
    Plan_Number<1>:$lanes,
    Plan_Number<1>:$vectors, // at a time, at most
    Plan_Numbers:$loops,     // over results, from the outermost on, which threads share
    Plan_Numbers:$terms,     // over terms, from the outermost on
    Plan_Numbers:$beside,    // over results, whose iterations are done side by side
    Plan_Cycles:$cycles);    // of one iteration, on average
}

// A reduction whose terms are cut into pieces, the results of which are added up afterwards.
def Plan_Pieces : Plan_Attr<"Pieces", "pieces"> {
  let parameters = (ins
    "int64_t":$of,       // the loop over terms that is cut
    "int64_t":$count,    // of equal pieces, which may leave a rest
    "VectorsAttr":$each, // of the nest that has one more loop, the last one, over the pieces
    OptionalParameter<"VectorsAttr">:$rest,
    "VectorsAttr":$sums); // of the nest of the loops over results, by strides, and of a last one over the pieces
}

// Squares that are transposed in registers.
def Plan_Squares : Plan_Attr<"Squares", "squares"> {
  let parameters = (ins
    "int64_t":$along,  // results are contiguous along it, and
    "int64_t":$across, // operands along this one
    "int64_t":$size,   // of a square, in elements
    "int64_t":$beside, // squares that are read from a page before the next one
    OptionalParameter<"VectorsAttr">:$rest_across, // of what is no whole square
    OptionalParameter<"VectorsAttr">:$rest_along,
    Plan_Cycles:$cycles); // of one element
}

def Plan_Sharing : I32EnumAttr<"Sharing", "what threads share of loops that store", [
    I32EnumAttrCase<"Alone", 0, "alone">,           // nothing
    I32EnumAttrCase<"Iterations", 1, "iterations">, // iterations of the loops outside of those in order
    I32EnumAttrCase<"Owners", 2, "owners">,         // places that are stored: each piece does what belongs to its own
    I32EnumAttrCase<"Columns", 3, "columns">]> {    // iterations of the loop that vectors run over
  let cppNamespace = "::calque::codegen::plan";
}

// Loops that store by themselves (StoringLoops.cpp). Their loops are those of the program, merged where all that is
// touched allows it.
def Plan_Storing : Plan_Attr<"Storing", "storing"> {
  let parameters = (ins
    Plan_OptionalNumber:$along, // the loop that goes from element to element, or from vector to vector
    Plan_Number<1>:$lanes,
    EnumParameter<Plan_Sharing>:$sharing,
    Plan_Number<1>:$pieces); // of owners, a power of two, and at most of columns
}

// Such loops of which the innermost carries numbers along contiguous rows: as many rows together as a vector has lanes
// (CarriedLoop.cpp).
def Plan_Carried : Plan_Attr<"Carried", "carried"> {
  let parameters = (ins "int64_t":$lanes);
}

// A kernel that runs several operations for a block of rows, then for the next one (Group.h). On the function; each
// operation has a `member`.
def Plan_Group : Plan_Attr<"Group", "group"> {
  let parameters = (ins
    Plan_OptionalNumber:$rows,     // how many there are, or
    Plan_OptionalNumber:$rows_of,  // of an unknown number: the member, in their order, whose loop has as many
    "int64_t":$block,              // rows at a time
    Plan_Number<0>:$piece);        // where members combine the rows: how many a thread takes at a time
}

def Plan_Member : Plan_Attr<"Member", "member"> {
  let parameters = (ins
    "int64_t":$row,                // the loop that is over the rows, or has so many iterations for each of them
    Plan_OptionalNumber:$order,    // the loop over terms that vectors run over, among those over terms
    OptionalParameter<"TilesAttr">:$product);
}

#endif
