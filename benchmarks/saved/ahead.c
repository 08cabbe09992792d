/* The network of examples/ahead_of_time as a C program has it, for calque-saved-bench, which loads it. */
#include "bars.h"

#include "benchmarks/saved/ahead.h"

static calque_model *model;

const char *ahead_open(int threads) {
  calque_set_threads(threads);
  model = calque_open(&bars);
  return model ? 0 : "this CPU can't run the code";
}
const char *ahead_step(const float *images, const int32_t *labels, float *loss) {
  return bars_step(model, images, labels, loss) ? calque_error(model) : 0;
}
const char *ahead_predict(const float *images, int64_t count, float *logits) {
  return bars_predict(model, images, count, logits, 10 * count, NULL) ? calque_error(model) : 0;
}
