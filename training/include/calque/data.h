// Data sets and the readers of files: docs/data.md.
#ifndef CALQUE_DATA_H
#define CALQUE_DATA_H

#include "calque/data/csv.h"
#include "calque/data/dataset.h"
#include "calque/data/datasets.h"
#include "calque/data/images.h"
#include "calque/data/npy.h"
#include "calque/data/records.h"
#include "calque/data/sources.h"

#endif
