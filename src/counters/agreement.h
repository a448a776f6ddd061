// SPDX-License-Identifier: MIT
// Whether two measurements of one counter agree. Values are those of a whole pass: the sum over the counter's
// instances, since hardware may divide the same work in another way each time.
#ifndef KR_AGREEMENT_H
#define KR_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

// How far the larger value may be above the smaller, as a part of the smaller. 0: they must be equal.
double kr_counter_tolerance(const char *name);

// One pass's sum: whole numbers stay exact, real ones are added apart.
struct kr_counter_sum {
    uint64_t whole;
    double real;
};

double kr_counter_sum_value(const struct kr_counter_sum *sum);
bool kr_counter_agrees(double tolerance, const struct kr_counter_sum *a, const struct kr_counter_sum *b);

#endif
