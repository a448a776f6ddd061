// SPDX-License-Identifier: MIT
// The helper steps of compiled division: scale, multiply-add, fix up. See division.c.
#ifndef SG_DIVISION_H
#define SG_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

// V_DIV_SCALE: s is the operand to scale (denominator d or numerator n, same bits); *post says whether the
// quotient needs scaling afterwards (the VCC bit that V_DIV_FMAS reads).
uint32_t sg_div_scale32(uint32_t s, uint32_t d, uint32_t n, bool *post);
uint64_t sg_div_scale64(uint64_t s, uint64_t d, uint64_t n, bool *post);
// V_DIV_FMAS: a * b + c, scaled back when `post` is set, rounded once.
float sg_div_fmas32(float a, float b, float c, bool post);
double sg_div_fmas64(double a, double b, double c, bool post);
// V_DIV_FIXUP: quotient q of n / d with all special cases put right.
uint32_t sg_div_fixup32(uint32_t q, uint32_t d, uint32_t n);
uint64_t sg_div_fixup64(uint64_t q, uint64_t d, uint64_t n);
uint32_t sg_div_fixup16(uint32_t q, uint32_t d, uint32_t n);

#endif
