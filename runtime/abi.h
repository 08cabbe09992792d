// The ABI between generated code and the runtime, in C, so that code compiled ahead of time needs nothing else.
//
// A compiled function is a list of calls of kernels (Plan.h). A kernel is `void kernel(const int64_t *words)`. Each of
// its arguments is one word: the address of a buffer, or a number in the word's low bytes. The object code contains no
// addresses: it reaches data through its words, and the runtime through the `calque_rt_*` functions below, by name.
//
// A failed check does not jump. The first one is noted in the frame's error slot, and the code goes on with safe
// values. After it, no variable changes and nothing is printed.
#ifndef CALQUE_RUNTIME_ABI_H
#define CALQUE_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CALQUE_ABI_VERSION = 1 };

// Every buffer is aligned to this many bytes, foreign memory excepted.
enum { CALQUE_BUFFER_ALIGNMENT = 64 };

typedef struct CalqueErrorSlot {
  int32_t failed;    // 0 until a check fails; set atomically
  int32_t site;      // index into the executable's table of sites
  int64_t values[2]; // what was wrong: an index and its bound, a divisor, two sizes
} CalqueErrorSlot;

typedef struct CalqueCallFrame {
  uint32_t version; // CALQUE_ABI_VERSION
  uint32_t size;    // sizeof(CalqueCallFrame)
  void *const *inputs;
  void *const *outputs;
  void *workspace; // of the executable's workspaceBytes
  CalqueErrorSlot error;
  void *host; // the caller's handlers for prints and host calls
  // For code with unknown sizes. input_sizes are those of the inputs, in the order of the inputs and their dimensions.
  // From them the function of shapes computes output_sizes and workspace_bytes, before the outputs are allocated.
  const int64_t *input_sizes;
  int64_t *output_sizes;
  int64_t workspace_bytes;
  // For the kernels of the runtime: the parts of the plan that runs, the stacks of the call, and the number of the site
  // that the plan calls 0.
  const void *parts;
  void *stacks;
  int32_t first_site;
  int32_t reserved;
} CalqueCallFrame;

typedef void (*CalqueKernel)(const int64_t *words);

// Notes a failed check in the frame's error slot, unless another one failed before.
void calque_rt_fail(CalqueCallFrame *frame, int32_t site, int64_t value, int64_t bound);

// Makes an entry of the call's stacks, for elements of so many bytes, and returns its address (runtime/Stacks.h). An
// iteration of the loop that asks for it makes entries of `of_iteration` bytes. Without memory it fails at the site and
// returns 0.
int64_t calque_rt_stack_entry(CalqueCallFrame *frame, int64_t bytes, int64_t of_iteration, int32_t site);

// Kernels of the runtime. Where words are sizes, the dimensions are in order.
//
// Fails for the first of some bools that is false: the frame, the site, how many they are, their address. The values of
// the failure are its position.
void calque_rt_assert(const int64_t *words);
// The same, and tells the host which elements are false: the frame, the site, the rank, the number of tensors that have
// the elements to show, the address of the bools, their sizes; of each tensor the schema's code of the dtype, the
// address, and as many sizes, each of which is that of the bools or 1.
void calque_rt_assert_elements(const int64_t *words);
// Prints the next tensor of a line: the frame, the site, which has the line's text, the schema's code of the dtype, the
// rank, the address of the elements, the sizes. The code is -1 for a line without tensors.
void calque_rt_print(const int64_t *words);
// Runs a host call: the frame, the site, the number of addresses, the addresses of operands and results, the sizes of
// the operands. After a failed check nothing is called, and the results are zeros.
void calque_rt_host_call(const int64_t *words);
// Runs one of two parts: the frame, the numbers of both, those of inputs and results, the site of the first size of a
// result, the addresses of predicate, inputs and results, the sizes of results and inputs that the parts do not know.
void calque_rt_cond(const int64_t *words);
// Runs a part of the plan as long as another one gives true: the frame, the number of the condition and of the body,
// the number of loop variables and of invariants, the site of the first size that must not change, whether what an
// iteration puts on stacks ends with it, the addresses of the initial values, the invariants, the results and of as
// many buffers like these, the bytes of each loop variable, the sizes of loop variables and invariants that the parts
// do not know, the number of loop variables that are stacks of one entry with sizes, the numbers of these, and the site
// of a lack of memory for them.
void calque_rt_while(const int64_t *words);
// Puts an entry on each of some stacks: the frame, the number of stacks, the bytes of an entry, the addresses of the
// stacks, the entries and the resulting stacks, the site of a lack of memory. Its values are the iterations of the loop
// before this one, and the bytes of an iteration.
void calque_rt_stack_push(const int64_t *words);
// Takes an entry from each: the frame, the number of stacks, the bytes of an entry, the addresses of the stacks, of
// the resulting stacks and of the entries, the site of a stack that is none.
void calque_rt_stack_pop(const int64_t *words);
// Puts an entry that knows its sizes on a stack: the frame, the addresses of the stack, the entry and the resulting
// stack, the site of a lack of memory, the entry's bytes, its rank, its sizes.
void calque_rt_sized_push(const int64_t *words);
// The stacks below the uppermost entries: the frame, the number of stacks, their address, that of the resulting ones.
void calque_rt_stack_below(const int64_t *words);
// Runs a part on the uppermost entries of stacks: the frame, the number of the part, of the stacks, of other inputs and
// of results; of each stack its address, the rank of its entry and a bit for each size of that which the part does not
// know, 64 in a word, of which there is one at least; the addresses of inputs and results, the site of the first size
// of a result that the part does not know, these sizes, the number of sizes of inputs that the part does not know, and
// these.
void calque_rt_on_entries(const int64_t *words);
// Besides these there are the kernels of libraries (runtime/libraries/), which the records of operations name.

// Runs body(context, begin, end) over [0, count) in pieces of `grain` iterations, on the pool's threads. The pieces
// depend on count and grain alone, never on the number of threads.
typedef void (*CalqueLoopBody)(void *context, int64_t begin, int64_t end);
void calque_rt_parallel_for(int64_t count, int64_t grain, CalqueLoopBody body, void *context);

#ifdef __cplusplus
}
static_assert(sizeof(CalqueErrorSlot) == 24, "generated code knows this layout");
static_assert(sizeof(CalqueCallFrame) == 112, "generated code knows this layout");
static_assert(offsetof(CalqueCallFrame, inputs) == 8 && offsetof(CalqueCallFrame, outputs) == 16 &&
                  offsetof(CalqueCallFrame, workspace) == 24 && offsetof(CalqueCallFrame, error) == 32 &&
                  offsetof(CalqueCallFrame, input_sizes) == 64 && offsetof(CalqueCallFrame, output_sizes) == 72 &&
                  offsetof(CalqueCallFrame, workspace_bytes) == 80,
              "generated code knows this layout");
#endif
#endif
