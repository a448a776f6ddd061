// SPDX-License-Identifier: MIT
// Demangled names in the profiled process, by the C++ library that it has loaded itself: kreplay brings none.
#ifndef KR_DEMANGLER_H
#define KR_DEMANGLER_H

#include <stddef.h>

// A kr_demangler (select/selection.h). In a process without a C++ library it answers NULL, which is said once.
char *kr_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

#endif
