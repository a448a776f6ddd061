// SPDX-License-Identifier: MIT
#ifndef KR_GFX90A_H
#define KR_GFX90A_H

#include "counters/catalogue.h"

extern const struct kr_catalogue kr_catalogue_gfx90a;

#endif
