// SPDX-License-Identifier: MIT
// The line about a replay attempt: its text, compared as a whole, and when it is said.
#include "rig.h"

#include "engine/diagnose.h"

#include <stdio.h>
#include <unistd.h>

static void check(uint64_t id, const kreplay_outcome *outcome, const char *expected)
{
    char line[KR_DIAGNOSIS_BYTES];
    kr_diagnosis(id, outcome, line, sizeof line);
    assert_string_equal(line, expected);
}

static void success(void **state)
{
    (void)state;
    const kreplay_outcome outcome = {
        .kind = KREPLAY_REPLAYED,
        .requested_passes = 4,
        .executed_passes = 4,
        .captured_bytes = 1234,
        .captured_regions = 7,
        .snapshot_ns = 12345678,
        .restore_ns = 1500049999,
    };
    check(42, &outcome,
          "[kernel-replay] dispatch_id=42 outcome=replayed reason=none requested_passes=4 executed_passes=4"
          " footprint_bytes=1234 footprint_regions=7 untracked_vmem_bytes=0 untracked_vmem_regions=0"
          " untracked_pool_bytes=0 untracked_pool_regions=0 snap_seconds=0.0123 restore_seconds=1.5000"
          " reentrancy=0");
}

static void decline(void **state)
{
    (void)state;
    const kreplay_outcome outcome = {
        .kind = KREPLAY_DECLINED,
        .reason = KREPLAY_REASON_UNTRACKED_MEMORY,
        .requested_passes = 8,
        .untracked_bytes = 4608,
        .untracked_regions = 3,
        .untracked_vmem_bytes = 4096,
        .untracked_vmem_regions = 2,
    };
    check(9, &outcome,
          "[kernel-replay] dispatch_id=9 outcome=declined reason=untracked_memory requested_passes=8"
          " executed_passes=0 footprint_bytes=0 footprint_regions=0 untracked_vmem_bytes=4096"
          " untracked_vmem_regions=2 untracked_pool_bytes=512 untracked_pool_regions=1 snap_seconds=0.0000"
          " restore_seconds=0.0000 reentrancy=0");
}

static void reentrant(void **state)
{
    (void)state;
    const kreplay_outcome outcome = {
        .kind = KREPLAY_REPLAYED,
        .requested_passes = 2,
        .executed_passes = 2,
        .reentrant = true,
    };
    check(1, &outcome,
          "[kernel-replay] dispatch_id=1 outcome=replayed reason=none requested_passes=2 executed_passes=2"
          " footprint_bytes=0 footprint_regions=0 untracked_vmem_bytes=0 untracked_vmem_regions=0"
          " untracked_pool_bytes=0 untracked_pool_regions=0 snap_seconds=0.0000 restore_seconds=0.0000"
          " reentrancy=1");
}

// The longest line that there can be is whole.
static void room(void **state)
{
    (void)state;
    kreplay_outcome outcome;
    memset(&outcome, 0xff, sizeof outcome);
    outcome.kind = KREPLAY_DECLINED;
    outcome.untracked_vmem_bytes = outcome.untracked_vmem_regions = 0;
    for (unsigned reason = 0; reason < KR_REASON_COUNT; reason++) {
        char line[KR_DIAGNOSIS_BYTES];
        outcome.reason = (kreplay_reason)reason;
        outcome.reentrant = true;
        kr_diagnosis(UINT64_MAX, &outcome, line, sizeof line);
        assert_string_equal(line + strlen(line) - strlen("reentrancy=1"), "reentrancy=1");
    }
}

// ---- When it is said. Standard error goes to a file meanwhile.

static char said[1 << 16];

struct caught {
    int file, real;
};

static struct caught catch_stderr(void)
{
    char path[] = "/tmp/kr_diagnose_XXXXXX";
    struct caught caught = {.file = mkstemp(path), .real = dup(STDERR_FILENO)};
    assert_true(caught.file >= 0 && caught.real >= 0);
    unlink(path);
    dup2(caught.file, STDERR_FILENO);
    return caught;
}

static const char *what_was_said(struct caught caught)
{
    dup2(caught.real, STDERR_FILENO);
    close(caught.real);
    ssize_t got = pread(caught.file, said, sizeof said - 1, 0);
    close(caught.file);
    said[got < 0 ? 0 : got] = '\0';
    return said;
}

// What `dispatches` dispatches make the engine say; untracked memory declines all of them, if wanted.
static const char *run(const char *level, unsigned dispatches, bool declined)
{
    char mapping[8];
    struct caught caught = catch_stderr();
    if (level)
        setenv("KREPLAY_LOG_LEVEL", level, 1);
    else
        unsetenv("KREPLAY_LOG_LEVEL");
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    unsetenv("KREPLAY_LOG_LEVEL");
    struct buffer data = rig_buffer(0, BLOCK);
    if (declined)
        kr_fake_adopt(rig.fake, 0, mapping, sizeof mapping, KR_MEMORY_UNTRACKED);
    for (unsigned i = 0; i < dispatches; i++)
        rig_dispatch(add_one, &data);
    if (declined)
        kr_fake_drop(rig.fake, 0, mapping);
    rig_stop();
    return what_was_said(caught);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

#define DECLINED "kreplay: [kernel-replay] dispatch_id="
#define NO_MORE  "kreplay: no more lines with reason=untracked_memory"

static void levels(void **state)
{
    (void)state;
    assert_string_equal(run(NULL, 2, false), "");
    assert_string_equal(run("warning", 2, false), "");
    assert_int_equal(count(run("info", 2, false), " outcome=replayed reason=none "), 2);
    assert_int_equal(count(run(NULL, 1, true), DECLINED), 1);
    assert_non_null(strstr(said, " untracked_pool_bytes=8 untracked_pool_regions=1 "));
    assert_string_equal(run("error", 1, true), "");
    assert_string_equal(run("fatal", 1, true), "");
    assert_string_equal(run("loud", 0, false),
                        "kreplay: KREPLAY_LOG_LEVEL: there is no level \"loud\"; warning stays\n");
}

static void limit(void **state)
{
    (void)state;
    assert_int_equal(count(run(NULL, 9, true), DECLINED), 9);
    assert_int_equal(count(said, NO_MORE), 0);
    assert_int_equal(count(run(NULL, 15, true), DECLINED), 10);
    assert_int_equal(count(said, NO_MORE), 1);
    assert_int_equal(count(run("info", 15, true), DECLINED), 15);
    assert_int_equal(count(said, NO_MORE), 0);
}

// Run once by request, or not wanted: no attempt, no line.
static void no_attempt(kreplay_outcome_kind kind)
{
    setenv("KREPLAY_LOG_LEVEL", "trace", 1);
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    unsetenv("KREPLAY_LOG_LEVEL");
    struct buffer data = rig_buffer(0, BLOCK);
    rig.want = kind != KREPLAY_FILTERED;
    rig.pass_count = 1;
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, kind);
    rig_stop();
}

static void others(void **state)
{
    (void)state;
    struct caught caught = catch_stderr();
    no_attempt(KREPLAY_FILTERED);
    no_attempt(KREPLAY_SINGLE);
    assert_string_equal(what_was_said(caught), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success), cmocka_unit_test(decline), cmocka_unit_test(reentrant),
        cmocka_unit_test(room),    cmocka_unit_test(levels),  cmocka_unit_test(limit),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
