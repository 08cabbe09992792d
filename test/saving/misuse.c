/* Calls of functions that save-programs has saved for it, which fail: each says why, names the line of the program that
   was saved, and leaves variables and memory as they were. */
#include "misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMany = 100000 };
static int faults = 0;
static calque_model *model;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("%s does not hold\n", what);
    ++faults;
  }
}
#define EXPECT(condition) expect(condition, #condition)

/* The text begins with `begin`, and its end is a line of save-programs.cpp, if it has one. */
static void fails(int result, const char *begin, int has_line) {
  const char *error = calque_error(model);
  if (!result || strncmp(error, begin, strlen(begin)) || (strstr(error, "save-programs.cpp:") != NULL) != has_line) {
    printf("expected: %s\nfound:    %s\n", begin, result ? error : "no failure");
    ++faults;
  }
}

int main(void) {
  model = calque_open(&misuse);
  EXPECT(model != NULL);
  /* Each trace has a function, and those of floating-point numbers a pullback of the same number. */
  const int64_t integers[2] = {3000000000, 2};
  int64_t squares[2], sum = 0;
  EXPECT(!misuse_f(model, integers, squares, &sum) && squares[0] == 9000000000000000000 && sum == 3000000002);
  const float floats[3] = {1, 2, 3}, one = 1, ones[3] = {1, 1, 1};
  float results[4] = {0, 0, 0, -1}, total = 0, gradient[3];
  int64_t sizes[2] = {0, 0};
  EXPECT(!misuse_f_1(model, floats, 3, results, 3, &total, sizes) && total == 6 && results[2] == 9 && sizes[0] == 3);
  EXPECT(!misuse_f_pullback_1(model, floats, 3, ones, 3, &one, results, 3, &total, gradient, 3, sizes) &&
         gradient[2] == 7 && sizes[1] == 3);
  const double doubles[4] = {1, 2, 3, 4}, unit = 0;
  double square[4], all = 0, slope[4];
  EXPECT(!misuse_f_pullback_2(model, doubles, 2, 2, doubles, 2, 2, &unit, square, 4, &all, slope, 4, NULL) &&
         slope[3] == 32 && all == 10);
  EXPECT(!misuse_f_1(model, NULL, 0, NULL, 0, &total, sizes) && total == 0 && sizes[0] == 0);

  /* Sizes and memory. */
  fails(misuse_f_1(model, floats, 3, results, 2, &total, NULL), "f_1: result 0 has 3 elements, and there is memory for 2", 0);
  fails(misuse_f_1(model, floats, -1, results, 2, &total, NULL), "f_1: a size is -1", 0);
  fails(misuse_f_1(model, floats, INT64_MAX, results, INT64_MAX, &total, NULL),
        "f_1: argument 'x' has more bytes than can be addressed", 0);
  fails(misuse_f_1(model, floats, 3, NULL, 3, &total, NULL), "f_1: there is no memory for result 0", 0);
  fails(misuse_f_1(model, NULL, 3, results, 3, &total, NULL), "f_1: argument 'x' is null, and has 3 elements", 0);
  EXPECT(results[0] == 1 && results[2] == 9);
  const int64_t wrapping = (int64_t)1 << 32; /* its square is 0 in 64 bits */
  fails(misuse_f_pullback_2(model, doubles, wrapping, wrapping, doubles, 2, 2, &unit, square, 4, &all, slope, 4, NULL),
        "f_pullback_2: argument 'x' has more bytes than can be addressed", 0);
  fails(misuse_f_pullback_2(model, doubles, 0, INT64_MAX, doubles, 2, 2, &unit, square, 4, &all, slope, 4, NULL),
        "f_pullback_2: argument 'x' has more bytes than can be addressed", 0);

  /* Null in place of what is no tensor. */
  const void *const given[1] = {floats};
  void *const into[2] = {results, &total};
  const int64_t size = 3;
  fails(calque_call(model, &misuse, 1, NULL, &size, into, &size, NULL), "f_1: the arguments are null", 0);
  fails(calque_call(model, &misuse, 1, given, NULL, into, &size, NULL), "f_1: the sizes of arguments are null", 0);
  fails(calque_call(model, &misuse, 1, given, &size, NULL, &size, NULL), "f_1: the results are null", 0);
  fails(calque_call(model, &misuse, 1, given, &size, into, NULL, NULL), "f_1: the capacities of results are null", 0);
  fails(calque_call(model, NULL, 1, given, &size, into, &size, NULL), "the library is null", 0);
  EXPECT(!calque_variable(model, NULL, NULL) && !strcmp(calque_error(model), "calque_variable: the name is null"));
  EXPECT(calque_call(NULL, &misuse, 1, given, &size, into, &size, NULL) &&
         !strcmp(calque_error(NULL), "calque_call: the model is null"));
  EXPECT(!calque_variable(NULL, "n", NULL) && !strcmp(calque_error(NULL), "calque_variable: the model is null"));
  EXPECT(!calque_open(NULL) && !strcmp(calque_error(NULL), "calque_open: the library is null"));
  const calque_library empty = {NULL, 0, NULL}, damaged = {(const unsigned char *)"damaged", 7, NULL};
  const calque_library no_kernels = {misuse.description, misuse.size, NULL};
  EXPECT(!calque_open(&empty) && !strcmp(calque_error(NULL), "calque_open: the library is null"));
  EXPECT(!calque_open(&damaged) &&
         !strcmp(calque_error(NULL), "calque_open: the object file is damaged, or of another version"));
  EXPECT(!calque_open(&no_kernels) && !strcmp(calque_error(NULL), "calque_open: the kernels of the library are null"));
  calque_close(NULL);
  fails(misuse_product(model, floats, 1, 3, floats, 1, results, 4, NULL),
        "matmul: dimension 1 of 'a' is 3 and dimension 0 of 'b' is 1, and they must be equal (", 1);
  EXPECT(results[3] == -1);

  /* A call that fails has assigned nothing. */
  float *x = (float *)malloc(kMany * sizeof *x), taken = 0;
  for (int i = 0; i < kMany; ++i)
    x[i] = 2;
  const int32_t at = 7, outside = kMany;
  EXPECT(!misuse_add(model, x, kMany, &at, &taken) && taken == 2);
  fails(misuse_add(model, x, kMany, &outside, &taken), "gather: index 100000 is out of range [0, 100000) (", 1);
  fails(misuse_add(model, x, 3, &at, &taken),
        "assign_add: dimension 0 of variable 'table' is 100000 and dimension 0 of 'x' is 3, and they must be equal (", 1);
  x[7] = 98;
  fails(misuse_add(model, x, kMany, &at, &taken), "too much (", 1);
  EXPECT(!misuse_total(model, &total) && total == 2 * kMany + 1);
  size_t bytes = 0;
  float *table = (float *)calque_variable(model, "table", &bytes);
  EXPECT(bytes == kMany * sizeof *table && table[7] == 2 && table[kMany - 1] == 2);
  table[7] = 5; /* functions share it */
  EXPECT(!misuse_total(model, &total) && total == 2 * kMany + 4);
  EXPECT(*(int32_t *)calque_variable(model, "calls", NULL) == 1 && !calque_variable(model, "none", NULL));

  /* Under vmap an index is that of its example. */
  const int32_t places[3] = {0, 3, 1}, wrong[3] = {0, 1, 4};
  EXPECT(!misuse_each(model, x, places, results) && results[2] == 2);
  fails(misuse_each(model, x, wrong, results), "gather: index 4 is out of range [0, 4) (", 1);

  /* Another model has values of its own. */
  calque_model *other = calque_open(&misuse);
  EXPECT(*(int32_t *)calque_variable(other, "calls", NULL) == 0);
  calque_close(other);
  calque_close(model);
  free(x);
  printf("%d faults\n", faults);
  return faults > 0;
}
