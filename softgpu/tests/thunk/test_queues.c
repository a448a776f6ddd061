// SPDX-License-Identifier: MIT
// The queue calls of the driver interface, and what must not hang: a forked child, and exit with a queue
// running.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/thunk/hsakmt_api.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PACKETS 64u

struct user_queue {
    amd_queue_t amd;
    hsa_barrier_and_packet_t ring[PACKETS];
    HsaQueueResource resource;
};

static struct user_queue *new_queue(void)
{
    struct user_queue *q = aligned_alloc(64, (sizeof(*q) + 63) / 64 * 64);
    assert_non_null(q);
    memset(q, 0, sizeof(*q));
    for (unsigned i = 0; i < PACKETS; i++)
        q->ring[i].header = HSA_PACKET_TYPE_INVALID;
    q->resource.Queue_read_ptr_aql = (HSAuint64 *)(uintptr_t)&q->amd.read_dispatch_id;
    q->resource.Queue_write_ptr_aql = (HSAuint64 *)(uintptr_t)&q->amd.write_dispatch_id;
    return q;
}

static HSAKMT_STATUS create(struct user_queue *q, HSAuint32 node, HSA_QUEUE_TYPE type)
{
    return hsaKmtCreateQueue(node, type, 100, HSA_QUEUE_PRIORITY_NORMAL, q->ring, sizeof(q->ring), NULL,
                             &q->resource);
}

static HSAKMT_STATUS update(struct user_queue *q, HSAuint32 percent)
{
    return hsaKmtUpdateQueue(q->resource.QueueId, percent, HSA_QUEUE_PRIORITY_NORMAL, q->ring,
                             sizeof(q->ring), NULL);
}

static void submit_barrier(struct user_queue *q, amd_signal_t *done)
{
    uint64_t index = q->amd.write_dispatch_id++;
    q->ring[index % PACKETS].completion_signal.handle = (uint64_t)(uintptr_t)done;
    __atomic_store_n(&q->ring[index % PACKETS].header, (uint16_t)HSA_PACKET_TYPE_BARRIER_AND,
                     __ATOMIC_RELEASE);
    __atomic_store_n(q->resource.Queue_DoorBell_aql, index, __ATOMIC_RELEASE);
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool becomes_zero(const amd_signal_t *signal)
{
    for (unsigned i = 0; i < 60000; i++, pause_shortly()) {
        if (!__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE))
            return true;
    }
    return false;
}

static int open_driver(void **state)
{
    (void)state;
    return hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS;
}

static int close_driver(void **state)
{
    (void)state;
    return hsaKmtCloseKFD() != HSAKMT_STATUS_SUCCESS;
}

