// SPDX-License-Identifier: MIT
// Records with random content, reproducible from a seed, and their comparison with what was read back.
#ifndef SAMPLE_H
#define SAMPLE_H

#include "log/record.h"

struct sample {
    enum kr_log_type type;
    kr_log_record expected; // strings and arrays point into this sample
    kreplay_pass_record passes[6];
    kreplay_value values[6][8];
    uint64_t ids[12];
    char text[4][60];
};

void sample_make(struct sample *sample, enum kr_log_type type, uint64_t *seed);
int sample_put(struct kr_log *log, const struct sample *sample);
void sample_check(const struct sample *sample, const kr_log_record *record); // fails the test on a difference

uint64_t sample_random(uint64_t *seed);

#endif
