// Precompiled for the folders of frontend: the headers that most of their files use. Each file still includes what it
// uses.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/transforms.h"
#include "frontend/compiled/Execute.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Trace.h"
#include "frontend/gradients/Tape.h"
#include "schema/HashTables.h"
