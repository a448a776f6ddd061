// SPDX-License-Identifier: MIT
// Options of rocprofv3 for what kreplay does not do: refused by name, with the reason.
#ifndef KR_REFUSED_H
#define KR_REFUSED_H

#include <stddef.h>

// Why there is no such option (its name without "--", `length` characters), or NULL when it is nothing known.
const char *kr_refused_option(const char *name, size_t length);
const char *kr_refused_letter(char letter);

#endif
