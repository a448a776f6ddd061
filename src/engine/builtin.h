// SPDX-License-Identifier: MIT
// How kreplay's own tool registers, beside which one of the user's can be.
#ifndef KR_BUILTIN_H
#define KR_BUILTIN_H

#include "kreplay/kreplay.h"

int kr_engine_register_builtin(const kreplay_tool *tool); // else as kreplay_register

#endif
