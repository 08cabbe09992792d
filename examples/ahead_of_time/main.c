/* A C program that trains and uses a network which Calque has compiled. It needs no Calque and no compiler: bars.o and
   libcalque-standalone.a are all there is. */
#include "bars.h"

#include <stdio.h>
#include <stdlib.h>

enum { kBatch = 32, kPixels = 100 };

/* An image of noise with a bar that lies (0) or stands (1). */
static int draw(float *image) {
  int label = rand() % 2, place = 2 + rand() % 6;
  for (int i = 0; i < kPixels; ++i)
    image[i] = 0.3f * (float)rand() / (float)RAND_MAX;
  for (int i = 1; i < 9; ++i)
    image[label ? i * 10 + place : place * 10 + i] += 0.7f;
  return label;
}

static void check(calque_model *model, int failed) {
  if (failed) {
    fprintf(stderr, "%s\n", calque_error(model));
    exit(1);
  }
}

int main(void) {
  calque_model *model = calque_open(&bars);
  if (!model) {
    fprintf(stderr, "this CPU can't run the code\n");
    return 1;
  }
  static float images[kBatch * kPixels], logits[kBatch * 2];
  int32_t labels[kBatch];
  float loss = 0;
  for (int step = 0; step < 100; ++step) {
    for (int i = 0; i < kBatch; ++i)
      labels[i] = draw(images + i * kPixels);
    check(model, bars_step(model, images, labels, &loss));
  }
  printf("loss %s 0.1\n", loss < 0.1f ? "below" : "above");

  int right = 0;
  for (int i = 0; i < kBatch; ++i)
    labels[i] = draw(images + i * kPixels);
  check(model, bars_predict(model, images, kBatch, logits, kBatch * 2, NULL));
  for (int i = 0; i < kBatch; ++i)
    right += (logits[2 * i + 1] > logits[2 * i]) == labels[i];
  printf("right %s 30 of 32\n", right > 30 ? "more than" : "less than");

  /* What the second logit of the first image depends on. */
  float cotangents[2] = {0, 1}, gradient[kPixels];
  check(model, bars_predict_pullback(model, images, 1, cotangents, 1, logits, 2, gradient, kPixels, NULL));
  int largest = 0;
  for (int i = 0; i < kPixels; ++i)
    if (gradient[i] * gradient[i] > gradient[largest] * gradient[largest])
      largest = i;
  printf("pixel %d counts most\n", largest);

  size_t bytes = 0;
  const float *kernel = (const float *)calque_variable(model, "conv2d/kernel", &bytes);
  printf("kernel of %zu bytes begins with %s number\n", bytes, kernel[0] == kernel[0] ? "a" : "no");
  calque_close(model);
  return 0;
}
