// SPDX-License-Identifier: MIT
// Where kreplay's own libraries are, seen from the program itself: build tree and installation look alike.
#ifndef KR_INSTALL_H
#define KR_INSTALL_H

#include <stddef.h>

// Path of `name` in the library folder beside this program's folder, whether it exists or not; the caller
// frees. NULL when out of memory or when /proc is not there.
char *kr_install_library(const char *name);

#endif
