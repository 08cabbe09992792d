/* A C program that trains and uses a network which Calque has compiled. It needs no Calque and no compiler: bars.o and
   libcalque-standalone.a are all there is. */
#include "bars.h"

#include <stdio.h>
#include <stdlib.h>

enum { kBatch = 64, kSteps = 60, kSide = 28, kPixels = kSide * kSide, kClasses = 10 };

/* An image of noise with a bar that lies in one of five places (0 to 4), or stands in one (5 to 9). */
static int draw(float *image) {
  int label = rand() % kClasses, place = 4 + label % 5 * 5 + rand() % 2;
  for (int i = 0; i < kPixels; ++i)
    image[i] = 0.3f * (float)rand() / (float)RAND_MAX;
  for (int i = 4; i < kSide - 4; ++i)
    image[label < 5 ? place * kSide + i : i * kSide + place] += 0.7f;
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
    fprintf(stderr, "%s\n", calque_error(NULL));
    return 1;
  }
  static float images[kBatch * kPixels], logits[kBatch * kClasses];
  int32_t labels[kBatch];
  float loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kBatch; ++i)
      labels[i] = draw(images + i * kPixels);
    check(model, bars_step(model, images, labels, &loss));
  }
  printf("loss %s 0.5\n", loss < 0.5f ? "below" : "above");

  int right = 0;
  for (int i = 0; i < kBatch; ++i)
    labels[i] = draw(images + i * kPixels);
  check(model, bars_predict(model, images, kBatch, logits, kBatch * kClasses, NULL));
  for (int i = 0; i < kBatch; ++i) {
    int likely = 0;
    for (int j = 1; j < kClasses; ++j)
      if (logits[i * kClasses + j] > logits[i * kClasses + likely])
        likely = j;
    right += likely == labels[i];
  }
  printf("right %s 60 of 64\n", right > 60 ? "more than" : "not more than");

  /* What the logit of its class depends on in the first image. */
  float cotangents[kClasses] = {0}, gradient[kPixels];
  cotangents[labels[0]] = 1;
  check(model, bars_predict_pullback(model, images, 1, cotangents, 1, logits, kClasses, gradient, kPixels, NULL));
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