static void queue_runs_updates_and_dies(void **state)
{
    (void)state;
    struct user_queue *q = new_queue();
    amd_signal_t done = {.value = 1};
    assert_int_equal(create(q, 1, HSA_QUEUE_COMPUTE_AQL), HSAKMT_STATUS_SUCCESS);
    assert_int_equal(*(int64_t *)q->resource.Queue_DoorBell_aql, -1);
    submit_barrier(q, &done);
    assert_true(becomes_zero(&done));
    assert_int_equal(update(q, 0), 0);
    done.value = 1;
    submit_barrier(q, &done);
    pause_shortly();
    assert_int_equal(done.value, 1);
    assert_int_equal(update(q, 100), 0);
    assert_true(becomes_zero(&done));
    assert_int_equal(hsaKmtDestroyQueue(q->resource.QueueId), 0);
    assert_int_equal(hsaKmtDestroyQueue(q->resource.QueueId), HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(update(q, 0), HSAKMT_STATUS_INVALID_HANDLE);
    free(q);
}

static void compute_and_copy_queues_of_gpus(void **state)
{
    (void)state;
    struct user_queue *q = new_queue();
    assert_int_equal(create(q, 0, HSA_QUEUE_COMPUTE_AQL), HSAKMT_STATUS_INVALID_NODE_UNIT);
    assert_int_equal(create(q, 1, HSA_QUEUE_SDMA_XGMI), HSAKMT_STATUS_NOT_SUPPORTED);
    memset(q->ring, 0, sizeof(q->ring));
    assert_int_equal(create(q, 1, HSA_QUEUE_SDMA), 0);
    assert_int_equal(*q->resource.Queue_write_ptr_aql, 0);
    *q->resource.Queue_DoorBell_aql = sizeof(uint32_t) * 4; // NOPs
    while (__atomic_load_n(q->resource.Queue_read_ptr_aql, __ATOMIC_ACQUIRE) != sizeof(uint32_t) * 4)
        pause_shortly();
    assert_int_equal(update(q, 0), 0);
    assert_int_equal(update(q, 100), 0);
    assert_int_equal(hsaKmtDestroyQueue(q->resource.QueueId), 0);
    assert_int_equal(hsaKmtDestroyQueue(0), HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(hsaKmtDestroyQueue(INVALID_QUEUEID), HSAKMT_STATUS_INVALID_HANDLE);
    free(q);
}

static void many_queues_have_their_own_doorbells(void **state)
{
    (void)state;
    struct user_queue *queues[12];
    amd_signal_t done[12];
    for (unsigned i = 0; i < 12; i++) {
        queues[i] = new_queue();
        assert_int_equal(create(queues[i], 1, HSA_QUEUE_COMPUTE_AQL), 0);
        for (unsigned k = 0; k < i; k++) {
            assert_ptr_not_equal(queues[k]->resource.Queue_DoorBell_aql,
                                 queues[i]->resource.Queue_DoorBell_aql);
            assert_int_not_equal(queues[k]->resource.QueueId, queues[i]->resource.QueueId);
        }
    }
    for (unsigned i = 0; i < 12; i++) {
        done[i] = (amd_signal_t){.value = 1};
        submit_barrier(queues[i], &done[i]);
    }
    for (unsigned i = 0; i < 12; i++) {
        assert_true(becomes_zero(&done[i]));
        assert_int_equal(hsaKmtDestroyQueue(queues[i]->resource.QueueId), 0);
        free(queues[i]);
    }
}

// The exit status of a child that runs `body` and then exits in the ordinary way. A hang is ended by SIGALRM.
static int status_of_child(int (*body)(struct user_queue *q), struct user_queue *q)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        exit(body(q));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// Everything that could wait for a thread of the parent or for one of its locks.
static int use_everything(struct user_queue *q)
{
    HsaEventDescriptor description = {.EventType = HSA_EVENTTYPE_SIGNAL};
    HsaEvent *event = NULL;
    void *memory = NULL;
    HsaPointerInfo info;
    const HSAKMT_STATUS refused = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (hsaKmtCreateEvent(&description, false, false, &event) != refused || update(q, 0) != refused)
        return 1;
    if (hsaKmtAllocMemory(0, 4096, (HsaMemFlags){.Value = 0x40}, &memory) != refused)
        return 2;
    if (hsaKmtQueryPointerInfo(q, &info) != refused || hsaKmtOpenKFD() != refused)
        return 3;
    // Giving back must not fail: ROCr's destructors abort on it.
    if (hsaKmtDestroyQueue(q->resource.QueueId) || hsaKmtDestroyEvent(event) || hsaKmtFreeMemory(q, 4096) ||
        hsaKmtDeregisterMemory(q) || hsaKmtUnmapMemoryToGPU(q) || hsaKmtCloseKFD())
        return 4;
    return 0;
}

static void forked_child_is_inert(void **state)
{
    (void)state;
    struct user_queue *q = new_queue();
    amd_signal_t done = {.value = 1};
    assert_int_equal(create(q, 1, HSA_QUEUE_COMPUTE_AQL), 0);
    assert_int_equal(status_of_child(use_everything, q), 0);
    submit_barrier(q, &done); // the parent goes on
    assert_true(becomes_zero(&done));
    assert_int_equal(hsaKmtDestroyQueue(q->resource.QueueId), 0);
    free(q);
}

// HIP destroys no queue at exit.
static int exit_with_running_queues(struct user_queue *q)
{
    static amd_signal_t never = {.value = 1}, done = {.value = 1};
    if (hsaKmtOpenKFD() || create(q, 1, HSA_QUEUE_COMPUTE_AQL))
        return 1;
    submit_barrier(q, &done);
    if (!becomes_zero(&done))
        return 2;
    q->ring[1].dep_signal[0].handle = (uint64_t)(uintptr_t)&never;
    submit_barrier(q, &done);
    return 0;
}

static void exit_while_a_queue_runs(void **state)
{
    (void)state;
    struct user_queue *q = new_queue();
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(status_of_child(exit_with_running_queues, q), 0);
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            exit_while_a_queue_runs), // first: the children must be the ones that open the driver
        cmocka_unit_test_setup_teardown(queue_runs_updates_and_dies, open_driver, close_driver),
        cmocka_unit_test_setup_teardown(compute_and_copy_queues_of_gpus, open_driver, close_driver),
        cmocka_unit_test_setup_teardown(many_queues_have_their_own_doorbells, open_driver, close_driver),
        cmocka_unit_test_setup_teardown(forked_child_is_inert, open_driver, close_driver),
    };
    return cmocka_run_group_tests_name("queues", tests, NULL, NULL);
}
