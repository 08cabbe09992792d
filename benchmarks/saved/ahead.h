/* What ahead.c has: its functions give null, or what went wrong. */
#ifndef CALQUE_BENCHMARKS_SAVED_AHEAD_H
#define CALQUE_BENCHMARKS_SAVED_AHEAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define AHEAD __attribute__((visibility("default")))
AHEAD const char *ahead_open(int threads);
AHEAD const char *ahead_step(const float *images, const int32_t *labels, float *loss);
AHEAD const char *ahead_predict(const float *images, int64_t count, float *logits);
#ifdef __cplusplus
}
#endif
#endif
