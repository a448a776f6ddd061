// SPDX-License-Identifier: MIT
// cmocka and the headers that it wants first, in its order.
#ifndef SG_TESTS_PERF_CMOCKA_ALL_H
#define SG_TESTS_PERF_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
