/* What a program needs to call functions that calque-compile has compiled: this header, the object file and its header,
   and the library calque-standalone, which has no compiler. In C.

     calque_model *model = calque_open(&digits);           // digits.h declares it
     float image[784], logits[10];
     if (digits_predict(model, image, 1, logits, 10, NULL))
       puts(calque_error(model));
     calque_close(model);

   A model has the variables of its functions. Calls of one model come one after the other; different models may be used
   by different threads at once. Functions return 0, or a number that is not 0 after a failure: then no variable has
   changed. */
#ifndef CALQUE_STANDALONE_H
#define CALQUE_STANDALONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an object file has. Its header declares one. */
typedef struct calque_library {
  const unsigned char *description; /* functions, weights and plans, as bytes */
  uint64_t size;
  void (*const *kernels)(const int64_t *words); /* three for each: the kernel, what says its memory or null, what
                                                   says its pieces or null */
} calque_library;

typedef struct calque_model calque_model;

/* Elements of complex64 and complex128. C's float _Complex and C++'s std::complex<float> are the same in memory. */
typedef struct calque_complex64 {
  float real, imag;
} calque_complex64;
typedef struct calque_complex128 {
  double real, imag;
} calque_complex128;

/* A model with the values that variables had when it was saved. Null where the library is null, where there is no
   memory, where the file is not of this version, and where this CPU can't run its code: calque_error(NULL) says which.
 */
calque_model *calque_open(const calque_library *library);
/* Does nothing for null. */
void calque_close(calque_model *model);

/* What went wrong in the last call that failed: one line, which the model keeps, and which has control
   characters of the saved program as \x1b. For a null model: why the last call of this thread that gave no model, or
   was given none, has failed. */
const char *calque_error(const calque_model *model);

/* The elements of a variable, which may be read and written between calls; null for a name that the model has not,
   and for a model or name that is null.
   Where `bytes` is not null, it receives how many bytes they have. A call may move them. */
void *calque_variable(calque_model *model, const char *name, size_t *bytes);

/* On how many threads calls run; 1 starts none. Before the first call; else it has no effect. Without it, as many as
   the environment variable OMP_NUM_THREADS says, or as there are CPUs. */
void calque_set_threads(int threads);

/* What the functions of the header call, which fail for a model of another library. The memory of results is none of
   that of arguments or other results. An argument is the address of its elements, row-major. `sizes` are the sizes of
   arguments that are not known from the header, in order. An argument or result may be null where it has no elements;
   any other null, a negative size and sizes whose product can't be addressed fail the call before it runs. A result is
   memory for its elements; `capacities` has, for each result of sizes that are not known, how many elements fit;
   `result_sizes` receives those sizes, in order, unless it is null. */
int calque_call(calque_model *model, const calque_library *library, uint32_t function, const void *const *arguments,
                const int64_t *sizes, void *const *results, const int64_t *capacities, int64_t *result_sizes);

#ifdef __cplusplus
}
#endif
#endif
