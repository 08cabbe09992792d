// Marks the symbols that libcalque exports.
#ifndef CALQUE_EXPORT_H
#define CALQUE_EXPORT_H

#define CALQUE_API __attribute__((visibility("default")))

#endif
