// SPDX-License-Identifier: MIT
// Which instructions have been executed, for tests of the interpreter: with SOFTGPU_COVERAGE=FILE in the environment
// the process appends a line to FILE when it ends for each mnemonic and form that ran: encoding, mnemonic, modifier
// (plain, sdwa or dpp) and the number of places in the code where it ran at least once. The places are noted when
// they are decoded, which happens just before they run for the first time, so that running code costs nothing.
#ifndef SG_COVERAGE_H
#define SG_COVERAGE_H

#include "softgpu/isa/inst.h"

// `inst` can be executed and is about to be, for the first time since its code was decoded. Thread-safe.
void sg_coverage_note(const struct sg_inst *inst);

#endif
