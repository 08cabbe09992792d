// What libcalque shows to the linker.
#ifndef CALQUE_EXPORT_H
#define CALQUE_EXPORT_H

#define CALQUE_API __attribute__((visibility("default")))

#endif
