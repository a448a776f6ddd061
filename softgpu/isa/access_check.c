// SPDX-License-Identifier: MIT
// Checks of accesses against what the launch's owner says belongs to the program. Slow, and off unless asked for;
// see sg_launch.owned.
#include "softgpu/isa/memory.h"

#define WHY_BYTES 112

static enum sg_step refuse(struct sg_wave *w, const struct sg_inst *inst, uint64_t address, const char *why,
                           int lane)
{
    if (lane < 0)
        return sg_wave_fault(w, inst, SG_FAULT_MEMORY, address, "%s", why);
    return sg_wave_fault(w, inst, SG_FAULT_MEMORY, address, "%s, lane %d", why, lane);
}

// LDS, scratch and the bounce buffers have checks of their own.
static bool is_internal(const struct sg_group *group, const struct sg_lanes *lanes, const uint8_t *p)
{
    const uint8_t *lds = group->lds, *scratch = group->scratch, *bounce = lanes->bounce[0];
    return (p >= lds && p < lds + group->lds_bytes) ||
           (scratch && p >= scratch && p < scratch + group->scratch_wave_bytes * group->n_waves) ||
           (p >= bounce && p < bounce + sizeof lanes->bounce);
}

enum sg_step sg_check_lanes(struct sg_wave *w, const struct sg_inst *inst, const struct sg_lanes *lanes)
{
    const struct sg_launch *launch = w->group->launch;
    uint64_t range[2] = {0, 0};
    char why[WHY_BYTES];
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint64_t at = (uintptr_t)lanes->ptr[lane];
        if (at >= range[0] && at < range[1] && lanes->bytes <= range[1] - at)
            continue;
        if (is_internal(w->group, lanes, lanes->ptr[lane]))
            continue;
        if (!launch->owned(launch->ctx, at, lanes->bytes, range, why, sizeof why))
            return refuse(w, inst, at, why, (int)lane);
    }
    return SG_STEP_OK;
}

enum sg_step sg_check_scalar(struct sg_wave *w, const struct sg_inst *inst, const void *p, uint64_t bytes)
{
    const struct sg_launch *launch = w->group->launch;
    uint64_t range[2];
    char why[WHY_BYTES];
    if (launch->owned(launch->ctx, (uintptr_t)p, bytes, range, why, sizeof why))
        return SG_STEP_OK;
    return refuse(w, inst, (uintptr_t)p, why, -1);
}
