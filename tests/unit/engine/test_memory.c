// SPDX-License-Identifier: MIT
// The engine without memory of its own: whichever of its allocations fails, the program sees one execution
// and the dispatch is in the output. This program is built from the engine's sources with their allocator
// replaced.
// Here the real ones are meant.
#undef malloc
#undef calloc
#undef realloc

#include "rig.h"

#include <stdbool.h>

static unsigned countdown; // 0 = nothing fails
static bool failed;

static bool fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void *starved_malloc(size_t bytes);
void *starved_malloc(size_t bytes)
{
    return fails() ? NULL : malloc(bytes);
}

void *starved_calloc(size_t count, size_t bytes);
void *starved_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : calloc(count, bytes);
}

void *starved_realloc(void *old, size_t bytes);
void *starved_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : realloc(old, bytes);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned mode = 0; mode < 2; mode++) {
        unsigned nth = 0, declined = 0;
        do {
            failed = false;
            rig_start(mode ? KR_BACKEND_LIVE_IS_PASS0 : 0);
            struct buffer data = rig_buffer(0, 3 * BLOCK), other = rig_buffer(0, 10);
            rig.pass_count = 40; // many records
            countdown = ++nth;
            struct rig_record *record = rig_dispatch(add_one, &data);
            countdown = 0;
            assert_true(buffer_is(&data, 1) && buffer_is(&other, 0));
            declined += record->outcome.kind == KREPLAY_DECLINED;
            if (record->outcome.kind != KREPLAY_DECLINED)
                assert_int_equal(record->pass_count, 40);
            else
                assert_int_not_equal(record->outcome.reason, KREPLAY_REASON_NONE);
            // With memory again all is as ever.
            record = rig_dispatch(add_one, &data);
            assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
            assert_true(buffer_is(&data, 2));
            rig_stop();
        } while (failed || nth < 5);
        assert_true(declined >= 4); // the run's state, its operations, the shadow's lists, values
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation_may_fail)};
    return cmocka_run_group_tests_name("engine.memory", tests, NULL, NULL);
}
