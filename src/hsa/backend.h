// SPDX-License-Identifier: MIT
// The HSA back end as the engine sees it.
#ifndef KR_HSA_BACKEND_H
#define KR_HSA_BACKEND_H

#include "engine/backend.h"

extern const struct kr_backend kr_hsa_backend;

#endif
