// SPDX-License-Identifier: MIT
// What the threads of a launch share.
#include "softgpu/isa/job.h"

bool sg_job_take(struct sg_job *job, uint64_t *number)
{
    if (!sg_job_left(job, number))
        return false;
    *number = __atomic_fetch_add(&job->next_group, 1, __ATOMIC_RELAXED);
    return *number < job->n_groups;
}

bool sg_job_left(const struct sg_job *job, uint64_t *groups)
{
    const uint64_t next = __atomic_load_n(&job->next_group, __ATOMIC_RELAXED);
    *groups = next < job->n_groups ? job->n_groups - next : 0;
    return *groups != 0;
}

void sg_job_report(struct sg_job *job, const struct sg_counts *counts, const struct sg_fault *fault,
                   uint64_t number)
{
    pthread_mutex_lock(&job->lock);
    for (unsigned engine = 0; engine < SG_SHADER_ENGINES; engine++) {
        // All members are sums.
        uint64_t *sum = (uint64_t *)(void *)&job->counts[engine];
        const uint64_t *part = (const uint64_t *)(const void *)&counts[engine];
        for (size_t i = 0; i < sizeof *counts / sizeof *sum; i++)
            sum[i] += part[i];
    }
    if (fault->kind != SG_FAULT_NONE && (job->fault->kind == SG_FAULT_NONE || number < job->fault_group)) {
        *job->fault = *fault;
        job->fault_group = number;
    }
    pthread_mutex_unlock(&job->lock);
}
