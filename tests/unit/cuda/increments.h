// SPDX-License-Identifier: MIT
// The program that most tests need: one kernel, which adds one to the word that its argument points to.
#ifndef INCREMENTS_H
#define INCREMENTS_H

#include "fake_cuda.h"

extern struct fake_module increments_module;
extern struct fake_kernel increments;
void increment(void **arguments);

void increments_load(void); // between fake_start and the first launch

int increments_set_up(void **state); // cmocka's fixture: the program alone

#endif
