// SPDX-License-Identifier: MIT
// Owns the memory of kernels whose result changed from run to run.
#include "engine/internal.h"

static bool known(const struct kr_kernel_set *set, uint64_t id)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->ids[i] == id)
            return true;
    return false;
}

bool kr_unsteady_any(struct kr_engine *engine, const struct kr_run *run)
{
    struct kr_kernel_set *set = &engine->unsteady;
    bool any = false;
    pthread_mutex_lock(&set->lock);
    for (size_t i = 0; i < run->window->op_count && !any && set->count > 0; i++)
        any = run->ops[i].op->kind == KR_OP_DISPATCH && known(set, run->ops[i].op->dispatch.kernel_id);
    pthread_mutex_unlock(&set->lock);
    return any;
}

void kr_unsteady_note(struct kr_engine *engine, const struct kr_run *run)
{
    struct kr_kernel_set *set = &engine->unsteady;
    for (size_t i = 0; i < run->window->op_count; i++) {
        const struct kr_op *op = run->ops[i].op;
        if (op->kind != KR_OP_DISPATCH)
            continue;
        pthread_mutex_lock(&set->lock);
        bool fresh = !known(set, op->dispatch.kernel_id) &&
                     kr_grow((void **)&set->ids, &set->capacity, set->count + 1, sizeof *set->ids) == 0;
        if (fresh)
            set->ids[set->count++] = op->dispatch.kernel_id;
        pthread_mutex_unlock(&set->lock);
        if (fresh)
            kr_engine_message(engine, "kernel %s: its result changes from run to run; the first one stands",
                              op->dispatch.kernel_name ? op->dispatch.kernel_name : "?");
    }
}
