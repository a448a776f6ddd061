// SPDX-License-Identifier: MIT
// The queue calls of the driver interface: ids for the queues of the command processor. Compute queues with
// AQL packets only; refusing copy-engine queues makes ROCr copy with kernels.
#include "softgpu/cp/queue.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stddef.h>

#define MAX_QUEUES 1024 // as many as the kernel driver gives a process

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards the table, not the queues
static struct sg_queue *queues[MAX_QUEUES];              // index + 1 is the id

// Called with the lock held.
static struct sg_queue **slot_of(HSA_QUEUEID id)
{
    if (id < 1 || id > MAX_QUEUES || !queues[id - 1])
        return NULL;
    return &queues[id - 1];
}

// Puts the queue into the table. Returns its id, or 0 when the table is full.
static HSA_QUEUEID add(struct sg_queue *queue)
{
    HSA_QUEUEID id = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_QUEUES && !id; i++) {
        if (queues[i])
            continue;
        queues[i] = queue;
        id = i + 1;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority, void *QueueAddress, HSAuint64 QueueSizeInBytes,
                                HsaEvent *Event, HsaQueueResource *QueueResource)
{
    (void)Priority;
    (void)Event; // used only by the newer way of error reports, which RuntimeEnable declines
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    struct sg_gpu *gpu = sg_gpu_of_node(NodeId);
    if (!gpu)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (Type != HSA_QUEUE_COMPUTE_AQL)
        return HSAKMT_STATUS_NOT_SUPPORTED;
    if (!QueueAddress || !QueueResource || !QueueResource->Queue_read_ptr_aql)
        return HSAKMT_STATUS_INVALID_PARAMETER;

    // The read pointer lies in ROCr's queue structure, which is how that is found.
    char *read_ptr = (char *)QueueResource->Queue_read_ptr_aql;
    void *amd_queue = read_ptr - offsetof(amd_queue_t, read_dispatch_id);
    struct sg_queue *queue = NULL;
    int rc = sg_queue_create(gpu, QueueAddress, QueueSizeInBytes, amd_queue, &queue);
    if (rc)
        return rc == -EINVAL ? HSAKMT_STATUS_INVALID_PARAMETER : HSAKMT_STATUS_NO_MEMORY;
    if (!QueuePercentage)
        sg_queue_suspend(queue);
    QueueResource->QueueId = add(queue);
    if (!QueueResource->QueueId) {
        sg_queue_destroy(queue);
        return HSAKMT_STATUS_OUT_OF_RESOURCES;
    }
    QueueResource->Queue_DoorBell_aql = (HSAuint64 *)(uintptr_t)sg_queue_doorbell(queue);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID QueueId, HSAuint32 QueuePercentage, HSA_QUEUE_PRIORITY Priority,
                                void *QueueAddress, HSAuint64 QueueSize, HsaEvent *Event)
{
    (void)Priority;
    (void)QueueAddress;
    (void)QueueSize;
    (void)Event;
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    pthread_mutex_lock(&lock);
    struct sg_queue **slot = slot_of(QueueId);
    if (slot && QueuePercentage)
        sg_queue_resume(*slot);
    else if (slot)
        sg_queue_suspend(*slot);
    pthread_mutex_unlock(&lock);
    return slot ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID QueueId)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    struct sg_queue *queue = NULL;
    pthread_mutex_lock(&lock);
    struct sg_queue **slot = slot_of(QueueId);
    if (slot) {
        queue = *slot;
        *slot = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!queue)
        return HSAKMT_STATUS_INVALID_HANDLE;
    sg_queue_destroy(queue); // without the lock: it waits for the queue's thread
    return HSAKMT_STATUS_SUCCESS;
}
