// SPDX-License-Identifier: MIT
// Addresses of freed memory that are kept from being used again, so that an access to freed memory is found
// and does not meet what came after it. Only where accesses are checked.
#ifndef SG_QUARANTINE_H
#define SG_QUARANTINE_H

#include <stdint.h>

// Takes over the mapping [base, base + bytes): its content goes, its addresses stay taken until many others
// have followed.
void sg_quarantine(void *base, uint64_t bytes);

#endif
