#include "calque/threads.h"

#include "runtime/ThreadPool.h"

namespace calque {

void set_num_threads(int count) { runtime::setThreadCount(count); }
int num_threads() { return runtime::threadCount(); }

} // namespace calque
